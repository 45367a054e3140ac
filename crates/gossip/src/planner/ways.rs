//! Flows become ways: each message is cut into chunks, and each chunk gets one path.

use std::collections::VecDeque;

use gyrase_simulate::Random;

use super::fluid::{Demand, Fluid, NOTHING};
use crate::topology::{Edge, Topology};

/// The way of one chunk: the edges that it takes, by their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    pub source: usize,
    pub target: usize,
    pub edges: Vec<usize>,
}

/// Edges with where they lead, for walks.
pub struct Network {
    pub edges: Vec<Edge>,
    /// Edges that leave each device.
    pub leaving: Vec<Vec<usize>>,
    /// What each edge, then each port for sending, then each for receiving, carries in a step.
    pub room: Vec<u32>,
    ports: usize,
}

impl Network {
    pub fn new(topology: &Topology) -> Network {
        let (edges, lane) = (topology.edges(), topology.lane());
        let mut leaving = vec![Vec::new(); topology.devices()];
        for (number, edge) in edges.iter().enumerate() {
            leaving[edge.from].push(number);
        }
        let ports = topology.ports().unwrap_or_default();
        let links = edges.iter().map(|edge| edge.links);
        let room = links
            .chain(ports.iter().copied())
            .chain(ports.iter().copied());
        Network {
            room: room.map(|links| links / lane).collect(),
            leaving,
            ports: ports.len(),
            edges,
        }
    }

    /// What a transfer over an edge takes room of: the edge, and ports if there are any.
    pub fn taken(&self, edge: usize) -> impl Iterator<Item = usize> {
        let Edge { from, to, .. } = self.edges[edge];
        let first = self.edges.len();
        let ports = (self.ports > 0).then_some([first + from, first + self.ports + to]);
        [edge].into_iter().chain(ports.into_iter().flatten())
    }
}

impl Network {
    /// Hops from each device to each other one.
    fn hops(&self) -> Vec<Vec<usize>> {
        let devices = self.leaving.len();
        let mut hops = vec![vec![usize::MAX; devices]; devices];
        for source in 0..devices {
            hops[source][source] = 0;
            let mut queue = VecDeque::from([source]);
            while let Some(device) = queue.pop_front() {
                for &edge in &self.leaving[device] {
                    let to = self.edges[edge].to;
                    if hops[source][to] == usize::MAX {
                        hops[source][to] = hops[source][device] + 1;
                        queue.push_back(to);
                    }
                }
            }
        }
        hops
    }
}

/// A path for each chunk, so that edges carry about what they carry in the flows.
pub fn ways(network: &Network, demands: &[Demand], fluid: &Fluid, chunks: usize) -> Vec<Way> {
    let mut all = Vec::new();
    for (demand, flow) in demands.iter().zip(&fluid.flows) {
        let mut flow = flow.clone();
        for (source, &amount) in demand.amounts.iter().enumerate() {
            if amount > 0.0 {
                let paths = paths(network, &mut flow, source, demand.target, amount);
                let counts = shared(&paths, chunks);
                for ((edges, _), count) in paths.iter().zip(counts) {
                    let way = Way {
                        source,
                        target: demand.target,
                        edges: edges.clone(),
                    };
                    all.extend(std::iter::repeat_n(way, count));
                }
            }
        }
    }
    all
}

/// Takes the flow from a source apart: paths and the shares that they have.
fn paths(
    network: &Network,
    flow: &mut [f64],
    source: usize,
    target: usize,
    amount: f64,
) -> Vec<(Vec<usize>, f64)> {
    let (mut found, mut left): (Vec<(Vec<usize>, f64)>, f64) = (Vec::new(), amount);
    while left > NOTHING {
        let Some(path) = widest(network, flow, source, target) else {
            break;
        };
        let width = path.iter().map(|&edge| flow[edge]).fold(left, f64::min);
        path.iter().for_each(|&edge| flow[edge] -= width);
        left -= width;
        match found.iter_mut().find(|(other, _)| *other == path) {
            Some((_, share)) => *share += width,
            None => found.push((path, width)),
        }
    }
    found
}

/// The shortest path of those along which all edges carry something; of equals the widest first
/// edge.
fn widest(network: &Network, flow: &[f64], source: usize, target: usize) -> Option<Vec<usize>> {
    let devices = network.leaving.len();
    let mut came: Vec<Option<usize>> = vec![None; devices];
    let mut queue = VecDeque::from([source]);
    while let Some(device) = queue.pop_front() {
        if device == target {
            break;
        }
        let mut leaving = network.leaving[device].clone();
        leaving.retain(|&edge| flow[edge] > NOTHING / 4.0);
        leaving.sort_by(|&a, &b| flow[b].total_cmp(&flow[a]));
        for edge in leaving {
            let to = network.edges[edge].to;
            if to != source && came[to].is_none() {
                came[to] = Some(edge);
                queue.push_back(to);
            }
        }
    }
    let mut path = Vec::new();
    let mut device = target;
    while device != source {
        let edge = came[device]?;
        path.push(edge);
        device = network.edges[edge].from;
    }
    path.reverse();
    Some(path)
}

/// How many of the chunks each path gets, by largest remainder.
fn shared(paths: &[(Vec<usize>, f64)], chunks: usize) -> Vec<usize> {
    let total: f64 = paths.iter().map(|(_, share)| share).sum();
    let exact = paths.iter().map(|(_, share)| share / total * chunks as f64);
    let exact: Vec<f64> = exact.collect();
    let mut counts: Vec<usize> = exact
        .iter()
        .map(|exact| (exact + NOTHING) as usize)
        .collect();
    let mut order: Vec<usize> = (0..paths.len()).collect();
    let rest = |&path: &usize| exact[path] - (exact[path] + NOTHING).floor();
    order.sort_by(|a, b| rest(b).total_cmp(&rest(a)));
    let missing = chunks - counts.iter().sum::<usize>();
    order
        .iter()
        .cycle()
        .take(missing)
        .for_each(|&path| counts[path] += 1);
    counts
}

/// How many chunks pass everything that has room.
pub fn loads(network: &Network, ways: &[Way]) -> Vec<u32> {
    let mut loads = vec![0; network.room.len()];
    for way in ways {
        for taken in way.edges.iter().flat_map(|&edge| network.taken(edge)) {
            loads[taken] += 1;
        }
    }
    loads
}

/// Steps that the most loaded edge or port takes.
pub fn heaviest(network: &Network, loads: &[u32]) -> u32 {
    let steps = loads
        .iter()
        .zip(&network.room)
        .map(|(load, room)| load.div_ceil(*room));
    steps.max().unwrap_or(0)
}

/// Rounds over all ways; each may move every chunk once.
const ROUNDS: u64 = 60;

/// What a chunk too many on an edge weighs, in hops.
const CROWDED: u64 = 1_000;

/// Moves chunks from edges that take more than `goal` steps to other ways, as long as that helps:
/// a way is worth taking if it crowds edges less, or as much and is not longer.
pub fn relieve(network: &Network, ways: &mut [Way], goal: u32) {
    let mut crowds = Crowds {
        network,
        loads: loads(network, ways),
        allowed: network.room.iter().map(|room| room * goal).collect(),
    };
    let hops = network.hops();
    for round in 0..ROUNDS {
        if heaviest(network, &crowds.loads) <= goal {
            break;
        }
        let mut random = Random::stream(round, 1, 0);
        for way in ways.iter_mut() {
            let crowded = |&edge: &usize| {
                network
                    .taken(edge)
                    .any(|place| crowds.loads[place] > crowds.allowed[place])
            };
            let detour = way.edges.len() > hops[way.source][way.target];
            if !detour && !way.edges.iter().any(crowded) {
                continue;
            }
            crowds.change(&way.edges, -1);
            // Where everything is tight, a detour only moves the crowd: at first there is none.
            let nearer = (round < ROUNDS / 2).then_some(&hops[..]);
            let now: u64 = way.edges.iter().map(|&edge| crowds.cost(edge)).sum();
            let (cost, edges) = crowds.cheapest(way, nearer, &mut random);
            if cost <= now {
                way.edges = edges;
            }
            crowds.change(&way.edges, 1);
        }
    }
}

/// How full everything is, and may be.
struct Crowds<'a> {
    network: &'a Network,
    loads: Vec<u32>,
    allowed: Vec<u32>,
}

impl Crowds<'_> {
    fn change(&mut self, edges: &[usize], by: i32) {
        for place in edges.iter().flat_map(|&edge| self.network.taken(edge)) {
            self.loads[place] = self.loads[place].wrapping_add_signed(by);
        }
    }

    /// What one more chunk on an edge costs: a hop, and more the more it is too many.
    fn cost(&self, edge: usize) -> u64 {
        let over = |place: usize| match self.loads[place] + 1 > self.allowed[place] {
            true => CROWDED * u64::from(self.loads[place] + 1 - self.allowed[place]),
            false => 0,
        };
        1 + self.network.taken(edge).map(over).sum::<u64>()
    }

    /// The cheapest way (Dijkstra), chance deciding between equals; and what it costs. Where hops
    /// are given, each one must lead nearer to the target.
    fn cheapest(
        &self,
        way: &Way,
        nearer: Option<&[Vec<usize>]>,
        random: &mut Random,
    ) -> (u64, Vec<usize>) {
        let (source, target) = (way.source, way.target);
        let devices = self.network.leaving.len();
        let mut best = vec![(u64::MAX, u64::MAX); devices];
        let mut came = vec![None; devices];
        let mut done = vec![false; devices];
        best[source] = (0, 0);
        while let Some(device) = (0..devices)
            .filter(|&device| !done[device])
            .min_by_key(|&device| best[device])
        {
            done[device] = true;
            if device == target || best[device].0 == u64::MAX {
                break;
            }
            for &edge in &self.network.leaving[device] {
                let to = self.network.edges[edge].to;
                if nearer.is_some_and(|hops| hops[to][target] >= hops[device][target]) {
                    continue;
                }
                let cost = (best[device].0 + self.cost(edge), random.bits() >> 1);
                if !done[to] && cost < best[to] {
                    (best[to], came[to]) = (cost, Some(edge));
                }
            }
        }
        let (mut edges, mut device) = (Vec::new(), target);
        while let Some(edge) = came[device].filter(|_| device != source) {
            edges.push(edge);
            device = self.network.edges[edge].from;
        }
        edges.reverse();
        (best[target].0, edges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_shared_by_largest_remainder() {
        let share = |shares: &[f64], chunks| {
            let paths: Vec<_> = shares.iter().map(|&share| (Vec::new(), share)).collect();
            shared(&paths, chunks)
        };
        assert_eq!(share(&[0.5, 0.3, 0.2], 10), [5, 3, 2]);
        assert_eq!(share(&[0.5, 0.3, 0.2], 1), [1, 0, 0]);
        assert_eq!(share(&[0.4, 0.3, 0.3], 2), [1, 1, 0]);
        assert_eq!(share(&[1.0 / 3.0; 3], 3), [1, 1, 1]);
    }

    #[test]
    fn too_full_edges_are_relieved() {
        let topology: Topology = "ring-4".parse().unwrap();
        let network = Network::new(&topology);
        let edge = |from, to| {
            let found = network
                .edges
                .iter()
                .position(|edge| (edge.from, edge.to) == (from, to));
            found.unwrap()
        };
        let way = Way {
            source: 0,
            target: 2,
            edges: vec![edge(0, 1), edge(1, 2)],
        };
        let mut ways = vec![way.clone(); 4];
        assert_eq!(heaviest(&network, &loads(&network, &ways)), 4);
        relieve(&network, &mut ways, 2);
        assert_eq!(heaviest(&network, &loads(&network, &ways)), 2);
        assert!(ways.contains(&way));
        // Below what is possible nothing is made worse.
        relieve(&network, &mut ways, 1);
        assert!(heaviest(&network, &loads(&network, &ways)) <= 2);
    }
}
