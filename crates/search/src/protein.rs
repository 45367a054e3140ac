//! Proteins with proteins by seeds: `blastp`.

use gyrase_work::Progress;

use crate::alignments::Aligner;
use crate::engine::{Align, Ended, Engine};
use crate::matches::{Search, SegmentScores};
use crate::seeds::{SHAPES, SeedIndexes, Shape};
use crate::{Match, Program, Scoring, Sequences};

/// How surely a search of proteins finds what is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sensitivity {
    /// Pairs that have a seed of one shape and a strong segment without gaps.
    Fast,
    /// Pairs that have a seed of one of four shapes, two with `tblastn`: nearly all of BLAST.
    #[default]
    Blast,
    /// Every pair that local alignment finds (Smith and Waterman), in the time that it takes.
    Exhaustive,
}

impl Sensitivity {
    /// Seeds of a program. `tblastn` has the same pairs to find among more residues: fewer are near
    /// to chance, and the two shapes that find most together find nearly as large a part of them.
    pub(crate) fn shapes(self, program: Program) -> &'static [Shape] {
        match (self, program) {
            (Sensitivity::Fast, _) => &SHAPES[..1],
            (_, Program::Tblastn) => &[SHAPES[0], SHAPES[3]],
            _ => &SHAPES,
        }
    }

    /// Bits that a segment scores at least that is worth a gapped alignment, where chance gives so
    /// many.
    pub(crate) fn segment(self) -> f64 {
        match self {
            Sensitivity::Fast => 25.8,
            _ => 24.0,
        }
    }

    /// What windows around seeds of proteins score, where segments score so.
    pub(crate) fn windows(self, segments: SegmentScores) -> SegmentScores {
        match self {
            Sensitivity::Fast => segments.of_fewer_windows(),
            _ => segments,
        }
    }
}

/// A search of proteins by their seeds.
pub(crate) struct Proteins<'s> {
    pub subjects: &'s Sequences,
    pub scoring: &'s Scoring,
    pub threads: usize,
    pub sensitivity: Sensitivity,
    /// Of the subjects, where they are kept from one batch of queries to the next.
    pub indexes: Option<&'s SeedIndexes>,
}

impl Engine for Proteins<'_> {
    fn matches(
        &self,
        queries: &Sequences,
        most: usize,
        progress: &Progress,
    ) -> Result<Vec<Match>, Ended> {
        let lengths = (0..queries.len()).map(|query| queries.residues(query).len());
        let least: Vec<i32> = lengths
            .map(|length| {
                self.scoring
                    .least_segment(length, self.sensitivity.segment())
            })
            .collect();
        let search = Search {
            queries,
            subjects: self.subjects,
            indexes: self.indexes,
            rows: self.scoring.rows(),
            segments: self.sensitivity.windows(self.scoring.segments()),
            least: &least,
            most,
            threads: self.threads,
            shapes: self.sensitivity.shapes(Program::Blastp),
        };
        search.matches(progress)
    }

    fn aligner(&self) -> Box<dyn Align + Send + '_> {
        Box::new(match self.sensitivity {
            Sensitivity::Fast => Aligner::fast(self.subjects, self.scoring),
            _ => Aligner::new(self.subjects, self.scoring),
        })
    }
}
