//! The run: inputs to database.

use std::path::PathBuf;
use std::sync::Arc;

use gyrase_fabric::{Alone, Drain, LocalFabric, LocalPartitions, Progress, SpillFolder};
use gyrase_fastx::{Inputs, Options};
use gyrase_kmer::{BINS, with_words};
use gyrase_table::gyk::{Cutoffs, Metadata, Writer};
use gyrase_tabulate::{Repeats, Scattered, TabulateError, reduce, scatter, spill_path};

use crate::partition::Counter;
use crate::plan::{Budget, check_tmp, longest_record, most_window, predict};
use crate::resume::{Earlier, Log};
use crate::{Config, Error, Summary};

/// Bytes of text read at a time: small enough to leave the second-level cache to the ends of the partitions.
const BATCH: usize = 256 << 10;

/// Counts the k-mers of the inputs into a database.
///
/// The database depends on the inputs and on what is counted, and on nothing else: not on threads, memory, the order of the
/// inputs or the machine.
///
/// # Errors
/// See [`Error`]. No database appears then.
pub fn run(config: &Config, progress: &Progress) -> Result<Summary, Error> {
    match attempt(config, progress, false) {
        // A wrapped FASTQ file that starts like a plain one: its ranges mean nothing, so what was sent is forgotten.
        Err(Error::Tabulate(TabulateError::Input(error))) if error.needs_serial() => attempt(config, progress, true),
        done => done,
    }
}

fn attempt(config: &Config, progress: &Progress, serial: bool) -> Result<Summary, Error> {
    let inputs = Inputs::open(&config.inputs, options(config, serial))?;
    with_words!(config.shape, W => count::<W>(config, &inputs, progress))
}

pub(crate) fn options(config: &Config, serial: bool) -> Options {
    let for_kmers = Options::for_kmers(config.shape.k());
    let Config { min_base_quality, paired, .. } = *config;
    Options {
        min_base_quality,
        paired,
        serial,
        batch_bytes: BATCH,
        longest_record: longest_record(config),
        most_window: most_window(config),
        ..for_kmers
    }
}

fn count<const W: usize>(config: &Config, inputs: &Inputs, progress: &Progress) -> Result<Summary, Error> {
    let budget = Budget::of(config, inputs)?;
    // Nothing tells whether a pipe brings what it brought before.
    let resume = config.resume && inputs.total_bytes().is_some();
    let (job, log) = (job(config, inputs), Log::new(folder_of(config)));
    let earlier = if resume { log.read(&job) } else { None };
    // The writer locks the output, so from here on the spill folder is this process's own.
    let writer = start_writer(config, earlier.as_ref())?;
    let folder = Arc::new(SpillFolder::new(folder_of(config), config.max_tmp, resume));
    let run = Run { config, inputs, budget, progress, resume, job, log, folder };

    let reopen = |earlier: Earlier| Some((LocalPartitions::reopen(BINS, Arc::clone(&run.folder), &run.job)?, earlier));
    if let Some((partitions, earlier)) = earlier.and_then(reopen) {
        let resumed_bins = writer.next_bin();
        return run.reduce::<W>(writer, partitions, earlier.read, resumed_bins);
    }
    let plan = predict(config, inputs, budget);
    check_tmp(config, &plan)?;
    run.folder.remove();
    let (partitions, read) = run.scatter::<W>()?;
    run.reduce::<W>(writer, partitions, read, 0)
}

/// What a run has from its start to its end.
struct Run<'a> {
    config: &'a Config,
    inputs: &'a Inputs,
    budget: Budget,
    progress: &'a Progress,
    /// Leave what a later run can go on from.
    resume: bool,
    job: String,
    log: Log,
    folder: Arc<SpillFolder>,
}

impl Run<'_> {
    fn scatter<const W: usize>(&self) -> Result<(LocalPartitions, Scattered), Error> {
        let shape = self.config.shape;
        let fabric = LocalFabric::new(BINS, self.budget.fabric, Arc::clone(&self.folder));
        // Tables of repeats are a few times as large as the records, and have no other table beside them yet.
        let portion = self.budget.tables / 16;
        let fabric = fabric.combining(move || Box::new(Repeats::<W>::new(shape)), portion);
        self.progress.start("read", self.inputs.total_bytes().unwrap_or(0));
        Ok(scatter::<W, _>(self.inputs, &Alone, None, shape, fabric, self.config.threads, self.progress)?)
    }

    /// Counts the partitions from the writer's next bin on and publishes the database.
    fn reduce<const W: usize>(
        &self,
        mut writer: Writer,
        partitions: LocalPartitions,
        read: Scattered,
        resumed_bins: usize,
    ) -> Result<Summary, Error> {
        let resumable = self.resume && partitions.spilled();
        if resumable {
            writer.keep_partial();
            self.log.start(&self.job, read, &writer)?;
            partitions.note(&self.job)?;
        }
        self.progress.start("count", BINS as u64);
        self.progress.advance(resumed_bins as u64);
        let logged = || if resumable { self.log.append(&writer) } else { Ok(()) };
        // Out of core the buffers are gone: bins that fit the larger share are counted at once, others in fewer passes.
        let on_disk = partitions.spilled();
        let budget = if on_disk { self.budget.for_tables_only(self.config.threads) } else { self.budget };
        count_partitions::<W>(self.config, budget, &partitions, &writer, &logged, self.progress)?;
        self.progress.start("write", 0);
        let database = std::thread::scope(|scope| {
            // Giving the memory back takes its time too: while the disk is waited for.
            scope.spawn(|| drop(partitions));
            writer.finish(&metadata(self.inputs, read))
        })?;
        self.folder.remove();
        Ok(Summary { read, database, spilled_bytes: self.folder.written(), resumed_bins })
    }
}

fn start_writer(config: &Config, earlier: Option<&Earlier>) -> Result<Writer, Error> {
    let cutoffs = Cutoffs { min: config.min_count, max: config.max_count };
    Ok(match earlier {
        Some(earlier) => Writer::resume(&config.output, config.shape, cutoffs, &earlier.bins)?,
        None => Writer::create(&config.output, config.shape, cutoffs)?,
    })
}

fn count_partitions<const W: usize>(
    config: &Config,
    budget: Budget,
    partitions: &impl Drain,
    writer: &Writer,
    logged: &(dyn Fn() -> Result<(), Error> + Sync),
    progress: &Progress,
) -> Result<(), Error> {
    let counted = config.min_count.max(1)..=config.max_count;
    let counter = |_| Counter::<W>::new(config.shape, counted.clone(), budget.tables as usize, writer, logged);
    let counters = (0..config.threads).map(counter).collect();
    reduce(partitions, writer.next_bin(), counters, progress)
}

fn metadata(inputs: &Inputs, read: Scattered) -> Metadata {
    let name = |path: &PathBuf| path.file_name().map_or("-".into(), |name| name.to_string_lossy().into_owned());
    let mut names: Vec<String> = inputs.inputs().iter().map(|input| name(&input.path)).collect();
    names.sort();
    Metadata { inputs: names, operation: "count".into(), reads: read.reads, bases: read.bases }
}

fn folder_of(config: &Config) -> PathBuf {
    spill_path(&config.tmp, "gyrase", &config.output)
}

/// What the run is about, in a line: spill files of another job, or of another version, are of no use.
fn job(config: &Config, inputs: &Inputs) -> String {
    let Config { shape, min_count, max_count, min_base_quality, paired, .. } = config;
    let version = env!("CARGO_PKG_VERSION");
    let mut job = format!("gyrase count {version} {shape:?} {min_count} {max_count} {min_base_quality:?} {paired}");
    for input in inputs.inputs() {
        let changed = std::fs::metadata(&input.path).and_then(|metadata| metadata.modified()).ok();
        job += &format!(" {:?} {:?} {changed:?}", input.path, input.size);
    }
    job
}
