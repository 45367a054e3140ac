//! Bases, batches of reads, positions with units.
//!
//! Sequence data travels through Gyrase in [`Batch`]es: one text buffer that holds the bytes of
//! many records, and for every record the ranges of its name, its bases and its qualities in that
//! text. A batch is recycled: who fills it calls [`Batch::clear`] and keeps the allocations.
//!
//! Bases are ASCII letters until they are packed. The two-bit code is `A=0 C=1 G=2 T=3` (U reads as
//! T), so that comparing codes compares letters and the complement of a code `c` is `3 - c`. Any
//! other letter has no code; a k-mer over it does not exist.

mod base;
mod batch;

pub use base::{complement, decode, encode, reverse_complement};
pub use batch::{Batch, Record, Span};
