//! What to assemble, with what means, and why it did not work.

use std::path::PathBuf;

use gyrase_fabric::FabricError;
use gyrase_tabulate::TabulateError;

/// Where reads come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Library {
    /// A file of reads without mates.
    Single(PathBuf),
    /// A file of first mates and one of second mates.
    Paired(PathBuf, PathBuf),
    /// A file in which every read is followed by its mate.
    Interleaved(PathBuf),
}

impl Library {
    /// True where reads have mates.
    pub fn is_paired(&self) -> bool {
        !matches!(self, Library::Single(_))
    }

    /// Its files.
    pub fn files(&self) -> Vec<PathBuf> {
        match self {
            Library::Single(path) | Library::Interleaved(path) => vec![path.clone()],
            Library::Paired(one, two) => vec![one.clone(), two.clone()],
        }
    }
}

/// What reads are of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sample {
    /// One genome: what it has once is about as deep everywhere.
    #[default]
    Isolate,
    /// Many genomes, each of a depth of its own; what is an error is told from what is around it.
    Metagenome {
        /// Whether ways of strains that lie side by side stay contigs of their own.
        keep_strains: bool,
    },
}

impl Sample {
    /// True for many genomes.
    pub fn is_mixed(self) -> bool {
        self != Sample::Isolate
    }
}

/// What to assemble and with what means.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where the reads are.
    pub libraries: Vec<Library>,
    /// What they are of.
    pub sample: Sample,
    /// Folder for what does not fit the memory.
    pub tmp: PathBuf,
    /// Where the contigs will be: it names the folders for temporary files.
    pub output: PathBuf,
    /// Threads, at least 1.
    pub threads: usize,
    /// Bytes of memory that the run may take.
    pub memory: u64,
    /// Lengths of k-mers, ascending and odd; `None` for what suits the reads.
    pub ks: Option<Vec<usize>>,
    /// Keep in `tmp` what is done behind each k until [`forget`](crate::forget) is called, and go
    /// on from what an earlier run kept.
    pub resume: bool,
}

impl Config {
    /// What is to be assembled, in a line: the same for all processes of a job.
    pub(crate) fn question(&self) -> String {
        let Config {
            libraries,
            sample,
            ks,
            resume,
            ..
        } = self;
        format!("{libraries:?} {sample:?} {ks:?} {resume}")
    }

    /// The same, with what else a run that goes on must find as it was.
    pub(crate) fn job(&self) -> String {
        let mut job = format!(
            "gyrase assemble {} {}",
            env!("CARGO_PKG_VERSION"),
            self.question()
        );
        for file in self.libraries.iter().flat_map(Library::files) {
            let there = file.metadata().ok();
            let changed = there.as_ref().and_then(|there| there.modified().ok());
            job += &format!(" {:?} {changed:?}", there.map(|there| there.len()));
        }
        job
    }
}

/// Why nothing was assembled.
#[derive(Debug, thiserror::Error)]
pub enum AssemblyError {
    /// Reading failed, or the run was cancelled.
    #[error(transparent)]
    Tabulate(#[from] TabulateError),
    /// Counting failed.
    #[error(transparent)]
    Count(#[from] gyrase_count::Error),
    /// Another process failed, or what travels between them cannot be kept.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// The graph of the smallest k cannot be made.
    #[error(transparent)]
    Graph(#[from] crate::Error),
    /// The run cannot keep its promise of memory.
    #[error("assembling takes at least {needed} MiB of memory, {given} MiB were given")]
    Memory {
        /// MiB that are needed.
        needed: u64,
        /// MiB that were given.
        given: u64,
    },
    /// The reads are of a kind that the graphs here are not made for.
    #[error(
        "half of all letters are in reads of {length} letters or more: these are long reads, and \
         only short ones can be assembled so far"
    )]
    LongReads {
        /// The length that half of all letters are in reads of, or of longer ones.
        length: u32,
    },
}

impl AssemblyError {
    /// [`AssemblyError::Memory`] for so many bytes.
    pub(crate) fn memory(needed: u64, config: &Config) -> AssemblyError {
        AssemblyError::Memory {
            needed: needed.div_ceil(1 << 20),
            given: config.memory >> 20,
        }
    }
}

impl From<gyrase_fastx::Error> for AssemblyError {
    fn from(error: gyrase_fastx::Error) -> AssemblyError {
        AssemblyError::Tabulate(error.into())
    }
}

impl From<gyrase_work::Cancelled> for AssemblyError {
    fn from(error: gyrase_work::Cancelled) -> AssemblyError {
        AssemblyError::Tabulate(error.into())
    }
}
