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
        let shares = open.chunks(share).collect();
        let done = in_threads(shares, |ends: &[DeadEnd<W>]| {
            let (mut filled, mut left) = (Vec::new(), Vec::new());
            for end in ends {
                let before = filled.len();
                if end.fill(&around, &mut filled).is_none() {
                    filled.truncate(before);
                    left.push(end.clone());
                }
            }
            (filled, left)
        });
        let (more, left): (Vec<_>, Vec<_>) = done.into_iter().unzip();
        filled.extend(more.concat());
        open = left.concat();
        if !around.grows(among)? {
            break;
        }
    }
    filled.sort_unstable();
    filled.dedup();
    let filled = filled.into_iter().map(|kmer| (kmer, 0)).collect();
    Ok(counted(among, filled)?)
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
#[derive(Clone)]
struct DeadEnd<'g, const W: usize> {
    /// Its node.
    bases: BaseSlice<'g>,
    /// The last k-mer.
    last: LargerKmer<W>,
    /// Of its node, in hundredths.
    depth: u64,
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
    let none = vec![Vec::new(); among.threads];
    let found = walks.for_each(&kmers, "fill", none, |ends, number, codes, walk| {
        let way = kmers.ways[number];
        ends.push(DeadEnd {
            bases: own.bases(way),
            last: LargerKmer::new(kmer_of(codes), walk.steps().to_vec()),
            depth: own.count(way) * 100 / own.kmers(way),
        });
        Ok(())
    })?;
    Ok(found.concat())
}

impl<const W: usize> DeadEnd<'_, W> {
    /// Adds the k-mers behind it; nothing where not all that is around is known yet.
    fn fill(&self, around: &Surroundings<W>, filled: &mut Vec<Kmer<W>>) -> Option<()> {
        let mut strain = false;
        for step in self.last.steps().iter().filter(|_| around.is_mixed()) {
            strain |= around.is_side(step.way)?;
        }
        if !strain && !self.has_whole(around)? {
            return Some(());
        }
        let rival = match around.is_mixed() && !strain {
            true => rival_of(self.depth),
            false => u64::MAX,
        };
        fill(&self.last, rival, around, filled)
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

/// Adds what is behind `end`, where nothing of it is there and something follows. Where something
/// is not known yet, it goes on as if it were not there, so that what is behind that is asked for
/// at once.
fn fill<const W: usize>(
    end: &LargerKmer<W>,
    rival: u64,
    around: &Surroundings<W>,
    filled: &mut Vec<Kmer<W>>,
) -> Option<()> {
    let next = end.next(around)?;
    let there = all(next.iter().map(|next| next.is_there(around)))?;
    if there.contains(&true) {
        return Some(());
    }
    let (before, mut is_known) = (filled.len(), true);
    // Depth first, with what has been passed: a k-mer stays where one behind it is there.
    let mut seen = HashSet::with_hasher(FixedState::default());
    let (mut open, mut path) = (vec![(end.clone(), 0, 0)], Vec::new());
    // Of the path so many are filled already; the end itself is there.
    let (mut reached, mut passed) = (1, 0);
    while let Some((at, depth, unknown)) = open.pop() {
        path.truncate(depth);
        reached = reached.min(path.len()).max(1);
        path.push(at.kmer.canonical(around.k()));
        let next = at.next(around);
        is_known &= next.is_some();
        for next in next.into_iter().flatten() {
            match next.is_there(around) {
                Some(true) => match rival_depth(&at, &next, around) {
                    Some(depth) if depth <= rival => {
                        filled.extend(&path[reached.min(path.len())..]);
                        reached = path.len();
                    }
                    depth => is_known &= depth.is_some(),
                },
                there => {
                    is_known &= there.is_some();
                    let unknown = unknown + usize::from(there.is_none());
                    if unknown <= AHEAD && seen.insert(next.kmer) {
                        passed += usize::from(unknown == 0);
                        open.push((next, path.len(), unknown));
                    }
                }
            }
        }
        if seen.len() > MOST {
            filled.truncate(before);
            // Whatever is not known, so many k-mers are there.
            return (passed > MOST).then_some(());
        }
    }
    is_known.then_some(())
}
