//! Joins that no read has.
//!
//! k-mers that overlap by k-1 bases need not be neighbours in a genome. Where genomes are thin the
//! last k-mer of a read meets the first of another, of another genome, as often as that many bases
//! are equal by chance. So a node is cut between two k-mers that no read has together: the second
//! one goes.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use gyrase_fabric::{FabricError, World};
use gyrase_work::Progress;

use crate::config::AssemblyError;
use crate::graph::{Graph, Pieces, Way, compact};
use crate::index::Index;
use crate::mercy::NEIGHBOURS;
use crate::reads::Reads;
use crate::walk::{Step, Walker};

/// The graph without such joins, and how many these were.
///
/// Collective.
///
/// # Errors
/// Somebody cancelled, or another process failed.
pub fn supported(
    graph: &Graph,
    reads: &Reads,
    with: (usize, &Progress),
) -> Result<(Graph, u64), AssemblyError> {
    let (_, progress) = with;
    progress.start("joins", reads.blocks());
    let index = Index::of_minimizers(graph, graph.k(), NEIGHBOURS);
    let walker = Walker::new(graph, &index);
    let seen = SeenJoins::none(graph);
    reads.by_threads(with, |blocks| {
        let mut steps = Vec::new();
        for block in blocks {
            block?.for_each(|read| {
                walker.walk(read, &mut steps, |steps| {
                    steps.iter().for_each(|step| seen.note(step));
                });
            });
        }
        Ok(())
    })?;
    let joins = seen.of_all(reads.world())?;
    let (pieces, cut) = pieces(graph, |way, join| joins.has(way, join));
    Ok((compact(graph.k(), &pieces), cut))
}

/// The nodes, cut at joins that are not seen.
fn pieces(graph: &Graph, is_seen: impl Fn(Way, usize) -> bool) -> (Pieces, u64) {
    let (k, mut pieces, mut cut) = (graph.k(), Pieces::default(), 0);
    for way in graph.nodes() {
        let (kmers, codes) = (graph.kmers(way) as usize, graph.codes(way));
        let mut push = |from: usize, to: usize| {
            if from < to {
                let count = graph.count_of(way, (to - from) as u64);
                pieces.push(&codes[from..to + k - 1], count);
            }
        };
        let mut from = 0;
        for join in (0..kmers - 1).filter(|&join| !is_seen(way, join)) {
            push(from, join + 1);
            from = join + 2;
            cut += 1;
        }
        push(from, kmers);
    }
    (pieces, cut)
}

/// Which neighbouring k-mers of nodes some read has together: a bit for each k-mer but the last.
struct SeenJoins<'g> {
    graph: &'g Graph,
    bits: Vec<AtomicU64>,
}

impl<'g> SeenJoins<'g> {
    fn none(graph: &'g Graph) -> SeenJoins<'g> {
        let words = graph.bases().div_ceil(64);
        SeenJoins {
            graph,
            bits: (0..words).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Notes what a part of a read has together.
    fn note(&self, step: &Step) {
        let kmers = self.graph.kmers(step.way) as usize;
        let first = match step.way.is_backward() {
            false => step.offset,
            true => kmers - step.offset - step.kmers,
        };
        let start = self.graph.start(step.way) + first;
        for place in start..start + step.kmers - 1 {
            let (word, bit) = (&self.bits[place / 64], 1 << (place % 64));
            if word.load(Relaxed) & bit == 0 {
                word.fetch_or(bit, Relaxed);
            }
        }
    }

    /// What all processes have seen.
    ///
    /// Collective.
    fn of_all(self, world: &dyn World) -> Result<SeenJoins<'g>, FabricError> {
        if world.ranks() == 1 {
            return Ok(self);
        }
        let own = self
            .bits
            .iter()
            .flat_map(|word| word.load(Relaxed).to_le_bytes());
        for bytes in world.all_gather(&own.collect::<Vec<u8>>())? {
            for (word, seen) in self.bits.iter().zip(bytes.as_chunks().0) {
                word.fetch_or(u64::from_le_bytes(*seen), Relaxed);
            }
        }
        Ok(self)
    }

    /// Whether some read has a k-mer of a node together with the next one.
    fn has(&self, way: Way, join: usize) -> bool {
        let place = self.graph.start(way) + join;
        self.bits[place / 64].load(Relaxed) >> (place % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_reads_have_by_turns_is_cut() {
        let k = 11;
        let genome: Vec<u8> = (0..120u64)
            .map(|at| (gyrase_kmer::mix(at) >> 62) as u8)
            .collect();
        let mut pieces = Pieces::default();
        pieces.push(&genome, 220);
        let graph = compact(k, &pieces);
        assert_eq!(graph.len(), 1);
        let other = |codes: &[u8]| codes.iter().rev().map(|code| 3 - code).collect::<Vec<u8>>();
        // They overlap by k bases, and then by k - 1.
        for (overlap, expected) in [(k, 1), (k - 1, 2)] {
            let reads = [genome[..60].to_vec(), other(&genome[60 - overlap..])];
            let means = (2, &Progress::default());
            let (cut, joins) = supported(&graph, &Reads::of(&reads), means).unwrap();
            assert_eq!((cut.len(), joins), (expected, expected as u64 - 1));
            let kmers: u64 = cut.nodes().map(|way| cut.kmers(way)).sum();
            assert_eq!(kmers, 110 - joins);
        }
    }
}
