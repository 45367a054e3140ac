//! Writes a `.gysa` file of what many processes have: rank 0 does, and takes it from them.

use std::ops::Range;
use std::path::Path;

use gyrase_fabric::{FabricError, gather_in_pieces, look_up};

use super::layout::{GysaFacts, Part};
use super::writer::{Contents, Pieces, write_contents};
use crate::Error;
use crate::doubling::Spread;
use crate::numbers::number_width;

/// Letters, or suffixes, of which the bytes are in memory at once.
const PIECE: usize = 1 << 20;

/// Collective. Writes it; rank 0 gets what the file holds.
pub(crate) fn write_in(
    target: &Path,
    spread: &Spread,
    transform: bool,
) -> Result<Option<GysaFacts>, Error> {
    if spread.world.rank() == 0 {
        return write_contents(target, spread, transform).map(Some);
    }
    let parts = Part::ALL.into_iter();
    let mut parts = parts.filter(|&part| part != Part::Transform || transform);
    parts.try_for_each(|part| spread.hand_over(part, |_| Ok(())))?;
    Ok(None)
}

impl Contents for Spread<'_> {
    fn facts(&self, transform: bool) -> GysaFacts {
        GysaFacts {
            kind: self.survey.kind,
            texts: self.survey.sequences as u64,
            letters: self.survey.letters as u64,
            width: number_width(self.survey.letters as u64),
            has_transform: transform,
            bytes: 0,
        }
    }

    fn add(&self, part: Part, pieces: &mut Pieces) -> Result<(), Error> {
        pieces.add_texts(part, &self.survey.texts)?;
        self.hand_over(part, |bytes| Ok(pieces.add(bytes)?))
    }
}

impl Spread<'_> {
    /// Hands a section over to rank 0, if every process has a part of it.
    fn hand_over(
        &self,
        part: Part,
        take: impl FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let own = self.text.own().len();
        let starts = (0..own).step_by(PIECE);
        let runs = starts.map(|start| start..own.min(start + PIECE));
        let width = number_width(self.survey.letters as u64);
        let packed = |run: Range<usize>, number: &dyn Fn(usize) -> usize| {
            let mut bytes = Vec::with_capacity(run.len() * width);
            for place in run {
                bytes.extend_from_slice(&(number(place) as u64).to_le_bytes()[..width]);
            }
            bytes
        };
        let (positions, common) = (&self.sorted.positions, &self.sorted.common);
        match part {
            Part::Letters => {
                let pieces = runs.map(|run| self.text.own()[run].to_vec());
                gather_in_pieces(self.world, pieces, take)
            }
            Part::Positions => {
                let pieces = runs.map(|run| packed(run, &|place| positions.get(place)));
                gather_in_pieces(self.world, pieces, take)
            }
            Part::Common => {
                let pieces = runs.map(|run| packed(run, &|place| common.get(place)));
                gather_in_pieces(self.world, pieces, take)
            }
            Part::Transform => {
                let letters = self.transform()?;
                let pieces = runs.map(|run| letters[run].to_vec());
                gather_in_pieces(self.world, pieces, take)
            }
            Part::Ends | Part::Files | Part::Names | Part::NameEnds => Ok(()),
        }
    }

    /// The Burrows-Wheeler transform of the block of suffixes. What is before the first letter of
    /// all is a sentinel.
    fn transform(&self) -> Result<Vec<u8>, FabricError> {
        let (line, letters) = (self.text.line, self.text.own());
        let start = line.own().start;
        let question = |position: usize| {
            let before = position.checked_sub(1).unwrap_or(line.things - 1);
            (line.owner(before), (before as u64).to_le_bytes())
        };
        let mut transform = Vec::with_capacity(letters.len());
        let places = 0..self.sorted.positions.len();
        let questions = places.map(|place| question(self.sorted.positions.get(place)));
        let letter = |position| [letters[u64::from_le_bytes(position) as usize - start]];
        look_up(self.world, questions, letter, |[letter]| {
            transform.push(letter)
        })?;
        Ok(transform)
    }
}
