//! Ways on through the smaller graph where no read has the larger k-mers.

use std::borrow::Cow;
use std::collections::HashSet;

use foldhash::fast::FixedState;
use gyrase_fabric::FabricError;
use gyrase_kmer::Kmer;
use gyrase_work::in_threads;

use super::found::Found;
use super::larger_kmer::{LargerKmer, all};
use super::surroundings::Surroundings;
use crate::BaseSlice;
use crate::among::Among;
use crate::config::AssemblyError;
use crate::graph::{Graph, SharedGraph, Way, kmer_of};
use crate::reads::{Block, ReadBlocks};
use crate::solid::GOES_ON;
use crate::together::{Counted, counted};
use crate::walks::Walks;

/// k-mers that are looked at behind one end: beyond that there is no telling where it goes on.
const MOST: usize = if cfg!(test) { 24 } else { 4096 };

/// k-mers of one way on that are asked for at a time.
const AHEAD: usize = if cfg!(test) { 2 } else { 16 };

/// The part of the memory, as one in so many, for what is behind ends that wait for answers.
const KEPT: u64 = if cfg!(test) { 1 << 12 } else { 4 };

/// How often what was filled may be the beginning of more.
pub const ROUNDS: usize = 3;

/// The k-mers behind ends of the larger graph that go on in the smaller one, as far as what is
/// there: those that fall to this process, ascending. Only behind nodes that have a whole node of
/// the smaller graph in them: what branches off elsewhere and ends soon was a read with an error.
///
/// In a mixed sample, of which `sides` are known, hardly anything is added that leads to where
/// reads of something else lead: the end of a thin genome is mostly an end. But strains come back
/// to each other: where the smaller graph has a bubble, the larger gets it.
///
/// Collective.
pub fn filled<const W: usize>(
    walks: &Walks,
    larger: &SharedGraph,
    found: &Found<'_, W>,
    sides: Option<&[bool]>,
    among: &Among,
) -> Result<Vec<Counted<W>>, AssemblyError> {
    let mut open = dead_ends(walks, larger, among)?;
    let mut around = Surroundings::of(found, sides, among.world);
    let mut filled = Vec::new();
    loop {
        let share = open.len().div_ceil(among.threads).max(1);
        let shares = open.chunks_mut(share).collect();
        let done = in_threads(shares, |ends: &mut [DeadEnd<W>]| {
            let fill = |end: &mut DeadEnd<W>| {
                let filled = end.fill(&around);
                end.is_done = filled.is_some();
                filled
            };
            ends.iter_mut().filter_map(fill).flatten().collect()
        });
        filled.extend(done.into_iter().flat_map(Vec::into_iter));
        open.retain(|end| !end.is_done);
        keep_within(among.memory / KEPT, &mut open);
        if !around.grows(among)? {
            break;
        }
    }
    filled.sort_unstable();
    filled.dedup();
    let filled = filled.into_iter().map(|kmer| (kmer, 0)).collect();
    Ok(counted(among, filled)?)
}

/// Forgets what is behind ends, where it takes more than so many bytes: these begin again.
fn keep_within<const W: usize>(mut memory: u64, ends: &mut [DeadEnd<W>]) {
    for kept in ends.iter_mut().map(|end| &mut end.behind) {
        let bytes = kept.as_ref().map_or(0, |behind| behind.bytes());
        match memory.checked_sub(bytes) {
            Some(left) => memory = left,
            None => *kept = None,
        }
    }
}

/// The depth of what else may lead to where an end of a mixed sample leads, from the depth of the
/// end; both in hundredths.
fn rival_of(own: u64) -> u64 {
    match own {
        ..GOES_ON => 0,
        own => 2 * own,
    }
}

/// An end of the larger graph that nothing follows.
struct DeadEnd<'g, const W: usize> {
    /// Its node.
    bases: BaseSlice<'g>,
    /// The last k-mer.
    last: LargerKmer<W>,
    /// Of its node, in hundredths.
    depth: u64,
    /// What is behind it, once that is looked for.
    behind: Option<Box<Behind<W>>>,
    is_done: bool,
}

/// The last k-mers of ways that nothing follows, as what is looked up.
struct LastKmers<'g> {
    graph: &'g Graph,
    ways: Vec<Way>,
}

impl<'g> LastKmers<'g> {
    fn of(graph: &'g Graph) -> LastKmers<'g> {
        let dead = |way: &Way| graph.next(*way).is_empty();
        LastKmers {
            graph,
            ways: graph.ways().filter(dead).collect(),
        }
    }
}

impl ReadBlocks for LastKmers<'_> {
    fn count(&self) -> usize {
        self.ways.len()
    }

    fn get(&self, number: usize) -> Result<Cow<'_, Block>, FabricError> {
        let bases = self.graph.bases(self.ways[number]);
        let last = bases.behind(bases.len() - self.graph.k());
        Ok(Cow::Owned(Block::of_codes(&last.codes())))
    }
}

/// The ends of the nodes of this process that nothing follows.
///
/// Collective.
fn dead_ends<'g, const W: usize>(
    walks: &Walks,
    larger: &'g SharedGraph,
    among: &Among,
) -> Result<Vec<DeadEnd<'g, W>>, AssemblyError> {
    let (own, kmers) = (larger.own(), LastKmers::of(larger.own()));
    let none = (0..among.threads).map(|_| Vec::new()).collect();
    let found = walks.for_each(&kmers, "fill", none, |ends, number, codes, walk| {
        let way = kmers.ways[number];
        ends.push(DeadEnd {
            bases: own.bases(way),
            last: LargerKmer::new(kmer_of(codes), walk.steps().to_vec()),
            depth: own.count(way) * 100 / own.kmers(way),
            behind: None,
            is_done: false,
        });
        Ok(())
    })?;
    Ok(found.into_iter().flatten().collect())
}

impl<const W: usize> DeadEnd<'_, W> {
    /// The k-mers behind it; nothing where not all that is around is known yet.
    fn fill(&mut self, around: &Surroundings<W>) -> Option<Vec<Kmer<W>>> {
        let behind = match self.behind.take() {
            Some(behind) => behind,
            None => Box::new(self.begun(around)?),
        };
        let filled = behind.filled(around);
        filled.map_err(|behind| self.behind = Some(behind)).ok()
    }

    /// What is behind it, of which nothing is passed yet: nothing where nothing is to be added.
    fn begun(&self, around: &Surroundings<W>) -> Option<Behind<W>> {
        let mut strain = false;
        for step in self.last.steps().iter().filter(|_| around.is_mixed()) {
            strain |= around.is_side(step.way)?;
        }
        if !strain && !self.has_whole(around)? {
            return Some(Behind::default());
        }
        let next = self.last.next(around)?;
        let there = all(next.iter().map(|next| next.is_there(around)))?;
        if there.contains(&true) {
            return Some(Behind::default());
        }
        let rival = match around.is_mixed() && !strain {
            true => rival_of(self.depth),
            false => u64::MAX,
        };
        Some(Behind::of(&self.last, rival))
    }

    /// Whether a whole node of the smaller graph is in it that has a k-mer: from the last k-mer
    /// back to where it begins.
    fn has_whole(&self, around: &Surroundings<W>) -> Option<bool> {
        let (steps, k) = (self.last.steps(), around.smaller_k());
        if steps.len() == 1 {
            // A node that has a k-mer is in the larger graph as it is.
            return Some(true);
        }
        // How many bases are before the first smaller k-mer that is in `way` at `offset`.
        let (mut way, mut offset) = (steps[0].way, steps[0].offset);
        let mut before = self.bases.len() - around.k();
        loop {
            if around.length(way)? >= around.k() {
                return Some(offset <= before);
            }
            before = match before.checked_sub(offset + 1) {
                Some(before) => before,
                None => return Some(false),
            };
            let code = self.bases.base(before);
            let mut found = None;
            for back in around.next(way.flipped())? {
                let (back, length) = (back.flipped(), around.length(*back)?);
                if around.base(back, length - k)? == code {
                    found = Some((back, length - k));
                }
            }
            (way, offset) = found.expect("the node is a walk through the smaller graph");
        }
    }
}

/// What is behind an end, as far as it is passed: depth first, with what has been passed. A k-mer
/// stays where one behind it is there.
#[derive(Clone, Default)]
struct Behind<const W: usize> {
    /// The depth of what else may lead to where it leads, in hundredths.
    rival: u64,
    open: Vec<Ahead<W>>,
    path: Vec<Kmer<W>>,
    /// Of the path so many are filled already; the end itself is there.
    reached: usize,
    seen: HashSet<Kmer<W>, FixedState>,
    filled: Vec<Kmer<W>>,
}

/// A k-mer that is to be passed.
#[derive(Clone)]
struct Ahead<const W: usize> {
    kmer: LargerKmer<W>,
    /// Those of the path before it.
    before: usize,
    /// Those of them, with it, of which is not known whether they are there.
    unknown: usize,
}

/// One that is behind another.
struct Next<const W: usize> {
    kmer: LargerKmer<W>,
    is_there: Option<bool>,
    /// Whether what is before it is to be added: it is there, and hardly anything else leads to it.
    is_reached: Option<bool>,
}

impl<const W: usize> Next<W> {
    fn of(
        kmer: LargerKmer<W>,
        before: &LargerKmer<W>,
        rival: u64,
        around: &Surroundings<W>,
    ) -> Next<W> {
        let is_there = kmer.is_there(around);
        let is_reached = match is_there {
            Some(true) => rival_depth(before, &kmer, around).map(|depth| depth <= rival),
            not => not,
        };
        Next {
            kmer,
            is_there,
            is_reached,
        }
    }
}

impl<const W: usize> Behind<W> {
    fn of(end: &LargerKmer<W>, rival: u64) -> Behind<W> {
        let end = Ahead {
            kmer: end.clone(),
            before: 0,
            unknown: 0,
        };
        Behind {
            rival,
            open: vec![end],
            reached: 1,
            ..Behind::default()
        }
    }

    /// The k-mers that are to be added, or how far it got where something is not known yet. There
    /// it goes on as if that were not there, so that what is behind it is asked for at once.
    fn filled(mut self, around: &Surroundings<W>) -> Result<Vec<Kmer<W>>, Box<Behind<W>>> {
        let (mut kept, mut passed) = (None, self.seen.len());
        while let Some(ahead) = self.open.pop() {
            let next = ahead.kmer.next(around).map(|next| {
                let next = next.into_iter();
                let next = next.map(|next| Next::of(next, &ahead.kmer, self.rival, around));
                next.collect::<Vec<Next<W>>>()
            });
            let is_known = |next: &Vec<Next<W>>| next.iter().all(|next| next.is_reached.is_some());
            if kept.is_none() && !next.as_ref().is_some_and(is_known) {
                let mut so_far = self.clone();
                so_far.open.push(ahead.clone());
                kept = Some(Box::new(so_far));
            }
            self.pass(&ahead, around.k());
            for next in next.into_iter().flatten() {
                passed += usize::from(self.goes_on(next, ahead.unknown) == Some(0));
            }
            if self.seen.len() > MOST {
                // Whatever is not known, so many k-mers are there.
                return match kept {
                    Some(kept) if passed <= MOST => Err(kept),
                    _ => Ok(Vec::new()),
                };
            }
        }
        kept.map_or(Ok(self.filled), Err)
    }

    /// Bytes of memory that it takes, about.
    fn bytes(&self) -> u64 {
        let kmers = 2 * self.seen.len() + self.path.len() + self.filled.len();
        (kmers * size_of::<Kmer<W>>() + 2 * self.open.len() * size_of::<Ahead<W>>()) as u64
    }

    /// Passes a k-mer.
    fn pass(&mut self, ahead: &Ahead<W>, k: usize) {
        self.path.truncate(ahead.before);
        self.reached = self.reached.min(self.path.len()).max(1);
        self.path.push(ahead.kmer.kmer.canonical(k));
    }

    /// Goes on to what is behind the path, which has so many k-mers that are not known; where it is
    /// passed next, how many there are with it.
    fn goes_on(&mut self, next: Next<W>, unknown: usize) -> Option<usize> {
        let Next {
            kmer,
            is_there,
            is_reached,
        } = next;
        if is_reached == Some(true) {
            self.filled.extend(&self.path[self.reached..]);
            self.reached = self.path.len();
        }
        let unknown = unknown + usize::from(is_there.is_none());
        let is_passed = is_there != Some(true) && unknown <= AHEAD && self.seen.insert(kmer.kmer);
        is_passed.then(|| {
            self.open.push(Ahead {
                kmer,
                before: self.path.len(),
                unknown,
            });
            unknown
        })
    }
}

/// The depth of what leads to `kmer` and does not begin as `before` does, in hundredths.
fn rival_depth<const W: usize>(
    before: &LargerKmer<W>,
    kmer: &LargerKmer<W>,
    around: &Surroundings<W>,
) -> Option<u64> {
    let own = before.kmer.base(around.k() - 1);
    let others = kmer.before(own, around)?;
    let depths = all(others.iter().map(|other| other.depth(around)))?;
    Some(depths.into_iter().flatten().max().unwrap_or(0))
}
