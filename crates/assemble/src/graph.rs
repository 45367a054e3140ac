//! The graph of an assembly: sequences of at least k bases, and which of them overlap by k-1.

mod beside;
mod compact;
mod compact_among;
mod edges;
mod ghosts;
mod halo;
mod heads;
mod in_order;
mod nodes;
mod outline;
mod outlines;
mod sequences;
mod shared;

pub use crate::way::Way;
pub use beside::beside;
#[cfg(test)]
pub use compact::compact;
pub use compact_among::compact_among;
pub use edges::Edges;
pub use ghosts::Ghosts;
pub use halo::Halo;
pub use heads::Heads;
pub use nodes::{Graph, Pieces, kmer_of, shape_of};
pub use outline::Outline;
pub use outlines::Outlines;
pub use sequences::{Crossing, Extended};
pub use shared::SharedGraph;
