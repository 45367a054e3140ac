//! Counting k-mers, and what is done with the counts.
//!
//! # The idea
//!
//! Counting is the trunk of the house with the simplest reducer. A k-mer's minimizer names its bin;
//! all copies of a k-mer meet there, whatever read, strand, thread or process they come from. So
//! each bin is counted by itself, in a table that fits the processor's cache, and the bins in their
//! order are the database.
//!
//! ```text
//!  reads ──▶ super-k-mers ─┬─▶ bin 0    ──▶ count, sort ─┐
//!                          ├─▶ bin 1    ──▶ count, sort ─┼──▶ sample.gyk ──▶ histogram,
//!                          │   ...                       │                  spectrum, dump,
//!                          └─▶ bin 4095 ──▶ count, sort ─┘                  query, union ...
//!            scatter           in memory, spilled,  reduce   one sorted file:
//!                              or of another process         (bin, key) -> count
//! ```
//!
//! - [`run`] makes a database of reads, [`plan()`] says beforehand what that will take. With
//!   [`run_on`] a GPU counts some of the bins.
//! - [`count_reads`] keeps the bins for another stage of the same process instead.
//! - [`histogram`], [`spectrum`], [`info`], [`dump`], [`query`] and [`filter`] read one.
//! - [`ops`] makes one of several: union, intersection, difference.
//! - [`exchange`] reads and writes the files of other counters.
//!
//! Counts are exact up to 2^32-1, where they stay. A database depends on the reads and the shape of
//! the k-mers alone: not on threads, memory, processes or the order of the reads.
//! `docs/counting.md` says why.
//!
//! # Example
//!
//! ```
//! use gyrase_count::{Config, histogram, query};
//! use gyrase_kmer::Shape;
//! use gyrase_table::gyk::Database;
//! use gyrase_work::Progress;
//!
//! let folder = tempfile::tempdir()?;
//! let reads = folder.path().join("reads.fa");
//! let counted = folder.path().join("sample.gyk");
//! std::fs::write(&reads, ">r1\nGATTACA\n>r2\nTGTAATC\n>r3\nGATTAC\n")?;
//! let config = Config {
//!     inputs: vec![reads],
//!     output: counted.clone(),
//!     shape: Shape::new(5, false)?, // k = 5, both strands as one
//!     min_count: 1,
//!     max_count: u32::MAX,
//!     min_base_quality: None,
//!     paired: false,
//!     threads: 2,
//!     memory: 1 << 30,
//!     tmp: folder.path().into(),
//!     max_tmp: None,
//!     resume: false,
//!     chunk: None,
//! };
//!
//! let summary = gyrase_count::run(&config, &Progress::default())?;
//! assert_eq!(summary.database.total, 8); // three k-mers, three, and two
//! assert_eq!(summary.database.distinct, 3); // r2 is r1 on the other strand
//!
//! let database = Database::open(&counted)?;
//! assert_eq!(query::look_up(&database, "GATTA")?, 3);
//! assert_eq!(query::look_up(&database, "TAATC")?, 3); // GATTA on the other strand
//! let histogram = histogram::run(&counted, 1, &Progress::default())?;
//! assert_eq!(histogram.rows().collect::<Vec<_>>(), [(2, 1), (3, 2)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod agree;
mod assembly;
mod bins;
mod config;
mod counted;
mod counted_bins;
pub mod dump;
pub mod exchange;
pub mod filter;
pub mod histogram;
pub mod info;
mod lookup;
mod on_gpu;
pub mod ops;
mod ordered;
mod partition;
mod passes;
mod plan;
pub mod query;
mod reading;
mod resume;
mod run;
pub mod spectrum;
mod super_kmers;

pub use config::{Config, Error, Share, Summary};
pub use counted_bins::{CountedBins, count_reads, count_reads_in};
pub use on_gpu::{CountOnGpu, CountRefusal};
pub use plan::{Plan, least_memory_among, plan, room_for_tmp};
pub use run::{leftovers, run, run_in, run_on};
pub use super_kmers::Scattered;

pub use gyrase_tabulate::Estimate;
