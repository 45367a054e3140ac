//! What to count, what came out, what went wrong.

use std::path::PathBuf;

use gyrase_fabric::{FabricError, Traffic};
use gyrase_kmer::Shape;
use gyrase_table::gyk::GykError;
use gyrase_tabulate::TabulateError;

use crate::Scattered;

/// What to count and with what means.
#[derive(Clone, Debug)]
pub struct Config {
    /// FASTA and FASTQ files, `@lists` of such, `-` for standard input.
    pub inputs: Vec<PathBuf>,
    /// The database to make.
    pub output: PathBuf,
    /// Length and strandedness of the k-mers.
    pub shape: Shape,
    /// k-mers with a lower count are left out; at least 1.
    pub min_count: u32,
    /// k-mers with a higher count are left out.
    pub max_count: u32,
    /// Bases with a lower quality (Phred) are no bases.
    pub min_base_quality: Option<u8>,
    /// The inputs are files of first and second mates in turn, which must be in step.
    pub paired: bool,
    /// Threads of each process, at least 1.
    pub threads: usize,
    /// Bytes of memory that the run may take, each process of a job.
    pub memory: u64,
    /// Folder for spill files.
    pub tmp: PathBuf,
    /// Bytes that spill files may take.
    pub max_tmp: Option<u64>,
    /// Keep spill files when the run is cut short, and go on from those of an earlier run of the
    /// same command. Without effect where an input is a pipe.
    pub resume: bool,
    /// Bytes of input that a worker takes at a time, where workers of several processes share the
    /// inputs; `None` for a size that suits their number.
    pub chunk: Option<u64>,
}

impl Config {
    /// What is to be counted, in a line: the same for all processes of a job, and for a run that
    /// goes on from an earlier one.
    pub(crate) fn question(&self) -> String {
        let Config {
            shape,
            min_count,
            max_count,
            min_base_quality,
            paired,
            ..
        } = self;
        format!("{shape:?} {min_count} {max_count} {min_base_quality:?} {paired}")
    }
}

/// What was counted, by all processes of a job.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    /// What was read.
    pub read: Scattered,
    /// What the database holds.
    pub database: gyrase_table::gyk::Summary,
    /// Bytes of spill files; 0 when all fitted in memory.
    pub spilled_bytes: u64,
    /// Bins that an earlier run had finished.
    pub resumed_bins: usize,
    /// What this process did of it.
    pub share: Share,
}

/// What one process did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Share {
    /// What it read.
    pub read: Scattered,
    /// What it sent to others and received of them.
    pub traffic: Traffic,
    /// The most bytes of memory that held records at a time, while they were sent.
    pub kept_bytes: u64,
    /// Bytes of its spill files.
    pub spilled_bytes: u64,
    /// Bins that it wrote, or found written.
    pub bins: usize,
    /// Partitions that it counted: bins, or parts of them.
    pub partitions: usize,
}

/// Why nothing was counted.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Reading, spilling or draining failed, or the run was cancelled.
    #[error(transparent)]
    Tabulate(#[from] TabulateError),
    /// The database could not be written.
    #[error(transparent)]
    Database(#[from] GykError),
    /// The run cannot keep its promise of memory.
    #[error(
        "counting k-mers of {k} bases with {threads} threads{} needs at least {needed} MiB of memory{}, {} were given",
        for_ranks(*ranks), for_windows(*windows), whole(*given)
    )]
    Memory {
        /// Length of the k-mers.
        k: usize,
        /// Threads asked for.
        threads: usize,
        /// Processes.
        ranks: usize,
        /// Least memory in MiB, of each.
        needed: u64,
        /// How much of it compressed inputs take that refer far back, in MiB.
        windows: u64,
        /// Memory given, in bytes.
        given: u64,
    },
    /// The spill files would not fit what they may take.
    #[error(
        "counting needs at least {needed} MiB for temporary files, which may take {}",
        whole(*given)
    )]
    MaxTmp {
        /// Predicted size in MiB, from below.
        needed: u64,
        /// The limit, in bytes.
        given: u64,
    },
    /// The spill files would not fit the disk.
    #[error(
        "counting needs at least {needed} MiB for temporary files in {}, {} are free",
        folder.display(), whole(*free)
    )]
    TmpSpace {
        /// The folder of temporary files.
        folder: PathBuf,
        /// Predicted size in MiB, from below.
        needed: u64,
        /// Free bytes.
        free: u64,
    },
    /// The processes of a job see different files.
    #[error(
        "{} has {least} bytes for one process of the job and {most} for another; every machine must \
         see the same files",
        path.display()
    )]
    Different {
        /// The input.
        path: PathBuf,
        /// Its smallest size.
        least: u64,
        /// Its largest size.
        most: u64,
    },
    /// The processes of a job were given different inputs.
    #[error(
        "one process of the job has {least} inputs and another {most}; start all of them with the same command, in the same folder, on machines that see the same files"
    )]
    DifferentInputs {
        /// The smallest number of inputs.
        least: u64,
        /// The largest.
        most: u64,
    },
    /// The processes of a job were asked for different counts.
    #[error("the processes of this job were not asked for the same")]
    DifferentQuestions,
    /// The k-mers that were counted are not those that were read.
    #[error(
        "{read} k-mers were read and {counted} were counted: temporary files do not belong \
         together, or a machine fails; no database was made, count again from the start"
    )]
    Miscounted {
        /// k-mers read, as often as they occur.
        read: u64,
        /// The sum of all counts.
        counted: u64,
    },
    /// Several processes cannot share a pipe.
    #[error(
        "{} is a pipe, and only one process can read it; give files that all processes of the job \
         can open, or count with one process",
        path.display()
    )]
    Pipe {
        /// The input.
        path: PathBuf,
    },
}

impl Error {
    /// True for that of a thread which ended because of another one.
    pub(crate) fn is_abandoned(&self) -> bool {
        matches!(self, Error::Database(GykError::Abandoned { .. }))
    }
}

/// Bytes in the largest unit of which there is one, rounded down: `99 MiB`, `100 KiB`, `1 byte`.
pub(crate) fn whole(bytes: u64) -> String {
    match bytes {
        0x10_0000.. => format!("{} MiB", bytes >> 20),
        0x400.. => format!("{} KiB", bytes >> 10),
        1 => "1 byte".into(),
        _ => format!("{bytes} bytes"),
    }
}

fn for_ranks(ranks: usize) -> String {
    if ranks == 1 {
        String::new()
    } else {
        format!(" in each of {ranks} processes")
    }
}

fn for_windows(windows: u64) -> String {
    match windows {
        0 => String::new(),
        _ => format!(
            " ({windows} MiB of them to decompress inputs with a long window, such as of zstd --long)"
        ),
    }
}

impl From<FabricError> for Error {
    fn from(error: FabricError) -> Error {
        Error::Tabulate(error.into())
    }
}

impl From<gyrase_fastx::Error> for Error {
    fn from(error: gyrase_fastx::Error) -> Error {
        Error::Tabulate(error.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_never_rounded_to_nothing() {
        let room = [
            0,
            1,
            1023,
            1024,
            102_400,
            (1 << 20) - 1,
            1 << 20,
            (5 << 30) - 1,
        ]
        .map(whole);
        let told = [
            "0 bytes",
            "1 byte",
            "1023 bytes",
            "1 KiB",
            "100 KiB",
            "1023 KiB",
            "1 MiB",
            "5119 MiB",
        ];
        assert_eq!(room, told);
        let limit = Error::MaxTmp {
            needed: 4,
            given: 100 << 10,
        }
        .to_string();
        assert!(limit.ends_with("may take 100 KiB"), "{limit}");
        let free = Error::TmpSpace {
            folder: "t".into(),
            needed: 4,
            free: 4096,
        }
        .to_string();
        assert!(free.contains("4 KiB are free"), "{free}");
        let memory = Error::Memory {
            k: 31,
            threads: 1,
            ranks: 1,
            needed: 200,
            windows: 0,
            given: 1 << 19,
        }
        .to_string();
        assert!(memory.contains("512 KiB were given"), "{memory}");
    }
}
