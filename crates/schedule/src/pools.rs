//! Who waits where, and which nodes are whose.

use std::collections::{BTreeSet, VecDeque};

/// A query, by a number that whoever asks gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueryId(pub u64);

/// A node, by its rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A query that waits.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    pub query: QueryId,
    pub database: usize,
}

/// Nodes, and the queries that wait for them.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    pub queue: VecDeque<Waiting>,
    /// All of its nodes.
    pub nodes: BTreeSet<NodeId>,
    /// Those of them that no query runs on.
    pub idle: BTreeSet<NodeId>,
    /// Queries that run on its nodes.
    pub running: usize,
}

impl Pool {
    /// Takes an idle node, whatever its rank, or one that was idle back.
    pub fn add(&mut self, node: NodeId) {
        self.nodes.insert(node);
        self.idle.insert(node);
    }

    /// Gives up to so many idle nodes away, the first by rank.
    pub fn give(&mut self, most: usize) -> Vec<NodeId> {
        let given: Vec<NodeId> = self.idle.iter().copied().take(most).collect();
        for node in &given {
            self.idle.remove(node);
            self.nodes.remove(node);
        }
        given
    }

    /// The first idle nodes by rank, which are idle no more.
    pub fn occupy(&mut self, nodes: usize) -> Vec<NodeId> {
        let occupied: Vec<NodeId> = self.idle.iter().copied().take(nodes).collect();
        occupied.iter().for_each(|node| {
            self.idle.remove(node);
        });
        self.running += 1;
        occupied
    }
}

/// All pools, and what is of none.
#[derive(Clone, Debug, Default)]
pub struct Pools {
    /// The global queue, in order of arrival.
    pub queue: VecDeque<Waiting>,
    /// Nodes of no pool: the global pool. They are idle.
    pub free: BTreeSet<NodeId>,
    /// One for each database, or one for all.
    pub pools: Vec<Pool>,
}

impl Pools {
    /// Queries that wait, anywhere.
    pub fn waiting(&self) -> usize {
        self.queue.len()
            + self
                .pools
                .iter()
                .map(|pool| pool.queue.len())
                .sum::<usize>()
    }

    /// Queries that run, anywhere.
    pub fn running(&self) -> usize {
        self.pools.iter().map(|pool| pool.running).sum()
    }

    /// Nodes that there are.
    pub fn nodes(&self) -> usize {
        self.free.len()
            + self
                .pools
                .iter()
                .map(|pool| pool.nodes.len())
                .sum::<usize>()
    }

    /// Moves up to so many free nodes to a pool, the first by rank.
    pub fn allocate(&mut self, pool: usize, nodes: usize) {
        for _ in 0..nodes {
            let Some(node) = self.free.pop_first() else {
                return;
            };
            self.pools[pool].add(node);
        }
    }
}
