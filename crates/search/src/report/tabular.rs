//! Tables: BLAST's formats 6, 7 and 10.

use std::io::{self, Write};

use super::aligned::Aligned;
use super::columns::Column;
use super::layout::{About, End, Layout, QueryHits};

/// A line for each alignment, in some columns.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Table {
    /// Lines before the alignments of a query say what they are.
    pub comments: bool,
    /// What stands between two columns.
    pub delimiter: String,
    pub columns: Vec<Column>,
}

impl Table {
    /// Adds those columns that are not there yet.
    pub(super) fn add(&mut self, columns: Vec<Column>) {
        for column in columns {
            if !self.columns.contains(&column) {
                self.columns.push(column);
            }
        }
    }

    fn comment(&self, out: &mut dyn Write, about: &About, answer: &QueryHits) -> io::Result<()> {
        let program = answer.program.told().to_uppercase();
        writeln!(out, "# {program} {}", about.program)?;
        out.write_all(b"# Query: ")?;
        out.write_all(answer.queries.title(answer.query))?;
        writeln!(out, "\n# Database: {}", about.database)?;
        let found: usize = answer.hits.iter().map(|hit| hit.hsps.len()).sum();
        if found > 0 {
            let headings = self.columns.iter().map(|column| column.heading);
            writeln!(out, "# Fields: {}", headings.collect::<Vec<_>>().join(", "))?;
        }
        writeln!(out, "# {found} hits found")
    }
}

impl Layout for Table {
    fn head(&self, _: &mut dyn Write, _: &About, _: Option<&QueryHits>) -> io::Result<()> {
        Ok(())
    }

    fn query(&self, out: &mut dyn Write, about: &About, answer: &QueryHits) -> io::Result<()> {
        if self.comments {
            self.comment(out, about, answer)?;
        }
        let mut line = Vec::new();
        for hit in answer.hits {
            for hsp in &hit.hsps {
                let row = Aligned::new(answer, hit, hsp);
                line.clear();
                for (number, column) in self.columns.iter().enumerate() {
                    if number > 0 {
                        line.extend_from_slice(self.delimiter.as_bytes());
                    }
                    (column.write)(&mut line, &row);
                }
                line.push(b'\n');
                out.write_all(&line)?;
            }
        }
        Ok(())
    }

    fn tail(&self, out: &mut dyn Write, _: &About, end: &End) -> io::Result<()> {
        if self.comments {
            writeln!(out, "# BLAST processed {} queries", end.queries)?;
        }
        Ok(())
    }
}
