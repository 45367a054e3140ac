//! The numbers that people quote of an assembly.

use std::io::{self, Write};

/// What is said of some sequences. Lengths are in bases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Lengths, longest first.
    lengths: Vec<u64>,
    /// Bases that are G or C.
    gc: u64,
}

impl Statistics {
    /// Of sequences of bases: how many each has, and how many of them are G or C.
    pub fn of(sequences: impl IntoIterator<Item = (u64, u64)>) -> Statistics {
        let (lengths, gc): (Vec<u64>, Vec<u64>) = sequences.into_iter().unzip();
        Statistics {
            gc: gc.iter().sum(),
            ..Statistics::of_lengths(lengths)
        }
    }

    /// Of sequences of which only the lengths are known.
    pub fn of_lengths(mut lengths: Vec<u64>) -> Statistics {
        lengths.sort_unstable_by(|a, b| b.cmp(a));
        Statistics {
            lengths,
            ..Statistics::default()
        }
    }

    /// How many sequences have at least so many bases.
    pub fn count(&self, least: u64) -> usize {
        self.lengths.partition_point(|&length| length >= least)
    }

    /// The sum of the lengths of those with at least so many bases.
    pub fn total(&self, least: u64) -> u64 {
        self.lengths[..self.count(least)].iter().sum()
    }

    /// The longest; 0 where there is none.
    pub fn largest(&self) -> u64 {
        self.lengths.first().copied().unwrap_or(0)
    }

    /// The shortest; 0 where there is none.
    pub fn smallest(&self) -> u64 {
        self.lengths.last().copied().unwrap_or(0)
    }

    /// N50 and L50, and the same of other percentages: the length that so much of the total is in
    /// sequences of, or of longer ones, and how many these are.
    pub fn n(&self, percent: u64) -> (u64, usize) {
        let wanted = u128::from(self.total(0)) * u128::from(percent);
        let mut seen = 0;
        for (number, &length) in self.lengths.iter().enumerate() {
            seen += u128::from(length) * 100;
            if seen >= wanted {
                return (length, number + 1);
            }
        }
        (0, 0)
    }

    /// The mean length that a base is in a sequence of, in tenths: the area under the curve of all
    /// N.
    pub fn aun_tenths(&self) -> u64 {
        let squares: u128 = self
            .lengths
            .iter()
            .map(|&length| u128::from(length).pow(2))
            .sum();
        let total = u128::from(self.total(0).max(1));
        ((squares * 10 + total / 2) / total) as u64
    }

    /// Bases in percent that are G or C, in hundredths; 0 without bases.
    pub fn gc_hundredths(&self) -> u64 {
        let bases = self.total(0).max(1);
        (self.gc * 10_000 + bases / 2) / bases
    }

    /// Writes a table as QUAST's `report.tsv`, which MultiQC reads: names and values of one
    /// assembly. `all` are all sequences; these are the ones of at least 500 bases, or what the
    /// caller takes for contigs.
    pub fn write(&self, all: &Statistics, name: &str, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "Assembly\t{name}")?;
        for least in [0, 1000, 5000, 10_000, 25_000, 50_000] {
            writeln!(out, "# contigs (>= {least} bp)\t{}", all.count(least))?;
        }
        for least in [0, 1000, 5000, 10_000, 25_000, 50_000] {
            writeln!(out, "Total length (>= {least} bp)\t{}", all.total(least))?;
        }
        let ((n50, l50), (n90, l90)) = (self.n(50), self.n(90));
        let (gc, aun) = (self.gc_hundredths(), self.aun_tenths());
        writeln!(out, "# contigs\t{}", self.count(0))?;
        writeln!(out, "Largest contig\t{}", self.largest())?;
        writeln!(out, "Total length\t{}", self.total(0))?;
        writeln!(out, "GC (%)\t{}.{:02}", gc / 100, gc % 100)?;
        writeln!(
            out,
            "N50\t{n50}\nN90\t{n90}\nauN\t{}.{}",
            aun / 10,
            aun % 10
        )?;
        writeln!(out, "L50\t{l50}\nL90\t{l90}")?;
        // Contigs are of bases alone.
        writeln!(out, "# N's per 100 kbp\t0.00")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_definitions() {
        let statistics = Statistics::of([(80, 80), (70, 0), (50, 50), (40, 0)]);
        assert_eq!((statistics.n(50), statistics.n(90)), ((70, 2), (40, 4)));
        assert_eq!((statistics.count(50), statistics.total(50)), (3, 200));
        // (6400 + 4900 + 2500 + 1600) / 240
        assert_eq!(
            (statistics.aun_tenths(), statistics.gc_hundredths()),
            (642, 5417)
        );
        assert_eq!(statistics.largest(), 80);
    }

    #[test]
    fn of_nothing_everything_is_zero() {
        let nothing = Statistics::of([]);
        let mut text = Vec::new();
        nothing.write(&nothing, "x", &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.starts_with("Assembly\tx\n") && text.contains("N50\t0\n"));
        assert!(!text.contains("nan") && !text.contains("NaN"), "{text}");
    }
}
