//! Every query with every subject: what local alignment finds, without seeds.

use std::cmp::Reverse;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gyrase_align::arch::{Bands, Kernels, LANES};
use gyrase_align::{local, ungapped};
use gyrase_work::{Progress, in_parallel};

use crate::alignments::Aligner;
use crate::engine::{Align, Ended, Engine};
use crate::hits::Match;
use crate::{Scoring, Sequences};

/// A search of proteins that aligns every query with every subject.
pub(crate) struct Exhaustive<'s> {
    pub subjects: &'s Sequences,
    pub scoring: &'s Scoring,
    pub threads: usize,
}

impl Engine for Exhaustive<'_> {
    /// A match for each pair whose best local alignment promises enough: the segment with which
    /// that alignment ends. The progress is in groups of subjects.
    fn matches(
        &self,
        queries: &Sequences,
        most: usize,
        progress: &Progress,
    ) -> Result<Vec<Match>, Ended> {
        // Subjects of about one length fill their lanes.
        let mut subjects: Vec<usize> = (0..self.subjects.len()).collect();
        subjects.sort_by_key(|&subject| Reverse(self.subjects.residues(subject).len()));
        let groups: Vec<&[usize]> = subjects.chunks(LANES).collect();
        progress.start("match", groups.len() as u64);
        let (next, held) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let scan = |()| {
            let (mut bands, mut found) = (Bands::new(Kernels::detect()), Vec::new());
            while let Some(group) = groups.get(next.fetch_add(1, Relaxed)) {
                progress.go_on().map_err(|_| Ended::Cancelled)?;
                let before = found.len();
                self.scan(queries, group, &mut bands, &mut found);
                if held.fetch_add(found.len() - before, Relaxed) > most {
                    return Err(Ended::TooMany);
                }
                progress.advance(1);
            }
            Ok(found)
        };
        let mut found = in_parallel(vec![(); self.threads], scan)?.concat();
        found.sort_unstable();
        Ok(found)
    }

    fn aligner(&self) -> Box<dyn Align + Send + '_> {
        Box::new(Aligner::thorough(self.subjects, self.scoring))
    }
}

impl Exhaustive<'_> {
    /// The matches of all queries with a group of subjects.
    fn scan(&self, queries: &Sequences, group: &[usize], bands: &mut Bands, to: &mut Vec<Match>) {
        let subjects = group.iter().map(|&subject| self.subjects.residues(subject));
        let subjects: Vec<&[u8]> = subjects.collect();
        bands.load_whole(&subjects);
        let (kernels, costs) = (Kernels::detect(), self.scoring.costs(1));
        for query in 0..queries.len() {
            let residues = queries.residues(query);
            let scores = kernels.local_scores(self.scoring.rows(), costs, residues, bands);
            for ((&subject, &score), other) in group.iter().zip(&scores).zip(&subjects) {
                let (of_query, of_subject) = (residues.len(), other.len());
                if score == u8::MAX || self.scoring.promises(score.into(), of_query, of_subject) {
                    to.extend(self.segment(residues, other).map(|segment| Match {
                        query: query as u32,
                        subject: subject as u32,
                        segment,
                    }));
                }
            }
        }
    }

    /// The segment with which the best local alignment of two sequences ends.
    fn segment(&self, query: &[u8], subject: &[u8]) -> Option<ungapped::UngappedSegment> {
        let rows = self.scoring.rows();
        let end = local::end(rows, self.scoring.costs(1), query, subject);
        let last = (end.query.checked_sub(1)?, end.subject.checked_sub(1)?);
        Some(ungapped::extend(
            rows,
            query,
            subject,
            last,
            self.scoring.segments().x_drop,
        ))
    }
}
