//! List scheduling where messages have different sizes: an edge that is free takes the chunk with
//! the most time ahead of it.

use std::cmp::Ordering;

use gyrase_simulate::Random;

use super::list::Steps;
use super::ways::{Network, Way};

/// Events that all attempts together may have, and attempts at most.
const WORK: usize = 400_000;
const ATTEMPTS: usize = 40;

/// When something starts or ends: times are sums of numbers that are not round.
const SAME: f64 = 1e-9;

/// The schedule with the earliest end of several attempts; `weights` are the sizes of chunks.
pub fn schedule(network: &Network, ways: &[Way], weights: &[f64]) -> Steps {
    let transfers: usize = ways.iter().map(|way| way.edges.len()).sum();
    let attempts = (WORK / transfers.max(1)).clamp(1, ATTEMPTS);
    let tried = (0..attempts as u64).map(|seed| Attempt::new(network, ways, weights, seed).run());
    let best = tried.reduce(|best, other| if other.0 < best.0 { other } else { best });
    let (_, starts) = best.expect("there is one attempt at least");
    layers(network, ways, &starts)
}

/// A schedule that grows as time goes on.
struct Attempt<'a> {
    network: &'a Network,
    ways: &'a [Way],
    weights: &'a [f64],
    random: Random,
    seed: u64,
    /// Time that is ahead of everything that has room.
    left: Vec<f64>,
    /// Free lanes of everything that has room: an edge has one, which its transfers take.
    free: Vec<u32>,
    /// Chunks that wait, by the edge that they take next.
    waiting: Vec<Vec<usize>>,
    /// Transfers under way: when they end, and the chunk.
    flying: Vec<(f64, usize)>,
    starts: Vec<Vec<f64>>,
}

impl<'a> Attempt<'a> {
    fn new(network: &'a Network, ways: &'a [Way], weights: &'a [f64], seed: u64) -> Attempt<'a> {
        let edges = network.edges.len();
        let mut free = network.room.clone();
        free[..edges].fill(1);
        let mut attempt = Attempt {
            network,
            ways,
            weights,
            random: Random::stream(seed, 3, 0),
            seed,
            left: vec![0.0; free.len()],
            free,
            waiting: vec![Vec::new(); edges],
            flying: Vec::new(),
            starts: vec![Vec::new(); ways.len()],
        };
        for (number, way) in ways.iter().enumerate() {
            for &edge in &way.edges {
                attempt.load(edge, weights[number]);
            }
            if let Some(&edge) = way.edges.first() {
                attempt.waiting[edge].push(number);
            }
        }
        attempt
    }

    /// Adds to the time ahead of an edge and its ports.
    fn load(&mut self, edge: usize, weight: f64) {
        for place in self.network.taken(edge) {
            self.left[place] += weight / f64::from(self.network.room[place]);
        }
    }

    /// When everything has arrived, and when each transfer started.
    fn run(mut self) -> (f64, Vec<Vec<f64>>) {
        let mut now = 0.0;
        loop {
            self.start(now);
            let next = self
                .flying
                .iter()
                .map(|(end, _)| *end)
                .min_by(f64::total_cmp);
            let Some(next) = next else {
                return (now, self.starts);
            };
            now = next;
            self.land(now);
        }
    }

    /// Starts what has room, the most urgent first.
    fn start(&mut self, now: f64) {
        let mut order = Vec::new();
        for edge in 0..self.waiting.len() {
            if self.free[edge] > 0 && !self.waiting[edge].is_empty() {
                let best = self.most_urgent(edge);
                order.push((self.urgency(best), edge, best));
            }
        }
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for (_, edge, way) in order {
            let lanes = self.lanes(edge);
            if lanes.iter().any(|&(place, lanes)| self.free[place] < lanes) {
                continue;
            }
            lanes
                .iter()
                .for_each(|&(place, lanes)| self.free[place] -= lanes);
            self.waiting[edge].retain(|&other| other != way);
            self.load(edge, -self.weights[way]);
            self.starts[way].push(now);
            let takes = self.weights[way] / f64::from(self.network.room[edge]);
            self.flying.push((now + takes, way));
        }
    }

    /// What a transfer over an edge takes: the edge, and of ports as many lanes as the edge has.
    fn lanes(&self, edge: usize) -> Vec<(usize, u32)> {
        let own = self.network.room[edge];
        let taken = self.network.taken(edge);
        let lanes = |place: usize| match place == edge {
            true => 1,
            false => own.min(self.network.room[place]),
        };
        taken.map(|place| (place, lanes(place))).collect()
    }

    fn land(&mut self, now: f64) {
        let (landed, flying): (Vec<_>, Vec<_>) = self
            .flying
            .drain(..)
            .partition(|(end, _)| *end <= now + SAME);
        self.flying = flying;
        for (_, way) in landed {
            let hop = self.starts[way].len();
            let edge = self.ways[way].edges[hop - 1];
            for (place, lanes) in self.lanes(edge) {
                self.free[place] += lanes;
            }
            if let Some(&next) = self.ways[way].edges.get(hop) {
                self.waiting[next].push(way);
            }
        }
    }

    fn most_urgent(&mut self, edge: usize) -> usize {
        let waiting = &self.waiting[edge];
        let mut best: Option<(f64, u64, usize)> = None;
        for &way in waiting {
            let tie = if self.seed == 0 {
                way as u64
            } else {
                self.random.bits()
            };
            let urgency = self.urgency(way);
            let better = best.is_none_or(|(most, other, _)| match urgency.total_cmp(&most) {
                Ordering::Greater => true,
                Ordering::Equal => tie < other,
                Ordering::Less => false,
            });
            if better {
                best = Some((urgency, tie, way));
            }
        }
        best.expect("something waits").2
    }

    /// The most time ahead of what a chunk still passes. Attempts add for its own way differently.
    fn urgency(&self, way: usize) -> f64 {
        let ahead = &self.ways[way].edges[self.starts[way].len()..];
        let places = ahead.iter().flat_map(|&edge| self.network.taken(edge));
        let most = places.map(|place| self.left[place]).fold(0.0, f64::max);
        let own: f64 = ahead
            .iter()
            .map(|&edge| self.weights[way] / f64::from(self.network.room[edge]))
            .sum();
        match self.seed % 3 {
            0 => most + own,
            1 => most,
            _ => own * 1e3 + most,
        }
    }
}

/// Steps that keep the order of transfers: each is behind the one before it on its edge, and behind
/// the one that brings its chunk.
fn layers(network: &Network, ways: &[Way], starts: &[Vec<f64>]) -> Steps {
    let mut order: Vec<(f64, usize, usize)> = Vec::new();
    for (way, of) in starts.iter().enumerate() {
        order.extend(of.iter().enumerate().map(|(hop, &start)| (start, way, hop)));
    }
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.2, a.1).cmp(&(b.2, b.1))));
    let mut next = vec![0; network.room.len()];
    let mut steps: Steps = vec![Vec::new(); ways.len()];
    for (_, way, hop) in order {
        let edge = ways[way].edges[hop];
        let behind = steps[way].last().map_or(0, |step| step + 1);
        let free = network
            .taken(edge)
            .map(|place| next[place])
            .max()
            .unwrap_or(0);
        let step = behind.max(free);
        network.taken(edge).for_each(|place| next[place] = step);
        next[edge] = step + 1;
        steps[way].push(step);
    }
    steps
}
