//! Databases into one: union, intersection, difference, and a range of counts.
//!
//! Databases of one shape put a k-mer into the same bin, so every bin is worked on alone, by
//! whichever thread is free, and what is in memory at a time is a bin of each database and thread.

mod error;
mod merge;
mod plan;

use std::path::PathBuf;

use gyrase_kmer::{BINS, Shape, with_words};
use gyrase_table::gyk::{self, Cutoffs, Database, Metadata, Writer};
use gyrase_work::Progress;

use crate::bins::share_out;
use merge::{Rows, RowsRef};

pub use error::OperationError;
pub(crate) use plan::STARTED;
pub use plan::{DatabasesPlan, plan, plan_reading};

/// Which k-mers the result has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Those of any database. With one database: those of it, for [`Config::cutoffs`] to choose
    /// from.
    Union,
    /// Those of every database.
    Intersect,
    /// Those of the first database that no other has.
    Subtract,
    /// Those of the first database, the counts of the others taken off; who has none left drops
    /// out.
    SubtractCounts,
}

/// Which count a k-mer gets that several databases have ([`Operation::Union`] and
/// [`Operation::Intersect`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// All counts together, at most 2^32-1.
    Sum,
    /// The smallest count of those databases that have it.
    Min,
    /// The largest count.
    Max,
    /// The count of the first database that has it.
    First,
}

impl Operation {
    /// The usual way to combine counts: sum for a union, else the smallest.
    pub fn usual_combine(self) -> Combine {
        if self == Operation::Union {
            Combine::Sum
        } else {
            Combine::Min
        }
    }

    /// The verb, as the metadata has it.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Union => "union",
            Operation::Intersect => "intersect",
            Operation::Subtract => "subtract",
            Operation::SubtractCounts => "subtract-counts",
        }
    }
}

/// What to do.
#[derive(Clone, Debug)]
pub struct Config {
    /// Which k-mers the result has.
    pub operation: Operation,
    /// Which count a k-mer of several databases gets.
    pub combine: Combine,
    /// The databases: at least one for a union, else two.
    pub inputs: Vec<PathBuf>,
    /// The database that is to appear.
    pub output: PathBuf,
    /// The counts, as combined, that the result keeps.
    pub cutoffs: Cutoffs,
    /// Threads, at least 1.
    pub threads: usize,
}

/// What an operation did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The totals of each database.
    pub inputs: Vec<gyk::Summary>,
    /// k-mers that both of two databases have; of more than two, known for an intersection only
    /// (those in all).
    pub shared: Option<u64>,
    /// k-mers of the result before the cut-offs.
    pub before_cutoffs: u64,
    /// The result.
    pub output: gyk::Summary,
}

/// What a thread keeps from bin to bin: memory and sums.
#[derive(Default)]
struct Lane<const W: usize> {
    /// Unpacked counts of the databases.
    counts: Vec<Vec<u32>>,
    spare: Vec<Rows<W>>,
    shared: u64,
    before_cutoffs: u64,
}

/// Combines databases into one.
///
/// # Errors
/// When a database cannot be read or the output not be written, and when the databases differ in k
/// or strandedness.
pub fn run(config: &Config, progress: &Progress) -> Result<Summary, OperationError> {
    let databases = open_all(&config.inputs)?;
    let Cutoffs { min, max } = config.cutoffs;
    if min > max {
        return Err(OperationError::Cutoffs { min, max });
    }
    if databases.len() < 2 && config.operation != Operation::Union {
        return Err(OperationError::NoInput);
    }
    let shape = databases[0].shape();
    let cutoffs = Cutoffs {
        min: min.max(1),
        max,
    };
    let writer = Writer::create(&config.output, shape, cutoffs)?;
    progress.start(config.operation.name(), BINS as u64);
    let (shared, before_cutoffs) =
        with_words!(shape, W => combine_bins::<W>(config, progress, &databases, &writer)?);
    let output = writer.finish(&metadata(config.operation.name(), &databases))?;
    let shared = match (config.operation, databases.len()) {
        (Operation::Intersect, _) => Some(before_cutoffs),
        (_, 2) => Some(shared),
        _ => None,
    };
    let inputs = databases
        .iter()
        .map(|database| database.header().summary())
        .collect();
    Ok(Summary {
        inputs,
        shared,
        before_cutoffs,
        output,
    })
}

/// Opens databases that must have one shape.
pub fn open_all(paths: &[PathBuf]) -> Result<Vec<Database>, OperationError> {
    let databases = paths
        .iter()
        .map(|path| Database::open(path))
        .collect::<Result<Vec<_>, _>>()?;
    let first = databases.first().ok_or(OperationError::NoInput)?;
    match databases
        .iter()
        .find(|database| database.shape() != first.shape())
    {
        None => Ok(databases),
        Some(second) => Err(OperationError::Mismatch {
            first: first.path().to_path_buf(),
            first_shape: in_words(first.shape()),
            second: second.path().to_path_buf(),
            second_shape: in_words(second.shape()),
        }),
    }
}

fn in_words(shape: Shape) -> String {
    format!(
        "{} {}-mers",
        if shape.stranded() {
            "stranded"
        } else {
            "canonical"
        },
        shape.k()
    )
}

/// The metadata of a database made of others: all that they were made of.
fn metadata(operation: &str, databases: &[Database]) -> Metadata {
    let mut inputs: Vec<String> = databases
        .iter()
        .flat_map(|database| database.metadata().inputs.iter().cloned())
        .collect();
    inputs.sort();
    let sum = |field: fn(&Metadata) -> u64| {
        databases.iter().fold(0u64, |sum, database| {
            sum.saturating_add(field(database.metadata()))
        })
    };
    Metadata {
        inputs,
        operation: operation.to_string(),
        reads: sum(|m| m.reads),
        bases: sum(|m| m.bases),
    }
}

/// All bins; returns the k-mers that were shared and those before the cut-offs.
fn combine_bins<const W: usize>(
    config: &Config,
    progress: &Progress,
    databases: &[Database],
    writer: &Writer,
) -> Result<(u64, u64), OperationError> {
    let work = |lane: &mut Lane<W>, bin| {
        let rows = lane.combine_bin(config, databases, bin)?;
        let written = writer.write_bin(bin, rows.keys.as_flattened(), &rows.counts);
        lane.spare.push(rows);
        Ok::<_, OperationError>(written?)
    };
    let lanes = share_out(config.threads, BINS, progress, Lane::default, work, || {
        writer.abandon()
    })?;
    Ok(lanes.iter().fold((0, 0), |sum, lane| {
        (sum.0 + lane.shared, sum.1 + lane.before_cutoffs)
    }))
}

impl<const W: usize> Lane<W> {
    fn combine_bin(
        &mut self,
        config: &Config,
        databases: &[Database],
        bin: usize,
    ) -> Result<Rows<W>, OperationError> {
        let mut counts = std::mem::take(&mut self.counts);
        counts.resize_with(databases.len(), Vec::new);
        for (counts, database) in counts.iter_mut().zip(databases) {
            counts.clear();
            database.sound_bin(bin)?.append_counts(counts);
        }
        let inputs: Vec<RowsRef<W>> = databases
            .iter()
            .zip(&counts)
            .map(|(database, counts)| RowsRef {
                keys: database.bin(bin).rows(),
                counts,
            })
            .collect();
        let mut rows = match config.operation {
            Operation::Union | Operation::Intersect => self.pairwise(config, &inputs),
            Operation::Subtract | Operation::SubtractCounts => self.one_by_one(config, &inputs),
        };
        self.counts = counts;
        self.before_cutoffs += rows.counts.len() as u64;
        if config.cutoffs != Cutoffs::default() {
            rows.retain(|count| config.cutoffs.keep(count));
        }
        Ok(rows)
    }

    fn fresh(&mut self) -> Rows<W> {
        self.spare.pop().unwrap_or_default()
    }

    /// Merges neighbours until one list is left, so that a row of n databases is moved log n times.
    fn pairwise(&mut self, config: &Config, inputs: &[RowsRef<W>]) -> Rows<W> {
        if let [only] = inputs {
            let mut rows = self.fresh();
            rows.clear();
            rows.keys.extend_from_slice(only.keys);
            rows.counts.extend_from_slice(only.counts);
            return rows;
        }
        let mut level: Vec<Rows<W>> = Vec::new();
        let (pairs, odd) = inputs.as_chunks::<2>();
        for &[a, b] in pairs {
            level.push(self.pair(config, a, b));
        }
        if !odd.is_empty() {
            level.push(self.pairwise(config, odd));
        }
        while level.len() > 1 {
            let mut merged = Vec::with_capacity(level.len().div_ceil(2));
            let mut rest = level.into_iter();
            while let Some(a) = rest.next() {
                let Some(b) = rest.next() else {
                    merged.push(a);
                    break;
                };
                merged.push(self.pair(config, a.as_ref(), b.as_ref()));
                self.spare.extend([a, b]);
            }
            level = merged;
        }
        level
            .pop()
            .expect("at least two lists were merged into one")
    }

    fn pair(&mut self, config: &Config, a: RowsRef<W>, b: RowsRef<W>) -> Rows<W> {
        type Counted = (u32, u32);
        let sum = |a: Counted, b: Counted| a.0.saturating_add(b.0);
        let max = |a: Counted, b: Counted| a.0.max(b.0);
        let min = |a: Counted, b: Counted| (a.0 | !a.1).min(b.0 | !b.1);
        let first = |a: Counted, b: Counted| a.0 | (b.0 & !a.1);
        let mut out = self.fresh();
        let shared = match (config.operation, config.combine) {
            (Operation::Intersect, Combine::Sum) => merge::intersect(a, b, &mut out, sum),
            (Operation::Intersect, Combine::Max) => merge::intersect(a, b, &mut out, max),
            (Operation::Intersect, Combine::Min) => merge::intersect(a, b, &mut out, min),
            (Operation::Intersect, Combine::First) => merge::intersect(a, b, &mut out, first),
            (_, Combine::Sum) => merge::union(a, b, &mut out, sum),
            (_, Combine::Max) => merge::union(a, b, &mut out, max),
            (_, Combine::Min) => merge::union(a, b, &mut out, min),
            (_, Combine::First) => merge::union(a, b, &mut out, first),
        };
        self.shared += shared;
        out
    }

    /// Takes the second list, the third and so on off the first.
    fn one_by_one(&mut self, config: &Config, inputs: &[RowsRef<W>]) -> Rows<W> {
        let mut rows: Option<Rows<W>> = None;
        for &other in &inputs[1..] {
            let a = rows.as_ref().map_or(inputs[0], Rows::as_ref);
            let mut out = self.fresh();
            self.shared += match config.operation {
                Operation::SubtractCounts => {
                    merge::subtract(a, other, &mut out, |a, b| a.0.saturating_sub(b.0))
                }
                _ => merge::subtract(a, other, &mut out, |a, b| a.0 & !b.1),
            };
            self.spare.extend(rows.replace(out));
        }
        rows.expect("there are at least two lists")
    }
}
