//! An alignment, column by column.

use std::borrow::Cow;
use std::ops::Range;

use gyrase_align::gapped::{Step, runs};

use super::answer::QueryHits;
use crate::hits::{Pair, pairs};
use crate::{Hit, Hsp, Molecule};

/// The sides of an alignment.
pub(super) const QUERY: usize = 0;
pub(super) const SUBJECT: usize = 1;

/// An alignment with what its columns have.
pub(super) struct Aligned<'a> {
    pub answer: &'a QueryHits<'a>,
    pub hit: &'a Hit,
    pub hsp: &'a Hsp,
    /// Columns.
    pub length: usize,
    /// Columns with the same residue twice.
    pub identical: usize,
    /// Columns with the same residue twice, or residues of a protein that score above 0.
    pub positive: usize,
    /// Columns with a gap.
    pub gaps: usize,
    /// Gaps of any length.
    pub gap_openings: usize,
}

impl<'a> Aligned<'a> {
    pub(super) fn new(answer: &'a QueryHits<'a>, hit: &'a Hit, hsp: &'a Hsp) -> Aligned<'a> {
        let mut aligned = Aligned {
            answer,
            hit,
            hsp,
            length: hsp.steps.len(),
            identical: 0,
            positive: 0,
            gaps: 0,
            gap_openings: 0,
        };
        let proteins = answer.program.compares() == Molecule::Protein;
        let [query, subject] = answer.residues(hit, hsp);
        let (mut in_query, mut in_subject) = (0, 0);
        for (step, length) in runs(&hsp.steps) {
            if step == Step::Both {
                let own = &query[in_query..][..length];
                let pairs = || std::iter::zip(own, &subject[in_subject..]);
                let positive = |&(&one, &other): &(&u8, &u8)| answer.is_positive(one, other);
                let identical = pairs().filter(|(one, other)| one == other).count();
                aligned.identical += identical;
                aligned.positive += match proteins {
                    true => pairs().filter(positive).count(),
                    false => identical,
                };
            } else {
                aligned.gaps += length;
                aligned.gap_openings += 1;
            }
            in_query += if step == Step::Subject { 0 } else { length };
            in_subject += if step == Step::Query { 0 } else { length };
        }
        aligned
    }

    pub(super) fn pairs(&self) -> impl Iterator<Item = Pair> {
        self.answer.pairs(self.hit, self.hsp)
    }

    /// The name of a side.
    pub(super) fn name(&self, side: usize) -> &'a [u8] {
        match side {
            QUERY => self.answer.queries.name(self.answer.query),
            _ => self.answer.subjects.name(self.hit.subject),
        }
    }

    /// The length of a side.
    pub(super) fn whole(&self, side: usize) -> usize {
        [self.query_length(), self.subject_length()][side]
    }

    /// Where it is in a side.
    pub(super) fn place(&self, side: usize) -> Range<usize> {
        match side {
            QUERY => self.in_query(),
            _ => self.in_subject(),
        }
    }

    /// Whether one side is read backwards and the other is not.
    pub(super) fn strands_differ(&self) -> bool {
        let [query, subject] = self.hsp.frames;
        (query < 0) != (subject < 0)
    }

    /// How many columns of each kind stand behind each other as a side ascends: `M` for residues
    /// of both, `D` where only that side has one, `I` where only the other.
    pub(super) fn cigar(&self, reference: usize) -> String {
        let letter = |step: Step| match (step, reference) {
            (Step::Both, _) => 'M',
            (Step::Query, QUERY) | (Step::Subject, SUBJECT) => 'D',
            _ => 'I',
        };
        let mut runs: Vec<String> = runs(&self.hsp.steps)
            .map(|(step, length)| format!("{length}{}", letter(step)))
            .collect();
        if self.hsp.frames[reference] < 0 {
            runs.reverse();
        }
        runs.concat()
    }

    /// Length of the query.
    pub(super) fn query_length(&self) -> usize {
        self.answer.queries.residues(self.answer.query).len()
    }

    /// Length of the subject.
    pub(super) fn subject_length(&self) -> usize {
        self.answer.subjects.length(self.hit.subject)
    }

    /// Where it is in the query.
    pub(super) fn in_query(&self) -> Range<usize> {
        self.answer.in_query(self.hsp)
    }

    /// Where it is in the subject.
    pub(super) fn in_subject(&self) -> Range<usize> {
        let [_, frames] = self.answer.frames;
        let hsp = self.hsp;
        frames.place(&hsp.subject, hsp.frames[1], self.subject_length())
    }

    /// Its first and its last residue of the query, from 1 on.
    pub(super) fn query_ends(&self) -> [usize; 2] {
        ends(self.in_query(), self.hsp.frames[0])
    }

    /// Its first and its last residue of the subject, from 1 on.
    pub(super) fn subject_ends(&self) -> [usize; 2] {
        ends(self.in_subject(), self.hsp.frames[1])
    }

    /// Both ends in query and subject, as documents tell them: ascending where a frame is told.
    pub(super) fn told_ends(&self) -> [[usize; 2]; 2] {
        let mut ends = [self.query_ends(), self.subject_ends()];
        if self.answer.program.compares() == Molecule::Protein {
            ends.iter_mut().for_each(|ends| ends.sort_unstable());
        }
        ends
    }

    /// How far apart the numbers of neighbours in the query are, in the order of the columns.
    pub(super) fn query_step(&self) -> i64 {
        step(self.answer.program.translates()[0], self.hsp.frames[0])
    }

    /// How far apart the numbers of neighbours in the subject are.
    pub(super) fn subject_step(&self) -> i64 {
        step(self.answer.program.translates()[1], self.hsp.frames[1])
    }

    /// The letter of a column.
    pub(super) fn letter(&self, code: Option<u8>) -> u8 {
        let molecule = self.answer.program.compares();
        code.map_or(b'-', |code| molecule.letter(code))
    }

    /// What stands between two equal residues.
    fn middle_of(&self, code: u8) -> u8 {
        match self.answer.program.compares() {
            Molecule::Protein => Molecule::Protein.letter(code),
            Molecule::Nucleotide => b'|',
        }
    }

    /// The columns of the query.
    pub(super) fn query_letters(&self) -> impl Iterator<Item = u8> {
        self.pairs().map(|(code, _)| self.letter(code))
    }

    /// The columns of the query, those that are masked as `mask` has them.
    pub(super) fn masked_query_letters(&self, mask: impl Fn(u8) -> u8) -> Vec<u8> {
        let [frames, _] = self.answer.frames;
        let (masked, own) = (self.answer.masked(), &self.hsp.query);
        let mut is_masked = vec![false; own.len()];
        for range in &masked[frames.place_of(self.hsp.frames[QUERY])] {
            let (start, end) = (range.start.max(own.start), range.end.min(own.end));
            if start < end {
                is_masked[start - own.start..end - own.start].fill(true);
            }
        }
        let mut is_masked = is_masked.into_iter();
        let pairs = self.pairs().map(|(code, _)| {
            let letter = self.letter(code);
            match code.and_then(|_| is_masked.next()) {
                Some(true) => mask(letter),
                _ => letter,
            }
        });
        pairs.collect()
    }

    /// The same in lower case, as people read it.
    pub(super) fn query_letters_in_case(&self) -> Vec<u8> {
        self.masked_query_letters(|letter| letter.to_ascii_lowercase())
    }

    /// The columns of the subject.
    pub(super) fn subject_letters(&self) -> impl Iterator<Item = u8> {
        self.pairs().map(|(_, code)| self.letter(code))
    }

    /// What stands between both: the residue where they are the same (`|` for nucleotides), `+`
    /// where their score is above 0.
    pub(super) fn middle(&self) -> impl Iterator<Item = u8> {
        let proteins = self.answer.program.compares() == Molecule::Protein;
        self.pairs().map(move |pair| match pair {
            (Some(one), Some(other)) if one == other => self.middle_of(one),
            (Some(one), Some(other)) if proteins && self.answer.is_positive(one, other) => b'+',
            _ => b' ',
        })
    }
}

impl QueryHits<'_> {
    fn pairs<'a>(&'a self, hit: &Hit, hsp: &'a Hsp) -> impl Iterator<Item = Pair> + 'a {
        let [query, subject] = self.residues(hit, hsp);
        pairs(query, subject, &hsp.steps)
    }

    /// The residues of an alignment, as both frames read them.
    fn residues<'a>(&'a self, hit: &Hit, hsp: &Hsp) -> [Cow<'a, [u8]>; 2] {
        let [of_query, of_subject] = self.frames;
        let query = self.queries.residues(self.query);
        let length = self.subjects.length(hit.subject);
        let in_subject = of_subject.place(&hsp.subject, hsp.frames[1], length);
        let query = of_query.translate(&query[self.in_query(hsp)], hsp.frames[0]);
        let subject = self.subjects.codes(hit.subject, in_subject);
        [query, of_subject.translate(subject, hsp.frames[1])]
    }

    /// Where an alignment is in the query.
    pub(super) fn in_query(&self, hsp: &Hsp) -> Range<usize> {
        let [frames, _] = self.frames;
        let length = self.queries.residues(self.query).len();
        frames.place(&hsp.query, hsp.frames[0], length)
    }

    /// Whether two residues of proteins are the same or score above 0.
    fn is_positive(&self, one: u8, other: u8) -> bool {
        one == other || self.scoring.score(one, other) > 0
    }
}

fn step(translated: bool, frame: i8) -> i64 {
    let bases = if translated { 3 } else { 1 };
    if frame < 0 { -bases } else { bases }
}

/// The first and the last of a range, from 1 on, as a frame reads it.
fn ends(range: Range<usize>, frame: i8) -> [usize; 2] {
    if frame < 0 {
        [range.end, range.start + 1]
    } else {
        [range.start + 1, range.end]
    }
}
