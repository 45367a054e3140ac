//! What takes the time, and what to do about it.

use std::time::Duration;

use gyrase_picture::words;
use gyrase_trace::profile::{Activity, Cause, Finding, RunProfile, Trace, causes};

/// A run of fewer seconds tells little.
const SHORT: f64 = 1.0;
/// The most causes that are told.
const TOLD: usize = 3;

/// What takes most time beside computing, and what to do; and what else takes much.
pub fn advise(trace: &Trace, profile: &RunProfile) -> (String, Vec<Finding>) {
    if profile.wall < SHORT {
        let time = words::time(Duration::from_secs_f64(profile.wall.max(0.0)));
        let short = format!(
            "the run took {time}, which is too short to tell where a long one would spend its time"
        );
        return (short, Vec::new());
    }
    let mut found = causes(trace, profile);
    found.truncate(TOLD);
    let advice = found
        .first()
        .map_or_else(|| nothing_stands_out(trace, profile), sentence);
    (advice, found)
}

/// What a cause takes, and what to do.
pub fn sentence(finding: &Finding) -> String {
    format!("{finding}; {}", remedy(&finding.cause))
}

fn nothing_stands_out(trace: &Trace, profile: &RunProfile) -> String {
    let compute: f64 = profile
        .stages
        .iter()
        .map(|stage| stage.mean()[Activity::Compute as usize])
        .sum();
    let more = if trace.ranks > 1 {
        "more ranks"
    } else {
        "more threads"
    };
    let share = compute / profile.wall * 100.0;
    format!(
        "nothing stands out: {share:.0} % of the time is computing, so faster cores or {more} will shorten the run"
    )
}

/// What to do about a cause.
fn remedy(cause: &Cause) -> &'static str {
    match cause {
        Cause::Stopped { .. } => {
            "see who stops it: a person, a batch system that suspends jobs, a virtual machine that is paused"
        }
        Cause::Throttled => {
            "ask for more cores in the job or container, or start as many --threads as it has"
        }
        Cause::Niced { .. } => {
            "start all ranks without nice, or on a machine that nobody else uses"
        }
        Cause::Oversubscribed { .. } => {
            "start fewer ranks or fewer --threads on that machine, or bind each rank to more cores"
        }
        Cause::Overloaded { .. } | Cause::OffCpu => {
            "move the run to a machine that is not shared, or end what else runs there"
        }
        Cause::Faulting { .. } => {
            "give less --memory, so that it fits beside what else is in memory there"
        }
        Cause::Opening => {
            "many small files are slow to open, above all on a parallel file system; put them together into fewer, larger ones"
        }
        Cause::SlowInput { .. } => {
            "copy the files to a faster disk, or spread them over more servers of the file system; more threads will not help"
        }
        Cause::Decompressing { .. } => {
            "give several compressed files, or files that bgzip compressed, or plain ones if the disk is fast"
        }
        Cause::SlowOutput { .. } => {
            "the disk of the output is slow; name a file on a faster one with -o and copy it later"
        }
        Cause::SlowSpill { .. } => "name a faster local disk with --tmp, or give more --memory",
        Cause::LittleMemory { .. } => "give more --memory, or name a faster local disk with --tmp",
        Cause::HeavyPartition { .. } => {
            "repeats of one sequence fill it; more threads or ranks will not help"
        }
        Cause::MoreWork { counted: false, .. } => "give more, smaller files, or a smaller --chunk",
        Cause::MoreWork { counted: true, .. } => "use fewer ranks with more threads each",
        Cause::SlowCores { .. } => "see whether its machine is older, hotter or set to save power",
        Cause::Turns { counted: true } => {
            "finished partitions wait for an earlier one that is much larger; fewer threads will take as long"
        }
        Cause::Turns { counted: false } => {
            "one thread at a time can read from a compressed file or a pipe; give several files, or files that bgzip compressed, or \
             use fewer threads"
        }
        _ => remedy_of_waits(cause),
    }
}

fn remedy_of_waits(cause: &Cause) -> &'static str {
    match cause {
        Cause::ComesLast { .. } => {
            "see whether that machine is slower, shared with other jobs, or far from its files"
        }
        Cause::ManyCollectives => {
            "the work between two collectives is too little for so many; use fewer ranks with more threads each"
        }
        Cause::Starting => "a longer run will feel it less",
        Cause::SlowCollectives => "use fewer ranks with more threads each",
        Cause::Network { .. } | Cause::SlowAnswers { .. } => {
            "use fewer ranks with more threads each, and see what `gyrase doctor` says of the MPI library and its network"
        }
        Cause::SmallChunks | Cause::Borders => "give a larger --chunk",
        _ => "there is too little to do for so many threads; use fewer",
    }
}
