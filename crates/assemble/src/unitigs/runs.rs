//! Runs: what a process joins of its own pieces, and where each is in its chain.
//!
//! A chain goes from process to process. In each direction an end of a run knows the next run, and
//! asks its owner what is behind that: so every round doubles how far it sees (pointer jumping;
//! Wyllie 1979). When it sees the end of the chain it knows the k-mer there, and how many k-mers
//! are between. A round in which nobody came to an end leaves rings alone. A ring is cut beside the
//! run that has the least number, which is found in rounds as well, and is a chain then.

use std::collections::HashMap;

use super::glue::NONE;
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

    /// Where each of them is in its chain.
    ///
    /// Collective.
    pub(super) fn places(
        &self,
        numbering: &Numbering,
        among: &Among,
    ) -> Result<Vec<RunPlace>, Error> {
        let mut ways = Ways::of(self, numbering, among);
        let open = ways.follow()?;
        let mut is_ring = vec![false; self.len()];
        if among.sum(open.len())? > 0 {
            open.iter().for_each(|end| is_ring[end / 2] = true);
            ways.cut(&open)?;
            ways.follow()?;
        }
        let place = |run: usize| {
            let of = |side: Side| (ways.ways[2 * run + side as usize], side);
            let (way, side) = of(Side::Left).min(of(Side::Right));
            RunPlace {
                bin: way.bin,
                kmer: way.kmer,
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
struct Way {
    /// The k-mer at the farthest end that it sees, of its bin.
    bin: u32,
    kmer: u32,
    /// k-mers from the run to there.
    passed: u64,
    /// The end that is joined to that, if it is.
    next: u32,
}

/// Bytes of a [`Way`].
const WAY: usize = 20;

impl Way {
    /// What an end knows by itself.
    fn from(end: RunEnd, joined: u32) -> Way {
        Way {
            bin: end.bin,
            kmer: end.kmer,
            passed: 0,
            next: joined,
        }
    }

    fn to_bytes(self) -> [u8; WAY] {
        let mut bytes = [0; WAY];
        bytes[..8].copy_from_slice(&self.passed.to_le_bytes());
        let numbers = [self.bin, self.kmer, self.next];
        let (places, _) = bytes[8..].as_chunks_mut();
        let places = places.iter_mut().zip(numbers);
        places.for_each(|(place, number)| *place = number.to_le_bytes());
        bytes
    }

    fn of_bytes(bytes: [u8; WAY]) -> Way {
        let (numbers, _) = bytes.as_chunks();
        let number = |at: usize| u32::from_le_bytes(numbers[at]);
        Way {
            passed: u64::from(number(0)) | u64::from(number(1)) << 32,
            bin: number(2),
            kmer: number(3),
            next: number(4),
        }
    }
}

/// The ends of runs: the left and right one of each, one behind the other.
struct Ways<'r> {
    runs: &'r Runs,
    numbering: &'r Numbering,
    among: &'r Among<'r>,
    /// The end of a run that each end of a piece is.
    at: HashMap<u32, usize>,
    /// What each is joined to.
    joined: Vec<u32>,
    ways: Vec<Way>,
}

impl<'r> Ways<'r> {
    fn of(runs: &'r Runs, numbering: &'r Numbering, among: &'r Among<'r>) -> Ways<'r> {
        let ends = runs.ends.as_flattened();
        let joined: Vec<u32> = ends.iter().map(|end| end.joined).collect();
        let from = |(&end, &joined)| Way::from(end, joined);
        Ways {
            runs,
            numbering,
            among,
            at: ends.iter().map(|end| end.end).zip(0..).collect(),
            ways: ends.iter().zip(&joined).map(from).collect(),
            joined,
        }
    }

    /// The process that has an end of a piece, and the end.
    fn question(&self, end: u32) -> (usize, [u8; 4]) {
        (self.numbering.owner(end as usize >> 1), end.to_le_bytes())
    }

    /// The end on the other side of the run that is entered at an end of a piece.
    fn beyond(&self, end: [u8; 4]) -> usize {
        self.at[&u32::from_le_bytes(end)] ^ 1
    }

    /// Goes on as far as all chains go; the ends that see none.
    ///
    /// Collective.
    fn follow(&mut self) -> Result<Vec<usize>, Error> {
        let mut open: Vec<usize> = (0..self.ways.len()).collect();
        loop {
            open.retain(|&end| self.ways[end].next != NONE);
            let ask = |end: usize| self.question(self.ways[end].next);
            let answers = self.among.ask(&open, ask, |end| {
                let beyond = self.beyond(end);
                let kmers = self.runs.strings.kmers(beyond / 2) as u64;
                let way = self.ways[beyond];
                let passed = way.passed + kmers;
                Way { passed, ..way }.to_bytes()
            })?;
            let mut ended = 0;
            for (&end, answer) in open.iter().zip(answers) {
                let (seen, way) = (self.ways[end].passed, Way::of_bytes(answer));
                let passed = seen + way.passed;
                self.ways[end] = Way { passed, ..way };
                ended += usize::from(way.next == NONE);
            }
            // Of a chain the first that sees no end is asked about by the one behind it, and so on.
            if self.among.sum(ended)? == 0 {
                return Ok(open);
            }
        }
    }

    /// Cuts rings, of which `open` are all ends.
    ///
    /// Collective.
    fn cut(&mut self, open: &[usize]) -> Result<(), Error> {
        let least = self.least(open)?;
        // The left end of each run that has the least number of its ring.
        let is_least = |&&end: &&usize| end % 2 == 0 && least[end] == self.number(end);
        let cut: Vec<usize> = open.iter().filter(is_least).copied().collect();
        let joined = &self.joined;
        let other = |end: usize| self.question(joined[end]);
        let mut told = Vec::new();
        let hear = |end| told.push(self.beyond(end) ^ 1);
        self.among.tell(&cut, other, hear)?;
        for end in cut.into_iter().chain(told) {
            self.joined[end] = NONE;
        }
        let ends = self.runs.ends.as_flattened();
        for &end in open {
            self.ways[end] = Way::from(ends[end], self.joined[end]);
        }
        Ok(())
    }

    /// A number of the run of an end, which no other has.
    fn number(&self, end: usize) -> u32 {
        let [left, right] = self.runs.ends[end / 2];
        left.end.min(right.end)
    }

    /// For each end of `open`, which are those of rings, the least number of a run of its ring.
    ///
    /// Collective.
    fn least(&self, open: &[usize]) -> Result<Vec<u32>, Error> {
        let mut least = vec![NONE; self.ways.len()];
        let mut next = self.joined.clone();
        open.iter().for_each(|&end| least[end] = self.number(end));
        loop {
            let ask = |end: usize| self.question(next[end]);
            let answers = self.among.ask(open, ask, |end| {
                let beyond = self.beyond(end);
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
