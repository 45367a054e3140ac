//! `gyrase gossip run`.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use gyrase_gossip::execute::{Executor, Messages, Shuffled, Streams, Threads, verify};
use gyrase_gossip::simulator::{Timing, simulate, total};
use gyrase_gossip::{GossipError, Topology, Transfers, planner};
use gyrase_gpu::GpuLibrary;
use gyrase_picture::words::bytes;
use serde_json::json;

use super::given::{fits, planned};
use super::sizes::Amounts;
use super::wiring::{self, Changes};
use crate::failure::{Code, Failure, Result};
use crate::places;
use crate::session::Session;
use crate::sink;

const EXAMPLES: &str = "\
Examples:
  gyrase gossip plan dgx-1 -o plan.json
  gyrase gossip run plan.json --topology dgx-1 --bytes 2M
  gyrase gossip run plan.json --topology dgx-1 --bytes 100K --seeds 100
  gyrase gossip run plan.json --topology dgx-1 --bytes 1G --gpu 0,1,2,3,4,5,6,7

Devices are buffers, links are threads that carry --rate each. With --seeds the
same is done without waiting, in as many random orders of wake-ups. With --gpu
devices are GPUs, and each direction of an edge is a stream; `simulated` and
`bound` are of links that reach 94.4 % of the rate of the topology.";

/// Carry a plan out in threads over throttled links or on GPUs, and compare the result.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Execute {
    /// The plan, as JSON of Gossip; `-` for a pipe
    #[arg(value_name = "PLAN.json")]
    plan: PathBuf,

    /// The topology that it is for: a name or a file
    #[arg(long, value_name = "TOPOLOGY")]
    topology: PathBuf,

    #[command(flatten)]
    amounts: Amounts,

    /// What a link carries in a direction, in 10^6 bytes a second
    #[arg(long, value_name = "MB/S", default_value_t = 10.0, value_parser = rate)]
    rate: f64,

    /// Instead of threads, this number of random orders of wake-ups
    #[arg(
        long, value_name = "N", conflicts_with = "rate",
        value_parser = clap::value_parser!(u64).range(1..),
    )]
    seeds: Option<u64>,

    /// Instead of threads, on GPUs: the number of each device's, from 0; one may come several times
    #[arg(
        long, value_name = "N,...", value_delimiter = ',', conflicts_with_all = ["rate", "seeds"],
    )]
    gpu: Vec<usize>,

    #[command(flatten)]
    changes: Changes,
}

fn rate(text: &str) -> std::result::Result<f64, String> {
    let number = text
        .parse()
        .ok()
        .filter(|number: &f64| (0.001..=1e6).contains(number));
    number.ok_or_else(|| "write a number of megabytes a second, from 0.001 on".into())
}

impl Execute {
    /// Runs it for each size, and prints what it took.
    pub fn run(self, session: &Session) -> Result<()> {
        let inputs = [&self.plan].into_iter().chain(wiring::file(&self.topology));
        let inputs = inputs.chain(self.amounts.file());
        session.keep_apart(inputs, [places::standard_output()])?;
        let (plan, topology) = (planned(&self.plan)?, self.changes.topology(&self.topology)?);
        fits(&plan, &topology, &self.plan)?;
        let library = self.library(plan.devices())?;
        let cases = self.amounts.of(&plan, session.memory)?;
        let mut text = String::from("bytes\tresult\tseconds\tsimulated\tbound\tpercent\n");
        let mut facts = Vec::new();
        for sizes in cases {
            let traffic = Transfers::new(&plan, &sizes);
            refuse_beyond(&traffic, session.memory)?;
            let done = match (self.seeds, &library) {
                (Some(seeds), _) => shuffled(&traffic, seeds)?,
                (None, Some(library)) => self.on_gpus(&traffic, &topology, library)?,
                (None, None) => self.throttled(&traffic, &topology)?,
            };
            let total = sizes.total(plan.collective());
            text += &format!("{total}\tequal\t{}\n", done.join("\t"));
            // Random orders of wake-ups take no time that would mean something.
            let seconds = done[0].parse::<f64>().ok();
            facts.push(json!({"bytes": total, "result": "equal", "seconds": seconds}));
        }
        session.note("results", facts);
        sink::write_all(None, text.as_bytes())
    }

    /// What reaches GPUs, where they are asked for: one for each device.
    fn library(&self, devices: usize) -> Result<Option<Arc<GpuLibrary>>> {
        match self.gpu.len() {
            0 => Ok(None),
            gpus if gpus == devices => Ok(Some(GpuLibrary::find().map_err(GossipError::from)?)),
            gpus => Err(Failure::usage(format!(
                "the plan is for {devices} devices, and --gpu has {gpus} numbers; it takes one for \
                 each device, and may have one several times"
            ))),
        }
    }

    /// Runs in threads.
    fn throttled(&self, traffic: &Transfers, topology: &Topology) -> Result<[String; 4]> {
        let rate = self.rate * 1e6;
        let timing = Timing {
            latency: 0.0,
            launch: 0.0,
            rate,
            host: rate / 2.0,
        };
        timed(
            &Threads::throttled(topology, rate),
            traffic,
            topology,
            &timing,
        )
    }

    /// Runs on GPUs.
    fn on_gpus(
        &self,
        traffic: &Transfers,
        topology: &Topology,
        library: &GpuLibrary,
    ) -> Result<[String; 4]> {
        let streams = Streams {
            library,
            numbers: &self.gpu,
        };
        timed(&streams, traffic, topology, &Timing::measured(topology))
    }
}

/// Runs once: the time, what it should take, the bound, and that in per cent.
fn timed(
    executor: &impl Executor,
    traffic: &Transfers,
    topology: &Topology,
    timing: &Timing,
) -> Result<[String; 4]> {
    let (collective, sizes) = (traffic.collective(), traffic.sizes());
    let inputs = Messages::random(collective, traffic.devices(), sizes, 1);
    let (outputs, time) = executor.execute(traffic, &inputs)?;
    verify(traffic, &inputs, &outputs)?;
    let expected = total(&simulate(traffic, topology, timing));
    let seconds = time.as_secs_f64();
    let unit = sizes.mean(collective, traffic.devices()) / timing.rate;
    let bound = planner::bound(topology, collective, Some(sizes))?.time * unit;
    let percent = format!("{:.1}", 100.0 * bound / seconds);
    // GPUs take microseconds where throttled links take milliseconds.
    let [seconds, expected, bound] = [seconds, expected, bound].map(|time| format!("{time:.6}"));
    Ok([seconds, expected, bound, percent])
}

/// Runs in random orders of wake-ups, which take no time that would mean something.
fn shuffled(traffic: &Transfers, seeds: u64) -> Result<[String; 4]> {
    for seed in 0..seeds {
        let inputs = Messages::random(
            traffic.collective(),
            traffic.devices(),
            traffic.sizes(),
            seed,
        );
        let (outputs, _) = Shuffled { seed }.execute(traffic, &inputs)?;
        verify(traffic, &inputs, &outputs)?;
    }
    Ok([".", ".", ".", "."].map(str::to_owned))
}

/// Refuses messages for which there is no memory, before any of it is taken.
fn refuse_beyond(traffic: &Transfers, memory: u64) -> Result<()> {
    let needed = traffic.memory();
    if needed <= memory {
        return Ok(());
    }
    let enough = needed.div_ceil(1 << 20);
    Err(Failure::new(
        Code::Memory,
        format!(
            "messages, results and what passes other devices take {}, and --memory allows {}; give \
             --memory {enough}M or fewer --bytes",
            bytes(needed),
            bytes(memory)
        ),
    ))
}
