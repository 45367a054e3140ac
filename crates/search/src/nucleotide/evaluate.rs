//! Alignments that are changed after their extension: cut, scored again, with fewer gaps.

use gyrase_align::gapped::{Step, runs};
use gyrase_align::nucleotide::BASES;

use super::aligned::Aligned;
use super::scoring::NucleotideScoring;

/// Bases that a step takes of query and subject.
fn taken(step: Step) -> (usize, usize) {
    (
        usize::from(step != Step::Subject),
        usize::from(step != Step::Query),
    )
}

/// How many steps reach two positions, with the gap that does, and what they take; none where they
/// do not.
fn reach(steps: &[Step], bases: (usize, usize)) -> Option<(usize, (usize, usize))> {
    let mut sum = (0, 0);
    for (number, &step) in steps.iter().enumerate() {
        let (query, subject) = taken(step);
        sum = (sum.0 + query, sum.1 + subject);
        let goes_on = step != Step::Both && steps.get(number + 1) == Some(&step);
        if sum.0 >= bases.0 && sum.1 >= bases.1 && !goes_on {
            return Some((number + 1, sum));
        }
    }
    None
}

/// What an alignment has behind two positions; none where it does not reach them
/// (NCBI's `s_CutOffGapEditScript`).
pub(super) fn cut_front(mut aligned: Aligned, at: (usize, usize)) -> Option<Aligned> {
    let bases = (
        at.0 - aligned.query.start,
        at.1.saturating_sub(aligned.subject.start),
    );
    let (steps, sum) = reach(&aligned.steps, bases)?;
    aligned.steps.drain(..steps);
    aligned.query.start += sum.0;
    aligned.subject.start += sum.1;
    Some(aligned)
}

/// What an alignment has before two positions.
pub(super) fn cut_back(mut aligned: Aligned, at: (usize, usize)) -> Option<Aligned> {
    let bases = (
        at.0 - aligned.query.start,
        at.1.saturating_sub(aligned.subject.start),
    );
    let (steps, sum) = reach(&aligned.steps, bases)?;
    aligned.steps.truncate(steps);
    aligned.query.end = aligned.query.start + sum.0;
    aligned.subject.end = aligned.subject.start + sum.1;
    Some(aligned)
}

/// Where the best part of an alignment is.
#[derive(Clone, Copy, Default)]
struct Place {
    step: usize,
    query: usize,
    subject: usize,
}

impl Place {
    /// Goes so many steps of a kind on.
    fn go(&mut self, step: Step, length: usize) {
        let (of_query, of_subject) = taken(step);
        self.step += length;
        self.query += of_query * length;
        self.subject += of_subject * length;
    }
}

/// The best part of an alignment, longer by the bases beside it that are equal; none where it
/// scores too little (NCBI's `Blast_HSPReevaluateWithAmbiguitiesGapped`).
pub(super) fn evaluate_again(
    query: &[u8],
    subject: &[u8],
    aligned: Aligned,
    scoring: &NucleotideScoring,
    cutoff: i32,
) -> Option<Aligned> {
    let reward = scoring.setting.reward;
    let (score, (first, last)) = best_part(query, subject, &aligned, scoring, cutoff);
    let mut steps = aligned.steps[first.step..last.step].to_vec();
    let before = equal(
        query[..first.query].iter().rev(),
        subject[..first.subject].iter().rev(),
    );
    let behind = equal(query[last.query..].iter(), subject[last.subject..].iter());
    steps.splice(0..0, std::iter::repeat_n(Step::Both, before));
    steps.extend(std::iter::repeat_n(Step::Both, behind));
    let score = score + (before + behind) as i32 * reward;
    (score >= cutoff && !steps.is_empty()).then_some(Aligned {
        query: first.query - before..last.query + behind,
        subject: first.subject - before..last.subject + behind,
        score,
        start: (first.query, first.subject),
        steps,
    })
}

/// The score of the best part of an alignment, and where it begins and ends.
fn best_part(
    query: &[u8],
    subject: &[u8],
    aligned: &Aligned,
    scoring: &NucleotideScoring,
    cutoff: i32,
) -> (i32, (Place, Place)) {
    let setting = &scoring.setting;
    let greedy = setting.is_greedy();
    let factor = if greedy { 2 } else { 1 };
    let (open, extend) = match greedy {
        true => (0, setting.reward - 2 * setting.penalty),
        false => (setting.costs.open, setting.costs.extend),
    };
    let mut now = Place {
        step: 0,
        query: aligned.query.start,
        subject: aligned.subject.start,
    };
    let (mut from, mut best, mut sum, mut score) = (now, (now, now), 0, 0);
    let least = cutoff * factor;
    let mut after = |now: Place, gain: i32| {
        sum += gain;
        if sum < 0 {
            (sum, from) = (0, now);
            if score < least {
                (score, best) = (0, (now, now));
            }
        } else if sum > score {
            (score, best) = (sum, (from, now));
        }
    };
    for (step, length) in runs(&aligned.steps) {
        if step != Step::Both {
            now.go(step, length);
            after(now, -(open + extend * length as i32));
            continue;
        }
        let own = &query[now.query..][..length];
        for (&one, &other) in std::iter::zip(own, &subject[now.subject..]) {
            now.go(step, 1);
            after(
                now,
                factor * scoring.scores()[usize::from(one)][usize::from(other)],
            );
        }
    }
    (score / factor, best)
}

fn equal<'b>(query: impl Iterator<Item = &'b u8>, subject: impl Iterator<Item = &'b u8>) -> usize {
    let same = |(one, other): &(&u8, &u8)| one == other && usize::from(**one) < BASES;
    std::iter::zip(query, subject).take_while(same).count()
}

/// Steps of one kind.
#[derive(Clone, Copy)]
struct Run {
    step: Step,
    length: usize,
}

/// Joins what two opposite gaps have between them where few bases are lost by it: greedy
/// alignments have such gaps (NCBI's `blast_gapalign.c`: `s_ReduceGaps`).
pub(super) fn reduce_gaps(query: &[u8], subject: &[u8], aligned: &mut Aligned) {
    let runs = runs(&aligned.steps).map(|(step, length)| Run { step, length });
    let mut runs: Vec<Run> = runs.collect();
    let (mut q, mut s) = (aligned.query.start, aligned.subject.start);
    for number in 0..runs.len() {
        let Run { step, length } = runs[number];
        if step == Step::Both {
            (q, s) = (q + length, s + length);
            continue;
        }
        if number > 1 && runs[number - 2].step != step && runs[number - 2].length > 0 {
            (q, s) = join_gaps(query, subject, &mut runs, number, (q, s));
        }
        let length = runs[number].length;
        match step {
            Step::Query => q += length,
            _ => s += length,
        }
    }
    aligned.steps.clear();
    for Run { step, length } in runs {
        aligned.steps.extend(std::iter::repeat_n(step, length));
    }
}

/// Joins a gap and the one before, if they are opposite and close; where both sequences are before
/// what is left of the gap.
fn join_gaps(
    query: &[u8],
    subject: &[u8],
    runs: &mut [Run],
    number: usize,
    (mut q, mut s): (usize, usize),
) -> (usize, usize) {
    let [before, between, gap] = [2, 1, 0].map(|back| runs[number - back].length);
    let in_query = runs[number].step == Step::Query;
    let all = before + between + gap;
    if runs[number - 1].step != Step::Both {
        return (q, s);
    }
    if all == 3 {
        (
            runs[number - 2].length,
            runs[number - 1].length,
            runs[number].length,
        ) = (0, 2, 0);
        return if in_query { (q + 1, s) } else { (q, s + 1) };
    }
    if all >= 12 {
        return (q, s);
    }
    let less = gap.min(before);
    let (from_query, from_subject) = (q - between, s - between);
    let matches = |q: usize, s: usize, length: usize| {
        let pairs = std::iter::zip(&query[q..], &subject[s..]).take(length);
        pairs.filter(|(one, other)| one == other).count()
    };
    let apart = matches(from_query, from_subject, between);
    let (joined_query, joined_subject) = match in_query {
        true => (from_query, from_subject - less),
        false => (from_query - less, from_subject),
    };
    let joined = matches(joined_query, joined_subject, between + less);
    if joined + less >= apart {
        runs[number - 2].length -= less;
        runs[number - 1].length += less;
        runs[number].length -= less;
        (q, s) = (
            joined_query + between + less,
            joined_subject + between + less,
        );
    }
    (q, s)
}
