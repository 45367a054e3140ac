//! What ends a search, and what is no format.

use std::io;
use std::path::PathBuf;

use gyrase_align::genetic_code::GeneticCode;
use gyrase_align::statistics::UnknownCosts;
use gyrase_files::{Garbled, OutputError};
use gyrase_seqdb::{Molecule, SeqDbError};
use gyrase_tabulate::TabulateError;
use gyrase_work::Cancelled;

use crate::program::Program;

/// What ends a search.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// A file or a database cannot be read.
    #[error(transparent)]
    Database(#[from] SeqDbError),
    /// An input cannot be looked at.
    #[error(transparent)]
    Input(#[from] gyrase_fastx::Error),
    /// There are more residues than can be told apart.
    #[error("there are more than {most} residues: divide the database")]
    TooLong {
        /// Residues that fit.
        most: usize,
    },
    /// The memory does not take the sequences.
    #[error("the queries and the largest sequence need at least {least} bytes of memory")]
    Memory {
        /// Bytes that they need.
        least: u64,
    },
    /// A program compares other molecules.
    #[error("{input}: these are {found}, {program} wants {wanted}")]
    Molecule {
        /// Names of the inputs.
        input: String,
        /// What they hold.
        found: Molecule,
        /// The program.
        program: &'static str,
        /// What it compares.
        wanted: Molecule,
    },
    /// One query has more matches than the memory takes.
    #[error("{query}: the memory does not take the matches of this query")]
    Matches {
        /// The name of the query.
        query: String,
    },
    /// A file has fewer sequences than when it was first read.
    #[error("{input} was changed while it was read")]
    Changed {
        /// Its name.
        input: String,
    },
    /// There are no statistics for these scores.
    #[error(transparent)]
    Costs(#[from] UnknownCosts),
    /// There is no such template.
    #[error(
        "there is no template of {bases} bases among {length}: choose 11 or 12 among 16, 18 or 21"
    )]
    Template {
        /// Bases that are equal.
        bases: usize,
        /// From the first to the last.
        length: usize,
    },
    /// There is no sequence of a name.
    #[error("there is no {what} of the name {name}")]
    Name {
        /// What was looked for.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// Taxids were asked for where sequences have none.
    #[error("{input}: no sequence has a taxid: build a .gysd with gyrase index --map")]
    NoTaxids {
        /// Names of the files.
        input: String,
    },
    /// Only proteins are searched fast or exhaustively.
    #[error("{program} is neither fast nor exhaustive: only searches of proteins may be")]
    Sensitivity {
        /// The program.
        program: &'static str,
    },
    /// There is no genetic code of a number.
    #[error("there is no genetic code {number}: choose {}", known_codes())]
    GeneticCode {
        /// What was asked for.
        number: u8,
    },
    /// A program that compares every query with every subject is not fast.
    #[error("{program} compares every query with every subject, so it is never fast")]
    NeverFast {
        /// The program.
        program: &'static str,
    },
    /// The database cannot be read again, for what a report tells of all of it.
    #[error("the database cannot be read again for the report: {0}")]
    Reread(#[source] io::Error),
    /// Metadata cannot be read.
    #[error(transparent)]
    Metadata(#[from] MetadataError),
    /// Metadata are of other queries.
    #[error("{path} is of other queries: {expected}; here are {found}")]
    OtherQueries {
        /// The file of the metadata.
        path: String,
        /// What was searched for.
        expected: String,
        /// What there is.
        found: String,
    },
    /// Metadata are of another database.
    #[error("{path} is of another database, of {expected}; here are {found}")]
    OtherDatabase {
        /// The file of the metadata.
        path: String,
        /// What was searched.
        expected: String,
        /// What there is.
        found: String,
    },
    /// A database gives another answer than the one that metadata are of.
    #[error(
        "{path}: of query {query} this database gives another answer than the one that was \
         searched, by gyrase {version}"
    )]
    OtherAnswer {
        /// The file of the metadata.
        path: String,
        /// The name of the query.
        query: String,
        /// The version that searched.
        version: String,
    },
    /// The processes of a job search for different things.
    #[error("the processes of the job were started with different options or inputs")]
    DifferentQuestions,
    /// The processes of a job cannot work together.
    #[error(transparent)]
    Together(#[from] TabulateError),
    /// The report is not for such a program.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The report cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The file system lost what processes wrote.
    #[error(transparent)]
    Garbled(#[from] Garbled),
    /// Somebody called [`Progress::cancel`](gyrase_work::Progress::cancel).
    #[error("the search was cancelled")]
    Cancelled,
}

fn known_codes() -> String {
    let known = GeneticCode::numbers().map(|number| number.to_string());
    known.collect::<Vec<_>>().join(", ")
}

impl From<Cancelled> for SearchError {
    fn from(_: Cancelled) -> SearchError {
        SearchError::Cancelled
    }
}

/// Why a file has no metadata.
#[derive(Debug, thiserror::Error)]
pub enum MetadataError {
    /// It cannot be read.
    #[error("{path}: {source}", path = .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is no such file.
    #[error("{path} is no file of metadata: it {found}", path = .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is instead, as far as its first bytes tell, and what writes such a file.
        found: String,
    },
    /// It is of another version of the format.
    #[error("{path}: this is version {version} of .gym, and 1 can be read", path = .path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// It is not what was written.
    #[error("{path} is damaged: {what}", path = .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}

/// What is no format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// No such number.
    #[error(
        "there is no format {0:?}: choose 0 to 4 (text), 5 or 16 (XML), 6, 7 or 10 (tables), 15 \
         or jsonl (JSON), 13 or 14 (a file for each query), 17 (SAM), paf, fasta or html (a page)"
    )]
    Number(String),
    /// The format has no such flag.
    #[error("format {format} has no {word}: choose {words}")]
    Word {
        /// The format.
        format: &'static str,
        /// What was asked for.
        word: String,
        /// What there is.
        words: &'static str,
    },
    /// The format has the letters of queries.
    #[error("format {format} has queries as they are, {} translates them", .program.name())]
    Translated {
        /// The format.
        format: &'static str,
        /// What was searched with.
        program: Program,
    },
    /// The format is made for nucleotides.
    #[error("format {format} is for nucleotides, this is {}: choose paf", .program.name())]
    Nucleotides {
        /// The format.
        format: &'static str,
        /// What was searched with.
        program: Program,
    },
    /// No such column.
    #[error("there is no column {name}: choose std, {columns}")]
    Column {
        /// What was asked for.
        name: String,
        /// Those that there are.
        columns: String,
    },
    /// Only tables have columns.
    #[error("format {0} has no columns")]
    NoTable(String),
    /// Nothing divides the columns.
    #[error("write what divides the columns behind delim=")]
    Delimiter,
}
