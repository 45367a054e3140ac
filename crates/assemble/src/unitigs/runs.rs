//! Runs: what a process joins of its own pieces, and where each is in its chain.
//!
//! A chain goes from process to process: in each direction an end of a run knows the next run.
//!
//! 1. Runs *step out*: one whose number, mixed, is below those of its neighbours tells each of
//!    these what is beyond it, so that they are neighbours then. A third of the runs do so in a
//!    round (list contraction; Anderson and Miller 1990).
//! 2. When few do, those that are left ask the next for what is behind that: every round doubles
//!    how far they see (pointer jumping; Wyllie 1979). Who sees the end of the chain knows the
//!    k-mer there, and how many k-mers are between.
//! 3. Runs that stepped out ask their last neighbours, in the opposite order.
//!
//! So a run sends a few messages, however long its chain is. Who sees no end is in a ring. A ring
//! is cut beside the run that has the least number, which is found in rounds as well, and is a
//! chain then.

use gyrase_fabric::FabricError;
use gyrase_kmer::mix;

use super::glue::NONE;
use super::pieces::{end_of, of_end};
use super::{Side, Unitigs};
use crate::among::{Among, pair, unpair};
use crate::numbering::Numbering;
use crate::{BaseString, Error};

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
        let mut ways = Ways::of(self, pieces, among)?;
        let rings = ways.follow((0..self.len()).collect())?;
        let mut is_ring = vec![false; self.len()];
        if among.sum(rings.len())? > 0 {
            rings.iter().for_each(|&run| is_ring[run] = true);
            ways.cut(&rings)?;
            ways.follow(rings)?;
        }
        let place = |run: usize| {
            let of = |side: Side| (ways.ways[2 * run + side as usize], side);
            let (way, side) = of(Side::Left).min(of(Side::Right));
            let Seen::End { bin, kmer } = way.seen else {
                unreachable!("a chain has ends, and rings were cut")
            };
            RunPlace {
                bin,
                kmer,
                offset: way.passed,
                side,
                is_ring: is_ring[run],
            }
        };
        Ok((0..self.len()).map(place).collect())
    }
}

/// What an end of a run sees of its chain.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Seen {
    /// Its end: the k-mer there, by its bin and its number in that.
    End { bin: u32, kmer: u32 },
    /// An end of a run, by its number among those of all.
    Run(u32),
}

/// How far an end of a run sees.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Way {
    seen: Seen,
    /// k-mers from the run to there.
    passed: u64,
}

/// Bytes of a [`Way`].
const WAY: usize = 16;

impl Way {
    /// What an end knows by itself.
    fn from(RunEnd { bin, kmer, .. }: RunEnd, joined: u32) -> Way {
        let seen = match joined {
            NONE => Seen::End { bin, kmer },
            next => Seen::Run(next),
        };
        Way { seen, passed: 0 }
    }

    /// The end of a run that it sees, if it does not see that of the chain.
    fn next(self) -> Option<u32> {
        match self.seen {
            Seen::End { .. } => None,
            Seen::Run(next) => Some(next),
        }
    }

    /// The same behind so many more k-mers.
    fn behind(self, kmers: u64) -> Way {
        Way {
            passed: self.passed + kmers,
            ..self
        }
    }

    fn to_bytes(self) -> [u8; WAY] {
        let numbers = match self.seen {
            Seen::End { bin, kmer } => [bin, kmer],
            Seen::Run(next) => [NONE, next],
        };
        let mut bytes = [0; WAY];
        bytes[..8].copy_from_slice(&self.passed.to_le_bytes());
        bytes[8..].copy_from_slice(&pair(numbers));
        bytes
    }

    fn of_bytes(bytes: [u8; WAY]) -> Way {
        let [passed, numbers] = bytemuck::cast(bytes);
        let seen = match unpair(numbers) {
            [NONE, next] => Seen::Run(next),
            [bin, kmer] => Seen::End { bin, kmer },
        };
        Way {
            seen,
            passed: u64::from_le_bytes(passed),
        }
    }
}

/// One in so many runs that step out in a round is few.
const FEW: u64 = 8;

/// The ends of runs: the left and right one of each, one behind the other.
struct Ways<'r> {
    runs: &'r Runs,
    numbering: Numbering,
    among: &'r Among<'r>,
    /// The end that each is joined to, by its number among those of all, or [`NONE`].
    joined: Vec<u32>,
    ways: Vec<Way>,
}

impl<'r> Ways<'r> {
    /// Collective.
    fn of(runs: &'r Runs, pieces: &Numbering, among: &'r Among<'r>) -> Result<Ways<'r>, Error> {
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
        let from = |(&end, &joined)| Way::from(end, joined);
        Ok(Ways {
            runs,
            numbering,
            among,
            ways: ends.iter().zip(&joined).map(from).collect(),
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
        let next = self.ways[end].next();
        next.expect("it has not seen the end of the chain")
    }

    /// What is seen from before an end through its run.
    fn beyond(&self, end: usize) -> Way {
        self.ways[end ^ 1].behind(self.runs.strings.kmers(end / 2) as u64)
    }

    /// Goes on to the ends of the chains of some runs; the runs that see none.
    ///
    /// Collective.
    fn follow(&mut self, mut runs: Vec<usize>) -> Result<Vec<usize>, Error> {
        let (left, out) = self.contract(&runs)?;
        self.jump(ends_of(&left).collect())?;
        for out in out.into_iter().rev() {
            self.look_on(&ends_of(&out).collect::<Vec<_>>())?;
        }
        runs.retain(|run| self.ways[2 * run].next().is_some());
        Ok(runs)
    }

    /// Lets runs step out of their chains as long as many do; those that are left, and those of
    /// each round.
    ///
    /// Collective.
    fn contract(&mut self, runs: &[usize]) -> Result<(Vec<usize>, Vec<Vec<usize>>), Error> {
        let (mut left, mut all) = (runs.to_vec(), Vec::new());
        loop {
            let (out, others): (Vec<_>, _) = left.iter().partition(|&&run| self.is_first(run));
            let counts = [out.len() as u64, left.len() as u64];
            let sums = self.among.world.sum(&counts)?;
            if sums[0] * FEW <= sums[1] {
                return Ok((left, all));
            }
            self.step_out(&out)?;
            left = others;
            all.push(out);
        }
    }

    /// Whether the number of a run, mixed, comes before those of both its neighbours.
    fn is_first(&self, run: usize) -> bool {
        let order = |run: usize| mix(run as u64);
        let own = order(self.numbering.number(run));
        let next = [2 * run, 2 * run + 1].map(|end| self.ways[end].next());
        next.iter()
            .all(|next| next.is_some_and(|next| own < order(next as usize / 2)))
    }

    /// Makes the neighbours of each of some runs neighbours of each other.
    ///
    /// Collective.
    fn step_out(&mut self, runs: &[usize]) -> Result<(), FabricError> {
        let ends: Vec<usize> = ends_of(runs).collect();
        let word = |end: usize| {
            let (next, other) = (self.next(end), self.beyond(end));
            let mut bytes = [0; 4 + WAY];
            bytes[..4].copy_from_slice(&next.to_le_bytes());
            bytes[4..].copy_from_slice(&other.to_bytes());
            (self.owner(next), bytes)
        };
        let mut heard = Vec::new();
        self.among.tell(&ends, word, |bytes| heard.push(bytes))?;
        for bytes in heard {
            let (end, way) = bytes.split_first_chunk().expect("an end and a way");
            let end = self.own(u32::from_le_bytes(*end));
            let way = Way::of_bytes(way.try_into().expect("a way is left"));
            self.ways[end] = way.behind(self.ways[end].passed);
        }
        Ok(())
    }

    /// Looks on until all ends see those of their chains, or none.
    ///
    /// Collective.
    fn jump(&mut self, mut open: Vec<usize>) -> Result<(), FabricError> {
        loop {
            open.retain(|&end| self.ways[end].next().is_some());
            // Of a chain the first that sees no end is asked about by the one behind it, and so on.
            if self.look_on(&open)? == 0 {
                return Ok(());
            }
        }
    }

    /// Lets ends see what the next ones see; how many of all processes see an end of a chain then.
    ///
    /// Collective.
    fn look_on(&mut self, open: &[usize]) -> Result<u64, FabricError> {
        let answers = self.among.ask(
            open,
            |end| self.question(self.next(end)),
            |end| self.beyond(self.own(u32::from_le_bytes(end))).to_bytes(),
        )?;
        let mut ended = 0;
        for (&end, answer) in open.iter().zip(answers) {
            let way = Way::of_bytes(answer);
            self.ways[end] = way.behind(self.ways[end].passed);
            ended += usize::from(way.next().is_none());
        }
        self.among.sum(ended)
    }

    /// Cuts rings, of which `runs` are all.
    ///
    /// Collective.
    fn cut(&mut self, runs: &[usize]) -> Result<(), FabricError> {
        let open: Vec<usize> = ends_of(runs).collect();
        let least = self.least(&open)?;
        // The left end of each run that has the least number of its ring.
        let is_least = |&&end: &&usize| end % 2 == 0 && least[end] == self.number(end);
        let cut: Vec<usize> = open.iter().filter(is_least).copied().collect();
        let other = |end: usize| self.question(self.joined[end]);
        let mut told = Vec::new();
        let hear = |end| told.push(self.own(u32::from_le_bytes(end)));
        self.among.tell(&cut, other, hear)?;
        for end in cut.into_iter().chain(told) {
            self.joined[end] = NONE;
        }
        let ends = self.runs.ends.as_flattened();
        for end in open {
            self.ways[end] = Way::from(ends[end], self.joined[end]);
        }
        Ok(())
    }

    /// The number of the run of an end, among those of all processes.
    fn number(&self, end: usize) -> u32 {
        self.numbering.number(end / 2) as u32
    }

    /// For each end of `open`, which are those of rings, the least number of a run of its ring.
    ///
    /// Collective.
    fn least(&self, open: &[usize]) -> Result<Vec<u32>, FabricError> {
        let mut least = vec![NONE; self.ways.len()];
        let mut next = self.joined.clone();
        open.iter().for_each(|&end| least[end] = self.number(end));
        loop {
            let ask = |end: usize| self.question(next[end]);
            let answers = self.among.ask(open, ask, |end| {
                let beyond = self.own(u32::from_le_bytes(end)) ^ 1;
                pair([next[beyond], least[beyond]])
            })?;
            let mut lessened = 0;
            for (&end, answer) in open.iter().zip(answers) {
                let [farther, other] = unpair(answer);
                lessened += usize::from(other < least[end]);
                (next[end], least[end]) = (farther, other.min(least[end]));
            }
            // Everybody has looked at as many runs. If those ahead of nobody have less, all have
            // the least of their ring.
            if self.among.sum(lessened)? == 0 {
                return Ok(least);
            }
        }
    }
}

/// The ends of runs.
fn ends_of(runs: &[usize]) -> impl Iterator<Item = usize> {
    runs.iter().flat_map(|&run| [2 * run, 2 * run + 1])
}
