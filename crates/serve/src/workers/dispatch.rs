//! Gives the jobs of the store to workers, as the scheduler has it, and takes what they find.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use gyrase_schedule::{NodeId, QueryId, Scheduler, Start, Tuning};
use gyrase_search::FoundFragments;

use super::event::Event;
use super::process::WorkerProcess;
use super::sharing::Sharing;
use super::wire::{Order, Search, Word};
use crate::ServeError;
use crate::config::Workers;
use crate::engine;
use crate::engine::{Engine, Running};
use crate::error::Unsearched;
use crate::job::Job;
use crate::store::Outcome;

/// How often the dispatcher looks after workers where nothing happens.
const LOOK: Duration = Duration::from_millis(100);
/// How long a worker may go on with what nobody wants any more.
const STOP: Duration = Duration::from_secs(10);
/// How long a worker that ended is left alone before it is started again: at first, and at most.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(30)];
/// How long the dispatcher waits where the store fails.
const PAUSE: Duration = Duration::from_secs(2);
/// Workers that may end while a job runs.
const LOSSES: u32 = 3;

/// Gives jobs to workers.
pub struct Dispatcher<'e> {
    engine: &'e Engine,
    workers: &'e Workers,
    tell: Sender<Event>,
    events: Receiver<Event>,
    scheduler: Scheduler,
    seats: Vec<Seat>,
    tasks: HashMap<u64, Task>,
    /// Jobs that the scheduler knows, and that do not run.
    known: BTreeSet<i64>,
    /// Jobs that have to run alone, and how many workers ended with them.
    alone: HashMap<i64, u32>,
    /// The last job of the store that the scheduler was told of.
    last: i64,
    has_changed: bool,
    /// When the store is asked again, which failed.
    again: Instant,
}

/// The place of a worker.
struct Seat {
    process: Option<WorkerProcess>,
    life: u64,
    is_ready: bool,
    /// When it is started again, and how long the next pause is.
    again: Instant,
    pause: Duration,
}

impl Seat {
    /// Leaves it alone for a while, and for longer the next time.
    fn rest(&mut self) {
        self.again = Instant::now() + self.pause;
        self.pause = (2 * self.pause).min(PAUSES[1]);
    }
}

/// Jobs that workers search for together.
struct Task {
    batch: Vec<Job>,
    running: Arc<Running>,
    /// Workers that have not said yet that they are done.
    left: BTreeSet<u32>,
    found: FoundFragments,
    problem: Option<Unsearched>,
    is_lost: bool,
    stopped: Option<Instant>,
}

impl<'e> Dispatcher<'e> {
    /// A dispatcher whose workers are not started yet.
    pub fn new(
        engine: &'e Engine,
        workers: &'e Workers,
        Sharing { policy, sizes }: Sharing,
    ) -> Dispatcher<'e> {
        let (tell, events) = channel();
        let seat = |_| Seat {
            process: None,
            life: 0,
            is_ready: false,
            again: Instant::now(),
            pause: PAUSES[0],
        };
        Dispatcher {
            engine,
            workers,
            tell,
            events,
            scheduler: Scheduler::new(policy, Tuning::default(), 1, sizes),
            seats: workers.commands.iter().map(seat).collect(),
            tasks: HashMap::new(),
            known: BTreeSet::new(),
            alone: HashMap::new(),
            last: 0,
            has_changed: true,
            again: Instant::now(),
        }
    }

    /// Where the dispatcher hears what happens.
    pub fn events(&self) -> Sender<Event> {
        self.tell.clone()
    }

    /// Does jobs until the service drains.
    pub fn run(mut self) {
        thread::scope(|scope| {
            while !self.engine.is_draining() || !self.tasks.is_empty() {
                match self.events.recv_timeout(LOOK) {
                    Ok(event) => self.take(event, scope),
                    Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
                }
                while let Ok(event) = self.events.try_recv() {
                    self.take(event, scope);
                }
                self.look_after();
                if !self.engine.is_draining() && Instant::now() >= self.again {
                    self.hear_of_jobs();
                    for start in self.scheduler.schedule() {
                        self.begin(start);
                    }
                }
            }
            let processes = self
                .seats
                .iter_mut()
                .filter_map(|seat| seat.process.as_mut());
            processes.for_each(WorkerProcess::end);
        });
    }

    fn take<'s>(&mut self, event: Event, scope: &'s Scope<'s, 'e>)
    where
        'e: 's,
    {
        match event {
            Event::Changed => self.has_changed = true,
            Event::Ended { again, over, alone } => {
                self.alone.retain(|number, _| !over.contains(number));
                let alone = again.iter().filter(|_| alone);
                alone.for_each(|job| {
                    self.alone.entry(job.number).or_default();
                });
                again.iter().for_each(|job| self.arrive(job));
            }
            Event::Said(worker, life, word, body) => {
                if self.seats[worker as usize].life == life {
                    self.hear(worker, word, body, scope);
                }
            }
            Event::Lost(worker, life, error) => {
                if self.seats[worker as usize].life == life {
                    self.lose(worker, error, scope);
                }
            }
        }
    }

    /// Tells the scheduler of jobs that came since.
    fn hear_of_jobs(&mut self) {
        if !std::mem::take(&mut self.has_changed) {
            return;
        }
        match self.engine.store().waiting_behind(self.last) {
            Ok(jobs) => {
                for job in jobs {
                    self.last = job.number;
                    self.arrive(&job);
                }
            }
            Err(error) => self.ask_later(&error, self.last),
        }
    }

    /// Asks a store that fails for the jobs behind one, in a while.
    fn ask_later(&mut self, error: &ServeError, last: i64) {
        tracing::error!("{error}");
        (self.last, self.has_changed) = (last, true);
        self.again = Instant::now() + PAUSE;
    }

    fn arrive(&mut self, job: &Job) {
        let mut all = self.engine.databases().all().iter();
        let Some(database) = all.position(|served| served.named.name == job.database) else {
            let problem = format!("the database {} is served no more", job.database);
            return self
                .engine
                .note(&[(job.id.clone(), Outcome::Failed { problem })]);
        };
        if self.known.insert(job.number) {
            self.scheduler.arrive(QueryId(job.number as u64), database);
        }
    }

    /// Begins the search for a job, and for others that ask the same.
    fn begin(&mut self, start: Start) {
        let number = start.query.0 as i64;
        self.known.remove(&number);
        let jobs = match self.alone.contains_key(&number) {
            true => 1,
            false => engine::BATCH.1,
        };
        let begun = self.engine.take_with(number, jobs);
        let (batch, queries) = match begun {
            Ok((batch, queries)) if !batch.is_empty() => (batch, queries),
            done => {
                // It was deleted, or the store fails for a while.
                if let Err(error) = done {
                    self.ask_later(&error, self.last.min(number - 1));
                }
                self.scheduler.complete(start.query);
                return;
            }
        };
        for job in &batch[1..] {
            self.known.remove(&job.number);
            self.scheduler.withdraw(QueryId(job.number as u64));
        }
        let running = self.engine.begin(&batch);
        let served = self.engine.databases().named(&batch[0].database);
        let fragments = served.map_or(0, |served| served.searched.fragments());
        let progress = &running.progress;
        progress.start_counting("search", fragments as u64, "fragments");
        for (place, node) in start.nodes.iter().enumerate() {
            let search = Search {
                task: start.query.0,
                database: batch[0].database.clone(),
                options: batch[0].options.clone(),
                share: [place, start.nodes.len()],
                files: queries.iter().map(Vec::len).collect(),
            };
            if let Some(process) = &self.seats[node.0 as usize].process {
                process.say(Order::Search(search), queries.concat());
            }
        }
        let task = Task {
            batch,
            running,
            left: start.nodes.iter().map(|node| node.0).collect(),
            found: self.engine.none_found(self.seats.len()),
            problem: None,
            is_lost: false,
            stopped: None,
        };
        self.tasks.insert(start.query.0, task);
    }

    /// Takes a word of a worker.
    fn hear<'s>(&mut self, worker: u32, word: Word, body: Vec<u8>, scope: &'s Scope<'s, 'e>)
    where
        'e: 's,
    {
        match word {
            Word::Ready { version, digests } => self.greet(worker, &version, &digests),
            Word::Found { task } => {
                if let Some(task) = self.tasks.get_mut(&task) {
                    task.running.progress.advance(1);
                    let kept = task.found.push(body);
                    task.problem = task.problem.take().or(kept.err().map(Unsearched::from));
                }
            }
            Word::Done { task, read } => {
                self.engine.fragment_bytes.fetch_add(read, Relaxed);
                self.leave(worker, task, None, scope);
            }
            Word::Failed {
                task,
                problem,
                cancelled,
            } => {
                let problem = match cancelled {
                    true => Unsearched::Cancelled,
                    false => Unsearched::Failed(problem),
                };
                self.leave(worker, task, Some(problem), scope);
            }
        }
    }

    /// Gives jobs to a worker that is ready, if it is one of this service.
    fn greet(&mut self, worker: u32, version: &str, digests: &[(String, [u64; 4])]) {
        let all = self.engine.databases().all().iter();
        let own = all.map(|served| (served.named.name.clone(), served.searched.digest()));
        let seat = &mut self.seats[worker as usize];
        let other = if version != env!("CARGO_PKG_VERSION") {
            Some(format!("it is version {version} of gyrase"))
        } else if !own.eq(digests.iter().cloned()) {
            Some("its databases, or their fragments, are not those of the service".into())
        } else {
            None
        };
        if let Some(other) = other {
            tracing::error!("worker {}: {other}", worker + 1);
            seat.pause = PAUSES[1];
            if let Some(process) = &mut seat.process {
                process.kill();
            }
            return;
        }
        (seat.is_ready, seat.pause) = (true, PAUSES[0]);
        self.scheduler.join(NodeId(worker));
        self.tell_workers();
        tracing::info!("worker {} of {} is ready", worker + 1, self.seats.len());
    }

    /// A worker is gone: what it searched for begins anew.
    fn lose<'s>(&mut self, worker: u32, error: Option<io::Error>, scope: &'s Scope<'s, 'e>)
    where
        'e: 's,
    {
        let seat = &mut self.seats[worker as usize];
        let why = error.map_or_else(String::new, |error| format!(": {error}"));
        tracing::warn!("worker {} has ended{why}; starting it again", worker + 1);
        (seat.process, seat.is_ready) = (None, false);
        seat.rest();
        let task = self.scheduler.leave(NodeId(worker));
        self.tell_workers();
        let Some(QueryId(number)) = task else {
            return;
        };
        if let Some(task) = self.tasks.get_mut(&number) {
            task.is_lost = true;
        }
        self.leave(worker, number, None, scope);
    }

    /// A worker has nothing more to do for a task, which ends with the last of them.
    fn leave<'s>(
        &mut self,
        worker: u32,
        number: u64,
        problem: Option<Unsearched>,
        scope: &'s Scope<'s, 'e>,
    ) where
        'e: 's,
    {
        let Some(task) = self.tasks.get_mut(&number) else {
            return;
        };
        task.left.remove(&worker);
        task.problem = task.problem.take().or(problem);
        if task.problem.is_some() || task.is_lost {
            self.stop(number);
        }
        if self.tasks[&number].left.is_empty() {
            let task = self.tasks.remove(&number).expect("it was there");
            self.scheduler.complete(QueryId(number));
            self.end(task, scope);
        }
    }

    /// Asks the workers of a task to stop.
    fn stop(&mut self, number: u64) {
        let Some(task) = self
            .tasks
            .get_mut(&number)
            .filter(|task| task.stopped.is_none())
        else {
            return;
        };
        task.stopped = Some(Instant::now());
        for &worker in &task.left {
            if let Some(process) = &self.seats[worker as usize].process {
                process.say(Order::Cancel { task: number }, Vec::new());
            }
        }
    }

    /// Notes how the jobs of a task ended, or lets them wait again.
    fn end<'s>(&mut self, task: Task, scope: &'s Scope<'s, 'e>)
    where
        'e: 's,
    {
        let Task {
            batch,
            running,
            found,
            problem,
            is_lost,
            ..
        } = task;
        let (engine, tell) = (self.engine, self.tell.clone());
        // A worker that did not stop in time was killed, which is no fault of the jobs.
        let is_cancelled = running.progress.is_cancelled();
        let lost = (is_lost && !is_cancelled).then(|| self.lost(&batch));
        let problem = match is_lost && is_cancelled {
            true => Some(Unsearched::Cancelled),
            false => problem,
        };
        scope.spawn(move || {
            let ended = lost.or_else(|| {
                let found = match problem {
                    Some(problem) => Err(problem),
                    None => engine.merge(&batch, found, &running.progress),
                };
                engine.ended(&batch, &running, found)
            });
            let alone = ended.is_none();
            let again = batch
                .iter()
                .map(|job| (job.id.clone(), Outcome::Interrupted));
            let ended = ended.unwrap_or_else(|| again.collect());
            engine.end(&batch, &running, &ended);
            let ended = ended.into_iter().zip(batch);
            let (again, over): (Vec<_>, Vec<_>) =
                ended.partition(|((_, outcome), _)| matches!(outcome, Outcome::Interrupted));
            let _ = tell.send(Event::Ended {
                again: again.into_iter().map(|(_, job)| job).collect(),
                over: over.into_iter().map(|(_, job)| job.number).collect(),
                alone,
            });
        });
    }

    /// How jobs end whose worker was lost: they wait again, each alone, if not for the last time.
    fn lost(&mut self, batch: &[Job]) -> Vec<(String, Outcome)> {
        let outcome = |job: &Job| {
            let losses = self.alone.entry(job.number).or_default();
            *losses += 1;
            let outcome = match *losses < LOSSES {
                true => Outcome::Interrupted,
                false => Outcome::Failed {
                    problem: format!("{LOSSES} workers ended while this job ran"),
                },
            };
            (job.id.clone(), outcome)
        };
        batch.iter().map(outcome).collect()
    }

    /// Starts workers that are missing, and stops what nobody wants any more.
    fn look_after(&mut self) {
        if !self.engine.is_draining() {
            for worker in 0..self.seats.len() {
                self.start(worker);
            }
        }
        let cancelled = self.tasks.iter();
        let cancelled = cancelled.filter(|(_, task)| task.running.progress.is_cancelled());
        let cancelled: Vec<u64> = cancelled.map(|(&number, _)| number).collect();
        cancelled.into_iter().for_each(|number| self.stop(number));
        for task in self.tasks.values() {
            if task.stopped.is_some_and(|since| since.elapsed() > STOP) {
                for &worker in &task.left {
                    if let Some(process) = &mut self.seats[worker as usize].process {
                        process.kill();
                    }
                }
            }
        }
    }

    /// Starts a worker, if it is time.
    fn start(&mut self, worker: usize) {
        let seat = &mut self.seats[worker];
        if seat.process.is_some() || Instant::now() < seat.again {
            return;
        }
        seat.life += 1;
        let command = &self.workers.commands[worker];
        let named = (worker as u32, seat.life);
        match WorkerProcess::start(command, named, &self.tell) {
            Ok(process) => seat.process = Some(process),
            Err(error) => {
                let program = command.first().map(|program| program.display());
                let program = program.map_or_else(String::new, |program| program.to_string());
                tracing::error!("worker {}: {program}: {error}", worker + 1);
                seat.rest();
            }
        }
    }

    fn tell_workers(&self) {
        let ready = self.seats.iter().filter(|seat| seat.is_ready).count();
        self.engine.workers.store(ready as u64, Relaxed);
    }
}
