//! Search of sequence databases: which subjects are similar to a query, how, and how surely.
//!
//! ```text
//!  queries ─┐ seeds by key          one subject after the other          by query
//!           ├──────────▶ matches ──▶ ungapped ──▶ gapped ──▶ adjusted ──▶ the best N ──▶ report
//!  subjects ┘            of keys     segments     scores     alignments   of all
//! ```
//!
//! 1. Every residue of queries and subjects begins a *seed*: four of the next residues, at the
//!    places of a shape, in an alphabet of fifteen classes (`seeds`).
//! 2. Where a seed of a query and one of a subject have the same key, the 64 residues around them
//!    are compared, many subjects at a time; what scores enough is extended without gaps to a
//!    segment (`matches`).
//! 3. The segments of a query and a subject are extended with gaps; if that promises enough, once
//!    more with the scores that fit the composition of both (`alignments`).
//! 4. The best subjects of the whole database, by E-value, score and place, are the answer.
//!
//! Where the memory does not take the database it is read in parts, all queries meet each part, and
//! the best of all parts are merged (`parts`).
//!
//! Thresholds use numbers of the whole database only, never of a part of it: the answer does not
//! depend on threads or on how the work is divided.
//!
//! ```
//! use gyrase_search::{Config, Culling, DatabaseMask, HitLimits, MaskOptions, NucleotideOptions};
//! use gyrase_search::{ProteinOptions, SearchError, Sensitivity, TaxidFilter, TranslationOptions};
//! use gyrase_search::{WaitingText, run};
//! use gyrase_work::Progress;
//!
//! let folder = tempfile::tempdir()?;
//! let (queries, subjects) = (folder.path().join("q.faa"), folder.path().join("s.faa"));
//! std::fs::write(&queries, ">q\nMKVLAWYGDERTIPLMNVCQHSAAKLEDGIVW\n")?;
//! std::fs::write(&subjects, ">a\nGQNDWSCTPRHHYEEAFVLKMNSG\n>b\nMKVLSWYGEERTIPLMNICQHSAAK\n")?;
//! let config = Config {
//!     program: None,
//!     sensitivity: Sensitivity::Blast,
//!     queries: vec![queries],
//!     query_texts: Vec::new(),
//!     subjects: vec![subjects],
//!     taxids: TaxidFilter::default(),
//!     limits: HitLimits {
//!         evalue: 1e-3,
//!         top: 25,
//!         max_hsps: usize::MAX,
//!         query_cover: 0.0,
//!         culling: Culling::default(),
//!     },
//!     db_length: None,
//!     db_sequences: None,
//!     protein: ProteinOptions::default(),
//!     masks: MaskOptions::default(),
//!     db_mask: DatabaseMask::default(),
//!     nucleotide: NucleotideOptions::default(),
//!     waiting: WaitingText::new(folder.path().join("waiting")),
//!     translation: TranslationOptions::default(),
//!     memory: 1 << 30,
//!     threads: 2,
//! };
//! let mut found = Vec::new();
//! run::<SearchError>(&config, &Progress::default(), |answer| {
//!     for hit in answer.hits {
//!         found.push((hit.subject, hit.hsps[0].score));
//!     }
//!     Ok(())
//! })?;
//! assert_eq!(found, [(1, 128)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alignments;
mod aside;
mod batches;
mod config;
mod culling;
mod database;
mod divided;
mod engine;
mod error;
mod exhaustive;
mod found;
mod frames;
mod hits;
mod hopeless;
mod indexes;
mod letter_counts;
mod lower_case;
mod masks;
mod matches;
mod metadata;
mod nucleotide;
mod open;
mod parts;
mod plan;
mod positions;
mod prepared;
mod program;
mod protein;
mod protein_options;
mod record;
mod regenerate;
mod report;
mod run;
mod sample;
mod scoring;
mod seedless;
mod seeds;
mod sequences;
mod share;
mod subjects;
mod translated;
mod unread;
mod waiting;
mod why;

pub use alignments::{PairAlignment, PairSteps};
pub use config::{Config, Summary};
pub use culling::{BestHit, Culling};
pub use divided::{DividedDatabase, FoundFragments, FragmentCache, FragmentShare};
pub use error::{FormatError, MetadataError, SearchError};
pub use gyrase_align::matrix::Matrix;
pub use gyrase_seqdb::{Molecule, TaxidFilter};
pub use hits::{Hit, Hsp, Match};
pub use hopeless::{HopelessQuery, NoHope};
pub use masks::{DatabaseMask, DustMask, MaskOptions, SegMask};
pub use metadata::SearchMetadata;
pub use nucleotide::{NucleotideOptions, Strands, TemplateType};
pub use open::{DatabaseMemory, OpenDatabase};
pub use plan::{Plan, plan};
pub use program::{Program, UnknownProgram};
pub use protein::Sensitivity;
pub use protein_options::{CompositionMode, ProteinOptions};
pub use regenerate::regenerate;
pub use report::{
    About, DocumentFiles, DocumentSyntax, QueryHits, REPORT_PAGE, Report, ReportFormat,
};
pub use run::run;
pub use sample::{RegenerationSample, sample_regeneration};
pub use scoring::{DatabaseSize, HitLimits, Scoring, ScoringSystem};
pub use sequences::Sequences;
pub use share::{ReportTarget, run_in};
pub use subjects::Subjects;
pub use translated::TranslationOptions;
pub use waiting::WaitingText;
pub use why::{BriefExplanation, Explained, Explanation, LeftOut, explain};
