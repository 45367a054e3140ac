//! Ways on through the smaller graph where no read has the larger k-mers.

use std::collections::HashSet;

use gyrase_kmer::Kmer;

use super::found::Found;
use crate::graph::{Graph, Way, kmer_of};
use crate::walk::Walker;

/// k-mers that are looked at behind one end: beyond that there is no telling where it goes on.
const MOST: usize = 4096;

/// How often what was filled may be the beginning of more.
pub const ROUNDS: usize = 3;

/// The k-mers behind ends of the larger graph that go on in the smaller one, as far as what is
/// there: ascending. Only behind nodes that have a whole node of the smaller graph in them: what
/// branches off elsewhere and ends soon was a read with an error.
pub fn filled<const W: usize>(walker: &Walker, larger: &Graph, found: &Found<W>) -> Vec<Kmer<W>> {
    let graph = walker.graph();
    let (mut filling, mut filled) = (None, Vec::new());
    let mut steps = Vec::new();
    for way in larger.ways().filter(|&way| larger.next(way).is_empty()) {
        let codes = larger.codes(way);
        let (mut whole, mut last) = (false, None);
        walker.walk(codes, &mut steps, |steps| {
            whole |= steps.iter().any(|step| {
                let kmers = graph.kmers(step.way);
                graph.length(step.way) >= found.k && step.kmers as u64 == kmers
            });
            last = steps.last().copied();
        });
        let Some(last) = last.filter(|_| whole) else {
            continue;
        };
        let end = End {
            kmer: kmer_of(&codes[codes.len() - found.k..]),
            way: last.way,
            offset: last.offset + last.kmers - 1,
        };
        let filling = filling.get_or_insert_with(|| Filling::new(graph, found));
        filling.fill(end, &mut filled);
    }
    filled.sort_unstable();
    filled.dedup();
    filled
}

/// A k-mer, and where the last smaller k-mer of it is.
#[derive(Clone, Copy)]
struct End<const W: usize> {
    kmer: Kmer<W>,
    way: Way,
    offset: usize,
}

struct Filling<'g, const W: usize> {
    graph: &'g Graph,
    k: usize,
    /// k-mers that are there and may be the next of another: those between nodes, and the first and
    /// last of each.
    there: HashSet<Kmer<W>>,
}

impl<'g, const W: usize> Filling<'g, W> {
    fn new(graph: &'g Graph, found: &Found<W>) -> Filling<'g, W> {
        let k = found.k;
        let mut there: HashSet<Kmer<W>> = found.counted.iter().map(|counted| counted.0).collect();
        for way in graph.ways().filter(|&way| graph.length(way) >= k) {
            let first: Kmer<W> = kmer_of(&graph.codes(way)[..k]);
            there.insert(first.canonical(k));
        }
        Filling { graph, k, there }
    }

    fn is_there(&self, kmer: Kmer<W>) -> bool {
        self.there.contains(&kmer.canonical(self.k))
    }

    /// What the smaller graph has behind an end.
    fn next(&self, end: End<W>) -> impl Iterator<Item = End<W>> {
        let (graph, k) = (self.graph, self.graph.k());
        let inside = end.offset + k < graph.length(end.way);
        let next = graph.next(end.way).iter().filter(move |_| !inside);
        let beyond = next.map(|&way| (way, 0));
        let within = inside.then_some((end.way, end.offset + 1));
        within.into_iter().chain(beyond).map(move |(way, offset)| {
            let code = graph.codes(way)[offset + k - 1];
            End {
                kmer: end.kmer.push(code).masked(self.k),
                way,
                offset,
            }
        })
    }

    /// Adds what is behind `end`, where nothing of it is there and something follows.
    fn fill(&self, end: End<W>, filled: &mut Vec<Kmer<W>>) {
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
