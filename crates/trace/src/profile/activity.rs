//! What time goes to, and which threads count.

use super::file::{Gap, SpanKind, Trace, TracedSpan};
use crate::record::{EXCHANGES, WORKER};

/// Where time goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Activity {
    /// Computing, on a core.
    Compute,
    /// Having something to compute and no core.
    OffCpu,
    /// Being stopped from outside.
    Stopped,
    /// Opening files.
    Open,
    /// Reading input.
    Read,
    /// Decompressing input.
    Decompress,
    /// Writing output.
    Write,
    /// Writing and reading temporary files.
    Spill,
    /// Waiting in a collective for the rank that comes last.
    Late,
    /// The same at a barrier, where nothing is exchanged.
    Barrier,
    /// In a collective to which all have come.
    Collective,
    /// Waiting for an answer of another rank.
    Message,
    /// Waiting for a send buffer.
    Buffer,
    /// Waiting for the rest of a record.
    Border,
    /// Waiting for another thread of the rank.
    Turn,
    /// Nothing to do.
    Idle,
}

/// Seconds by activity.
pub type Times = [f64; Activity::COUNT];

impl Activity {
    /// How many there are.
    pub const COUNT: usize = Activity::Idle as usize + 1;
    /// All, and what a table calls them.
    pub const ALL: [(Activity, &str); Activity::COUNT] = [
        (Activity::Compute, "compute"),
        (Activity::OffCpu, "off-cpu"),
        (Activity::Stopped, "stopped"),
        (Activity::Open, "open"),
        (Activity::Read, "read"),
        (Activity::Decompress, "decompress"),
        (Activity::Write, "write"),
        (Activity::Spill, "spill"),
        (Activity::Late, "wait-NxN"),
        (Activity::Barrier, "barrier"),
        (Activity::Collective, "collective"),
        (Activity::Message, "message"),
        (Activity::Buffer, "buffer"),
        (Activity::Border, "border"),
        (Activity::Turn, "turn"),
        (Activity::Idle, "idle"),
    ];
    /// What a rank can lose by itself.
    pub const LOSSES: [Activity; 7] = [
        Activity::OffCpu,
        Activity::Stopped,
        Activity::Open,
        Activity::Read,
        Activity::Decompress,
        Activity::Write,
        Activity::Spill,
    ];

    /// Something that others do is waited for.
    pub const WAITS: [Activity; 8] = [
        Activity::Late,
        Activity::Barrier,
        Activity::Collective,
        Activity::Message,
        Activity::Buffer,
        Activity::Border,
        Activity::Turn,
        Activity::Idle,
    ];

    /// Where the time of a span goes that is neither computed nor without a core; a collective's is
    /// shared out apart.
    fn of(what: SpanKind) -> Activity {
        match what {
            SpanKind::Parse
            | SpanKind::Count
            | SpanKind::Work
            | SpanKind::Between
            | SpanKind::Round
            | SpanKind::Send => Activity::OffCpu,
            SpanKind::Stopped => Activity::Stopped,
            SpanKind::Open => Activity::Open,
            SpanKind::Read => Activity::Read,
            SpanKind::Write => Activity::Write,
            SpanKind::Spill => Activity::Spill,
            SpanKind::Collective => Activity::Collective,
            SpanKind::Message => Activity::Message,
            SpanKind::Buffer => Activity::Buffer,
            SpanKind::Border => Activity::Border,
            SpanKind::Turn => Activity::Turn,
        }
    }
}

/// Shares out the own time of a span, times `share`.
pub fn share_out(times: &mut Times, span: &TracedSpan, share: f64) {
    let rest = Activity::of(span.what);
    let mut add = |activity: Activity, time: f64| times[activity as usize] += time * share;
    match span.what {
        SpanKind::Parse | SpanKind::Count | SpanKind::Work | SpanKind::Between => {
            add(Activity::Compute, span.cpu);
            add(rest, span.own - span.cpu);
        }
        // It is plain reading after all where nothing is compressed.
        SpanKind::Read => {
            add(Activity::Decompress, span.cpu);
            add(Activity::OffCpu, span.queued);
            add(rest, span.blocked());
        }
        // What it waited for had come, and still it could not go on.
        _ => {
            add(Activity::OffCpu, span.queued);
            add(rest, span.own - span.queued);
        }
    }
}

/// The seconds in which something is done, or would be if the system let it.
pub fn busy(times: &Times) -> f64 {
    times[Activity::Compute as usize] + sum_of(times, &Activity::LOSSES)
}

/// The sum of some of them.
pub fn sum_of(times: &Times, of: &[Activity]) -> f64 {
    of.iter().map(|&activity| times[activity as usize]).sum()
}

/// The name of the thread that starts the others.
const MAIN: &str = "main";
/// The name of the thread that brings the partitions of ranks in order.
const LAYOUT: &str = "layout";

fn name<'t>(trace: &'t Trace, span: &TracedSpan) -> &'t str {
    let name = trace.threads.get(&(span.rank, span.track));
    name.map_or("", String::as_str)
}

/// Whether the thread did it that brings the partitions of ranks in order.
pub fn lays_out(trace: &Trace, span: &TracedSpan) -> bool {
    name(trace, span) == LAYOUT
}

/// The track of the thread that starts the others.
pub fn main_track(trace: &Trace, rank: usize) -> Option<u64> {
    let mut threads = trace.threads.iter();
    let main = threads.find(|((of, _), name)| *of == rank && *name == MAIN);
    main.map(|((_, track), _)| *track)
}

/// Whether a gap is one of the thread that calls MPI.
pub fn exchanges(trace: &Trace, gap: &Gap) -> bool {
    let name = trace.threads.get(&(gap.rank, gap.track));
    name.is_some_and(|name| name == EXCHANGES)
}

/// Whether a worker did it.
pub fn is_worker(trace: &Trace, span: &TracedSpan) -> bool {
    name(trace, span).starts_with(WORKER)
}

/// Whether a span is part of the work, not beside it.
pub fn works(trace: &Trace, span: &TracedSpan) -> bool {
    !span.beside && (is_worker(trace, span) || name(trace, span) == MAIN)
}
