//! How a cluster that serves searches shares its processors among queries, in time.
//!
//! The policies are those of [`gyrase_schedule`], whose [`Scheduler`](gyrase_schedule::Scheduler)
//! a service asks too. Here it is driven through a [`Workload`] on a modelled [`Cluster`]
//! ([`simulate`]); [`run`] does so for many policies, loads and seeds. Model and figures are those
//! of chapter 5 of Lin H., *High Performance Parallel and Distributed Genomic Sequence Search*,
//! North Carolina State University, 2009.

mod caches;
mod cluster;
mod error;
mod figures;
mod published;
mod run;
mod simulator;
mod tables;
mod workload;

pub use cluster::{Cluster, ServedDatabase};
pub use error::ScheduleError;
pub use figures::{FIGURES, Figure, figure_experiments};
pub use published::{comparison, comparison_experiments};
pub use run::{Config, Experiment, Measured, Queries, run};
pub use simulator::{Service, Simulated, simulate};
pub use tables::{json, timeline_header, timeline_rows, tsv};
pub use workload::{Arrival, Demand, Workload};
