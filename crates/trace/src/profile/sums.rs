//! What a trace amounts to: per stage and rank, where the time went.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::activity::{Activity, Times, busy, exchanges, is_worker, share_out, works};
use super::after_work;
use super::file::{Gap, Kept, SpanKind, Trace, TracedSpan};
use super::waits::{self, Collectives, Wait};

/// So many times larger is text than what was read of it when it was compressed.
const COMPRESSED: f64 = 1.5;

/// Bytes that moved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moved {
    /// Read from inputs, as they are stored.
    pub read: u64,
    /// Of text that records were found in.
    pub parsed: u64,
    /// Sent to other ranks, in rounds of the exchange and in messages.
    pub sent: u64,
    /// Of records that were counted.
    pub counted: u64,
    /// Written to outputs.
    pub written: u64,
    /// Written to and read from temporary files.
    pub spilled: u64,
}

impl Moved {
    fn add(&mut self, what: SpanKind, bytes: u64) {
        match what {
            SpanKind::Read => self.read += bytes,
            SpanKind::Parse => self.parsed += bytes,
            SpanKind::Round | SpanKind::Send => self.sent += bytes,
            SpanKind::Count => self.counted += bytes,
            SpanKind::Write => self.written += bytes,
            SpanKind::Spill => self.spilled += bytes,
            _ => {}
        }
    }

    /// Adds others.
    pub fn take_in(&mut self, other: Moved) {
        self.read += other.read;
        self.parsed += other.parsed;
        self.sent += other.sent;
        self.counted += other.counted;
        self.written += other.written;
        self.spilled += other.spilled;
    }

    /// Whether what was read became much larger text.
    pub fn is_compressed(&self) -> bool {
        self.parsed as f64 > COMPRESSED * self.read as f64
    }

    /// The bytes that were worked on: text, or records.
    pub fn worked(&self) -> u64 {
        if self.counted > 0 {
            self.counted
        } else {
            self.parsed
        }
    }
}

/// A stage of one rank.
#[derive(Clone, Debug, Default)]
pub struct RankProfile {
    /// How long it took.
    pub wall: f64,
    /// Threads that worked, at least 1.
    pub threads: usize,
    /// Seconds of the wall time: means over the threads, which add up to it.
    pub times: Times,
    /// Bytes.
    pub bytes: Moved,
    /// Rounds of the exchange, and the seconds in them.
    pub rounds: (u64, f64),
    /// Bytes sent in them.
    pub round_bytes: u64,
    /// What each worker did, by track.
    pub workers: BTreeMap<u64, WorkerTimes>,
    /// What the main thread did, while all others waited for it.
    pub main: Times,
    /// Seconds in which the thread that exchanges records wrote temporary files.
    pub exchange_spills: f64,
    /// Seconds in which that thread had no core.
    pub exchange_queued: f64,
    /// Seconds of threads that waited for the disk of temporary files.
    pub spill_waits: f64,
}

/// What one worker did in a stage.
#[derive(Clone, Debug, Default)]
pub struct WorkerTimes {
    /// Seconds of its own.
    pub times: Times,
    /// Bytes of text or records.
    pub bytes: u64,
    /// The partition that took it longest: seconds and bytes.
    pub heaviest: (f64, u64),
    /// Partitions that it counted.
    pub partitions: u64,
}

impl RankProfile {
    /// Seconds of all threads in which something was done, not waited for.
    pub fn busy(&self) -> f64 {
        busy(&self.times) * self.threads as f64
    }

    /// Seconds of the worker that had most to do, with what the main thread did while it waited.
    pub fn busiest(&self) -> Times {
        let most = self.workers.values().map(|worker| &worker.times);
        let most = most.max_by(|a, b| busy(a).total_cmp(&busy(b)));
        let mut times = self.main;
        if let Some(worker) = most {
            times
                .iter_mut()
                .zip(worker)
                .for_each(|(sum, time)| *sum += time);
        }
        times
    }
}

/// One stage of all ranks.
#[derive(Debug)]
pub struct StageProfile {
    /// What it is called.
    pub name: String,
    /// By rank.
    pub ranks: Vec<RankProfile>,
}

impl StageProfile {
    /// Means over ranks.
    pub fn mean(&self) -> Times {
        let mut mean = [0.0; Activity::COUNT];
        for cell in &self.ranks {
            mean.iter_mut()
                .zip(&cell.times)
                .for_each(|(sum, time)| *sum += time / self.ranks.len() as f64);
        }
        mean
    }

    /// The wall time of the rank that took longest.
    pub fn wall(&self) -> f64 {
        self.ranks.iter().map(|cell| cell.wall).fold(0.0, f64::max)
    }

    /// The largest over the mean, of time and of bytes, over the ranks; over the workers where
    /// there is one rank.
    pub fn imbalance(&self) -> Imbalance {
        let pairs: Vec<(f64, u64)> = match &self.ranks[..] {
            [alone] => {
                let worker = |worker: &WorkerTimes| (busy(&worker.times), worker.bytes);
                alone.workers.values().map(worker).collect()
            }
            ranks => ranks
                .iter()
                .map(|cell| (cell.busy(), cell.bytes.worked()))
                .collect(),
        };
        let (slowest, time) = over_mean(pairs.iter().map(|pair| pair.0));
        let (_, bytes) = over_mean(pairs.iter().map(|pair| pair.1 as f64));
        Imbalance {
            time,
            bytes,
            slowest,
        }
    }
}

/// How unequal the shares were; 1 is equal.
#[derive(Clone, Copy, Debug)]
pub struct Imbalance {
    /// Of the time.
    pub time: Option<f64>,
    /// Of the bytes.
    pub bytes: Option<f64>,
    /// Which rank, or worker, worked longest.
    pub slowest: usize,
}

fn over_mean(numbers: impl Iterator<Item = f64>) -> (usize, Option<f64>) {
    let numbers: Vec<f64> = numbers.collect();
    let largest = numbers.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
    let sum: f64 = numbers.iter().sum();
    let (which, largest) = largest.map_or((0, 0.0), |(which, largest)| (which, *largest));
    (
        which,
        (sum > 0.0 && numbers.len() > 1).then(|| largest * numbers.len() as f64 / sum),
    )
}

/// What a trace amounts to.
#[derive(Debug)]
pub struct RunProfile {
    /// In the order of the run.
    pub stages: Vec<StageProfile>,
    /// From the first beginning to the last end.
    pub wall: f64,
    /// What happened in collectives.
    pub collectives: Collectives,
    /// The longest wait of one thread.
    pub severest: Option<Wait>,
    /// Spans of which there are only sums.
    pub folded: bool,
}

/// The stages of one rank in order of time, each with its number among all names.
struct Intervals(Vec<(f64, usize)>);

impl Intervals {
    fn at(&self, time: f64) -> usize {
        let after = self.0.partition_point(|interval| interval.0 <= time);
        self.0[after.saturating_sub(1)].1
    }
}

/// Adds up a trace.
pub fn sum(trace: &Trace) -> RunProfile {
    let trace = &after_work::given_to_main(trace);
    let names = names(trace);
    let number: HashMap<&str, usize> = names
        .iter()
        .enumerate()
        .map(|(number, name)| (*name, number))
        .collect();
    let (mut stages, intervals) = empty(trace, &names, &number);
    let stage_of = |span: &TracedSpan| intervals[span.rank].at(span.start);
    let waits = waits::find(trace, &stage_of);
    let spans = without_stops(trace);
    let folded = trace
        .folded
        .iter()
        .filter_map(|folded| Some((*number.get(folded.stage.as_str())?, &folded.sum)))
        .filter(|(_, span)| span.rank < trace.ranks);
    let all: Vec<(usize, &TracedSpan)> = spans
        .iter()
        .map(|span| (stage_of(span), span))
        .chain(folded)
        .collect();
    count_threads(trace, &mut stages, &all);
    for &(stage, span) in &all {
        add(trace, &mut stages[stage].ranks[span.rank], span);
    }
    for gap in trace.gaps.iter().filter(|gap| exchanges(trace, gap)) {
        let stage = intervals[gap.rank].at(gap.start + gap.time / 2.0);
        stages[stage].ranks[gap.rank].exchange_queued += gap.own;
    }
    for (span, activity, time) in waits.in_collectives {
        let cell = &mut stages[stage_of(span)].ranks[span.rank];
        let left = cell.times[Activity::Collective as usize];
        let time = (time * share(trace, cell, span)).min(left);
        cell.times[Activity::Collective as usize] -= time;
        cell.times[activity as usize] += time;
    }
    stages
        .iter_mut()
        .flat_map(|stage| &mut stage.ranks)
        .for_each(finish);
    let ends = trace.stages.iter().map(|stage| stage.start + stage.time);
    let starts = trace.stages.iter().map(|stage| stage.start);
    RunProfile {
        stages,
        wall: ends.fold(0.0, f64::max) - starts.fold(f64::INFINITY, f64::min),
        collectives: waits.collectives,
        severest: waits.severest,
        folded: !trace.folded.is_empty(),
    }
}

/// The stages without anything in them, and when each rank was in which.
fn empty(
    trace: &Trace,
    names: &[&str],
    number: &HashMap<&str, usize>,
) -> (Vec<StageProfile>, Vec<Intervals>) {
    let mut stages: Vec<StageProfile> = names
        .iter()
        .map(|name| StageProfile {
            name: name.to_string(),
            ranks: vec![RankProfile::default(); trace.ranks],
        })
        .collect();
    let mut intervals: Vec<Intervals> = (0..trace.ranks).map(|_| Intervals(Vec::new())).collect();
    for stage in &trace.stages {
        let at = number[stage.name.as_str()];
        stages[at].ranks[stage.rank].wall += stage.time;
        intervals[stage.rank].0.push((stage.start, at));
    }
    intervals
        .iter_mut()
        .for_each(|intervals| intervals.0.sort_by(|a, b| a.0.total_cmp(&b.0)));
    (stages, intervals)
}

/// The spans, of which the time in which their rank was stopped is taken out: it has spans of its
/// own.
fn without_stops(trace: &Trace) -> Vec<TracedSpan> {
    let mut spans = trace.spans.clone();
    let mut by_rank: HashMap<usize, Vec<usize>> = HashMap::new();
    for (number, span) in spans
        .iter()
        .enumerate()
        .filter(|(_, span)| works(trace, span))
    {
        by_rank.entry(span.rank).or_default().push(number);
    }
    let stops = trace.gaps.iter().filter(|gap| gap.why == Kept::Stopped);
    for gap in stops {
        let empty = Vec::new();
        let of_rank = by_rank.get(&gap.rank).unwrap_or(&empty);
        for number in innermost(&spans, of_rank, gap) {
            let span = &mut spans[number];
            // What a thread waits for between its spans is no time of its own.
            let between = span.what == SpanKind::Between;
            let whole = if between { span.time } else { span.own };
            let time = gap.time.min(whole - span.cpu - span.queued).max(0.0);
            if !between {
                span.own -= time;
            }
            let stop = TracedSpan {
                what: SpanKind::Stopped,
                own: time,
                time,
                cpu: 0.0,
                queued: 0.0,
                bytes: 0,
                start: gap.start.max(span.start),
                ..span.clone()
            };
            spans.push(stop);
        }
    }
    spans
}

/// For each thread the shortest span, of those numbered, that it was in when its rank was stopped.
fn innermost(spans: &[TracedSpan], numbers: &[usize], gap: &Gap) -> Vec<usize> {
    let middle = gap.start + gap.time / 2.0;
    let mut found: HashMap<u64, usize> = HashMap::new();
    for &number in numbers {
        let span = &spans[number];
        if span.start > middle || span.start + span.time < middle {
            continue;
        }
        let shortest = found.entry(span.track).or_insert(number);
        if span.time < spans[*shortest].time {
            *shortest = number;
        }
    }
    found.into_values().collect()
}

/// The names of the stages, in the order in which they first began.
fn names(trace: &Trace) -> Vec<&str> {
    let mut stages: Vec<_> = trace.stages.iter().collect();
    stages.sort_by(|a, b| a.start.total_cmp(&b.start));
    let mut seen = HashSet::new();
    stages
        .iter()
        .map(|stage| stage.name.as_str())
        .filter(|name| seen.insert(*name))
        .collect()
}

fn count_threads(trace: &Trace, stages: &mut [StageProfile], all: &[(usize, &TracedSpan)]) {
    for &(stage, span) in all.iter().filter(|(_, span)| is_worker(trace, span)) {
        stages[stage].ranks[span.rank]
            .workers
            .entry(span.track)
            .or_default();
    }
    for cell in stages.iter_mut().flat_map(|stage| &mut stage.ranks) {
        cell.threads = cell.workers.len().max(1);
    }
}

/// What a second of a span is of the wall time of its stage. What the main thread does keeps all
/// from working; what other threads do (the exchange, write-back) goes on beside the work.
fn share(trace: &Trace, cell: &RankProfile, span: &TracedSpan) -> f64 {
    match works(trace, span) {
        true if is_worker(trace, span) => 1.0 / cell.threads as f64,
        true => 1.0,
        false => 0.0,
    }
}

fn add(trace: &Trace, cell: &mut RankProfile, span: &TracedSpan) {
    let share = share(trace, cell, span);
    share_out(&mut cell.times, span, share);
    cell.bytes.add(span.what, span.bytes);
    if span.what == SpanKind::Spill {
        cell.spill_waits += span.blocked();
    }
    if span.what == SpanKind::Round {
        cell.rounds.0 += 1;
        cell.rounds.1 += span.time;
        cell.round_bytes += span.bytes;
    } else if is_worker(trace, span) {
        let worker = cell.workers.entry(span.track).or_default();
        share_out(&mut worker.times, span, 1.0);
        if matches!(span.what, SpanKind::Parse | SpanKind::Count) {
            worker.bytes += span.bytes;
        }
        if span.what == SpanKind::Count {
            worker.partitions += 1;
            if span.own > worker.heaviest.0 {
                worker.heaviest = (span.own, span.bytes);
            }
        }
    } else if share > 0.0 {
        share_out(&mut cell.main, span, share);
    } else if span.what == SpanKind::Spill {
        cell.exchange_spills += span.own;
    }
}

/// What is left of the wall time: nothing to do where there were workers, work of the main thread
/// elsewhere. What took processor time to read was decompressed, if text came of it that is larger.
fn finish(cell: &mut RankProfile) {
    let compressed = cell.bytes.is_compressed();
    let workers = cell.workers.values_mut().map(|worker| &mut worker.times);
    for times in workers.chain([&mut cell.times, &mut cell.main]) {
        if !compressed {
            times[Activity::Read as usize] +=
                std::mem::take(&mut times[Activity::Decompress as usize]);
        }
    }
    let rest = (cell.wall - cell.times.iter().sum::<f64>()).max(0.0);
    let activity = if cell.workers.is_empty() {
        cell.main[Activity::Compute as usize] += rest;
        Activity::Compute
    } else {
        Activity::Idle
    };
    cell.times[activity as usize] += rest;
}
