//! Reads of given genomes.

use std::path::PathBuf;

use gyrase_fastx::{Format, Writer};
use gyrase_work::Progress;

use crate::SimulateError;
use crate::error::check;
use crate::files;
use crate::sequence::{Sequence, read_sequences};
use crate::shotgun::{Places, Shotgun};

pub use crate::shotgun::{Errors, LibraryLayout, Protocol};

const BETWEEN_CHECKS: u64 = 4096;

/// How many reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// So many bases for each letter of the genome file. A file of two haplotypes gets this depth
    /// on each.
    Coverage(f64),
    /// So many fragments: reads, or pairs of reads.
    Fragments(u64),
}

/// Where the reads go. The ending of a name says how it is compressed; `-` is standard output.
#[derive(Clone, Debug, PartialEq)]
pub enum ReadFiles {
    /// One file; mates follow each other.
    One(PathBuf),
    /// Mates 1 in the first, mates 2 in the second file.
    Two(PathBuf, PathBuf),
}

/// Reads to make.
#[derive(Clone, Debug)]
pub struct Config {
    /// Files of sequences to read from.
    pub genomes: Vec<PathBuf>,
    /// How to read.
    pub protocol: Protocol,
    /// How much.
    pub amount: Amount,
    /// Where to.
    pub target: ReadFiles,
}

/// What was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Sequences long enough to be read from.
    pub sequences: u64,
    /// Their letters.
    pub genome_letters: u64,
    /// Reads written; mates count as two.
    pub reads: u64,
    /// Letters written.
    pub letters: u64,
    /// Sequencing errors among them.
    pub errors: u64,
}

/// Reads the genomes and writes the reads.
///
/// # Errors
/// When a setting is out of its range, a genome cannot be read or is too short, or a file cannot be
/// written; then no file appears.
pub fn run(config: &Config, progress: &Progress) -> Result<Summary, SimulateError> {
    config.protocol.check()?;
    let mut sequences = Vec::new();
    for path in &config.genomes {
        sequences.extend(read_sequences(path)?);
    }
    let mut files = config.target.create(&config.protocol.layout)?;
    let genome = config
        .genomes
        .first()
        .map_or(String::new(), |path| path.display().to_string());
    let summary = shoot(config, &sequences, &genome, &mut files, progress)?;
    files.into_iter().try_for_each(Writer::finish)?;
    Ok(summary)
}

fn shoot(
    config: &Config,
    sequences: &[Sequence],
    genome: &str,
    files: &mut [Writer],
    progress: &Progress,
) -> Result<Summary, SimulateError> {
    let mut shotgun = Shotgun::new(&config.protocol)?;
    let places = Places::new(sequences, config.protocol.layout.least(), genome)?;
    let fragments = config
        .amount
        .fragments(places.letters(), &config.protocol.layout)?;
    progress.start("reads", fragments);
    for number in 0..fragments {
        heed(progress, number)?;
        let mut random = shotgun.random(number);
        let fragment = shotgun.shear(&places, &mut random);
        shotgun.sequence(&fragment, number, &mut random, files)?;
    }
    Ok(Summary {
        sequences: places.sequences(),
        genome_letters: places.letters(),
        reads: shotgun.made.reads,
        letters: shotgun.made.letters,
        errors: shotgun.made.errors,
    })
}

/// Now and then says how far the run is, and stops it when asked to.
pub(crate) fn heed(progress: &Progress, number: u64) -> Result<(), SimulateError> {
    if number % BETWEEN_CHECKS == BETWEEN_CHECKS - 1 {
        progress.advance(BETWEEN_CHECKS);
        if progress.is_cancelled() {
            return Err(SimulateError::Cancelled);
        }
    }
    Ok(())
}

impl Amount {
    /// Number of fragments for a genome of so many letters.
    pub(crate) fn fragments(
        self,
        letters: u64,
        layout: &LibraryLayout,
    ) -> Result<u64, SimulateError> {
        match self {
            Amount::Fragments(fragments) => Ok(fragments),
            Amount::Coverage(coverage) => {
                check(
                    (0.0..=1e7).contains(&coverage),
                    "coverage",
                    coverage,
                    "between 0 and 10,000,000",
                )?;
                Ok((coverage * letters as f64 / layout.bases() + 0.5) as u64)
            }
        }
    }
}

impl ReadFiles {
    /// Starts the files: one, or two for mates.
    pub(crate) fn create(&self, layout: &LibraryLayout) -> Result<Vec<Writer>, SimulateError> {
        let create = |path: &PathBuf| files::create(path, Format::Fastq);
        match self {
            ReadFiles::One(path) => Ok(vec![create(path)?]),
            ReadFiles::Two(first, second) => {
                check(
                    layout.is_paired(),
                    "out2",
                    second.display(),
                    "left out for reads that are not paired",
                )?;
                check(
                    first != second,
                    "out2",
                    second.display(),
                    "another file than that of the first mates",
                )?;
                Ok(vec![create(first)?, create(second)?])
            }
        }
    }
}
