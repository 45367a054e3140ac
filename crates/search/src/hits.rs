//! What a search finds: matches, then alignments, then subjects.

use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::ops::Range;

use gyrase_align::composition::AdjustmentRule;
use gyrase_align::gapped::Step;
use gyrase_align::ungapped::UngappedSegment;

/// A segment of a query and a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Match {
    /// Number of the frame of the query.
    pub query: u32,
    /// Number of the frame of the subject.
    pub subject: u32,
    /// Where, in both.
    pub segment: UngappedSegment,
}

/// An alignment of a query and a subject: a *high-scoring segment pair*, as BLAST calls it.
#[derive(Clone, Debug, PartialEq)]
pub struct Hsp {
    /// Residues of the query, as its frame reads it.
    pub query: Range<usize>,
    /// Residues of the subject, as its frame reads it.
    pub subject: Range<usize>,
    /// Frames of query and subject: 0 for proteins, 1 for nucleotides as they are, -1 for their
    /// other strand; 1 to 3 and -1 to -3 for what is translated.
    pub frames: [i8; 2],
    /// Score in units of the matrix, rounded.
    pub score: i32,
    /// Expected number of alignments by chance that score as much.
    pub evalue: f64,
    /// The score in bits.
    pub bits: f64,
    /// How the scores were fitted to the composition of both sequences, where they were.
    pub adjusted: Option<AdjustmentRule>,
    /// From the first residues to the last.
    pub steps: Vec<Step>,
}

/// A subject that is similar to a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Number of the subject.
    pub subject: usize,
    /// What its best alignment scores, as precisely as subjects of one E-value are told apart.
    pub rank_score: i32,
    /// Its alignments, the best first.
    pub hsps: Vec<Hsp>,
}

impl Hsp {
    /// The better of two alignments of one subject is less.
    pub(crate) fn order(&self, other: &Hsp) -> Ordering {
        let key = |one: &Hsp| {
            let [query, subject] = [&one.query, &one.subject];
            (
                Reverse(one.score),
                subject.start,
                Reverse(subject.end),
                query.start,
                Reverse(query.end),
            )
        };
        let evalues = self.evalue.total_cmp(&other.evalue);
        evalues.then_with(|| key(self).cmp(&key(other)))
    }
}

impl Hit {
    /// The better of two subjects of a query is less: by E-value, then by score; of equal ones the
    /// later in the database, as BLAST has it.
    pub(crate) fn order(&self, other: &Hit) -> Ordering {
        let evalue = |hit: &Hit| hit.hsps.first().map_or(f64::INFINITY, |hsp| hsp.evalue);
        evalue(self)
            .total_cmp(&evalue(other))
            .then(other.rank_score.cmp(&self.rank_score))
            .then(other.subject.cmp(&self.subject))
    }
}

/// Subjects more than are wanted that are kept until all are found.
const SPARE: usize = 64;

/// The best of what is found one after the other.
pub(crate) struct Best<T> {
    most: usize,
    order: fn(&T, &T) -> Ordering,
    found: Vec<T>,
}

impl<T> Best<T> {
    /// So many at most; the better of two is less.
    pub(crate) fn new(most: usize, order: fn(&T, &T) -> Ordering) -> Best<T> {
        Best {
            most,
            order,
            found: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, one: T) {
        self.found.push(one);
        if self.found.len() >= self.most.saturating_add(SPARE).saturating_mul(2) {
            self.leave_best();
        }
    }

    pub(crate) fn extend(&mut self, more: impl IntoIterator<Item = T>) {
        more.into_iter().for_each(|one| self.push(one));
    }

    /// The best, in their order.
    pub(crate) fn sorted(mut self) -> Vec<T> {
        self.leave_best();
        self.found
    }

    fn leave_best(&mut self) {
        self.found.sort_by(self.order);
        self.found.truncate(self.most);
    }
}

/// The least of numbers that come one after the other, none of them negative.
pub(crate) struct LeastOf {
    most: usize,
    /// Bits of numbers, which have their order.
    least: BinaryHeap<u64>,
}

impl LeastOf {
    /// So many at most.
    pub(crate) fn new(most: usize) -> LeastOf {
        LeastOf {
            most,
            least: BinaryHeap::new(),
        }
    }

    pub(crate) fn add(&mut self, number: f64) {
        self.least.push(number.to_bits());
        if self.least.len() > self.most {
            self.least.pop();
        }
    }

    /// The largest of them, once there are so many.
    pub(crate) fn largest(&self) -> f64 {
        let largest = self.least.peek().filter(|_| self.least.len() == self.most);
        largest.map_or(f64::INFINITY, |&bits| f64::from_bits(bits))
    }
}

/// A column of an alignment: codes of residues, one of which may be missing.
pub(crate) type Pair = (Option<u8>, Option<u8>);

/// The columns of an alignment of all these residues.
pub(crate) fn pairs<'a>(
    query: Cow<'a, [u8]>,
    subject: Cow<'a, [u8]>,
    steps: &'a [Step],
) -> impl Iterator<Item = Pair> + 'a {
    let (mut in_query, mut in_subject) = (0..query.len(), 0..subject.len());
    steps.iter().map(move |step| {
        let mut of_query = || in_query.next().map(|at| query[at]);
        let mut of_subject = || in_subject.next().map(|at| subject[at]);
        match step {
            Step::Both => (of_query(), of_subject()),
            Step::Query => (of_query(), None),
            Step::Subject => (None, of_subject()),
        }
    })
}
