//! A search from its files to its answers.

use std::ops::Range;
use std::path::PathBuf;

use gyrase_work::{Feed, Progress, in_order};

use crate::alignments::Aligner;
use crate::matches::{Ended, Search, least_segment};
use crate::{Hit, Match, Scoring, SearchError, Sequences};

/// Bytes that a residue takes: itself, its class, its place in an index, and a part of a name.
const RESIDUE: u64 = 7;
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
    /// The largest E-value that is reported.
    pub evalue: f64,
    /// Subjects of a query that are reported at most.
    pub top: usize,
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

/// Searches, and gives the hits of each query in the order of the queries to `each`, with the
/// queries, its number among them, and the subjects.
///
/// # Errors
/// See [`SearchError`]; the first error of `each`.
pub fn run<E: From<SearchError>>(
    config: &Config,
    progress: &Progress,
    mut each: impl FnMut(&Sequences, usize, &Sequences, &[Hit]) -> Result<(), E>,
) -> Result<Summary, E> {
    // Half is for the database with its index, half of the rest for the queries with theirs.
    let memory = config.memory.saturating_sub(BESIDE);
    let needs_bytes = |least: u64| SearchError::Memory { least };
    let needs = |residues: u64| needs_bytes(BESIDE + residues * RESIDUE);
    let subjects = Sequences::read(&config.subjects, memory / 2 / RESIDUE, progress)?
        .map_err(|residues| needs(2 * residues))?;
    let left = memory - subjects.total() * RESIDUE;
    let queries = Sequences::read(&config.queries, left / 2 / RESIDUE, progress)?
        .map_err(|residues| needs(subjects.total() + 2 * residues))?;
    let left = left - queries.total() * RESIDUE;
    let longest = queries.longest() * ALIGNED * config.threads as u64;
    let left = left
        .checked_sub(longest)
        .ok_or_else(|| needs_bytes(config.memory - left + longest))?;
    let scoring = Scoring::new(subjects.total(), config.evalue, config.top)?;
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

type Each<'e, E> = &'e mut dyn FnMut(&Sequences, usize, &Sequences, &[Hit]) -> Result<(), E>;

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
                query: String::from_utf8_lossy(part.name(0)).into_owned(),
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
                each(queries, first + task.number, subjects, &hits)
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
