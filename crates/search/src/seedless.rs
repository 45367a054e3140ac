//! Looks for queries in which no alignment can begin.

use std::ops::Range;

use gyrase_align::nucleotide::BASES;
use gyrase_work::in_parallel;

use crate::prepared::{AnyScoring, Prepared};
use crate::{HopelessQuery, Molecule, NoHope, SearchError, Sequences, Summary, seeds};

/// Queries that a thread looks at together.
const AT_ONCE: usize = 1000;

impl Prepared {
    /// A summary with the queries that can have no hits.
    pub(crate) fn naming_hopeless(&self, summary: Summary) -> Result<Summary, SearchError> {
        if summary.with_hits == summary.queries {
            return Ok(summary);
        }
        let hopeless = self.hopeless()?;
        Ok(Summary {
            hopeless,
            ..summary
        })
    }

    /// The queries that can have no hits, in their order.
    fn hopeless(&self) -> Result<Vec<HopelessQuery>, SearchError> {
        let all = self.queries.len();
        let starts = (0..all).step_by(AT_ONCE).collect::<Vec<_>>();
        let of_each = starts.chunks(starts.len().div_ceil(self.threads).max(1));
        let look = |starts: &[usize]| {
            let parts = starts.iter();
            let found = parts.flat_map(|&start| self.hopeless_of(start..all.min(start + AT_ONCE)));
            Ok::<_, SearchError>(found.collect::<Vec<_>>())
        };
        Ok(in_parallel(of_each.collect(), look)?.concat())
    }

    fn hopeless_of(&self, range: Range<usize>) -> Vec<HopelessQuery> {
        let masked = self.masked_frames(range.clone());
        let frames = self.frames[0].numbers().len();
        let hopeless = range.enumerate().filter_map(|(number, query)| {
            let of_query = number * frames..(number + 1) * frames;
            Some(HopelessQuery {
                name: String::from_utf8_lossy(self.queries.name(query)).into_owned(),
                why: self.no_hope(query, &masked, of_query)?,
            })
        });
        hopeless.collect()
    }

    /// Why a query, whose masked frames have these numbers, can have no hits.
    fn no_hope(&self, query: usize, masked: &Sequences, frames: Range<usize>) -> Option<NoHope> {
        let codes = self.queries.residues(query);
        let of_query = longest(codes, self.queries.molecule());
        let word = match &self.scoring {
            AnyScoring::Nucleotide(scoring) => scoring.least_run(),
            AnyScoring::Protein(_) | AnyScoring::Translated(_) => 1,
        };
        let mut left = frames.map(|frame| longest(masked.seed_residues(frame), masked.molecule()));
        match of_query {
            _ if codes.is_empty() => Some(NoHope::Empty),
            0 => Some(NoHope::Unknown),
            run if run < word => Some(NoHope::Short(word)),
            _ if left.all(|run| run < word) => Some(NoHope::Masked),
            _ => None,
        }
    }
}

/// How many letters stand in a row that each stand for one residue or base, at most.
fn longest(codes: &[u8], molecule: Molecule) -> usize {
    let is_known = |&code: &u8| match molecule {
        Molecule::Protein => seeds::is_known(code),
        Molecule::Nucleotide => usize::from(code) < BASES,
    };
    let runs = codes.split(|code| !is_known(code));
    runs.map(<[u8]>::len).max().unwrap_or_default()
}
