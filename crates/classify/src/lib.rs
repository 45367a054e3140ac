//! Classifying reads by the references that their sketches share windows with.
//!
//! 1. [`build`](build()): references are cut into windows, each window is sketched, and a database
//!    keeps for every feature the windows that it is in: its locations.
//! 2. [`Index::open`]: the database is mapped; it carries its parameters, targets and taxonomy.
//! 3. [`classify`]: reads are sketched in the same way, the locations of their features make
//!    candidates, and candidates are weighed by species.
//! 4. [`edit`]: databases are merged, added to, and rid of targets.
//! 5. [`tally`], [`abundance`], [`report`]: what the reads of a sample say together.

pub mod abundance;
mod build;
mod candidates;
mod cap;
mod catalogue;
mod collection;
mod decide;
mod distinct;
pub mod edit;
mod extract;
mod filter;
mod genomes;
mod index;
mod inspect;
mod mismatch;
mod parts;
mod plan;
mod query;
mod references;
pub mod report;
mod stored;
pub mod tally;
mod targets;

pub use build::{BuildError, Config as BuildConfig, Earlier, Summary as BuildSummary, build};
pub use cap::Cap;
pub use catalogue::Catalogue;
pub use collection::{Collection, Plan};
pub use decide::Rule;
pub use extract::{Extract, Which};
pub use filter::{Covered, Dropped};
pub use genomes::{Genome, Genomes};
pub use index::{Index, IndexError, Parameters};
pub use inspect::{Contents, inspect};
pub use mismatch::Mismatch;
pub use plan::{Prediction, predict};
pub use query::{
    Candidates, CandidatesError, Config, Hits, Lines, Outlets, QueryError, Scratch, Summary,
    Wanted, classify, classify_candidates, covered, covered_candidates,
};
pub use stored::StoredError;
pub use targets::{DamagedTargets, Target, TargetOf, Targets};
