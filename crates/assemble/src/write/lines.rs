//! Lines of text, and how many are written at a time.

use std::ops::Range;

use gyrase_fabric::{FabricError, World};
use gyrase_seq::decode;

use crate::BaseSlice;
use crate::graph::{SharedGraph, Way};
use crate::numbering::Numbering;

/// Letters of a line of FASTA.
const LINE: usize = 80;
/// Bases that are written at a time.
const PORTION: usize = 1 << 20;
/// Appends letters in lines.
pub fn wrapped(letters: &[u8], text: &mut Vec<u8>) {
    for line in letters.chunks(LINE) {
        text.extend_from_slice(line);
        text.push(b'\n');
    }
}

/// The name of a node that is no contig.
pub fn segment(number: usize) -> String {
    format!("segment_{number}")
}

/// An overlap of two ways.
pub fn link(ways: [Way; 2], overlap: usize, name: impl Fn(Way) -> String) -> String {
    let [one, other] = ways.map(|way| format!("{}\t{}", name(way), sign(way)));
    format!("L\t{one}\t{other}\t{overlap}M\n")
}

/// How a way is read.
pub fn sign(way: Way) -> char {
    if way.is_backward() { '-' } else { '+' }
}

/// The letters of bases.
pub fn letters(bases: BaseSlice) -> Vec<u8> {
    bases.codes().into_iter().map(decode).collect()
}

/// Runs of the nodes of this process that have so many bases as are written at a time, and how the
/// runs of all processes are numbered in the order of the nodes.
///
/// Collective.
pub fn portions(
    graph: &SharedGraph,
    world: &dyn World,
) -> Result<(Vec<Range<usize>>, Numbering), FabricError> {
    let (nodes, numbering) = (graph.own(), graph.numbering());
    let (mut all, mut counts) = (Vec::new(), vec![0; numbering.group_count()]);
    for group in numbering.groups() {
        let own = numbering.own_of(group);
        let lengths = own.clone().map(|node| nodes.length(Way::forward(node)));
        let portions = cut(lengths).into_iter();
        counts[group] = portions.len() as u64;
        all.extend(portions.map(|portion| own.start + portion.start..own.start + portion.end));
    }
    Ok((all, numbering.of_groups(world, &counts)?))
}

/// Runs of sequences of some lengths that have so many bases as are written at a time.
pub fn cut(lengths: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let (mut portions, mut first, mut bases, mut end) = (Vec::new(), 0, 0, 0);
    for length in lengths {
        (bases, end) = (bases + length, end + 1);
        if bases >= PORTION {
            portions.push(first..end);
            (first, bases) = (end, 0);
        }
    }
    if first < end {
        portions.push(first..end);
    }
    portions
}
