//! The trunk: batches to keyed records to partitions to one reduced table per partition.
//!
//! Counting k-mers, building a classifier's index and building an assembly graph differ in what
//! they send and in what they make of a partition. How the records get there is the same and is
//! written here once. This crate knows no k-mer.
//!
//! ```text
//!  Supply ──batch──▶ Cut ──record──▶ Fabric ──partition──▶ Worker
//!  reads, a table    one per worker  by key, to its owner   one per worker, any device
//!  └───────────── scatter ─────────────────┘└──────── reduce ────────┘
//! ```
//!
//! 1. [`scatter`]: every thread takes batches of a [`Supply`] ([`Reading`]: reads, or chunks of
//!    the input where processes share it), and its [`Cut`] sends records of them to partitions,
//!    through any [`Fabric`].
//! 2. [`reduce`]: every thread takes the next partitions and lets its [`Worker`] make of them what
//!    the application wants. A worker on another device is another worker; nothing else changes.
//!
//! What answers for every read is fed by a [`Source`] and leaves in order
//! ([`gyrase_work::in_order`]). `examples/kmer_files.rs` is a whole application: which k-mer is in
//! which files.
//!
//! # Example
//!
//! How often does each letter occur?
//!
//! ```
//! use std::collections::BTreeMap;
//! use std::sync::Arc;
//!
//! use gyrase_fabric::{Alone, LocalFabric, Sender, SpillFolder};
//! use gyrase_fastx::{Inputs, Options};
//! use gyrase_seq::Batch;
//! use gyrase_tabulate::{Cut, Partition, Reading, TabulateError, Worker, reduce, scatter};
//! use gyrase_work::Progress;
//!
//! /// Sends every letter to a partition of its own.
//! struct Letters;
//!
//! impl Cut<Batch, TabulateError> for Letters {
//!     fn cut(&mut self, batch: &Batch, sender: &mut impl Sender) -> Result<(), TabulateError> {
//!         let mut letters = batch.letters().flatten();
//!         Ok(letters.try_for_each(|&letter| sender.send(letter.into(), &[letter], 1))?)
//!     }
//! }
//!
//! /// Counts the letters of each partition.
//! #[derive(Default)]
//! struct Counts(BTreeMap<char, usize>);
//!
//! impl Worker<TabulateError> for Counts {
//!     fn reduce(&mut self, partitions: &[Partition]) -> Result<(), TabulateError> {
//!         partitions.iter().try_for_each(|partition| {
//!             partition.drain(|bytes, used| {
//!                 *self.0.entry(bytes[0].into()).or_default() += used;
//!                 Ok(())
//!             })
//!         })
//!     }
//!
//!     fn abandon(&self) {}
//! }
//!
//! let folder = tempfile::tempdir()?;
//! let reads = folder.path().join("reads.fa");
//! std::fs::write(&reads, ">r1\nGATTACA\n>r2\nCAT\n")?;
//! let inputs = Inputs::open(&[reads], Options::default())?;
//! let spills = SpillFolder::new(folder.path().join("spills"), None, false);
//! let fabric = LocalFabric::new(256, 64 << 20, Arc::new(spills));
//! let progress = Progress::default();
//!
//! let reading = Reading::agree(&inputs, &Alone, None, 2)?;
//! let cuts = vec![Letters, Letters]; // two threads
//! let (partitions, _) = scatter::<_, _, _, TabulateError>(&reading, cuts, fabric, &progress)?;
//! let mut counts = [Counts::default(), Counts::default()];
//! let workers = counts.iter_mut().map(|worker| worker as &mut dyn Worker<_>).collect();
//! reduce::<_, TabulateError>(&partitions, 0, workers, &progress)?;
//!
//! // A letter is in one partition, so no two workers have the same.
//! let all: BTreeMap<char, usize> = counts.into_iter().flat_map(|worker| worker.0).collect();
//! assert_eq!(all, BTreeMap::from([('A', 4), ('C', 2), ('G', 1), ('T', 3)]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod census;
mod chunks;
mod estimate;
mod kept;
mod layout;
mod partition;
mod reading;
mod reads;
mod reduce;
mod same_files;
mod shared_file;
mod supply;

use std::path::{Path, PathBuf};

use gyrase_fabric::{Fabric, FabricError, Sender};
use gyrase_work::{Cancelled, Progress, in_parallel};
use tracing::info_span;

pub use census::census;
pub use estimate::{Estimate, InputContents, Passing, decompressing, input_contents, passing};
pub use kept::{KeptWork, clear_kept};
pub use layout::Layout;
pub use partition::{Part, Partition};
pub use reading::Reading;
pub use reads::{Source, longest_record};
pub use reduce::{Worker, reduce};
pub use same_files::same_files;
pub use shared_file::{BegunFile, publish};
pub use supply::{EachBatch, State, Supply};

/// What ends a scatter or a reduction early.
#[derive(Debug, thiserror::Error)]
pub enum TabulateError {
    /// An input cannot be read.
    #[error(transparent)]
    Input(#[from] gyrase_fastx::Error),
    /// A record cannot be sent or drained.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// The processes of a job see different files by one name ([`same_files`]).
    #[error(
        "{} is not the same on {} as on rank {like}: every machine must see the same files; name \
         one that all share, or copy it anew",
        path.display(), named(ranks)
    )]
    Differs {
        /// The file, as this process names it.
        path: PathBuf,
        /// The ranks whose file is another.
        ranks: Vec<usize>,
        /// The first of the ranks whose files are equal.
        like: usize,
    },
    /// The processes of a job name different numbers of files.
    #[error(
        "the processes of the job see different numbers of files; every machine must see the same"
    )]
    OtherFiles,
    /// Somebody called [`Progress::cancel`].
    #[error("cancelled")]
    Cancelled,
}

/// Ranks as a person reads them.
fn named(ranks: &[usize]) -> String {
    const SHOWN: usize = 8;
    let numbers = ranks.iter().take(SHOWN).map(usize::to_string);
    let numbers = numbers.collect::<Vec<_>>().join(", ");
    match ranks.len() {
        1 => format!("rank {numbers}"),
        count if count > SHOWN => format!("ranks {numbers} and {} more", count - SHOWN),
        _ => format!("ranks {numbers}"),
    }
}

impl From<Cancelled> for TabulateError {
    fn from(_: Cancelled) -> TabulateError {
        TabulateError::Cancelled
    }
}

/// How a batch becomes records. Each worker has one; nothing is allocated per record.
pub trait Cut<B, E>: Send {
    /// Sends the records of a batch to their partitions. The batch says where it stands: its
    /// input, its first record.
    ///
    /// # Errors
    /// A record cannot be sent, or the batch is nothing that can be cut. The run is over then.
    fn cut(&mut self, batch: &B, sender: &mut impl Sender) -> Result<(), E>;
}

/// Sends the records of all batches of `supply` to their partitions, a thread for each of `cuts`.
/// The progress is what `supply` makes it.
///
/// Collective. What is returned are the partitions that this process owns, and the cuts, which know
/// what they have seen.
///
/// # Errors
/// The first error of any thread; the others stop at their next batch.
/// [`gyrase_fastx::Error::NeedsSerial`] comes to all processes if to one.
pub fn scatter<S, C, F, E>(
    supply: &S,
    cuts: Vec<C>,
    fabric: F,
    progress: &Progress,
) -> Result<(F::Partitions, Vec<C>), E>
where
    S: Supply<E>,
    C: Cut<S::Batch, E>,
    F: Fabric,
    F::Sender: Send,
    E: From<TabulateError> + Send,
{
    let state = State::new(progress);
    let workers = cuts.into_iter().map(|cut| (cut, fabric.sender())).collect();
    let done = in_parallel(workers, |(mut cut, mut sender)| {
        let mut each = |batch: &S::Batch| {
            let _scatter = info_span!(target: "gyrase::trace", "scatter").entered();
            cut.cut(batch, &mut sender)
        };
        let given = supply.give(&state, &mut each);
        if given.is_err() {
            state.fail();
        }
        given.map(|()| (cut, sender))
    })?;
    let (cuts, senders) = done.into_iter().unzip();
    let partitions = fabric.close(senders).map_err(TabulateError::from)?;
    supply.settle()?;
    Ok((partitions, cuts))
}

/// Where a run spills: the same folder below `tmp` for the same output, so that a later run finds
/// it. Runs of one `kind` that spill at once must have outputs of their own.
pub fn spill_path(tmp: &Path, kind: &str, output: &Path) -> PathBuf {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut name = DefaultHasher::new();
    std::path::absolute(output)
        .unwrap_or_else(|_| output.to_path_buf())
        .hash(&mut name);
    tmp.join(format!("{kind}-{:016x}", name.finish()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_named() {
        assert_eq!(named(&[3]), "rank 3");
        assert_eq!(named(&[1, 4]), "ranks 1, 4");
        let many: Vec<usize> = (0..20).collect();
        assert_eq!(named(&many), "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 12 more");
    }
}
