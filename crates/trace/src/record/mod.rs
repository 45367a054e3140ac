//! `--trace`: what every thread did and when, gathered while it runs.
//!
//! The spans are those of target `gyrase::trace`, which the libraries open around batches and
//! waits. Every thread has a lane of its own, so that none waits for another, with room for a
//! bounded number of spans; where there are more, the shortest are folded into sums. A span is
//! opened and closed by one thread; one that is never entered was under way *beside* what the
//! thread did.

mod clock;
pub(crate) mod json;
pub(crate) mod lane;
mod lines;
pub(crate) mod machine;
mod tracer;
mod watch;

pub use clock::{Alignment, Stay, gained};
pub(crate) use json::{FOLDED, RANK, VERSION};
pub use lines::{START, TraceFile, TraceLines};
pub use tracer::Tracer;
pub(crate) use tracer::{BETWEEN, EXCHANGES, WORKER};
pub(crate) use watch::{GAP, STOPPED, THROTTLED};

/// Spans of that target are traced.
pub const TARGET: &str = "gyrase::trace";
