//! One file a verb: arguments -> `Config` of a library -> run -> print.

mod assemble;
mod cite;
mod classify;
mod completions;
mod count;
mod counts;
mod db;
mod demo;
mod doctor;
mod folders;
mod gossip;
mod graph;
mod index;
mod key;
mod kmers;
mod lab;
mod man;
mod mpi_setup;
mod plan;
mod profile;
mod receive;
mod references;
mod rows;
mod search;
mod send;
mod serve;
mod simulate;
mod suffix;
mod unitigs;

use clap::{CommandFactory, Parser, Subcommand};
use gyrase_fabric::Steal;

use crate::args::Common;
use crate::failure::Result;
use crate::places;
use crate::ranks::Processes;
use crate::session::Session;

const ABOUT: &str =
    "Count the k-mers of sequencing data and classify reads, fast, and within the memory you give.";

const EXAMPLES: &str = "\
Examples:
  gyrase demo                                  both main jobs on small samples
  gyrase count r_1.fq.gz r_2.fq.gz -o s.gyk    count the 31-mers of two files
  gyrase kmers histo s.gyk --plot s.svg        their spectrum as a picture
  gyrase plan count r.fq.gz -k 55              memory, disk, time: beforehand
  gyrase db build refs/ --taxonomy taxdump/ -o refs.gydb
  gyrase classify --db refs.gydb r_1.fq.gz r_2.fq.gz --kreport s.kreport

`gyrase <verb> --help` explains a verb; docs/errors.md lists the exit codes.";

/// Count the k-mers of sequencing data and classify reads, fast, and within the memory you give.
#[derive(Debug, Parser)]
#[command(name = "gyrase", about = ABOUT, after_help = EXAMPLES, max_term_width = 100)]
// What a file tells of its maker is the version alone: equal for all commits of it.
#[command(version = env!("CARGO_PKG_VERSION"), long_version = env!("GYRASE_VERSION"))]
#[command(
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// What every verb understands.
    #[command(flatten)]
    pub common: Common,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Count the k-mers of FASTA and FASTQ files into a database.
    Count(count::Count),
    /// Look into databases of k-mers, combine them, exchange them with other programs.
    Kmers(kmers::Kmers),
    /// Build databases of references for `classify`, change them, and look into them.
    Db(db::Db),
    /// Say which taxon each read comes from, and what a sample holds.
    Classify(Box<classify::Classify>),
    /// Assemble the genome that short reads are of.
    Assemble(Box<assemble::Assemble>),
    /// Search a database of proteins or nucleotides for the relatives of others.
    Search(Box<search::Search>),
    /// Make the report of a search from its metadata, where a replica of the database is.
    Regenerate(Box<search::regenerate::Regenerate>),
    /// Send files to a machine where `receive` waits: encrypted, checked, resumed after a cut.
    Send(Box<send::Send>),
    /// Receive files that `send` sends from another machine.
    Receive(Box<receive::Receive>),
    /// Print the key by which others know you when you send or receive.
    Key(key::Key),
    /// Serve searches over HTTP: a page for people, JSON and NCBI's interface for programs.
    Serve(Box<serve::Serve>),
    /// Search for a `gyrase serve` that starts this.
    #[command(hide = true)]
    ServeWorker(serve::ServeWorker),
    /// Build databases of sequences for `search`, look into them, and take sequences out.
    Index(Box<index::Index>),
    /// Join k-mers to the longest sequences that they spell without a choice.
    Unitigs(Box<unitigs::Unitigs>),
    /// Look into graphs of assemblies, draw them, take parts of them: GFA 1.
    Graph(graph::Graph),
    /// Find the exact matches between a reference and queries that cannot be longer: MEMs, MUMs.
    Match(Box<suffix::matching::Match>),
    /// Find what occurs twice in sequences: maximal repeats, and sequences that are equal.
    Repeats(Box<suffix::repeats::Repeats>),
    /// Say how often the k-mer at each place of a genome occurs in it, as a bedGraph.
    Mappability(Box<suffix::mappability::Mappability>),
    /// Sort all suffixes of sequences into a file, look into it, check it.
    Suffix(suffix::Suffix),
    /// Say what a run will take, before its first byte.
    Plan(plan::Plan),
    /// Say where the time of a run with --trace went.
    Profile(profile::Profile),
    /// Make genomes, reads and communities with known truth, from a seed.
    Simulate(Box<simulate::Simulate>),
    /// Simulate systems that one would have to own to measure: how a cluster schedules searches.
    Lab(lab::Lab),
    /// Plan transfers among devices that are wired unevenly, such as GPUs; simulate and run them.
    Gossip(Box<gossip::Gossip>),
    /// Say whether Gyrase can work well here: MPI, shared memory, limits, cores, disks.
    Doctor(doctor::Doctor),
    /// Show both main jobs on small simulated samples, and check the results.
    Demo(demo::Demo),
    /// Let several processes share a run (mpirun, srun): compile a small library for the MPI here.
    MpiSetup(mpi_setup::MpiSetup),
    /// Print the completion script of a shell.
    Completions(completions::Completions),
    /// Print the manual page, or write one for every verb into a folder.
    Man(man::Man),
    /// Say how to cite Gyrase.
    Cite(cite::Cite),
}

impl Command {
    /// How the verb takes it that several processes were started.
    pub fn processes(&self) -> Processes {
        match self {
            Command::Count(verb) => Processes::Share(verb.steal()),
            Command::Classify(_) | Command::Search(_) => Processes::Share(Steal::On),
            Command::Unitigs(_) | Command::Assemble(_) => Processes::Share(Steal::On),
            Command::Db(verb) if verb.is_shared() => Processes::Share(Steal::On),
            Command::Suffix(verb) if verb.is_shared() => Processes::Share(Steal::On),
            Command::Doctor(_) | Command::MpiSetup(_) => Processes::Each,
            _ => Processes::One,
        }
    }

    /// True where nothing but standard output is for what the verb says.
    fn prints(&self) -> bool {
        match self {
            Command::Plan(_) | Command::Profile(_) | Command::Doctor(_) | Command::Demo(_) => true,
            Command::MpiSetup(_) | Command::Completions(_) | Command::Cite(_) | Command::Key(_) => {
                true
            }
            Command::Man(verb) => verb.prints(),
            _ => false,
        }
    }
}

/// Runs a verb.
pub fn run(command: Command, session: &Session) -> Result<()> {
    let printed = command.prints().then(places::standard_output);
    session.keep_own_apart(printed)?;
    match command {
        Command::Count(verb) => verb.run(session),
        Command::Kmers(verb) => verb.run(session),
        Command::Db(verb) => verb.run(session),
        Command::Classify(verb) => verb.run(session),
        Command::Assemble(verb) => verb.run(session),
        Command::Search(verb) => verb.run(session),
        Command::Regenerate(verb) => verb.run(session),
        Command::Send(verb) => verb.run(session),
        Command::Receive(verb) => verb.run(session),
        Command::Key(verb) => verb.run(),
        Command::Serve(verb) => verb.run(session),
        Command::ServeWorker(verb) => verb.run(session),
        Command::Index(verb) => verb.run(session),
        Command::Unitigs(verb) => verb.run(session),
        Command::Graph(verb) => verb.run(session),
        Command::Match(verb) => verb.run(session),
        Command::Repeats(verb) => verb.run(session),
        Command::Mappability(verb) => verb.run(session),
        Command::Suffix(verb) => verb.run(session),
        Command::Plan(verb) => verb.run(session),
        Command::Profile(verb) => verb.run(session),
        Command::Simulate(verb) => verb.run(session),
        Command::Lab(verb) => verb.run(session),
        Command::Gossip(verb) => verb.run(session),
        Command::Doctor(verb) => verb.run(session),
        Command::Demo(verb) => verb.run(session),
        Command::MpiSetup(verb) => verb.run(),
        Command::Completions(verb) => verb.run(Cli::command()),
        Command::Man(verb) => verb.run(Cli::command()),
        Command::Cite(verb) => verb.run(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn examples_fit_a_terminal() {
        fn check(command: &clap::Command) {
            let text = command
                .get_after_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            for line in text.lines() {
                assert!(line.chars().count() <= 80, "{}: {line}", command.get_name());
            }
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
    }
}
