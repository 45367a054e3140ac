//! Suffix arrays on a GPU.

use crate::error::GpuError;
use crate::library::GpuShare;

/// The suffixes of a set of texts in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GpuSuffixes {
    /// Where they begin.
    pub positions: Vec<u32>,
    /// How many letters each shares with the one before, up to a sentinel; 0 for the first.
    pub common: Vec<u32>,
}

/// What ends each text.
const SENTINEL: u8 = 0;

impl GpuShare<'_> {
    /// Sorts the suffixes of a set of texts by prefix doubling. Zeros are sentinels: smaller than
    /// every letter, and of two of them the first is smaller.
    ///
    /// # Errors
    /// [`GpuError::Declined`] where the text is too long. See [`GpuError`] for others.
    ///
    /// # Panics
    /// When the text does not end with a sentinel.
    pub fn suffixes(&self, text: &[u8]) -> Result<GpuSuffixes, GpuError> {
        let mut common = vec![0; text.len()];
        let positions = self.sort_suffixes(text, Some(&mut common))?;
        Ok(GpuSuffixes { positions, common })
    }

    /// The same without what suffixes share: where they begin, in their order.
    ///
    /// # Errors
    /// See [`GpuShare::suffixes`].
    ///
    /// # Panics
    /// When the text does not end with a sentinel.
    pub fn suffix_array(&self, text: &[u8]) -> Result<Vec<u32>, GpuError> {
        self.sort_suffixes(text, None)
    }

    fn sort_suffixes(&self, text: &[u8], common: Option<&mut [u32]>) -> Result<Vec<u32>, GpuError> {
        let ends = text.last().is_none_or(|&last| last == SENTINEL);
        assert!(ends, "a sentinel ends a set of texts");
        let (codes, last) = codes_of(text);
        let coded: Vec<u8> = text
            .iter()
            .map(|&letter| codes[usize::from(letter)])
            .collect();
        let mut positions = vec![0; text.len()];
        self.library.functions.suffixes(
            self.gpu.number,
            (&coded, u32::from(last.max(1)) + 1),
            self.memory,
            (&mut positions, common),
        )?;
        Ok(positions)
    }
}

/// The codes of bytes: ascending from 1 on for those that occur, 0 for the sentinel; and the last.
fn codes_of(text: &[u8]) -> ([u8; 256], u8) {
    let mut occurs = [false; 256];
    text.iter()
        .for_each(|&letter| occurs[usize::from(letter)] = true);
    let (mut codes, mut last) = ([0; 256], 0);
    for letter in 1..=255 {
        if occurs[letter] {
            last += 1;
            codes[letter] = last;
        }
    }
    (codes, last)
}
