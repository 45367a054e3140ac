//! Alignment of proteins and nucleotides: scores, statistics, masks, extensions.

pub mod mask;
pub mod matrix;
pub mod residue;
pub mod statistics;
