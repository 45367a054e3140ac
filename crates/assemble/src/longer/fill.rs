//! Ways on through the smaller graph where no read has the larger k-mers.

use std::borrow::Cow;
use std::collections::HashSet;

use gyrase_fabric::FabricError;
use gyrase_kmer::Kmer;
use gyrase_work::in_threads;

use super::counts::Counted;
use super::found::Found;
use super::larger_kmer::LargerKmer;
use super::surroundings::Surroundings;
use crate::among::Among;
use crate::config::AssemblyError;
use crate::graph::{Graph, SharedGraph, Way, kmer_of};
use crate::reads::{Block, ReadBlocks};
use crate::solid::GOES_ON;
use crate::together::counted;
use crate::walk::Step;
use crate::walks::{Walk, Walks};

/// k-mers that are looked at behind one end: beyond that there is no telling where it goes on.
const MOST: usize = 4096;

/// How often what was filled may be the beginning of more.
pub const ROUNDS: usize = 3;

/// The k-mers behind ends of the larger graph that go on in the smaller one, as far as what is
/// there: those that fall to this process, ascending. Only behind nodes that have a whole node of
/// the smaller graph in them: what branches off elsewhere and ends soon was a read with an error.
///
/// In a mixed sample, of which `sides` are known, hardly anything is added that leads to where reads
/// of something else lead: the end of a thin genome is mostly an end. But strains come back to each
/// other: where the smaller graph has a bubble, the larger gets it.
///
/// Collective.
pub fn filled<const W: usize>(
    walks: &Walks,
    larger: &SharedGraph,
    found: &Found<'_, W>,
    sides: Option<&[bool]>,
    among: &Among,
) -> Result<Vec<Counted<W>>, AssemblyError> {
    let mut open = dead_ends(walks, larger, found.k, among)?;
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
        if among.sum(open.len())? == 0 {
            break;
        }
        around.ask(among)?;
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
struct DeadEnd<const W: usize> {
    /// The last k-mer.
    last: LargerKmer<W>,
    /// Whether a whole node of the smaller graph is in it, before the last.
    has_whole: bool,
    /// Where it is in that.
    step: Step,
    /// Of its node, in hundredths.
    depth: u64,
}

/// Ways that nothing follows, as what is looked up.
struct DeadWays<'g> {
    graph: &'g Graph,
    ways: Vec<Way>,
}

impl ReadBlocks for DeadWays<'_> {
    fn count(&self) -> usize {
        self.ways.len()
    }

    fn get(&self, number: usize) -> Result<Cow<'_, Block>, FabricError> {
        let codes = self.graph.codes(self.ways[number]);
        Ok(Cow::Owned(Block::of_codes(&codes)))
    }
}

/// The ends of the nodes of this process that nothing follows.
///
/// Collective.
fn dead_ends<const W: usize>(
    walks: &Walks,
    larger: &SharedGraph,
    k: usize,
    among: &Among,
) -> Result<Vec<DeadEnd<W>>, AssemblyError> {
    let own = larger.own();
    let dead = DeadWays {
        graph: own,
        ways: own.ways().filter(|&way| own.next(way).is_empty()).collect(),
    };
    let none = vec![Vec::new(); among.threads];
    let found = walks
        .find(&dead, "fill")?
        .for_each(none, |ends, number, codes, walk| {
            let way = dead.ways[number];
            let depth = own.count(way) * 100 / own.kmers(way);
            ends.extend(dead_end(codes, walk, (walks.graph().k(), k), depth));
            Ok(())
        })?;
    Ok(found.concat())
}

fn dead_end<const W: usize>(
    codes: &[u8],
    walk: &Walk,
    (smaller_k, k): (usize, usize),
    depth: u64,
) -> Option<DeadEnd<W>> {
    let (&step, before) = walk.steps().split_last()?;
    let smaller = k + 1 - smaller_k;
    let last = kmer_of(&codes[codes.len() - k..]);
    Some(DeadEnd {
        last: LargerKmer::at_end(last, walk.steps(), smaller),
        // The walk goes on to another node.
        has_whole: before
            .iter()
            .any(|step| step.offset == 0 && step.kmers >= smaller),
        step,
        depth,
    })
}

impl<const W: usize> DeadEnd<W> {
    /// Adds the k-mers behind it; nothing where not all that is around is known yet.
    fn fill(&self, around: &Surroundings<W>, filled: &mut Vec<Kmer<W>>) -> Option<()> {
        let mut strain = false;
        for step in self.last.steps().iter().filter(|_| around.is_mixed()) {
            strain |= around.is_side(step.way)?;
        }
        if !strain && !self.has_whole && !self.ends_with_whole(around)? {
            return Some(());
        }
        let rival = match around.is_mixed() && !strain {
            true => rival_of(self.depth),
            false => u64::MAX,
        };
        fill(&self.last, rival, around, filled)
    }

    /// Whether the last node of the smaller graph that it is in is in it as a whole.
    fn ends_with_whole(&self, around: &Surroundings<W>) -> Option<bool> {
        if self.step.offset > 0 {
            return Some(false);
        }
        let length = around.length(self.step.way)?;
        let reached = self.step.kmers + around.smaller_k() - 1;
        Some(length >= around.k() && reached == length)
    }
}

/// The depth of what leads to `kmer` and does not begin as `before` does, in hundredths.
fn rival_depth<const W: usize>(
    before: &LargerKmer<W>,
    kmer: &LargerKmer<W>,
    around: &Surroundings<W>,
) -> Option<u64> {
    let mut most = 0;
    let own = before.kmer.base(around.k() - 1);
    for other in kmer.before(own, around)? {
        most = most.max(other.depth(around)?.unwrap_or(0));
    }
    Some(most)
}

/// Adds what is behind `end`, where nothing of it is there and something follows.
fn fill<const W: usize>(
    end: &LargerKmer<W>,
    rival: u64,
    around: &Surroundings<W>,
    filled: &mut Vec<Kmer<W>>,
) -> Option<()> {
    for next in end.next(around)? {
        if next.is_there(around)? {
            return Some(());
        }
    }
    let before = filled.len();
    // Depth first, with what has been passed: a k-mer stays where one behind it is there.
    let mut seen = HashSet::new();
    let (mut open, mut path) = (vec![(end.clone(), 0)], Vec::new());
    // Of the path so many are filled already; the end itself is there.
    let mut reached = 1;
    while let Some((at, depth)) = open.pop() {
        path.truncate(depth);
        reached = reached.min(path.len()).max(1);
        path.push(at.kmer.canonical(around.k()));
        for next in at.next(around)? {
            if next.is_there(around)? {
                if rival_depth(&at, &next, around)? > rival {
                    continue;
                }
                filled.extend(&path[reached.min(path.len())..]);
                reached = path.len();
            } else if seen.insert(next.kmer) {
                open.push((next, path.len()));
            }
        }
        if seen.len() > MOST {
            filled.truncate(before);
            return Some(());
        }
    }
    Some(())
}
