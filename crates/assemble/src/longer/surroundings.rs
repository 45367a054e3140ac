//! What is around ends: nodes of this process, and those of others as far as somebody looked there.

use gyrase_fabric::{FabricError, World};
use gyrase_kmer::Kmer;

use super::crossings::Across;
use super::found::Found;
use crate::BaseString;
use crate::among::Among;
use crate::answers::Answers;
use crate::graph::{Ghosts, Outline, Way};
use crate::records::{put_slice, take_bases, take_bytes, take_number};
use crate::together::{bytes_of, of_bytes, owner};

/// The smaller graph with what reads say of the larger k, seen from some places.
pub struct Surroundings<'f, 'g, const W: usize> {
    found: &'f Found<'g, W>,
    /// Of a mixed sample for each node of this process whether it is a side of a bubble.
    sides: Option<&'f [bool]>,
    ranks: usize,
    rank: usize,
    others: Ghosts<Other>,
    /// Counts of k-mers that fall to others.
    kmers: Answers<Kmer<W>, Option<u32>>,
}

/// A node of another process.
struct Other {
    outline: Outline,
    inner: u64,
    is_side: bool,
    /// The counts of the k-mers that cross the edges in both directions, each where the edge is the
    /// lesser of its own.
    crossings: [Vec<Vec<u32>>; 2],
    /// Its first and last bases.
    ends: [BaseString; 2],
}

impl<'f, 'g, const W: usize> Surroundings<'f, 'g, W> {
    /// As far as this process has them.
    pub fn of(
        found: &'f Found<'g, W>,
        sides: Option<&'f [bool]>,
        world: &dyn World,
    ) -> Surroundings<'f, 'g, W> {
        Surroundings {
            found,
            sides,
            ranks: world.ranks(),
            rank: world.rank(),
            others: Ghosts::default(),
            kmers: Answers::default(),
        }
    }

    /// Bases of a larger k-mer.
    pub fn k(&self) -> usize {
        self.found.k
    }

    /// Bases of a smaller one.
    pub fn smaller_k(&self) -> usize {
        self.found.graph().k()
    }

    /// Whether sides of bubbles matter.
    pub fn is_mixed(&self) -> bool {
        self.sides.is_some()
    }

    fn own(&self, way: Way) -> Option<Way> {
        self.found.graph().if_own(way)
    }

    /// Bases of a node; nothing where it is not known yet, as in all that follows.
    pub fn length(&self, way: Way) -> Option<usize> {
        match self.own(way) {
            Some(own) => Some(self.found.graph().own().length(own)),
            None => Some(self.others.get(way)?.outline.length),
        }
    }

    /// What follows a way.
    pub fn next(&self, way: Way) -> Option<&[Way]> {
        match self.own(way) {
            Some(own) => Some(self.found.graph().own().next(own)),
            None => Some(self.others.get(way)?.outline.next(way)),
        }
    }

    /// A base of a way, not more than two larger k-mers from one of its ends.
    pub fn base(&self, way: Way, at: usize) -> Option<u8> {
        if let Some(own) = self.own(way) {
            return Some(self.found.graph().own().bases(own).base(at));
        }
        let other = self.others.get(way)?;
        let forward = match way.is_backward() {
            false => at,
            true => other.outline.length - 1 - at,
        };
        let [first, last] = &other.ends;
        let code = match forward < first.len() {
            true => first.base(forward),
            false => last.base(last.len() - (other.outline.length - forward)),
        };
        Some(if way.is_backward() { 3 - code } else { code })
    }

    /// How many larger k-mers of reads are within a node.
    pub fn inner(&self, way: Way) -> Option<u64> {
        match self.own(way) {
            Some(own) => Some(self.found.inner(own)),
            None => Some(self.others.get(way)?.inner),
        }
    }

    /// Whether a node is a side of a bubble, in a mixed sample.
    pub fn is_side(&self, way: Way) -> Option<bool> {
        match (self.own(way), self.sides) {
            (_, None) => Some(false),
            (Some(own), Some(sides)) => Some(sides[own.node()]),
            (None, Some(_)) => Some(self.others.get(way)?.is_side),
        }
    }

    /// How often a k-mer was seen that has so many smaller ones of the node before an edge, and the
    /// others of the one behind.
    pub fn crossing(&self, edge: (Way, Way), before: usize) -> Option<u32> {
        let across = Across::one(edge, before).lesser(self.found.crossings.smaller());
        let (edge, before) = (across.edge, across.first);
        if self.own(edge.0).is_some() {
            return Some(self.found.crossings.count(edge, before));
        }
        let other = self.others.get(edge.0)?;
        let side = usize::from(edge.0.is_backward());
        let next = other.outline.next(edge.0);
        let place = next.iter().position(|&next| next == edge.1);
        let counts = &other.crossings[side][place.expect("one follows the other")];
        Some(counts[self.found.crossings.place(edge, before)])
    }

    /// The count of a k-mer that is in more than two nodes, or was filled, if there is one.
    pub fn count(&self, kmer: Kmer<W>) -> Option<Option<u32>> {
        if owner(kmer, self.ranks) == self.rank {
            return Some(self.found.count(kmer));
        }
        self.kmers.get(kmer).copied()
    }

    /// Asks for all that was looked for and not known, if there is any.
    ///
    /// Collective.
    pub fn grows(&mut self, among: &Among) -> Result<bool, FabricError> {
        let missed = [self.others.missed(), self.kmers.missed()];
        let missed = among.world.sum(&missed.map(|missed| missed as u64))?;
        if missed[0] > 0 {
            let (found, sides) = (self.found, self.sides);
            let answer = |own: Way, bytes: &mut Vec<u8>| Other::put(found, sides, own, bytes);
            self.others
                .ask(found.graph(), among.world, answer, Other::take)?;
        }
        if missed[1] > 0 {
            self.ask_for_kmers(among)?;
        }
        Ok(missed != [0, 0])
    }

    /// Asks for the counts of k-mers that were missing.
    ///
    /// Collective.
    fn ask_for_kmers(&mut self, among: &Among) -> Result<(), FabricError> {
        let kmers = self.kmers.take_missing();
        let question = |kmer| (owner(kmer, self.ranks), bytes_of(kmer, 0));
        let answers = among.ask(&kmers, question, |bytes| {
            let count = self.found.count(of_bytes(bytes).0);
            count.map_or(u64::MAX, u64::from).to_le_bytes()
        })?;
        self.kmers.reserve(kmers.len());
        for (kmer, count) in kmers.into_iter().zip(answers) {
            let count = u32::try_from(u64::from_le_bytes(count));
            self.kmers.insert(kmer, count.ok());
        }
        Ok(())
    }
}

impl Other {
    /// Says what there is to know about a node of this process.
    fn put<const W: usize>(
        found: &Found<W>,
        sides: Option<&[bool]>,
        own: Way,
        bytes: &mut Vec<u8>,
    ) {
        let (graph, crossings) = (found.graph(), &found.crossings);
        graph.own().outline(own).put(bytes);
        bytes.extend(found.inner(own).to_le_bytes());
        bytes.push(sides.is_some_and(|sides| sides[own.node()]).into());
        let mut put = |number: u32| bytes.extend(number.to_le_bytes());
        for way in [own, own.flipped()] {
            for &to in graph.own().next(way) {
                let counts = crossings.counts((graph.number(way), to));
                put(counts.len() as u32);
                counts.into_iter().for_each(&mut put);
            }
        }
        let all = graph.own().bases(own);
        let end = all.len().min(2 * found.k);
        for stretch in [0..end, all.len() - end..all.len()] {
            put_slice(all.slice(stretch), bytes);
        }
    }

    fn take(from: &mut &[u8]) -> Other {
        let outline = Outline::take(from);
        let (inner, is_side) = (take_number(from), take_bytes(from) != [0]);
        let mut number = || u32::from_le_bytes(take_bytes(from));
        let crossings = outline.next.each_ref().map(|next| {
            let counts = |_| {
                let places = number();
                (0..places).map(|_| number()).collect()
            };
            next.iter().map(counts).collect()
        });
        let ends = [take_bases(from), take_bases(from)];
        Other {
            outline,
            inner,
            is_side,
            crossings,
            ends,
        }
    }
}
