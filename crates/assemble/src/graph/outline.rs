//! What is said of a node but its bases.

use arrayvec::ArrayVec;

use crate::records::{put_varint, take_bytes, take_varint};
use crate::way::Way;

/// What follows a way: less than five ways, which go on with a base each.
pub type Next = ArrayVec<Way, 4>;

/// A node without its bases.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// Bases that it has.
    pub length: usize,
    /// The sum of the counts of its k-mers.
    pub count: u64,
    /// What follows it in both directions, ascending.
    pub next: [Next; 2],
    /// How many ways lead there, at most four.
    pub in_degrees: [u8; 2],
}

impl Outline {
    /// What follows a way of the node.
    pub fn next(&self, way: Way) -> &[Way] {
        &self.next[usize::from(way.is_backward())]
    }

    /// How many ways lead to what follows a way of the node.
    pub fn in_degree_of_next(&self, way: Way) -> usize {
        self.in_degrees[usize::from(way.is_backward())].into()
    }

    /// Appends it to what one process sends to another.
    pub fn put(&self, bytes: &mut Vec<u8>) {
        put_varint(self.length as u64, bytes);
        put_varint(self.count, bytes);
        for (next, in_degree) in self.next.iter().zip(self.in_degrees) {
            bytes.push(next.len() as u8 | in_degree << 4);
            for way in next {
                bytes.extend_from_slice(&way.to_bytes());
            }
        }
    }

    /// Takes one from the front.
    pub fn take(from: &mut &[u8]) -> Outline {
        let (length, count) = (take_varint(from) as usize, take_varint(from));
        let mut outline = Outline {
            length,
            count,
            ..Outline::default()
        };
        for (next, in_degree) in outline.next.iter_mut().zip(&mut outline.in_degrees) {
            let [both] = take_bytes(from);
            next.extend((0..both & 15).map(|_| Way::of_bytes(take_bytes(from))));
            *in_degree = both >> 4;
        }
        outline
    }
}
