//! Nodes with a direction.

use crate::records::{of_pair, pair};

/// A node, read in one of its two directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Way(u32);

impl Way {
    /// A node as its bases are written.
    pub fn forward(node: usize) -> Way {
        Way(u32::try_from(2 * node).expect("a graph has less than 2^31 nodes"))
    }

    /// The number of the node.
    pub fn node(self) -> usize {
        self.0 as usize / 2
    }

    /// True where its bases are read as their reverse complement.
    pub fn is_backward(self) -> bool {
        self.0 & 1 == 1
    }

    /// The same node in the other direction.
    pub fn flipped(self) -> Way {
        Way(self.0 ^ 1)
    }

    /// The way of a number ([`Way::index`]).
    pub fn of_index(index: usize) -> Way {
        Way(u32::try_from(index).expect("a graph has less than 2^31 nodes"))
    }

    /// Another node in the same direction.
    pub fn of_node(self, node: usize) -> Way {
        let forward = Way::forward(node);
        if self.is_backward() {
            forward.flipped()
        } else {
            forward
        }
    }

    /// As it travels.
    pub fn to_bytes(self) -> [u8; 4] {
        self.0.to_le_bytes()
    }

    /// What [`Way::to_bytes`] made.
    pub fn of_bytes(bytes: [u8; 4]) -> Way {
        Way(u32::from_le_bytes(bytes))
    }

    /// Two as they travel.
    pub fn two_to_bytes([one, other]: [Way; 2]) -> [u8; 8] {
        pair([one.0, other.0])
    }

    /// What [`Way::two_to_bytes`] made.
    pub fn two_of_bytes(bytes: [u8; 8]) -> [Way; 2] {
        of_pair(bytes).map(Way)
    }

    /// A number for each way: twice that of the node, one more where it is read backward.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
