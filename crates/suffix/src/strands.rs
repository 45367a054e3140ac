//! Texts with one strand or both, and their suffixes.

use gyrase_gpu::{GpuError, GpuSuffixes};
use gyrase_work::Progress;

use crate::error::{BASE, Error, admit};
use crate::numbers::NumberArray;
use crate::sort::{SuffixArray, Zeros};
use crate::texts::Texts;

/// Sorts the suffixes of texts, and of their reverse complements, which come behind them where
/// both strands are wanted.
///
/// # Errors
/// The memory does not suffice, or the texts have no other strand.
pub fn sort(
    texts: &mut Texts,
    both_strands: bool,
    memory: u64,
    progress: &Progress,
) -> Result<SuffixArray, Error> {
    if both_strands {
        texts.has_strands()?;
    }
    let needed = sorting_memory(texts.letters.len() as u64, both_strands);
    admit("sorting the suffixes", needed, memory)?;
    if both_strands {
        texts.add_reverse_complements();
    }
    progress.start("sort suffixes", 0);
    SuffixArray::of(&texts.letters, Zeros::Sentinels)
}

/// Sorts the suffixes of texts on GPUs, as `sort_letters` does it: in the same order.
///
/// # Errors
/// The memory does not suffice; or [`Error::Gpu`], and [`sort()`] is still to do.
pub fn sort_on(
    sort_letters: impl FnOnce(&[u8]) -> Result<GpuSuffixes, GpuError>,
    texts: &Texts,
    memory: u64,
    progress: &Progress,
) -> Result<SuffixArray, Error> {
    let needed = sorting_memory(texts.letters.len() as u64, false);
    admit("sorting the suffixes", needed, memory)?;
    progress.start("sort suffixes", 0);
    let GpuSuffixes { positions, common } = sort_letters(&texts.letters)?;
    Ok(SuffixArray {
        positions: NumberArray::Narrow(positions),
        common: NumberArray::Narrow(common),
    })
}

/// Bytes of memory that a run takes to sort texts of so many letters.
pub fn sorting_memory(letters: u64, both_strands: bool) -> u64 {
    let letters = letters * if both_strands { 2 } else { 1 };
    BASE + letters + SuffixArray::memory(letters)
}
