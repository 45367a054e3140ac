//! Lines and extracted reads, in the order of the reads.

use std::io::Write;

use super::columns::{Columns, Lines};
use super::extract::Extract;
use crate::query::{Answered, QueryError, Sink};

/// Takes a line for each read, and the reads that are extracted. The files of extracted reads are
/// left to be completed.
pub struct Outlets<'a> {
    /// What a line tells.
    pub columns: Columns,
    /// Takes the lines.
    pub lines: &'a mut dyn Write,
    /// Take reads by their answers. Of stored candidates none can be extracted: only their names
    /// are there.
    pub extracts: &'a mut [Extract],
}

impl Sink for Outlets<'_> {
    type Form = Columns;

    fn form(&self) -> Columns {
        self.columns
    }

    fn take(&mut self, answered: &Answered<'_>, made: &Lines) -> Result<(), QueryError> {
        self.lines
            .write_all(made.text())
            .map_err(QueryError::Sink)?;
        let mut extracts = self.extracts.iter_mut();
        Ok(extracts.try_for_each(|extract| extract.take(answered.records, answered.taxa))?)
    }
}
