//! What reads hold beside a genome: adapters of libraries, and the control PhiX174.

use std::collections::HashSet;
use std::sync::LazyLock;

use gyrase_seq::{encode, reverse_complement};
use memchr::memmem::Finder;

use crate::graph::{Graph, Way};

/// What a library was made with, and stands in reads of fragments that are shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adapter {
    /// What people call it.
    pub name: &'static str,
    /// Its first letters, equal for both mates.
    pub letters: &'static str,
}

/// The adapters that are looked for. A genome has such a word by chance once in 67 million bases.
pub const ADAPTERS: [Adapter; 2] = [
    Adapter {
        name: "TruSeq",
        letters: "AGATCGGAAGAGC",
    },
    Adapter {
        name: "Nextera",
        letters: "CTGTCTCTTATAC",
    },
];

/// Reads that hold each of [`ADAPTERS`].
pub type AdapterReads = [u64; ADAPTERS.len()];

static FINDERS: LazyLock<[Finder<'static>; ADAPTERS.len()]> =
    LazyLock::new(|| ADAPTERS.map(|adapter| Finder::new(adapter.letters)));

/// Counts the adapters in a read.
pub fn count_adapters(letters: &[u8], counts: &mut AdapterReads) {
    for (finder, count) in FINDERS.iter().zip(counts) {
        *count += u64::from(finder.find(letters).is_some());
    }
}

/// The first letters of PhiX174, NC_001422.1. Its 5,386 bases hold no repeat, so that they are one
/// contig, which holds these.
const PHIX: &[u8] = b"\
GAGTTTTATCGCTTCCATGACGCAGAAGTTAACACTTTCGGATATTTCTGATGAGTCGAAAAATTATCTT\
GATAAAGCAGGAATTACTACTGCTTGTTTACGAATTAAATCGAAGTGGACTGCTGGCGGAAAATGAGAAA\
ATTCGACCTATCCTTGCGCAGCTCGAGAAGCTCTTACTTTGCGACCTTTCGCCATCAACTAACGATTCTG\
TCAAAAACTGACGCGTTGGATGAGGAGAAGTGGCTTAATATGCTTGGCACGTTCGTCAAGGACTGGTTTA\
GATATGAGTCACATTTTGTTCATGGTAGAGATTCTCTTGTTGACATTTTAAAAGAGCGTGGATTACTATC\
TGAGTCCGATGCTGTTCAACCACTAATAGGTAAGAAATCATGAGTCAAGTTACTGAACAATCCGTACGTT\
TCCAGACCGCTTTGGCCTCTATTAAGCTCATTCAGGCTTCTGCCGTTTTGGATTTAACCGAAGATGATTT";
/// Bases of the words that are compared.
const WORD: usize = 31;

/// The nodes that are PhiX174: half of the words of [`PHIX`] are in them.
pub fn phix(graph: &Graph) -> Vec<Way> {
    let wanted: HashSet<u64> = [PHIX.to_vec(), reverse_complement(PHIX)]
        .iter()
        .flat_map(|strand| words(strand.iter().filter_map(|&letter| encode(letter))))
        .collect();
    let is_phix = |way: &Way| {
        let words = words(graph.codes(*way).into_iter());
        let found: HashSet<u64> = words.filter(|word| wanted.contains(word)).collect();
        2 * found.len() > PHIX.len() - WORD
    };
    graph.nodes().filter(is_phix).collect()
}

/// All words of some codes.
fn words(codes: impl Iterator<Item = u8>) -> impl Iterator<Item = u64> {
    let mut word = 0;
    let words = codes.map(move |code| {
        word = (word << 2 | u64::from(code)) & ((1 << (2 * WORD)) - 1);
        word
    });
    words.skip(WORD - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Pieces, compact};

    fn graph(sequences: &[Vec<u8>]) -> Graph {
        let mut pieces = Pieces::default();
        for letters in sequences {
            let codes: Vec<u8> = letters
                .iter()
                .filter_map(|&letter| encode(letter))
                .collect();
            for window in codes.windows(51) {
                let other: Vec<u8> = window.iter().rev().map(|code| 3 - code).collect();
                pieces.push(&other.min(window.to_vec()), 1);
            }
        }
        compact(51, &pieces, 1)
    }

    #[test]
    fn the_control_is_found_on_either_strand_and_with_differences() {
        let other: Vec<u8> = PHIX.iter().rev().copied().collect();
        let mut strain = PHIX.to_vec();
        for place in [100, 300] {
            strain[place] = if strain[place] == b'A' { b'C' } else { b'A' };
        }
        for (sequences, expected) in [
            (vec![other.clone()], 0),
            (vec![PHIX.to_vec(), other.clone()], 1),
            (vec![reverse_complement(&strain), other], 1),
            (vec![PHIX[..200].to_vec()], 0),
        ] {
            let graph = graph(&sequences);
            assert_eq!(phix(&graph).len(), expected);
        }
    }

    #[test]
    fn adapters_are_counted_once_a_read() {
        let mut counts = [0; 2];
        for read in [
            "ACGTAGATCGGAAGAGCACAC",
            "AGATCGGAAGAGAGATCGGAAGAGCAGATCGGAAGAGC",
            "CTGTCTCTTATACACA",
            "A",
        ] {
            count_adapters(read.as_bytes(), &mut counts);
        }
        assert_eq!(counts, [2, 1]);
    }
}
