//! Counting k-mers, and what is done with the counts

mod agree;
mod bins;
mod config;
pub mod dump;
mod estimate;
pub mod exchange;
pub mod filter;
pub mod histogram;
pub mod info;
mod lookup;
pub mod ops;
mod ordered;
mod partition;
mod passes;
mod plan;
pub mod query;
mod resume;
mod run;
pub mod spectrum;
mod super_kmers;

pub use config::{Config, Error, Share, Summary};
pub use estimate::Estimate;
pub use plan::{Plan, plan, room_for_tmp};
pub use run::{leftovers, run, run_in};
pub use super_kmers::Scattered;
