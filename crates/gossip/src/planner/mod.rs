//! Makes plans, each with a bound that says how much better another could be.

mod bottleneck;
mod fluid;
mod integer;
mod list;
mod rings;
mod spread;
mod task;
mod uneven;
mod ways;

use std::cmp::Ordering;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use gyrase_work::Progress;

use crate::collective::Collective;
use crate::error::GossipError;
use crate::plan::{Hop, Route, TransferPlan};
use crate::simulator::ideal_time;
use crate::topology::Topology;
use crate::transfers::Sizes;

pub use bottleneck::{Bottleneck, narrowest};
pub use rings::rings;

use fluid::Fluid;
use integer::Clock;
use list::Steps;
use task::Task;
use ways::{Network, Way};

/// How a plan is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// The fastest of those that take little time to make: flow, rings, and for scatter and gather
    /// integer.
    #[default]
    Auto,
    /// A fluid, paths of it, list scheduling: milliseconds, and seldom more than some per cent from
    /// the bound.
    Flow,
    /// Disjoint rings through all devices.
    Rings,
    /// The integer program of the thesis: fewest steps of the fastest links, then fewest transfers.
    Integer,
    /// The same with steps of a single link, of which faster ones carry several chunks.
    IntegerSteps,
    /// Each message in one hop, without regard to links.
    Direct,
}

/// Methods by name.
const METHODS: [(&str, Method); 6] = [
    ("auto", Method::Auto),
    ("flow", Method::Flow),
    ("rings", Method::Rings),
    ("integer", Method::Integer),
    ("integer-steps", Method::IntegerSteps),
    ("direct", Method::Direct),
];

impl FromStr for Method {
    type Err = String;

    fn from_str(name: &str) -> Result<Method, String> {
        let names: Vec<&str> = METHODS.iter().map(|(name, _)| *name).collect();
        let found = METHODS.iter().find(|(other, _)| *other == name);
        let expected = || format!("write one of {}", names.join(", "));
        found.map(|(_, method)| *method).ok_or_else(expected)
    }
}

impl Display for Method {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let name = METHODS.iter().find(|(_, method)| method == self);
        out.write_str(name.expect("every method has a name").0)
    }
}

/// What to plan.
#[derive(Clone, Debug)]
pub struct Config {
    /// For which devices.
    pub topology: Topology,
    /// What they exchange.
    pub collective: Collective,
    /// How the plan is made.
    pub method: Method,
    /// Chunks of each message; nothing: as many as [`split`] says.
    pub chunks: Option<usize>,
    /// Bytes of each message, if they differ. Plans for one size move others too, but later than
    /// one that knows them.
    pub sizes: Option<Sizes>,
}

/// What no plan can be faster than.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The least time, in times of one message over one link: the optimum of the linear program. Of
    /// messages of different sizes, the mean one between two devices is that one.
    pub time: f64,
    /// Devices that cannot send what they have to the others in less time, if the bound is theirs.
    pub bottleneck: Option<Bottleneck>,
}

/// A plan, and how good it is.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The plan.
    pub plan: TransferPlan,
    /// What no plan can be faster than.
    pub bound: Bound,
    /// What it takes where transfers cost no time but that of their bytes, in times of one message
    /// over one link.
    pub time: f64,
}

impl Planned {
    /// The bound as a part of the time: 1 where no plan is faster.
    pub fn efficiency(&self) -> f64 {
        match self.time > 0.0 {
            true => self.bound.time / self.time,
            false => 1.0,
        }
    }
}

/// Into how many chunks messages of different sizes are cut.
const UNEVEN: usize = 8;

/// So many times as often the message of a broadcast is cut: only what came can be handed on.
const BROADCAST: usize = 16;

/// Chunks of each message that let everything which is narrow be busy all the time: the split of
/// the thesis (equations 4.4 and 4.5) where its bottleneck is the true one, and otherwise the first
/// up to 12 after which the bound is a whole number of steps.
///
/// Messages of different sizes are cut into 8.
pub fn split(config: &Config, bound: &Bound) -> usize {
    let Config {
        topology,
        collective,
        ..
    } = config;
    if config.sizes.is_some() {
        return UNEVEN;
    }
    let lane = f64::from(topology.lane());
    let steps = |chunks: usize| bound.time * chunks as f64 * lane;
    let whole = |chunks: &usize| (steps(*chunks) - steps(*chunks).round()).abs() < 1e-5;
    let split = (1..=12).find(whole).unwrap_or(12);
    match collective {
        Collective::Broadcast { .. } => BROADCAST * split,
        _ => split,
    }
}

/// The bound of a collective; without sizes all messages have one.
///
/// # Errors
/// A device cannot reach another one that it has a message for, or the solver gives up.
pub fn bound(
    topology: &Topology,
    collective: Collective,
    sizes: Option<&Sizes>,
) -> Result<Bound, GossipError> {
    Ok(bounded(topology, collective, sizes)?.0)
}

/// Makes a plan.
///
/// # Errors
/// The method does not fit the topology, a device cannot be reached, or the solver gives up.
pub fn plan(config: &Config, progress: &Progress) -> Result<Planned, GossipError> {
    let Config {
        topology,
        collective,
        ..
    } = config;
    progress.start("planning", 0);
    let (bound, fluid) = bounded(topology, *collective, config.sizes.as_ref())?;
    progress.go_on()?;
    let chunks = config.chunks.unwrap_or_else(|| split(config, &bound));
    let planning = Planning {
        config,
        chunks,
        bound,
        fluid,
    };
    let plan = match config.method {
        Method::Auto => planning.automatic()?,
        Method::Rings => rings::plan(topology, *collective, chunks)?,
        Method::Direct => direct(topology.devices(), *collective, config.chunks.unwrap_or(1))?,
        Method::Flow => planning.flow()?,
        Method::Integer => planning.integer(Clock::Durations)?,
        Method::IntegerSteps => planning.integer(Clock::Capacities)?,
    };
    progress.go_on()?;
    let (time, bound) = (planning.time(&plan), planning.bound);
    Ok(Planned { plan, bound, time })
}

/// The bound, and the fluid that reaches it where the collective has one.
fn bounded(
    topology: &Topology,
    collective: Collective,
    sizes: Option<&Sizes>,
) -> Result<(Bound, Option<Fluid>), GossipError> {
    let devices = topology.devices();
    if let Some(main) = collective.main().filter(|&main| main >= devices) {
        let name = topology.name();
        let what = format!("{name} has no device {main}; its {devices} devices begin at 0");
        return Err(GossipError::Request { what });
    }
    for target in 0..devices {
        let hops = topology.hops_to(target);
        let sends = |from: &usize| collective.sends(*from, target) && hops[*from].is_none();
        if let Some(from) = (0..devices).find(sends) {
            let name = topology.name().to_owned();
            return Err(GossipError::Apart {
                name,
                from,
                to: target,
            });
        }
    }
    let (time, fluid) = match collective {
        Collective::Broadcast { main } => (fluid::broadcast(topology, main)?, None),
        _ => {
            let task = Task::new(topology, collective, sizes);
            let fluid = fluid::solve(&task.topology, &task.demands)?;
            (fluid.time, Some(fluid))
        }
    };
    let bottleneck = match sizes {
        None => narrowest(topology, collective),
        Some(_) => None,
    };
    let reached = |found: &Bottleneck| found.time() > time * (1.0 - 1e-6);
    let bottleneck = bottleneck.filter(reached);
    Ok((Bound { time, bottleneck }, fluid))
}

/// What is known before a plan is made.
struct Planning<'a> {
    config: &'a Config,
    chunks: usize,
    bound: Bound,
    fluid: Option<Fluid>,
}

impl Planning<'_> {
    fn time(&self, plan: &TransferPlan) -> f64 {
        ideal_time(plan, &self.config.topology, self.config.sizes.as_ref())
    }

    /// The fastest plan that is soon made; of equals that with the fewest transfers.
    fn automatic(&self) -> Result<TransferPlan, GossipError> {
        let Config {
            topology,
            collective,
            ..
        } = self.config;
        let flow = self.flow()?;
        if self.time(&flow) <= self.bound.time * (1.0 + 1e-9) {
            return Ok(flow);
        }
        let mut others = vec![rings::plan(topology, *collective, self.chunks)];
        let rooted = matches!(
            collective,
            Collective::Scatter { .. } | Collective::Gather { .. }
        );
        if rooted && self.config.sizes.is_none() {
            others.push(self.integer(match topology.ports() {
                Some(_) => Clock::Capacities,
                None => Clock::Durations,
            }));
        }
        // What does not fit the topology is no plan for it.
        let plans = [flow].into_iter().chain(others.into_iter().flatten());
        let better = |best: TransferPlan, other: TransferPlan| {
            let order = self.time(&other).total_cmp(&self.time(&best));
            match order.then(other.transfers().cmp(&best.transfers())) {
                Ordering::Less => other,
                _ => best,
            }
        };
        Ok(plans.reduce(better).expect("one was made at first"))
    }

    fn flow(&self) -> Result<TransferPlan, GossipError> {
        let Config {
            topology,
            collective,
            ..
        } = self.config;
        let (devices, chunks) = (topology.devices(), self.chunks);
        let lane = f64::from(topology.lane());
        let least = (self.bound.time * chunks as f64 * lane - 1e-6).ceil() as usize;
        let Some(fluid) = &self.fluid else {
            let main = collective.main().expect("only a broadcast has no fluid");
            let network = Network::new(topology);
            let routes = spread::schedule(&network, main, chunks, least);
            return TransferPlan::new(*collective, devices, chunks, routes);
        };
        let task = Task::new(topology, *collective, self.config.sizes.as_ref());
        let network = Network::new(&task.topology);
        let mut ways = ways::ways(&network, &task.demands, fluid, chunks);
        let steps = match &self.config.sizes {
            None => {
                ways::relieve(&network, &mut ways, least.max(1) as u32);
                list::schedule(&network, &ways, least)
            }
            Some(_) => {
                let of = |way: &Way| {
                    let demand = task
                        .demands
                        .iter()
                        .find(|demand| demand.target == way.target);
                    demand.map_or(0.0, |demand| demand.amounts[way.source])
                };
                let weights: Vec<f64> = ways.iter().map(of).collect();
                uneven::schedule(&network, &ways, &weights)
            }
        };
        task.finished(chunks, routes(&network, &ways, &steps), None, |_, _| 1)
    }

    fn integer(&self, clock: Clock) -> Result<TransferPlan, GossipError> {
        let Config {
            topology,
            collective,
            ..
        } = self.config;
        let wrong = |what: &str| GossipError::Request { what: what.into() };
        if matches!(collective, Collective::Broadcast { .. }) {
            let what = "a broadcast is not planned by an integer program; the method flow does it";
            return Err(wrong(what));
        }
        if self.config.sizes.is_some() {
            let what =
                "integer programs are for messages of one size; the method flow is for others";
            return Err(wrong(what));
        }
        if topology.ports().is_some() && clock == Clock::Durations {
            let what = "steps of the fastest links are not for devices behind a switch; the method \
                        integer-steps is";
            return Err(wrong(what));
        }
        let task = Task::new(topology, *collective, None);
        let (chunks, least) = (self.chunks, self.bound.time);
        let found = integer::schedule(&task.topology, &task.demands, chunks, clock, least)?;
        let lasting = |from, to| found.durations[&(from, to)];
        task.finished(chunks, found.routes, Some(found.steps), lasting)
    }
}

/// Routes of chunks, which are numbered in the order of their ways.
fn routes(network: &Network, ways: &[Way], steps: &Steps) -> Vec<Route> {
    let mut seen = std::collections::BTreeMap::new();
    let route = |(way, steps): (&Way, &Vec<usize>)| {
        let chunk: &mut usize = seen.entry((way.source, way.target)).or_default();
        *chunk += 1;
        let hops = way.edges.iter().zip(steps).map(|(&edge, &step)| Hop {
            step,
            to: network.edges[edge].to,
        });
        Route {
            source: way.source,
            hops: hops.collect(),
            chunks: *chunk - 1..*chunk,
        }
    };
    ways.iter().zip(steps).map(route).collect()
}

fn direct(
    devices: usize,
    collective: Collective,
    chunks: usize,
) -> Result<TransferPlan, GossipError> {
    let one = |(source, target): (usize, usize)| {
        let hop = Hop {
            step: 0,
            to: target,
        };
        let hops = if source == target { vec![] } else { vec![hop] };
        let each = match collective {
            Collective::Broadcast { .. } => 1,
            _ => chunks,
        };
        (0..chunks)
            .step_by(each)
            .map(move |first| Route {
                source,
                hops: hops.clone(),
                chunks: first..first + each,
            })
            .collect::<Vec<Route>>()
    };
    let routes = collective.messages(devices).flat_map(one).collect();
    TransferPlan::new(collective, devices, chunks, routes)
}
