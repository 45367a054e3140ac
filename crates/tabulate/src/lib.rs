//! The trunk: reads to keyed records to partitions to one reduced table per partition.
//!
//! Counting k-mers, building a classifier's index and building an assembly graph differ in what
//! they make of a partition; how the records get there is the same and is written here once.
//!
//! 1. [`scatter`]: every thread takes batches of reads, or chunks of the input where processes
//!    share it ([`Reading`]), cuts the reads into super-k-mers and sends those to the partition of
//!    their bin, through any [`Fabric`].
//! 2. [`reduce`]: every thread takes the next partition and lets its [`Worker`] make of it what the
//!    application wants. A worker on another device is another worker; nothing else changes.
//!
//! What answers for every read takes another road: [`in_order`] lets threads work on batches of
//! reads and hands on what they make of them in the order of the files.

mod chunks;
mod reads;
mod records;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};

use gyrase_fabric::{Drain, Fabric, FabricError, LocalPartitions, Sender, World};
use gyrase_fastx::Inputs;
use gyrase_kmer::{Cutter, Shape, SuperKmer, mix};
use gyrase_seq::Batch;
use gyrase_work::{Cancelled, Progress, in_parallel};
use tracing::info_span;

use chunks::{GoOn, Shared};

pub use reads::Source;
pub use records::{Records, Repeats};

/// What ends a scatter or a reduction early.
#[derive(Debug, thiserror::Error)]
pub enum TabulateError {
    /// An input cannot be read.
    #[error(transparent)]
    Input(#[from] gyrase_fastx::Error),
    /// A record cannot be sent or drained.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// Somebody called [`Progress::cancel`].
    #[error("cancelled")]
    Cancelled,
}

impl From<Cancelled> for TabulateError {
    fn from(_: Cancelled) -> TabulateError {
        TabulateError::Cancelled
    }
}

/// What was read and sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scattered {
    /// Reads, or sequences.
    pub reads: u64,
    /// Their letters.
    pub bases: u64,
    /// k-mers in them that are over bases only.
    pub kmers: u64,
    /// Super-k-mers that they were sent as.
    pub super_kmers: u64,
    /// Bytes of the inputs that they were read from, as they are stored.
    pub bytes: u64,
}

impl Scattered {
    /// Adds what another worker or process read and sent.
    pub fn add(&mut self, other: Scattered) {
        self.reads += other.reads;
        self.bases += other.bases;
        self.kmers += other.kmers;
        self.super_kmers += other.super_kmers;
        self.bytes += other.bytes;
    }
}

/// The inputs of a job, shared out: what is left to do is to read them.
pub struct Reading<'a, J> {
    inputs: &'a Inputs,
    world: &'a J,
    threads: usize,
    /// `None` where one process reads alone, without borders.
    shared: Option<Shared<'a>>,
}

impl<'a, J: World> Reading<'a, J> {
    /// Shares `inputs` out to so many workers of all processes of the job, of which `threads` are
    /// of this one.
    ///
    /// Collective. They will be read in chunks of about `chunk` bytes, which the workers of all
    /// processes share ([`Inputs::chunks`]), or of a size that suits their number. One process
    /// alone that asks for no size reads in batches that any thread takes, without borders.
    ///
    /// # Errors
    /// The processes see different inputs, or another one failed.
    pub fn agree(
        inputs: &'a Inputs,
        world: &'a J,
        chunk: Option<u64>,
        threads: usize,
        workers: usize,
    ) -> Result<Reading<'a, J>, TabulateError> {
        let alone = world.ranks() == 1 && chunk.is_none();
        let shared = if alone {
            None
        } else {
            Some(Shared::agree(inputs, world, chunk, workers)?)
        };
        Ok(Reading {
            inputs,
            world,
            threads,
            shared,
        })
    }

    /// Ends what a process of several cannot take part in because of an error: the others stop, and
    /// get [`FabricError::Elsewhere`].
    ///
    /// Collective, instead of [`scatter`]. Returns what this process is to fail with: the error, if
    /// no other process failed before.
    pub fn give_up<E: From<TabulateError>>(self, fabric: J::Fabric, error: E) -> E {
        let left = self
            .shared
            .map_or(Ok(()), |shared| shared.leave(self.world, fabric));
        left.err()
            .map_or(error, |elsewhere| TabulateError::from(elsewhere).into())
    }
}

/// Sends the super-k-mers of all reads to their bins. The progress is in bytes of
/// [`Inputs::total_bytes`].
///
/// Collective. What is returned is what this process read; the partitions are those that it owns.
///
/// # Errors
/// The first error of any thread; the others stop at their next batch.
/// [`gyrase_fastx::Error::NeedsSerial`] comes to all processes if to one.
pub fn scatter<const W: usize, J: World>(
    reading: Reading<J>,
    shape: Shape,
    fabric: J::Fabric,
    progress: &Progress,
) -> Result<(LocalPartitions, Scattered), TabulateError> {
    let Reading {
        inputs,
        world,
        threads,
        shared,
    } = reading;
    let senders: Vec<_> = (0..threads).map(|_| fabric.sender()).collect();
    let (failed, shown) = (AtomicBool::new(false), AtomicU64::new(0));
    // As they are stored, which is what the inputs can tell the sum of.
    let advance = || {
        let read = inputs.read_bytes();
        progress.advance(read.saturating_sub(shown.fetch_max(read, Relaxed)));
    };
    let outcome = in_parallel(
        senders.into_iter().enumerate().collect(),
        |(worker, mut sender)| {
            let go_on = || {
                if progress.is_cancelled() {
                    Err(TabulateError::Cancelled)
                } else {
                    Ok(!failed.load(Relaxed))
                }
            };
            let scatter = || {
                scatter_batches::<W>(
                    inputs,
                    shared.as_ref(),
                    shape,
                    &mut sender,
                    (&go_on, &advance),
                )
            };
            let scattered = world.on_core(worker, threads, scatter);
            failed.fetch_or(scattered.is_err(), Relaxed);
            scattered.map(|scattered| (sender, scattered))
        },
    )?;
    let mut all = Scattered::default();
    outcome
        .iter()
        .for_each(|(_, scattered)| all.add(*scattered));
    all.bytes = inputs.read_bytes();
    let partitions = fabric.close(outcome.into_iter().map(|(sender, _)| sender).collect())?;
    shared.map_or(Ok(()), |shared| shared.settle(world))?;
    Ok((partitions, all))
}

/// Sends what one worker reads.
fn scatter_batches<const W: usize>(
    inputs: &Inputs,
    shared: Option<&Shared>,
    shape: Shape,
    sender: &mut impl Sender,
    (go_on, advance): (GoOn, &dyn Fn()),
) -> Result<Scattered, TabulateError> {
    let (mut cutter, mut scattered) = (Cutter::<W>::new(shape), Scattered::default());
    let mut each = |batch: &Batch| {
        scattered.add(scatter_batch(batch, shape, &mut cutter, sender)?);
        advance();
        Ok(())
    };
    match shared {
        Some(shared) => shared.work(go_on, &mut each)?,
        None => {
            let mut batch = Batch::default();
            while go_on()? && inputs.next_batch(&mut batch)? {
                each(&batch)?;
            }
        }
    }
    Ok(scattered)
}

fn scatter_batch<const W: usize>(
    batch: &Batch,
    shape: Shape,
    cutter: &mut Cutter<W>,
    sender: &mut impl Sender,
) -> Result<Scattered, FabricError> {
    let _scatter = info_span!(target: "gyrase::trace", "scatter").entered();
    let mut scattered = Scattered::default();
    let mut outgoing = Outgoing {
        sender,
        shape,
        waiting: [(0, SuperKmer([0; W])); AHEAD],
        len: 0,
        sent: 0,
    };
    for record in &batch.records {
        let mut send = |bin, super_kmer| outgoing.push(bin, super_kmer);
        scattered.kmers += cutter.cut(batch.bytes(record.letters), &mut send)?;
        scattered.bases += record.letters.len() as u64 - u64::from(record.overlap);
        scattered.reads += u64::from(!record.continues);
    }
    outgoing.flush()?;
    Ok(Scattered {
        super_kmers: outgoing.sent,
        ..scattered
    })
}

/// Super-k-mers on their way to a sender, which is told of several before it takes them.
struct Outgoing<'s, S, const W: usize> {
    sender: &'s mut S,
    shape: Shape,
    waiting: [(usize, SuperKmer<W>); AHEAD],
    len: usize,
    sent: u64,
}

/// Super-k-mers that are sent together.
const AHEAD: usize = 32;

impl<S: Sender, const W: usize> Outgoing<'_, S, W> {
    #[inline(always)]
    fn push(&mut self, bin: usize, super_kmer: SuperKmer<W>) -> Result<(), FabricError> {
        self.waiting[self.len] = (bin, super_kmer);
        self.len += 1;
        if self.len == AHEAD {
            self.flush()
        } else {
            Ok(())
        }
    }

    #[inline(never)]
    fn flush(&mut self) -> Result<(), FabricError> {
        let waiting = &self.waiting[..std::mem::take(&mut self.len)];
        self.sent += waiting.len() as u64;
        waiting.iter().for_each(|&(bin, _)| self.sender.expect(bin));
        waiting.iter().try_for_each(|&(bin, super_kmer)| {
            let stored = SuperKmer::<W>::stored_bytes(super_kmer.kmers(), self.shape);
            self.sender
                .send(bin, super_kmer.to_bytes().as_flattened(), stored)
        })
    }
}

/// The super-k-mers of one partition.
pub struct Partition<'p, D, const W: usize> {
    partitions: &'p D,
    number: usize,
    shape: Shape,
}

impl<'p, D: Drain, const W: usize> Partition<'p, D, W> {
    /// Partition `number`, whose records [`scatter`] sent.
    pub fn new(partitions: &'p D, number: usize, shape: Shape) -> Partition<'p, D, W> {
        Partition {
            partitions,
            number,
            shape,
        }
    }

    /// Which partition, that is, which bin.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Bytes of its records.
    pub fn bytes(&self) -> u64 {
        self.partitions.bytes(self.number)
    }

    /// Calls `each` with super-k-mers and weights: how often this one came. The same one may come
    /// again, with a weight of its own. May be called again.
    ///
    /// # Errors
    /// When a spill file cannot be read or was damaged.
    #[inline]
    pub fn for_each(&self, mut each: impl FnMut(SuperKmer<W>, u32)) -> Result<(), FabricError> {
        self.drain(|records| records.for_each(|(super_kmer, weight)| each(super_kmer, weight)))
    }

    /// Calls `each` with many super-k-mers and weights at a time; otherwise as
    /// [`Partition::for_each`].
    ///
    /// # Errors
    /// As those of [`Partition::for_each`].
    #[inline]
    pub fn drain(&self, mut each: impl FnMut(Records<W>)) -> Result<(), FabricError> {
        self.partitions.drain(self.number, &mut |bytes, used| {
            each(Records::new(bytes, used, self.shape));
            Ok(())
        })
    }
}

/// What to do with one partition.
pub trait Worker<D: Drain>: Send {
    /// Why it could not be done.
    type Error: From<TabulateError> + Send;

    /// Reduces the partition of that number. They come in ascending order, each to one worker.
    fn reduce(&mut self, partitions: &D, number: usize) -> Result<(), Self::Error>;

    /// Called when this worker failed or panicked: end the waits of the others for it.
    fn abandon(&self);
}

/// Lets `workers`, a thread of this process each, reduce the owned partitions from number `from`
/// on, lowest first.
///
/// # Errors
/// The first error of any worker; the others stop at their next partition.
pub fn reduce<D: Drain, K: Worker<D>>(
    partitions: &D,
    world: &impl World,
    from: usize,
    workers: Vec<K>,
    progress: &Progress,
) -> Result<(), K::Error> {
    let owned = partitions.owned();
    let (next, failed) = (
        AtomicUsize::new(owned.partition_point(|&number| number < from)),
        AtomicBool::new(false),
    );
    let reduce_next = |worker: &mut K| -> Result<bool, K::Error> {
        let Some(&number) = owned.get(next.fetch_add(1, Relaxed)) else {
            return Ok(false);
        };
        if progress.is_cancelled() {
            return Err(TabulateError::Cancelled.into());
        }
        let bytes = partitions.bytes(number);
        info_span!(target: "gyrase::trace", "count", bytes)
            .in_scope(|| worker.reduce(partitions, number))?;
        progress.advance(1);
        Ok(true)
    };
    let reduce_all = |mut worker: K| {
        while !failed.load(Relaxed) {
            let reduced = catch_unwind(AssertUnwindSafe(|| reduce_next(&mut worker)));
            if matches!(reduced, Ok(Ok(true))) {
                continue;
            }
            if !matches!(reduced, Ok(Ok(false))) {
                failed.store(true, Relaxed);
                worker.abandon();
            }
            return reduced
                .unwrap_or_else(|panic| resume_unwind(panic))
                .map(|_| ());
        }
        Ok(())
    };
    let threads = workers.len();
    in_parallel(
        workers.into_iter().enumerate().collect(),
        |(number, worker)| world.on_core(number, threads, || reduce_all(worker)),
    )?;
    Ok(())
}

/// Where a run spills: the same folder below `tmp` for the same output, so that a later run finds
/// it. Runs of one `kind` that spill at once must have outputs of their own.
pub fn spill_path(tmp: &Path, kind: &str, output: &Path) -> PathBuf {
    let absolute = std::path::absolute(output).unwrap_or_else(|_| output.to_path_buf());
    let name = absolute
        .as_os_str()
        .as_encoded_bytes()
        .iter()
        .fold(0, |hash, &byte| mix(hash ^ u64::from(byte)));
    tmp.join(format!("{kind}-{name:016x}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gyrase_fabric::Alone;
    use std::sync::{Condvar, Mutex};

    /// Two empty partitions.
    struct Two;

    impl Drain for Two {
        fn owned(&self) -> Vec<usize> {
            vec![0, 1]
        }
        fn bytes(&self, _: usize) -> u64 {
            0
        }
        fn drain<E: From<FabricError>>(
            &self,
            _: usize,
            _: &mut gyrase_fabric::Each<E>,
        ) -> Result<(), E> {
            Ok(())
        }
    }

    /// Panics over the first partition; waits for it with the second, as a writer in order does.
    struct Waiting<'a>(&'a (Mutex<bool>, Condvar));

    impl Worker<Two> for Waiting<'_> {
        type Error = TabulateError;

        fn reduce(&mut self, _: &Two, number: usize) -> Result<(), TabulateError> {
            assert!(number > 0, "broken");
            let (abandoned, changed) = self.0;
            drop(
                changed
                    .wait_while(abandoned.lock().unwrap(), |abandoned| !*abandoned)
                    .unwrap(),
            );
            Err(TabulateError::Cancelled)
        }

        fn abandon(&self) {
            *self.0.0.lock().unwrap() = true;
            self.0.1.notify_all();
        }
    }

    #[test]
    #[should_panic(expected = "broken")]
    fn a_panic_reaches_the_caller_and_leaves_nobody_waiting() {
        let wait = (Mutex::new(false), Condvar::new());
        let workers = vec![Waiting(&wait), Waiting(&wait)];
        let _ = reduce(&Two, &Alone, 0, workers, &Progress::default());
    }
}
