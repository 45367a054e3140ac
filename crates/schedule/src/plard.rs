//! PLARD: pools of nodes for each database, which grow and shrink with the queues.

use crate::policy::{Sizing, Tuning};
use crate::pools::{Pool, Pools};
use crate::sizes::{PartitionSizes, power_below, rmap};

/// The sizes that a policy gives, in nodes.
#[derive(Clone, Debug)]
pub struct Sizer {
    pub sizing: Sizing,
    pub tuning: Tuning,
    /// Processors of a node.
    pub per_node: usize,
    /// Sizes by database, in processors.
    pub databases: Vec<PartitionSizes>,
}

impl Sizer {
    /// Nodes for a query of a database, where others wait and run on so many nodes.
    fn of(&self, database: usize, nodes: usize, waiting: usize, running: usize) -> usize {
        let sizes = self.databases[database];
        let processors = match self.sizing {
            Sizing::Small => sizes.least,
            Sizing::Medium => sizes.medium,
            Sizing::Large => sizes.most,
            Sizing::Rmap => {
                let (all, factor) = (nodes * self.per_node, self.tuning.factor);
                rmap(all, waiting, running, factor, sizes, self.per_node)
            }
        };
        processors / self.per_node
    }

    /// Nodes that the pool of a database needs for the query that is first in the global queue.
    fn recommended(&self, pools: &Pools, database: usize) -> usize {
        let (nodes, waiting) = (pools.nodes(), pools.waiting() - 1);
        let size = self.of(database, nodes, waiting, pools.running());
        size.min(power_below(nodes))
    }

    /// Nodes for a query of a database that is first in the queue of a pool.
    pub fn local(&self, pool: &Pool, database: usize) -> usize {
        let (nodes, waiting) = (pool.nodes.len(), pool.queue.len() - 1);
        let size = self.of(database, nodes, waiting, pool.running);
        if self.tuning.guarded {
            size.min(power_below(nodes))
        } else {
            size
        }
    }

    /// Nodes without which a query in the queue of a database's pool could not start.
    fn needed(&self, database: usize) -> usize {
        let sizes = self.databases[database];
        let processors = match self.sizing {
            Sizing::Small | Sizing::Rmap => sizes.least,
            Sizing::Medium => sizes.medium,
            Sizing::Large => sizes.most,
        };
        processors / self.per_node
    }

    /// Idle nodes that the pool of a database can lose.
    fn spare(&self, pool: &Pool, database: usize) -> usize {
        let kept = if self.tuning.guarded && !pool.queue.is_empty() {
            self.needed(database)
        } else {
            0
        };
        pool.idle.len().min(pool.nodes.len().saturating_sub(kept))
    }
}

/// Tries to move the first query of the global queue to the queue of its database's pool, which
/// grows if it has to, and balances loads. False where there is no query, or too few nodes are
/// idle; then a query has to end first.
pub fn admit(pools: &mut Pools, sizer: &Sizer) -> bool {
    let Some(&first) = pools.queue.front() else {
        return false;
    };
    let (own, wanted) = (first.database, sizer.recommended(pools, first.database));
    let missing = wanted.saturating_sub(pools.pools[own].nodes.len());
    if missing > 0 {
        enlarge(pools, sizer, own, missing);
    }
    let fits = wanted > 0 && pools.pools[own].nodes.len() >= wanted;
    if fits {
        pools.queue.pop_front();
        pools.pools[own].queue.push_back(first);
    }
    balance(pools, sizer);
    fits
}

/// Gives the pool of a database the nodes that it lacks, if there are as many: those of nobody, and
/// idle ones of pools with shorter queues than the queries that wait for it.
fn enlarge(pools: &mut Pools, sizer: &Sizer, own: usize, missing: usize) {
    let waiting = pools
        .queue
        .iter()
        .filter(|other| other.database == own)
        .count();
    let mut others: Vec<usize> = (0..pools.pools.len())
        .filter(|&other| other != own)
        .collect();
    others.sort_by_key(|&other| pools.pools[other].queue.len());
    for other in others {
        if pools.free.len() >= missing {
            break;
        }
        let pool = &mut pools.pools[other];
        if waiting > pool.queue.len() {
            let most = sizer.spare(pool, other).min(missing - pools.free.len());
            pools.free.extend(pool.give(most));
        }
    }
    if pools.free.len() >= missing {
        pools.allocate(own, missing);
    }
}

/// Moves as many nodes as the smallest partition of the longest queue's database has from the pool
/// with the shortest queue to that with the longest, where these differ much.
fn balance(pools: &mut Pools, sizer: &Sizer) {
    let length = |number: &usize| pools.pools[*number].queue.len();
    let numbers = || 0..pools.pools.len();
    // Of several that are as long the first is meant; of such that are as short, one that can give.
    let Some(longest) = numbers().rev().max_by_key(length) else {
        return;
    };
    let can_give = |number: &usize| sizer.spare(&pools.pools[*number], *number);
    let by_length = |number: &usize| (length(number), usize::MAX - can_give(number));
    let Some(shortest) = numbers().min_by_key(by_length) else {
        return;
    };
    let (most, least) = (length(&longest), length(&shortest));
    let much = most - least > sizer.tuning.threshold && most >= 2 * least;
    let starved = least == 0 && most > 1;
    if !(much || starved) {
        return;
    }
    let wanted = sizer.databases[longest].least / sizer.per_node;
    let given = can_give(&shortest).min(wanted);
    for node in pools.pools[shortest].give(given) {
        pools.pools[longest].add(node);
    }
}
