//! Proteins with proteins: `blastp`.

use gyrase_work::Progress;

use crate::alignments::Aligner;
use crate::engine::{Align, Ended, Engine};
use crate::matches::{Search, least_segment};
use crate::{Match, Scoring, Sequences};

/// A search of proteins.
pub(crate) struct Proteins<'s> {
    pub subjects: &'s Sequences,
    pub scoring: &'s Scoring,
    pub threads: usize,
}

impl Engine for Proteins<'_> {
    fn matches(
        &self,
        queries: &Sequences,
        most: usize,
        progress: &Progress,
    ) -> Result<Vec<Match>, Ended> {
        let mean = self.subjects.total() / (self.subjects.len() as u64).max(1);
        let cutoff = |query: usize| {
            self.scoring
                .cutoff(queries.residues(query).len(), mean as usize)
        };
        let least: Vec<i32> = (0..queries.len())
            .map(|query| least_segment(cutoff(query)))
            .collect();
        let search = Search {
            queries,
            subjects: self.subjects,
            rows: self.scoring.rows(),
            least: &least,
            most,
            threads: self.threads,
        };
        search.matches(progress)
    }

    fn aligner(&self) -> Box<dyn Align + Send + '_> {
        Box::new(Aligner::new(self.subjects, self.scoring))
    }
}
