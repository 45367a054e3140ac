//! Looks many features up at a time.

use std::ops::Range;

use gyrase_fabric::prefetch;

use super::database::Database;
use super::error::GydbError;
use super::layout::place_of;

/// Features between one step of a look-up and the next: enough for a wait for memory to pass meanwhile.
const AHEAD: usize = 16;
/// Features on their way: two steps of them, rounded up to a power of two.
const UNDER_WAY: usize = 4 * AHEAD;

impl Database {
    /// Looks features up and calls `each` for every one that is there, in order, with its index and its locations, ascending.
    ///
    /// The look-ups overlap: while one waits for memory, those behind it ask for theirs. Give some hundred features at a time.
    ///
    /// # Errors
    /// [`GydbError::Corrupt`] when what had to be read does not fit its checksum.
    pub fn locations_of<'a>(
        &'a self,
        features: &[u32],
        mut each: impl FnMut(usize, &'a [u32]),
    ) -> Result<(), GydbError> {
        let words = self.words();
        let mut places = [0; UNDER_WAY];
        let mut found = [const { 0..0 }; UNDER_WAY];
        for turn in 0..features.len() + 2 * AHEAD {
            if let Some(&feature) = features.get(turn) {
                let place = place_of(feature);
                fetch(words, self.first_line(place));
                places[turn % UNDER_WAY] = place;
            }
            if turn >= AHEAD && turn < features.len() + AHEAD {
                let step = (turn - AHEAD) % UNDER_WAY;
                found[step] = self.find(words, places[step])?;
                fetch_ends(words, &found[step]);
            }
            if turn >= 2 * AHEAD {
                let step = (turn - 2 * AHEAD) % UNDER_WAY;
                if !found[step].is_empty() {
                    each(turn - 2 * AHEAD, self.read(words, places[step], found[step].clone())?);
                }
            }
        }
        Ok(())
    }
}

#[inline(always)]
fn fetch(words: &[u32], at: usize) {
    if let Some(word) = words.get(at) {
        prefetch(word);
    }
}

/// Asks for the first and the last line; the processor sees by itself what is between many.
#[inline(always)]
fn fetch_ends(words: &[u32], range: &Range<usize>) {
    if !range.is_empty() {
        fetch(words, range.start);
        fetch(words, range.end - 1);
    }
}
