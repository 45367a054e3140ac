//! A row: a read, its features, its hits.

use std::ops::Range;

use gyrase_table::gydb::Location;

use crate::candidates::Hit;
use crate::read::Read;

/// What the rows of a file tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Reads and their hits.
    Reads,
    /// The hits of reads that are at hand.
    Hits,
}

/// A read or pair with its hits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    /// The first word of its header, without the number of the mate.
    pub name: Vec<u8>,
    /// Letters, and those of the second mate.
    pub lengths: (usize, Option<usize>),
    /// Its features.
    pub features: Vec<u32>,
    /// Its hits.
    pub hits: Vec<Hit>,
}

/// Appends name, letters and features.
pub(super) fn write_read(read: &Read<'_>, bytes: &mut Vec<u8>) {
    let &Read {
        name,
        lengths,
        features,
    } = read;
    write_number(name.len() as u64, bytes);
    bytes.extend_from_slice(name);
    write_number(lengths.0 as u64, bytes);
    write_number(lengths.1.map_or(0, |mate| mate as u64 + 1), bytes);
    write_number(features.len() as u64, bytes);
    features
        .iter()
        .for_each(|feature| bytes.extend_from_slice(&feature.to_le_bytes()));
}

/// Appends ascending hits: windows as differences, and the features by number.
pub(super) fn write_hits(hits: &[Hit], bytes: &mut Vec<u8>) {
    write_number(hits.len() as u64, bytes);
    let mut before = 0;
    for &hit in hits {
        let window = hit.location().0;
        write_number(u64::from(window - before), bytes);
        write_number(hit.feature() as u64, bytes);
        before = window;
    }
}

impl Row {
    /// The read.
    pub fn read(&self) -> Read<'_> {
        Read {
            name: &self.name,
            lengths: self.lengths,
            features: &self.features,
        }
    }
}

/// Takes what [`write_read`] wrote off `bytes`; `None` when it is no such thing.
pub(super) fn read_read(bytes: &mut &[u8], row: &mut Row) -> Option<()> {
    let length = usize::try_from(read_number(bytes)?).ok()?;
    row.name.clear();
    row.name.extend_from_slice(bytes.split_off(..length)?);
    let first = usize::try_from(read_number(bytes)?).ok()?;
    let second = usize::try_from(read_number(bytes)?).ok()?;
    row.lengths = (first, second.checked_sub(1));
    let features = usize::try_from(read_number(bytes)?).ok()?;
    let (words, _) = bytes.split_off(..features.checked_mul(4)?)?.as_chunks();
    row.features.clear();
    row.features
        .extend(words.iter().map(|word| u32::from_le_bytes(*word)));
    Some(())
}

/// Takes what [`write_hits`] wrote off `bytes` and appends it, its windows counted from the first
/// of `windows`; `None` when it is no such thing, or has another window than these, or a feature
/// that is not among the first `features`.
pub(super) fn read_hits(
    bytes: &mut &[u8],
    windows: &Range<Location>,
    features: usize,
    hits: &mut Vec<Hit>,
) -> Option<()> {
    let mut window = windows.start.0;
    for _ in 0..read_number(bytes)? {
        window = window
            .checked_add(u32::try_from(read_number(bytes)?).ok()?)
            .filter(|&at| at < windows.end.0)?;
        let feature = u32::try_from(read_number(bytes)?)
            .ok()
            .filter(|&feature| (feature as usize) < features)?;
        hits.push(Hit::new(Location(window), feature));
    }
    Some(())
}

/// Appends a number, seven bits a byte, the lowest first; all bytes but the last have their upper
/// bit set.
fn write_number(mut number: u64, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[inline]
fn read_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.split_off_first()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: usize = u32::MAX as usize;

    fn windows(numbers: Range<u32>) -> Range<Location> {
        Location(numbers.start)..Location(numbers.end)
    }

    proptest! {
        #[test]
        fn rows_are_read_back(
            name in proptest::collection::vec(any::<u8>(), 0..300),
            first in any::<u32>(),
            second in proptest::option::of(any::<u32>()),
            features in proptest::collection::vec(any::<u32>(), 0..200),
            places in proptest::collection::vec((0..u32::MAX - 7, 0..u32::MAX), 0..200),
        ) {
            let lengths = (first as usize, second.map(|mate| mate as usize));
            let mut hits: Vec<Hit> = places
                .iter()
                .map(|&(window, feature)| Hit::new(Location(window), feature))
                .collect();
            hits.sort_unstable();
            let mut bytes = Vec::new();
            write_read(&Read { name: &name, lengths, features: &features }, &mut bytes);
            write_hits(&hits, &mut bytes);
            let (mut row, mut rest) = (Row::default(), &bytes[..]);
            prop_assert_eq!(
                read_read(&mut rest, &mut row).and_then(|()| read_hits(
                    &mut rest,
                    &windows(7..u32::MAX),
                    ALL,
                    &mut row.hits
                )),
                Some(())
            );
            prop_assert!(rest.is_empty());
            let moved = hits
                .iter()
                .map(|at| Hit::new(at.location().behind(7), at.feature() as u32))
                .collect();
            prop_assert_eq!(&row, &Row { name, lengths, features, hits: moved });
            for end in 0..bytes.len() {
                let (mut row, mut rest) = (Row::default(), &bytes[..end]);
                prop_assert_eq!(
                    read_read(&mut rest, &mut row).and_then(|()| read_hits(
                        &mut rest,
                        &windows(0..u32::MAX),
                        ALL,
                        &mut row.hits
                    )),
                    None
                );
            }
        }

        #[test]
        fn numbers_are_read_back(number in any::<u64>(), bits in 0..64u32) {
            let mut bytes = Vec::new();
            write_number(number >> bits, &mut bytes);
            let mut rest = &bytes[..];
            prop_assert_eq!(read_number(&mut rest), Some(number >> bits));
            prop_assert!(rest.is_empty() && bytes.len() <= 10);
        }
    }

    #[test]
    fn senseless_bytes_are_refused() {
        assert_eq!(read_number(&mut [0xff; 11].as_slice()), None);
        let mut bytes = Vec::new();
        let hits = [(2, 0), (9, 4)].map(|(window, feature)| Hit::new(Location(window), feature));
        write_hits(&hits, &mut bytes);
        let read = |numbers: Range<u32>, features| {
            read_hits(
                &mut &bytes[..],
                &windows(numbers),
                features,
                &mut Vec::new(),
            )
        };
        assert_eq!([read(0..10, 5), read(1..11, 5)], [Some(()); 2]);
        // A window of another file, a feature that the read does not have, a window that no number
        // is left for.
        assert_eq!(
            [
                read(0..9, 5),
                read(1..10, 5),
                read(0..10, 4),
                read(u32::MAX - 5..u32::MAX, 5)
            ],
            [None; 4]
        );
    }
}
