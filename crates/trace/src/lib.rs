//! What every thread of every rank did and when, and where the time went.
//!
//! Recording: a [`Tracer`] listens to spans of target [`TARGET`], which the libraries open around
//! batches and waits. [`TraceLines`] are those of one process, in the format of Chrome's traces,
//! and a [`TraceFile`] takes in the lines of all processes.
//!
//! Reading: [`profile::read`] takes such a file in, [`profile::sum`] adds it up, and
//! [`profile::causes`] says what makes the run slow, and whose it is.
//!
//! ```text
//!  rank 0  main      |start |read            |count        |
//!          worker 0          parse scatter     reduce reduce      spans of a thread: a lane
//!          mpi                round  round
//!  rank 1  main      |start |read            |count        |
//!          worker 0          parse  wait       reduce
//! ```
//!
//! # Example
//!
//! ```
//! use gyrase_trace::{Alignment, TARGET, TraceFile, TraceLines, Tracer, profile};
//! use tracing_subscriber::prelude::*;
//!
//! let tracer = Tracer::new(0);
//! let subscriber = tracing_subscriber::registry().with(tracer.clone());
//! tracing::subscriber::with_default(subscriber, || {
//!     tracing::info!(target: TARGET, stage = "read");
//!     tracing::info_span!(target: TARGET, "parse", bytes = 10u64).in_scope(|| ());
//! });
//!
//! let mut file = TraceFile::begin(Vec::new(), 1, "the command line")?;
//! let mut lines = TraceLines::new(&tracer, 0, Alignment::default());
//! while let Some(portion) = lines.portion(1 << 20) {
//!     file.add(portion.as_bytes())?;
//! }
//! let text = file.finish()?;
//!
//! let run = profile::sum(&profile::read("trace.json".as_ref(), Ok(&text[..]))?);
//! let stages: Vec<&str> = run.stages.iter().map(|stage| stage.name.as_str()).collect();
//! assert_eq!(stages, ["start", "read"]);
//! assert_eq!(run.stages[1].ranks[0].bytes.parsed, 10);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod profile;
mod record;

pub use record::{Alignment, Stay, TARGET, TraceFile, TraceLines, Tracer, gained};
