//! `gyrase plan`.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};
use gyrase_count::{Config, Estimate, Plan as Prediction};
use serde_json::{Value, json};

use super::classify::Classify;
use super::count::What;
use crate::failure::Result;
use crate::session::Session;
use crate::sink;
use crate::words::{self, bytes, grouped};

const EXAMPLES: &str = "\
Examples:
  gyrase plan count reads_1.fq.gz reads_2.fq.gz -k 31
  gyrase plan count big.fq.gz -k 55 --memory 8G
  gyrase plan classify --db refs.gydb reads.fq.gz --memory 8G";

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
    /// Say what `gyrase classify` with these arguments will take
    #[command(after_help = EXAMPLES)]
    Classify(Box<Classify>),
}

/// What else `gyrase count` takes and the prediction does not depend on, so that its command line
/// can be given as it is.
#[derive(Debug, Args)]
struct Rest {
    #[arg(long, short, hide = true)]
    output: Option<PathBuf>,
    #[arg(long, hide = true)]
    histo: Option<PathBuf>,
    #[arg(long, hide = true)]
    resume: bool,
    #[arg(long, hide = true, value_parser = super::count::chunk)]
    chunk: Option<u64>,
    #[arg(long, hide = true)]
    stealing: Option<super::count::Stealing>,
}

impl Plan {
    /// Prints the prediction; a run that would be refused is refused here too.
    pub fn run(self, session: &Session) -> Result<()> {
        match self.verb {
            Verb::Count { what, rest: _ } => count(&what, session),
            Verb::Classify(verb) => verb.plan(session),
        }
    }
}

fn count(what: &What, session: &Session) -> Result<()> {
    let config = what.config(session, Path::new(""), false, None)?;
    session.keep_apart(what.lists().iter().chain(&config.inputs), [])?;
    let plan = gyrase_count::plan(&config)?;
    session.note(
        "counts",
        json!({"bases": bounds(plan.bases), "super_kmer_bytes": bounds(plan.super_kmers)}),
    );
    session.note(
        "bytes",
        json!({"memory": plan.memory, "least_memory": plan.least_memory, "temporary": bounds(plan.tmp)}),
    );
    session.note("predicted_seconds", plan.seconds);
    sink::write_all(None, table(&plan, &config).as_bytes())?;
    Ok(plan.admit(&config)?)
}

/// Both bounds; an upper one that nobody knows is null.
fn bounds(estimate: Estimate) -> Value {
    json!({"least": estimate.least, "most": estimate.most})
}

fn table(plan: &Prediction, config: &Config) -> String {
    let mut text = String::new();
    let mut row = |name: &str, value: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<16}{value}");
    };
    row("bases", shown(plan.bases, grouped));
    let up_to = if plan.bases.most.is_some() {
        ""
    } else {
        "up to "
    };
    row(
        "memory",
        format!(
            "{up_to}{} of the {} allowed",
            bytes(plan.memory),
            bytes(config.memory)
        ),
    );
    row("least memory", bytes(plan.least_memory));
    row("temporary disk", temporary(plan, config));
    let time = |seconds: f64| {
        format!(
            "about {}",
            words::time(Duration::from_secs_f64(seconds.max(0.01)))
        )
    };
    row("time", plan.seconds.map_or(UNKNOWN.into(), time));
    text
}

const UNKNOWN: &str = "unknown: an input is a pipe";

fn shown(Estimate { least, most }: Estimate, word: impl Fn(u64) -> String) -> String {
    match most {
        Some(most) if most == least => word(most),
        Some(most) => format!("{} to {}", word(least), word(most)),
        None if least == 0 => UNKNOWN.into(),
        None => format!("at least {}; an input is a pipe", word(least)),
    }
}

fn temporary(plan: &Prediction, config: &Config) -> String {
    let folder = config.tmp.display();
    match plan.tmp.most {
        Some(0) => "none".into(),
        Some(_) => format!("{} in {folder}", shown(plan.tmp, bytes)),
        None => {
            let room = gyrase_count::room_for_tmp(config).map_or("what is free".into(), |room| {
                format!(
                    "up to {}, all that {}",
                    bytes(room),
                    if config.max_tmp == Some(room) {
                        "--max-tmp allows"
                    } else {
                        "is free"
                    }
                )
            });
            format!("{}, {room} in {folder}", shown(plan.tmp, bytes))
        }
    }
}
