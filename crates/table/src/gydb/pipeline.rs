//! Looks many features up at a time.

use std::ops::Range;

use gyrase_work::prefetch;

use super::database::Database;
use super::error::GydbError;
use super::layout::place_of;
use crate::location::Location;

/// Features that take each step of a look-up together: enough for a wait for memory to pass
/// meanwhile.
const TOGETHER: usize = 8;
/// The steps: ask for the lines, read them and ask for the locations, give these.
const STEPS: usize = 3;
/// Words in a line of the cache.
const LINE: usize = 16;

/// Features on their way.
struct Group {
    places: [u32; TOGETHER],
    /// Where the locations of each are; nowhere for those that are not there.
    found: [Range<usize>; TOGETHER],
    len: usize,
}

impl Database {
    /// Looks features up and calls `each` for every one that is there, in order, with its index and
    /// its locations, ascending.
    ///
    /// The look-ups overlap: while some wait for memory, those behind them ask for theirs. Give
    /// some hundred features at a time.
    ///
    /// # Errors
    /// [`GydbError::Container`] when what had to be read does not fit its checksum.
    pub fn locations_of<'a>(
        &'a self,
        features: &[u32],
        mut each: impl FnMut(usize, &'a [Location]),
    ) -> Result<(), GydbError> {
        let words = self.words();
        let mut groups = [const { Group::EMPTY }; STEPS];
        let chunks = features.len().div_ceil(TOGETHER);
        for turn in 0..chunks + STEPS - 1 {
            let start = (turn * TOGETHER).min(features.len());
            let chunk = &features[start..features.len().min(start + TOGETHER)];
            groups[turn % STEPS].ask(self, words, chunk);
            groups[(turn + 2) % STEPS].find(self, words)?;
            let first = turn.saturating_sub(2) * TOGETHER;
            groups[(turn + 1) % STEPS]
                .give(self, words, |at, locations| each(first + at, locations))?;
        }
        Ok(())
    }
}

impl Group {
    const EMPTY: Group = Group {
        places: [0; TOGETHER],
        found: [const { 0..0 }; TOGETHER],
        len: 0,
    };

    /// Takes features and asks for their lines. Requests follow each other closely, so that the
    /// processor translates several addresses at a time.
    #[inline(always)]
    fn ask(&mut self, database: &Database, words: &[u32], features: &[u32]) {
        self.len = features.len();
        for (place, &feature) in self.places.iter_mut().zip(features) {
            *place = place_of(feature);
            prefetch(words, database.first_line(*place));
        }
    }

    /// Reads the lines, then asks for the locations.
    #[inline(always)]
    fn find(&mut self, database: &Database, words: &[u32]) -> Result<(), GydbError> {
        for (found, &place) in self.found.iter_mut().zip(&self.places[..self.len]) {
            *found = database.find(words, place)?;
        }
        self.found[..self.len]
            .iter()
            .for_each(|found| fetch_all(words, found));
        Ok(())
    }

    #[inline(always)]
    fn give<'a>(
        &self,
        database: &Database,
        words: &'a [u32],
        mut each: impl FnMut(usize, &'a [Location]),
    ) -> Result<(), GydbError> {
        for (at, found) in self.found[..self.len].iter().enumerate() {
            if !found.is_empty() {
                each(at, database.read(words, self.places[at], found.clone())?);
            }
        }
        Ok(())
    }
}

/// Asks for every line of a range.
#[inline(always)]
fn fetch_all(words: &[u32], range: &Range<usize>) {
    if !range.is_empty() {
        let lines = range.clone().step_by(LINE);
        lines.for_each(|at| prefetch(words, at));
        prefetch(words, range.end - 1);
    }
}
