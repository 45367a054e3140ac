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
/// Words of a cache line.
const LINE: usize = 16;

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
        let mut under_way: [(u32, Range<usize>); UNDER_WAY] = [const { (0, 0..0) }; UNDER_WAY];
        for turn in 0..features.len() + 2 * AHEAD {
            if let Some(&feature) = features.get(turn) {
                let place = place_of(feature);
                fetch(words, self.start_word(place));
                under_way[turn % UNDER_WAY].0 = place;
            }
            if (AHEAD..features.len() + AHEAD).contains(&turn) {
                let (place, bucket) = &mut under_way[(turn - AHEAD) % UNDER_WAY];
                *bucket = self.bucket(words, *place)?;
                fetch(words, bucket.start);
                fetch(words, (bucket.start + LINE).min(bucket.end));
            }
            if turn >= 2 * AHEAD {
                let (place, bucket) = under_way[(turn - 2 * AHEAD) % UNDER_WAY].clone();
                let locations = self.find(words, place, bucket)?;
                if !locations.is_empty() {
                    each(turn - 2 * AHEAD, locations);
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
