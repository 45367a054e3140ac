//! Things of all bins, numbered through, and which process has which of them.

use std::ops::Range;

use gyrase_fabric::{FabricError, Place, World};

/// Things that are found bin by bin, numbered in the order of bins whoever has them. They may come
/// in several such rows: a *group* is a bin of a row.
#[derive(Clone, Debug)]
pub struct Numbering {
    place: Place,
    /// The number of the first of each group, and how many there are.
    first: Vec<usize>,
    /// The same of those that this process has.
    own: Vec<usize>,
}

impl Numbering {
    /// Numbers things of which this process has so many in each group: none in those of others.
    ///
    /// Collective.
    pub fn agree(
        world: &dyn World,
        place: &Place,
        counts: &[u64],
    ) -> Result<Numbering, FabricError> {
        Ok(Numbering {
            place: place.clone(),
            first: firsts(&world.sum(counts)?),
            own: firsts(counts),
        })
    }

    /// Numbers things that are found process by process, of which this one has so many.
    ///
    /// Collective.
    pub fn of_processes(world: &dyn World, own: usize) -> Result<Numbering, FabricError> {
        let place = Place::among(world.ranks(), world.peer());
        let mut counts = vec![0; world.ranks()];
        counts[world.rank()] = own as u64;
        Numbering::agree(world, &place, &counts)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.first[self.first.len() - 1]
    }

    /// How many this process has.
    pub fn own_len(&self) -> usize {
        self.own[self.own.len() - 1]
    }

    /// How many groups there are.
    pub fn group_count(&self) -> usize {
        self.first.len() - 1
    }

    /// Those of this process, ascending.
    pub fn groups(&self) -> impl Iterator<Item = usize> {
        (0..self.group_count()).filter(|&group| self.is_own(group))
    }

    /// True for a group of this process.
    pub fn is_own(&self, group: usize) -> bool {
        self.group_owner(group) == self.place.rank
    }

    /// The process that has a group.
    pub fn group_owner(&self, group: usize) -> usize {
        self.place.owner(group % self.place.partitions)
    }

    /// The numbers of a group.
    pub fn of(&self, group: usize) -> Range<usize> {
        self.first[group]..self.first[group + 1]
    }

    /// Which of the things of this process those of a group are.
    pub fn own_of(&self, group: usize) -> Range<usize> {
        self.own[group]..self.own[group + 1]
    }

    /// The group of one.
    pub fn group(&self, number: usize) -> usize {
        self.first.partition_point(|&first| first <= number) - 1
    }

    /// The process that has one.
    pub fn owner(&self, number: usize) -> usize {
        match self.place.ranks {
            1 => 0,
            _ => self.group_owner(self.group(number)),
        }
    }

    /// Which of the things of this process one is, which it must have.
    pub fn own_place(&self, number: usize) -> usize {
        match self.place.ranks {
            1 => number,
            _ => {
                let group = self.group(number);
                self.own[group] + (number - self.first[group])
            }
        }
    }

    /// The number of one of the things of this process.
    pub fn number(&self, own: usize) -> usize {
        match self.place.ranks {
            1 => own,
            _ => {
                let group = self.own.partition_point(|&first| first <= own) - 1;
                self.first[group] + (own - self.own[group])
            }
        }
    }
}

/// Where each of some rows of so many begins, and where the last ends.
fn firsts(counts: &[u64]) -> Vec<usize> {
    let mut firsts = vec![0];
    firsts.extend(counts.iter().scan(0, |end, &count| {
        *end += count as usize;
        Some(*end)
    }));
    firsts
}
