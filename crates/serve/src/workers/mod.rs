//! Processes that search for a service, each with memory of its own.
//!
//! ```text
//!               ┌ scheduler: which workers a job gets (RMAP), and which have its database (PLARD)
//!  store ──▶ dispatcher ── queries, share i of n ──▶ worker: fragments in its memory
//!               │  ▲                                    │
//!               │  └───────── what it found ────────────┘
//!               └── merge, metadata ──▶ store
//! ```
//!
//! A worker is a program that is started by a command, here or, by `ssh`, anywhere, and speaks over
//! its standard input and output. One that ends is started again; the jobs that it ran begin anew.
//! Scheduling is that of Lin H., *High Performance Parallel and Distributed Genomic Sequence
//! Search*, North Carolina State University, 2009, chapter 5.

mod dispatch;
mod event;
mod process;
mod sharing;
mod wire;
mod worker;

pub use dispatch::Dispatcher;
pub use event::Event;
pub use sharing::Sharing;
pub use worker::{WorkerConfig, work};
