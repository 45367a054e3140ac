//! Builds a database: references to sketches to lists of locations (thesis, sections 6.4.1 and
//! 6.4.2).

mod budget;
mod config;
mod earlier;
pub(crate) mod error;
pub(crate) mod in_passes;
mod lists;
pub(crate) mod on_gpu;
mod plan;
mod records;
mod resume;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gyrase_fabric::{
    Alone, Drain, ExchangeFabric, Fabric, FabricError, FabricOptions, LocalPartitions, Place,
    SpillFolder, World,
};
use gyrase_fastx::{Inputs, Options};
use gyrase_files::OutputFile;
use gyrase_table::WriterShare;
use gyrase_table::gydb::{self, Database, PARTITIONS, Writer};
use gyrase_tabulate::{Reading, same_files, spill_path};
use gyrase_work::Progress;

use self::budget::Budget;
pub use self::config::Config;
pub use self::earlier::Earlier;
pub use self::error::{BuildError, MemoryFor};
use self::lists::{Counted, MadeOf};
pub use self::on_gpu::BuildOnGpu;
use self::on_gpu::{GpuPass, OnDevice};
pub use self::plan::{BuildPlan, plan_build};
pub(crate) use self::records::Records;
use crate::distinct;
use crate::index::{DISTINCT, FULL, PARAMETERS, TARGETS, TAXONOMY};
use crate::parts::Part;
use crate::references::{self, Numbered, RECORD, References, TaxonOf, Windows};
use crate::targets::{Target, Targets};
use gyrase_taxonomy::{Taxon, Taxonomy};

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
    build_in(config, &Alone, taxonomy, taxon_of, progress)
}

/// As [`build`], in all processes of a job: each calls it with an equal `config`, but for threads
/// and memory, and with an output. Every process reads some of the files, makes the lists of the
/// partitions that it owns, and writes them to the one database. As many processes can go on from
/// what a run left that was stopped.
///
/// # Errors
/// See [`BuildError`]; where another process failed this one's is
/// [`gyrase_fabric::FabricError::Elsewhere`].
pub fn build_in(
    config: &Config,
    world: &dyn World,
    taxonomy: &Taxonomy,
    taxon_of: &mut (dyn FnMut(&str, &Path) -> Option<Taxon> + Send),
    progress: &Progress,
) -> Result<(Summary, Option<Database>), BuildError> {
    let begun = Begun::new(config, world)?;
    let names = (taxonomy, taxon_of);
    let (records, targets) = scatter(config, world, &begun, Targets::default(), names, progress)?;
    some_taxon(&targets)?;
    let outline = Outline {
        taxonomy,
        targets: &targets,
        parts: &[],
    };
    complete(config, world, begun.writer, &outline, records, progress)
}

/// Refuses references of which none has a taxon.
fn some_taxon(targets: &Targets) -> Result<(), BuildError> {
    let references = targets.len();
    match references > 0 && targets.iter().all(|target| target.taxon.is_none()) {
        true => Err(BuildError::NoTaxon { references }),
        false => Ok(()),
    }
}

/// A database that was begun. First of all, since it keeps other runs from the same target and so
/// from the same spill folder.
pub(crate) struct Begun {
    pub writer: Writer,
    /// For the spill files of this process.
    folder: PathBuf,
    /// The folder above, of all processes.
    root: Option<PathBuf>,
    /// Threads of all processes.
    workers: usize,
}

impl Begun {
    /// Begins it.
    ///
    /// Collective.
    pub fn new(config: &Config, world: &dyn World) -> Result<Begun, BuildError> {
        let budget = Budget::of(config.memory, config.threads, world.ranks())?;
        Begun::with_waiting(config, budget.waiting, world)
    }

    /// Begins it; finished partitions that wait may take so many bytes.
    ///
    /// Collective.
    pub fn with_waiting(
        config: &Config,
        waiting: usize,
        world: &dyn World,
    ) -> Result<Begun, BuildError> {
        let (cap, root) = (config.parameters.locations, spills(config));
        let Some(output) = config.output.as_ref().filter(|_| world.ranks() > 1) else {
            let writer = match &config.output {
                Some(output) => Writer::create(output, cap)?,
                None => Writer::in_memory(cap),
            };
            return Ok(Begun {
                writer: writer.waiting_within(waiting),
                folder: root,
                root: None,
                workers: config.threads,
            });
        };
        Begun::shared(config, output, waiting, root, world)
    }

    fn shared(
        config: &Config,
        output: &Path,
        waiting: usize,
        root: PathBuf,
        world: &dyn World,
    ) -> Result<Begun, BuildError> {
        let (cap, rank) = (config.parameters.locations, world.rank());
        let first = if rank == 0 {
            Some(OutputFile::create(output)?)
        } else {
            None
        };
        let token = first.as_ref().map_or(Ok(0), OutputFile::invite)?;
        let all = world.sum(&[config.threads as u64, token])?;
        // From here on the folder is this job's own. What another number of processes left there
        // goes, before any of these spills.
        if config.resume.is_none() {
            let _ = std::fs::remove_dir_all(&root);
        }
        world.sum(&[0])?;
        let folder = root.join(format!("rank-{rank}"));
        let waits = folder.with_extension("finished");
        let spills = SpillFolder::new(waits, config.max_tmp, false).within(&root);
        let share = WriterShare {
            partitions: Place::among(PARTITIONS, world.peer()),
            memory: waiting,
            folder: Arc::new(spills),
        };
        let writer = match first {
            Some(first) => Writer::first(first, cap, share)?,
            None => Writer::join(output, all[1], cap, share),
        };
        Ok(Begun {
            writer,
            folder,
            root: Some(root),
            workers: all[0] as usize,
        })
    }

    /// The folder for spill files of all processes.
    fn root(&self) -> &Path {
        self.root.as_ref().unwrap_or(&self.folder)
    }

    fn spill_folder(&self, limit: Option<u64>, keep: bool) -> Arc<SpillFolder> {
        let folder = SpillFolder::new(self.folder.clone(), limit, keep);
        Arc::new(match &self.root {
            Some(root) => folder.within(root),
            None => folder,
        })
    }
}

/// What a database will be about.
pub(crate) struct Outline<'a> {
    /// All taxa of the targets, and perhaps more.
    pub taxonomy: &'a Taxonomy,
    pub targets: &'a Targets,
    /// Databases whose locations go into it, in the order of their targets.
    pub parts: &'a [Part<'a>],
}

/// Makes the lists of records and parts, and finishes the database.
///
/// Collective.
pub(crate) fn complete<D: Drain>(
    config: &Config,
    world: &dyn World,
    writer: Writer,
    outline: &Outline,
    records: Records<D>,
    progress: &Progress,
) -> Result<(Summary, Option<Database>), BuildError> {
    let mut listed = Listed::new(config, world, writer, outline);
    listed.add(&records, None, outline.parts, progress)?;
    let Records {
        earlier,
        folder,
        partitions,
        ..
    } = records;
    drop(partitions);
    let finished = listed.finish(earlier, progress)?;
    // A folder that is kept for a later run is of no use any more.
    folder.iter().for_each(|folder| folder.remove());
    Ok(finished)
}

/// A database whose lists are made, those of some partitions after those of others.
struct Listed<'a> {
    config: &'a Config,
    world: &'a dyn World,
    writer: Writer,
    taxonomy: Taxonomy,
    targets: Targets,
    counted: Counted,
    /// Records that they are of.
    listed: u64,
}

impl<'a> Listed<'a> {
    /// None of them yet.
    fn new(
        config: &'a Config,
        world: &'a dyn World,
        writer: Writer,
        outline: &Outline,
    ) -> Listed<'a> {
        let (taxonomy, targets) = of_targets(outline.taxonomy, outline.targets);
        let counted = Counted::none(taxonomy.len());
        Listed {
            config,
            world,
            writer,
            taxonomy,
            targets,
            counted,
            listed: 0,
        }
    }

    /// Makes those of the partitions that records are of, on the GPU where they are `on_gpu`.
    ///
    /// Collective.
    fn add<D: Drain>(
        &mut self,
        records: &Records<D>,
        on_gpu: Option<&OnDevice<'_>>,
        parts: &[Part<'_>],
        progress: &Progress,
    ) -> Result<(), BuildError> {
        let (targets, taxa) = (&self.targets, self.taxonomy.len());
        let lists = MadeOf {
            records,
            on_gpu,
            parts,
            targets,
            taxa,
            room: records.room(self.config, targets.len(), parts, self.listed)?,
        };
        let cap = self.config.parameters.locations;
        let counted = lists.write(&self.writer, self.world, cap, progress)?;
        self.counted.add(&counted);
        let owned = records.partitions.owned().into_iter();
        let bytes: u64 = owned.map(|number| records.partitions.bytes(number)).sum();
        self.listed += bytes / RECORD as u64;
        Ok(())
    }

    /// Finishes the database.
    ///
    /// Collective.
    fn finish(
        self,
        earlier: Earlier,
        progress: &Progress,
    ) -> Result<(Summary, Option<Database>), BuildError> {
        let Listed {
            config,
            world,
            writer,
            taxonomy,
            targets,
            counted,
            ..
        } = self;
        progress.start("write", 0);
        writer.section(PARAMETERS, &config.parameters.to_bytes());
        writer.section(TARGETS, &targets.to_bytes());
        writer.section(TAXONOMY, &taxonomy.to_bytes());
        writer.section(DISTINCT, &distinct::to_bytes(&counted.distinct));
        writer.section(FULL, &counted.full.to_le_bytes());
        finish(config, world, writer, &targets, earlier)
    }
}

/// Reads the references, whose windows come after those of `targets`, and sends every feature with
/// its window to the partition of its place; or takes up what an earlier run read. The taxa that
/// `taxon_of` names are of the taxonomy.
///
/// Collective.
pub(crate) fn scatter(
    config: &Config,
    world: &dyn World,
    begun: &Begun,
    targets: Targets,
    (taxonomy, taxon_of): (&Taxonomy, &mut TaxonOf<'_>),
    progress: &Progress,
) -> Result<(Records<LocalPartitions>, Targets), BuildError> {
    same_files(world, &config.references)?;
    let budget = Budget::of(config.memory, config.threads, world.ranks())?;
    let job = world.if_all_have(resume::job(config, &targets, taxonomy))?;
    let folder = begun.spill_folder(config.max_tmp, job.is_some());
    let reopened = match &job {
        Some(job) => resume::reopen(world, &folder, begun.root(), job)?,
        None => Err(Earlier::Nothing),
    };
    let (earlier, (partitions, targets, numbers)) = match reopened {
        Ok(reopened) => (Earlier::TakenUp, reopened),
        Err(earlier) => {
            let fabric = fabric(world, budget.fabric, &folder)?;
            let means = (world, None, begun.workers);
            let (partitions, numbered) = read(config, means, targets, taxon_of, fabric, progress)?;
            let mut read = (partitions, numbered.targets, numbered.numbers);
            if let Some(job) = &job {
                resume::note(world, &folder, &mut read, job)?;
            }
            (earlier, read)
        }
    };
    let spilled = partitions.spilled();
    let (budget, folder) = (Some(budget), Some(folder));
    Ok((
        Records {
            partitions,
            numbers,
            budget,
            spilled,
            earlier,
            folder,
        },
        targets,
    ))
}

/// Moves features to the owners of their partitions.
fn fabric(
    world: &dyn World,
    memory: u64,
    folder: &Arc<SpillFolder>,
) -> Result<ExchangeFabric, FabricError> {
    let spill = Some(Arc::clone(folder));
    world.fabric(
        PARTITIONS,
        FabricOptions {
            spill,
            ..FabricOptions::memory(memory)
        },
    )
}

/// Reads the references and sends their features through the fabric, unless a GPU keeps them.
fn read(
    config: &Config,
    (world, gpu, workers): (&dyn World, Option<&GpuPass<'_>>, usize),
    targets: Targets,
    taxon_of: &mut TaxonOf<'_>,
    fabric: ExchangeFabric,
    progress: &Progress,
) -> Result<(LocalPartitions, Numbered), BuildError> {
    if config.references.is_empty() {
        return Ok((fabric.close(Vec::new())?, Numbered::of(targets)));
    }
    let (shape, threads) = (config.parameters.sketch, config.threads);
    let options = Options {
        shared: world.ranks() > 1,
        ..references::options(shape)
    };
    let inputs = Inputs::open(&config.references, options)?;
    progress.start(
        "read",
        inputs.total_bytes().unwrap_or(0) / world.ranks() as u64,
    );
    let references = References::new(&config.references, shape, gpu, taxon_of, world);
    let cuts = (0..threads).map(|_| references.cut()).collect();
    let reading = Reading::agree(&inputs, world, None, workers)?;
    let (partitions, cuts) =
        gyrase_tabulate::scatter::<_, _, _, BuildError>(&reading, cuts, fabric, progress)?;
    let read = cuts.into_iter().flat_map(Windows::into_contents).collect();
    let numbered = references.number(targets, references.gather(read, world)?)?;
    Ok((partitions, numbered))
}

fn finish(
    config: &Config,
    world: &dyn World,
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
    if world.ranks() > 1 {
        return Ok((summary(publish(world, writer)?), None));
    }
    if config.output.is_some() {
        return Ok((summary(writer.finish()?), None));
    }
    let database = writer.into_database(config.threads)?;
    Ok((summary(database.summary()), Some(database)))
}

/// Puts the partitions of all processes together.
fn publish(world: &dyn World, writer: Writer) -> Result<gydb::Summary, BuildError> {
    let settled = writer.settle()?;
    world.sum(&[0])?;
    // All have settled: what others wrote is on the disk.
    let checked = writer.check(world.rank(), world.ranks());
    // The file goes with the writer of the first process: not before all have read it.
    world.sum(&[0])?;
    checked?;
    let shares = world.gather(settled)?;
    let made = match world.rank() {
        0 => writer.finish_all(&shares)?,
        _ => gydb::Summary::default(),
    };
    let gydb::Summary {
        features,
        locations,
        windows,
        cap,
        bytes,
    } = made;
    let all = world.max(&[features, locations, windows, u64::from(cap), bytes])?;
    let &[features, locations, windows, cap, bytes] = &all[..] else {
        unreachable!("five numbers were compared")
    };
    Ok(gydb::Summary {
        features,
        locations,
        windows,
        cap: cap as u8,
        bytes,
    })
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
