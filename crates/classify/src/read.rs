//! A read or pair, as answers need it.

use gyrase_seq::Batch;

/// A read or pair, as answers need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read<'b> {
    /// The first word of its header, without the number of the mate.
    pub name: &'b [u8],
    /// Letters of the read or first mate, and those of the second mate.
    pub lengths: (usize, Option<usize>),
    /// Its features; hits name them by their place here.
    pub features: &'b [u32],
}

impl<'b> Read<'b> {
    /// The read of that number in a batch of reads or first mates and a batch of second mates.
    pub(crate) fn of(
        [first, second]: &'b [Batch; 2],
        number: usize,
        features: &'b [u32],
    ) -> Read<'b> {
        let record = first.records[number];
        let mate = second.records.get(number).map(|mate| mate.letters.len());
        Read {
            name: name_of(first.bytes(record.name)),
            lengths: (record.letters.len(), mate),
            features,
        }
    }

    /// Letters of both mates.
    pub fn letters(&self) -> usize {
        self.lengths.0 + self.lengths.1.unwrap_or(0)
    }
}

/// The first word of a header, without the number of the mate.
fn name_of(header: &[u8]) -> &[u8] {
    let word = header
        .split(u8::is_ascii_whitespace)
        .next()
        .unwrap_or_default();
    word.strip_suffix(b"/1")
        .or_else(|| word.strip_suffix(b"/2"))
        .unwrap_or(word)
}
