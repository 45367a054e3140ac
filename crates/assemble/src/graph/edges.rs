//! Which ways follow each other.

use super::outline::Next;
use crate::way::Way;

/// What follows each way of a graph: lists, one behind the other.
#[derive(Clone, Debug, Default)]
pub struct Edges {
    /// Where the list of each way begins, and the end of the last.
    firsts: Vec<u32>,
    nexts: Vec<Way>,
    /// How many ways lead to what follows each way: nothing where all nodes are here.
    in_degrees: Vec<u8>,
}

impl Edges {
    /// Of so many nodes: every edge in both directions, perhaps several times. Where other
    /// processes have nodes too, for each way of these how many lead to what follows it.
    pub fn of(nodes: usize, mut edges: Vec<(Way, Way)>, in_degrees: Vec<u8>) -> Edges {
        edges.sort_unstable();
        edges.dedup();
        let mut firsts = vec![0; 2 * nodes + 1];
        for (from, _) in &edges {
            firsts[from.index() + 1] += 1;
        }
        for index in 1..firsts.len() {
            firsts[index] += firsts[index - 1];
        }
        let nexts = edges.into_iter().map(|edge| edge.1).collect();
        Edges {
            firsts,
            nexts,
            in_degrees,
        }
    }

    /// Adds what follows both ways of the next node, ascending, and how many ways lead there.
    pub fn push(&mut self, next: [Next; 2], in_degrees: [u8; 2]) {
        if self.firsts.is_empty() {
            self.firsts.push(0);
        }
        for next in next {
            self.nexts.extend(next);
            self.firsts.push(self.nexts.len() as u32);
        }
        self.in_degrees.extend(in_degrees);
    }

    /// What follows a way, ascending.
    pub fn next(&self, way: Way) -> &[Way] {
        let index = way.index();
        &self.nexts[self.firsts[index] as usize..self.firsts[index + 1] as usize]
    }

    /// How many ways lead to what follows a way, which begins with the same k-1 bases: all of it
    /// follows each of them.
    pub fn in_degree_of_next(&self, way: Way) -> usize {
        match (self.in_degrees.get(way.index()), self.next(way)) {
            (Some(&in_degree), _) => in_degree.into(),
            (None, [next, ..]) => self.next(next.flipped()).len(),
            (None, []) => 0,
        }
    }

    /// True for a ring of one node: its end meets its beginning, and nothing else meets either.
    pub fn is_ring(&self, way: Way) -> bool {
        self.next(way) == [way] && self.next(way.flipped()) == [way.flipped()]
    }
}
