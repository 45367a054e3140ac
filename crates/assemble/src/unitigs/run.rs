//! The run: reads or databases to unitigs.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gyrase_count::Scattered;
use gyrase_fabric::{Alone, Peer, SpillFolder, World};
use gyrase_files::OutputFile;
use gyrase_table::gyk::Database;
use gyrase_tabulate::{BegunFile, same_files, spill_path};
use gyrase_work::Progress;

use super::build::{among, build_among, check};
use super::text::Text;
use super::{GraphFormat, Links, Means, SharedUnitigs, SolidKmers};
use crate::Error;

/// What unitigs to make, and with what means.
#[derive(Clone, Debug)]
pub struct Config {
    /// The k-mers.
    pub kmers: KmersOf,
    /// How the unitigs are written.
    pub format: GraphFormat,
    /// Where they will be: it names the folder for temporary files.
    pub output: PathBuf,
    /// Threads, at least 1.
    pub threads: usize,
    /// Bytes of memory that the run may take.
    pub memory: u64,
    /// Folder for temporary files.
    pub tmp: PathBuf,
    /// Bytes that they may take.
    pub max_tmp: Option<u64>,
}

/// Where the k-mers of unitigs come from.
#[derive(Clone, Debug)]
pub enum KmersOf {
    /// Counted in reads and genomes.
    Reads(Box<gyrase_count::Config>),
    /// From databases, the counts of which are summed up.
    Databases {
        /// `.gyk` files, at least one.
        paths: Vec<PathBuf>,
        /// k-mers with a lower sum are left out.
        min_count: u32,
    },
}

/// What was made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Summary {
    /// What was read, where there were reads.
    pub read: Option<Scattered>,
    /// Length of the k-mers.
    pub k: usize,
    /// Different k-mers: the nodes of the graph.
    pub kmers: u64,
    /// The sum of their counts.
    pub count_sum: u64,
    /// Unitigs.
    pub unitigs: u64,
    /// Rings among them.
    pub circular: u64,
    /// Bases of all.
    pub bases: u64,
    /// Bases of the longest.
    pub longest: u64,
    /// Pairs of ends that meet, counted from both ends.
    pub links: u64,
    /// Bytes of temporary files.
    pub spilled: u64,
}

/// Where the text of unitigs goes.
pub enum GraphTarget<'a> {
    /// To what takes it in the first process.
    Stream(&'a mut dyn Write),
    /// To a file, in which each process writes its own.
    File(&'a Path),
}

/// Makes the unitigs and writes them, in this process alone.
///
/// # Errors
/// See [`Error`].
pub fn run(config: &Config, sink: &mut dyn Write, progress: &Progress) -> Result<Summary, Error> {
    run_in(config, GraphTarget::Stream(sink), &Alone, progress)
}

/// As [`run`], in all processes of a job: each calls it with an equal `config`, but for threads and
/// memory. Each has the k-mers and the unitigs of its bins. What is returned is about all.
///
/// Collective.
///
/// # Errors
/// See [`Error`]; where another process failed this one's is
/// [`gyrase_fabric::FabricError::Elsewhere`].
pub fn run_in(
    config: &Config,
    target: GraphTarget,
    world: &dyn World,
    progress: &Progress,
) -> Result<Summary, Error> {
    let target = match target {
        GraphTarget::Stream(sink) => Begun::Stream(sink),
        GraphTarget::File(path) => Begun::File(BegunFile::new::<Error>(world, path)?),
    };
    agree(config, world)?;
    let (kmers, read) = solid_kmers(config, world, progress)?;
    let folder = match &kmers {
        SolidKmers::Counted { bins, .. } => Arc::clone(bins.folder()),
        SolidKmers::Databases { .. } => folder(config, world),
    };
    let means = Means {
        threads: config.threads,
        memory: config.memory,
        folder: Arc::clone(&folder),
    };
    let among = among(&kmers, &means, world, progress)?;
    let unitigs = build_among(kmers, &means, &among)?;
    let links = Links::of(&unitigs, &among)?;
    let text = Text {
        unitigs: &unitigs,
        links: &links,
        format: config.format,
    };
    match target {
        Begun::Stream(sink) => text.write_to(sink, &among)?,
        Begun::File(begun) => text.write_file(begun, config.memory, &among)?,
    }
    let written = folder.written();
    folder.remove();
    let made = summary(&unitigs, [links.len() as u64, written], world)?;
    Ok(Summary { read, ..made })
}

/// A [`GraphTarget`] that keeps other runs from it.
enum Begun<'a> {
    Stream(&'a mut dyn Write),
    File(BegunFile<'a>),
}

/// What a process leaves when it is killed: its spill files and, of rank 0, the file that was to
/// be `target`.
pub fn leftovers(config: &Config, target: Option<&Path>, peer: Peer) -> Vec<PathBuf> {
    let partial = target.and_then(OutputFile::partial);
    let partial = partial.filter(|_| peer.rank == 0);
    [SpillFolder::path_of(&folder_root(config), peer)]
        .into_iter()
        .chain(partial)
        .collect()
}

/// Refuses processes that were asked for different graphs.
fn agree(config: &Config, world: &dyn World) -> Result<(), Error> {
    if world.ranks() == 1 {
        return Ok(());
    }
    let mut asked = DefaultHasher::new();
    (config.format == GraphFormat::Gfa).hash(&mut asked);
    if let KmersOf::Databases { paths, min_count } = &config.kmers {
        (paths.len(), min_count).hash(&mut asked);
    }
    if !world.all_equal(&[asked.finish()])? {
        return Err(gyrase_count::Error::DifferentQuestions.into());
    }
    match &config.kmers {
        KmersOf::Reads(_) => Ok(()),
        KmersOf::Databases { paths, .. } => Ok(same_files(world, paths)?),
    }
}

fn folder_root(config: &Config) -> PathBuf {
    spill_path(&config.tmp, "gyrase", &config.output)
}

/// The folder for spills where no k-mers are counted.
fn folder(config: &Config, world: &dyn World) -> Arc<SpillFolder> {
    let root = folder_root(config);
    let folder = SpillFolder::of_process(&root, world.peer(), config.max_tmp, false);
    Arc::new(folder)
}

fn solid_kmers(
    config: &Config,
    world: &dyn World,
    progress: &Progress,
) -> Result<(SolidKmers, Option<Scattered>), Error> {
    match &config.kmers {
        KmersOf::Reads(reads) => {
            check(reads.shape)?;
            let (bins, read) = gyrase_count::count_reads_in(reads, world, progress)?;
            let min_count = reads.min_count;
            Ok((SolidKmers::Counted { bins, min_count }, Some(read)))
        }
        KmersOf::Databases { paths, min_count } => {
            let (databases, min_count) = (databases(paths)?, *min_count);
            let kmers = SolidKmers::Databases {
                databases,
                min_count,
            };
            Ok((kmers, None))
        }
    }
}

/// Opens databases, and refuses those of different k-mers.
pub(super) fn databases(paths: &[PathBuf]) -> Result<Vec<Database>, Error> {
    let open = |path: &PathBuf| Database::open(path);
    let databases: Vec<Database> = paths.iter().map(open).collect::<Result<_, _>>()?;
    let (first, others) = databases.split_first().expect("there is a database");
    check(first.shape())?;
    match others.iter().find(|other| other.shape() != first.shape()) {
        None => Ok(databases),
        Some(other) if other.shape().stranded() => Err(Error::Stranded),
        Some(other) => Err(Error::Unlike {
            path: other.path().to_path_buf(),
            k: other.shape().k(),
            first: first.path().to_path_buf(),
            other: first.shape().k(),
        }),
    }
}

/// What all processes made; links and temporary bytes are given.
fn summary(
    shared: &SharedUnitigs,
    [links, spilled]: [u64; 2],
    world: &dyn World,
) -> Result<Summary, Error> {
    let (unitigs, all) = (shared.own(), 0..shared.own().len());
    let own = [
        all.clone().map(|unitig| unitigs.kmers(unitig) as u64).sum(),
        all.clone().map(|unitig| unitigs.count_sum(unitig)).sum(),
        all.clone()
            .filter(|&unitig| unitigs.is_circular(unitig))
            .count() as u64,
        unitigs.bases().len() as u64,
        links,
        spilled,
    ];
    let [kmers, count_sum, circular, bases, links, spilled] = world.sum(&own)?[..] else {
        unreachable!("as many sums as numbers")
    };
    let longest = all.map(|unitig| unitigs.length(unitig)).max().unwrap_or(0);
    Ok(Summary {
        read: None,
        k: unitigs.k(),
        kmers,
        count_sum,
        unitigs: shared.len() as u64,
        circular,
        bases,
        longest: world.max(&[longest as u64])?[0],
        links,
        spilled,
    })
}
