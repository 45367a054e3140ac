//! Plans: which chunk of which message takes which way, and in which order.

mod check;
mod json;
mod msccl;

use std::collections::BTreeSet;
use std::ops::Range;

use crate::collective::Collective;
use crate::topology::Topology;

/// A plan of transfers.
///
/// Each message is cut into [`TransferPlan::chunks`] chunks of one size. Each [`Route`] takes some
/// of them from hop to hop. Steps are an order and no clock: of two transfers over the same links
/// that of the earlier step goes first, and a chunk leaves a device after it arrived there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferPlan {
    collective: Collective,
    devices: usize,
    chunks: usize,
    steps: usize,
    routes: Vec<Route>,
    /// Steps after which all devices wait for each other, in plans of Gossip with two buffers.
    sync_steps: Option<Vec<usize>>,
}

/// The way of some chunks of a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Route {
    /// The device that has them at first.
    pub source: usize,
    /// The devices that they go to, one after the other.
    pub hops: Vec<Hop>,
    /// Which chunks of the message they are.
    pub chunks: Range<usize>,
}

/// A transfer to the next device of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hop {
    /// The step that it belongs to, from 0.
    pub step: usize,
    /// The device that it leads to.
    pub to: usize,
}

impl Route {
    /// The device where it ends.
    pub fn target(&self) -> usize {
        self.hops.last().map_or(self.source, |hop| hop.to)
    }

    /// Its transfers: from where, and the hop.
    pub fn transfers(&self) -> impl Iterator<Item = (usize, Hop)> {
        let froms = [self.source]
            .into_iter()
            .chain(self.hops.iter().map(|hop| hop.to));
        froms.zip(self.hops.iter().copied())
    }
}

impl TransferPlan {
    /// A plan of these routes, ordered by source, target and chunk.
    ///
    /// # Errors
    /// The routes do not carry each chunk of each message to its target.
    pub fn new(
        collective: Collective,
        devices: usize,
        chunks: usize,
        mut routes: Vec<Route>,
    ) -> Result<TransferPlan, crate::GossipError> {
        routes.sort_by_key(|route| (route.source, route.target(), route.chunks.start));
        let last = routes
            .iter()
            .flat_map(|route| &route.hops)
            .map(|hop| hop.step + 1)
            .max();
        let plan = TransferPlan {
            collective,
            devices,
            chunks,
            steps: last.unwrap_or(0).max(1),
            routes,
            sync_steps: None,
        };
        match plan.fault() {
            Some(what) => Err(crate::GossipError::Plan {
                name: "what was made".into(),
                what,
            }),
            None => Ok(plan),
        }
    }

    /// The same plan with this number of steps, of which the last may only end transfers.
    pub(crate) fn lasting(self, steps: usize) -> TransferPlan {
        TransferPlan { steps, ..self }
    }

    /// What it is for.
    pub fn collective(&self) -> Collective {
        self.collective
    }

    /// How many devices take part.
    pub fn devices(&self) -> usize {
        self.devices
    }

    /// Chunks of each message.
    pub fn chunks(&self) -> usize {
        self.chunks
    }

    /// Steps from the first transfer to the last.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// The ways of all chunks, those that stay where they are included.
    pub fn routes(&self) -> &[Route] {
        &self.routes
    }

    /// How many transfers it has; what several routes of a broadcast share is one.
    pub fn transfers(&self) -> usize {
        let all = self.routes.iter().flat_map(|route| {
            route
                .transfers()
                .map(|(from, hop)| (from, hop, route.chunks.clone()))
        });
        match self.collective {
            Collective::Broadcast { .. } => {
                let key = |(from, hop, chunks): (usize, Hop, Range<usize>)| {
                    (chunks.start, from, hop.to, hop.step)
                };
                all.map(key).collect::<BTreeSet<_>>().len()
            }
            _ => all.count(),
        }
    }

    /// Pairs of devices that it sends between, though no link does: such transfers take the way
    /// through the host.
    pub fn without_links(&self, topology: &Topology) -> BTreeSet<(usize, usize)> {
        let all = self.routes.iter().flat_map(Route::transfers);
        let pairs = all.map(|(from, hop)| (from, hop.to));
        pairs
            .filter(|&(from, to)| topology.links(from, to) == 0)
            .collect()
    }

    /// The plan for the collective that comes about where time runs backwards: gather of scatter,
    /// scatter of gather. Nothing for a broadcast.
    pub fn reversed(&self) -> Option<TransferPlan> {
        self.reversed_in(|_, _| 1)
    }

    /// The same where a transfer takes `lasting` steps from its own on.
    pub(crate) fn reversed_in(
        &self,
        lasting: impl Fn(usize, usize) -> usize,
    ) -> Option<TransferPlan> {
        let collective = self.collective.reversed()?;
        let turned = |route: &Route| {
            let hops = route.transfers().map(|(from, hop)| Hop {
                step: self.steps - hop.step - lasting(from, hop.to),
                to: from,
            });
            let mut hops: Vec<Hop> = hops.collect();
            hops.reverse();
            Route {
                source: route.target(),
                hops,
                chunks: route.chunks.clone(),
            }
        };
        let mut routes: Vec<Route> = self.routes.iter().map(turned).collect();
        routes.sort_by_key(|route| (route.source, route.target(), route.chunks.start));
        Some(TransferPlan {
            collective,
            routes,
            ..self.clone()
        })
    }
}
