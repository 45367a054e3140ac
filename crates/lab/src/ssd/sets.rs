//! The five read sets of the publication (table 2), or what can be had of them.
//!
//! Their 13 to 91 GB are not at hand. What takes their place are reads of random genomes, simulated
//! and then counted by the trunk, whose partitions are brought to the published sums: as if the
//! genome and the number of reads were larger, and everything else the same. All genomes have the
//! six-base words of yeast and worm; what differs are reads, errors and sums.

use std::path::Path;

use gyrase_kmer::Shape;
use gyrase_simulate::Random;
use gyrase_simulate::reads::{self, Amount, Errors, LibraryLayout, Protocol, ReadFiles};
use gyrase_work::Progress;

use super::composition;
use super::error::SsdError;
use super::profile::{MinimizerPartition, StorageProfile};
use super::scratch::scratch;
use super::trunk::{ProfileConfig, profile};

/// Lengths of k-mers in the publication.
pub const PUBLISHED_K: [usize; 3] = [14, 21, 28];
/// Bases of a minimizer there (section 4.3).
pub const PUBLISHED_M: usize = 9;
/// The share of 14-mers that occur once there: 2 to 3 % (section 7.2).
const UNIQUE_14: f64 = 0.025;
/// k-mers whose different forms all inputs of that size have.
const SATURATED_K: usize = 14;

/// A read set of table 2, and the random genome that stands in for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PublishedSet {
    /// Its name.
    pub name: &'static str,
    /// Size of its file, in GB.
    pub gb: f64,
    /// 28-mers, as often as they occur, in thousand millions.
    pub kmers: f64,
    /// Different ones.
    pub distinct: f64,
    /// Those that occur once.
    pub unique: f64,
    /// Letters of a read (chosen by bytes of file for a k-mer); long ones are log-normal.
    read: f64,
    /// Share of wrong bases (chosen by unique k-mers).
    errors: f64,
    /// Tails of A for a base of the genome, beside those of the chain (chosen: the text says that
    /// Vesca has one large partition).
    tails: f64,
}

/// Longer reads are long ones.
const SHORT: f64 = 1000.0;
/// Letters of reads for one of the genome. More would only make the genome smaller: sums are those
/// that are published.
const DEPTH: u64 = 4;
const UNIFORM: u64 = 0x414e;

/// All of them, in the order of the publication.
pub const PUBLISHED_SETS: [PublishedSet; 5] = [
    set(
        "Balbisiana",
        [91.0, 20.5, 0.9657, 0.5184],
        100.0,
        0.001,
        0.0,
    ),
    set("Crassa", [23.3, 15.7, 15.0, 14.8], 6000.0, 0.11, 0.0),
    set("Gallus", [28.0, 6.3, 1.4, 0.4792], 100.0, 0.003, 0.0),
    set("Thaliana", [17.0, 8.9, 8.4, 8.3], 6000.0, 0.11, 0.0),
    set("Vesca", [13.5, 5.8, 1.8, 1.4], 350.0, 0.01, 33e-5),
];

const fn set(
    name: &'static str,
    [gb, kmers, distinct, unique]: [f64; 4],
    read: f64,
    errors: f64,
    tails: f64,
) -> PublishedSet {
    PublishedSet {
        name,
        gb,
        kmers,
        distinct,
        unique,
        read,
        errors,
        tails,
    }
}

/// How the sets are simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SetsConfig<'a> {
    /// Letters of the reads of each.
    pub letters: u64,
    /// Which.
    pub seed: u64,
    /// A k-mer and its reverse complement are two.
    pub stranded: bool,
    /// Threads.
    pub threads: usize,
    /// Bytes of memory.
    pub memory: u64,
    /// Folder for the reads and spills.
    pub tmp: &'a Path,
}

impl<'a> SetsConfig<'a> {
    /// What the page of the publication is made of, in this folder, on one thread.
    pub fn standard(tmp: &'a Path) -> SetsConfig<'a> {
        let (letters, memory) = (2_000_000, 1 << 30);
        SetsConfig {
            letters,
            seed: 1,
            stranded: true,
            threads: 1,
            memory,
            tmp,
        }
    }
}

impl PublishedSet {
    fn total(&self) -> MinimizerPartition {
        let whole = |milliards: f64| (milliards * 1e9).round() as u64;
        MinimizerPartition {
            kmers: whole(self.kmers),
            distinct: whole(self.distinct),
            unique: whole(self.unique),
            ..MinimizerPartition::default()
        }
    }

    /// Its profiles for all k, in the order of [`PUBLISHED_K`].
    ///
    /// # Errors
    /// As of [`profile`]; or the reads cannot be written.
    pub fn profiles(
        &self,
        config: &SetsConfig<'_>,
        progress: &Progress,
    ) -> Result<Vec<StorageProfile>, SsdError> {
        let scratch = scratch(config.tmp)?;
        let file = scratch.path().join("reads.fq");
        self.simulate(config, scratch.path(), &file, progress)?;
        let of = |k| counted(config, &file, k, progress);
        let found = PUBLISHED_K
            .into_iter()
            .map(of)
            .collect::<Result<Vec<_>, _>>()?;
        let [_, _, largest] = &found[..] else {
            unreachable!("there are three")
        };
        let (own, published) = (largest.total(), self.total());
        let text = (self.gb * 1e9) as u64;
        let scaled = |profile: &StorageProfile| {
            let of = profile.total();
            let ratio = |part: u64, whole: u64, to: u64| {
                (part as f64 / whole.max(1) as f64 * to as f64).round() as u64
            };
            let totals = MinimizerPartition {
                kmers: ratio(of.kmers, own.kmers, published.kmers),
                distinct: ratio(of.distinct, own.distinct, published.distinct),
                unique: ratio(of.unique, own.unique, published.unique),
                ..MinimizerPartition::default()
            };
            profile.scaled_to(&totals, text)
        };
        let mut all: Vec<StorageProfile> = found.iter().map(scaled).collect();
        for (profile, sample) in all.iter_mut().zip(&found) {
            if profile.k == SATURATED_K {
                saturate(profile, sample, config, progress)?;
            }
        }
        Ok(all)
    }

    /// Writes reads of a random genome.
    fn simulate(
        &self,
        config: &SetsConfig<'_>,
        folder: &Path,
        file: &Path,
        progress: &Progress,
    ) -> Result<(), SsdError> {
        let genome = folder.join("genome.fa");
        let length = config.letters / DEPTH;
        let letters = composition::genome_with_tails(length, self.tails, config.seed);
        write_genome(&genome, &letters)?;
        let layout = match self.read < SHORT {
            true => LibraryLayout::Single {
                length: self.read as u32,
            },
            false => LibraryLayout::Long {
                mean: self.read,
                deviation: self.read / 2.0,
            },
        };
        let config = reads::Config {
            genomes: vec![genome],
            protocol: Protocol {
                seed: config.seed,
                layout,
                errors: Errors {
                    rate: self.errors,
                    indels: 0.1,
                },
            },
            amount: Amount::Fragments((config.letters as f64 / self.read) as u64 + 1),
            target: ReadFiles::One(file.to_path_buf()),
        };
        reads::run(&config, progress)?;
        Ok(())
    }
}

fn write_genome(path: &Path, letters: &[u8]) -> Result<(), SsdError> {
    let text = [b">genome\n", letters, b"\n"].concat();
    std::fs::write(path, text).map_err(|source| SsdError::Temporary {
        folder: path.into(),
        source,
    })
}

fn counted(
    config: &SetsConfig<'_>,
    file: &Path,
    k: usize,
    progress: &Progress,
) -> Result<StorageProfile, SsdError> {
    let config = ProfileConfig {
        inputs: vec![file.to_path_buf()],
        shape: Shape::new(k, config.stranded).expect("published k-mers are short"),
        m: PUBLISHED_M,
        threads: config.threads,
        memory: config.memory,
        tmp: config.tmp.to_path_buf(),
    };
    profile(&config, progress)
}

/// There are only 4^14 different 14-mers: what would be drawn `n` times of `all` that a partition
/// can have are all (1 - exp(-n / all)) of them. How many it can have, random letters tell.
fn saturate(
    profile: &mut StorageProfile,
    sample: &StorageProfile,
    config: &SetsConfig<'_>,
    progress: &Progress,
) -> Result<(), SsdError> {
    let scratch = scratch(config.tmp)?;
    let file = scratch.path().join("random.fa");
    let mut random = Random::stream(config.seed, UNIFORM, 0);
    let letters: Vec<u8> = (0..config.letters)
        .map(|_| gyrase_seq::decode(random.below(4) as u8))
        .collect();
    write_genome(&file, &letters)?;
    let random = counted(config, &file, profile.k, progress)?;
    let forms = if config.stranded { 1.0 } else { 0.5 };
    let all = 4f64.powi(profile.k as i32) * forms;
    let seen = random.total().kmers as f64;
    for partition in &mut profile.partitions {
        let place = random
            .partitions
            .binary_search_by_key(&partition.minimizer, |one| one.minimizer);
        let kmers = place.map_or(0, |place| random.partitions[place].kmers);
        let can = all * (kmers as f64 + 0.5) / seen;
        let distinct = can * -(-(partition.distinct as f64) / can).exp_m1();
        partition.distinct = (distinct.round() as u64).clamp(1, partition.kmers.max(1));
        partition.unique = (partition.distinct as f64 * UNIQUE_14).round() as u64;
    }
    profile.filter_as(sample);
    Ok(())
}
