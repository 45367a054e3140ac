//! Where the time of a traced run went, stage by stage and rank by rank, and why.

mod activity;
mod after_work;
mod causes;
mod file;
mod sums;
#[cfg(test)]
mod tests;
mod waits;

pub use activity::{Activity, Times};
pub use causes::{Cause, Finding, NOTABLE, Who, causes};
pub use file::{Folded, Gap, Interval, Kept, SpanKind, Trace, TraceError, TracedSpan, Used, read};
pub use sums::{Imbalance, Moved, RankProfile, RunProfile, StageProfile, WorkerTimes, sum};
pub use waits::{Collectives, Wait};

pub use crate::record::START;
