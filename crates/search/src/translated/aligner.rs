//! Gapped alignments of proteins with what is translated.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use gyrase_align::arch::{Bands, COLUMNS, Kernels, LANES};
use gyrase_align::composition::{Adjustment, Composition, SCALE};
use gyrase_align::gapped::Step;
use gyrase_align::statistics::told;
use gyrase_align::ungapped::UngappedSegment;

use super::links::Piece;
use super::searched::Searched;
use super::windows::{composed, windows};
use crate::alignments::{self, Extended, Pass, View, middles};
use crate::engine::{Align, Query};
use crate::frames::Frames;
use crate::hits::{Best, Hit, Match};

/// Residues of a stretch of a long query whose subjects are looked at together.
const STRETCH: usize = 256;

/// Residues of what is translated beside what a protein may reach of it without gaps.
const REACH: usize = 128;

/// With which scores an alignment was made.
#[derive(Clone, Debug, PartialEq)]
struct Setting {
    frames: [i8; 2],
    /// The window of what is translated.
    window: Range<usize>,
    /// The part of the window whose composition counts.
    composed: Range<usize>,
    /// Query and subject are taken for the same.
    same: bool,
    adjustment: Adjustment,
}

/// A subject with alignments that are good enough.
struct Found {
    subject: usize,
    /// The best first, with the numbers of their settings.
    extended: Vec<(Extended, usize)>,
    /// The steps of each, where they were kept.
    steps: Vec<Option<Vec<Step>>>,
    settings: Vec<Setting>,
    /// The best score.
    score: i32,
}

impl Found {
    /// The better of two subjects is less; of equal ones the later in the database, as BLAST has
    /// it.
    fn order(&self, other: &Found) -> Ordering {
        let evalue = |one: &Found| one.extended[0].0.evalue;
        evalue(self)
            .total_cmp(&evalue(other))
            .then(other.score.cmp(&self.score))
            .then(other.subject.cmp(&self.subject))
    }
}

/// A band of a stretch of a query and a subject.
struct Lane {
    /// Number of the group of matches.
    group: usize,
    /// Frames, by their numbers in the search.
    query: usize,
    subject: usize,
    /// The stretch of the query.
    stretch: Range<usize>,
    middle: i64,
}

/// Aligns one query after the other.
pub(super) struct Aligner<'s> {
    search: Searched<'s>,
    pairs: alignments::Aligner<'s>,
    kernels: Kernels,
    bands: Bands,
}

impl Align for Aligner<'_> {
    fn hits(&mut self, query: Query, matches: &[Match]) -> Vec<Hit> {
        let groups = self.neighbours(query, matches);
        let promising = self.promising(query, &groups);
        let kept = groups.into_iter().zip(promising);
        let kept = kept.filter_map(|(group, kept)| kept.then_some(group));
        let mut kept: Vec<Match> = kept.flatten().collect();
        let frames = self.subject_frames();
        let subject_of = |one: &Match| one.subject as usize / frames;
        kept.sort_by_key(|one| (subject_of(one), *one));
        let mut best = Best::new(self.search.scoring.protein.limits.top, Found::order);
        self.pairs.begin_query();
        for group in kept.chunk_by(|one, next| subject_of(one) == subject_of(next)) {
            if let Some(found) = self.align(query, subject_of(&group[0]), group) {
                best.push(found);
            }
        }
        let best = best.sorted().into_iter();
        best.map(|one| self.trace(query, one)).collect()
    }
}

impl<'s> Aligner<'s> {
    pub(super) fn new(search: Searched<'s>) -> Aligner<'s> {
        let kernels = Kernels::detect();
        Aligner {
            search,
            pairs: alignments::Aligner::new(search.subjects, &search.scoring.protein),
            kernels,
            bands: Bands::new(kernels),
        }
    }

    fn subject_frames(&self) -> usize {
        self.search.frames[1].numbers().len()
    }

    /// The numbers of frames, and how many residues they have.
    fn frames(&self, query: Query, one: &Match) -> ([i8; 2], [usize; 2]) {
        let [of_queries, of_subjects] = self.search.frames;
        let frames = of_subjects.numbers().len();
        let (number, frame) = (one.subject as usize / frames, one.subject as usize % frames);
        let subject = self.search.subjects.residues(number).len();
        let frames = [
            of_queries.numbers()[one.query as usize - query.first],
            of_subjects.numbers()[frame],
        ];
        let residues = query.frames.residues(one.query as usize).len();
        (frames, [residues, of_subjects.length(subject, frames[1])])
    }

    /// Residues of a subject, as frames of it are told: BLAST has the same for all six.
    fn told_length(&self, subject: usize) -> usize {
        self.search.subjects.residues(subject).len() / self.search.frames[1].step()
    }

    /// A view of a window of what is translated, and of all of the other.
    fn view<'v>(
        &self,
        query: &'v [u8],
        subject: usize,
        window: &Range<usize>,
        frames: [i8; 2],
    ) -> View<'v>
    where
        's: 'v,
    {
        let search = self.search;
        let [of_query, of_subject] = match search.frames[0] {
            Frames::Six(_) => [window.clone(), 0..self.subject_length(subject, frames)],
            _ => [0..query.len(), window.clone()],
        };
        let residues = search.subjects.residues(subject);
        View {
            subject: search.frames[1].read(residues, &of_subject, frames[1]),
            from: (of_query.start, of_subject.start),
            query: &query[of_query],
            lengths: (query.len(), self.told_length(subject)),
            frames,
        }
    }

    /// Residues of a frame of a subject.
    fn subject_length(&self, subject: usize, [_, frame]: [i8; 2]) -> usize {
        let letters = self.search.subjects.residues(subject).len();
        self.search.frames[1].length(letters, frame)
    }

    /// Matches in groups, in the order of matches: alignments of two groups are never taken
    /// together, for they are of other subjects or strands, or far from each other.
    fn neighbours(&self, query: Query, matches: &[Match]) -> Vec<Vec<Match>> {
        let gap = self.search.scoring.gap.unwrap_or_default();
        let frames = self.subject_frames();
        let translates = self.search.frames[0].step() > 1;
        let place = |one: &Match| {
            let (numbers, [residues, length]) = self.frames(query, one);
            let (in_query, in_subject) = (one.segment.in_query(), one.segment.in_subject());
            let reached = match translates {
                true => reached((&in_subject, length), (&in_query, residues)),
                false => reached((&in_query, residues), (&in_subject, length)),
            };
            let strand = numbers[usize::from(!translates)].signum();
            ((one.subject as usize / frames, strand), reached, *one)
        };
        let mut placed: Vec<_> = matches.iter().map(place).collect();
        placed.sort_by_key(|(strand, reached, one)| (*strand, reached.start, *one));
        let mut groups: Vec<Vec<Match>> = Vec::new();
        let mut before = None;
        for (strand, reached, one) in placed {
            match (before, groups.last_mut()) {
                (Some((same, end)), Some(group))
                    if same == strand && end + gap >= reached.start =>
                {
                    group.push(one);
                    before = Some((strand, reached.end.max(end)));
                }
                _ => {
                    groups.push(vec![one]);
                    before = Some((strand, reached.end));
                }
            }
        }
        groups.iter_mut().for_each(|group| group.sort());
        groups
    }

    /// Which groups of matches have good enough alignments in bands around their segments: one, or
    /// two that may be taken together.
    fn promising(&mut self, query: Query, groups: &[Vec<Match>]) -> Vec<bool> {
        let mut lanes: Vec<Lane> = Vec::new();
        for (group, matches) in groups.iter().enumerate() {
            for of_frames in matches.chunk_by(same_frames) {
                lanes.extend(self.lanes(query, group, of_frames));
            }
        }
        let stretch = |lane: &Lane| (lane.query, lane.stretch.start);
        lanes.sort_by_key(stretch);
        let mut scores = vec![[0; 2]; groups.len()];
        for of_stretch in lanes.chunk_by(|one, next| stretch(one) == stretch(next)) {
            for some in of_stretch.chunks(LANES) {
                for (lane, score) in some.iter().zip(self.band_scores(query, some)) {
                    let best = &mut scores[lane.group];
                    *best = match score > best[0] {
                        true => [score, best[0]],
                        false => [best[0], score.max(best[1])],
                    };
                }
            }
        }
        let scored = groups.iter().zip(scores);
        scored
            .map(|(matches, scores)| self.promises(query, &matches[0], scores))
            .collect()
    }

    /// The bands of matches of two frames.
    fn lanes(&self, all: Query, group: usize, matches: &[Match]) -> Vec<Lane> {
        let (query, subject) = (matches[0].query as usize, matches[0].subject as usize);
        let residues = all.frames.residues(query).len();
        let lane = |segment: UngappedSegment| Lane {
            group,
            query,
            subject,
            stretch: stretch(&segment, residues),
            middle: segment.diagonal(),
        };
        middles(matches).into_iter().map(lane).collect()
    }

    /// The scores of bands of one stretch of the query.
    fn band_scores(&mut self, query: Query, lanes: &[Lane]) -> Vec<u8> {
        let first = &lanes[0];
        let residues = &query.frames.residues(first.query)[first.stretch.clone()];
        let [_, of_subjects] = self.search.frames;
        let frames = self.subject_frames();
        let parts: Vec<(Cow<[u8]>, i64)> = lanes
            .iter()
            .map(|lane| {
                let whole = self.search.subjects.residues(lane.subject / frames);
                let frame = of_subjects.numbers()[lane.subject % frames];
                let length = of_subjects.length(whole.len(), frame);
                let middle = lane.middle - lane.stretch.start as i64;
                let around = COLUMNS as i64;
                let place = |at: i64| at.clamp(0, length as i64) as usize;
                let range = match of_subjects {
                    Frames::Six(_) => {
                        place(-middle - around)..place(residues.len() as i64 - middle + around)
                    }
                    _ => 0..length,
                };
                let part = of_subjects.read(whole, &range, frame);
                (part, middle + range.start as i64)
            })
            .collect();
        let parts: Vec<(&[u8], i64)> = parts
            .iter()
            .map(|(part, middle)| (&**part, *middle))
            .collect();
        self.bands.load(residues.len(), &parts);
        let scoring = &self.search.scoring.protein;
        let scores =
            (self.kernels).band_scores(scoring.rows(), scoring.costs(1), residues, &self.bands);
        scores[..lanes.len()].to_vec()
    }

    /// Whether the two best scores of a group are worth more.
    fn promises(&self, query: Query, one: &Match, scores: [u8; 2]) -> bool {
        let scoring = self.search.scoring;
        let (_, [residues, _]) = self.frames(query, one);
        let subject = one.subject as usize / self.subject_frames();
        let told = self.told_length(subject);
        if scores[0] == u8::MAX || scoring.protein.promises(scores[0].into(), residues, told) {
            return true;
        }
        let links = scoring.links(std::iter::once(residues), told);
        links.is_some_and(|links| {
            let scores = scores.map(|one| scoring.normalised(one.into()));
            let evalue = links.evalue(2, scores[0] + scores[1], 0);
            scores[1] > 0.0 && evalue <= scoring.protein.promising()
        })
    }

    /// The alignments with a subject, if one is good enough.
    fn align(&mut self, query: Query, subject: usize, matches: &[Match]) -> Option<Found> {
        let scoring = self.search.scoring;
        let limits = scoring.protein.limits;
        self.pairs.begin_subject();
        let mut first: Vec<Extended> = Vec::new();
        for of_frames in matches.chunk_by(same_frames) {
            first.extend(self.extend_segments(query, subject, of_frames));
        }
        first.sort_by(Extended::order_by_score);
        self.take_together(query, subject, &mut first, 1);
        first.retain(|one| one.evalue <= scoring.protein.promising());
        let mut settings = Vec::new();
        let mut again: Vec<(Extended, usize)> = Vec::new();
        let mut by_frames = first;
        by_frames.sort_by(|one, other| {
            one.frames
                .cmp(&other.frames)
                .then_with(|| one.order_by_score(other))
        });
        for of_frames in by_frames.chunk_by(|one, next| one.frames == next.frames) {
            self.extend_again(query, subject, of_frames, &mut settings, &mut again);
        }
        again.sort_by(|(one, _), (other, _)| one.order_by_score(other));
        let mut kept: Vec<Extended> = Vec::new();
        again.retain(|(one, _)| {
            let new = !kept.iter().any(|better| one.is_within(better));
            kept.extend(new.then_some(*one));
            new
        });
        self.take_together(query, subject, &mut kept, SCALE);
        for ((one, _), linked) in again.iter_mut().zip(kept) {
            one.evalue = linked.evalue;
        }
        again.retain(|(one, _)| one.evalue <= limits.evalue && self.covers(query, one));
        let score = again.first()?.0.score;
        again.sort_by(|(one, _), (other, _)| one.order(other));
        again.truncate(limits.max_hsps);
        Some(Found {
            subject,
            steps: self.pairs.take_steps(again.iter().map(|(one, _)| one)),
            extended: again,
            settings,
            score,
        })
    }

    fn covers(&self, query: Query, one: &Extended) -> bool {
        let scoring = &self.search.scoring.protein;
        scoring.covers(one.query().len(), query.residues().len())
    }

    /// Extends the segments of two frames with the scores of the matrix.
    fn extend_segments(
        &mut self,
        query: Query,
        subject: usize,
        matches: &[Match],
    ) -> Vec<Extended> {
        let (frames, [_, length]) = self.frames(query, &matches[0]);
        let residues = query.frames.residues(matches[0].query as usize);
        let search = self.search;
        let around = |segment: &UngappedSegment| match search.frames[1] {
            Frames::Six(_) => reached(
                (&segment.in_query(), residues.len()),
                (&segment.in_subject(), length),
            ),
            _ => 0..length,
        };
        let of_subject = search.subjects.residues(subject);
        let told = self.told_length(subject);
        let mut extended = self.pairs.extend_segments(matches, |segment| {
            let range = around(segment);
            View {
                query: residues,
                subject: search.frames[1].read(of_subject, &range, frames[1]),
                from: (0, range.start),
                lengths: (residues.len(), told),
                frames,
            }
        });
        let least = search.scoring.least();
        extended.retain(|one| one.score >= least);
        extended
    }

    /// Extends alignments of two frames again, the best first, in windows of what is translated.
    fn extend_again(
        &mut self,
        query: Query,
        subject: usize,
        extended: &[Extended],
        settings: &mut Vec<Setting>,
        again: &mut Vec<(Extended, usize)>,
    ) {
        let frames = extended[0].frames;
        let translates = self.search.frames[0].step() > 1;
        let number = self.search.frames[0].place_of(frames[0]);
        let residues = query.frames.residues(query.first + number);
        let translated = |one: &Extended| match translates {
            true => one.query(),
            false => one.subject(),
        };
        let ranges: Vec<Range<usize>> = extended.iter().map(translated).collect();
        let whole = match translates {
            true => residues.len(),
            false => self.subject_length(subject, frames),
        };
        for (window, members) in windows(&ranges, whole) {
            let view = self.view(residues, subject, &window, frames);
            let same = self.pairs.are_the_same(&view, &extended[members[0]]);
            self.pairs.hide_simple(&view.subject, same);
            let mut fitted = None;
            for (place, &member) in members.iter().enumerate() {
                let one = &extended[member];
                if place == 0 || !translates {
                    let range = translated(one);
                    let range = range.start - window.start..range.end - window.start;
                    let composed = composed(self.translated(&view), &range);
                    let adjusted = self.adjust(&view, &composed);
                    fitted = adjusted.map(|_| settings.len());
                    settings.extend(adjusted.map(|adjustment| Setting {
                        frames,
                        window: window.clone(),
                        composed,
                        same,
                        adjustment,
                    }));
                }
                if let Some(setting) = fitted {
                    self.take(one, &view, setting, again);
                }
            }
        }
    }

    /// Extends an alignment again, and takes it among others if it is new and good enough.
    fn take(
        &mut self,
        one: &Extended,
        view: &View,
        setting: usize,
        again: &mut Vec<(Extended, usize)>,
    ) {
        let least = self.search.scoring.least() * SCALE;
        let mut known: Vec<Extended> = again.iter().map(|(one, _)| *one).collect();
        self.pairs
            .extend_again(one, view, &mut known, |again| again.score >= least);
        again.retain(|(one, _)| known.contains(one));
        if known.len() > again.len() {
            again.extend(known.last().map(|&new| (new, setting)));
        }
    }

    /// What of a view is translated; the subject masked.
    fn translated<'v>(&'v self, view: &'v View) -> &'v [u8] {
        match self.search.frames[0] {
            Frames::Six(_) => view.query,
            _ => self.pairs.masked(),
        }
    }

    /// Fits scores to the composition of a view whose subject was masked. Of what is translated
    /// only a part counts.
    fn adjust(&mut self, view: &View, composed: &Range<usize>) -> Option<Adjustment> {
        let translated = self.translated(view);
        let of_part = Composition::of(&translated[composed.clone()]);
        let of_part = of_part.in_residues(translated.len());
        let (query, subject) = match self.search.frames[0] {
            Frames::Six(_) => (of_part, Composition::of(self.pairs.masked())),
            _ => (Composition::of(view.query), of_part),
        };
        self.pairs.adjust(&query, &subject)
    }

    /// Sets the E-values of alignments of a subject, the best score first, in units of which there
    /// are so many in one of the matrix.
    fn take_together(&self, query: Query, subject: usize, extended: &mut [Extended], scale: i32) {
        let scoring = self.search.scoring;
        let translates = self.search.frames[0].step() > 1;
        let piece = |one: &Extended| {
            let (query, subject) = (one.query(), one.subject());
            let (protein, translated) = match translates {
                true => (subject, query),
                false => (query, subject),
            };
            Piece {
                protein,
                translated,
                strand: one.frames[usize::from(!translates)].signum(),
                frame: self.search.frames[0].place_of(one.frames[0]),
                score: scoring.normalised(f64::from(one.score) / f64::from(scale)),
                evalue: scoring.alone(one.evalue),
            }
        };
        let mut pieces: Vec<Piece> = extended.iter().map(piece).collect();
        let frames = query.first..query.first + self.search.frames[0].numbers().len();
        let lengths = frames.map(|frame| query.frames.residues(frame).len());
        if let Some(links) = scoring.links(lengths, self.told_length(subject)) {
            links.link(&mut pieces);
        }
        for (one, piece) in extended.iter_mut().zip(pieces) {
            one.evalue = told(piece.evalue);
        }
    }

    /// The alignments with a subject, with their steps.
    fn trace(&mut self, query: Query, mut found: Found) -> Hit {
        if found.steps.iter().any(Option::is_none) {
            for setting in 0..found.settings.len() {
                self.find_steps(query, &mut found, setting);
            }
        }
        let hsps = found.extended.iter().zip(found.steps);
        let hsps = hsps.map(|((one, setting), steps)| {
            let steps = steps.expect("what was not kept was found");
            let adjustment = found.settings[*setting].adjustment;
            self.pairs.hsp(one, adjustment, steps)
        });
        Hit {
            subject: found.subject,
            rank_score: found.score,
            hsps: hsps.collect(),
        }
    }

    /// Finds the steps of the alignments of a setting that were not kept.
    fn find_steps(&mut self, query: Query, found: &mut Found, number: usize) {
        let is_wanted = |place: &usize| {
            let (_, setting) = found.extended[*place];
            setting == number && found.steps[*place].is_none()
        };
        let places: Vec<usize> = (0..found.steps.len()).filter(is_wanted).collect();
        if places.is_empty() {
            return;
        }
        let setting = &found.settings[number];
        let frame = self.search.frames[0].place_of(setting.frames[0]);
        let residues = query.frames.residues(query.first + frame);
        let view = self.view(residues, found.subject, &setting.window, setting.frames);
        self.pairs.hide_simple(&view.subject, setting.same);
        self.adjust(&view, &setting.composed);
        for place in places {
            let (one, _) = found.extended[place];
            let steps = self.pairs.steps(Pass::Adjusted, &view, one.start);
            found.steps[place] = Some(steps);
        }
    }
}

fn same_frames(one: &Match, next: &Match) -> bool {
    (one.query, one.subject) == (next.query, next.subject)
}

/// The stretch of a query of so many residues that a band around a segment looks at.
fn stretch(segment: &UngappedSegment, residues: usize) -> Range<usize> {
    if residues <= 2 * STRETCH {
        return 0..residues;
    }
    let middle = segment.query as usize + segment.length as usize / 2;
    let start = (middle / STRETCH * STRETCH).saturating_sub(STRETCH);
    start..residues.min(start + 3 * STRETCH)
}

/// Residues of what is translated that an extension of a segment may reach, with gaps half as long
/// as what is left of the protein; both are given by the segment's range and their length.
fn reached(
    (in_protein, protein): (&Range<usize>, usize),
    (in_translated, translated): (&Range<usize>, usize),
) -> Range<usize> {
    let with_gaps = |residues: usize| residues + residues / 2 + REACH;
    let start = in_translated
        .start
        .saturating_sub(with_gaps(in_protein.start));
    let end = in_translated.end + with_gaps(protein - in_protein.end);
    start..end.min(translated)
}
