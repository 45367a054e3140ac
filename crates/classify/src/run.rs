//! The one entry: from databases and the reads of a sample to answers.

use std::path::{Path, PathBuf};

use gyrase_fabric::{Alone, FabricError, World};
use gyrase_tabulate::{TabulateError, same_files};
use gyrase_work::Progress;

use crate::catalogue::Catalogue;
use crate::collection::{Collection, Plan};
use crate::dealt::Dealt;
use crate::filter::{Covered, Dropped};
use crate::followed::Followed;
use crate::genomes::Genomes;
use crate::lane::Lane;
use crate::query::{
    AnswerConfig, Asked, Candidates, Form, Hits, QueryError, Scratch, Sink, Summary, answer_stored,
    classify, cover_stored, covered,
};
use crate::share::{Outlet, Relay, Share, Stopped, Stopping, Travels};
use crate::stored::StoredError;

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

impl ClassifyError {
    /// True where it is the reads that are wrong, so that other samples may be right.
    fn is_of_reads(&self) -> bool {
        match self {
            ClassifyError::ReadOnce { .. } | ClassifyError::Open(_) => true,
            ClassifyError::Query(QueryError::Reads(error)) => {
                matches!(error, TabulateError::Input(_))
            }
            ClassifyError::Query(QueryError::Stored(error)) => {
                matches!(error, StoredError::Changed { .. })
            }
            _ => false,
        }
    }
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
    let dropped = prepared.dropped(&Alone, progress)?;
    let mut all = prepared.answer(&dropped, &Stopped::alone(), progress, sink)?;
    all.dropped = dropped;
    Ok(all)
}

/// As [`run`], in all processes of a job: each calls it with an equal `config`, but for threads and
/// memory. The sink of the first process takes the answers; `records` says whether it reads their
/// records. What is returned is for the first process: of the whole sample.
///
/// # Errors
/// See [`ClassifyError`]. Where the reads are wrong all processes return an error at the same
/// point, and may go on with other reads; [`QueryError::Apart`] where they are wrong for some
/// alone. Where another process failed the error is [`FabricError::Elsewhere`].
pub fn run_in<S: Sink>(
    config: &Config<'_>,
    world: &dyn World,
    outlet: Outlet<'_, S>,
    records: bool,
    progress: &Progress,
) -> Result<Option<Summary>, ClassifyError>
where
    S::Form: Clone,
    <S::Form as Form>::Made: Travels,
{
    let prepared = Prepared::new(config, world, progress)?;
    let dropped = prepared.dropped(world, progress)?;
    let stopped = Stopped::among(world.ranks());
    let mut relay = Relay::new(world, outlet, records, &stopped);
    let answered = prepared.answer(&dropped, &stopped, progress, &mut relay);
    // No process fails here because of the reads: where they are wrong it stops in step.
    let own = answered.map_err(|error| apart(world, error))?;
    if let Some(error) = stopped.into_error() {
        return Err(QueryError::from(error).into());
    }
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
    store_in(config, &Alone, path, progress)
}

/// As [`store`], in all processes of a job; the first writes the file.
///
/// # Errors
/// See [`ClassifyError`]; where another process failed this one's is [`FabricError::Elsewhere`].
pub fn store_in(
    config: &Config<'_>,
    world: &dyn World,
    path: &Path,
    progress: &Progress,
) -> Result<u64, ClassifyError> {
    let mut prepared = Prepared::new(config, world, progress)?;
    // In several passes the batches have this size already: each is of the same process again.
    prepared.batch = STORED_BATCH;
    let mut reads = 0;
    for (lane, hits) in prepared.lanes() {
        progress.start("store", lane.bytes().unwrap_or(0));
        let feed = prepared.open(lane, progress)?;
        reads += hits.keep_in(feed, world, path, config.answer.threads, progress)?;
    }
    Ok(reads)
}

/// What came of a step without collectives, where it came to the same in all processes: all have
/// made it, or the reads are wrong for all.
///
/// Collective.
fn agreed<T>(world: &dyn World, made: Result<T, ClassifyError>) -> Result<T, ClassifyError> {
    if world.ranks() == 1 || made.as_ref().is_err_and(|error| !error.is_of_reads()) {
        return made;
    }
    let failed = world.sum(&[u64::from(made.is_err())])?[0];
    match made {
        Err(error) if failed < world.ranks() as u64 => Err(apart(world, error)),
        Ok(_) if failed > 0 => Err(FabricError::Elsewhere.into()),
        made => made,
    }
}

/// An error of this process that the others do not have.
fn apart(world: &dyn World, error: ClassifyError) -> ClassifyError {
    if world.ranks() == 1 || !error.is_of_reads() {
        return error;
    }
    let (rank, why) = (world.rank(), error.to_string());
    QueryError::Apart { rank, why }.into()
}

/// A sample whose databases were asked in all passes but the last, for the reads of one process of
/// those that share it.
struct Prepared<'a> {
    config: &'a Config<'a>,
    lanes: &'a [Lane],
    /// Bytes of a batch of reads.
    batch: usize,
    /// Which batches are this process's.
    dealt: Dealt,
    /// Of each lane.
    hits: Vec<Hits<'a>>,
}

impl<'a> Prepared<'a> {
    /// Makes all passes over the reads of this process but the last.
    ///
    /// Collective.
    fn new(
        config: &'a Config<'a>,
        world: &dyn World,
        progress: &Progress,
    ) -> Result<Prepared<'a>, ClassifyError> {
        let mut prepared = Prepared {
            config,
            lanes: &[],
            batch: 0,
            dealt: Dealt::of(world),
            hits: Vec::new(),
        };
        let Reads::Lanes { collection, lanes } = config.reads else {
            return Ok(prepared);
        };
        let mut plan = config.plan_of(collection)?;
        let reads_again = plan.passes > 1 || config.drop_least_covered.is_some();
        agreed(world, check(lanes, reads_again, world.ranks()))?;
        let files: Vec<&PathBuf> = lanes.iter().flat_map(Lane::files).collect();
        same_files(world, &files).map_err(QueryError::from)?;
        if world.ranks() > 1 {
            plan = collection.shared(plan, config.answer.threads, world)?;
        }
        (prepared.lanes, prepared.batch) = (lanes, plan.batch);
        let hits = prepared.look_up(collection, plan, world, progress);
        prepared.hits = agreed(world, hits)?;
        Ok(prepared)
    }

    /// Asks the databases for each lane: in all passes but the last where this process is alone, in
    /// all where several have a part of them each.
    fn look_up(
        &self,
        collection: &'a Collection,
        plan: Plan,
        world: &dyn World,
        progress: &Progress,
    ) -> Result<Vec<Hits<'a>>, ClassifyError> {
        let config = self.config;
        let (mut scratch, threads) = (config.scratch, config.answer.threads);
        let look_up_lane = |lane: &Lane| {
            let of_lane = if plan.passes == 1 {
                Hits::of(collection)
            } else if world.ranks() > 1 {
                let passes = collection.parts(plan.most).len().div_ceil(world.ranks());
                progress.start("look up", lane.bytes().unwrap_or(0) * passes as u64);
                let asked = Asked {
                    most: plan.most,
                    scratch,
                    threads,
                };
                let open = || {
                    let followed = Followed::open(lane, (plan.batch, config.memory), progress);
                    agreed(world, followed.map_err(ClassifyError::from))
                };
                Hits::spread(collection, asked, world, open, progress)?
            } else {
                let passes = plan.passes as u64 - 1;
                progress.start("look up", lane.bytes().unwrap_or(0) * passes);
                let open = || self.open(lane, progress);
                Hits::in_passes(collection, plan.most, scratch, threads, open, progress)?
            };
            let stored = of_lane.stored_bytes();
            scratch.limit = scratch.limit.map(|room| room.saturating_sub(stored));
            Ok(of_lane)
        };
        self.lanes.iter().map(look_up_lane).collect()
    }

    /// The reads of a lane that this process answers.
    fn open<'p>(
        &self,
        lane: &Lane,
        progress: &'p Progress,
    ) -> Result<Share<Followed<'p>>, ClassifyError> {
        Ok(Share::new(
            Followed::open(lane, (self.batch, self.config.memory), progress)?,
            self.dealt,
        ))
    }

    /// The genomes that no read may come from, by the windows that all reads of the sample were
    /// found in: a pass over all of them, where any are to be dropped.
    ///
    /// Collective.
    fn dropped(&self, world: &dyn World, progress: &Progress) -> Result<Dropped, ClassifyError> {
        let Some(share) = self.config.drop_least_covered else {
            return Ok(Dropped::default());
        };
        let own = agreed(world, self.covered(progress))?;
        let mut covered = Covered::default();
        match world.ranks() {
            1 => covered = own,
            _ => world
                .all_gather(&own.to_bytes())?
                .iter()
                .for_each(|bytes| covered.merge(&Covered::from_bytes(bytes).expect(WHOLE))),
        }
        let targets = &self.config.catalogue().targets;
        let genomes = Genomes::new(targets);
        Ok(Dropped::least_covered(&covered, targets, &genomes, share))
    }

    /// The windows that the reads of this process were found in.
    fn covered(&self, progress: &Progress) -> Result<Covered, ClassifyError> {
        progress.start("cover", self.total());
        let config = &self.config.answer;
        if let Reads::Stored(candidates) = self.config.reads {
            return Ok(cover_stored(candidates, self.dealt, config, progress)?);
        }
        let mut all = Covered::default();
        for (lane, hits) in self.lanes() {
            all.merge(&covered(
                hits,
                self.open(lane, progress)?,
                config,
                progress,
            )?);
        }
        Ok(all)
    }

    /// Answers the reads of this process, one lane after the other; none of them by what was
    /// `dropped`. Of several processes it stops in step with the others where reads are wrong.
    fn answer(
        &self,
        dropped: &Dropped,
        stopped: &Stopped,
        progress: &Progress,
        sink: &mut impl Sink,
    ) -> Result<Summary, ClassifyError> {
        progress.start("classify", self.total());
        let config = &self.config.answer;
        let mut all = Summary::default();
        if let Reads::Stored(candidates) = self.config.reads {
            all = answer_stored(candidates, self.dealt, config, dropped, sink, progress)?;
        }
        for (lane, hits) in self.lanes() {
            let reads = Stopping::new(self.open(lane, progress)?, stopped);
            all.merge(&classify(hits, reads, config, dropped, sink, progress)?);
            if stopped.is_set() {
                break;
            }
        }
        Ok(all)
    }

    /// Bytes of all files, as they are stored, or stored reads of this process; 0 where nobody
    /// knows.
    fn total(&self) -> u64 {
        match self.config.reads {
            Reads::Stored(candidates) => candidates.reads() / self.dealt.ranks as u64,
            Reads::Lanes { lanes, .. } => {
                let bytes: Option<u64> = lanes.iter().map(Lane::bytes).sum();
                bytes.unwrap_or(0)
            }
        }
    }

    fn lanes(&self) -> impl Iterator<Item = (&'a Lane, &Hits<'a>)> {
        self.lanes.iter().zip(&self.hits)
    }
}

/// Refuses reads that can be read only once where they are read again, and finds out that several
/// processes can all open them.
fn check(lanes: &[Lane], again: bool, ranks: usize) -> Result<(), ClassifyError> {
    let once = lanes.iter().find_map(Lane::read_once).filter(|_| again);
    if let Some(path) = once {
        return Err(ClassifyError::ReadOnce { path: path.into() });
    }
    match ranks {
        1 => Ok(()),
        _ => Ok(lanes.iter().try_for_each(Lane::check)?),
    }
}
