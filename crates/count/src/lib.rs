//! Counting k-mers, and what is done with the counts

mod bins;
mod config;
pub mod dump;
pub mod exchange;
pub mod histogram;
pub mod info;
pub mod ops;
mod ordered;
pub mod spectrum;
mod partition;
mod plan;
mod resume;
mod run;

pub use config::{Config, Error, Summary};
pub use plan::{Plan, plan};
pub use run::run;
