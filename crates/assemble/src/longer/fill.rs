//! Ways on through the smaller graph where no read has the larger k-mers.

use std::collections::HashSet;

use gyrase_kmer::Kmer;
use gyrase_work::in_threads;

use super::crossings::Crossings;
use super::found::Found;
use crate::config::Sample;
use crate::graph::{Graph, Way, kmer_of};
use crate::solid::GOES_ON;
use crate::strains::sides;
use crate::walk::{Step, Walker};

/// k-mers that are looked at behind one end: beyond that there is no telling where it goes on.
const MOST: usize = 4096;

/// How often what was filled may be the beginning of more.
pub const ROUNDS: usize = 3;

/// The k-mers behind ends of the larger graph that go on in the smaller one, as far as what is
/// there: ascending. Only behind nodes that have a whole node of the smaller graph in them: what
/// branches off elsewhere and ends soon was a read with an error.
///
/// In a mixed sample hardly anything is added that leads to where reads of something else lead: the
/// end of a thin genome is mostly an end. But strains come back to each other: where the smaller
/// graph has a bubble, the larger gets it.
pub fn filled<const W: usize>(
    walker: &Walker,
    larger: &Graph,
    (found, crossings): (&Found<'_, W>, &Crossings),
    (sample, threads): (Sample, usize),
) -> Vec<Kmer<W>> {
    let filling = Filling {
        walker,
        found,
        crossings,
        k: found.k,
        sides: sample.is_mixed().then(|| sides(walker.graph())),
    };
    let of_thread = |thread: usize| {
        let ways = larger.ways().skip(thread).step_by(threads);
        filling.behind(larger, ways.filter(|&way| larger.next(way).is_empty()))
    };
    let mut filled = in_threads((0..threads).collect(), of_thread).concat();
    filled.sort_unstable();
    filled.dedup();
    filled
}

/// The depth of what else may lead to where an end of a mixed sample leads, from the depth of the
/// end; both in hundredths.
fn rival_of(own: u64) -> u64 {
    match own {
        ..GOES_ON => 0,
        own => 2 * own,
    }
}

/// A k-mer, and where the last smaller k-mer of it is.
#[derive(Clone, Copy)]
struct End<const W: usize> {
    kmer: Kmer<W>,
    way: Way,
    offset: usize,
}

struct Filling<'g, const W: usize> {
    walker: &'g Walker<'g>,
    found: &'g Found<'g, W>,
    crossings: &'g Crossings<'g>,
    k: usize,
    /// Of a mixed sample for each node of the smaller graph whether it is a side of a bubble.
    sides: Option<Vec<bool>>,
}

impl<const W: usize> Filling<'_, W> {
    /// The k-mers behind some ends of the larger graph.
    fn behind(&self, larger: &Graph, ways: impl Iterator<Item = Way>) -> Vec<Kmer<W>> {
        let graph = self.walker.graph();
        let mut filled = Vec::new();
        let (mut codes, mut steps) = (Vec::new(), Vec::new());
        for way in ways {
            codes.clear();
            larger.bases(way).append_codes(&mut codes);
            let (mut whole, mut strain, mut last) = (false, false, None);
            // Behind here the last k-mer begins.
            let late = codes.len() - self.k;
            self.walker.walk(&codes, &mut steps, |steps| {
                whole |= steps.iter().any(|step| {
                    let kmers = graph.kmers(step.way);
                    graph.length(step.way) >= self.k && step.kmers as u64 == kmers
                });
                let sides = self.sides.as_ref();
                let is_side = |step: &Step| sides.is_some_and(|sides| sides[step.way.node()]);
                let mut steps_of_last = steps.iter().filter(|step| step.at + step.kmers > late);
                strain |= steps_of_last.any(is_side);
                last = steps.last().copied();
            });
            let Some(last) = last.filter(|_| whole || strain) else {
                continue;
            };
            let end = End {
                kmer: kmer_of(&codes[codes.len() - self.k..]),
                way: last.way,
                offset: last.offset + last.kmers - 1,
            };
            let rival = match self.sides.is_some() && !strain {
                true => rival_of(larger.count(way) * 100 / larger.kmers(way)),
                false => u64::MAX,
            };
            self.fill(end, rival, &mut filled);
        }
        filled
    }

    /// The depth of a k-mer that is there, in hundredths.
    fn depth(&self, kmer: Kmer<W>) -> Option<u64> {
        let codes: Vec<u8> = (0..self.k).rev().map(|place| kmer.base(place)).collect();
        let smaller = self.k + 1 - self.walker.graph().k();
        let (mut steps, mut depth) = (Vec::new(), None);
        self.walker.walk(&codes, &mut steps, |steps| {
            if steps.iter().map(|step| step.kmers).sum::<usize>() == smaller {
                depth = self.depth_in(steps, kmer);
            }
        });
        depth
    }

    /// The same by the nodes that the k-mer is in.
    fn depth_in(&self, steps: &[Step], kmer: Kmer<W>) -> Option<u64> {
        let crossing = match *steps {
            [one] => {
                let kmers = (self.walker.graph().length(one.way) + 1 - self.k) as u64;
                return Some((self.found.inner(one.way) * 100).div_ceil(kmers));
            }
            [one, other] => self.crossings.count((one.way, other.way), one.kmers),
            _ => 0,
        };
        let count = match crossing {
            0 => self.found.count(kmer.canonical(self.k))?,
            seen => seen,
        };
        Some(100 * u64::from(count))
    }

    fn is_there(&self, kmer: Kmer<W>) -> bool {
        self.depth(kmer).is_some()
    }

    /// The depth of what leads to `kmer` beside `before`, in hundredths.
    fn rival(&self, before: Kmer<W>, kmer: Kmer<W>) -> u64 {
        let k = self.k;
        let back = kmer.reverse_complement(k);
        let own = before.base(k - 1);
        let others = (0..4u8).filter(|&code| code != own);
        let others = others.map(|code| back.push(3 - code).masked(k));
        let depths = others.filter_map(|other| self.depth(other));
        depths.max().unwrap_or(0)
    }

    /// What the smaller graph has behind an end.
    fn next(&self, end: End<W>) -> impl Iterator<Item = End<W>> {
        let graph = self.walker.graph();
        let k = graph.k();
        let inside = end.offset + k < graph.length(end.way);
        let next = graph.next(end.way).iter().filter(move |_| !inside);
        let beyond = next.map(|&way| (way, 0));
        let within = inside.then_some((end.way, end.offset + 1));
        within.into_iter().chain(beyond).map(move |(way, offset)| {
            let code = graph.bases(way).base(offset + k - 1);
            End {
                kmer: end.kmer.push(code).masked(self.k),
                way,
                offset,
            }
        })
    }

    /// Adds what is behind `end`, where nothing of it is there and something follows.
    fn fill(&self, end: End<W>, rival: u64, filled: &mut Vec<Kmer<W>>) {
        if self.next(end).any(|next| self.is_there(next.kmer)) {
            return;
        }
        let before = filled.len();
        // Depth first, with what has been passed: a k-mer stays where one behind it is there.
        let mut seen = HashSet::new();
        let (mut open, mut path) = (vec![(end, 0)], Vec::new());
        // Of the path so many are filled already; the end itself is there.
        let mut reached = 1;
        while let Some((at, depth)) = open.pop() {
            path.truncate(depth);
            reached = reached.min(path.len()).max(1);
            path.push(at.kmer.canonical(self.k));
            for next in self.next(at) {
                if self.is_there(next.kmer) {
                    if self.rival(at.kmer, next.kmer) > rival {
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
                return;
            }
        }
    }
}
