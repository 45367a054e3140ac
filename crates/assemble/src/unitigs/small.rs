//! Lists of numbers that take four bytes each.

use std::collections::BTreeMap;

/// Numbers that a list tells from one of them.
const BLOCK: usize = 256;

/// Where stretches end that follow each other. So many of them are less than 2^32 long together.
#[derive(Default)]
pub(super) struct Ends {
    /// The first end of each block.
    firsts: Vec<usize>,
    /// How far each end is behind the first of its block.
    behind: Vec<u32>,
}

impl Ends {
    /// With room for so many.
    pub(super) fn with_capacity(len: usize) -> Ends {
        Ends {
            firsts: Vec::with_capacity(len.div_ceil(BLOCK)),
            behind: Vec::with_capacity(len),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.behind.len()
    }

    /// Adds one that is not before the last.
    pub(super) fn push(&mut self, end: usize) {
        if self.len().is_multiple_of(BLOCK) {
            self.firsts.push(end);
        }
        let behind = end - self.firsts[self.firsts.len() - 1];
        let behind = u32::try_from(behind).expect("stretches are short");
        self.behind.push(behind);
    }

    #[inline(always)]
    pub(super) fn get(&self, number: usize) -> usize {
        self.firsts[number / BLOCK] + self.behind[number] as usize
    }
}

/// Sums, few of which are 2^32 - 1 or more.
#[derive(Default)]
pub(super) struct Sums {
    small: Vec<u32>,
    /// The others, by their numbers.
    large: BTreeMap<usize, u64>,
}

impl Sums {
    /// With room for so many.
    pub(super) fn with_capacity(len: usize) -> Sums {
        Sums {
            small: Vec::with_capacity(len),
            large: BTreeMap::new(),
        }
    }

    pub(super) fn push(&mut self, sum: u64) {
        let small = u32::try_from(sum).unwrap_or(u32::MAX);
        if small == u32::MAX {
            self.large.insert(self.small.len(), sum);
        }
        self.small.push(small);
    }

    #[inline(always)]
    pub(super) fn get(&self, number: usize) -> u64 {
        match self.small[number] {
            u32::MAX => self.large[&number],
            small => small.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_give_what_was_put_into_them() {
        let (mut ends, mut sums) = (Ends::default(), Sums::default());
        let end = |number: usize| number * number * 1000;
        let most = u64::from(u32::MAX);
        let all = [0, 1, most - 1, most, most + 1, u64::MAX];
        (0..3000).for_each(|number| ends.push(end(number)));
        all.iter().for_each(|&sum| sums.push(sum));
        assert_eq!(ends.len(), 3000);
        assert!((0..3000).all(|number| ends.get(number) == end(number)));
        assert!((0..all.len()).all(|number| sums.get(number) == all[number]));
    }
}
