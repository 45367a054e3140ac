//! Where the k-mers of a graph come from, bin by bin.

use gyrase_count::CountedBins;
use gyrase_fabric::{Owners, Peer, Place};
use gyrase_kmer::{BINS, Key, Kmer, Shape};
use gyrase_table::gyk::Database;

use crate::Error;

/// The k-mers of a graph: those with a count of at least so much.
pub enum SolidKmers {
    /// Counted by the processes of the job, each of which has its bins.
    Counted {
        /// Those of this process.
        bins: CountedBins,
        /// k-mers with a lower count are left out.
        min_count: u32,
    },
    /// From files, the counts of which are summed up.
    Databases {
        /// At least one, all of one shape.
        databases: Vec<Database>,
        /// k-mers with a lower sum are left out.
        min_count: u32,
    },
}

impl SolidKmers {
    /// Length of the k-mers.
    ///
    /// # Panics
    /// When there are no databases.
    pub fn shape(&self) -> Shape {
        match self {
            SolidKmers::Counted { bins, .. } => bins.shape(),
            SolidKmers::Databases { databases, .. } => databases[0].shape(),
        }
    }

    /// Bytes of memory that the k-mers take.
    pub(super) fn held(&self) -> u64 {
        match self {
            SolidKmers::Counted { bins, .. } => bins.held(),
            SolidKmers::Databases { .. } => 0,
        }
    }

    /// Gives back the memory of a bin that is not read again.
    pub(super) fn forget(&self, bin: usize) {
        if let SolidKmers::Counted { bins, .. } = self {
            self.parts(bin).for_each(|part| bins.forget(part));
        }
    }

    /// The bins that the graph is cut into, and which process has which of them. There is one
    /// where k-1 bases hold no minimizer.
    pub(super) fn place(&self, peer: Peer) -> Place {
        match self {
            _ if !self.is_cut() => Place::among(1, peer),
            SolidKmers::Counted { bins, .. } => bins.place().clone(),
            SolidKmers::Databases { databases, .. } => {
                let kmers = |bin| databases.iter().map(|one| one.bin_len(bin) as u64).sum();
                let sizes: Vec<u64> = (0..BINS).map(kmers).collect();
                Place::among(BINS, peer).owned_by(Owners::weighted(&sizes, peer.ranks))
            }
        }
    }

    /// True where junctions are owned by bins.
    pub(super) fn is_cut(&self) -> bool {
        self.shape().window() > 1
    }

    fn parts(&self, bin: usize) -> std::ops::Range<usize> {
        match self.is_cut() {
            true => bin..bin + 1,
            false => 0..BINS,
        }
    }
}

/// The k-mers of a bin, by number.
#[derive(Default)]
pub(super) struct BinKmers<const W: usize> {
    keys: Vec<[u64; W]>,
    pub(super) counts: Vec<u32>,
    /// Of a bin of several databases.
    rows: Vec<([u64; W], u32)>,
}

impl<const W: usize> BinKmers<W> {
    /// Takes those of another bin.
    pub(super) fn load(&mut self, source: &SolidKmers, bin: usize) -> Result<(), Error> {
        self.keys.clear();
        self.counts.clear();
        for part in source.parts(bin) {
            match source {
                SolidKmers::Counted { bins, min_count } => {
                    bins.read(part, &mut self.keys, &mut self.counts)?;
                    self.leave_out_below(*min_count);
                }
                SolidKmers::Databases {
                    databases,
                    min_count,
                } => self.add(databases, part, *min_count)?,
            }
        }
        match self.keys.len() < MOST_KMERS {
            true => Ok(()),
            false => Err(Error::TooLarge),
        }
    }

    fn leave_out_below(&mut self, min_count: u32) {
        if self.counts.iter().all(|&count| count >= min_count) {
            return;
        }
        let mut counts = self.counts.iter();
        self.keys
            .retain(|_| counts.next().is_some_and(|&count| count >= min_count));
        self.counts.retain(|&count| count >= min_count);
    }

    /// Adds those of a bin of all databases.
    fn add(&mut self, databases: &[Database], bin: usize, min_count: u32) -> Result<(), Error> {
        self.rows.clear();
        for database in databases {
            let view = database.sound_bin(bin)?;
            self.rows
                .extend(view.rows::<W>().iter().copied().zip(view.counts()));
        }
        databases.iter().for_each(|database| database.let_go(bin));
        if databases.len() > 1 {
            self.rows.sort_unstable_by_key(|row| row.0);
        }
        for same in self.rows.chunk_by(|one, other| one.0 == other.0) {
            let count = same.iter().fold(0u32, |sum, row| sum.saturating_add(row.1));
            if count >= min_count {
                self.keys.push(same[0].0);
                self.counts.push(count);
            }
        }
        Ok(())
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The k-mer of a number, in canonical form.
    #[inline(always)]
    pub(super) fn kmer(&self, number: usize) -> Kmer<W> {
        Kmer::from(Key(self.keys[number]))
    }
}

/// A bin has less.
const MOST_KMERS: usize = 1 << 28;
