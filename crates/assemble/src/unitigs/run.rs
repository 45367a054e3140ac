//! The run: reads or databases to unitigs.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use gyrase_count::Scattered;
use gyrase_fabric::SpillFolder;
use gyrase_table::gyk::Database;
use gyrase_tabulate::spill_path;
use gyrase_work::Progress;

use super::build::check;
use super::{GraphFormat, Links, Means, SolidKmers, Unitigs, build, text};
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

/// Makes the unitigs and writes them.
///
/// # Errors
/// See [`Error`].
pub fn run(config: &Config, sink: &mut dyn Write, progress: &Progress) -> Result<Summary, Error> {
    let (kmers, read) = solid_kmers(config, progress)?;
    let folder = match &kmers {
        SolidKmers::Counted(bins) => Arc::clone(bins.folder()),
        SolidKmers::Databases { .. } => {
            let path = spill_path(&config.tmp, "gyrase", &config.output);
            Arc::new(SpillFolder::new(path, config.max_tmp, false))
        }
    };
    let means = Means {
        threads: config.threads,
        memory: config.memory,
        folder: Arc::clone(&folder),
    };
    let unitigs = build(kmers, &means, progress)?;
    let links = Links::of(&unitigs, config.threads, progress)?;
    text::write(
        &unitigs,
        &links,
        config.format,
        config.threads,
        sink,
        progress,
    )?;
    folder.remove();
    let made = summary(&unitigs);
    Ok(Summary {
        read,
        links: links.len() as u64,
        spilled: folder.written(),
        ..made
    })
}

fn solid_kmers(
    config: &Config,
    progress: &Progress,
) -> Result<(SolidKmers, Option<Scattered>), Error> {
    match &config.kmers {
        KmersOf::Reads(reads) => {
            check(reads.shape)?;
            let (bins, read) = gyrase_count::count_reads(reads, progress)?;
            Ok((SolidKmers::Counted(bins), Some(read)))
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

fn summary(unitigs: &Unitigs) -> Summary {
    let all = 0..unitigs.len();
    Summary {
        k: unitigs.k(),
        kmers: all.clone().map(|unitig| unitigs.kmers(unitig) as u64).sum(),
        count_sum: all.clone().map(|unitig| unitigs.count_sum(unitig)).sum(),
        unitigs: unitigs.len() as u64,
        circular: all
            .clone()
            .filter(|&unitig| unitigs.is_circular(unitig))
            .count() as u64,
        bases: unitigs.bases().len() as u64,
        longest: all.map(|unitig| unitigs.length(unitig)).max().unwrap_or(0) as u64,
        ..Summary::default()
    }
}
