//! The graph of an assembly: sequences of at least k bases, and which of them overlap by k-1.

mod beside;
mod compact;
mod edges;
mod nodes;
mod sequences;
mod way;

pub use beside::beside;
pub use compact::{compact, compact_of, linked};
pub use edges::Edges;
pub use nodes::{Graph, Pieces, kmer_of, shape_of};
pub use sequences::{Crossing, Extended};
pub use way::Way;
