//! Where answers go: each thread makes something of its answers, and a sink takes that in the order
//! of the reads.

use std::ops::Range;

use gyrase_seq::Batch;
use gyrase_taxonomy::Taxon;

use super::error::QueryError;
use crate::candidates::{Candidate, Hit, windows_of};
use crate::catalogue::Catalogue;
use crate::confidence::Support;
use crate::read::Read;

/// What is known of a read or pair once it is classified.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// The read.
    pub read: &'a Read<'a>,
    /// Its taxon; nothing where the read is unclassified.
    pub taxon: Option<Taxon>,
    /// The best region of each target that the read may come from, in any order.
    pub candidates: &'a [Candidate],
    /// The candidate that the answer rests on, the best at or below the taxon; of a read without a
    /// taxon the best of all. Only where [`Form::wants_region`].
    pub region: Option<&'a Candidate>,
    /// The taxon and how many features speak for it, then the taxa above it whose clades have more.
    /// Only where [`Form::wants_supports`].
    pub supports: &'a [Support],
    /// What taxa and targets are numbers of.
    pub catalogue: &'a Catalogue,
    pub(super) hits: &'a [Hit],
}

impl Answer<'_> {
    /// How many windows of [`Answer::region`] have hits.
    pub fn windows_hit(&self, region: &Candidate) -> usize {
        windows_of(&self.hits[region.hits.clone()]).count()
    }
}

/// What threads make of answers: lines, numbers. All threads of a run share one.
pub trait Form: Sync {
    /// What is made of the answers of a batch of reads.
    type Made: Default + Send;

    /// True where [`Answer::region`] is read, which takes time to find.
    fn wants_region(&self) -> bool {
        false
    }

    /// True where [`Answer::supports`] is read.
    fn wants_supports(&self) -> bool {
        false
    }

    /// Empties what was made of an earlier batch, for another.
    fn clear(&self, made: &mut Self::Made);

    /// Adds an answer. Those of a batch come in the order of its reads.
    fn push(&self, answer: &Answer<'_>, made: &mut Self::Made);
}

/// Reads that are answered.
#[derive(Clone, Debug)]
pub struct Answered<'a> {
    /// Their numbers among all that were given, from 0. Each range begins where the one before
    /// ends.
    pub reads: Range<u64>,
    /// Their records: of single reads and an empty batch, or of first and second mates. Both are
    /// empty where stored candidates are answered.
    pub records: &'a [Batch; 2],
    /// The taxon of each.
    pub taxa: &'a [Option<Taxon>],
}

/// Takes answers in the order of the reads, batch after batch, on the thread that called.
pub trait Sink {
    /// What is made of the answers before they come here.
    type Form: Form;

    /// The form of the answers that it takes.
    fn form(&self) -> Self::Form;

    /// Takes the next batch.
    ///
    /// # Errors
    /// It cannot be written. The run ends with this error.
    fn take(
        &mut self,
        answered: &Answered<'_>,
        made: &<Self::Form as Form>::Made,
    ) -> Result<(), QueryError>;
}
