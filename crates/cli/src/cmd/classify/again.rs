//! Answers that are made again of answers.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use gyrase_classify::{Again, AgainError, Catalogue, Summary};

use super::thresholds::Thresholds;
use crate::failure::{Code, Failure, Result};
use crate::sink::Sink;

/// Writes the answers of the file at `path` again, with these thresholds.
pub fn answer(
    path: &Path,
    thresholds: &Thresholds,
    catalogue: &Catalogue,
    out: &mut Sink,
) -> Result<Summary> {
    let again = Again {
        taxonomy: &catalogue.taxonomy,
        confidence: thresholds.confidence,
        lowest: thresholds.lowest_rank,
    };
    let said = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
    let from = open(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Failure::usage(said(&"no such file")),
        _ => Failure::new(Code::Input, said(&error)),
    })?;
    again.answer(from, out).map_err(|error| match error {
        AgainError::Write(source) => out.error(source).into(),
        AgainError::Taxid { .. } => Failure::new(Code::Database, said(&error)),
        AgainError::NoConfidence { .. } => {
            let help = "make the answers with --with-confidence, or leave out --confidence";
            Failure::usage(format!("{}; {help}", said(&error)))
        }
        _ => Failure::new(Code::Input, said(&error)),
    })
}

fn open(path: &Path) -> std::io::Result<Box<dyn Read + Send>> {
    match path.to_str() {
        Some("-") => gyrase_fastx::decompress(std::io::stdin()),
        _ => gyrase_fastx::decompress(File::open(path)?),
    }
}
