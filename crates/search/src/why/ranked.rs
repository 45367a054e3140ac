//! Where a subject stands among all of a query.

use gyrase_work::Progress;

use crate::batches::Over;
use crate::prepared::Prepared;
use crate::{HitLimits, SearchError, Sequences};

/// Why a subject is not reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// Both have no word or seed in common.
    NoSeed,
    /// Both have some in common, but only where the query is masked.
    Masked,
    /// The same where the subject is.
    MaskedInSubject,
    /// No segment around a word or a seed scores enough.
    Segment,
    /// Its gapped score has too large an E-value, before scores are fitted.
    Gapped,
    /// Its fitted score has too large an E-value.
    Evalue,
    /// It scores more than a fast search expects by the bands around its segments.
    Bands,
    /// Its alignments have too little of the query, or too few equal columns.
    Cover,
    /// Others of its query leave no place for its alignments.
    Culled,
    /// Enough others are better.
    Top,
}

/// A query, a subject, and where this stands among all.
pub(super) struct Ranked {
    pub query: usize,
    pub subject: usize,
    /// The limits of the report.
    pub limits: HitLimits,
    /// Its place among those that the limits leave but for the number of subjects, from 1 on.
    pub rank: Option<usize>,
    /// How many these are.
    pub subjects: usize,
}

/// Searches for a query in all subjects.
pub(super) fn ranked(
    prepared: &Prepared,
    [query, subject]: [&str; 2],
    limits: HitLimits,
    progress: &Progress,
) -> Result<Ranked, SearchError> {
    let subjects = prepared.whole()?;
    let query = named(&prepared.queries, query, "query")?;
    let subject = named(subjects, subject, "subject")?;
    let mut found = Vec::new();
    let engine = prepared.engine(subjects, None);
    let over = Over {
        prepared,
        subjects,
        engine: &*engine,
        progress,
    };
    over.search::<SearchError>(query..query + 1, &mut |answer| {
        found.extend(answer.hits.iter().map(|hit| hit.subject));
        Ok(())
    })?;
    let rank = found.iter().position(|&hit| hit == subject);
    Ok(Ranked {
        query,
        subject,
        limits,
        rank: rank.map(|rank| rank + 1),
        subjects: found.len(),
    })
}

fn named(sequences: &Sequences, name: &str, what: &'static str) -> Result<usize, SearchError> {
    let mut numbers = 0..sequences.len();
    let found = numbers.find(|&number| sequences.name(number) == name.as_bytes());
    found.ok_or_else(|| SearchError::Name {
        what,
        name: name.into(),
    })
}
