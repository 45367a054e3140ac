//! No query is lost: random clusters, workloads and events, under every policy.
//!
//! `GYRASE_TRACES=1000000 cargo test --release -p gyrase-lab --test starvation` tries as many.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use gyrase_lab::schedule::{Arrival, Cluster, ServedDatabase, Simulated, Workload, simulate};
use gyrase_schedule::{
    NodeId, PartitionSizes, Placement, Policy, QueryId, Scheduler, Sizing, Tuning,
};
use gyrase_simulate::Random;
use gyrase_work::in_parallel;

const TRACES: u64 = 1000;

/// Calls `check` with a random source for each of the traces.
fn each(domain: u64, check: impl Fn(u64, &mut Random) + Sync) {
    let asked = std::env::var("GYRASE_TRACES").ok();
    let traces = asked.map_or(TRACES, |traces| traces.parse().unwrap());
    let threads = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let work = |thread: u64| {
        for trace in (thread..traces).step_by(threads as usize) {
            check(trace, &mut Random::stream(trace, domain, 0));
        }
        Ok::<(), ()>(())
    };
    in_parallel((0..threads).collect(), work).unwrap();
}

fn policy(random: &mut Random) -> Policy {
    let all: Vec<Policy> = Policy::all().collect();
    all[random.below(all.len() as u64) as usize]
}

fn tuning(random: &mut Random) -> Tuning {
    Tuning {
        factor: random.below(5) as f64 / 4.0,
        threshold: random.below(12) as usize,
        guarded: true,
    }
}

/// Sizes that so many nodes can give.
fn sizes(random: &mut Random, nodes: usize, processors: usize) -> PartitionSizes {
    let powers = u64::from(nodes.ilog2()) + 1;
    let mut sizes = [0; 3].map(|_| processors << random.below(powers));
    sizes.sort_unstable();
    let [least, medium, most] = sizes;
    PartitionSizes {
        least,
        medium,
        most,
    }
}

fn cluster(random: &mut Random) -> Cluster {
    let nodes = 1 + random.below(20) as usize;
    let processors = 1 + random.below(3) as usize;
    let databases = (0..=random.below(5)).map(|number| ServedDatabase {
        name: number.to_string(),
        formatted_gb: 0.1 + random.unit(),
        scanned_gb: 3.0 * random.unit(),
        processor_seconds: 1.0 + 100.0 * random.unit(),
        partitions: sizes(random, nodes, processors),
    });
    Cluster {
        databases: databases.collect(),
        nodes,
        processors,
        fragments: 64,
        ..Cluster::orbitty()
    }
}

/// Queries at random intervals, some of them at once, and a database that changes now and then.
fn workload(random: &mut Random, cluster: &Cluster) -> Workload {
    let databases = cluster.databases.len() as u64;
    let (mut seconds, mut database) = (0.0, 0);
    let (burst, stay, pace) = (random.unit(), random.unit(), 30.0 * random.unit());
    let arrivals = (0..1 + random.below(60)).map(|_| {
        if !random.chance(burst) {
            seconds += pace * random.exponential();
        }
        if !random.chance(stay) {
            database = random.below(databases) as usize;
        }
        Arrival {
            seconds,
            database,
            weight: random.log_normal(0.0, 0.8),
        }
    });
    Workload {
        arrivals: arrivals.collect(),
    }
}

/// Whether a partition has a size that its policy may give.
fn fits(policy: Policy, sizes: PartitionSizes, processors: usize) -> bool {
    match policy.sizing {
        Sizing::Small => processors == sizes.least,
        Sizing::Medium => processors == sizes.medium,
        Sizing::Large => processors == sizes.most,
        Sizing::Rmap => (sizes.least..=sizes.most).contains(&processors),
    }
}

fn check_services(cluster: &Cluster, workload: &Workload, policy: Policy, done: &Simulated) {
    let mut served: Vec<usize> = done.services.iter().map(|service| service.query).collect();
    served.sort_unstable();
    assert!(
        served.into_iter().eq(0..workload.arrivals.len()),
        "a query was lost or doubled"
    );
    let mut free = vec![0.0; cluster.nodes];
    let mut last = BTreeMap::new();
    for service in &done.services {
        let arrival = workload.arrivals[service.query];
        let sizes = cluster.databases[arrival.database].partitions;
        let processors = service.nodes.len() * cluster.processors;
        assert!(service.nodes.len().is_power_of_two() && fits(policy, sizes, processors));
        assert!(service.start >= arrival.seconds && service.end > service.start);
        for node in &service.nodes {
            let node = &mut free[node.0 as usize];
            assert!(*node <= service.start, "two queries on a node");
            *node = service.end;
        }
        let before = last.insert(arrival.database, service.query);
        assert!(
            before.is_none_or(|before| before < service.query),
            "one overtook another"
        );
    }
}

#[test]
fn every_query_is_served_once() {
    each(1, |trace, random| {
        let cluster = cluster(random);
        let workload = workload(random, &cluster);
        let (policy, tuning) = (policy(random), tuning(random));
        let done = simulate(&cluster, &workload, policy, tuning);
        let checked = std::panic::AssertUnwindSafe(|| {
            check_services(&cluster, &workload, policy, &done);
        });
        if std::panic::catch_unwind(checked).is_err() {
            panic!("trace {trace}: {policy} {tuning:?} on {}", cluster.text());
        }
    });
}

#[test]
fn as_printed_the_algorithm_can_stop_for_ever() {
    let lost = AtomicU64::new(0);
    each(1, |_, random| {
        let cluster = cluster(random);
        let workload = workload(random, &cluster);
        let (policy, guarded) = (policy(random), false);
        let done = simulate(
            &cluster,
            &workload,
            policy,
            Tuning {
                guarded,
                ..tuning(random)
            },
        );
        let missing = workload.arrivals.len() - done.services.len();
        assert!(
            missing == 0 || policy.placement == Placement::Plard,
            "{policy}"
        );
        lost.fetch_add(missing as u64, Ordering::Relaxed);
    });
    assert!(lost.into_inner() > 0);
}

/// What a server knows: where its queries run, which wait, which nodes there are.
struct Server {
    scheduler: Scheduler,
    running: BTreeMap<QueryId, Vec<NodeId>>,
    waiting: Vec<QueryId>,
    nodes: Vec<NodeId>,
    asked: u64,
    ended: u64,
}

impl Server {
    fn schedule(&mut self) {
        for start in self.scheduler.schedule() {
            let place = self.waiting.iter().position(|query| *query == start.query);
            self.waiting
                .remove(place.expect("it waits, and so runs not"));
            assert!(!start.nodes.is_empty());
            for node in &start.nodes {
                assert!(self.nodes.contains(node), "a node that has left");
                assert!(!self.running.values().flatten().any(|other| other == node));
            }
            self.running.insert(start.query, start.nodes);
        }
        assert_eq!(self.scheduler.waiting(), self.waiting.len());
        assert_eq!(self.scheduler.running(), self.running.len());
        for query in &self.waiting {
            assert!(self.scheduler.ahead(*query).unwrap() < self.waiting.len());
        }
    }

    fn end(&mut self, random: &mut Random) {
        let place = random.below(self.running.len() as u64) as usize;
        let Some(query) = self.running.keys().nth(place).copied() else {
            return;
        };
        self.running.remove(&query);
        assert!(self.scheduler.complete(query) && !self.scheduler.complete(query));
        self.ended += 1;
    }

    fn lose(&mut self, random: &mut Random) {
        let place = random.below(self.nodes.len() as u64) as usize;
        let node = self.nodes.swap_remove(place);
        let found = self.running.iter().find(|(_, nodes)| nodes.contains(&node));
        let expected = found.map(|(query, _)| *query);
        assert_eq!(self.scheduler.leave(node), expected);
        if let Some(query) = expected {
            self.running.remove(&query);
            self.waiting.push(query);
            assert!(self.scheduler.restart(query));
        }
    }

    fn event(&mut self, random: &mut Random, databases: u64) {
        match random.below(10) {
            0..4 => {
                let query = QueryId(self.asked);
                self.scheduler
                    .arrive(query, random.below(databases) as usize);
                self.waiting.push(query);
                self.asked += 1;
            }
            4..7 => self.end(random),
            7 if self.nodes.len() > 1 => self.lose(random),
            8 => {
                let node = NodeId(self.asked as u32 + 1000 * self.nodes.len() as u32);
                if !self.nodes.contains(&node) {
                    self.scheduler.join(node);
                    self.nodes.push(node);
                }
            }
            _ if !self.waiting.is_empty() => {
                let place = random.below(self.waiting.len() as u64) as usize;
                let query = self.waiting.swap_remove(place);
                assert!(self.scheduler.withdraw(query) && !self.scheduler.withdraw(query));
                self.ended += 1;
            }
            _ => {}
        }
    }
}

#[test]
fn nodes_may_come_and_go() {
    each(2, |trace, random| {
        let (nodes, processors) = (1 + random.below(12) as usize, 1 + random.below(2) as usize);
        let databases: Vec<_> = (0..=random.below(4))
            .map(|_| sizes(random, nodes, processors))
            .collect();
        let kinds = databases.len() as u64;
        let (policy, tuning) = (policy(random), tuning(random));
        let mut server = Server {
            scheduler: Scheduler::new(policy, tuning, processors, databases),
            running: BTreeMap::new(),
            waiting: Vec::new(),
            nodes: (0..nodes as u32)
                .map(|rank| NodeId(rank + 1_000_000))
                .collect(),
            asked: 0,
            ended: 0,
        };
        server
            .nodes
            .clone()
            .into_iter()
            .for_each(|node| server.scheduler.join(node));
        for _ in 0..80 {
            server.event(random, kinds);
            server.schedule();
        }
        // Whatever has happened, each query starts once those that run have ended.
        while server.ended < server.asked {
            assert!(
                !server.running.is_empty(),
                "trace {trace}: {policy} {tuning:?} starves"
            );
            server.end(random);
            server.schedule();
        }
    });
}
