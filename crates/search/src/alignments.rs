//! From segments without gaps to the alignments of a query: gapped, scored for the composition of
//! both sequences, ranked.

mod kept_steps;
mod why;

use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};
use std::ops::Range;

use gyrase_align::arch::{Bands, COLUMNS, Kernels, LANES};
use gyrase_align::composition::{Adjuster, Adjustment, Composition, SCALE};
use gyrase_align::gapped::{Extension, ExtensionLimits, Prefixes, Scores, Step};
use gyrase_align::mask::{self, seg::Seg};
use gyrase_align::residue::ANY;
use gyrase_align::ungapped::{UngappedSegment, gapped_start};

pub(crate) use self::kept_steps::KEPT;
use self::kept_steps::KeptSteps;
pub use self::why::{PairAlignment, PairSteps};
use crate::engine::{Align, Query};
use crate::hits::{Best, Hit, Hsp, LeastOf, Match, pairs};
use crate::protein_options::CompositionMode;
use crate::scoring::ScoringSystem;
use crate::{Scoring, Sequences};

/// Sequences with so many bits for each residue, and so large a part of equal residues, are taken
/// for the same: what is of low complexity in both is not masked.
const SAME: [f64; 2] = [1.74, 0.96];
/// An extension within another that scores so many bits more is not made again.
const BETTER: f64 = 2.0;
/// Residues of the subject that such an alignment has at least, if the query has as many.
const LONG: usize = 50;

/// What an extension may lose where local alignment is asked for, in bits: both sides of a valley
/// so deep are sure by themselves.
const THOROUGH: f64 = 100.0;

/// Bits for each residue of a segment of which both sequences may be the same.
const DENSE: f64 = 1.5;

/// What a subject may score where its bands score so much: so many times that, and so many bits
/// more. Fitting scores to the composition raises some; bands do not see long gaps.
const PROMISE: f64 = 1.15;
const SPARE: f64 = 8.0;

/// A segment so many diagonals from the middle of a band is in it.
const NEAR: u64 = COLUMNS as u64 * 3 / 8;

/// What is aligned: parts of a query and a subject, as frames read them.
pub(crate) struct View<'v> {
    pub query: &'v [u8],
    pub subject: Cow<'v, [u8]>,
    /// Where the parts begin in all that the frames read.
    pub from: (usize, usize),
    /// Residues of all.
    pub lengths: (usize, usize),
    pub frames: [i8; 2],
}

impl<'v> View<'v> {
    /// A whole query and a whole subject, which are proteins.
    fn whole(query: &'v [u8], subject: &'v [u8]) -> View<'v> {
        View {
            query,
            subject: subject.into(),
            from: (0, 0),
            lengths: (query.len(), subject.len()),
            frames: [0; 2],
        }
    }

    /// A place in the parts.
    fn within(&self, place: (usize, usize)) -> (usize, usize) {
        (place.0 - self.from.0, place.1 - self.from.1)
    }

    /// Ranges of query and subject in the parts.
    pub(crate) fn ranges(&self, query: &Range<usize>, subject: &Range<usize>) -> [Range<usize>; 2] {
        let (start, end) = ((query.start, subject.start), (query.end, subject.end));
        let (start, end) = (self.within(start), self.within(end));
        [start.0..end.0, start.1..end.1]
    }
}

/// A gapped alignment without its steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extended {
    /// Where it was begun.
    pub start: (usize, usize),
    left: Prefixes,
    right: Prefixes,
    pub score: i32,
    pub evalue: f64,
    pub frames: [i8; 2],
}

impl Extended {
    pub(crate) fn query(&self) -> Range<usize> {
        self.start.0 - self.left.query..self.start.0 + self.right.query
    }

    pub(crate) fn subject(&self) -> Range<usize> {
        self.start.1 - self.left.subject..self.start.1 + self.right.subject
    }

    /// Of alignments that are taken together the E-value changes.
    fn without_evalue(&self) -> Extended {
        Extended {
            evalue: 0.0,
            ..*self
        }
    }

    /// The better of two alignments of one subject is less.
    pub(crate) fn order(&self, other: &Extended) -> Ordering {
        self.evalue
            .total_cmp(&other.evalue)
            .then_with(|| self.order_by_score(other))
    }

    /// The one that scores more is less.
    pub(crate) fn order_by_score(&self, other: &Extended) -> Ordering {
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
        key(self).cmp(&key(other))
    }

    /// Whether it has all these residues of both.
    fn contains(&self, query: &Range<usize>, subject: &Range<usize>) -> bool {
        let has =
            |all: Range<usize>, part: &Range<usize>| part.start >= all.start && part.end <= all.end;
        has(self.query(), query) && has(self.subject(), subject)
    }

    /// Whether it is inside of another that scores as much.
    pub(crate) fn is_within(&self, other: &Extended) -> bool {
        let strands = |one: &Extended| one.frames.map(i8::signum);
        self.score <= other.score
            && strands(self) == strands(other)
            && other.contains(&self.query(), &self.subject())
    }

    /// Whether both begin or both end with the same residues.
    fn shares_an_end(&self, other: &Extended) -> bool {
        let ends = |one: &Extended| {
            let (query, subject) = (one.query(), one.subject());
            [(query.start, subject.start), (query.end, subject.end)]
        };
        let mut ends = std::iter::zip(ends(self), ends(other));
        self.frames == other.frames && ends.any(|(one, other)| one == other)
    }
}

/// Which scores an extension uses.
#[derive(Clone, Copy)]
pub(crate) enum Pass {
    /// Those of the matrix.
    Matrix,
    /// Those that were adjusted to the pair, of the masked subject.
    Adjusted,
}

impl Pass {
    /// Units of a score in one of the matrix.
    pub(crate) fn scale(self) -> i32 {
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
    /// How scores were fitted to both.
    adjustment: Adjustment,
    /// The steps of each, where they were kept.
    steps: Vec<Option<Vec<Step>>>,
}

/// A subject whose bands score enough to be aligned.
struct Candidate<'m> {
    matches: &'m [Match],
    /// What the bands around its segments score together; nothing where that is not known.
    bands: Option<i32>,
}

impl Candidate<'_> {
    fn subject(&self) -> usize {
        self.matches[0].subject as usize
    }
}

/// What an aligner finds, and what that takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// What BLAST finds.
    Blast,
    /// Most of it.
    Fast,
    /// What local alignment finds.
    Thorough,
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

/// Segments in the middle of bands that have all segments in them, from the best on.
pub(crate) fn middles(matches: &[Match]) -> Vec<UngappedSegment> {
    let mut middles: Vec<UngappedSegment> = Vec::new();
    for segment in best_first(matches) {
        let far = |middle: &UngappedSegment| middle.diagonal().abs_diff(segment.diagonal()) > NEAR;
        if middles.iter().all(far) {
            middles.push(segment);
        }
    }
    middles
}

/// A score in units of the matrix.
fn rounded(scaled: i32) -> i32 {
    (scaled + SCALE / 2).div_euclid(SCALE)
}

/// Takes an alignment among others of the subject, unless it is known.
fn take_new(one: Extended, extended: &mut Vec<Extended>) {
    let known = |before: &Extended| {
        one.is_within(before) || one.shares_an_end(before) && one.score <= before.score
    };
    if !extended.iter().any(known) {
        extended.retain(|before| !one.shares_an_end(before));
        extended.push(one);
    }
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
    manner: Manner,
    kept: KeptSteps<Extended>,
}

impl Align for Aligner<'_> {
    fn hits(&mut self, query: Query, matches: &[Match]) -> Vec<Hit> {
        let query = query.residues();
        let composition = Composition::of(query);
        let by_subject = matches.chunk_by(|one, next| one.subject == next.subject);
        let candidates = match self.manner {
            Manner::Thorough => {
                let bands = None;
                by_subject
                    .map(|matches| Candidate { matches, bands })
                    .collect()
            }
            _ => self.promising(query, by_subject.collect()),
        };
        let top = self.scoring.limits.top;
        let (mut best, mut least) = (Best::new(top, Found::order), LeastOf::new(top));
        self.begin_query();
        for candidate in candidates {
            let bound = self.least_evalue(query, &candidate);
            if least.largest() < bound {
                continue;
            }
            let found = self.align(query, &composition, &candidate);
            let is_taken = |found: &Found| found.extended[0].evalue >= bound;
            if let Some(found) = found.filter(is_taken) {
                least.add(found.extended[0].evalue);
                best.push(found);
            }
        }
        let found = best.sorted().into_iter();
        found
            .map(|found| self.trace(query, &composition, found))
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
            manner: Manner::Blast,
            kept: KeptSteps::none(),
        }
    }

    /// One that leaves out what is not likely to be among the best.
    pub(crate) fn fast(subjects: &'s Sequences, scoring: &'s Scoring) -> Aligner<'s> {
        Aligner {
            manner: Manner::Fast,
            ..Aligner::new(subjects, scoring)
        }
    }

    /// One that takes all subjects for promising, and lets extensions lose more: their scores are
    /// those of local alignment.
    pub(crate) fn thorough(subjects: &'s Sequences, scoring: &'s Scoring) -> Aligner<'s> {
        Aligner {
            manner: Manner::Thorough,
            ..Aligner::new(subjects, scoring)
        }
    }

    /// The subjects that have a good enough alignment in a band around one of their segments, the
    /// best first.
    fn promising<'m>(&mut self, query: &[u8], by_subject: Vec<&'m [Match]>) -> Vec<Candidate<'m>> {
        let lanes: Vec<(usize, i64)> = (by_subject.iter().enumerate())
            .flat_map(|(number, matches)| {
                middles(matches)
                    .into_iter()
                    .map(move |middle| (number, middle.diagonal()))
            })
            .collect();
        let mut promising = vec![false; by_subject.len()];
        let mut bands = vec![Some(0); by_subject.len()];
        let enough = self.promised();
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
                let (full, score) = (score == u8::MAX, i32::from(score));
                let evalue = || (self.scoring).evalue_of(score.into(), query.len(), subject.len());
                promising[number] |= full || evalue() <= enough;
                bands[number] = bands[number].filter(|_| !full).map(|sum| sum + score);
            }
        }
        let scored = by_subject.into_iter().zip(bands).zip(promising);
        let kept = scored.filter_map(|(one, kept)| kept.then_some(one));
        let kept = kept.map(|(matches, bands)| Candidate { matches, bands });
        let mut kept: Vec<Candidate> = kept.collect();
        kept.sort_by_key(|one| Reverse(one.bands.unwrap_or(i32::MAX)));
        kept
    }

    /// The largest E-value of a band that is enough to go on.
    fn promised(&self) -> f64 {
        match self.manner {
            Manner::Fast => self.scoring.limits.evalue,
            _ => self.scoring.promising(),
        }
    }

    /// The E-value of all that bands of a subject promise: a fast search reports none that has a
    /// smaller one. So it need not align those that promise less than the best that it has, and
    /// its answer depends on nothing else.
    fn least_evalue(&self, query: &[u8], candidate: &Candidate) -> f64 {
        let (Manner::Fast, Some(bands)) = (self.manner, candidate.bands) else {
            return 0.0;
        };
        let subject = self.subjects.residues(candidate.subject()).len();
        let most = PROMISE * f64::from(bands) + f64::from(self.scoring.x_drop(SPARE, 1));
        self.scoring.evalue_of(most, query.len(), subject)
    }

    /// The alignments with a subject, if one is good enough.
    fn align(
        &mut self,
        query: &[u8],
        composition: &Composition,
        candidate: &Candidate,
    ) -> Option<Found> {
        let (subject, matches) = (candidate.subject(), candidate.matches);
        let view = View::whole(query, self.subjects.residues(subject));
        self.begin_subject();
        let (same, adjustment, mut extended) = match self.manner {
            Manner::Fast => self.align_at_once(&view, composition, matches)?,
            _ => self.align_twice(&view, composition, matches)?,
        };
        extended.retain(|one| self.scoring.covers(one.query().len(), query.len()));
        extended.sort_by(Extended::order);
        extended.truncate(self.scoring.limits.max_hsps);
        if extended.is_empty() {
            return None;
        }
        let steps = self.take_steps(&extended);
        Some(Found {
            subject,
            same,
            extended,
            adjustment,
            steps,
        })
    }

    /// Extends segments by the scores of the matrix, then what promises enough by fitted ones:
    /// whether both are the same, how scores were fitted, and what is good enough.
    fn align_twice(
        &mut self,
        view: &View,
        composition: &Composition,
        matches: &[Match],
    ) -> Option<(bool, Adjustment, Vec<Extended>)> {
        let whole = |_: &UngappedSegment| View::whole(view.query, &view.subject);
        let mut promising = self.extend_segments(matches, whole);
        let good = self.scoring.promising();
        promising.retain(|one| one.evalue <= good);
        promising.sort_by(Extended::order);
        let same = self.are_the_same(view, promising.first()?);
        self.hide_simple(&view.subject, same);
        let adjustment = self.adjust(composition, &self.composition_of_subject())?;
        let mut extended: Vec<Extended> = Vec::new();
        let evalue = self.scoring.limits.evalue;
        for one in &promising {
            self.extend_again(one, view, &mut extended, |again| {
                again.score >= SCALE / 2 && again.evalue <= evalue
            });
        }
        Some((same, adjustment, extended))
    }

    /// Extends segments by fitted scores alone; the same.
    fn align_at_once(
        &mut self,
        view: &View,
        composition: &Composition,
        matches: &[Match],
    ) -> Option<(bool, Adjustment, Vec<Extended>)> {
        let segments = best_first(matches);
        let first = segments.first()?;
        let is_dense = self
            .scoring
            .bits_per_residue(first.score, first.length as usize)
            >= DENSE;
        let same = is_dense && {
            let one = self.extend(Pass::Matrix, view, self.start(view, first));
            self.are_the_same(view, &one)
        };
        self.hide_simple(&view.subject, same);
        let adjustment = self.adjust(composition, &self.composition_of_subject())?;
        let (mut all, mut extended): (Vec<Extended>, Vec<Extended>) = (Vec::new(), Vec::new());
        let evalue = self.scoring.limits.evalue;
        for segment in segments {
            let (query, subject) = (segment.in_query(), segment.in_subject());
            if all.iter().any(|one| one.contains(&query, &subject)) {
                continue;
            }
            let one = self.extend(Pass::Adjusted, view, self.start(view, &segment));
            all.push(one);
            if one.score >= SCALE / 2 && one.evalue <= evalue {
                take_new(one, &mut extended);
            }
        }
        Some((same, adjustment, extended))
    }

    /// Extends the start of an alignment with the scores that were adjusted, unless it is in a
    /// better one, and takes what is good and not known.
    pub(crate) fn extend_again(
        &mut self,
        one: &Extended,
        view: &View,
        extended: &mut Vec<Extended>,
        is_good: impl Fn(&Extended) -> bool,
    ) {
        let scaled = Extended {
            score: one.score * SCALE + self.scoring.x_drop(BETTER, SCALE),
            ..*one
        };
        if extended.iter().any(|before| scaled.is_within(before)) {
            return;
        }
        let again = self.extend(Pass::Adjusted, view, one.start);
        // What is masked at its start may score nothing.
        if is_good(&again) {
            take_new(again, extended);
        }
    }

    /// Extends segments with the scores of the matrix in a view of each, the best first; those that
    /// are in no better alignment.
    pub(crate) fn extend_segments<'v>(
        &mut self,
        matches: &[Match],
        view_of: impl Fn(&UngappedSegment) -> View<'v>,
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
            let view = view_of(&segment);
            extended.push(self.extend(Pass::Matrix, &view, self.start(&view, &segment)));
        }
        extended
    }

    /// Where the gapped extension of a segment begins.
    fn start(&self, view: &View, segment: &UngappedSegment) -> (usize, usize) {
        let [query, subject] = view.ranges(&segment.in_query(), &segment.in_subject());
        let (query, subject) = (&view.query[query], &view.subject[subject]);
        let ahead = gapped_start(self.scoring.rows(), query, subject);
        (
            segment.in_query().start + ahead,
            segment.in_subject().start + ahead,
        )
    }

    /// Extends to both sides of a start.
    fn extend(&mut self, pass: Pass, view: &View, start: (usize, usize)) -> Extended {
        if !(self.kept.has_room() && matches!(pass, Pass::Adjusted)) {
            return self.extend_to(pass, view, start, None);
        }
        let mut steps = Vec::new();
        let extended = self.extend_to(pass, view, start, Some(&mut steps));
        self.kept.add(extended.without_evalue(), steps);
        extended
    }

    /// The same; the steps, from the first residues to the last, come to those that are given.
    fn extend_to(
        &mut self,
        pass: Pass,
        view: &View,
        start: (usize, usize),
        steps: Option<&mut Vec<Step>>,
    ) -> Extended {
        let (extension, scores, residues, limits) = self.of_pass(pass, &view.subject);
        let at = view.within(start);
        let (q, s) = (view.query.split_at(at.0), residues.split_at(at.1));
        let (left, right) = match steps {
            None => (
                extension.extend(scores, limits, q.0.iter().rev(), s.0.iter().rev()),
                extension.extend(scores, limits, q.1.iter(), s.1.iter()),
            ),
            Some(steps) => {
                let (left, right) = (q.0.iter().rev(), s.0.iter().rev());
                let left = extension.trace(scores, limits, left, right, steps);
                let middle = steps.len();
                let right = extension.trace(scores, limits, q.1.iter(), s.1.iter(), steps);
                steps[middle..].reverse();
                (left, right)
            }
        };
        let score = left.score + right.score;
        let unscaled = f64::from(score) / f64::from(pass.scale());
        Extended {
            start,
            left,
            right,
            score,
            evalue: (self.scoring).evalue_of(unscaled, view.lengths.0, view.lengths.1),
            frames: view.frames,
        }
    }

    /// Keeps steps of extensions by fitted scores, of one query from now on.
    pub(crate) fn begin_query(&mut self) {
        self.kept.begin_query();
    }

    /// The same of one subject.
    pub(crate) fn begin_subject(&mut self) {
        self.kept.begin_subject();
    }

    /// Takes the steps of alignments with the subject, of each if they were kept.
    pub(crate) fn take_steps<'e>(
        &mut self,
        extended: impl IntoIterator<Item = &'e Extended>,
    ) -> Vec<Option<Vec<Step>>> {
        let extended = extended.into_iter();
        let take = |one: &Extended| self.kept.take(&one.without_evalue());
        extended.map(take).collect()
    }

    /// The steps of an extension, made again.
    pub(crate) fn steps(&mut self, pass: Pass, view: &View, start: (usize, usize)) -> Vec<Step> {
        let mut steps = Vec::new();
        self.extend_to(pass, view, start, Some(&mut steps));
        steps
    }

    /// What extends, by which scores, in which residues of the subject, and how far.
    fn of_pass<'a>(
        &'a mut self,
        pass: Pass,
        subject: &'a [u8],
    ) -> (&'a mut Extension, &'a Scores, &'a [u8], ExtensionLimits) {
        let bits = match self.manner {
            Manner::Thorough => THOROUGH,
            Manner::Blast | Manner::Fast => pass.x_drop(),
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

    /// Masks what is of low complexity in the subject, where the two are not the same.
    pub(crate) fn hide_simple(&mut self, subject: &[u8], same: bool) {
        self.masked.clear();
        self.masked.extend_from_slice(subject);
        if !same && self.scoring.composition() != CompositionMode::Off {
            mask::cover(&mut self.masked, self.seg.mask(subject), ANY);
        }
    }

    /// The subject, masked.
    pub(crate) fn masked(&self) -> &[u8] {
        &self.masked
    }

    fn composition_of_subject(&self) -> Composition {
        Composition::of(&self.masked)
    }

    /// Makes scores that fit the composition of both; none where one has no residue that counts.
    pub(crate) fn adjust(
        &mut self,
        query: &Composition,
        subject: &Composition,
    ) -> Option<Adjustment> {
        let adjust = match self.scoring.composition() {
            CompositionMode::Off => return Some(Adjustment::NONE),
            CompositionMode::Scaled => Adjuster::scale,
            CompositionMode::Adjusted => Adjuster::optimise,
            CompositionMode::Conditional => Adjuster::adjust,
        };
        adjust(&self.adjuster, query, subject, &mut self.adjusted)
    }

    /// Whether the best alignment says that both are nearly equal: then what is of low complexity
    /// in both is no chance.
    pub(crate) fn are_the_same(&mut self, view: &View, best: &Extended) -> bool {
        let [in_query, in_subject] = view.ranges(&best.query(), &best.subject());
        let query = view.query;
        let shorter = in_query.len().min(in_subject.len());
        let unfitted = self.scoring.composition() == CompositionMode::Off;
        let [bits, equal] = SAME;
        if unfitted
            || in_subject.len() + 1 < query.len().min(LONG)
            || self.scoring.bits_per_residue(best.score, shorter) < bits
        {
            return false;
        }
        let steps = self.steps(Pass::Matrix, view, best.start);
        let subject = &view.subject[in_subject];
        let pairs = pairs(query[in_query].into(), subject.into(), &steps);
        let identical = pairs.filter(|(one, other)| one == other).count();
        identical as f64 > equal * shorter as f64
    }

    /// Finds the steps of the alignments with a subject.
    fn trace(&mut self, query: &[u8], composition: &Composition, found: Found) -> Hit {
        let view = View::whole(query, self.subjects.residues(found.subject));
        if found.steps.iter().any(Option::is_none) {
            self.hide_simple(&view.subject, found.same);
            self.adjust(composition, &self.composition_of_subject());
        }
        let hsps = found.extended.iter().zip(found.steps);
        let hsps = hsps.map(|(one, steps)| {
            let steps = steps.unwrap_or_else(|| self.steps(Pass::Adjusted, &view, one.start));
            self.hsp(one, found.adjustment, steps)
        });
        Hit {
            subject: found.subject,
            rank_score: found.extended[0].score,
            hsps: hsps.collect(),
        }
    }

    /// An alignment by fitted scores, with its steps.
    pub(crate) fn hsp(&self, one: &Extended, adjustment: Adjustment, steps: Vec<Step>) -> Hsp {
        let score = rounded(one.score);
        Hsp {
            query: one.query(),
            subject: one.subject(),
            frames: one.frames,
            score,
            evalue: one.evalue,
            bits: self.scoring.bits(score),
            adjusted: Some(adjustment.rule),
            steps,
        }
    }
}
