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
//!
//! # Example
//!
//! ```
//! use std::path::Path;
//!
//! use gyrase_classify::{
//!     AnswerConfig, BuildConfig, Collection, Columns, Config, Index, Lane, Outlets, Parameters,
//!     Reads, Rule, Scratch, Wanted, build, run,
//! };
//! use gyrase_taxonomy::{Node, Taxonomy};
//! use gyrase_work::Progress;
//!
//! // Two genomes of random letters, and a read of the second.
//! let folder = tempfile::tempdir()?;
//! let [references, database, reads] =
//!     ["refs.fa", "refs.gydb", "reads.fa"].map(|name| folder.path().join(name));
//! let letter = |i: u64| ["A", "C", "G", "T"][(gyrase_kmer::mix(i) >> 62) as usize];
//! let [one, other] = [0..2000, 2000..4000].map(|all| all.map(letter).collect::<String>());
//! std::fs::write(&references, format!(">one\n{one}\n>other\n{other}\n"))?;
//! std::fs::write(&reads, format!(">read\n{}\n", &other[500..650]))?;
//!
//! let node = |taxid, rank, name| Node { taxid, parent: 1, rank, name };
//! let (one, other) = (node(10, "species", "One"), node(20, "species", "Other"));
//! let taxonomy = Taxonomy::new([node(1, "no rank", "root"), one, other])?;
//! let mut taxon_of = |header: &str, _: &Path| match header {
//!     "one" => taxonomy.taxon_of(10),
//!     _ => taxonomy.taxon_of(20),
//! };
//! let progress = Progress::default();
//! let config = BuildConfig {
//!     references: vec![references],
//!     output: Some(database.clone()),
//!     parameters: Parameters::default(),
//!     threads: 2,
//!     memory: 1 << 30,
//!     tmp: folder.path().into(),
//!     max_tmp: None,
//!     resume: None,
//! };
//! build(&config, &taxonomy, &mut taxon_of, &progress)?;
//!
//! let collection = Collection::from(Index::open(&database)?);
//! let lanes = [Lane { reads, mates: None, interleaved: false }];
//! let (rule, wanted) = (Rule::default(), Wanted::default());
//! let config = Config {
//!     reads: Reads::Lanes { collection: &collection, lanes: &lanes },
//!     answer: AnswerConfig { rule, insert: 400, threads: 2, wanted },
//!     memory: 1 << 30,
//!     scratch: Scratch { folder: folder.path(), limit: None },
//!     drop_least_covered: None,
//! };
//! let mut lines = Vec::new();
//! let (columns, extracts) = (Columns::HITS, &mut []);
//! let summary = run(&config, &progress, &mut Outlets { columns, lines: &mut lines, extracts })?;
//! assert!(lines.starts_with(b"C\tread\t20\t150\t20:")); // classified, as Kraken 2 says it
//! let other = collection.catalogue.taxonomy.taxon_of(20).expect("it has a reference");
//! assert_eq!(summary.tally.reads(other), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod abundance;
mod answers;
mod build;
mod bytes;
mod candidates;
mod cap;
mod catalogue;
mod collection;
mod confidence;
mod dealt;
mod decide;
mod distinct;
pub mod edit;
mod filter;
mod followed;
mod genomes;
mod index;
mod inspect;
mod lane;
mod lowest;
mod mismatch;
mod on_gpu;
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
mod slice;
mod stored;
pub mod tally;
mod targets;
mod taxon_report;

pub use answers::{Again, AgainError, Columns, Extract, Lines, Outlets, Which};
pub use build::in_passes::build_on;
pub use build::{
    BuildError, BuildOnGpu, BuildPlan, Config as BuildConfig, Earlier, MemoryFor,
    Summary as BuildSummary, build, build_in, plan_build,
};
pub use candidates::Candidate;
pub use cap::Cap;
pub use catalogue::Catalogue;
pub use collection::{Collection, Plan};
pub use confidence::{Confidence, Support};
pub use decide::Rule;
pub use filter::{Covered, Dropped};
pub use genomes::{Genomes, ReferenceGenome};
pub use index::{Index, IndexError};
pub use inspect::{Contents, inspect};
pub use lane::{Lane, sample_of};
pub use lowest::LowestRank;
pub use mismatch::Mismatch;
pub use on_gpu::{GpuRefusal, OnGpu};
pub use parameters::Parameters;
pub use plan::{Prediction, predict};
pub use query::{
    Answer, AnswerConfig, Answered, Candidates, CandidatesError, Form, Hits, INSERT, QueryError,
    ReadFeed, Scratch, Sink, Summary, Wanted, classify, classify_candidates, covered,
    covered_candidates,
};
pub use read::Read;
pub use run::{ClassifyError, Config, Reads, run, run_in, store, store_in};
pub use share::{Outlet, Travels};
pub use stored::StoredError;
pub use targets::{DamagedTargets, Target, TargetId, TargetOf, Targets};
pub use taxon_report::TaxonReport;
