//! From segments without gaps to the alignments of a query: gapped, scored for the composition of
//! both sequences, ranked.

mod why;

use std::cmp::{Ordering, Reverse};
use std::ops::Range;

use gyrase_align::arch::{Bands, COLUMNS, Kernels, LANES};
use gyrase_align::composition::{Adjuster, Adjustment, Composition, SCALE};
use gyrase_align::gapped::{Extension, ExtensionLimits, Prefixes, Scores, Step};
use gyrase_align::mask::{self, seg::Seg};
use gyrase_align::residue::ANY;
use gyrase_align::ungapped::{UngappedSegment, gapped_start};

pub use self::why::{PairAlignment, PairSteps};
use crate::engine::{Align, Query};
use crate::hits::{Hit, Hsp, Match, pairs};
use crate::protein_options::CompositionMode;
use crate::scoring::ScoringSystem;
use crate::{Scoring, Sequences};

/// Sequences with so many bits for each residue, and so large a part of equal residues, are taken
/// for the same: what is of low complexity in both is not masked.
const SAME: [f64; 2] = [1.74, 0.95];
/// An extension within another that scores so many bits more is not made again.
const BETTER: f64 = 2.0;
/// Residues of the subject that such an alignment has at least, if the query has as many.
const LONG: usize = 50;

/// What an extension may lose where local alignment is asked for, in bits: both sides of a valley
/// so deep are sure by themselves.
const THOROUGH: f64 = 100.0;

/// A segment so many diagonals from the middle of a band is in it.
const NEAR: u64 = COLUMNS as u64 * 3 / 8;

/// A gapped alignment without its steps.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Extended {
    /// Where it was begun.
    start: (usize, usize),
    left: Prefixes,
    right: Prefixes,
    score: i32,
    evalue: f64,
}

impl Extended {
    fn query(&self) -> Range<usize> {
        self.start.0 - self.left.query..self.start.0 + self.right.query
    }

    fn subject(&self) -> Range<usize> {
        self.start.1 - self.left.subject..self.start.1 + self.right.subject
    }

    /// The better of two alignments of one subject is less.
    fn order(&self, other: &Extended) -> Ordering {
        let key = |one: &Extended| {
            let (query, subject) = (one.query(), one.subject());
            (
                Reverse(one.score),
                subject.start,
                Reverse(subject.end),
                query.start,
                Reverse(query.end),
            )
        };
        self.evalue
            .total_cmp(&other.evalue)
            .then_with(|| key(self).cmp(&key(other)))
    }

    /// Whether it has all these residues of both.
    fn contains(&self, query: &Range<usize>, subject: &Range<usize>) -> bool {
        let has =
            |all: Range<usize>, part: &Range<usize>| part.start >= all.start && part.end <= all.end;
        has(self.query(), query) && has(self.subject(), subject)
    }

    /// Whether it is inside of another that scores as much.
    fn is_within(&self, other: &Extended) -> bool {
        self.score <= other.score && other.contains(&self.query(), &self.subject())
    }

    /// Whether both begin or both end with the same residues.
    fn shares_an_end(&self, other: &Extended) -> bool {
        let ends = |one: &Extended| {
            let (query, subject) = (one.query(), one.subject());
            [(query.start, subject.start), (query.end, subject.end)]
        };
        std::iter::zip(ends(self), ends(other)).any(|(one, other)| one == other)
    }
}

/// Which scores an extension uses.
#[derive(Clone, Copy)]
enum Pass {
    /// Those of the matrix.
    Matrix,
    /// Those that were adjusted to the pair, of the masked subject.
    Adjusted,
}

impl Pass {
    /// Units of a score in one of the matrix.
    fn scale(self) -> i32 {
        match self {
            Pass::Matrix => 1,
            Pass::Adjusted => SCALE,
        }
    }

    /// What an extension may lose, in bits (BLAST's `xdrop_gap` and `xdrop_gap_final`).
    fn x_drop(self) -> f64 {
        match self {
            Pass::Matrix => 15.0,
            Pass::Adjusted => 25.0,
        }
    }
}

/// A subject with alignments that are good enough.
struct Found {
    subject: usize,
    /// Query and subject are taken for the same.
    same: bool,
    /// The best first.
    extended: Vec<Extended>,
}

impl Found {
    /// The better of two subjects is less; of equal ones the later in the database, as BLAST has
    /// it.
    fn order(&self, other: &Found) -> Ordering {
        let (one, another) = (&self.extended[0], &other.extended[0]);
        one.evalue
            .total_cmp(&another.evalue)
            .then(another.score.cmp(&one.score))
            .then(other.subject.cmp(&self.subject))
    }
}

/// The segments of matches, the best first.
fn best_first(matches: &[Match]) -> Vec<UngappedSegment> {
    let mut segments: Vec<UngappedSegment> = matches.iter().map(|found| found.segment).collect();
    segments.sort_by_key(|segment| (Reverse(segment.score), segment.query, segment.subject));
    segments
}

/// Diagonals in the middle of bands that have all segments in them, from the best segment on.
fn middles(matches: &[Match]) -> Vec<i64> {
    let mut middles: Vec<i64> = Vec::new();
    for diagonal in best_first(matches).iter().map(UngappedSegment::diagonal) {
        if middles
            .iter()
            .all(|middle| middle.abs_diff(diagonal) > NEAR)
        {
            middles.push(diagonal);
        }
    }
    middles
}

/// Aligns one query after the other.
pub(crate) struct Aligner<'s> {
    subjects: &'s Sequences,
    scoring: &'s Scoring,
    adjuster: Adjuster,
    seg: Seg,
    kernels: Kernels,
    bands: Bands,
    extension: Extension,
    adjusted: Box<Scores>,
    masked: Vec<u8>,
    thorough: bool,
}

impl Align for Aligner<'_> {
    fn hits(&mut self, query: Query, matches: &[Match]) -> Vec<Hit> {
        let query = query.residues();
        let composition = Composition::of(query);
        let mut found: Vec<Found> = Vec::new();
        let by_subject = matches.chunk_by(|one, next| one.subject == next.subject);
        let mut by_subject: Vec<&[Match]> = by_subject.collect();
        if !self.thorough {
            by_subject = self.promising(query, by_subject);
        }
        for of_subject in by_subject {
            let subject = of_subject[0].subject as usize;
            found.extend(self.align(query, &composition, subject, of_subject));
        }
        found.sort_by(Found::order);
        found.truncate(self.scoring.limits.top);
        let hits = found.iter();
        hits.map(|found| self.trace(query, &composition, found))
            .collect()
    }
}

impl<'s> Aligner<'s> {
    pub(crate) fn new(subjects: &'s Sequences, scoring: &'s Scoring) -> Aligner<'s> {
        let kernels = Kernels::detect();
        Aligner {
            subjects,
            scoring,
            adjuster: scoring.adjuster(),
            seg: Seg::of_subjects(),
            kernels,
            bands: Bands::new(kernels),
            extension: Extension::new(kernels),
            // Where scores are not fitted they stay so.
            adjusted: Box::new(scoring.scores().map(|row| row.map(|score| score * SCALE))),
            masked: Vec::new(),
            thorough: false,
        }
    }

    /// One that takes all subjects for promising, and lets extensions lose more: their scores are
    /// those of local alignment.
    pub(crate) fn thorough(subjects: &'s Sequences, scoring: &'s Scoring) -> Aligner<'s> {
        Aligner {
            thorough: true,
            ..Aligner::new(subjects, scoring)
        }
    }

    /// The subjects that have a good enough alignment in a band around one of their segments.
    fn promising<'m>(&mut self, query: &[u8], by_subject: Vec<&'m [Match]>) -> Vec<&'m [Match]> {
        let lanes: Vec<(usize, i64)> = (by_subject.iter().enumerate())
            .flat_map(|(number, matches)| {
                middles(matches)
                    .into_iter()
                    .map(move |middle| (number, middle))
            })
            .collect();
        let mut promising = vec![false; by_subject.len()];
        for lanes in lanes.chunks(LANES) {
            let subjects = self.subjects;
            let band = |&(number, middle): &(usize, i64)| {
                let subject: &[Match] = by_subject[number];
                (subjects.residues(subject[0].subject as usize), middle)
            };
            let loaded: Vec<(&[u8], i64)> = lanes.iter().map(band).collect();
            self.bands.load(query.len(), &loaded);
            let rows = self.scoring.rows();
            let costs = self.scoring.costs(1);
            let scores = self.kernels.band_scores(rows, costs, query, &self.bands);
            for ((&(number, _), (subject, _)), score) in lanes.iter().zip(&loaded).zip(scores) {
                promising[number] |= score == u8::MAX
                    || self
                        .scoring
                        .promises(score.into(), query.len(), subject.len());
            }
        }
        let kept = by_subject.into_iter().zip(promising);
        kept.filter_map(|(matches, kept)| kept.then_some(matches))
            .collect()
    }

    /// The alignments with a subject, if one is good enough.
    fn align(
        &mut self,
        query: &[u8],
        composition: &Composition,
        number: usize,
        matches: &[Match],
    ) -> Option<Found> {
        let subject = self.subjects.residues(number);
        let promising = self.extend_segments(query, subject, matches);
        let same = self.are_the_same(query, subject, promising.first()?);
        self.adjust(composition, subject, same)?;
        let mut extended: Vec<Extended> = Vec::new();
        let better = self.scoring.x_drop(BETTER, SCALE);
        for one in &promising {
            let scaled = Extended {
                score: one.score * SCALE + better,
                ..*one
            };
            if extended.iter().any(|before| scaled.is_within(before)) {
                continue;
            }
            let again = self.extend(Pass::Adjusted, query, subject, one.start);
            let known = |before: &Extended| {
                again.is_within(before)
                    || again.shares_an_end(before) && again.score <= before.score
            };
            // What is masked at its start may score nothing.
            let good = again.score >= SCALE / 2 && again.evalue <= self.scoring.limits.evalue;
            if good && !extended.iter().any(known) {
                extended.retain(|before| !again.shares_an_end(before));
                extended.push(again);
            }
        }
        extended.retain(|one| self.scoring.covers(one.query().len(), query.len()));
        extended.sort_by(Extended::order);
        extended.truncate(self.scoring.limits.max_hsps);
        (!extended.is_empty()).then_some(Found {
            subject: number,
            same,
            extended,
        })
    }

    /// Extends segments with the scores of the matrix, the best first; those that are in no better
    /// alignment and promise enough.
    fn extend_segments(
        &mut self,
        query: &[u8],
        subject: &[u8],
        matches: &[Match],
    ) -> Vec<Extended> {
        let mut extended: Vec<Extended> = Vec::new();
        for segment in best_first(matches) {
            let (in_query, in_subject) = (segment.in_query(), segment.in_subject());
            if extended
                .iter()
                .any(|one| one.contains(&in_query, &in_subject))
            {
                continue;
            }
            let ahead = gapped_start(
                self.scoring.rows(),
                &query[in_query.clone()],
                &subject[in_subject.clone()],
            );
            let start = (in_query.start + ahead, in_subject.start + ahead);
            extended.push(self.extend(Pass::Matrix, query, subject, start));
        }
        let good = self.scoring.promising();
        extended.retain(|one| one.evalue <= good);
        extended.sort_by(Extended::order);
        extended
    }

    /// Extends to both sides of a start.
    fn extend(
        &mut self,
        pass: Pass,
        query: &[u8],
        subject: &[u8],
        start: (usize, usize),
    ) -> Extended {
        let (extension, scores, residues, limits) = self.of_pass(pass, subject);
        let (q, s) = (query.split_at(start.0), residues.split_at(start.1));
        let left = extension.extend(scores, limits, q.0.iter().rev(), s.0.iter().rev());
        let right = extension.extend(scores, limits, q.1.iter(), s.1.iter());
        let score = left.score + right.score;
        let unscaled = f64::from(score) / f64::from(pass.scale());
        Extended {
            start,
            left,
            right,
            score,
            evalue: self.scoring.evalue_of(unscaled, query.len(), subject.len()),
        }
    }

    /// The steps of an extension, made again.
    fn steps(
        &mut self,
        pass: Pass,
        query: &[u8],
        subject: &[u8],
        start: (usize, usize),
    ) -> Vec<Step> {
        let (extension, scores, residues, limits) = self.of_pass(pass, subject);
        let (q, s) = (query.split_at(start.0), residues.split_at(start.1));
        let (mut steps, mut back) = (Vec::new(), Vec::new());
        let (left, right) = (q.0.iter().rev(), s.0.iter().rev());
        extension.trace(scores, limits, left, right, &mut steps);
        extension.trace(scores, limits, q.1.iter(), s.1.iter(), &mut back);
        steps.extend(back.into_iter().rev());
        steps
    }

    /// What extends, by which scores, in which residues of the subject, and how far.
    fn of_pass<'a>(
        &'a mut self,
        pass: Pass,
        subject: &'a [u8],
    ) -> (&'a mut Extension, &'a Scores, &'a [u8], ExtensionLimits) {
        let bits = if self.thorough {
            THOROUGH
        } else {
            pass.x_drop()
        };
        let limits = ExtensionLimits {
            costs: self.scoring.costs(pass.scale()),
            x_drop: self.scoring.x_drop(bits, pass.scale()),
        };
        let (scores, residues) = match pass {
            Pass::Matrix => (self.scoring.scores(), subject),
            Pass::Adjusted => (&*self.adjusted, &self.masked[..]),
        };
        (&mut self.extension, scores, residues, limits)
    }

    /// Masks what is of low complexity in the subject, where the two are not the same, and makes
    /// scores that fit the composition of both; none where one has no residue that counts.
    fn adjust(
        &mut self,
        composition: &Composition,
        subject: &[u8],
        same: bool,
    ) -> Option<Adjustment> {
        self.masked.clear();
        self.masked.extend_from_slice(subject);
        if self.scoring.composition() == CompositionMode::Off {
            return Some(Adjustment::NONE);
        }
        if !same {
            mask::cover(&mut self.masked, self.seg.mask(subject), ANY);
        }
        let of_subject = Composition::of(&self.masked);
        let adjust = match self.scoring.composition() {
            CompositionMode::Scaled => Adjuster::scale,
            CompositionMode::Adjusted => Adjuster::optimise,
            _ => Adjuster::adjust,
        };
        adjust(&self.adjuster, composition, &of_subject, &mut self.adjusted)
    }

    /// Whether the best alignment says that both are nearly equal: then what is of low complexity
    /// in both is no chance.
    fn are_the_same(&mut self, query: &[u8], subject: &[u8], best: &Extended) -> bool {
        let (in_query, in_subject) = (best.query(), best.subject());
        let shorter = in_query.len().min(in_subject.len());
        let unfitted = self.scoring.composition() == CompositionMode::Off;
        let [bits, equal] = SAME;
        if unfitted
            || in_subject.len() + 1 < query.len().min(LONG)
            || self.scoring.bits_per_residue(best.score, shorter) < bits
        {
            return false;
        }
        let steps = self.steps(Pass::Matrix, query, subject, best.start);
        let pairs = pairs(query[in_query].into(), subject[in_subject].into(), &steps);
        let identical = pairs.filter(|(one, other)| one == other).count();
        identical as f64 > equal * shorter as f64
    }

    /// Finds the steps of the alignments with a subject.
    fn trace(&mut self, query: &[u8], composition: &Composition, found: &Found) -> Hit {
        let subject = self.subjects.residues(found.subject);
        let adjusted = self.adjust(composition, subject, found.same);
        let mut hsp = |one: &Extended| {
            let score = (one.score + SCALE / 2).div_euclid(SCALE);
            Hsp {
                query: one.query(),
                subject: one.subject(),
                frames: [0; 2],
                score,
                evalue: one.evalue,
                bits: self.scoring.bits(score),
                adjusted: adjusted.map(|adjustment| adjustment.rule),
                steps: self.steps(Pass::Adjusted, query, subject, one.start),
            }
        };
        Hit {
            subject: found.subject,
            rank_score: found.extended[0].score,
            hsps: found.extended.iter().map(&mut hsp).collect(),
        }
    }
}
