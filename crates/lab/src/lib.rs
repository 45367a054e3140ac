//! Models of systems that one would have to own to measure.
//!
//! - [`schedule`]: how a cluster that serves searches shares its processors among queries. The
//!   policies are a machine without clock or threads, which a simulator drives here, and a server
//!   can drive with real workers.
//! - [`ssd`]: drives that count the k-mers of the reads that they store. What the k-mers are like
//!   is counted by the trunk of Gyrase; what time that takes is simulated.
//! - [`bottleneck`]: where the time of `gyrase_count` would go if storage, memory and processors
//!   were others, by what this one takes for a sample.

pub mod bottleneck;
pub mod schedule;
pub mod ssd;
