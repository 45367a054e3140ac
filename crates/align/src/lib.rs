//! Alignment of proteins and nucleotides: scores, statistics, masks, extensions.

pub mod residue;
