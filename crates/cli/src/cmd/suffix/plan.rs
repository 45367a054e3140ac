//! What verbs on suffixes will take.

use gyrase_fastx::{Inputs, Options};
use gyrase_picture::words::grouped;
use gyrase_tabulate::{Estimate, input_contents};
use serde_json::json;

use super::sequences::Sequences;
use crate::cmd::rows::{Table, bounds, shown};
use crate::failure::Result;
use crate::session::Session;

/// Letters that are sorted in a second, with what neighbours share.
pub const SORTED_A_SECOND: f64 = 6e6;

/// How many letters sequences have.
pub fn letters(sequences: &Sequences) -> Result<Estimate> {
    if let Some(file) = sequences.sorted() {
        return Ok(Estimate::exactly(file.facts().letters));
    }
    let options = Options {
        alphabet: gyrase_fastx::Alphabet::Any,
        ..Options::default()
    };
    let inputs = Inputs::open(&sequences.files, options)?;
    Ok(input_contents(inputs.inputs()).bases)
}

/// Prints how many letters there are, what memory they take, by `memory`, and the time.
pub fn print(
    session: &Session,
    letters: Estimate,
    memory: impl Fn(u64) -> u64,
    seconds: impl Fn(f64) -> f64,
) -> Result<()> {
    let taken = Estimate {
        least: memory(letters.least),
        most: letters.most.map(&memory),
    };
    let seconds = letters.most.map(|most| seconds(most as f64));
    session.note("counts", json!({"letters": bounds(letters)}));
    session.note(
        "bytes",
        json!({"memory": bounds(taken), "temporary": bounds(Estimate::exactly(0))}),
    );
    session.note("predicted_seconds", seconds);
    let mut table = Table::default();
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
