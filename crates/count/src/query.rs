//! The counts of given k-mers, and of the k-mers of given sequences.

mod packed;

use std::io::Write;
use std::path::PathBuf;

use gyrase_fastx::Reader;
use gyrase_kmer::{Kmer, with_words};
use gyrase_seq::Batch;
use gyrase_table::gyk::{Database, GykError};
use gyrase_tabulate::Source;
use gyrase_work::Progress;
use gyrase_work::in_order;

use crate::lookup::Lookup;
use crate::ops::OperationError;

pub use packed::look_up_packed;

/// The count of one k-mer in letters, either strand unless the database is stranded; 0 where the
/// database has it not.
///
/// # Errors
/// The text is no k-mer of the database, or the bin that it would be in was damaged.
pub fn look_up(database: &Database, letters: &str) -> Result<u32, OperationError> {
    let k = database.shape().k();
    let fail = || OperationError::NotAKmer {
        text: letters.to_string(),
        database: database.path().to_path_buf(),
        k,
    };
    if letters.len() != k {
        return Err(fail());
    }
    with_words!(database.shape(), W => {
        let kmer = Kmer::<W>::from_letters(letters.as_bytes()).ok_or_else(fail)?;
        Ok(database.get(kmer.form(database.shape()))?.unwrap_or(0))
    })
}

/// What sequences to look up.
#[derive(Clone, Debug)]
pub struct Config {
    /// The database.
    pub database: PathBuf,
    /// FASTA or FASTQ, in any compression; `-` for standard input.
    pub inputs: Vec<PathBuf>,
    /// Adds a column with the count of every k-mer.
    pub all_counts: bool,
    /// Threads, at least 1.
    pub threads: usize,
}

/// What was looked up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Sequences.
    pub sequences: u64,
    /// k-mers over A, C, G, T of all sequences.
    pub kmers: u64,
    /// How many of them the database has.
    pub present: u64,
}

/// The counts of the k-mers of one sequence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CountProfile {
    /// The count of every stretch of k letters in order, 0 where the database has it not, `None`
    /// where a letter is no base.
    pub counts: Vec<Option<u32>>,
    /// k-mers over A, C, G, T.
    pub kmers: u64,
    /// How many of them the database has.
    pub present: u64,
    /// Mean count of the k-mers, those counted 0 included; 0 without k-mers.
    pub mean: f64,
    /// Median count of the k-mers: the mean of the middle two of an even number; 0 without k-mers.
    pub median: f64,
}

impl CountProfile {
    /// Makes sums of the counts of a sequence.
    pub fn new(counts: Vec<Option<u32>>) -> CountProfile {
        let mut known: Vec<u32> = counts.iter().flatten().copied().collect();
        let kmers = known.len() as u64;
        let present = known.iter().filter(|&&count| count > 0).count() as u64;
        let sum: u64 = known.iter().map(|&count| u64::from(count)).sum();
        let mean = if kmers == 0 {
            0.0
        } else {
            sum as f64 / kmers as f64
        };
        CountProfile {
            kmers,
            present,
            mean,
            median: median(&mut known),
            counts,
        }
    }

    /// The profile of one sequence.
    ///
    /// # Errors
    /// A bin that one of its k-mers would be in was damaged.
    pub fn of(database: &Database, letters: &[u8]) -> Result<CountProfile, GykError> {
        with_words!(database.shape(), W => profile(&mut Lookup::<W>::new(database), letters))
    }

    /// Appends the line of this sequence.
    fn append(&self, name: &[u8], all_counts: bool, text: &mut Vec<u8>) {
        text.extend_from_slice(name);
        let sums = format!(
            "\t{}\t{}\t{:.2}\t{:.1}",
            self.kmers, self.present, self.mean, self.median
        );
        text.extend_from_slice(sums.as_bytes());
        for (at, count) in self.counts.iter().enumerate().filter(|_| all_counts) {
            text.push(if at == 0 { b'\t' } else { b',' });
            match count {
                Some(count) => text.extend_from_slice(count.to_string().as_bytes()),
                None => text.push(b'.'),
            }
        }
        if all_counts && self.counts.is_empty() {
            text.push(b'\t');
        }
        text.push(b'\n');
    }
}

fn median(counts: &mut [u32]) -> f64 {
    let middle = counts.len() / 2;
    if counts.is_empty() {
        return 0.0;
    }
    let even = counts.len().is_multiple_of(2);
    let (before, &mut upper, _) = counts.select_nth_unstable(middle);
    let lower = before
        .iter()
        .max()
        .filter(|_| even)
        .copied()
        .unwrap_or(upper);
    (f64::from(lower) + f64::from(upper)) / 2.0
}

fn profile<const W: usize>(
    lookup: &mut Lookup<W>,
    letters: &[u8],
) -> Result<CountProfile, GykError> {
    let mut counts = Vec::with_capacity(letters.len());
    lookup.walk(letters, |count| counts.push(count))?;
    Ok(CountProfile::new(counts))
}

/// Writes a table, a line a sequence, to `sink`: name (its first word), k-mers, present, mean,
/// median and, if asked for, all counts, separated by commas, `.` where there is no k-mer.
///
/// # Errors
/// The database or the sequences cannot be read, or `sink` not be written.
pub fn run(
    config: &Config,
    sink: &mut dyn Write,
    progress: &Progress,
) -> Result<Summary, OperationError> {
    let database = Database::open(&config.database)?;
    let last = if config.all_counts { "\tcounts" } else { "" };
    writeln!(sink, "#sequence\tk-mers\tpresent\tmean\tmedian{last}")
        .map_err(OperationError::Sink)?;
    progress.start("query", 0);
    let mut summary = Summary::default();
    for input in &config.inputs {
        let source = Source::Single(Box::new(Reader::open(input, &Source::options())?));
        with_words!(database.shape(), W => {
            run_input::<W>(config, &database, source, sink, progress, &mut summary)?
        });
    }
    Ok(summary)
}

fn run_input<const W: usize>(
    config: &Config,
    database: &Database,
    source: Source,
    sink: &mut dyn Write,
    progress: &Progress,
    summary: &mut Summary,
) -> Result<(), OperationError> {
    let work = |lookup: &mut Lookup<W>,
                batches: &[Batch; 2],
                (text, sums): &mut (Vec<u8>, Summary)|
     -> Result<_, OperationError> {
        text.clear();
        *sums = Summary::default();
        for record in &batches[0].records {
            let name = batches[0].bytes(record.name);
            let word = name
                .split(u8::is_ascii_whitespace)
                .next()
                .unwrap_or_default();
            let profile = profile(lookup, batches[0].bytes(record.letters))?;
            profile.append(word, config.all_counts, text);
            sums.sequences += 1;
            sums.kmers += profile.kmers;
            sums.present += profile.present;
        }
        Ok(())
    };
    in_order(
        config.threads,
        source,
        progress,
        || Lookup::new(database),
        work,
        |_, (text, sums)| {
            summary.sequences += sums.sequences;
            summary.kmers += sums.kmers;
            summary.present += sums.present;
            progress.advance(sums.sequences);
            sink.write_all(text).map_err(OperationError::Sink)
        },
    )
}
