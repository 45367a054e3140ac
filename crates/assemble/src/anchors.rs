//! Anchors: k-mers of the nodes of a graph, each at one of the processes that have the graph
//! together. Who has a read that has such a k-mer asks that process in which node it is.

use gyrase_fabric::all_to_all;
use gyrase_kmer::{Kmer, mix};
use gyrase_work::{in_threads, prefetch, run_of};

use crate::Error;
use crate::among::Among;
use crate::graph::{SharedGraph, Way, kmer_of};
use crate::minimizers::Scheme;
use crate::places::{self, Places};

/// Anchors that a process tells of at a time.
const TOLD: usize = 1 << 16;
/// Anchors that are looked up at a time.
const AT_ONCE: usize = 32;
/// Bytes of the answer to a question about an anchor.
pub const ANSWER: usize = 12;
/// That there is none, or that it is in several places.
const NOWHERE: [u8; ANSWER] = [u8::MAX; ANSWER];

/// A k-mer by a key that both strands have in common, and where in a way of so many bases it begins
/// as it is in its canonical direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Anchor<const K: usize> {
    pub key: [u8; K],
    pub way: Way,
    pub offset: u32,
    pub length: u32,
}

/// The anchors of a graph that fall to a process.
pub struct Anchors<'g, const K: usize> {
    all: Vec<Anchor<K>>,
    places: Places,
    among: &'g Among<'g>,
}

impl<'g, const K: usize> Anchors<'g, K> {
    /// Those of the nodes of all processes, of which about so many fall to each.
    ///
    /// Collective.
    ///
    /// # Errors
    /// They are too many, or another process failed.
    pub fn of(
        own: impl Iterator<Item = Anchor<K>>,
        expected: usize,
        among: &'g Among,
    ) -> Result<Anchors<'g, K>, Error> {
        let all = fallen_to_this(own, expected, among)?;
        if all.len() > places::END {
            return Err(Error::TooLarge);
        }
        let places = Places::with_room_for(all.len());
        let shares = (0..among.threads).map(|thread| run_of(all.len(), thread, among.threads));
        let are_same = |one: u32, other: u32| all[one as usize].key == all[other as usize].key;
        in_threads(shares.collect(), |share| {
            for place in share {
                if let Some(later) = all.get(place + AT_ONCE) {
                    places.prefetch(hash(&later.key));
                }
                places.add(hash(&all[place].key), place as u32, are_same);
            }
        });
        Ok(Anchors { all, places, among })
    }

    /// The process that a key falls to.
    pub fn owner(&self, key: &[u8; K]) -> usize {
        owner(key, self.among.world.ranks())
    }

    /// Answers to questions about keys that fall to this process, one behind the other. Those of
    /// some are looked for at a time, so that memory is waited for together.
    pub fn answers(&self, keys: &[[u8; K]]) -> Vec<u8> {
        let mut answers = Vec::with_capacity(keys.len() * ANSWER);
        for some in keys.chunks(AT_ONCE) {
            some.iter().for_each(|key| self.places.prefetch(hash(key)));
            for key in some {
                if let Some((place, _)) = self.places.of(hash(key)).next() {
                    prefetch(&self.all, place as usize);
                }
            }
            for key in some {
                let mut found = self.places.of(hash(key));
                let own = found.find(|found| self.all[found.0 as usize].key == *key);
                answers.extend(match own {
                    Some((place, true)) => self.all[place as usize].answer(),
                    _ => NOWHERE,
                });
            }
        }
        answers
    }
}

impl<const K: usize> Anchor<K> {
    fn answer(&self) -> [u8; ANSWER] {
        let mut bytes = [0; ANSWER];
        let numbers = [self.way.index() as u32, self.offset, self.length];
        for (bytes, number) in bytes.as_chunks_mut().0.iter_mut().zip(numbers) {
            *bytes = number.to_le_bytes();
        }
        bytes
    }
}

/// Where an anchor is, by an answer.
#[derive(Clone, Copy)]
pub struct Found {
    /// The way, among those of all processes, in which it is as it is in the read.
    pub way: Way,
    /// Bases before it, and of all of the way.
    pub offset: usize,
    pub length: usize,
}

impl Found {
    /// Of an anchor of `k` bases, which a read may have in its canonical direction; nothing where
    /// there is none.
    pub fn of_answer(answer: [u8; ANSWER], k: usize, is_canonical: bool) -> Option<Found> {
        if answer == NOWHERE {
            return None;
        }
        let number = |number: usize| u32::from_le_bytes(answer.as_chunks().0[number]) as usize;
        let [way, offset, length] = [0, 1, 2].map(number);
        let way = Way::of_index(way);
        Some(match is_canonical {
            true => Found {
                way,
                offset,
                length,
            },
            false => Found {
                way: way.flipped(),
                offset: length - k - offset,
                length,
            },
        })
    }
}

/// The anchors of a node of this process, of the k-mers that a scheme keeps: `key` makes the key of
/// each from its hash and from the k-mer in its canonical direction.
pub fn of_node<const K: usize, const W: usize>(
    graph: &SharedGraph,
    scheme: Scheme,
    way: Way,
    key: fn(u64, Kmer<W>) -> [u8; K],
) -> impl Iterator<Item = Anchor<K>> {
    let (k, bases) = (scheme.k(), graph.own().bases(way));
    let number = graph.number(way);
    scheme.kept(bases.codes()).map(move |(hash, at)| {
        let window: Kmer<W> = bases.kmer(at, k);
        let kmer = window.canonical(k);
        let (way, offset) = match kmer == window {
            true => (number, at),
            false => (number.flipped(), bases.len() - k - at),
        };
        Anchor {
            key: key(hash, kmer),
            way,
            offset: offset as u32,
            length: bases.len() as u32,
        }
    })
}

/// A k-mer in its canonical direction, and whether that is its own.
pub fn canonical<const W: usize>(codes: &[u8]) -> (Kmer<W>, bool) {
    let kmer: Kmer<W> = kmer_of(codes);
    let canonical = kmer.canonical(codes.len());
    (canonical, canonical == kmer)
}

/// The anchors that fall to this process, of the nodes of all.
///
/// Collective.
fn fallen_to_this<const K: usize>(
    mut own: impl Iterator<Item = Anchor<K>>,
    expected: usize,
    among: &Among,
) -> Result<Vec<Anchor<K>>, Error> {
    let ranks = among.world.ranks();
    let mut all = Vec::with_capacity(expected + expected / 16);
    loop {
        let room = (TOLD / ranks + TOLD / (8 * ranks)) * (K + ANSWER);
        let mut messages: Vec<_> = (0..ranks).map(|_| Vec::with_capacity(room)).collect();
        let mut told = 0;
        for anchor in own.by_ref().take(TOLD) {
            let message = &mut messages[owner(&anchor.key, ranks)];
            message.extend_from_slice(&anchor.key);
            message.extend_from_slice(&anchor.answer());
            told += 1;
        }
        if among.sum(told)? == 0 {
            return Ok(all);
        }
        for message in all_to_all(among.world, messages)? {
            all.extend(message.chunks_exact(K + ANSWER).map(|bytes| {
                let (key, place) = bytes.split_first_chunk().expect("a key and its place");
                let number = |at: usize| u32::from_le_bytes(place.as_chunks().0[at]);
                Anchor {
                    key: *key,
                    way: Way::of_index(number(0) as usize),
                    offset: number(1),
                    length: number(2),
                }
            }));
        }
    }
}

fn hash<const K: usize>(key: &[u8; K]) -> u64 {
    mix(first(key))
}

/// The process among so many that a key falls to.
fn owner<const K: usize>(key: &[u8; K], ranks: usize) -> usize {
    ((u128::from(mix(!first(key))) * ranks as u128) >> 64) as usize
}

/// The first eight bytes of a key.
fn first<const K: usize>(key: &[u8; K]) -> u64 {
    u64::from_le_bytes(*key.first_chunk().expect("a key has eight bytes"))
}
