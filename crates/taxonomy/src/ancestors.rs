//! The lowest common ancestor in constant time and linear memory.
//!
//! Schieber and Vishkin, "On finding lowest common ancestors" (1988, doi:10.1137/0217079). The tree
//! is laid over a complete binary tree, where common ancestors are a matter of bits. With places
//! counted from 1 in the order of the walk, a node's *label* is the number with most trailing zeros
//! among the places of its clade: an inner node of the binary tree. Three things hold:
//!
//! 1. Nodes with one label are a path downwards, its *chain*. The chain's upper end is its *head*.
//! 2. The labels on the way from a node to the root are, in the binary tree, ancestors of its own
//!    label, each at a higher *level* than the one before. So the set of their levels, one bit
//!    each, says which they are (`levels`).
//! 3. The chain of the common ancestor is the lowest level that both nodes have at or above the
//!    point where their labels part.
//!
//! With the chain known, each node climbs to it: to the parent of the head of the last chain
//! before. Of the two places on the chain the upper one is the answer.

use crate::taxon::{ROOT, Taxon};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ancestors {
    nodes: Vec<Mark>,
    /// For each label the parent of its chain's head; for labels that no node has, anything.
    above: Vec<Taxon>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    label: u32,
    /// The lowest set bits of the labels of the node and of all above it.
    levels: u32,
}

impl Ancestors {
    /// Taxa are in the order of the walk; `ends` are the first after each clade. At most 2^31 taxa.
    pub(crate) fn new(parents: &[Taxon], ends: &[Taxon]) -> Ancestors {
        let mut nodes: Vec<Mark> = Vec::with_capacity(parents.len());
        let mut above = vec![ROOT; parents.len() + 1];
        for (taxon, (&parent, &end)) in parents.iter().zip(ends).enumerate() {
            let label = label(taxon as u32, end.0);
            let upper = nodes.get(parent.index()).copied().unwrap_or(Mark {
                label: 0,
                levels: 0,
            });
            if label != upper.label {
                above[label as usize] = parent;
            }
            nodes.push(Mark {
                label,
                levels: upper.levels | lowest_bit(label),
            });
        }
        Ancestors { nodes, above }
    }

    #[inline]
    pub(crate) fn lca(&self, a: Taxon, b: Taxon) -> Taxon {
        let (x, y) = (self.nodes[a.index()], self.nodes[b.index()]);
        if x.label == y.label {
            return a.min(b);
        }
        let parted = highest_bit(x.label ^ y.label);
        let level = lowest_bit(x.levels & y.levels & parted.wrapping_neg());
        self.climb(a, x, level).min(self.climb(b, y, level))
    }

    /// The lowest node of the chain at `level` that is `taxon` or above it.
    #[inline]
    fn climb(&self, taxon: Taxon, mark: Mark, level: u32) -> Taxon {
        let below = mark.levels & (level - 1);
        if below == 0 {
            return taxon;
        }
        let last = highest_bit(below);
        self.above[((mark.label & last.wrapping_neg()) | last) as usize]
    }
}

/// The number in `first + 1 ..= end` with most trailing zeros.
fn label(first: u32, end: u32) -> u32 {
    end & highest_bit(first ^ end).wrapping_neg()
}

#[inline]
fn lowest_bit(number: u32) -> u32 {
    number & number.wrapping_neg()
}

/// Of a number that is not zero.
#[inline]
fn highest_bit(number: u32) -> u32 {
    1 << number.ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_most_zeros() {
        for first in 0..70u32 {
            for end in first + 1..70 {
                let naive = (first + 1..=end)
                    .max_by_key(|n| n.trailing_zeros())
                    .expect("not empty");
                assert_eq!(label(first, end), naive, "{first} {end}");
            }
        }
    }
}
