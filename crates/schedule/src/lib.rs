//! Which processors of a cluster that serves searches each query gets.
//!
//! # The question
//!
//! Queries come at random, each for one of a few databases. A query gets a *partition* of the
//! processors for itself; more of them answer it sooner, and use each less well. A node that has
//! parts of a database in memory need not read them again. So two things are to be decided: how
//! many processors a query gets ([`Sizing`]), and which ([`Placement`]).
//!
//! # The policies
//!
//! - **FIX-S, FIX-M, FIX-L**: one size for each database, whatever happens.
//! - **RMAP** (*restricted MAP*): `n / (q + 1 + f s)`, rounded up, where q queries wait beside this
//!   one and s run on the n processors; between the least and the most of its database, and rounded
//!   down to a power of two of nodes ([`rmap`]).
//! - **First Available** (FA): one queue; its first query takes the idle nodes of lowest rank.
//! - **PLARD** (*parallel locality-aware request distribution*): each database has nodes of its
//!   own, its *pool*, and a queue. Queries wait in a global queue until the pool of their database
//!   is as large as the size that the policy recommends; it grows by nodes of nobody, then by idle
//!   ones of pools with shorter queues. Behind each query loads are balanced.
//!
//! They are Algorithm 2 and sections 5.3.1 to 5.3.3 of Lin H., *High Performance Parallel and
//! Distributed Genomic Sequence Search*, North Carolina State University, 2009; MAP is of Dandamudi
//! and Yu (1999). As printed, the algorithm can stop for ever: nodes are taken from a pool until
//! what waits in it no longer fits. Two guards prevent that ([`Tuning::guarded`]).
//!
//! # One machine, two drivers
//!
//! [`Scheduler`] is told what happens (a query arrives, one ends, a node joins or leaves) and tells
//! which queries start, and where. It knows no time: a simulator drives it through traces, and a
//! service through what really happens.
//!
//! ```
//! use gyrase_schedule::{NodeId, PartitionSizes, Policy, QueryId, Scheduler, Tuning};
//!
//! let sizes = PartitionSizes { least: 2, medium: 2, most: 4 };
//! let policy: Policy = "rmap-plard".parse()?;
//! let mut scheduler = Scheduler::new(policy, Tuning::default(), 2, vec![sizes]);
//! (0..2).for_each(|rank| scheduler.join(NodeId(rank)));
//!
//! scheduler.arrive(QueryId(7), 0);
//! let starts = scheduler.schedule();
//! assert_eq!(starts[0].nodes, [NodeId(0), NodeId(1)]); // alone, it gets all four processors
//!
//! (8..11).for_each(|query| scheduler.arrive(QueryId(query), 0));
//! assert!(scheduler.schedule().is_empty());
//! scheduler.complete(QueryId(7));
//! let sizes: Vec<usize> = scheduler.schedule().iter().map(|start| start.nodes.len()).collect();
//! assert_eq!(sizes, [1, 1]); // while others wait, each gets the least
//! # Ok::<(), String>(())
//! ```

mod plard;
mod policy;
mod pools;
mod scheduler;
mod sizes;

pub use policy::{Placement, Policy, Sizing, Tuning};
pub use pools::{NodeId, QueryId};
pub use scheduler::{Scheduler, Start};
pub use sizes::{PartitionSizes, power_below, rmap};
