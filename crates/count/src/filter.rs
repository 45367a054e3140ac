//! Keeps or drops reads by how many of their k-mers are in a database.

use std::path::PathBuf;
use std::slice;

use gyrase_fastx::{Input, PairWriter, PairedReader, Reader};
use gyrase_kmer::with_words;
use gyrase_seq::Batch;
use gyrase_table::gyk::{Cutoffs, Database, GykError};
use gyrase_tabulate::{Estimate, Passing, Source, input_contents, passing};
use gyrase_work::Progress;
use gyrase_work::in_order;

use crate::lookup::Lookup;
use crate::ops::{DatabasesPlan, OperationError, plan_reading};

/// Where the second mates are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Mates {
    /// Reads are single.
    #[default]
    None,
    /// In a file of their own, in the order of the first mates.
    File(PathBuf),
    /// Each after its first mate.
    Interleaved,
}

/// How many k-mers make a read (or a pair, both mates together) match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Need {
    /// At least so many.
    Number(u64),
    /// At least this share, 0 to 1, of its k-mers over A, C, G, T. A read without any has the share
    /// 0.
    Share(f64),
}

/// What to filter.
#[derive(Clone, Debug)]
pub struct Config {
    /// The database.
    pub database: PathBuf,
    /// The reads, or the first mates; `-` for standard input.
    pub reads: PathBuf,
    /// The second mates.
    pub mates: Mates,
    /// A k-mer counts when its count in the database is within these.
    pub counts: Cutoffs,
    /// How many k-mers make a read match.
    pub need: Need,
    /// True: matching reads are dropped, the others kept.
    pub drop: bool,
    /// Threads, at least 1.
    pub threads: usize,
}

/// What was kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Reads, or pairs of reads.
    pub reads: u64,
    /// How many of them were kept.
    pub kept: u64,
    /// k-mers over A, C, G, T of all reads.
    pub kmers: u64,
    /// How many of them are in the database with a count in range.
    pub found: u64,
}

/// Predicts what it takes to filter `inputs`, the reads or both files of pairs, and the bytes of
/// what is kept.
///
/// # Errors
/// The database cannot be opened.
pub fn plan(
    config: &Config,
    inputs: &[Input],
) -> Result<(DatabasesPlan, Estimate), OperationError> {
    let contents = input_contents(inputs);
    let paired = config.mates != Mates::None;
    let Passing { batches, inflating } = passing(inputs, &contents, paired, config.threads);
    let DatabasesPlan { memory, kmers } = plan_reading(slice::from_ref(&config.database))?;
    let plan = DatabasesPlan {
        memory: memory + batches + inflating,
        kmers,
    };
    let most = contents.bases.most.map(|_| contents.text as u64);
    Ok((plan, Estimate { least: 0, most }))
}

/// Filters reads; the order is kept and a kept read is written to `kept` as it came. The files
/// appear when all went well.
///
/// # Errors
/// The database or the reads cannot be read, mates are not in step, or an output cannot be written.
pub fn run(
    config: &Config,
    kept: PairWriter,
    progress: &Progress,
) -> Result<Summary, OperationError> {
    let database = Database::open(&config.database)?;
    let options = Source::options();
    let source = match &config.mates {
        Mates::None => Source::Single(Box::new(Reader::open(&config.reads, &options)?)),
        Mates::File(mates) => Source::Paired(Box::new(PairedReader::open(
            &config.reads,
            mates,
            &options,
        )?)),
        Mates::Interleaved => Source::Paired(Box::new(PairedReader::open_interleaved(
            &config.reads,
            &options,
        )?)),
    };
    progress.start("filter", 0);
    with_words!(database.shape(), W => run_words::<W>(config, &database, source, kept, progress))
}

/// Which reads of a batch are kept, and the sums over all of them.
#[derive(Default)]
struct Verdict {
    kept: Vec<bool>,
    sums: Summary,
}

fn run_words<const W: usize>(
    config: &Config,
    database: &Database,
    source: Source,
    mut kept: PairWriter,
    progress: &Progress,
) -> Result<Summary, OperationError> {
    let mut summary = Summary::default();
    let start = || Lookup::<W>::new(database);
    let work = |lookup: &mut Lookup<W>, batches: &[Batch; 2], verdict: &mut Verdict| {
        judge(config, lookup, batches, verdict).map_err(OperationError::from)
    };
    in_order(
        config.threads,
        source,
        progress,
        start,
        work,
        |batches, verdict| {
            summary.add(&verdict.sums);
            progress.advance(verdict.sums.reads);
            for index in (0..verdict.kept.len()).filter(|&index| verdict.kept[index]) {
                kept.write(batches, index)?;
            }
            Ok(())
        },
    )?;
    kept.complete()?.publish()?;
    Ok(summary)
}

impl Summary {
    fn add(&mut self, other: &Summary) {
        self.reads += other.reads;
        self.kept += other.kept;
        self.kmers += other.kmers;
        self.found += other.found;
    }
}

fn judge<const W: usize>(
    config: &Config,
    lookup: &mut Lookup<W>,
    [first, second]: &[Batch; 2],
    verdict: &mut Verdict,
) -> Result<(), GykError> {
    verdict.kept.clear();
    verdict.sums = Summary::default();
    for (index, record) in first.records.iter().enumerate() {
        let (mut kmers, mut found) = (0, 0);
        let mut count = |letters: &[u8]| {
            lookup.walk(letters, |count| {
                kmers += u64::from(count.is_some());
                found +=
                    u64::from(count.is_some_and(|count| count > 0 && config.counts.keep(count)));
            })
        };
        count(first.bytes(record.letters))?;
        if let Some(mate) = second.records.get(index) {
            count(second.bytes(mate.letters))?;
        }
        let kept = config.need.is_met(kmers, found) != config.drop;
        verdict.kept.push(kept);
        verdict.sums.add(&Summary {
            reads: 1,
            kept: u64::from(kept),
            kmers,
            found,
        });
    }
    Ok(())
}

impl Need {
    fn is_met(self, kmers: u64, found: u64) -> bool {
        match self {
            Need::Number(least) => found >= least,
            Need::Share(least) => {
                found as f64 >= least * kmers as f64 && (kmers > 0 || least <= 0.0)
            }
        }
    }
}
