//! k-mers of the larger k that walks of reads have.
//!
//! What a read tells of a node belongs to the process that has the node, and of a k-mer to the one
//! that the k-mer falls to.

use gyrase_fabric::{Drain, Fabric, FabricError, Sender};
use gyrase_kmer::Kmer;
use gyrase_work::give_back_pieces;

use super::counts::{Counts, merge};
use super::crossings::{Across, Crossings};
use crate::among::Among;
use crate::config::AssemblyError;
use crate::graph::{Extended, Heads, SharedGraph, Way, kmer_of};
use crate::reads::ReadBlocks;
use crate::together::{Counted, WORDS, owner};
use crate::walk::Step;
use crate::walks::Walks;

/// k-mers that a worker collects, at least, before it makes equal ones one.
const ROOM: usize = 1 << 18;

/// What all reads say of the k-mers of the larger k, as far as it falls to this process.
pub struct Found<'g, const W: usize> {
    graph: &'g SharedGraph,
    /// Bases of the k-mers.
    pub k: usize,
    /// For each node how many k-mers of reads are within it.
    inner: Vec<u64>,
    /// Those that are in two nodes.
    pub crossings: Crossings<'g>,
    /// Those that are in more, and what was filled, ascending, with their counts.
    counted: Vec<Counted<W>>,
}

impl<'g, const W: usize> Found<'g, W> {
    /// What reads of all processes say.
    ///
    /// Collective.
    pub fn of(
        walks: &Walks<'g>,
        reads: &dyn ReadBlocks,
        k: usize,
        among: &Among,
    ) -> Result<Found<'g, W>, AssemblyError> {
        let graph = walks.graph();
        let label = "longer k-mers";
        let (counts, crossings) = (Counts::new(k), Crossings::none(graph, k));
        let none = || Here::none(graph, &counts, &crossings);
        let heard = if among.world.ranks() == 1 {
            let states = (0..among.threads).map(|_| none()).collect();
            walks.for_each(reads, label, states, |here: &mut Here<W>, _, read, walk| {
                let mut stretches = walk.stretches();
                Ok(stretches.try_for_each(|one| note(graph, k, read, one.steps, here))?)
            })?
        } else {
            let fabric = among.fabric_to_processes()?;
            let ranks = among.world.ranks();
            let away = |_| Away {
                graph,
                ranks,
                smaller: crossings.smaller(),
                sender: fabric.sender(),
            };
            let states = (0..among.threads).map(away).collect();
            let away = walks.for_each(reads, label, states, |away, _, read, walk| {
                let mut stretches = walk.stretches();
                Ok(stretches.try_for_each(|one| note::<W>(graph, k, read, one.steps, away))?)
            })?;
            let senders = away.into_iter().map(|away| away.sender).collect();
            let told = fabric.close(senders)?;
            let mut here = none();
            told.drain::<FabricError>(among.world.rank(), &mut |bytes, used| {
                here.hear(&bytes[..used])
            })?;
            vec![here]
        };
        let mut inner = vec![0; graph.own().len()];
        for mut here in heard {
            here.counts.add(&mut here.kmers);
            let sums = inner.iter_mut().zip(&here.inner);
            sums.for_each(|(sum, more)| *sum += more);
        }
        let counted = counts.into_counted();
        give_back_pieces();
        Ok(Found {
            graph,
            k,
            inner,
            crossings,
            counted,
        })
    }

    /// The graph of the smaller k.
    pub fn graph(&self) -> &'g SharedGraph {
        self.graph
    }

    /// Adds k-mers that fall to this process, ascending and each once.
    pub fn merge(&mut self, others: &[Counted<W>]) {
        self.counted.reserve_exact(others.len());
        merge(&mut self.counted, others);
    }

    /// How many k-mers of reads are within a node of this process.
    pub fn inner(&self, own: Way) -> u64 {
        self.inner[own.node()]
    }

    /// The count of a k-mer that falls to this process, and is in more than two nodes, or was
    /// filled.
    pub fn count(&self, kmer: Kmer<W>) -> Option<u32> {
        let place = self
            .counted
            .binary_search_by_key(&kmer, |counted| counted.0);
        place.ok().map(|place| self.counted[place].1)
    }

    /// Nodes that are long enough, and the k-mers between nodes.
    pub fn sequences<'s>(&'s self, heads: &'s Heads) -> Extended<'s, W> {
        let nodes = (self.graph.own(), self.k);
        let own = Extended::of(nodes, |way| self.inner(way), &self.counted);
        own.with(self.crossings.seen(), heads)
    }
}

/// Who takes what reads say.
trait Notes<const W: usize> {
    /// So many k-mers of a read are within a node.
    fn inner(&mut self, way: Way, kmers: usize) -> Result<(), FabricError>;

    /// Some are in two nodes.
    fn across(&mut self, across: Across) -> Result<(), FabricError>;

    /// One is in more.
    fn kmer(&mut self, kmer: Kmer<W>) -> Result<(), FabricError>;
}

/// Notes the k-mers of a stretch of a read.
fn note<const W: usize>(
    graph: &SharedGraph,
    k: usize,
    read: &[u8],
    steps: &[Step],
    notes: &mut impl Notes<W>,
) -> Result<(), FabricError> {
    // A k-mer has so many smaller ones behind its first.
    let behind = k - graph.k();
    let Some(last) = steps.last() else {
        return Ok(());
    };
    let end = (last.at + last.kmers).saturating_sub(behind);
    for (number, step) in steps.iter().enumerate() {
        let step_end = step.at + step.kmers;
        let first_crossing = step_end.saturating_sub(behind).max(step.at);
        let inner = first_crossing.min(end).max(step.at) - step.at;
        if inner > 0 {
            notes.inner(step.way, inner)?;
        }
        let mut crossing = first_crossing..step_end.min(end);
        if crossing.is_empty() {
            continue;
        }
        let next = steps[number + 1];
        // Those that begin behind here reach beyond the next node.
        let reach = (step_end + next.kmers).saturating_sub(behind);
        let in_two = crossing.start..crossing.end.min(reach);
        if !in_two.is_empty() {
            notes.across(Across {
                edge: (step.way, next.way),
                first: (step_end - in_two.start) as u32,
                last: (step_end + 1 - in_two.end) as u32,
            })?;
            crossing.start = in_two.end;
        }
        for at in crossing {
            let kmer: Kmer<W> = kmer_of(&read[at..at + k]);
            notes.kmer(kmer.canonical(k))?;
        }
    }
    Ok(())
}

/// What falls to this process, as it comes.
struct Here<'f, 'g, const W: usize> {
    graph: &'g SharedGraph,
    inner: Vec<u64>,
    kmers: Vec<Kmer<W>>,
    counts: &'f Counts<W>,
    crossings: &'f Crossings<'g>,
}

impl<'f, 'g, const W: usize> Here<'f, 'g, W> {
    fn none(
        graph: &'g SharedGraph,
        counts: &'f Counts<W>,
        crossings: &'f Crossings<'g>,
    ) -> Here<'f, 'g, W> {
        Here {
            graph,
            inner: vec![0; graph.own().len()],
            kmers: Vec::new(),
            counts,
            crossings,
        }
    }

    /// Takes what others sent.
    fn hear(&mut self, mut from: &[u8]) -> Result<(), FabricError> {
        while let Some((&kind, rest)) = from.split_first() {
            from = rest;
            let mut number = || {
                let (number, rest) = from.split_first_chunk().expect("a record is whole");
                from = rest;
                u32::from_le_bytes(*number)
            };
            let mut way = || Way::of_index(number() as usize);
            match kind {
                INNER => {
                    let way = way();
                    self.inner(way, number() as usize)?;
                }
                ACROSS => {
                    let edge = (way(), way());
                    let (first, last) = (number(), number());
                    self.across(Across { edge, first, last })?;
                }
                _ => {
                    let word = |_| u64::from(number()) | u64::from(number()) << 32;
                    let words = [0; W].map(word);
                    self.kmer(Kmer(words))?;
                }
            }
        }
        Ok(())
    }
}

impl<const W: usize> Notes<W> for Here<'_, '_, W> {
    fn inner(&mut self, way: Way, kmers: usize) -> Result<(), FabricError> {
        self.inner[self.graph.own_way(way).node()] += kmers as u64;
        Ok(())
    }

    fn across(&mut self, across: Across) -> Result<(), FabricError> {
        self.crossings.add(across.lesser(self.crossings.smaller()));
        Ok(())
    }

    fn kmer(&mut self, kmer: Kmer<W>) -> Result<(), FabricError> {
        self.kmers.push(kmer);
        if self.kmers.len() >= ROOM.max(self.counts.len() / 4) {
            self.counts.add(&mut self.kmers);
        }
        Ok(())
    }
}

/// What is told to the processes that it falls to.
struct Away<'g, S> {
    graph: &'g SharedGraph,
    ranks: usize,
    /// Smaller k-mers of a k-mer.
    smaller: usize,
    sender: S,
}

/// What a record begins with.
const INNER: u8 = 0;
const ACROSS: u8 = 1;
const KMER: u8 = 2;
/// Bytes of the longest record.
const RECORD: usize = 1 + 8 * WORDS;

impl<S: Sender> Away<'_, S> {
    fn send(&mut self, rank: usize, kind: u8, numbers: &[u32]) -> Result<(), FabricError> {
        let mut record = [0; RECORD];
        record[0] = kind;
        let (places, _) = record[1..].as_chunks_mut();
        for (place, number) in places.iter_mut().zip(numbers) {
            *place = number.to_le_bytes();
        }
        self.sender.send(rank, &record, 1 + 4 * numbers.len())
    }
}

impl<S: Sender, const W: usize> Notes<W> for Away<'_, S> {
    fn inner(&mut self, way: Way, kmers: usize) -> Result<(), FabricError> {
        let numbers = [way.index() as u32, kmers as u32];
        self.send(self.graph.owner(way.node()), INNER, &numbers)
    }

    fn across(&mut self, across: Across) -> Result<(), FabricError> {
        let Across { edge, first, last } = across.lesser(self.smaller);
        let [from, to] = [edge.0, edge.1].map(|way| way.index() as u32);
        let rank = self.graph.owner(edge.0.node());
        self.send(rank, ACROSS, &[from, to, first, last])
    }

    fn kmer(&mut self, kmer: Kmer<W>) -> Result<(), FabricError> {
        let halves = kmer.0.map(|word| [word as u32, (word >> 32) as u32]);
        self.send(owner(kmer, self.ranks), KMER, halves.as_flattened())
    }
}
