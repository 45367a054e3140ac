//! What every thread of every rank did and when, and where the time went.
//!
//! Recording: a [`Tracer`] listens to spans of target [`TARGET`], which the libraries open around
//! batches and waits. [`TraceLines`] are those of one process, in the format of Chrome's traces,
//! and a [`TraceFile`] takes in the lines of all processes.
//!
//! Reading: [`profile::read`] takes such a file in, [`profile::sum`] adds it up.

pub mod profile;
mod record;

pub use record::{Alignment, Stay, TARGET, TraceFile, TraceLines, Tracer, gained};
