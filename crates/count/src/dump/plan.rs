//! What a listing will take, before its first line.

use std::mem::size_of;

use gyrase_kmer::with_words;
use gyrase_table::gyk::{Cutoffs, Database, Summary};
use gyrase_tabulate::Estimate;

use super::config::{Config, Style};
use super::sorted::{self, Counted};
use crate::ops::{DatabasesPlan, OperationError, plan_reading};

/// Bytes of texts on their way, whatever the threads, and of those of a thread.
const ON_THE_WAY: u64 = 6 << 20;
const EACH: u64 = 1 << 20;

/// Predicts what a listing takes, and the bytes of its text before it is compressed.
///
/// # Errors
/// A database that cannot be opened.
pub fn plan(config: &Config) -> Result<(DatabasesPlan, Estimate), OperationError> {
    let database = Database::open(&config.database)?;
    let (shape, summary) = (database.shape(), database.header().summary());
    let threads = config.threads.max(1) as u64;
    let read = plan_reading(std::slice::from_ref(&config.database))?;
    let beside = (ON_THE_WAY + threads * EACH).min(summary.file_bytes / 8);
    let rows = with_words!(shape, W => match config.sorted_within {
        None => 0,
        Some(memory) => {
            let each = sorted::most_rows::<W>(summary.distinct, memory, threads) + sorted::COUNTED;
            let all = (threads * each).min(summary.distinct + sorted::COUNTED);
            all * size_of::<Counted<W>>() as u64
        }
    });
    let memory = read.memory + beside + rows;
    let text = text(shape.k(), config, &summary);
    Ok((DatabasesPlan { memory, ..read }, text))
}

/// The k-mers of a database that pass, of which only those with the count 1 are known.
pub(crate) fn listed(summary: &Summary, cutoffs: Cutoffs) -> Estimate {
    if cutoffs == Cutoffs::default() {
        return Estimate::exactly(summary.distinct);
    }
    let unique = if cutoffs.keep(1) { 0 } else { summary.unique };
    Estimate {
        least: 0,
        most: Some(summary.distinct - unique),
    }
}

/// Bytes of the lines: a digit each at least; those of all counts together are most where the
/// counts are equal.
fn text(k: usize, config: &Config, summary: &Summary) -> Estimate {
    let beside = match config.style {
        Style::Tab | Style::Space => 2,
        Style::Fasta => 3,
    };
    let lines = listed(summary, config.cutoffs).times((k + beside + 1) as f64);
    let several = (summary.distinct - summary.unique) as f64;
    let mean = (summary.total - summary.unique) as f64 / several.max(1.0);
    let digits = (several * mean.max(1.0).log10()).ceil() as u64;
    Estimate {
        least: lines.least,
        most: lines.most.map(|most| most + digits),
    }
}
