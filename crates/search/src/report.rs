//! Answers as files, in the formats of BLAST.

mod aligned;
mod columns;
mod layout;
mod tabular;
mod xml;

use std::io::{self, Write};
use std::str::FromStr;

use columns::Column;
use layout::Layout;
use tabular::Table;
use xml::Xml;

pub use columns::FormatError;
pub use layout::{About, QueryHits};

/// A format of reports, by the number that BLAST has for it: `6`, `7` and `10` are tables, `5` is
/// XML. Behind the number of a table may stand names of columns and `delim=` with what divides
/// them.
///
/// ```
/// use gyrase_search::ReportFormat;
///
/// assert!("7 delim=, std qcovs stitle".parse::<ReportFormat>().is_ok());
/// let refused = "6 staxid".parse::<ReportFormat>().unwrap_err();
/// assert!(refused.to_string().starts_with("there is no column staxid: choose std, qseqid, "));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ReportFormat(Kind);

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Table(Table),
    Xml,
}

impl FromStr for ReportFormat {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<ReportFormat, FormatError> {
        let mut words = text.split_ascii_whitespace();
        let number = words.next().unwrap_or_default();
        let (comments, delimiter) = match number {
            "6" => (false, "\t"),
            "7" => (true, "\t"),
            "10" => (false, ","),
            "5" if words.next().is_none() => return Ok(ReportFormat(Kind::Xml)),
            "5" => return Err(FormatError::NoTable(number.into())),
            _ => return Err(FormatError::Number(number.into())),
        };
        let mut table = Table {
            comments,
            delimiter: delimiter.into(),
            columns: Vec::new(),
        };
        for word in words {
            match word.strip_prefix("delim=") {
                Some("") => return Err(FormatError::Delimiter),
                Some(delimiter) => table.delimiter = delimiter.into(),
                None => table.add(Column::named(word)?),
            }
        }
        if table.columns.is_empty() {
            table.add(columns::standard());
        }
        Ok(ReportFormat(Kind::Table(table)))
    }
}

/// A report under construction.
pub struct Report {
    layout: Box<dyn Layout>,
    about: About,
    queries: usize,
}

impl Report {
    /// A report in a format.
    pub fn new(format: ReportFormat, about: About) -> Report {
        let layout: Box<dyn Layout> = match format.0 {
            Kind::Table(table) => Box::new(table),
            Kind::Xml => Box::new(Xml),
        };
        Report {
            layout,
            about,
            queries: 0,
        }
    }

    /// Writes the answer of the next query.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn answer(&mut self, out: &mut dyn Write, answer: &QueryHits) -> io::Result<()> {
        if self.queries == 0 {
            self.layout.head(out, &self.about, Some(answer))?;
        }
        self.queries += 1;
        self.layout.query(out, &self.about, answer)
    }

    /// Writes what stands behind the last query.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn finish(self, out: &mut dyn Write) -> io::Result<()> {
        if self.queries == 0 {
            self.layout.head(out, &self.about, None)?;
        }
        self.layout.tail(out, self.queries)
    }
}
