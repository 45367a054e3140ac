//! `gyrase plan`.

use std::fmt::Write;
use std::time::Duration;

use clap::{Arg, Args, Subcommand};
use gyrase_count::{Config, Estimate, Plan as Prediction};
use gyrase_picture::words::{self, bytes, grouped};
use serde_json::{Value, json};

use super::classify::Classify;
use super::count::Count;
use crate::failure::Result;
use crate::session::Session;
use crate::sink;

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
    #[command(mut_args(in_short), mut_arg("output", |output| output.required(false)))]
    Count(Box<Count>),
    /// Say what `gyrase classify` with these arguments will take
    #[command(after_help = EXAMPLES)]
    Classify(Box<Classify>),
}

/// What the prediction does not depend on is taken, so that the command line of a run can be given
/// as it is, and not explained.
fn in_short(arg: Arg) -> Arg {
    let hidden = ["output", "histo", "resume", "chunk", "stealing"];
    let hide = hidden.iter().any(|name| arg.get_id() == name);
    if hide { arg.hide(true) } else { arg }
}

impl Plan {
    /// Prints the prediction; a run that would be refused is refused here too.
    pub fn run(self, session: &Session) -> Result<()> {
        match self.verb {
            Verb::Count(verb) => count(&verb, session),
            Verb::Classify(verb) => verb.plan(session),
        }
    }
}

fn count(verb: &Count, session: &Session) -> Result<()> {
    let config = verb.config(session)?;
    session.keep_apart(verb.lists().iter().chain(&config.inputs), [])?;
    let plan = gyrase_count::plan(&config)?;
    session.note(
        "counts",
        json!({"bases": bounds(plan.bases), "super_kmer_bytes": bounds(plan.super_kmers)}),
    );
    session.note(
        "bytes",
        json!({
            "memory": plan.memory, "least_memory": plan.least_memory, "temporary": bounds(plan.tmp),
        }),
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
