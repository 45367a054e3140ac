//! Anchors of mates, which the processes of a job look up together.
//!
//! Each anchor of a node is at the process that its bases fall to. Processes ask for the first
//! minimizers of their reads, and of reads of which that is no anchor for more of them.

use gyrase_fabric::{look_up, tell};
use gyrase_kmer::{Kmer, mix};
use gyrase_work::{in_threads, run_of};

use super::links::{ANCHOR, Begin, NEIGHBOURS};
use crate::Error;
use crate::among::{Among, pair, unpair};
use crate::config::AssemblyError;
use crate::graph::{Graph, Way, kmer_of};
use crate::minimizers::{Minimizers, Scheme};
use crate::over_bins::over_bins;
use crate::places::{self, Places};
use crate::reads::{NONE, ReadBlocks};

/// Anchors that a process tells of at a time.
const TOLD: usize = 1 << 18;
/// Blocks of reads that are looked up at a time.
const BLOCKS: usize = 16;
/// The answer where there is no anchor.
const NOWHERE: [u8; 8] = [u8::MAX; 8];

/// The anchors of a graph that fall to a process.
pub struct Anchors<'g> {
    graph: &'g Graph,
    scheme: Scheme,
    all: Vec<Anchor>,
    places: Places,
    among: &'g Among<'g>,
}

/// A k-mer in its canonical form, and where in a way it begins so.
#[derive(Clone, Copy)]
struct Anchor {
    kmer: u64,
    way: u32,
    offset: u32,
}

/// A read of which the anchor is looked for.
#[derive(Clone)]
struct Mate {
    codes: Vec<u8>,
    /// Those that were not asked for.
    left: Option<Minimizers>,
    begin: Option<Begin>,
}

impl<'g> Anchors<'g> {
    /// Those of a graph that all processes have.
    ///
    /// Collective.
    ///
    /// # Errors
    /// The graph is too large, or another process failed.
    pub fn of(graph: &'g Graph, among: &'g Among) -> Result<Anchors<'g>, Error> {
        let (world, ranks) = (among.world, among.world.ranks());
        let scheme = Scheme::new(ANCHOR.min(graph.k()), NEIGHBOURS);
        let bases = run_of(graph.total(), world.rank(), ranks);
        let nodes = graph.first_from(bases.start)..graph.first_from(bases.end);
        let mut own = nodes.flat_map(|node| anchors(graph, scheme, Way::forward(node)));
        let mut all = Vec::new();
        loop {
            let word = |anchor: Anchor| (owner(anchor.kmer, ranks), anchor.to_bytes());
            let some: Vec<_> = own.by_ref().take(TOLD).map(word).collect();
            if among.sum(some.len())? == 0 {
                break;
            }
            tell(world, &some, |bytes| all.push(Anchor::of_bytes(bytes)))?;
        }
        if all.len() > places::END {
            return Err(Error::TooLarge);
        }
        let places = Places::with_room_for(all.len());
        let shares = (0..among.threads).map(|thread| run_of(all.len(), thread, among.threads));
        let are_same = |one: u32, other: u32| all[one as usize].kmer == all[other as usize].kmer;
        in_threads(shares.collect(), |share| {
            share.for_each(|place| places.add(mix(all[place].kmer), place as u32, are_same));
        });
        Ok(Anchors {
            graph,
            scheme,
            all,
            places,
            among,
        })
    }

    /// Calls `each` with where both mates of each pair begin that have an anchor.
    ///
    /// Collective.
    ///
    /// # Errors
    /// Reads cannot be read, another process failed, or somebody cancelled.
    pub fn for_each_pair(
        &self,
        reads: &dyn ReadBlocks,
        mut each: impl FnMut(Begin, Begin),
    ) -> Result<(), AssemblyError> {
        let blocks: Vec<usize> = (0..reads.count()).collect();
        let at_once = BLOCKS.max(self.among.threads);
        let most = self.among.most(blocks.len().div_ceil(at_once))?;
        let mut batches = blocks.chunks(at_once);
        for _ in 0..most {
            let states = vec![Vec::new(); self.among.threads];
            let batch = batches.next().unwrap_or_default();
            let mates = over_bins(states, batch, self.among.progress, |mates, block| {
                let block = reads.get(block)?;
                let mate = |reads: &[Vec<u8>]| {
                    mates.extend(reads.iter().map(|codes| Mate::of(codes, &self.scheme)));
                };
                if block.paired {
                    block.for_each_some(1, mate);
                }
                Ok::<_, AssemblyError>(())
            })?;
            let mut mates: Vec<Mate> = mates.into_iter().flatten().collect();
            self.find(&mut mates)?;
            for mates in mates.as_chunks().0 {
                if let [Some(one), Some(other)] = mates.each_ref().map(|mate: &Mate| mate.begin) {
                    each(one, other);
                }
            }
        }
        Ok(())
    }

    /// Finds where reads begin that have an anchor.
    ///
    /// Collective.
    fn find(&self, mates: &mut [Mate]) -> Result<(), Error> {
        let ranks = self.among.world.ranks();
        let mut most = 1;
        loop {
            let (mut asked, mut questions) = (Vec::new(), Vec::new());
            for (number, mate) in mates.iter_mut().enumerate() {
                for _ in 0..if mate.begin.is_none() { most } else { 0 } {
                    let Some(at) = mate.next(&self.scheme) else {
                        break;
                    };
                    let window = &mate.codes[at..at + self.scheme.k()];
                    if !window.contains(&NONE) {
                        let (kmer, is_forward) = canonical(window);
                        asked.push((number, at, is_forward));
                        questions.push((owner(kmer, ranks), kmer.to_le_bytes()));
                    }
                }
            }
            let left = mates
                .iter()
                .filter(|mate| mate.left.is_some() && mate.begin.is_none());
            if self.among.sum(left.count() + asked.len())? == 0 {
                return Ok(());
            }
            let answers = look_up(self.among.world, &questions, |kmer| {
                self.answer(u64::from_le_bytes(kmer))
            })?;
            for ((number, at, is_forward), answer) in asked.into_iter().zip(answers) {
                let begin = &mut mates[number].begin;
                if begin.is_none() && answer != NOWHERE {
                    *begin = Some(self.begin(answer, at, is_forward));
                }
            }
            most *= 2;
        }
    }

    /// The one place of an anchor, if it is in one alone.
    fn answer(&self, kmer: u64) -> [u8; 8] {
        let mut found = self.places.of(mix(kmer));
        let own = found.find(|found| self.all[found.0 as usize].kmer == kmer);
        match own {
            Some((place, true)) => {
                let Anchor { way, offset, .. } = self.all[place as usize];
                pair([way, offset])
            }
            _ => NOWHERE,
        }
    }

    /// Where a read begins that has an anchor in this direction at a place.
    fn begin(&self, answer: [u8; 8], at: usize, is_forward: bool) -> Begin {
        let [way, offset] = unpair(answer).map(|number| number as usize);
        let (way, at) = (Way::of_index(way), at as i64);
        match is_forward {
            true => (way, offset as i64 - at),
            false => {
                let back = self.graph.length(way) - self.scheme.k() - offset;
                (way.flipped(), back as i64 - at)
            }
        }
    }
}

impl Anchor {
    fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.kmer.to_le_bytes());
        bytes[8..].copy_from_slice(&pair([self.way, self.offset]));
        bytes
    }

    fn of_bytes(bytes: [u8; 16]) -> Anchor {
        let &[kmer, place] = bytes.as_chunks().0 else {
            unreachable!("16 bytes are two times 8");
        };
        let [way, offset] = unpair(place);
        Anchor {
            kmer: u64::from_le_bytes(kmer),
            way,
            offset,
        }
    }
}

impl Mate {
    fn of(codes: &[u8], scheme: &Scheme) -> Mate {
        Mate {
            codes: codes.to_vec(),
            left: scheme.minimizers(codes, 0),
            begin: None,
        }
    }

    /// Where the next minimizer begins.
    fn next(&mut self, scheme: &Scheme) -> Option<usize> {
        let left = self.left.as_mut()?;
        let (_, at) = left.least();
        if left.go_on(scheme, &self.codes).is_none() {
            self.left = None;
        }
        Some(at)
    }
}

/// The anchors of a node.
fn anchors(graph: &Graph, scheme: Scheme, way: Way) -> impl Iterator<Item = Anchor> {
    let (k, bases) = (scheme.k(), graph.bases(way));
    scheme.kept(graph.codes(way)).map(move |(_, at)| {
        let window: Kmer<1> = bases.kmer(at, k);
        let kmer = window.canonical(k);
        let (way, offset) = match kmer == window {
            true => (way, at),
            false => (way.flipped(), bases.len() - k - at),
        };
        Anchor {
            kmer: kmer.0[0],
            way: way.index() as u32,
            offset: offset as u32,
        }
    })
}

/// A k-mer in its canonical form, and whether that is its own.
fn canonical(codes: &[u8]) -> (u64, bool) {
    let kmer: Kmer<1> = kmer_of(codes);
    let canonical = kmer.canonical(codes.len());
    (canonical.0[0], canonical == kmer)
}

/// The process that an anchor falls to.
fn owner(kmer: u64, ranks: usize) -> usize {
    ((u128::from(mix(!kmer)) * ranks as u128) >> 64) as usize
}
