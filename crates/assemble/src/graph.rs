//! The graph of an assembly: sequences of at least k bases, and which of them overlap by k-1.

mod compact;
mod nodes;

pub use compact::{compact, linked};
pub use nodes::{Graph, Pieces, Way, kmer_of, shape_of};
