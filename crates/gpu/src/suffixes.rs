//! Suffix arrays on a GPU.

use crate::error::GpuError;
use crate::library::{GpuLibrary, GpuShare};
use crate::routes::GpuRoutes;

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
        let (coded, codes) = coded(text);
        let mut positions = vec![0; text.len()];
        let sorted = (&mut positions[..], common);
        let functions = &self.library.functions;
        functions.suffixes(self.gpu.number, (&coded, codes), self.memory, sorted)?;
        Ok(positions)
    }
}

/// Logical devices that work together, each with a share of a GPU's memory.
#[derive(Clone, Debug)]
pub struct GpuShares<'g> {
    /// What reaches them.
    pub library: &'g GpuLibrary,
    /// The number of the GPU of each, of which one may come several times; and bytes of its memory.
    pub shares: Vec<(usize, u64)>,
    /// How they send each other messages.
    pub routes: &'g GpuRoutes,
}

impl GpuShares<'_> {
    /// The same as [`GpuShare::suffixes`]. Each device has a block of the text, with the ranks of
    /// its suffixes, and sorts a range of the suffixes.
    ///
    /// # Errors
    /// [`GpuError::Declined`] where the text is too long, or so many suffixes begin with the same
    /// letters that a device cannot take them. See [`GpuError`] for others.
    ///
    /// # Panics
    /// When the text does not end with a sentinel, or the routes are of another number of devices.
    pub fn suffixes(&self, text: &[u8]) -> Result<GpuSuffixes, GpuError> {
        for &(number, _) in &self.shares {
            self.library.gpu(Some(number))?;
        }
        let (coded, codes) = coded(text);
        let mut sorted = GpuSuffixes {
            positions: vec![0; text.len()],
            common: vec![0; text.len()],
        };
        let functions = &self.library.functions;
        let to = (&mut sorted.positions[..], &mut sorted.common[..]);
        functions.suffixes_among(&self.shares, self.routes, (&coded, codes), to)?;
        Ok(sorted)
    }
}

/// Codes of the letters of texts, and how many there are.
fn coded(text: &[u8]) -> (Vec<u8>, u32) {
    let ends = text.last().is_none_or(|&last| last == SENTINEL);
    assert!(ends, "a sentinel ends a set of texts");
    let (codes, last) = codes_of(text);
    let coded = text.iter().map(|&letter| codes[usize::from(letter)]);
    (coded.collect(), u32::from(last.max(1)) + 1)
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
