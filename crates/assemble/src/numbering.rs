//! Things of all bins, numbered through, and which process has which of them.

use std::ops::Range;

use gyrase_fabric::{FabricError, Peer, Place, World};

use crate::firsts::Firsts;

/// Things that are found bin by bin, numbered in the order of bins whoever has them. They may come
/// in several such rows: a *group* is a bin of a row.
#[derive(Clone, Debug)]
pub struct Numbering {
    place: Place,
    all: Firsts,
    /// Those that this process has.
    own: Firsts,
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
            all: Firsts::of(world.sum(counts)?),
            own: Firsts::of(counts.iter().copied()),
        })
    }

    /// Numbers things of which one process has all.
    pub fn alone(all: usize) -> Numbering {
        let firsts = Firsts::of([all as u64]);
        Numbering {
            place: Place::among(1, Peer { rank: 0, ranks: 1 }),
            own: firsts.clone(),
            all: firsts,
        }
    }

    /// Numbers other things that are found in the same groups.
    ///
    /// Collective.
    pub fn of_groups(&self, world: &dyn World, counts: &[u64]) -> Result<Numbering, FabricError> {
        Numbering::agree(world, &self.place, counts)
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
        self.all.len()
    }

    /// How many this process has.
    pub fn own_len(&self) -> usize {
        self.own.len()
    }

    /// How many groups there are.
    pub fn group_count(&self) -> usize {
        self.all.groups()
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
        self.all.range(group)
    }

    /// Which of the things of this process those of a group are.
    pub fn own_of(&self, group: usize) -> Range<usize> {
        self.own.range(group)
    }

    /// The group of one.
    pub fn group(&self, number: usize) -> usize {
        self.all.group(number)
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
            _ => self.own_place_in(self.group(number), number),
        }
    }

    /// The same of any, if this process has it.
    pub fn if_own(&self, number: usize) -> Option<usize> {
        match self.place.ranks {
            1 => Some(number),
            _ => {
                let group = self.group(number);
                let is_own = self.is_own(group);
                is_own.then(|| self.own_place_in(group, number))
            }
        }
    }

    fn own_place_in(&self, group: usize, number: usize) -> usize {
        self.own.first(group) + (number - self.all.first(group))
    }

    /// The numbers of those of this process, ascending.
    pub fn own_numbers(&self) -> impl Iterator<Item = usize> {
        self.groups().flat_map(|group| self.of(group))
    }

    /// The number of one of the things of this process.
    pub fn number(&self, own: usize) -> usize {
        match self.place.ranks {
            1 => own,
            _ => {
                let group = self.own.group(own);
                self.all.first(group) + (own - self.own.first(group))
            }
        }
    }
}
