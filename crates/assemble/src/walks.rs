//! The walks of all reads through a graph, which one process has or several have together.

mod shared;

use std::borrow::Cow;

use crate::Error;
use crate::among::Among;
use crate::config::AssemblyError;
use crate::graph::{Graph, SharedGraph};
use crate::index::Index;
use crate::over_bins::over_bins;
use crate::reads::ReadBlocks;
use crate::walk::{Walk, Walker};
use shared::SharedNodes;

/// Bases of reads that take as long to be asked about as a k-mer in an index.
const ASKED: u64 = 3;

/// A graph in which sequences are looked up. Each process looks for its own in all of the graph
/// where that is less work than to ask the processes that have its nodes.
pub struct Searched<'g> {
    graph: &'g SharedGraph,
    whole: Option<Cow<'g, Graph>>,
    among: &'g Among<'g>,
}

impl<'g> Searched<'g> {
    /// Gets all of the graph where it has fewer k-mers than the reads of a process have bases.
    ///
    /// Collective.
    ///
    /// # Errors
    /// Another process failed.
    pub fn of(graph: &'g SharedGraph, among: &'g Among) -> Result<Searched<'g>, Error> {
        let kmers = graph.kmers(among)?;
        let whole = match among.world.ranks() {
            1 => Some(Cow::Borrowed(graph.own())),
            _ if among.has_whole(kmers, kmers * ASKED <= among.bases) => {
                Some(Cow::Owned(graph.copied(among.world)?))
            }
            _ => None,
        };
        Ok(Searched {
            graph,
            whole,
            among,
        })
    }
}

/// Looks sequences up in a graph.
pub struct Walks<'g> {
    graph: &'g SharedGraph,
    place: Place<'g>,
    among: &'g Among<'g>,
}

/// Where k-mers are looked for.
enum Place<'g> {
    /// In a graph that is all here.
    Here(&'g Graph, Index<'g>),
    /// In the nodes that each process has.
    Shared(Box<SharedNodes<'g>>),
}

impl<'g> Walks<'g> {
    /// Finds stretches of at least so many neighbouring k-mers.
    ///
    /// Collective.
    ///
    /// # Errors
    /// The graph is too large; another process failed, or there is no room for what travels.
    pub fn of(searched: &'g Searched, neighbours: usize) -> Result<Walks<'g>, Error> {
        let Searched { graph, among, .. } = *searched;
        among.progress.start("index", 0);
        let k = graph.k();
        let place = match searched.whole.as_deref() {
            None => Place::Shared(Box::new(SharedNodes::of(graph, neighbours, among)?)),
            Some(whole) => {
                let index = Index::of_minimizers(whole, k, neighbours, among.threads)?;
                Place::Here(whole, index)
            }
        };
        Ok(Walks {
            graph,
            place,
            among,
        })
    }

    /// The graph.
    pub fn graph(&self) -> &'g SharedGraph {
        self.graph
    }

    /// Looks up the sequences of all processes: calls `each` with those of this one and their
    /// walks, in no particular order, by a thread for each of `states`, and with the number of the
    /// block; returns the states. What is done has a name, under which its progress is told.
    ///
    /// Collective.
    ///
    /// # Errors
    /// Those of `each`, which may be called after one; another process failed, or somebody
    /// cancelled.
    pub fn for_each<S: Send>(
        &self,
        sequences: &dyn ReadBlocks,
        label: &'static str,
        states: Vec<S>,
        each: impl Fn(&mut S, usize, &[u8], &Walk) -> Result<(), AssemblyError> + Sync,
    ) -> Result<Vec<S>, AssemblyError> {
        let progress = self.among.progress;
        progress.start(label, sequences.count() as u64);
        let (graph, index) = match &self.place {
            Place::Shared(nodes) => return nodes.for_each(sequences, states, each),
            Place::Here(graph, index) => (graph, index),
        };
        let walker = Walker::new(graph, index);
        let blocks: Vec<usize> = (0..sequences.count()).collect();
        over_bins(states, &blocks, progress, |state, block| {
            let (mut walk, mut steps) = (Walk::default(), Vec::new());
            let mut done = Ok(());
            index.for_each_read(&*sequences.get(block)?, |read, minimizers| {
                walk.clear();
                walker.walk_of(read, minimizers, &mut steps, |steps| {
                    walk.push(graph, steps)
                });
                if done.is_ok() {
                    done = each(state, block, read, &walk);
                }
            });
            done
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use gyrase_fabric::testing::run;
    use gyrase_fabric::{Alone, Steal, World};
    use gyrase_work::Progress;
    use proptest::prelude::*;

    use super::*;
    use crate::graph::{Pieces, compact_among};
    use crate::reads::{Reads, TestShare};

    type OfRead = (Vec<u8>, Walk);

    /// The walks of the reads of a process through the graph of the k-mers of all pieces.
    fn found(
        pieces: &Pieces,
        k: usize,
        reads: &dyn ReadBlocks,
        neighbours: usize,
        world: &dyn World,
        bases: u64,
    ) -> Result<Vec<OfRead>, AssemblyError> {
        let progress = Progress::default();
        let among = Among {
            bases,
            ..Among::of_test(world, &progress)
        };
        let mut own = Pieces::default();
        for piece in (world.rank()..pieces.len()).step_by(world.ranks()) {
            own.push_bases(pieces.bases(piece), 1);
        }
        let graph = compact_among::<1>(k, &own, &among)?;
        let searched = Searched::of(&graph, &among)?;
        let walks = Walks::of(&searched, neighbours)?;
        let all = Mutex::new(Vec::new());
        walks.for_each(reads, "reads", vec![(); 2], |(), _, read, walk| {
            let mut all = all.lock().expect("no thread panics while it adds");
            all.push((read.to_vec(), walk.clone()));
            Ok(())
        })?;
        Ok(all.into_inner().expect("no thread panicked"))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn processes_find_the_walks_of_one(
            genome in proptest::collection::vec(0..4u8, 20..150),
            reads in proptest::collection::vec((0..150usize, 5..60usize, 0..200usize), 1..30),
            without in proptest::collection::vec(0..150usize, 0..4),
            (ranks, neighbours, bases) in (2..5usize, 1..5usize, 0..2u64),
        ) {
            let k = 7;
            let mut kmers: Vec<Vec<u8>> = genome.windows(k).map(|window| {
                let other: Vec<u8> = window.iter().rev().map(|code| 3 - code).collect();
                other.min(window.to_vec())
            }).collect();
            kmers.sort_unstable();
            kmers.dedup();
            let mut pieces = Pieces::default();
            for (number, kmer) in kmers.iter().enumerate() {
                if !without.contains(&number) {
                    pieces.push(kmer, 1);
                }
            }
            let all: Vec<Vec<Vec<u8>>> = reads.iter().map(|&(start, length, wrong)| {
                let start = start % genome.len();
                let mut read = genome[start..(start + length).min(genome.len())].to_vec();
                if wrong % 2 == 0 {
                    read = read.iter().rev().map(|code| 3 - code).collect();
                }
                // So few k-mers behind a wrong base that one group of neighbours is there.
                let few = read.len().saturating_sub(k + neighbours);
                let place = if wrong % 5 == 0 { few } else { wrong };
                if let Some(code) = read.get_mut(place) {
                    *code = if wrong % 3 == 0 { 4 } else { 3 - *code };
                }
                vec![read]
            }).collect();
            let reads = Reads::of_blocks(&all);
            let mut expected = found(&pieces, k, &reads, neighbours, &Alone, 0).unwrap();
            // Among the bins, or each process by itself.
            let bases = bases * 1000;
            let made = run(ranks, Steal::default(), |process| {
                let own = (process.rank()..reads.count()).step_by(ranks).collect();
                let blocks = &reads;
                found(&pieces, k, &TestShare { blocks, own }, neighbours, process, bases)
            });
            let mut made: Vec<OfRead> = made.into_iter().flat_map(Result::unwrap).collect();
            let by_read = |found: &OfRead| found.0.clone();
            expected.sort_by_key(by_read);
            made.sort_by_key(by_read);
            prop_assert_eq!(made, expected);
        }
    }
}
