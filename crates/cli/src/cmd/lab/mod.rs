//! `gyrase lab`: models of systems.

mod schedule;

use clap::{Args, Subcommand};

use crate::failure::Result;
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  gyrase lab schedule --table
  gyrase lab schedule --figures figures/ --seeds 5

docs/scheduling.md says what is modelled.";

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
}

impl Lab {
    /// Simulates it.
    pub fn run(self, session: &Session) -> Result<()> {
        match self.what {
            What::Schedule(verb) => verb.run(session),
        }
    }
}
