//! What is to be planned, in the form that planners take it: messages that gather at targets.
//!
//! A scatter is a gather backwards: it is planned on the reversed topology, and its plan is turned.

use super::fluid::Demand;
use crate::collective::Collective;
use crate::error::GossipError;
use crate::plan::{Hop, Route, TransferPlan};
use crate::topology::Topology;
use crate::transfers::Sizes;

/// Messages among devices; not those of a broadcast.
pub struct Task {
    pub topology: Topology,
    pub demands: Vec<Demand>,
    made: Collective,
    backwards: bool,
    /// Pairs of devices whose message has no bytes.
    empty: Vec<(usize, usize)>,
}

impl Task {
    /// The task of a collective; without sizes all messages have one.
    pub fn new(topology: &Topology, collective: Collective, sizes: Option<&Sizes>) -> Task {
        let backwards = matches!(collective, Collective::Scatter { .. });
        let (turned, made) = match collective {
            Collective::Scatter { main } => (topology.reversed(), Collective::Gather { main }),
            other => (topology.clone(), other),
        };
        let devices = topology.devices();
        let unit = sizes.map_or(1.0, |sizes| sizes.mean(collective, devices).max(1.0));
        let amount = |source: usize, target: usize| match sizes {
            _ if source == target => 0.0,
            None => 1.0,
            Some(sizes) if backwards => sizes.of(target, source) as f64 / unit,
            Some(sizes) => sizes.of(source, target) as f64 / unit,
        };
        let targets = (0..devices).filter(|&to| made.main().is_none_or(|main| main == to));
        let demand = |target| Demand {
            target,
            amounts: (0..devices).map(|source| amount(source, target)).collect(),
        };
        let other = made
            .messages(devices)
            .filter(|(source, target)| source != target);
        Task {
            topology: turned,
            demands: targets.map(demand).collect(),
            made,
            backwards,
            empty: other
                .filter(|&(source, target)| amount(source, target) == 0.0)
                .collect(),
        }
    }

    /// The plan of routes: adds what stays where it is and messages without bytes, and turns time
    /// if the routes were made backwards. `steps` are how many it takes, `lasting` how many a
    /// transfer takes; without steps they are as the routes say.
    pub fn finished(
        &self,
        chunks: usize,
        mut routes: Vec<Route>,
        steps: Option<usize>,
        lasting: impl Fn(usize, usize) -> usize,
    ) -> Result<TransferPlan, GossipError> {
        let devices = self.topology.devices();
        let own = self
            .made
            .messages(devices)
            .filter(|(source, target)| source == target);
        routes.extend(own.map(|(source, _)| Route {
            source,
            hops: Vec::new(),
            chunks: 0..chunks,
        }));
        for &(source, target) in &self.empty {
            let hops = self.topology.shortest(source, target).into_iter();
            routes.push(Route {
                source,
                hops: hops
                    .enumerate()
                    .map(|(step, to)| Hop { step, to })
                    .collect(),
                chunks: 0..chunks,
            });
        }
        let plan = TransferPlan::new(self.made, devices, chunks, routes)?;
        let steps = steps.unwrap_or(plan.steps());
        let plan = plan.lasting(steps);
        Ok(match self.backwards {
            true => plan.reversed_in(lasting).expect("a gather can be turned"),
            false => plan,
        })
    }
}
