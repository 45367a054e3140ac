//! Queries that are searched together, in some of the subjects or in all: all at once if the memory
//! takes their matches, else some after the other.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gyrase_work::{Progress, in_order_ahead, in_parallel};

use crate::engine::{Align, Ended, Engine, Query};
use crate::prepared::{MATCH, Prepared};
use crate::sequences::MOST_RESIDUES;
use crate::{Hit, Match, QueryHits, SearchError, Sequences, Summary};

/// Queries of a thread that are aligned before the first of them is given.
const AHEAD: usize = 64;

/// Shares for each thread of the subjects of one query, and of queries that are aligned together.
const SHARES: usize = 4;

pub(crate) type Each<'e, E> = &'e mut dyn FnMut(&QueryHits) -> Result<(), E>;

/// A search in some of the subjects, or in all.
#[derive(Clone, Copy)]
pub(crate) struct Over<'p> {
    pub prepared: &'p Prepared,
    pub subjects: &'p Sequences,
    pub engine: &'p dyn Engine,
    pub progress: &'p Progress,
}

impl Over<'_> {
    /// Searches for the queries of a range, and gives the answer of each to `each`.
    pub(crate) fn search<E: From<SearchError>>(
        self,
        range: Range<usize>,
        each: Each<E>,
    ) -> Result<Summary, E> {
        let mut batches = Batches {
            over: self,
            each,
            summary: self.prepared.summary(range.len()),
        };
        batches.search(range)?;
        Ok(batches.summary)
    }
}

/// Searches for some queries after the other.
struct Batches<'r, E> {
    over: Over<'r>,
    each: Each<'r, E>,
    summary: Summary,
}

impl<E: From<SearchError>> Batches<'_, E> {
    /// Searches for the queries of a range; where they have too many matches, for one half after
    /// the other; where one query has, in one half of the subjects after the other.
    fn search(&mut self, range: Range<usize>) -> Result<(), E> {
        let Over {
            prepared,
            engine,
            progress,
            ..
        } = self.over;
        if prepared.letters_of_frames(range.clone()) > MOST_RESIDUES {
            return self.search_halves(range);
        }
        let part = prepared.masked_frames(range.clone());
        match engine.matches(&part, prepared.most, progress) {
            Ok(matches) => self.align(&part, range, &matches),
            Err(Ended::Cancelled) => Err(SearchError::Cancelled.into()),
            Err(Ended::TooMany) if range.len() > 1 => {
                drop(part);
                self.search_halves(range)
            }
            Err(Ended::TooMany) => {
                let query = range.start;
                let hits = in_halves(self.over, &part, query, prepared.most)?;
                self.give(query, hits)
            }
        }
    }

    fn search_halves(&mut self, range: Range<usize>) -> Result<(), E> {
        if range.len() < 2 {
            let most = MOST_RESIDUES;
            return Err(SearchError::TooLong { most }.into());
        }
        let middle = range.start + range.len() / 2;
        self.search(range.start..middle)?;
        self.search(middle..range.end)
    }

    /// Aligns the queries of a range by the matches of their frames.
    fn align(&mut self, part: &Sequences, range: Range<usize>, matches: &[Match]) -> Result<(), E> {
        let Over {
            prepared,
            engine,
            progress,
            ..
        } = self.over;
        progress.start_counting("align", range.len() as u64, "queries");
        let threads = prepared.threads;
        let mut aligners: Vec<_> = (0..threads).map(|_| engine.aligner()).collect();
        let frames = prepared.frames[0].numbers().len();
        let mut rest = matches;
        let own = |number: usize| {
            let query = Query {
                frames: part,
                first: number * frames,
            };
            (query, split_own(&mut rest, query.first + frames))
        };
        let all: Vec<(Query, &[Match])> = (0..range.len()).map(own).collect();
        let mut next = range.start;
        if all.len() < threads {
            for (query, matches) in all {
                let hits = self.align_shared(&mut aligners, query, matches)?;
                self.give(next, hits)?;
                next += 1;
            }
            return Ok(());
        }
        // While some are aligned the answers of those before are given.
        let align = |aligner: &mut Box<dyn Align + Send + '_>, some: &&[(Query, _)]| {
            progress.go_on()?;
            let hits = aligner.hits_of_all(some);
            progress.advance(some.len() as u64);
            Ok::<_, SearchError>(hits)
        };
        let share = all.len() / (SHARES * threads);
        let together = share.clamp(1, engine.aligned_together());
        let some: Vec<_> = all.chunks(together).collect();
        let ahead = (AHEAD / together).max(1) * threads;
        in_order_ahead(aligners, &some, ahead, align, |hits| {
            for hits in hits {
                self.give(next, hits)?;
                next += 1;
            }
            Ok(())
        })
    }

    /// The hits of a query, whose subjects threads share.
    fn align_shared(
        &self,
        aligners: &mut [Box<dyn Align + Send + '_>],
        query: Query,
        matches: &[Match],
    ) -> Result<Vec<Hit>, SearchError> {
        let Over {
            prepared, progress, ..
        } = self.over;
        let frames = prepared.frames[1].numbers().len();
        let shares = shares(matches, frames, SHARES * aligners.len());
        let shares: Vec<(Query, &[Match])> = shares.iter().map(|own| (query, &own[..])).collect();
        let mut hits = align_all(aligners, &shares, &progress.of_part())?.concat();
        progress.advance(1);
        hits.sort_by(Hit::order);
        hits.truncate(prepared.limits.before_culling().top);
        Ok(hits)
    }

    fn give(&mut self, query: usize, mut hits: Vec<Hit>) -> Result<(), E> {
        let Over {
            prepared, subjects, ..
        } = self.over;
        let mut considered = None;
        if prepared.whole.is_some() {
            considered = prepared.leave_best(query, &mut hits);
        }
        self.summary.with_hits += u64::from(!hits.is_empty());
        self.summary.hits += hits.len() as u64;
        (self.each)(&prepared.answer(query, subjects, &hits, considered.as_deref()))
    }
}

/// The hits of one query, by its frames, whose matches with all of the subjects are too many: those
/// of one half of the subjects, and of the other.
fn in_halves(
    over: Over,
    frames: &Sequences,
    query: usize,
    most: usize,
) -> Result<Vec<Hit>, SearchError> {
    let Over {
        prepared,
        subjects,
        progress,
        ..
    } = over;
    let too_many = || SearchError::Matches {
        query: String::from_utf8_lossy(prepared.queries.name(query)).into_owned(),
    };
    if subjects.len() < 2 {
        return Err(too_many());
    }
    let middle = subjects.len() / 2;
    let mut all = Vec::new();
    for range in [0..middle, middle..subjects.len()] {
        let half = subjects.slice(range.clone());
        let copied = (half.text().len() as u64).div_ceil(MATCH) as usize;
        let most = most.checked_sub(copied).ok_or_else(too_many)?;
        let engine = prepared.engine(&half, None);
        let mut hits = match engine.matches(frames, most, progress) {
            Ok(matches) => {
                let query = Query { frames, first: 0 };
                engine.aligner().hits(query, &matches)
            }
            Err(Ended::Cancelled) => return Err(SearchError::Cancelled),
            Err(Ended::TooMany) => {
                let half = Over {
                    subjects: &half,
                    engine: &*engine,
                    ..over
                };
                in_halves(half, frames, query, most)?
            }
        };
        hits.iter_mut().for_each(|hit| hit.subject += range.start);
        all.append(&mut hits);
    }
    all.sort_by(Hit::order);
    all.truncate(prepared.limits.before_culling().top);
    Ok(all)
}

/// About so many shares of the matches of a query, with all that a subject of so many frames has in
/// one of them.
fn shares(matches: &[Match], frames: usize, shares: usize) -> Vec<Vec<Match>> {
    let subject = |one: &Match| one.subject as usize / frames;
    let mut by_subject = matches.to_vec();
    by_subject.sort_by_key(subject);
    let each = matches.len().div_ceil(shares).max(1);
    let mut all = vec![Vec::new()];
    for own in by_subject.chunk_by(|one, next| subject(one) == subject(next)) {
        if all
            .last()
            .is_some_and(|last: &Vec<Match>| last.len() >= each)
        {
            all.push(Vec::new());
        }
        let last = all.last_mut().expect("there is one at least");
        last.extend_from_slice(own);
    }
    all.iter_mut().for_each(|share| share.sort());
    all
}

/// Splits off the matches of frames below a number, which are the first.
fn split_own<'m>(matches: &mut &'m [Match], below: usize) -> &'m [Match] {
    let end = matches.partition_point(|found| (found.query as usize) < below);
    let (own, rest) = matches.split_at(end);
    *matches = rest;
    own
}

/// The hits of some queries with their matches, in their order. A thread takes the next query as
/// soon as it is done with one: some take a hundred times as long as others.
fn align_all(
    aligners: &mut [Box<dyn Align + Send + '_>],
    queries: &[(Query, &[Match])],
    progress: &Progress,
) -> Result<Vec<Vec<Hit>>, SearchError> {
    let next = AtomicUsize::new(0);
    let align = |aligner: &mut Box<dyn Align + Send + '_>| {
        let mut aligned = Vec::new();
        loop {
            let number = next.fetch_add(1, Relaxed);
            let Some(&(query, matches)) = queries.get(number) else {
                return Ok::<_, SearchError>(aligned);
            };
            progress.go_on()?;
            aligned.push((number, aligner.hits(query, matches)));
            progress.advance(1);
        }
    };
    let aligned = in_parallel(aligners.iter_mut().collect(), align)?;
    let mut aligned: Vec<(usize, Vec<Hit>)> = aligned.into_iter().flatten().collect();
    aligned.sort_by_key(|(number, _)| *number);
    Ok(aligned.into_iter().map(|(_, hits)| hits).collect())
}
