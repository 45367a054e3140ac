//! Targets: the reference sequences of a database, and whose windows are whose.

use std::ops::Range;

use gyrase_table::gydb::Location;
use gyrase_taxonomy::{Taxon, Taxonomy};

/// The number of a target of a database, from 0, in the order of the references.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct TargetId(pub u32);

impl TargetId {
    /// Where it stands in a list of all targets.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A reference sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The first word of its header.
    pub name: String,
    /// Its taxon; `None` when nothing names it.
    pub taxon: Option<Taxon>,
    /// Its letters.
    pub letters: u64,
    /// Its windows.
    pub windows: u32,
    /// The number of its file: files that have a target, in the order of the references, from 0.
    pub source: u32,
}

impl Target {
    /// The target with its taxon in another taxonomy that has it, and its file behind others.
    pub(crate) fn moved(&self, from: &Taxonomy, to: &Taxonomy, first_source: u32) -> Target {
        let taxon = |taxon| {
            to.taxon_of(from.taxid(taxon))
                .expect("the other taxonomy has all taxa of this")
        };
        Target {
            taxon: self.taxon.map(taxon),
            source: first_source.saturating_add(self.source),
            ..self.clone()
        }
    }
}

/// All targets of a database. Their windows are numbered through, in order of targets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Targets {
    targets: Vec<Target>,
    /// The first window of each.
    first_windows: Vec<Location>,
}

/// Why bytes are no targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the list of targets is damaged")]
pub struct DamagedTargets;

impl Targets {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// How many files they are of.
    pub fn sources(&self) -> u32 {
        self.targets
            .last()
            .map_or(0, |target| target.source.saturating_add(1))
    }

    /// The targets in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Target> {
        self.targets.iter()
    }

    /// The number of each, in order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = TargetId> + use<> {
        (0..self.len() as u32).map(TargetId)
    }

    /// The target of that number.
    ///
    /// # Panics
    /// When there is none.
    pub fn get(&self, target: TargetId) -> &Target {
        &self.targets[target.index()]
    }

    /// The windows of a target.
    ///
    /// # Panics
    /// When there is no such target.
    pub fn windows(&self, target: TargetId) -> Range<Location> {
        self.first_windows[target.index()]..self.end(target.index())
    }

    fn end(&self, target: usize) -> Location {
        self.first_windows
            .get(target + 1)
            .copied()
            .unwrap_or(Location(self.all_windows()))
    }

    /// The first window of each, in order.
    pub fn first_windows(&self) -> &[Location] {
        &self.first_windows
    }

    /// The windows of all targets.
    pub fn all(&self) -> Range<Location> {
        Location(0)..Location(self.all_windows())
    }

    /// How many windows all targets have.
    pub fn all_windows(&self) -> u32 {
        let last = self.first_windows.last().zip(self.targets.last());
        last.map_or(0, |(first, target)| first.0 + target.windows)
    }

    /// The target that a location is in.
    #[inline]
    pub fn at(&self, location: Location) -> TargetId {
        // Targets without a window share their number with the next.
        TargetId(
            (self
                .first_windows
                .partition_point(|&first| first <= location)
                - 1) as u32,
        )
    }

    /// A faster [`Targets::at`].
    pub fn finder(&self) -> TargetOf<'_> {
        TargetOf::new(self)
    }

    /// Adds a target; `None` when there would be more than 2^32 - 1 windows.
    pub fn push(&mut self, target: Target) -> Option<()> {
        let first = self.all_windows();
        first.checked_add(target.windows)?;
        self.first_windows.push(Location(first));
        self.targets.push(target);
        Some(())
    }

    /// The bytes that [`Targets::from_bytes`] reads: how many; for each its taxon, windows,
    /// letters, the length of its name and its file; all names.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = (self.len() as u64).to_le_bytes().to_vec();
        for target in &self.targets {
            bytes.extend(Taxon::to_number(target.taxon).to_le_bytes());
            bytes.extend(target.windows.to_le_bytes());
            bytes.extend(target.letters.to_le_bytes());
            bytes.extend((target.name.len() as u32).to_le_bytes());
            bytes.extend(target.source.to_le_bytes());
        }
        self.targets
            .iter()
            .for_each(|target| bytes.extend(target.name.as_bytes()));
        bytes
    }

    /// Reads what [`Targets::to_bytes`] wrote.
    ///
    /// # Errors
    /// When the bytes are anything else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Targets, DamagedTargets> {
        Targets::parse(bytes).ok_or(DamagedTargets)
    }

    fn parse(bytes: &[u8]) -> Option<Targets> {
        const ENTRY: usize = 24;
        let (count, rest) = bytes.split_first_chunk()?;
        let count = usize::try_from(u64::from_le_bytes(*count)).ok()?;
        let (entries, mut names) = rest.split_at_checked(count.checked_mul(ENTRY)?)?;
        let mut targets = Targets::default();
        for entry in entries.chunks_exact(ENTRY) {
            let word =
                |at: usize| u32::from_le_bytes(entry[at..at + 4].try_into().expect("four bytes"));
            let letters = u64::from(word(8)) | u64::from(word(12)) << 32;
            let (name, rest) = names.split_at_checked(word(16) as usize)?;
            names = rest;
            let name = str::from_utf8(name).ok()?.to_owned();
            targets.push(Target {
                name,
                taxon: Taxon::from_number(word(0)),
                letters,
                windows: word(4),
                source: word(20),
            })?;
        }
        names.is_empty().then_some(targets)
    }
}

/// Finds the targets of windows: a table of every so many windows leaves few targets to search
/// among.
#[derive(Debug)]
pub struct TargetOf<'t> {
    first_windows: &'t [Location],
    shift: u32,
    /// Of every `1 << shift` windows, the number of targets that begin before or with the first.
    begun: Vec<u32>,
}

/// Entries of a table, at most: so many stay in the cache of a core.
const CACHED: u32 = 1 << 15;

impl<'t> TargetOf<'t> {
    fn new(targets: &'t Targets) -> TargetOf<'t> {
        let (first_windows, all) = (&targets.first_windows[..], targets.all_windows());
        let shift = (0..32)
            .find(|shift| all >> shift < CACHED)
            .expect("2^32 >> 17 is below 2^15");
        let begun = |block: u32| {
            let start = u64::from(block) << shift;
            first_windows.partition_point(|first| u64::from(first.0) <= start) as u32
        };
        TargetOf {
            first_windows,
            shift,
            begun: (0..=(all >> shift) + 1).map(begun).collect(),
        }
    }

    /// The target that a location is in.
    ///
    /// # Panics
    /// When it is in none, if that is noticed.
    #[inline]
    pub fn at(&self, location: Location) -> TargetId {
        let block = (location.0 >> self.shift) as usize;
        let (from, to) = (self.begun[block], self.begun[block + 1]);
        let begun = &self.first_windows[from as usize..to as usize];
        TargetId(from + begun.partition_point(|&first| first <= location) as u32 - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> Targets {
        let mut targets = Targets::default();
        for (i, windows) in [3, 0, 1, 700, 0].into_iter().enumerate() {
            let taxon = (i != 2).then_some(Taxon(i as u32 + 5));
            let target = Target {
                name: format!("chr{i}"),
                taxon,
                letters: u64::from(windows) << 33,
                windows,
                source: i as u32 / 2,
            };
            targets.push(target).unwrap();
        }
        targets
    }

    #[test]
    fn every_window_has_its_target() {
        let targets = some();
        assert_eq!(targets.all_windows(), 704);
        let expected = [0..3, 3..3, 3..4, 4..704, 704..704];
        for (target, windows) in targets.ids().zip(expected) {
            assert_eq!(
                targets.windows(target),
                Location(windows.start)..Location(windows.end)
            );
            windows.for_each(|window| assert_eq!(targets.at(Location(window)), target));
        }
        let finder = targets.finder();
        (0..704)
            .map(Location)
            .for_each(|at| assert_eq!(finder.at(at), targets.at(at)));
        assert!(Targets::default().is_empty() && Targets::default().all_windows() == 0);
    }

    #[test]
    fn many_windows_have_their_targets() {
        let mut targets = Targets::default();
        for i in 0..3000u32 {
            let windows = [0, 1, 5, 700, 1_000_000, 3_000_000][i as usize * 7 % 11 % 6];
            targets
                .push(Target {
                    name: String::new(),
                    taxon: None,
                    letters: 0,
                    windows,
                    source: 0,
                })
                .unwrap();
        }
        let finder = targets.finder();
        let ends = targets.ids().flat_map(|target| {
            [
                targets.windows(target).start.0,
                targets.windows(target).end.0,
            ]
        });
        for at in ends
            .flat_map(|end| [end.saturating_sub(1), end])
            .filter(|&at| at < targets.all_windows())
            .map(Location)
        {
            assert_eq!(finder.at(at), targets.at(at), "{at:?}");
        }
        let last = Location(targets.all_windows() - 1);
        assert_eq!(finder.at(last), targets.at(last));
    }

    #[test]
    fn too_many_windows_are_refused() {
        let mut targets = some();
        let target = Target {
            name: String::new(),
            taxon: None,
            letters: 0,
            windows: u32::MAX - 704,
            source: 0,
        };
        assert!(targets.push(target.clone()).is_some());
        assert!(
            targets
                .push(Target {
                    windows: 1,
                    ..target
                })
                .is_none()
        );
    }

    #[test]
    fn bytes_are_whole_or_refused() {
        let bytes = some().to_bytes();
        assert_eq!(Targets::from_bytes(&bytes), Ok(some()));
        for end in 0..bytes.len() {
            assert_eq!(
                Targets::from_bytes(&bytes[..end]),
                Err(DamagedTargets),
                "{end}"
            );
        }
        assert!(Targets::from_bytes(&[bytes, vec![0]].concat()).is_err());
    }
}
