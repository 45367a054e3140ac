//! Suffix arrays of texts that are spread over the processes of a job, by prefix doubling (Manber
//! and Myers, *Suffix arrays*, 1993; over many devices, thesis, chapter 5).
//!
//! Each process has a block of the text, and apart a block of the suffix array:
//!
//! ```text
//!                 process 0   process 1
//!  text           G A T T     A C A $
//!  suffix array   7 6 4 1     5 0 3 2      and what each suffix shares with the one before
//!  positions      0 2 4 6     1 3 5 7      and for each the bucket of its suffix
//! ```
//!
//! Positions are dealt out one by one, as what repeats is a stretch of the text: it is asked for in
//! every round.
//!
//! First the suffixes are sorted by as many letters as a word holds. Suffixes that begin alike are
//! a *bucket*, which is known by its first place. Then, round by round, the order by `h` letters
//! becomes that by `2 h`: within a bucket the suffix at `p` goes by the bucket of that at `p + h`.
//! What is alone in its bucket takes no part any more.
//!
//! Where a bucket is cut, the two suffixes share `h` letters, and as many as those `h` further on:
//! the least that neighbours share between their buckets (Flick and Aluru, *Parallel distributed
//! memory construction of suffix and longest common prefix arrays*, 2015).

mod block;
mod minima;
mod sample_sort;
mod sort;

use gyrase_fabric::World;

pub(crate) use block::{Survey, TextBlock, survey};
pub(crate) use sort::{Sorted, Sorting, round_memory};

/// A text and its suffixes, as the processes of a job have them.
pub(crate) struct Spread<'a> {
    pub world: &'a dyn World,
    pub survey: &'a Survey,
    pub text: &'a TextBlock,
    pub sorted: &'a Sorted,
}
