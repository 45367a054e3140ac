//! From segments to gapped alignments of a query and a subject, by BLAST's rules for which of them
//! count.

use std::cmp::Reverse;
use std::collections::HashMap;

use gyrase_align::arch::Kernels;
use gyrase_align::gapped::{Extension, Prefixes};
use gyrase_align::greedy::{Direction, Greedy, GreedyLimits};
use gyrase_align::ungapped::UngappedSegment;

use super::aligned::Aligned;
use super::evaluate::{cut_back, cut_front, evaluate_again, reduce_gaps};
use super::scoring::{NucleotideScoring, Pass};

/// Diagonals between an alignment and one inside of it that is told apart (BLAST's
/// `min_diag_separation`).
const APART: u64 = 50;
const APART_OF_GREEDY: u64 = 6;
/// A run of so many equal bases is long enough to begin in its middle (NCBI's
/// `BlastGetStartForGappedAlignmentNucl`).
const LONG_RUN: usize = 20;

/// Alignments in which others may be, by the diagonals of their ends.
struct Kept {
    apart: u64,
    /// By kind of end and by many diagonals.
    by_diagonal: HashMap<(usize, i64), Vec<usize>>,
    all: Vec<Aligned>,
}

impl Kept {
    fn new(greedy: bool) -> Kept {
        Kept {
            apart: if greedy { APART_OF_GREEDY } else { APART },
            by_diagonal: HashMap::new(),
            all: Vec::new(),
        }
    }

    fn push(&mut self, aligned: Aligned) {
        for (end, diagonal) in aligned.diagonals().into_iter().enumerate() {
            let key = (end, diagonal.div_euclid(APART as i64));
            self.by_diagonal
                .entry(key)
                .or_default()
                .push(self.all.len());
        }
        self.all.push(aligned);
    }

    /// Whether an alignment is inside of one that scores as much and has an end on a diagonal close
    /// to its own (NCBI's `blast_itree.c`: `s_HSPIsContained`).
    fn contain(&self, aligned: &Aligned) -> bool {
        let diagonals = aligned.diagonals().into_iter().enumerate();
        let mut near = diagonals.flat_map(|(end, diagonal)| {
            let bucket = diagonal.div_euclid(APART as i64);
            let buckets = (bucket - 1..=bucket + 1)
                .filter_map(move |bucket| self.by_diagonal.get(&(end, bucket)));
            buckets
                .flatten()
                .map(move |&number| (end, diagonal, &self.all[number]))
        });
        near.any(|(end, diagonal, other)| {
            aligned.score <= other.score
                && other.diagonals()[end].abs_diff(diagonal) < self.apart
                && aligned.ends().iter().all(|(query, subject)| {
                    (other.query.start..=other.query.end).contains(query)
                        && (other.subject.start..=other.subject.end).contains(subject)
                })
        })
    }
}

/// Aligns a frame of a query and a subject.
pub(super) struct PairAligner<'s> {
    scoring: &'s NucleotideScoring,
    extension: Extension,
    greedy: Greedy,
}

impl<'s> PairAligner<'s> {
    pub(super) fn new(scoring: &'s NucleotideScoring) -> PairAligner<'s> {
        PairAligner {
            scoring,
            extension: Extension::new(Kernels::detect()),
            greedy: Greedy::default(),
        }
    }

    /// The alignments that score enough, the best first.
    pub(super) fn align(
        &mut self,
        query: &[u8],
        subject: &[u8],
        segments: impl Iterator<Item = UngappedSegment>,
        cutoff: i32,
    ) -> Vec<Aligned> {
        let first = self.first(query, subject, segments, cutoff);
        let mut kept = Kept::new(self.is_greedy());
        for aligned in first {
            if !kept.contain(&aligned) {
                kept.push(self.last(query, subject, &aligned));
            }
        }
        let mut all = self.purge(query, subject, kept.all, cutoff);
        all.sort_by_key(Aligned::rank);
        let mut kept = Kept::new(self.is_greedy());
        for aligned in all {
            if !kept.contain(&aligned) {
                kept.push(aligned);
            }
        }
        kept.all
    }

    fn is_greedy(&self) -> bool {
        self.scoring.setting.is_greedy()
    }

    /// Extends segments that are in no better alignment, the best first.
    fn first(
        &mut self,
        query: &[u8],
        subject: &[u8],
        segments: impl Iterator<Item = UngappedSegment>,
        cutoff: i32,
    ) -> Vec<Aligned> {
        let mut segments: Vec<Aligned> = segments.map(|segment| Aligned::of(&segment)).collect();
        segments.sort_by_key(Aligned::rank);
        let mut kept = Kept::new(self.is_greedy());
        for mut segment in segments {
            if kept.contain(&segment) {
                continue;
            }
            let aligned = if self.is_greedy() {
                let middle = segment.query.len() / 2;
                segment.start = (segment.query.start + middle, segment.subject.start + middle);
                self.extend_greedily(query, subject, segment.start)
            } else {
                segment.start = run_start(query, subject, &segment);
                self.extend(query, subject, segment.start)
            };
            if aligned.score >= cutoff {
                kept.push(aligned);
            }
        }
        let mut all = without_common_ends(kept.all);
        all.sort_by_key(Aligned::rank);
        all
    }

    fn extend(&mut self, query: &[u8], subject: &[u8], start: (usize, usize)) -> Aligned {
        let limits = self.scoring.extension(Pass::First);
        let scores = self.scoring.scores();
        let (q, s) = (query.split_at(start.0), subject.split_at(start.1));
        let extension = &mut self.extension;
        let left = extension.extend(scores, limits, q.0.iter().rev(), s.0.iter().rev());
        let right = extension.extend(scores, limits, q.1.iter(), s.1.iter());
        Aligned {
            query: start.0 - left.query..start.0 + right.query,
            subject: start.1 - left.subject..start.1 + right.subject,
            score: left.score + right.score,
            start,
            steps: Vec::new(),
        }
    }

    /// The last extension of an alignment, with its steps.
    fn last(&mut self, query: &[u8], subject: &[u8], aligned: &Aligned) -> Aligned {
        let start = run_start(query, subject, aligned);
        if self.is_greedy() {
            return self.last_greedily(query, subject, start);
        }
        let limits = self.scoring.extension(Pass::Last);
        let scores = self.scoring.scores();
        let (q, s) = (query.split_at(start.0), subject.split_at(start.1));
        let (mut steps, mut back) = (Vec::new(), Vec::new());
        let extension = &mut self.extension;
        let (before, of_subject) = (q.0.iter().rev(), s.0.iter().rev());
        let left = extension.trace(scores, limits, before, of_subject, &mut steps);
        let right = extension.trace(scores, limits, q.1.iter(), s.1.iter(), &mut back);
        steps.extend(back.into_iter().rev());
        Aligned {
            query: start.0 - left.query..start.0 + right.query,
            subject: start.1 - left.subject..start.1 + right.subject,
            score: left.score + right.score,
            start,
            steps,
        }
    }

    /// The first extension of a segment from its start on, which moves to a long run.
    fn extend_greedily(&mut self, query: &[u8], subject: &[u8], start: (usize, usize)) -> Aligned {
        let limits = self.scoring.greedy(Pass::First);
        let (before, behind) = around(query, subject, start);
        let right = self.greedy.extend(limits, behind[0], behind[1]);
        let left = self.greedy.extend(limits, before[0], before[1]);
        let mut aligned = of_prefixes(limits, start, [left.ends, right.ends]);
        aligned.start = start_of_runs(
            &aligned,
            left.run,
            left.run_length,
            right.run,
            right.run_length,
        );
        aligned
    }

    /// The last extension from a start on, with its steps.
    fn last_greedily(&mut self, query: &[u8], subject: &[u8], start: (usize, usize)) -> Aligned {
        let limits = self.scoring.greedy(Pass::Last);
        let (before, behind) = around(query, subject, start);
        let (mut steps, mut back) = (Vec::new(), Vec::new());
        let right = self.greedy.trace(limits, behind[0], behind[1], &mut back);
        let left = self.greedy.trace(limits, before[0], before[1], &mut steps);
        steps.extend(back.into_iter().rev());
        let mut aligned = Aligned {
            steps,
            ..of_prefixes(limits, start, [left, right])
        };
        reduce_gaps(query, subject, &mut aligned);
        aligned
    }

    /// Leaves one of those that begin or end together, and of the others what is beyond it
    /// (NCBI's `Blast_HSPListPurgeHSPsWithCommonEndpoints` and
    /// `Blast_HSPReevaluateWithAmbiguitiesGapped`).
    fn purge(&self, query: &[u8], subject: &[u8], all: Vec<Aligned>, cutoff: i32) -> Vec<Aligned> {
        let (mut kept, mut parts) = (Vec::new(), Vec::new());
        for aligned in by_start(all) {
            match kept.last() {
                Some(before) if begin_together(before, &aligned) => {
                    if aligned.query.end > before.query.end {
                        parts.extend(cut_front(aligned, before.ends()[1]));
                    }
                }
                _ => kept.push(aligned),
            }
        }
        let mut whole: Vec<Aligned> = Vec::new();
        for aligned in by_end(kept) {
            match whole.last() {
                Some(before) if end_together(before, &aligned) => {
                    if aligned.query.start < before.query.start {
                        parts.extend(cut_back(aligned, before.ends()[0]));
                    }
                }
                _ => whole.push(aligned),
            }
        }
        if self.is_greedy() {
            parts.append(&mut whole);
        }
        let again = parts.into_iter();
        whole.extend(
            again.filter_map(|part| evaluate_again(query, subject, part, self.scoring, cutoff)),
        );
        whole
    }
}

/// Both sequences before a place in both, from there backward, and behind it.
fn around<'b>(
    query: &'b [u8],
    subject: &'b [u8],
    (in_query, in_subject): (usize, usize),
) -> ([Direction<'b>; 2], [Direction<'b>; 2]) {
    let both = [query.split_at(in_query), subject.split_at(in_subject)];
    let before = both.map(|(before, _)| Direction::Backward(before));
    (before, both.map(|(_, behind)| Direction::Forward(behind)))
}

/// What greedy extensions before and behind a start make together, without its steps.
fn of_prefixes(
    limits: GreedyLimits,
    start: (usize, usize),
    [before, behind]: [Prefixes; 2],
) -> Aligned {
    let bases = before.query + before.subject + behind.query + behind.subject;
    let differences = before.score + behind.score;
    let reward = limits.reward;
    Aligned {
        query: start.0 - before.query..start.0 + behind.query,
        subject: start.1 - before.subject..start.1 + behind.subject,
        score: bases as i32 * reward / 2 - differences * (reward - limits.penalty),
        start,
        steps: Vec::new(),
    }
}

fn begin_together(one: &Aligned, other: &Aligned) -> bool {
    one.ends()[0] == other.ends()[0]
}

fn end_together(one: &Aligned, other: &Aligned) -> bool {
    one.ends()[1] == other.ends()[1]
}

/// By their begins; the best of each first, of equal ones the shortest.
fn by_start(mut all: Vec<Aligned>) -> Vec<Aligned> {
    all.sort_by_key(|one| (one.ends()[0], Reverse(one.score), one.ends()[1]));
    all
}

fn by_end(mut all: Vec<Aligned>) -> Vec<Aligned> {
    all.sort_by_key(|one| (one.ends()[1], Reverse(one.score), Reverse(one.ends()[0])));
    all
}

/// Leaves the best of those that begin or end together.
fn without_common_ends(all: Vec<Aligned>) -> Vec<Aligned> {
    let mut all = by_start(all);
    all.dedup_by(|next, kept| begin_together(kept, next));
    let mut all = by_end(all);
    all.dedup_by(|next, kept| end_together(kept, next));
    all
}

/// The middle of the first long run of equal bases on the diagonal of an alignment's start, or of
/// the longest there (NCBI's `BlastGetStartForGappedAlignmentNucl`).
fn run_start(query: &[u8], subject: &[u8], aligned: &Aligned) -> (usize, usize) {
    let Aligned { start, .. } = *aligned;
    let before = (start.0 - aligned.query.start).min(start.1 - aligned.subject.start);
    let (from_query, from_subject) = (start.0 - before, start.1 - before);
    let pairs = std::iter::zip(
        &query[from_query..aligned.query.end],
        &subject[from_subject..aligned.subject.end],
    );
    let (mut run, mut longest, mut middle) = (0, 0, before);
    let mut length = 0;
    for (number, (one, other)) in pairs.enumerate() {
        length = number + 1;
        if one == other {
            run += 1;
            if run > LONG_RUN {
                let middle = number - LONG_RUN / 2;
                return (from_query + middle, from_subject + middle);
            }
            continue;
        }
        if run > longest {
            (longest, middle) = (run, number - run / 2);
        }
        run = 0;
    }
    if run > longest {
        middle = length - run / 2;
    }
    (from_query + middle, from_subject + middle)
}

/// The middle of the longer of two runs, one before and one behind the start of an alignment
/// (NCBI's `BLAST_GreedyGappedAlignment`).
fn start_of_runs(
    aligned: &Aligned,
    left: (usize, usize),
    left_length: usize,
    right: (usize, usize),
    right_length: usize,
) -> (usize, usize) {
    let start = aligned.start;
    let behind = (start.0 + right.0, start.1 + right.1);
    let before = (
        start.0.saturating_sub(left.0),
        start.1.saturating_sub(left.1),
    );
    let room = |one: usize, other: usize| one.saturating_sub(other);
    let of_right = room(aligned.query.end, behind.0)
        .min(room(aligned.subject.end, behind.1))
        .min(right_length)
        / 2;
    let of_left = room(before.0, aligned.query.start)
        .min(room(before.1, aligned.subject.start))
        .min(left_length)
        / 2;
    if of_right > of_left {
        (behind.0 + of_right, behind.1 + of_right)
    } else if of_left > 0 {
        (before.0 - of_left, before.1 - of_left)
    } else {
        start
    }
}
