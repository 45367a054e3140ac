//! What k-mers of reads are like, partition by partition: all that the model takes of data.

/// The k-mers that share a minimizer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MinimizerPartition {
    /// The minimizer, two bits a base: its rank in the order of the letters.
    pub minimizer: u32,
    /// Super-k-mers.
    pub super_kmers: u64,
    /// Bytes that these are stored in.
    pub bytes: u64,
    /// k-mers, as often as they occur.
    pub kmers: u64,
    /// Different k-mers.
    pub distinct: u64,
    /// Those that occur once.
    pub unique: u64,
    /// What a HyperLogLog sketch takes `distinct` for.
    pub estimate: u64,
    /// Occurrences that a Bloom filter of `estimate` keys lets pass: all but the first of each, and
    /// some of these.
    pub passed: u64,
    /// Different k-mers among them: what a table behind the filter holds.
    pub kept: u64,
}

/// Fields that add up, of all partitions.
type Counter = fn(&mut MinimizerPartition) -> &mut u64;

const COUNTERS: [Counter; 8] = [
    |partition| &mut partition.super_kmers,
    |partition| &mut partition.bytes,
    |partition| &mut partition.kmers,
    |partition| &mut partition.distinct,
    |partition| &mut partition.unique,
    |partition| &mut partition.estimate,
    |partition| &mut partition.passed,
    |partition| &mut partition.kept,
];

/// Reads as a device sees them that counts their k-mers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageProfile {
    /// Bases of a k-mer.
    pub k: usize,
    /// Bases of a minimizer.
    pub m: usize,
    /// True where a k-mer and its reverse complement are two.
    pub stranded: bool,
    /// Bytes of text of the reads, as the device stores them.
    pub text_bytes: u64,
    /// Reads.
    pub reads: u64,
    /// Their letters.
    pub bases: u64,
    /// Partitions that have k-mers, by minimizer.
    pub partitions: Vec<MinimizerPartition>,
}

impl StorageProfile {
    /// The sums of all partitions; its minimizer means nothing.
    pub fn total(&self) -> MinimizerPartition {
        let mut total = MinimizerPartition::default();
        for mut partition in self.partitions.iter().copied() {
            for counter in COUNTERS {
                *counter(&mut total) += *counter(&mut partition);
            }
        }
        total
    }

    /// Minimizers that there can be.
    pub fn minimizers(&self) -> u64 {
        1 << (2 * self.m)
    }

    /// The share of all k-mers that is in the largest one in a hundred of the partitions that can
    /// be, 0 to 1.
    pub fn share_of_largest(&self) -> f64 {
        let mut kmers: Vec<u64> = self.partitions.iter().map(|one| one.kmers).collect();
        kmers.sort_unstable_by(|a, b| b.cmp(a));
        let largest = (self.minimizers() / 100).max(1) as usize;
        let sum: u64 = kmers.iter().take(largest).sum();
        sum as f64 / kmers.iter().sum::<u64>().max(1) as f64
    }

    /// The same with its sums of k-mers, of different ones and of those that occur once brought to
    /// those of `totals`, each partition in proportion; super-k-mers grow as k-mers do. Filters
    /// err as often as they did.
    pub fn scaled_to(&self, totals: &MinimizerPartition, text_bytes: u64) -> StorageProfile {
        let own = self.total();
        let grown = totals.kmers as f64 / own.kmers.max(1) as f64;
        let errors = Errors::of(&own);
        let mut scaled = self.clone();
        let partitions = &mut scaled.partitions;
        scale(partitions, grown, |one| &mut one.super_kmers);
        scale(partitions, grown, |one| &mut one.bytes);
        let factor = |to: u64, from: u64| to as f64 / from.max(1) as f64;
        scale(partitions, grown, |one| &mut one.kmers);
        scale(partitions, factor(totals.distinct, own.distinct), |one| {
            &mut one.distinct
        });
        scale(partitions, factor(totals.unique, own.unique), |one| {
            &mut one.unique
        });
        partitions
            .iter_mut()
            .for_each(|partition| errors.apply(partition));
        let grow = |number: u64| (number as f64 * grown).round() as u64;
        (scaled.text_bytes, scaled.reads, scaled.bases) =
            (text_bytes, grow(self.reads), grow(self.bases));
        scaled
    }

    /// Makes what filters let pass of what partitions have now; they err as those of `like` did.
    pub(crate) fn filter_as(&mut self, like: &StorageProfile) {
        let errors = Errors::of(&like.total());
        self.partitions
            .iter_mut()
            .for_each(|partition| errors.apply(partition));
    }
}

/// Shares that filters let pass though they should not.
struct Errors {
    /// Of the first occurrences of all k-mers.
    first: f64,
    /// Of the k-mers that occur once.
    unique: f64,
}

impl Errors {
    fn of(all: &MinimizerPartition) -> Errors {
        let again = all.kmers - all.distinct;
        let share = |wrong: u64, of: u64| wrong as f64 / of.max(1) as f64;
        Errors {
            first: share(all.passed.saturating_sub(again), all.distinct),
            unique: share(
                all.kept.saturating_sub(all.distinct - all.unique),
                all.unique,
            ),
        }
    }

    fn apply(&self, partition: &mut MinimizerPartition) {
        let MinimizerPartition {
            kmers,
            distinct,
            unique,
            ..
        } = *partition;
        let wrong = |share: f64, of: u64| (share * of as f64).round() as u64;
        partition.estimate = distinct;
        partition.passed = kmers.saturating_sub(distinct) + wrong(self.first, distinct);
        partition.kept = distinct.saturating_sub(unique) + wrong(self.unique, unique);
    }
}

/// Multiplies a field of all, with rounded sums, so that the whole is exact.
fn scale(partitions: &mut [MinimizerPartition], factor: f64, field: Counter) {
    let (mut sum, mut before) = (0.0, 0u64);
    for partition in partitions {
        let value = field(partition);
        sum += *value as f64 * factor;
        *value = (sum.round() as u64).saturating_sub(before);
        before = sum.round() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partition(minimizer: u32, kmers: u64) -> MinimizerPartition {
        MinimizerPartition {
            minimizer,
            kmers,
            super_kmers: kmers,
            distinct: kmers,
            ..MinimizerPartition::default()
        }
    }

    #[test]
    fn scaled_sums_are_those_that_are_asked_for() {
        let profile = StorageProfile {
            k: 28,
            m: 4,
            stranded: false,
            text_bytes: 10,
            reads: 2,
            bases: 20,
            partitions: (0..97)
                .map(|i| partition(i, u64::from(i % 7 + 1)))
                .collect(),
        };
        let totals = MinimizerPartition {
            kmers: 1_000_003,
            distinct: 7_001,
            ..MinimizerPartition::default()
        };
        let scaled = profile.scaled_to(&totals, 5);
        let total = scaled.total();
        assert_eq!(
            (total.kmers, total.distinct, scaled.text_bytes),
            (1_000_003, 7_001, 5)
        );
        assert!(
            scaled
                .partitions
                .iter()
                .all(|one| one.kept >= one.distinct - one.unique)
        );
        let grown = 1_000_003.0 / profile.total().kmers as f64;
        assert_eq!(scaled.reads, (2.0 * grown).round() as u64);
        assert!((total.super_kmers as f64 / total.kmers as f64 - 1.0).abs() < 1e-6);
        assert_eq!(
            profile.share_of_largest(),
            14.0 / profile.total().kmers as f64
        );
    }
}
