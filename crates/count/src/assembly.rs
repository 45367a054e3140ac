//! Puts together the bins that are counted in several parts.
//!
//! ```text
//! threads of the owner       k-mers of a range of keys ──┐
//!                                                        ├──▶ ascending ──▶ Pieces ──▶ the bin
//! threads of other processes k-mers, in messages ────────┘
//! ```
//!
//! A range that comes before those below it waits, in memory within a bound, and then on the disk.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

use gyrase_fabric::{FabricError, KeyRange, Mailbox, Partitioning, Place, SpillFolder, World};
use gyrase_kmer::BINS;
use gyrase_table::gyk::{Pieces, Writer};

use crate::Error;
use crate::counted::{Counted, Destination};

/// k-mers in a message.
const ROWS: usize = 1 << 18;
/// How long the thread that waits for messages sleeps.
const PAUSE: Duration = Duration::from_micros(500);

/// Where counted k-mers go: to the writer and, where a bin comes in parts, to whoever owns it.
pub(crate) struct Assembly<'w> {
    writer: &'w Writer,
    /// Owners of bins.
    place: Place,
    /// To other owners, where parts of a bin have several.
    mailbox: Option<Arc<dyn Mailbox>>,
    folder: Arc<SpillFolder>,
    words: usize,
    /// Bytes of memory for a bin, and as many for what waits of it.
    memory: usize,
    bins: Mutex<BTreeMap<usize, Arc<Mutex<Bin<'w>>>>>,
    /// Own bins of which others have parts, and that are not whole.
    awaited: Mutex<BTreeSet<usize>>,
    abandoned: AtomicBool,
}

/// A bin that is not whole.
struct Bin<'w> {
    pieces: Option<Pieces<'w>>,
    /// The first key of the range that is next.
    next: u64,
    /// What came early, by its first key.
    waiting: BTreeMap<u64, Waiting>,
    /// Bytes of it in memory.
    held: usize,
    /// Where the others are, and how many bytes they have.
    file: Option<(File, u64)>,
}

/// Encoded rows.
enum Waiting {
    Memory(Vec<u8>),
    File { end: u64, length: usize },
}

impl<'w> Assembly<'w> {
    /// Of the bins of this process, with `memory` bytes for each that is not whole. What does not
    /// fit goes to `folder`.
    ///
    /// Collective where bins are cut for several processes.
    ///
    /// # Errors
    /// Another process failed.
    pub(crate) fn new(
        writer: &'w Writer,
        partitioning: &Partitioning,
        world: &dyn World,
        folder: Arc<SpillFolder>,
        memory: usize,
    ) -> Result<Assembly<'w>, FabricError> {
        let (rank, ranks) = (world.rank(), world.ranks());
        let place = partitioning.place_of_bins(world.peer());
        let owners = partitioning.place(world.peer());
        let is_shared = |&bin: &usize| {
            let mut parts = partitioning.of_bin(bin);
            parts.any(|partition| owners.owner(partition) != rank)
        };
        let awaited = place.owned().filter(is_shared).collect();
        let mailbox = match ranks > 1 && !partitioning.is_of_bins() {
            true => Some(world.mailbox()?),
            false => None,
        };
        Ok(Assembly {
            words: writer.shape().words(),
            writer,
            place,
            mailbox,
            folder,
            memory,
            bins: Mutex::default(),
            awaited: Mutex::new(awaited),
            abandoned: false.into(),
        })
    }

    /// The first partition to count: where a process alone goes on with a file, the first of which
    /// nothing is written yet.
    pub(crate) fn next_partition(&self, partitioning: &Partitioning) -> usize {
        match self.writer.next_bin() {
            _ if self.place.ranks > 1 => 0,
            BINS => partitioning.partitions(),
            bin => partitioning.of_bin(bin).start,
        }
    }

    /// Runs `count`, and takes meanwhile what other processes counted of the bins of this one.
    ///
    /// # Errors
    /// The first error of either.
    pub(crate) fn receive_beside(
        &self,
        count: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        if !self.receives() {
            return count();
        }
        thread::scope(|scope| {
            let thread = thread::Builder::new().name("receive".into());
            let receiving = thread
                .spawn_scoped(scope, || self.receive().inspect_err(|_| self.abandon()))
                .expect("the system has threads to give");
            let counted = count().inspect_err(|_| self.abandon());
            let received = receiving
                .join()
                .unwrap_or_else(|panic| resume_unwind(panic));
            match counted {
                Err(error) if error.is_abandoned() => received.and(Err(error)),
                counted => counted.and(received),
            }
        })
    }

    /// Whether [`Assembly::receive`] has anything to wait for.
    fn receives(&self) -> bool {
        !self.awaited().is_empty()
    }

    /// Takes what other processes counted of the bins of this one, until these are whole or a
    /// thread gave up.
    ///
    /// # Errors
    /// A bin cannot be written, or another process failed.
    fn receive(&self) -> Result<(), Error> {
        let Some(mailbox) = &self.mailbox else {
            return Ok(());
        };
        while self.receives() && !self.abandoned.load(Relaxed) {
            match mailbox.receive()? {
                Some((bin, bytes)) => self.accept(bin as usize, self.decode(&bytes).rows())?,
                None => thread::sleep(PAUSE),
            }
        }
        Ok(())
    }

    fn awaited(&self) -> MutexGuard<'_, BTreeSet<usize>> {
        self.awaited
            .lock()
            .expect("no thread panics while it holds numbers of bins")
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, Arc<Mutex<Bin<'w>>>>> {
        self.bins
            .lock()
            .expect("no thread panics while it looks for a bin")
    }

    fn accept(&self, bin: usize, rows: Counted) -> Result<(), Error> {
        let new = || Arc::new(Mutex::new(Bin::new(self.writer.pieces(bin, self.memory))));
        let begun = Arc::clone(self.lock().entry(bin).or_insert_with(new));
        let mut begun = begun.lock().expect("a thread that panics ends the run");
        let first = rows.range.first;
        if first != begun.next {
            return Ok(begun.wait(first, encode(rows), self.memory, &self.folder)?);
        }
        begun.add(rows)?;
        while let Some(bytes) = begun.take_next(&self.folder)? {
            begun.add(self.decode(&bytes).rows())?;
        }
        if let Some(pieces) = begun.take_whole() {
            self.lock().remove(&bin);
            pieces.finish()?;
            self.awaited().remove(&bin);
        }
        Ok(())
    }

    /// The k-mers in messages of about [`ROWS`] rows: ranges that follow each other.
    fn messages<'r>(&self, rows: Counted<'r>) -> impl Iterator<Item = Vec<u8>> + 'r {
        let (mut rest, mut next, words) = (rows, Some(rows.range.first), self.words);
        std::iter::from_fn(move || {
            let first = next?;
            let end = border(rest.keys, words);
            let (keys, others) = rest.keys.split_at(end * words);
            let (counts, other_counts) = rest.counts.split_at(end);
            rest = Counted {
                keys: others,
                counts: other_counts,
                ..rest
            };
            next = others.first().copied();
            let last = next.map_or(rest.range.last, |key| key - 1);
            let range = KeyRange { first, last };
            Some(encode(Counted {
                range,
                keys,
                counts,
            }))
        })
    }

    fn decode(&self, bytes: &[u8]) -> Decoded {
        let (head, rows) = bytes.split_at(HEAD);
        let number = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
        let &[first, last] = &head.as_chunks().0 else {
            panic!("two numbers of eight bytes")
        };
        let kmers = rows.len() / (8 * self.words + 4);
        let (keys, counts) = rows.split_at(kmers * 8 * self.words);
        let count = |bytes: &[u8; 4]| u32::from_le_bytes(*bytes);
        Decoded {
            range: KeyRange {
                first: number(first),
                last: number(last),
            },
            keys: keys.as_chunks().0.iter().map(number).collect(),
            counts: counts.as_chunks().0.iter().map(count).collect(),
        }
    }
}

impl Destination for Assembly<'_> {
    fn put_bin(&self, bin: usize, rows: Counted) -> Result<(), Error> {
        Ok(self.writer.write_bin(bin, rows.keys, rows.counts)?)
    }

    fn put(&self, bin: usize, rows: Counted) -> Result<(), Error> {
        let owner = self.place.owner(bin);
        match &self.mailbox {
            Some(mailbox) if owner != self.place.rank => {
                let mut messages = self.messages(rows);
                Ok(messages.try_for_each(|bytes| mailbox.send(owner, bin as u64, bytes))?)
            }
            _ => self.accept(bin, rows),
        }
    }

    fn abandon(&self) {
        self.abandoned.store(true, Relaxed);
        self.writer.abandon();
    }
}

/// What was in a message.
struct Decoded {
    range: KeyRange,
    keys: Vec<u64>,
    counts: Vec<u32>,
}

impl Decoded {
    fn rows(&self) -> Counted<'_> {
        Counted {
            range: self.range,
            keys: &self.keys,
            counts: &self.counts,
        }
    }
}

/// Bytes of a message before its rows: the first and the last key of its range.
const HEAD: usize = 16;

fn encode(rows: Counted) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD + size_of_val(rows.keys) + size_of_val(rows.counts));
    let numbers = [rows.range.first, rows.range.last]
        .into_iter()
        .chain(rows.keys.iter().copied());
    numbers.for_each(|number| bytes.extend(number.to_le_bytes()));
    rows.counts
        .iter()
        .for_each(|count| bytes.extend(count.to_le_bytes()));
    bytes
}

/// How many of the rows are in a message: about [`ROWS`], and never some of those that share their
/// first word.
fn border(keys: &[u64], words: usize) -> usize {
    let rows = keys.len() / words;
    let word = |row: usize| keys[row * words];
    let differs = |row: &usize| word(*row) != word(row - 1);
    (ROWS..rows).find(differs).unwrap_or(rows)
}

impl<'w> Bin<'w> {
    fn new(pieces: Pieces<'w>) -> Bin<'w> {
        Bin {
            pieces: Some(pieces),
            next: 0,
            waiting: BTreeMap::new(),
            held: 0,
            file: None,
        }
    }

    /// Adds the range that is next.
    fn add(&mut self, rows: Counted) -> Result<(), Error> {
        let pieces = self
            .pieces
            .as_mut()
            .expect("no k-mers come behind the last");
        pieces.add(rows.keys, rows.counts)?;
        // After the last key: nothing waits for 0.
        self.next = rows.range.last.wrapping_add(1);
        Ok(())
    }

    /// The bin, once all is there.
    fn take_whole(&mut self) -> Option<Pieces<'w>> {
        self.pieces.take_if(|_| self.next == 0)
    }

    /// Keeps a range that came early.
    fn wait(
        &mut self,
        first: u64,
        bytes: Vec<u8>,
        memory: usize,
        folder: &SpillFolder,
    ) -> Result<(), FabricError> {
        let waiting = if self.held + bytes.len() <= memory {
            self.held += bytes.len();
            Waiting::Memory(bytes)
        } else {
            let (file, end) = match &mut self.file {
                Some(file) => file,
                none => none.insert((folder.nameless()?, 0)),
            };
            folder.allow(bytes.len() as u64)?;
            file.write_all_at(&bytes, *end)
                .map_err(|source| folder.error(source))?;
            *end += bytes.len() as u64;
            Waiting::File {
                end: *end,
                length: bytes.len(),
            }
        };
        self.waiting.insert(first, waiting);
        Ok(())
    }

    /// The range that is next, if it came early.
    fn take_next(&mut self, folder: &SpillFolder) -> Result<Option<Vec<u8>>, FabricError> {
        match self.waiting.remove(&self.next) {
            None => Ok(None),
            Some(Waiting::Memory(bytes)) => {
                self.held -= bytes.len();
                Ok(Some(bytes))
            }
            Some(Waiting::File { end, length }) => {
                let (file, _) = self.file.as_ref().expect("it waits there");
                let mut bytes = vec![0; length];
                file.read_exact_at(&mut bytes, end - length as u64)
                    .map_err(|source| folder.error(source))?;
                Ok(Some(bytes))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use gyrase_fabric::Alone;
    use gyrase_kmer::{BINS, Shape};
    use gyrase_table::gyk::{Cutoffs, Database, Metadata};

    use super::*;

    #[test]
    fn ranges_come_in_any_order_and_wait_in_memory_or_on_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let shape = Shape::new(31, false).unwrap();
        let keys: Vec<u64> = (0..5000u64).map(|i| i * (u64::MAX / 5000)).collect();
        let counts: Vec<u32> = (0..5000).map(|i| 1 + i % 400).collect();
        let mut made = Vec::new();
        for memory in [0, 10_000, 1 << 20] {
            let path = folder.path().join(format!("{memory}.gyk"));
            let writer = Writer::create(&path, shape, Cutoffs::default()).unwrap();
            let spills = Arc::new(SpillFolder::new(folder.path().join("spills"), None, false));
            let partitioning = Partitioning::of_bins(BINS);
            let assembly = Assembly::new(&writer, &partitioning, &Alone, spills, memory).unwrap();
            let part = |number| {
                let rows = Counted::within(KeyRange::ALL.part(number, 7), &keys, &counts);
                assembly.put(0, rows).unwrap();
            };
            [3, 6, 0, 5, 1, 4, 2].into_iter().for_each(part);
            let none = Counted {
                range: KeyRange::ALL,
                keys: &[],
                counts: &[],
            };
            (1..BINS).for_each(|bin| assembly.put_bin(bin, none).unwrap());
            drop(assembly);
            writer.finish(&Metadata::default()).unwrap();
            let database = Database::open(&path).unwrap();
            assert_eq!(database.bin_len(0), 5000);
            made.push(std::fs::read(&path).unwrap());
        }
        assert!(made[0] == made[1] && made[1] == made[2]);
    }

    #[test]
    fn messages_never_divide_rows_of_one_first_word() {
        for (rows, words) in [(0, 1), (ROWS, 2), (3 * ROWS + 7, 2), (2 * ROWS, 1)] {
            let key = |row: usize| (row / if words > 1 { 1000 } else { 1 }) as u64;
            let keys: Vec<u64> = (0..rows * words).map(|at| key(at / words)).collect();
            let mut rest = &keys[..];
            while !rest.is_empty() {
                let end = border(rest, words) * words;
                let (some, others) = rest.split_at(end);
                assert!(some.len() <= (ROWS + 1000) * words);
                assert!(others.is_empty() || others[0] != some[some.len() - words]);
                rest = others;
            }
        }
    }
}
