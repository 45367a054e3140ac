//! `gyrase lab`: models of systems.

mod bottleneck;
mod schedule;
mod ssd;

use clap::{Args, Subcommand};

use crate::failure::Result;
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  gyrase lab schedule --table
  gyrase lab schedule --figures figures/ --seeds 5
  gyrase lab ssd reads.fq.gz -k 28
  gyrase lab where reads.fq.gz

docs/scheduling.md and docs/laboratory.md say what is modelled.";

/// Simulate systems that one would have to own to measure.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Lab {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Simulate how a cluster that serves searches shares its processors
    Schedule(Box<schedule::Schedule>),
    /// Simulate drives that count k-mers themselves
    Ssd(Box<ssd::Ssd>),
    /// Say where the time of counting would go on other machines
    Where(Box<bottleneck::Where>),
}

impl Lab {
    /// Simulates it.
    pub fn run(self, session: &Session) -> Result<()> {
        match self.what {
            What::Schedule(verb) => verb.run(session),
            What::Ssd(verb) => verb.run(session),
            What::Where(verb) => verb.run(session),
        }
    }
}
