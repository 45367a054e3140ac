//! `gyrase kmers union`, `intersect` and `subtract`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use gyrase_count::ops::{self, Combine, Config, DatabasesPlan, Operation, Summary};
use gyrase_picture::words::{self, things};
use gyrase_tabulate::Estimate;
use serde_json::json;

use crate::cmd::counts::{Counts, note_databases, totals, warn_if_saturated};
use crate::failure::Result;
use crate::places;
use crate::session::Session;

const UNION: &str = "\
Examples:
  gyrase kmers union a.gyk b.gyk c.gyk -o all.gyk         counts are summed
  gyrase kmers union a.gyk b.gyk --counts max -o all.gyk
  gyrase kmers union a.gyk --min-count 2 -o solid.gyk     no unique k-mers";

const INTERSECT: &str = "\
Examples:
  gyrase kmers intersect a.gyk b.gyk -o shared.gyk        the smaller count
  gyrase kmers intersect reads.gyk genome.gyk --counts first -o mapped.gyk";

const SUBTRACT: &str = "\
Examples:
  gyrase kmers subtract s.gyk host.gyk -o rest.gyk        what host.gyk has not
  gyrase kmers subtract after.gyk before.gyk --counts -o more.gyk";

/// Unite databases: the k-mers of any of them.
#[derive(Debug, Args)]
#[command(after_help = UNION)]
pub struct Union {
    #[command(flatten)]
    files: Files,

    /// Count of a k-mer that several databases have
    #[arg(long, value_enum, value_name = "HOW", default_value_t = Which::Sum)]
    counts: Which,
}

/// Intersect databases: the k-mers that all of them have.
#[derive(Debug, Args)]
#[command(after_help = INTERSECT)]
pub struct Intersect {
    #[command(flatten)]
    files: Files,

    /// Count of a k-mer of the result
    #[arg(long, value_enum, value_name = "HOW", default_value_t = Which::Min)]
    counts: Which,
}

/// Subtract databases: the k-mers of the first that no other has.
#[derive(Debug, Args)]
#[command(after_help = SUBTRACT)]
pub struct Subtract {
    #[command(flatten)]
    files: Files,

    /// Take counts off, and leave out only what drops to 0; a count of 4,294,967,295, which means
    /// that many or more, is taken as exactly that
    #[arg(long)]
    counts: bool,
}

/// What every operation takes.
#[derive(Debug, Args)]
struct Files {
    /// The databases, all of one k and strandedness
    #[arg(value_name = "DATABASE.gyk", required = true)]
    databases: Vec<PathBuf>,

    /// Database to make
    // `gyrase plan kmers` does without.
    #[arg(long, short, value_name = "FILE.gyk", required = true)]
    output: Option<PathBuf>,

    #[command(flatten)]
    cutoffs: Counts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Which {
    Sum,
    Min,
    Max,
    First,
}

impl Which {
    fn combine(self) -> Combine {
        match self {
            Which::Sum => Combine::Sum,
            Which::Min => Combine::Min,
            Which::Max => Combine::Max,
            Which::First => Combine::First,
        }
    }
}

impl Union {
    /// Makes the union.
    pub fn run(self, session: &Session) -> Result<()> {
        self.files
            .run(session, Operation::Union, self.counts.combine())
    }

    /// What making it will take, and the size of what comes of it.
    pub fn plan(self, session: &Session) -> Result<(DatabasesPlan, Estimate)> {
        self.files
            .plan(session, Operation::Union, self.counts.combine())
    }
}

impl Intersect {
    /// Makes the intersection.
    pub fn run(self, session: &Session) -> Result<()> {
        self.files
            .run(session, Operation::Intersect, self.counts.combine())
    }

    /// What making it will take, and the size of what comes of it.
    pub fn plan(self, session: &Session) -> Result<(DatabasesPlan, Estimate)> {
        self.files
            .plan(session, Operation::Intersect, self.counts.combine())
    }
}

impl Subtract {
    /// Makes the difference.
    pub fn run(self, session: &Session) -> Result<()> {
        let operation = self.operation();
        self.files
            .run(session, operation, operation.usual_combine())
    }

    /// What making it will take, and the size of what comes of it.
    pub fn plan(self, session: &Session) -> Result<(DatabasesPlan, Estimate)> {
        let operation = self.operation();
        self.files
            .plan(session, operation, operation.usual_combine())
    }

    fn operation(&self) -> Operation {
        if self.counts {
            Operation::SubtractCounts
        } else {
            Operation::Subtract
        }
    }
}

impl Files {
    fn config(self, session: &Session, operation: Operation, combine: Combine) -> Result<Config> {
        Ok(Config {
            operation,
            combine,
            inputs: self.databases,
            output: self.output.unwrap_or_default(),
            cutoffs: self.cutoffs.cutoffs()?,
            threads: session.threads,
        })
    }

    fn plan(
        self,
        session: &Session,
        operation: Operation,
        combine: Combine,
    ) -> Result<(DatabasesPlan, Estimate)> {
        Ok(ops::plan(&self.config(session, operation, combine)?)?)
    }

    fn run(self, session: &Session, operation: Operation, combine: Combine) -> Result<()> {
        let config = self.config(session, operation, combine)?;
        places::keep_databases_only(&config.output, places::Kind::Gyk)?;
        // A database may take the place of one that it is made of.
        session.keep_apart(&config.inputs, [])?;
        session.keep_apart([], [&config.output])?;
        note_databases(&config.inputs, session)?;
        let summary = session.shown(|progress| ops::run(&config, progress))?;
        note(session, &config, &summary);
        say(session, &config, &summary);
        Ok(())
    }
}

/// A difference of counts of which one means "or more" is no exact count.
fn warn_if_inexact(config: &Config, summary: &Summary) {
    let inputs = config
        .inputs
        .iter()
        .zip(&summary.inputs)
        .filter(|(_, input)| input.saturated);
    let names: Vec<String> = inputs.map(|(path, _)| path.display().to_string()).collect();
    if !names.is_empty() {
        tracing::warn!(
            "{} has k-mers that occur {} times or more; taken as exactly that, their differences \
             are not exact",
            names.join(", "),
            words::grouped(u64::from(u32::MAX))
        );
    }
}

fn say(session: &Session, config: &Config, summary: &Summary) {
    warn_if_saturated(&summary.output);
    if config.operation == Operation::SubtractCounts {
        warn_if_inexact(config, summary);
    }
    for (path, input) in config.inputs.iter().zip(&summary.inputs) {
        tracing::info!("{}: {}", path.display(), things(input.distinct, "k-mer"));
    }
    if let Some(shared) = summary.shared {
        tracing::info!("in all of them: {}", things(shared, "k-mer"));
    }
    let left_out = summary.before_cutoffs - summary.output.distinct;
    if left_out > 0 {
        tracing::info!("left out for their count: {}", things(left_out, "k-mer"));
    }
    let (made, time) = (
        things(summary.output.distinct, "k-mer"),
        words::time(session.elapsed()),
    );
    tracing::info!("{}: {made}, {time}", config.output.display());
}

fn note(session: &Session, config: &Config, summary: &Summary) {
    let inputs: Vec<_> = config
        .inputs
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    session.note("inputs", inputs);
    session.note("output", config.output.display().to_string());
    session.note("parameters", json!({"operation": config.operation.name()}));
    let per_input: Vec<_> = summary.inputs.iter().map(totals).collect();
    session.note(
        "counts",
        json!({
            "inputs": per_input, "shared": summary.shared,
            "before_cutoffs": summary.before_cutoffs, "output": totals(&summary.output),
        }),
    );
}
