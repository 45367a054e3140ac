//! The one entry: from databases and the reads of a sample to answers.

use std::path::{Path, PathBuf};

use gyrase_fabric::{Alone, FabricError, World};
use gyrase_tabulate::{Source, TabulateError};
use gyrase_work::Progress;

use crate::catalogue::Catalogue;
use crate::collection::{Collection, Plan};
use crate::filter::{Covered, Dropped};
use crate::genomes::Genomes;
use crate::lane::Lane;
use crate::query::{
    AnswerConfig, Candidates, Form, Hits, QueryError, ReadFeed, Scratch, Sink, Summary, classify,
    classify_candidates, covered, covered_candidates,
};
use crate::share::{Outlet, Relay, Share, Travels};

/// Bytes of a batch of reads whose candidates are stored. A block of the file ends with its batch,
/// so one size, which every plan has room for, keeps its bytes the same whatever the memory.
const STORED_BATCH: usize = 1 << 18;

/// The reads of a sample, and what they are compared with.
#[derive(Clone, Copy, Debug)]
pub enum Reads<'a> {
    /// Files of reads, one lane after the other, and opened databases.
    Lanes {
        /// The databases; one run after the other may ask them.
        collection: &'a Collection,
        /// The reads.
        lanes: &'a [Lane],
    },
    /// Stored candidates, which need neither reads nor databases.
    Stored(&'a Candidates),
}

/// A sample, and how it is classified.
#[derive(Clone, Copy, Debug)]
pub struct Config<'a> {
    /// The reads and the databases.
    pub reads: Reads<'a>,
    /// How reads are answered.
    pub answer: AnswerConfig,
    /// Bytes of memory that the run may take. Larger databases are asked in several passes.
    pub memory: u64,
    /// Where the hits of all passes but the last wait.
    pub scratch: Scratch<'a>,
    /// Which share of the sum of all coverages, 0 to 1, is that of genomes that no read may come
    /// from ([`Dropped::least_covered`]); none are dropped where none is given.
    pub drop_least_covered: Option<f64>,
}

/// Why a sample cannot be classified.
#[derive(Debug, thiserror::Error)]
pub enum ClassifyError {
    /// The databases take more memory than there is.
    #[error(
        "classifying takes at least {least} bytes of memory with these databases; {memory} are \
         allowed"
    )]
    Memory {
        /// Bytes that are enough.
        least: u64,
        /// Bytes that the run may take.
        memory: u64,
    },
    /// A pipe or a device, where the reads are read more than once.
    #[error(
        "the reads are read more than once, and {} is no file; write them to a file first",
        path.display()
    )]
    ReadOnce {
        /// Its name.
        path: PathBuf,
    },
    /// The reads cannot be opened.
    #[error(transparent)]
    Open(#[from] gyrase_fastx::Error),
    /// The reads cannot be answered.
    #[error(transparent)]
    Query(#[from] QueryError),
}

impl From<FabricError> for ClassifyError {
    fn from(error: FabricError) -> ClassifyError {
        QueryError::from(TabulateError::from(error)).into()
    }
}

impl<'a> Config<'a> {
    /// How the databases are asked; nothing where stored candidates are answered.
    ///
    /// # Errors
    /// [`ClassifyError::Memory`].
    pub fn plan(&self) -> Result<Option<Plan>, ClassifyError> {
        match self.reads {
            Reads::Lanes { collection, .. } => self.plan_of(collection).map(Some),
            Reads::Stored(_) => Ok(None),
        }
    }

    /// What taxa and targets are numbers of.
    pub fn catalogue(&self) -> &'a Catalogue {
        match self.reads {
            Reads::Lanes { collection, .. } => &collection.catalogue,
            Reads::Stored(candidates) => candidates.catalogue(),
        }
    }

    fn plan_of(&self, collection: &Collection) -> Result<Plan, ClassifyError> {
        let memory = self.memory;
        collection
            .plan(memory, self.answer.threads)
            .map_err(|least| ClassifyError::Memory { least, memory })
    }
}

/// Classifies a sample. `sink` takes the answers in the order of the reads, once all passes but the
/// last are done.
///
/// # Errors
/// See [`ClassifyError`].
pub fn run(
    config: &Config<'_>,
    progress: &Progress,
    sink: &mut impl Sink,
) -> Result<Summary, ClassifyError> {
    let prepared = Prepared::new(config, &Alone, progress)?;
    let dropped = match config.drop_least_covered {
        Some(_) => prepared.dropped(&prepared.covered(progress)?),
        None => Dropped::default(),
    };
    prepared.answer(dropped, progress, sink)
}

/// As [`run`], in all processes of a job: each calls it with an equal `config`, but for threads and
/// memory. The sink of the first process takes the answers; `records` says whether it reads their
/// records. What is returned is for the first process: of the whole sample.
///
/// # Errors
/// See [`ClassifyError`]; where another process failed this one's is
/// [`gyrase_fabric::FabricError::Elsewhere`].
pub fn run_in<S: Sink>(
    config: &Config<'_>,
    world: &impl World,
    outlet: Outlet<'_, S>,
    records: bool,
    progress: &Progress,
) -> Result<Option<Summary>, ClassifyError>
where
    S::Form: Clone,
    <S::Form as Form>::Made: Travels,
{
    let prepared = Prepared::new(config, world, progress)?;
    let mut dropped = Dropped::default();
    if config.drop_least_covered.is_some() {
        let mut covered = Covered::default();
        let own = prepared.covered(progress)?.to_bytes();
        for bytes in world.all_gather(&own)? {
            covered.merge(&Covered::from_bytes(&bytes).expect(WHOLE));
        }
        dropped = prepared.dropped(&covered);
    }
    let mut relay = Relay::new(world, outlet, records);
    let own = prepared.answer(dropped.clone(), progress, &mut relay)?;
    let shares = world.gather(own.to_bytes())?;
    if world.rank() > 0 {
        return Ok(None);
    }
    let mut all = Summary {
        dropped,
        ..Summary::default()
    };
    shares
        .iter()
        .for_each(|bytes| all.merge(&Summary::from_bytes(bytes).expect(WHOLE)));
    Ok(Some(all))
}

const WHOLE: &str = "messages arrive whole";

/// Stores the reads of a sample with their hits in the file `path`, for [`Candidates`]; how many
/// reads there are. Stored candidates are not stored again: it gives 0 and no file.
///
/// # Errors
/// See [`ClassifyError`].
pub fn store(config: &Config<'_>, path: &Path, progress: &Progress) -> Result<u64, ClassifyError> {
    let prepared = Prepared::new(config, &Alone, progress)?;
    let mut reads = 0;
    for (lane, hits) in prepared.lanes() {
        progress.start("store", 0);
        let feed = lane.open(STORED_BATCH)?;
        reads += hits.keep(feed, path, config.answer.threads, progress)?;
    }
    Ok(reads)
}

/// A sample whose databases were asked in all passes but the last.
///
/// A process of several that share a sample makes one of its share of the reads, merges what
/// [`Prepared::covered`] gives with that of the others, and then answers.
pub struct Prepared<'a> {
    config: &'a Config<'a>,
    lanes: &'a [Lane],
    /// Bytes of a batch of reads.
    batch: usize,
    /// Which process this is, and how many there are.
    rank: usize,
    ranks: usize,
    /// Of each lane.
    hits: Vec<Hits<'a>>,
}

impl<'a> Prepared<'a> {
    /// Makes all passes over the reads of this process but the last.
    ///
    /// Collective.
    ///
    /// # Errors
    /// See [`ClassifyError`].
    pub fn new(
        config: &'a Config<'a>,
        world: &impl World,
        progress: &Progress,
    ) -> Result<Prepared<'a>, ClassifyError> {
        let (rank, ranks) = (world.rank(), world.ranks());
        let mut prepared = Prepared {
            config,
            lanes: &[],
            batch: 0,
            rank,
            ranks,
            hits: Vec::new(),
        };
        let Reads::Lanes { collection, lanes } = config.reads else {
            return Ok(prepared);
        };
        let mut plan = config.plan_of(collection)?;
        if plan.passes > 1 || config.drop_least_covered.is_some() {
            keep_rereadable(lanes)?;
        }
        // Rounds are of equal batches in all processes.
        let least = world.max(&[!(plan.batch as u64)])?;
        plan.batch = !least[0] as usize;
        (prepared.lanes, prepared.batch) = (lanes, plan.batch);
        let (mut scratch, threads) = (config.scratch, config.answer.threads);
        for lane in lanes {
            let open = || prepared.open(lane);
            let of_lane = look_up(collection, plan, scratch, threads, open, progress)?;
            let stored = of_lane.stored_bytes();
            scratch.limit = scratch.limit.map(|room| room.saturating_sub(stored));
            prepared.hits.push(of_lane);
        }
        Ok(prepared)
    }

    /// The reads of a lane that this process answers.
    fn open(&self, lane: &Lane) -> Result<Share<Source>, ClassifyError> {
        Ok(Share::new(lane.open(self.batch)?, self.rank, self.ranks))
    }

    /// The windows that the reads were found in: a pass over all of them.
    ///
    /// # Errors
    /// See [`ClassifyError`].
    pub fn covered(&self, progress: &Progress) -> Result<Covered, ClassifyError> {
        progress.start("cover", 0);
        let answer = &self.config.answer;
        if let Reads::Stored(candidates) = self.config.reads {
            return Ok(covered_candidates(candidates, answer, progress)?);
        }
        let mut all = Covered::default();
        for (lane, hits) in self.lanes() {
            all.merge(&covered(hits, self.open(lane)?, answer, progress)?);
        }
        Ok(all)
    }

    /// The genomes that no read may come from, by the windows that all reads of the sample were
    /// found in.
    pub fn dropped(&self, covered: &Covered) -> Dropped {
        let targets = &self.config.catalogue().targets;
        let share = self.config.drop_least_covered.unwrap_or(0.0);
        Dropped::least_covered(covered, targets, &Genomes::new(targets), share)
    }

    /// Answers all reads, one lane after the other; none of them by what was `dropped`.
    ///
    /// # Errors
    /// See [`ClassifyError`].
    pub fn answer(
        &self,
        dropped: Dropped,
        progress: &Progress,
        sink: &mut impl Sink,
    ) -> Result<Summary, ClassifyError> {
        progress.start("classify", 0);
        let answer = &self.config.answer;
        let mut all = Summary::default();
        if let Reads::Stored(candidates) = self.config.reads {
            all = classify_candidates(candidates, answer, &dropped, sink, progress)?;
        }
        for (lane, hits) in self.lanes() {
            let reads = self.open(lane)?;
            all.merge(&classify(hits, reads, answer, &dropped, sink, progress)?);
        }
        all.dropped = dropped;
        Ok(all)
    }

    fn lanes(&self) -> impl Iterator<Item = (&'a Lane, &Hits<'a>)> {
        self.lanes.iter().zip(&self.hits)
    }
}

/// Where the hits of reads come from, after all passes but the last over those that `open` opens:
/// whole files, or a share of them that is the same each time.
///
/// # Errors
/// See [`ClassifyError`].
pub fn look_up<'a, F: ReadFeed>(
    collection: &'a Collection,
    plan: Plan,
    scratch: Scratch<'_>,
    threads: usize,
    open: impl FnMut() -> Result<F, ClassifyError>,
    progress: &Progress,
) -> Result<Hits<'a>, ClassifyError> {
    if plan.passes == 1 {
        return Ok(Hits::of(collection));
    }
    progress.start("look up", 0);
    Hits::in_passes(collection, plan.most, scratch, threads, open, progress)
}

/// Refuses reads that can be read only once.
fn keep_rereadable(lanes: &[Lane]) -> Result<(), ClassifyError> {
    match lanes.iter().find_map(Lane::read_once) {
        Some(path) => Err(ClassifyError::ReadOnce { path: path.into() }),
        None => Ok(()),
    }
}
