//! `gyrase suffix`, and what the verbs on suffixes have in common.

mod build;
mod info;
pub mod mappability;
pub mod matching;
mod plan;
pub mod repeats;
mod sequences;

use clap::{Args, Subcommand};

use crate::failure::Result;
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  gyrase suffix build genome.fa -o genome.gysa
  gyrase suffix info genome.gysa
  gyrase suffix verify genome.gysa
  gyrase mappability genome.gysa -k 50 -o k50.bedgraph";

/// Sort all suffixes of sequences into a file, look into it, check it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Suffix {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Sort the suffixes of sequences: suffix array and longest common prefixes
    Build(Box<build::Build>),
    /// Say what a file holds
    Info(info::Info),
    /// Check every byte of files, and that the suffixes are in order
    Verify(info::Verify),
}

impl Suffix {
    /// Whether processes of a job share the work.
    pub fn is_shared(&self) -> bool {
        matches!(self.what, What::Build(_))
    }

    /// Does it.
    pub fn run(self, session: &Session) -> Result<()> {
        match self.what {
            What::Build(verb) => verb.run(session),
            What::Info(verb) => verb.run(session),
            What::Verify(verb) => verb.run(session),
        }
    }
}

/// What `gyrase plan suffix` is asked of.
#[derive(Debug, Subcommand)]
pub enum PlanSuffix {
    /// Say what `gyrase suffix build` with these arguments will take
    #[command(mut_arg("output", |output| output.required(false)))]
    Build(Box<build::PlanBuild>),
}

impl PlanSuffix {
    /// Prints the prediction.
    pub fn plan(&self, session: &Session) -> Result<()> {
        match self {
            PlanSuffix::Build(verb) => verb.plan(session),
        }
    }
}
