//! Ungapped extension of a match.

use std::ops::Range;

use crate::arch::Rows;
use crate::residue::CODES;

/// An ungapped alignment: the same number of residues of both sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UngappedSegment {
    /// The first residue of the query.
    pub query: u32,
    /// The first residue of the subject.
    pub subject: u32,
    /// Residues.
    pub length: u32,
    /// The sum of their scores.
    pub score: i32,
}

impl UngappedSegment {
    /// Its residues of the query.
    pub fn in_query(&self) -> Range<usize> {
        self.query as usize..(self.query + self.length) as usize
    }

    /// Its residues of the subject.
    pub fn in_subject(&self) -> Range<usize> {
        self.subject as usize..(self.subject + self.length) as usize
    }

    /// How far the query is ahead of the subject.
    pub fn diagonal(&self) -> i64 {
        i64::from(self.query) - i64::from(self.subject)
    }
}

/// The best ungapped alignment through the residues `query[at.0]` and `subject[at.1]`, extended to
/// both sides until the score falls `x_drop`, at least 1, below the best so far.
///
/// # Panics
/// When `at` is not in the sequences.
pub fn extend(
    rows: &Rows,
    query: &[u8],
    subject: &[u8],
    at: (usize, usize),
    x_drop: i32,
) -> UngappedSegment {
    let score =
        |(&q, &s): (&u8, &u8)| i32::from(rows[usize::from(q) % CODES][usize::from(s) % CODES]);
    let right = std::iter::zip(&query[at.0..], &subject[at.1..]);
    let (right, right_score) = best_prefix(right.map(score), x_drop);
    let left = std::iter::zip(query[..at.0].iter().rev(), subject[..at.1].iter().rev());
    let (left, left_score) = best_prefix(left.map(score), x_drop);
    UngappedSegment {
        query: (at.0 - left) as u32,
        subject: (at.1 - left) as u32,
        length: (left + right) as u32,
        score: left_score + right_score,
    }
}

/// Whether [`extend`] makes the same segment of every pair of residues in it: the sums of scores
/// are least at its begin, largest at its end, and nowhere `x_drop` below one before. `query` and
/// `subject` are its residues.
pub fn is_closed(rows: &Rows, query: &[u8], subject: &[u8], score: i32, x_drop: i32) -> bool {
    let (mut sum, mut highest, last) = (0, 0, query.len() - 1);
    let mut pairs = std::iter::zip(query, subject).enumerate();
    pairs.all(|(at, (&q, &s))| {
        sum += i32::from(rows[usize::from(q) % CODES][usize::from(s) % CODES]);
        highest = highest.max(sum);
        sum > 0 && (sum < score || at == last) && highest - sum < x_drop
    })
}

/// All ungapped segments of two sequences that score `least` or more: on each diagonal from where
/// the score rises above 0 to its best, until it falls `x_drop` below or to 0.
pub fn segments(
    rows: &Rows,
    query: &[u8],
    subject: &[u8],
    x_drop: i32,
    least: i32,
) -> Vec<UngappedSegment> {
    let mut found = Vec::new();
    let starts = (0..query.len()).rev().map(|at| (at, 0));
    for start in starts.chain((1..subject.len()).map(|at| (0, at))) {
        let pairs = std::iter::zip(&query[start.0..], &subject[start.1..]);
        // From where the score rises, and the first longest part with the best score.
        let (mut from, mut sum, mut best, mut end) = (0, 0, 0, 0);
        let mut keep = |from: usize, end: usize, score: i32| {
            let at = |start: usize| (start + from) as u32;
            let (query, subject) = (at(start.0), at(start.1));
            let length = (end - from) as u32;
            found.extend((score >= least.max(1)).then_some(UngappedSegment {
                query,
                subject,
                length,
                score,
            }));
        };
        for (at, (&q, &s)) in pairs.enumerate() {
            sum += i32::from(rows[usize::from(q) % CODES][usize::from(s) % CODES]);
            if sum > best {
                (best, end) = (sum, at + 1);
            } else if sum <= 0 || best - sum >= x_drop {
                keep(from, end, best);
                (from, sum, best, end) = (at + 1, 0, 0, at + 1);
            }
        }
        keep(from, end, best);
    }
    found
}

/// How many of the first scores have the largest sum, and that sum.
#[inline(always)]
fn best_prefix(scores: impl Iterator<Item = i32>, x_drop: i32) -> (usize, i32) {
    // The sum above how many scores are left out: a maximum is cheaper than a branch that nobody
    // can foresee.
    let key = |sum: i32, length: usize| i64::from(sum) << 32 | i64::from(u32::MAX - length as u32);
    let (mut best, mut sum) = (key(0, 0), 0);
    for (number, score) in scores.enumerate() {
        sum += score;
        best = best.max(key(sum, number + 1));
        if (best >> 32) as i32 - sum >= x_drop {
            break;
        }
    }
    ((u32::MAX - best as u32) as usize, (best >> 32) as i32)
}

/// Residues of the stretch in which a gapped extension begins.
const STRETCH: usize = 11;

/// Where a gapped extension of a segment begins: in the middle of its best stretch of eleven
/// residues, counted from its first.
pub fn gapped_start(rows: &Rows, query: &[u8], subject: &[u8]) -> usize {
    let length = query.len().min(subject.len());
    if length <= STRETCH {
        return length / 2;
    }
    let score = |at: usize| i32::from(rows[usize::from(query[at])][usize::from(subject[at])]);
    let mut sum: i32 = (0..STRETCH).map(score).sum();
    let (mut best, mut end) = (sum, STRETCH);
    for at in STRETCH..length {
        sum += score(at) - score(at - STRETCH);
        if sum > best {
            (best, end) = (sum, at + 1);
        }
    }
    end - STRETCH / 2 - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;
    use crate::residue::code;

    /// Letters of a repeat, some of them changed.
    fn repeat(length: usize, state: &mut u64) -> Vec<u8> {
        let mut below = |most: u64| {
            *state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1442695040888963407);
            (*state >> 33) % most
        };
        let unit: Vec<u64> = (0..7).map(|_| below(20)).collect();
        let residue = |at: usize| match below(3) {
            0 => below(20),
            _ => unit[at % unit.len()],
        };
        (0..length).map(residue).map(|code| code as u8).collect()
    }

    #[test]
    fn every_pair_of_a_closed_segment_leads_to_it() {
        let rows = Matrix::named("BLOSUM62").unwrap().rows();
        let (mut state, mut closed, mut open) = (5, 0, 0);
        for _ in 0..200 {
            let [query, subject] = [60, 60].map(|length| repeat(length, &mut state));
            for at in 0..60 {
                let found = extend(rows, &query, &subject, (at, at), 16);
                if found.length == 0 {
                    continue;
                }
                let (own, other) = (found.in_query(), found.in_subject());
                let mut same = own
                    .clone()
                    .map(|at| extend(rows, &query, &subject, (at, at), 16) == found);
                let (residues, of_subject) = (&query[own], &subject[other]);
                if is_closed(rows, residues, of_subject, found.score, 16) {
                    assert!(same.all(|same| same), "{found:?}");
                    closed += 1;
                } else {
                    open += 1;
                }
            }
        }
        assert!(closed > 1000 && open > 100, "{closed} {open}");
    }

    #[test]
    fn segments_are_those_that_extensions_find() {
        let rows = Matrix::named("BLOSUM62").expect("one").rows();
        let text = |text: &str| text.bytes().map(code).collect::<Vec<u8>>();
        let query = text("MKWVTFISLLFLFSSAYSRGGGGGGGGGGGGDAHKSEVAHRFKDLGEENFK");
        let subject = text("PPMKWVTFLSLLFPPPPPPPPPPPPPPPPPPPPPPPPPAYSRPPDAHKSEIAHRWKDLGEE");
        for least in [1, 15, 30] {
            let found = segments(rows, &query, &subject, 16, least);
            assert!(!found.is_empty());
            for segment in &found {
                let middle = segment.length as usize / 2;
                let at = (
                    segment.query as usize + middle,
                    segment.subject as usize + middle,
                );
                let extended = extend(rows, &query, &subject, at, 16);
                assert!(segment.score >= least && extended.score >= segment.score);
            }
            // Every pair of residues is in one, if what can be made of it scores enough.
            for at in (0..query.len()).flat_map(|q| (0..subject.len()).map(move |s| (q, s))) {
                let extended = extend(rows, &query, &subject, at, 16);
                let is_same = |one: &&UngappedSegment| one.diagonal() == extended.diagonal();
                let best = found.iter().filter(is_same).map(|one| one.score).max();
                assert!(
                    extended.score < least || best >= Some(extended.score.min(30)),
                    "{at:?}"
                );
            }
        }
    }
}
