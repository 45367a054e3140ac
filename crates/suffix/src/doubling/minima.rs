//! What neighbours share, and the least of it in a range.

use std::ops::Range;

use crate::numbers::{NumberArray, is_narrow};

/// Numbers of which one asks for the least in a range: those of a block, and of every [`LEAF`] of
/// them the least, in a tree. A number that is not known yet is larger than all.
pub(crate) struct Minima {
    numbers: NumberArray,
    /// What a number is as long as it is not known.
    unknown: usize,
    /// The least of two neighbours is at half their place, and the root at 1.
    tree: Vec<usize>,
}

/// Numbers in a leaf of the tree.
const LEAF: usize = 64;

impl Minima {
    /// So many that are not known, for a text of `letters` letters.
    pub fn unknown(count: usize, letters: usize) -> Minima {
        let (numbers, unknown) = match is_narrow(letters as u64) {
            true => (
                NumberArray::Narrow(vec![u32::MAX; count]),
                u32::MAX as usize,
            ),
            false => (NumberArray::Wide(vec![u64::MAX; count]), usize::MAX),
        };
        Minima {
            numbers,
            unknown,
            tree: vec![usize::MAX; 2 * count.div_ceil(LEAF).next_power_of_two()],
        }
    }

    /// One of them.
    pub fn get(&self, place: usize) -> usize {
        self.numbers.get(place)
    }

    /// Whether it is known.
    pub fn is_known(&self, place: usize) -> bool {
        self.numbers.get(place) != self.unknown
    }

    /// Makes one known that was not.
    pub fn set(&mut self, place: usize, number: usize) {
        self.numbers.set(place, number);
        let mut node = self.tree.len() / 2 + place / LEAF;
        while node > 0 && self.tree[node] > number {
            self.tree[node] = number;
            node /= 2;
        }
    }

    /// The least of all that are known.
    pub fn least_of_all(&self) -> usize {
        self.tree.get(1).copied().unwrap_or(usize::MAX)
    }

    /// The least of those in a range, as far as they are known.
    pub fn least(&self, range: Range<usize>) -> usize {
        let (first, last) = (range.start.div_ceil(LEAF), range.end / LEAF);
        if first >= last {
            return self.least_of_few(range);
        }
        let ends = [range.start..first * LEAF, last * LEAF..range.end];
        let ends = ends.map(|few| self.least_of_few(few));
        let leaves = self.tree.len() / 2;
        let (mut low, mut high) = (leaves + first, leaves + last);
        let mut least = ends[0].min(ends[1]);
        while low < high {
            if low % 2 == 1 {
                least = least.min(self.tree[low]);
                low += 1;
            }
            if high % 2 == 1 {
                high -= 1;
                least = least.min(self.tree[high]);
            }
            (low, high) = (low / 2, high / 2);
        }
        least
    }

    fn least_of_few(&self, few: Range<usize>) -> usize {
        let numbers = few.map(|place| self.numbers.get(place));
        let known = numbers.filter(|&number| number != self.unknown);
        known.min().unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_of_every_range_is_found() {
        for count in [0, 1, 63, 64, 65, 300] {
            let mut minima = Minima::unknown(count, 1000);
            let mut plain = vec![usize::MAX; count];
            // Each is set once at most: 11 divides no count.
            for (step, place) in (0..count).map(|number| number * 11 % count).enumerate() {
                if place % 3 == 0 {
                    continue;
                }
                plain[place] = (step * 31 + 5) % 97;
                minima.set(place, plain[place]);
            }
            for start in 0..=count {
                for end in start..=count {
                    let expected = plain[start..end].iter().copied().min();
                    let expected = expected.unwrap_or(usize::MAX);
                    assert_eq!(
                        minima.least(start..end),
                        expected,
                        "{start}..{end} of {count}"
                    );
                }
            }
            assert_eq!(
                minima.least_of_all(),
                plain.iter().copied().min().unwrap_or(usize::MAX)
            );
        }
    }
}
