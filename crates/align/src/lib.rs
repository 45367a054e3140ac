//! Alignment of proteins and nucleotides: scores, statistics, masks, extensions.
//!
//! What a search of sequence databases needs to know of two sequences, with the numbers of BLAST+.
//! A [`matrix`] scores pairs of residues, [`statistics`] tell how surprising a score is, and
//! [`mask`]s say which parts of a sequence are too simple to be evidence of anything.
//!
//! ```
//! use gyrase_align::mask::seg::Seg;
//! use gyrase_align::matrix::Matrix;
//! use gyrase_align::residue;
//! use gyrase_align::statistics::{Costs, protein::Protein, text};
//!
//! let query = b"MKWVTFISLLFLFSSAYSRGVFRR".map(residue::code);
//! let subject = b"MKWVTFLLLLFVSGSAFSRGVFRR".map(residue::code);
//! let matrix = Matrix::named("BLOSUM62").ok_or("no such matrix")?;
//! let score = |(&a, &b): (&u8, &u8)| f64::from(matrix.score(a, b));
//! let score: f64 = query.iter().zip(&subject).map(score).sum();
//! assert_eq!(score, 95.0);
//!
//! // In a search of a million residues, with gaps that cost 11 and 1 for each residue in them:
//! let statistics = Protein::new(matrix, Costs::new(11, 1))?;
//! let evalue = statistics.evalue(score, query.len(), subject.len(), 1_000_000);
//! assert_eq!(text::evalue(evalue), "6.21e-09");
//! assert_eq!(text::bits(statistics.bits(score)), "41.2");
//!
//! let repeat = b"MKVLAQWERTYHHHHHHHHHHHHHHHHNDCFGIKLPWST".map(residue::code);
//! assert_eq!(Seg::of_queries().mask(&repeat), [11..27]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod arch;
pub mod composition;
pub mod gapped;
pub mod genetic_code;
pub mod greedy;
pub mod inter_sequence;
pub mod local;
pub mod mask;
pub mod matrix;
pub mod nucleotide;
pub mod packed;
pub mod residue;
pub mod statistics;
pub mod ungapped;
