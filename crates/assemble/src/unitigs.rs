//! Unitigs: the longest sequences that k-mers spell without a choice.
//!
//! # How
//!
//! `count` leaves the k-mers in bins, each named by the minimizer of its k-mers. A junction, k-1
//! bases, has a minimizer too, mostly that of its k-mers, and the bin that it names owns it.
//!
//! ```text
//!  bins of k-mers ──▶ guests ──▶ pieces ──▶ glue ──▶ chains ──▶ Unitigs ──▶ FASTA, GFA
//!                     to the     of each    ends of  of pieces
//!                     owner of   bin, in    pieces
//!                     the other  the cache  that are
//!                     junction              joined
//! ```
//!
//! 1. A k-mer whose other junction is owned by another bin is sent there, as a **guest**: one in
//!    ten where k = 31, one in sixty where k = 127. So a bin knows all k-mers around its junctions.
//! 2. Two k-mers are **joined** where they are alone on both sides of a junction, differ, and the
//!    junction is no palindrome. The owner decides alone; what it joins of its own is a **piece**.
//! 3. A guest has a place in two bins, and what both joined to it belongs together: **glue**.
//! 4. Pieces that are joined end to end are a **chain**, and a chain is a unitig.
//!
//! These are the unitigs of BCALM 2, node for node (Chikhi, Limasset, Medvedev 2016,
//! doi:10.1093/bioinformatics/btw279), in an order that depends on the k-mers alone.

mod build;
mod chains;
mod collate;
mod glue;
mod guests;
mod junctions;
mod linear;
mod links;
mod pieces;
mod plan;
mod rings;
mod run;
mod runs;
mod small;
mod solid_kmers;
mod text;

use gyrase_kmer::Kmer;

pub use build::{Means, build};
pub(crate) use collate::collate;
pub(crate) use glue::NONE;
pub use links::Links;
pub(crate) use links::entered;
pub(crate) use pieces::end_of;
pub use plan::{Plan, plan};
pub use run::{Config, GraphTarget, KmersOf, Summary, leftovers, run, run_in};
pub(crate) use runs::{RunEnd, Runs};
pub use solid_kmers::SolidKmers;
pub use text::GraphFormat;
pub(crate) use text::{entering, is_written, leaving};

use crate::BaseString;
use crate::numbering::Numbering;

/// One of the two ends of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// Where it begins.
    Left,
    /// Where it ends.
    Right,
}

impl Side {
    /// The other one.
    pub fn other(self) -> Side {
        match self {
            Side::Left => Side::Right,
            Side::Right => Side::Left,
        }
    }
}

/// An end of a unitig.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnitigEnd {
    /// The number of the unitig.
    pub unitig: usize,
    /// Which of its ends.
    pub side: Side,
}

/// The unitigs of a graph that the processes of a job have together: what one of them has.
#[derive(Debug)]
pub struct SharedUnitigs {
    unitigs: Unitigs,
    /// By the bins that they belong to, and behind those once more, for rings.
    numbering: Numbering,
}

impl SharedUnitigs {
    /// Those of this process, in the order of their numbers: all, where there is one process.
    pub fn own(&self) -> &Unitigs {
        &self.unitigs
    }

    /// How many all processes have together.
    pub fn len(&self) -> usize {
        self.numbering.len()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Unitigs of a graph, numbered from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unitigs {
    k: usize,
    bases: BaseString,
    /// Where the bases of each end.
    ends: Vec<usize>,
    count_sums: Vec<u64>,
    circular: Vec<bool>,
}

impl Unitigs {
    /// None yet, of k-mers of `k` bases.
    pub fn new(k: usize) -> Unitigs {
        Unitigs {
            k,
            bases: BaseString::default(),
            ends: Vec::new(),
            count_sums: Vec::new(),
            circular: Vec::new(),
        }
    }

    /// Adds one: letters, the sum of the counts of its k-mers, and whether its last k-mer is
    /// followed by its first.
    ///
    /// # Panics
    /// When a letter is no base, or there are less than k.
    pub fn push_letters(&mut self, letters: &[u8], count_sum: u64, circular: bool) {
        assert!(letters.len() >= self.k, "a unitig has a k-mer");
        self.bases.push_letters(letters);
        self.end(count_sum, circular);
    }

    /// Adds one in the direction in which its letters are the lesser.
    fn push_lesser(&mut self, bases: &BaseString, count_sum: u64) {
        match bases.reverse_is_lesser() {
            false => self.bases.append(bases, 0..bases.len()),
            true => self.bases.append_reverse_complement(bases, 0..bases.len()),
        }
        self.end(count_sum, false);
    }

    /// Adds one of another graph of the same k.
    fn push_of(&mut self, other: &Unitigs, unitig: usize) {
        self.bases.append(&other.bases, other.stretch(unitig));
        self.end(other.count_sum(unitig), other.is_circular(unitig));
    }

    /// Adds a sequence that is no unitig, as it is.
    fn push_string(&mut self, bases: &BaseString, count_sum: u64) {
        self.bases.append(bases, 0..bases.len());
        self.end(count_sum, false);
    }

    /// Adds a ring as it is.
    fn push_ring(&mut self, bases: &BaseString, count_sum: u64) {
        self.bases.append(bases, 0..bases.len());
        self.end(count_sum, true);
    }

    fn end(&mut self, count_sum: u64, circular: bool) {
        self.ends.push(self.bases.len());
        self.count_sums.push(count_sum);
        self.circular.push(circular);
    }

    /// Adds all of another graph of the same k behind the own.
    fn append(&mut self, other: Unitigs) {
        let start = self.bases.len();
        self.bases.append(&other.bases, 0..other.bases.len());
        self.ends.extend(other.ends.iter().map(|end| start + end));
        self.count_sums.extend(other.count_sums);
        self.circular.extend(other.circular);
    }

    /// Bytes of memory that they take.
    pub fn bytes(&self) -> usize {
        self.bases.bytes() + self.len() * (2 * size_of::<u64>() + 1)
    }

    /// Bases of a k-mer.
    pub fn k(&self) -> usize {
        self.k
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The bases of all, one behind the other.
    pub fn bases(&self) -> &BaseString {
        &self.bases
    }

    /// Where in [`Unitigs::bases`] those of one are.
    pub fn stretch(&self, unitig: usize) -> std::ops::Range<usize> {
        let start = unitig.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[unitig]
    }

    /// Bases of one.
    pub fn length(&self, unitig: usize) -> usize {
        self.stretch(unitig).len()
    }

    /// k-mers of one.
    pub fn kmers(&self, unitig: usize) -> usize {
        self.length(unitig) + 1 - self.k
    }

    /// The sum of the counts of its k-mers.
    pub fn count_sum(&self, unitig: usize) -> u64 {
        self.count_sums[unitig]
    }

    /// True for a ring: its last k-mer is followed by its first, and by no other. The first k-1
    /// bases are there again at its end.
    pub fn is_circular(&self, unitig: usize) -> bool {
        self.circular[unitig]
    }

    /// The letters of one.
    pub fn letters(&self, unitig: usize) -> Vec<u8> {
        let mut letters = Vec::new();
        self.bases.write_letters(self.stretch(unitig), &mut letters);
        letters
    }

    /// The k-mer at an end, in the direction of the unitig.
    ///
    /// # Panics
    /// When `W` words do not hold k bases.
    pub fn end_kmer<const W: usize>(&self, end: UnitigEnd) -> Kmer<W> {
        self.at_end(end, self.k)
    }

    /// The k-1 bases at an end, in the direction of the unitig: what it shares with its neighbours.
    ///
    /// # Panics
    /// When `W` words do not hold k-1 bases.
    pub fn junction<const W: usize>(&self, end: UnitigEnd) -> Kmer<W> {
        self.at_end(end, self.k - 1)
    }

    fn at_end<const W: usize>(&self, end: UnitigEnd, bases: usize) -> Kmer<W> {
        let stretch = self.stretch(end.unitig);
        let at = match end.side {
            Side::Left => stretch.start,
            Side::Right => stretch.end - bases,
        };
        self.bases.kmer(at, bases)
    }
}
