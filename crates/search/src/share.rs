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
//! Only how many hits there are, and how long the text is, goes to the first process; the text goes
//! there too where a compressed file or a stream takes the report. Where a process has no memory
//! for the whole database, each has a part of it (`groups`).

mod groups;
mod shared;

use std::ops::{Range, RangeInclusive};
use std::path::PathBuf;
use std::sync::Arc;

use gyrase_fabric::{FabricError, Finished, SpillFolder, World};
use gyrase_files::{OrderedError, OrderedFile, OwnSegments};
use gyrase_tabulate::{BegunFile, KeptWork, TabulateError, clear_kept, publish, same_files};
use gyrase_work::Progress;

use crate::prepared::{Prepared, Source};
use crate::{Config, Report, SearchError, Sequences, Summary};
use shared::Shared;

pub use shared::ReportTarget;

/// The part of what each process has left of the queries that is its next batch: of so many parts
/// so many. Two thirds, so that batches are few, and a process whose first one takes half as long
/// again as those of others ends with them.
const OF_LEFT: [u64; 2] = [3, 2];
/// Processes for which queries are divided where a later run, of any number of processes, may go
/// on.
const OF_ANY: u64 = 8;
/// The part of the memory, as one in so many, for text that waits for its offset.
const ASIDE: u64 = 16;

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
    world: &dyn World,
    mut target: ReportTarget,
    progress: &Progress,
) -> Result<Option<Summary>, SearchError> {
    let waiting = &config.waiting;
    // First of all, since the file keeps other runs from the same folder.
    let begun = begin(world, &target)?;
    let files: Vec<&PathBuf> = config.queries.iter().chain(&config.subjects).collect();
    same_files(world, &files)?;
    let agree = |bytes| Ok(world.min(&[bytes])?[0]);
    let prepared = Prepared::new(&without_aside(config), Source::ALL, true, &agree, progress)?;
    report.suits(prepared.program)?;
    let ranks = match waiting.resume {
        true => OF_ANY,
        false => world.ranks() as u64,
    };
    let batches = batches(&prepared, ranks);
    let question = question(config, report, &prepared, &batches);
    if !world.all_equal(&[crc32fast::hash(question.as_bytes()).into()])? {
        return Err(SearchError::DifferentQuestions);
    }
    if world.rank() == 0 && !waiting.resume {
        clear_kept(&waiting.folder);
    }
    let folder = waiting.spill_folder(world.rank());
    let shared = Shared {
        file: begun
            .map(|begun| open(begun, world, batches.len(), config.memory, &folder))
            .transpose()?,
        kept: match waiting.resume {
            true => Some(KeptWork::open(
                world,
                &waiting.folder,
                &question,
                Arc::clone(&folder),
            )?),
            false => None,
        },
        several: world.ranks() > 1,
        prepared: &prepared,
        batches,
        report,
        progress,
        waiting,
        folder,
    };
    let summary = match &prepared.whole {
        Some(subjects) => shared.search(world, subjects, &mut target)?,
        None => groups::search(&shared, world, &mut target)?,
    };
    shared.finish(world, target)?;
    match world.rank() {
        0 => Ok(Some(prepared.naming_hopeless(summary)?)),
        _ => Ok(None),
    }
}

/// Begins the file of the report, if it goes to one.
fn begin<'a>(
    world: &dyn World,
    target: &ReportTarget<'a>,
) -> Result<Option<BegunFile<'a>>, SearchError> {
    match *target {
        ReportTarget::File(path) => Ok(Some(BegunFile::new::<SearchError>(world, path)?)),
        ReportTarget::Stream(_) => Ok(None),
    }
}

/// Opens the file of the report, with a segment for each of so many batches.
fn open(
    begun: BegunFile,
    world: &dyn World,
    batches: usize,
    memory: u64,
    folder: &Arc<SpillFolder>,
) -> Result<OrderedFile<(), Finished>, SearchError> {
    let share = OwnSegments {
        all: batches,
        own: Vec::new(),
        memory: (memory / ASIDE) as usize,
        spill: Finished(Arc::clone(folder)),
    };
    begun.open(world, 0, share)
}

impl Shared<'_> {
    /// Ends the report, and removes what was kept.
    ///
    /// Collective.
    fn finish(mut self, world: &dyn World, target: ReportTarget) -> Result<(), SearchError> {
        let (mut tail, queries) = (Vec::new(), self.prepared.queries.len());
        // Where no query was asked, none was searched for in any way.
        if queries > 0 {
            self.prepared
                .with_nothing(|answer| self.report.settle(answer));
        }
        // Writing to memory cannot fail.
        let _ = self.report.finish(&mut tail, queries);
        let first = world.rank() == 0;
        match (self.file.take(), target) {
            (Some(file), _) => publish::<SearchError>(file, world, &[], &tail)?,
            (None, ReportTarget::Stream(take)) if first => take(&tail)?,
            _ => {}
        }
        // What is kept goes once the report is whole.
        world.sum(&[0])?;
        let kept = self.kept.as_ref().filter(|_| first);
        kept.into_iter().for_each(KeptWork::remove);
        Ok(())
    }
}

/// The same with the memory that is left beside text.
fn without_aside(config: &Config) -> Config {
    Config {
        memory: config.memory - config.memory / ASIDE,
        ..config.clone()
    }
}

/// What a search is about, and how it is divided, in a line.
fn question(
    config: &Config,
    report: &Report,
    prepared: &Prepared,
    batches: &[Range<usize>],
) -> String {
    let Prepared {
        program,
        queries,
        database,
        scoring,
        ..
    } = prepared;
    let (limits, size) = (&config.limits, scoring.system().size());
    let (sensitivity, nucleotide) = (config.sensitivity, &config.nucleotide);
    let (translation, masks) = (&config.translation, (&config.masks, config.db_mask));
    let version = env!("CARGO_PKG_VERSION");
    let of_subjects = prepared.whole.as_deref().map(Sequences::digest);
    let digests = [
        queries.digest(),
        of_subjects.unwrap_or_else(|| database.digest()),
    ];
    let written = report.question();
    let protein = config.protein.question();
    let asked = format!("{program:?} {sensitivity:?} {protein} {nucleotide:?} {translation:?}");
    let ends = batches.iter().flat_map(|batch| batch.end.to_le_bytes());
    let divided = crc32fast::hash(&ends.collect::<Vec<u8>>());
    let asked = format!("{asked} {masks:?} {limits:?} {size:?} {divided}");
    format!("gyrase search {version} {asked} {digests:?} {written}")
}

/// Ranges of queries that are searched together, for so many processes: large ones first, since
/// what is done for each takes most of the time of small ones, and small ones last, so that all
/// processes end at about the same time (factoring: Hummel, Schonberg and Flynn, 1992).
pub(crate) fn batches(prepared: &Prepared, ranks: u64) -> Vec<Range<usize>> {
    let sizes = at_once(prepared);
    let [parts, some] = OF_LEFT;
    let (mut letters, mut of_round) = (0, 0);
    ranges(&prepared.queries, |left| {
        if of_round == 0 {
            letters = (left * some / (parts * ranks)).clamp(*sizes.start(), *sizes.end());
            of_round = ranks;
        }
        of_round -= 1;
        letters
    })
}

/// The same, small throughout.
pub(crate) fn small_batches(prepared: &Prepared) -> Vec<Range<usize>> {
    let letters = *at_once(prepared).start();
    ranges(&prepared.queries, |_| letters)
}

fn at_once(prepared: &Prepared) -> RangeInclusive<u64> {
    prepared.engine(&Sequences::default(), None).batch()
}

/// Ranges of queries of as many letters as `letters` gives where so many are left, or somewhat
/// more.
fn ranges(queries: &Sequences, mut letters: impl FnMut(u64) -> u64) -> Vec<Range<usize>> {
    let (mut ranges, mut start) = (Vec::new(), 0);
    let (mut left, mut so_far) = (queries.total(), 0);
    let mut asked = letters(left);
    for query in 0..queries.len() {
        so_far += queries.residues(query).len() as u64;
        if so_far >= asked || query + 1 == queries.len() {
            ranges.push(start..query + 1);
            left -= so_far;
            (start, so_far) = (query + 1, 0);
            asked = letters(left);
        }
    }
    ranges
}
