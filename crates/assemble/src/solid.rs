//! The k-mers that an assembly begins with.

use gyrase_count::histogram::Histogram;
use gyrase_kmer::MAX_K;

use crate::config::Sample;
use crate::reads::Reads;

/// The smallest k of isolates.
const FIRST_K: usize = 31;
/// And of metagenomes: two reads of a thin genome overlap by so many bases more often.
const FIRST_K_MIXED: usize = 21;

/// The smallest k.
pub fn first_k(sample: Sample) -> usize {
    match sample {
        Sample::Isolate => FIRST_K,
        Sample::Metagenome { .. } => FIRST_K_MIXED,
    }
}

/// What the histogram of the k-mers of the reads says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KmerDepth {
    /// k-mers with a lower count are left out.
    pub least: u32,
    /// The most frequent count of k-mers of the genome; 0 where every genome has its own.
    pub peak: u64,
}

impl KmerDepth {
    /// Where every genome has a depth of its own: what is seen twice is there.
    pub const MIXED: KmerDepth = KmerDepth { least: 2, peak: 0 };

    /// What a histogram of counts from 2 on says of one genome; nothing where there is no peak, or
    /// most k-mers have another depth: reads are few, or of several genomes.
    pub fn of(histogram: &Histogram) -> Option<KmerDepth> {
        let rows: Vec<(u32, u64)> = histogram.rows().filter(|row| row.0 >= 2).collect();
        let kmers = |count: u32| {
            let around = count.saturating_sub(1)..=count + 1;
            let sum: u64 = rows
                .iter()
                .filter(|row| around.contains(&row.0))
                .map(|row| row.1)
                .sum();
            sum
        };
        let largest = rows.last().map_or(0, |row| row.0).min(MOST);
        let valley = (3..largest).find(|&count| kmers(count) < kmers(count + 1));
        let peak = valley.and_then(|valley| {
            (valley..largest).max_by_key(|&count| (kmers(count), u32::MAX - count))
        });
        let (valley, peak) = valley.zip(peak)?;
        let least = (peak / ERRORS).clamp(2, valley.max(2));
        let sum = |from: u32, to: u32| -> u64 {
            let between = rows.iter().filter(|row| (from..=to).contains(&row.0));
            between.map(|row| row.1).sum()
        };
        let near = sum(least.max(peak * 2 / 5), peak.saturating_mul(5) / 2);
        (2 * near >= sum(least, u32::MAX)).then_some(KmerDepth {
            least,
            peak: peak.into(),
        })
    }
}

/// Counts above this are of repeats and plasmids.
const MOST: u32 = 20_000;
/// What an error may have of the coverage is seldom more than one part in so many.
const ERRORS: u32 = 12;

impl KmerDepth {
    /// What the peak is for k-mers of `k` bases, in reads of so many letters; at least 1 where
    /// there is a peak.
    pub fn at(self, k: usize, length: u32, sample: Sample) -> u64 {
        let windows = |k: usize| (u64::from(length) + 1).saturating_sub(k as u64);
        let scaled = self.peak * windows(k) / windows(first_k(sample)).max(1);
        scaled.max(u64::from(self.peak > 0))
    }
}

/// The lengths of k-mers behind the first: the last one is the largest that most of the genome has
/// enough of in the reads, and those between make steps that are not too far. The first step of a
/// metagenome is halved: where bases of strains differ, ways that were one for a small k come apart
/// again for one that is much larger.
pub fn lengths(reads: &Reads, depth: KmerDepth, sample: Sample) -> Vec<usize> {
    let first = first_k(sample);
    let length = reads.typical_length();
    let is_deep = |k: &usize| depth.peak == 0 || depth.at(*k, length, sample) >= LEAST_DEPTH;
    // A k-mer is to be in a few places of a read.
    let most = (length as usize * 7 / 8).min(MAX_K);
    let Some(last) = (first + 2..=most)
        .rev()
        .filter(|k| k % 2 == 1)
        .find(is_deep)
    else {
        return Vec::new();
    };
    let steps = (last - first).div_ceil(if sample.is_mixed() { STEP_MIXED } else { STEP });
    let at = |step: usize| first + (last - first) * step / steps;
    let halved =
        (sample.is_mixed() && at(1) - first > STEP_MIXED / 2).then(|| first.midpoint(at(1)));
    // Odd, so that no k-mer is its own reverse complement.
    let all = halved.into_iter().chain((1..=steps).map(at));
    all.map(|k| k | 1).collect()
}

/// How often a k-mer of the genome is to be seen on average: one in a thousand is then missed.
const LEAST_DEPTH: u64 = 7;
/// From this depth on, in hundredths, an end that goes on does so in some read, mostly.
pub const GOES_ON: u64 = 250;
/// How far one k is from the next at most.
const STEP: usize = 48;
/// The same for metagenomes.
const STEP_MIXED: usize = 40;
