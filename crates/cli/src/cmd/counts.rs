//! What the verbs on k-mers have in common: their length, the counts to keep, the totals.

use std::path::PathBuf;

use clap::Args;
use gyrase_kmer::Shape;
use gyrase_picture::words::grouped;
use gyrase_table::gyk::{Cutoffs, Database, Summary};
use serde_json::{Value, json};

use crate::failure::{Failure, Result};
use crate::report;
use crate::session::Session;

/// A length that k-mers may have.
pub fn length(text: &str) -> std::result::Result<usize, String> {
    let k = text
        .parse()
        .map_err(|_| "write a whole number from 1 to 127".to_string())?;
    Shape::new(k, false)
        .map(|_| k)
        .map_err(|error| error.to_string())
}

/// Notes for the report which databases are read, by what is in them.
pub fn note_databases(paths: &[PathBuf], session: &Session) -> Result<()> {
    let mut sums = Vec::new();
    for path in paths {
        sums.push((path.as_path(), Database::open(path)?.header().checksum()));
    }
    session.note("databases", report::identified(sums));
    Ok(())
}

/// The counts to keep.
#[derive(Clone, Copy, Debug, Args)]
pub struct Counts {
    /// Leave out k-mers with a lower count
    #[arg(
        long, value_name = "COUNT", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..),
    )]
    min_count: u32,

    /// Leave out k-mers with a higher count [default: keep all]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    max_count: Option<u32>,
}

impl Counts {
    /// The range, which must not be empty.
    pub fn cutoffs(self) -> Result<Cutoffs> {
        let cutoffs = Cutoffs {
            min: self.min_count,
            max: self.max_count.unwrap_or(u32::MAX),
        };
        if cutoffs.min > cutoffs.max {
            let Cutoffs { min, max } = cutoffs;
            return Err(Failure::usage(format!(
                "--min-count {min} is above --max-count {max}: no k-mer could pass"
            )));
        }
        Ok(cutoffs)
    }
}

/// Counts that have reached their limit are no longer exact.
pub fn warn_if_saturated(made: &Summary) {
    if made.saturated {
        tracing::warn!(
            "k-mers that occur more often than {} have that count",
            grouped(u64::from(u32::MAX))
        );
    }
}

/// The totals of a database for the report.
pub fn totals(summary: &Summary) -> Value {
    json!({
        "distinct": summary.distinct,
        "total": summary.total,
        "unique": summary.unique,
        "largest": summary.largest,
        "saturated": summary.saturated,
        "file_bytes": summary.file_bytes,
    })
}
