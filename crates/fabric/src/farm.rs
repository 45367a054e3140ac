//! Tasks for the threads of all processes, whose results leave in the order of the tasks.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::{FabricError, Mailbox, World};

/// How a farm works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Farm {
    /// Tasks, the same number in all processes.
    pub tasks: usize,
    /// Threads of this process that work on them; with those of all processes, one at least.
    pub workers: usize,
    /// Tasks that may be handed out before the first of them has left: so many results are kept in
    /// the first process at most. The same in all processes, 1 at least.
    pub ahead: usize,
    /// Parts of something that tasks need, of which a process has one at a time: equally many tasks
    /// that follow each other are of each. A process is given tasks of the part that it has as long
    /// as there are any, then of the one with the most for each process that has it. The same in
    /// all processes, 1 at least; above 1 all tasks may be `ahead`.
    pub parts: usize,
}

/// With the number of a message: a result. The others are tasks.
const RESULT: u64 = 1 << 63;
/// With the number of a message: a process has so many workers.
const WORKERS: u64 = 1 << 62;
/// No task is left.
const END: u64 = u64::MAX;

impl Farm {
    /// Collective. Does tasks `0..self.tasks`, each by one thread of any process, and gives what
    /// they become to `leave` in the first process, in the order of tasks. Which process does a
    /// task depends on who is free; what leaves does not.
    ///
    /// The first process hands out the tasks and takes their results, so that a task should take a
    /// millisecond or more, and a result some megabytes at most.
    ///
    /// # Errors
    /// Those of `work` and `leave` in this process; another process failed.
    ///
    /// # Panics
    /// When `work` does.
    pub fn run<E: From<FabricError> + Send>(
        self,
        world: &dyn World,
        work: impl Fn(usize) -> Result<Vec<u8>, E> + Sync,
        leave: &mut dyn FnMut(usize, Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        // One for what the first process hears, one for what it says: it has workers of its own.
        let (heard, said) = (world.mailbox()?, world.mailbox()?);
        let (to_workers, tasks) = sync_channel(self.workers);
        let (tasks, failed) = (Mutex::new(tasks), Mutex::new(None));
        let worker = || self.work(world, &*heard, &tasks, &work, &failed);
        let done = thread::scope(|scope| {
            (0..self.workers).for_each(|_| _ = scope.spawn(worker));
            let of_process = WORKERS | world.rank() as u64;
            let count = (self.workers as u64).to_le_bytes();
            heard.send(0, of_process, count.into())?;
            let relay = || relay(&*said, to_workers, &failed);
            if world.rank() > 0 {
                return relay();
            }
            let relaying = scope.spawn(relay);
            let mut first = First::new(self, world.ranks(), &*said, leave);
            let led = first.lead(&*heard, &failed);
            let ended = first.end();
            let relayed = relaying.join().expect("no thread panics that relays tasks");
            led.and(relayed).and(ended.map_err(E::from))
        });
        let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        failed.map_or(done, Err)
    }

    /// Works until there are no tasks.
    fn work<E>(
        self,
        world: &dyn World,
        results: &dyn Mailbox,
        tasks: &Mutex<Receiver<usize>>,
        work: &(impl Fn(usize) -> Result<Vec<u8>, E> + Sync),
        failed: &Mutex<Option<E>>,
    ) where
        E: From<FabricError>,
    {
        let _panics = OnPanic(failed);
        let next = || tasks.lock().ok()?.recv().ok();
        while let Some(task) = next() {
            let sent = work(task).and_then(|mut result| {
                result.extend_from_slice(&(world.rank() as u64).to_le_bytes());
                Ok(results.send(0, RESULT | task as u64, result)?)
            });
            if let Err(error) = sent {
                let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                failed.get_or_insert(error);
                return;
            }
        }
    }
}

/// Lets nobody wait for what a worker that panicked was to do.
struct OnPanic<'a, E: From<FabricError>>(&'a Mutex<Option<E>>);

impl<E: From<FabricError>> Drop for OnPanic<'_, E> {
    fn drop(&mut self) {
        if thread::panicking() {
            let mut failed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            failed.get_or_insert_with(|| FabricError::Elsewhere.into());
        }
    }
}

/// Hands the tasks of this process to its workers, until there are no more.
fn relay<E: From<FabricError>>(
    said: &dyn Mailbox,
    to_workers: SyncSender<usize>,
    failed: &Mutex<Option<E>>,
) -> Result<(), E> {
    loop {
        let task = next(said, failed)?.0;
        // Workers that failed take none.
        if task == END || to_workers.send(task as usize).is_err() {
            return Ok(());
        }
    }
}

/// The next message, unless a worker of this process failed, which says why.
fn next<E: From<FabricError>>(
    mailbox: &dyn Mailbox,
    failed: &Mutex<Option<E>>,
) -> Result<(u64, Vec<u8>), E> {
    let mut pauses = crate::mailbox::Pauses::default();
    loop {
        if failed.lock().is_ok_and(|failed| failed.is_some()) {
            return Err(FabricError::Elsewhere.into());
        }
        match mailbox.receive()? {
            Some(message) => return Ok(message),
            None => pauses.sleep(),
        }
    }
}

/// What the first process does.
struct First<'a, E> {
    farm: Farm,
    said: &'a dyn Mailbox,
    leave: &'a mut dyn FnMut(usize, Vec<u8>) -> Result<(), E>,
    ranks: usize,
    /// Tasks that a process may be given, by rank.
    free: Vec<usize>,
    /// The process that is given a task first.
    turn: usize,
    /// Tasks handed out.
    given: usize,
    /// Those that were not, by part.
    rest: Vec<Range<usize>>,
    /// The part that a process has, by rank.
    had: Vec<Option<usize>>,
    /// Results that left.
    left: usize,
    /// Results that wait for others.
    waiting: BTreeMap<usize, Vec<u8>>,
}

impl<'a, E: From<FabricError>> First<'a, E> {
    fn new(
        farm: Farm,
        ranks: usize,
        said: &'a dyn Mailbox,
        leave: &'a mut dyn FnMut(usize, Vec<u8>) -> Result<(), E>,
    ) -> First<'a, E> {
        let each = farm.tasks / farm.parts;
        let of_part = |part: usize| each * part..each * (part + 1);
        First {
            farm,
            said,
            leave,
            ranks,
            free: vec![0; ranks],
            turn: 0,
            given: 0,
            rest: (0..farm.parts).map(of_part).collect(),
            had: vec![None; ranks],
            left: 0,
            waiting: BTreeMap::new(),
        }
    }

    /// Until all results left.
    fn lead(&mut self, heard: &dyn Mailbox, failed: &Mutex<Option<E>>) -> Result<(), E> {
        while self.left < self.farm.tasks {
            self.give()?;
            let (number, bytes) = next(heard, failed)?;
            self.hear(number, bytes)?;
        }
        Ok(())
    }

    fn end(&self) -> Result<(), FabricError> {
        (0..self.ranks).try_for_each(|rank| self.said.send(rank, END, Vec::new()))
    }

    /// Hands out tasks, to each process in turn that has a free worker.
    fn give(&mut self) -> Result<(), FabricError> {
        let most = self.farm.tasks.min(self.left + self.farm.ahead.max(1));
        while self.given < most {
            let others = (0..self.ranks).map(|ahead| (self.turn + ahead) % self.ranks);
            let Some(rank) = others.into_iter().find(|&rank| self.free[rank] > 0) else {
                break;
            };
            let Some(task) = self.next_of(rank) else {
                break;
            };
            self.said.send(rank, task as u64, Vec::new())?;
            self.free[rank] -= 1;
            self.given += 1;
            self.turn = (rank + 1) % self.ranks;
        }
        Ok(())
    }

    /// The next task for a process.
    fn next_of(&mut self, rank: usize) -> Option<usize> {
        let own = self.had[rank].filter(|&part| !self.rest[part].is_empty());
        let part = own.or_else(|| {
            self.had[rank] = None;
            self.neediest()
        })?;
        self.had[rank] = Some(part);
        self.rest[part].next()
    }

    /// The part with the most tasks for each process that would have it; of equal ones the first.
    fn neediest(&self) -> Option<usize> {
        let with = |part| 1 + self.had.iter().filter(|&&had| had == Some(part)).count();
        let parts = (0..self.rest.len()).filter(|&part| !self.rest[part].is_empty());
        let tasks = |part: usize| self.rest[part].len();
        parts.reduce(
            |best, part| match tasks(part) * with(best) > tasks(best) * with(part) {
                true => part,
                false => best,
            },
        )
    }

    fn hear(&mut self, number: u64, mut bytes: Vec<u8>) -> Result<(), E> {
        let behind = bytes.split_off(bytes.len().saturating_sub(8));
        let behind = u64::from_le_bytes(behind.try_into().expect("a number in eight bytes"));
        if number & RESULT == 0 {
            self.free[(number & !WORKERS) as usize] = behind as usize;
            return Ok(());
        }
        self.free[behind as usize] += 1;
        self.waiting.insert((number & !RESULT) as usize, bytes);
        while let Some(result) = self.waiting.remove(&self.left) {
            (self.leave)(self.left, result)?;
            self.left += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Alone;

    #[test]
    fn results_leave_in_order_and_few_are_ahead() {
        use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
        let (given, left) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let farm = Farm {
            tasks: 200,
            workers: 3,
            ahead: 5,
            parts: 1,
        };
        let mut results = Vec::new();
        let work = |task: usize| {
            let ahead = given.fetch_add(1, SeqCst) - left.load(SeqCst);
            assert!(ahead <= 5, "{ahead}");
            Ok::<_, FabricError>(vec![task as u8; task % 7])
        };
        let mut leave = |task: usize, result: Vec<u8>| {
            left.fetch_add(1, SeqCst);
            results.push((task, result));
            Ok(())
        };
        farm.run(&Alone, work, &mut leave).expect("no task fails");
        let expected = (0..200).map(|task| (task, vec![task as u8; task % 7]));
        assert!(results.into_iter().eq(expected));
    }

    #[test]
    fn an_error_of_a_task_ends_the_farm() {
        let farm = Farm {
            tasks: 100,
            workers: 2,
            ahead: 10,
            parts: 1,
        };
        let work = |task| match task {
            17 => Err(FabricError::Memory),
            _ => Ok(Vec::new()),
        };
        let done = farm.run(&Alone, work, &mut |_, _| Ok(()));
        assert!(matches!(done, Err(FabricError::Memory)), "{done:?}");
        let done = farm.run(&Alone, |_| Ok(Vec::new()), &mut |task, _| match task {
            40 => Err(FabricError::Memory),
            _ => Ok(()),
        });
        assert!(matches!(done, Err(FabricError::Memory)), "{done:?}");
    }

    #[test]
    fn processes_keep_to_a_part() {
        use crate::testing;
        let farm = Farm {
            tasks: 60,
            workers: 1,
            ahead: 60,
            parts: 3,
        };
        for ranks in [1, 2, 3, 5] {
            let done = testing::run(ranks, crate::Steal::Off, |world| {
                let parts = Mutex::new(Vec::new());
                let work = |task: usize| {
                    let mut parts = parts.lock().expect("no worker panics");
                    parts.push(task / 20);
                    Ok::<_, FabricError>(task.to_le_bytes().to_vec())
                };
                let mut next = 0_usize;
                farm.run(world, work, &mut |task, result| {
                    assert_eq!((task, &result[..]), (next, &next.to_le_bytes()[..]));
                    next += 1;
                    Ok(())
                })?;
                let mut parts = parts.into_inner().expect("no worker panicked");
                parts.dedup();
                Ok::<_, FabricError>(parts)
            });
            for parts in done {
                let mut parts = parts.expect("no task fails");
                let changes = parts.len();
                parts.sort_unstable();
                parts.dedup();
                assert_eq!(parts.len(), changes, "none came back to a part");
            }
        }
    }
}
