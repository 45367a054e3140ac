//! Which ends of unitigs meet.

use gyrase_kmer::{Shape, with_words};

use super::pieces::{end_of, of_end};
use super::{SharedUnitigs, Side, UnitigEnd};
use crate::Error;
use crate::among::Among;
use crate::meetings::{self, Overlap};
use crate::way::Way;

/// For each end of each unitig of a process the ends that it meets: those on the other side of its
/// junction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Links {
    /// Where those of each end begin, and how many there are.
    first: Vec<usize>,
    ends: Vec<u32>,
}

impl Links {
    /// Finds those of the unitigs of this process. Ends meet where the junction is that they share:
    /// in the process that has its place.
    ///
    /// Collective.
    pub(super) fn of(shared: &SharedUnitigs, among: &Among) -> Result<Links, Error> {
        let shape = Shape::new(shared.own().k(), false).expect("unitigs are of k-mers");
        with_words!(shape, W => Links::find::<W>(shared, among))
    }

    /// The ends that one meets, in the order of unitigs: what leaves a unitig of this process at
    /// this end goes on at these, which are numbered among those of all.
    pub(super) fn from(
        &self,
        UnitigEnd { unitig, side }: UnitigEnd,
    ) -> impl Iterator<Item = UnitigEnd> {
        let end = end_of(unitig, side) as usize;
        let ends = &self.ends[self.first[end]..self.first[end + 1]];
        ends.iter().map(|&end| {
            let (unitig, side) = of_end(end);
            UnitigEnd { unitig, side }
        })
    }

    /// How many there are here; of all processes each is counted from both of its ends.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    fn find<const W: usize>(shared: &SharedUnitigs, among: &Among) -> Result<Links, Error> {
        let (unitigs, numbering) = (shared.own(), &shared.numbering);
        let junctions = |unitig: usize| {
            let junction = |side| unitigs.junction::<W>(UnitigEnd { unitig, side });
            [Side::Left, Side::Right].map(junction)
        };
        let all = meetings::Shared {
            len: unitigs.len(),
            ends: &junctions,
            number: &|unitig| numbering.number(unitig),
            owner: &|unitig| numbering.owner(unitig),
        };
        let mut own = Vec::new();
        let every = |overlap: &Overlap, pairs: &mut Vec<_>| {
            pairs.extend(overlap.edges().map(|edge| Way::two_to_bytes(edge.ways)));
        };
        meetings::meet(unitigs.k(), all, among, every, |ways| {
            let [from, to] = Way::two_of_bytes(ways);
            let left = end_of(numbering.own_place(from.node()), entered(from).other());
            own.push([left, end_of(to.node(), entered(to))]);
        })?;
        Ok(Links::of_pairs(2 * unitigs.len(), &own))
    }

    /// Orders pairs of ends by the first, and then by the second.
    fn of_pairs(ends: usize, pairs: &[[u32; 2]]) -> Links {
        let mut first = vec![0; ends + 2];
        pairs
            .iter()
            .for_each(|pair| first[pair[0] as usize + 2] += 1);
        (2..ends + 2).for_each(|end| first[end] += first[end - 1]);
        let mut links = vec![0; pairs.len()];
        for &[from, to] in pairs {
            let place = &mut first[from as usize + 1];
            links[*place] = to;
            *place += 1;
        }
        first.pop();
        for end in 0..ends {
            links[first[end]..first[end + 1]].sort_unstable();
        }
        Links { first, ends: links }
    }
}

/// The side on which a way enters its sequence.
pub(crate) fn entered(way: Way) -> Side {
    match way.is_backward() {
        false => Side::Left,
        true => Side::Right,
    }
}
