//! A run in threads, one for each direction of each edge, over links that are as slow as asked for.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::memory::{Memory, outputs};
use super::{Executor, Messages};
use crate::error::GossipError;
use crate::topology::Topology;
use crate::transfers::Transfers;

/// Bytes that pass a link at once.
const PIECE: usize = 1 << 15;

/// What a link may make up for after it was idle, or a thread overslept.
const BURST: Duration = Duration::from_millis(4);

/// Threads with throttled links.
#[derive(Clone, Debug)]
pub struct Threads {
    topology: Topology,
    /// Bytes a second of a link and direction; nothing for as fast as memory.
    rate: Option<f64>,
}

impl Threads {
    /// Links that carry `rate` bytes a second in each direction. Ways without links are half as
    /// fast.
    pub fn throttled(topology: &Topology, rate: f64) -> Threads {
        Threads {
            topology: topology.clone(),
            rate: Some(rate),
        }
    }

    /// Links that are as fast as memory.
    pub fn unlimited(topology: &Topology) -> Threads {
        Threads {
            topology: topology.clone(),
            rate: None,
        }
    }
}

/// A token bucket: bytes pass at a rate, and a little faster after a pause.
struct Bucket {
    rate: f64,
    /// When the last of the bytes that were let through have passed.
    passed: Instant,
}

impl Bucket {
    fn new(rate: f64, now: Instant) -> Mutex<Bucket> {
        Mutex::new(Bucket { rate, passed: now })
    }

    /// Lets bytes through; says when they have passed.
    fn pass(&mut self, bytes: usize, now: Instant) -> Instant {
        let earliest = now.checked_sub(BURST).unwrap_or(now);
        self.passed = self.passed.max(earliest) + Duration::from_secs_f64(bytes as f64 / self.rate);
        self.passed
    }
}

/// Which transfers are done, and who waits for one.
struct Events {
    done: Mutex<Vec<bool>>,
    changed: Condvar,
}

impl Events {
    fn wait(&self, number: usize) {
        let mut done = locked(&self.done);
        while !done[number] {
            done = self
                .changed
                .wait(done)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn set(&self, number: usize) {
        locked(&self.done)[number] = true;
        self.changed.notify_all();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The buckets of an edge, and of the ports of all devices, for sending and for receiving.
struct Links {
    ports: [Vec<Mutex<Bucket>>; 2],
}

impl Executor for Threads {
    fn execute(
        &self,
        traffic: &Transfers,
        inputs: &Messages,
    ) -> Result<(Messages, Duration), GossipError> {
        let mut outputs = outputs(traffic, inputs);
        let memory = Memory::new(traffic, inputs, &mut outputs);
        let events = Events {
            done: Mutex::new(vec![false; traffic.transfers().len()]),
            changed: Condvar::new(),
        };
        let start = Instant::now();
        let ports = || match (self.rate, self.topology.ports()) {
            (Some(rate), Some(ports)) => {
                let bucket = |&ports: &u32| Bucket::new(rate * f64::from(ports), start);
                ports.iter().map(bucket).collect()
            }
            _ => Vec::new(),
        };
        let links = Links {
            ports: [ports(), ports()],
        };
        thread::scope(|scope| {
            for ((from, to), queue) in traffic.queues() {
                let (memory, events, links) = (&memory, &events, &links);
                scope.spawn(move || {
                    let own = self.bucket(from, to, start);
                    let buckets = own.iter().chain(links.ports[0].get(from));
                    let buckets: Vec<_> = buckets.chain(links.ports[1].get(to)).collect();
                    for number in queue {
                        if let Some(before) = traffic.transfers()[number].after {
                            events.wait(before);
                        }
                        memory.copy(number, PIECE, |bytes| pass(&buckets, bytes));
                        events.set(number);
                    }
                });
            }
        });
        let time = start.elapsed();
        drop(memory);
        Ok((outputs, time))
    }
}

impl Threads {
    fn bucket(&self, from: usize, to: usize, now: Instant) -> Option<Mutex<Bucket>> {
        let rate = self.rate?;
        let links = match self.topology.links(from, to) {
            0 => 0.5,
            links => f64::from(links),
        };
        Some(Bucket::new(rate * links, now))
    }
}

/// Sleeps until the bytes have passed all of the buckets.
fn pass(buckets: &[&Mutex<Bucket>], bytes: usize) {
    let now = Instant::now();
    let passed = buckets
        .iter()
        .map(|bucket| locked(bucket).pass(bytes, now))
        .max();
    if let Some(rest) = passed.and_then(|passed| passed.checked_duration_since(Instant::now())) {
        thread::sleep(rest);
    }
}
