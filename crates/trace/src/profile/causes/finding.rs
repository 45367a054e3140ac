//! What was found to make a run slow.

use super::super::file::Trace;

/// Whom a cause concerns: one rank of several, or all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Who {
    /// The rank; all, if none.
    pub rank: Option<usize>,
    /// Its machine.
    pub node: String,
    /// There is more than one rank.
    pub many: bool,
}

impl Who {
    /// A rank of the run, or all.
    pub fn of(trace: &Trace, rank: Option<usize>) -> Who {
        let many = trace.ranks > 1;
        Who {
            rank: rank.filter(|_| many),
            node: rank.map_or(String::new(), |rank| trace.node(rank).to_string()),
            many,
        }
    }
}

/// What takes time.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What it is.
    pub cause: Cause,
    /// Whose.
    pub who: Who,
    /// The stage that it takes most of.
    pub stage: String,
    /// Seconds of the run.
    pub seconds: f64,
    /// Of the run.
    pub share: f64,
}

/// A reason for a run to take longer than its computing.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// The process was stopped, or its machine paused.
    Stopped {
        /// How often.
        times: usize,
        /// The longest time, in seconds.
        longest: f64,
    },
    /// The limit of a control group.
    Throttled,
    /// Other work went first, because this is nicer.
    Niced {
        /// How nice.
        nice: i32,
    },
    /// More threads of the job than cores.
    Oversubscribed {
        /// Threads that work.
        threads: usize,
        /// Cores that they may use.
        cores: usize,
    },
    /// Other programs had the cores.
    Overloaded {
        /// How many cores these used on average.
        others: f64,
        /// Cores that the rank may use.
        cores: usize,
    },
    /// Memory that was on a disk.
    Faulting {
        /// Pages.
        faults: u64,
    },
    /// Ready, or waiting for the kernel, for no reason that is known.
    OffCpu,
    /// Opening files.
    Opening,
    /// Waiting for input.
    SlowInput {
        /// Bytes a second.
        rate: f64,
    },
    /// One thread a file decompresses.
    Decompressing {
        /// Bytes as they are stored.
        stored: u64,
        /// Bytes of text.
        text: u64,
    },
    /// Writing the output.
    SlowOutput {
        /// Bytes.
        bytes: u64,
    },
    /// Temporary files on a slow disk.
    SlowSpill {
        /// Bytes written and read.
        bytes: u64,
        /// Bytes a second.
        rate: f64,
    },
    /// So much in temporary files that it counts on a quick disk, too.
    LittleMemory {
        /// Bytes written and read.
        bytes: u64,
    },
    /// One partition that a single thread works on.
    HeavyPartition {
        /// Bytes of it.
        bytes: u64,
        /// How many times the mean of all.
        times: f64,
    },
    /// More bytes than others have.
    MoreWork {
        /// Of records that are counted, not of input.
        counted: bool,
        /// How many times the mean it works.
        times: f64,
    },
    /// More processor time for the same bytes.
    SlowCores {
        /// How many times the mean.
        times: f64,
    },
    /// Threads that wait for each other.
    Turns {
        /// While they count, not while they read.
        counted: bool,
    },
    /// A rank that comes last to collectives.
    ComesLast {
        /// Of the waiting for the last.
        share: f64,
    },
    /// Now one rank, now another comes last.
    ManyCollectives,
    /// MPI takes long to start.
    Starting,
    /// Collective operations take long by themselves.
    SlowCollectives,
    /// The exchange of records takes long by itself.
    Network {
        /// Bytes that a rank sends a second while rounds are under way.
        rate: f64,
        /// Seconds that a round takes once all ranks are in it.
        round: f64,
    },
    /// Answers of other ranks come late.
    SlowAnswers {
        /// Seconds for one.
        each: f64,
    },
    /// So many answers are asked for.
    SmallChunks,
    /// Records that cross borders of chunks.
    Borders,
    /// Threads have nothing to do.
    TooLittle,
}
