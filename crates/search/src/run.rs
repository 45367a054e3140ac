//! A search from its files to its answers.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gyrase_work::{Progress, in_parallel};

use crate::alignments::Aligner;
use crate::matches::{Ended, Search, least_segment};
use crate::{Hit, HitLimits, Match, QueryHits, Scoring, SearchError, Sequences};

/// Bytes that a match takes while matches of threads and shapes are joined.
const MATCH: u64 = 3 * size_of::<Match>() as u64;
/// Bytes that a thread takes for each residue of the longest query: bands, and steps of alignments.
const ALIGNED: u64 = 320;
/// Queries of a thread that are aligned before the first of them is written.
const AT_ONCE: usize = 32;
/// Bytes that a search takes beside.
const BESIDE: u64 = 16 << 20;

/// What is searched for, where, and how.
#[derive(Clone, Debug)]
pub struct Config {
    /// Files of queries.
    pub queries: Vec<PathBuf>,
    /// Files of subjects, in the order of the database.
    pub subjects: Vec<PathBuf>,
    /// What is reported.
    pub limits: HitLimits,
    /// Bytes of memory to stay within.
    pub memory: u64,
    /// Threads.
    pub threads: usize,
}

/// What a search did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Queries.
    pub queries: u64,
    /// Of them, with a hit.
    pub with_hits: u64,
    /// Subjects of all queries.
    pub hits: u64,
    /// Sequences of the database.
    pub subjects: u64,
    /// Residues of the database.
    pub letters: u64,
}

/// Searches, and gives the answer of each query in the order of the queries to `each`.
///
/// # Errors
/// See [`SearchError`]; the first error of `each`.
pub fn run<E: From<SearchError>>(
    config: &Config,
    progress: &Progress,
    mut each: impl FnMut(&QueryHits) -> Result<(), E>,
) -> Result<Summary, E> {
    // Half is for the database with its index, half of the rest for the queries with theirs.
    let memory = config.memory.saturating_sub(BESIDE);
    let needs = |bytes: u64| SearchError::Memory {
        least: BESIDE + bytes,
    };
    let subjects = Sequences::read(&config.subjects, memory / 2, progress)?
        .map_err(|bytes| needs(2 * bytes))?;
    let left = memory - subjects.bytes();
    let queries = Sequences::read(&config.queries, left / 2, progress)?
        .map_err(|bytes| needs(subjects.bytes() + 2 * bytes))?;
    let sequences = subjects.bytes() + queries.bytes();
    let longest = queries.longest() * ALIGNED * config.threads as u64;
    let left = (memory - sequences)
        .checked_sub(longest)
        .ok_or_else(|| needs(sequences + longest))?;
    let scoring = Scoring::new(subjects.total(), config.limits)?;
    let mut batches = Batches {
        config,
        queries: &queries,
        subjects: &subjects,
        scoring: &scoring,
        most: (left / MATCH) as usize,
        progress,
        each: &mut each,
        summary: Summary {
            queries: queries.len() as u64,
            subjects: subjects.len() as u64,
            letters: subjects.total(),
            ..Summary::default()
        },
    };
    batches.search(0..queries.len())?;
    Ok(batches.summary)
}

type Each<'e, E> = &'e mut dyn FnMut(&QueryHits) -> Result<(), E>;

/// Searches for some queries after the other.
struct Batches<'r, E> {
    config: &'r Config,
    queries: &'r Sequences,
    subjects: &'r Sequences,
    scoring: &'r Scoring,
    /// Matches that the memory takes.
    most: usize,
    progress: &'r Progress,
    each: Each<'r, E>,
    summary: Summary,
}

impl<E: From<SearchError>> Batches<'_, E> {
    /// Searches for the queries of a range; where they have too many matches, for one half after
    /// the other.
    fn search(&mut self, range: Range<usize>) -> Result<(), E> {
        let part = self.queries.part(range.clone());
        let subjects = self.subjects;
        let mean = subjects.total() / (subjects.len() as u64).max(1);
        let cutoff = |query: usize| {
            self.scoring
                .cutoff(part.residues(query).len(), mean as usize)
        };
        let least: Vec<i32> = (0..part.len())
            .map(|query| least_segment(cutoff(query)))
            .collect();
        let search = Search {
            queries: &part,
            subjects: self.subjects,
            rows: self.scoring.rows(),
            least: &least,
            most: self.most,
            threads: self.config.threads,
        };
        match search.matches(self.progress) {
            Ok(matches) => self.align(&part, range.start, &matches),
            Err(Ended::Cancelled) => Err(SearchError::Cancelled.into()),
            Err(Ended::TooMany) if range.len() > 1 => {
                drop(part);
                let middle = range.start + range.len() / 2;
                self.search(range.start..middle)?;
                self.search(middle..range.end)
            }
            Err(Ended::TooMany) => Err(SearchError::Matches {
                query: String::from_utf8_lossy(self.queries.name(range.start)).into_owned(),
            }
            .into()),
        }
    }

    /// Aligns the queries of a part, of which the first has the number `first` of all.
    fn align(&mut self, part: &Sequences, first: usize, matches: &[Match]) -> Result<(), E> {
        self.progress.start("align", part.len() as u64);
        let Batches {
            queries,
            subjects,
            scoring,
            each,
            summary,
            progress,
            ..
        } = self;
        let mut aligners: Vec<Aligner> = (0..self.config.threads)
            .map(|_| Aligner::new(subjects, scoring))
            .collect();
        let mut rest = matches;
        let own = |number| (number, split_own(&mut rest, number));
        let all: Vec<(usize, &[Match])> = (0..part.len()).map(own).collect();
        for some in all.chunks(AT_ONCE * self.config.threads) {
            let aligned = align_all(&mut aligners, part, some, progress)?;
            for (&(query, _), hits) in some.iter().zip(aligned) {
                summary.with_hits += u64::from(!hits.is_empty());
                summary.hits += hits.len() as u64;
                each(&QueryHits {
                    queries,
                    query: first + query,
                    subjects,
                    scoring,
                    hits: &hits,
                })?;
            }
        }
        Ok(())
    }
}

/// Splits off the matches of a query, which are the first.
fn split_own<'m>(matches: &mut &'m [Match], query: usize) -> &'m [Match] {
    let end = matches.partition_point(|found| found.query as usize == query);
    let (own, rest) = matches.split_at(end);
    *matches = rest;
    own
}

/// The hits of some queries with their matches, in their order. A thread takes the next query as
/// soon as it is done with one: some take a hundred times as long as others.
fn align_all(
    aligners: &mut [Aligner],
    part: &Sequences,
    queries: &[(usize, &[Match])],
    progress: &Progress,
) -> Result<Vec<Vec<Hit>>, SearchError> {
    let next = AtomicUsize::new(0);
    let align = |aligner: &mut Aligner| {
        let mut aligned = Vec::new();
        while let Some(&(query, matches)) = queries.get(next.fetch_add(1, Relaxed)) {
            progress.go_on()?;
            aligned.push((query, aligner.hits(part.residues(query), matches)));
            progress.advance(1);
        }
        Ok::<_, SearchError>(aligned)
    };
    let aligned = in_parallel(aligners.iter_mut().collect(), align)?;
    let mut aligned: Vec<(usize, Vec<Hit>)> = aligned.into_iter().flatten().collect();
    aligned.sort_by_key(|(query, _)| *query);
    Ok(aligned.into_iter().map(|(_, hits)| hits).collect())
}
