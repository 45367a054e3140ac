//! Alignment of proteins and nucleotides: scores, statistics, masks, extensions.

pub mod arch;
pub mod composition;
pub mod gapped;
pub mod mask;
pub mod matrix;
pub mod residue;
pub mod statistics;
pub mod ungapped;
