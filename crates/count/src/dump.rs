//! Every k-mer and its count as text.

mod letters;
mod sorted;

use std::io::Write;
use std::path::PathBuf;

use gyrase_kmer::{BINS, Key, Kmer, with_words};
use gyrase_table::gyk::{Cutoffs, Database};
use gyrase_work::Progress;

use crate::ops::OperationError;
use crate::ordered::{Out, write_ordered};
use letters::Line;

/// How a k-mer and its count are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// `KMER TAB count`, as `kmc_dump`.
    #[default]
    Tab,
    /// `KMER SPACE count`, as `jellyfish dump -c`.
    Space,
    /// `>count`, and the k-mer on the next line, as `jellyfish dump`.
    Fasta,
}

/// What to list.
#[derive(Clone, Debug)]
pub struct Config {
    /// The database.
    pub database: PathBuf,
    /// How a k-mer and its count are written.
    pub style: Style,
    /// The counts to list.
    pub cutoffs: Cutoffs,
    /// `None`: in the order of the database. `Some`: in the order of the letters, with about so
    /// many bytes of memory.
    pub sorted_within: Option<u64>,
    /// Threads, at least 1.
    pub threads: usize,
}

/// What was listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// k-mers of the database.
    pub distinct: u64,
    /// k-mers listed.
    pub listed: u64,
}

/// Writes the k-mers of a database to `sink`. The bytes do not depend on threads and memory.
pub fn run(
    config: &Config,
    sink: &mut dyn Write,
    progress: &Progress,
) -> Result<Summary, OperationError> {
    let database = Database::open(&config.database)?;
    let listed = with_words!(database.shape(), W => match config.sorted_within {
        None => as_stored::<W>(config, &database, sink, progress)?,
        Some(memory) => sorted::run::<W>(config, &database, memory, sink, progress)?,
    });
    Ok(Summary {
        distinct: database.header().distinct,
        listed,
    })
}

fn as_stored<const W: usize>(
    config: &Config,
    database: &Database,
    sink: &mut dyn Write,
    progress: &Progress,
) -> Result<u64, OperationError> {
    progress.start("dump", BINS as u64);
    let line = Line::<W>::new(database.shape().k(), config.style);
    write_ordered(
        config.threads,
        BINS,
        progress,
        sink,
        |bin, out: &mut Out| {
            let mut listed = 0;
            for (kmer, count) in kmers::<W>(database, bin, config.cutoffs)? {
                line.append(&mut out.text, kmer, count);
                out.pass()?;
                listed += 1;
            }
            Ok(listed)
        },
    )
}

/// The k-mers of a bin whose count passes, in the order of the database.
fn kmers<const W: usize>(
    database: &Database,
    bin: usize,
    cutoffs: Cutoffs,
) -> Result<impl Iterator<Item = (Kmer<W>, u32)>, OperationError> {
    let view = database.sound_bin(bin)?;
    let pairs = view.rows::<W>().iter().zip(view.counts());
    Ok(pairs
        .filter(move |&(_, count)| cutoffs.keep(count))
        .map(|(&row, count)| (Kmer::from(Key(row)), count)))
}
