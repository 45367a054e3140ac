//! Batches of reads: one text, many records.

use std::ops::Range;

/// A range of bytes of a batch's text. Batches are below 4 GiB, so offsets are 32 bits wide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Number of bytes.
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// True when the span holds no byte.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The span as a range of `usize`.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl From<Range<usize>> for Span {
    /// # Panics
    /// When an end of the range does not fit 32 bits: batches are smaller than that.
    fn from(range: Range<usize>) -> Span {
        let offset = |n: usize| u32::try_from(n).expect("a batch is smaller than 4 GiB");
        Span {
            start: offset(range.start),
            end: offset(range.end),
        }
    }
}

/// One record of a batch, or one part of a record that is longer than a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The whole header line without its `>` or `@` and without the line end.
    pub name: Span,
    /// The letters, line ends removed.
    pub letters: Span,
    /// The qualities, as long as the letters; empty for FASTA.
    pub qualities: Span,
    /// How many of the first letters repeat the end of the part before (0 for a first or only
    /// part).
    pub overlap: u32,
    /// True when the record goes on in a later part.
    pub continues: bool,
}

/// Many records in one text buffer, in the order of their file.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The bytes that the spans of the records point into.
    pub text: Vec<u8>,
    /// The records.
    pub records: Vec<Record>,
    /// Index of the input that the records come from.
    pub input: usize,
    /// Number (from 0) of the first record within its input, where the reader knows it: a
    /// reader of byte ranges does not.
    pub first_record: Option<u64>,
    /// Letters of the first record that came in earlier parts, where it is a later part and the
    /// reader knows: what the part repeats of them not taken off.
    pub first_letter: Option<u64>,
}

impl Batch {
    /// Forgets the records and keeps the memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.records.clear();
        self.input = 0;
        self.first_record = None;
        self.first_letter = None;
    }

    /// The bytes of a span.
    #[inline]
    pub fn bytes(&self, span: Span) -> &[u8] {
        &self.text[span.range()]
    }

    /// The letters of every record (or part of one).
    pub fn letters(&self) -> impl Iterator<Item = &[u8]> {
        self.records.iter().map(|record| self.bytes(record.letters))
    }
}
