//! KFF 1.0, the k-mer file format that several tools share
//! (<https://github.com/Kmer-File-Format/kff-reference>).
//!
//! A header (marker, version, the two-bit code of each letter, flags), sections, and the marker
//! again. A section `v` sets variables, `r` holds sequences and one datum for every k-mer in them,
//! `m` the same with a minimizer that the sequences share cut out, and `i` says where other
//! sections begin. Numbers are big-endian; a sequence fills whole bytes from the right. The data
//! are taken as counts: no data, a count of 1.

mod read;
mod write;

pub use read::Reader;
pub use write::Writer;
pub(crate) use write::sizes;

const MARKER: &[u8; 3] = b"KFF";
/// The variable by which Gyrase says that the strands are counted apart; other programs pass over
/// it.
const STRANDED: &[u8] = b"stranded";
