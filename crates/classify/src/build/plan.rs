//! What a build will take, before its first byte.

use gyrase_fabric::LocalFabric;
use gyrase_fastx::Inputs;
use gyrase_kmer::{Choice, SketchShape};
use gyrase_table::gydb::{self, PARTITIONS};
use gyrase_tabulate::{Estimate, decompressing, input_contents};

use super::budget::{Budget, MOST_WAITING};
use super::config::Config;
use super::error::BuildError;
use crate::plan::middle;
use crate::references::{self, RECORD};

/// Letters that a thread sketches and sorts in a second, as measured, and bytes that it
/// decompresses.
const LETTERS_PER_SECOND: f64 = 60e6;
const INFLATED_PER_SECOND: f64 = 600e6;

/// Bytes that a thread takes to read and sketch, as measured; less where there is little text: some
/// bytes, and a few for each of it.
const READING: u64 = 4 << 20;
const READING_LITTLE: u64 = 3 << 19;
/// Bytes that spilling takes, and each thread that spills.
const SPILLED: u64 = 6 << 20;
const SPILLING: u64 = 9 << 20;
/// Bytes that a build takes beside its threads, as measured. The lists come after the reading: what
/// they take, decompressors may have had, less where a thread is alone.
const BESIDE: u64 = 6 << 20;
const LISTS: u64 = 4 << 20;
const LISTS_OF_ONE: u64 = 1 << 20;
/// The part of the records that making lists of them takes beside.
const LISTS_PART: u64 = 32;
/// Bytes of finished partitions that wait for an earlier one where several threads sort, for each
/// thread: up to this part of the database for two, and no more than so many.
const WAITING_PART: u64 = 3;
const WAITING: u64 = 8 << 20;
/// Those of a database that is added to, and the part of it that waits besides.
const WAITING_ADDED: u64 = 11 << 19;
const WAITING_ADDED_PART: u64 = 128;
/// Bytes that a database which is added to takes beside its references, as measured.
const ADDED_TO: u64 = 5 << 20;

/// The part of a small database that is there while it is added to.
const ADDED_TO_PART: u64 = 2;

/// Bytes of a location of a database, beside its feature.
const LOCATION: u64 = 4;
/// Features are chosen by chance: so many more, as one part in so many, and a few beside.
const CHANCE: u64 = 32;
const FEW: u64 = 64;
/// Bytes of what a database tells beside its features, where the references are few.
const TOLD: u64 = 1 << 14;

/// What a build will take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BuildPlan {
    /// Letters of the references; no upper bound where one is a pipe.
    pub letters: Estimate,
    /// Bytes of memory that the build is expected to take, beside what the process has taken
    /// before.
    pub memory: u64,
    /// Bytes of spill files; 0 where all fits in memory.
    pub tmp: Estimate,
    /// Bytes of the database.
    pub output: Estimate,
    /// Seconds, about; nothing where an input is a pipe.
    pub seconds: Option<f64>,
}

/// Predicts what the build will take in one process; `before` is the database that it is
/// added to.
///
/// # Errors
/// When an input cannot be opened, or the memory is too little for so many threads.
pub fn plan_build(config: &Config, before: Option<gydb::Summary>) -> Result<BuildPlan, BuildError> {
    let bytes_before = before.map(|before| before.bytes);
    let budget = Budget::of(config.memory, config.threads, 1)?;
    let options = references::options(config.parameters.sketch);
    let inputs = Inputs::open(&config.references, options)
        .map_err(|error| BuildError::Tabulate(error.into()))?;
    let contents = input_contents(inputs.inputs());
    let sent = contents.bases.times(density(config.parameters.sketch));
    let threads = config.threads as u64;
    let records = sent.times(RECORD as f64);
    let senders = senders(inputs.inputs().len(), contents.text, config.threads);
    let held = sent.most.zip(records.most).map(|(sent, bytes)| {
        // Features are chosen by chance.
        let [sent, bytes] = [sent, bytes].map(|most| most + most / CHANCE);
        LocalFabric::expected_memory(PARTITIONS, senders, sent, bytes)
    });
    let output = match before {
        None => new_database(
            sent,
            contents.records,
            u64::from(config.parameters.locations),
        ),
        Some(before) => added(before, sent),
    };
    let (held, tmp) = match held {
        Some(held) if held <= budget.fabric => {
            let waiting = waiting(output, bytes_before, threads);
            let lists = records.least / LISTS_PART;
            (held + lists + waiting, Estimate::exactly(0))
        }
        // Compressed, they take half or more.
        known => (
            budget.fabric + SPILLED + threads * SPILLING,
            Estimate {
                least: known.map_or(0, |_| records.least / 2),
                ..records
            },
        ),
    };
    let added_to = bytes_before.map_or(0, |bytes| ADDED_TO.min(bytes / ADDED_TO_PART));
    let reading = READING.min(READING_LITTLE + 4 * contents.text as u64);
    let beside = BESIDE + senders as u64 * reading + added_to;
    let inflating = decompressing(inputs.inputs(), &contents, config.threads, u64::MAX);
    let lists = if threads > 1 { LISTS } else { LISTS_OF_ONE };
    let work = |letters: u64| {
        letters as f64 / LETTERS_PER_SECOND + contents.inflated / INFLATED_PER_SECOND
    };
    Ok(BuildPlan {
        letters: contents.bases,
        memory: (held + beside + inflating.saturating_sub(lists)).min(config.memory),
        tmp,
        output,
        seconds: middle(contents.bases).map(|letters| work(letters) / threads as f64),
    })
}

/// Bytes of a database of so many locations: of features that come once each, or as often as they
/// may, which is twice in each of the records at most.
fn new_database(sent: Estimate, records: Estimate, cap: u64) -> Estimate {
    let least = sent.least - sent.least / CHANCE;
    let times = records.most.map_or(cap, |records| cap.min(2 * records));
    let of_most = |most: u64| {
        let all = most + most / CHANCE + FEW;
        gydb::bytes_for(all, all) + TOLD
    };
    Estimate {
        least: gydb::bytes_for(least / times.max(1), least),
        most: sent.most.map(of_most),
    }
}

/// Bytes of a database with so many locations more.
fn added(before: gydb::Summary, sent: Estimate) -> Estimate {
    let of_most = |most: u64| {
        let more = most + most / CHANCE + FEW;
        let with = |more| gydb::bytes_for(before.features + more, before.locations + more);
        before.bytes + with(more) - with(0) + TOLD
    };
    Estimate {
        least: before.bytes + LOCATION * (sent.least - sent.least / CHANCE),
        most: sent.most.map(of_most),
    }
}

/// Threads that find anything to read: a file, or a batch of one.
fn senders(files: usize, text: f64, threads: usize) -> usize {
    let batches = text as usize / (1 << 20) + 1;
    threads.min(files.max(batches))
}

/// Bytes of finished partitions that wait for their turn, with the buffers of the next.
fn waiting(output: Estimate, before: Option<u64>, threads: u64) -> u64 {
    let each = match before {
        None => WAITING,
        Some(bytes) => (WAITING_ADDED + bytes / WAITING_ADDED_PART).min(WAITING + (1 << 20)),
    };
    let most = (threads * each).min(MOST_WAITING + MOST_WAITING / 4);
    match threads {
        1 => 0,
        _ => output
            .most
            .map_or(most, |bytes| most.min(bytes / WAITING_PART)),
    }
}

/// Features of a letter.
fn density(sketch: SketchShape) -> f64 {
    match sketch.choice() {
        Choice::OneIn(one_in) => 1.0 / one_in as f64,
        Choice::Smallest(smallest) => smallest as f64 / sketch.stride() as f64,
    }
}
