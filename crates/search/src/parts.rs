//! A search in a database that is read in parts: what is found in each waits until all are done.
//!
//! ```text
//!  parts     0        1        2            each is read once, and all queries meet it
//!            |        |        |
//!  hits   of query 0, of query 0, of query 0 ...    the best of each part, with what reports need
//!         of query 1, of query 1, of query 1 ...
//!            \\________|_________/
//!                merged, query by query             the best of all parts
//! ```

use std::ops::Range;

use gyrase_fabric::FabricError;
use gyrase_work::Progress;

use crate::aside::{Aside, AsideReader};
use crate::batches::{Each, Over};
use crate::found::Found;
use crate::indexes::Indexes;
use crate::prepared::Prepared;
use crate::subjects::GatheredSubjects;
use crate::{Hit, SearchError, Sequences, Summary, WaitingText, record};

/// Bytes of hits that are laid aside at a time.
const AT_ONCE: usize = 1 << 20;

/// Searches for all queries in one part after the other, and gives the answer of each to `each`.
pub(crate) fn run<E: From<SearchError>>(
    prepared: &Prepared,
    waiting: &WaitingText,
    progress: &Progress,
    each: Each<E>,
) -> Result<Summary, E> {
    let Prepared {
        database, queries, ..
    } = prepared;
    let mut aside = Aside::new(waiting.spill_folder(0), prepared.aside);
    let mut cursor = database.cursor();
    let parts = database.parts();
    progress.start_counting("search", parts as u64, "parts of the database");
    for part in 0..parts {
        let quiet = progress.of_part();
        let subjects = cursor.read(part, &quiet)?;
        let engine = prepared.engine(&subjects, None);
        let mut text = Vec::new();
        let over = Over {
            prepared,
            subjects: &subjects,
            engine: &*engine,
            progress: &quiet,
        };
        over.search::<SearchError>(0..queries.len(), &mut |answer| {
            record::append(&mut text, prepared.frames[1], &subjects, answer.hits);
            if text.len() >= AT_ONCE {
                aside.append(part, std::mem::take(&mut text))?;
            }
            Ok(())
        })?;
        aside.append(part, text).map_err(SearchError::from)?;
        progress.advance(1);
    }
    let readers = (0..parts).map(|part| aside.take(part));
    let mut merging = Merging {
        prepared,
        waiting,
        readers: readers.collect(),
        summary: prepared.summary(queries.len()),
    };
    progress.start_counting("merge", queries.len() as u64, "queries");
    for query in 0..queries.len() {
        progress.go_on().map_err(SearchError::from)?;
        merging.give(query, each)?;
        progress.advance(1);
    }
    Ok(merging.summary)
}

/// Searches for some queries in a part, with indexes of it where they are kept; what is found has
/// what reports need.
pub(crate) fn find(
    prepared: &Prepared,
    (subjects, indexes): (&Sequences, Option<&Indexes>),
    queries: Range<usize>,
    progress: &Progress,
) -> Result<Found, SearchError> {
    let engine = prepared.engine(subjects, indexes);
    let over = Over {
        prepared,
        subjects,
        engine: &*engine,
        progress,
    };
    let mut text = Vec::new();
    let summary = over.search::<SearchError>(queries, &mut |answer| {
        record::append(&mut text, prepared.frames[1], subjects, answer.hits);
        Ok(())
    })?;
    Ok(Found {
        with_hits: summary.with_hits,
        hits: summary.hits,
        text,
    })
}

/// Merges what was found for one query after the other.
pub(crate) struct Merging<'p> {
    pub prepared: &'p Prepared,
    pub waiting: &'p WaitingText,
    /// What each part has of the same queries.
    pub readers: Vec<AsideReader>,
    pub summary: Summary,
}

impl Merging<'_> {
    /// Gives the best hits of the next query, which has a number, to `each`.
    pub(crate) fn give<E: From<SearchError>>(
        &mut self,
        query: usize,
        each: Each<E>,
    ) -> Result<(), E> {
        let mut found = Vec::new();
        for reader in &mut self.readers {
            let of_part = record::read(reader).map_err(|source| FabricError::Spill {
                path: self.waiting.folder.clone(),
                source: source.into(),
            });
            found.extend(of_part.map_err(SearchError::from)?);
        }
        let (mut hits, mut all): (Vec<Hit>, Vec<_>) = found.into_iter().unzip();
        let considered = self.prepared.leave_best(query, &mut hits);
        all.sort_by_key(|one| one.number);
        let subjects = GatheredSubjects {
            database: &self.prepared.database,
            all,
        };
        self.summary.with_hits += u64::from(!hits.is_empty());
        self.summary.hits += hits.len() as u64;
        let considered = considered.as_deref();
        each(&self.prepared.answer(query, &subjects, &hits, considered))
    }
}
