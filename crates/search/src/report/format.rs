//! Which format a report has, and what is none.

use std::str::FromStr;

use super::anchored::Anchored;
use super::columns::{Column, names, standard};
use super::documents::{DocumentSyntax, Documents};
use super::fasta::AlignedFasta;
use super::json::{Json, Lines};
use super::layout::Layout;
use super::metadata::MetadataLayout;
use super::paf::Paf;
use super::page::Html;
use super::pairwise::Pairwise;
use super::sam::Sam;
use super::tabular::Table;
use super::xml::Xml;
use super::xml2::Xml2;
use crate::error::FormatError;
use crate::{Molecule, Program};

/// A format of reports, by the number that BLAST has for it: `0` is text, `1` to `4` are text with
/// all alignments along the query, `6`, `7` and `10` are tables, `5` and `16` XML, `15` is JSON,
/// `13` and `14` are `15` and `16` in a file for each query, `17` is SAM; or by name: `jsonl` is a
/// line of JSON for each query, `paf` is that of minimap2, `html` a page. Behind the number of a
/// table may stand names of columns and `delim=` with what divides them, behind that of SAM `SQ`
/// and `SR`.
///
/// ```
/// use gyrase_search::ReportFormat;
///
/// assert!("7 delim=, std qcovs stitle".parse::<ReportFormat>().is_ok());
/// let refused = "6 stax".parse::<ReportFormat>().unwrap_err();
/// assert!(refused.to_string().starts_with("there is no column stax: choose std, qseqid, "));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ReportFormat(Kind);

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Table(Table),
    /// The number of the format and how alignments stand along the query, if they do.
    Pairwise(Option<(&'static str, Anchored)>),
    Xml,
    Xml2,
    Json,
    /// A document for each query.
    Documents(DocumentSyntax),
    Lines,
    Sam(Sam),
    Paf,
    Fasta,
    Html,
    /// What a replica of the database makes a report of, with what was asked for.
    /// Of these parameters; with alignments, or without.
    Metadata(Vec<String>, bool),
}

impl FromStr for ReportFormat {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<ReportFormat, FormatError> {
        let mut words = text.split_ascii_whitespace();
        let name = words.next().unwrap_or_default();
        let kind = match name {
            "0" => Kind::Pairwise(None),
            "1" => anchored("1", true, false),
            "2" => anchored("2", false, false),
            "3" => anchored("3", true, true),
            "4" => anchored("4", false, true),
            "5" => Kind::Xml,
            "6" => Kind::Table(table(false, "\t", &mut words)?),
            "7" => Kind::Table(table(true, "\t", &mut words)?),
            "10" => Kind::Table(table(false, ",", &mut words)?),
            "13" => Kind::Documents(DocumentSyntax::Json),
            "14" => Kind::Documents(DocumentSyntax::Xml),
            "15" => Kind::Json,
            "16" => Kind::Xml2,
            "17" => Kind::Sam(flagged(&mut words)?),
            "jsonl" => Kind::Lines,
            "paf" => Kind::Paf,
            "fasta" => Kind::Fasta,
            "html" => Kind::Html,
            _ => return Err(FormatError::Number(name.into())),
        };
        match words.next() {
            None => Ok(ReportFormat(kind)),
            Some(_) => Err(FormatError::NoTable(name.into())),
        }
    }
}

fn anchored(format: &'static str, dots: bool, flat: bool) -> Kind {
    Kind::Pairwise(Some((format, Anchored { dots, flat })))
}

/// A table of the columns that words name.
fn table<'w>(
    comments: bool,
    delimiter: &str,
    words: impl Iterator<Item = &'w str>,
) -> Result<Table, FormatError> {
    let mut table = Table {
        comments,
        delimiter: delimiter.into(),
        columns: Vec::new(),
    };
    for word in words {
        match word.strip_prefix("delim=") {
            Some("") => return Err(FormatError::Delimiter),
            Some(delimiter) => table.delimiter = delimiter.into(),
            None => table.add(Column::named(word).ok_or_else(|| FormatError::Column {
                name: word.into(),
                columns: names(),
            })?),
        }
    }
    if table.columns.is_empty() {
        table.add(standard());
    }
    Ok(table)
}

impl ReportFormat {
    /// [`SearchMetadata`](crate::SearchMetadata) of a search with these parameters, in the caller's
    /// words. With all alignments whoever has the database makes reports without a search.
    pub fn metadata(parameters: Vec<String>, alignments: bool) -> ReportFormat {
        ReportFormat(Kind::Metadata(parameters, alignments))
    }

    /// Whether names of taxa stand in it.
    pub(super) fn names_taxa(&self) -> bool {
        match &self.0 {
            Kind::Html => true,
            Kind::Table(table) => table.columns.iter().any(Column::names_taxa),
            _ => false,
        }
    }

    /// How it is written.
    pub(super) fn layout(self) -> Box<dyn Layout + Send + Sync> {
        match self.0 {
            Kind::Table(table) => Box::new(table),
            Kind::Pairwise(anchored) => Box::new(Pairwise {
                anchored: anchored.map(|(_, anchored)| anchored),
            }),
            Kind::Xml => Box::new(Xml),
            Kind::Xml2 => Box::new(Xml2),
            Kind::Json => Box::new(Json),
            Kind::Documents(syntax) => Box::new(Documents(syntax)),
            Kind::Lines => Box::new(Lines),
            Kind::Sam(sam) => Box::new(sam),
            Kind::Paf => Box::new(Paf),
            Kind::Fasta => Box::new(AlignedFasta),
            Kind::Html => Box::new(Html),
            Kind::Metadata(parameters, alignments) => Box::new(MetadataLayout {
                parameters,
                alignments,
            }),
        }
    }

    /// How documents are written, if there is one for each query: the text of the report is to be
    /// divided by [`DocumentFiles`](crate::DocumentFiles).
    pub fn documents(&self) -> Option<DocumentSyntax> {
        match self.0 {
            Kind::Documents(syntax) => Some(syntax),
            _ => None,
        }
    }

    /// Whether it can tell the answers of a program.
    ///
    /// # Errors
    /// It is for nucleotides, and the program compares proteins; or it has the letters of queries,
    /// and the program translates them.
    pub fn suits(&self, program: Program) -> Result<(), FormatError> {
        match (&self.0, program.compares()) {
            (&Kind::Pairwise(Some((format, _))), _) if program.translates()[0] => {
                Err(FormatError::Translated { format, program })
            }
            (Kind::Sam(_), Molecule::Protein) => Err(FormatError::Nucleotides {
                format: "17",
                program,
            }),
            _ => Ok(()),
        }
    }
}

/// SAM with the flags of BLAST.
fn flagged<'w>(words: impl Iterator<Item = &'w str>) -> Result<Sam, FormatError> {
    let mut sam = Sam {
        letters: false,
        on_subjects: false,
    };
    for word in words {
        match word {
            "SQ" => sam.letters = true,
            "SR" => sam.on_subjects = true,
            word => {
                return Err(FormatError::Word {
                    format: "17",
                    word: word.into(),
                    words: "SQ (letters) and SR (subjects are the reference)",
                });
            }
        }
    }
    Ok(sam)
}
