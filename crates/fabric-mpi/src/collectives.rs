//! Collectives under way that threads wait for.

use std::collections::VecDeque;

use gyrase_fabric::FabricError;

use crate::counters::add;
use crate::mpi::Mpi;
use crate::shim::{Numbers, Operation, Pieces};
use crate::tasks::{Reply, Task};

/// One collective after the other, in the order in which they were asked for: the same in every
/// process.
#[derive(Default)]
pub(crate) struct Collectives {
    under_way: Option<Box<dyn UnderWay>>,
    waiting: VecDeque<Task>,
    /// Windows so far.
    pub(crate) windows: Vec<Numbers>,
}

/// A collective that was begun.
trait UnderWay {
    /// Whether it ended; then it is answered.
    fn step(&mut self, mpi: &Mpi, windows: &mut Vec<Numbers>) -> Result<bool, FabricError>;
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
            self.under_way = Some(begin(mpi, task)?);
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

fn begin(mpi: &Mpi, task: Task) -> Result<Box<dyn UnderWay>, FabricError> {
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
        Task::Window(each, reply) => Box::new(Opening {
            each,
            barrier: shim.barrier()?,
            made: None,
            reply,
        }),
        Task::Fetch { .. } | Task::Swap { .. } | Task::Send(_) | Task::Exchange(_) => {
            unreachable!("no collective")
        }
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
    fn step(&mut self, mpi: &Mpi, _: &mut Vec<Numbers>) -> Result<bool, FabricError> {
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

/// A window to be made. Making it waits for all processes, which must not take long: so a barrier
/// tells before that all are there, and another behind it that all have made theirs.
struct Opening {
    each: usize,
    barrier: Operation<()>,
    /// Its number, once it is made here.
    made: Option<usize>,
    reply: Reply<usize>,
}

impl UnderWay for Opening {
    fn step(&mut self, mpi: &Mpi, windows: &mut Vec<Numbers>) -> Result<bool, FabricError> {
        if !mpi.shim.has_ended(&mut self.barrier)? {
            return Ok(false);
        }
        if let Some(number) = self.made {
            let _ = self.reply.send(number);
            return Ok(true);
        }
        windows.push(mpi.shim.window(self.each)?);
        self.made = Some(windows.len() - 1);
        self.barrier = mpi.shim.barrier()?;
        Ok(false)
    }
}
