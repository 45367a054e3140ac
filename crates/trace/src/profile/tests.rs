//! Eleven causes of slowness, each in the timeline of a job that a model makes and the recorder
//! writes.

use super::file::parse;
use super::{Cause, Finding, causes, sum};
use crate::Alignment;
use crate::record::json::{Process, STAGES, TAIL, head};
use crate::record::lane::{Event, Lane};
use crate::record::machine::Usage;

const RANKS: usize = 3;
/// The lanes of a rank.
const LANES: [&str; 6] = ["main", "worker 0", "worker 1", "mpi", "watch", "layout"];
const MAIN: usize = 0;
const WORKERS: [usize; 2] = [1, 2];
const MPI: usize = 3;
const WATCH: usize = 4;
const LAYOUT: usize = 5;
/// Batches that a worker reads, and partitions that it counts.
const BATCHES: usize = 10;
const PARTITIONS: usize = 8;

/// What a thread does: seconds, and bytes.
#[derive(Clone, Copy, Default)]
struct Step {
    name: &'static str,
    at: &'static str,
    wall: f64,
    cpu: f64,
    queued: f64,
    bytes: u64,
}

fn computes(name: &'static str, cpu: f64, bytes: u64) -> Step {
    Step {
        name,
        wall: cpu,
        cpu,
        bytes,
        ..Step::default()
    }
}

fn waits(at: &'static str, wall: f64) -> Step {
    Step {
        name: "wait",
        at,
        wall,
        ..Step::default()
    }
}

/// What keeps the job from its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slow {
    Nothing,
    Stopped,
    Throttled,
    Niced,
    Overloaded,
    Input,
    Gzip,
    SpillDisk,
    Memory,
    Output,
    Partition,
    Network,
    /// As `Overloaded`, but what suffers is the thread that calls MPI, and time between spans.
    Exchange,
    /// As `Output`, but it is written beside the work, and is not done when that is.
    Layout,
}

/// The rank that is slow, where one is.
const SLOW: usize = 1;

struct Rank {
    lanes: Vec<Lane>,
    /// Until when each lane is busy, in seconds.
    clocks: [f64; LANES.len()],
    used: Usage,
    nice: i32,
}

struct Job {
    ranks: Vec<Rank>,
    slow: Slow,
    stages: Vec<(&'static str, f64)>,
    rounds: u64,
}

fn nanos(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

impl Job {
    fn new(slow: Slow) -> Job {
        let rank = || Rank {
            lanes: LANES.map(|name| Lane::new(name.into())).into(),
            clocks: [0.0; LANES.len()],
            used: Usage::default(),
            nice: 0,
        };
        Job {
            ranks: (0..RANKS).map(|_| rank()).collect(),
            slow,
            stages: Vec::new(),
            rounds: 0,
        }
    }

    /// A thread does something, as slowly as its rank has to.
    fn does(&mut self, rank: usize, lane: usize, step: Step) {
        let mut step = step;
        if rank == SLOW && step.cpu > 0.0 && lane != MPI {
            let lost = 2.0 * step.cpu;
            match self.slow {
                Slow::Throttled => step.wall += lost,
                Slow::Niced | Slow::Overloaded => {
                    step.wall += lost;
                    step.queued += lost;
                }
                _ => {}
            }
        }
        self.event(rank, lane, step, None);
    }

    fn event(&mut self, rank: usize, lane: usize, step: Step, instance: Option<u64>) {
        let of = &mut self.ranks[rank];
        let event = Event {
            name: step.name,
            start: nanos(of.clocks[lane]),
            time: nanos(step.wall),
            own: nanos(step.wall),
            cpu: nanos(step.cpu),
            queued: nanos(step.queued),
            bytes: Some(step.bytes),
            instance,
            at: 0,
            call: 0,
            stage: self.stages.len() as u16,
            beside: [MPI, WATCH].contains(&lane),
        };
        let call = if step.at == "collective" { "sum" } else { "" };
        of.lanes[lane].add(event, step.at, call, 1 << 15);
        of.clocks[lane] += step.wall;
        of.used.cpu += nanos(step.cpu);
        of.used.busy += nanos(step.cpu);
    }

    /// All threads of a rank are stopped in the middle of what they do.
    fn stops(&mut self, rank: usize, wall: f64) {
        let from = self.ranks[rank].clocks[WORKERS[0]];
        self.ranks[rank].clocks[WATCH] = from + 0.1;
        let gap = Step {
            name: "gap",
            ..waits("stopped", wall)
        };
        self.event(rank, WATCH, gap, None);
        for worker in WORKERS {
            let scatter = computes("scatter", 0.3, 0);
            let wall = wall + 0.3;
            self.event(rank, worker, Step { wall, ..scatter }, None);
        }
    }

    /// The thread of a rank that calls MPI gets no core, nor do its workers between two spans.
    fn starves(&mut self, rank: usize, wall: f64) {
        let now = self.ranks[rank].clocks[WORKERS[0]];
        self.ranks[rank].clocks[MPI] = now;
        let gap = Step {
            name: "gap",
            queued: wall,
            ..waits("queued", wall)
        };
        self.event(rank, MPI, gap, None);
        for worker in WORKERS {
            let between = Step {
                queued: wall / 2.0,
                ..computes("between", 0.0, 0)
            };
            let wall = between.queued;
            self.event(rank, worker, Step { wall, ..between }, None);
        }
    }

    /// A round of the exchange: all ranks are in it until the last that enters has sent.
    fn round(&mut self, takes: f64) {
        let now = |rank: &Rank| rank.clocks[WORKERS[0]];
        let ends = self.ranks.iter().map(now).fold(0.0, f64::max) + takes;
        for rank in 0..RANKS {
            let from = now(&self.ranks[rank]);
            self.ranks[rank].clocks[MPI] = from;
            let round = Step {
                bytes: 1 << 20,
                ..computes("round", 0.0, 0)
            };
            let wall = ends - from;
            self.event(rank, MPI, Step { wall, ..round }, Some(self.rounds));
        }
        self.rounds += 1;
    }

    /// The threads of all ranks wait for send buffers until the slowest goes on.
    fn wait_for_buffers(&mut self, more: f64) {
        let clocks = self
            .ranks
            .iter()
            .flat_map(|rank| WORKERS.map(|lane| rank.clocks[lane]));
        let last = clocks.fold(0.0, f64::max) + more;
        for rank in 0..RANKS {
            for worker in WORKERS {
                let wall = last - self.ranks[rank].clocks[worker];
                self.event(rank, worker, waits("buffer", wall), None);
            }
        }
    }

    fn read(&mut self) {
        self.stages.push(("read", 0.0));
        for batch in 0..BATCHES {
            for rank in 0..RANKS {
                for worker in WORKERS {
                    self.read_batch(rank, worker);
                }
            }
            if self.slow == Slow::Stopped && batch == 4 {
                self.stops(SLOW, 9.0);
            }
            if self.slow == Slow::SpillDisk {
                let wall = 0.9;
                self.ranks[SLOW].clocks[MPI] = self.ranks[SLOW].clocks[WORKERS[0]];
                let spill = computes("spill", 0.0, 4 << 20);
                self.event(SLOW, MPI, Step { wall, ..spill }, None);
                self.wait_for_buffers(wall);
            }
            if self.slow == Slow::Exchange {
                self.starves(SLOW, 0.8);
                self.wait_for_buffers(0.4);
            }
            let takes = if self.slow == Slow::Network {
                1.0
            } else {
                0.01
            };
            self.round(takes);
            if self.slow == Slow::Network {
                self.wait_for_buffers(takes);
            } else if self.slow == Slow::Stopped {
                self.wait_for_buffers(0.0);
            }
        }
        self.meet();
    }

    fn read_batch(&mut self, rank: usize, worker: usize) {
        let (slow, text) = (self.slow, 4 << 20);
        let read = match slow {
            Slow::Input if rank == SLOW => Step {
                wall: 1.0,
                ..computes("read", 0.01, text)
            },
            Slow::Gzip => computes("read", 0.6, text / 4),
            _ => computes("read", 0.01, text),
        };
        // The other thread of the rank waits as long for its turn with the one file.
        if slow == Slow::Gzip && worker == WORKERS[1] {
            self.does(rank, worker, waits("turn", read.wall));
        }
        self.does(rank, worker, read);
        if slow == Slow::Gzip && worker == WORKERS[0] {
            self.does(rank, worker, waits("turn", read.wall));
        }
        self.does(rank, worker, computes("parse", 0.04, text));
        self.does(rank, worker, computes("scatter", 0.25, 0));
        if slow == Slow::Memory {
            let spill = computes("spill", 0.2, 1 << 30);
            self.does(rank, worker, spill);
        }
    }

    fn count(&mut self) {
        self.stages.push(("count", self.ranks[0].clocks[MAIN]));
        for rank in 0..RANKS {
            for worker in WORKERS {
                for partition in 0..PARTITIONS {
                    let first = rank == SLOW && worker == WORKERS[0] && partition == 0;
                    let heavy = if first && self.slow == Slow::Partition {
                        40
                    } else {
                        1
                    };
                    let count = computes("reduce", 0.3 * heavy as f64, heavy << 20);
                    self.does(rank, worker, count);
                    if self.slow == Slow::Memory {
                        self.does(rank, worker, computes("spill", 0.2, 1 << 30));
                    }
                }
            }
        }
        if self.slow == Slow::Layout {
            let write = computes("write", 0.02, 10 << 20);
            self.ranks[SLOW].clocks[LAYOUT] = self.ranks[SLOW].clocks[WORKERS[0]];
            self.event(SLOW, LAYOUT, Step { wall: 4.0, ..write }, None);
            self.ranks[SLOW].clocks[MAIN] = self.ranks[SLOW].clocks[LAYOUT];
        }
        self.meet();
        self.stages.push(("write", self.ranks[0].clocks[MAIN]));
        let wall = match self.slow {
            Slow::Output => 4.0,
            _ => 0.05,
        };
        let write = computes("write", 0.02, 10 << 20);
        (0..RANKS).for_each(|rank| {
            let slow = rank == SLOW || self.slow != Slow::Output;
            let wall = if slow { wall } else { 0.05 };
            self.event(rank, MAIN, Step { wall, ..write }, None);
        });
        self.meet();
    }

    /// The main thread of each rank waits for its workers, then for the other ranks.
    fn meet(&mut self) {
        for rank in &mut self.ranks {
            let clocks = WORKERS.map(|lane| rank.clocks[lane]);
            rank.clocks[MAIN] = clocks.into_iter().fold(rank.clocks[MAIN], f64::max);
        }
        let last = self
            .ranks
            .iter()
            .map(|rank| rank.clocks[MAIN])
            .fold(0.0, f64::max)
            + 0.01;
        for rank in 0..RANKS {
            let wall = last - self.ranks[rank].clocks[MAIN];
            self.rounds += 1;
            let call = 1000 + self.stages.len() as u64;
            self.event(rank, MAIN, waits("collective", wall), Some(call));
            self.ranks[rank].clocks = [last; LANES.len()];
        }
    }

    fn text(mut self) -> String {
        let end = self.ranks[0].clocks[MAIN];
        match self.slow {
            Slow::Niced => self.ranks[SLOW].nice = 15,
            Slow::Overloaded | Slow::Exchange => self.ranks[SLOW].used.busy = nanos(2.0 * end),
            Slow::Throttled => self.ranks[SLOW].used.throttled = nanos(end),
            _ => {}
        }
        let mut text = head(RANKS, "gyrase count");
        for (number, rank) in self.ranks.iter().enumerate() {
            let place = Process {
                rank: number,
                clock: Alignment::default(),
            };
            place.process(&mut text, "rank", &format!("node{number}"));
            place.used(&mut text, rank.used, rank.nice, &[0, 1]);
            let ends = self.stages.iter().skip(1).map(|stage| stage.1).chain([end]);
            for ((name, from), to) in self.stages.iter().zip(ends) {
                place.stage(&mut text, name, nanos(*from), nanos(to));
            }
            for (lane, recorded) in rank.lanes.iter().enumerate() {
                let (track, kept) = (STAGES + 1 + lane, recorded.kept());
                place.thread(&mut text, track, &recorded.name);
                for event in &kept.events {
                    place.span(&mut text, track, event, &kept);
                }
            }
        }
        text + TAIL
    }
}

fn found(slow: Slow) -> Vec<Finding> {
    let mut job = Job::new(slow);
    job.read();
    job.count();
    let trace = parse("t.json".into(), job.text().as_bytes()).unwrap();
    causes(&trace, &sum(&trace))
}

/// The cause that takes most time, which has to be of that kind, and of that rank or of all.
fn is(slow: Slow, rank: Option<usize>, kind: fn(&Cause) -> bool, words: &[&str]) {
    let found = found(slow);
    let Some(first) = found.first() else {
        panic!("{slow:?}: nothing was found")
    };
    let said: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert!(
        kind(&first.cause) && first.who.rank == rank,
        "{slow:?}: {said:#?}"
    );
    for word in words {
        assert!(said[0].contains(word), "{slow:?}: {word:?} in {said:#?}");
    }
}

#[test]
fn nothing_is_wrong_with_an_even_job() {
    assert!(
        found(Slow::Nothing).is_empty(),
        "{:#?}",
        found(Slow::Nothing)
    );
}

#[test]
fn whoever_keeps_a_rank_from_its_cores_is_named() {
    let slow = Some(SLOW);
    let stopped = |cause: &Cause| matches!(cause, Cause::Stopped { times: 1, .. });
    is(
        Slow::Stopped,
        slow,
        stopped,
        &["rank 1 on node1 stood still", "9.0 s"],
    );
    let throttled = |cause: &Cause| matches!(cause, Cause::Throttled);
    is(
        Slow::Throttled,
        slow,
        throttled,
        &["control group", "rank 1 on node1"],
    );
    let niced = |cause: &Cause| matches!(cause, Cause::Niced { nice: 15 });
    is(
        Slow::Niced,
        slow,
        niced,
        &["rank 1 on node1 runs at nice 15"],
    );
    let overloaded = |cause: &Cause| matches!(cause, Cause::Overloaded { cores: 2, .. });
    for slowness in [Slow::Overloaded, Slow::Exchange] {
        is(
            slowness,
            slow,
            overloaded,
            &["rank 1", "other programs used", "of its 2 cores"],
        );
    }
}

#[test]
fn slow_files_are_named() {
    let slow = Some(SLOW);
    let input = |cause: &Cause| matches!(cause, Cause::SlowInput { .. });
    is(
        Slow::Input,
        slow,
        input,
        &["rank 1", "waits", "for its input"],
    );
    let gzip = |cause: &Cause| matches!(cause, Cause::Decompressing { .. });
    is(
        Slow::Gzip,
        None,
        gzip,
        &["decompresses 60 MiB to 240 MiB", "one thread at a time"],
    );
    let spill = |cause: &Cause| matches!(cause, Cause::SlowSpill { .. });
    is(
        Slow::SpillDisk,
        slow,
        spill,
        &["rank 1", "disk of temporary files"],
    );
    let memory = |cause: &Cause| matches!(cause, Cause::LittleMemory { .. });
    is(Slow::Memory, None, memory, &["the memory is too small"]);
    let output = |cause: &Cause| matches!(cause, Cause::SlowOutput { .. });
    for slowness in [Slow::Output, Slow::Layout] {
        is(slowness, slow, output, &["rank 1", "writes the output"]);
    }
}

#[test]
fn unequal_work_and_the_network_are_named() {
    let heavy = |cause: &Cause| matches!(cause, Cause::HeavyPartition { .. });
    is(
        Slow::Partition,
        Some(SLOW),
        heavy,
        &["rank 1", "one partition of 40 MiB"],
    );
    let network = |cause: &Cause| matches!(cause, Cause::Network { .. });
    is(
        Slow::Network,
        None,
        network,
        &["the network", "a round takes 1.00 s"],
    );
}
