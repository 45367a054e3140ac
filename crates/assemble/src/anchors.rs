//! Anchors: k-mers of the nodes of a graph, each at one of the processes that have the graph
//! together. Who has a read that has such a k-mer asks that process in which node it is.

use gyrase_fabric::all_to_all_part;
use gyrase_kmer::{Kmer, mix};
use gyrase_work::{in_threads, prefetch, run_of};

use crate::Error;
use crate::among::Among;
use crate::graph::{SharedGraph, Way, kmer_of};
use crate::minimizers::Scheme;
use crate::places::{self, Places};
use crate::records::{of_three, three};

/// Anchors that a process tells of at a time.
const TOLD: usize = 1 << 16;
/// Anchors that are looked up at a time.
const AT_ONCE: usize = 32;
/// Bytes of the answer to a question about an anchor.
pub const ANSWER: usize = 12;
/// That there is none, or that it is in several places.
const NOWHERE: [u8; ANSWER] = [u8::MAX; ANSWER];

/// A k-mer by a key that both strands have in common, and where in a way of so many bases it begins
/// as it is in its canonical direction: the way, the bases before it, and those of the way.
#[derive(Clone, Copy)]
struct Anchor<const K: usize> {
    key: [u8; K],
    place: [u32; 3],
}

/// The anchors of a graph that fall to a process.
pub struct Anchors<'g, const K: usize> {
    all: Vec<Anchor<K>>,
    places: Places,
    among: &'g Among<'g>,
}

impl<'g, const K: usize> Anchors<'g, K> {
    /// Those of the k-mers of a graph that a scheme keeps: `key` makes the key of each from its
    /// hash and from the k-mer in its canonical direction.
    ///
    /// Collective.
    ///
    /// # Errors
    /// They are too many, or another process failed.
    pub fn of<const W: usize>(
        graph: &SharedGraph,
        scheme: Scheme,
        key: fn(u64, Kmer<W>) -> [u8; K],
        among: &'g Among,
    ) -> Result<Anchors<'g, K>, Error> {
        let own = graph
            .own()
            .nodes()
            .flat_map(|way| of_node(graph, scheme, way, key));
        // Of random k-mers so many are kept, and about as many fall to each process.
        let kept = graph.kmers(among)? as usize * 2 / (scheme.neighbours() + 1);
        let all = fallen_to_this(own, kept / among.world.ranks(), among)?;
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
                    Some((place, true)) => three(self.all[place as usize].place),
                    _ => NOWHERE,
                });
            }
        }
        answers
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
        let [way, offset, length] = of_three(answer).map(|number| number as usize);
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

/// The anchors of a node of this process.
fn of_node<const K: usize, const W: usize>(
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
            place: [way.index(), offset, bases.len()].map(|number| number as u32),
        }
    })
}

/// A read of which anchors are looked for.
#[derive(Default)]
pub struct Sought {
    pub codes: Vec<u8>,
    /// Where neighbours begin that were not looked at.
    from: usize,
    /// Minimizers that are asked for next.
    most: usize,
}

impl Sought {
    /// Makes this the read of some codes.
    pub fn begin(&mut self, codes: &[u8]) {
        self.codes.clear();
        self.codes.extend_from_slice(codes);
        self.go_on(0);
    }

    /// Looks for anchors from a place on.
    pub fn go_on(&mut self, from: usize) {
        (self.from, self.most) = (from, 1);
    }

    /// Calls `each` with the hashes, the k-mers and the places of the next minimizers: each time
    /// they are twice as many.
    pub fn next_minimizers(&mut self, scheme: &Scheme, each: impl FnMut(u64, &[u8], usize)) {
        self.from = scheme.for_each_from(&self.codes, self.from, self.most, each);
        self.most *= 2;
    }

    /// Whether there are minimizers that were not asked for.
    pub fn is_left(&self, scheme: &Scheme) -> bool {
        self.from + scheme.span() <= self.codes.len()
    }
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
            message.extend_from_slice(&three(anchor.place));
            told += 1;
        }
        let (came, has_more) = all_to_all_part(among.world, messages, told == TOLD)?;
        for message in came {
            all.extend(message.chunks_exact(K + ANSWER).map(|bytes| {
                let (key, place) = bytes.split_first_chunk().expect("a key and its place");
                Anchor {
                    key: *key,
                    place: of_three(place.try_into().expect("three numbers are left")),
                }
            }));
        }
        if !has_more {
            return Ok(all);
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
