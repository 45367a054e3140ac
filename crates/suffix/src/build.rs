//! Builds a `.gysa` file of what no process has whole.

use std::path::{Path, PathBuf};

use gyrase_fabric::World;
use gyrase_work::Progress;

use crate::doubling::{Sorting, Spread, TextBlock, round_memory, survey};
use crate::error::{BASE_OF_RANK, Error, admit};
use crate::gysa::{GysaFacts, write_in};
use crate::numbers::NumberArray;
use crate::texts::Letters;

/// Bytes for each letter of a process once suffixes are sorted by their first letters, beside
/// position, bucket and what is shared: the letter, its place, and what is told of it.
const FIRST: u64 = 28;

/// Bytes of memory that each process takes at least to sort texts of so many letters.
pub fn sorting_memory_of_each(letters: u64, ranks: usize) -> u64 {
    let own = letters.div_ceil(ranks as u64);
    BASE_OF_RANK + FIRST * own + NumberArray::bytes(3 * own, letters)
}

/// The same where every letter is part of a long repeat: the most that each takes.
pub fn most_sorting_memory_of_each(letters: u64, ranks: usize) -> u64 {
    let own = letters.div_ceil(ranks as u64);
    sorting_memory_of_each(letters, ranks).max(round_memory(letters, own, own))
}

/// Collective. Sorts the suffixes of the sequences in files and writes them, with the
/// Burrows-Wheeler transform if it is wanted, to a `.gysa` file: the bytes that one process writes.
/// Each process reads the files, and keeps its block of them. What the file holds is told in rank
/// 0.
///
/// # Errors
/// A file cannot be read or written; `memory` bytes of each process do not suffice; another process
/// failed.
pub fn build_in(
    world: &dyn World,
    paths: &[PathBuf],
    kind: Option<Letters>,
    (target, transform): (&Path, bool),
    memory: u64,
    progress: &Progress,
) -> Result<Option<GysaFacts>, Error> {
    let survey = survey(world, paths, kind, progress)?;
    let needed = sorting_memory_of_each(survey.letters as u64, world.ranks());
    admit("sorting the suffixes in each process", needed, memory)?;
    let text = TextBlock::read(world, paths, &survey, progress)?;
    let sorted = Sorting::new(world, &text, memory, progress)?.run()?;
    progress.start("write", 0);
    let whole = Spread {
        world,
        survey: &survey,
        text: &text,
        sorted: &sorted,
    };
    write_in(target, &whole, transform)
}
