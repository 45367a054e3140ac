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

mod bubble;
mod rows;

use gyrase_fabric::{FabricError, World};
use gyrase_kmer::with_words;

use crate::Error;
use crate::among::Among;
use crate::graph::{Halo, Pieces, SharedGraph, Way, compact_among, shape_of};
use bubble::Bubble;

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
///
/// Collective.
///
/// # Errors
/// Another process failed, or somebody cancelled.
pub fn collapsed(
    mut graph: SharedGraph,
    alike: Alike,
    among: &Among,
) -> Result<(SharedGraph, u64), Error> {
    let mut all = 0;
    loop {
        among.progress.start("strains", 0);
        let bubbles = rows::long(
            bubbles(&graph, alike.one_in, among)?,
            alike.row,
            &graph,
            among,
        )?;
        let Collapse { goes, counts } = Collapse::of(&bubbles, &graph, among)?;
        let went = among.sum(goes.iter().filter(|&&goes| goes).count())?;
        if went == 0 {
            return Ok((graph, all));
        }
        all += went;
        let (own, mut pieces) = (graph.own(), Pieces::default());
        for way in own.nodes().filter(|way| !goes[way.node()]) {
            pieces.push_bases(own.bases(way), counts[way.node()]);
        }
        let k = graph.k();
        drop(graph);
        graph = with_words!(shape_of(k), W => compact_among::<W>(k, &pieces, among))?;
    }
}

/// What becomes of the nodes of this process.
struct Collapse {
    goes: Vec<bool>,
    counts: Vec<u64>,
}

impl Collapse {
    /// Of two bubbles that take the same node, or of which one takes what the other keeps, the
    /// first goes on: what is left of the other is seen in the next round.
    ///
    /// Collective.
    fn of(bubbles: &[Bubble], graph: &SharedGraph, among: &Among) -> Result<Collapse, Error> {
        let own = graph.own();
        let (mut goes, mut added) = (Vec::new(), Vec::new());
        let firsts = first_takers(bubbles, graph, among)?;
        for (bubble, first) in bubbles.iter().zip(firsts) {
            if first >= bubble.order {
                goes.extend(bubble.goes.iter().map(|&(way, _)| (way, 0)));
                added.extend(bubble.shares());
            }
        }
        let mut collapse = Collapse {
            goes: vec![false; own.len()],
            counts: own.nodes().map(|way| own.count(way)).collect(),
        };
        graph.tell(&goes, among, |own, _| collapse.goes[own.node()] = true)?;
        graph.tell(&added, among, |own, share| {
            collapse.counts[own.node()] += share
        })?;
        Ok(collapse)
    }
}

/// For each bubble the order of the first that takes one of its sides.
///
/// Collective.
fn first_takers(bubbles: &[Bubble], graph: &SharedGraph, among: &Among) -> Result<Vec<u64>, Error> {
    let mut first = vec![u64::MAX; graph.own().len()];
    let mut taken = Vec::new();
    for bubble in bubbles {
        taken.extend(bubble.goes.iter().map(|&(way, _)| (way, bubble.order)));
    }
    graph.tell(&taken, among, |own, order| {
        let first = &mut first[own.node()];
        *first = order.min(*first);
    })?;
    let sides: Vec<Way> = bubbles.iter().flat_map(Bubble::sides).collect();
    let answers = among.ask(
        &sides,
        |way| graph.question(way),
        |way| first[graph.own_way(Way::of_bytes(way)).node()].to_le_bytes(),
    )?;
    let mut answers = answers.into_iter().map(u64::from_le_bytes);
    let least = |bubble: &Bubble| {
        let sides = answers.by_ref().take(bubble.sides().count());
        sides.min().unwrap_or(u64::MAX)
    };
    Ok(bubbles.iter().map(least).collect())
}

/// For each node of this process whether it is a side of a bubble.
///
/// Collective.
pub fn sides(graph: &SharedGraph, world: &dyn World) -> Result<Vec<bool>, FabricError> {
    let mut halo = Halo::of(graph);
    let nodes = halo.own();
    halo.seen(nodes, world, |halo, &way| {
        if let Some(from) = halo.before(way).next()
            && halo.has_siblings(way)
        {
            let to = between(halo, from, way);
            let mut others = halo.siblings(way.flipped()).map(Way::flipped);
            to.is_some() && others.any(|other| between(halo, from, other) == to)
        } else {
            false
        }
    })
}

/// Two nodes, and the ways between them of which one is kept.
struct Sides {
    from: Way,
    to: Way,
    kept: Vec<Way>,
    goes: Vec<Way>,
}

impl Sides {
    /// As one of the bubbles that begin at a way.
    fn numbered(self, halo: &Halo, part: usize) -> Bubble {
        let ends = [self.from, self.to];
        let kept = self.kept.iter().map(|&way| (way, halo.kmers(way)));
        let goes = self.goes.iter().map(|&way| (way, halo.count(way)));
        Bubble {
            order: (ends[0].index() as u64) << 32 | part as u64,
            ends,
            kept: kept.collect(),
            goes: goes.collect(),
        }
    }
}

/// The bubbles of strains that begin at nodes of this process.
///
/// Collective.
fn bubbles(graph: &SharedGraph, one_in: usize, among: &Among) -> Result<Vec<Bubble>, Error> {
    let own = graph.own();
    let forks = own.ways().filter(|&way| own.next(way).len() > 1);
    let begun = Halo::of(graph).seen(forks, among.world, |halo, &way| {
        let sides = begun_by(halo, graph.number(way), one_in).into_iter();
        let begun = sides
            .zip(0..)
            .map(|(sides, part)| sides.numbered(halo, part));
        begun.collect::<Vec<Bubble>>()
    })?;
    let mut bubbles: Vec<Bubble> = begun.into_iter().flatten().collect();
    bubbles.sort_unstable_by_key(|bubble| bubble.order);
    Ok(bubbles)
}

/// The bubbles of strains that begin at a way.
fn begun_by(halo: &Halo, from: Way, one_in: usize) -> Vec<Sides> {
    // Only the first node of a bubble leads to its sides.
    if halo.has_siblings(from) {
        return Vec::new();
    }
    // Each bubble is seen from both of its ends, and once is enough.
    let whole = Superbubble::begun_by(halo, from).filter(|whole| whole.to.flipped() >= from);
    match whole.and_then(|whole| whole.of_strains(halo, one_in)) {
        Some(sides) => vec![sides],
        None => parts(halo, from, one_in),
    }
}

/// Two nodes, from one of which all ways lead to the other, and those between.
struct Superbubble {
    from: Way,
    to: Way,
    inside: Vec<Way>,
}

impl Superbubble {
    /// That of a node where all ways from it meet.
    fn begun_by(halo: &Halo, from: Way) -> Option<Superbubble> {
        // What was come to is seen once from each way that leads there and was passed.
        let (mut inside, mut seen, mut ready) = (Vec::new(), Vec::new(), vec![from]);
        while let Some(way) = ready.pop() {
            // All that is ready is asked for together.
            let Some(next) = halo.known_next(way) else {
                continue;
            };
            if way != from {
                seen.retain(|&one| one != way);
                inside.push(way);
            }
            let in_degree = halo.in_degree_of_next(way);
            if inside.len() > MOST_INSIDE || next.is_empty() {
                return None;
            }
            for &to in next {
                let is_there = |one: &Way| one.node() == to.node();
                let turned = |one: &Way| is_there(one) && *one != to;
                if is_there(&from) || inside.iter().any(is_there) || seen.iter().any(turned) {
                    return None;
                }
                seen.push(to);
                if seen.iter().filter(|&&one| one == to).count() == in_degree {
                    ready.push(to);
                }
            }
            if let &[to] = &ready[..]
                && seen.iter().all(|&one| one == to)
            {
                let leads_back = halo.next(to).iter().any(|one| one.node() == from.node());
                return (!leads_back).then_some(Superbubble { from, to, inside });
            }
        }
        None
    }

    /// All its ways as a bubble, where all are like the best covered one.
    fn of_strains(&self, halo: &Halo, one_in: usize) -> Option<Sides> {
        let kept = self.best(halo, None)?;
        let others = self.inside.iter().filter(|way| !kept.contains(way));
        let goes: Vec<Way> = others.copied().collect();
        let is_alike = |&way: &Way| {
            let other = self.best(halo, Some(way));
            other.is_some_and(|other| are_strains(halo, &kept, &other, one_in))
        };
        goes.iter().all(is_alike).then_some(Sides {
            from: self.from,
            to: self.to,
            kept,
            goes,
        })
    }

    /// The way on which each node is the best covered of those that follow: through a node, or any.
    fn best(&self, halo: &Halo, through: Option<Way>) -> Option<Vec<Way>> {
        let is_inside = |way: &Way| self.inside.contains(way);
        let mut ways: Vec<Way> = through.into_iter().collect();
        while let Some(&first) = ways.last()
            && halo.before(first).all(|one| one != self.from)
        {
            ways.push(best_of(halo, halo.before(first).filter(is_inside))?);
        }
        ways.reverse();
        let mut last = through.unwrap_or(self.from);
        let next = |way| halo.next(way).iter().copied().filter(is_inside);
        while let Some(next) = best_of(halo, next(last)) {
            ways.push(next);
            last = next;
        }
        (!ways.is_empty() && halo.next(last).contains(&self.to)).then_some(ways)
    }
}

/// Whether ways through nodes that follow each other are so alike that both are of strains.
fn are_strains(halo: &Halo, one: &[Way], other: &[Way], one_in: usize) -> bool {
    let overlap = halo.k() - 1;
    let length = |ways: &[Way]| {
        overlap
            + ways
                .iter()
                .map(|&way| halo.kmers(way) as usize)
                .sum::<usize>()
    };
    if !may_be_alike([one, other].map(length), one_in) {
        return false;
    }
    let letters = |ways: &[Way]| {
        let mut letters = halo.codes(ways[0]);
        for &way in &ways[1..] {
            letters.extend_from_slice(&halo.codes(way)[overlap..]);
        }
        letters
    };
    are_alike(&letters(one), &letters(other), one_in)
}

/// Bubbles of single nodes that lie side by side, where other ways leave the first node too.
fn parts(halo: &Halo, from: Way, one_in: usize) -> Vec<Sides> {
    let next = halo.next(from).iter();
    let mut sides: Vec<(Way, Way)> = next
        .filter_map(|&side| Some((between(halo, from, side)?, side)))
        .collect();
    sides.sort_unstable_by_key(|side| side.0);
    let groups = sides.chunk_by(|one, other| one.0 == other.0);
    let bubble = |equal: &[(Way, Way)]| {
        let to = equal[0].0;
        let all = equal.iter().map(|side| side.1);
        let best = best_of(halo, all.clone())?;
        let is_alike = |&side: &Way| side != best && are_strains(halo, &[side], &[best], one_in);
        let goes: Vec<Way> = all.filter(is_alike).collect();
        (!goes.is_empty()).then_some(Sides {
            from,
            to,
            kept: vec![best],
            goes,
        })
    };
    let seen = groups.filter(|equal| equal[0].0.flipped() >= from);
    seen.filter_map(bubble).collect()
}

/// The node behind `side` that it leads to from `from`, where it leads nowhere else.
fn between(halo: &Halo, from: Way, side: Way) -> Option<Way> {
    let ([to], [_]) = (halo.next(side), halo.next(side.flipped())) else {
        return None;
    };
    let nodes = [from.node(), side.node(), to.node()];
    let differ = nodes[0] != nodes[1] && nodes[1] != nodes[2] && nodes[0] != nodes[2];
    differ.then_some(*to)
}

/// The best covered.
fn best_of(halo: &Halo, ways: impl Iterator<Item = Way>) -> Option<Way> {
    ways.reduce(|best, way| match is_better(halo, way, best) {
        true => way,
        false => best,
    })
}

/// Whether the coverage of one is better; of equal ones the first in the order of the graph is.
fn is_better(halo: &Halo, one: Way, other: Way) -> bool {
    let of = |way: Way| (u128::from(halo.count(way)), u128::from(halo.kmers(way)));
    let ((a, a_kmers), (b, b_kmers)) = (of(one), of(other));
    (a * b_kmers, other.node()) > (b * a_kmers, one.node())
}

/// Whether sequences of such lengths may be alike.
fn may_be_alike([one, other]: [usize; 2], one_in: usize) -> bool {
    let longer = one.max(other);
    longer <= LONGEST && one.abs_diff(other) <= longer / one_in
}

/// Whether so few bases differ, are missing or are too many that both are of strains.
fn are_alike(one: &[u8], other: &[u8], one_in: usize) -> bool {
    if !may_be_alike([one.len(), other.len()], one_in) {
        return false;
    }
    let most = one.len().max(other.len()) / one_in;
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
    use gyrase_fabric::testing::run;
    use gyrase_fabric::{Alone, Steal};
    use gyrase_kmer::mix;
    use gyrase_work::Progress;
    use proptest::prelude::*;

    use super::*;
    use crate::graph::{Graph, compact};

    fn collapse(graph: Graph, alike: Alike) -> (Graph, u64) {
        let progress = Progress::default();
        let among = Among::of_test(&Alone, &progress);
        let (graph, went) = collapsed(SharedGraph::alone(graph), alike, &among).unwrap();
        (graph.own().clone(), went)
    }

    const K: usize = 21;

    fn genome(letters: u64) -> Vec<u8> {
        (0..letters).map(|at| (mix(at) >> 62) as u8).collect()
    }

    /// The graph of genomes, each with how often it was read.
    fn graph_of<'g>(genomes: impl IntoIterator<Item = (&'g Vec<u8>, u64)>) -> Graph {
        compact(K, &Pieces::of_texts(K, genomes), 1)
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
            let (collapsed, went) = collapse(graph, AT_THE_END);
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
            assert_eq!(collapse(graph(), alike).1 == 0, kept, "{row}");
        }
        // Strains of as much, which end where nothing follows.
        let (one, mut other) = (letters[..400].to_vec(), letters[..400].to_vec());
        other[150] ^= 1;
        let graph = graph_of([(&one, 5), (&other, 3)]);
        assert_eq!(collapse(graph, BETWEEN).1, 1);
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
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn strains_are_one_however_near_their_bases_differ(
            differ in proptest::collection::vec((25..95usize, 0..3usize, 1..4u8), 1..5),
            counts in [1..9u64, 1..9u64, 1..9u64],
            ranks in 2..4usize,
        ) {
            let genome = genome(120);
            let mut strains = [genome.clone(), genome.clone(), genome.clone()];
            for (place, strain, change) in differ {
                strains[strain][place] = genome[place] ^ change;
            }
            let graph = graph_of(strains.iter().zip(counts));
            let total: u64 = graph.nodes().map(|way| graph.count(way)).sum();
            let alike = Alike { one_in: 4, row: 0 };
            let shared = run(ranks, Steal::default(), |process| {
                let progress = Progress::default();
                let among = Among::of_test(process, &progress);
                let own = SharedGraph::share_of(graph.clone(), process)?;
                let (graph, went) = collapsed(own, alike, &among)?;
                Ok::<_, Error>((graph.copied(process)?, went))
            });
            let (collapsed, went) = collapse(graph, alike);
            for shared in shared {
                let (shared, went_there) = shared.unwrap();
                prop_assert_eq!((shared.told(), went_there), (collapsed.told(), went));
            }
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
