//! A search whose inputs are known, and the memory that each part of it takes.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use gyrase_seqdb::{SequenceSource, TaxidFilter, open_all};
use gyrase_work::Progress;

use crate::alignments::KEPT;
use crate::database::{Database, Filter};
use crate::divided::DividedDatabase;
use crate::engine::Engine;
use crate::exhaustive::Exhaustive;
use crate::frames::Frames;
use crate::indexes::Indexes;
use crate::masks::QueryMasks;
use crate::nucleotide::{self, KeptWords, NucleotideScoring, Nucleotides, scoring_of};
use crate::open::{OpenDatabase, Room};
use crate::protein::{Proteins, Sensitivity};
use crate::scoring::ScoringSystem;
use crate::seeds;
use crate::sequences::{Form, LetterCase, RESIDUE, names};
use crate::subjects::{GatheredSubjects, Subjects};
use crate::translated::{TranslatedScoring, Translation};
use crate::{
    Config, DatabaseMask, DatabaseSize, Hit, HitLimits, Hsp, Match, Molecule, Program, QueryHits,
    Scoring, SearchError, Sequences, Summary,
};

/// Bytes that a match takes while matches of threads and shapes are joined.
pub(crate) const MATCH: u64 = 3 * size_of::<Match>() as u64;
/// Bytes that a thread takes for each residue of the longest query: bands, and steps of alignments.
const ALIGNED: u64 = 320;
/// The same for each nucleotide: both strands and steps of alignments.
const ALIGNED_BASES: u64 = 16;
/// The part of the memory beside queries, as one in so many, for what was found in parts of the
/// database.
pub(crate) const ASIDE: u64 = 8;
/// Bytes that a copy of six frames takes for each base.
const FRAMES_OF_BASE: u64 = 2;
/// Bytes that a search takes beside.
pub(crate) const BESIDE: u64 = 16 << 20;

/// How a search scores, by what it compares.
pub(crate) enum AnyScoring {
    Protein(Scoring),
    Nucleotide(NucleotideScoring),
    Translated(TranslatedScoring),
}

impl AnyScoring {
    /// What reports tell of it.
    pub(crate) fn system(&self) -> &dyn ScoringSystem {
        match self {
            AnyScoring::Protein(scoring) => scoring,
            AnyScoring::Nucleotide(scoring) => scoring,
            AnyScoring::Translated(scoring) => scoring,
        }
    }
}

/// A search whose queries are in memory, and its subjects where they are searched at once.
pub(crate) struct Prepared {
    pub program: Program,
    pub frames: [Frames; 2],
    pub queries: Sequences,
    /// What of them is masked.
    pub masks: QueryMasks,
    pub database: Arc<Database>,
    /// All subjects, unless they are searched in parts.
    pub whole: Option<Arc<Sequences>>,
    /// Indexes of all subjects that stay from one search to the next.
    pub indexes: Option<Arc<Indexes>>,
    /// What the subjects take of the memory of an open database, for as long as this lives.
    _room: Option<Arc<Room>>,
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
    /// Words of the queries that were searched for last.
    query_words: KeptWords,
    /// Memory with which all subjects are searched at once.
    enough: u64,
}

/// Where the subjects of a search are.
#[derive(Clone, Copy)]
pub(crate) enum Source<'s> {
    /// In their files; of the sequences only some by their numbers, where these are given.
    Files(Option<&'s [usize]>),
    /// In memory.
    Open(&'s OpenDatabase),
    /// In fragments that others hold.
    Divided(&'s DividedDatabase),
}

impl Source<'_> {
    /// All of their files.
    pub(crate) const ALL: Source<'static> = Source::Files(None);
}

/// A database in a form.
struct Shown {
    database: Arc<Database>,
    /// All of its sequences and their indexes, where these are in memory.
    whole: Option<Arc<Sequences>>,
    indexes: Option<Arc<Indexes>>,
    /// What they take, where they do not stay.
    room: Option<Arc<Room>>,
}

/// Subjects, and what compares queries with them.
struct Opened {
    program: Program,
    needs: Needs,
    database: Arc<Database>,
    /// All of them, unless they are searched in parts.
    whole: Option<Arc<Sequences>>,
    /// Indexes of them that stay from one search to the next.
    indexes: Option<Arc<Indexes>>,
    /// What they take of the memory of an open database.
    room: Option<Arc<Room>>,
    /// Somebody else's memory has room for indexes.
    has_indexes: bool,
    /// Bytes that this search takes for them.
    bytes: u64,
}

impl Prepared {
    /// Reads the queries, and the database if half of the memory beside them takes it. All
    /// processes of a job call it with `agree`, which makes the least of what they have for a part.
    pub(crate) fn new(
        config: &Config,
        source: Source,
        keeps_indexes: bool,
        agree: &dyn Fn(u64) -> Result<u64, SearchError>,
        progress: &Progress,
    ) -> Result<Prepared, SearchError> {
        let memory = config.memory.saturating_sub(BESIDE);
        let (mut queries, bytes) = read_queries(config, memory, progress)?;
        let read = (&mut queries, bytes);
        let Opened {
            program,
            needs,
            database,
            whole,
            indexes: kept,
            room,
            has_indexes,
            bytes: part,
        } = Opened::of(config, read, source, agree, progress)?;
        let frames = program.frames(config.translation.codes()?);
        let Needs { taken, beside, .. } = needs;
        let left = memory.saturating_sub(taken + part);
        let aside = whole.as_ref().map_or((left - beside) / ASIDE, |_| 0);
        let left = left - aside;
        let indexes = match has_indexes {
            true => 0,
            false => seeds::bytes_of_indexes(database.part_letters()),
        };
        let is_wanted = (keeps_indexes || has_indexes) && frames[1] == Frames::Protein;
        let keeps_indexes = is_wanted && indexes <= left / 2;
        let left = left - if keeps_indexes { indexes } else { 0 };
        Ok(Prepared {
            scoring: scoring(config, program, frames, &database)?,
            program,
            frames,
            sensitivity: sensitivity_of(program, frames, config.sensitivity)?,
            limits: config.limits,
            masks: QueryMasks::new(program, &config.masks),
            queries,
            enough: needs.enough(&database),
            database,
            whole,
            indexes: kept,
            _room: room,
            threads: config.threads,
            aside,
            most: (left / MATCH) as usize,
            keeps_indexes,
            query_words: KeptWords::default(),
        })
    }

    /// Scores from now on as another configuration has it.
    ///
    /// # Errors
    /// There are no statistics for these scores.
    pub(crate) fn score_as(&mut self, config: &Config) -> Result<(), SearchError> {
        self.scoring = scoring(config, self.program, self.frames, &self.database)?;
        Ok(())
    }

    /// All subjects.
    ///
    /// # Errors
    /// They are searched in parts.
    pub(crate) fn whole(&self) -> Result<&Sequences, SearchError> {
        let least = self.enough;
        self.whole.as_deref().ok_or(SearchError::Memory { least })
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
            lacks_masks: self.database.lacks_masks(),
            ..Summary::default()
        }
    }

    /// Leaves the best of all hits of a query. Gives the numbers of all subjects where what is left
    /// depends on others than those that are.
    pub(crate) fn leave_best(&self, query: usize, hits: &mut Vec<Hit>) -> Option<Vec<usize>> {
        let subjects = || hits.iter().map(|hit| hit.subject).collect();
        let considered = self.limits.culling.is_any().then(subjects);
        let length = self.queries.residues(query).len();
        let in_query = |hsp: &Hsp| self.frames[0].place(&hsp.query, hsp.frames[0], length);
        self.limits.leave(hits, in_query);
        considered
    }

    /// The frames of some queries, masked.
    pub(crate) fn masked_frames(&self, range: Range<usize>) -> Sequences {
        let [frames, _] = self.frames;
        let mut part = self.queries.frames(range.clone(), frames, 1);
        let threads = self.threads;
        self.masks
            .apply(&self.queries, range, frames, &mut part, threads);
        part
    }

    /// Letters of the frames of some queries, with the borders between them.
    pub(crate) fn letters_of_frames(&self, range: Range<usize>) -> usize {
        let [frames, _] = self.frames;
        let lengths = range.flat_map(|query| {
            let length = self.queries.residues(query).len();
            let numbers = frames.numbers().iter();
            numbers.map(move |&number| frames.length(length, number) + 1)
        });
        lengths.sum()
    }

    /// Gives `each` an answer without hits.
    pub(crate) fn with_nothing(&self, each: impl FnOnce(&QueryHits)) {
        let subjects = GatheredSubjects {
            database: &self.database,
            all: Vec::new(),
        };
        each(&self.answer(0, &subjects, &[], None));
    }

    /// The answer of a query: hits with `subjects`, and what they depend on beside those.
    pub(crate) fn answer<'a>(
        &'a self,
        query: usize,
        subjects: &'a dyn Subjects,
        hits: &'a [Hit],
        considered: Option<&'a [usize]>,
    ) -> QueryHits<'a> {
        QueryHits {
            program: self.program,
            frames: self.frames,
            masks: self.masks,
            masked: OnceLock::new(),
            queries: &self.queries,
            query,
            subjects,
            database: &self.database,
            scoring: self.scoring.system(),
            hits,
            considered,
        }
    }

    /// Whether an index of the words of subjects is of use.
    pub(crate) fn wants_words(&self) -> bool {
        matches!(&self.scoring, AnyScoring::Nucleotide(scoring) if scoring.wants_words())
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
        let kept = indexes.filter(|_| self.keeps_indexes);
        let seeds = kept.map(|indexes| &indexes.seeds);
        match (scoring, sensitivity) {
            (AnyScoring::Translated(scoring), sensitivity) => Box::new(Translation {
                program: self.program,
                frames: self.frames,
                subjects,
                scoring,
                threads,
                sensitivity: *sensitivity,
                indexes: seeds,
            }),
            (AnyScoring::Nucleotide(scoring), _) => Box::new(Nucleotides {
                subjects,
                scoring,
                threads,
                index: indexes
                    .filter(|_| scoring.wants_words())
                    .and_then(|indexes| indexes.words.get()),
                words: &self.query_words,
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
                indexes: seeds,
            }),
        }
    }
}

impl Opened {
    fn of(
        config: &Config,
        read: (&mut Sequences, u64),
        source: Source,
        agree: &dyn Fn(u64) -> Result<u64, SearchError>,
        progress: &Progress,
    ) -> Result<Opened, SearchError> {
        match source {
            Source::Files(only) => Opened::files(config, read, only, agree, progress),
            Source::Open(open) => Opened::open(config, read, open.molecule(), &|how| {
                let form = open.form(&config.taxids, how, progress)?;
                Ok(Shown {
                    database: form.database,
                    whole: Some(form.whole),
                    indexes: form.indexes,
                    room: Some(form.room),
                })
            }),
            Source::Divided(divided) => Opened::open(config, read, divided.molecule(), &|how| {
                Ok(Shown {
                    database: divided.form(&config.taxids, how, progress)?,
                    whole: None,
                    indexes: None,
                    room: None,
                })
            }),
        }
    }

    /// Those of files.
    fn files(
        config: &Config,
        (queries, bytes): (&mut Sequences, u64),
        only: Option<&[usize]>,
        agree: &dyn Fn(u64) -> Result<u64, SearchError>,
        progress: &Progress,
    ) -> Result<Opened, SearchError> {
        let memory = config.memory.saturating_sub(BESIDE);
        let of_queries = queries.molecule();
        let assumed = config.program_for([of_queries; 2]);
        let mut needs = Needs::of(config, assumed, queries, bytes)?;
        let mut room = agree(needs.room(memory))?;
        let is_packed = |found| config.compares([of_queries, found]) == Molecule::Nucleotide;
        let form = Form::PackedIf(&is_packed, config.db_mask.case());
        let open = |room| open_subjects(config, only, room, form, progress);
        let (mut database, mut whole) = open(room / needs.subjects)?;
        let program = program_of(config, queries, (&database, whole.as_mut()))?;
        if assumed != program {
            needs = Needs::of(config, program, queries, bytes)?;
            room = agree(needs.room(memory))?;
            if needs.subjects * database.part_bytes() > room && !database.has_pipe() {
                drop(whole);
                (database, whole) = open(room / needs.subjects)?;
                program_of(config, queries, (&database, whole.as_mut()))?;
            }
        }
        let Needs { taken, beside, .. } = needs;
        let part = needs.subjects * database.part_bytes();
        if part > room || whole.is_none() && database.has_pipe() {
            let least = match database.has_pipe() {
                true => needs.enough(&database),
                false => BESIDE + taken + beside + 2 * part,
            };
            return Err(SearchError::Memory { least });
        }
        Ok(Opened {
            program,
            needs,
            database: Arc::new(database),
            whole: whole.map(Arc::new),
            indexes: None,
            room: None,
            has_indexes: false,
            bytes: part,
        })
    }

    /// Those of a database that is open, in a form: this search takes no memory but for their
    /// frames.
    fn open(
        config: &Config,
        (queries, bytes): (&mut Sequences, u64),
        molecule: Molecule,
        form: &dyn Fn((bool, LetterCase)) -> Result<Shown, SearchError>,
    ) -> Result<Opened, SearchError> {
        let memory = config.memory.saturating_sub(BESIDE);
        let program = config.program_for([queries.molecule(), molecule]);
        let is_packed = program.compares() == Molecule::Nucleotide;
        let Shown {
            database,
            whole,
            indexes,
            room,
        } = form((is_packed, config.db_mask.case()))?;
        program_of(config, queries, (&database, None))?;
        let needs = Needs::of(config, program, queries, bytes)?;
        let bytes = (needs.subjects - 1) * database.part_bytes();
        if bytes > needs.room(memory) {
            let least = BESIDE + needs.taken + needs.beside + 2 * bytes;
            return Err(SearchError::Memory { least });
        }
        Ok(Opened {
            program,
            needs,
            has_indexes: whole.is_none() || indexes.is_some(),
            database,
            whole,
            indexes,
            room,
            bytes,
        })
    }
}

/// What a search takes beside what it finds.
pub(crate) struct Needs {
    /// Bytes of queries with their frames, and of what threads align of them.
    pub taken: u64,
    /// Bytes that an engine takes beside sequences and matches.
    pub beside: u64,
    /// How many times the bytes of subjects.
    pub subjects: u64,
}

impl Needs {
    /// Those of a program, for queries that take so many bytes.
    fn of(
        config: &Config,
        program: Program,
        queries: &Sequences,
        bytes: u64,
    ) -> Result<Needs, SearchError> {
        let frames = program.frames(config.translation.codes()?);
        let [longest, total] = [queries.longest(), queries.total()];
        Ok(Needs::of_lengths(
            config,
            program,
            frames,
            [bytes, longest, total],
        ))
    }

    /// Those for queries of which these are the bytes, and the letters of the longest and of all.
    pub(crate) fn of_lengths(
        config: &Config,
        program: Program,
        [of_query, of_subject]: [Frames; 2],
        [bytes, longest, total]: [u64; 3],
    ) -> Needs {
        let (aligned, beside) = match program.compares() {
            Molecule::Protein => (ALIGNED, KEPT * config.threads as u64),
            Molecule::Nucleotide => {
                let (options, threads) = (&config.nucleotide, config.threads);
                let letters = nucleotide::letters_at_once(program, options) + longest;
                let letters = weight(of_query) * letters.min(total);
                let beside = nucleotide::bytes_beside(program, options, letters, threads);
                (ALIGNED_BASES, beside)
            }
        };
        let longest = longest / of_query.step() as u64;
        // Seeds are looked for in a copy of what is masked softly.
        let masks = QueryMasks::new(program, &config.masks);
        let copied = if masks.is_soft { total } else { 0 };
        let copied_frames = match (config.db_mask, of_subject) {
            (DatabaseMask::Soft, Frames::Six(_)) => FRAMES_OF_BASE,
            _ => 0,
        };
        Needs {
            taken: (bytes + copied) * weight(of_query) + longest * aligned * config.threads as u64,
            beside,
            subjects: weight(of_subject) + copied_frames,
        }
    }

    /// Memory with which all subjects are searched at once.
    fn enough(&self, database: &Database) -> u64 {
        BESIDE + self.taken + self.beside + 2 * self.subjects * database.bytes()
    }

    /// Bytes for subjects.
    fn room(&self, memory: u64) -> u64 {
        memory.saturating_sub(self.taken + self.beside) / 2
    }
}

/// How many times the bytes of sequences these take with their frames: a codon is a residue, which
/// takes more than a nucleotide.
pub(crate) fn weight(frames: Frames) -> u64 {
    let numbers = frames.numbers().len() as u64;
    match frames {
        Frames::Six(_) => 1 + numbers * RESIDUE / frames.step() as u64,
        Frames::Protein | Frames::Plus | Frames::Strands => numbers,
    }
}

/// Reads the queries; bytes that they take.
fn read_queries(
    config: &Config,
    memory: u64,
    progress: &Progress,
) -> Result<(Sequences, u64), SearchError> {
    let filter = Filter {
        taxids: &TaxidFilter::default(),
        only: None,
    };
    let form = Form::Codes(config.masks.case());
    let with = (config.threads, progress);
    let texts = config.query_texts.iter();
    let mut sources = match config.queries.is_empty() && texts.len() > 0 {
        true => Vec::new(),
        false => open_all(&config.queries)?,
    };
    sources.extend(texts.map(|(name, text)| SequenceSource::Text(name.clone(), Arc::clone(text))));
    let (read, queries) = Database::of(sources, filter, memory / 2, form, with)?;
    let bytes = read.bytes();
    let queries = queries.ok_or(SearchError::Memory {
        least: BESIDE + 2 * bytes,
    })?;
    Ok((queries, bytes))
}

/// Opens the database; it is in memory if it takes at most so many bytes.
fn open_subjects(
    config: &Config,
    only: Option<&[usize]>,
    room: u64,
    form: Form,
    progress: &Progress,
) -> Result<(Database, Option<Sequences>), SearchError> {
    let with = (config.threads, progress);
    let taxids = &config.taxids;
    Database::open(&config.subjects, Filter { taxids, only }, room, form, with)
}

/// How surely a program finds what is there, where this was asked for.
fn sensitivity_of(
    program: Program,
    frames: [Frames; 2],
    asked: Sensitivity,
) -> Result<Sensitivity, SearchError> {
    let name = program.name();
    let fits = match asked {
        Sensitivity::Blast => true,
        Sensitivity::Fast => program.compares() == Molecule::Protein,
        Sensitivity::Exhaustive => frames == [Frames::Protein; 2],
    };
    match (program, asked) {
        _ if !fits => Err(SearchError::Sensitivity { program: name }),
        (Program::BlastpShort, Sensitivity::Fast) => Err(SearchError::NeverFast { program: name }),
        // Chance gives short segments too often to look for them by seeds.
        (Program::BlastpShort, _) => Ok(Sensitivity::Exhaustive),
        _ => Ok(asked),
    }
}

fn scoring(
    config: &Config,
    program: Program,
    frames: [Frames; 2],
    database: &Database,
) -> Result<AnyScoring, SearchError> {
    let whole = database.size();
    let size = DatabaseSize {
        letters: config.db_length.unwrap_or(whole.letters),
        sequences: config.db_sequences.unwrap_or(whole.sequences),
    };
    let limits = config.limits.before_culling();
    Ok(match (frames, program.compares()) {
        ([Frames::Protein, Frames::Protein], _) => {
            AnyScoring::Protein(Scoring::new(program, &config.protein, size, limits)?)
        }
        (_, Molecule::Protein) => {
            let options = (&config.protein, &config.translation);
            AnyScoring::Translated(TranslatedScoring::new(
                program, frames, options, size, limits,
            )?)
        }
        (_, Molecule::Nucleotide) => {
            AnyScoring::Nucleotide(scoring_of(program, &config.nucleotide, size, limits)?)
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
    let program = config.program_for([queries.molecule(), database.molecule()]);
    let [of_query, of_subject] = program.molecules();
    queries.become_those_of(program, of_query, &config.queries)?;
    match whole {
        Some(whole) => {
            whole.become_those_of(program, of_subject, &config.subjects)?;
            if program.compares() == Molecule::Nucleotide {
                whole.pack();
            }
            whole.mask(config.db_mask.case());
        }
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
