//! A graph that the processes of a job have together.

#[cfg(test)]
use gyrase_fabric::Place;
use gyrase_fabric::{FabricError, World, ask_part};
use gyrase_kmer::Kmer;
#[cfg(test)]
use gyrase_work::run_of;

use super::nodes::Graph;
use super::outline::Outline;
use super::outlines::Outlines;
use crate::among::Among;
use crate::contig::Contig;
use crate::meetings::{Edge, Overlap, Shared, meet};
use crate::numbering::Numbering;
use crate::records::append_bases;
use crate::way::Way;
use crate::{BaseString, Error};

/// Nodes of a process that are asked about at a time: of some the bases are told.
const AT_ONCE: usize = 1 << 14;

/// A graph of which each process has some runs of the nodes, in their order. No process has all of
/// it, but where there is one.
#[derive(Clone, Debug)]
pub struct SharedGraph {
    /// The nodes of this process, from 0 on. What follows them is numbered among those of all.
    own: Graph,
    /// The nodes of all: a group is a run of them.
    numbering: Numbering,
}

impl Default for SharedGraph {
    fn default() -> SharedGraph {
        SharedGraph::alone(Graph::default())
    }
}

impl SharedGraph {
    /// That of one process.
    pub fn alone(graph: Graph) -> SharedGraph {
        SharedGraph {
            numbering: Numbering::alone(graph.len()),
            own: graph,
        }
    }

    /// The nodes of this process without their edges, and how those of all are numbered; the edges
    /// are found.
    ///
    /// Collective.
    pub fn of_nodes<const W: usize>(
        own: Graph,
        numbering: Numbering,
        among: &Among,
    ) -> Result<SharedGraph, Error> {
        if 2 * numbering.len() > u32::MAX as usize {
            return Err(Error::TooLarge);
        }
        let mut shared = SharedGraph { own, numbering };
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
        let all = |overlap: &Overlap, edges: &mut Vec<_>| {
            edges.extend(overlap.edges().map(Edge::to_bytes));
        };
        let (mut edges, mut in_degrees) = (Vec::new(), vec![0; 2 * own.len()]);
        meet(k, nodes, among, all, |edge| {
            let Edge {
                ways: [from, to],
                in_degree,
            } = Edge::of_bytes(edge);
            let from = shared.own_way(from);
            in_degrees[from.index()] = in_degree;
            edges.push((from, to));
        })?;
        shared.own.set_edges(edges, in_degrees);
        Ok(shared)
    }

    /// The nodes of this process.
    pub fn own(&self) -> &Graph {
        &self.own
    }

    /// Bases of a k-mer.
    pub fn k(&self) -> usize {
        self.own.k()
    }

    /// Nodes of all processes.
    pub fn len(&self) -> usize {
        self.numbering.len()
    }

    /// k-mers of all processes.
    ///
    /// Collective.
    pub fn kmers(&self, among: &Among) -> Result<u64, FabricError> {
        let kmers = self.own.nodes().map(|way| self.own.kmers(way) as usize);
        among.sum(kmers.sum())
    }

    /// How the nodes of all processes are numbered.
    pub fn numbering(&self) -> &Numbering {
        &self.numbering
    }

    /// The numbers of the nodes of this process.
    pub fn own_numbers(&self) -> impl Iterator<Item = usize> {
        self.numbering.own_numbers()
    }

    /// The way among those of all, of one of this process.
    pub fn number(&self, own: Way) -> Way {
        own.of_node(self.numbering.number(own.node()))
    }

    /// The way of this process, of one among those of all that it must have.
    pub fn own_way(&self, way: Way) -> Way {
        way.of_node(self.numbering.own_place(way.node()))
    }

    /// The same of any way, if this process has it.
    pub fn if_own(&self, way: Way) -> Option<Way> {
        let own = self.numbering.if_own(way.node())?;
        Some(way.of_node(own))
    }

    /// The process that has a node, by its number among those of all.
    pub fn owner(&self, node: usize) -> usize {
        self.numbering.owner(node)
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
        if world.ranks() == 1 {
            return Ok(self.own.clone());
        }
        let said = self.said(|own, bytes| self.own.put(own, bytes));
        let (mut outlines, mut bases) = (Outlines::empty(self.k()), BaseString::default());
        self.hear_in_order(&world.all_gather(&said)?, |from| {
            outlines.push(Outline::take(from));
            append_bases(from, &mut bases);
        });
        Ok(Graph::with(outlines, bases))
    }

    /// All nodes without their bases, in the first process; in others none.
    ///
    /// Collective.
    pub fn outlines_at_first(&self, world: &dyn World) -> Result<Outlines, FabricError> {
        let mut all = Outlines::empty(self.k());
        let say = |own, bytes: &mut Vec<u8>| self.own.outline(own).put(bytes);
        self.tell_first(world, say, |from| all.push(Outline::take(from)))?;
        Ok(all)
    }

    /// Tells the first process something of all nodes, in their order: `say` appends what is to be
    /// said of one of this process, and there `hear` takes it from the front.
    ///
    /// Collective.
    pub fn tell_first(
        &self,
        world: &dyn World,
        say: impl FnMut(Way, &mut Vec<u8>),
        hear: impl FnMut(&mut &[u8]),
    ) -> Result<(), FabricError> {
        let said = world.gather(self.said(say))?;
        if !said.is_empty() {
            self.hear_in_order(&said, hear);
        }
        Ok(())
    }

    /// What is said of each node of this process.
    fn said(&self, mut say: impl FnMut(Way, &mut Vec<u8>)) -> Vec<u8> {
        let mut said = Vec::new();
        self.own.nodes().for_each(|own| say(own, &mut said));
        said
    }

    /// Hears what each process said of its nodes, in the order of all.
    fn hear_in_order(&self, said: &[Vec<u8>], mut hear: impl FnMut(&mut &[u8])) {
        let mut said: Vec<&[u8]> = said.iter().map(Vec::as_slice).collect();
        for run in 0..self.numbering.group_count() {
            let from = &mut said[self.numbering.group_owner(run)];
            self.numbering.of(run).for_each(|_| hear(from));
        }
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
        let place = Place::among(3 * world.ranks(), world.peer());
        let mut counts = vec![0; place.partitions];
        for run in place.owned() {
            counts[run] = run_of(graph.len(), run, counts.len()).len() as u64;
        }
        let numbering = Numbering::agree(world, &place, &counts)?;
        Ok(SharedGraph {
            own: graph.some(numbering.own_numbers()),
            numbering,
        })
    }
}
