//! What a plan moves for messages of given sizes: each transfer with its bytes, and what it waits
//! for.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::collective::Collective;
use crate::error::GossipError;
use crate::plan::{Route, TransferPlan};

/// Bytes of each message, by source and target. All messages of a broadcast are one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes(Vec<Vec<u64>>);

impl Sizes {
    /// Messages of one size that are `total` bytes together, as far as that can be divided: what
    /// the publication calls the input size.
    pub fn even(collective: Collective, devices: usize, total: u64) -> Sizes {
        let each = total / collective.inputs(devices) as u64;
        Sizes::each(collective, devices, each)
    }

    /// Messages of `each` bytes.
    pub fn each(collective: Collective, devices: usize, each: u64) -> Sizes {
        let mut sizes = vec![vec![0; devices]; devices];
        for (source, target) in collective.messages(devices) {
            sizes[source][target] = each;
        }
        Sizes(sizes)
    }

    /// Messages of different sizes: rows of sources, columns of targets. Reads numbers that spaces
    /// or tabulators separate.
    ///
    /// # Errors
    /// There are not as many rows and columns as devices, a word is no number, or two devices have
    /// a size and no message for each other.
    pub fn parse(
        name: &str,
        text: &str,
        collective: Collective,
        devices: usize,
    ) -> Result<Sizes, GossipError> {
        let wrong = |what: String| GossipError::Sizes {
            what: format!("{name}{what}"),
        };
        let mut rows = Vec::new();
        for (line, words) in text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
        {
            let number = |word: &str| {
                let words = || format!(", line {}: {word:?} is no number of bytes", line + 1);
                word.parse::<u64>().map_err(|_| wrong(words()))
            };
            rows.push(
                words
                    .split_whitespace()
                    .map(number)
                    .collect::<Result<Vec<u64>, _>>()?,
            );
        }
        if rows.len() != devices || rows.iter().any(|row| row.len() != devices) {
            let what = format!(" has not {devices} rows of {devices} numbers, one for each device");
            return Err(wrong(what));
        }
        for (source, row) in rows.iter().enumerate() {
            for (target, &bytes) in row.iter().enumerate() {
                if bytes > 0 && !collective.sends(source, target) {
                    let words = format!(
                        ": device {source} has no message for device {target} in a {collective}"
                    );
                    return Err(wrong(words));
                }
            }
        }
        let differ = |main: usize| rows[main].iter().any(|&bytes| bytes != rows[main][0]);
        if let Collective::Broadcast { main } = collective
            && differ(main)
        {
            return Err(wrong(": all messages of a broadcast are one".into()));
        }
        Ok(Sizes(rows))
    }

    /// Bytes of a message.
    pub fn of(&self, source: usize, target: usize) -> u64 {
        self.0[source][target]
    }

    /// Mean bytes of a message between two different devices.
    pub fn mean(&self, collective: Collective, devices: usize) -> f64 {
        let other = || {
            collective
                .messages(devices)
                .filter(|(source, target)| source != target)
        };
        let total: u64 = other()
            .map(|(source, target)| self.of(source, target))
            .sum();
        total as f64 / other().count().max(1) as f64
    }

    /// Bytes of all inputs together.
    pub fn total(&self, collective: Collective) -> u64 {
        match collective {
            Collective::Broadcast { main } => self.of(main, main),
            _ => self.0.iter().flatten().sum(),
        }
    }
}

/// Bytes that go from a device to another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The device that has them.
    pub from: usize,
    /// The device that gets them.
    pub to: usize,
    /// The step of the plan.
    pub step: usize,
    /// Who sent the message.
    pub source: usize,
    /// Who shall have it; of a broadcast this is the receiver, who keeps it too.
    pub target: usize,
    /// Which of its bytes they are.
    pub bytes: Range<u64>,
    /// Which of its chunks they are.
    pub chunks: Range<usize>,
    /// The transfer that brought them here; nothing where the sender had them at first.
    pub after: Option<usize>,
}

impl Transfer {
    /// How many bytes they are.
    pub fn len(&self) -> u64 {
        self.bytes.end - self.bytes.start
    }

    /// True where a message has fewer bytes than chunks.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// True where they have come to the device that they are for.
    pub fn arrives(&self) -> bool {
        self.to == self.target
    }
}

/// All transfers of a plan, in the order in which links take them.
#[derive(Clone, Debug)]
pub struct Transfers {
    collective: Collective,
    devices: usize,
    sizes: Sizes,
    transfers: Vec<Transfer>,
}

impl Transfers {
    /// The transfers of a plan for messages of these sizes.
    pub fn new(plan: &TransferPlan, sizes: &Sizes) -> Transfers {
        let mut order: Vec<(usize, usize, usize)> = Vec::new();
        for (number, route) in plan.routes().iter().enumerate() {
            let hops = route.hops.iter().enumerate();
            order.extend(hops.map(|(place, hop)| (hop.step, number, place)));
        }
        order.sort_unstable();
        let mut traffic = Transfers {
            collective: plan.collective(),
            devices: plan.devices(),
            sizes: sizes.clone(),
            transfers: Vec::with_capacity(order.len()),
        };
        let mut last = vec![None; plan.routes().len()];
        let mut had = BTreeMap::new();
        for (_, number, place) in order {
            let route = &plan.routes()[number];
            let transfer = traffic.transfer(plan, route, place, last[number]);
            // Routes of a broadcast share transfers: each device gets a chunk once.
            let key = (transfer.chunks.start, transfer.to);
            let shared = match plan.collective() {
                Collective::Broadcast { .. } => had.get(&key).copied(),
                _ => None,
            };
            last[number] = Some(shared.unwrap_or_else(|| {
                traffic.transfers.push(transfer);
                had.insert(key, traffic.transfers.len() - 1);
                traffic.transfers.len() - 1
            }));
        }
        traffic
    }

    fn transfer(
        &self,
        plan: &TransferPlan,
        route: &Route,
        place: usize,
        after: Option<usize>,
    ) -> Transfer {
        let hop = route.hops[place];
        let target = match plan.collective() {
            Collective::Broadcast { .. } => hop.to,
            _ => route.target(),
        };
        let bytes = self.sizes.of(route.source, target);
        let chunk = bytes.div_ceil(plan.chunks() as u64);
        let until = |chunks: usize| (chunk * chunks as u64).min(bytes);
        Transfer {
            from: match place {
                0 => route.source,
                _ => route.hops[place - 1].to,
            },
            to: hop.to,
            step: hop.step,
            source: route.source,
            target,
            bytes: until(route.chunks.start)..until(route.chunks.end),
            chunks: route.chunks.clone(),
            after,
        }
    }

    /// What it is for.
    pub fn collective(&self) -> Collective {
        self.collective
    }

    /// How many devices take part.
    pub fn devices(&self) -> usize {
        self.devices
    }

    /// Bytes of each message.
    pub fn sizes(&self) -> &Sizes {
        &self.sizes
    }

    /// The transfers; one waits only for such as stand before it.
    pub fn transfers(&self) -> &[Transfer] {
        &self.transfers
    }

    /// Bytes that inputs, outputs, and what passes other devices take together.
    pub fn memory(&self) -> u64 {
        let messages = self.collective.messages(self.devices);
        let outputs: u64 = messages
            .map(|(source, target)| self.sizes.of(source, target))
            .sum();
        let passing = self.transfers.iter().filter(|transfer| !transfer.arrives());
        let passing: u64 = passing.map(Transfer::len).sum();
        self.sizes.total(self.collective) + outputs + passing
    }

    /// The transfers from each device to each other one, by their numbers, in their order.
    pub fn queues(&self) -> BTreeMap<(usize, usize), Vec<usize>> {
        let mut queues: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (number, transfer) in self.transfers.iter().enumerate() {
            queues
                .entry((transfer.from, transfer.to))
                .or_default()
                .push(number);
        }
        queues
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Hop;

    #[test]
    fn transfers_wait_for_what_brought_their_bytes() {
        let text = r#"{"type": "scatter", "num_gpus": 3, "num_steps": 2, "num_chunks": 2,
            "plan": [[0, 0, 0], [0, 1, 1], [0, 1, 2], [0, 0, 2]], "chunks": [2, 2, 1, 1]}"#;
        let plan = TransferPlan::from_json("t", text).unwrap();
        let sizes = Sizes::parse("t", "1 2 5\n0 0 0\n0 0 0\n", plan.collective(), 3).unwrap();
        let traffic = Transfers::new(&plan, &sizes);
        let of = |transfer: &Transfer| {
            (
                transfer.from,
                transfer.to,
                transfer.bytes.clone(),
                transfer.after,
            )
        };
        let found: Vec<_> = traffic.transfers().iter().map(of).collect();
        let expected = [
            (0, 1, 0..2, None),
            (0, 1, 0..3, None),
            (1, 2, 0..3, Some(1)),
            (0, 2, 3..5, None),
        ];
        assert_eq!(found, expected);
        assert_eq!(traffic.queues()[&(0, 1)], [0, 1]);
        assert_eq!(sizes.total(plan.collective()), 8);
    }

    #[test]
    fn a_broadcast_moves_shared_ways_once() {
        let route = |hops: &[(usize, usize)]| Route {
            source: 0,
            hops: hops.iter().map(|&(step, to)| Hop { step, to }).collect(),
            chunks: 0..1,
        };
        let broadcast = Collective::Broadcast { main: 0 };
        let routes = vec![route(&[]), route(&[(0, 1)]), route(&[(0, 1), (1, 2)])];
        let plan = TransferPlan::new(broadcast, 3, 1, routes).unwrap();
        let traffic = Transfers::new(&plan, &Sizes::even(broadcast, 3, 7));
        let transfers = traffic.transfers();
        assert_eq!((transfers.len(), transfers[1].after), (2, Some(0)));
        assert!(
            transfers
                .iter()
                .all(|transfer| transfer.arrives() && transfer.len() == 7)
        );
    }

    #[test]
    fn sizes_that_fit_nothing_are_refused() {
        let scatter = Collective::Scatter { main: 0 };
        for (text, words) in [
            ("1 2\n", "2 rows of 2"),
            ("1 x\n0 0\n", "line 1: \"x\""),
            ("1 2\n3 0\n", "no message for device 0"),
        ] {
            let error = Sizes::parse("t", text, scatter, 2).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        let broadcast = Collective::Broadcast { main: 0 };
        assert!(Sizes::parse("t", "1 2\n0 0\n", broadcast, 2).is_err());
    }
}
