//! The run: inputs to database.

use std::path::PathBuf;
use std::sync::Arc;

use gyrase_fabric::{
    Alone, Combining, Drain, FabricOptions, LocalPartitions, Owners, Partitioning, Peer, Place,
    SpillFolder, World, all_to_all,
};
use gyrase_fastx::{Inputs, Options};
use gyrase_files::OutputFile;
use gyrase_kmer::{BINS, Shape, with_words};
use gyrase_table::WriterShare;
use gyrase_table::gyk::{Cutoffs, GykError, Metadata, Writer};
use gyrase_tabulate::{
    Layout, Reading, TabulateError, Worker, census, reduce, scatter, spill_path,
};
use gyrase_work::Progress;

use crate::agree;
use crate::assembly::Assembly;
use crate::on_gpu::CountOnGpu;
use crate::partition::{Counter, Feeder};
use crate::plan::{Budget, check_tmp, temporary};
use crate::reading::options;
use crate::resume::{Earlier, Log};
use crate::super_kmers::{Repeats, SuperKmers};
use crate::{Config, Error, Scattered, Summary};

/// Counts the k-mers of the inputs into a database, in this process alone.
///
/// The database depends on the inputs and on what is counted, and on nothing else: not on threads,
/// memory, processes, the order of the inputs or the machine.
///
/// # Errors
/// See [`Error`]. No database appears then.
pub fn run(config: &Config, progress: &Progress) -> Result<Summary, Error> {
    run_in(config, &Alone, progress)
}

/// As [`run`], with a GPU that counts beside the threads. The database is the same.
///
/// # Errors
/// See [`Error`]. That a GPU declines or fails is none: the processor does what it has left.
pub fn run_on(
    gpu: &CountOnGpu<'_>,
    config: &Config,
    progress: &Progress,
) -> Result<Summary, Error> {
    run_with(config, &Alone, Some(gpu), progress)
}

/// As [`run`], in all processes of a job: each calls it with an equal `config`, but for threads and
/// memory. Every process counts the bins that it owns and writes them to the one database.
///
/// # Errors
/// See [`Error`]; where another process failed this one's is
/// [`gyrase_fabric::FabricError::Elsewhere`].
pub fn run_in(config: &Config, world: &dyn World, progress: &Progress) -> Result<Summary, Error> {
    run_with(config, world, None, progress)
}

fn run_with(
    config: &Config,
    world: &dyn World,
    gpu: Option<&CountOnGpu<'_>>,
    progress: &Progress,
) -> Result<Summary, Error> {
    let attempt = |serial| attempt(config, world, gpu, progress, serial);
    match attempt(false) {
        // A wrapped FASTQ file that starts like a plain one: its ranges mean nothing, so what was
        // sent is forgotten. All processes are told so.
        Err(Error::Tabulate(TabulateError::Input(error))) if error.needs_serial() => attempt(true),
        done => done,
    }
}

fn attempt(
    config: &Config,
    world: &dyn World,
    gpu: Option<&CountOnGpu<'_>>,
    progress: &Progress,
    serial: bool,
) -> Result<Summary, Error> {
    let options = Options {
        shared: world.ranks() > 1,
        ..options(config, serial)
    };
    let inputs = Inputs::open(&config.inputs, options)?;
    agree::on_question(world, config, &inputs)?;
    with_words!(config.shape, W => count::<W>(config, &inputs, world, gpu, progress))
}

/// The budget beside a GPU, or that without it where it would be too little.
fn budget<'g>(
    config: &Config,
    inputs: &Inputs,
    world: &dyn World,
    gpu: Option<&'g CountOnGpu<'g>>,
) -> Result<(Budget, Option<&'g CountOnGpu<'g>>), Error> {
    let budget = |config: &Config| Budget::of(config, inputs, world.ranks());
    match gpu.map(|gpu| (gpu, budget(&gpu.beside(config)))) {
        Some((gpu, Ok(budget))) => return Ok((budget, Some(gpu))),
        Some((gpu, Err(_))) => gpu.refuse_for_memory(config, inputs),
        None => {}
    }
    Ok((budget(config)?, None))
}

fn count<const W: usize>(
    config: &Config,
    inputs: &Inputs,
    world: &dyn World,
    gpu: Option<&CountOnGpu<'_>>,
    progress: &Progress,
) -> Result<Summary, Error> {
    let (budget, gpu) = budget(config, inputs, world, gpu)?;
    // Nothing tells whether a pipe brings what it brought before.
    let resume = config.resume && inputs.total_bytes().is_some();
    let (job, root) = (job(config, inputs), root_of(config));
    let earlier = if resume {
        Earlier::find(world, &root, config.max_tmp, &job)?
    } else {
        None
    };
    let budget = settle(config, budget, inputs, world, earlier.is_none())?;
    let partitioning = match &earlier {
        Some(earlier) => earlier.partitioning.clone(),
        None => partitioning::<W>(config, inputs, world)?,
    };
    let run = Run {
        config,
        inputs,
        world,
        place: partitioning.place(world.peer()),
        partitioning,
        budget,
        gpu,
        progress,
        resume,
        job,
        root,
    };
    let (writer, folder, workers) = run.start(earlier.as_ref())?;
    let work = match earlier {
        Some(earlier) => Work::resumed(earlier, folder, &writer),
        None => run.scatter::<W>(folder, &writer, workers)?,
    };
    run.reduce::<W>(writer, work)
}

/// The budget on which all processes agree; where inputs are to be `read`, the disk has to take
/// what may be spilled.
///
/// Collective.
pub(crate) fn settle(
    config: &Config,
    budget: Budget,
    inputs: &Inputs,
    world: &dyn World,
    read: bool,
) -> Result<Budget, Error> {
    let (budget, contents) = agree::on_means(world, budget, inputs, read)?;
    if let Some(contents) = contents {
        // One warning is enough where all processes are alike.
        let first = world.rank() == 0;
        check_tmp(config, temporary(config, contents, budget), first)?;
    }
    Ok(budget)
}

/// From so many processes on the bins of one are few enough to be unequal: 2 % between 16 of them.
pub(crate) const UNEQUAL: usize = 8;

/// Which partitions there are, and who owns them.
///
/// Collective.
fn partitioning<const W: usize>(
    config: &Config,
    inputs: &Inputs,
    world: &dyn World,
) -> Result<Partitioning, Error> {
    let bins = Partitioning::of_bins(BINS);
    if world.ranks() < UNEQUAL {
        return Ok(bins);
    }
    let cut = SuperKmers::<W>::new(config.shape, &bins);
    let sizes = census::<Error>(inputs, &options(config, false), world, cut, BINS, 0)?;
    Ok(Partitioning::balanced(&sizes, world.ranks()))
}

/// What a run has from its start to its end.
struct Run<'a> {
    config: &'a Config,
    inputs: &'a Inputs,
    world: &'a dyn World,
    partitioning: Partitioning,
    /// Where this process stands among those that own the partitions.
    place: Place,
    budget: Budget,
    gpu: Option<&'a CountOnGpu<'a>>,
    progress: &'a Progress,
    /// Leave what a later run can go on from.
    resume: bool,
    job: String,
    /// The folder for the spill files of all processes.
    root: PathBuf,
}

/// What is to be counted in this process.
struct Work {
    partitions: LocalPartitions,
    /// What it was made of.
    read: Scattered,
    /// For the spill files of this process.
    folder: Arc<SpillFolder>,
    /// Those that an earlier run left.
    folders: Vec<Arc<SpillFolder>>,
    /// A later run can go on from it.
    resumable: bool,
    /// Bins that are counted already.
    resumed_bins: usize,
}

/// Bytes of finished bins that may wait while a thread with an earlier one is kept from its work,
/// by bytes of records: what little there is to count is not to take much more.
fn room_to_wait(records: u64) -> usize {
    (records / 32).clamp(2 << 20, 64 << 20) as usize
}

impl Work {
    /// What an earlier run left to do.
    fn resumed(earlier: Earlier, folder: Arc<SpillFolder>, writer: &Writer) -> Work {
        Work {
            resumed_bins: earlier.bins.len().min(writer.next_bin()),
            partitions: earlier.partitions,
            read: earlier.read,
            folder,
            folders: earlier.folders,
            resumable: earlier.same,
        }
    }
}

impl Run<'_> {
    fn cutoffs(&self) -> Cutoffs {
        Cutoffs {
            min: self.config.min_count,
            max: self.config.max_count,
        }
    }

    /// What writes the bins of this process, and its folder for spills, once no other job has the
    /// output; and the threads of all processes.
    fn start(&self, earlier: Option<&Earlier>) -> Result<(Writer, Arc<SpillFolder>, usize), Error> {
        let cutoffs = self.cutoffs();
        let Config {
            ref output,
            shape,
            threads,
            ..
        } = *self.config;
        if self.place.ranks == 1 {
            let writer = match earlier {
                Some(Earlier {
                    bins, same: true, ..
                }) => Writer::resume(output, shape, cutoffs, bins)?,
                _ => Writer::create(output, shape, cutoffs)?,
            };
            return Ok((writer, self.folder(earlier), threads));
        }
        let begun = if self.place.rank == 0 {
            Some(OutputFile::create(output).map_err(GykError::from)?)
        } else {
            None
        };
        let token = begun
            .as_ref()
            .map_or(Ok(0), OutputFile::invite)
            .map_err(GykError::from)?;
        // The output is locked before any other process knows the token: from here on the folder of
        // this job is its own.
        let (workers, token) = agree::on_workers(self.world, threads, token)?;
        let folder = self.folder(earlier);
        let share = WriterShare {
            partitions: self.partitioning.place_of_bins(self.world.peer()),
            memory: self.budget.finished as usize,
            folder: Arc::clone(&folder),
        };
        let writer = match begun {
            Some(begun) => Writer::first(begun, shape, cutoffs, share)?,
            None => Writer::join(output, token, shape, cutoffs, share),
        };
        Ok((writer, folder, workers))
    }

    fn folder(&self, earlier: Option<&Earlier>) -> Arc<SpillFolder> {
        let (&Place { rank, ranks, .. }, limit) = (&self.place, self.config.max_tmp);
        match earlier {
            Some(Earlier {
                folders,
                same: true,
                ..
            }) => Arc::clone(&folders[0]),
            // Not the folder of a process alone: others would go with it.
            Some(_) => {
                let folder = SpillFolder::new(self.root.join(format!("rank-{rank}")), limit, true);
                Arc::new(folder.within(&self.root))
            }
            None => {
                // Whatever is there is of no use any more, whoever spilled it. Nobody spills before
                // all have agreed on the reading, which this process does later.
                let _ = std::fs::remove_dir_all(&self.root);
                let peer = Peer { rank, ranks };
                Arc::new(SpillFolder::of_process(
                    &self.root,
                    peer,
                    limit,
                    self.resume,
                ))
            }
        }
    }

    fn scatter<const W: usize>(
        &self,
        folder: Arc<SpillFolder>,
        writer: &Writer,
        workers: usize,
    ) -> Result<Work, Error> {
        let Config {
            shape,
            threads,
            chunk,
            ..
        } = *self.config;
        let spill = Arc::clone(&folder);
        let options = fabric_options::<W>(shape, self.budget, spill, self.partitioning.owners());
        let fabric = self.world.fabric(self.place.partitions, options)?;
        self.progress.start(
            "read",
            self.inputs.total_bytes().unwrap_or(0) / self.place.ranks as u64,
        );
        let reading = Reading::agree(self.inputs, self.world, chunk, workers)?;
        // Before hours of reading, and where nobody waits for it: others take the chunks of a
        // process that opens slowly.
        if let Err(error) = writer.open() {
            // Or the file is gone with a process that failed, which says why.
            return Err(reading.give_up(fabric, error.into()));
        }
        let cut = |_| SuperKmers::<W>::new(shape, &self.partitioning);
        let cuts = (0..threads).map(cut).collect();
        let (mut partitions, cuts) =
            scatter::<_, _, _, Error>(&reading, cuts, fabric, self.progress)?;
        let mut read = Scattered::default();
        cuts.iter().for_each(|cut| read.add(cut.scattered));
        read.bytes = self.inputs.read_bytes();
        // A later run can go on from what all processes have on disk, and from nothing less.
        let resumable = self.resume && self.world.max(&[u64::from(partitions.spilled())])? == [1];
        if resumable && !partitions.spilled() {
            partitions.spill()?;
        }
        Ok(Work {
            partitions,
            read,
            folder,
            folders: Vec::new(),
            resumable,
            resumed_bins: 0,
        })
    }

    /// Counts the partitions from the writer's next bin on and publishes the database.
    fn reduce<const W: usize>(&self, mut writer: Writer, work: Work) -> Result<Summary, Error> {
        let Work {
            partitions,
            read,
            folder,
            folders,
            resumable,
            resumed_bins,
        } = work;
        if self.place.ranks == 1 {
            let bytes = partitions.kept() + written(&folder, &folders);
            writer = writer.waiting(room_to_wait(bytes));
        }
        let log = Log::new(folder.path().to_path_buf());
        if resumable {
            writer.keep_partial();
            log.start(self.world, &self.job, read, &self.partitioning, &writer)?;
            partitions.note(&self.job)?;
        }
        self.progress.start("count", self.place.count() as u64);
        self.progress.advance(resumed_bins as u64);
        let logged = || {
            if resumable {
                log.append(&writer)
            } else {
                Ok(())
            }
        };
        self.count_bins::<W>(&partitions, &folder, &writer, &logged)?;
        self.progress.start("write", 0);
        let traffic = partitions.traffic();
        let spilled_bytes = written(&folder, &folders);
        let share = crate::Share {
            read,
            traffic,
            kept_bytes: partitions.kept(),
            spilled_bytes,
            bins: writer.own_bins(),
            partitions: self.place.count(),
        };
        let summary = std::thread::scope(|scope| {
            // Giving the memory back takes its time too: while the disk is waited for.
            scope.spawn(|| drop(partitions));
            self.publish(writer, share, resumed_bins)
        })?;
        folder.remove();
        folders
            .iter()
            .skip(self.place.rank)
            .step_by(self.place.ranks)
            .for_each(|folder| folder.remove());
        Ok(summary)
    }

    fn count_bins<const W: usize>(
        &self,
        partitions: &LocalPartitions,
        folder: &Arc<SpillFolder>,
        writer: &Writer,
        logged: &(dyn Fn() -> Result<(), Error> + Sync),
    ) -> Result<(), Error> {
        // Out of core the buffers are gone: bins that fit the larger share are counted at once,
        // others in fewer passes.
        let budget = match partitions.spilled() {
            true => self.budget.for_tables_only(self.config.threads),
            false => self.budget,
        };
        let assembly = Assembly::new(
            writer,
            &self.partitioning,
            self.world,
            Arc::clone(folder),
            budget.tables as usize / 8,
        )?;
        let count = || self.count_partitions::<W>(budget, partitions, &assembly, logged);
        match self.place.ranks {
            1 => count(),
            _ => self.lay_out_meanwhile(writer, || assembly.receive_beside(count)),
        }
    }

    fn count_partitions<const W: usize>(
        &self,
        budget: Budget,
        partitions: &impl Drain,
        to: &Assembly,
        logged: &(dyn Fn() -> Result<(), Error> + Sync),
    ) -> Result<(), Error> {
        let Config {
            shape,
            min_count,
            max_count,
            threads,
            ..
        } = *self.config;
        let counted = min_count.max(1)..=max_count;
        let counter = |memory| {
            let (counted, partitioning) = (counted.clone(), &self.partitioning);
            Counter::<W>::new(shape, counted, memory, partitioning, to, logged)
        };
        let shares = self.gpu.iter().flat_map(|gpu| gpu.shares());
        let mut feeders: Vec<_> = shares
            .map(|share| Feeder::new(counter(share.host), share))
            .collect();
        let mut counters: Vec<_> = (0..threads)
            .map(|_| counter(budget.tables as usize))
            .collect();
        let mut workers: Vec<&mut dyn Worker<_>> = Vec::new();
        // They take the most at a time, so they begin.
        workers.extend(
            feeders
                .iter_mut()
                .map(|feeder| feeder as &mut dyn Worker<_>),
        );
        workers.extend(
            counters
                .iter_mut()
                .map(|counter| counter as &mut dyn Worker<_>),
        );
        reduce(
            partitions,
            to.next_partition(&self.partitioning),
            workers,
            self.progress,
        )
    }

    /// Counts while bins of all processes get their places in the file.
    fn lay_out_meanwhile(
        &self,
        writer: &Writer,
        count: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let world = self.world;
        let sum = |numbers: &[u64]| Ok::<_, Error>(world.sum(numbers)?);
        let exchange = |ends| Ok(all_to_all(world, ends)?);
        let lay_out = || writer.lay_out(world.ranks(), sum, exchange);
        let layout = Layout {
            lay_out,
            abandon: || writer.abandon(),
        };
        layout.beside(world, count, Error::is_abandoned)
    }

    /// Puts the bins of all processes together.
    fn publish(
        &self,
        writer: Writer,
        share: crate::Share,
        resumed_bins: usize,
    ) -> Result<Summary, Error> {
        let settled = writer.settle()?;
        let (read, [spilled_bytes, resumed_bins]) = agree::on_sums(
            self.world,
            share.read,
            [share.spilled_bytes, resumed_bins as u64],
        )?;
        // What others wrote is on the disk now, and their file system may have lost some of this
        // process's.
        let checked = match self.place.ranks {
            1 => Ok(()),
            ranks => writer.check(self.place.rank, ranks),
        };
        // The file goes with the writer of the first process: not before all have read it.
        self.world.sum(&[0])?;
        checked?;
        let shares = self.world.gather(settled)?;
        agree::on_counted(self.config, read, &shares)?;
        let made = match self.place.rank {
            0 => Some(writer.finish_all(&shares, &metadata(self.inputs, read))?),
            _ => None,
        };
        let database = agree::on_database(self.world, made)?;
        Ok(Summary {
            read,
            database,
            spilled_bytes,
            resumed_bins: resumed_bins as usize,
            share,
        })
    }
}

/// How super-k-mers travel.
pub(crate) fn fabric_options<const W: usize>(
    shape: Shape,
    budget: Budget,
    spill: Arc<SpillFolder>,
    owners: Owners,
) -> FabricOptions {
    let combining = Combining {
        make: Box::new(move || Box::new(Repeats::<W>::new(shape))),
        // Tables of repeats are a few times as large as the records, and have no other table
        // beside them yet.
        portion: budget.tables / 16,
    };
    FabricOptions {
        memory: budget.fabric,
        spill: Some(spill),
        combining: Some(combining),
        owners,
    }
}

/// Bytes in the folder of this process and in those of an earlier run, of which it may be one.
fn written(folder: &Arc<SpillFolder>, folders: &[Arc<SpillFolder>]) -> u64 {
    let others = folders.iter().filter(|other| !Arc::ptr_eq(other, folder));
    folder.written() + others.map(|other| other.written()).sum::<u64>()
}

fn metadata(inputs: &Inputs, read: Scattered) -> Metadata {
    let name = |path: &PathBuf| {
        path.file_name()
            .map_or("-".into(), |name| name.to_string_lossy().into_owned())
    };
    let mut names: Vec<String> = inputs
        .inputs()
        .iter()
        .map(|input| name(&input.path))
        .collect();
    names.sort();
    Metadata {
        inputs: names,
        operation: "count".into(),
        reads: read.reads,
        bases: read.bases,
    }
}

/// What a process leaves when it is killed and its run cannot be resumed: its spill
/// files and, of rank 0, the file that was to be the database.
pub fn leftovers(config: &Config, Peer { rank, ranks }: Peer) -> Vec<PathBuf> {
    if config.resume {
        return Vec::new();
    }
    let mut left = vec![SpillFolder::path_of(&root_of(config), Peer { rank, ranks })];
    if rank == 0 {
        left.extend(OutputFile::partial(&config.output));
    }
    left
}

pub(crate) fn root_of(config: &Config) -> PathBuf {
    spill_path(&config.tmp, "gyrase", &config.output)
}

/// What the run is about, in a line: spill files of another job, or of another version, are of no
/// use.
fn job(config: &Config, inputs: &Inputs) -> String {
    let mut job = format!(
        "gyrase count {} {}",
        env!("CARGO_PKG_VERSION"),
        config.question()
    );
    for input in inputs.inputs() {
        let changed = std::fs::metadata(&input.path)
            .and_then(|metadata| metadata.modified())
            .ok();
        job += &format!(" {:?} {:?} {changed:?}", input.path, input.size);
    }
    job
}
