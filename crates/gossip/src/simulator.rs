//! How long a plan takes on a machine that one does not have.
//!
//! Each direction of each edge takes its transfers one after the other, in their order. A transfer
//! starts when its bytes are there, and the host has launched it. It takes a latency, and its bytes
//! over what the links of the edge carry together.

use crate::plan::TransferPlan;
use crate::topology::Topology;
use crate::transfers::{Sizes, Transfer, Transfers};

/// How fast the machine is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// Seconds of a transfer before its first byte.
    pub latency: f64,
    /// Seconds that the host takes to launch each transfer, one after the other.
    pub launch: f64,
    /// Bytes a second that a link carries in a direction.
    pub rate: f64,
    /// Bytes a second that a device sends, or receives, by way of the host, where it has no link.
    pub host: f64,
}

impl Timing {
    /// What was measured on the published machines: of the 25 and 20 GB/s of a link, 94.4 % are
    /// reached.
    pub fn measured(topology: &Topology) -> Timing {
        Timing {
            latency: 12e-6,
            launch: 6.5e-6,
            rate: topology.rate() * 1e9 * 0.944,
            host: 11.7e9,
        }
    }
}

/// When a transfer started and ended, in seconds, or in times of one message over one link.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timed {
    /// When it started.
    pub start: f64,
    /// When it ended.
    pub end: f64,
}

/// Without links, a transfer takes as long as half a link would.
const HOST_LINKS: f64 = 0.5;

/// When each transfer starts and ends, in seconds, in the order of [`Transfers::transfers`].
pub fn simulate(traffic: &Transfers, topology: &Topology, timing: &Timing) -> Vec<Timed> {
    let takes = |transfer: &Transfer| {
        let links = f64::from(topology.links(transfer.from, transfer.to));
        let rate = if links > 0.0 {
            links * timing.rate
        } else {
            timing.host
        };
        timing.latency + transfer.len() as f64 / rate
    };
    played(traffic, topology, timing.launch, takes)
}

/// When everything arrived.
pub fn total(times: &[Timed]) -> f64 {
    times.iter().map(|time| time.end).fold(0.0, f64::max)
}

/// When each transfer starts and ends where nothing takes time but bytes on links, in times of one
/// message over one link: the mean one, where they have sizes. Ways without links are half as fast
/// as a link.
pub fn ideal(
    plan: &TransferPlan,
    topology: &Topology,
    sizes: Option<&Sizes>,
) -> (Transfers, Vec<Timed>) {
    let (collective, devices) = (plan.collective(), plan.devices());
    let even = || Sizes::each(collective, devices, plan.chunks() as u64);
    let traffic = Transfers::new(plan, &sizes.cloned().unwrap_or_else(even));
    let unit = traffic.sizes().mean(collective, devices).max(1.0);
    let takes = |transfer: &Transfer| {
        let links = f64::from(topology.links(transfer.from, transfer.to));
        let links = if links > 0.0 { links } else { HOST_LINKS };
        transfer.len() as f64 / unit / links
    };
    let times = played(&traffic, topology, 0.0, takes);
    (traffic, times)
}

/// When everything has arrived in [`ideal`].
pub fn ideal_time(plan: &TransferPlan, topology: &Topology, sizes: Option<&Sizes>) -> f64 {
    total(&ideal(plan, topology, sizes).1)
}

/// From when on something takes the next transfer.
struct Free {
    edges: Vec<Vec<f64>>,
    /// By device and port: for sending, for receiving.
    ports: [Vec<Vec<f64>>; 2],
    /// By device: for sending and receiving by way of the host.
    host: [Vec<f64>; 2],
}

fn played(
    traffic: &Transfers,
    topology: &Topology,
    launch: f64,
    takes: impl Fn(&Transfer) -> f64,
) -> Vec<Timed> {
    let devices = topology.devices();
    let ports: Vec<Vec<f64>> = match topology.ports() {
        Some(ports) => ports
            .iter()
            .map(|&ports| vec![0.0; ports as usize])
            .collect(),
        None => Vec::new(),
    };
    let mut free = Free {
        edges: vec![vec![0.0; devices]; devices],
        ports: [ports.clone(), ports],
        host: [vec![0.0; devices], vec![0.0; devices]],
    };
    let mut times: Vec<Timed> = Vec::with_capacity(traffic.transfers().len());
    for (number, transfer) in traffic.transfers().iter().enumerate() {
        let links = topology.links(transfer.from, transfer.to);
        let here = transfer.after.map_or(0.0, |before| times[before].end);
        let launched = launch * (number + 1) as f64;
        let start = free.from(transfer, links).max(here).max(launched);
        let end = start + takes(transfer);
        free.take(transfer, links, end);
        times.push(Timed { start, end });
    }
    times
}

impl Free {
    fn from(&mut self, transfer: &Transfer, links: u32) -> f64 {
        let (from, to) = (transfer.from, transfer.to);
        if links == 0 {
            return self.host[0][from].max(self.host[1][to]);
        }
        let mut free = self.edges[from][to];
        for (side, device) in [from, to].into_iter().enumerate() {
            if let Some(ports) = self.ports[side].get_mut(device) {
                ports.sort_by(f64::total_cmp);
                free = free.max(ports[(links as usize).min(ports.len()) - 1]);
            }
        }
        free
    }

    /// Those that [`Free::from`] sorted to the front are taken.
    fn take(&mut self, transfer: &Transfer, links: u32, end: f64) {
        let (from, to) = (transfer.from, transfer.to);
        if links == 0 {
            (self.host[0][from], self.host[1][to]) = (end, end);
            return;
        }
        self.edges[from][to] = end;
        for (side, device) in [from, to].into_iter().enumerate() {
            if let Some(ports) = self.ports[side].get_mut(device) {
                let taken = (links as usize).min(ports.len());
                ports[..taken].fill(end);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Collective;

    fn scatter(paths: &str, chunks: &str) -> TransferPlan {
        let text = format!(
            r#"{{"type": "scatter", "num_gpus": 3, "num_steps": 2, "num_chunks": 2,
                "plan": {paths}, "chunks": {chunks}}}"#
        );
        TransferPlan::from_json("t", &text).unwrap()
    }

    #[test]
    fn transfers_wait_for_links_bytes_and_launches() {
        // Two links from 0 to 1, one from 1 to 2, none from 0 to 2.
        let links = vec![vec![0, 2, 0], vec![0, 0, 1], vec![1, 0, 0]];
        let topology = Topology::new("t", links, 1.0).unwrap();
        let plan = scatter(
            "[[0, 0, 0], [0, 1, 1], [0, 1, 2], [0, 0, 2]]",
            "[2, 2, 1, 1]",
        );
        let (_, times) = ideal(&plan, &topology, None);
        let expected = [(0.0, 0.5), (0.5, 0.75), (0.75, 1.25), (0.0, 1.0)];
        assert_eq!(times, expected.map(|(start, end)| Timed { start, end }));
        let timing = Timing {
            latency: 0.5,
            launch: 2.0,
            rate: 1.0,
            host: 4.0,
        };
        let sizes = Sizes::each(plan.collective(), 3, 8);
        let times = simulate(&Transfers::new(&plan, &sizes), &topology, &timing);
        let expected = [(2.0, 6.5), (6.5, 9.0), (9.0, 13.5), (8.0, 9.5)];
        assert_eq!(times, expected.map(|(start, end)| Timed { start, end }));
        assert_eq!(total(&times), 13.5);
    }

    #[test]
    fn a_switch_has_as_many_transfers_as_ports() {
        let plan = |topology: &Topology| {
            let routes = crate::planner::plan(
                &crate::Config {
                    topology: topology.clone(),
                    collective: Collective::AllToAll,
                    method: crate::Method::Direct,
                    chunks: None,
                    sizes: None,
                },
                &gyrase_work::Progress::default(),
            );
            routes.unwrap().plan
        };
        // All send to 0 first, which a switch takes one after the other.
        let switch: Topology = "switch-3".parse().unwrap();
        assert!(ideal_time(&plan(&switch), &switch, None) >= 2.0);
        let wide = switch.clone().with_ports(vec![2; 3]).unwrap();
        assert_eq!(ideal_time(&plan(&wide), &wide, None), 1.0);
    }
}
