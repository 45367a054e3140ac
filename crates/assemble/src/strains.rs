//! Strains: of the ways between the same two nodes that are alike the best covered one is kept.
//!
//! Strains of a species differ in few bases. In the graph each difference is a **bubble**: ways
//! that leave one node and meet again in one node. No pair tells which ways of several bubbles are
//! of one strain, so that contigs would end at each of them. Differences that are less than k bases
//! apart make a **superbubble**, in which ways part and meet several times before all of them have
//! met (Onodera, Sadakane and Shibuya 2013, doi:10.1007/978-3-642-40453-5_26).
//!
//! Copies of a repeat in one genome make bubbles too, which end where the repeat does. So bubbles
//! that follow each other, with what lies between them, are to be longer than what a larger k or a
//! pair can still tell apart.

use std::collections::HashMap;

use crate::graph::{Graph, Halo, Pieces, Way, compact};

/// While there are larger k to come.
pub const BETWEEN: Alike = Alike {
    one_in: 33,
    row: 600,
};
/// Behind the last k.
pub const AT_THE_END: Alike = Alike { one_in: 10, row: 0 };
/// Bases that are compared at most: longer ways are contigs of their own.
const LONGEST: usize = 20_000;
/// Nodes inside of a superbubble, at most.
const MOST_INSIDE: usize = 40;

/// When ways are of strains.
#[derive(Clone, Copy, Debug)]
pub struct Alike {
    /// One base in so many differs, or fewer.
    pub one_in: usize,
    /// k-mers of bubbles in a row and of what lies between them, at least, unless they end where
    /// nothing follows.
    pub row: u64,
}

/// The graph in which of each bubble of strains one way is left, with the counts of all; and how
/// many nodes went.
pub fn collapsed(mut graph: Graph, alike: Alike, threads: usize) -> (Graph, u64) {
    let mut all = 0;
    loop {
        let mut counts: Vec<u64> = graph.nodes().map(|way| graph.count(way)).collect();
        let mut goes = vec![false; graph.len()];
        let mut went = 0;
        for bubble in &bubbles(&graph, alike) {
            if bubble.sides().any(|way| goes[way.node()]) {
                // What is left of it is seen in the next round.
                continue;
            }
            let lost: u64 = bubble.goes.iter().map(|&way| graph.count(way)).sum();
            let kmers = bubble.kmers(&graph);
            for &way in &bubble.kept {
                let share = u128::from(lost) * u128::from(graph.kmers(way)) / u128::from(kmers);
                counts[way.node()] += u64::try_from(share).unwrap_or(u64::MAX);
            }
            bubble.goes.iter().for_each(|way| goes[way.node()] = true);
            went += bubble.goes.len() as u64;
        }
        if went == 0 {
            return (graph, all);
        }
        all += went;
        let mut pieces = Pieces::default();
        for way in graph.nodes().filter(|way| !goes[way.node()]) {
            pieces.push_bases(graph.bases(way), counts[way.node()]);
        }
        graph = compact(graph.k(), &pieces, threads);
    }
}

/// Edges from a node to what tells whether it is a side of a bubble.
pub const SEEN: usize = 2;

/// For each node of this process whether it is a side of a bubble.
pub fn sides(halo: &Halo) -> Vec<bool> {
    let graph = halo.graph();
    let is_side = |way: Way| {
        let Some(from) = graph.before(way).next() else {
            return false;
        };
        let to = between(graph, from, way);
        let mut others = graph.next(from).iter().filter(|&&other| other != way);
        to.is_some() && others.any(|&other| between(graph, from, other) == to)
    };
    halo.own().map(is_side).collect()
}

/// Ways from one node to another, of which one is kept.
struct Bubble {
    from: Way,
    to: Way,
    kept: Vec<Way>,
    goes: Vec<Way>,
}

impl Bubble {
    fn sides(&self) -> impl Iterator<Item = &Way> {
        self.kept.iter().chain(&self.goes)
    }

    /// k-mers of the way that is kept.
    fn kmers(&self, graph: &Graph) -> u64 {
        self.kept.iter().map(|&way| graph.kmers(way)).sum()
    }
}

/// The bubbles of strains.
fn bubbles(graph: &Graph, alike: Alike) -> Vec<Bubble> {
    let mut bubbles = Vec::new();
    for from in graph.ways().filter(|&from| graph.next(from).len() > 1) {
        // Each bubble is seen from both of its ends, and once is enough.
        let whole = Superbubble::begun_by(graph, from).filter(|whole| whole.to.flipped() >= from);
        match whole.and_then(|whole| whole.of_strains(graph, alike.one_in)) {
            Some(bubble) => bubbles.push(bubble),
            None => bubbles.extend(parts(graph, from, alike.one_in)),
        }
    }
    let rows = Rows::of(graph, &bubbles);
    bubbles.retain(|bubble| rows.is_long(graph, bubble, alike.row));
    bubbles
}

/// Two nodes, from one of which all ways lead to the other, and those between.
struct Superbubble {
    from: Way,
    to: Way,
    inside: Vec<Way>,
}

impl Superbubble {
    /// That of a node where all ways from it meet.
    fn begun_by(graph: &Graph, from: Way) -> Option<Superbubble> {
        let (mut inside, mut seen, mut ready) = (Vec::new(), Vec::new(), vec![from]);
        while let Some(way) = ready.pop() {
            if way != from {
                seen.retain(|&one| one != way);
                inside.push(way);
            }
            if inside.len() > MOST_INSIDE || graph.next(way).is_empty() {
                return None;
            }
            for &to in graph.next(way) {
                let is_there = |one: &Way| one.node() == to.node();
                let turned = |one: &Way| is_there(one) && *one != to;
                if is_there(&from) || inside.iter().any(is_there) || seen.iter().any(turned) {
                    return None;
                }
                if !seen.contains(&to) {
                    seen.push(to);
                }
                let is_passed = |one: Way| one == from || inside.contains(&one);
                if graph.before(to).all(is_passed) {
                    ready.push(to);
                }
            }
            if let (&[to], &[only]) = (&ready[..], &seen[..])
                && to == only
            {
                let leads_back = graph.next(to).iter().any(|one| one.node() == from.node());
                return (!leads_back).then_some(Superbubble { from, to, inside });
            }
        }
        None
    }

    /// All its ways as a bubble, where all are like the best covered one.
    fn of_strains(&self, graph: &Graph, one_in: usize) -> Option<Bubble> {
        let kept = self.best(graph, None)?;
        let best = letters(graph, &kept);
        let others = self.inside.iter().filter(|way| !kept.contains(way));
        let goes: Vec<Way> = others.copied().collect();
        let is_alike = |&way: &Way| {
            let other = self.best(graph, Some(way));
            other.is_some_and(|other| are_alike(&best, &letters(graph, &other), one_in))
        };
        goes.iter().all(is_alike).then_some(Bubble {
            from: self.from,
            to: self.to,
            kept,
            goes,
        })
    }

    /// The way on which each node is the best covered of those that follow: through a node, or any.
    fn best(&self, graph: &Graph, through: Option<Way>) -> Option<Vec<Way>> {
        let is_inside = |way: &Way| self.inside.contains(way);
        let mut ways: Vec<Way> = through.into_iter().collect();
        while let Some(&first) = ways.last()
            && graph.before(first).all(|one| one != self.from)
        {
            ways.push(best_of(graph, graph.before(first).filter(is_inside))?);
        }
        ways.reverse();
        let mut last = through.unwrap_or(self.from);
        let next = |way| graph.next(way).iter().copied().filter(is_inside);
        while let Some(next) = best_of(graph, next(last)) {
            ways.push(next);
            last = next;
        }
        (!ways.is_empty() && graph.next(last).contains(&self.to)).then_some(ways)
    }
}

/// The bases of nodes that follow each other.
fn letters(graph: &Graph, ways: &[Way]) -> Vec<u8> {
    let mut letters = graph.codes(ways[0]);
    for &way in &ways[1..] {
        let next = graph.bases(way);
        next.behind(graph.k() - 1).append_codes(&mut letters);
    }
    letters
}

/// Bubbles of single nodes that lie side by side, where other ways leave the first node too.
fn parts(graph: &Graph, from: Way, one_in: usize) -> Vec<Bubble> {
    let next = graph.next(from).iter();
    let mut sides: Vec<(Way, Way)> = next
        .filter_map(|&side| Some((between(graph, from, side)?, side)))
        .collect();
    sides.sort_unstable_by_key(|side| side.0);
    let groups = sides.chunk_by(|one, other| one.0 == other.0);
    let bubble = |equal: &[(Way, Way)]| {
        let to = equal[0].0;
        let all = equal.iter().map(|side| side.1);
        let best = best_of(graph, all.clone())?;
        let of_best = graph.codes(best);
        let is_alike =
            |&side: &Way| side != best && are_alike(&graph.codes(side), &of_best, one_in);
        let goes: Vec<Way> = all.filter(is_alike).collect();
        (!goes.is_empty()).then_some(Bubble {
            from,
            to,
            kept: vec![best],
            goes,
        })
    };
    let seen = groups.filter(|equal| equal[0].0.flipped() >= from);
    seen.filter_map(bubble).collect()
}

/// Bubbles in a row: where one ends another begins.
struct Rows(HashMap<Way, (Way, u64)>);

impl Rows {
    fn of(graph: &Graph, bubbles: &[Bubble]) -> Rows {
        let mut rows = HashMap::new();
        for bubble in bubbles {
            let kmers = bubble.kmers(graph);
            rows.insert(bubble.from, (bubble.to, kmers));
            rows.insert(bubble.to.flipped(), (bubble.from.flipped(), kmers));
        }
        Rows(rows)
    }

    /// Whether the row of a bubble is so long, or ends where nothing follows.
    fn is_long(&self, graph: &Graph, bubble: &Bubble, least: u64) -> bool {
        let mut kmers = bubble.kmers(graph);
        for mut way in [bubble.to, bubble.from.flipped()] {
            kmers += graph.kmers(way);
            while let Some(&(to, between)) = self.0.get(&way).filter(|_| kmers < least) {
                kmers += between + graph.kmers(to);
                way = to;
            }
            if graph.next(way).is_empty() {
                return true;
            }
        }
        kmers >= least
    }
}

/// The node behind `side` that it leads to from `from`, where it leads nowhere else.
fn between(graph: &Graph, from: Way, side: Way) -> Option<Way> {
    let ([to], [_]) = (graph.next(side), graph.next(side.flipped())) else {
        return None;
    };
    let nodes = [from.node(), side.node(), to.node()];
    let differ = nodes[0] != nodes[1] && nodes[1] != nodes[2] && nodes[0] != nodes[2];
    differ.then_some(*to)
}

/// The best covered.
fn best_of(graph: &Graph, ways: impl Iterator<Item = Way>) -> Option<Way> {
    ways.reduce(|best, way| match is_better(graph, way, best) {
        true => way,
        false => best,
    })
}

/// Whether the coverage of one is better; of equal ones the first in the order of the graph is.
fn is_better(graph: &Graph, one: Way, other: Way) -> bool {
    let of = |way: Way| (u128::from(graph.count(way)), u128::from(graph.kmers(way)));
    let ((a, a_kmers), (b, b_kmers)) = (of(one), of(other));
    (a * b_kmers, other.node()) > (b * a_kmers, one.node())
}

/// Whether so few bases differ, are missing or are too many that both are of strains.
fn are_alike(one: &[u8], other: &[u8], one_in: usize) -> bool {
    let longer = one.len().max(other.len());
    let most = longer / one_in;
    if longer > LONGEST || one.len().abs_diff(other.len()) > most {
        return false;
    }
    // For each diagonal how far so many differences reach in `one` (Ukkonen, Myers).
    let middle = most + 1;
    let mut reach = vec![-1isize; 2 * middle + 1];
    let goal = (middle + one.len()) as isize - other.len() as isize;
    for differences in 0..=most {
        let mut next = reach.clone();
        for diagonal in middle - differences..=middle + differences {
            let before = if diagonal == 0 {
                -1
            } else {
                reach[diagonal - 1] + 1
            };
            let behind = reach.get(diagonal + 1).copied().unwrap_or(-1);
            let start = before.max(reach[diagonal] + 1).max(behind);
            let start = if differences == 0 { 0 } else { start };
            let mut at = start.min(one.len() as isize);
            let place = |at: isize| usize::try_from(at + middle as isize - diagonal as isize).ok();
            while let Some(place) = place(at)
                && (at as usize) < one.len()
                && other.get(place) == Some(&one[at as usize])
            {
                at += 1;
            }
            next[diagonal] = at;
        }
        reach = next;
        if reach[goal as usize] >= one.len() as isize {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use gyrase_kmer::mix;
    use proptest::prelude::*;

    use super::*;

    const K: usize = 21;

    fn genome(letters: u64) -> Vec<u8> {
        (0..letters).map(|at| (mix(at) >> 62) as u8).collect()
    }

    /// The graph of genomes, each with how often it was read.
    fn graph_of<'g>(genomes: impl IntoIterator<Item = (&'g Vec<u8>, u64)>) -> Graph {
        let mut kmers: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        for (codes, count) in genomes {
            for window in codes.windows(K) {
                let other: Vec<u8> = window.iter().rev().map(|code| 3 - code).collect();
                *kmers.entry(other.min(window.to_vec())).or_default() += count;
            }
        }
        let mut pieces = Pieces::default();
        kmers
            .iter()
            .for_each(|(codes, &count)| pieces.push(codes, count));
        compact(K, &pieces, 1)
    }

    #[test]
    fn of_two_strains_the_better_covered_is_kept() {
        let genome = genome(200);
        let mut strain = genome.clone();
        strain[60] ^= 1;
        strain.remove(130);
        for (counts, kept) in [([9, 5], &genome), ([5, 9], &strain)] {
            let graph = graph_of([&genome, &strain].into_iter().zip(counts));
            assert_eq!(graph.len(), 7);
            let (collapsed, went) = collapsed(graph, AT_THE_END, 1);
            assert_eq!((collapsed.len(), went), (1, 2));
            let codes = collapsed.codes(Way::forward(0));
            let other: Vec<u8> = kept.iter().rev().map(|code| 3 - code).collect();
            assert!(codes == *kept || codes == other);
        }
    }

    #[test]
    fn copies_of_a_repeat_are_kept_where_the_row_is_to_be_longer() {
        let mut letters = genome(1000);
        letters.copy_within(100..200, 700);
        letters[750] ^= 1;
        let graph = || graph_of([(&letters, 5)]);
        for (row, kept) in [(0, false), (80, false), (110, true), (600, true)] {
            let alike = Alike { one_in: 10, row };
            assert_eq!(collapsed(graph(), alike, 1).1 == 0, kept, "{row}");
        }
        // Strains of as much, which end where nothing follows.
        let (one, mut other) = (letters[..400].to_vec(), letters[..400].to_vec());
        other[150] ^= 1;
        let graph = graph_of([(&one, 5), (&other, 3)]);
        assert_eq!(collapsed(graph, BETWEEN, 1).1, 1);
    }

    /// Edits by the whole table.
    fn distance(one: &[u8], other: &[u8]) -> usize {
        let mut row: Vec<usize> = (0..=other.len()).collect();
        for (i, a) in one.iter().enumerate() {
            let mut before = row[0];
            row[0] = i + 1;
            for (j, b) in other.iter().enumerate() {
                let change = before + usize::from(a != b);
                before = row[j + 1];
                row[j + 1] = change.min(before + 1).min(row[j] + 1);
            }
        }
        row[other.len()]
    }

    proptest! {
        #[test]
        fn strains_are_one_however_near_their_bases_differ(
            differ in proptest::collection::vec((25..95usize, 0..3usize, 1..4u8), 1..5),
            counts in [1..9u64, 1..9u64, 1..9u64],
        ) {
            let genome = genome(120);
            let mut strains = [genome.clone(), genome.clone(), genome.clone()];
            for (place, strain, change) in differ {
                strains[strain][place] = genome[place] ^ change;
            }
            let graph = graph_of(strains.iter().zip(counts));
            let total: u64 = graph.nodes().map(|way| graph.count(way)).sum();
            let (collapsed, _) = collapsed(graph, Alike { one_in: 4, row: 0 }, 1);
            prop_assert_eq!(collapsed.len(), 1);
            let way = Way::forward(0);
            let is_of_strains = |codes: &[u8]| {
                let there = |(at, code)| strains.iter().any(|strain| strain.get(at) == Some(code));
                codes.len() == genome.len() && codes.iter().enumerate().all(there)
            };
            let ways = [way, way.flipped()];
            prop_assert!(ways.iter().any(|&way| is_of_strains(&collapsed.codes(way))));
            // What is shared out is rounded.
            prop_assert!(total - collapsed.count(way) < 100);
        }

        #[test]
        fn alike_is_what_few_edits_make_of_each_other(
            one in proptest::collection::vec(0..4u8, 1..60),
            edits in proptest::collection::vec((0..60usize, 0..3u8, 0..4u8), 0..8),
        ) {
            let mut other = one.clone();
            for (place, edit, code) in edits {
                let place = place % other.len().max(1);
                match edit {
                    0 => other.insert(place, code),
                    1 if other.len() > 1 => drop(other.remove(place)),
                    _ => other[place] = code,
                }
            }
            let most = one.len().max(other.len()) / 10;
            prop_assert_eq!(are_alike(&one, &other, 10), distance(&one, &other) <= most);
        }
    }
}
