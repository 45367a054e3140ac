//! `gyrase suffix info` and `gyrase suffix verify`.

use std::path::PathBuf;

use clap::Args;
use gyrase_picture::words::{bytes, grouped, things};
use gyrase_suffix::Error;
use gyrase_suffix::gysa::{GysaFacts, GysaFile};
use serde_json::{Value, json};

use super::sequences::kind_name;
use crate::failure::Result;
use crate::places;
use crate::session::Session;
use crate::sink;

const EXAMPLES: &str = "\
Examples:
  gyrase suffix info genome.gysa
  gyrase suffix info genome.gysa --json | jq .letters";

/// Say what a file holds.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Info {
    /// The file
    #[arg(value_name = "FILE.gysa")]
    file: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Check every byte of files, and that the suffixes are in order: in linear time, without sorting.
#[derive(Debug, Args)]
pub struct Verify {
    /// The files
    #[arg(value_name = "FILE.gysa", required = true)]
    files: Vec<PathBuf>,
}

/// What a file holds, in numbers.
pub fn in_json(facts: &GysaFacts) -> Value {
    json!({
        "sequences": facts.texts,
        "letters": facts.letters - facts.texts,
        "kind": kind_name(facts.kind),
        "position_bytes": facts.width,
        "bwt": facts.has_transform,
        "file_bytes": facts.bytes,
    })
}

impl Info {
    /// Prints the facts.
    pub fn run(self, session: &Session) -> Result<()> {
        session.keep_apart([&self.file], [places::standard_output()])?;
        let facts = GysaFile::open(&self.file)?.facts();
        session.note("inputs", self.file.display().to_string());
        session.note("counts", in_json(&facts));
        if self.json {
            return sink::write_all(None, format!("{:#}\n", in_json(&facts)).as_bytes());
        }
        let has = if facts.has_transform { "yes" } else { "no" };
        let rows = [
            ("file", self.file.display().to_string()),
            ("sequences", grouped(facts.texts)),
            ("letters", grouped(facts.letters - facts.texts)),
            ("match", kind_name(facts.kind).to_owned()),
            ("positions", format!("{} bytes each", facts.width)),
            ("transform", has.to_owned()),
            ("size", bytes(facts.bytes)),
        ];
        let row = |(name, value): &(&str, String)| format!("{name:<14}{value}\n");
        sink::write_all(None, rows.iter().map(row).collect::<String>().as_bytes())
    }
}

impl Verify {
    /// Checks; an error names the first thing that is wrong.
    pub fn run(self, session: &Session) -> Result<()> {
        session.keep_apart(&self.files, [])?;
        let names = self.files.iter().map(|path| path.display().to_string());
        session.note("inputs", names.collect::<Vec<_>>());
        for path in &self.files {
            let file = GysaFile::open(path)?;
            let (needed, memory) = (file.memory(), session.memory);
            if needed > memory {
                let what = "verifying the file";
                return Err(Error::Memory {
                    what,
                    needed,
                    memory,
                }
                .into());
            }
            file.verify()?;
            let facts = file.facts();
            tracing::info!(
                "{}: whole and in order, {}, {}",
                path.display(),
                things(facts.texts, "sequence"),
                things(facts.letters - facts.texts, "letter")
            );
        }
        Ok(())
    }
}
