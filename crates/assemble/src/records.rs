//! Numbers and bases in the records that travel between processes.

use std::ops::Range;

use crate::base_string::PER_WORD;
use crate::{BaseSlice, BaseString};

/// Takes so many bytes from the front.
pub fn take_bytes<const N: usize>(from: &mut &[u8]) -> [u8; N] {
    let (bytes, rest) = from
        .split_first_chunk()
        .expect("a record is as long as it says");
    *from = rest;
    *bytes
}

/// Takes a number of eight bytes from the front.
pub fn take_number(from: &mut &[u8]) -> u64 {
    u64::from_le_bytes(take_bytes(from))
}

/// Two numbers as bytes.
pub fn pair([one, other]: [u32; 2]) -> [u8; 8] {
    (u64::from(one) | u64::from(other) << 32).to_le_bytes()
}

/// The numbers of [`pair`].
pub fn of_pair(bytes: [u8; 8]) -> [u32; 2] {
    let both = u64::from_le_bytes(bytes);
    [both as u32, (both >> 32) as u32]
}

/// Three numbers as bytes.
pub fn three(numbers: [u32; 3]) -> [u8; 12] {
    let mut bytes = [0; 12];
    let places = bytes.as_chunks_mut().0.iter_mut();
    places
        .zip(numbers)
        .for_each(|(place, number)| *place = number.to_le_bytes());
    bytes
}

/// The numbers of [`three`].
pub fn of_three(bytes: [u8; 12]) -> [u32; 3] {
    std::array::from_fn(|number| u32::from_le_bytes(bytes.as_chunks().0[number]))
}

/// Appends a number that is mostly small: seven bits to a byte, lowest first, and a bit where more
/// follow (LEB128).
pub fn put_varint(mut number: u64, record: &mut Vec<u8>) {
    while number >= 0x80 {
        record.push(number as u8 | 0x80);
        number >>= 7;
    }
    record.push(number as u8);
}

/// Takes what [`put_varint`] appended from the front.
pub fn take_varint(from: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let [byte] = take_bytes(from);
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    number
}

/// Appends how many bases there are, and the bases.
pub fn put_bases(bases: &BaseString, record: &mut Vec<u8>) {
    put_slice(BaseSlice::whole(bases), record);
}

/// The same of a stretch of bases.
pub fn put_slice(bases: BaseSlice, record: &mut Vec<u8>) {
    record.extend((bases.len() as u64).to_le_bytes());
    bases
        .words()
        .for_each(|word| record.extend(word.to_le_bytes()));
}

/// Takes what [`put_bases`] appended from the front.
pub fn take_bases(from: &mut &[u8]) -> BaseString {
    let mut bases = BaseString::default();
    append_bases(from, &mut bases);
    bases
}

/// Takes the same from the front, and appends the bases to others; where among these they are.
pub fn append_bases(from: &mut &[u8], bases: &mut BaseString) -> Range<usize> {
    let (start, len) = (bases.len(), take_number(from) as usize);
    bases.reserve(len);
    for at in (0..len).step_by(PER_WORD) {
        bases.push_word(take_number(from), PER_WORD.min(len - at));
    }
    start..start + len
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_are_taken_as_they_were_put(numbers: Vec<u64>, shift in 0..64) {
            let numbers: Vec<u64> = numbers.into_iter().map(|number| number >> shift).collect();
            let mut record = Vec::new();
            numbers.iter().for_each(|&number| put_varint(number, &mut record));
            let mut from = &record[..];
            for number in numbers {
                prop_assert_eq!(take_varint(&mut from), number);
            }
            prop_assert!(from.is_empty());
        }

        #[test]
        fn bases_are_taken_as_they_were_put(
            codes in proptest::collection::vec(0..4_u8, 0..200),
            before in proptest::collection::vec(0..4_u8, 0..70),
            from: prop::sample::Index,
        ) {
            let packed = |codes: &[u8]| {
                let mut packed = BaseString::default();
                packed.push_codes(codes);
                packed
            };
            let start = from.index(codes.len() + 1);
            let mut record = Vec::new();
            put_slice(BaseSlice::of(&packed(&codes), start..codes.len()), &mut record);
            let own = &codes[start..];
            prop_assert_eq!(take_bases(&mut &record[..]), packed(own));
            let (mut bases, mut left) = (packed(&before), &record[..]);
            let stretch = append_bases(&mut left, &mut bases);
            prop_assert_eq!((left.len(), stretch), (0, before.len()..before.len() + own.len()));
            prop_assert_eq!(bases, packed(&[&before, own].concat()));
        }
    }
}
