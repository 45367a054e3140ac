//! What verbs on suffixes will take.

use std::path::PathBuf;

use gyrase_fastx::{Alphabet, Inputs, Options};
use gyrase_picture::words::grouped;
use gyrase_suffix::{most_sorting_memory_of_each, sorting_memory, sorting_memory_of_each};
use gyrase_tabulate::{Estimate, input_contents};
use serde_json::json;

use super::sequences::Sequences;
use crate::cmd::rows::{Table, bounds, shown};
use crate::failure::Result;
use crate::session::Session;

/// Letters that are sorted in a second, with what neighbours share.
const SORTED_A_SECOND: f64 = 6e6;

/// The same for each of several processes, where about half of the letters are in repeats.
const SORTED_BY_EACH: f64 = 6e5;

/// How many letters sequences have.
pub fn letters(sequences: &Sequences) -> Result<Estimate> {
    if let Some(file) = sequences.sorted() {
        return Ok(Estimate::exactly(file.facts().letters));
    }
    Ok(input_contents(opened(&sequences.files)?.inputs()).bases)
}

fn opened(files: &[PathBuf]) -> Result<Inputs> {
    let options = Options {
        alphabet: Alphabet::Any,
        ..Options::default()
    };
    Ok(Inputs::open(files, options)?)
}

/// How many letters the longest sequence of files has, where the longest of a file has at most
/// [`UNEVEN`] times as many as the mean.
pub fn longest(files: &[PathBuf]) -> Result<Estimate> {
    let mut longest = Estimate::exactly(0);
    for input in opened(files)?.inputs() {
        let all = input_contents(std::slice::from_ref(input));
        let of_file = |bases: u64, records: u64| bases.min(UNEVEN * bases / records.max(1));
        let records = all.records.least;
        longest.least = longest
            .least
            .max(all.bases.least / all.records.most.unwrap_or(1).max(1));
        let most = all.bases.most.map(|bases| of_file(bases, records));
        longest.most = longest.most.zip(most).map(|(one, other)| one.max(other));
    }
    Ok(longest)
}

/// How many times as long as the mean of its file the longest sequence may be.
const UNEVEN: u64 = 16;

/// Prints what sorting so many letters of one strand or both will take.
pub fn print_sorting(session: &Session, letters: Estimate, both_strands: bool) -> Result<()> {
    let memory = |letters| sorting_memory(letters, both_strands);
    let taken = Estimate {
        least: memory(letters.least),
        most: letters.most.map(memory),
    };
    let strands = 1.0 + f64::from(u8::from(both_strands));
    let seconds = |letters| letters as f64 * strands / SORTED_A_SECOND;
    print(session, letters, taken, letters.most.map(seconds))
}

/// Prints what each of several processes will take to sort so many letters.
pub fn print_sorting_of_each(session: &Session, letters: Estimate, processes: usize) -> Result<()> {
    let most = |letters| most_sorting_memory_of_each(letters, processes);
    let taken = Estimate {
        least: sorting_memory_of_each(letters.least, processes),
        most: letters.most.map(most),
    };
    let seconds = |letters| letters as f64 / processes as f64 / SORTED_BY_EACH;
    session.note("processes", processes);
    let mut table = Table::default();
    table.row("processes", format!("{processes}, each with this memory"));
    print_in(table, session, letters, taken, letters.most.map(seconds))
}

/// Prints how many letters there are, and the memory and time that they take.
pub fn print(
    session: &Session,
    letters: Estimate,
    taken: Estimate,
    seconds: Option<f64>,
) -> Result<()> {
    print_in(Table::default(), session, letters, taken, seconds)
}

/// The same behind other rows of a table.
fn print_in(
    mut table: Table,
    session: &Session,
    letters: Estimate,
    taken: Estimate,
    seconds: Option<f64>,
) -> Result<()> {
    session.note("counts", json!({"letters": bounds(letters)}));
    session.note(
        "bytes",
        json!({"memory": bounds(taken), "temporary": bounds(Estimate::exactly(0))}),
    );
    session.note("predicted_seconds", seconds);
    table.row("letters", shown(letters, grouped));
    table.memory(taken, session.memory, letters.most.is_none());
    table.temporary(Estimate::exactly(0), &session.tmp);
    table.time(seconds, "");
    table.print()?;
    let (what, needed) = ("this run", taken.least);
    match needed <= session.memory {
        true => Ok(()),
        false => Err(gyrase_suffix::Error::Memory {
            what,
            needed,
            memory: session.memory,
        }
        .into()),
    }
}
