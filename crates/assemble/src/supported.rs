//! Joins that no read has.
//!
//! k-mers that overlap by k-1 bases need not be neighbours in a genome. Where genomes are thin the
//! last k-mer of a read meets the first of another, of another genome, as often as that many bases
//! are equal by chance. So a node is cut between two k-mers that no read has together: the second
//! one goes. And where genomes are thinnest, ends are so many that nodes are cut, too, where no
//! read has a few more k-mers on either side: what genomes have in common is mostly short. What
//! belongs together is joined again where mates say so.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use gyrase_fabric::{Drain, Fabric, FabricError, Sender};
use gyrase_kmer::with_words;

use crate::among::Among;
use crate::config::AssemblyError;
use crate::graph::{Graph, Pieces, SharedGraph, Way, compact_among, shape_of};
use crate::mercy::NEIGHBOURS;
use crate::reads::ReadBlocks;
use crate::records::{of_three, three};
use crate::walk::Step;
use crate::walks::{Searched, Walks};

/// k-mers that a read is to have on either side of a join of what is thin, where genomes are many.
pub const AROUND: usize = 8;
/// The coverage below which a node is thin, in hundredths.
const THIN: u64 = 200;

/// The graph without such joins, and how many these were; a read is to have `around` k-mers on
/// either side of a join of what is thin.
///
/// Collective.
///
/// # Errors
/// Somebody cancelled, or another process failed.
pub fn supported(
    graph: &SharedGraph,
    reads: &dyn ReadBlocks,
    around: usize,
    among: &Among,
) -> Result<(SharedGraph, u64), AssemblyError> {
    let joins = seen_joins(graph, reads, around, among)?;
    let (pieces, cut) = pieces(graph.own(), &joins);
    let (k, cut) = (graph.k(), among.sum(cut)?);
    let graph = with_words!(shape_of(k), W => compact_among::<W>(k, &pieces, among))?;
    Ok((graph, cut))
}

/// The joins of the nodes of this process that reads have, alone and with so many k-mers around.
///
/// Collective.
fn seen_joins<'g>(
    graph: &'g SharedGraph,
    reads: &dyn ReadBlocks,
    around: usize,
    among: &Among,
) -> Result<[SeenJoins<'g>; 2], AssemblyError> {
    let searched = Searched::of(graph, among)?;
    let walks = Walks::of(&searched, NEIGHBOURS)?;
    let seen = [0, around].map(|around| SeenJoins::none(graph.own(), around));
    if among.world.ranks() == 1 {
        walks.for_each(reads, "joins", vec![(); among.threads], |(), _, _, walk| {
            for step in walk.steps() {
                seen.iter().for_each(|seen| seen.note(step));
            }
            Ok(())
        })?;
        return Ok(seen);
    }
    let fabric = among.fabric_to_processes()?;
    let senders = (0..among.threads).map(|_| fabric.sender()).collect();
    let senders = walks.for_each(reads, "joins", senders, |sender, _, _, walk| {
        walk.steps().iter().try_for_each(|step| {
            let numbers = [step.way.index(), step.offset, step.kmers];
            let record = three(numbers.map(|number| number as u32));
            let owner = graph.owner(step.way.node());
            Ok(sender.send(owner, &record, STEP)?)
        })
    })?;
    let told = fabric.close(senders)?;
    told.drain::<FabricError>(among.world.rank(), &mut |bytes, used| {
        for &step in bytes[..used].as_chunks().0 {
            let [way, offset, kmers] = of_three(step).map(|number| number as usize);
            let step = Step {
                way: graph.own_way(Way::of_index(way)),
                offset,
                at: 0,
                kmers,
            };
            seen.iter().for_each(|seen| seen.note(&step));
        }
        Ok(())
    })?;
    Ok(seen)
}

/// Bytes of a step, as it travels to the process that has the node.
const STEP: usize = 12;

/// The nodes, cut at joins that are not seen.
fn pieces(graph: &Graph, joins: &[SeenJoins; 2]) -> (Pieces, usize) {
    let (k, mut pieces, mut cut) = (graph.k(), Pieces::default(), 0);
    let mut places = Vec::new();
    for way in graph.nodes() {
        let (kmers, codes) = (graph.kmers(way) as usize, graph.bases(way));
        let mut push = |from: usize, to: usize| {
            if from < to {
                let count = graph.count_of(way, (to - from) as u64);
                pieces.push_bases(codes.slice(from..to + k - 1), count);
            }
        };
        unseen(graph, way, joins, &mut places);
        let mut from = 0;
        for &join in &places {
            push(from, join + 1);
            from = join + 2;
            cut += 1;
        }
        push(from, kmers);
    }
    (pieces, cut)
}

/// The joins at which a node is cut: those that no read has, and, where it is thin, the middles of
/// those that no read has with what is around.
fn unseen(graph: &Graph, way: Way, [seen, around]: &[SeenJoins; 2], places: &mut Vec<usize>) {
    places.clear();
    let kmers = graph.kmers(way);
    let joins = 0..kmers as usize - 1;
    places.extend(joins.clone().filter(|&join| !seen.has(way, join)));
    if 100 * graph.count(way) >= THIN * kmers {
        return;
    }
    let mut from = None;
    for join in joins.start..=joins.end {
        let is_unseen = join < joins.end && !around.has(way, join);
        match (from, is_unseen) {
            (None, true) => from = Some(join),
            (Some(first), false) => {
                let run = first..join;
                if !places.iter().any(|place| run.contains(place)) {
                    places.push((first + join) / 2);
                }
                from = None;
            }
            _ => {}
        }
    }
    places.sort_unstable();
}

/// Which neighbouring k-mers of nodes some read has together, with so many more on either side: a
/// bit for each k-mer but the last.
struct SeenJoins<'g> {
    graph: &'g Graph,
    around: usize,
    bits: Vec<AtomicU64>,
}

impl<'g> SeenJoins<'g> {
    fn none(graph: &'g Graph, around: usize) -> SeenJoins<'g> {
        let words = graph.total().div_ceil(64);
        SeenJoins {
            graph,
            around,
            bits: (0..words).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Notes what a part of a read has together. Nothing more is wanted where a node ends.
    fn note(&self, step: &Step) {
        let kmers = self.graph.kmers(step.way) as usize;
        let first = match step.way.is_backward() {
            false => step.offset,
            true => kmers - step.offset - step.kmers,
        };
        let last = first + step.kmers;
        let from = if first == 0 { 0 } else { first + self.around };
        let to = if last == kmers {
            kmers
        } else {
            last.saturating_sub(self.around)
        };
        let start = self.graph.start(step.way);
        for place in (from..to.saturating_sub(1)).map(|join| start + join) {
            let (word, bit) = (&self.bits[place / 64], 1 << (place % 64));
            if word.load(Relaxed) & bit == 0 {
                word.fetch_or(bit, Relaxed);
            }
        }
    }

    /// Whether some read has a k-mer of a node together with the next one.
    fn has(&self, way: Way, join: usize) -> bool {
        let place = self.graph.start(way) + join;
        self.bits[place / 64].load(Relaxed) >> (place % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use gyrase_fabric::Alone;
    use gyrase_work::Progress;

    use super::*;
    use crate::graph::compact;
    use crate::reads::Reads;

    fn cut(genome: &[u8], count: u64, overlap: usize) -> (Graph, u64) {
        let mut pieces = Pieces::default();
        pieces.push(genome, count);
        let graph = compact(11, &pieces, 1);
        assert_eq!(graph.len(), 1);
        let other = |codes: &[u8]| codes.iter().rev().map(|code| 3 - code).collect::<Vec<u8>>();
        let reads = [genome[..60].to_vec(), other(&genome[60 - overlap..])];
        let progress = Progress::default();
        let among = Among::of_test(&Alone, &progress);
        let graph = SharedGraph::alone(graph);
        let (graph, cut) = supported(&graph, &Reads::of(&reads), AROUND, &among).unwrap();
        (graph.own().clone(), cut)
    }

    #[test]
    fn what_two_reads_have_by_turns_is_cut() {
        let genome: Vec<u8> = (0..120u64)
            .map(|at| (gyrase_kmer::mix(at) >> 62) as u8)
            .collect();
        let (deep, thin) = (220, 219);
        // They overlap by k bases, by k - 1, and by fewer and as many as what is thin needs.
        for (count, overlap, expected) in [
            (deep, 11, 1),
            (deep, 10, 2),
            (thin, 10, 2),
            (thin, 11, 2),
            (thin, 10 + 2 * AROUND, 2),
            (thin, 11 + 2 * AROUND, 1),
        ] {
            let (cut, joins) = cut(&genome, count, overlap);
            assert_eq!((cut.len(), joins), (expected, expected as u64 - 1));
            let kmers: u64 = cut.nodes().map(|way| cut.kmers(way)).sum();
            assert_eq!(kmers, 110 - joins);
        }
    }
}
