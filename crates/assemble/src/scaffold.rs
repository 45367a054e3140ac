//! Scaffolds: contigs that pairs put behind each other, with letters N for what is between.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use gyrase_fabric::{FabricError, all_to_all};
use gyrase_seq::decode;

use crate::among::Among;
use crate::asked::AskedNodes;
use crate::contig::HeaderStyle;
use crate::graph::{Outlines, SharedGraph, Way};
use crate::numbering::Numbering;
use crate::pairs::OpenJoin;
use crate::records::take_number;
use crate::write::{Sections, cut, sign, wrapped};
use crate::{BaseSlice, Error};

/// Letters N of the shortest gap, so that programs take it for one.
const SHORTEST: i64 = 10;

/// Contigs in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scaffold {
    /// The contigs, as they are read.
    pub ways: Vec<Way>,
    /// The bases between each two, and the pairs that say so.
    pub gaps: Vec<(i64, u64)>,
    /// Letters, those for what is not known with them.
    pub length: usize,
}

impl Scaffold {
    /// Letters N.
    pub fn unknown(&self) -> usize {
        self.gaps.iter().map(|&(gap, _)| letters_of(gap)).sum()
    }
}

/// Letters for a gap of so many bases.
fn letters_of(gap: i64) -> usize {
    gap.max(SHORTEST) as usize
}

/// The joins of which contigs are scaffolded: both ends are apart.
pub fn is_gap(join: &OpenJoin) -> bool {
    join.gap > 0
}

/// All contigs of a graph in scaffolds, the longest first; most hold one contig. Each open join
/// names ways that no other names.
pub fn scaffolds(graph: &Outlines, open: &[OpenJoin]) -> Vec<Scaffold> {
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
            length: graph.length(at),
        };
        seen.insert(at.node());
        while let Some(&(to, gap, pairs)) =
            next.get(&at).filter(|found| seen.insert(found.0.node()))
        {
            scaffold.ways.push(to);
            scaffold.gaps.push((gap, pairs));
            scaffold.length += letters_of(gap) + graph.length(to);
            at = to;
        }
        scaffolds.push(scaffold);
    }
    scaffolds.sort_by_key(|scaffold| (std::cmp::Reverse(scaffold.length), scaffold.ways[0]));
    scaffolds
}

/// Writes the scaffolds of at least `least` bases, which the first process has, as FASTA.
///
/// Collective.
pub fn fasta(
    graph: &SharedGraph,
    scaffolds: &[Scaffold],
    style: HeaderStyle,
    least: usize,
    path: &Path,
    among: &Among,
) -> Result<(), Error> {
    let long: Vec<&Scaffold> = scaffolds.iter().filter(|one| one.length >= least).collect();
    let (first, own) = shared_out(&long, among)?;
    let portions = cut(own.iter().map(|scaffold| scaffold.length));
    let numbering = Numbering::of_processes(among.world, portions.len())?;
    let file = Sections::begin(path, b"", [numbering], among)?;
    for round in 0..among.most(portions.len())? as usize {
        let portion = portions.get(round).cloned();
        let scaffolds = &own[portion.clone().unwrap_or_default()];
        let ways = scaffolds.iter().flat_map(|one| one.ways.iter().copied());
        let contigs = AskedNodes::of(graph, ways, among)?;
        if let Some(portion) = portion {
            let mut text = Vec::new();
            for (number, scaffold) in portion.zip(scaffolds) {
                put(scaffold, first + number + 1, &contigs, style, &mut text);
            }
            file.put(0, round, text)?;
        }
    }
    file.publish(among)
}

/// Appends a scaffold as FASTA.
fn put(
    scaffold: &Scaffold,
    number: usize,
    nodes: &AskedNodes,
    style: HeaderStyle,
    text: &mut Vec<u8>,
) {
    let contigs = scaffold.ways.iter();
    let contigs: Vec<String> = contigs
        .map(|&way| format!("{}{}", style.name(&nodes.contig(way)), sign(way)))
        .collect();
    let (gaps, contigs) = (scaffold.gaps.len(), contigs.join(","));
    let length = scaffold.length;
    let header = format!(">scaffold_{number} length={length} gaps={gaps} contigs={contigs}\n");
    text.extend_from_slice(header.as_bytes());
    let mut letters = Vec::with_capacity(length);
    let gaps = scaffold.gaps.iter().map(|&(gap, _)| letters_of(gap));
    for (&way, gap) in scaffold.ways.iter().zip(gaps.chain([0])) {
        let codes = BaseSlice::whole(&nodes.bases(way)).codes();
        letters.extend(codes.into_iter().map(decode));
        letters.resize(letters.len() + gap, b'N');
    }
    wrapped(&letters, text);
}

/// What each process writes of the scaffolds of the first: a run of them, and how many stand before
/// it.
///
/// Collective.
fn shared_out(
    scaffolds: &[&Scaffold],
    among: &Among,
) -> Result<(usize, Vec<Scaffold>), FabricError> {
    let ranks = among.world.ranks();
    let total: usize = scaffolds.iter().map(|scaffold| scaffold.length).sum();
    let each = total.div_ceil(ranks).max(1);
    let mut messages = vec![Vec::new(); ranks];
    let mut before = 0;
    for (number, scaffold) in scaffolds.iter().enumerate() {
        let message = &mut messages[before / each];
        if message.is_empty() {
            message.extend((number as u64).to_le_bytes());
        }
        scaffold.put(message);
        before += scaffold.length;
    }
    let messages = all_to_all(among.world, messages)?;
    let mut from = &messages[0][..];
    let first = if from.is_empty() {
        0
    } else {
        take_number(&mut from)
    };
    let mut own = Vec::new();
    while !from.is_empty() {
        own.push(Scaffold::take(&mut from));
    }
    Ok((first as usize, own))
}

impl Scaffold {
    /// Appends it to what one process sends to another.
    fn put(&self, bytes: &mut Vec<u8>) {
        let ways = self.ways.iter().map(|way| way.index() as u64);
        let gaps = self
            .gaps
            .iter()
            .flat_map(|&(gap, pairs)| [gap as u64, pairs]);
        let numbers = [self.length as u64, self.ways.len() as u64];
        let numbers = numbers.into_iter().chain(ways).chain(gaps);
        bytes.extend(numbers.flat_map(u64::to_le_bytes));
    }

    /// Takes one from the front.
    fn take(from: &mut &[u8]) -> Scaffold {
        let mut number = || take_number(from);
        let (length, ways) = (number() as usize, number());
        Scaffold {
            length,
            ways: (0..ways)
                .map(|_| Way::of_index(number() as usize))
                .collect(),
            gaps: (1..ways).map(|_| (number() as i64, number())).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use gyrase_fabric::testing::{Process, run};
    use gyrase_fabric::{Steal, World};
    use gyrase_kmer::mix;
    use gyrase_work::Progress;

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
        let folder = tempfile::tempdir().expect("there is room");
        let path = folder.path().join("scaffolds.fa");
        let letters = |open: &[OpenJoin]| {
            let scaffolds = scaffolds(&graph, open);
            for ranks in [1, 2, 3] {
                let written = run(ranks, Steal::Off, |world: &Process| {
                    let progress = Progress::default();
                    let among = Among::of_test_in(folder.path(), world, &progress);
                    let graph = SharedGraph::share_of(graph.clone(), world)?;
                    let scaffolds = if world.rank() == 0 {
                        &scaffolds[..]
                    } else {
                        &[]
                    };
                    fasta(&graph, scaffolds, HeaderStyle::Own, 31, &path, &among)
                });
                let written: Result<Vec<()>, Error> = written.into_iter().collect();
                written.expect("no process fails");
            }
            let text = std::fs::read_to_string(&path).expect("it was written");
            text.replace('\n', "")
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
