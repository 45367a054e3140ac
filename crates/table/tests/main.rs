//! Databases as files: any that is written is read back, and golden files of each version.

mod common;
#[path = "common/features.rs"]
mod features;
mod golden;
mod golden_gydb;
mod gydb;
mod gyk;
mod shared;
