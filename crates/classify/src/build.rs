//! Builds a database: references to sketches to lists of locations (thesis, sections 6.4.1 and
//! 6.4.2).

mod budget;
mod lists;
mod resume;

use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gyrase_fabric::{Alone, Drain, Fabric, FabricError, LocalFabric, LocalPartitions, SpillFolder};
use gyrase_fastx::Inputs;
use gyrase_table::gydb::{self, Database, GydbError, PARTITIONS, Writer};
use gyrase_tabulate::{Reading, TabulateError, spill_path};
use gyrase_work::Progress;

use crate::build::budget::{Budget, Room};
use crate::build::lists::MadeOf;
pub use crate::build::resume::Earlier;
use crate::distinct;
use crate::index::{DISTINCT, FULL, PARAMETERS, Parameters, TARGETS, TAXONOMY};
use crate::parts::Part;
use crate::references::{self, Numbers, References, TaxonOf, Windows};
use crate::targets::{Target, Targets};
use gyrase_taxonomy::{Taxon, Taxonomy};

/// What to build.
#[derive(Clone, Debug)]
pub struct Config {
    /// The references: FASTA or FASTQ, in any compression.
    pub references: Vec<PathBuf>,
    /// The database to write; `None` keeps it in memory.
    pub output: Option<PathBuf>,
    /// How windows are sketched, and how many locations a feature keeps.
    pub parameters: Parameters,
    /// Threads, at least 1.
    pub threads: usize,
    /// Bytes of memory that the build may take, [`Config::least_memory`] or more.
    pub memory: u64,
    /// Where spill files go.
    pub tmp: PathBuf,
    /// Bytes of spill files that the run may take.
    pub max_tmp: Option<u64>,
    /// Go on from what an earlier run left that was stopped, and leave as much when stopped: the
    /// spill files, once all is read, if there are any. The text says what the taxa of the
    /// references depend on besides the references and the taxonomy: what another text, or other
    /// references, left is not used.
    pub resume: Option<String>,
}

impl Config {
    /// Bytes of memory without which so many threads cannot build.
    pub fn least_memory(threads: usize) -> u64 {
        budget::least_memory(threads)
    }
}

/// What was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Reference sequences.
    pub targets: usize,
    /// How many of them no taxon is known of.
    pub without_taxon: usize,
    /// Their letters.
    pub letters: u64,
    /// Their windows.
    pub windows: u32,
    /// What an earlier run had done of it.
    pub earlier: Earlier,
    /// What the feature table holds.
    pub table: gydb::Summary,
}

/// Why nothing was built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Reading or spilling failed, or the run was cancelled.
    #[error(transparent)]
    Tabulate(#[from] TabulateError),
    /// The database cannot be written.
    #[error(transparent)]
    Database(#[from] GydbError),
    /// There are more windows than a location can name.
    #[error("the references have more than 4,294,967,295 windows")]
    TooManyWindows,
    /// More memory would be needed than there is.
    #[error("{what} needs about {} MiB of memory, not {} MiB", needed.div_ceil(1 << 20), given >> 20)]
    Memory {
        /// For what.
        what: MemoryFor,
        /// Bytes needed.
        needed: u64,
        /// Bytes given.
        given: u64,
    },
}

/// What a build needs memory for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryFor {
    /// Its threads.
    Threads,
    /// The whole database, which is made in memory.
    Database,
    /// Sorting the largest partition.
    Sorting,
}

impl Display for MemoryFor {
    fn fmt(&self, out: &mut Formatter) -> fmt::Result {
        out.write_str(match self {
            MemoryFor::Threads => "a build with so many threads",
            MemoryFor::Database => "a database of these references in memory",
            MemoryFor::Sorting => "sorting the features of these references",
        })
    }
}

impl From<gyrase_fastx::Error> for BuildError {
    fn from(error: gyrase_fastx::Error) -> BuildError {
        BuildError::Tabulate(error.into())
    }
}

impl From<FabricError> for BuildError {
    fn from(error: FabricError) -> BuildError {
        BuildError::Tabulate(error.into())
    }
}

/// Builds a database; `taxon_of` is told the header of every reference and its file, and names its
/// taxon in `taxonomy`.
///
/// The database depends on the references, their order and the parameters, and on nothing else. It
/// has only those taxa that lead to a reference.
///
/// # Errors
/// See [`BuildError`]. No file appears then.
pub fn build(
    config: &Config,
    taxonomy: &Taxonomy,
    taxon_of: &mut (dyn FnMut(&str, &Path) -> Option<Taxon> + Send),
    progress: &Progress,
) -> Result<(Summary, Option<Database>), BuildError> {
    let writer = writer(config)?;
    let (records, targets) = scatter(config, Targets::default(), (taxonomy, taxon_of), progress)?;
    complete(
        config,
        writer,
        &Outline {
            taxonomy,
            targets: &targets,
            parts: &[],
        },
        records,
        progress,
    )
}

/// Starts the database. First of all, since it keeps other runs from the same target and so from
/// the same spill folder.
pub(crate) fn writer(config: &Config) -> Result<Writer, BuildError> {
    let (cap, budget) = (
        config.parameters.locations,
        Budget::of(config.memory, config.threads)?,
    );
    let writer = config.output.as_ref().map_or_else(
        || Ok(Writer::in_memory(cap)),
        |path| Writer::create(path, cap),
    )?;
    Ok(writer.waiting_within(budget.waiting))
}

/// What a database will be about.
pub(crate) struct Outline<'a> {
    /// All taxa of the targets, and perhaps more.
    pub taxonomy: &'a Taxonomy,
    pub targets: &'a Targets,
    /// Databases whose locations go into it, in the order of their targets.
    pub parts: &'a [Part<'a>],
}

/// The features of references that were read, by partition.
pub(crate) struct Records<D> {
    partitions: D,
    numbers: Numbers,
    /// The memory for what is made of them; no limit where there are none.
    budget: Option<Budget>,
    spilled: bool,
    earlier: Earlier,
    /// Where they are, if they are spilled.
    folder: Option<Arc<SpillFolder>>,
}

impl<D: Drain> Records<D> {
    /// No records: all that is drained of `partitions` is nothing.
    pub fn none(partitions: D) -> Records<D> {
        Records {
            partitions,
            numbers: Numbers::default(),
            budget: None,
            spilled: false,
            earlier: Earlier::Nothing,
            folder: None,
        }
    }

    fn room(&self, config: &Config, targets: usize) -> Result<Room, BuildError> {
        let unlimited = Room {
            threads: config.threads,
            rows: usize::MAX,
        };
        let room = |budget: Budget| {
            budget.for_lists(
                &self.partitions,
                self.spilled,
                targets,
                config.output.is_none(),
            )
        };
        self.budget.map_or(Ok(unlimited), room)
    }
}

/// Makes the lists of records and parts, and finishes the database.
pub(crate) fn complete<D: Drain>(
    config: &Config,
    writer: Writer,
    outline: &Outline,
    records: Records<D>,
    progress: &Progress,
) -> Result<(Summary, Option<Database>), BuildError> {
    let (taxonomy, targets) = of_targets(outline.taxonomy, outline.targets);
    let room = records.room(config, targets.len())?;
    let lists = MadeOf {
        records: &records,
        parts: outline.parts,
        targets: &targets,
        taxa: taxonomy.len(),
        room,
    };
    let counted = lists.write(&writer, config.parameters.locations, progress)?;
    let Records {
        earlier,
        folder,
        partitions,
        ..
    } = records;
    drop(partitions);
    progress.start("write", 0);
    writer.section(PARAMETERS, &config.parameters.to_bytes());
    writer.section(TARGETS, &targets.to_bytes());
    writer.section(TAXONOMY, &taxonomy.to_bytes());
    writer.section(DISTINCT, &distinct::to_bytes(&counted.distinct));
    writer.section(FULL, &counted.full.to_le_bytes());
    let finished = finish(config, writer, &targets, earlier)?;
    // A folder that is kept for a later run is of no use any more.
    folder.iter().for_each(|folder| folder.remove());
    Ok(finished)
}

/// Reads the references, whose windows come after those of `targets`, and sends every feature with
/// its window to the partition of its place; or takes up what an earlier run read. The taxa that
/// `taxon_of` names are of the taxonomy.
pub(crate) fn scatter(
    config: &Config,
    targets: Targets,
    (taxonomy, taxon_of): (&Taxonomy, &mut TaxonOf<'_>),
    progress: &Progress,
) -> Result<(Records<LocalPartitions>, Targets), BuildError> {
    let budget = Budget::of(config.memory, config.threads)?;
    let job = resume::job(config, &targets, taxonomy);
    let folder = Arc::new(SpillFolder::new(
        spills(config),
        config.max_tmp,
        job.is_some(),
    ));
    let reopened = job
        .as_ref()
        .map_or(Err(Earlier::Nothing), |job| resume::reopen(&folder, job));
    let (earlier, (partitions, targets, numbers)) = match reopened {
        Ok(reopened) => (Earlier::TakenUp, reopened),
        Err(earlier) => {
            let read = read(
                config,
                targets,
                taxon_of,
                LocalFabric::new(PARTITIONS, budget.fabric, folder.clone()),
                progress,
            )?;
            job.map_or(Ok(()), |job| {
                resume::note(&folder, &read.0, (&read.1, &read.2), &job)
            })?;
            (earlier, read)
        }
    };
    let spilled = partitions.spilled();
    Ok((
        Records {
            partitions,
            numbers,
            budget: Some(budget),
            spilled,
            earlier,
            folder: Some(folder),
        },
        targets,
    ))
}

/// Reads the references and sends their features through the fabric.
fn read<F: Fabric>(
    config: &Config,
    targets: Targets,
    taxon_of: &mut TaxonOf<'_>,
    fabric: F,
    progress: &Progress,
) -> Result<(F::Partitions, Targets, Numbers), BuildError>
where
    F::Sender: Send,
{
    if config.references.is_empty() {
        return Ok((fabric.close(Vec::new())?, targets, Numbers::default()));
    }
    let (shape, threads) = (config.parameters.sketch, config.threads);
    let inputs = Inputs::open(&config.references, references::options(shape))?;
    progress.start("read", inputs.total_bytes().unwrap_or(0));
    let references = References::new(&config.references, shape, taxon_of, &Alone);
    let cuts = (0..threads).map(|_| references.cut()).collect();
    let reading = Reading::agree(&inputs, &Alone, None, threads)?;
    let (partitions, cuts) = gyrase_tabulate::scatter(&reading, cuts, fabric, &Alone, progress)?;
    let read = cuts.into_iter().flat_map(Windows::into_contents).collect();
    let read = references.gather(read, &Alone)?;
    let (targets, numbers) = references.number(targets, read)?;
    Ok((partitions, targets, numbers))
}

fn finish(
    config: &Config,
    writer: Writer,
    targets: &Targets,
    earlier: Earlier,
) -> Result<(Summary, Option<Database>), BuildError> {
    let summary = |table| Summary {
        targets: targets.len(),
        without_taxon: targets
            .iter()
            .filter(|target| target.taxon.is_none())
            .count(),
        letters: targets.iter().map(|target| target.letters).sum(),
        windows: targets.all_windows(),
        earlier,
        table,
    };
    if config.output.is_some() {
        return Ok((summary(writer.finish()?), None));
    }
    let database = writer.into_database()?;
    Ok((summary(database.summary()), Some(database)))
}

/// The taxonomy of what leads to the targets, and the targets with their taxa in it.
fn of_targets(taxonomy: &Taxonomy, targets: &Targets) -> (Taxonomy, Targets) {
    let part = taxonomy.subset(targets.iter().filter_map(|target| target.taxon));
    let moved = |taxon| {
        part.taxon_of(taxonomy.taxid(taxon))
            .expect("the taxa of targets are in the subset")
    };
    let mut renumbered = Targets::default();
    for target in targets.iter() {
        let target = Target {
            taxon: target.taxon.map(moved),
            ..target.clone()
        };
        renumbered
            .push(target)
            .expect("there are as many windows as before");
    }
    (part, renumbered)
}

/// Where the run spills: where a later run for the same database cleans up. Without one nobody else
/// knows the place.
fn spills(config: &Config) -> PathBuf {
    match &config.output {
        Some(output) => spill_path(&config.tmp, "gyrase-build", output),
        None => resume::unique(&config.tmp),
    }
}
