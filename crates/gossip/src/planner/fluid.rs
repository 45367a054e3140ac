//! How long the messages take at least, as a linear program: data as a fluid (Leighton and Rao's
//! concurrent flow, doi:10.1145/331524.331526), which may take any ways in any shares.
//!
//! Flows of messages for one target mix, so there is one for each target. Its unknowns are the
//! amounts on each edge and the time t: what leaves a device for a target and does not come in is
//! what the device has for it; an edge of l links carries at most l t, and a device with p ports
//! sends and receives at most p t. The least t is a bound for every plan: any plan is such a flow.

use good_lp::{Expression, ProblemVariables, Solution, SolverModel, Variable, microlp, variable};

use crate::error::GossipError;
use crate::topology::{Edge, Topology};

/// Amounts below this are none.
pub const NOTHING: f64 = 1e-7;

/// How much longer than the least time the flows of fewest hops may take.
const SLACK: f64 = 1e-9;

/// Messages for one target: what each device has for it.
#[derive(Clone, Debug)]
pub struct Demand {
    pub target: usize,
    pub amounts: Vec<f64>,
}

/// The least time, and flows that reach it with as few hops as possible.
#[derive(Clone, Debug)]
pub struct Fluid {
    /// In times of one message over one link.
    pub time: f64,
    /// For each demand what each edge carries, in the order of [`Topology::edges`].
    pub flows: Vec<Vec<f64>>,
}

/// The amounts on edges, for each demand; nothing where an edge leaves the target.
type Amounts = Vec<Vec<Option<Variable>>>;

/// Solves it: once for the time, once for the hops.
pub fn solve(topology: &Topology, demands: &[Demand]) -> Result<Fluid, GossipError> {
    let edges = topology.edges();
    let (variables, time, amounts) = unknowns(&edges, demands);
    let solution = solved(variables, time.into(), |model| {
        carry(model, topology, &edges, demands, &amounts);
        within(model, topology, &edges, &amounts, time.into());
    })?;
    let least = solution.value(time).max(0.0);
    let (variables, _, amounts) = unknowns(&edges, demands);
    let hops = amounts
        .iter()
        .flatten()
        .flatten()
        .map(|&amount| Expression::from(amount))
        .sum();
    let solution = solved(variables, hops, |model| {
        carry(model, topology, &edges, demands, &amounts);
        let allowed = least * (1.0 + SLACK) + SLACK;
        within(model, topology, &edges, &amounts, Expression::from(allowed));
    })?;
    let value = |amount: &Option<Variable>| amount.map_or(0.0, |amount| solution.value(amount));
    let flow = |flow: &Vec<Option<Variable>>| flow.iter().map(value).collect();
    Ok(Fluid {
        time: least,
        flows: amounts.iter().map(flow).collect(),
    })
}

/// The least time of a message from `main` to all other devices, each of which gets all of it: the
/// fluid to the one that is the hardest to reach (Edmonds' theorem on branchings).
pub fn broadcast(topology: &Topology, main: usize) -> Result<f64, GossipError> {
    let mut least: f64 = 0.0;
    for target in (0..topology.devices()).filter(|&target| target != main) {
        let mut amounts = vec![0.0; topology.devices()];
        amounts[main] = 1.0;
        let edges = topology.edges();
        let demands = [Demand { target, amounts }];
        let (variables, time, amounts) = unknowns(&edges, &demands);
        let solution = solved(variables, time.into(), |model| {
            carry(model, topology, &edges, &demands, &amounts);
            within(model, topology, &edges, &amounts, time.into());
        })?;
        least = least.max(solution.value(time));
    }
    Ok(least)
}

fn unknowns(edges: &[Edge], demands: &[Demand]) -> (ProblemVariables, Variable, Amounts) {
    let mut variables = ProblemVariables::new();
    let time = variables.add(variable().min(0.0));
    let of = |demand: &Demand| {
        let amount =
            |edge: &Edge| (edge.from != demand.target).then(|| variables.add(variable().min(0.0)));
        edges.iter().map(amount).collect()
    };
    let amounts = demands.iter().map(of).collect();
    (variables, time, amounts)
}

fn solved(
    variables: ProblemVariables,
    objective: Expression,
    fill: impl FnOnce(&mut good_lp::solvers::microlp::MicroLpProblem),
) -> Result<impl Solution, GossipError> {
    let count = variables.len();
    let mut model = variables.minimise(objective).using(microlp);
    fill(&mut model);
    model.solve().map_err(|error| GossipError::Solver {
        what: "linear program",
        variables: count,
        reason: error.to_string(),
    })
}

/// What leaves a device for a target and does not come in is what it has.
fn carry(
    model: &mut impl SolverModel,
    topology: &Topology,
    edges: &[Edge],
    demands: &[Demand],
    amounts: &Amounts,
) {
    for (demand, flow) in demands.iter().zip(amounts) {
        let mut balance = vec![Expression::default(); topology.devices()];
        for (edge, amount) in edges.iter().zip(flow) {
            if let Some(amount) = *amount {
                balance[edge.from].add_mul(1.0, amount);
                balance[edge.to].add_mul(-1.0, amount);
            }
        }
        for (device, balance) in balance.into_iter().enumerate() {
            if device != demand.target {
                model.add_constraint(balance.eq(demand.amounts[device]));
            }
        }
    }
}

/// No edge and no port carries more than it can in the time.
fn within(
    model: &mut impl SolverModel,
    topology: &Topology,
    edges: &[Edge],
    amounts: &Amounts,
    time: Expression,
) {
    let mut limit = |of: &dyn Fn(&Edge) -> bool, capacity: u32| {
        let mut load = time.clone() * -f64::from(capacity);
        for flow in amounts {
            let used = edges.iter().zip(flow).filter(|(edge, _)| of(edge));
            used.filter_map(|(_, amount)| *amount)
                .for_each(|amount| load.add_mul(1.0, amount));
        }
        model.add_constraint(load.leq(0.0));
    };
    for edge in edges {
        limit(&|other| other == edge, edge.links);
    }
    for (device, &ports) in topology.ports().unwrap_or_default().iter().enumerate() {
        limit(&|edge| edge.from == device, ports);
        limit(&|edge| edge.to == device, ports);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_to_all(topology: &Topology) -> Vec<Demand> {
        let amounts = |target| (0..topology.devices()).map(move |i| f64::from(i != target));
        let of = |target| Demand {
            target,
            amounts: amounts(target).collect(),
        };
        (0..topology.devices()).map(of).collect()
    }

    #[test]
    fn bounds_are_those_of_the_publication() {
        let cases = [
            ("dgx-1", 16.0 / 6.0),
            ("alternative", 2.0),
            ("s1", 1.0),
            ("s3", 0.8),
            ("ring-8", 8.0),
            ("torus-3x3", 3.0),
            ("switch-5", 4.0),
            ("dgx-2", 15.0 / 6.0),
        ];
        for (name, expected) in cases {
            let topology: Topology = name.parse().unwrap();
            let fluid = solve(&topology, &all_to_all(&topology)).unwrap();
            assert!(
                (fluid.time - expected).abs() < 1e-6,
                "{name}: {}",
                fluid.time
            );
        }
    }

    #[test]
    fn a_broadcast_takes_as_long_as_the_narrowest_way() {
        for (name, links) in [("dgx-1", 6.0), ("ring-5", 2.0), ("switch-4", 1.0)] {
            let time = broadcast(&name.parse().unwrap(), 0).unwrap();
            assert!((time - 1.0 / links).abs() < 1e-9, "{name}: {time}");
        }
    }

    #[test]
    fn flows_carry_what_is_asked_for_within_the_time() {
        let topology: Topology = "dgx-1".parse().unwrap();
        let (edges, demands) = (topology.edges(), all_to_all(&topology));
        let fluid = solve(&topology, &demands).unwrap();
        for (place, edge) in edges.iter().enumerate() {
            let load: f64 = fluid.flows.iter().map(|flow| flow[place]).sum();
            assert!(
                load <= f64::from(edge.links) * fluid.time + 1e-6,
                "{edge:?}: {load}"
            );
        }
        for (demand, flow) in demands.iter().zip(&fluid.flows) {
            let into = edges
                .iter()
                .zip(flow)
                .filter(|(edge, _)| edge.to == demand.target);
            let total: f64 = into.map(|(_, amount)| amount).sum();
            assert!((total - 7.0).abs() < 1e-6);
        }
    }
}
