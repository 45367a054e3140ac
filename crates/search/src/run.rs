//! A search from its files to its answers.

use std::ops::Range;
use std::path::PathBuf;

use gyrase_work::{Feed, Progress, in_order};

use crate::alignments::Aligner;
use crate::matches::{Ended, Search, least_segment};
use crate::{HitLimits, Match, QueryHits, Scoring, SearchError, Sequences};

/// Bytes that a match takes while matches of threads and shapes are joined.
const MATCH: u64 = 3 * size_of::<Match>() as u64;
/// Bytes that a thread takes for each residue of the longest query: bands, and steps of alignments.
const ALIGNED: u64 = 320;
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
        let feed = Queries {
            matches,
            next: 0,
            end: part.len(),
        };
        in_order(
            self.config.threads,
            feed,
            progress,
            || Aligner::new(subjects, scoring),
            |aligner, task: &Query| aligner.hits(part.residues(task.number), task.matches),
            |task, hits| {
                progress.advance(1);
                summary.with_hits += u64::from(!hits.is_empty());
                summary.hits += hits.len() as u64;
                each(&QueryHits {
                    queries,
                    query: first + task.number,
                    subjects,
                    scoring,
                    hits: &hits,
                })
            },
        )
    }
}

/// A query and its matches.
#[derive(Default)]
struct Query<'m> {
    number: usize,
    matches: &'m [Match],
}

/// Queries in their order.
struct Queries<'m> {
    /// Those of the next query and all behind it.
    matches: &'m [Match],
    next: usize,
    end: usize,
}

impl<'m> Feed for Queries<'m> {
    type Task = Query<'m>;
    type Error = SearchError;

    fn next(&mut self, task: &mut Query<'m>) -> Result<bool, SearchError> {
        if self.next == self.end {
            return Ok(false);
        }
        let own = |found: &Match| found.query as usize == self.next;
        let (matches, rest) = self.matches.split_at(self.matches.partition_point(own));
        *task = Query {
            number: self.next,
            matches,
        };
        (self.matches, self.next) = (rest, self.next + 1);
        Ok(true)
    }
}
