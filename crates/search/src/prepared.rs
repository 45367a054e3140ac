//! A search whose inputs are known, and the memory that each part of it takes.

use gyrase_seqdb::TaxidFilter;
use gyrase_work::Progress;

use crate::database::Database;
use crate::engine::Engine;
use crate::exhaustive::Exhaustive;
use crate::frames::Frames;
use crate::nucleotide::{self, NucleotideScoring, Nucleotides, scoring_of};
use crate::protein::{Proteins, Sensitivity};
use crate::scoring::ScoringSystem;
use crate::seeds::{self, Indexes};
use crate::sequences::names;
use crate::subjects::GatheredSubjects;
use crate::{
    Config, DatabaseSize, HitLimits, Match, Molecule, Program, QueryHits, Scoring, SearchError,
    Sequences, Summary,
};

/// Bytes that a match takes while matches of threads and shapes are joined.
pub(crate) const MATCH: u64 = 3 * size_of::<Match>() as u64;
/// Bytes that a thread takes for each residue of the longest query: bands, and steps of alignments.
pub(crate) const ALIGNED: u64 = 320;
/// The same for each nucleotide: both strands and steps of alignments.
pub(crate) const ALIGNED_BASES: u64 = 16;
/// The part of the memory beside queries, as one in so many, for what was found in parts of the
/// database.
pub(crate) const ASIDE: u64 = 8;
/// Bytes that a search takes beside.
pub(crate) const BESIDE: u64 = 16 << 20;

/// How a search scores, by what it compares.
pub(crate) enum AnyScoring {
    Protein(Scoring),
    Nucleotide(NucleotideScoring),
}

impl AnyScoring {
    /// What reports tell of it.
    pub(crate) fn system(&self) -> &dyn ScoringSystem {
        match self {
            AnyScoring::Protein(scoring) => scoring,
            AnyScoring::Nucleotide(scoring) => scoring,
        }
    }
}

/// A search whose queries are in memory, and its subjects where they are searched at once.
pub(crate) struct Prepared {
    pub program: Program,
    pub queries: Sequences,
    pub database: Database,
    /// All subjects, unless they are searched in parts.
    pub whole: Option<Sequences>,
    pub scoring: AnyScoring,
    pub sensitivity: Sensitivity,
    pub limits: HitLimits,
    pub threads: usize,
    /// Bytes for what was found in parts of the database.
    pub aside: u64,
    /// Matches that the memory takes.
    pub most: usize,
    /// Indexes of the subjects are kept from one batch of queries to the next, if that is of use.
    pub keeps_indexes: bool,
    /// Memory with which all subjects are searched at once.
    enough: u64,
}

impl Prepared {
    /// Reads the queries, and the database if half of the memory beside them takes it. All
    /// processes of a job call it with `agree`, which makes the least of what they have for a part.
    pub(crate) fn new(
        config: &Config,
        keeps_indexes: bool,
        agree: &dyn Fn(u64) -> Result<u64, SearchError>,
        progress: &Progress,
    ) -> Result<Prepared, SearchError> {
        let memory = config.memory.saturating_sub(BESIDE);
        let (mut queries, taken) = read_queries(config, memory, progress)?;
        let frames = frames_of(config, queries.molecule()).map(|frames| frames as u64);
        let beside = bytes_beside(config, &queries, frames[0]);
        let room = agree(memory.saturating_sub(taken + beside) / 2)?;
        let (database, mut whole) =
            Database::open(&config.subjects, &config.taxids, room / frames[1], progress)?;
        let taken_by_all = BESIDE + taken + beside;
        let enough = taken_by_all + 2 * frames[1] * database.bytes();
        let part = frames[1] * database.part_bytes();
        if part > room || whole.is_none() && database.has_pipe() {
            let least = match database.has_pipe() {
                true => enough,
                false => taken_by_all + 2 * part,
            };
            return Err(SearchError::Memory { least });
        }
        let program = program_of(config, &mut queries, (&database, whole.as_mut()))?;
        let of_proteins = program.compares() == Molecule::Protein;
        if !of_proteins && config.sensitivity != Sensitivity::Blast {
            let program = program.name();
            return Err(SearchError::Sensitivity { program });
        }
        let left = memory - taken - part;
        let aside = whole.as_ref().map_or((left - beside) / ASIDE, |_| 0);
        let left = left - aside;
        let indexes = seeds::bytes_of_indexes(database.part_letters() * frames[1]);
        let keeps_indexes = keeps_indexes && of_proteins && indexes <= left / 2;
        let left = left - if keeps_indexes { indexes } else { 0 };
        Ok(Prepared {
            scoring: scoring(config, program, &database)?,
            program,
            sensitivity: config.sensitivity,
            limits: config.limits,
            queries,
            database,
            whole,
            threads: config.threads,
            aside,
            most: (left / MATCH) as usize,
            keeps_indexes,
            enough,
        })
    }

    /// All subjects.
    ///
    /// # Errors
    /// They are searched in parts.
    pub(crate) fn whole(&self) -> Result<&Sequences, SearchError> {
        let least = self.enough;
        self.whole.as_ref().ok_or(SearchError::Memory { least })
    }

    /// The summary of so many queries, before the first is answered.
    pub(crate) fn summary(&self, queries: usize) -> Summary {
        let DatabaseSize { letters, sequences } = self.database.size();
        Summary {
            queries: queries as u64,
            subjects: sequences,
            searched: self.database.searched(),
            literal_taxids: self.database.is_literal(),
            letters,
            program: Some(self.program),
            ..Summary::default()
        }
    }

    /// Gives `each` an answer without hits.
    pub(crate) fn with_nothing(&self, each: impl FnOnce(&QueryHits)) {
        let subjects = GatheredSubjects {
            database: &self.database,
            all: Vec::new(),
        };
        each(&QueryHits {
            program: self.program,
            queries: &self.queries,
            query: 0,
            subjects: &subjects,
            scoring: self.scoring.system(),
            hits: &[],
        });
    }

    /// What finds matches in subjects and aligns them.
    pub(crate) fn engine<'e>(
        &'e self,
        subjects: &'e Sequences,
        indexes: Option<&'e Indexes>,
    ) -> Box<dyn Engine + 'e> {
        let Prepared {
            scoring,
            threads,
            sensitivity,
            ..
        } = self;
        let threads = *threads;
        match (scoring, sensitivity) {
            (AnyScoring::Nucleotide(scoring), _) => Box::new(Nucleotides {
                subjects,
                scoring,
                threads,
            }),
            (AnyScoring::Protein(scoring), Sensitivity::Exhaustive) => Box::new(Exhaustive {
                subjects,
                scoring,
                threads,
            }),
            (AnyScoring::Protein(scoring), sensitivity) => Box::new(Proteins {
                subjects,
                scoring,
                threads,
                sensitivity: *sensitivity,
                indexes: indexes.filter(|_| self.keeps_indexes),
            }),
        }
    }
}

/// Reads the queries; bytes that they take, with their frames and what threads align of them.
fn read_queries(
    config: &Config,
    memory: u64,
    progress: &Progress,
) -> Result<(Sequences, u64), SearchError> {
    let least = |bytes: u64| SearchError::Memory {
        least: BESIDE + 2 * bytes,
    };
    let filter = TaxidFilter::default();
    let (read, queries) = Database::open(&config.queries, &filter, memory / 2, progress)?;
    let [frames, _] = frames_of(config, read.molecule());
    let bytes = read.bytes() * frames as u64;
    let queries = queries.ok_or_else(|| least(bytes))?;
    let aligned = match config.program.map(Program::compares) {
        Some(Molecule::Protein) => ALIGNED,
        None if queries.molecule() == Molecule::Protein => ALIGNED,
        _ => ALIGNED_BASES,
    };
    let taken = bytes + queries.longest() * aligned * config.threads as u64;
    match taken <= memory {
        true => Ok((queries, taken)),
        false => Err(least(taken)),
    }
}

/// Bytes that an engine takes beside sequences and matches.
fn bytes_beside(config: &Config, queries: &Sequences, frames: u64) -> u64 {
    let program = config
        .program
        .or_else(|| Program::of([queries.molecule(); 2]));
    match program.filter(|program| program.compares() == Molecule::Nucleotide) {
        Some(program) => {
            let letters = frames * queries.total();
            nucleotide::bytes_beside(program, &config.nucleotide, letters, config.threads)
        }
        None => 0,
    }
}

/// How many frames of queries and of subjects are compared.
fn frames_of(config: &Config, queries: Molecule) -> [usize; 2] {
    let program = config.program.or_else(|| Program::of([queries; 2]));
    let frames = program.map_or([Frames::Protein; 2], Program::frames);
    frames.map(|frames| frames.numbers().len())
}

fn scoring(
    config: &Config,
    program: Program,
    database: &Database,
) -> Result<AnyScoring, SearchError> {
    let whole = database.size();
    let size = DatabaseSize {
        letters: config.db_length.unwrap_or(whole.letters),
        sequences: config.db_sequences.unwrap_or(whole.sequences),
    };
    Ok(match program.compares() {
        Molecule::Protein => {
            AnyScoring::Protein(Scoring::new(&config.protein, size, config.limits)?)
        }
        Molecule::Nucleotide => {
            let options = &config.nucleotide;
            AnyScoring::Nucleotide(scoring_of(program, options, size, config.limits)?)
        }
    })
}

/// The program that was asked for, or else that of these molecules; what is in memory is taken for
/// its own.
fn program_of(
    config: &Config,
    queries: &mut Sequences,
    (database, whole): (&Database, Option<&mut Sequences>),
) -> Result<Program, SearchError> {
    let molecules = [queries.molecule(), database.molecule()];
    let program = config.program.or_else(|| Program::of(molecules));
    let program = program.ok_or_else(|| SearchError::NoProgram {
        input: names(&config.subjects),
        queries: molecules[0],
        subjects: molecules[1],
    })?;
    let [of_query, of_subject] = program.molecules();
    queries.become_those_of(program, of_query, &config.queries)?;
    match whole {
        Some(whole) => whole.become_those_of(program, of_subject, &config.subjects)?,
        None if of_subject == database.molecule() => {}
        None => {
            return Err(SearchError::Molecule {
                input: names(&config.subjects),
                found: database.molecule(),
                program: program.name(),
                wanted: of_subject,
            });
        }
    }
    Ok(program)
}
