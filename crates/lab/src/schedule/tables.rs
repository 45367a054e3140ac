//! Results as tables.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::cluster::Cluster;
use super::run::Measured;

/// The load of an experiment, or what stands for that of a workload that was given.
fn load(measured: &Measured) -> String {
    let demand = measured.experiment.demand.as_ref();
    demand.map_or("given".to_owned(), ToString::to_string)
}

/// How many digits behind the point a measure has.
fn places(name: &str) -> usize {
    match name {
        "queries" | "processor_s" | "makespan_s" => 1,
        "log2_size" | "unserved" => 3,
        _ => 2,
    }
}

/// A table with a header, a line an experiment.
pub fn tsv(measured: &[Measured]) -> String {
    let names = Measured::NAMES.join("\t");
    let mut text = format!("policy\tload\tworkloads\t{names}\tresponse_sd_s\n");
    for row in measured {
        let (policy, workloads) = (row.experiment.policy, row.workloads);
        write!(text, "{policy}\t{}\t{workloads}", load(row)).expect("a String takes every text");
        for (name, value) in row.values() {
            write!(text, "\t{value:.*}", places(name)).expect("a String takes every text");
        }
        writeln!(text, "\t{:.2}", row.response_sd).expect("a String takes every text");
    }
    text
}

/// The same as an array of objects; numbers as they are.
pub fn json(measured: &[Measured]) -> Value {
    let object = |row: &Measured| {
        let mut object = Map::new();
        object.insert("policy".into(), row.experiment.policy.name().into());
        object.insert("load".into(), load(row).into());
        object.insert("workloads".into(), row.workloads.into());
        object.extend(
            row.values()
                .map(|(name, value)| (name.into(), value.into())),
        );
        object.insert("response_sd_s".into(), row.response_sd.into());
        object.insert("node_queries".into(), row.node_queries.clone().into());
        Value::Object(object)
    };
    measured.iter().map(object).collect()
}

/// The first line of a timeline.
pub fn timeline_header() -> &'static str {
    "policy\tload\tseed\tquery\tdatabase\tarrival_s\tstart_s\tend_s\tnodes\tmissed_gb\n"
}

/// What became of every query of an experiment, a line each, in the order in which they started.
pub fn timeline_rows(cluster: &Cluster, measured: &Measured) -> String {
    let (policy, load, mut text) = (measured.experiment.policy, load(measured), String::new());
    for (seed, workload, simulated) in &measured.kept {
        for service in &simulated.services {
            let arrival = &workload.arrivals[service.query];
            let database = &cluster.databases[arrival.database].name;
            let nodes: Vec<String> = service
                .nodes
                .iter()
                .map(|node| node.0.to_string())
                .collect();
            let (query, nodes) = (service.query, nodes.join(","));
            let (start, end) = (service.start, service.end);
            writeln!(
                text,
                "{policy}\t{load}\t{seed}\t{query}\t{database}\t{:.3}\t{start:.3}\t{end:.3}\t\
                 {nodes}\t{:.4}",
                arrival.seconds, service.missed_gb
            )
            .expect("a String takes every text");
        }
    }
    text
}
