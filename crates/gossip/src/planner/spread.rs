//! Broadcasts: chunks spread like rumours, the rarest first.
//!
//! A device hands on what it has. In each step each edge carries chunks that its receiver lacks;
//! those that the fewest devices have go first, so that all devices always have something that
//! others lack.

use gyrase_simulate::Random;

use super::ways::Network;
use crate::plan::{Hop, Route};

/// Attempts, which break ties in different ways.
const ATTEMPTS: u64 = 32;

/// Where each device has each chunk from, and since the end of which step.
type Arrivals = Vec<Vec<Option<(usize, usize)>>>;

/// Routes of all chunks to all devices, and the steps that they take.
pub fn schedule(network: &Network, main: usize, chunks: usize, goal: usize) -> Vec<Route> {
    let mut best = attempt(network, main, chunks, 0);
    for seed in 1..ATTEMPTS {
        if best.0 <= goal {
            break;
        }
        let other = attempt(network, main, chunks, seed);
        if other.0 < best.0 {
            best = other;
        }
    }
    routes(&best.1, main, chunks)
}

fn attempt(network: &Network, main: usize, chunks: usize, seed: u64) -> (usize, Arrivals) {
    let devices = network.leaving.len();
    let mut came: Arrivals = vec![vec![None; chunks]; devices];
    let mut owners = vec![1usize; chunks];
    let mut missing = (devices - 1) * chunks;
    let far = far(network, main);
    let mut step = 0;
    while missing > 0 {
        let before = came.clone();
        let has = |device: usize, chunk: usize| device == main || before[device][chunk].is_some();
        let mut room = network.room.clone();
        let mut edges: Vec<usize> = (0..network.edges.len()).collect();
        // Edges away from the main device first: the others have less to give.
        edges.sort_by_key(|&edge| {
            let from = network.edges[edge].from;
            (std::cmp::Reverse(far[from]), tie(seed, step, edge))
        });
        for edge in edges {
            let (from, to) = (network.edges[edge].from, network.edges[edge].to);
            while to != main && network.taken(edge).all(|place| room[place] > 0) {
                let lacks = |&chunk: &usize| has(from, chunk) && came[to][chunk].is_none();
                let rarest = (0..chunks)
                    .filter(lacks)
                    .min_by_key(|&chunk| (owners[chunk], tie(seed, from + step, chunk)));
                let Some(chunk) = rarest else { break };
                came[to][chunk] = Some((from, step));
                owners[chunk] += 1;
                missing -= 1;
                network.taken(edge).for_each(|place| room[place] -= 1);
            }
        }
        step += 1;
    }
    (step, came)
}

/// Hops from the main device.
fn far(network: &Network, main: usize) -> Vec<usize> {
    let mut far = vec![usize::MAX; network.leaving.len()];
    far[main] = 0;
    for _ in 0..far.len() {
        for edge in &network.edges {
            far[edge.to] = far[edge.to].min(far[edge.from].saturating_add(1));
        }
    }
    far
}

fn tie(seed: u64, a: usize, b: usize) -> u64 {
    match seed {
        0 => b as u64,
        seed => Random::stream(seed, a as u64, b as u64).bits(),
    }
}

fn routes(came: &Arrivals, main: usize, chunks: usize) -> Vec<Route> {
    let mut routes = Vec::new();
    for target in 0..came.len() {
        for chunk in 0..chunks {
            let (mut device, mut hops) = (target, Vec::new());
            while device != main {
                let (from, step) = came[device][chunk].expect("every chunk came");
                hops.push(Hop { step, to: device });
                device = from;
            }
            hops.reverse();
            routes.push(Route {
                source: main,
                hops,
                chunks: chunk..chunk + 1,
            });
        }
    }
    routes
}
