//! Answers as files, in the formats of BLAST.

mod aligned;
mod answer;
mod columns;
mod document;
mod format;
mod json;
mod layout;
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

use layout::{End, Layout};
use setting::Setting;

pub use answer::{About, QueryHits};
pub use format::{FormatError, ReportFormat};

/// A report under construction.
pub struct Report {
    layout: Box<dyn Layout>,
    about: About,
    end: End,
}

impl Report {
    /// A report in a format.
    pub fn new(format: ReportFormat, about: About) -> Report {
        Report {
            layout: format.layout(),
            about,
            end: End {
                queries: 0,
                setting: None,
            },
        }
    }

    /// Writes the answer of the next query.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn answer(&mut self, out: &mut dyn Write, answer: &QueryHits) -> io::Result<()> {
        if self.end.queries == 0 {
            self.layout.head(out, &self.about, Some(answer))?;
            self.end.setting = Some(Setting::of(answer));
        }
        self.end.queries += 1;
        self.layout.query(out, &self.about, answer)
    }

    /// Writes what stands behind the last query.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn finish(self, out: &mut dyn Write) -> io::Result<()> {
        if self.end.queries == 0 {
            self.layout.head(out, &self.about, None)?;
        }
        self.layout.tail(out, &self.about, &self.end)
    }
}
