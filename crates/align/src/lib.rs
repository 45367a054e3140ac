//! Alignment of proteins and nucleotides: scores, statistics, masks, extensions.

pub mod arch;
pub mod composition;
pub mod gapped;
pub mod residue;
pub mod ungapped;
