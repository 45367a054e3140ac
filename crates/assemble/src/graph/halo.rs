//! The nodes of a process, and those around them that others have (a halo).

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gyrase_fabric::{FabricError, World};

use super::outline::Outline;
use super::outlines::Outlines;
use super::shared::SharedGraph;
use crate::unitigs::records::{put_slice, take_bases};
use crate::way::Way;
use crate::{BaseSlice, BaseString};

/// A graph of the nodes of this process and of those around them, in the order of all: how long
/// they are, how often they were seen, and what follows what. It has no bases of others but those
/// that were asked for.
pub struct Halo<'g> {
    shared: &'g SharedGraph,
    graph: Cow<'g, Outlines>,
    own: Range<usize>,
    /// Those of others, by their numbers among all.
    others: HashMap<usize, Outline>,
    bases: HashMap<usize, BaseString>,
    /// The number of each node among those of all, and whether it is known; nothing where all are
    /// here.
    numbers: Vec<(usize, bool)>,
    missing: Mutex<Missing>,
}

/// What somebody looked for.
#[derive(Default)]
struct Missing {
    /// Nodes that are at the border.
    nodes: Vec<Way>,
    /// Nodes without bases.
    bases: Vec<Way>,
}

impl<'g> Halo<'g> {
    /// With the nodes that are so many edges away. What follows them is there, at the border: of
    /// that nothing is known.
    ///
    /// Collective.
    pub fn around(
        shared: &'g SharedGraph,
        edges: usize,
        world: &dyn World,
    ) -> Result<Halo<'g>, FabricError> {
        let own = shared.own();
        let mut halo = Halo {
            shared,
            graph: Cow::Borrowed(own.outlines()),
            own: 0..own.len(),
            others: HashMap::new(),
            bases: HashMap::new(),
            numbers: Vec::new(),
            missing: Mutex::default(),
        };
        if world.ranks() == 1 {
            return Ok(halo);
        }
        let mut border = neighbours(shared, own.ways().flat_map(|way| own.next(way)));
        for _ in 0..edges {
            border.retain(|way| !halo.others.contains_key(&way.node()));
            let next = halo.ask(&border, world)?;
            border = neighbours(shared, next.iter());
        }
        halo.put_together();
        Ok(halo)
    }

    /// Asks for nodes of others; the ways that follow them.
    ///
    /// Collective.
    fn ask(&mut self, nodes: &[Way], world: &dyn World) -> Result<Vec<Way>, FabricError> {
        let (own, mut found) = (self.shared.own(), Vec::new());
        let answer = |way: Way, bytes: &mut Vec<u8>| own.outline(way).put(bytes);
        let take = |way: Way, from: &mut &[u8]| found.push((way.node(), Outline::take(from)));
        self.shared.ask(nodes, world, answer, take)?;
        let all = found
            .iter()
            .flat_map(|(_, outline)| outline.next.iter().flatten());
        let next = all.copied().collect();
        self.others.extend(found);
        Ok(next)
    }

    /// Asks for all that was looked for and not known.
    ///
    /// Collective.
    pub fn grow(&mut self, world: &dyn World) -> Result<(), FabricError> {
        let Missing {
            mut nodes,
            mut bases,
        } = std::mem::take(&mut *self.lock());
        for ways in [&mut nodes, &mut bases] {
            ways.sort_unstable();
            ways.dedup();
        }
        self.ask(&nodes, world)?;
        let (own, mut found) = (self.shared.own(), Vec::new());
        let answer = |way: Way, bytes: &mut Vec<u8>| {
            put_slice(own.bases(way), bytes);
        };
        let take = |way: Way, from: &mut &[u8]| found.push((way.node(), take_bases(from)));
        self.shared.ask(&bases, world, answer, take)?;
        self.bases.extend(found);
        // Where others alone looked for nodes, nothing is new here.
        if !nodes.is_empty() {
            self.put_together();
        }
        Ok(())
    }

    /// Makes the graph of the nodes of this process, those of others, and what is at their border.
    fn put_together(&mut self) {
        let (own, own_numbers) = (self.shared.own(), self.shared.own_numbers());
        let next = self
            .others
            .values()
            .flat_map(|other| other.next.iter().flatten());
        // What is known of others follows something, as what is at the border does.
        let others = neighbours(
            self.shared,
            own.ways().flat_map(|way| own.next(way)).chain(next),
        );
        let start = others.partition_point(|other| other.node() < own_numbers.start);
        let here = |way: &Way| {
            let number = way.node();
            if own_numbers.contains(&number) {
                return way.of_node(start + number - own_numbers.start);
            }
            let place = others.partition_point(|other| other.node() < number);
            let own_before = if place < start { 0 } else { own.len() };
            way.of_node(place + own_before)
        };
        let numbers = (others[..start].iter().map(|other| other.node()))
            .chain(own_numbers.clone())
            .chain(others[start..].iter().map(|other| other.node()));
        let mut graph = Outlines::empty(own.k());
        let mut known = Vec::with_capacity(others.len() + own.len());
        for number in numbers {
            let (sizes, next): (_, [&[Way]; 2]) = if own_numbers.contains(&number) {
                let way = Way::forward(number - own_numbers.start);
                let next = [own.next(way), own.next(way.flipped())];
                ((own.length(way), own.count(way)), next)
            } else if let Some(other) = self.others.get(&number) {
                (
                    (other.length, other.count),
                    other.next.each_ref().map(Vec::as_slice),
                )
            } else {
                ((0, 0), [&[]; 2])
            };
            known.push((number, sizes.0 > 0));
            graph.push_node(sizes, next.map(|ways| ways.iter().map(here)));
        }
        self.own = start..start + own.len();
        self.numbers = known;
        self.graph = Cow::Owned(graph);
    }

    fn lock(&self) -> MutexGuard<'_, Missing> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All nodes.
    pub fn graph(&self) -> &Outlines {
        &self.graph
    }

    /// Those of this process.
    pub fn own(&self) -> impl Iterator<Item = Way> + use<> {
        self.own.clone().map(Way::forward)
    }

    /// The way of one of this process by itself.
    pub fn of_own(&self, own: Way) -> Way {
        own.of_node(self.own.start + own.node())
    }

    /// The way among those of all.
    pub fn number(&self, way: Way) -> Way {
        let number = self.numbers.get(way.node());
        number.map_or(way, |number| way.of_node(number.0))
    }

    /// How often somebody looked for what is not known.
    pub fn missed(&self) -> usize {
        let missing = self.lock();
        missing.nodes.len() + missing.bases.len()
    }

    /// Notes where a node is not known.
    fn look_at(&self, way: Way) -> bool {
        let is_known = self.numbers.get(way.node()).is_none_or(|number| number.1);
        if !is_known {
            self.lock()
                .nodes
                .push(Way::forward(self.number(way).node()));
        }
        is_known
    }

    /// What follows a way: as long as that is not known, nothing.
    pub fn next(&self, way: Way) -> &[Way] {
        self.look_at(way);
        self.graph.next(way)
    }

    /// What comes before a way: as long as that is not known, nothing.
    pub fn before(&self, way: Way) -> impl ExactSizeIterator<Item = Way> {
        self.look_at(way);
        self.graph.before(way)
    }

    /// k-mers of a node: as long as that is not known, one.
    pub fn kmers(&self, way: Way) -> u64 {
        match self.look_at(way) {
            true => self.graph.kmers(way),
            false => 1,
        }
    }

    /// The sum of their counts.
    pub fn count(&self, way: Way) -> u64 {
        self.look_at(way);
        self.graph.count(way)
    }

    /// The codes of a way: as long as they are not known, k of them.
    pub fn codes(&self, way: Way) -> Vec<u8> {
        let number = self.number(way);
        if self.own.contains(&way.node()) {
            return self.shared.own().codes(self.shared.own_way(number));
        }
        let Some(bases) = self.bases.get(&number.node()) else {
            self.lock().bases.push(Way::forward(number.node()));
            return vec![0; self.graph.k()];
        };
        let codes = BaseSlice::whole(bases).codes();
        match way.is_backward() {
            false => codes,
            true => codes.iter().rev().map(|code| 3 - code).collect(),
        }
    }
}

/// The nodes among `ways` that other processes have, forward, each once.
fn neighbours<'w>(graph: &SharedGraph, ways: impl Iterator<Item = &'w Way>) -> Vec<Way> {
    let own = graph.own_numbers();
    let nodes = ways
        .map(|way| way.node())
        .filter(|node| !own.contains(node));
    let mut nodes: Vec<Way> = nodes.map(Way::forward).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}
