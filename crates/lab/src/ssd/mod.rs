//! k-mers counted inside the storage that has the reads.
//!
//! # The question
//!
//! A drive reads its own flash several times as fast as its host can. *Abakus* (Wu et al. 2024,
//! doi:10.1145/3632952) puts small units beside chips and channels that count k-mers there, in
//! three designs ([`SsdDesign`]). Nobody can buy one. What would it do with given reads?
//!
//! # The two halves
//!
//! What the reads are like is *counted*, by the trunk of Gyrase: [`profile`] cuts them into
//! super-k-mers by the letters of their minimizers, and counts the k-mers of each minimizer, with
//! the sketch, the Bloom filter and the table of `gyrase count`. So sizes of partitions, tables
//! and filters are exact, and so are bytes.
//!
//! What time that takes is *modelled*: [`simulate`] plays batches through chips, channels, DRAM
//! and units, each of which does one thing at a time.
//!
//! ```text
//!  Basic, BF   read ▶ split ▶ channel ▶ DRAM ▶ channel ▶ write   │   read ▶ count ▶ write table
//!              └─────────────── phase 1 ────────────────────┘    │   └──── phase 2, by chip ───┘
//!  OP          read ▶ sketch │ read ▶ split ▶ channel ▶ DRAM ▶ filter ▶ channel ▶ count ▶ write
//! ```
//!
//! A table that is too large for its scratchpad goes through DRAM to the one core of the drive.
//! Every constant is in [`SsdConstants`] with where it comes from. [`PublishedCases`] are all
//! variations of the publication, [`page`] shows them beside its numbers.
//!
//! ```
//! use gyrase_kmer::Shape;
//! use gyrase_lab::ssd::{ProfileConfig, SsdConfig, SsdConstants, SsdDesign, profile, simulate};
//! use gyrase_work::Progress;
//!
//! let folder = tempfile::tempdir()?;
//! let reads = folder.path().join("reads.fa");
//! std::fs::write(&reads, ">r1\nGATTACAGATTACCAGATTT\n>r2\nGATTACAGATTACC\n")?;
//! let config = ProfileConfig {
//!     inputs: vec![reads],
//!     shape: Shape::new(13, true)?,
//!     m: 5,
//!     threads: 1,
//!     memory: 200 << 20,
//!     tmp: folder.path().into(),
//! };
//! let profile = profile(&config, &Progress::default())?;
//! let minimizers: Vec<u32> = profile.partitions.iter().map(|one| one.minimizer).collect();
//! assert_eq!(minimizers, [0b00_01_00_10_00, 0b00_01_01_00_10]); // ACAGA, ACCAG
//! assert_eq!(profile.total().kmers, 8 + 2);
//!
//! let run = simulate(&profile, &SsdConfig::of(SsdDesign::Bf), &SsdConstants::standard())?;
//! assert_eq!(run.moved.super_kmers_written, profile.total().bytes);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
mod composition;
mod constants;
mod device;
mod engine;
mod error;
mod hosts;
mod mapping;
mod page;
mod power;
mod profile;
mod published;
mod report;
mod run;
mod scratch;
mod sets;
mod trunk;

pub use constants::{Constant, SsdConstants};
pub use device::{BusyWith, SsdDesign};
pub(crate) use engine::{Events, Gates, Played, ServerStep};
pub use error::SsdError;
pub use hosts::OtherCounter;
pub use mapping::PartitionMapping;
pub use page::page;
pub use power::{AddedHardware, added_hardware};
pub use profile::{MinimizerPartition, StorageProfile};
pub use published::{
    MAPPINGS, PADS, PublishedCases, PublishedRuns, PublishedScalar, PublishedSentence,
    ScalarOrigin, Variation,
};
pub(crate) use report::Bars;
pub use report::{json, plot, table};
pub use run::{Division, MovedBytes, SsdConfig, SsdRun, simulate};
pub(crate) use scratch::scratch;
pub use sets::{PUBLISHED_K, PUBLISHED_M, PUBLISHED_SETS, PublishedSet, SetsConfig};
pub use trunk::{MOST_M, ProfileConfig, profile};
