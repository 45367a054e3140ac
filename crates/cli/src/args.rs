//! The arguments that every verb understands.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::size::Size;

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
    #[arg(long, global = true, hide_short_help = true, value_name = "DIR")]
    pub tmp: Option<PathBuf>,

    /// Temporary disk to stay within, such as 100G [default: what is free there]
    #[arg(long, global = true, hide_short_help = true, value_name = "SIZE")]
    pub max_tmp: Option<Size>,

    /// Say nothing but errors
    #[arg(
        long,
        short = 'q',
        global = true,
        hide_short_help = true,
        conflicts_with = "verbose"
    )]
    pub quiet: bool,

    /// Say more: the limits of the run and the time of each stage
    #[arg(
        long, short = 'v', global = true, hide_short_help = true,
        action = clap::ArgAction::Count,
    )]
    pub verbose: u8,

    /// Write what was done, and what it took, to this JSON file
    #[arg(long, global = true, hide_short_help = true, value_name = "FILE")]
    pub report: Option<PathBuf>,

    /// Write what every thread did when to this JSON file: for `gyrase profile`, and for viewers
    /// such as Perfetto
    #[arg(long, global = true, hide_short_help = true, value_name = "FILE.json")]
    pub trace: Option<PathBuf>,

    /// Messages on standard error: lines for people, or one JSON object each, its numbers as fields
    #[arg(
        long, global = true, hide_short_help = true, value_name = "FORM", value_enum,
        default_value_t = LogFormat::Plain,
    )]
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
