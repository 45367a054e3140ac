//! Sequence databases: files in which sequences are searched, whatever their format.
//!
//! ```text
//!  FASTA, compressed or not ──┐
//!  .gysd of `gyrase index` ───┼─▶ SequenceSource ─▶ Entry: title, letters, taxids, in order
//!  BLAST's, versions 4 and 5 ─┘                       │
//!                                                     ├─▶ a search
//!                                                     └─▶ gysd::Writer ─▶ one .gysd
//! ```
//!
//! A [`SequenceSource`] is known by its content. Several are one database: their sequences have
//! numbers in the order of the sources, so that an answer does not tell in which way a database
//! came. A [`gysd::SeqDb`] gives single sequences besides, by name and range, without reading
//! others.
//!
//! ```
//! use gyrase_seqdb::gysd::{SeqDb, Strand, Writer};
//! use gyrase_seqdb::{Molecule, SeqDbError, SequenceSource};
//!
//! let folder = tempfile::tempdir()?;
//! let [fasta, path] = ["refs.fa", "refs.gysd"].map(|name| folder.path().join(name));
//! std::fs::write(&fasta, ">a first\nACCGTNN\n>b OX=562\nGG\n")?;
//! let mut writer = Writer::create(&path, Molecule::Nucleotide)?;
//! SequenceSource::open(&fasta)?.each(|entry, _| {
//!     writer.push(entry.title, entry.letters, entry.taxids)
//! })?;
//! writer.finish(None)?;
//!
//! let database = SeqDb::open(&path)?;
//! let mut letters = Vec::new();
//! database.read(database.find(b"a")?[0], 3..6, Strand::Minus, &mut letters)?;
//! assert_eq!(letters, b"NAC");
//! assert_eq!(database.taxids(1)?, [562]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod blast;
mod build;
mod entry;
mod error;
pub mod gysd;
mod molecule;
mod reader;
mod source;
mod taxa;

pub use build::{IndexConfig, Indexed, build, want};
pub use entry::{Entry, EntrySize, PackedBases};
pub use error::SeqDbError;
pub use gysd::name_of;
pub use molecule::Molecule;
pub use reader::SequenceReader;
pub use source::{SequenceSource, SourceSize, header_taxids, open_all, shared_molecule};
pub use taxa::{KeptTaxa, TaxidFilter};
