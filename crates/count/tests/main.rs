//! Databases of k-mers taken together, listed, looked up and exchanged with other programs.

mod databases;
mod exchange;
mod listing;
mod operations;
mod ploidy;
mod queries;
