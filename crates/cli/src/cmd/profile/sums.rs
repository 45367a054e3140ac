//! What a trace amounts to: per stage and rank, where the time went.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::file::{Span, Trace, What};
use super::waits::{self, Collectives, Wait};

/// Where time goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Place {
    /// Computing.
    Compute,
    /// Opening files.
    Open,
    /// Reading and decompressing input.
    Read,
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

impl Place {
    /// How many there are.
    pub const COUNT: usize = Place::Idle as usize + 1;
    /// All, and what a table calls them.
    pub const ALL: [(Place, &str); Place::COUNT] = [
        (Place::Compute, "compute"),
        (Place::Open, "open"),
        (Place::Read, "read"),
        (Place::Write, "write"),
        (Place::Spill, "spill"),
        (Place::Late, "wait-NxN"),
        (Place::Barrier, "barrier"),
        (Place::Collective, "collective"),
        (Place::Message, "message"),
        (Place::Buffer, "buffer"),
        (Place::Border, "border"),
        (Place::Turn, "turn"),
        (Place::Idle, "idle"),
    ];

    /// Where the time of a span goes; a collective's is shared out apart.
    pub fn of(what: What) -> Place {
        match what {
            What::Parse | What::Count | What::Work | What::Round => Place::Compute,
            What::Open => Place::Open,
            What::Read => Place::Read,
            What::Write => Place::Write,
            What::Spill => Place::Spill,
            What::Collective => Place::Collective,
            What::Message => Place::Message,
            What::Buffer => Place::Buffer,
            What::Border => Place::Border,
            What::Turn => Place::Turn,
        }
    }
}

/// Seconds by place.
pub type Times = [f64; Place::COUNT];

/// Bytes that moved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bytes {
    /// Read from inputs, as they are stored.
    pub read: u64,
    /// Of text that records were found in.
    pub parsed: u64,
    /// Sent in rounds of the exchange.
    pub sent: u64,
    /// Of records that were counted.
    pub counted: u64,
    /// Written to outputs.
    pub written: u64,
    /// Written to and read from temporary files.
    pub spilled: u64,
}

impl Bytes {
    fn add(&mut self, what: What, bytes: u64) {
        match what {
            What::Read => self.read += bytes,
            What::Parse => self.parsed += bytes,
            What::Round => self.sent += bytes,
            What::Count => self.counted += bytes,
            What::Write => self.written += bytes,
            What::Spill => self.spilled += bytes,
            _ => {}
        }
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
pub struct Cell {
    /// How long it took.
    pub wall: f64,
    /// Threads that worked, at least 1.
    pub threads: usize,
    /// Seconds of the wall time: means over the threads, which add up to it.
    pub times: Times,
    /// Bytes.
    pub bytes: Bytes,
    /// Rounds of the exchange, and the seconds in them.
    pub rounds: (u64, f64),
    /// What each worker computed, opened, read and wrote: seconds and bytes, by track.
    pub workers: BTreeMap<u64, (f64, u64)>,
}

impl Cell {
    /// Seconds of all threads in which something was done, not waited for.
    pub fn busy(&self) -> f64 {
        let doing = [
            Place::Compute,
            Place::Open,
            Place::Read,
            Place::Write,
            Place::Spill,
        ];
        doing
            .iter()
            .map(|&place| self.times[place as usize])
            .sum::<f64>()
            * self.threads as f64
    }
}

/// One stage of all ranks.
#[derive(Debug)]
pub struct Stage {
    /// What it is called.
    pub name: String,
    /// By rank.
    pub ranks: Vec<Cell>,
}

impl Stage {
    /// Means over ranks.
    pub fn mean(&self) -> Times {
        let mut mean = [0.0; Place::COUNT];
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
            [alone] => alone.workers.values().copied().collect(),
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
pub struct Profile {
    /// In the order of the run.
    pub stages: Vec<Stage>,
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
pub fn sum(trace: &Trace) -> Profile {
    let names = names(trace);
    let number: HashMap<&str, usize> = names
        .iter()
        .enumerate()
        .map(|(number, name)| (*name, number))
        .collect();
    let mut stages: Vec<Stage> = names
        .iter()
        .map(|name| Stage {
            name: name.to_string(),
            ranks: vec![Cell::default(); trace.ranks],
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
    let stage_of = |span: &Span| intervals[span.rank].at(span.start);
    let waits = waits::find(trace, &stage_of);
    let folded: Vec<(usize, &Span)> = trace
        .folded
        .iter()
        .filter_map(|folded| Some((*number.get(folded.stage.as_str())?, &folded.sum)))
        .filter(|(_, span)| span.rank < trace.ranks)
        .collect();
    let all: Vec<(usize, &Span)> = trace
        .spans
        .iter()
        .map(|span| (stage_of(span), span))
        .chain(folded)
        .collect();
    count_threads(trace, &mut stages, &all);
    for &(stage, span) in &all {
        add(trace, &mut stages[stage].ranks[span.rank], span);
    }
    for (span, place, time) in waits.in_collectives {
        let cell = &mut stages[stage_of(span)].ranks[span.rank];
        let time = time * share(trace, cell, span);
        cell.times[Place::Collective as usize] -= time;
        cell.times[place as usize] += time;
    }
    stages
        .iter_mut()
        .flat_map(|stage| &mut stage.ranks)
        .for_each(rest);
    let ends = trace.stages.iter().map(|stage| stage.start + stage.time);
    let starts = trace.stages.iter().map(|stage| stage.start);
    let wall = ends.fold(0.0, f64::max) - starts.fold(f64::INFINITY, f64::min);
    let (collectives, severest, folded) =
        (waits.collectives, waits.severest, !trace.folded.is_empty());
    Profile {
        stages,
        wall,
        collectives,
        severest,
        folded,
    }
}

/// The name of the thread that starts the others.
const MAIN: &str = "main";
/// How the names of workers begin.
const WORKER: &str = "worker ";

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

fn is_worker(trace: &Trace, span: &Span) -> bool {
    trace
        .threads
        .get(&(span.rank, span.track))
        .is_some_and(|name| name.starts_with(WORKER))
}

fn count_threads(trace: &Trace, stages: &mut [Stage], all: &[(usize, &Span)]) {
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
fn share(trace: &Trace, cell: &Cell, span: &Span) -> f64 {
    match works(trace, span) {
        true if is_worker(trace, span) => 1.0 / cell.threads as f64,
        true => 1.0,
        false => 0.0,
    }
}

/// Whether a span is part of the work, not beside it.
pub fn works(trace: &Trace, span: &Span) -> bool {
    let main = || {
        trace
            .threads
            .get(&(span.rank, span.track))
            .is_some_and(|name| name == MAIN)
    };
    !span.beside && (is_worker(trace, span) || main())
}

fn add(trace: &Trace, cell: &mut Cell, span: &Span) {
    let place = Place::of(span.what);
    cell.times[place as usize] += span.own * share(trace, cell, span);
    cell.bytes.add(span.what, span.bytes);
    if span.what == What::Round {
        cell.rounds.0 += 1;
        cell.rounds.1 += span.time;
    } else if is_worker(trace, span) {
        let worker = cell.workers.entry(span.track).or_default();
        if (place as usize) < Place::Late as usize {
            worker.0 += span.own;
        }
        if matches!(span.what, What::Parse | What::Count) {
            worker.1 += span.bytes;
        }
    }
}

/// What is left of the wall time: nothing to do where there were workers, work of the main thread
/// elsewhere.
fn rest(cell: &mut Cell) {
    let rest = (cell.wall - cell.times.iter().sum::<f64>()).max(0.0);
    let place = if cell.workers.is_empty() {
        Place::Compute
    } else {
        Place::Idle
    };
    cell.times[place as usize] += rest;
}
