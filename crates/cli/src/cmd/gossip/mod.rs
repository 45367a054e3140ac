//! `gyrase gossip`: moving data among devices.

mod check;
mod given;
mod plan;
mod run;
mod simulate;
mod sizes;
mod topology;
pub mod wiring;

use clap::{Args, Subcommand};
use gyrase_gossip::GossipError;

use crate::errors::Meaning;
use crate::failure::{Code, Failure, Result};
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  gyrase gossip topology dgx-1 --plot dgx-1.svg
  gyrase gossip plan dgx-1 --collective all2all -o plan.json --plot plan.svg
  gyrase gossip check plan.json --topology dgx-1
  gyrase gossip simulate plan.json --topology dgx-1 --bytes 1G,4G
  gyrase gossip run plan.json --topology dgx-1 --bytes 2M

Plans are files of Gossip (github.com/Funatiq/gossip). docs/gossip.md has more.";

/// Plan transfers among devices that are wired unevenly, such as GPUs: scatter, gather, broadcast,
/// all-to-all.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Gossip {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Say how devices are wired, and draw it
    Topology(topology::Wires),
    /// Make a plan of transfers, with a bound that no plan is faster than
    Plan(plan::Make),
    /// Say whether plans do what they are for, and how near their bound they are
    Check(check::Check),
    /// Say what a plan takes on a machine that one does not have
    Simulate(simulate::Estimate),
    /// Carry a plan out in threads over throttled links or on GPUs, and compare the result
    Run(run::Execute),
}

impl Gossip {
    /// Does it.
    pub fn run(self, session: &Session) -> Result<()> {
        match self.what {
            What::Topology(verb) => verb.run(session),
            What::Plan(verb) => verb.run(session),
            What::Check(verb) => verb.run(session),
            What::Simulate(verb) => verb.run(session),
            What::Run(verb) => verb.run(session),
        }
    }
}

impl From<GossipError> for Failure {
    fn from(error: GossipError) -> Failure {
        let meaning = match &error {
            GossipError::Topology { .. }
            | GossipError::Request { .. }
            | GossipError::Apart { .. }
            | GossipError::Sizes { .. } => Code::Usage.into(),
            GossipError::Preset { .. } => Meaning::helped(
                Code::Usage,
                "`gyrase gossip topology --list` has the names that are known",
            ),
            GossipError::Solver { .. } => Meaning::helped(
                Code::Usage,
                "--method flow plans for as many devices as this, and fewer --chunks are easier",
            ),
            GossipError::Smi { .. } | GossipError::Json { .. } | GossipError::Plan { .. } => {
                Code::Input.into()
            }
            GossipError::Gpu(_) => {
                Meaning::helped(Code::Mpi, "leave --gpu out to run it in threads")
            }
            GossipError::Differs { .. } => Code::Internal.into(),
            GossipError::Cancelled => Code::Interrupted.into(),
        };
        meaning.failure(&error)
    }
}
