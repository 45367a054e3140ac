//! Topologies by name.

use std::f64::consts::TAU;
use std::str::FromStr;

use super::{NVLINK2, Topology};
use crate::error::GossipError;

/// What a link of the P100 carries in a direction, in 10^9 bytes a second.
const NVLINK1: f64 = 20.0;

/// A named machine: rows of links, a digit each.
struct Machine {
    name: &'static str,
    what: &'static str,
    rows: &'static str,
    rate: f64,
}

/// Machines whose devices are wired to each other (thesis, sections 4.3.1, 4.7.1 and 4.7.4).
const WIRED: [Machine; 5] = [
    Machine {
        name: "dgx-1",
        what: "DGX-1, 8 V100 (S2 of the publication)",
        rows: "01122000 10210200 12020010 21200001 20000112 02001021 00101202 00012120",
        rate: NVLINK2,
    },
    Machine {
        name: "dgx-1-p100",
        what: "DGX-1, 8 P100: two quads and a link between each two of them",
        rows: "01111000 10110100 11010010 11100001 10000111 01001011 00101101 00011110",
        rate: NVLINK1,
    },
    Machine {
        name: "alternative",
        what: "8 V100, two links of the DGX-1 moved for 33 % more all-to-all",
        rows: "01122000 10210200 12010020 21100002 20000112 02001021 00201201 00022110",
        rate: NVLINK2,
    },
    Machine {
        name: "s1",
        what: "4 P100 in two rings (S1)",
        rows: "0112 1021 1201 2110",
        rate: NVLINK1,
    },
    Machine {
        name: "s3",
        what: "half of a DGX-1, 4 V100 (S3)",
        rows: "0112 1021 1202 2120",
        rate: NVLINK2,
    },
];

/// Machines behind a switch: name, what it is, devices, ports of each.
const SWITCHED: [(&str, &str, usize, u32); 3] = [
    ("dgx-2", "DGX-2, 16 V100 behind NVSwitch", 16, 6),
    ("a100", "8 A100 behind NVSwitch", 8, 12),
    ("h100", "8 H100 or H200 behind NVSwitch", 8, 18),
];

/// Names with a size.
const SIZED: [(&str, &str); 4] = [
    ("ring-N", "N devices in a ring"),
    ("torus-AxB", "A times B devices, also AxBxC"),
    ("cube-N", "N devices, a power of two, as a hypercube"),
    ("switch-N", "N devices behind a switch, one port each"),
];

impl Topology {
    /// The names that are understood, each with what it is.
    pub fn presets() -> impl Iterator<Item = (&'static str, &'static str)> {
        let wired = WIRED.iter().map(|machine| (machine.name, machine.what));
        let switched = SWITCHED.iter().map(|machine| (machine.0, machine.1));
        wired.chain(switched).chain(SIZED)
    }
}

impl FromStr for Topology {
    type Err = GossipError;

    /// A topology by its name: one of [`Topology::presets`].
    fn from_str(name: &str) -> Result<Topology, GossipError> {
        let lower = name.to_lowercase();
        if let Some(machine) = WIRED.iter().find(|machine| machine.name == lower) {
            return Ok(wired(machine));
        }
        if let Some(&(name, _, devices, ports)) = SWITCHED.iter().find(|entry| entry.0 == lower) {
            return switched(name, devices, ports);
        }
        let unknown = || GossipError::Preset { name: name.into() };
        let (kind, size) = lower.split_once('-').ok_or_else(unknown)?;
        let sides: Vec<usize> = size
            .split('x')
            .map(|side| side.parse().map_err(|_| unknown()))
            .collect::<Result<_, _>>()?;
        let all = sides
            .iter()
            .try_fold(1usize, |all, &side| all.checked_mul(side));
        if all.is_none_or(|all| all > super::MOST_DEVICES) {
            return Err(unknown());
        }
        match (kind, &sides[..]) {
            ("ring", [devices]) => torus(&lower, &[*devices]),
            ("torus", [_, _, ..]) => torus(&lower, &sides),
            ("cube", [devices]) if devices.is_power_of_two() => cube(&lower, *devices),
            ("switch", [devices]) => switched(&lower, *devices, 1),
            _ => Err(unknown()),
        }
    }
}

fn wired(machine: &Machine) -> Topology {
    let row = |row: &str| row.bytes().map(|links| u32::from(links - b'0')).collect();
    let links: Vec<Vec<u32>> = machine.rows.split(' ').map(row).collect();
    let places = match links.len() {
        8 => quads(),
        _ => vec![(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)],
    };
    let topology = Topology::new(machine.name, links, machine.rate).expect("the rows are square");
    Topology {
        places: Some(places),
        ..topology
    }
}

/// Two squares side by side, the second turned so that links between them run level.
fn quads() -> Vec<(f64, f64)> {
    let left = [(0.3, 0.0), (0.3, 1.0), (0.0, 0.72), (0.0, 0.28)];
    let right = left.map(|(x, y)| (1.0 - x, y));
    left.into_iter().chain(right).collect()
}

fn switched(name: &str, devices: usize, ports: u32) -> Result<Topology, GossipError> {
    let links = matrix(devices, |from, to| if from == to { 0 } else { ports });
    Topology::new(name, links, NVLINK2)?.with_ports(vec![ports; devices])
}

fn matrix(devices: usize, links: impl Fn(usize, usize) -> u32) -> Vec<Vec<u32>> {
    let row = |from| (0..devices).map(|to| links(from, to)).collect();
    (0..devices).map(row).collect()
}

/// Devices on a grid that closes in every direction; a side of two has one link, not two.
fn torus(name: &str, sides: &[usize]) -> Result<Topology, GossipError> {
    let devices = sides.iter().product();
    let coordinates = |device: usize| {
        let mut rest = device;
        let split = move |side: &usize| {
            let place = rest % side;
            rest /= side;
            place
        };
        sides.iter().rev().map(split).collect::<Vec<usize>>()
    };
    let near = |side: usize, a: usize, b: usize| (a + 1) % side == b || (b + 1) % side == a;
    let links = matrix(devices, |from, to| {
        let (from, to) = (coordinates(from), coordinates(to));
        let mut differing = (0..sides.len()).filter(|&axis| from[axis] != to[axis]);
        match (differing.next(), differing.next()) {
            (Some(axis), None) => {
                let side = sides[sides.len() - 1 - axis];
                u32::from(near(side, from[axis], to[axis]))
            }
            _ => 0,
        }
    });
    let topology = Topology::new(name, links, NVLINK2)?;
    let places = (sides.len() == 2).then(|| {
        let part = |place: usize, side: usize| place as f64 / (side.max(2) - 1) as f64;
        let place = |device| {
            let at = coordinates(device);
            (part(at[0], sides[1]), part(at[1], sides[0]))
        };
        (0..devices).map(place).collect()
    });
    Ok(Topology { places, ..topology })
}

fn cube(name: &str, devices: usize) -> Result<Topology, GossipError> {
    let near = |from: usize, to: usize| u32::from((from ^ to).is_power_of_two());
    Topology::new(name, matrix(devices, near), NVLINK2)
}

/// Where a device stands on a circle that begins at the top, x and y from 0 to 1.
pub fn on_circle(device: usize, devices: usize) -> (f64, f64) {
    let angle = TAU * device as f64 / devices as f64;
    (0.5 + 0.5 * angle.sin(), 0.5 - 0.5 * angle.cos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_machine_is_whole() {
        let names = WIRED.iter().map(|machine| machine.name);
        let names = names.chain(SWITCHED.iter().map(|machine| machine.0));
        for name in names.chain(["ring-3", "torus-2x3", "torus-2x2x2", "cube-16", "switch-4"]) {
            let topology: Topology = name.parse().unwrap();
            assert_eq!(topology.apart(), None, "{name}");
            assert_eq!(topology.reversed().edges(), topology.edges(), "{name}");
        }
        for name in [
            "dgx",
            "ring-1",
            "ring-x",
            "cube-12",
            "torus-4",
            "torus-999x999",
            "ring-",
        ] {
            assert!(name.parse::<Topology>().is_err(), "{name}");
        }
    }

    #[test]
    fn wiring_is_that_of_the_publication() {
        let links_of = |name: &str, rings: &[(&[usize], u32)]| {
            let topology: Topology = name.parse().unwrap();
            let mut links = vec![vec![0; topology.devices()]; topology.devices()];
            for (ring, times) in rings {
                for (place, &from) in ring.iter().enumerate() {
                    let to = ring[(place + 1) % ring.len()];
                    links[from][to] += times;
                    links[to][from] += times;
                }
            }
            (topology, links)
        };
        // Section 4.3.1: three rings, one of them twice, are all links of the DGX-1.
        let (dgx, links) = links_of(
            "dgx-1",
            &[
                (&[0, 3, 2, 1, 5, 6, 7, 4], 2),
                (&[0, 1, 3, 7, 5, 4, 6, 2], 1),
            ],
        );
        assert_eq!(dgx.links, links);
        let (quad, links) = links_of("s1", &[(&[0, 1, 2, 3], 1), (&[0, 2, 1, 3], 1)]);
        assert_eq!(quad.links, links);
        // Section 4.7.4: two links moved, as many at each device.
        let other: Topology = "alternative".parse().unwrap();
        let moved: Vec<_> = dgx
            .edges()
            .iter()
            .filter_map(|edge| {
                let now = other.links(edge.from, edge.to);
                (now != edge.links).then_some((edge.from, edge.to, now))
            })
            .collect();
        let expected = [(2, 3, 1), (2, 6, 2), (3, 2, 1), (3, 7, 2)];
        assert_eq!(moved[..4], expected);
        assert_eq!(moved.len(), 8);
        assert!((0..8).all(|device| other.leaving(device) == 6));
    }

    #[test]
    fn sizes_give_the_right_degrees() {
        let degrees = |name: &str| {
            let topology: Topology = name.parse().unwrap();
            let mut all: Vec<u32> = (0..topology.devices())
                .map(|i| topology.leaving(i))
                .collect();
            all.dedup();
            all
        };
        assert_eq!(degrees("ring-2"), [1]);
        assert_eq!(degrees("ring-8"), [2]);
        assert_eq!(degrees("torus-4x4"), [4]);
        assert_eq!(degrees("torus-2x3"), [3]);
        assert_eq!(degrees("torus-3x3x3"), [6]);
        assert_eq!(degrees("cube-16"), [4]);
        assert_eq!(degrees("h100"), [18]);
    }
}
