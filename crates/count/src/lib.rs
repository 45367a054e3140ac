//! Counting k-mers, and what is done with the counts

mod bins;
pub mod dump;
pub mod histogram;
pub mod info;
pub mod ops;
mod ordered;
pub mod spectrum;
