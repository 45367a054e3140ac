//! Walks through a graph that several processes have: super-k-mers of nodes and of reads go to the
//! bins of their minimizers, and what a bin finds goes back to the process that has the read.
//!
//! ```text
//!  nodes ──▶ bins: the super-k-mers of nodes, with an index in the cache
//!  reads ──▶ bins: each k-mer of a read that is there ──▶ runs ──▶ reads: walks
//! ```

use std::mem::size_of;

use gyrase_fabric::{Drain, Fabric, LocalPartitions, Owners, Sender};
use gyrase_kmer::mix;
use gyrase_table::Bloom;
use gyrase_work::{in_parallel, run_of};

use super::super_kmers::super_kmers;
use crate::Error;
use crate::among::Among;
use crate::config::AssemblyError;
use crate::graph::{Graph, Pieces, SharedGraph, Way};
use crate::index::Index;
use crate::over_bins::over_bins;
use crate::reads::{NONE, ReadBlocks, pack, packed_bytes, unpack};
use crate::rolling::Rolling;
use crate::walk::{Step, Walk};

/// Reads that are unpacked at a time.
const AT_ONCE: usize = 16;

/// The runs of all reads of this process.
pub struct Runs {
    partitions: LocalPartitions,
    groups: Groups,
}

/// Groups of blocks of reads: one in so many is in each, and each is a partition of what comes
/// back.
#[derive(Clone, Copy)]
struct Groups {
    rank: usize,
    ranks: usize,
    /// Of one process.
    count: usize,
}

impl Groups {
    fn of(among: &Among) -> Groups {
        let ranks = among.world.ranks();
        Groups {
            rank: among.world.rank(),
            ranks,
            count: (among.place.partitions / ranks).max(1),
        }
    }

    fn partition(self, group: usize) -> usize {
        group * self.ranks + self.rank
    }

    /// The blocks of a group.
    fn blocks(self, group: usize, sequences: &dyn ReadBlocks) -> impl Iterator<Item = usize> {
        (group..sequences.count()).step_by(self.count)
    }
}

/// Neighbouring k-mers of a read that are neighbours in a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Run {
    /// The number of the read in its group.
    read: u32,
    /// Where in the read they begin.
    at: u32,
    kmers: u32,
    way: Way,
    /// Where in the way they begin.
    offset: u32,
    /// Whether the graph ends before them, and behind them.
    is_dead: [bool; 2],
}

/// What travels with a super-k-mer of a node.
#[derive(Clone, Copy)]
struct OfNode {
    /// Its number among those of all.
    node: usize,
    /// k-mers of the node.
    kmers: u32,
    /// Where in the node the super-k-mer begins.
    from: u32,
    /// Whether nothing is before the node, and behind it.
    is_dead: [bool; 2],
}

/// Finds the walks of sequences of all processes.
///
/// Collective.
pub fn find(
    nodes: &LocalPartitions,
    k: usize,
    sequences: &dyn ReadBlocks,
    label: &'static str,
    among: &Among,
) -> Result<Runs, Error> {
    let groups = Groups::of(among);
    // Groups are gone through twice.
    let steps = 2 * groups.count + among.bins.len();
    among.progress.start(label, steps as u64);
    let reads = send_reads(k, sequences, groups, among)?;
    let fabric = among.fabric(groups.count * groups.ranks, Owners::default())?;
    let states = (0..among.threads).map(|_| fabric.sender()).collect();
    let senders = over_bins(states, &among.bins, among.progress, |sender, bin| {
        let wanted = Wanted::of(k, &reads, nodes, bin)?;
        let of_bin = Bin::read(k, nodes, bin, &wanted)?;
        of_bin.look_up(&reads, bin, |partition, run| {
            let record = run.record();
            Ok(sender.send(partition, record.as_flattened(), size_of::<Record>())?)
        })
    })?;
    let partitions = fabric.close(senders)?;
    Ok(Runs { partitions, groups })
}

/// The super-k-mers of all nodes, each in its bin.
///
/// Collective.
pub fn send_nodes(graph: &SharedGraph, among: &Among) -> Result<LocalPartitions, Error> {
    let (own, k) = (graph.own(), graph.k());
    let fabric = among.fabric_of_bins()?;
    let senders = (0..among.threads).map(|thread| (thread, fabric.sender()));
    let senders = in_parallel(senders.collect(), |(thread, mut sender)| {
        let (mut codes, mut record) = (Vec::new(), Vec::new());
        for way in run_of(own.len(), thread, among.threads).map(Way::forward) {
            codes.clear();
            own.bases(way).append_codes(&mut codes);
            let is_dead = [way.flipped(), way].map(|way| own.next(way).is_empty());
            let flags = u32::from(is_dead[0]) | u32::from(is_dead[1]) << 1;
            super_kmers(&codes, k, |from, kmers, hash| {
                let node = graph.number(way).node() as u32;
                let numbers = [node, own.kmers(way) as u32, from as u32, flags];
                let codes = &codes[from..from + kmers + k - 1];
                put(numbers, codes, &mut record);
                sender.send(bin_of(hash, among), &record, record.len())
            })?;
        }
        Ok::<_, Error>(sender)
    })?;
    Ok(fabric.close(senders)?)
}

/// Sends the sequences of this process to the bins.
fn send_reads(
    k: usize,
    sequences: &dyn ReadBlocks,
    groups: Groups,
    among: &Among,
) -> Result<LocalPartitions, Error> {
    let fabric = among.fabric_of_bins()?;
    let states = (0..among.threads)
        .map(|_| (fabric.sender(), Vec::new()))
        .collect();
    let all: Vec<usize> = (0..groups.count).collect();
    let states = over_bins(states, &all, among.progress, |(sender, record), group| {
        let (partition, mut number) = (groups.partition(group) as u32, 0);
        for block in groups.blocks(group, sequences) {
            let mut done = Ok(());
            sequences.get(block)?.for_each_some(AT_ONCE, |reads| {
                for read in reads {
                    let mut send = |at: usize, codes: &[u8], hash| {
                        put([partition, number, at as u32, 0], codes, record);
                        sender.send(bin_of(hash, among), record, record.len())
                    };
                    if done.is_ok() {
                        done = for_each_super_kmer(read, k, &mut send);
                    }
                    number += 1;
                }
            });
            done?;
        }
        Ok::<_, Error>(())
    })?;
    let senders = states.into_iter().map(|state| state.0).collect();
    Ok(fabric.close(senders)?)
}

/// Calls `each` with where in a read every super-k-mer begins, its codes, and its hash.
fn for_each_super_kmer<E>(
    read: &[u8],
    k: usize,
    each: &mut impl FnMut(usize, &[u8], u64) -> Result<(), E>,
) -> Result<(), E> {
    let mut start = 0;
    for run in read.split(|&code| code == NONE) {
        super_kmers(run, k, |from, kmers, hash| {
            each(start + from, &run[from..from + kmers + k - 1], hash)
        })?;
        start += run.len() + 1;
    }
    Ok(())
}

fn bin_of(hash: u64, among: &Among) -> usize {
    // The least of several hashes is small.
    ((u128::from(mix(hash)) * among.place.partitions as u128) >> 64) as usize
}

/// Makes a record of numbers and a sequence.
fn put(numbers: [u32; 4], codes: &[u8], record: &mut Vec<u8>) {
    record.clear();
    let numbers = numbers.into_iter().chain([codes.len() as u32]);
    record.extend(numbers.flat_map(u32::to_le_bytes));
    pack(codes, record);
}

/// Calls `each` with the numbers and sequences of the records of a bin.
fn for_each_record(
    partitions: &LocalPartitions,
    bin: usize,
    mut each: impl FnMut([u32; 4], &[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut codes = Vec::new();
    partitions.drain(bin, &mut |bytes, used| {
        let mut from = &bytes[..used];
        while let Some((numbers, rest)) = from.split_first_chunk::<20>() {
            let number = |at: usize| u32::from_le_bytes(numbers.as_chunks().0[at]);
            let len = number(4) as usize;
            let (packed, rest) = rest.split_at(packed_bytes(len));
            codes.clear();
            unpack(packed, len, &mut codes);
            each(std::array::from_fn(number), &codes)?;
            from = rest;
        }
        Ok(())
    })
}

/// The super-k-mers of nodes that are in a bin.
struct Bin {
    graph: Graph,
    nodes: Vec<OfNode>,
}

/// Which k-mers are looked up, where these are few beside those of nodes.
struct Wanted {
    k: usize,
    rolling: Rolling,
    filter: Option<Bloom>,
}

/// One in so many bytes of a bin is few.
const FEW: u64 = 4;

impl Wanted {
    fn of(
        k: usize,
        reads: &LocalPartitions,
        nodes: &LocalPartitions,
        bin: usize,
    ) -> Result<Wanted, Error> {
        let mut wanted = Wanted {
            k,
            rolling: Rolling::new(k),
            filter: None,
        };
        let (looked_up, all) = (reads.bytes(bin), nodes.bytes(bin));
        if looked_up * FEW < all {
            let mut filter = Bloom::default();
            filter.clear(looked_up as usize);
            for_each_record(reads, bin, |_, codes| {
                wanted.any_hash(codes, |hash| {
                    filter.note(hash);
                    false
                });
                Ok(())
            })?;
            wanted.filter = Some(filter);
        }
        Ok(wanted)
    }

    /// Whether one of the k-mers of a sequence may be looked up.
    fn any(&self, codes: &[u8]) -> bool {
        match &self.filter {
            Some(filter) => self.any_hash(codes, |hash| filter.has(hash)),
            None => true,
        }
    }

    fn any_hash(&self, codes: &[u8], mut is_one: impl FnMut(u64) -> bool) -> bool {
        let mut window = self.rolling.start(&codes[..self.k]);
        let mut next = codes.iter().zip(&codes[self.k..]);
        loop {
            if is_one(window.hash()) {
                return true;
            }
            let Some((&old, &new)) = next.next() else {
                return false;
            };
            window = self.rolling.next(window, old, new);
        }
    }
}

impl Bin {
    fn read(
        k: usize,
        partitions: &LocalPartitions,
        bin: usize,
        wanted: &Wanted,
    ) -> Result<Bin, Error> {
        let (mut pieces, mut nodes) = (Pieces::default(), Vec::new());
        for_each_record(partitions, bin, |[node, kmers, from, flags], codes| {
            if !wanted.any(codes) {
                return Ok(());
            }
            pieces.push(codes, 0);
            nodes.push(OfNode {
                node: node as usize,
                kmers,
                from,
                is_dead: [flags & 1 == 1, flags & 2 == 2],
            });
            Ok(())
        })?;
        let graph = Graph::of_sequences(k, &pieces);
        Ok(Bin { graph, nodes })
    }

    /// Calls `each` with the runs of the reads of a bin, and the partition of each.
    fn look_up(
        &self,
        reads: &LocalPartitions,
        bin: usize,
        mut each: impl FnMut(usize, Run) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.graph.is_empty() {
            return Ok(());
        }
        let k = self.graph.k();
        let index = Index::of_minimizers(&self.graph, k, 1, 1)?;
        for_each_record(reads, bin, |[partition, read, start, _], codes| {
            let mut from = 0;
            while let Some((at, way, offset)) = index.first(codes, from) {
                let bases = self.graph.bases(way).behind(offset).equal(&codes[at..]);
                let kmers = bases + 1 - k;
                let step = Step {
                    way,
                    offset,
                    at: start as usize + at,
                    kmers,
                };
                each(partition as usize, self.run(read, &step))?;
                from = at + kmers;
            }
            Ok(())
        })
    }

    /// The run of a read whose step is in the super-k-mer of a node.
    fn run(&self, read: u32, step: &Step) -> Run {
        let (of, kmers) = (self.nodes[step.way.node()], step.kmers as u32);
        let offset = match step.way.is_backward() {
            false => of.from + step.offset as u32,
            true => {
                let own = self.graph.kmers(step.way) as u32;
                of.kmers - of.from - own + step.offset as u32
            }
        };
        let [mut before, mut behind] = of.is_dead;
        if step.way.is_backward() {
            (before, behind) = (behind, before);
        }
        Run {
            read,
            at: step.at as u32,
            kmers,
            way: step.way.of_node(of.node),
            offset,
            is_dead: [before && offset == 0, behind && offset + kmers == of.kmers],
        }
    }
}

type Record = [[u8; 4]; 5];

impl Run {
    fn step(self) -> Step {
        Step {
            way: self.way,
            offset: self.offset as usize,
            at: self.at as usize,
            kmers: self.kmers as usize,
        }
    }

    fn record(self) -> Record {
        let [before, behind] = self.is_dead.map(u32::from);
        let kmers = self.kmers << 2 | behind << 1 | before;
        let way = self.way.index() as u32;
        [self.read, self.at, kmers, way, self.offset].map(u32::to_le_bytes)
    }

    fn of_record(record: Record) -> Run {
        let [read, at, kmers, way, offset] = record.map(u32::from_le_bytes);
        Run {
            read,
            at,
            kmers: kmers >> 2,
            way: Way::of_index(way as usize),
            offset,
            is_dead: [kmers & 1 == 1, kmers & 2 == 2],
        }
    }
}

impl Runs {
    /// How many groups of sequences this process has.
    pub fn groups(&self) -> usize {
        self.groups.count
    }

    /// Calls `each` with the number of the block of every sequence of a group, the sequence, and
    /// its walk: stretches of at least so many k-mers of `k` bases.
    pub fn for_each(
        &self,
        group: usize,
        sequences: &dyn ReadBlocks,
        (least, k): (usize, usize),
        mut each: impl FnMut(usize, &[u8], &Walk) -> Result<(), AssemblyError>,
    ) -> Result<(), AssemblyError> {
        let partition = self.groups.partition(group);
        let mut runs: Vec<Run> = Vec::new();
        self.partitions
            .drain::<AssemblyError>(partition, &mut |bytes, used| {
                let numbers: &[[u8; 4]] = bytes[..used].as_chunks().0;
                runs.extend(numbers.as_chunks().0.iter().copied().map(Run::of_record));
                Ok(())
            })?;
        runs.sort_unstable();
        let (mut left, mut number, mut walk) = (&runs[..], 0, Walk::default());
        for block in self.groups.blocks(group, sequences) {
            let mut done = Ok(());
            sequences.get(block)?.for_each_some(AT_ONCE, |reads| {
                for read in reads {
                    let own = left.partition_point(|run| run.read == number);
                    put_together(&left[..own], least, k, &mut walk);
                    (left, number) = (&left[own..], number + 1);
                    if done.is_ok() {
                        done = each(block, read, &walk);
                    }
                }
            });
            done?;
        }
        Ok(())
    }
}

/// Makes a walk that of the runs of a read: stretches of at least so many k-mers of `k` bases.
fn put_together(runs: &[Run], least: usize, k: usize, walk: &mut Walk) {
    walk.clear();
    let mut open = 0;
    let goes_on = |one: &Run, other: &Run| one.at + one.kmers == other.at;
    for runs in runs.chunk_by(goes_on) {
        runs.iter().for_each(|run| walk.go_on(run.step()));
        let (first, last) = (&runs[0], &runs[runs.len() - 1]);
        let end = (last.at + last.kmers) as usize;
        if walk.end([first.is_dead[0], last.is_dead[1]], end - 1, least, open) {
            open = end + k;
        }
    }
}
