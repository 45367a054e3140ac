//! A workload on a modelled cluster, under a policy.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use gyrase_schedule::{NodeId, Policy, QueryId, Scheduler, Start, Tuning};

use super::caches::Caches;
use super::cluster::Cluster;
use super::workload::Workload;

/// What became of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Service {
    /// The number of the query in its workload, from 0.
    pub query: usize,
    /// When it started, in seconds.
    pub start: f64,
    /// When it ended.
    pub end: f64,
    /// Its nodes, by rank.
    pub nodes: Vec<NodeId>,
    /// GB that the mean of its nodes read from its disk.
    pub missed_gb: f64,
}

/// What became of a workload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Simulated {
    /// Queries in the order in which they started. Those that never did are not among them.
    pub services: Vec<Service>,
}

/// The end of a query, the earliest first.
#[derive(Clone, Copy, Debug)]
struct End {
    seconds: f64,
    query: usize,
}

impl Ord for End {
    fn cmp(&self, other: &End) -> Ordering {
        self.seconds
            .total_cmp(&other.seconds)
            .then(self.query.cmp(&other.query))
    }
}

impl PartialOrd for End {
    fn partial_cmp(&self, other: &End) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for End {
    fn eq(&self, other: &End) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for End {}

/// Plays a workload from its first arrival to its last end. Of what happens at one moment, ends
/// come first.
pub fn simulate(
    cluster: &Cluster,
    workload: &Workload,
    policy: Policy,
    tuning: Tuning,
) -> Simulated {
    let (processors, sizes) = (cluster.processors, cluster.partitions());
    let mut scheduler = Scheduler::new(policy, tuning, processors, sizes);
    (0..cluster.nodes as u32).for_each(|rank| scheduler.join(NodeId(rank)));
    let mut run = Run {
        cluster,
        workload,
        caches: Caches::new(cluster),
        services: Vec::with_capacity(workload.arrivals.len()),
        ends: BinaryHeap::new(),
        nodes: Vec::new(),
    };
    let mut arrivals = workload.arrivals.iter().enumerate().peekable();
    loop {
        let next = arrivals.peek().map(|(_, arrival)| arrival.seconds);
        let end = run.ends.peek().map(|Reverse(end)| *end);
        let now = match (end, next) {
            (Some(end), next) if next.is_none_or(|next| end.seconds <= next) => {
                run.ends.pop();
                scheduler.complete(QueryId(end.query as u64));
                end.seconds
            }
            (_, Some(next)) => {
                let (query, arrival) = arrivals.next().expect("it was seen above");
                scheduler.arrive(QueryId(query as u64), arrival.database);
                next
            }
            (_, None) => {
                return Simulated {
                    services: run.services,
                };
            }
        };
        for start in scheduler.schedule() {
            run.begin(now, start);
        }
    }
}

struct Run<'a> {
    cluster: &'a Cluster,
    workload: &'a Workload,
    caches: Caches,
    services: Vec<Service>,
    ends: BinaryHeap<Reverse<End>>,
    /// The nodes of a start, as numbers.
    nodes: Vec<usize>,
}

impl Run<'_> {
    fn begin(&mut self, now: f64, start: Start) {
        let Start {
            query,
            database,
            nodes,
        } = start;
        let (query, processors) = (query.0 as usize, nodes.len() * self.cluster.processors);
        self.nodes.clear();
        self.nodes.extend(nodes.iter().map(|node| node.0 as usize));
        let missed = self.caches.search(database, &self.nodes);
        let weight = self.workload.arrivals[query].weight;
        let searching = self.cluster.search_seconds(database, weight, processors);
        let end = now + searching + missed.worst / self.cluster.disk_gb_per_second;
        self.ends.push(Reverse(End {
            seconds: end,
            query,
        }));
        self.services.push(Service {
            query,
            start: now,
            end,
            nodes,
            missed_gb: missed.mean,
        });
    }
}
