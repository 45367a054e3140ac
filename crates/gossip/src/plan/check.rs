//! Whether a plan does what its collective asks for.

use std::collections::BTreeMap;

use super::{Route, TransferPlan};
use crate::collective::Collective;

impl TransferPlan {
    /// What is wrong with it, in words; nothing where each chunk of each message arrives.
    pub(super) fn fault(&self) -> Option<String> {
        self.size_fault()
            .or_else(|| {
                let mut routes = self.routes.iter().enumerate();
                routes.find_map(|(number, route)| self.route_fault(number, route))
            })
            .or_else(|| self.missing())
            .or_else(|| self.broadcast_fault())
    }

    fn size_fault(&self) -> Option<String> {
        let devices = self.devices;
        if devices == 0 || self.chunks == 0 {
            return Some(format!("{devices} devices, {} chunks", self.chunks));
        }
        let main = self.collective.main()?;
        (main >= devices).then(|| format!("main device {main} of {devices}"))
    }

    fn route_fault(&self, number: usize, route: &Route) -> Option<String> {
        let devices = [route.source]
            .into_iter()
            .chain(route.hops.iter().map(|hop| hop.to));
        if let Some(device) = devices.into_iter().find(|&device| device >= self.devices) {
            let all = self.devices;
            return Some(format!("path {number} names device {device} of {all}"));
        }
        let (source, target) = (route.source, route.target());
        if !self.collective.sends(source, target) {
            let of = self.collective;
            return Some(format!(
                "path {number} leads from device {source} to device {target}, which have no \
                 message for each other in a {of}"
            ));
        }
        let mut steps = route.hops.windows(2);
        let disordered = steps.any(|pair| pair[1].step <= pair[0].step);
        disordered.then(|| format!("path {number} has two transfers in one step"))
    }

    /// A message of which a chunk is missing, or comes twice.
    fn missing(&self) -> Option<String> {
        let mut carried: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for route in &self.routes {
            let chunks = carried.entry((route.source, route.target())).or_default();
            chunks.extend(route.chunks.clone());
        }
        for (source, target) in self.collective.messages(self.devices) {
            let mut chunks = carried.remove(&(source, target)).unwrap_or_default();
            chunks.sort_unstable();
            if !chunks.iter().copied().eq(0..self.chunks) {
                return Some(format!(
                    "paths from device {source} to device {target} carry {} of {} chunks{}",
                    chunks.len(),
                    self.chunks,
                    if chunks.len() < self.chunks {
                        ""
                    } else {
                        ", not each once"
                    }
                ));
            }
        }
        None
    }

    /// A chunk of a broadcast that reaches a device twice, or leaves before it comes.
    fn broadcast_fault(&self) -> Option<String> {
        let Collective::Broadcast { main } = self.collective else {
            return None;
        };
        let mut arrivals = BTreeMap::new();
        for route in &self.routes {
            for (from, hop) in route.transfers() {
                let first = arrivals
                    .entry((route.chunks.start, hop.to))
                    .or_insert((from, hop.step));
                if hop.to == main || *first != (from, hop.step) {
                    return Some(format!(
                        "chunk {} reaches device {} twice",
                        route.chunks.start, hop.to
                    ));
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use crate::{Collective, Hop, Route, TransferPlan};

    fn route(source: usize, hops: &[(usize, usize)], chunk: usize) -> Route {
        Route {
            source,
            hops: hops.iter().map(|&(step, to)| Hop { step, to }).collect(),
            chunks: chunk..chunk + 1,
        }
    }

    fn refused(collective: Collective, routes: &[Route], words: &str) {
        let made = TransferPlan::new(collective, 3, 1, routes.to_vec());
        let error = made.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }

    #[test]
    fn plans_must_do_what_they_are_for() {
        let scatter = Collective::Scatter { main: 0 };
        let good = [
            route(0, &[], 0),
            route(0, &[(0, 1)], 0),
            route(0, &[(1, 1), (2, 2)], 0),
        ];
        let plan = TransferPlan::new(scatter, 3, 1, good.to_vec()).unwrap();
        assert_eq!((plan.steps(), plan.transfers()), (3, 3));
        let back = plan.reversed().unwrap();
        assert_eq!(back.collective(), Collective::Gather { main: 0 });
        assert_eq!(back.routes()[2], route(2, &[(0, 1), (1, 0)], 0));
        assert_eq!(back.reversed().unwrap(), plan);
        refused(scatter, &good[..2], "0 to device 2 carry 0 of 1");
        let twice = [&good[..], &[route(0, &[(0, 1)], 0)]].concat();
        refused(scatter, &twice, "carry 2 of 1 chunks, not each once");
        let other = [&good[..], &[route(1, &[(0, 2)], 0)]].concat();
        refused(scatter, &other, "no message for each other");
        refused(scatter, &[route(0, &[(0, 3)], 0)], "device 3 of 3");
        refused(
            scatter,
            &[route(0, &[(1, 1), (1, 2)], 0)],
            "two transfers in one step",
        );
        refused(Collective::Gather { main: 3 }, &good, "main device 3 of 3");
    }

    #[test]
    fn a_broadcast_reaches_each_device_once() {
        let broadcast = Collective::Broadcast { main: 0 };
        let shared = [
            route(0, &[], 0),
            route(0, &[(0, 1)], 0),
            route(0, &[(0, 1), (1, 2)], 0),
        ];
        let plan = TransferPlan::new(broadcast, 3, 1, shared.to_vec()).unwrap();
        assert_eq!(plan.transfers(), 2);
        assert!(plan.reversed().is_none());
        let again = [
            route(0, &[], 0),
            route(0, &[(1, 1)], 0),
            route(0, &[(0, 1), (1, 2)], 0),
        ];
        refused(broadcast, &again, "chunk 0 reaches device 1 twice");
    }
}
