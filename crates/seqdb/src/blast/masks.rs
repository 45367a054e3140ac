//! Masks of a volume, which `makeblastdb -mask_data` keeps: a column of the name
//! `BlastDb/MaskData`, in `.naa` (its index) and `.nab`, or `.paa` and `.pab`; in `nba` and `nbb`
//! and so on where it is not the first.
//!
//! The index has where the masks of each sequence begin in the other file. There are the number of
//! algorithms that made masks, and for each its number, how many masks it made, and where each
//! begins and ends. All are numbers of four bytes, the highest first (`seqdbcol.cpp`,
//! `seqdbimpl.cpp`: `CSeqDBImpl::GetMaskData`).

use std::ops::Range;
use std::path::Path;

use gyrase_table::let_go;

use super::files::{Mapped, big_endian, with_ending};
use crate::SeqDbError;

/// What the column is called.
const TITLE: &[u8] = b"\x10BlastDb/MaskData";
/// Where the title of a column stands in its index, and where the place of the list of offsets.
const AT_TITLE: usize = 32;
const AT_OFFSETS: usize = 28;
/// Bytes of a number, and of the begin and the end of a mask.
const NUMBER: usize = 4;
const MASK: usize = 2 * NUMBER;

/// The masks of a volume.
#[derive(Debug)]
pub(super) struct Masks {
    index: Mapped,
    data: Mapped,
    /// Where the offsets begin in the index.
    offsets: usize,
}

impl Masks {
    /// Opens the masks of a volume of so many sequences, if it has some.
    pub fn open(prefix: &Path, letter: char, len: usize) -> Result<Option<Masks>, SeqDbError> {
        for column in 'a'..='z' {
            let (index, data) = (format!("{column}a"), format!("{column}b"));
            if !with_ending(prefix, letter, &index).is_file() {
                return Ok(None);
            }
            let index = Mapped::open(prefix, letter, &index)?;
            if index.get(AT_TITLE..AT_TITLE + TITLE.len())? != TITLE {
                continue;
            }
            let offsets = number(&index, AT_OFFSETS)?;
            index.get(offsets..offsets + NUMBER * (len + 1))?;
            let data = Mapped::open(prefix, letter, &data)?;
            return Ok(Some(Masks {
                index,
                data,
                offsets,
            }));
        }
        Ok(None)
    }

    /// Masks of all sequences, or a few more than there are.
    pub fn total(&self) -> u64 {
        (self.data.bytes.len() / MASK) as u64
    }

    /// Gives the letters that the masks of a sequence have, by any algorithm, as long as `each`
    /// takes them for some of its letters.
    pub fn each(
        &self,
        sequence: usize,
        mut each: impl FnMut(Range<usize>) -> bool,
    ) -> Result<(), SeqDbError> {
        let at = |sequence| number(&self.index, self.offsets + NUMBER * sequence);
        let (mut place, end) = (at(sequence)?, at(sequence + 1)?);
        // What has no masks has nothing.
        if place == end {
            return Ok(());
        }
        let mut next = || {
            let found = number(&self.data, place);
            place += NUMBER;
            found
        };
        for _ in 0..next()? {
            let (_algorithm, count) = (next()?, next()?);
            for _ in 0..count {
                let range = next()?..next()?;
                if range.start > range.end || !each(range.clone()) {
                    let what = format!("sequence {sequence} has a mask at {range:?}");
                    return Err(self.data.corrupt(what));
                }
            }
        }
        Ok(())
    }

    /// Gives back the memory that what was read takes.
    pub fn let_go(&self) {
        let_go(&self.index.bytes);
        let_go(&self.data.bytes);
    }
}

fn number(file: &Mapped, at: usize) -> Result<usize, SeqDbError> {
    Ok(big_endian(file.get(at..at + NUMBER)?) as usize)
}
