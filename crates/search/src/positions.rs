//! Where a text has what is looked for, by key.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use gyrase_work::{in_threads, prefer_large_pages, prefetch};

/// Positions in a line of the cache.
const POSITIONS_OF_LINE: usize = 64 / size_of::<u32>();

/// What has keys in a text.
pub(crate) trait Keyed: Sync {
    /// Gives `each` the keys of a stretch and their positions, in ascending order.
    fn of(&self, stretch: Range<usize>, each: impl FnMut(usize, u32));
}

/// Positions in a text by key.
pub(crate) struct Positions {
    /// Where the positions of each key begin, and where all end.
    starts: Vec<u32>,
    positions: Vec<AtomicU32>,
}

impl Positions {
    /// Those of a text by so many keys; each thread has a stretch of it.
    pub(crate) fn new(
        text: Range<usize>,
        keys: usize,
        keyed: &impl Keyed,
        threads: usize,
    ) -> Positions {
        let stretch = text.len().div_ceil(threads).max(1);
        let stretches: Vec<Range<usize>> = text
            .clone()
            .step_by(stretch)
            .map(|from| from..(from + stretch).min(text.end))
            .collect();
        let count = |stretch| {
            let mut counts = vec![0_u32; keys];
            keyed.of(stretch, |key, _| counts[key] += 1);
            counts
        };
        let mut next = in_threads(stretches.clone(), count);
        let mut starts = Vec::with_capacity(keys + 1);
        let mut sum = 0;
        for key in 0..keys {
            starts.push(sum);
            for counts in &mut next {
                let count = std::mem::replace(&mut counts[key], sum);
                sum += count;
            }
        }
        starts.push(sum);
        let mut positions = Vec::with_capacity(sum as usize);
        prefer_large_pages(positions.spare_capacity_mut());
        positions.resize_with(sum as usize, AtomicU32::default);
        let place = |(stretch, mut next): (_, Vec<u32>)| {
            keyed.of(stretch, |key, position| {
                positions[next[key] as usize].store(position, Relaxed);
                next[key] += 1;
            });
        };
        in_threads(stretches.into_iter().zip(next).collect(), place);
        Positions { starts, positions }
    }

    /// The same by more keys: each has so many parts now.
    pub(crate) fn divided(
        mut self,
        parts: usize,
        part: impl Fn(u32) -> usize + Sync,
        threads: usize,
    ) -> Positions {
        let keys = self.starts.len() - 1;
        let own = keys.div_ceil(threads);
        let mut rest = &mut self.positions[..];
        let shares = (0..keys).step_by(own).map(|first| {
            let starts = &self.starts[first..=(first + own).min(keys)];
            let length = (starts[starts.len() - 1] - starts[0]) as usize;
            (starts, rest.split_off_mut(..length).unwrap_or_default())
        });
        let divide = |(of_keys, mut positions): (&[u32], &mut [AtomicU32])| {
            let mut starts = Vec::with_capacity(own * parts);
            let mut with_parts = Vec::new();
            for ends in of_keys.windows(2) {
                let length = (ends[1] - ends[0]) as usize;
                let positions = positions.split_off_mut(..length).unwrap_or_default();
                let positions_of = positions.iter_mut().map(AtomicU32::get_mut);
                with_parts.extend(positions_of.map(|position| (part(*position), *position)));
                let mut next = vec![0; parts];
                with_parts.iter().for_each(|(part, _)| next[*part] += 1);
                let mut sum = 0;
                for next in &mut next {
                    starts.push(ends[0] + sum);
                    sum += std::mem::replace(next, sum);
                }
                for (part, position) in with_parts.drain(..) {
                    *positions[next[part] as usize].get_mut() = position;
                    next[part] += 1;
                }
            }
            starts
        };
        let of_shares = in_threads(shares.collect(), divide);
        let mut starts = Vec::with_capacity(keys * parts + 1);
        prefer_large_pages(starts.spare_capacity_mut());
        of_shares
            .iter()
            .for_each(|share| starts.extend_from_slice(share));
        starts.push(self.positions.len() as u32);
        Positions { starts, ..self }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.positions.len()
    }

    /// How many there are of a key.
    #[inline(always)]
    pub(crate) fn count(&self, key: usize) -> usize {
        (self.starts[key + 1] - self.starts[key]) as usize
    }

    /// Those of a key, in ascending order.
    #[inline(always)]
    pub(crate) fn of(&self, key: usize) -> impl ExactSizeIterator<Item = u32> + Clone + '_ {
        self.from(key).take(self.count(key))
    }

    /// Those of a key, and behind them those of all keys after it.
    #[inline(always)]
    pub(crate) fn from(&self, key: usize) -> impl ExactSizeIterator<Item = u32> + Clone + '_ {
        let positions = self.positions[self.starts[key] as usize..].iter();
        positions.map(|position| position.load(Relaxed))
    }

    /// Asks the processor for where those of a key are.
    #[inline(always)]
    pub(crate) fn prefetch_start(&self, key: usize) {
        prefetch(&self.starts, key);
    }

    /// Asks the processor for the first ones of a key, so many at least.
    #[inline(always)]
    pub(crate) fn prefetch(&self, key: usize, first: usize) {
        let start = self.starts[key] as usize;
        for line in (0..first).step_by(POSITIONS_OF_LINE) {
            prefetch(&self.positions, start + line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The key of a letter is its value; some have none.
    struct Letters(Vec<u8>);

    impl Keyed for Letters {
        fn of(&self, stretch: Range<usize>, mut each: impl FnMut(usize, u32)) {
            for at in stretch {
                if self.0[at] < 40 {
                    each(self.0[at].into(), at as u32);
                }
            }
        }
    }

    #[test]
    fn all_are_at_their_keys_however_they_are_divided() {
        let mut letters = Letters((0..5000_u32).map(|at| (at * at % 47) as u8).collect());
        letters.0[100..700].fill(3);
        for threads in [1, 2, 7, 64] {
            let by_key = Positions::new(0..5000, 40, &letters, threads);
            let letters = &letters.0;
            let all = |key: usize| {
                let own = move |at: &u32| usize::from(letters[*at as usize]) == key;
                (0..5000).filter(own)
            };
            assert!((0..40).all(|key| by_key.of(key).eq(all(key))));
            assert!((0..40).all(|key| by_key.count(key) == all(key).count()));
            let divided = by_key.divided(3, |at| (at % 3) as usize, threads);
            for key in 0..40 {
                for part in 0..3 {
                    let own = all(key).filter(|at| at % 3 == part);
                    assert!(divided.of(3 * key + part as usize).eq(own), "{key} {part}");
                }
            }
            assert_eq!(divided.len(), divided.from(0).len());
        }
        let none = Positions::new(0..0, 2, &Letters(Vec::new()), 3);
        assert_eq!(none.divided(2, |_| 0, 3).len(), 0);
    }
}
