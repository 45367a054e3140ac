//! Assembly: from counted k-mers to the longest sequences that they spell without a choice.
//!
//! # The idea
//!
//! The k-mers of a genome overlap by k-1 bases, and so they are the nodes of a **de Bruijn graph**:
//! two are neighbours where one ends with the k-1 bases, a **junction**, that the other begins
//! with, each read in either direction. Most junctions have one k-mer on either side. There is
//! nothing to choose there, and both k-mers are **joined**. What is joined is a **unitig**: the
//! longest path that the k-mers alone decide. A junction with more k-mers is a repeat or an error,
//! and unitigs end in it.
//!
//! ```text
//!                     GATTACAC ─▶        k = 5: ATTAC is followed by TTACA alone, and joined;
//!  GATTACA ─▶ TTACA <                    TTACA by TACAC and by TACAG: a unitig ends
//!                     TTACAG ─▶
//! ```
//!
//! k is odd, so that no k-mer is its own reverse complement. [`Unitigs`] holds all of a graph in a
//! definite order: what it holds depends on the k-mers alone.
//!
//! # Example
//!
//! ```
//! use gyrase_assemble::{Side, Unitigs, UnitigEnd};
//!
//! let mut unitigs = Unitigs::new(5);
//! unitigs.push_letters(b"GATTACA", 6, false); // three 5-mers, each seen twice
//! unitigs.push_letters(b"TACAC", 1, false);
//! unitigs.push_letters(b"TACAG", 1, false);
//!
//! assert_eq!(unitigs.len(), 3);
//! assert_eq!(unitigs.letters(0), b"GATTACA");
//! assert_eq!(unitigs.kmers(0), 3);
//! assert_eq!(unitigs.count_sum(0), 6);
//! let end = UnitigEnd { unitig: 0, side: Side::Right };
//! assert_eq!(unitigs.junction::<1>(end).letters(4), b"TACA"); // of all three
//! ```

mod among;
mod anchors;
mod answers;
mod asked;
mod base_slice;
mod base_string;
mod batches;
mod checkpoint;
mod clean;
mod config;
mod contig;
mod drawing;
mod error;
mod firsts;
mod foreign;
pub mod gfa;
mod graph;
mod index;
mod longer;
mod meetings;
mod mercy;
mod minimizers;
mod numbering;
mod over_bins;
mod page;
mod pairs;
mod places;
mod plan;
mod reads;
mod records;
mod rolling;
mod run;
mod scaffold;
mod shared_text;
mod shares;
mod solid;
mod stage;
mod starts;
mod statistics;
mod strains;
mod supported;
mod together;
pub mod unitigs;
mod walk;
mod walks;
mod way;
mod write;

pub use base_slice::BaseSlice;
pub use base_string::BaseString;
pub use checkpoint::{Resumed, forget};
pub use clean::Cleaned;
pub use config::{AssemblyError, Config, Library, Sample};
pub use contig::{Contig, HeaderStyle};
pub use drawing::Drawing;
pub use error::Error;
pub use foreign::{ADAPTERS, Adapter, AdapterReads};
pub use graph::{Graph, Outlines, Way};
pub use page::AssemblyPage;
pub use pairs::{Inserts, PairJoins};
pub use plan::{Plan, plan};
pub use run::{Assembled, Mixed, Outputs, leftovers, run, run_in};
pub use scaffold::Scaffold;
pub use solid::KmerDepth;
pub use stage::GraphStage;
pub use statistics::Statistics;
pub use unitigs::{Side, UnitigEnd, Unitigs};
