//! What a search will take, before its first query.

use gyrase_fastx::{Alphabet, Inputs, Options};
use gyrase_tabulate::{Estimate, InputContents, decompressing, input_contents};

use crate::prepared::{BESIDE, MATCH};
use crate::sequences::{RESIDUE, SEQUENCE};
use crate::{Config, SearchError};

/// Bytes of memory that a process takes that has searched little, as measured.
const STARTED: f64 = 13.0 * (1 << 20) as f64;
/// Bytes that a thread takes for what it aligns, with queries and subjects of usual lengths.
const THREAD: f64 = 3.0 * (1 << 20) as f64;
/// Matches for each residue of the queries and each of the subjects: where most are by chance, and
/// where each query has near relatives.
const MATCHES: [f64; 2] = [6.5e-8, 5e-7];
/// Seconds of a thread for each residue of the subjects: four indexes.
const INDEXING: f64 = 70e-9;
/// Seconds of a thread for each residue of the queries and each of the subjects: the windows.
const JOINING: f64 = 2.2e-12;
/// Seconds of a thread for each residue of the queries: what is aligned, for the most part.
const ALIGNING: f64 = 1e-6;
/// Bytes of a row of a table, about, and rows of a query at most.
const ROW: u64 = 75;
/// Rows of a query that has many relatives, where the limits allow them.
const ROWS: u64 = 500;

/// What a search will take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Residues of the queries; no upper bound where an input is a pipe.
    pub queries: Estimate,
    /// Residues of the database.
    pub subjects: Estimate,
    /// Bytes of memory that the search is expected to take: where most matches are by chance, and
    /// where each query has near relatives.
    pub memory: Estimate,
    /// The least memory that is enough, in bytes; nothing where an input is a pipe.
    pub least_memory: Option<u64>,
    /// Bytes of a table of the hits.
    pub output: Estimate,
    /// Seconds, about; nothing where an input is a pipe.
    pub seconds: Option<f64>,
}

/// Predicts what a search of proteins will take.
///
/// # Errors
/// An input cannot be opened.
pub fn plan(config: &Config) -> Result<Plan, SearchError> {
    let reading = Options {
        alphabet: Alphabet::Any,
        whole_records: true,
        ..Options::default()
    };
    let queries = Inputs::open(&config.queries, reading.clone())?;
    let subjects = Inputs::open(&config.subjects, reading)?;
    let contents = [&queries, &subjects].map(|inputs| input_contents(inputs.inputs()));
    let inflating = [&queries, &subjects].into_iter().zip(&contents);
    let inflating = inflating.map(|(inputs, of)| decompressing(inputs.inputs(), of, 1, u64::MAX));
    let inflating = inflating.max().unwrap_or_default();
    let [of_queries, of_subjects] = &contents;
    let sequences = |letters: [u64; 2]| {
        let [queries, subjects] = [(of_queries, letters[0]), (of_subjects, letters[1])]
            .map(|(contents, letters)| bytes(contents, letters));
        (queries, subjects)
    };
    let memory = |matches: f64, letters: [u64; 2]| {
        let (queries, subjects) = sequences(letters);
        let matches = matches * letters[0] as f64 * letters[1] as f64 * MATCH as f64;
        let threads = THREAD * config.threads as f64;
        let taken = STARTED + threads + matches + (queries + subjects + inflating) as f64;
        (taken as u64).min(config.memory.max(BESIDE))
    };
    let residues = [of_queries.bases, of_subjects.bases];
    let most = residues[0].most.zip(residues[1].most);
    let most = most.map(|(queries, subjects)| [queries, subjects]);
    Ok(Plan {
        queries: residues[0],
        subjects: residues[1],
        memory: Estimate {
            least: memory(MATCHES[0], residues.map(|one| one.least)),
            most: most.map(|letters| memory(MATCHES[1], letters)),
        },
        least_memory: most.map(|letters| {
            let (queries, subjects) = sequences(letters);
            // Each may take half of what is left.
            BESIDE + (2 * subjects).max(subjects + 2 * queries)
        }),
        output: output(of_queries, config),
        seconds: most.map(|letters| seconds(letters, config.threads)),
    })
}

/// Bytes that sequences take with an index of them.
fn bytes(contents: &InputContents, letters: u64) -> u64 {
    let records = contents.records.most.unwrap_or(contents.records.least);
    letters * RESIDUE + records * SEQUENCE + contents.names as u64
}

fn seconds([queries, subjects]: [u64; 2], threads: usize) -> f64 {
    let (queries, subjects) = (queries as f64, subjects as f64);
    let work = INDEXING * subjects + JOINING * queries * subjects + ALIGNING * queries;
    work / threads as f64
}

/// The least is for queries without relatives.
fn output(queries: &InputContents, config: &Config) -> Estimate {
    let rows = ROWS.min(config.limits.top as u64);
    Estimate {
        least: 0,
        most: queries.records.most.map(|queries| queries * rows * ROW),
    }
}
