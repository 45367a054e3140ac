//! `gyrase plan`.

use clap::{Arg, Args, Subcommand};
use gyrase_count::{Config, Estimate, Plan as Prediction};
use gyrase_picture::words::{bytes, grouped};
use serde_json::json;

use super::assemble::Assemble;
use super::classify::Classify;
use super::count::{Count, gpu};
use super::db::PlanDb;
use super::kmers::PlanKmers;
use super::rows::{Table, bounds, shown};
use super::search::Search;
use super::search::plan_regenerate::PlanRegenerate;
use super::serve::Serve;
use super::suffix::PlanSuffix;
use super::suffix::mappability::Mappability;
use super::suffix::matching::Match;
use super::suffix::repeats::Repeats;
use super::unitigs::Unitigs;
use crate::failure::Result;
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  gyrase plan count reads_1.fq.gz reads_2.fq.gz -k 31
  gyrase plan count big.fq.gz -k 55 --memory 8G
  gyrase plan classify --db refs.gydb reads.fq.gz --memory 8G
  gyrase plan db build refs/ --taxonomy taxdump/ --map map.tsv --memory 16G
  gyrase plan kmers union a.gyk b.gyk
  gyrase plan search proteins.faa --db refs.faa
  gyrase plan regenerate hits.gym proteins.faa --db refs.faa --bandwidth 10M
  gyrase plan unitigs reads_1.fq.gz reads_2.fq.gz --min-count 2
  gyrase plan assemble reads_1.fq.gz reads_2.fq.gz
  gyrase plan match ref.fa query.fa --both-strands
  gyrase plan serve --db refs=refs.gysd --workers 4 --worker-memory 200M

The arguments are those of the run itself, an output may be left out. Memory is
what the run is expected to take: not less than it will, and seldom a quarter
more. Two figures are for reads that repeat, and for reads that all differ.";

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
    /// Say what `gyrase search` with these arguments will take
    #[command(after_help = EXAMPLES)]
    Search(Box<Search>),
    /// Say whether to send the report of a search, or its metadata and regenerate it there
    Regenerate(Box<PlanRegenerate>),
    /// Say what `gyrase unitigs` with these arguments will take
    #[command(after_help = EXAMPLES)]
    Unitigs(Box<Unitigs>),
    /// Say what `gyrase assemble` with these arguments will take
    #[command(after_help = EXAMPLES)]
    #[command(mut_arg("output", |output| output.required(false)))]
    Assemble(Box<Assemble>),
    /// Say what `gyrase match` with these arguments will take
    #[command(after_help = EXAMPLES)]
    Match(Box<Match>),
    /// Say what `gyrase repeats` with these arguments will take
    #[command(after_help = EXAMPLES)]
    Repeats(Box<Repeats>),
    /// Say what `gyrase mappability` with these arguments will take
    #[command(after_help = EXAMPLES)]
    Mappability(Box<Mappability>),
    /// Say what `gyrase suffix build` with these arguments will take
    #[command(subcommand)]
    Suffix(PlanSuffix),
    /// Say what `gyrase serve` with these arguments will take
    #[command(after_help = EXAMPLES)]
    Serve(Box<Serve>),
    /// Say what `gyrase db build`, `add` and the like with these arguments will take
    #[command(subcommand)]
    Db(PlanDb),
    /// Say what `gyrase kmers union`, `filter` and the like will take
    #[command(subcommand)]
    Kmers(PlanKmers),
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
            Verb::Search(verb) => verb.plan(session),
            Verb::Regenerate(verb) => verb.run(session),
            Verb::Unitigs(verb) => verb.plan(session),
            Verb::Assemble(verb) => verb.plan(session),
            Verb::Match(verb) => verb.plan(session),
            Verb::Repeats(verb) => verb.plan(session),
            Verb::Mappability(verb) => verb.plan(session),
            Verb::Suffix(verb) => verb.plan(session),
            Verb::Serve(verb) => verb.plan(session),
            Verb::Db(verb) => verb.plan(session),
            Verb::Kmers(verb) => verb.plan(session),
        }
    }
}

fn count(verb: &Count, session: &Session) -> Result<()> {
    let config = verb.config(session)?;
    session.keep_apart(verb.lists().iter().chain(&config.inputs), [])?;
    let found = verb.gpu.find_named(session)?;
    let on_gpu = gpu::open(&verb.gpu, found.as_ref(), &config)?;
    let plan = match &on_gpu {
        Some(on_gpu) => on_gpu.plan(&config)?,
        None => gyrase_count::plan(&config)?,
    };
    session.note(
        "counts",
        json!({"bases": bounds(plan.bases), "super_kmer_bytes": bounds(plan.super_kmers)}),
    );
    session.note(
        "bytes",
        json!({
            "memory": plan.memory, "memory_of_repeats": plan.memory_of_repeats,
            "least_memory": plan.least_memory, "temporary": bounds(plan.tmp),
            "output": bounds(plan.output),
        }),
    );
    session.note("predicted_seconds", plan.seconds);
    let mut table = table(&plan, &config);
    if let (Some(found), Some(_)) = (&found, &on_gpu) {
        table.row("GPU", found.planned());
    }
    table.print()?;
    Ok(plan.admit(&config)?)
}

fn table(plan: &Prediction, config: &Config) -> Table {
    let mut table = Table::default();
    table.row("bases", shown(plan.bases, grouped));
    let memory = Estimate {
        least: plan.memory_of_repeats,
        most: Some(plan.memory),
    };
    table.memory(memory, config.memory, plan.bases.most.is_none());
    table.row("least --memory", bytes(plan.least_memory));
    match plan.tmp.most {
        Some(_) => table.temporary(plan.tmp, &config.tmp),
        None => table.row("temporary disk", of_a_pipe(plan, config)),
    }
    table.output(plan.output);
    table.time(plan.seconds, "");
    table
}

/// The temporary disk where nobody knows what comes.
fn of_a_pipe(plan: &Prediction, config: &Config) -> String {
    let room = gyrase_count::room_for_tmp(config).map_or("what is free".into(), |room| {
        let given = if config.max_tmp == Some(room) {
            "--max-tmp allows"
        } else {
            "is free"
        };
        format!("up to {}, all that {given}", bytes(room))
    });
    format!(
        "{}, {room} in {}",
        shown(plan.tmp, bytes),
        config.tmp.display()
    )
}
