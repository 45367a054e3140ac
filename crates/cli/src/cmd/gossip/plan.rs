//! `gyrase gossip plan`.

use std::path::PathBuf;

use clap::Args;
use gyrase_gossip::{Collective, Config, Method, Planned, draw_plan, planner};
use serde_json::json;

use super::given::{in_words, plural};
use super::sizes;
use super::wiring::{self, Changes};
use crate::failure::Result;
use crate::places::{Picture, or_standard_output};
use crate::session::Session;
use crate::sink::{self, Sink};

const EXAMPLES: &str = "\
Examples:
  gyrase gossip plan dgx-1 -o plan.json --plot plan.svg
  gyrase gossip plan dgx-1 --collective scatter:2 -o scatter.json
  gyrase gossip plan torus-4x4 --chunks 6 -o torus.json
  gyrase gossip plan alternative --method integer --chunks 1 -o unsplit.json
  gyrase gossip plan h100 --xml all-to-all.xml -o h100.json

The plan is as good as its bound says: 100 % means that no plan is faster.";

/// Make a plan of transfers, with a bound that no plan is faster than.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Make {
    /// A topology: a name of `gyrase gossip topology --list`, or a file; `-` for a pipe
    #[arg(value_name = "TOPOLOGY")]
    topology: PathBuf,

    /// What to move: all2all, scatter:0, gather:0, broadcast:0, with the device that is the source
    /// or target of all
    #[arg(long, value_name = "NAME", default_value = "all2all")]
    collective: Collective,

    /// Chunks of each message [default: as many as keep busy what is narrow]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    chunks: Option<u32>,

    /// How to plan: auto, flow (a fluid, paths, list scheduling), rings, integer (the program of
    /// the publication), integer-steps (the same, a chunk a link and step), direct
    #[arg(long, value_name = "METHOD", default_value = "auto")]
    method: Method,

    /// Bytes of each message, where they differ: a line for each source, with a number for each
    /// target
    #[arg(long, value_name = "FILE.tsv")]
    sizes: Option<PathBuf>,

    /// The plan, as JSON of Gossip [default: standard output]
    #[arg(long, short, value_name = "FILE.json")]
    output: Option<PathBuf>,

    /// The plan as an algorithm of MSCCL, for NCCL and RCCL
    #[arg(long, value_name = "FILE.xml")]
    xml: Option<PathBuf>,

    /// Draw the plan in time, as SVG or PNG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    #[command(flatten)]
    changes: Changes,
}

impl Make {
    /// Plans, and writes what is asked for.
    pub fn run(self, session: &Session) -> Result<()> {
        let output = or_standard_output(&self.output);
        let others = [&self.xml, &self.plot].into_iter().flatten();
        let inputs = wiring::file(&self.topology).into_iter().chain(&self.sizes);
        session.keep_apart(inputs, others.chain([output]))?;
        let picture = self.plot.as_deref().map(Picture::of).transpose()?;
        let topology = self.changes.topology(&self.topology)?;
        let sizes = self
            .sizes
            .as_ref()
            .map(|path| sizes::read(path, self.collective, topology.devices()));
        let config = Config {
            topology,
            sizes: sizes.transpose()?,
            collective: self.collective,
            method: self.method,
            chunks: self.chunks.map(|chunks| chunks as usize),
        };
        let planned = session.shown(|progress| planner::plan(&config, progress))?;
        note(session, &config, &planned);
        let plan = &planned.plan;
        let mut written = vec![sink::written(
            self.output.as_deref(),
            plan.to_json().as_bytes(),
        )?];
        if let Some(path) = &self.xml {
            let name = format!(
                "gossip-{}-{}",
                plan.collective().name(),
                config.topology.name()
            );
            written.push(sink::written(Some(path), plan.to_msccl(&name)?.as_bytes())?);
        }
        if let Some(picture) = picture {
            let drawn = draw_plan(
                plan,
                &config.topology,
                &planned.bound,
                config.sizes.as_ref(),
            );
            written.push(sink::written(self.plot.as_deref(), &picture.finish(drawn))?);
        }
        written.into_iter().try_for_each(Sink::finish)
    }
}

fn note(session: &Session, config: &Config, planned: &Planned) {
    let Planned { plan, bound, time } = planned;
    let percent = 100.0 * planned.efficiency();
    session.note(
        "parameters",
        json!({
            "topology": config.topology.name(), "collective": config.collective.to_string(),
            "method": config.method.to_string(), "chunks": plan.chunks(),
        }),
    );
    session.note(
        "results",
        json!({
            "steps": plan.steps(), "transfers": plan.transfers(), "time": time,
            "bound": bound.time, "percent_of_bound": percent,
        }),
    );
    tracing::info!(
        "{} on {}: {} a message, {}, {}; it takes {time:.4} times a message over a link",
        plan.collective(),
        config.topology.name(),
        plural(plan.chunks(), "chunk"),
        plural(plan.steps(), "step"),
        plural(plan.transfers(), "transfer"),
    );
    tracing::info!(
        "no plan takes less than {}: {percent:.1} %",
        in_words(bound)
    );
}
