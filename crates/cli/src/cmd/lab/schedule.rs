//! `gyrase lab schedule`.

use std::path::{Path, PathBuf};

use clap::Args;
use gyrase_lab::schedule::{
    self, Cluster, Config, Demand, Experiment, FIGURES, Measured, Queries, Workload, comparison,
    comparison_experiments, figure_experiments, timeline_header, timeline_rows, tsv,
};
use gyrase_picture::words::{self, things};
use gyrase_schedule::{Policy, Tuning};
use serde_json::json;

use crate::failure::Result;
use crate::places::{self, without_compression};
use crate::session::Session;
use crate::sink::{self, Folder, Sink};
use crate::texts::text;

const EXAMPLES: &str = "\
Examples:
  gyrase lab schedule --table                  the published table, and ours
  gyrase lab schedule --figures figures/ --seeds 5
  gyrase lab schedule --policy rmap-plard,fix-m-plard --load 0.6,0.8 --seeds 5
  gyrase lab schedule --load 0.2:0.8:0.2 -o mixed.tsv --seeds 5
  gyrase lab schedule --cluster-out c.json     to change, and give to --cluster
  gyrase lab schedule --load 0.7 --workload-out w.tsv
  gyrase lab schedule --workload w.tsv --policy rmap-plard --timeline t.tsv

The same seeds give the same bytes. docs/scheduling.md has the model.";

/// The loads and sizes of workloads that nobody asked for.
const LOADS: [f64; 5] = [0.2, 0.4, 0.6, 0.8, 1.0];
const QUERIES: usize = 600;
const QUERIES_OF_PART: usize = 200;

/// Simulate how a cluster that serves searches shares its processors: how many a query gets (RMAP,
/// fixed sizes), and which (First Available, PLARD).
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Schedule {
    /// Policies: fix-s, fix-m, fix-l, rmap, each as it is (First Available) or with -plard
    /// [default: all]
    #[arg(long, value_name = "POLICY,...", value_delimiter = ',')]
    policy: Vec<Chosen>,

    /// Loads; at 1 queries come as fast as the cluster can answer. 0.2:0.8 is one workload of both,
    /// half of the queries at each [default: 0.2,0.4,0.6,0.8,1]
    #[arg(
        long,
        value_name = "LOAD,...",
        value_delimiter = ',',
        conflicts_with = "workload"
    )]
    load: Vec<Demand>,

    /// Queries of a workload [default: 600; of mixed loads 200 for each]
    #[arg(
        long, value_name = "N", conflicts_with = "workload",
        value_parser = clap::value_parser!(u32).range(1..=10_000_000),
    )]
    queries: Option<u32>,

    /// Workloads of each load; numbers are their means
    #[arg(
        long, value_name = "N", default_value_t = 20, conflicts_with = "workload",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000),
    )]
    seeds: u32,

    /// The seed of the first
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        conflicts_with = "workload"
    )]
    seed: u64,

    /// Take the queries of this table: arrival in seconds, database, weight
    #[arg(long, value_name = "FILE.tsv", conflicts_with_all = ["table", "figures", "workload_out"])]
    workload: Option<PathBuf>,

    /// Write the queries of the first load and seed as such a table
    #[arg(long, value_name = "FILE.tsv")]
    workload_out: Option<PathBuf>,

    /// Weight of a query that runs beside one that waits, for RMAP, 0 to 1
    #[arg(long, value_name = "F", default_value_t = 0.75, value_parser = share)]
    factor: f64,

    /// By how many queries queues may differ before PLARD balances them
    #[arg(long, value_name = "QUERIES", default_value_t = 10)]
    threshold: usize,

    /// Leave out the two guards, without which queries may wait for ever
    #[arg(long)]
    as_printed: bool,

    /// Table to write, a line for each policy and load; JSON if it ends in .json [default: standard
    /// output, where nothing else is asked for]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write when each query arrived, started and ended, and on which nodes
    #[arg(long, value_name = "FILE.tsv")]
    timeline: Option<PathBuf>,

    /// Print the published Table 5.2 beside what is simulated, and the ratios
    #[arg(long)]
    table: bool,

    /// Draw the published figures 5.4 to 5.8 of what is simulated, as SVG into this folder
    #[arg(long, value_name = "FOLDER")]
    figures: Option<PathBuf>,

    #[command(flatten)]
    cluster: ClusterOptions,
}

/// On what is simulated.
#[derive(Debug, Args)]
#[command(next_help_heading = "The cluster")]
struct ClusterOptions {
    /// Simulate the cluster of this description [default: that of the publication]
    #[arg(long, value_name = "FILE.json")]
    cluster: Option<PathBuf>,

    /// Write the description
    #[arg(long, value_name = "FILE.json")]
    cluster_out: Option<PathBuf>,

    /// Nodes [default: 20, or of the description; so are the following]
    #[arg(long, value_name = "N")]
    nodes: Option<usize>,

    /// Processors of a node [2]
    #[arg(long, value_name = "N")]
    processors: Option<usize>,

    /// Memory of a node for databases, in GB [1.7]
    #[arg(long, value_name = "GB")]
    cache: Option<f64>,

    /// What a node reads from its disk, in GB a second [0.08]
    #[arg(long, value_name = "GB")]
    disk: Option<f64>,
}

/// Some of the policies.
#[derive(Clone, Debug)]
struct Chosen(Vec<Policy>);

impl std::str::FromStr for Chosen {
    type Err = String;

    fn from_str(name: &str) -> std::result::Result<Chosen, String> {
        match name {
            "all" => Ok(Chosen(Policy::all().collect())),
            name => Ok(Chosen(vec![name.parse()?])),
        }
    }
}

fn share(text: &str) -> std::result::Result<f64, String> {
    let share = text
        .parse()
        .ok()
        .filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "write a number from 0 to 1".into())
}

impl ClusterOptions {
    fn cluster(&self) -> Result<Cluster> {
        let mut cluster = match &self.cluster {
            Some(path) => Cluster::parse(path, &text(path)?)?,
            None => Cluster::orbitty(),
        };
        let Cluster {
            nodes,
            processors,
            cache_gb,
            disk_gb_per_second,
            ..
        } = &mut cluster;
        *nodes = self.nodes.unwrap_or(*nodes);
        *processors = self.processors.unwrap_or(*processors);
        *cache_gb = self.cache.unwrap_or(*cache_gb);
        *disk_gb_per_second = self.disk.unwrap_or(*disk_gb_per_second);
        cluster.check()?;
        Ok(cluster)
    }
}

impl Schedule {
    /// Simulates, and writes what is asked for.
    pub fn run(self, session: &Session) -> Result<()> {
        let inputs = self.workload.iter().chain(&self.cluster.cluster);
        session.keep_apart(inputs, self.files())?;
        let cluster = self.cluster.cluster()?;
        let own = match self.wants_results() {
            true => self.experiments(),
            false => Vec::new(),
        };
        let config = self.config(session, cluster, &own)?;
        let measured = match config.experiments.is_empty() {
            true => Vec::new(),
            false => session.shown(|progress| schedule::run(&config, progress))?,
        };
        self.note(session, &config, &measured);
        self.write(&config, &measured, own.len())
    }

    /// The files and the stream that are written, but for figures.
    fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let named = [
            &self.output,
            &self.timeline,
            &self.workload_out,
            &self.cluster.cluster_out,
        ];
        let prints = self.table || self.output.is_none() && self.wants_results();
        let named = named.into_iter().flatten();
        named.chain(prints.then(places::standard_output))
    }

    /// True where what policies are like is asked for, and not only something else.
    fn wants_results(&self) -> bool {
        let other = [&self.workload_out, &self.cluster.cluster_out, &self.figures];
        let other = self.table || other.into_iter().any(Option::is_some);
        let named = self.output.is_some() || self.timeline.is_some() || !self.policy.is_empty();
        named || !other
    }

    /// The policies at the loads that are asked for, each once.
    fn experiments(&self) -> Vec<Experiment> {
        let policies: Vec<Policy> = match self.policy.is_empty() {
            true => Policy::all().collect(),
            false => self
                .policy
                .iter()
                .flat_map(|chosen| chosen.0.clone())
                .collect(),
        };
        let demands: Vec<Option<Demand>> = match self.workload {
            Some(_) => vec![None],
            None => self.demands().into_iter().map(Some).collect(),
        };
        let mut experiments = Vec::new();
        for demand in demands {
            let of = |policy| Experiment {
                policy,
                demand: demand.clone(),
            };
            add(&mut experiments, policies.iter().copied().map(of));
        }
        experiments
    }

    fn demands(&self) -> Vec<Demand> {
        let loads = match self.load.is_empty() {
            true => LOADS.map(|load| Demand::constant(load, 0)).to_vec(),
            false => self.load.clone(),
        };
        let sized = |demand: Demand| {
            let queries = match (self.queries, demand.loads.len()) {
                (Some(queries), _) => queries as usize,
                (None, 1) => QUERIES,
                (None, parts) => QUERIES_OF_PART * parts,
            };
            Demand { queries, ..demand }
        };
        loads.into_iter().map(sized).collect()
    }

    /// The experiments that are asked for, then those of the table and of the figures.
    fn config(&self, session: &Session, cluster: Cluster, own: &[Experiment]) -> Result<Config> {
        let queries = match &self.workload {
            Some(path) => Queries::Given(Workload::parse(path, &text(path)?, &cluster)?),
            None => Queries::Drawn {
                seed: self.seed,
                seeds: u64::from(self.seeds),
            },
        };
        let mut experiments = own.to_vec();
        if self.table {
            add(&mut experiments, comparison_experiments());
        }
        if self.figures.is_some() {
            add(&mut experiments, figure_experiments());
        }
        Ok(Config {
            cluster,
            tuning: Tuning {
                factor: self.factor,
                threshold: self.threshold,
                guarded: !self.as_printed,
            },
            experiments,
            queries,
            threads: session.threads,
            keep: self.timeline.is_some(),
        })
    }

    fn note(&self, session: &Session, config: &Config, measured: &[Measured]) {
        let inputs = self.workload.iter().chain(&self.cluster.cluster);
        let inputs: Vec<String> = inputs.map(|path| path.display().to_string()).collect();
        session.note("inputs", inputs);
        let Tuning {
            factor,
            threshold,
            guarded,
        } = config.tuning;
        session.note(
            "parameters",
            json!({
                "seed": self.seed, "seeds": self.seeds, "factor": factor, "threshold": threshold,
                "guarded": guarded,
            }),
        );
        session.note("results", schedule::json(measured));
        let runs: u64 = measured.iter().map(|one| one.workloads).sum();
        let unserved: f64 = measured.iter().map(Measured::unserved).sum();
        if unserved > 0.0 {
            tracing::warn!(
                "queries wait for ever: the column unserved says how many; leave out --as-printed"
            );
        }
        if runs > 0 {
            let time = words::time(session.elapsed());
            tracing::info!("{} simulated ({time})", things(runs, "workload"));
        }
    }

    /// Writes everything; what cannot be written is noticed before the first file appears.
    fn write(&self, config: &Config, measured: &[Measured], own: usize) -> Result<()> {
        let (cluster, mut written) = (&config.cluster, Vec::new());
        let mut put = |path: Option<&Path>, text: String| -> Result<()> {
            written.push(sink::written(path, text.as_bytes())?);
            Ok(())
        };
        if let Some(path) = &self.cluster.cluster_out {
            put(Some(path), cluster.text())?;
        }
        if let Some(path) = &self.workload_out {
            let workload = Workload::draw(cluster, &self.demands()[0], self.seed);
            put(Some(path), workload.text(cluster))?;
        }
        if let Some(path) = &self.timeline {
            let rows = measured[..own]
                .iter()
                .map(|one| timeline_rows(cluster, one));
            put(
                Some(path),
                rows.fold(timeline_header().to_owned(), |text, rows| text + &rows),
            )?;
        }
        if own > 0 {
            put(self.output.as_deref(), self.results(&measured[..own]))?;
        }
        if self.table {
            put(None, comparison(measured))?;
        }
        let folder = self.figures.as_deref().map(Folder::open).transpose()?;
        for figure in FIGURES.iter().filter(|_| folder.is_some()) {
            let svg = figure
                .draw(measured)
                .expect("their experiments were simulated");
            let folder = folder.as_ref().expect("it was looked at above");
            put(
                Some(&folder.file(&format!("{}.svg", figure.name))),
                svg.finish(),
            )?;
        }
        written.into_iter().try_for_each(Sink::finish)?;
        if let Some(folder) = folder {
            folder.keep();
        }
        Ok(())
    }

    fn results(&self, measured: &[Measured]) -> String {
        let ending = self.output.as_deref().map(without_compression);
        match ending.as_ref().and_then(|path| path.extension()) {
            Some(ending) if ending == "json" => format!("{:#}\n", schedule::json(measured)),
            _ => tsv(measured),
        }
    }
}

/// Adds those that are not there.
fn add(experiments: &mut Vec<Experiment>, more: impl IntoIterator<Item = Experiment>) {
    for experiment in more {
        if !experiments.contains(&experiment) {
            experiments.push(experiment);
        }
    }
}
