//! Every query with every subject: what local alignment finds, without seeds.

use std::cmp::{Ordering, Reverse};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gyrase_align::arch::{Bands, Kernels, LANES};
use gyrase_align::{local, ungapped};
use gyrase_work::{Progress, in_parallel};

use crate::alignments::Aligner;
use crate::engine::{Align, Ended, Engine};
use crate::hits::Match;
use crate::{Scoring, Sequences};

/// Subjects more than are reported that are kept of a query: an alignment may be lost.
const SPARE: usize = 64;
/// Bits of a segment that is worth an alignment of its own.
const ENOUGH: f64 = 24.0;

/// A search of proteins that aligns every query with every subject.
pub(crate) struct Exhaustive<'s> {
    pub subjects: &'s Sequences,
    pub scoring: &'s Scoring,
    pub threads: usize,
}

impl Engine for Exhaustive<'_> {
    /// The matches of each pair whose best local alignment promises enough. The progress is in
    /// groups of subjects.
    fn matches(
        &self,
        queries: &Sequences,
        most: usize,
        progress: &Progress,
    ) -> Result<Vec<Match>, Ended> {
        let pairs = self.pairs(queries, most, progress)?;
        let (next, held) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let segments = |()| {
            let mut found = Vec::new();
            while let Some(&pair) = pairs.get(next.fetch_add(1, Relaxed)) {
                let before = found.len();
                self.segments(queries, pair, &mut found);
                if held.fetch_add(found.len() - before, Relaxed) > most {
                    return Err(Ended::TooMany);
                }
                if found.len() % 64 == 0 {
                    progress.go_on().map_err(|_| Ended::Cancelled)?;
                }
            }
            Ok(found)
        };
        let mut found = in_parallel(vec![(); self.threads], segments)?.concat();
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    fn aligner(&self) -> Box<dyn Align + Send + '_> {
        Box::new(Aligner::thorough(self.subjects, self.scoring))
    }
}

/// A pair whose best local alignment promises enough; the better is less.
#[derive(Clone, Copy, Debug)]
struct Promising {
    query: usize,
    subject: usize,
    /// 255 where it is 255 or more.
    score: u8,
    evalue: f64,
}

impl Promising {
    /// In the order in which subjects of a query are reported, if their scores remain.
    fn order(&self, other: &Promising) -> Ordering {
        (self.query.cmp(&other.query))
            .then((other.score == u8::MAX).cmp(&(self.score == u8::MAX)))
            .then(self.evalue.total_cmp(&other.evalue))
            .then((other.score, other.subject).cmp(&(self.score, self.subject)))
    }
}

impl Exhaustive<'_> {
    /// Pairs whose best local alignment promises enough; the best of each query, where they will be
    /// the best at the end.
    fn pairs(
        &self,
        queries: &Sequences,
        most: usize,
        progress: &Progress,
    ) -> Result<Vec<Promising>, Ended> {
        // Subjects of about one length fill their lanes.
        let mut subjects: Vec<usize> = (0..self.subjects.len()).collect();
        subjects.sort_by_key(|&subject| Reverse(self.subjects.residues(subject).len()));
        let groups: Vec<&[usize]> = subjects.chunks(LANES).collect();
        progress.start("match", groups.len() as u64);
        let (next, held) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let scan = |()| {
            let (mut bands, mut found) = (Bands::new(Kernels::detect()), Vec::new());
            let mut counted = 0;
            while let Some(group) = groups.get(next.fetch_add(1, Relaxed)) {
                progress.go_on().map_err(|_| Ended::Cancelled)?;
                self.scan(queries, group, &mut bands, &mut found);
                if found.len() > 2 * counted.max(1 << 16) {
                    self.leave_best(&mut found);
                }
                let before = std::mem::replace(&mut counted, found.len());
                if held.fetch_add(counted.wrapping_sub(before), Relaxed) > most {
                    return Err(Ended::TooMany);
                }
                progress.advance(1);
            }
            Ok(found)
        };
        let mut found = in_parallel(vec![(); self.threads], scan)?.concat();
        self.leave_best(&mut found);
        Ok(found)
    }

    /// Leaves the best pairs of each query, as many as are reported and those whose score is not
    /// known, where these are known.
    fn leave_best(&self, found: &mut Vec<Promising>) {
        found.sort_unstable_by(Promising::order);
        if !self.scoring.ranks_by_matrix() {
            return;
        }
        let (mut query, mut place) = (usize::MAX, 0);
        found.retain(|pair| {
            if query != pair.query {
                (query, place) = (pair.query, 0);
            }
            place += usize::from(pair.score != u8::MAX);
            place <= self.scoring.limits.top.saturating_add(SPARE)
        });
    }

    /// The pairs of all queries with a group of subjects.
    fn scan(
        &self,
        queries: &Sequences,
        group: &[usize],
        bands: &mut Bands,
        to: &mut Vec<Promising>,
    ) {
        let subjects = group.iter().map(|&subject| self.subjects.residues(subject));
        let subjects: Vec<&[u8]> = subjects.collect();
        bands.load_whole(&subjects);
        let (kernels, costs) = (Kernels::detect(), self.scoring.costs(1));
        for query in 0..queries.len() {
            let residues = queries.residues(query);
            let scores = kernels.local_scores(self.scoring.rows(), costs, residues, bands);
            // Of neighbours that are as long the least score is the same.
            let (mut length, mut least) = (usize::MAX, 0);
            let pairs = group.iter().zip(&scores).zip(&subjects);
            to.extend(pairs.filter_map(|((&subject, &score), other)| {
                if length != other.len() {
                    length = other.len();
                    least = self.scoring.least_promising(residues.len(), length);
                }
                let promises = score == u8::MAX || i32::from(score) >= least;
                promises.then(|| Promising {
                    query,
                    subject,
                    score,
                    evalue: self.scoring.evalue_of(score.into(), residues.len(), length),
                })
            }));
        }
    }

    /// The segments of a pair that are worth an alignment, and that with which its best local
    /// alignment ends.
    fn segments(&self, queries: &Sequences, pair: Promising, to: &mut Vec<Match>) {
        let Promising { query, subject, .. } = pair;
        let (of_query, of_subject) = (queries.residues(query), self.subjects.residues(subject));
        let (rows, x_drop) = (self.scoring.rows(), self.scoring.segments().x_drop);
        let least = self.scoring.least_segment(of_query.len(), ENOUGH);
        let mut found = ungapped::segments(rows, of_query, of_subject, x_drop, least);
        // That of a best alignment without gaps is there already.
        if found
            .iter()
            .all(|segment| segment.score != i32::from(pair.score))
        {
            let end = local::end(rows, self.scoring.costs(1), of_query, of_subject);
            if let (Some(q), Some(s)) = (end.query.checked_sub(1), end.subject.checked_sub(1)) {
                found.push(ungapped::extend(rows, of_query, of_subject, (q, s), x_drop));
            }
        }
        to.extend(found.into_iter().map(|segment| Match {
            query: query as u32,
            subject: subject as u32,
            segment,
        }));
    }
}
