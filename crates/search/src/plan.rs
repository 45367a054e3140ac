//! What a search will take, before its first query.

use std::path::PathBuf;

use gyrase_fastx::{Alphabet, Inputs, Options};
use gyrase_seqdb::{Entry, EntrySize, Molecule, SequenceSource, open_all, shared_molecule};
use gyrase_tabulate::{Estimate, decompressing, input_contents};

use crate::frames::Frames;
use crate::letter_counts::LetterCounts;
use crate::lower_case::LowerCase;
use crate::prepared::{ASIDE, BESIDE, MATCH, Needs, weight};
use crate::sequences::{LetterCase, SEQUENCE, bytes_of_eight};
use crate::{Config, Program, SearchError};

/// Bytes of memory that a process takes that has searched little, as measured.
const STARTED: f64 = 14.0 * (1 << 20) as f64;
/// Bytes that a thread takes for what it aligns, with queries and subjects of usual lengths.
const THREAD: f64 = 3.0 * (1 << 20) as f64;
/// Bytes of the title of a sequence in a database, about.
const TITLE: u64 = 80;
/// Letters of a file that are looked at to tell what they stand for, and how much of it is in lower
/// case.
const LOOKED_AT: usize = 1 << 16;

/// How often queries and subjects match, and how long that takes, as measured.
struct Rates {
    /// Matches for each letter of the queries and each of the subjects: where most are by chance,
    /// and where each query has near relatives.
    matches: [f64; 2],
    /// Seconds of a thread for each letter of the subjects: what is done once for all queries.
    subject: f64,
    /// Seconds of a thread for each letter of the queries and each of the subjects.
    pair: f64,
    /// Seconds of a thread for each letter of the queries: what is aligned, for the most part.
    query: f64,
}

/// Four indexes, then windows.
const PROTEINS: Rates = Rates {
    matches: [6.5e-8, 5e-7],
    subject: 70e-9,
    pair: 2.2e-12,
    query: 1e-6,
};
/// Words are sorted, then compared; for E-values up to 10.
const BASES: Rates = Rates {
    matches: [1e-10, 2e-9],
    subject: 17e-9,
    pair: 1.5e-13,
    query: 1e-6,
};
/// The same of words that are in few places by chance.
const LONG_WORDS: Rates = Rates {
    matches: [1e-11, 5e-10],
    subject: 9e-9,
    pair: 1e-14,
    query: 1e-6,
};

fn rates(program: Program) -> &'static Rates {
    match (program.compares(), program) {
        (Molecule::Protein, _) => &PROTEINS,
        (_, Program::Megablast) => &LONG_WORDS,
        _ => &BASES,
    }
}

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
    /// Bytes of temporary files: of hits in parts of a database that memory does not take.
    pub temporary: Estimate,
    /// Bytes of a table of the hits.
    pub output: Estimate,
    /// Seconds, about; nothing where an input is a pipe.
    pub seconds: Option<f64>,
}

/// Predicts what a search will take.
///
/// # Errors
/// An input cannot be opened; no program compares such sequences.
pub fn plan(config: &Config) -> Result<Plan, SearchError> {
    let (queries, subjects) = (Held::of(&config.queries)?, Held::of(&config.subjects)?);
    let molecules = [queries.molecule, subjects.molecule];
    let program = config.program_for(molecules);
    let planning = Planning {
        config,
        program,
        frames: program.frames(config.translation.codes()?),
        queries: &queries,
        subjects: &subjects,
        rates: rates(program),
    };
    let letters = [queries.letters, subjects.letters];
    let most = letters[0].most.zip(letters[1].most);
    let most = most.map(|(queries, subjects)| [queries, subjects]);
    Ok(Plan {
        queries: queries.letters,
        subjects: subjects.letters,
        memory: Estimate {
            least: planning.memory(0, letters.map(|one| one.least)),
            most: most.map(|letters| planning.memory(1, letters)),
        },
        least_memory: most.map(|letters| planning.least_memory(letters)),
        temporary: Estimate {
            least: 0,
            most: most.map(|letters| planning.temporary(letters)),
        },
        output: planning.output(),
        seconds: most.map(|letters| planning.seconds(letters)),
    })
}

/// What files and databases hold.
struct Held {
    molecule: Molecule,
    /// Nucleotides are packed as they are read.
    at_once: bool,
    letters: Estimate,
    sequences: Estimate,
    /// Letters of the longest sequence of a database.
    longest: u64,
    /// Bytes of titles.
    titles: u64,
    /// Bytes for decompressing.
    inflating: u64,
    /// Masks: those that databases have, and stretches of files in lower case.
    masks: u64,
}

impl Held {
    fn of(paths: &[PathBuf]) -> Result<Held, SearchError> {
        let sources = open_all(paths)?;
        let reading = Options {
            alphabet: Alphabet::Any,
            whole_records: true,
            ..Options::default()
        };
        let files = sources.iter().filter_map(|source| match source {
            SequenceSource::Fasta(path) => Some(path.clone()),
            _ => None,
        });
        let files: Vec<PathBuf> = files.collect();
        let looked = LookedAt::of(&sources)?;
        let known = shared_molecule(&sources)?;
        let mut held = Held {
            molecule: known.unwrap_or_else(|| Molecule::of_counts(&looked.counts)),
            at_once: known.is_some() || !sources.iter().any(SequenceSource::is_pipe),
            letters: Estimate::exactly(0),
            sequences: Estimate::exactly(0),
            longest: sources
                .iter()
                .filter_map(SequenceSource::longest)
                .max()
                .unwrap_or_default(),
            titles: 0,
            inflating: 0,
            masks: sources.iter().map(SequenceSource::masks).sum(),
        };
        if !files.is_empty() {
            let inputs = Inputs::open(&files, reading)?;
            let contents = input_contents(inputs.inputs());
            held.letters = contents.bases;
            held.sequences = contents.records;
            held.titles = contents.names as u64;
            held.inflating = decompressing(inputs.inputs(), &contents, 1, u64::MAX);
            held.masks += looked.stretches_of(contents.bases.most.unwrap_or_default());
        }
        for size in sources.iter().filter_map(SequenceSource::size) {
            held.letters = held.letters.sum(Estimate::exactly(size.letters));
            held.sequences = held.sequences.sum(Estimate::exactly(size.sequences));
            held.titles += TITLE * size.sequences;
        }
        Ok(held)
    }

    /// Bytes that they take in memory, of so many letters.
    fn bytes(&self, letters: u64, is_packed: bool, case: LetterCase) -> u64 {
        let sequences = self.sequences.most.unwrap_or(self.sequences.least);
        let noted = match case {
            LetterCase::Noted | LetterCase::Hidden => LowerCase::BYTES * self.masks,
            LetterCase::Ignored => 0,
        };
        self.letters(letters, is_packed, case) + SEQUENCE * sequences + self.titles + noted
    }

    /// Bytes that so many letters take in memory.
    fn letters(&self, letters: u64, is_packed: bool, case: LetterCase) -> u64 {
        bytes_of_eight(self.molecule, is_packed, self.at_once, case) * letters / 8
    }

    /// Letters of one, in the mean.
    fn mean(&self, letters: u64) -> u64 {
        letters / self.sequences.least.max(1)
    }

    /// Letters of the longest; of files the mean, as these are not read.
    fn longest(&self, letters: u64) -> u64 {
        self.longest.max(self.mean(letters))
    }
}

/// What the first letters of files are.
struct LookedAt {
    /// How many there are of each, in upper case.
    counts: [u64; 256],
    /// How many stretches of them are in lower case.
    stretches: u64,
}

impl LookedAt {
    fn of(sources: &[SequenceSource]) -> Result<LookedAt, SearchError> {
        let mut looked = LookedAt {
            counts: [0; 256],
            stretches: 0,
        };
        let files = sources.iter().filter(|source| source.size().is_none());
        for source in files.filter(|source| !source.is_pipe()) {
            let (mut reader, mut left) = (source.reader()?, LOOKED_AT);
            while left > 0 {
                let Some((entry, _)) = reader.next()? else {
                    break;
                };
                let letters = &entry.letters[..left.min(entry.letters.len())];
                looked.add(&Entry { letters, ..entry });
                left -= letters.len();
            }
        }
        Ok(looked)
    }

    fn add(&mut self, entry: &Entry) {
        for (letter, count) in LetterCounts::of(entry.letters).iter() {
            self.counts[usize::from(letter.to_ascii_uppercase())] += count;
        }
        self.stretches += EntrySize::of(entry).masks;
    }

    /// Stretches in lower case of so many letters, if these are like the first.
    fn stretches_of(&self, letters: u64) -> u64 {
        let looked = self.counts.iter().sum::<u64>().max(1);
        (self.stretches as f64 / looked as f64 * letters as f64).ceil() as u64
    }
}

/// What a prediction is made of.
struct Planning<'p> {
    config: &'p Config,
    program: Program,
    frames: [Frames; 2],
    queries: &'p Held,
    subjects: &'p Held,
    rates: &'static Rates,
}

impl Planning<'_> {
    /// Bytes of the queries with their frames and what threads align of them, of the subjects, and
    /// what the program takes beside.
    fn taken(&self, [queries, subjects]: [u64; 2]) -> [u64; 3] {
        let lengths = [
            self.queries.bytes(queries, false, self.config.masks.case()),
            self.queries.longest(queries),
            queries,
        ];
        let needs = Needs::of_lengths(self.config, self.program, self.frames, lengths);
        let case = self.config.db_mask.case();
        let subjects = needs.subjects * self.subjects.bytes(subjects, self.is_packed(), case);
        [needs.taken, subjects, needs.beside]
    }

    /// Whether subjects are packed.
    fn is_packed(&self) -> bool {
        self.program.compares() == Molecule::Nucleotide
    }

    /// Bytes that a part of the subjects may take.
    fn room(&self, letters: [u64; 2]) -> u64 {
        let [queries, _, beside] = self.taken(letters);
        self.config.memory.saturating_sub(BESIDE + queries + beside) / 2
    }

    /// Bytes of memory, where matches are as many as by one of the rates.
    fn memory(&self, matches: usize, letters: [u64; 2]) -> u64 {
        let [queries, subjects, beside] = self.taken(letters);
        let room = self.room(letters);
        let part = subjects.min(room);
        let pairs = letters[0] as f64 * letters[1] as f64 * part as f64 / subjects.max(1) as f64;
        let found = self.rates.matches[matches] * pairs * MATCH as f64;
        let aside = self.temporary(letters).min(room / ASIDE);
        let inflating = self.queries.inflating + self.subjects.inflating;
        let started = STARTED + THREAD * self.config.threads as f64 + found;
        let taken = started as u64 + queries + part + beside + aside + inflating;
        taken.min(self.config.memory.max(BESIDE))
    }

    /// The least memory: queries may take half, and so may a sequence of what they leave.
    fn least_memory(&self, letters: [u64; 2]) -> u64 {
        let [queries, _, beside] = self.taken(letters);
        let longest = self.subjects.longest(letters[1]);
        let case = self.config.db_mask.case();
        let longest = self.subjects.letters(longest, self.is_packed(), case);
        BESIDE + queries + (beside + 2 * weight(self.frames[1]) * longest).max(queries)
    }

    /// Bytes of hits that wait until all parts are done.
    fn temporary(&self, letters: [u64; 2]) -> u64 {
        let [_, subjects, _] = self.taken(letters);
        let parts = subjects.div_ceil(self.room(letters).max(1)).max(1);
        let rows = self.output().most.unwrap_or_default();
        // A row has the letters of its alignment too: about so many times what it is in a table.
        if parts > 1 { 6 * rows } else { 0 }
    }

    fn seconds(&self, [queries, subjects]: [u64; 2]) -> f64 {
        let compared = |frames: Frames, letters: u64| {
            (letters * frames.numbers().len() as u64) as f64 / frames.step() as f64
        };
        let (queries, subjects) = (
            compared(self.frames[0], queries),
            compared(self.frames[1], subjects),
        );
        let Rates {
            subject,
            pair,
            query,
            ..
        } = self.rates;
        let work = subject * subjects + pair * queries * subjects + query * queries;
        work / self.config.threads as f64
    }

    /// The least is for queries without relatives.
    fn output(&self) -> Estimate {
        let rows = ROWS.min(self.config.limits.top as u64);
        let queries = self.queries.sequences.most;
        Estimate {
            least: 0,
            most: queries.map(|queries| queries * rows * ROW),
        }
    }
}
