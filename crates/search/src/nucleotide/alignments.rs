//! From segments to gapped alignments of queries and subjects, by BLAST's rules for which of them
//! count: each begins when it is known that no better one of its locus has it in itself, so that
//! those of many loci are extended side by side.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;

use gyrase_align::arch::Kernels;
use gyrase_align::gapped::{Extension, ExtensionLimits, Prefixes, Scores};
use gyrase_align::greedy::{Direction, Greedy, GreedyLimits};
use gyrase_align::inter_sequence::{Extended, Extensions, MOST_ROWS, Pair, Pairs};
use gyrase_align::ungapped::UngappedSegment;

use super::aligned::Aligned;
use super::evaluate::{cut_back, cut_front, evaluate_again, reduce_gaps};
use super::options::Setting;
use super::scoring::{NucleotideScoring, Pass};

/// Diagonals between an alignment and one inside of it that is told apart (BLAST's
/// `min_diag_separation`).
const APART: u64 = 50;
const APART_OF_GREEDY: u64 = 6;
/// A run of so many equal bases is long enough to begin in its middle (NCBI's
/// `BlastGetStartForGappedAlignmentNucl`).
const LONG_RUN: usize = 20;
/// Loci that are not worth it to extend side by side.
const FEW: usize = 8;
/// Bases of a query whose extensions others would wait for.
const LONG: usize = 2048;

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

/// A place in a subject where a frame of a query has segments.
pub(super) struct Locus<'s> {
    /// The frame.
    pub query: &'s [u8],
    /// What of the subject alignments may reach.
    pub subject: Cow<'s, [u8]>,
    pub segments: &'s [UngappedSegment],
    /// What an alignment scores at least.
    pub cutoff: i32,
}

/// Aligns at loci.
pub(super) struct LocusAligner<'s> {
    scoring: &'s NucleotideScoring,
    extension: Extension,
    extensions: Extensions,
    greedy: Greedy,
}

impl<'s> LocusAligner<'s> {
    pub(super) fn new(scoring: &'s NucleotideScoring) -> LocusAligner<'s> {
        let Setting {
            reward, penalty, ..
        } = scoring.setting;
        let kernels = Kernels::detect();
        LocusAligner {
            scoring,
            extension: Extension::new(kernels),
            extensions: Extensions::new(kernels, reward, penalty),
            greedy: Greedy::default(),
        }
    }

    /// The alignments of each locus that score enough, the best first.
    pub(super) fn align(&mut self, loci: &[Locus]) -> Vec<Vec<Aligned>> {
        let of_segments = |locus: &Locus| {
            let mut all: Vec<Aligned> = locus.segments.iter().map(Aligned::of).collect();
            all.sort_by_key(Aligned::rank);
            all
        };
        let all = loci.iter().map(of_segments).collect();
        let first = self.pass(Pass::First, loci, all).into_iter().map(|all| {
            let mut all = without_common_ends(all);
            all.sort_by_key(Aligned::rank);
            all
        });
        let first = first.collect();
        let last = self.pass(Pass::Last, loci, first);
        let apart = |(locus, all): (&Locus, Vec<Aligned>)| {
            let mut all = self.purge(locus, all);
            all.sort_by_key(Aligned::rank);
            let mut kept = Kept::new(self.is_greedy());
            for aligned in all {
                if !kept.contain(&aligned) {
                    kept.push(aligned);
                }
            }
            kept.all
        };
        loci.iter().zip(last).map(apart).collect()
    }

    fn is_greedy(&self) -> bool {
        self.scoring.setting.is_greedy()
    }

    /// Extends the alignments of each locus that are in no better one, the best first.
    fn pass(&mut self, pass: Pass, loci: &[Locus], all: Vec<Vec<Aligned>>) -> Vec<Vec<Aligned>> {
        let greedy = self.is_greedy();
        let waiting = |(locus, all): (_, Vec<Aligned>)| Waiting {
            pass,
            greedy,
            locus,
            rest: all.into_iter(),
            kept: Kept::new(greedy),
            start: (0, 0),
            sides: [None, None],
        };
        let mut all: Vec<Waiting> = loci.iter().zip(all).map(waiting).collect();
        if greedy {
            for one in &mut all {
                while one.begin().is_some() {
                    let aligned = self.extend_greedily(pass, one.locus, one.start);
                    one.take(aligned);
                }
            }
        } else {
            let limits = self.scoring.extension(pass);
            let mut ready: Vec<usize> = (0..all.len()).collect();
            // Those end together that are about as long.
            ready.sort_by_key(|&locus| all[locus].length());
            let mut extending = Extending {
                pass,
                extension: &mut self.extension,
                scores: self.scoring.scores(),
                limits,
                ready,
                behind: None,
                all: &mut all,
            };
            match pass {
                _ if loci.len() < FEW || !self.extensions.have_room(limits) => extending.alone(),
                Pass::First => self.extensions.run::<false>(limits, &mut extending),
                Pass::Last => self.extensions.run::<true>(limits, &mut extending),
            }
        }
        all.into_iter().map(|one| one.kept.all).collect()
    }

    fn extend_greedily(&mut self, pass: Pass, locus: &Locus, start: (usize, usize)) -> Aligned {
        match pass {
            Pass::First => self.first_greedily(locus.query, &locus.subject, start),
            Pass::Last => self.last_greedily(locus.query, &locus.subject, start),
        }
    }

    /// The first extension of a segment from its start on, which moves to a long run.
    fn first_greedily(&mut self, query: &[u8], subject: &[u8], start: (usize, usize)) -> Aligned {
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
    fn purge(&self, locus: &Locus, all: Vec<Aligned>) -> Vec<Aligned> {
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
        let again = |part| {
            let Locus { query, cutoff, .. } = *locus;
            evaluate_again(query, &locus.subject, part, self.scoring, cutoff)
        };
        whole.extend(parts.into_iter().filter_map(again));
        whole
    }
}

/// The alignments of a locus that wait for those before them.
struct Waiting<'s> {
    pass: Pass,
    greedy: bool,
    locus: &'s Locus<'s>,
    rest: std::vec::IntoIter<Aligned>,
    kept: Kept,
    /// Where the one that is extended begins, and what was found on its sides.
    start: (usize, usize),
    sides: [Option<Extended>; 2],
}

impl<'s> Waiting<'s> {
    /// Bases of the query that the longest has, or may have where that is not known yet.
    fn length(&self) -> usize {
        let rest = self.rest.as_slice().iter();
        match self.pass {
            Pass::First => self.locus.query.len(),
            Pass::Last => rest.map(|one| one.query.len()).max().unwrap_or_default(),
        }
    }

    /// The next that is in no better one.
    fn begin(&mut self) -> Option<Aligned> {
        let next = self.rest.find(|next| !self.kept.contain(next))?;
        self.start = match self.pass {
            Pass::First if self.greedy => {
                let middle = next.query.len() / 2;
                (next.query.start + middle, next.subject.start + middle)
            }
            _ => run_start(self.locus.query, &self.locus.subject, &next),
        };
        Some(next)
    }

    /// Takes what became of it.
    fn take(&mut self, aligned: Aligned) {
        if self.pass == Pass::Last || aligned.score >= self.locus.cutoff {
            self.kept.push(aligned);
        }
    }

    /// What is before its start, and behind.
    fn pairs(&self) -> [Pair<'s>; 2] {
        let (q, s) = (
            self.locus.query.split_at(self.start.0),
            self.locus.subject.split_at(self.start.1),
        );
        [(q.0, s.0, true), (q.1, s.1, false)].map(|(query, subject, backward)| Pair {
            query,
            subject,
            backward,
        })
    }

    /// Takes what was found on a side; true once both are known.
    fn take_side(&mut self, side: usize, found: Extended) -> bool {
        self.sides[side] = Some(found);
        let [Some(before), Some(behind)] = &mut self.sides else {
            return false;
        };
        let (start, mut steps) = (self.start, std::mem::take(&mut before.1));
        steps.extend(behind.1.drain(..).rev());
        let (before, behind) = (before.0, behind.0);
        self.sides = [None, None];
        self.take(Aligned {
            query: start.0 - before.query..start.0 + behind.query,
            subject: start.1 - before.subject..start.1 + behind.subject,
            score: before.score + behind.score,
            start,
            steps,
        });
        true
    }
}

/// Gives the sides of alignments of many loci, and takes what was found.
struct Extending<'e, 's> {
    pass: Pass,
    extension: &'e mut Extension,
    scores: &'e Scores,
    limits: ExtensionLimits,
    all: &'e mut [Waiting<'s>],
    /// The loci whose next alignment may begin.
    ready: Vec<usize>,
    /// The locus of which the side behind the start is next.
    behind: Option<usize>,
}

impl Extending<'_, '_> {
    /// Extends one after the other.
    fn alone(&mut self) {
        while let Some(locus) = self.ready.pop() {
            while self.all[locus].begin().is_some() {
                self.both_alone(locus);
            }
        }
    }

    fn both_alone(&mut self, locus: usize) {
        for (side, pair) in self.all[locus].pairs().into_iter().enumerate() {
            let found = self.one_alone(&pair);
            self.all[locus].take_side(side, found);
        }
    }

    fn one_alone(&mut self, pair: &Pair) -> Extended {
        let (scores, limits) = (self.scores, self.limits);
        let extension = &mut *self.extension;
        match self.pass {
            Pass::First => extension.pair::<false>(scores, limits, pair),
            Pass::Last => extension.pair::<true>(scores, limits, pair),
        }
    }
}

impl<'s> Pairs<'s> for Extending<'_, 's> {
    fn next(&mut self, rows: usize) -> Option<(usize, Pair<'s>)> {
        if let Some(locus) = self.behind.take() {
            return Some((2 * locus + 1, self.all[locus].pairs()[1]));
        }
        let most = match self.pass {
            Pass::First => LONG,
            Pass::Last => MOST_ROWS,
        };
        while let Some(&locus) = self.ready.last() {
            let length = self.all[locus].length();
            if length > rows && length <= most {
                return None;
            }
            self.ready.pop();
            while let Some(aligned) = self.all[locus].begin() {
                let length = match self.pass {
                    Pass::First => length,
                    Pass::Last => aligned.query.len(),
                };
                if length > most {
                    // Others would wait for it.
                    self.both_alone(locus);
                    continue;
                }
                self.behind = Some(locus);
                return Some((2 * locus, self.all[locus].pairs()[0]));
            }
        }
        None
    }

    fn done(&mut self, number: usize, extended: Option<Extended>) {
        let (locus, side) = (number / 2, number % 2);
        let found = match extended {
            Some(found) => found,
            None => self.one_alone(&self.all[locus].pairs()[side]),
        };
        if self.all[locus].take_side(side, found) {
            self.ready.push(locus);
        }
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
