//! The machine that decides: events in, starts out.

use std::collections::BTreeMap;

use crate::plard::{self, Sizer};
use crate::policy::{Placement, Policy, Tuning};
use crate::pools::{NodeId, Pool, Pools, QueryId, Waiting};
use crate::sizes::PartitionSizes;

/// A query that starts now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Which query.
    pub query: QueryId,
    /// The number of its database.
    pub database: usize,
    /// The nodes that are its own until it ends, by rank.
    pub nodes: Vec<NodeId>,
}

/// Where a query runs.
#[derive(Clone, Debug)]
struct Partition {
    database: usize,
    pool: usize,
    nodes: Vec<NodeId>,
}

/// Decides which queries start, and where.
///
/// It knows no time: whoever has a clock says what happens ([`arrive`](Scheduler::arrive),
/// [`complete`](Scheduler::complete), [`join`](Scheduler::join), ...) and asks behind each event
/// what starts ([`schedule`](Scheduler::schedule)). The same events in the same order have the same
/// answers. Queries of one database start in the order in which they arrived.
///
/// With guards ([`Tuning::guarded`]) each query starts once enough of those that run have ended,
/// as long as there is one node.
#[derive(Clone, Debug)]
pub struct Scheduler {
    placement: Placement,
    sizer: Sizer,
    pools: Pools,
    running: BTreeMap<QueryId, Partition>,
}

impl Scheduler {
    /// One without nodes; a node has `per_node` processors, and databases have numbers from 0 on.
    pub fn new(
        policy: Policy,
        tuning: Tuning,
        per_node: usize,
        databases: Vec<PartitionSizes>,
    ) -> Scheduler {
        let pools = match policy.placement {
            Placement::FirstAvailable => 1,
            Placement::Plard => databases.len(),
        };
        Scheduler {
            placement: policy.placement,
            sizer: Sizer {
                sizing: policy.sizing,
                tuning,
                per_node,
                databases,
            },
            pools: Pools {
                pools: vec![Pool::default(); pools],
                ..Pools::default()
            },
            running: BTreeMap::new(),
        }
    }

    /// A query arrives.
    pub fn arrive(&mut self, query: QueryId, database: usize) {
        match self.placement {
            Placement::FirstAvailable => &mut self.pools.pools[0].queue,
            Placement::Plard => &mut self.pools.queue,
        }
        .push_back(Waiting { query, database });
    }

    /// A query that ran has ended: its nodes are idle. False where it did not run.
    pub fn complete(&mut self, query: QueryId) -> bool {
        self.release(query).is_some()
    }

    /// A query that ran could not end, as a node of it was lost: the others are idle, and it is the
    /// first that waits. False where it did not run.
    pub fn restart(&mut self, query: QueryId) -> bool {
        let Some(database) = self.release(query) else {
            return false;
        };
        match self.placement {
            Placement::FirstAvailable => &mut self.pools.pools[0].queue,
            Placement::Plard => &mut self.pools.queue,
        }
        .push_front(Waiting { query, database });
        true
    }

    /// A query that waits is wanted no more. False where it does not wait.
    pub fn withdraw(&mut self, query: QueryId) -> bool {
        let before = self.pools.waiting();
        let pools = self.pools.pools.iter_mut().map(|pool| &mut pool.queue);
        for queue in pools.chain([&mut self.pools.queue]) {
            queue.retain(|waiting| waiting.query != query);
        }
        self.pools.waiting() < before
    }

    /// A node joins; it is idle.
    pub fn join(&mut self, node: NodeId) {
        match self.placement {
            Placement::FirstAvailable => self.pools.pools[0].add(node),
            Placement::Plard => {
                self.pools.free.insert(node);
            }
        }
    }

    /// A node leaves, or is lost. Gives the query that ran on it, for which it is to be decided
    /// whether it can [`complete`](Scheduler::complete) or has to [`restart`](Scheduler::restart).
    pub fn leave(&mut self, node: NodeId) -> Option<QueryId> {
        self.pools.free.remove(&node);
        for pool in &mut self.pools.pools {
            pool.nodes.remove(&node);
            pool.idle.remove(&node);
        }
        self.dissolve_empty_pools();
        let mut running = self.running.iter_mut();
        let (query, partition) = running.find(|(_, partition)| partition.nodes.contains(&node))?;
        partition.nodes.retain(|other| *other != node);
        Some(*query)
    }

    /// Queries that wait for nodes which a pool no longer has are the first to wait for others.
    fn dissolve_empty_pools(&mut self) {
        if self.placement == Placement::FirstAvailable {
            return;
        }
        for pool in self
            .pools
            .pools
            .iter_mut()
            .filter(|pool| pool.nodes.is_empty())
        {
            for waiting in pool.queue.drain(..).rev() {
                self.pools.queue.push_front(waiting);
            }
        }
    }

    /// What starts now. To be asked behind each event, or behind several that come at once.
    pub fn schedule(&mut self) -> Vec<Start> {
        let mut starts = Vec::new();
        self.start_all(&mut starts);
        if self.placement == Placement::Plard {
            while plard::admit(&mut self.pools, &self.sizer) {
                self.start_all(&mut starts);
            }
            self.start_all(&mut starts);
        }
        starts
    }

    /// Queries that wait, in any queue.
    pub fn waiting(&self) -> usize {
        self.pools.waiting()
    }

    /// Queries that run.
    pub fn running(&self) -> usize {
        self.running.len()
    }

    /// How many queries will start before one that waits, as far as that is settled: those before
    /// it in its queue, and in that of its database's pool. Nothing where it does not wait.
    pub fn ahead(&self, query: QueryId) -> Option<usize> {
        let place = |queue: &std::collections::VecDeque<Waiting>| {
            queue.iter().position(|waiting| waiting.query == query)
        };
        if let Some(place) = self.pools.pools.iter().find_map(|pool| place(&pool.queue)) {
            return Some(place);
        }
        let place = place(&self.pools.queue)?;
        let database = self.pools.queue[place].database;
        Some(place + self.pools.pools[database].queue.len())
    }

    fn start_all(&mut self, starts: &mut Vec<Start>) {
        for pool in 0..self.pools.pools.len() {
            while let Some(start) = self.start(pool) {
                starts.push(start);
            }
        }
    }

    /// Starts the first query that waits for a pool, if that has nodes for it.
    fn start(&mut self, number: usize) -> Option<Start> {
        let pool = &mut self.pools.pools[number];
        let Waiting { query, database } = *pool.queue.front()?;
        let size = self.sizer.local(pool, database);
        if size == 0 || pool.idle.len() < size {
            return None;
        }
        pool.queue.pop_front();
        let nodes = pool.occupy(size);
        let partition = Partition {
            database,
            pool: number,
            nodes: nodes.clone(),
        };
        self.running.insert(query, partition);
        Some(Start {
            query,
            database,
            nodes,
        })
    }

    /// Makes the nodes of a query idle; its database.
    fn release(&mut self, query: QueryId) -> Option<usize> {
        let partition = self.running.remove(&query)?;
        let pool = &mut self.pools.pools[partition.pool];
        pool.running -= 1;
        pool.idle.extend(partition.nodes);
        Some(partition.database)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sizing;

    /// A scheduler with so many nodes of one processor, and databases with partitions of as many
    /// processors for FIX-S.
    fn small(policy: Policy, nodes: u32, least: &[usize]) -> Scheduler {
        let sizes = least.iter().map(|&least| PartitionSizes {
            least,
            medium: least,
            most: 2 * least,
        });
        let mut scheduler = Scheduler::new(policy, Tuning::default(), 1, sizes.collect());
        (0..nodes).for_each(|rank| scheduler.join(NodeId(rank)));
        scheduler
    }

    fn fixed(nodes: u32, least: &[usize]) -> Scheduler {
        small(Policy::plard(Sizing::Small), nodes, least)
    }

    /// What starts once a query of a database has arrived: queries and nodes.
    fn arrive(scheduler: &mut Scheduler, query: u64, database: usize) -> Vec<(u64, Vec<u32>)> {
        scheduler.arrive(QueryId(query), database);
        starts(scheduler)
    }

    fn complete(scheduler: &mut Scheduler, query: u64) -> Vec<(u64, Vec<u32>)> {
        assert!(scheduler.complete(QueryId(query)));
        starts(scheduler)
    }

    fn starts(scheduler: &mut Scheduler) -> Vec<(u64, Vec<u32>)> {
        let told = |start: Start| {
            let nodes = start.nodes.iter().map(|node| node.0);
            (start.query.0, nodes.collect())
        };
        scheduler.schedule().into_iter().map(told).collect()
    }

    #[test]
    fn a_database_keeps_its_nodes() {
        let mut plard = fixed(4, &[2, 2]);
        assert_eq!(arrive(&mut plard, 0, 0), [(0, vec![0, 1])]);
        assert_eq!(arrive(&mut plard, 1, 1), [(1, vec![2, 3])]);
        assert_eq!(complete(&mut plard, 0), []);
        // First Available would take 0 and 1.
        assert_eq!(complete(&mut plard, 1), []);
        assert_eq!(arrive(&mut plard, 2, 1), [(2, vec![2, 3])]);
    }

    #[test]
    fn idle_nodes_of_shorter_queues_are_seized() {
        let mut plard = fixed(4, &[2, 4]);
        assert_eq!(arrive(&mut plard, 0, 0), [(0, vec![0, 1])]);
        // Two nodes are nobody's; the others work.
        assert_eq!(arrive(&mut plard, 1, 1), []);
        // Who comes later waits, even where it would fit.
        assert_eq!(arrive(&mut plard, 2, 0), []);
        assert_eq!(complete(&mut plard, 0), [(1, vec![0, 1, 2, 3])]);
        assert_eq!(complete(&mut plard, 1), [(2, vec![0, 1])]);
    }

    #[test]
    fn loads_are_balanced() {
        let mut plard = fixed(4, &[2, 2]);
        arrive(&mut plard, 0, 0);
        arrive(&mut plard, 1, 1);
        assert_eq!(complete(&mut plard, 0), []);
        // One query in the queue may wait, of two the first gets the nodes of the other database.
        assert_eq!(arrive(&mut plard, 2, 1), []);
        assert_eq!(arrive(&mut plard, 3, 1), [(2, vec![0, 1])]);
    }

    #[test]
    fn a_pool_keeps_what_its_queue_needs() {
        let wait_for = |guarded| {
            let mut plard = fixed(4, &[2, 4]);
            plard.sizer.tuning.guarded = guarded;
            let pool = &mut plard.pools.pools[0];
            // A query waits for two nodes, of which one works for another.
            pool.nodes.extend([NodeId(0), NodeId(1)]);
            pool.idle.insert(NodeId(1));
            pool.queue.push_back(Waiting {
                query: QueryId(8),
                database: 0,
            });
            plard.pools.free = [NodeId(2), NodeId(3)].into();
            for query in [1, 2] {
                plard.arrive(QueryId(query), 1);
            }
            assert!(plard.schedule().is_empty());
            plard.pools.pools[0].nodes.len()
        };
        assert_eq!([true, false].map(wait_for), [2, 1]);
    }

    #[test]
    fn rmap_gives_less_while_others_wait() {
        let policy = Policy::first_available(Sizing::Rmap);
        let mut rmap = small(policy, 8, &[2]);
        assert_eq!(arrive(&mut rmap, 0, 0), [(0, vec![0, 1, 2, 3])]);
        // 8 / 1.75 are five, and so four.
        assert_eq!(arrive(&mut rmap, 1, 0), [(1, vec![4, 5, 6, 7])]);
        assert_eq!(arrive(&mut rmap, 2, 0), []);
        assert_eq!(arrive(&mut rmap, 3, 0), []);
        // 8 / 2.75 are three, and so two; then 8 / 2.5 are four again, which are not idle.
        assert_eq!(complete(&mut rmap, 1), [(2, vec![4, 5])]);
        assert_eq!(complete(&mut rmap, 2), [(3, vec![4, 5, 6, 7])]);
    }

    #[test]
    fn queries_know_their_place_and_nodes_may_leave() {
        let mut plard = fixed(4, &[2, 4]);
        arrive(&mut plard, 0, 0);
        for query in 1..4 {
            arrive(&mut plard, query, 1);
        }
        let places = |plard: &Scheduler| [0, 1, 2, 3].map(|query| plard.ahead(QueryId(query)));
        assert_eq!(places(&plard), [None, Some(0), Some(1), Some(2)]);
        assert!(plard.withdraw(QueryId(2)));
        assert_eq!(places(&plard), [None, Some(0), None, Some(1)]);
        assert_eq!(plard.leave(NodeId(1)), Some(QueryId(0)));
        assert!(plard.restart(QueryId(0)) && !plard.restart(QueryId(9)));
        // It is the first again. The other database would need four nodes, and gets two of three.
        assert_eq!(starts(&mut plard), [(0, vec![0, 2])]);
        assert_eq!(complete(&mut plard, 0), [(1, vec![0, 3])]);
    }
}
