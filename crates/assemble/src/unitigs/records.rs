//! Numbers and bases in the records that travel between processes.

use crate::{BaseSlice, BaseString};

/// Takes a number of eight bytes from the front.
pub(crate) fn take_number(from: &mut &[u8]) -> u64 {
    let (number, rest) = from
        .split_first_chunk()
        .expect("a record is as long as it says");
    *from = rest;
    u64::from_le_bytes(*number)
}

/// Appends how many bases there are, and the bases.
pub(crate) fn put_bases(bases: &BaseString, record: &mut Vec<u8>) {
    record.extend((bases.len() as u64).to_le_bytes());
    record.extend(bases.words().iter().flat_map(|word| word.to_le_bytes()));
}

/// The same of a stretch of bases.
pub(crate) fn put_slice(bases: BaseSlice, record: &mut Vec<u8>) {
    let mut own = BaseString::default();
    bases.append_to(&mut own);
    put_bases(&own, record);
}

/// Takes what [`put_bases`] appended from the front.
pub(crate) fn take_bases(from: &mut &[u8]) -> BaseString {
    let len = take_number(from) as usize;
    let words = (0..BaseString::words_of(len)).map(|_| take_number(from));
    BaseString::of_words(words.collect(), len)
}
