//! A graph that the processes of a job have together.

use std::ops::Range;

use gyrase_fabric::{FabricError, World, ask_part};
use gyrase_kmer::Kmer;

use super::nodes::Graph;
use super::outlines::Outlines;
use crate::Error;
use crate::among::Among;
use crate::contig::Contig;
use crate::firsts::Firsts;
use crate::meetings::{Overlap, Shared, meet};
use crate::way::Way;

/// Nodes of a process that are asked about at a time: of some the bases are told.
const AT_ONCE: usize = 1 << 14;

/// A graph of which each process has a run of the nodes, in their order: the longest are in the
/// first. No process has all of it, but where there is one.
#[derive(Clone, Debug, Default)]
pub struct SharedGraph {
    /// The nodes of this process, from 0 on. What follows them is numbered among those of all.
    own: Graph,
    /// Which nodes each process has.
    of_ranks: Firsts,
    rank: usize,
}

impl SharedGraph {
    /// That of one process.
    pub fn alone(graph: Graph) -> SharedGraph {
        SharedGraph {
            of_ranks: Firsts::of([graph.len() as u64]),
            own: graph,
            rank: 0,
        }
    }

    /// The nodes of this process, which are behind those of lower ranks, without their edges; these
    /// are found.
    ///
    /// Collective.
    pub fn of_nodes<const W: usize>(own: Graph, among: &Among) -> Result<SharedGraph, Error> {
        let mut shared = SharedGraph::numbered(own, among.world)?;
        let (own, k) = (&shared.own, shared.own.k());
        let ends = |node: usize| -> [Kmer<W>; 2] {
            let bases = own.bases(Way::forward(node));
            [0, bases.len() - (k - 1)].map(|at| bases.kmer(at, k - 1))
        };
        let nodes = Shared {
            len: own.len(),
            ends: &ends,
            number: &|node| shared.number(Way::forward(node)).node(),
            owner: &|node| shared.owner(node),
        };
        let all = |overlap: &Overlap, pairs: &mut Vec<_>| pairs.extend(overlap.pairs());
        let mut edges = Vec::new();
        meet(k, nodes, among, all, |from, to| {
            edges.push((shared.own_way(from), to));
        })?;
        shared.own.set_edges(edges);
        Ok(shared)
    }

    /// Numbers the nodes of all processes, which are there in their order.
    ///
    /// Collective.
    fn numbered(own: Graph, world: &dyn World) -> Result<SharedGraph, Error> {
        let mut counts = vec![0; world.ranks()];
        counts[world.rank()] = own.len() as u64;
        let of_ranks = Firsts::of(world.sum(&counts)?);
        if 2 * of_ranks.len() > u32::MAX as usize {
            return Err(Error::TooLarge);
        }
        Ok(SharedGraph {
            own,
            of_ranks,
            rank: world.rank(),
        })
    }

    /// Those of this process.
    pub fn own(&self) -> &Graph {
        &self.own
    }

    /// Bases of a k-mer.
    pub fn k(&self) -> usize {
        self.own.k()
    }

    /// Nodes of all processes.
    pub fn len(&self) -> usize {
        self.of_ranks.len()
    }

    /// k-mers of all processes.
    ///
    /// Collective.
    pub fn kmers(&self, among: &Among) -> Result<u64, FabricError> {
        let kmers = self.own.nodes().map(|way| self.own.kmers(way) as usize);
        among.sum(kmers.sum())
    }

    /// The numbers of the nodes of this process.
    pub fn own_numbers(&self) -> Range<usize> {
        self.of_ranks.range(self.rank)
    }

    /// The way among those of all, of one of this process.
    pub fn number(&self, own: Way) -> Way {
        own.of_node(self.of_ranks.first(self.rank) + own.node())
    }

    /// The way of this process, of one among those of all that it must have.
    pub fn own_way(&self, way: Way) -> Way {
        way.of_node(way.node() - self.of_ranks.first(self.rank))
    }

    /// The same of any way, if this process has it.
    pub fn if_own(&self, way: Way) -> Option<Way> {
        let is_own = self.own_numbers().contains(&way.node());
        is_own.then(|| self.own_way(way))
    }

    /// The process that has a node, by its number among those of all.
    pub fn owner(&self, node: usize) -> usize {
        self.of_ranks.group(node)
    }

    /// A question about a way to the process that has its node.
    pub fn question(&self, way: Way) -> (usize, [u8; 4]) {
        (self.owner(way.node()), way.to_bytes())
    }

    /// Asks the processes that have them about nodes, by their numbers among those of all: `answer`
    /// appends what is to be said of a way of this process, and `take` takes it from the front.
    ///
    /// Collective.
    pub fn ask(
        &self,
        ways: &[Way],
        world: &dyn World,
        mut answer: impl FnMut(Way, &mut Vec<u8>),
        mut take: impl FnMut(Way, &mut &[u8]),
    ) -> Result<(), FabricError> {
        let mut batches = ways.chunks(AT_ONCE);
        let mut answer_all = |questions: Vec<u8>| {
            let mut said = Vec::new();
            for &way in questions.as_chunks().0 {
                answer(self.own_way(Way::of_bytes(way)), &mut said);
            }
            said
        };
        loop {
            let batch = batches.next().unwrap_or_default();
            let mut questions = vec![Vec::new(); world.ranks()];
            for &way in batch {
                let (rank, question) = self.question(way);
                questions[rank].extend_from_slice(&question);
            }
            let has_more = batches.len() > 0;
            let (answers, has_more) = ask_part(world, questions, has_more, |told| {
                told.into_iter().map(&mut answer_all).collect()
            })?;
            let mut answers: Vec<&[u8]> = answers.iter().map(Vec::as_slice).collect();
            for &way in batch {
                take(way, &mut answers[self.owner(way.node())]);
            }
            if !has_more {
                return Ok(());
            }
        }
    }

    /// Tells the processes that have them something of nodes: `hear` is called with what is told of
    /// those of this one.
    ///
    /// Collective.
    pub fn tell(
        &self,
        all: &[(Way, u64)],
        among: &Among,
        mut hear: impl FnMut(Way, u64),
    ) -> Result<(), FabricError> {
        let word = |(way, number): (Way, u64)| {
            let mut bytes = [0; 12];
            bytes[..4].copy_from_slice(&way.to_bytes());
            bytes[4..].copy_from_slice(&number.to_le_bytes());
            (self.owner(way.node()), bytes)
        };
        among.tell(all, word, |bytes| {
            let (way, number) = bytes.split_first_chunk().expect("twelve bytes");
            let number = number.try_into().expect("eight are left");
            hear(
                self.own_way(Way::of_bytes(*way)),
                u64::from_le_bytes(number),
            );
        })
    }

    /// All of it, in every process.
    ///
    /// Collective.
    pub fn copied(&self, world: &dyn World) -> Result<Graph, FabricError> {
        match world.ranks() {
            1 => Ok(self.own.clone()),
            _ => {
                let parts = world.all_gather(&self.own.to_bytes())?;
                Ok(Graph::of_parts(self.k(), &parts))
            }
        }
    }

    /// All nodes without their bases, in the first process; in others none.
    ///
    /// Collective.
    pub fn outlines_at_first(&self, world: &dyn World) -> Result<Outlines, FabricError> {
        let mut own = Vec::new();
        self.own.put(&mut own);
        let mut all = Outlines::empty(self.k());
        for part in world.gather(own)? {
            all.add(&mut &part[..]);
        }
        Ok(all)
    }

    /// What headers tell of a node of this process, forward.
    pub fn contig(&self, own: Way) -> Contig {
        self.own.contig_of(own, self.number(own))
    }

    /// The share of this process in a graph that every process has.
    ///
    /// Collective.
    #[cfg(test)]
    pub fn share_of(graph: Graph, world: &dyn World) -> Result<SharedGraph, Error> {
        match world.ranks() {
            1 => Ok(SharedGraph::alone(graph)),
            ranks => SharedGraph::numbered(graph.run(world.rank(), ranks), world),
        }
    }
}
