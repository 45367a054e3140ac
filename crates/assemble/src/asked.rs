//! Nodes of a graph that others have, as far as somebody asked for them.

use gyrase_fabric::FabricError;

use crate::BaseString;
use crate::among::Among;
use crate::contig::Contig;
use crate::graph::{Ghosts, Outline, SharedGraph, Way};
use crate::records::take_bases;

/// Nodes with their bases, by their numbers among those of all.
pub struct AskedNodes {
    k: usize,
    nodes: Ghosts<(Outline, BaseString)>,
}

impl AskedNodes {
    /// Those of some ways.
    ///
    /// Collective.
    pub fn of(
        graph: &SharedGraph,
        ways: impl Iterator<Item = Way>,
        among: &Among,
    ) -> Result<AskedNodes, FabricError> {
        let (own, mut nodes) = (graph.own(), Ghosts::default());
        for way in ways {
            nodes.get(way);
        }
        let answer = |way: Way, bytes: &mut Vec<u8>| own.put(way, bytes);
        let take = |from: &mut &[u8]| (Outline::take(from), take_bases(from));
        nodes.ask(graph, among.world, answer, take)?;
        Ok(AskedNodes {
            k: graph.k(),
            nodes,
        })
    }

    fn node(&self, way: Way) -> &(Outline, BaseString) {
        self.nodes.get(way).expect("it was asked for")
    }

    fn outline(&self, way: Way) -> &Outline {
        &self.node(way).0
    }

    /// The bases of a way.
    pub fn bases(&self, way: Way) -> BaseString {
        let mut bases = BaseString::default();
        self.append(way, 0, &mut bases);
        bases
    }

    /// Appends the bases of a way behind so many.
    pub fn append(&self, way: Way, skip: usize, bases: &mut BaseString) {
        let (_, own) = self.node(way);
        match way.is_backward() {
            false => bases.append(own, skip..own.len()),
            true => bases.append_reverse_complement(own, 0..own.len() - skip),
        }
    }

    /// The sum of the counts of a node, and its k-mers.
    pub fn counts(&self, way: Way) -> (u64, u64) {
        let Outline { count, length, .. } = *self.outline(way);
        (count, (length + 1 - self.k) as u64)
    }

    /// What comes before a way.
    pub fn before(&self, way: Way) -> impl Iterator<Item = Way> {
        let back = self.outline(way).next(way.flipped());
        back.iter().map(|way| way.flipped())
    }

    /// What headers tell of a node.
    pub fn contig(&self, way: Way) -> Contig {
        let Outline {
            count,
            length,
            next: [next, back],
            ..
        } = self.outline(way);
        Contig::of(
            Way::forward(way.node()),
            self.k,
            (*length, *count),
            [next, back],
        )
    }
}
