//! A search from its files to its answers.

use std::path::PathBuf;

use gyrase_work::{Cancelled, Feed, Progress, in_order};

use crate::alignments::Aligner;
use crate::{Hit, Match, Scoring, SearchError, Sequences, matches};

/// What an ungapped segment scores at least that is extended with gaps.
const SEGMENT: i32 = 46;

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
    let subjects = Sequences::read(&config.subjects)?;
    let queries = Sequences::read(&config.queries)?;
    let scoring = Scoring::new(subjects.total(), config.evalue, config.top)?;
    let found = matches(&queries, &subjects, scoring.rows(), SEGMENT, config.threads);
    let mut summary = Summary {
        queries: queries.len() as u64,
        subjects: subjects.len() as u64,
        letters: subjects.total(),
        ..Summary::default()
    };
    progress.go_on().map_err(SearchError::from)?;
    in_order(
        config.threads,
        Queries {
            matches: &found,
            next: 0,
            end: queries.len(),
        },
        progress,
        || Aligner::new(&subjects, &scoring),
        |aligner, task: &Query| aligner.hits(queries.residues(task.number), task.matches),
        |task, hits| {
            summary.with_hits += u64::from(!hits.is_empty());
            summary.hits += hits.len() as u64;
            each(&queries, task.number, &subjects, &hits)
        },
    )?;
    Ok(summary)
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

impl From<Cancelled> for SearchError {
    fn from(_: Cancelled) -> SearchError {
        SearchError::Cancelled
    }
}
