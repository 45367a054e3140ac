//! Classifying reads by the references that their sketches share windows with.
//!
//! 1. [`build`](build()): references are cut into windows, each window is sketched, and a database
//!    keeps for every feature the windows that it is in: its locations.
//! 2. [`Index::open`]: the database is mapped; it carries its parameters, targets and taxonomy.
//! 3. [`run()`]: reads are sketched in the same way, the locations of their features make
//!    candidates, and candidates are weighed by species. Answers go to a [`Sink`]: [`Outlets`]
//!    writes a line for each read.
//! 4. [`samples`]: many samples of a sheet, the databases opened once.
//! 5. [`edit`]: databases are merged, added to, and rid of targets.
//! 6. [`tally`], [`abundance`], [`report`]: what the reads of a sample say together.

pub mod abundance;
mod answers;
mod build;
mod bytes;
mod candidates;
mod cap;
mod catalogue;
mod collection;
mod dealt;
mod decide;
mod distinct;
pub mod edit;
mod filter;
mod genomes;
mod index;
mod inspect;
mod lane;
mod mismatch;
mod parameters;
mod parts;
mod plan;
mod query;
mod read;
mod references;
pub mod report;
mod run;
pub mod samples;
mod share;
mod stored;
pub mod tally;
mod targets;

pub use answers::{Columns, Extract, Lines, Outlets, Which};
pub use build::{
    BuildError, Config as BuildConfig, Earlier, MemoryFor, Summary as BuildSummary, build, build_in,
};
pub use candidates::Candidate;
pub use cap::Cap;
pub use catalogue::Catalogue;
pub use collection::{Collection, Plan};
pub use decide::Rule;
pub use filter::{Covered, Dropped};
pub use genomes::{Genomes, ReferenceGenome};
pub use index::{Index, IndexError};
pub use inspect::{Contents, inspect};
pub use lane::{Lane, sample_of};
pub use mismatch::Mismatch;
pub use parameters::Parameters;
pub use plan::{Prediction, predict};
pub use query::{
    Answer, AnswerConfig, Answered, Candidates, CandidatesError, Form, Hits, QueryError, ReadFeed,
    Scratch, Sink, Summary, Wanted, classify, classify_candidates, covered, covered_candidates,
};
pub use read::Read;
pub use run::{ClassifyError, Config, Reads, look_up, run, run_in, store, store_in};
pub use share::{Outlet, Travels};
pub use stored::StoredError;
pub use targets::{DamagedTargets, Target, TargetId, TargetOf, Targets};
