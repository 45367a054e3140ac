//! Genomes, reads and communities with known truth, from a seed.
//!
//! Every output is a function of the configuration alone: the same seed gives the same bytes on
//! every machine. Read number k depends on the seed and k only, so that more coverage adds reads to
//! the end and changes none. No function of the mathematics library of the system is used, only
//! sums, products, quotients and square roots, which every machine rounds alike.
//!
//! - [`genome`]: random sequences with GC content, repeat families, a second haplotype and runs of
//!   N.
//! - [`reads`]: single, paired or long reads of given genomes, with sequencing errors and matching
//!   qualities.
//! - [`community`]: paired reads of many genomes at log-normal abundances.
//!
//! A read is named `sequence:start-end:strand:number`, with the 1-based first and last base of the
//! fragment it was read from, and the strand that it (of a pair: mate 1) reads. Mates add `/1` and
//! `/2`: on the plus strand mate 1 starts at the fragment's first base and mate 2 is the reverse
//! complement of its end.
//!
//! # Example
//!
//! ```
//! use gyrase_simulate::genome::{Blueprint, generate};
//!
//! let blueprint = Blueprint { seed: 7, length: 1000, contigs: 2, ..Blueprint::default() };
//! let genome = generate(&blueprint)?;
//! let letters: usize = genome.sequences.iter().map(|contig| contig.letters.len()).sum();
//! assert_eq!(letters, 1000);
//! assert_eq!(genome.sequences, generate(&blueprint)?.sequences); // on every machine
//! # Ok::<(), gyrase_simulate::SimulateError>(())
//! ```

pub mod community;
mod error;
mod files;
pub mod genome;
mod random;
pub mod reads;
mod sequence;
mod sequencer;
mod shotgun;

pub use error::SimulateError;
pub use random::Random;
pub use sequence::{Sequence, read_sequences};
