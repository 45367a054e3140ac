//! Alignment of proteins and nucleotides: scores, statistics, masks, extensions.

pub mod composition;
pub mod residue;
