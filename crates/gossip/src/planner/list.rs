//! List scheduling: step by step, the chunk with the most loaded way ahead goes first.

use std::cmp::Reverse;

use gyrase_simulate::Random;

use super::ways::{Network, Way, heaviest, loads};

/// Chunks that all attempts together may look at, so that a plan of many devices is tried fewer
/// times than one of few.
const WORK: usize = 10_000_000;

/// Attempts at most.
const ATTEMPTS: u64 = 400;

/// For each way the steps of its transfers.
pub type Steps = Vec<Vec<usize>>;

/// The best schedule of several attempts that break ties in different ways; the first one of
/// `goal` steps, which no schedule has fewer than, ends them.
pub fn schedule(network: &Network, ways: &[Way], goal: usize) -> Steps {
    let goal = goal.max(heaviest(network, &loads(network, ways)) as usize);
    let attempts = (WORK / (ways.len() * goal).max(1)) as u64;
    let mut best = attempt(network, ways, 0);
    for number in 1..=attempts.clamp(1, ATTEMPTS) {
        if length(&best) <= goal {
            break;
        }
        let pushed = pushed(network, ways, &best, number);
        if length(&pushed) <= length(&best) {
            best = pushed;
        }
        let other = attempt(network, ways, number);
        if length(&other) < length(&best) {
            best = other;
        }
    }
    best
}

/// Pushes all transfers as far towards the end as they go, then back towards the beginning, which
/// never takes longer and often less (Li and Willis 1992, doi:10.1016/0377-2217(92)90338-A).
fn pushed(network: &Network, ways: &[Way], steps: &Steps, seed: u64) -> Steps {
    let late = pushed_back(network, ways, steps, seed);
    let turned: Vec<Way> = ways.iter().map(turned).collect();
    let early = pushed_back(network, &turned, &mirrored(&late, length(&late)), seed);
    mirrored(&early, length(&early))
}

/// Pushes all transfers towards the end, the last first.
fn pushed_back(network: &Network, ways: &[Way], steps: &Steps, seed: u64) -> Steps {
    let end = length(steps);
    let mut ties = Random::stream(seed, 1, 0);
    let mut order: Vec<(usize, u64, usize, usize)> = Vec::new();
    for (way, of) in steps.iter().enumerate() {
        let hops = of.iter().enumerate();
        order.extend(hops.map(|(hop, &step)| (step, ties.bits(), way, hop)));
    }
    order.sort_unstable_by(|a, b| b.cmp(a));
    let mut room: Vec<Vec<u32>> = vec![network.room.clone(); end];
    let mut late = steps.clone();
    for (_, _, way, hop) in order {
        let edge = ways[way].edges[hop];
        let before = late[way].get(hop + 1).copied().unwrap_or(end);
        let free = |&step: &usize| network.taken(edge).all(|place| room[step][place] > 0);
        let step = (0..before)
            .rev()
            .find(free)
            .expect("its own step is free at least");
        network.taken(edge).for_each(|place| room[step][place] -= 1);
        late[way][hop] = step;
    }
    late
}

/// The same way backwards.
fn turned(way: &Way) -> Way {
    Way {
        source: way.target,
        target: way.source,
        edges: way.edges.iter().rev().copied().collect(),
    }
}

/// The same steps where time runs backwards from `end`.
fn mirrored(steps: &Steps, end: usize) -> Steps {
    let mirror = |of: &Vec<usize>| of.iter().rev().map(|step| end - 1 - step).collect();
    steps.iter().map(mirror).collect()
}

/// Steps until everything arrived.
pub fn length(steps: &Steps) -> usize {
    steps
        .iter()
        .flatten()
        .map(|step| step + 1)
        .max()
        .unwrap_or(0)
}

/// A chunk that waits: how urgent it is, what decides between equals, and its way.
type Waiting = (Reverse<(u64, usize)>, u64, usize);

fn attempt(network: &Network, ways: &[Way], seed: u64) -> Steps {
    let mut ties = Random::stream(seed, 0, 0);
    let mut left = loads(network, ways);
    let mut steps: Steps = vec![Vec::new(); ways.len()];
    let mut waiting: Vec<usize> = (0..ways.len())
        .filter(|&way| !ways[way].edges.is_empty())
        .collect();
    let mut step = 0;
    while !waiting.is_empty() {
        let mut order: Vec<Waiting> = waiting
            .iter()
            .map(|&way| {
                let ahead = &ways[way].edges[steps[way].len()..];
                let urgency = urgency(network, &left, ahead, seed);
                let tie = if seed == 0 { way as u64 } else { ties.bits() };
                (Reverse(urgency), tie, way)
            })
            .collect();
        order.sort_unstable();
        let mut room = network.room.clone();
        for (_, _, way) in order {
            let edge = ways[way].edges[steps[way].len()];
            if network.taken(edge).all(|place| room[place] > 0) {
                for place in network.taken(edge) {
                    room[place] -= 1;
                    left[place] -= 1;
                }
                steps[way].push(step);
            }
        }
        waiting.retain(|&way| steps[way].len() < ways[way].edges.len());
        step += 1;
    }
    steps
}

/// How much a chunk should go now: the load ahead of it and how far it has to go. Attempts weigh
/// the two differently.
fn urgency(network: &Network, left: &[u32], ahead: &[usize], seed: u64) -> (u64, usize) {
    let places = ahead.iter().flat_map(|&edge| network.taken(edge));
    let steps = places.map(|place| u64::from(left[place]) * 60 / u64::from(network.room[place]));
    let (most, hops) = (steps.max().unwrap_or(0), ahead.len());
    match seed % 4 {
        0 | 1 => (most, hops),
        2 => (most + 60 * hops as u64, 0),
        _ => (hops as u64, most as usize),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Topology;

    #[test]
    fn no_step_has_more_than_there_is_room_for() {
        let topology: Topology = "switch-4".parse().unwrap();
        let network = Network::new(&topology);
        let way = |edge: usize| Way {
            source: network.edges[edge].from,
            target: network.edges[edge].to,
            edges: vec![edge],
        };
        let ways: Vec<Way> = (0..12).map(way).collect();
        let steps = schedule(&network, &ways, 3);
        assert_eq!(length(&steps), 3);
        for step in 0..3 {
            let now: Vec<_> = ways
                .iter()
                .zip(&steps)
                .filter(|(_, of)| of[0] == step)
                .collect();
            let mut from: Vec<usize> = now.iter().map(|(way, _)| way.source).collect();
            let mut to: Vec<usize> = now.iter().map(|(way, _)| way.target).collect();
            from.sort_unstable();
            to.sort_unstable();
            assert_eq!((from, to), (vec![0, 1, 2, 3], vec![0, 1, 2, 3]));
        }
    }
}
