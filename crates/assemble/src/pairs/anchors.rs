//! Anchors of mates, which the processes of a job look up together.
//!
//! Each anchor of a node is at the process that its bases fall to. Processes ask for the first
//! minimizers of their reads, and of reads of which that is no anchor for more of them.

use gyrase_fabric::{all_to_all, tell};
use gyrase_kmer::{Kmer, mix};
use gyrase_work::{in_threads, prefetch, run_of};

use crate::Error;
use crate::among::Among;
use crate::config::AssemblyError;
use crate::graph::{SharedGraph, Way, kmer_of};
use crate::minimizers::{Minimizers, Scheme};
use crate::over_bins::over_bins;
use crate::places::{self, Places};
use crate::reads::{NONE, ReadBlocks};

/// Bases of an anchor, where the k-mers of the graph have as many.
pub const ANCHOR: usize = 31;
/// Neighbouring k-mers of which one is an anchor: an index of all takes more than the graph does.
pub const NEIGHBOURS: usize = 2;
/// Anchors that a process tells of at a time.
const TOLD: usize = 1 << 18;
/// Blocks of reads that are looked up at a time.
const BLOCKS: usize = 16;
/// Anchors that are looked up at a time.
const AT_ONCE: usize = 32;
/// The answer where there is no anchor.
const NOWHERE: [u8; PLACE] = [u8::MAX; PLACE];

/// Where a read begins.
#[derive(Clone, Copy)]
pub struct Begin {
    /// The way, among those of all processes.
    pub way: Way,
    /// Bases of the way before the read, negative where it begins before the way.
    pub offset: i64,
    /// Bases of the way.
    pub length: i64,
}

/// The anchors of a graph that fall to a process.
pub struct Anchors<'g> {
    scheme: Scheme,
    all: Vec<Anchor>,
    places: Places,
    among: &'g Among<'g>,
}

/// A k-mer in its canonical form, and where in a way of so many bases it begins so.
#[derive(Clone, Copy)]
struct Anchor {
    kmer: u64,
    way: u32,
    offset: u32,
    length: u32,
}

/// Bytes of an anchor as it travels, and of where one is.
const ANCHOR_BYTES: usize = 8 + PLACE;
const PLACE: usize = 12;

/// A read of which the anchor is looked for.
struct Mate {
    codes: Vec<u8>,
    /// Minimizers that were not asked for, and how many are next.
    left: Option<Minimizers>,
    most: usize,
    begin: Option<Begin>,
}

impl<'g> Anchors<'g> {
    /// Those of a graph.
    ///
    /// Collective.
    ///
    /// # Errors
    /// The graph is too large, or another process failed.
    pub fn of(graph: &SharedGraph, among: &'g Among) -> Result<Anchors<'g>, Error> {
        let (world, ranks) = (among.world, among.world.ranks());
        let scheme = Scheme::new(ANCHOR.min(graph.k()), NEIGHBOURS);
        let nodes = graph.own().nodes();
        let mut own = nodes.flat_map(|way| anchors(graph, scheme, way));
        // Of random k-mers two of three are kept, and about as many fall to each process.
        let expected = graph.kmers(among)? as usize * 2 / (NEIGHBOURS + 1) / ranks;
        let mut all = Vec::with_capacity(expected + expected / 16);
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
            for place in share {
                if let Some(later) = all.get(place + AT_ONCE) {
                    places.prefetch(mix(later.kmer));
                }
                places.add(mix(all[place].kmer), place as u32, are_same);
            }
        });
        Ok(Anchors {
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
        let mut batches = blocks.chunks(BLOCKS.max(self.among.threads));
        let mut open: Vec<[Mate; 2]> = Vec::new();
        loop {
            let batch = batches.next().unwrap_or_default();
            open.extend(self.pairs(reads, batch)?);
            self.ask(&mut open)?;
            open.retain(|mates| {
                if let [Some(one), Some(other)] = mates.each_ref().map(|mate| mate.begin) {
                    each(one, other);
                }
                // Others have an anchor, or may have one.
                let is_open = mates.iter().any(|mate| mate.begin.is_none());
                is_open
                    && mates
                        .iter()
                        .all(|mate| mate.begin.is_some() || mate.left.is_some())
            });
            if self.among.sum(open.len() + batches.len())? == 0 {
                return Ok(());
            }
        }
    }

    /// The pairs of some blocks.
    fn pairs(
        &self,
        reads: &dyn ReadBlocks,
        blocks: &[usize],
    ) -> Result<impl Iterator<Item = [Mate; 2]> + use<>, AssemblyError> {
        let states = (0..self.among.threads).map(|_| Vec::new()).collect();
        let pairs = over_bins(states, blocks, self.among.progress, |pairs, block| {
            let block = reads.get(block)?;
            if block.paired {
                block.for_each_some(2, |mates| {
                    let mates = mates.as_chunks().0.iter();
                    pairs.extend(mates.map(|mates: &[Vec<u8>; 2]| {
                        mates.each_ref().map(|codes| Mate::of(codes, &self.scheme))
                    }));
                });
            }
            Ok::<_, AssemblyError>(())
        })?;
        Ok(pairs.into_iter().flatten())
    }

    /// Asks for the next minimizers of mates that have no anchor yet.
    ///
    /// Collective.
    fn ask(&self, pairs: &mut [[Mate; 2]]) -> Result<(), Error> {
        let ranks = self.among.world.ranks();
        let (mut asked, mut questions) = (Vec::new(), vec![Vec::new(); ranks]);
        for (number, mate) in pairs.as_flattened_mut().iter_mut().enumerate() {
            mate.next(&self.scheme, |window, at| {
                let (kmer, is_forward) = canonical(window);
                let rank = owner(kmer, ranks);
                asked.push((number, at, is_forward, rank));
                questions[rank].extend(kmer.to_le_bytes());
            });
        }
        let told = all_to_all(self.among.world, questions)?;
        let shares = told.chunks(ranks.div_ceil(self.among.threads)).collect();
        let answers = in_threads(shares, |some: &[Vec<u8>]| {
            let answers = some.iter().map(|kmers| self.answers(kmers.as_chunks().0));
            answers.collect::<Vec<_>>()
        });
        let answers = all_to_all(self.among.world, answers.concat())?;
        let mut answers: Vec<_> = answers
            .iter()
            .map(|bytes| bytes.as_chunks().0.iter())
            .collect();
        for (number, at, is_forward, rank) in asked {
            let answer = answers[rank].next().expect("an answer for each question");
            let begin = &mut pairs.as_flattened_mut()[number].begin;
            if begin.is_none() && *answer != NOWHERE {
                *begin = Some(self.begin(*answer, at, is_forward));
            }
        }
        Ok(())
    }

    /// The one place of each anchor, if it is in one alone. Those of some are asked for at a time,
    /// so that memory is waited for together.
    fn answers(&self, kmers: &[[u8; 8]]) -> Vec<u8> {
        let mut answers = Vec::with_capacity(kmers.len() * PLACE);
        for some in kmers.chunks(AT_ONCE) {
            let kmers = || some.iter().map(|kmer| u64::from_le_bytes(*kmer));
            kmers().for_each(|kmer| self.places.prefetch(mix(kmer)));
            for kmer in kmers() {
                if let Some((place, _)) = self.places.of(mix(kmer)).next() {
                    prefetch(&self.all, place as usize);
                }
            }
            for kmer in kmers() {
                let mut found = self.places.of(mix(kmer));
                let own = found.find(|found| self.all[found.0 as usize].kmer == kmer);
                answers.extend(match own {
                    Some((place, true)) => self.all[place as usize].place(),
                    _ => NOWHERE,
                });
            }
        }
        answers
    }

    /// Where a read begins that has an anchor in this direction at a place.
    fn begin(&self, answer: [u8; PLACE], at: usize, is_forward: bool) -> Begin {
        let number = |number: usize| u32::from_le_bytes(answer.as_chunks().0[number]) as usize;
        let [way, offset, length] = [0, 1, 2].map(number);
        let (way, offset) = match is_forward {
            true => (Way::of_index(way), offset),
            false => (
                Way::of_index(way).flipped(),
                length - self.scheme.k() - offset,
            ),
        };
        Begin {
            way,
            offset: offset as i64 - at as i64,
            length: length as i64,
        }
    }
}

impl Anchor {
    fn place(self) -> [u8; PLACE] {
        let mut bytes = [0; PLACE];
        let numbers = [self.way, self.offset, self.length];
        for (bytes, number) in bytes.as_chunks_mut().0.iter_mut().zip(numbers) {
            *bytes = number.to_le_bytes();
        }
        bytes
    }

    fn to_bytes(self) -> [u8; ANCHOR_BYTES] {
        let mut bytes = [0; ANCHOR_BYTES];
        bytes[..8].copy_from_slice(&self.kmer.to_le_bytes());
        bytes[8..].copy_from_slice(&self.place());
        bytes
    }

    fn of_bytes(bytes: [u8; ANCHOR_BYTES]) -> Anchor {
        let (kmer, place) = bytes.split_first_chunk().expect("a k-mer and its place");
        let number = |number: usize| u32::from_le_bytes(place.as_chunks().0[number]);
        Anchor {
            kmer: u64::from_le_bytes(*kmer),
            way: number(0),
            offset: number(1),
            length: number(2),
        }
    }
}

impl Mate {
    fn of(codes: &[u8], scheme: &Scheme) -> Mate {
        Mate {
            codes: codes.to_vec(),
            left: scheme.minimizers(codes, 0),
            most: 1,
            begin: None,
        }
    }

    /// Calls `each` with the next minimizers and where they begin, as long as none is an anchor:
    /// each time twice as many.
    fn next(&mut self, scheme: &Scheme, mut each: impl FnMut(&[u8], usize)) {
        for _ in 0..if self.begin.is_none() { self.most } else { 0 } {
            let Some(left) = &mut self.left else {
                return;
            };
            let (_, at) = left.least();
            let window = &self.codes[at..at + scheme.k()];
            if !window.contains(&NONE) {
                each(window, at);
            }
            if left.go_on(scheme, &self.codes).is_none() {
                self.left = None;
            }
        }
        self.most *= 2;
    }
}

/// The anchors of a node of this process.
fn anchors(graph: &SharedGraph, scheme: Scheme, way: Way) -> impl Iterator<Item = Anchor> {
    let (k, bases) = (scheme.k(), graph.own().bases(way));
    let number = graph.number(way);
    scheme.kept(bases.codes()).map(move |(_, at)| {
        let window: Kmer<1> = bases.kmer(at, k);
        let kmer = window.canonical(k);
        let (way, offset) = match kmer == window {
            true => (number, at),
            false => (number.flipped(), bases.len() - k - at),
        };
        Anchor {
            kmer: kmer.0[0],
            way: way.index() as u32,
            offset: offset as u32,
            length: bases.len() as u32,
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
