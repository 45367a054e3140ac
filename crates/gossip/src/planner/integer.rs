//! The integer program of the thesis (section 4.5): which chunk takes which edge at which time.
//!
//! A graph has a node for each device and point of time. Edges between devices take as many steps
//! as they are slower than the fastest, and carry one chunk at a time ([`Clock::Durations`]); or
//! all take one step, and carry a chunk for each link ([`Clock::Capacities`]). Edges from a device
//! to itself wait. For each target there is a binary unknown for each edge: conservation is (4.1)
//! and (4.2), exclusive edges are (4.3). The objective is as little use of edges as possible.

use std::collections::BTreeMap;

use good_lp::{
    Constraint, Expression, ProblemVariables, ResolutionError, Solution, SolutionStatus,
    SolverModel, Variable, WithTimeLimit, microlp, variable,
};

use super::fluid::Demand;
use super::ways::Network;
use crate::error::GossipError;
use crate::plan::{Hop, Route};
use crate::topology::Topology;

/// What a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The time of a chunk on the fastest edge; on slower ones it takes several.
    Durations,
    /// The time of a chunk on one link; an edge carries as many chunks as it has links.
    Capacities,
}

/// Programs of more unknowns take the solver hours.
const MOST_UNKNOWNS: usize = 8_000;

/// After so many seconds the solver is told to give up, and nothing is answered.
const SECONDS: f64 = 900.0;

/// What came out.
pub struct Scheduled {
    pub routes: Vec<Route>,
    pub steps: usize,
    /// Steps that each hop takes, by edge.
    pub durations: BTreeMap<(usize, usize), usize>,
}

/// The program for some steps.
struct Model<'a> {
    network: &'a Network,
    demands: &'a [Demand],
    chunks: usize,
    steps: usize,
    durations: Vec<usize>,
    room: Vec<u32>,
    variables: ProblemVariables,
    objective: Expression,
    /// By demand: unknowns of hops by edge and time, and of waits by device and time.
    hops: Vec<BTreeMap<(usize, usize), Variable>>,
    waits: Vec<BTreeMap<(usize, usize), Variable>>,
}

/// Routes of fewest steps; `fastest` is a bound below them, in times of one message over one link.
pub fn schedule(
    topology: &Topology,
    demands: &[Demand],
    chunks: usize,
    clock: Clock,
    fastest: f64,
) -> Result<Scheduled, GossipError> {
    let network = Network::new(topology);
    let most = network
        .edges
        .iter()
        .map(|edge| edge.links)
        .max()
        .unwrap_or(1);
    let edges = network.edges.iter();
    let durations: Vec<usize> = match clock {
        Clock::Durations => edges
            .map(|edge| most.div_ceil(edge.links) as usize)
            .collect(),
        Clock::Capacities => edges.map(|_| 1).collect(),
    };
    let a_link = match clock {
        Clock::Durations => most,
        Clock::Capacities => topology.lane(),
    };
    let least = (fastest * chunks as f64 * f64::from(a_link) - 1e-6)
        .ceil()
        .max(1.0) as usize;
    for steps in least..=2 * least + 4 {
        let model = Model::new(&network, demands, chunks, steps, &durations, clock);
        if let Some(routes) = model.solve()? {
            let pair = |(edge, steps): (&crate::Edge, &usize)| ((edge.from, edge.to), *steps);
            let durations = network.edges.iter().zip(&durations).map(pair).collect();
            return Ok(Scheduled {
                routes,
                steps,
                durations,
            });
        }
    }
    let what = format!("no plan of {} steps or fewer was found", 2 * least + 4);
    Err(GossipError::Request { what })
}

impl<'a> Model<'a> {
    fn new(
        network: &'a Network,
        demands: &'a [Demand],
        chunks: usize,
        steps: usize,
        durations: &[usize],
        clock: Clock,
    ) -> Model<'a> {
        let room = match clock {
            Clock::Durations => vec![1; network.room.len()],
            Clock::Capacities => network.room.clone(),
        };
        let mut model = Model {
            network,
            demands,
            chunks,
            steps,
            durations: durations.to_vec(),
            room,
            variables: ProblemVariables::new(),
            objective: Expression::default(),
            hops: vec![BTreeMap::new(); demands.len()],
            waits: vec![BTreeMap::new(); demands.len()],
        };
        for demand in 0..demands.len() {
            model.unknowns(demand);
        }
        model
    }

    /// Unknowns of a demand: all from where its chunks can still arrive in time.
    fn unknowns(&mut self, demand: usize) {
        let target = self.demands[demand].target;
        let far = self.far(target);
        for (edge, (from, to)) in self.ends().into_iter().enumerate() {
            let takes = self.durations[edge];
            let Some(rest) = far[to].map(|rest| rest + takes) else {
                continue;
            };
            for time in (0..self.steps).filter(|time| from != target && time + rest <= self.steps) {
                let unknown = variable()
                    .integer()
                    .min(0.0)
                    .max(f64::from(self.room[edge]));
                let unknown = self.variables.add(unknown);
                self.objective.add_mul(takes as f64, unknown);
                self.hops[demand].insert((edge, time), unknown);
            }
        }
        for (device, far) in far.into_iter().enumerate() {
            let Some(rest) = far.filter(|_| device != target) else {
                continue;
            };
            for time in (0..self.steps).filter(|time| time + 1 + rest <= self.steps) {
                let unknown = self.variables.add(variable().integer().min(0.0));
                self.waits[demand].insert((device, time), unknown);
            }
        }
    }

    fn ends(&self) -> Vec<(usize, usize)> {
        self.network
            .edges
            .iter()
            .map(|edge| (edge.from, edge.to))
            .collect()
    }

    /// Steps from each device to the target at least.
    fn far(&self, target: usize) -> Vec<Option<usize>> {
        let mut far = vec![None; self.network.leaving.len()];
        far[target] = Some(0);
        for _ in 0..far.len() {
            for (edge, (from, to)) in self.ends().into_iter().enumerate() {
                if let Some(rest) = far[to].map(|rest: usize| rest + self.durations[edge]) {
                    far[from] = Some(far[from].map_or(rest, |old| old.min(rest)));
                }
            }
        }
        far
    }

    /// The routes, or nothing where there are none of so many steps.
    fn solve(mut self) -> Result<Option<Vec<Route>>, GossipError> {
        let unknowns = self.variables.len();
        if unknowns > MOST_UNKNOWNS {
            return Err(GossipError::Solver {
                what: "integer program",
                variables: unknowns,
                reason: format!("it handles {MOST_UNKNOWNS}"),
            });
        }
        let failed = |reason: String| GossipError::Solver {
            what: "integer program",
            variables: unknowns,
            reason,
        };
        let constraints: Option<Vec<Constraint>> = self.conserved();
        let Some(mut constraints) = constraints else {
            return Ok(None);
        };
        constraints.extend(self.exclusive());
        let variables = std::mem::take(&mut self.variables);
        let objective = std::mem::take(&mut self.objective);
        let mut model = variables
            .minimise(objective)
            .using(microlp)
            .with_time_limit(SECONDS);
        for constraint in constraints {
            model.add_constraint(constraint);
        }
        match model.solve() {
            Ok(solution) if matches!(solution.status(), SolutionStatus::Optimal) => {
                Ok(Some(self.traced(&solution)))
            }
            Ok(_) => Err(failed(format!("{SECONDS} seconds did not suffice"))),
            Err(ResolutionError::Infeasible) => Ok(None),
            Err(error) => Err(failed(error.to_string())),
        }
    }

    /// What comes to a device at a time, or is there at first, goes on or waits. Nothing where
    /// something can never arrive.
    fn conserved(&self) -> Option<Vec<Constraint>> {
        let mut all = Vec::new();
        for (demand, (hops, waits)) in self.demands.iter().zip(self.hops.iter().zip(&self.waits)) {
            let mut balance: BTreeMap<(usize, usize), Expression> = BTreeMap::new();
            let ends = self.ends();
            for (&(edge, time), &unknown) in hops {
                let (from, to) = ends[edge];
                balance
                    .entry((from, time))
                    .or_default()
                    .add_mul(1.0, unknown);
                let arrival = time + self.durations[edge];
                if to != demand.target {
                    balance
                        .entry((to, arrival))
                        .or_default()
                        .add_mul(-1.0, unknown);
                }
            }
            for (&(device, time), &unknown) in waits {
                balance
                    .entry((device, time))
                    .or_default()
                    .add_mul(1.0, unknown);
                balance
                    .entry((device, time + 1))
                    .or_default()
                    .add_mul(-1.0, unknown);
            }
            for (device, &amount) in demand.amounts.iter().enumerate() {
                if amount > 0.0 && !balance.contains_key(&(device, 0)) {
                    return None;
                }
            }
            for ((device, time), balance) in balance {
                let first = if time == 0 {
                    demand.amounts[device]
                } else {
                    0.0
                };
                all.push(balance.eq(first * self.chunks as f64));
            }
        }
        Some(all)
    }

    /// No edge and no port has more at a time than there is room for.
    fn exclusive(&self) -> Vec<Constraint> {
        let mut used: BTreeMap<(usize, usize), Expression> = BTreeMap::new();
        for hops in &self.hops {
            for (&(edge, time), &unknown) in hops {
                for place in self.network.taken(edge) {
                    for now in time..time + self.durations[edge] {
                        used.entry((place, now)).or_default().add_mul(1.0, unknown);
                    }
                }
            }
        }
        let used = used.into_iter();
        used.map(|((place, _), used)| used.leq(f64::from(self.room[place])))
            .collect()
    }

    /// Follows each chunk from its source to its target.
    fn traced(&self, solution: &impl Solution) -> Vec<Route> {
        let mut routes = Vec::new();
        let whole = |unknown: &Variable| solution.value(*unknown).round() as usize;
        for (demand, (hops, waits)) in self.demands.iter().zip(self.hops.iter().zip(&self.waits)) {
            let mut hops: BTreeMap<_, _> = hops.iter().map(|(&key, of)| (key, whole(of))).collect();
            let mut waits: BTreeMap<_, _> =
                waits.iter().map(|(&key, of)| (key, whole(of))).collect();
            for (source, &amount) in demand.amounts.iter().enumerate() {
                let chunks = if amount > 0.0 { self.chunks } else { 0 };
                for chunk in 0..chunks {
                    let hops = self.followed(source, demand.target, &mut hops, &mut waits);
                    routes.push(Route {
                        source,
                        hops,
                        chunks: chunk..chunk + 1,
                    });
                }
            }
        }
        routes
    }

    fn followed(
        &self,
        source: usize,
        target: usize,
        hops: &mut BTreeMap<(usize, usize), usize>,
        waits: &mut BTreeMap<(usize, usize), usize>,
    ) -> Vec<Hop> {
        let (mut device, mut time, mut path) = (source, 0, Vec::new());
        while device != target {
            let leaving = &self.network.leaving[device];
            let next = leaving
                .iter()
                .find(|&&edge| hops.get(&(edge, time)).is_some_and(|&of| of > 0));
            if let Some(&edge) = next {
                *hops.entry((edge, time)).or_default() -= 1;
                device = self.network.edges[edge].to;
                path.push(Hop {
                    step: time,
                    to: device,
                });
                time += self.durations[edge];
            } else {
                let wait = waits.get_mut(&(device, time)).filter(|of| **of > 0);
                *wait.expect("what comes to a device leaves it or waits") -= 1;
                time += 1;
            }
        }
        path
    }
}
