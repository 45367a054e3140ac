//! `gyrase profile`.

mod advice;
mod table;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::path::PathBuf;

use clap::Args;
use gyrase_trace::profile;

use crate::failure::Result;
use crate::session::Session;
use crate::sink;

const EXAMPLES: &str = "\
Examples:
  gyrase count reads.fq.gz -o s.gyk --trace run.json
  gyrase profile run.json
  gyrase profile run.json --json | jq .advice

Columns are seconds of the wall time of a stage, means over the threads of a
rank; docs/profiling.md explains each. Perfetto (ui.perfetto.dev) shows the same
file as a timeline.";

/// Say where the time of a traced run went, stage by stage and rank by rank.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Profile {
    /// What a run wrote with --trace
    #[arg(value_name = "TRACE.json")]
    trace_file: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Profile {
    /// Prints the profile.
    pub fn run(self, session: &Session) -> Result<()> {
        session.keep_apart([&self.trace_file], [])?;
        session.note("inputs", self.trace_file.display().to_string());
        let opened = File::open(&self.trace_file).and_then(gyrase_fastx::decompress);
        let trace = profile::read(&self.trace_file, opened)?;
        let profile = profile::sum(&trace);
        let facts = table::facts(&trace, &profile);
        session.note("counts", facts.clone());
        let text = if self.json {
            format!("{facts:#}\n")
        } else {
            table::text(&trace, &profile)
        };
        sink::write_all(None, text.as_bytes())
    }
}
