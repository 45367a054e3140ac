//! Events: jobs that pass servers one after the other.
//!
//! A *server* does one thing at a time, in the order in which jobs come to it: the planes of a
//! chip, a channel, DRAM, a processing unit. A *job* is a batch on its way through servers. Jobs
//! of a *stream* begin in their order, a few of them under way at once: so many buffers it has. A
//! job may wait for a *counter*, to which others add when they end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What a job does next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ServerStep {
    /// Who does it.
    pub(crate) server: usize,
    /// For how many seconds.
    pub(crate) seconds: f64,
    /// What the seconds count for: the server, or another thing that it does too.
    pub(crate) tally: usize,
}

impl ServerStep {
    pub(crate) fn new(server: usize, seconds: f64) -> ServerStep {
        ServerStep {
            server,
            seconds,
            tally: server,
        }
    }
}

/// A batch on its way.
#[derive(Clone, Copy, Debug)]
struct Job {
    /// Its steps are these.
    first: u32,
    end: u32,
    stream: u32,
    /// It begins when this counter has at least so much.
    waits: Option<(usize, u64)>,
    /// When it ends, so much is added to this counter.
    adds: Option<(usize, u64)>,
}

/// When a job begins, and what its end is told to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gates {
    pub(crate) waits: Option<(usize, u64)>,
    pub(crate) adds: Option<(usize, u64)>,
}

#[derive(Clone, Debug)]
struct Stream {
    jobs: Vec<u32>,
    next: usize,
    under_way: usize,
    window: usize,
}

/// Streams of jobs over servers.
#[derive(Clone, Debug)]
pub(crate) struct Events {
    steps: Vec<ServerStep>,
    jobs: Vec<Job>,
    streams: Vec<Stream>,
    counters: usize,
    servers: usize,
    tallies: usize,
}

/// What came out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Played {
    /// Seconds from the start to the end of the last job.
    pub(crate) seconds: f64,
    /// Seconds of each tally.
    pub(crate) busy: Vec<f64>,
    /// Ends of steps.
    pub(crate) events: u64,
}

/// A moment: events are played in the order of time, then of what came first.
#[derive(Clone, Copy, PartialEq)]
struct Moment(f64, u64);

impl Eq for Moment {}

impl PartialOrd for Moment {
    fn partial_cmp(&self, other: &Moment) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Moment {
    fn cmp(&self, other: &Moment) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

impl Events {
    /// Nothing yet, over so many servers, tallies and counters.
    pub(crate) fn new(servers: usize, tallies: usize, counters: usize) -> Events {
        Events {
            tallies,
            steps: Vec::new(),
            jobs: Vec::new(),
            streams: Vec::new(),
            counters,
            servers,
        }
    }

    /// A stream of at most `window` jobs at once.
    pub(crate) fn stream(&mut self, window: usize) -> usize {
        self.streams.push(Stream {
            jobs: Vec::new(),
            next: 0,
            under_way: 0,
            window: window.max(1),
        });
        self.streams.len() - 1
    }

    /// Adds a job to the end of a stream.
    pub(crate) fn job(&mut self, stream: usize, gates: Gates, steps: &[ServerStep]) {
        let first = self.steps.len() as u32;
        self.steps.extend_from_slice(steps);
        self.streams[stream].jobs.push(self.jobs.len() as u32);
        self.jobs.push(Job {
            first,
            end: self.steps.len() as u32,
            stream: stream as u32,
            waits: gates.waits,
            adds: gates.adds,
        });
    }

    /// Plays all of it.
    ///
    /// # Panics
    /// When jobs wait for what never comes.
    pub(crate) fn play(self) -> Played {
        let jobs = self.jobs.len();
        let mut player = Player {
            free: vec![0.0; self.servers],
            busy: vec![0.0; self.tallies],
            counters: vec![0; self.counters],
            blocked: vec![BinaryHeap::new(); self.counters],
            queue: BinaryHeap::new(),
            numbered: 0,
            now: 0.0,
            ended: 0,
            events: self,
        };
        let streams = player.events.streams.len();
        (0..streams).for_each(|stream| player.begin(stream));
        let mut events = 0;
        while let Some(Reverse((Moment(time, _), job, step))) = player.queue.pop() {
            player.now = time;
            player.advance(job, step);
            events += 1;
        }
        assert!(player.ended == jobs, "every job begins some day");
        Played {
            seconds: player.now,
            busy: player.busy,
            events,
        }
    }
}

struct Player {
    events: Events,
    /// When each server is free.
    free: Vec<f64>,
    busy: Vec<f64>,
    counters: Vec<u64>,
    /// Streams that wait for a counter, least first.
    blocked: Vec<BinaryHeap<Reverse<(u64, usize)>>>,
    queue: BinaryHeap<Reverse<(Moment, u32, u32)>>,
    numbered: u64,
    now: f64,
    ended: usize,
}

impl Player {
    /// Begins what may begin of a stream.
    fn begin(&mut self, stream: usize) {
        loop {
            let Stream {
                jobs,
                next,
                under_way,
                window,
            } = &mut self.events.streams[stream];
            let Some(&job) = jobs.get(*next).filter(|_| *under_way < *window) else {
                return;
            };
            let Job { first, waits, .. } = self.events.jobs[job as usize];
            if let Some((counter, least)) = waits
                && self.counters[counter] < least
            {
                self.blocked[counter].push(Reverse((least, stream)));
                return;
            }
            *next += 1;
            *under_way += 1;
            self.advance(job, first);
        }
    }

    /// A job comes to a step, or has had its last.
    fn advance(&mut self, job: u32, step: u32) {
        let Job { end, .. } = self.events.jobs[job as usize];
        if step == end {
            return self.end(job);
        }
        let ServerStep {
            server,
            seconds,
            tally,
        } = self.events.steps[step as usize];
        let done = self.free[server].max(self.now) + seconds;
        self.free[server] = done;
        self.busy[tally] += seconds;
        self.numbered += 1;
        let moment = Moment(done, self.numbered);
        self.queue.push(Reverse((moment, job, step + 1)));
    }

    fn end(&mut self, job: u32) {
        let Job { stream, adds, .. } = self.events.jobs[job as usize];
        self.ended += 1;
        self.events.streams[stream as usize].under_way -= 1;
        if let Some((counter, amount)) = adds {
            self.counters[counter] += amount;
            while let Some(&Reverse((least, waiting))) = self.blocked[counter].peek()
                && least <= self.counters[counter]
            {
                self.blocked[counter].pop();
                self.begin(waiting);
            }
        }
        self.begin(stream as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(steps: &[(usize, f64)]) -> Vec<ServerStep> {
        steps
            .iter()
            .map(|&(server, seconds)| ServerStep::new(server, seconds))
            .collect()
    }

    #[test]
    fn a_pipeline_takes_its_slowest_step_and_the_rest_once() {
        let mut events = Events::new(3, 3, 0);
        let stream = events.stream(3);
        for _ in 0..5 {
            events.job(
                stream,
                Gates::default(),
                &steps(&[(0, 1.0), (1, 4.0), (2, 2.0)]),
            );
        }
        let played = events.play();
        assert_eq!(played.seconds, 1.0 + 5.0 * 4.0 + 2.0);
        assert_eq!(played.busy, [5.0, 20.0, 10.0]);
        assert_eq!(played.events, 15);
    }

    #[test]
    fn one_buffer_is_one_job_at_a_time() {
        let mut events = Events::new(2, 2, 0);
        let stream = events.stream(1);
        (0..4).for_each(|_| events.job(stream, Gates::default(), &steps(&[(0, 1.0), (1, 2.0)])));
        assert_eq!(events.play().seconds, 12.0);
    }

    #[test]
    fn servers_are_shared_first_come_first_served() {
        let mut events = Events::new(1, 1, 0);
        for seconds in [1.0, 2.0, 4.0] {
            let stream = events.stream(1);
            events.job(stream, Gates::default(), &steps(&[(0, seconds)]));
        }
        let played = events.play();
        assert_eq!((played.seconds, played.busy[0]), (7.0, 7.0));
    }

    #[test]
    fn jobs_wait_for_counters() {
        let mut events = Events::new(2, 2, 1);
        let (early, late) = (events.stream(1), events.stream(1));
        let adds = Gates {
            adds: Some((0, 10)),
            ..Gates::default()
        };
        (0..3).for_each(|_| events.job(early, adds, &steps(&[(0, 1.0)])));
        let waits = |least| Gates {
            waits: Some((0, least)),
            ..Gates::default()
        };
        events.job(late, waits(15), &steps(&[(1, 0.5)]));
        events.job(late, waits(30), &[]);
        assert_eq!(events.play().seconds, 3.0);
    }

    #[test]
    #[should_panic(expected = "every job begins")]
    fn what_never_comes_is_noticed() {
        let mut events = Events::new(1, 1, 1);
        let stream = events.stream(1);
        events.job(
            stream,
            Gates {
                waits: Some((0, 1)),
                adds: None,
            },
            &steps(&[(0, 1.0)]),
        );
        events.play();
    }
}
