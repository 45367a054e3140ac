//! `gyrase gossip run`.

use std::path::PathBuf;

use clap::Args;
use gyrase_gossip::execute::{Executor, Messages, Shuffled, Threads, verify};
use gyrase_gossip::simulator::{Timing, simulate, total};
use gyrase_gossip::{Sizes, Topology, Transfers, planner};
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

Devices are buffers, links are threads that carry --rate each. With --seeds the
same is done without waiting, in as many random orders of wake-ups.";

/// Carry a plan out in threads over throttled links, and compare the result.
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
        let cases = self.amounts.of(&plan, session.memory)?;
        let mut text = String::from("bytes\tresult\tseconds\tsimulated\tbound\tpercent\n");
        let mut facts = Vec::new();
        for sizes in cases {
            let traffic = Transfers::new(&plan, &sizes);
            refuse_beyond(&traffic, session.memory)?;
            let done = match self.seeds {
                Some(seeds) => shuffled(&traffic, seeds)?,
                None => self.throttled(&traffic, &topology, &sizes)?,
            };
            let total = sizes.total(plan.collective());
            text += &format!("{total}\tequal\t{}\n", done.join("\t"));
            facts.push(json!({"bytes": total, "result": "equal"}));
        }
        session.note("results", facts);
        sink::write_all(None, text.as_bytes())
    }

    /// Runs in threads: the time, what it should take, the bound, and that in per cent.
    fn throttled(
        &self,
        traffic: &Transfers,
        topology: &Topology,
        sizes: &Sizes,
    ) -> Result<[String; 4]> {
        let rate = self.rate * 1e6;
        let collective = traffic.collective();
        let inputs = Messages::random(collective, traffic.devices(), sizes, 1);
        let threads = Threads::throttled(topology, rate);
        let (outputs, time) = threads.execute(traffic, &inputs)?;
        verify(traffic, &inputs, &outputs)?;
        let timing = Timing {
            latency: 0.0,
            launch: 0.0,
            rate,
            host: rate / 2.0,
        };
        let expected = total(&simulate(traffic, topology, &timing));
        let seconds = time.as_secs_f64();
        let unit = sizes.mean(collective, traffic.devices()) / rate;
        let bound = planner::bound(topology, collective, Some(sizes))?.time * unit;
        let percent = format!("{:.1}", 100.0 * bound / seconds);
        let bound = format!("{bound:.3}");
        Ok([
            format!("{seconds:.3}"),
            format!("{expected:.3}"),
            bound,
            percent,
        ])
    }
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
