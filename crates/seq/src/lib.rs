//! Bases, batches of reads, positions with units.
//!
//! Sequence data travels through Gyrase in [`Batch`]es: one text buffer that holds the bytes of
//! many records, and for every record the ranges of its name, its letters and its qualities in that
//! text. A batch is recycled: who fills it calls [`Batch::clear`] and keeps the allocations.
//!
//! ```text
//!  text      @r1 first \n GATTACA \n + \n IIIIIII \n @r2 ...      bytes of the file, as they are
//!             ^^^^^^^^    ^^^^^^^        ^^^^^^^
//!  record 0   name        letters        qualities              three spans: nothing is copied
//! ```
//!
//! Letters are ASCII until they are packed. The two-bit code is `A=0 C=1 G=2 T=3` (U reads as T),
//! so that comparing codes compares letters and the complement of a code `c` is `3 - c`. Any other
//! letter has no code; a k-mer over it does not exist.
//!
//! # Example
//!
//! ```
//! use gyrase_seq::{Batch, Record, Span, encode, reverse_complement};
//!
//! let mut batch = Batch::default();
//! batch.text.extend(b"GATTNACA");
//! let letters = Span { start: 0, end: 8 };
//! batch.records.push(Record { letters, ..Record::default() });
//! let read = batch.letters().next().expect("one record");
//!
//! let codes: Vec<_> = read.iter().map(|&letter| encode(letter)).collect();
//! assert_eq!(codes[..5], [Some(2), Some(0), Some(3), Some(3), None]); // G A T T N
//! assert_eq!(reverse_complement(read), b"TGTNAATC");
//! ```

mod base;
mod batch;

pub use base::{complement, decode, encode, reverse_complement};
pub use batch::{Batch, Record, Span};
