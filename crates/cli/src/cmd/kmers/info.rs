//! `gyrase kmers info` and `gyrase kmers verify`.

use std::path::{Path, PathBuf};
use std::slice;

use clap::Args;
use gyrase_count::info;
use gyrase_picture::words::{bytes, grouped, percent, things};
use serde_json::json;

use crate::cmd::counts::{note_databases, totals};
use crate::failure::Result;
use crate::places;
use crate::session::Session;
use crate::sink;

const EXAMPLES: &str = "\
Examples:
  gyrase kmers info sample.gyk
  gyrase kmers info sample.gyk --json | jq .distinct";

/// Say what a database holds and what it was made of.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Info {
    /// The database
    #[arg(value_name = "DATABASE.gyk")]
    database: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Read all of a database and check every checksum, the order of the k-mers and the totals.
#[derive(Debug, Args)]
pub struct Verify {
    /// The databases
    #[arg(value_name = "DATABASE.gyk", required = true)]
    databases: Vec<PathBuf>,
}

impl Info {
    /// Prints the facts.
    pub fn run(self, session: &Session) -> Result<()> {
        session.keep_apart([&self.database], [places::standard_output()])?;
        note_databases(slice::from_ref(&self.database), session)?;
        let info = info::run(&self.database, false)?;
        let facts = facts(&info);
        session.note("inputs", self.database.display().to_string());
        session.note("counts", facts.clone());
        let text = if self.json {
            format!("{facts:#}\n")
        } else {
            table(&self.database, &info)
        };
        sink::write_all(None, text.as_bytes())
    }
}

impl Verify {
    /// Checks; an error names the first thing that is wrong.
    pub fn run(self, session: &Session) -> Result<()> {
        session.keep_apart(&self.databases, [])?;
        note_databases(&self.databases, session)?;
        let names: Vec<_> = self
            .databases
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        session.note("inputs", names);
        for path in &self.databases {
            let info = info::run(path, true)?;
            tracing::info!(
                "{}: whole, {}",
                path.display(),
                things(info.header.distinct, "k-mer")
            );
        }
        Ok(())
    }
}

fn facts(info: &info::Info) -> serde_json::Value {
    let header = &info.header;
    let mut facts = totals(&header.summary());
    let more = json!({
        "k": header.shape.k(),
        "stranded": header.shape.stranded(),
        "checksum": format!("{:016x}", header.checksum()),
        "min_count": header.cutoffs.min,
        "max_count": header.cutoffs.max,
        "made_by": info.metadata.operation,
        "inputs": info.metadata.inputs,
        "reads": info.metadata.reads,
        "bases": info.metadata.bases,
    });
    if let (Some(facts), Some(more)) = (facts.as_object_mut(), more.as_object()) {
        facts.extend(more.clone());
    }
    facts
}

fn table(path: &Path, info: &info::Info) -> String {
    let header = &info.header;
    let strands = if header.shape.stranded() {
        "stranded"
    } else {
        "canonical"
    };
    let kept = match (header.cutoffs.min, header.cutoffs.max) {
        (1, u32::MAX) => "all".to_string(),
        (min, u32::MAX) => format!("{} and more", grouped(u64::from(min))),
        (min, max) => format!("{} to {}", grouped(u64::from(min)), grouped(u64::from(max))),
    };
    let largest =
        grouped(u64::from(header.largest)) + if header.saturated { " or more" } else { "" };
    let rows = [
        ("database", path.display().to_string()),
        ("k-mers", format!("{} bases, {strands}", header.shape.k())),
        ("distinct", grouped(header.distinct)),
        ("total", grouped(header.total)),
        (
            "unique",
            format!(
                "{} ({})",
                grouped(header.unique),
                percent(header.unique, header.distinct)
            ),
        ),
        ("largest count", largest),
        ("counts kept", kept),
        ("made by", info.metadata.operation.clone()),
        ("made of", info.metadata.inputs.join(", ")),
        ("reads", grouped(info.metadata.reads)),
        ("bases", grouped(info.metadata.bases)),
        ("size", bytes(header.summary().file_bytes)),
    ];
    rows.iter()
        .map(|(name, value)| format!("{name:<14}{value}\n"))
        .collect()
}
