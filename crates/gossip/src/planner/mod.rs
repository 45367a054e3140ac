//! Makes plans, each with a bound that says how much better another could be.

mod cut;
mod fluid;
mod integer;
mod list;
mod rings;
mod spread;
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

pub use cut::{Cut, narrowest};
pub use rings::rings;

use fluid::Demand;
use integer::Clock;
use ways::Network;

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
}

/// What no plan can be faster than.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The least time, in times of one message over one link: the optimum of the linear program.
    pub time: f64,
    /// Devices that cannot send what they have to the others in less time, if the bound is theirs.
    pub cut: Option<Cut>,
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
        self.bound.time / self.time
    }
}

/// So many times as often the message of a broadcast is cut: only what came can be handed on.
const BROADCAST: usize = 16;

/// Chunks of each message that let everything which is narrow be busy all the time: the split of
/// the thesis (equations 4.4 and 4.5) where its bottleneck is the true one, and otherwise the first
/// up to 12 after which the bound is a whole number of steps.
pub fn split(topology: &Topology, collective: Collective, bound: &Bound) -> usize {
    let lane = f64::from(topology.lane());
    let steps = |chunks: usize| bound.time * chunks as f64 * lane;
    let whole = |chunks: &usize| (steps(*chunks) - steps(*chunks).round()).abs() < 1e-5;
    let split = (1..=12).find(whole).unwrap_or(12);
    match collective {
        Collective::Broadcast { .. } => BROADCAST * split,
        _ => split,
    }
}

/// The bound of a collective.
///
/// # Errors
/// A device cannot reach another one that it has a message for, or the solver gives up.
pub fn bound(topology: &Topology, collective: Collective) -> Result<Bound, GossipError> {
    Ok(bounded(topology, collective)?.0)
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
    let (bound, fluid) = bounded(topology, *collective)?;
    progress.go_on()?;
    let chunks = config
        .chunks
        .unwrap_or_else(|| split(topology, *collective, &bound));
    let plan = match config.method {
        Method::Auto => automatic(topology, *collective, chunks, &bound, fluid)?,
        Method::Rings => rings::plan(topology, *collective, chunks)?,
        Method::Direct => direct(topology.devices(), *collective, config.chunks.unwrap_or(1))?,
        Method::Flow => flow(topology, *collective, chunks, &bound, fluid)?,
        Method::Integer => integer(topology, *collective, chunks, Clock::Durations, &bound)?,
        Method::IntegerSteps => integer(topology, *collective, chunks, Clock::Capacities, &bound)?,
    };
    progress.go_on()?;
    let time = ideal_time(&plan, topology);
    Ok(Planned { plan, bound, time })
}

/// The fastest plan that is soon made; of equals that with the fewest transfers, then the first.
fn automatic(
    topology: &Topology,
    collective: Collective,
    chunks: usize,
    bound: &Bound,
    fluid: Option<fluid::Fluid>,
) -> Result<TransferPlan, GossipError> {
    let flow = flow(topology, collective, chunks, bound, fluid)?;
    let time = |plan: &TransferPlan| ideal_time(plan, topology);
    if time(&flow) <= bound.time * (1.0 + 1e-9) {
        return Ok(flow);
    }
    let mut others = vec![rings::plan(topology, collective, chunks)];
    if matches!(
        collective,
        Collective::Scatter { .. } | Collective::Gather { .. }
    ) {
        let clock = match topology.ports() {
            Some(_) => Clock::Capacities,
            None => Clock::Durations,
        };
        others.push(integer(topology, collective, chunks, clock, bound));
    }
    // What does not fit the topology is no plan for it.
    let plans = [flow].into_iter().chain(others.into_iter().flatten());
    let better = |best: TransferPlan, other: TransferPlan| {
        let order = time(&other).total_cmp(&time(&best));
        match order.then(other.transfers().cmp(&best.transfers())) {
            Ordering::Less => other,
            _ => best,
        }
    };
    Ok(plans.reduce(better).expect("one was made at first"))
}

/// The bound, and the fluid that reaches it where the collective has one.
fn bounded(
    topology: &Topology,
    collective: Collective,
) -> Result<(Bound, Option<fluid::Fluid>), GossipError> {
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
        Collective::Scatter { .. } => {
            let fluid = fluid::solve(&topology.reversed(), &demands(devices, collective))?;
            (fluid.time, Some(fluid))
        }
        _ => {
            let fluid = fluid::solve(topology, &demands(devices, collective))?;
            (fluid.time, Some(fluid))
        }
    };
    let cut = narrowest(topology, collective).filter(|cut| cut.time() > time * (1.0 - 1e-6));
    Ok((Bound { time, cut }, fluid))
}

/// What each device has for each target; those of a scatter are of the gather that it is backwards.
fn demands(devices: usize, collective: Collective) -> Vec<Demand> {
    let collective = match collective {
        Collective::Scatter { main } => Collective::Gather { main },
        other => other,
    };
    let targets =
        (0..devices).filter(|&target| collective.main().is_none_or(|main| main == target));
    let amounts = |target| {
        (0..devices)
            .map(move |source| f64::from(source != target))
            .collect()
    };
    targets
        .map(|target| Demand {
            target,
            amounts: amounts(target),
        })
        .collect()
}

fn flow(
    topology: &Topology,
    collective: Collective,
    chunks: usize,
    bound: &Bound,
    fluid: Option<fluid::Fluid>,
) -> Result<TransferPlan, GossipError> {
    let devices = topology.devices();
    let least = (bound.time * chunks as f64 * f64::from(topology.lane()) - 1e-6).ceil() as usize;
    let Some(fluid) = fluid else {
        let main = collective.main().expect("only a broadcast has no fluid");
        let network = Network::new(topology);
        let routes = spread::schedule(&network, main, chunks, least);
        return TransferPlan::new(collective, devices, chunks, routes);
    };
    let backwards = matches!(collective, Collective::Scatter { .. });
    let (topology, made) = match backwards {
        true => (
            topology.reversed(),
            collective.reversed().expect("a scatter can be turned"),
        ),
        false => (topology.clone(), collective),
    };
    let (network, demands) = (Network::new(&topology), demands(devices, made));
    let mut ways = ways::ways(&network, &demands, &fluid, chunks)?;
    ways::relieve(&network, &mut ways, least.max(1) as u32);
    let steps = list::schedule(&network, &ways, least);
    let route = |(way, steps): (&ways::Way, &Vec<usize>)| {
        let hops = way.edges.iter().zip(steps);
        let hops = hops.map(|(&edge, &step)| Hop {
            step,
            to: network.edges[edge].to,
        });
        (way.source, hops.collect::<Vec<Hop>>())
    };
    let routes = numbered(ways.iter().zip(&steps).map(route));
    finished(made, devices, chunks, routes, backwards)
}

/// Numbers the chunks of each message in the order of their ways.
fn numbered(ways: impl Iterator<Item = (usize, Vec<Hop>)>) -> Vec<Route> {
    let mut seen = std::collections::BTreeMap::new();
    let route = |(source, hops): (usize, Vec<Hop>)| {
        let target = hops.last().map_or(source, |hop| hop.to);
        let chunk: &mut usize = seen.entry((source, target)).or_default();
        *chunk += 1;
        Route {
            source,
            hops,
            chunks: *chunk - 1..*chunk,
        }
    };
    ways.map(route).collect()
}

/// Adds what stays where it is, and turns time if the plan was made backwards.
fn finished(
    made: Collective,
    devices: usize,
    chunks: usize,
    mut routes: Vec<Route>,
    backwards: bool,
) -> Result<TransferPlan, GossipError> {
    let own = made
        .messages(devices)
        .filter(|(source, target)| source == target);
    routes.extend(own.map(|(source, _)| Route {
        source,
        hops: Vec::new(),
        chunks: 0..chunks,
    }));
    let plan = TransferPlan::new(made, devices, chunks, routes)?;
    Ok(match backwards {
        true => plan.reversed().expect("it was made to be turned"),
        false => plan,
    })
}

fn integer(
    topology: &Topology,
    collective: Collective,
    chunks: usize,
    clock: Clock,
    bound: &Bound,
) -> Result<TransferPlan, GossipError> {
    if matches!(collective, Collective::Broadcast { .. }) {
        let what = "a broadcast is not planned by an integer program; the method flow does it";
        return Err(GossipError::Request { what: what.into() });
    }
    if topology.ports().is_some() && clock == Clock::Durations {
        let what = "steps of the fastest links are not for devices behind a switch; the method \
                    integer-steps is";
        return Err(GossipError::Request { what: what.into() });
    }
    let devices = topology.devices();
    let backwards = matches!(collective, Collective::Scatter { .. });
    let (turned, made) = match backwards {
        true => (
            topology.reversed(),
            collective.reversed().expect("a scatter can be turned"),
        ),
        false => (topology.clone(), collective),
    };
    let demands = demands(devices, made);
    let found = integer::schedule(&turned, &demands, chunks, clock, bound.time)?;
    let plan = finished(made, devices, chunks, found.routes, false)?.lasting(found.steps);
    Ok(match backwards {
        true => plan
            .reversed_in(|from, to| found.durations[&(from, to)])
            .expect("it was made to be turned"),
        false => plan,
    })
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
