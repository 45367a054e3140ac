//! What makes a run slow, and who.
//!
//! Time that one rank loses by itself (to the system, to files) beyond what the others lose makes
//! these wait. So such losses come first: those that all ranks share, and what one rank has beyond
//! the rest. Unequal work is next. Only waiting that neither explains is the network's.

mod losses;
mod processor;
mod words;
mod work;

use std::mem::discriminant;

use super::activity::Activity;
use super::file::Trace;
use super::sums::RunProfile;

use losses::Losses;

/// A share of the time below which nothing is worth a sentence.
pub const NOTABLE: f64 = 0.1;

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

/// What takes a tenth of the run or more, most first.
pub fn causes(trace: &Trace, profile: &RunProfile) -> Vec<Finding> {
    let losses = Losses::of(profile);
    let mut found = losses.local(trace, profile);
    for finding in work::unequal_and_waits(trace, profile, &losses) {
        let same = found.iter_mut().find(|other| {
            discriminant(&other.cause) == discriminant(&finding.cause) && other.who == finding.who
        });
        match same {
            Some(other) => {
                other.seconds += finding.seconds;
                other.share += finding.share;
            }
            None => found.push(finding),
        }
    }
    found.retain(|finding| finding.share >= NOTABLE);
    found.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    found
}

/// Whom something concerns.
fn who(trace: &Trace, rank: Option<usize>) -> Who {
    let many = trace.ranks > 1;
    Who {
        rank: rank.filter(|_| many),
        node: rank.map_or(String::new(), |rank| trace.node(rank).to_string()),
        many,
    }
}

/// A loss of one rank, or of all.
#[derive(Clone, Copy, Debug)]
struct Loss {
    activity: Activity,
    rank: Option<usize>,
    stage: usize,
    /// Seconds of the run.
    seconds: f64,
}
