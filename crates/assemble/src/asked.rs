//! Nodes of a graph that others have, as far as somebody asked for them.

use std::collections::HashMap;

use gyrase_fabric::FabricError;

use crate::BaseSlice;
use crate::among::Among;
use crate::contig::Contig;
use crate::graph::{Graph, Outline, Pieces, SharedGraph, Way};
use crate::unitigs::records::{put_slice, take_bases};

/// Nodes with their bases, by their numbers among those of all.
pub struct AskedNodes {
    k: usize,
    nodes: Pieces,
    outlines: Vec<Outline>,
    /// Where each is here.
    places: HashMap<usize, usize>,
}

impl AskedNodes {
    /// None, of a graph of `k`-mers.
    pub fn new(k: usize) -> AskedNodes {
        AskedNodes {
            k,
            nodes: Pieces::default(),
            outlines: Vec::new(),
            places: HashMap::new(),
        }
    }

    /// Asks for those nodes of some ways that are not here.
    ///
    /// Collective.
    pub fn ask(
        &mut self,
        graph: &SharedGraph,
        ways: impl Iterator<Item = Way>,
        among: &Among,
    ) -> Result<(), FabricError> {
        let forward = ways.map(|way| Way::forward(way.node()));
        let new = forward.filter(|way| !self.places.contains_key(&way.node()));
        let mut ways: Vec<Way> = new.collect();
        ways.sort_unstable();
        ways.dedup();
        let own = graph.own();
        let answer = |way: Way, bytes: &mut Vec<u8>| {
            own.outline(way).put(bytes);
            put_slice(own.bases(way), bytes);
        };
        graph.ask(&ways, among.world, answer, |way, from| {
            let outline = Outline::take(from);
            let bases = take_bases(from);
            self.places.insert(way.node(), self.nodes.len());
            self.nodes
                .push_bases(BaseSlice::whole(&bases), outline.count);
            self.outlines.push(outline);
        })
    }

    /// A way as it is numbered here.
    pub fn here(&self, way: Way) -> Way {
        way.of_node(self.places[&way.node()])
    }

    /// What comes before a way.
    pub fn before(&self, way: Way) -> impl Iterator<Item = Way> {
        let outline = &self.outlines[self.here(way).node()];
        let next = &outline.next[usize::from(!way.is_backward())];
        next.iter().map(|way| way.flipped())
    }

    /// What headers tell of a node.
    pub fn contig(&self, way: Way) -> Contig {
        let outline = &self.outlines[self.here(way).node()];
        Contig::of(self.k, outline, Way::forward(way.node()))
    }

    /// The codes of a way, one a byte.
    pub fn codes(&self, way: Way) -> Vec<u8> {
        let mut codes = self.nodes.bases(self.places[&way.node()]).codes();
        if way.is_backward() {
            codes.reverse();
            codes.iter_mut().for_each(|code| *code = 3 - *code);
        }
        codes
    }

    /// The nodes as they are numbered here, with their bases.
    pub fn sequences(&self) -> Graph {
        Graph::of_sequences(self.k, &self.nodes)
    }
}
