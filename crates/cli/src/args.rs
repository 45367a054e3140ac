//! The arguments that every verb understands, and the list of verbs.

use std::path::PathBuf;

use clap::{Args, Parser, ValueEnum};

use crate::cmd::Command;
use crate::size::Size;

const ABOUT: &str =
    "Count the k-mers of sequencing data and classify reads, fast, and within the memory you give.";

const EXAMPLES: &str = "\
Examples:
  gyrase demo                                  the main job on a small sample
  gyrase count r_1.fq.gz r_2.fq.gz -o s.gyk    count the 31-mers of two files
  gyrase kmers histo s.gyk --plot s.svg        their spectrum as a picture
  gyrase plan count r.fq.gz -k 55              memory, disk, time: beforehand
  gyrase db build refs/ --taxonomy taxdump/ -o refs.gydb
  gyrase classify --db refs.gydb r_1.fq.gz r_2.fq.gz --kreport s.kreport

`gyrase <verb> --help` explains a verb; docs/errors.md lists the exit codes.";

/// Count the k-mers of sequencing data and classify reads, fast, and within the memory you give.
#[derive(Debug, Parser)]
#[command(name = "gyrase", version, about = ABOUT, after_help = EXAMPLES, max_term_width = 100)]
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

/// Options that every verb understands.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of every verb")]
pub struct Common {
    /// Threads to use [default: the cores that this process may use]
    #[arg(long, short = 't', global = true, value_name = "N", value_parser = at_least_one)]
    pub threads: Option<usize>,

    /// Memory to stay within: 512M, 4G or 80% [default: 80% of what there is]
    #[arg(long, short = 'm', global = true, value_name = "SIZE")]
    pub memory: Option<Size>,

    /// Folder for temporary files; made if only it is missing [default: $TMPDIR, else /tmp]
    #[arg(long, global = true, value_name = "DIR")]
    pub tmp: Option<PathBuf>,

    /// Temporary disk to stay within, such as 100G [default: what is free there]
    #[arg(long, global = true, value_name = "SIZE")]
    pub max_tmp: Option<Size>,

    /// Say nothing but errors
    #[arg(long, short = 'q', global = true, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Say more: the limits of the run and the time of each stage
    #[arg(long, short = 'v', global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,

    /// Write what was done, and what it took, to this JSON file
    #[arg(long, global = true, value_name = "FILE")]
    pub report: Option<PathBuf>,

    /// Write what every thread did when to this JSON file: for `gyrase profile`, and for viewers
    /// such as Perfetto
    #[arg(long, global = true, value_name = "FILE.json")]
    pub trace: Option<PathBuf>,

    /// Messages on standard error: lines for people, or one JSON object each
    #[arg(long, global = true, value_name = "FORM", value_enum, default_value_t = LogFormat::Plain)]
    pub log: LogFormat,
}

/// Form of the messages on standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    // Variants without documentation keep `--help` in its short form.
    Plain,
    Json,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("at least one thread must work".into()),
        Ok(threads) => Ok(threads),
        Err(_) => Err("write a whole number".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

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
