//! Runs: what a process joins of its own pieces, and where each is in its chain.
//!
//! A chain goes from process to process: in each direction an end of a run knows the next run.
//!
//! 1. Runs *step out*: one whose number, mixed, is below those of its neighbours tells each of
//!    these what is beyond it, so that they are neighbours then. A third of the runs do so in a
//!    round (list contraction; Anderson and Miller 1990).
//! 2. When few are left, one process follows their chains. Who sees the end of its chain knows the
//!    k-mer there, and how many k-mers are between.
//! 3. Runs that stepped out ask their last neighbours, in the opposite order.
//!
//! So a run sends a few messages, however long its chain is. Who sees no end is in a ring. A ring
//! is cut beside the run that is left of it, and is a chain then.

mod rest;
mod seen;

use gyrase_fabric::{FabricError, ask};
use gyrase_kmer::mix;

use super::glue::NONE;
use super::pieces::{end_of, of_end};
use super::{Side, Unitigs};
use crate::among::Among;
use crate::numbering::Numbering;
use crate::{BaseString, Error};
use rest::LeftRun;
use seen::{Seen, VIEW, View};

/// An end of a run.
#[derive(Clone, Copy)]
pub(crate) struct RunEnd {
    /// The end of its piece, by its number among those of all processes.
    pub(crate) end: u32,
    /// The k-mer there: its bin, and its number in that.
    pub(crate) bin: u32,
    pub(crate) kmer: u32,
    /// The end that it is joined to, of another process, or [`NONE`].
    pub(crate) joined: u32,
}

/// The runs of a process.
pub(crate) struct Runs {
    /// Their bases, each from its left end to its right one.
    strings: Unitigs,
    ends: Vec<[RunEnd; 2]>,
}

/// Where a run is in its chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RunPlace {
    /// The lesser k-mer at the ends of the chain: its bin, and its number in that.
    pub(crate) bin: u32,
    pub(crate) kmer: u32,
    /// k-mers of the chain between that and the run.
    pub(super) offset: u64,
    /// The side of the run that is nearer to it.
    pub(super) side: Side,
    /// The chain is a ring that was cut.
    pub(super) is_ring: bool,
}

impl Runs {
    pub(crate) fn new(k: usize) -> Runs {
        Runs {
            strings: Unitigs::new(k),
            ends: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, bases: &BaseString, count_sum: u64, ends: [RunEnd; 2]) {
        self.strings.push_string(bases, count_sum);
        self.ends.push(ends);
    }

    pub(super) fn append(&mut self, other: Runs) {
        self.strings.append(other.strings);
        self.ends.extend(other.ends);
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The bases and the sums of the counts.
    pub(super) fn strings(&self) -> &Unitigs {
        &self.strings
    }

    /// Where each of them is in its chain, by the numbers of pieces.
    ///
    /// Collective.
    pub(super) fn places(&self, pieces: &Numbering, among: &Among) -> Result<Vec<RunPlace>, Error> {
        let mut views = Views::of(self, pieces, among)?;
        let rings = views.follow((0..self.len()).collect())?;
        let mut is_ring = vec![false; self.len()];
        if among.sum(rings.len())? > 0 {
            rings.iter().for_each(|&run| is_ring[run] = true);
            views.cut(&rings)?;
            views.follow(rings)?;
        }
        let place = |run: usize| {
            let of = |side: Side| (views.views[2 * run + side as usize], side);
            let (view, side) = of(Side::Left).min(of(Side::Right));
            let Seen::End { bin, kmer } = view.seen else {
                unreachable!("a chain has ends, and rings were cut")
            };
            RunPlace {
                bin,
                kmer,
                offset: view.passed,
                side,
                is_ring: is_ring[run],
            }
        };
        Ok((0..self.len()).map(place).collect())
    }
}

/// So many runs of all processes are few: one process takes less than a megabyte of them.
const FEW: u64 = if cfg!(test) { 8 } else { 1 << 14 };

/// The ends of runs: the left and right one of each, one behind the other.
struct Views<'r> {
    runs: &'r Runs,
    numbering: Numbering,
    among: &'r Among<'r>,
    /// The end that each is joined to, by its number among those of all, or [`NONE`].
    joined: Vec<u32>,
    views: Vec<View>,
}

impl<'r> Views<'r> {
    /// Collective.
    fn of(runs: &'r Runs, pieces: &Numbering, among: &'r Among<'r>) -> Result<Views<'r>, Error> {
        let ends = runs.ends.as_flattened();
        let numbering = Numbering::of_processes(among.world, runs.len())?;
        let mut at = vec![NONE; 2 * pieces.own_len()];
        let own_end = |end: u32| {
            let (piece, side) = of_end(end);
            end_of(pieces.own_place(piece), side) as usize
        };
        for (number, end) in ends.iter().enumerate() {
            let run = numbering.number(number / 2);
            at[own_end(end.end)] = (2 * run + number % 2) as u32;
        }
        let mut joined: Vec<u32> = ends.iter().map(|end| end.joined).collect();
        let open: Vec<usize> = (0..joined.len())
            .filter(|&end| joined[end] != NONE)
            .collect();
        let question = |end: usize| {
            (
                pieces.owner(of_end(joined[end]).0),
                joined[end].to_le_bytes(),
            )
        };
        let answer = |end| at[own_end(u32::from_le_bytes(end))].to_le_bytes();
        let answers = among.ask(&open, question, answer)?;
        for (end, answer) in open.into_iter().zip(answers) {
            joined[end] = u32::from_le_bytes(answer);
        }
        let from = |(&end, &joined)| view_of(end, joined);
        Ok(Views {
            runs,
            numbering,
            among,
            views: ends.iter().zip(&joined).map(from).collect(),
            joined,
        })
    }

    /// The process that has an end.
    fn owner(&self, end: u32) -> usize {
        self.numbering.owner(end as usize / 2)
    }

    /// That process, and the end.
    fn question(&self, end: u32) -> (usize, [u8; 4]) {
        (self.owner(end), end.to_le_bytes())
    }

    /// Which of the ends of this process one is.
    fn own(&self, end: u32) -> usize {
        2 * self.numbering.own_place(end as usize / 2) + end as usize % 2
    }

    /// The end that an end sees, which does not see that of its chain.
    fn next(&self, end: usize) -> u32 {
        let next = self.views[end].next();
        next.expect("it has not seen the end of the chain")
    }

    /// What is seen from before an end through its run.
    fn beyond(&self, end: usize) -> View {
        self.views[end ^ 1].behind(self.runs.strings.kmers(end / 2) as u64)
    }

    /// Goes on to the ends of the chains of some runs; the runs that see none.
    ///
    /// Collective.
    fn follow(&mut self, mut runs: Vec<usize>) -> Result<Vec<usize>, Error> {
        let (left, out) = self.contract(&runs)?;
        self.follow_at_one(&left)?;
        for out in out.into_iter().rev() {
            self.look_on(&out)?;
        }
        runs.retain(|&run| self.is_open(run));
        Ok(runs)
    }

    /// Whether a run has not seen the ends of its chain.
    fn is_open(&self, run: usize) -> bool {
        self.open_ends(&[run]).next().is_some()
    }

    /// The ends of runs that do not see those of their chains.
    fn open_ends(&self, runs: &[usize]) -> impl Iterator<Item = usize> {
        ends_of(runs).filter(|&end| self.views[end].next().is_some())
    }

    /// Whether a run is all that is left of a ring.
    fn is_alone(&self, run: usize) -> bool {
        self.views[2 * run].next() == Some(self.number(2 * run + 1))
    }

    /// The number of an end among those of all processes.
    fn number(&self, end: usize) -> u32 {
        (2 * self.numbering.number(end / 2) + end % 2) as u32
    }

    /// Lets runs step out of their chains as long as many are left; these, and those that stepped
    /// out in each round.
    ///
    /// Collective.
    fn contract(&mut self, runs: &[usize]) -> Result<(Vec<usize>, Vec<Vec<usize>>), Error> {
        let (mut left, mut all) = (runs.to_vec(), Vec::new());
        loop {
            left.retain(|&run| self.is_open(run) && !self.is_alone(run));
            if self.among.sum(left.len())? <= FEW {
                return Ok((left, all));
            }
            let (out, others): (Vec<_>, _) =
                left.iter().partition(|&&run| self.is_first(run, all.len()));
            self.step_out(&out)?;
            left = others;
            all.push(out);
        }
    }

    /// Whether the number of a run comes before those of its neighbours, mixed anew in each round:
    /// those that are left in one are not in any order of it.
    fn is_first(&self, run: usize, round: usize) -> bool {
        let order = |end: u32| mix(u64::from(end / 2) | (round as u64) << 32);
        let own = order(self.number(2 * run));
        self.open_ends(&[run])
            .all(|end| own < order(self.next(end)))
    }

    /// Makes what is on both sides of each of some runs neighbours.
    ///
    /// Collective.
    fn step_out(&mut self, runs: &[usize]) -> Result<(), FabricError> {
        let ends: Vec<usize> = self.open_ends(runs).collect();
        let word = |end: usize| {
            let (next, other) = (self.next(end), self.beyond(end));
            let mut bytes = [0; 4 + VIEW];
            bytes[..4].copy_from_slice(&next.to_le_bytes());
            bytes[4..].copy_from_slice(&other.to_bytes());
            (self.owner(next), bytes)
        };
        let mut heard = Vec::new();
        self.among.tell(&ends, word, |bytes| heard.push(bytes))?;
        for bytes in heard {
            let (end, view) = bytes.split_first_chunk().expect("an end and a view");
            let end = self.own(u32::from_le_bytes(*end));
            let view = View::of_bytes(view.try_into().expect("a view is left"));
            self.views[end] = view.behind(self.views[end].passed);
        }
        Ok(())
    }

    /// Lets the first process follow the chains of the runs that are left.
    ///
    /// Collective.
    fn follow_at_one(&mut self, runs: &[usize]) -> Result<(), FabricError> {
        let left = runs.iter().map(|&run| LeftRun {
            number: self.number(2 * run) / 2,
            kmers: self.runs.strings.kmers(run) as u64,
            views: [self.views[2 * run], self.views[2 * run + 1]],
        });
        let mut questions = vec![Vec::new(); self.among.world.ranks()];
        left.for_each(|run| run.put(&mut questions[0]));
        let answers = ask(self.among.world, questions, |told| rest::followed(&told))?;
        for (end, view) in ends_of(runs).zip(answers[0].as_chunks().0) {
            self.views[end] = View::of_bytes(*view);
        }
        Ok(())
    }

    /// Lets the ends of runs see what the next ones see.
    ///
    /// Collective.
    fn look_on(&mut self, runs: &[usize]) -> Result<(), FabricError> {
        let open: Vec<usize> = self.open_ends(runs).collect();
        let answers = self.among.ask(
            &open,
            |end| self.question(self.next(end)),
            |end| self.beyond(self.own(u32::from_le_bytes(end))).to_bytes(),
        )?;
        for (end, answer) in open.into_iter().zip(answers) {
            self.views[end] = View::of_bytes(answer).behind(self.views[end].passed);
        }
        Ok(())
    }

    /// Cuts rings, of which `runs` are all.
    ///
    /// Collective.
    fn cut(&mut self, runs: &[usize]) -> Result<(), FabricError> {
        let alone = runs.iter().filter(|&&run| self.is_alone(run));
        let cut: Vec<usize> = alone.map(|run| 2 * run).collect();
        let other = |end: usize| self.question(self.joined[end]);
        let mut told = Vec::new();
        let hear = |end| told.push(self.own(u32::from_le_bytes(end)));
        self.among.tell(&cut, other, hear)?;
        for end in cut.into_iter().chain(told) {
            self.joined[end] = NONE;
        }
        let ends = self.runs.ends.as_flattened();
        for end in ends_of(runs) {
            self.views[end] = view_of(ends[end], self.joined[end]);
        }
        Ok(())
    }
}

/// What an end knows by itself, where it is joined to another or [`NONE`].
fn view_of(RunEnd { bin, kmer, .. }: RunEnd, joined: u32) -> View {
    let seen = match joined {
        NONE => Seen::End { bin, kmer },
        next => Seen::Run(next),
    };
    View { seen, passed: 0 }
}

/// The ends of runs.
fn ends_of(runs: &[usize]) -> impl Iterator<Item = usize> {
    runs.iter().flat_map(|&run| [2 * run, 2 * run + 1])
}
