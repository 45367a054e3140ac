//! The nodes of a process, and those around them that others have (a halo).

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use gyrase_fabric::{FabricError, World};

use super::nodes::Graph;
use super::shared::SharedGraph;
use crate::unitigs::records::take_number;
use crate::way::Way;

/// A graph of the nodes of this process and of those around them, in the order of all: how long
/// they are, how often they were seen, and what follows what. It has no bases where there are
/// several processes.
pub struct Halo<'g> {
    graph: Cow<'g, Graph>,
    own: Range<usize>,
}

/// What is said of a node.
struct Outline {
    length: usize,
    count: u64,
    /// What follows it in both directions, among those of all.
    next: [Vec<Way>; 2],
}

impl<'g> Halo<'g> {
    /// With the nodes that are so many edges away. What follows them is there, but of that nothing
    /// is known.
    ///
    /// Collective.
    pub fn around(
        graph: &'g SharedGraph,
        edges: usize,
        world: &dyn World,
    ) -> Result<Halo<'g>, FabricError> {
        let own = graph.own();
        if world.ranks() == 1 {
            return Ok(Halo {
                graph: Cow::Borrowed(own),
                own: 0..own.len(),
            });
        }
        let mut others = HashMap::new();
        let mut border = neighbours(graph, own.ways().flat_map(|way| own.next(way)));
        for _ in 0..edges {
            border.retain(|way| !others.contains_key(&way.node()));
            let mut found = Vec::new();
            let answer = |way: Way, bytes: &mut Vec<u8>| Outline::put(own, way, bytes);
            let take = |way: Way, from: &mut &[u8]| found.push((way.node(), Outline::take(from)));
            graph.ask(&border, world, answer, take)?;
            let next = found
                .iter()
                .flat_map(|(_, outline)| outline.next.iter().flatten());
            border = neighbours(graph, next);
            others.extend(found);
        }
        Ok(Halo::of(graph, others, &border))
    }

    /// The nodes of this process, `others`, and those at the `border`, of which nothing is known.
    fn of(graph: &SharedGraph, others: HashMap<usize, Outline>, border: &[Way]) -> Halo<'g> {
        let (own, own_numbers) = (graph.own(), graph.own_numbers());
        let mut numbers: Vec<usize> = own_numbers.clone().collect();
        numbers.extend(others.keys());
        numbers.extend(border.iter().map(|way| way.node()));
        numbers.sort_unstable();
        numbers.dedup();
        let here = |way: &Way| {
            let place = numbers.binary_search(&way.node());
            way.of_node(place.expect("what follows a node is there"))
        };
        let all_here = |next: &[Way]| next.iter().map(here).collect();
        let mut outline = Graph::empty(own.k());
        for number in &numbers {
            if own_numbers.contains(number) {
                let way = Way::forward(number - own_numbers.start);
                let next = [way, way.flipped()].map(|way| all_here(own.next(way)));
                outline.push_outline(own.length(way), own.count(way), next);
            } else if let Some(other) = others.get(number) {
                let next = other.next.each_ref().map(|next| all_here(next));
                outline.push_outline(other.length, other.count, next);
            } else {
                outline.push_outline(0, 0, Default::default());
            }
        }
        let start = numbers.partition_point(|&number| number < own_numbers.start);
        Halo {
            graph: Cow::Owned(outline),
            own: start..start + own.len(),
        }
    }

    /// All nodes.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Those of this process.
    pub fn own(&self) -> impl Iterator<Item = Way> + use<> {
        self.own.clone().map(Way::forward)
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

impl Outline {
    fn put(own: &Graph, way: Way, bytes: &mut Vec<u8>) {
        let mut put = |number: u64| bytes.extend(number.to_le_bytes());
        put(own.length(way) as u64);
        put(own.count(way));
        for way in [way, way.flipped()] {
            let next = own.next(way);
            put(next.len() as u64);
            next.iter().for_each(|way| put(way.index() as u64));
        }
    }

    fn take(from: &mut &[u8]) -> Outline {
        let mut number = || take_number(from) as usize;
        let (length, count) = (number(), number() as u64);
        let mut list = || {
            let len = number();
            (0..len).map(|_| Way::of_index(number())).collect()
        };
        let next = [list(), list()];
        Outline {
            length,
            count,
            next,
        }
    }
}
