//! Suffix arrays and longest common prefixes, by libsais.

use libsais::{IsValidOutputFor, LibsaisError, OutputElement, SuffixArrayConstruction};
use libsais::{LIBSAIS_I32_OUTPUT_MAXIMUM_SIZE, SupportsPlcpOutputFor};

use crate::Error;
use crate::numbers::{NumberArray, all_are_wide};

/// What ends each text of a set: smaller than every letter, and unlike every other sentinel.
pub const SENTINEL: u8 = 0;

/// How the zeros of a text are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zeros {
    /// As letters: the text is one, of any bytes.
    Letters,
    /// As sentinels: the text is a set, and ends with one. Of two sentinels the first is smaller.
    Sentinels,
}

/// The suffixes of a text in their order.
///
/// `positions[i]` is where the suffix begins that has `i` smaller ones. `common[i]` is how many
/// letters it shares with the one before, up to a sentinel; 0 for the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuffixArray {
    /// Where the suffixes begin.
    pub positions: NumberArray,
    /// The longest common prefixes (LCP).
    pub common: NumberArray,
}

impl SuffixArray {
    /// Sorts the suffixes of a text. The end of a text is smaller than every letter.
    ///
    /// # Errors
    /// There is not enough memory.
    ///
    /// # Panics
    /// When the zeros are sentinels and the text does not end with one.
    pub fn of(text: &[u8], zeros: Zeros) -> Result<SuffixArray, Error> {
        if zeros == Zeros::Sentinels {
            let ends = text.last().is_none_or(|&last| last == SENTINEL);
            assert!(ends, "a sentinel ends a set of texts");
            let gaps = Gaps::of(text);
            if !gaps.runs.is_empty() {
                return SuffixArray::of_gaps(text, &gaps);
            }
        }
        SuffixArray::of_letters(text, zeros, text.len())
    }

    /// The same of a text in which sentinels follow each other, as they stand for what equals
    /// nothing. Libsais takes none such, so all but the first of neighbours are left out. All
    /// sentinels are in front anyway, in the order of the text.
    fn of_gaps(text: &[u8], gaps: &Gaps) -> Result<SuffixArray, Error> {
        let closed = gaps.close(text);
        let mut sorted = SuffixArray::of_letters(&closed, Zeros::Sentinels, text.len())?;
        let is_sentinel = |position: &usize| text[*position] == SENTINEL;
        let sentinels = (0..text.len()).filter(is_sentinel).enumerate();
        let mut count = 0;
        for (place, position) in sentinels {
            sorted.positions.set(place, position);
            sorted.common.set(place, 0);
            count = place + 1;
        }
        match &mut sorted.positions {
            NumberArray::Narrow(all) => all[count..]
                .iter_mut()
                .for_each(|position| *position = gaps.open(*position as usize) as u32),
            NumberArray::Wide(all) => all[count..]
                .iter_mut()
                .for_each(|position| *position = gaps.open(*position as usize) as u64),
        }
        Ok(sorted)
    }

    /// The suffix array of a text at the end of one of `length` places.
    fn of_letters(text: &[u8], zeros: Zeros, length: usize) -> Result<SuffixArray, Error> {
        let before = length - text.len();
        if length <= LIBSAIS_I32_OUTPUT_MAXIMUM_SIZE && !all_are_wide() {
            let [mut positions, mut own, mut common] = [(); 3].map(|()| vec![0u32; length]);
            let all = [&mut positions, &mut own, &mut common];
            let all = all.map(|numbers| bytemuck::cast_slice_mut(&mut numbers[before..]));
            sort::<i32>(text, zeros, all)?;
            return Ok(SuffixArray {
                positions: NumberArray::Narrow(positions),
                common: NumberArray::Narrow(common),
            });
        }
        let [mut positions, mut own, mut common] = [(); 3].map(|()| vec![0u64; length]);
        let all = [&mut positions, &mut own, &mut common];
        let all = all.map(|numbers| bytemuck::cast_slice_mut(&mut numbers[before..]));
        sort::<i64>(text, zeros, all)?;
        Ok(SuffixArray {
            positions: NumberArray::Wide(positions),
            common: NumberArray::Wide(common),
        })
    }

    /// Bytes of memory that sorting takes beside the text.
    pub fn memory(letters: u64) -> u64 {
        let wide = letters > LIBSAIS_I32_OUTPUT_MAXIMUM_SIZE as u64;
        letters * if wide { 24 } else { 12 }
    }

    /// The Burrows-Wheeler transform: the letter before each suffix, in their order. The one before
    /// the whole text is its last, which is a sentinel where the text is a set.
    pub fn transform<'s>(&'s self, text: &'s [u8]) -> impl Iterator<Item = u8> + 's {
        self.positions
            .iter()
            .map(|position| text[position.checked_sub(1).unwrap_or(text.len() - 1)])
    }
}

/// Fills three arrays: positions, common prefixes by position, common prefixes by order.
fn sort<O>(text: &[u8], zeros: Zeros, [positions, own, common]: [&mut [O]; 3]) -> Result<(), Error>
where
    O: OutputElement + IsValidOutputFor<u8> + SupportsPlcpOutputFor<u8>,
{
    if text.is_empty() {
        return Ok(());
    }
    let sorting = SuffixArrayConstruction::for_text(text)
        .in_borrowed_buffer(positions)
        .single_threaded();
    let sorting = match zeros {
        Zeros::Letters => sorting,
        Zeros::Sentinels => sorting.generalized_suffix_array(),
    };
    let sorted = sorting.run().map_err(failed)?;
    let prefixes = sorted.plcp_construction().in_borrowed_buffer(own);
    let prefixes = prefixes.single_threaded().run().map_err(failed)?;
    let ordered = prefixes.lcp_construction().in_borrowed_buffer(common);
    ordered.single_threaded().run().map_err(failed)?;
    Ok(())
}

fn failed(error: LibsaisError) -> Error {
    match error {
        LibsaisError::OutOfMemory => Error::NoMemory,
        other => Error::Sorting(other.to_string()),
    }
}

/// Sentinels that follow others, or stand at the beginning of a text.
struct Gaps {
    /// Where a run of them begins once all before are left out, and how many were left out with it.
    runs: Vec<(usize, usize)>,
    /// How many runs begin at or before the beginning of each [`BLOCK`] of the closed text: a
    /// position is looked for among those of its block alone, and most have none.
    of_blocks: Vec<usize>,
}

/// Positions of a block.
const BLOCK: usize = 1 << 15;

impl Gaps {
    fn of(text: &[u8]) -> Gaps {
        let mut runs = Vec::new();
        let (mut left_out, mut in_gap) = (0, false);
        let mut before = SENTINEL;
        for (position, &letter) in text.iter().enumerate() {
            let is_left_out = letter == SENTINEL && before == SENTINEL;
            left_out += usize::from(is_left_out);
            if !is_left_out && in_gap {
                runs.push((position - left_out, left_out));
            }
            (in_gap, before) = (is_left_out, letter);
        }
        if in_gap {
            runs.push((text.len() - left_out, left_out));
        }
        let blocks = (text.len() - left_out) / BLOCK + 2;
        let begin = |block: usize| runs.partition_point(|run| run.0 <= block * BLOCK);
        let of_blocks = (0..blocks).map(begin).collect();
        Gaps { runs, of_blocks }
    }

    /// The text without them.
    fn close(&self, text: &[u8]) -> Vec<u8> {
        let left_out = self.runs.last().map_or(0, |run| run.1);
        let mut closed = Vec::with_capacity(text.len() - left_out);
        let mut before = 0;
        for &(start, left_out) in &self.runs {
            closed.extend_from_slice(&text[closed.len() + before..start + before]);
            before = left_out;
        }
        closed.extend_from_slice(&text[closed.len() + before..]);
        closed
    }

    /// The position with them of one without.
    fn open(&self, position: usize) -> usize {
        let block = position / BLOCK;
        let own = self.of_blocks[block]..self.of_blocks[block + 1];
        let before = own.start;
        let runs = before + self.runs[own].partition_point(|run| run.0 <= position);
        position + runs.checked_sub(1).map_or(0, |last| self.runs[last].1)
    }
}
