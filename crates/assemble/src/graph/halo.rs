//! The nodes of a process, and those around them that others have (a halo).

use gyrase_fabric::{FabricError, World};

use super::ghosts::Ghosts;
use super::outline::Outline;
use super::shared::SharedGraph;
use crate::contig::Contig;
use crate::records::{put_slice, take_bases};
use crate::way::Way;
use crate::{BaseSlice, BaseString};

/// A graph as one process sees it: its own nodes, and of others those that were asked for. Ways are
/// numbered among those of all.
pub struct Halo<'g> {
    shared: &'g SharedGraph,
    outlines: Ghosts<Outline>,
    bases: Ghosts<BaseString>,
}

impl<'g> Halo<'g> {
    /// With nothing of others yet.
    pub fn of(shared: &'g SharedGraph) -> Halo<'g> {
        Halo {
            shared,
            outlines: Ghosts::default(),
            bases: Ghosts::default(),
        }
    }

    /// What `look` sees at each of some places, in their order. What is not known it takes for
    /// nothing; where it came to such, it looks again when all that was missing is there.
    ///
    /// Collective.
    pub fn seen<T, R>(
        &mut self,
        places: impl IntoIterator<Item = T>,
        world: &dyn World,
        look: impl Fn(&Halo, &T) -> R,
    ) -> Result<Vec<R>, FabricError> {
        let (mut seen, mut open) = (Vec::new(), Vec::new());
        for place in places {
            let missed = self.missed();
            seen.push(look(self, &place));
            if self.missed() > missed {
                open.push((seen.len() - 1, place));
            }
        }
        while self.grows(world)? {
            open.retain(|(number, place)| {
                let missed = self.missed();
                seen[*number] = look(self, place);
                self.missed() > missed
            });
        }
        Ok(seen)
    }

    /// Asks for all that was looked for and not known, if there is any.
    ///
    /// Collective.
    fn grows(&mut self, world: &dyn World) -> Result<bool, FabricError> {
        let missed = [self.outlines.missed(), self.bases.missed()];
        let missed = world.sum(&missed.map(|missed| missed as u64))?;
        let own = self.shared.own();
        if missed[0] > 0 {
            let answer = |way: Way, bytes: &mut Vec<u8>| own.outline(way).put(bytes);
            self.outlines
                .ask(self.shared, world, answer, Outline::take)?;
        }
        if missed[1] > 0 {
            let answer = |way: Way, bytes: &mut Vec<u8>| put_slice(own.bases(way), bytes);
            self.bases.ask(self.shared, world, answer, take_bases)?;
        }
        Ok(missed != [0, 0])
    }

    /// How often somebody looked for what is not known, since it was last asked for.
    fn missed(&self) -> usize {
        self.outlines.missed() + self.bases.missed()
    }

    /// The nodes of this process.
    pub fn own(&self) -> impl Iterator<Item = Way> + use<'g> {
        self.shared.own_numbers().map(Way::forward)
    }

    /// Bases of a k-mer.
    pub fn k(&self) -> usize {
        self.shared.k()
    }

    /// What follows a way, if that is known.
    pub fn known_next(&self, way: Way) -> Option<&[Way]> {
        match self.shared.if_own(way) {
            Some(own) => Some(self.shared.own().next(own)),
            None => Some(self.outlines.get(way)?.next(way)),
        }
    }

    /// What follows a way: as long as that is not known, nothing.
    pub fn next(&self, way: Way) -> &[Way] {
        self.known_next(way).unwrap_or_default()
    }

    /// How many ways lead to what follows a way: as long as that is not known, none.
    pub fn in_degree_of_next(&self, way: Way) -> usize {
        match self.shared.if_own(way) {
            Some(own) => self.shared.own().in_degree_of_next(own),
            None => {
                let node = self.outlines.get(way);
                node.map_or(0, |node| node.in_degree_of_next(way))
            }
        }
    }

    /// Whether other ways are known to lead to what follows a way. Of one of this process that is
    /// always known: who tries it first asks others for less.
    pub fn has_siblings(&self, way: Way) -> bool {
        self.in_degree_of_next(way) > 1
    }

    /// Other ways that lead to all that follows a way, as far as they are known.
    pub fn siblings(&self, way: Way) -> impl Iterator<Item = Way> {
        let next = self.next(way).first().filter(|_| self.has_siblings(way));
        let before = next.into_iter().flat_map(|&next| self.before(next));
        before.filter(move |&other| other != way)
    }

    /// What comes before a way: as long as that is not known, nothing.
    pub fn before(&self, way: Way) -> impl Iterator<Item = Way> {
        self.next(way.flipped()).iter().map(|way| way.flipped())
    }

    /// Bases of a node, and the sum of the counts of its k-mers: as long as that is not known, one
    /// k-mer that was never seen.
    fn sizes(&self, way: Way) -> (usize, u64) {
        match self.shared.if_own(way) {
            Some(own) => (self.shared.own().length(own), self.shared.own().count(own)),
            None => {
                let node = self.outlines.get(way);
                node.map_or((self.k(), 0), |node| (node.length, node.count))
            }
        }
    }

    /// Bases of a node.
    pub fn length(&self, way: Way) -> usize {
        self.sizes(way).0
    }

    /// What headers tell of a node.
    pub fn contig(&self, way: Way) -> Contig {
        let way = Way::forward(way.node());
        let next = [way, way.flipped()].map(|way| self.next(way));
        Contig::of(way, self.k(), self.sizes(way), next)
    }

    /// k-mers of a node.
    pub fn kmers(&self, way: Way) -> u64 {
        (self.length(way) + 1 - self.k()) as u64
    }

    /// The sum of their counts.
    pub fn count(&self, way: Way) -> u64 {
        self.sizes(way).1
    }

    /// Whether the coverage of a node is below a part of another's.
    pub fn is_below(&self, way: Way, part: (u64, u64), other: Way) -> bool {
        let of = |way: Way| (u128::from(self.count(way)), u128::from(self.kmers(way)));
        let ((count, kmers), (other_count, other_kmers)) = (of(way), of(other));
        count * other_kmers * u128::from(part.1) < other_count * kmers * u128::from(part.0)
    }

    /// The codes of a way: as long as they are not known, k of them.
    pub fn codes(&self, way: Way) -> Vec<u8> {
        if let Some(own) = self.shared.if_own(way) {
            return self.shared.own().codes(own);
        }
        let Some(bases) = self.bases.get(way) else {
            return vec![0; self.k()];
        };
        let codes = BaseSlice::whole(bases).codes();
        match way.is_backward() {
            false => codes,
            true => codes.iter().rev().map(|code| 3 - code).collect(),
        }
    }
}
