//! Collectives under way that threads wait for.

use std::collections::VecDeque;

use gyrase_fabric::{FabricError, Pages};

use crate::counters::add;
use crate::mpi::Mpi;
use crate::pieces::Pieces;
use crate::shim::{Fetch, Numbers, Operation, Pair, Reduce, Shim};
use crate::tasks::{Reply, Task};

/// One collective after the other, in the order in which they were asked for: the same in every
/// process.
#[derive(Default)]
pub(crate) struct Collectives {
    under_way: Option<Box<dyn UnderWay>>,
    waiting: VecDeque<Task>,
    /// Numbers that all processes can use.
    pub(crate) windows: Windows,
}

/// A collective that was begun.
trait UnderWay {
    /// Whether it ended; then it is answered.
    fn step(&mut self, mpi: &Mpi, windows: &mut Windows) -> Result<bool, FabricError>;
}

impl Collectives {
    /// Does a task after those before it.
    pub(crate) fn push(&mut self, task: Task) {
        self.waiting.push_back(task);
    }

    /// Whether nothing is under way.
    pub(crate) fn is_idle(&self) -> bool {
        self.under_way.is_none() && self.waiting.is_empty()
    }

    /// Begins what is asked and answers what ended; whether one did.
    pub(crate) fn step(&mut self, mpi: &Mpi) -> Result<bool, FabricError> {
        let Some(under_way) = &mut self.under_way else {
            let Some(task) = self.waiting.pop_front() else {
                return Ok(false);
            };
            self.under_way = Some(begin(mpi, task, &self.windows)?);
            return Ok(true);
        };
        let ended = under_way.step(mpi, &mut self.windows)?;
        if ended {
            self.under_way = None;
        }
        Ok(ended)
    }

    /// Nobody is answered any more. What is under way is left to itself.
    pub(crate) fn forget(&mut self) {
        self.under_way = None;
        self.waiting.clear();
    }
}

fn begin(mpi: &Mpi, task: Task, windows: &Windows) -> Result<Box<dyn UnderWay>, FabricError> {
    add(&mpi.counting.collectives, 1);
    let shim = &mpi.shim;
    Ok(match task {
        Task::Reduce(how, mine, reply) => Asked::of(shim.reduce(how, mine)?, |(_, all)| all, reply),
        Task::Sizes(mine, reply) => Asked::of(shim.gather(mine, mpi.ranks)?, |(_, all)| all, reply),
        Task::Gather(mine, sizes, reply) => Asked::of(
            shim.gatherv(mine, gathered(mpi, &sizes)?)?,
            |gathered| gathered.all,
            reply,
        ),
        Task::Bytes(sent, each, reply) => {
            let pieces = || Pieces::of(vec![each as u64; mpi.ranks]).expect("a few bytes each");
            let came = Pages::new(sent.len())?;
            let operation = shim.alltoallv(sent, pieces(), came, pieces())?;
            Asked::of(operation, |moved| moved.came.to_vec(), reply)
        }
        Task::Window(each, reply) => Box::new(Opening {
            used: Some(shim.reduce(Reduce::Max, windows.used(each))?),
            made: None,
            reply,
        }),
        Task::Leave(_)
        | Task::Fetch { .. }
        | Task::Swap { .. }
        | Task::Send(_)
        | Task::Exchange(_) => unreachable!("no collective"),
    })
}

/// What rank 0 gets of whom. The others get nothing.
fn gathered(mpi: &Mpi, sizes: &[u64]) -> Result<Pieces, FabricError> {
    let sizes = if mpi.rank == 0 { sizes } else { &[] };
    let too_much = || FabricError::Mpi {
        call: "MPI_Igatherv",
        what: format!(
            "{} bytes are more than it can gather",
            sizes.iter().sum::<u64>()
        ),
    };
    Pieces::of(sizes.iter().copied()).ok_or_else(too_much)
}

/// A collective of one operation.
struct Asked<B, T> {
    operation: Option<Operation<B>>,
    answer: fn(B) -> T,
    reply: Reply<T>,
}

impl<B: 'static, T: 'static> Asked<B, T> {
    fn of(operation: Operation<B>, answer: fn(B) -> T, reply: Reply<T>) -> Box<dyn UnderWay> {
        Box::new(Asked {
            operation: Some(operation),
            answer,
            reply,
        })
    }
}

impl<B, T> UnderWay for Asked<B, T> {
    fn step(&mut self, mpi: &Mpi, _: &mut Windows) -> Result<bool, FabricError> {
        if let Some(operation) = &mut self.operation
            && !mpi.shim.has_ended(operation)?
        {
            return Ok(false);
        }
        if let Some(operation) = self.operation.take() {
            // Who asked may have given up.
            let _ = self.reply.send((self.answer)(operation.held()));
        }
        Ok(true)
    }
}

/// A window to be made. Making it waits for all processes, which must not take long: so all tell
/// before which windows they use, and a barrier behind it tells that all have made theirs.
struct Opening {
    used: Option<Operation<Pair<u64>>>,
    /// Its number, once it is made here, and the barrier behind it.
    made: Option<(usize, Operation<()>)>,
    reply: Reply<usize>,
}

impl UnderWay for Opening {
    fn step(&mut self, mpi: &Mpi, windows: &mut Windows) -> Result<bool, FabricError> {
        if let Some((number, barrier)) = &mut self.made {
            let all_made = mpi.shim.has_ended(barrier)?;
            if all_made {
                let _ = self.reply.send(*number);
            }
            return Ok(all_made);
        }
        if let Some(used) = &mut self.used
            && !mpi.shim.has_ended(used)?
        {
            return Ok(false);
        }
        if let Some(used) = self.used.take() {
            let number = windows.open(mpi, &used.held().1)?;
            self.made = Some((number, mpi.shim.barrier()?));
        }
        Ok(false)
    }
}

/// The windows of a job, in the order in which they were made: the same in every process.
#[derive(Default)]
pub(crate) struct Windows(Vec<Slot>);

/// A window, and whether this process uses it.
struct Slot {
    numbers: Numbers,
    each: u64,
    used: bool,
}

impl Windows {
    /// A window that is used.
    ///
    /// # Panics
    /// When there is none of that number.
    pub(crate) fn get(&self, number: usize) -> &Numbers {
        &self.0[number].numbers
    }

    /// This process does not use a window any more.
    pub(crate) fn leave(&mut self, number: usize) {
        if let Some(slot) = self.0.get_mut(number) {
            slot.used = false;
        }
    }

    /// What all are told before a window of so many numbers is made: these, and which are used.
    fn used(&self, each: usize) -> Vec<u64> {
        let used = self.0.iter().map(|slot| u64::from(slot.used));
        [each as u64].into_iter().chain(used).collect()
    }

    /// Makes a window, of what all told, or takes one that nobody uses; its number.
    fn open(&mut self, mpi: &Mpi, told: &[u64]) -> Result<usize, FabricError> {
        let (each, used) = told.split_first().expect("as many numbers as were told");
        let mut slots = self.0.iter().zip(used);
        let free = slots.position(|(slot, &used)| used == 0 && slot.each >= *each);
        if let Some(number) = free {
            let slot = &mut self.0[number];
            slot.used = true;
            for at in 0..slot.each as usize {
                mpi.shim
                    .fetch(&slot.numbers, Fetch::Put, (mpi.rank, at), 0)?;
            }
            return Ok(number);
        }
        self.0.push(Slot {
            numbers: mpi.shim.window(*each as usize)?,
            each: *each,
            used: true,
        });
        Ok(self.0.len() - 1)
    }

    /// Frees all of them. Waits for every process.
    pub(crate) fn free_all(self, shim: &Shim) -> Result<(), FabricError> {
        self.0
            .into_iter()
            .try_for_each(|slot| shim.free(slot.numbers))
    }
}
