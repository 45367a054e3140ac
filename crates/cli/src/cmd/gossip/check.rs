//! `gyrase gossip check`.

use std::path::{Path, PathBuf};

use clap::Args;
use gyrase_gossip::simulator::ideal_time;
use gyrase_gossip::{Topology, TransferPlan, planner};

use super::given::{fits, planned};
use super::wiring::{self, Changes};
use crate::failure::Result;
use crate::places;
use crate::session::Session;
use crate::sink;

const EXAMPLES: &str = "\
Examples:
  gyrase gossip plan dgx-1 -o plan.json
  gyrase gossip check plan.json
  gyrase gossip check plan.json --topology dgx-1

Each path must lead from a source to a target of the collective, and the paths
of a message must carry each of its chunks once. Hops without a link are counted
(column host): they take the way through the host.";

/// Say whether plans do what they are for, and how near their bound they are.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Check {
    /// Plans, as JSON of Gossip; `-` for a pipe
    #[arg(value_name = "PLAN.json", required = true)]
    plans: Vec<PathBuf>,

    /// The topology that they are for: a name or a file
    #[arg(long, value_name = "TOPOLOGY")]
    topology: Option<PathBuf>,

    #[command(flatten)]
    changes: Changes,
}

impl Check {
    /// Prints a line for each plan.
    pub fn run(self, session: &Session) -> Result<()> {
        let inputs = self
            .plans
            .iter()
            .chain(self.topology.iter().filter_map(wiring::file));
        session.keep_apart(inputs, [places::standard_output()])?;
        let topology = self
            .topology
            .as_deref()
            .map(|source| self.changes.topology(source));
        let topology = topology.transpose()?;
        let mut text = "plan\tcollective\tdevices\tchunks\tsteps\ttransfers".to_owned();
        if topology.is_some() {
            text += "\thost\ttime\tbound\tpercent";
        }
        text.push('\n');
        for path in &self.plans {
            let plan = planned(path)?;
            text += &format!(
                "{}\t{}\t{}\t{}\t{}\t{}",
                path.display(),
                plan.collective().name(),
                plan.devices(),
                plan.chunks(),
                plan.steps(),
                plan.transfers()
            );
            if let Some(topology) = &topology {
                text += &compared(&plan, topology, path)?;
            }
            text.push('\n');
        }
        sink::write_all(None, text.as_bytes())
    }
}

/// Hops without links, time, bound, and the bound in per cent of the time.
fn compared(plan: &TransferPlan, topology: &Topology, path: &Path) -> Result<String> {
    fits(plan, topology, path)?;
    let time = ideal_time(plan, topology, None);
    let bound = planner::bound(topology, plan.collective(), None)?.time;
    let (host, percent) = (plan.without_links(topology).len(), 100.0 * bound / time);
    Ok(format!("\t{host}\t{time:.4}\t{bound:.4}\t{percent:.1}"))
}
