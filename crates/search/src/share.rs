//! A search that processes share, or that goes on where an earlier one was cut short.
//!
//! ```text
//!  batches of queries   0  1  2  3  4  5 ...     whoever is free takes the next one
//!                       |  |  |  |
//!  processes            A  B  C  A ...           each has the whole database, and lays the text
//!                                                of its batches aside
//!  file                [0][1][2][3][4][5]...     each writes its own text at its offset
//! ```
//!
//! Batches have about as many residues each, whatever the processes, their threads and memory. Only
//! how many hits there are, and how long the text is, goes to the first process; the text goes
//! there too where a compressed file or a stream takes the report.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gyrase_fabric::{FabricError, Farm, Finished, SpillFolder, World};
use gyrase_files::{OrderedError, OrderedFile, OutputError, OutputFile, OwnSegments, Segment};
use gyrase_tabulate::{TabulateError, same_files};
use gyrase_work::Progress;

use crate::engine::Engine;
use crate::kept::{self, Found, Kept};
use crate::run::{Indexes, Prepared};
use crate::{Config, Report, SearchError, Sequences, Summary};

/// Residues of a batch of queries, about.
const BATCH: usize = 10_000;
/// Results for each process that may wait in the first one for an earlier one, where it takes the
/// text.
const AHEAD: usize = 4;
/// The part of the memory, as one in so many, for text that waits for its offset.
const ASIDE: u64 = 16;

/// Where the report of a search by processes goes.
pub enum ReportTarget<'a> {
    /// To what takes its text in the first process, piece by piece.
    Stream(&'a mut dyn FnMut(&[u8]) -> Result<(), OutputError>),
    /// To a file, in which each process writes the text of its batches.
    File(&'a Path),
}

/// Where text waits that is not in the report yet.
#[derive(Clone, Debug)]
pub struct WaitingText {
    /// A folder of this search alone.
    pub folder: PathBuf,
    /// Bytes that this process may lay aside there.
    pub limit: Option<u64>,
    /// What is finished stays there until the report is whole, and what an earlier run of the same
    /// search left is taken.
    pub resume: bool,
}

impl WaitingText {
    fn spill_folder(&self, rank: usize) -> Arc<SpillFolder> {
        let folder = SpillFolder::new(self.of_rank(rank), self.limit, false);
        Arc::new(folder.within(&self.folder))
    }

    fn of_rank(&self, rank: usize) -> PathBuf {
        self.folder.join(format!("rank-{rank}"))
    }

    /// What this process leaves when it ends without an end, but for what is to be resumed.
    pub fn leftovers(&self, rank: usize, target: Option<&Path>) -> Vec<PathBuf> {
        let partial = target.and_then(OutputFile::partial);
        let partial = partial.filter(|_| rank == 0);
        [self.of_rank(rank)].into_iter().chain(partial).collect()
    }
}

impl From<FabricError> for SearchError {
    fn from(error: FabricError) -> SearchError {
        TabulateError::from(error).into()
    }
}

impl From<OrderedError<FabricError>> for SearchError {
    fn from(error: OrderedError<FabricError>) -> SearchError {
        match error {
            OrderedError::Write(error) => error.into(),
            OrderedError::Spill(error) => error.into(),
            OrderedError::Abandoned { .. } => FabricError::Elsewhere.into(),
            OrderedError::Garbled(error) => error.into(),
        }
    }
}

/// Searches in all processes of a job, and writes the report: each calls it with an equal `config`,
/// but for threads and memory. What is returned is for the first process: of all queries.
///
/// # Errors
/// See [`SearchError`]. Where another process failed the error is [`FabricError::Elsewhere`].
pub fn run_in(
    config: &Config,
    report: &Report,
    world: &impl World,
    mut target: ReportTarget,
    waiting: &WaitingText,
    progress: &Progress,
) -> Result<Option<Summary>, SearchError> {
    // First of all, since the file keeps other runs from the same folder.
    let begun = Begun::new(world, &target)?;
    let files: Vec<&PathBuf> = config.queries.iter().chain(&config.subjects).collect();
    same_files(world, &files)?;
    let prepared = Prepared::new(&without_aside(config), Indexes::Kept, progress)?;
    report.suits(prepared.program)?;
    let question = question(config, report, &prepared);
    if !world.all_equal(&[crc32fast::hash(question.as_bytes()).into()])? {
        return Err(SearchError::DifferentQuestions);
    }
    let batches = batches(&prepared.queries);
    if world.rank() == 0 && !waiting.resume {
        kept::clear(&waiting.folder);
    }
    let folder = waiting.spill_folder(world.rank());
    let engine = prepared.engine();
    let shared = Shared {
        file: begun.file(world, batches.len(), config.memory, &folder)?,
        kept: match waiting.resume {
            true => Some(Kept::open(world, &waiting.folder, &question, folder)?),
            false => None,
        },
        engine: &*engine,
        several: world.ranks() > 1,
        prepared: &prepared,
        batches,
        report,
        progress,
    };
    let summary = shared.search(world, &mut target)?;
    let mut tail = Vec::new();
    report.settle(&prepared.nothing());
    // Writing to memory cannot fail.
    let _ = report.finish(&mut tail, prepared.queries.len());
    let first = world.rank() == 0;
    match (shared.file, target) {
        (Some(file), _) => publish(file, world, &tail)?,
        (None, ReportTarget::Stream(take)) if first => take(&tail)?,
        _ => {}
    }
    // What is kept goes once the report is whole.
    world.sum(&[0])?;
    let kept = shared.kept.as_ref().filter(|_| first);
    kept.into_iter().for_each(Kept::remove);
    Ok(first.then_some(summary))
}

/// The same with the memory that is left beside text.
fn without_aside(config: &Config) -> Config {
    Config {
        memory: config.memory - config.memory / ASIDE,
        ..config.clone()
    }
}

/// What a search is about, in a line.
fn question(config: &Config, report: &Report, prepared: &Prepared) -> String {
    let Prepared {
        program,
        queries,
        subjects,
        scoring,
        ..
    } = prepared;
    let (limits, size) = (&config.limits, scoring.system().size());
    let (sensitivity, nucleotide) = (config.sensitivity, &config.nucleotide);
    let version = env!("CARGO_PKG_VERSION");
    let digests = [queries, subjects].map(Sequences::digest);
    let written = report.question();
    let protein = config.protein.question();
    let asked = format!("{program:?} {sensitivity:?} {protein} {nucleotide:?} {limits:?} {size:?}");
    format!("gyrase search {version} {asked} {digests:?} {written}")
}

/// Ranges of queries that are searched together.
fn batches(queries: &Sequences) -> Vec<Range<usize>> {
    let (mut batches, mut start, mut residues) = (Vec::new(), 0, 0);
    for query in 0..queries.len() {
        residues += queries.residues(query).len();
        if residues >= BATCH || query + 1 == queries.len() {
            batches.push(start..query + 1);
            (start, residues) = (query + 1, 0);
        }
    }
    batches
}

/// A file that was begun, if the report goes to one.
struct Begun<'a> {
    path: Option<&'a Path>,
    /// In the first process.
    output: Option<OutputFile>,
    token: u64,
}

impl<'a> Begun<'a> {
    /// Collective.
    fn new(world: &impl World, target: &ReportTarget<'a>) -> Result<Begun<'a>, SearchError> {
        let ReportTarget::File(path) = *target else {
            return Ok(Begun {
                path: None,
                output: None,
                token: 0,
            });
        };
        let output = match world.rank() {
            0 => Some(OutputFile::create(path)?),
            _ => None,
        };
        let token = output.as_ref().map_or(Ok(0), OutputFile::invite)?;
        Ok(Begun {
            path: Some(path),
            output,
            token: world.sum(&[token])?[0],
        })
    }

    /// The file of so many segments.
    fn file(
        self,
        world: &impl World,
        all: usize,
        memory: u64,
        folder: &Arc<SpillFolder>,
    ) -> Result<Option<OrderedFile<(), Finished>>, SearchError> {
        let Some(path) = self.path else {
            return Ok(None);
        };
        let share = OwnSegments {
            all,
            own: Vec::new(),
            memory: (memory / ASIDE) as usize,
            spill: Finished(Arc::clone(folder)),
        };
        let file = match self.output {
            Some(output) if world.ranks() == 1 => OrderedFile::alone(output, 0, all)?,
            Some(output) => OrderedFile::first(output, 0, share)?,
            None => OrderedFile::join(path, self.token, 0, share),
        };
        file.open()?;
        Ok(Some(file))
    }
}

/// Lays out what processes hold of a file, and gives it its name.
///
/// Collective.
fn publish(
    file: OrderedFile<(), Finished>,
    world: &impl World,
    tail: &[u8],
) -> Result<(), SearchError> {
    if world.ranks() > 1 {
        file.lay_out::<SearchError>(
            |numbers| Ok(world.sum(numbers)?),
            |bytes| Ok(world.gather(bytes)?),
        )?;
        file.settle()?;
        // All have settled: what others wrote is on the disk.
        world.sum(&[0])?;
        file.check(world.rank(), world.ranks())?;
        world.sum(&[0])?;
    }
    if world.rank() == 0 {
        file.finish(&[], tail)?;
    }
    Ok(())
}

/// What a process has of a search that is shared.
struct Shared<'s> {
    prepared: &'s Prepared,
    engine: &'s dyn Engine,
    batches: Vec<Range<usize>>,
    report: &'s Report,
    /// The file that takes the text, unless it goes to the first process.
    file: Option<OrderedFile<(), Finished>>,
    /// There are other processes.
    several: bool,
    kept: Option<Kept>,
    progress: &'s Progress,
}

impl Shared<'_> {
    /// Searches for all queries; what is returned is true in the first process.
    fn search(
        &self,
        world: &impl World,
        target: &mut ReportTarget,
    ) -> Result<Summary, SearchError> {
        let mut summary = self.prepared.summary(self.prepared.queries.len());
        self.progress
            .start_counting("search", summary.queries, "queries");
        let tasks = self.batches.len();
        let ahead = match target {
            ReportTarget::Stream(_) => AHEAD * world.ranks(),
            ReportTarget::File(_) => tasks,
        };
        let farm = Farm {
            tasks,
            workers: 1,
            ahead,
        };
        farm.run(world, |task| self.work(task), &mut |task, result| {
            let found = Found::of_message(result);
            summary.with_hits += found.with_hits;
            summary.hits += found.hits;
            if let ReportTarget::Stream(take) = target {
                take(&found.text)?;
            }
            self.progress.advance(self.batches[task].len() as u64);
            Ok::<_, SearchError>(())
        })?;
        Ok(summary)
    }

    /// Searches for a batch; what the first process is told.
    fn work(&self, task: usize) -> Result<Vec<u8>, SearchError> {
        let kept = self.kept.as_ref();
        let mut found = match kept.and_then(|kept| kept.get(task)) {
            Some(found) => found,
            None => {
                let found = self.find(task)?;
                kept.map_or(Ok(()), |kept| kept.put(task, &found))?;
                found
            }
        };
        if let Some(file) = &self.file {
            if self.several {
                file.take(task);
            }
            let text = std::mem::take(&mut found.text);
            file.put(task, Segment::new(text), ())?;
        }
        Ok(found.into_message())
    }

    fn find(&self, task: usize) -> Result<Found, SearchError> {
        let mut text = Vec::new();
        let (range, part) = (self.batches[task].clone(), self.progress.of_part());
        let prepared = self.prepared;
        let summary = prepared.search(self.engine, range, &part, &mut |answer| {
            // Writing to memory cannot fail.
            let _ = self.report.answer(&mut text, answer);
            Ok::<_, SearchError>(())
        })?;
        Ok(Found {
            with_hits: summary.with_hits,
            hits: summary.hits,
            text,
        })
    }
}
