//! What a report costs to send, and what it costs to make it again elsewhere: measured with some of
//! the queries.

use std::io::{self, Write};
use std::ops::Range;
use std::time::{Duration, Instant};

use gyrase_work::Progress;

use crate::metadata::{Answer, SearchMetadata, record, subjects_of};
use crate::prepared::{Prepared, Source};
use crate::regenerate::Again;
use crate::report::Report;
use crate::share::small_batches;
use crate::{Config, QueryHits, SearchError};

/// What a report takes, by those of some queries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RegenerationSample {
    /// Bytes of the report, about.
    pub report_bytes: u64,
    /// Seconds that it takes to make the metadata of all answers, about.
    pub making: f64,
    /// Seconds that it takes to make the report of them, about, with as many threads.
    pub regenerating: f64,
    /// The share of the hits that were looked at.
    pub share: f64,
}

/// Makes a part of a report again, until about so long after a moment from which the time counts,
/// and tells what all of it takes. The database is read as [`regenerate`](crate::regenerate) reads
/// it.
///
/// # Errors
/// Those of [`regenerate`](crate::regenerate); [`SearchError::Memory`] where the memory does not
/// take what answers need of the database.
pub fn sample_regeneration(
    config: &Config,
    metadata: &SearchMetadata,
    report: &Report,
    (start, within): (Instant, Duration),
    progress: &Progress,
) -> Result<RegenerationSample, SearchError> {
    let numbers = subjects_of(metadata.answers());
    let source = Source::Files(Some(&numbers));
    let prepared = Prepared::new(config, source, false, &Ok, progress)?;
    let whole = prepared.whole()?;
    let mut tried = Tried {
        has_alignments: metadata.asked.alignments,
        ..Tried::default()
    };
    let mut each = |answer: &QueryHits| tried.answer(report, answer);
    let mut again = Again::new(&prepared, metadata, &numbers, &mut each)?;
    let before = start.elapsed();
    let (mut sampled, all) = (0, weight(metadata, 0..metadata.answers().len()));
    for batch in spread(small_batches(&prepared)) {
        again.answers(whole, batch.clone(), progress)?;
        sampled += weight(metadata, batch);
        if start.elapsed() > within {
            break;
        }
    }
    tried.bytes_behind = counted(|out| report.finish(out, metadata.answers().len()));
    let searching = (start.elapsed() - before).saturating_sub(tried.making);
    let share = if all == 0 {
        1.0
    } else {
        sampled as f64 / all as f64
    };
    Ok(RegenerationSample {
        report_bytes: (tried.bytes as f64 / share) as u64 + tried.bytes_behind,
        making: tried.making.as_secs_f64() / share,
        regenerating: before.as_secs_f64() + searching.as_secs_f64() / share,
        share,
    })
}

/// What some queries are of all: their hits, and one for each that is searched for at all.
fn weight(metadata: &SearchMetadata, queries: Range<usize>) -> usize {
    let answers = &metadata.answers()[queries];
    answers.iter().map(|answer| answer.subjects.len() + 1).sum()
}

/// All batches, in an order of which each beginning is spread over them: neighbours are alike.
fn spread(batches: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let digits = usize::BITS - batches.len().leading_zeros();
    let mut numbers: Vec<usize> = (0..batches.len()).collect();
    numbers.sort_by_key(|number| number.reverse_bits() >> (usize::BITS - digits.max(1)));
    numbers
        .into_iter()
        .map(|number| batches[number].clone())
        .collect()
}

/// What was made so far.
#[derive(Default)]
struct Tried {
    /// Metadata have alignments.
    has_alignments: bool,
    bytes: u64,
    /// Of what stands behind the last answer.
    bytes_behind: u64,
    making: Duration,
}

impl Tried {
    fn answer(&mut self, report: &Report, answer: &QueryHits) -> Result<(), SearchError> {
        let start = Instant::now();
        std::hint::black_box(record(&Answer {
            subjects: answer.needed(),
            alignments: self.has_alignments.then(|| answer.hits.to_vec()),
            digest: answer.digest(),
        }));
        self.making += start.elapsed();
        self.bytes += counted(|out| report.answer(out, answer));
        Ok(())
    }
}

/// How many bytes something writes.
fn counted(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> u64 {
    let mut counted = Counted(0);
    write(&mut counted).expect("counting bytes never fails");
    counted.0
}

/// Counts bytes.
struct Counted(u64);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn every_batch_comes_once_and_neighbours_come_apart() {
        let batches: Vec<_> = (0..11).map(|number| number..number + 1).collect();
        let order: Vec<usize> = spread(batches).iter().map(|batch| batch.start).collect();
        assert_eq!(order[..4], [0, 8, 4, 2]);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..11));
    }
}
