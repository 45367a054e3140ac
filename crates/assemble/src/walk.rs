//! Reads as walks through a graph: which nodes a read passes, as far as its k-mers are there.

use crate::graph::{Graph, Way};
use crate::index::Index;
use crate::minimizers::Minimizers;
use crate::reads::NONE;

/// A part of a read that is within one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The node, in the direction of the read.
    pub way: Way,
    /// Where in the way the first k-mer begins.
    pub offset: usize,
    /// Where in the read the first k-mer begins.
    pub at: usize,
    /// k-mers.
    pub kmers: usize,
}

/// What of a read is in a graph: every longest stretch all of whose k-mers are there, and that has
/// as many as were asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    steps: Vec<Step>,
    stretches: Vec<End>,
}

/// Where the steps of a stretch end among those of all, and whether the graph ends before it, and
/// behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct End {
    steps: usize,
    is_dead: [bool; 2],
}

/// A stretch of a read.
#[derive(Clone, Copy)]
pub struct ReadStretch<'w> {
    /// Each goes on where the one before ends; ways are numbered among those of all processes.
    pub steps: &'w [Step],
    /// Whether the graph ends where the stretch begins: nothing leads to there.
    pub begins: bool,
    /// Whether the graph ends where it ends.
    pub ends: bool,
}

impl Walk {
    /// The stretches, in the order of the read.
    pub fn stretches(&self) -> impl Iterator<Item = ReadStretch<'_>> {
        let mut from = 0;
        self.stretches.iter().map(move |end| {
            let steps = &self.steps[from..end.steps];
            let [begins, ends] = end.is_dead;
            from = end.steps;
            ReadStretch {
                steps,
                begins,
                ends,
            }
        })
    }

    /// The steps of all stretches.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.steps.clear();
        self.stretches.clear();
    }

    /// Adds a stretch in a graph that is all here.
    pub fn push(&mut self, graph: &Graph, steps: &[Step]) {
        let (first, last) = (steps[0], steps[steps.len() - 1]);
        let is_end = last.offset + last.kmers == graph.kmers(last.way) as usize;
        let begins = first.offset == 0 && graph.next(first.way.flipped()).is_empty();
        let ends = is_end && graph.next(last.way).is_empty();
        self.steps.extend_from_slice(steps);
        self.close([begins, ends]);
    }

    /// Adds a stretch, with whether the graph ends before it and behind it, if it is
    /// [told](is_told); where its last window begins, and whether it is.
    pub fn add(
        &mut self,
        steps: impl Iterator<Item = Step>,
        is_dead: [bool; 2],
        least: usize,
        open: usize,
    ) -> (usize, bool) {
        let first = self.steps.len();
        self.steps.extend(steps);
        let own = &self.steps[first..];
        let step = own.last().expect("a stretch has a step");
        let last = step.at + step.kmers - 1;
        let told = is_told(own, last, least, open);
        match told {
            true => self.close(is_dead),
            false => self.steps.truncate(first),
        }
        (last, told)
    }

    fn close(&mut self, is_dead: [bool; 2]) {
        let steps = self.steps.len();
        self.stretches.push(End { steps, is_dead });
    }
}

/// Whether a stretch is told of whose last window begins at `last`: it has so many k-mers, and one
/// that begins in the `open` behind the base that ended the stretch before it. What is left out is
/// short, and would be found by chance.
fn is_told(steps: &[Step], last: usize, least: usize, open: usize) -> bool {
    last >= open && steps.iter().map(|step| step.kmers).sum::<usize>() >= least
}

/// Finds the walks of reads.
pub struct Walker<'g> {
    graph: &'g Graph,
    index: &'g Index<'g>,
}

impl<'g> Walker<'g> {
    /// In a graph whose own k-mers are in `index`.
    pub fn new(graph: &'g Graph, index: &'g Index<'g>) -> Walker<'g> {
        assert!(
            graph.k() == index.k(),
            "the index is of the k-mers of the graph"
        );
        Walker { graph, index }
    }

    /// Calls `each` with every longest stretch of a read with these minimizers all of whose k-mers
    /// are in the graph, if it [`is_told`]: its steps, each of which goes on where the one before
    /// ends.
    pub fn walk_of(
        &self,
        read: &[u8],
        minimizers: Option<Minimizers>,
        steps: &mut Vec<Step>,
        mut each: impl FnMut(&[Step]),
    ) {
        if !read.contains(&NONE) {
            let first = self.index.first_of(read, minimizers);
            return self.walk_run(read, first, 0, steps, &mut each);
        }
        let mut from = 0;
        for run in read.split(|&code| code == NONE) {
            let first = self.index.first(run, 0);
            self.walk_run(run, first, from, steps, &mut each);
            from += run.len() + 1;
        }
    }

    fn walk_run(
        &self,
        run: &[u8],
        mut first: Option<(usize, Way, usize)>,
        from: usize,
        steps: &mut Vec<Step>,
        each: &mut impl FnMut(&[Step]),
    ) {
        // Windows before this one are done with, but for neighbours of those that are kept.
        let (mut open, neighbours) = (0_usize, self.index.neighbours());
        while let Some((at, way, offset)) = first {
            steps.clear();
            self.back(run, at, way, offset, open, steps);
            let end = self.on(run, at, way, offset, steps);
            let last = end - self.graph.k();
            let next = if is_told(steps, last, neighbours, open) {
                steps.iter_mut().for_each(|step| step.at += from);
                each(steps);
                // The base at `end` goes on in no way: no window that ends with it is in the graph.
                // Those behind it are looked for; what is before them is found by going back.
                open = end + 1;
                open.saturating_sub(neighbours - 1)
            } else {
                last + 1
            };
            first = self.index.first(run, next);
        }
    }

    /// Adds the steps before a place, in their order, and the one of the place itself.
    fn back(
        &self,
        run: &[u8],
        at: usize,
        way: Way,
        offset: usize,
        open: usize,
        steps: &mut Vec<Step>,
    ) {
        let k = self.graph.k();
        let (mut way, mut offset, mut at) = (way, offset, at);
        let mut kmers = 1;
        // The base before the open window ended a stretch; windows with it may be in the graph.
        let least = open.saturating_sub(k - 1);
        loop {
            let bases = self.graph.bases(way);
            while offset > 0 && at > least && bases.base(offset - 1) == run[at - 1] {
                (offset, at, kmers) = (offset - 1, at - 1, kmers + 1);
            }
            steps.push(Step {
                way,
                offset,
                at,
                kmers,
            });
            if offset > 0 || at == least {
                break;
            }
            let before = |before: &Way| {
                let bases = self.graph.bases(*before);
                bases.base(bases.len() - k) == run[at - 1]
            };
            let Some(found) = self.graph.before(way).find(before) else {
                break;
            };
            way = found;
            (offset, at, kmers) = (self.graph.length(way) - k, at - 1, 1);
        }
        steps.reverse();
    }

    /// Goes on from the last step; the first base that is not part of the walk.
    fn on(&self, run: &[u8], at: usize, way: Way, offset: usize, steps: &mut Vec<Step>) -> usize {
        let k = self.graph.k();
        let (mut way, mut place, mut base) = (way, offset + k, at + k);
        loop {
            let bases = self.graph.bases(way).behind(place);
            let equal = bases.equal(&run[base..]);
            base += equal;
            let last = steps.last_mut().expect("a walk has a step");
            last.kmers += equal;
            if base == run.len() || equal < bases.len() {
                return base;
            }
            let Some(next) = self.graph.next_with(way, run[base]) else {
                return base;
            };
            base += 1;
            steps.push(Step {
                way: next,
                offset: 0,
                at: base - k,
                kmers: 1,
            });
            (way, place) = (next, k);
        }
    }
}
