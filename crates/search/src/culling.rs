//! Which alignments are left out because others of the same query are there, as BLAST+ has it
//! (`hspfilter_culling.c`, `hspfilter_besthit.c`, `Blast_HSPListSubjectBestHit`).
//!
//! All alignments of a query with all subjects are looked at, the best first; what is left out
//! counts no more.

use std::ops::Range;

use crate::hits::{Hit, Hsp};

/// Letters of the query that an alignment may reach beyond a better one with the same subject.
const BESIDE: usize = 3;

/// Which alignments are left out because others are there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Culling {
    /// Those that so many others dominate: others that have half of them at least, and are better
    /// by score and length.
    pub limit: Option<usize>,
    /// Those that are within a much denser one.
    pub best_hit: Option<BestHit>,
    /// Those within a better one of the same subject, but for three letters at each end.
    pub subject_best: bool,
}

/// When an alignment is within a denser one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BestHit {
    /// The part of the denser one's length that the other may reach beyond each of its ends, above
    /// 0 and below 0.5.
    pub overhang: f64,
    /// How much less score for each letter the other has at least, as a part; above 0 and below
    /// 0.5.
    pub score_edge: f64,
}

/// An alignment of a query, by what decides whether it stays.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Candidate {
    /// Letters of the query as it stands.
    pub query: Range<usize>,
    pub score: i32,
    pub evalue: f64,
    pub subject: usize,
    /// Its first letter of the subject.
    pub start: usize,
}

impl Culling {
    /// Whether any alignment may be left out.
    pub(crate) fn is_any(&self) -> bool {
        self.is_across_subjects() || self.subject_best
    }

    /// Whether an alignment may be left out because of one with another subject.
    fn is_across_subjects(&self) -> bool {
        self.limit.is_some() || self.best_hit.is_some()
    }

    /// Leaves what stays of all alignments of a query, those of a subject the best first, by where
    /// each is in the query.
    pub(crate) fn cull(&self, hits: &mut Vec<Hit>, in_query: impl Fn(&Hsp) -> Range<usize>) {
        for hit in &mut *hits {
            let queries: Vec<Range<usize>> = hit.hsps.iter().map(&in_query).collect();
            leave(&mut hit.hsps, &mut self.of_subject(&queries).into_iter());
        }
        if self.is_across_subjects() {
            let candidates = hits.iter().flat_map(|hit| {
                hit.hsps.iter().map(|hsp| Candidate {
                    query: in_query(hsp),
                    score: hsp.score,
                    evalue: hsp.evalue,
                    subject: hit.subject,
                    start: hsp.subject.start,
                })
            });
            let candidates: Vec<Candidate> = candidates.collect();
            let mut stay = self.of_query(&candidates).into_iter();
            hits.iter_mut()
                .for_each(|hit| leave(&mut hit.hsps, &mut stay));
        }
        hits.retain(|hit| !hit.hsps.is_empty());
        // The best alignment may be gone, and with it the score that a subject was ranked by.
        for hit in hits {
            hit.rank_score = hit.hsps[0].score;
        }
    }

    /// Which of the alignments with one subject, the best first, stay.
    pub(crate) fn of_subject(&self, queries: &[Range<usize>]) -> Vec<bool> {
        let mut stay: Vec<bool> = Vec::with_capacity(queries.len());
        for (number, one) in queries.iter().enumerate() {
            let mut better = std::iter::zip(&stay, &queries[..number]);
            let is_within = |(&stays, better): (&bool, &Range<usize>)| {
                stays && better.start <= one.start + BESIDE && one.end <= better.end + BESIDE
            };
            stay.push(!self.subject_best || !better.any(is_within));
        }
        stay
    }

    /// Which of all alignments of a query stay.
    pub(crate) fn of_query(&self, candidates: &[Candidate]) -> Vec<bool> {
        let mut order: Vec<usize> = (0..candidates.len()).collect();
        order.sort_by(|&one, &other| {
            let (one, other) = (&candidates[one], &candidates[other]);
            (one.evalue.total_cmp(&other.evalue))
                .then(other.score.cmp(&one.score))
                .then((one.subject, one.start).cmp(&(other.subject, other.start)))
        });
        let mut kept: Vec<&Candidate> = Vec::new();
        let mut stay = vec![false; candidates.len()];
        for number in order {
            let one = &candidates[number];
            let dominating = kept.iter().filter(|better| better.dominates(one)).count();
            let is_culled = self.limit.is_some_and(|limit| dominating >= limit);
            let is_within = |best: BestHit| kept.iter().any(|better| best.has(better, one));
            if !is_culled && !self.best_hit.is_some_and(is_within) {
                stay[number] = true;
                kept.push(one);
            }
        }
        stay
    }
}

/// Leaves those that stay.
fn leave(hsps: &mut Vec<Hsp>, stay: &mut impl Iterator<Item = bool>) {
    hsps.retain(|_| stay.next().unwrap_or_default());
}

impl Candidate {
    fn length(&self) -> i64 {
        self.query.len() as i64
    }

    /// Whether it has half of the other, and is better: twice as much as by length, by score.
    fn dominates(&self, other: &Candidate) -> bool {
        let end = self.query.end.min(other.query.end) as i64;
        let overlap = end - self.query.start.max(other.query.start) as i64;
        let (length, of_other) = (self.length(), other.length());
        if 2 * overlap < of_other {
            return false;
        }
        let [score, its_score] = [self.score, other.score].map(i64::from);
        let better = score * (4 * length + 2 * of_other) - its_score * (2 * length + 4 * of_other);
        let place = |one: &Candidate| (-i64::from(one.score), one.subject, one.start);
        better > 0 || better == 0 && place(self) <= place(other)
    }
}

impl BestHit {
    /// Whether the other is within the better one.
    fn has(self, better: &Candidate, other: &Candidate) -> bool {
        let beside = (better.length() as f64 * self.overhang) as usize;
        let begins = other.query.start + beside;
        let is_after = begins > better.query.start
            || begins == better.query.start && better.subject > other.subject;
        let density = |one: &Candidate| f64::from(one.score) / one.length().max(1) as f64;
        is_after
            && better.query.end + beside >= other.query.end
            && better.evalue <= other.evalue
            && density(better) > density(other) / (1.0 - self.score_edge)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(query: Range<usize>, score: i32, subject: usize) -> Candidate {
        Candidate {
            query,
            score,
            evalue: 10_f64.powi(-score),
            subject,
            start: 0,
        }
    }

    #[test]
    fn what_others_dominate_goes() {
        let candidates = [
            candidate(0..100, 90, 0),
            candidate(10..90, 60, 1),
            candidate(10..90, 50, 2),
            candidate(60..160, 50, 3),
            candidate(20..30, 59, 4),
        ];
        let stay = |limit| {
            let culling = Culling {
                limit: Some(limit),
                ..Culling::default()
            };
            culling.of_query(&candidates)
        };
        assert_eq!(stay(1), [true, false, false, true, false]);
        assert_eq!(stay(2), [true, true, false, true, false]);
        assert_eq!(stay(3), [true, true, true, true, true]);
        assert!(
            Culling::default()
                .of_query(&candidates)
                .iter()
                .all(|&stays| stays)
        );
    }

    #[test]
    fn of_equal_ones_the_first_dominates() {
        let equal = [candidate(0..9, 20, 7), candidate(0..9, 20, 5)];
        assert!(equal[1].dominates(&equal[0]) && !equal[0].dominates(&equal[1]));
    }

    #[test]
    fn what_is_within_a_denser_one_goes() {
        let culling = Culling {
            best_hit: Some(BestHit {
                overhang: 0.1,
                score_edge: 0.1,
            }),
            ..Culling::default()
        };
        let candidates = [
            candidate(100..200, 90, 0),
            // Within, but for ten letters.
            candidate(95..209, 80, 1),
            candidate(95..211, 79, 2),
            // As dense.
            candidate(120..140, 18, 3),
            candidate(120..140, 10, 4),
        ];
        assert_eq!(
            culling.of_query(&candidates),
            [true, false, true, true, false]
        );
    }

    #[test]
    fn what_is_within_a_better_one_of_the_subject_goes() {
        let culling = Culling {
            subject_best: true,
            ..Culling::default()
        };
        let queries = [10..60, 7..63, 6..50, 70..90, 71..93];
        assert_eq!(
            culling.of_subject(&queries),
            [true, false, true, true, false]
        );
        assert_eq!(Culling::default().of_subject(&queries), [true; 5]);
    }
}
