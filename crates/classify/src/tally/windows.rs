//! A set of windows.

use std::collections::HashMap;

use gyrase_table::gydb::Location;

use crate::bytes::Reader;

/// Which windows were met; windows that lie together take little room.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Windows {
    /// For each run of 64 windows that was met, a bit per window.
    runs: HashMap<u32, u64>,
}

impl Windows {
    /// Appends how many runs of 64 windows there are (u64), number (u32) and windows (u64, the
    /// lowest bit the first) of each.
    pub(crate) fn put(&self, to: &mut Vec<u8>) {
        let mut runs: Vec<_> = self.runs.iter().collect();
        runs.sort_unstable();
        to.extend((runs.len() as u64).to_le_bytes());
        for (number, windows) in runs {
            to.extend(number.to_le_bytes());
            to.extend(windows.to_le_bytes());
        }
    }

    /// Takes what [`Windows::put`] wrote.
    pub(crate) fn take(reader: &mut Reader<'_>) -> Option<Windows> {
        let mut windows = Windows::default();
        for _ in 0..reader.u64()? {
            let number = reader.u32()?;
            windows.runs.insert(number, reader.u64()?);
        }
        Some(windows)
    }

    /// Adds a window.
    pub fn insert(&mut self, window: Location) {
        *self.runs.entry(window.0 / 64).or_default() |= 1 << (window.0 % 64);
    }

    /// How many windows were added, each counted once.
    pub fn len(&self) -> u64 {
        self.runs
            .values()
            .map(|run| u64::from(run.count_ones()))
            .sum()
    }

    /// True where no window was added.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Calls `each` for every window, in any order.
    pub fn each(&self, mut each: impl FnMut(Location)) {
        for (&run, &bits) in &self.runs {
            (0..64)
                .filter(|bit| bits >> bit & 1 == 1)
                .for_each(|bit| each(Location(64 * run + bit)));
        }
    }

    /// Adds all windows of another set.
    pub fn merge(&mut self, other: &Windows) {
        for (&run, bits) in &other.runs {
            *self.runs.entry(run).or_default() |= bits;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_count_once() {
        let mut windows = Windows::default();
        assert_eq!((windows.is_empty(), windows.len()), (true, 0));
        [0, 63, 64, 64, u32::MAX, 0]
            .into_iter()
            .for_each(|window| windows.insert(Location(window)));
        assert_eq!(windows.len(), 4);
        let mut other = Windows::default();
        [64, 65]
            .into_iter()
            .for_each(|window| other.insert(Location(window)));
        windows.merge(&other);
        assert_eq!(windows.len(), 5);
        let mut all = Vec::new();
        windows.each(|window| all.push(window.0));
        all.sort_unstable();
        assert_eq!(all, [0, 63, 64, 65, u32::MAX]);
        assert!(!windows.is_empty());
    }
}
