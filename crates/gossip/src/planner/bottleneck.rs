//! A bound that anybody can check by hand: what must leave some of the devices, and by which links.

use crate::collective::Collective;
use crate::topology::Topology;

/// All sets of devices are tried up to this many.
const MOST_DEVICES: usize = 16;

/// Some devices, what they have for the others, and the links that lead there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bottleneck {
    /// The devices on the one side.
    pub devices: Vec<usize>,
    /// Messages that must cross.
    pub messages: usize,
    /// Links, or ports, by which they can.
    pub links: u32,
}

impl Bottleneck {
    /// How long the messages take over the links, in times of one message over one link.
    pub fn time(&self) -> f64 {
        self.messages as f64 / f64::from(self.links)
    }
}

/// The cut that takes the longest, of these the first with the fewest devices; nothing for more
/// than 16 devices.
pub fn narrowest(topology: &Topology, collective: Collective) -> Option<Bottleneck> {
    let devices = topology.devices();
    if devices > MOST_DEVICES {
        return None;
    }
    let mut sets: Vec<u32> = (1..(1 << devices) - 1).collect();
    sets.sort_by_key(|set| set.count_ones());
    let (mut best, mut time) = (None, 0.0);
    for set in sets {
        let (messages, links) = crossing(topology, collective, set);
        let takes = f64::from(messages) / f64::from(links.max(1));
        if links > 0 && takes > time + 1e-9 {
            (best, time) = (Some((set, messages, links)), takes);
        }
    }
    best.map(|(set, messages, links)| Bottleneck {
        devices: (0..devices)
            .filter(|device| set >> device & 1 == 1)
            .collect(),
        messages: messages as usize,
        links,
    })
}

/// Messages from the set to the other devices, and links for them.
fn crossing(topology: &Topology, collective: Collective, set: u32) -> (u32, u32) {
    let devices = topology.devices();
    let inside = |device: &usize| set >> device & 1 == 1;
    let (mut messages, mut links) = (0, 0);
    for from in (0..devices).filter(inside) {
        for to in (0..devices).filter(|to| !inside(to)) {
            messages += u32::from(collective.sends(from, to));
            links += topology.links(from, to);
        }
    }
    if let Some(ports) = topology.ports() {
        let of = |side: bool| {
            (0..devices)
                .filter(|i| inside(i) == side)
                .map(|i| ports[i])
                .sum()
        };
        links = links.min(of(true)).min(of(false));
    }
    match collective {
        Collective::Broadcast { .. } => (messages.min(1), links),
        _ => (messages, links),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_publications_bottlenecks_are_found() {
        let cut = |name: &str, collective| narrowest(&name.parse().unwrap(), collective).unwrap();
        let found = cut("dgx-1", Collective::AllToAll);
        assert_eq!(
            (&found.devices[..], found.messages, found.links),
            (&[0, 1, 2, 3][..], 16, 6)
        );
        let found = cut("dgx-1", Collective::Scatter { main: 5 });
        assert_eq!(
            (&found.devices[..], found.messages, found.links),
            (&[5][..], 7, 6)
        );
        assert_eq!(cut("s3", Collective::AllToAll).time(), 0.8);
        assert_eq!(cut("h100", Collective::AllToAll).time(), 7.0 / 18.0);
        assert_eq!(cut("ring-6", Collective::Broadcast { main: 0 }).time(), 0.5);
        assert!(narrowest(&"torus-5x5".parse().unwrap(), Collective::AllToAll).is_none());
    }
}
