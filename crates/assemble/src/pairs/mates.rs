//! Mates, whose anchors the processes of a job look up together.
//!
//! Each anchor of a node is at the process that its bases fall to. Processes ask for the first
//! minimizers of their reads, and of reads of which that is no anchor for more of them.

use gyrase_kmer::Kmer;

use crate::Error;
use crate::among::Among;
use crate::anchors::{Anchors, Found, Sought, canonical};
use crate::batches::Batches;
use crate::config::AssemblyError;
use crate::graph::{SharedGraph, Way};
use crate::minimizers::Scheme;
use crate::over_bins::over_bins;
use crate::reads::ReadBlocks;

/// Bases of an anchor, where the k-mers of the graph have as many.
pub const ANCHOR: usize = 31;
/// Neighbouring k-mers of which one is an anchor: an index of all takes more than the graph does.
pub const NEIGHBOURS: usize = 2;

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

/// A graph in which mates are looked for.
pub struct Mates<'g> {
    scheme: Scheme,
    anchors: Anchors<'g, KEY>,
    among: &'g Among<'g>,
}

/// Bytes of a k-mer of so many bases.
const KEY: usize = 8;

/// A read of which the anchor is looked for.
#[derive(Default)]
struct Mate {
    read: Sought,
    begin: Option<Begin>,
}

impl<'g> Mates<'g> {
    /// Collective.
    ///
    /// # Errors
    /// The graph is too large, or another process failed.
    pub fn of(graph: &SharedGraph, among: &'g Among) -> Result<Mates<'g>, Error> {
        let scheme = Scheme::new(ANCHOR.min(graph.k()), NEIGHBOURS);
        Ok(Mates {
            scheme,
            anchors: Anchors::of(graph, scheme, key, among)?,
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
        let mut batches = Batches::of(reads, self.among.threads);
        let mut open: Vec<[Mate; 2]> = Vec::new();
        loop {
            let pairs = self.pairs(reads, batches.take(2 * open.len()))?;
            let before = open.len();
            pairs.into_iter().for_each(|pairs| open.extend(pairs));
            batches.note(2 * (open.len() - before));
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
                        .all(|mate| mate.begin.is_some() || mate.read.is_left(&self.scheme))
            });
            if self.among.sum(open.len() + batches.left())? == 0 {
                return Ok(());
            }
        }
    }

    /// The pairs of some blocks, by threads.
    fn pairs(
        &self,
        reads: &dyn ReadBlocks,
        blocks: &[usize],
    ) -> Result<Vec<Vec<[Mate; 2]>>, AssemblyError> {
        let states = (0..self.among.threads).map(|_| Vec::new()).collect();
        over_bins(states, blocks, self.among.progress, |pairs, block| {
            let block = reads.get(block)?;
            if block.paired {
                block.for_each_some(2, |mates| {
                    let mates = mates.as_chunks().0.iter();
                    pairs.extend(
                        mates.map(|mates: &[Vec<u8>; 2]| {
                            mates.each_ref().map(|codes| Mate::of(codes))
                        }),
                    );
                });
            }
            Ok(())
        })
    }

    /// Asks for the next minimizers of mates that have no anchor yet.
    ///
    /// Collective.
    fn ask(&self, pairs: &mut [[Mate; 2]]) -> Result<(), Error> {
        let ranks = self.among.world.ranks();
        let (mut asked, mut questions) = (Vec::new(), vec![Vec::new(); ranks]);
        let mates = pairs.as_flattened_mut().iter_mut().enumerate();
        for (number, mate) in mates.filter(|(_, mate)| mate.begin.is_none()) {
            mate.read.next_minimizers(&self.scheme, |hash, window, at| {
                let (kmer, is_canonical) = canonical(window);
                let key = key(hash, kmer);
                let rank = self.anchors.owner(&key);
                asked.push((number, at, is_canonical, rank));
                questions[rank].extend(key);
            });
        }
        let answer = |keys: &[u8]| self.anchors.answers(keys.as_chunks().0);
        let answers = self.among.ask_all(questions, answer)?;
        let mut answers: Vec<_> = answers
            .iter()
            .map(|bytes| bytes.as_chunks().0.iter())
            .collect();
        for (number, at, is_canonical, rank) in asked {
            let answer = answers[rank].next().expect("an answer for each question");
            let begin = &mut pairs.as_flattened_mut()[number].begin;
            if begin.is_none() {
                let found = Found::of_answer(*answer, self.scheme.k(), is_canonical);
                *begin = found.map(|found| Begin {
                    way: found.way,
                    offset: found.offset as i64 - at as i64,
                    length: found.length as i64,
                });
            }
        }
        Ok(())
    }
}

impl Mate {
    fn of(codes: &[u8]) -> Mate {
        let mut mate = Mate::default();
        mate.read.begin(codes);
        mate
    }
}

/// The key of a k-mer that has up to 32 bases.
fn key(_: u64, kmer: Kmer<1>) -> [u8; KEY] {
    kmer.0[0].to_le_bytes()
}
