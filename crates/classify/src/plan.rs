//! What classifying will take, before its first read.

use gyrase_fastx::Input;
use gyrase_tabulate::{Estimate, InputContents, input_contents, passing};

use crate::collection::{Collection, Plan};

/// Letters that a thread classifies in a second, as measured on a database of 24 genomes.
const LETTERS_PER_SECOND: f64 = 50e6;
/// Bytes that a thread decompresses in a second.
const INFLATED_PER_SECOND: f64 = 600e6;

/// Bytes of memory that a process takes that has classified next to nothing, as measured.
const STARTED: u64 = 60 << 18;

/// Letters of a line of answers beside the name: for a read that nothing is found of, and with
/// four taxa of eight digits.
const LINE: [u64; 2] = [13, 70];

/// What a run will take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Letters of all reads; no upper bound where an input is a pipe.
    pub letters: Estimate,
    /// How the databases are asked; nothing where the memory is too little.
    pub plan: Option<Plan>,
    /// Bytes of memory that the run is expected to take; nothing where the memory is too little.
    pub memory: Option<u64>,
    /// The least memory that is enough, in bytes.
    pub least_memory: u64,
    /// Bytes of the answers, a line for each read or pair.
    pub answers: Estimate,
    /// Seconds, about, once the databases are in the page cache; nothing where an input is a pipe
    /// or the memory is too little.
    pub seconds: Option<f64>,
}

/// Predicts what it takes to classify `inputs`, which are pairs of files where `paired`, on
/// `threads` threads within `memory` bytes.
pub fn predict(
    collection: &Collection,
    inputs: &[Input],
    paired: bool,
    memory: u64,
    threads: usize,
) -> Prediction {
    let contents = input_contents(inputs);
    let asked = collection.plan(memory, threads).ok();
    let work = |letters: u64| {
        letters as f64 / LETTERS_PER_SECOND + contents.inflated / INFLATED_PER_SECOND
    };
    Prediction {
        letters: contents.bases,
        plan: asked,
        memory: asked.map(|plan| {
            let reserved = plan.memory - collection.reserved(threads);
            let passing = passing(inputs, &contents, paired, threads);
            let inflating = passing.inflating;
            let beside = STARTED + passing.batches + inflating;
            // Of what is reserved, no part is for decompressors.
            (reserved + beside).min(plan.memory + inflating)
        }),
        least_memory: collection.least_memory(threads),
        answers: answers(&contents, paired),
        seconds: middle(contents.bases)
            .zip(asked)
            .map(|(letters, plan)| work(letters) * plan.passes as f64 / threads as f64),
    }
}

/// Bytes of a line for each read or pair.
fn answers(contents: &InputContents, paired: bool) -> Estimate {
    let of_all = |line: u64, reads: u64| contents.names as u64 + line * reads;
    let all = Estimate {
        least: of_all(LINE[0], contents.records.least),
        most: contents.records.most.map(|most| of_all(LINE[1], most)),
    };
    all.times(if paired { 0.5 } else { 1.0 })
}

/// A figure between the bounds.
pub(crate) fn middle(estimate: Estimate) -> Option<u64> {
    estimate.most.map(|most| estimate.least.midpoint(most))
}
