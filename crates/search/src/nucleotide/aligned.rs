//! An alignment of nucleotides while it is made.

use std::cmp::Reverse;
use std::ops::Range;

use gyrase_align::gapped::Step;
use gyrase_align::ungapped::UngappedSegment;

/// An alignment of a frame of a query and a subject.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Aligned {
    pub query: Range<usize>,
    pub subject: Range<usize>,
    pub score: i32,
    /// Where it was begun.
    pub start: (usize, usize),
    /// None before the last pass.
    pub steps: Vec<Step>,
}

impl Aligned {
    pub(super) fn ends(&self) -> [(usize, usize); 2] {
        [
            (self.query.start, self.subject.start),
            (self.query.end, self.subject.end),
        ]
    }

    pub(super) fn diagonals(&self) -> [i64; 2] {
        self.ends()
            .map(|(query, subject)| query as i64 - subject as i64)
    }

    /// The better is less (NCBI's `ScoreCompareHSPs`).
    pub(super) fn rank(&self) -> impl Ord + use<> {
        (
            Reverse(self.score),
            self.subject.start,
            Reverse(self.subject.end),
            self.query.start,
            Reverse(self.query.end),
        )
    }

    /// The same in a subject of which so many letters more are before.
    pub(super) fn behind(mut self, letters: usize) -> Aligned {
        self.start.1 += letters;
        self.subject = self.subject.start + letters..self.subject.end + letters;
        self
    }

    pub(super) fn of(segment: &UngappedSegment) -> Aligned {
        Aligned {
            query: segment.in_query(),
            subject: segment.in_subject(),
            score: segment.score,
            start: (segment.query as usize, segment.subject as usize),
            steps: Vec::new(),
        }
    }
}
