//! Models of systems that one would have to own to measure.
//!
//! - [`schedule`]: how a cluster that serves searches shares its processors among queries. The
//!   policies are a machine without clock or threads, which a simulator drives here, and a server
//!   can drive with real workers.

pub mod schedule;
