//! Plans by rings (thesis, section 4.4): cycles through all devices that share no link, each used
//! in both directions at once.

use crate::collective::Collective;
use crate::error::GossipError;
use crate::plan::{Hop, Route, TransferPlan};
use crate::topology::Topology;

/// Devices that the search visits before it takes the rings that it found.
const VISITS: usize = 2_000_000;

/// As many rings as the search finds: orders of all devices in which each has a link to the next
/// and back, and the last to the first.
pub fn rings(topology: &Topology) -> Vec<Vec<usize>> {
    let devices = topology.devices();
    let both = |a: usize, b: usize| topology.links(a, b).min(topology.links(b, a));
    let row = |a: usize| (0..devices).map(|b| both(a, b)).collect();
    let mut search = Search {
        links: (0..devices).map(row).collect(),
        visits: 0,
        found: Vec::new(),
        best: Vec::new(),
        most: 0,
    };
    if devices > 2 && topology.ports().is_none() {
        let degree = |row: &Vec<u32>| row.iter().sum::<u32>() / 2;
        search.most = search.links.iter().map(degree).min().unwrap_or(0) as usize;
        search.extend(&mut vec![0]);
    }
    search.best
}

/// What is left of links, and the rings so far.
struct Search {
    links: Vec<Vec<u32>>,
    visits: usize,
    found: Vec<Vec<usize>>,
    best: Vec<Vec<usize>>,
    most: usize,
}

impl Search {
    /// Goes on with a ring that begins with these devices; true when nothing more is to be found.
    fn extend(&mut self, ring: &mut Vec<usize>) -> bool {
        self.visits += 1;
        if self.visits > VISITS {
            return true;
        }
        let (last, devices) = (ring[ring.len() - 1], self.links.len());
        if ring.len() == devices {
            return self.links[last][0] > 0 && self.close(ring);
        }
        // Double links first: what is left then has more ways.
        let mut next: Vec<usize> = (0..devices)
            .filter(|device| self.links[last][*device] > 0 && !ring.contains(device))
            .collect();
        next.sort_by_key(|&device| std::cmp::Reverse(self.links[last][device]));
        for device in next {
            ring.push(device);
            if self.extend(ring) {
                return true;
            }
            ring.pop();
        }
        false
    }

    fn close(&mut self, ring: &[usize]) -> bool {
        self.take(ring, -1);
        self.found.push(ring.to_vec());
        if self.found.len() > self.best.len() {
            self.best = self.found.clone();
        }
        let done = self.best.len() >= self.most || self.extend(&mut vec![0]);
        self.found.pop();
        self.take(ring, 1);
        done
    }

    fn take(&mut self, ring: &[usize], change: i32) {
        for (place, &from) in ring.iter().enumerate() {
            let to = ring[(place + 1) % ring.len()];
            for (a, b) in [(from, to), (to, from)] {
                self.links[a][b] = self.links[a][b].wrapping_add_signed(change);
            }
        }
    }
}

/// The plan by rings; `chunks` are what each of them cuts a message into at least.
///
/// # Errors
/// No ring passes all devices.
pub fn plan(
    topology: &Topology,
    collective: Collective,
    chunks: usize,
) -> Result<TransferPlan, GossipError> {
    let rings = rings(topology);
    if rings.is_empty() {
        let what = match topology.ports() {
            Some(_) => "rings need links from device to device; these have a switch between them",
            None => "no ring of links passes all devices once",
        };
        return Err(GossipError::Request { what: what.into() });
    }
    if let Collective::Gather { main } = collective {
        let scatter = plan(&topology.reversed(), Collective::Scatter { main }, chunks)?;
        return Ok(scatter.reversed().expect("a scatter can be turned"));
    }
    let devices = topology.devices();
    let (whole, routes) = match collective {
        Collective::Broadcast { main } => broadcast(&rings, main, chunks),
        _ => (2 * rings.len(), by_distance(&rings, collective)),
    };
    let stay = collective
        .messages(devices)
        .filter(|(source, target)| source == target);
    let stay = stay.map(|(source, _)| (0..whole, source));
    let mut all = routes;
    for (chunks, source) in stay {
        // Each chunk of a broadcast has its own path.
        let pieces = match collective {
            Collective::Broadcast { .. } => chunks.map(|chunk| chunk..chunk + 1).collect(),
            _ => vec![chunks],
        };
        all.extend(pieces.into_iter().map(|chunks| Route {
            source,
            hops: Vec::new(),
            chunks,
        }));
    }
    TransferPlan::new(collective, devices, whole, all)
}

/// The devices behind place `from` of a ring in a direction, as far as they are asked for.
fn along(ring: &[usize], from: usize, far: usize, forward: bool) -> impl Iterator<Item = usize> {
    let devices = ring.len();
    (1..=far).map(move |hop| {
        let ahead = if forward { hop } else { devices - hop };
        ring[(from + ahead) % devices]
    })
}

/// Scatter and all-to-all: each message goes the shorter way round, both halves of that to the
/// opposite device. A scatter sends the farthest first, all-to-all goes distance by distance.
fn by_distance(rings: &[Vec<usize>], collective: Collective) -> Vec<Route> {
    let mut routes = Vec::new();
    for (number, ring) in rings.iter().enumerate() {
        let devices = ring.len();
        let farthest = devices / 2;
        for from in
            (0..devices).filter(|&from| collective.main().is_none_or(|main| ring[from] == main))
        {
            for far in 1..=farthest {
                let start = match collective {
                    Collective::AllToAll => far * (far - 1) / 2,
                    _ => farthest - far,
                };
                for forward in [true, false] {
                    let first = 2 * number;
                    let chunks = match (2 * far == devices, forward) {
                        (false, _) => first..first + 2,
                        (true, true) => first..first + 1,
                        (true, false) => first + 1..first + 2,
                    };
                    let hops = along(ring, from, far, forward).enumerate();
                    routes.push(Route {
                        source: ring[from],
                        hops: hops
                            .map(|(hop, to)| Hop {
                                step: start + hop,
                                to,
                            })
                            .collect(),
                        chunks,
                    });
                }
            }
        }
    }
    routes
}

/// A broadcast sends pieces one after the other in each direction of each ring.
fn broadcast(rings: &[Vec<usize>], main: usize, chunks: usize) -> (usize, Vec<Route>) {
    let lanes = 2 * rings.len();
    let pieces = chunks.div_ceil(lanes);
    let mut routes = Vec::new();
    for lane in 0..lanes {
        let ring = &rings[lane / 2];
        let from = ring
            .iter()
            .position(|&device| device == main)
            .expect("a ring has all devices");
        for piece in 0..pieces {
            let chunk = lane * pieces + piece;
            for far in 1..ring.len() {
                let hops = along(ring, from, far, lane % 2 == 0).enumerate();
                routes.push(Route {
                    source: main,
                    hops: hops
                        .map(|(hop, to)| Hop {
                            step: piece + hop,
                            to,
                        })
                        .collect(),
                    chunks: chunk..chunk + 1,
                });
            }
        }
    }
    (lanes * pieces, routes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(name: &str, collective: Collective) -> TransferPlan {
        plan(&name.parse().unwrap(), collective, 1).unwrap()
    }

    #[test]
    fn rings_share_no_link() {
        for (name, most) in [
            ("dgx-1", 3),
            ("alternative", 3),
            ("s1", 2),
            ("s3", 2),
            ("ring-5", 1),
        ] {
            let topology: Topology = name.parse().unwrap();
            let found = rings(&topology);
            assert_eq!(found.len(), most, "{name}");
            for from in 0..topology.devices() {
                for to in 0..topology.devices() {
                    let next = |ring: &Vec<usize>| {
                        let place = ring.iter().position(|&device| device == from).unwrap();
                        [1, ring.len() - 1].map(|ahead| ring[(place + ahead) % ring.len()])
                    };
                    let used = found.iter().flat_map(next).filter(|&device| device == to);
                    assert!(used.count() <= topology.links(from, to) as usize, "{name}");
                }
            }
        }
    }

    #[test]
    fn plans_have_the_steps_of_the_publication() {
        // Section 4.4.2: n^2 / 8 and (n^2 - 1) / 8 full steps; here the last ones are half as long.
        let full = |name: &str, n: usize| {
            let plan = made(name, Collective::AllToAll);
            assert_eq!(plan.steps(), (n / 2) * (n / 2 + 1) / 2, "{name}");
            plan
        };
        let plan = full("dgx-1", 8);
        assert_eq!((plan.chunks(), plan.routes().len()), (6, 200));
        full("ring-5", 5);
        let scatter = made("dgx-1", Collective::Scatter { main: 0 });
        assert_eq!((scatter.steps(), scatter.routes().len()), (4, 25));
        let gather = made("dgx-1", Collective::Gather { main: 3 });
        assert_eq!((gather.steps(), gather.routes().len()), (4, 25));
        let broadcast = super::plan(
            &"ring-4".parse().unwrap(),
            Collective::Broadcast { main: 1 },
            6,
        );
        let broadcast = broadcast.unwrap();
        assert_eq!(
            (broadcast.chunks(), broadcast.steps(), broadcast.transfers()),
            (6, 5, 18)
        );
    }

    #[test]
    fn without_rings_there_is_no_plan() {
        for (name, words) in [("ring-2", "no ring"), ("h100", "a switch")] {
            let error = plan(&name.parse().unwrap(), Collective::AllToAll, 1).unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
        }
        // A star has no ring.
        let star = vec![
            vec![0, 1, 1, 1],
            vec![1, 0, 0, 0],
            vec![1, 0, 0, 0],
            vec![1, 0, 0, 0],
        ];
        let star = Topology::new("star", star, 1.0).unwrap();
        assert!(rings(&star).is_empty());
    }
}
