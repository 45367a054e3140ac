//! Scaffolds: contigs that pairs put behind each other, with letters N for what is between.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use gyrase_seq::decode;

use crate::graph::{Graph, Way};
use crate::pairs::OpenJoin;
use crate::reads::NONE;
use crate::write::{HeaderStyle, wrapped};

/// Letters N of the shortest gap, so that programs take it for one.
const SHORTEST: i64 = 10;

/// Contigs in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scaffold {
    /// The contigs, as they are read.
    pub ways: Vec<Way>,
    /// The bases between each two, and the pairs that say so.
    pub gaps: Vec<(i64, u64)>,
    /// Codes of its bases; above 3 what is not known.
    pub codes: Vec<u8>,
}

/// The joins of which contigs are scaffolded: both ends are apart.
pub fn is_gap(join: &OpenJoin) -> bool {
    join.gap > 0
}

/// All contigs of a graph in scaffolds, the longest first; most hold one contig. Each open join
/// names ways that no other names.
pub fn scaffolds(graph: &Graph, open: &[OpenJoin]) -> Vec<Scaffold> {
    let mut next = HashMap::new();
    for join in open.iter().filter(|join| is_gap(join)) {
        next.insert(join.from, (join.to, join.gap, join.pairs));
        let back = (join.from.flipped(), join.gap, join.pairs);
        next.insert(join.to.flipped(), back);
    }
    let (mut seen, mut scaffolds) = (HashSet::new(), Vec::new());
    for way in graph.nodes() {
        if seen.contains(&way.node()) {
            continue;
        }
        // Back to the beginning, or once around.
        let mut start = way.flipped();
        while let Some(found) = next.get(&start).filter(|found| found.0 != way.flipped()) {
            start = found.0;
        }
        let mut at = start.flipped();
        let mut scaffold = Scaffold {
            ways: vec![at],
            gaps: Vec::new(),
            codes: graph.codes(at),
        };
        seen.insert(at.node());
        while let Some(&(to, gap, pairs)) =
            next.get(&at).filter(|found| seen.insert(found.0.node()))
        {
            scaffold.ways.push(to);
            scaffold.gaps.push((gap, pairs));
            let unknown = gap.max(SHORTEST) as usize;
            scaffold.codes.resize(scaffold.codes.len() + unknown, NONE);
            graph.bases(to).append_codes(&mut scaffold.codes);
            at = to;
        }
        scaffolds.push(scaffold);
    }
    scaffolds.sort_by_key(|scaffold| (std::cmp::Reverse(scaffold.codes.len()), scaffold.ways[0]));
    scaffolds
}

/// Writes the scaffolds of at least `least` bases as FASTA.
///
/// # Errors
/// As `out` has them.
pub fn fasta(
    graph: &Graph,
    scaffolds: &[Scaffold],
    style: HeaderStyle,
    least: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let long = scaffolds.iter().filter(|one| one.codes.len() >= least);
    for (number, scaffold) in long.enumerate() {
        let sign = |way: Way| if way.is_backward() { '-' } else { '+' };
        let contigs = scaffold.ways.iter();
        let contigs: Vec<String> = contigs
            .map(|&way| format!("{}{}", style.name(graph, way), sign(way)))
            .collect();
        let (number, length) = (number + 1, scaffold.codes.len());
        let (gaps, contigs) = (scaffold.gaps.len(), contigs.join(","));
        writeln!(
            out,
            ">scaffold_{number} length={length} gaps={gaps} contigs={contigs}"
        )?;
        let letter = |&code: &u8| if code == NONE { b'N' } else { decode(code) };
        let letters: Vec<u8> = scaffold.codes.iter().map(letter).collect();
        wrapped(&letters, out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use gyrase_kmer::mix;

    use super::*;
    use crate::graph::{Pieces, compact};

    #[test]
    fn contigs_are_put_in_the_order_and_direction_of_their_joins() {
        let mut pieces = Pieces::default();
        for (node, length) in [60u64, 50, 40, 30].into_iter().enumerate() {
            let code = |at: u64| (mix(mix(at + 100 * node as u64 + 1)) >> 62) as u8;
            let codes: Vec<u8> = (0..length).map(code).collect();
            for window in codes.windows(21) {
                let other: Vec<u8> = window.iter().rev().map(|code| 3 - code).collect();
                pieces.push(&other.min(window.to_vec()), 1);
            }
        }
        let graph = compact(21, &pieces, 1);
        assert_eq!(graph.len(), 4);
        let [a, b, c] = [0, 1, 2].map(Way::forward);
        let join = |from, gap, to| OpenJoin {
            from,
            gap,
            to,
            pairs: 7,
        };
        let letters = |open: &[OpenJoin]| {
            let mut text = Vec::new();
            let scaffolds = scaffolds(&graph, open);
            fasta(&graph, &scaffolds, HeaderStyle::Own, 31, &mut text).unwrap();
            String::from_utf8(text).unwrap().replace('\n', "")
        };
        let own = |way: Way| {
            let codes = graph.codes(way).into_iter();
            codes
                .map(|code| char::from(decode(code)))
                .collect::<String>()
        };
        let (n, more) = ("N".repeat(10), "N".repeat(15));
        let (b_back, length) = (b.flipped(), 60 + 50 + 40 + 25);
        let expected = format!(
            ">scaffold_1 length={length} gaps=2 contigs=contig_3+,contig_1+,contig_2-{}{more}{}{n}{}",
            own(c),
            own(a),
            own(b_back)
        );
        assert_eq!(letters(&[join(a, 3, b_back), join(c, 15, a)]), expected);
        // The same, told from the other ends.
        let told = [join(b, 3, a.flipped()), join(a.flipped(), 15, c.flipped())];
        assert_eq!(letters(&told), expected);
        // What overlaps is left apart, and a ring is cut.
        assert_eq!(letters(&[join(a, 0, b)]).matches('>').count(), 3);
        let ring = [join(a, 12, b), join(b, 12, a)];
        assert_eq!(letters(&ring).matches("NNNNNNNNNNNN").count(), 1);
    }
}
