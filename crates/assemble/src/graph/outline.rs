//! What is said of a node but its bases.

use crate::unitigs::records::take_number;
use crate::way::Way;

/// A node without its bases.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// Bases that it has.
    pub length: usize,
    /// The sum of the counts of its k-mers.
    pub count: u64,
    /// What follows it in both directions, ascending.
    pub next: [Vec<Way>; 2],
}

impl Outline {
    /// What follows a way of the node.
    pub fn next(&self, way: Way) -> &[Way] {
        &self.next[usize::from(way.is_backward())]
    }

    /// Appends it to what one process sends to another.
    pub fn put(&self, bytes: &mut Vec<u8>) {
        let mut put = |number: u64| bytes.extend(number.to_le_bytes());
        put(self.length as u64);
        put(self.count);
        for next in &self.next {
            put(next.len() as u64);
            next.iter().for_each(|way| put(way.index() as u64));
        }
    }

    /// Takes one from the front.
    pub fn take(from: &mut &[u8]) -> Outline {
        let mut number = || take_number(from) as usize;
        let (length, count) = (number(), number() as u64);
        let mut list = || {
            let len = number();
            (0..len).map(|_| Way::of_index(number())).collect()
        };
        let next = [list(), list()];
        Outline {
            length,
            count,
            next,
        }
    }
}
