//! Many simulations, and what each policy is like at each load.

use std::sync::atomic::{AtomicUsize, Ordering};

use gyrase_schedule::{Policy, Tuning};
use gyrase_work::{Progress, in_parallel};

use super::cluster::Cluster;
use super::error::ScheduleError;
use super::simulator::{Service, Simulated, simulate};
use super::workload::{Demand, Workload};

/// A policy at a load.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// The policy.
    pub policy: Policy,
    /// Loads and queries; nothing where the workload is given.
    pub demand: Option<Demand>,
}

/// Where queries come from.
#[derive(Clone, Debug)]
pub enum Queries {
    /// They are drawn, so many times.
    Drawn {
        /// The first seed; the others follow it.
        seed: u64,
        /// How many.
        seeds: u64,
    },
    /// They are these.
    Given(Workload),
}

/// What to simulate.
#[derive(Clone, Debug)]
pub struct Config {
    /// On what.
    pub cluster: Cluster,
    /// How policies are tuned.
    pub tuning: Tuning,
    /// Which of them, at which loads.
    pub experiments: Vec<Experiment>,
    /// With which queries.
    pub queries: Queries,
    /// Threads that simulate.
    pub threads: usize,
    /// Keep what became of every query.
    pub keep: bool,
}

/// What came out of an experiment. Numbers are means over its workloads; those of queries are
/// means over the queries that were served.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Which one.
    pub experiment: Experiment,
    /// Workloads.
    pub workloads: u64,
    /// The measures, in the order of [`Measured::NAMES`].
    values: [f64; Measured::NAMES.len()],
    /// Standard deviation of the mean response between workloads, in seconds.
    pub response_sd: f64,
    /// Queries that each node took part in, by rank.
    pub node_queries: Vec<f64>,
    /// What became of the queries of each workload, with its seed, where that is kept.
    pub kept: Vec<(u64, Workload, Simulated)>,
}

impl Measured {
    /// What is measured, as columns of tables name it.
    pub const NAMES: [&'static str; 10] = [
        "queries",
        "unserved",
        "faults",
        "service_s",
        "wait_s",
        "response_s",
        "response_p95_s",
        "processor_s",
        "log2_size",
        "makespan_s",
    ];

    /// The measures.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, f64)> {
        Measured::NAMES.into_iter().zip(self.values)
    }

    fn value(&self, name: &str) -> f64 {
        let found = self.values().find(|(other, _)| *other == name);
        found.expect("only names of the list are asked for").1
    }

    /// Queries that never started.
    pub fn unserved(&self) -> f64 {
        self.value("unserved")
    }

    /// Page faults of a query, on the mean of its nodes.
    pub fn faults(&self) -> f64 {
        self.value("faults")
    }

    /// Seconds from start to end.
    pub fn service(&self) -> f64 {
        self.value("service_s")
    }

    /// Seconds from arrival to start.
    pub fn wait(&self) -> f64 {
        self.value("wait_s")
    }

    /// Seconds from arrival to end.
    pub fn response(&self) -> f64 {
        self.value("response_s")
    }

    /// Seconds of all processors that all queries took.
    pub fn processor_seconds(&self) -> f64 {
        self.value("processor_s")
    }

    /// Mean logarithm to base 2 of the processors of a query.
    pub fn log2_size(&self) -> f64 {
        self.value("log2_size")
    }
}

/// What came out of one simulation.
struct Played {
    values: [f64; Measured::NAMES.len()],
    node_queries: Vec<f64>,
    kept: Option<(u64, Workload, Simulated)>,
}

/// Simulates every experiment with every workload; results are in the order of experiments.
///
/// # Errors
/// The cluster cannot be, or somebody cancelled.
pub fn run(config: &Config, progress: &Progress) -> Result<Vec<Measured>, ScheduleError> {
    config.cluster.check()?;
    let workloads = match config.queries {
        Queries::Drawn { seeds, .. } => seeds as usize,
        Queries::Given(_) => 1,
    };
    let all = config.experiments.len() * workloads;
    progress.start("simulating", all as u64);
    let next = AtomicUsize::new(0);
    let work = |_| -> Result<Vec<(usize, Played)>, ScheduleError> {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= all {
                return Ok(done);
            }
            progress.go_on()?;
            let experiment = &config.experiments[number / workloads];
            done.push((
                number,
                play(config, experiment, (number % workloads) as u64),
            ));
            progress.advance(1);
        }
    };
    let threads = (0..config.threads.clamp(1, all.max(1))).collect();
    let mut played: Vec<(usize, Played)> =
        in_parallel(threads, work)?.into_iter().flatten().collect();
    played.sort_by_key(|(number, _)| *number);
    let mut played = played.into_iter().map(|(_, played)| played);
    let measured = config.experiments.iter().map(|experiment| {
        let played: Vec<Played> = played.by_ref().take(workloads).collect();
        mean(experiment.clone(), played)
    });
    Ok(measured.collect())
}

fn play(config: &Config, experiment: &Experiment, number: u64) -> Played {
    let cluster = &config.cluster;
    let (drawn, seed);
    let workload = match (&config.queries, &experiment.demand) {
        (Queries::Given(workload), _) => {
            seed = 0;
            workload
        }
        (Queries::Drawn { seed: first, .. }, demand) => {
            seed = first.wrapping_add(number);
            let nothing = Demand::constant(1.0, 0);
            drawn = Workload::draw(cluster, demand.as_ref().unwrap_or(&nothing), seed);
            &drawn
        }
    };
    let simulated = simulate(cluster, workload, experiment.policy, config.tuning);
    let mut node_queries = vec![0.0; cluster.nodes];
    for node in simulated.services.iter().flat_map(|service| &service.nodes) {
        node_queries[node.0 as usize] += 1.0;
    }
    Played {
        values: measure(cluster, workload, &simulated.services),
        node_queries,
        kept: config.keep.then(|| (seed, workload.clone(), simulated)),
    }
}

/// The measures of one simulation, as [`Measured::NAMES`] has them.
fn measure(
    cluster: &Cluster,
    workload: &Workload,
    services: &[Service],
) -> [f64; Measured::NAMES.len()] {
    let arrival = |service: &Service| workload.arrivals[service.query].seconds;
    let served = services.len() as f64;
    let sum = |of: &dyn Fn(&Service) -> f64| services.iter().map(of).sum::<f64>();
    let mean = |of: &dyn Fn(&Service) -> f64| if served > 0.0 { sum(of) / served } else { 0.0 };
    let processors = |service: &Service| service.nodes.len() * cluster.processors;
    let log2 = |service: &Service| {
        // Nodes are a power of two; their processors need not be.
        let nodes = f64::from(service.nodes.len().trailing_zeros());
        nodes + (cluster.processors as f64).log2()
    };
    let mut responses: Vec<f64> = services.iter().map(|it| it.end - arrival(it)).collect();
    responses.sort_by(f64::total_cmp);
    let p95 = (services.len() * 95).div_ceil(100).saturating_sub(1);
    let first = workload
        .arrivals
        .first()
        .map_or(0.0, |arrival| arrival.seconds);
    let last = services
        .iter()
        .map(|service| service.end)
        .fold(first, f64::max);
    [
        workload.arrivals.len() as f64,
        workload.arrivals.len() as f64 - served,
        cluster.faults_per_gb * mean(&|service| service.missed_gb),
        mean(&|service| service.end - service.start),
        mean(&|service| service.start - arrival(service)),
        mean(&|service| service.end - arrival(service)),
        responses.get(p95).copied().unwrap_or(0.0),
        sum(&|service| (service.end - service.start) * processors(service) as f64),
        mean(&log2),
        last - first,
    ]
}

/// The means of simulations, in their order.
fn mean(experiment: Experiment, played: Vec<Played>) -> Measured {
    let count = played.len().max(1) as f64;
    let mut values = [0.0; Measured::NAMES.len()];
    let mut node_queries = Vec::new();
    for one in &played {
        node_queries.resize(one.node_queries.len(), 0.0);
        let sums = values.iter_mut().chain(&mut node_queries);
        for (sum, value) in sums.zip(one.values.iter().chain(&one.node_queries)) {
            *sum += value / count;
        }
    }
    let mut measured = Measured {
        experiment,
        workloads: played.len() as u64,
        values,
        response_sd: 0.0,
        node_queries,
        kept: Vec::new(),
    };
    let place = Measured::NAMES
        .iter()
        .position(|name| *name == "response_s");
    let place = place.expect("it is of the list");
    let apart = played
        .iter()
        .map(|one| one.values[place] - measured.response());
    let squares: f64 = apart.map(|apart| apart * apart).sum();
    measured.response_sd = (squares / (count - 1.0).max(1.0)).sqrt();
    measured.kept = played.into_iter().filter_map(|one| one.kept).collect();
    measured
}
