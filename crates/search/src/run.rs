//! A search from its files to its answers.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gyrase_seqdb::TaxidFilter;
use gyrase_work::{Progress, in_parallel};

use crate::engine::{Align, Ended, Engine, Query};
use crate::exhaustive::Exhaustive;
use crate::nucleotide::{NucleotideScoring, Nucleotides, scoring_of};
use crate::protein::{Proteins, Sensitivity};
use crate::scoring::ScoringSystem;
use crate::seeds;
use crate::sequences::names;
use crate::{
    DatabaseSize, Hit, HitLimits, Match, Molecule, NucleotideOptions, Program, ProteinOptions,
    QueryHits, Scoring, SearchError, Sequences,
};

/// Bytes that a match takes while matches of threads and shapes are joined.
pub(crate) const MATCH: u64 = 3 * size_of::<Match>() as u64;
/// Bytes that a thread takes for each residue of the longest query: bands, and steps of alignments.
const ALIGNED: u64 = 320;
/// The same for each nucleotide: both strands and steps of alignments.
const ALIGNED_BASES: u64 = 16;
/// Queries of a thread that are aligned before the first of them is written.
const AT_ONCE: usize = 32;
/// Bytes that a search takes beside.
pub(crate) const BESIDE: u64 = 16 << 20;

/// What is searched for, where, and how.
#[derive(Clone, Debug)]
pub struct Config {
    /// What is compared with what; none where the letters of the files decide.
    pub program: Option<Program>,
    /// Files and databases of queries.
    pub queries: Vec<PathBuf>,
    /// Files and databases of subjects, in the order of the database.
    pub subjects: Vec<PathBuf>,
    /// How surely proteins are found.
    pub sensitivity: Sensitivity,
    /// Which subjects are meant; E-values are those of the whole database all the same.
    pub taxids: TaxidFilter,
    /// What is reported.
    pub limits: HitLimits,
    /// Letters of the database that E-values are of, where this is a part of a larger one.
    pub db_length: Option<u64>,
    /// Sequences of that database.
    pub db_sequences: Option<u64>,
    /// How proteins are compared.
    pub protein: ProteinOptions,
    /// How nucleotides are compared.
    pub nucleotide: NucleotideOptions,
    /// Bytes of memory to stay within.
    pub memory: u64,
    /// Threads.
    pub threads: usize,
}

/// What a search did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Queries.
    pub queries: u64,
    /// Of them, with a hit.
    pub with_hits: u64,
    /// Subjects of all queries.
    pub hits: u64,
    /// Sequences of the database.
    pub subjects: u64,
    /// Of them, those that were meant by their taxids.
    pub searched: u64,
    /// Taxids stood for themselves alone: nothing said what is below them.
    pub literal_taxids: bool,
    /// Residues or nucleotides of the database.
    pub letters: u64,
    /// What was compared with what; none where there was nothing.
    pub program: Option<Program>,
}

/// Searches, and gives the answer of each query in the order of the queries to `each`.
///
/// # Errors
/// See [`SearchError`]; the first error of `each`.
pub fn run<E: From<SearchError>>(
    config: &Config,
    progress: &Progress,
    mut each: impl FnMut(&QueryHits) -> Result<(), E>,
) -> Result<Summary, E> {
    let prepared = Prepared::new(config, Indexes::Passing, progress)?;
    let engine = prepared.engine();
    prepared.search(&*engine, 0..prepared.queries.len(), progress, &mut each)
}

/// What becomes of an index of the subjects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Indexes {
    /// It is made for each batch of queries anew.
    Passing,
    /// It is kept for the next batch of queries, if there is room.
    Kept,
}

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

/// A search whose inputs are in memory.
pub(crate) struct Prepared {
    pub program: Program,
    pub queries: Sequences,
    pub subjects: Sequences,
    pub scoring: AnyScoring,
    pub sensitivity: Sensitivity,
    threads: usize,
    /// Matches that the memory takes.
    most: usize,
    /// Indexes of the subjects are kept from one batch of queries to the next.
    keeps_indexes: bool,
}

impl Prepared {
    /// Reads the inputs.
    pub(crate) fn new(
        config: &Config,
        kept: Indexes,
        progress: &Progress,
    ) -> Result<Prepared, SearchError> {
        // Half is for the database with its index, half of the rest for the queries with theirs.
        let memory = config.memory.saturating_sub(BESIDE);
        let needs = |bytes: u64| SearchError::Memory {
            least: BESIDE + bytes,
        };
        let mut subjects = Sequences::read(&config.subjects, &config.taxids, memory / 2, progress)?
            .map_err(|bytes| needs(2 * bytes))?;
        let left = memory - subjects.bytes();
        let mut queries =
            Sequences::read(&config.queries, &TaxidFilter::default(), left / 2, progress)?
                .map_err(|bytes| needs(subjects.bytes() + 2 * bytes))?;
        let program = program_of(config, &mut queries, &mut subjects)?;
        let of_proteins = program.compares() == Molecule::Protein;
        if !of_proteins && config.sensitivity != Sensitivity::Blast {
            let program = program.name();
            return Err(SearchError::Sensitivity { program });
        }
        let frames = program.frames().map(|frames| frames.numbers().len() as u64);
        let sequences = queries.bytes() * frames[0] + subjects.bytes() * frames[1];
        let aligned = match program.compares() {
            Molecule::Protein => ALIGNED,
            Molecule::Nucleotide => ALIGNED_BASES,
        };
        let longest = queries.longest() * aligned * config.threads as u64;
        let left = memory
            .checked_sub(sequences + longest)
            .ok_or_else(|| needs(sequences + longest))?;
        let indexes = seeds::bytes_of_indexes(subjects.total() * frames[1]);
        let keeps_indexes = of_proteins && kept == Indexes::Kept && indexes <= left / 2;
        let left = left - if keeps_indexes { indexes } else { 0 };
        let size = DatabaseSize {
            letters: config.db_length.unwrap_or(subjects.letters_of_all()),
            sequences: config.db_sequences.unwrap_or(subjects.sequences_of_all()),
        };
        let scoring = match program.compares() {
            Molecule::Protein => {
                AnyScoring::Protein(Scoring::new(&config.protein, size, config.limits)?)
            }
            Molecule::Nucleotide => {
                let options = &config.nucleotide;
                AnyScoring::Nucleotide(scoring_of(program, options, size, config.limits)?)
            }
        };
        Ok(Prepared {
            program,
            scoring,
            sensitivity: config.sensitivity,
            queries,
            subjects,
            threads: config.threads,
            most: (left / MATCH) as usize,
            keeps_indexes,
        })
    }

    /// The summary of so many queries, before the first is answered.
    pub(crate) fn summary(&self, queries: usize) -> Summary {
        let subjects = &self.subjects;
        Summary {
            queries: queries as u64,
            subjects: subjects.sequences_of_all(),
            searched: subjects.len() as u64,
            literal_taxids: subjects.are_literal(),
            letters: subjects.letters_of_all(),
            program: Some(self.program),
            ..Summary::default()
        }
    }

    /// An answer without hits.
    pub(crate) fn nothing(&self) -> QueryHits<'_> {
        QueryHits {
            program: self.program,
            queries: &self.queries,
            query: 0,
            subjects: &self.subjects,
            scoring: self.scoring.system(),
            hits: &[],
        }
    }

    /// What finds matches and aligns them.
    pub(crate) fn engine(&self) -> Box<dyn Engine + '_> {
        let Prepared {
            subjects,
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
                indexes: self.keeps_indexes.then(Default::default),
            }),
        }
    }

    /// Searches for the queries of a range, and gives the answer of each to `each`.
    pub(crate) fn search<E: From<SearchError>>(
        &self,
        engine: &dyn Engine,
        range: Range<usize>,
        progress: &Progress,
        each: Each<E>,
    ) -> Result<Summary, E> {
        let mut batches = Batches {
            prepared: self,
            engine,
            progress,
            each,
            summary: self.summary(range.len()),
        };
        batches.search(range)?;
        Ok(batches.summary)
    }
}

/// The program that was asked for, or else that of these molecules; both are taken for its own.
fn program_of(
    config: &Config,
    queries: &mut Sequences,
    subjects: &mut Sequences,
) -> Result<Program, SearchError> {
    let molecules = [queries.molecule(), subjects.molecule()];
    let program = config.program.or_else(|| Program::of(molecules));
    let program = program.ok_or_else(|| SearchError::NoProgram {
        input: names(&config.subjects),
        queries: molecules[0],
        subjects: molecules[1],
    })?;
    let [of_query, of_subject] = program.molecules();
    queries.become_those_of(program, of_query, &config.queries)?;
    subjects.become_those_of(program, of_subject, &config.subjects)?;
    Ok(program)
}

pub(crate) type Each<'e, E> = &'e mut dyn FnMut(&QueryHits) -> Result<(), E>;

/// Searches for some queries after the other.
struct Batches<'r, E> {
    prepared: &'r Prepared,
    engine: &'r dyn Engine,
    progress: &'r Progress,
    each: Each<'r, E>,
    summary: Summary,
}

impl<E: From<SearchError>> Batches<'_, E> {
    /// Searches for the queries of a range; where they have too many matches, for one half after
    /// the other.
    fn search(&mut self, range: Range<usize>) -> Result<(), E> {
        let Prepared {
            program, queries, ..
        } = self.prepared;
        let [frames, _] = program.frames();
        let part = queries.frames(range.clone(), frames);
        match self
            .engine
            .matches(&part, self.prepared.most, self.progress)
        {
            Ok(matches) => self.align(&part, range, &matches),
            Err(Ended::Cancelled) => Err(SearchError::Cancelled.into()),
            Err(Ended::TooMany) if range.len() > 1 => {
                drop(part);
                let middle = range.start + range.len() / 2;
                self.search(range.start..middle)?;
                self.search(middle..range.end)
            }
            Err(Ended::TooMany) => Err(SearchError::Matches {
                query: String::from_utf8_lossy(queries.name(range.start)).into_owned(),
            }
            .into()),
        }
    }

    /// Aligns the queries of a range by the matches of their frames.
    fn align(&mut self, part: &Sequences, range: Range<usize>, matches: &[Match]) -> Result<(), E> {
        self.progress
            .start_counting("align", range.len() as u64, "queries");
        let Batches {
            prepared,
            engine,
            progress,
            each,
            summary,
        } = self;
        let threads = prepared.threads;
        let mut aligners: Vec<_> = (0..threads).map(|_| engine.aligner()).collect();
        let frames = prepared.program.frames()[0].numbers().len();
        let mut rest = matches;
        let own = |number: usize| {
            let query = Query {
                frames: part,
                first: number * frames,
            };
            (query, split_own(&mut rest, query.first + frames))
        };
        let all: Vec<(Query, &[Match])> = (0..range.len()).map(own).collect();
        let (mut next, at_once) = (range.start, AT_ONCE * threads);
        for some in all.chunks(at_once) {
            for hits in align_all(&mut aligners, some, progress)? {
                summary.with_hits += u64::from(!hits.is_empty());
                summary.hits += hits.len() as u64;
                each(&QueryHits {
                    program: prepared.program,
                    queries: &prepared.queries,
                    query: next,
                    subjects: &prepared.subjects,
                    scoring: prepared.scoring.system(),
                    hits: &hits,
                })?;
                next += 1;
            }
        }
        Ok(())
    }
}

/// Splits off the matches of frames below a number, which are the first.
fn split_own<'m>(matches: &mut &'m [Match], below: usize) -> &'m [Match] {
    let end = matches.partition_point(|found| (found.query as usize) < below);
    let (own, rest) = matches.split_at(end);
    *matches = rest;
    own
}

/// The hits of some queries with their matches, in their order. A thread takes the next query as
/// soon as it is done with one: some take a hundred times as long as others.
fn align_all(
    aligners: &mut [Box<dyn Align + Send + '_>],
    queries: &[(Query, &[Match])],
    progress: &Progress,
) -> Result<Vec<Vec<Hit>>, SearchError> {
    let next = AtomicUsize::new(0);
    let align = |aligner: &mut Box<dyn Align + Send + '_>| {
        let mut aligned = Vec::new();
        loop {
            let number = next.fetch_add(1, Relaxed);
            let Some(&(query, matches)) = queries.get(number) else {
                return Ok::<_, SearchError>(aligned);
            };
            progress.go_on()?;
            aligned.push((number, aligner.hits(query, matches)));
            progress.advance(1);
        }
    };
    let aligned = in_parallel(aligners.iter_mut().collect(), align)?;
    let mut aligned: Vec<(usize, Vec<Hit>)> = aligned.into_iter().flatten().collect();
    aligned.sort_by_key(|(number, _)| *number);
    Ok(aligned.into_iter().map(|(_, hits)| hits).collect())
}
