//! Which devices there are, and how they are wired.

mod json;
mod preset;
mod smi;

use std::collections::VecDeque;

use crate::error::GossipError;

pub(crate) use preset::on_circle;

/// Devices and the links between them, counted by direction.
///
/// A link carries [`Topology::rate`] in each direction at once. Where devices reach each other
/// through a switch, each has [`Topology::ports`] to it: what it sends at a time to all others
/// together, and what it receives, has no more room than that.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    name: String,
    links: Vec<Vec<u32>>,
    ports: Option<Vec<u32>>,
    rate: f64,
    places: Option<Vec<(f64, f64)>>,
}

/// Links that lead from one device to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Where they begin.
    pub from: usize,
    /// Where they end.
    pub to: usize,
    /// How many they are, at least 1.
    pub links: u32,
}

/// More devices than this make plans of billions of numbers.
const MOST_DEVICES: usize = 256;

/// What a link of NVLink 2 carries in a direction, in 10^9 bytes a second.
const NVLINK2: f64 = 25.0;

impl Topology {
    /// Devices with `links[i][j]` links from i to j, none from a device to itself.
    ///
    /// # Errors
    /// The matrix is not square, has fewer than 2 devices or more than 256, or links a device with
    /// itself.
    pub fn new(
        name: impl Into<String>,
        links: Vec<Vec<u32>>,
        rate: f64,
    ) -> Result<Topology, GossipError> {
        let (name, devices) = (name.into(), links.len());
        let wrong = |what: String| GossipError::Topology {
            name: name.clone(),
            what,
        };
        if !(2..=MOST_DEVICES).contains(&devices) {
            let words = format!("{devices} devices; there must be 2 to {MOST_DEVICES}");
            return Err(wrong(words));
        }
        for (device, row) in links.iter().enumerate() {
            if row.len() != devices {
                let found = row.len();
                let words = format!("{found} numbers in row {device}; there are {devices} devices");
                return Err(wrong(words));
            }
            if row[device] != 0 {
                return Err(wrong(format!("a link from device {device} to itself")));
            }
        }
        if !(rate > 0.0 && rate.is_finite()) {
            return Err(wrong(format!("a rate of {rate} GB/s; it must be above 0")));
        }
        Ok(Topology {
            name,
            links,
            ports: None,
            rate,
            places: None,
        })
    }

    /// The same devices behind a switch to which each has so many ports.
    ///
    /// # Errors
    /// The numbers are not one for each device, or one of them is 0.
    pub fn with_ports(mut self, ports: Vec<u32>) -> Result<Topology, GossipError> {
        if ports.len() != self.devices() || ports.contains(&0) {
            return Err(GossipError::Topology {
                name: self.name,
                what: format!("ports {ports:?}; there must be one number above 0 for each device"),
            });
        }
        self.ports = Some(ports);
        Ok(self)
    }

    /// The same with another rate of links, in 10^9 bytes a second and direction.
    pub fn with_rate(self, rate: f64) -> Result<Topology, GossipError> {
        let Topology { ports, places, .. } = self;
        let new = Topology::new(self.name, self.links, rate)?;
        Ok(Topology {
            ports,
            places,
            ..new
        })
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many devices there are.
    pub fn devices(&self) -> usize {
        self.links.len()
    }

    /// Links from one device to another.
    pub fn links(&self, from: usize, to: usize) -> u32 {
        self.links[from][to]
    }

    /// Ports of each device to the switch, where there is one.
    pub fn ports(&self) -> Option<&[u32]> {
        self.ports.as_deref()
    }

    /// What a link carries in a direction, in 10^9 bytes a second.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Where devices stand in a picture, if the topology has a shape of its own: x and y, 0 to 1.
    pub fn places(&self) -> Option<&[(f64, f64)]> {
        self.places.as_deref()
    }

    /// All pairs of devices with a link between them, by sender, then receiver.
    pub fn edges(&self) -> Vec<Edge> {
        let devices = 0..self.devices();
        let pairs = devices
            .clone()
            .flat_map(|from| devices.clone().map(move |to| (from, to)));
        let edges = pairs.map(|(from, to)| Edge {
            from,
            to,
            links: self.links(from, to),
        });
        edges.filter(|edge| edge.links > 0).collect()
    }

    /// The greatest number that divides all links and ports: what plans count in.
    pub fn lane(&self) -> u32 {
        let links = self.links.iter().flatten();
        let all = links.chain(self.ports.iter().flatten());
        all.fold(0, |lane, &links| gcd(lane, links)).max(1)
    }

    /// The same with every link in the other direction.
    pub fn reversed(&self) -> Topology {
        let devices = 0..self.devices();
        let column = |to: usize| devices.clone().map(|from| self.links(from, to)).collect();
        Topology {
            links: devices.clone().map(column).collect(),
            ..self.clone()
        }
    }

    /// Some of the devices, in this order, and the links among them.
    ///
    /// # Errors
    /// One of them is not there, or is named twice; or fewer than two are named.
    pub fn of_devices(&self, devices: &[usize]) -> Result<Topology, GossipError> {
        for (place, &device) in devices.iter().enumerate() {
            if device >= self.devices() || devices[..place].contains(&device) {
                return Err(GossipError::Topology {
                    name: self.name.clone(),
                    what: format!(
                        "no device {device} to choose there; it has {}, each to be named once",
                        self.devices()
                    ),
                });
            }
        }
        let row = |&from: &usize| devices.iter().map(|&to| self.links(from, to)).collect();
        let names: Vec<String> = devices.iter().map(usize::to_string).collect();
        let name = format!("{}, devices {}", self.name, names.join(","));
        let chosen = Topology::new(name, devices.iter().map(row).collect(), self.rate)?;
        fn of<T: Copy>(devices: &[usize], all: &[T]) -> Vec<T> {
            devices.iter().map(|&device| all[device]).collect()
        }
        Ok(Topology {
            ports: self.ports().map(|ports| of(devices, ports)),
            places: self.places().map(|places| of(devices, places)),
            ..chosen
        })
    }

    /// How many hops each device is from `target`, where it can reach it.
    pub fn hops_to(&self, target: usize) -> Vec<Option<usize>> {
        let mut hops = vec![None; self.devices()];
        hops[target] = Some(0);
        let mut queue = VecDeque::from([(target, 0)]);
        while let Some((to, far)) = queue.pop_front() {
            for from in 0..self.devices() {
                if self.links(from, to) > 0 && hops[from].is_none() {
                    hops[from] = Some(far + 1);
                    queue.push_back((from, far + 1));
                }
            }
        }
        hops
    }

    /// The devices on the way of fewest hops from a device to another one, which is the last.
    pub(crate) fn shortest(&self, source: usize, target: usize) -> Vec<usize> {
        let far = self.hops_to(target);
        let (mut device, mut hops) = (source, Vec::new());
        while let Some(rest) = far[device].filter(|&rest| rest > 0) {
            let nearer = |&to: &usize| self.links(device, to) > 0 && far[to] == Some(rest - 1);
            device = (0..self.devices())
                .find(nearer)
                .expect("a device that is reached has a nearer one");
            hops.push(device);
        }
        hops
    }

    /// Two devices, the first of which cannot reach the second; nothing where all reach all.
    pub fn apart(&self) -> Option<(usize, usize)> {
        (0..self.devices()).find_map(|target| {
            let from = self.hops_to(target).iter().position(Option::is_none)?;
            Some((from, target))
        })
    }

    /// What device `from` can send at a time, in links.
    pub fn leaving(&self, from: usize) -> u32 {
        let all = self.links[from].iter().sum();
        self.ports().map_or(all, |ports| ports[from].min(all))
    }

    /// What device `to` can receive at a time, in links.
    pub fn arriving(&self, to: usize) -> u32 {
        let all = self.links.iter().map(|row| row[to]).sum();
        self.ports().map_or(all, |ports| ports[to].min(all))
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_rates_are_checked() {
        let wrong = |links: &[&[u32]], words: &str| {
            let links = links.iter().map(|row| row.to_vec()).collect();
            let error = Topology::new("t", links, 1.0).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        };
        wrong(&[&[0]], "1 devices");
        wrong(&[&[0, 1], &[1]], "1 numbers in row 1");
        wrong(&[&[0, 1], &[1, 2]], "device 1 to itself");
        let two = Topology::new("t", vec![vec![0, 1], vec![1, 0]], 1.0).unwrap();
        assert!(two.clone().with_rate(f64::NAN).is_err());
        assert!(two.clone().with_ports(vec![1]).is_err());
        assert!(two.with_ports(vec![0, 1]).is_err());
    }

    #[test]
    fn distances_follow_directions() {
        let links = vec![vec![0, 1, 0], vec![0, 0, 1], vec![0, 0, 0]];
        let line = Topology::new("line", links, 1.0).unwrap();
        assert_eq!(line.hops_to(2), [Some(2), Some(1), Some(0)]);
        assert_eq!(line.apart(), Some((1, 0)));
        assert_eq!(line.reversed().hops_to(0), [Some(0), Some(1), Some(2)]);
        let ring: Topology = "ring-5".parse().unwrap();
        assert_eq!(ring.apart(), None);
        assert_eq!(ring.hops_to(0), [0, 1, 2, 2, 1].map(Some));
    }

    #[test]
    fn some_devices_keep_their_links() {
        let dgx: Topology = "dgx-1".parse().unwrap();
        let half = dgx.of_devices(&[0, 1, 2, 3]).unwrap();
        let quad: Topology = "s3".parse().unwrap();
        assert_eq!(half.edges(), quad.edges());
        assert!(dgx.of_devices(&[0, 8]).is_err() && dgx.of_devices(&[1, 1]).is_err());
        assert_eq!("dgx-2".parse::<Topology>().unwrap().lane(), 6);
        assert_eq!(dgx.lane(), 1);
    }
}
