//! What classifying will take, before its first read.

use gyrase_fastx::{Compression, Input};

use crate::collection::{Collection, Plan};

/// Letters that a thread classifies in a second, as measured on a database of 24 genomes.
const LETTERS_PER_SECOND: f64 = 50e6;
/// Bytes that a thread decompresses in a second.
const INFLATED_PER_SECOND: f64 = 600e6;

/// Bytes of text that are looked at in each input.
const SAMPLE: usize = 1 << 20;

/// What a run will take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Letters of all reads, about; nothing where an input is a pipe.
    pub letters: Option<u64>,
    /// How the databases are asked; nothing where the memory is too little.
    pub plan: Option<Plan>,
    /// The least memory that is enough, in bytes.
    pub least_memory: u64,
    /// Seconds, about, once the databases are in the page cache; nothing where an input is a pipe
    /// or the memory is too little.
    pub seconds: Option<f64>,
}

/// Predicts what it takes to classify `inputs` on `threads` threads within `memory` bytes.
pub fn predict(
    collection: &Collection,
    inputs: &[Input],
    memory: u64,
    threads: usize,
) -> Prediction {
    let contents = inputs
        .iter()
        .try_fold((0, 0.0), |(letters, inflated), input| {
            let (more, text) = contents(input)?;
            Some((letters + more, inflated + text))
        });
    let work =
        |(letters, inflated)| letters as f64 / LETTERS_PER_SECOND + inflated / INFLATED_PER_SECOND;
    let asked = collection.plan(memory, threads);
    let passes = asked.ok().map(|plan| plan.passes as f64);
    Prediction {
        letters: contents.map(|contents| contents.0),
        plan: asked.ok(),
        least_memory: collection.least_memory(threads),
        seconds: contents
            .map(work)
            .zip(passes)
            .map(|(work, passes)| work * passes / threads as f64),
    }
}

/// Letters of an input, and the bytes of text that are to be decompressed for them.
fn contents(input: &Input) -> Option<(u64, f64)> {
    let size = input.size?;
    if size == 0 {
        return Some((0, 0.0));
    }
    let sample = input.sample(SAMPLE)?;
    let all = |part: u64| part as f64 * size as f64 / sample.stored.max(1) as f64;
    let text = if input.compression == Compression::Plain {
        0.0
    } else {
        all(sample.text)
    };
    Some(if sample.whole {
        (sample.letters, text)
    } else {
        (all(sample.letters) as u64, text)
    })
}
