//! One process's share of what a job reads: its workers take chunks, and make whole the records
//! that cross from one to another.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use gyrase_fabric::{Fabric, FabricError, Schedule, World};
use gyrase_fastx::{Border, Chunk, Chunks, Error, Inputs};
use gyrase_seq::Batch;
use tracing::info_span;

use crate::{EachBatch, State, TabulateError};

/// How long a worker pauses that waits for a border: at first, and at most.
const PAUSES: [Duration; 2] = [Duration::from_micros(50), Duration::from_millis(5)];

/// After so many batches a worker asks whether others gave up.
const PATIENCE: usize = 16;

/// The chunks of a job, and who takes which.
pub(crate) struct Shared<'a> {
    inputs: &'a Inputs,
    chunks: Chunks<'a>,
    schedule: Box<dyn Schedule + 'a>,
    /// Held by the worker that takes a chunk: where another finds none left it knows all that it
    /// can help with.
    taking: Mutex<()>,
    /// The input that has to be read serially, counted from 1; 0 for none.
    serial: AtomicUsize,
}

impl<'a> Shared<'a> {
    /// Collective. Chunks of `bytes` bytes, or of what suits so many workers of all processes.
    pub(crate) fn agree(
        inputs: &'a Inputs,
        world: &'a dyn World,
        bytes: Option<u64>,
        workers: usize,
    ) -> Result<Shared<'a>, TabulateError> {
        let chunks = inputs.chunks(
            bytes.unwrap_or_else(|| inputs.chunk_bytes(workers)),
            world.ranks(),
        );
        let print = chunks.fingerprint();
        if !world.all_equal(&[print])? {
            return Err(Error::Arguments(DIFFERENT.to_owned()).into());
        }
        let schedule = world.schedule(chunks.count())?;
        Ok(Shared {
            inputs,
            chunks,
            schedule,
            taking: Mutex::default(),
            serial: AtomicUsize::new(0),
        })
    }

    /// Gives the records of the chunks that one worker takes to `each`, until there are no more in
    /// the job.
    pub(crate) fn work<E: From<TabulateError>>(
        &self,
        state: &State,
        each: EachBatch<Batch, E>,
    ) -> Result<(), E> {
        let worker = Worker {
            shared: self,
            state,
            batch: Batch::default(),
            borders: Vec::new(),
            batches: 0,
        };
        match worker.work(each) {
            Ok(()) => Ok(()),
            Err(Ended::Serial(error)) => Ok(self.give_up(error)?),
            Err(Ended::Failed(error)) => Err(error),
        }
    }

    /// What was read is void. Others are told at once; what is wrong is looked for then.
    fn give_up(&self, error: Error) -> Result<(), TabulateError> {
        self.schedule.give_up()?;
        let error = self.inputs.explain(error);
        let Error::NeedsSerial { input } = &error else {
            return Err(error.into());
        };
        let index = self.inputs.names().position(|name| name == input);
        self.serial
            .store(index.map_or(0, |index| index + 1), Relaxed);
        Ok(())
    }

    /// Collective, after all workers of all processes: an error for all if any of them gave up.
    pub(crate) fn settle(&self, world: &dyn World) -> Result<(), TabulateError> {
        match world.max(&[self.serial.load(Relaxed) as u64])?[0] {
            0 => Ok(()),
            // Who left is about to fail, and does not come here: when this ends all know why.
            LEFT => Err(world
                .max(&[0])
                .err()
                .unwrap_or(FabricError::Elsewhere)
                .into()),
            input => Err(Error::NeedsSerial {
                input: self.inputs.inputs()[input as usize - 1].name.clone(),
            }
            .into()),
        }
    }

    /// Collective, instead of [`Shared::work`] and [`Shared::settle`] in a process that takes no
    /// part: the others stop.
    pub(crate) fn leave(&self, world: &dyn World, fabric: impl Fabric) -> Result<(), FabricError> {
        self.schedule.give_up()?;
        fabric.close(Vec::new())?;
        world.max(&[LEFT]).map(drop)
    }
}

/// What a process says at the end that took no part. Inputs have lower numbers.
const LEFT: u64 = u64::MAX;

const DIFFERENT: &str = "the processes of this job do not see the same inputs: name files that all \
                         machines share, with the same \
                         contents on each, and start when they are written";

/// Why a worker ended early.
enum Ended<E> {
    /// The input has to be read serially.
    Serial(Error),
    /// Anything else.
    Failed(E),
}

impl<E: From<TabulateError>> From<TabulateError> for Ended<E> {
    fn from(error: TabulateError) -> Ended<E> {
        match error {
            TabulateError::Input(error) if error.needs_serial() => Ended::Serial(error),
            error => Ended::Failed(error.into()),
        }
    }
}

impl<E: From<TabulateError>> From<Error> for Ended<E> {
    fn from(error: Error) -> Ended<E> {
        TabulateError::from(error).into()
    }
}

impl<E: From<TabulateError>> From<FabricError> for Ended<E> {
    fn from(error: FabricError) -> Ended<E> {
        TabulateError::from(error).into()
    }
}

/// A thread that takes chunks.
struct Worker<'s> {
    shared: &'s Shared<'s>,
    state: &'s State<'s>,
    batch: Batch,
    /// Of chunks that it has read, where bytes are still to come back.
    borders: Vec<Border>,
    batches: usize,
}

impl<'s> Worker<'s> {
    fn work<E: From<TabulateError>>(mut self, each: EachBatch<Batch, E>) -> Result<(), Ended<E>> {
        while !self.stops()? {
            let Some(chunk) = self.take()? else {
                return self.finish(each);
            };
            if !self.read(chunk, each)? {
                break;
            }
            self.join_borders(each)?;
        }
        Ok(())
    }

    fn take(&self) -> Result<Option<Chunk<'s>>, TabulateError> {
        let Shared {
            taking,
            schedule,
            chunks,
            ..
        } = self.shared;
        let _wait = info_span!(target: "gyrase::trace", "wait", at = "chunk").entered();
        let _taking = taking
            .lock()
            .expect("no thread panics while it takes a chunk");
        Ok(schedule.take()?.map(|number| chunks.read(number)))
    }

    /// Whether another worker failed or gave up.
    fn stops(&self) -> Result<bool, TabulateError> {
        Ok(!self.state.goes_on()? || self.shared.schedule.given_up()?)
    }

    /// Gives a batch to `each`; false when the worker is to stop.
    fn give<E: From<TabulateError>>(
        &mut self,
        each: EachBatch<Batch, E>,
    ) -> Result<bool, Ended<E>> {
        each(&self.batch).map_err(Ended::Failed)?;
        self.batches += 1;
        let goes_on = if self.batches.is_multiple_of(PATIENCE) {
            !self.stops()?
        } else {
            self.state.goes_on().map_err(TabulateError::from)?
        };
        Ok(goes_on)
    }

    /// Reads a chunk, and those behind it that nobody has; false when the worker is to stop.
    fn read<E: From<TabulateError>>(
        &mut self,
        mut chunk: Chunk<'s>,
        each: EachBatch<Batch, E>,
    ) -> Result<bool, Ended<E>> {
        let Shared { schedule, .. } = self.shared;
        loop {
            let more = chunk.next_batch(&mut self.batch)?;
            if let Some((before, bytes)) = chunk.send_back() {
                schedule.send_back(before, bytes)?;
            }
            if more {
                if !self.give(each)? {
                    return Ok(false);
                }
                continue;
            }
            match chunk.next_chunk() {
                Some(next) if schedule.take_this(next)? => chunk.go_on(),
                _ => break,
            }
        }
        self.borders.extend(chunk.into_border()?);
        Ok(true)
    }

    /// Joins borders with what came back, where it did; true when something did.
    fn join_borders<E: From<TabulateError>>(
        &mut self,
        each: EachBatch<Batch, E>,
    ) -> Result<bool, Ended<E>> {
        let Shared {
            schedule, chunks, ..
        } = self.shared;
        let mut joined = false;
        for border in std::mem::take(&mut self.borders) {
            let Some(bytes) = schedule.sent_back(border.chunk())? else {
                self.borders.push(border);
                continue;
            };
            joined = true;
            match chunks.join(border, &bytes, &mut self.batch)? {
                Some((before, bytes)) => schedule.send_back(before, bytes)?,
                None => each(&self.batch).map_err(Ended::Failed)?,
            }
        }
        Ok(joined)
    }

    /// When no chunk is left: helps others of this process, then waits for what is still to come
    /// back.
    fn finish<E: From<TabulateError>>(mut self, each: EachBatch<Batch, E>) -> Result<(), Ended<E>> {
        while self.shared.inputs.help(&mut self.batch)? {
            if !self.give(each)? {
                return Ok(());
            }
            self.join_borders(each)?;
        }
        let _wait = info_span!(target: "gyrase::trace", "wait", at = "border").entered();
        let [mut pause, longest] = PAUSES;
        while !self.stops()? {
            // Others may wait for what is kept here.
            let all_sent = self.shared.schedule.all_sent()?;
            if all_sent && self.borders.is_empty() {
                break;
            }
            if self.join_borders(each)? {
                pause = PAUSES[0];
            } else {
                std::thread::sleep(pause);
                pause = longest.min(2 * pause);
            }
        }
        Ok(())
    }
}
