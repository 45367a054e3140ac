//! Suffix arrays and exact matching.
//!
//! # The idea
//!
//! All suffixes of a text in their order are an index of everything that occurs in it: what begins
//! alike stands together, and how much neighbours share says what occurs twice.
//!
//! ```text
//!  text      G A T T A C A $          position   suffix        shared with the one before
//!            0 1 2 3 4 5 6 7             7       $                0
//!                                        6       A$               0
//!                                        4       ACA$             1
//!                                        1       ATTACA$          1
//!                                        5       CA$              0
//!                                        0       GATTACA$         0
//!                                        3       TACA$            0
//!                                        2       TTACA$           1
//! ```
//!
//! Several texts are one, with a sentinel behind each that is smaller than every letter and equals
//! nothing, so that no match goes from one into the next ([`Texts`]).
//!
//! * [`SuffixArray`] sorts, by libsais; [`check_positions`] and [`check_common`] check in linear
//!   time.
//! * [`build_in`] sorts what no process has whole: by prefix doubling, over the fabric.
//! * [`matching`] finds the maximal exact matches between a reference and queries. It needs no
//!   suffix array: sampled words find the same, sooner.
//! * [`repeats`] finds what occurs twice, [`mappability`] how often the k-mer of each place does.
//! * [`gysa`] keeps texts and their suffix array in a file.
//!
//! ```
//! use gyrase_suffix::{SuffixArray, Zeros};
//!
//! let sorted = SuffixArray::of(b"GATTACA\0", Zeros::Sentinels)?;
//! assert!(sorted.positions.iter().eq([7, 6, 4, 1, 5, 0, 3, 2]));
//! assert!(sorted.common.iter().eq([0, 0, 1, 1, 0, 0, 0, 1]));
//! # Ok::<(), gyrase_suffix::Error>(())
//! ```

mod build;
mod check;
mod doubling;
mod error;
pub mod gysa;
mod intervals;
pub mod mappability;
pub mod matching;
mod numbers;
pub mod repeats;
mod sort;
mod strands;
mod texts;

pub use build::{build_in, most_sorting_memory_of_each, sorting_memory_of_each};
pub use check::{check_common, check_positions};
pub use error::Error;
pub use numbers::NumberArray;
pub use sort::{SENTINEL, SuffixArray, Zeros};
pub use strands::{sort, sort_on, sorting_memory};
pub use texts::{Letters, Text, Texts};
