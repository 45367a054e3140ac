//! `gyrase plan`.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};
use gyrase_count::Plan as Prediction;
use serde_json::json;

use super::count::What;
use crate::failure::Result;
use crate::session::Session;
use crate::sink;
use crate::words::{self, bytes, grouped};

const EXAMPLES: &str = "\
Examples:
  gyrase plan count reads_1.fq.gz reads_2.fq.gz -k 31
  gyrase plan count big.fq.gz -k 55 --memory 8G";

/// Say what a run will take, before its first byte.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Plan {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Say what `gyrase count` with these arguments will take
    #[command(after_help = EXAMPLES)]
    Count {
        #[command(flatten)]
        what: What,

        #[command(flatten)]
        rest: Rest,
    },
}

/// What else `gyrase count` takes and the prediction does not depend on, so that its command line can be given as it is.
#[derive(Debug, Args)]
struct Rest {
    #[arg(long, short, hide = true)]
    output: Option<PathBuf>,
    #[arg(long, hide = true)]
    histo: Option<PathBuf>,
    #[arg(long, hide = true)]
    resume: bool,
}

impl Plan {
    /// Prints the prediction.
    pub fn run(self, session: &Session) -> Result<()> {
        let Verb::Count { what, rest: _ } = self.verb;
        let config = what.config(session, Path::new(""), false)?;
        let plan = gyrase_count::plan(&config)?;
        session.note("counts", json!({"bases": plan.bases, "super_kmer_bytes": plan.super_kmers}));
        session.note("bytes", json!({"memory": plan.memory, "least_memory": plan.least_memory, "temporary": plan.tmp}));
        sink::write_all(None, table(&plan, session).as_bytes())
    }
}

fn table(plan: &Prediction, session: &Session) -> String {
    let mut text = String::new();
    let mut row = |name: &str, value: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<16}{value}");
    };
    match plan.bases {
        Some(bases) => row("bases", format!("at most {}", grouped(bases))),
        None => row("bases", "unknown: an input is a pipe, so the figures below hold for no data".into()),
    }
    row("memory", format!("{} of the {} allowed", bytes(plan.memory), bytes(session.memory)));
    row("least memory", bytes(plan.least_memory));
    match plan.tmp {
        0 => row("temporary disk", "none".into()),
        tmp => row("temporary disk", format!("at most {} in {}", bytes(tmp), session.tmp.display())),
    }
    row("time", format!("about {}", words::time(Duration::from_secs_f64(plan.seconds.max(0.01)))));
    if plan.least_memory > session.memory {
        row("", format!("the run would be refused: give --memory {} or fewer --threads", bytes(plan.least_memory)));
    }
    text
}
