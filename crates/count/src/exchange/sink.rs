//! What every writer of a foreign database is told, and what it offers.

use gyrase_kmer::Kmer;

use super::error::Result;
use super::{kff, kmc};

/// What must be known before the first k-mer.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Bases of a k-mer.
    pub k: usize,
    /// True when the strands are counted apart.
    pub stranded: bool,
    /// No more k-mers than this come.
    pub most_kmers: u64,
    /// No count is larger than this.
    pub largest_count: u32,
    /// The smallest and the largest count that are kept, as headers state them.
    pub limits: (u32, u32),
}

impl Plan {
    /// Bytes that every count fits, 1 to 4.
    pub fn counter_bytes(&self) -> usize {
        (4 - self.largest_count.leading_zeros() as usize / 8).max(1)
    }
}

/// A foreign database under construction.
pub(crate) enum Sink {
    Kmc(kmc::Writer),
    Kff(kff::Writer),
}

impl Sink {
    /// Adds the next k-mer in the order of the letters.
    pub fn add<const W: usize>(&mut self, kmer: Kmer<W>, count: u32) -> Result<()> {
        match self {
            Sink::Kmc(writer) => writer.add(kmer, count),
            Sink::Kff(writer) => writer.add(kmer, count),
        }
    }

    /// Ends the output and gives it its name. Returns the number of k-mers.
    pub fn finish(self) -> Result<u64> {
        match self {
            Sink::Kmc(writer) => writer.finish(),
            Sink::Kff(writer) => writer.finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_take_as_few_bytes_as_the_largest() {
        let bytes = |largest_count| {
            Plan {
                k: 31,
                stranded: false,
                most_kmers: 1,
                largest_count,
                limits: (1, 1),
            }
            .counter_bytes()
        };
        assert_eq!(
            [0, 1, 255, 256, 65_535, 65_536, 1 << 24, u32::MAX].map(bytes),
            [1, 1, 1, 2, 2, 3, 4, 4]
        );
    }
}
