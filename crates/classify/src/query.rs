//! Classifies reads: sketches, locations, candidates, a taxon each (thesis, section 6.4.3).

mod answer;
mod lookup;

use std::io::Write;

use gyrase_fabric::Progress;
use gyrase_seq::Batch;
use gyrase_table::gydb::GydbError;
use gyrase_tabulate::{Source, TabulateError, in_order};

use self::answer::{Answerer, Answers, Read};
use self::lookup::Lookup;
use crate::decide::Rule;
use crate::index::Index;
use crate::tally::Tally;

/// How to classify.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// When a read is classified.
    pub rule: Rule,
    /// Letters that a pair spans on its target when that is more than its own.
    pub insert: usize,
    /// Threads, at least 1.
    pub threads: usize,
}

/// Why reads could not be classified.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The reads cannot be read, or the run was cancelled.
    #[error(transparent)]
    Reads(#[from] TabulateError),
    /// The database is damaged.
    #[error(transparent)]
    Database(#[from] GydbError),
    /// The place where answers go does not take them.
    #[error("cannot write the answers: {0}")]
    Sink(#[source] std::io::Error),
}

/// What was classified.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Reads, or pairs, by taxon.
    pub tally: Tally,
    /// Their letters.
    pub letters: u64,
}

/// Classifies the reads of `source` and writes a line for each to `sink`, in their order, in Kraken's five columns: `C` or `U`, name, taxid,
/// letters (`|` between mates), and the hits of the candidates by taxid.
///
/// # Errors
/// See [`QueryError`].
pub fn classify(
    index: &Index,
    source: Source,
    config: &Config,
    sink: &mut dyn Write,
    progress: &Progress,
) -> Result<Summary, QueryError> {
    let mut summary = Summary { tally: Tally::new(), letters: 0 };
    let start = || (Lookup::new(index), Answerer::new(index, config));
    let work = |(lookup, answerer): &mut (Lookup<'_>, Answerer<'_>), batches: &[Batch; 2]| {
        let mut answers = Answers::new();
        let each = |read, features: &[u32], hits: &mut [_]| {
            answerer.answer(&Read::of(batches, read, features), hits, &mut answers);
        };
        lookup.each(batches, each).map(|()| answers)
    };
    in_order(config.threads, source, progress, start, work, |batches, answers| -> Result<(), QueryError> {
        let answers = answers?;
        sink.write_all(&answers.text).map_err(QueryError::Sink)?;
        summary.tally.merge(&answers.tally);
        summary.letters += answers.letters;
        progress.advance(batches[0].records.len() as u64);
        Ok(())
    })?;
    Ok(summary)
}
