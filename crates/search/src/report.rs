//! Answers as files, in the formats of BLAST.

mod aligned;
mod anchored;
mod answer;
mod columns;
mod document;
mod documents;
mod fasta;
mod format;
mod json;
mod layout;
mod metadata;
mod numbers;
mod paf;
mod page;
mod pairwise;
mod sam;
mod setting;
mod tabular;
mod xml;
mod xml2;

use std::io::{self, Write};
use std::sync::OnceLock;

use layout::{End, Layout};
use setting::Setting;

use crate::Program;
use crate::error::FormatError;

pub use answer::{About, QueryHits};
pub use documents::{DocumentFiles, DocumentSyntax};
pub use format::ReportFormat;
pub use page::PAGE as REPORT_PAGE;

/// How the answers of a search are written. What it writes of a query depends on no other query:
/// pieces that are written anywhere make the report when they stand in order.
pub struct Report {
    format: ReportFormat,
    layout: Box<dyn Layout + Send + Sync>,
    about: About,
    /// How queries were searched for, once that is known.
    setting: OnceLock<Setting>,
}

impl Report {
    /// A report in a format.
    pub fn new(format: ReportFormat, about: About) -> Report {
        Report {
            layout: format.clone().layout(),
            format,
            about,
            setting: OnceLock::new(),
        }
    }

    /// What the report depends on beside the search, in a line.
    pub(crate) fn question(&self) -> String {
        format!("{:?} {:?}", self.format, self.about)
    }

    /// Whether it can tell the answers of a program.
    pub(crate) fn suits(&self, program: Program) -> Result<(), FormatError> {
        self.format.suits(program)
    }

    /// Notes how queries are searched for, by the answer of any of them.
    pub(crate) fn settle(&self, answer: &QueryHits) {
        self.setting.get_or_init(|| Setting::of(answer));
    }

    /// Writes the answer of a query, the first one behind what stands before it.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn answer(&self, out: &mut dyn Write, answer: &QueryHits) -> io::Result<()> {
        self.settle(answer);
        if self.format.names_taxa() {
            answer.read_taxonomy()?;
        }
        if answer.query == 0 {
            self.layout.head(out, &self.about, Some(answer))?;
        }
        self.layout.query(out, &self.about, answer)
    }

    /// Writes what stands behind the last of so many queries.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn finish(&self, out: &mut dyn Write, queries: usize) -> io::Result<()> {
        if queries == 0 {
            self.layout.head(out, &self.about, None)?;
        }
        let setting = self.setting.get().copied();
        self.layout
            .tail(out, &self.about, &End { queries, setting })
    }
}
