//! What is translated: `blastx`, `tblastn` and `tblastx`.
//!
//! Six frames of nucleotides are compared as proteins are. Alignments that follow each other on one
//! strand share an E-value: that of the sum of their scores.

mod aligner;
mod blocks;
mod chains;
mod links;
mod options;
mod scoring;
mod searched;
mod ungapped;
mod windows;

use std::ops::RangeInclusive;

use gyrase_work::Progress;

pub use options::TranslationOptions;
pub(crate) use scoring::TranslatedScoring;

use searched::Searched;

use crate::engine::{Align, Ended, Engine, PROTEINS_AT_ONCE};
use crate::frames::Frames;
use crate::masks::frames_of_subjects;
use crate::matches::Search;
use crate::protein::Sensitivity;
use crate::seeds::SeedIndexes;
use crate::{Match, Program, Sequences};

/// A search in which queries, subjects or both are translated.
pub(crate) struct Translation<'s> {
    pub program: Program,
    pub frames: [Frames; 2],
    pub subjects: &'s Sequences,
    pub scoring: &'s TranslatedScoring,
    pub threads: usize,
    pub sensitivity: Sensitivity,
    /// Of subjects that are proteins, where they are kept from one batch of queries to the next.
    pub indexes: Option<&'s SeedIndexes>,
}

impl Engine for Translation<'_> {
    /// The progress is in keys, for each block of subjects anew.
    fn matches(
        &self,
        queries: &Sequences,
        most: usize,
        progress: &Progress,
    ) -> Result<Vec<Match>, Ended> {
        let least = |frame| {
            let residues = queries.residues(frame);
            self.scoring.least_segment(residues, self.sensitivity)
        };
        let least: Vec<i32> = (0..queries.len()).map(least).collect();
        let search = |subjects: &Sequences, indexes, most| {
            let search = Search {
                queries,
                subjects,
                indexes,
                rows: self.scoring.protein.rows(),
                segments: self.scoring.protein.segments(),
                least: &least,
                most,
                threads: self.threads,
                shapes: self.sensitivity.shapes(self.program),
            };
            search.matches(progress)
        };
        let [_, of_subjects] = self.frames;
        if of_subjects == Frames::Protein {
            return search(self.subjects, self.indexes, most);
        }
        let mut found = Vec::new();
        for block in blocks::blocks(self.subjects) {
            let frames =
                frames_of_subjects(self.subjects, block.clone(), of_subjects, self.threads);
            let first = block.start * of_subjects.numbers().len();
            let more = search(&frames, None, most - found.len())?;
            found.extend(more.into_iter().map(|one| Match {
                subject: one.subject + first as u32,
                ..one
            }));
        }
        // Those of each block are sorted: this merges them.
        found.sort();
        Ok(found)
    }

    /// All of a database that is translated is translated for each batch.
    fn batch(&self) -> RangeInclusive<u64> {
        match self.frames[1] {
            Frames::Protein => PROTEINS_AT_ONCE,
            _ => 100_000..=1_000_000,
        }
    }

    fn aligner(&self) -> Box<dyn Align + Send + '_> {
        let searched = Searched {
            frames: self.frames,
            subjects: self.subjects,
            scoring: self.scoring,
        };
        match self.program {
            Program::Tblastx => Box::new(ungapped::Aligner::new(searched)),
            _ => Box::new(aligner::Aligner::new(searched)),
        }
    }
}
