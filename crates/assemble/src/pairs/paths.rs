//! Which nodes follow each other, and by which way through the graph.

use std::collections::HashMap;

use gyrase_fabric::{FabricError, Numbers};

use super::inserts::Inserts;
use super::known::{Known, linked, typical};
use super::links::{Link, Links};
use crate::among::Among;
use crate::config::Sample;
use crate::graph::{Halo, SharedGraph, Way};
use crate::records::take_number;

/// Links that a join needs.
const LEAST_LINKS: u64 = 4;
/// A candidate with less than one in so many links of another is a mistake of anchors.
const RARE: u64 = 5;
/// Nodes that are looked at between two others.
const MOST_STEPS: usize = 2000;
/// Ways between two nodes that are told apart.
const MOST_PATHS: usize = 16;

/// Two nodes that follow each other, and what is between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    /// The first.
    pub from: Way,
    /// The nodes between.
    pub path: Vec<Way>,
    /// Bases of the last that the one before it ends with.
    pub overlap: usize,
    /// The last.
    pub to: Way,
    /// Pairs that say so.
    pub pairs: u64,
}

/// Two nodes that follow each other, where several ways between them fit, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenJoin {
    /// The first.
    pub from: Way,
    /// The bases between, as pairs tell them; below 0 where both overlap.
    pub gap: i64,
    /// The other.
    pub to: Way,
    /// Pairs that say so.
    pub pairs: u64,
}

impl Numbers for Join {
    fn put(&self, to: &mut Vec<u64>) {
        let ways = [self.from, self.to].map(Way::index);
        (ways, (self.overlap, self.pairs)).put(to);
        self.path.len().put(to);
        self.path.iter().for_each(|way| way.index().put(to));
    }

    fn take(from: &mut std::vec::IntoIter<u64>) -> Join {
        let (ways, (overlap, pairs)) = <([usize; 2], (usize, u64))>::take(from);
        let [first, to] = ways.map(Way::of_index);
        let path = 0..usize::take(from);
        Join {
            from: first,
            path: path.map(|_| Way::of_index(usize::take(from))).collect(),
            overlap,
            to,
            pairs,
        }
    }
}

impl Numbers for OpenJoin {
    fn put(&self, to: &mut Vec<u64>) {
        let ways = [self.from, self.to].map(Way::index);
        (ways, [self.gap as u64, self.pairs]).put(to);
    }

    fn take(from: &mut std::vec::IntoIter<u64>) -> OpenJoin {
        let (ways, [gap, pairs]) = <([usize; 2], [u64; 2])>::take(from);
        let [from, to] = ways.map(Way::of_index);
        let gap = gap as i64;
        OpenJoin {
            from,
            gap,
            to,
            pairs,
        }
    }
}

/// The joins that begin at nodes of this process, and what stays open there: in the order of these.
///
/// Collective.
///
/// # Errors
/// Another process failed.
pub fn joins(
    graph: &SharedGraph,
    links: &Links,
    inserts: &Inserts,
    sample: Sample,
    among: &Among,
) -> Result<(Vec<Join>, Vec<OpenJoin>), FabricError> {
    let resolver = Resolver::new(graph, links, inserts, sample, among)?;
    let wanted = resolver.agreed(among)?;
    let behind = resolver.behind(&wanted, among)?;
    let paths = Halo::of(graph).seen(&wanted, among.world, |halo, &&(join, link)| {
        resolver.paths(halo, join, link)
    })?;
    let (mut joins, mut open) = (Vec::new(), Vec::new());
    for (&(join, _), paths) in wanted.iter().zip(paths) {
        let OpenJoin {
            from, to, pairs, ..
        } = join;
        match paths.and_then(|paths| resolver.only(join, paths, &behind)) {
            Some(path) => joins.push(Join {
                from,
                path,
                overlap: graph.k() - 1,
                to,
                pairs,
            }),
            None => open.push(join),
        }
    }
    Ok((joins, open))
}

/// Links from one way, by the ways that they lead to.
type Ahead = Vec<(Way, Link)>;

struct Resolver<'g> {
    graph: &'g SharedGraph,
    inserts: &'g Inserts,
    /// The nodes of links, by their numbers.
    known: HashMap<usize, Known>,
    /// What a genome has once has about the coverage of this; nothing where that is for the
    /// coverage of two nodes to say, which then is about the same.
    typical: Option<Known>,
    mixed: bool,
    /// For each way of this process the ways that links lead to, ascending.
    ahead: HashMap<Way, Ahead>,
}

impl<'g> Resolver<'g> {
    /// Collective.
    fn new(
        graph: &'g SharedGraph,
        links: &Links,
        inserts: &'g Inserts,
        sample: Sample,
        among: &Among,
    ) -> Result<Resolver<'g>, FabricError> {
        let mut ahead: HashMap<Way, Ahead> = HashMap::new();
        for (&(from, to), &link) in links {
            ahead.entry(from).or_default().push((to, link));
        }
        let lists = ahead.values_mut();
        lists.for_each(|ahead| ahead.sort_unstable_by_key(|ahead| ahead.0));
        let typical = match sample {
            Sample::Isolate => typical(graph, among)?,
            Sample::Metagenome { .. } => None,
        };
        Ok(Resolver {
            known: linked(graph, links, among)?,
            mixed: sample.is_mixed(),
            typical,
            graph,
            inserts,
            ahead,
        })
    }

    fn known(&self, way: Way) -> &Known {
        &self.known[&way.node()]
    }

    /// Whether a genome has a node once, or may have it: it is long enough for mates to tell.
    fn is_unique(&self, way: Way) -> bool {
        let known = self.known(way);
        let is_once = |typical: &Known| known.is_once(typical);
        known.length >= 2 * self.graph.k() && (self.mixed || self.typical.iter().any(is_once))
    }

    fn edge(&self) -> i64 {
        self.graph.k() as i64
    }

    fn gap(&self, from: Way, to: Way, link: Link) -> i64 {
        let lengths = [from, to].map(|way| self.known(way).length as i64);
        self.inserts
            .gap(link.pairs, link.bases, lengths, self.edge())
    }

    /// The next node that a genome has once, how far it is, and what says so; nothing where links
    /// contradict each other.
    fn next(&self, from: Way) -> Option<(Way, i64, Link)> {
        let mut candidates: Vec<(Way, i64, Link)> = self.ahead[&from]
            .iter()
            .filter(|(to, link)| link.pairs >= LEAST_LINKS && self.is_unique(*to))
            .filter(|(to, _)| !self.mixed || self.known(from).is_near(self.known(*to)))
            .map(|&(to, link)| (to, self.gap(from, to, link), link))
            .collect();
        let most = candidates.iter().map(|found| found.2.pairs).max()?;
        candidates.retain(|found| found.2.pairs * RARE >= most);
        candidates.sort_by_key(|&(to, gap, _)| (gap, to));
        let (first, others) = candidates.split_first()?;
        let end = first.1 + self.known(first.0).length as i64;
        let behind = |other: &(Way, i64, Link)| {
            let doubt = self.inserts.doubt(first.2.pairs) + self.inserts.doubt(other.2.pairs);
            other.1 + self.edge() + doubt >= end
        };
        others.iter().all(behind).then_some(*first)
    }

    /// The nodes that are the next of each other, each two once: at the process of that with the
    /// lesser number, in the order of these.
    ///
    /// Collective.
    fn agreed(&self, among: &Among) -> Result<Vec<(OpenJoin, Link)>, FabricError> {
        let mut ways: Vec<Way> = self.ahead.keys().copied().collect();
        ways.retain(|&way| self.is_unique(way));
        ways.sort_unstable();
        let next = |&from: &Way| Some((from, self.next(from)?));
        let nexts: HashMap<Way, _> = ways.iter().filter_map(next).collect();
        let firsts: Vec<Way> = ways
            .into_iter()
            .filter(|way| nexts.contains_key(way))
            .collect();
        let question = |from: Way| self.graph.question(nexts[&from].0.flipped());
        let answers = among.ask(&firsts, question, |way| {
            let next = nexts.get(&Way::of_bytes(way));
            next.map_or([u8::MAX; 4], |next| next.0.to_bytes())
        })?;
        let of_both = |(from, back): (Way, [u8; 4])| {
            let (to, gap, link) = nexts[&from];
            let is_agreed = back == from.flipped().to_bytes() && to.flipped() >= from;
            let pairs = link.pairs;
            is_agreed.then_some((
                OpenJoin {
                    from,
                    gap,
                    to,
                    pairs,
                },
                link,
            ))
        };
        Ok(firsts
            .into_iter()
            .zip(answers)
            .filter_map(of_both)
            .collect())
    }

    /// The links that lead back from where each join ends.
    ///
    /// Collective.
    fn behind(
        &self,
        joins: &[(OpenJoin, Link)],
        among: &Among,
    ) -> Result<HashMap<Way, Ahead>, FabricError> {
        let ends: Vec<Way> = joins.iter().map(|(join, _)| join.to.flipped()).collect();
        let mut behind = HashMap::new();
        let answer = |own: Way, bytes: &mut Vec<u8>| {
            let ahead = self.ahead.get(&self.graph.number(own));
            let ahead = ahead.map_or(&[][..], Vec::as_slice);
            bytes.extend((ahead.len() as u64).to_le_bytes());
            let link = |&(to, link): &(Way, Link)| link.to_bytes((own, to));
            bytes.extend(ahead.iter().flat_map(link));
        };
        let take = |end: Way, from: &mut &[u8]| {
            let links = (0..take_number(from)).map(|_| {
                let (link, rest) = from.split_first_chunk().expect("as many as were told");
                *from = rest;
                let ((_, to), link) = Link::of_bytes(*link);
                (to, link)
            });
            behind.insert(end, links.collect());
        };
        self.graph.ask(&ends, among.world, answer, take)?;
        Ok(behind)
    }

    /// The ways between two nodes that are about as long as the gap; nothing where there is too
    /// much to look at.
    fn paths(&self, halo: &Halo, join: OpenJoin, link: Link) -> Option<Vec<Vec<Way>>> {
        let OpenJoin { from, gap, to, .. } = join;
        let doubt = self.inserts.doubt(link.pairs);
        let mut search = Search {
            halo,
            to,
            range: gap - doubt..=gap + doubt,
            path: Vec::new(),
            found: Vec::new(),
            steps: 0,
        };
        let overlap = self.graph.k() as i64 - 1;
        search.from(from, -overlap)?;
        Some(search.found)
    }

    /// The only one of some paths, or that of several for which links of its inner nodes speak,
    /// where none speaks for another.
    fn only(
        &self,
        OpenJoin { from, to, .. }: OpenJoin,
        mut paths: Vec<Vec<Way>>,
        behind: &HashMap<Way, Ahead>,
    ) -> Option<Vec<Way>> {
        if paths.len() < 2 {
            return paths.pop();
        }
        let pairs = |ahead: Option<&Ahead>, to: Way| {
            let ahead = ahead.map_or(&[][..], Vec::as_slice);
            let place = ahead.binary_search_by_key(&to, |ahead| ahead.0);
            place.map_or(0, |place| ahead[place].1.pairs)
        };
        let links_of = |way: Way| {
            let onward = pairs(self.ahead.get(&from), way);
            onward + pairs(behind.get(&to.flipped()), way.flipped())
        };
        let for_path = |path: &Vec<Way>| {
            let own = path.iter().filter(|&way| {
                let others = paths.iter().filter(|&other| other != path);
                others.clone().all(|other| !other.contains(way))
            });
            own.map(|&way| links_of(way)).sum::<u64>()
        };
        let support: Vec<u64> = paths.iter().map(for_path).collect();
        let best = (0..paths.len()).max_by_key(|&path| support[path])?;
        let others = (0..paths.len()).filter(|&path| path != best);
        let clear = support[best] >= LEAST_LINKS
            && others
                .into_iter()
                .all(|path| support[path] * RARE < support[best]);
        clear.then(|| paths.swap_remove(best))
    }
}

/// Looks for ways between two nodes.
struct Search<'h> {
    halo: &'h Halo<'h>,
    to: Way,
    range: std::ops::RangeInclusive<i64>,
    path: Vec<Way>,
    found: Vec<Vec<Way>>,
    steps: usize,
}

impl Search<'_> {
    /// Goes on from a way, which ends so many bases behind the first. Nothing where there is too
    /// much to look at.
    fn from(&mut self, way: Way, at: i64) -> Option<()> {
        for &next in self.halo.next(way) {
            self.steps += 1;
            if self.steps > MOST_STEPS || self.found.len() > MOST_PATHS {
                return None;
            }
            if next == self.to {
                if self.range.contains(&at) {
                    self.found.push(self.path.clone());
                }
                continue;
            }
            // The bases behind the overlap.
            let end = at + self.halo.kmers(next) as i64;
            if end <= *self.range.end() {
                self.path.push(next);
                self.from(next, end)?;
                self.path.pop();
            }
        }
        Some(())
    }
}
