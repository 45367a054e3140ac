//! `gyrase gossip simulate`.

use std::path::{Path, PathBuf};

use clap::Args;
use gyrase_gossip::simulator::{Timed, Timing, simulate, total};
use gyrase_gossip::{Sizes, Topology, TransferPlan, Transfers};

use super::given::{fits, planned};
use super::sizes::Amounts;
use super::wiring::{self, Changes};
use crate::failure::{Code, Failure, Result};
use crate::places::or_standard_output;
use crate::session::Session;
use crate::sink::{self, Sink};
use crate::texts;

const EXAMPLES: &str = "\
Examples:
  gyrase gossip plan dgx-1 -o plan.json
  gyrase gossip simulate plan.json --topology dgx-1 --bytes 512M,4G,32G
  gyrase gossip simulate plan.json --topology dgx-1 --bytes 1G --timeline t.tsv

Of the rate of a link 94.4 % are reached, a transfer takes 12 us before its
first byte, and the host launches one each 6.5 us: so measured on a DGX-1.";

/// Say what a plan takes on a machine that one does not have.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Estimate {
    /// The plan, as JSON of Gossip; `-` for a pipe
    #[arg(value_name = "PLAN.json")]
    plan: PathBuf,

    /// The topology that it is for: a name or a file
    #[arg(long, value_name = "TOPOLOGY")]
    topology: PathBuf,

    #[command(flatten)]
    amounts: Amounts,

    /// Measured times: lines of bytes, then milliseconds of several runs, with commas between;
    /// their median is compared
    #[arg(long, value_name = "FILE.csv", conflicts_with_all = ["bytes", "sizes"])]
    measured: Option<PathBuf>,

    /// Table to write: bytes, milliseconds, GB/s [default: standard output]
    #[arg(long, short, value_name = "FILE.tsv")]
    output: Option<PathBuf>,

    /// Write when each transfer starts and ends
    #[arg(long, value_name = "FILE.tsv")]
    timeline: Option<PathBuf>,

    /// Microseconds of a transfer before its first byte
    #[arg(long, value_name = "US", default_value_t = 12.0, value_parser = duration)]
    latency: f64,

    /// Microseconds that the host takes to launch a transfer
    #[arg(long, value_name = "US", default_value_t = 6.5, value_parser = duration)]
    launch: f64,

    /// Part of the rate of links that is reached
    #[arg(long, value_name = "F", default_value_t = 0.944, value_parser = part)]
    reached: f64,

    #[command(flatten)]
    changes: Changes,
}

fn duration(text: &str) -> std::result::Result<f64, String> {
    let number = text
        .parse()
        .ok()
        .filter(|number: &f64| (0.0..=1e9).contains(number));
    number.ok_or_else(|| "write a number of microseconds".into())
}

fn part(text: &str) -> std::result::Result<f64, String> {
    let number = text
        .parse()
        .ok()
        .filter(|&number: &f64| number > 0.0 && number <= 1.0);
    number.ok_or_else(|| "write a number above 0 and up to 1".into())
}

/// What is simulated: sizes, and what was measured for them.
type Case = (Sizes, Option<f64>);

impl Estimate {
    /// Simulates it for each size.
    pub fn run(self, session: &Session) -> Result<()> {
        let tables = self.amounts.file().into_iter().chain(&self.measured);
        let inputs = [&self.plan]
            .into_iter()
            .chain(wiring::file(&self.topology))
            .chain(tables);
        let output = or_standard_output(&self.output);
        session.keep_apart(inputs, self.timeline.iter().chain([output]))?;
        let (plan, topology) = (planned(&self.plan)?, self.changes.topology(&self.topology)?);
        fits(&plan, &topology, &self.plan)?;
        let timing = self.timing(&topology);
        let (mut table, mut timeline) = (self.header(), String::from(TIMELINE));
        for (sizes, measured) in self.cases(&plan, session.memory)? {
            let traffic = Transfers::new(&plan, &sizes);
            let times = simulate(&traffic, &topology, &timing);
            table += &line(&traffic, total(&times), measured);
            if self.timeline.is_some() {
                timeline += &rows(&traffic, &times);
            }
        }
        let mut written = vec![sink::written(self.output.as_deref(), table.as_bytes())?];
        if let Some(path) = &self.timeline {
            written.push(sink::written(Some(path), timeline.as_bytes())?);
        }
        written.into_iter().try_for_each(Sink::finish)
    }

    fn timing(&self, topology: &Topology) -> Timing {
        Timing {
            latency: self.latency * 1e-6,
            launch: self.launch * 1e-6,
            rate: topology.rate() * 1e9 * self.reached,
            ..Timing::measured(topology)
        }
    }

    fn header(&self) -> String {
        let more = if self.measured.is_some() {
            "\tmeasured_ms\tratio"
        } else {
            ""
        };
        format!("bytes\tms\tGB_per_s{more}\n")
    }

    fn cases(&self, plan: &TransferPlan, memory: u64) -> Result<Vec<Case>> {
        if let Some(path) = &self.measured {
            return measured(path, plan);
        }
        let sizes = self.amounts.of(plan, memory)?;
        Ok(sizes.into_iter().map(|sizes| (sizes, None)).collect())
    }
}

/// Reads measured times: bytes of all messages, then milliseconds.
fn measured(path: &Path, plan: &TransferPlan) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for (number, line) in texts::text(path)?.lines().enumerate() {
        let values: std::result::Result<Vec<f64>, _> = line
            .split(',')
            .map(|word| word.trim().parse::<f64>())
            .collect();
        let values = values
            .ok()
            .filter(|values| values.len() > 1 && values[0] >= 1.0);
        let Some(values) = values else {
            let (path, line) = (path.display(), number + 1);
            return Err(Failure::new(
                Code::Input,
                format!(
                    "{path}, line {line}: expected bytes and milliseconds, with commas between"
                ),
            ));
        };
        let mut times = values[1..].to_vec();
        times.sort_by(f64::total_cmp);
        let sizes = Sizes::even(plan.collective(), plan.devices(), values[0] as u64);
        cases.push((sizes, Some(times[times.len() / 2])));
    }
    Ok(cases)
}

fn line(traffic: &Transfers, seconds: f64, measured: Option<f64>) -> String {
    let bytes = traffic.sizes().total(traffic.collective());
    let ms = seconds * 1e3;
    let rate = if seconds > 0.0 {
        bytes as f64 / seconds / 1e9
    } else {
        0.0
    };
    let more = match measured {
        Some(measured) => format!("\t{measured:.4}\t{:.3}", ms / measured),
        None => String::new(),
    };
    format!("{bytes}\t{ms:.4}\t{rate:.1}{more}\n")
}

const TIMELINE: &str = "bytes\tfrom\tto\tstep\tsource\ttarget\tlength\tstart_ms\tend_ms\n";

fn rows(traffic: &Transfers, times: &[Timed]) -> String {
    let bytes = traffic.sizes().total(traffic.collective());
    let row = |(transfer, time): (&gyrase_gossip::Transfer, &Timed)| {
        format!(
            "{bytes}\t{}\t{}\t{}\t{}\t{}\t{}\t{:.4}\t{:.4}\n",
            transfer.from,
            transfer.to,
            transfer.step,
            transfer.source,
            transfer.target,
            transfer.len(),
            time.start * 1e3,
            time.end * 1e3
        )
    };
    traffic.transfers().iter().zip(times).map(row).collect()
}
