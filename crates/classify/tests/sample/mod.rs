//! A small tree and a sample over it, for the tests of reports.

#![allow(
    clippy::unwrap_used,
    dead_code,
    reason = "a helper of a test is a test, and not each test needs all"
)]

use gyrase_classify::tally::Tally;
use gyrase_taxonomy::{Node, Taxonomy};

/// Two phyla of bacteria, one of them down to a strain, and a virus without a genus.
pub fn taxonomy() -> Taxonomy {
    let nodes = [
        (1, 1, "no rank", "root"),
        (131567, 1, "cellular root", "cellular organisms"),
        (2, 131567, "domain", "Bacteria"),
        (1224, 2, "phylum", "Pseudomonadota"),
        (561, 1224, "genus", "Escherichia"),
        (562, 561, "species", "Escherichia coli"),
        (83333, 562, "strain", "Escherichia coli K-12"),
        (564, 561, "species", "Escherichia fergusonii"),
        (1239, 2, "phylum", "Bacillota"),
        (1301, 1239, "genus", "Streptococcus"),
        (1313, 1301, "species", "Streptococcus pneumoniae"),
        (10239, 1, "acellular root", "Viruses"),
        (11000, 10239, "species", "Some virus"),
    ];
    Taxonomy::new(nodes.map(|(taxid, parent, rank, name)| Node {
        taxid,
        parent,
        rank,
        name,
    }))
    .unwrap()
}

/// Reads by taxid; those of taxid 0 are unclassified.
pub fn tally(taxonomy: &Taxonomy, reads: &[(u32, u64)]) -> Tally {
    let mut tally = Tally::new();
    for &(taxid, reads) in reads {
        match taxid {
            0 => tally.leave(reads),
            _ => tally.assign(taxonomy.taxon_of(taxid).unwrap(), reads),
        }
    }
    tally
}

/// 40 reads, 32 of them classified, at all heights of the tree.
pub const READS: [(u32, u64); 10] = [
    (0, 8),
    (1, 1),
    (2, 2),
    (561, 3),
    (562, 10),
    (83333, 4),
    (564, 5),
    (1239, 1),
    (1313, 4),
    (11000, 2),
];

/// What a report writes.
pub fn text(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}
