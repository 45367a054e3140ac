//! Deterministic genomes, reads and communities with known truth
