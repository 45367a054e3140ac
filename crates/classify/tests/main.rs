//! Classification through the library: from references and reads to answers and reports.

mod abundance;
mod answers;
mod edit;
mod gpu;
mod page;
mod parts;
mod pipeline;
mod ranks;
mod reports;
mod sample;
mod thresholds;
#[allow(clippy::unwrap_used, reason = "a helper of a test is a test")]
#[path = "../../gpu/tests/twin/mod.rs"]
mod twin;
