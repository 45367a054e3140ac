//! Reference sequences, cut into chunks of whole windows.
//!
//! Every thread reads a file of its own, and helps with those of others when no more are left, so
//! that files are decompressed side by side and one large file is still sketched by all. How many
//! windows the files before have is then not known; windows are numbered within their file,
//! [`Numbers`] makes them windows of the database once all is read.

mod file;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gyrase_kmer::SketchShape;
use gyrase_seq::Batch;
use gyrase_work::Progress;

use crate::BuildError;
use crate::references::file::{File, Read};
use crate::targets::Targets;
use gyrase_taxonomy::Taxon;

pub(crate) use file::Chunk;

/// Names the taxon of a reference, by its header and its file.
pub(crate) type TaxonOf<'t> = dyn FnMut(&str, &Path) -> Option<Taxon> + Send + 't;

/// Windows of one file whose numbers follow each other in the database, as a power of two.
const BLOCK_BITS: u32 = 16;

/// Bits of a number that says which window until windows have their numbers of the database.
pub(crate) const PROVISIONAL_BITS: u32 = 44;

/// Reads files and gives targets and windows their numbers, in the order of the files.
pub(crate) struct References<'a> {
    files: &'a [PathBuf],
    /// The next file that nobody reads.
    next: AtomicUsize,
    /// A file of every thread.
    slots: Vec<Mutex<Slot>>,
    /// Blocks of windows handed out.
    blocks: AtomicUsize,
    shape: SketchShape,
    taxon_of: Mutex<&'a mut TaxonOf<'a>>,
    /// Files that were read.
    done: Mutex<Vec<Option<Read>>>,
    /// How many files count: those before the first that failed, or none after a failure of
    /// something else.
    wanted: AtomicUsize,
    failure: Mutex<Option<BuildError>>,
    progress: &'a Progress,
}

/// The file that a thread has open, and the batch for all of its files.
#[derive(Default)]
struct Slot {
    file: Option<File>,
    batch: Batch,
}

impl<'a> References<'a> {
    /// The sequences of `files`, for so many threads; `taxon_of` is told the header of each, and
    /// its file.
    pub(crate) fn new(
        files: &'a [PathBuf],
        shape: SketchShape,
        taxon_of: &'a mut TaxonOf<'a>,
        threads: usize,
        progress: &'a Progress,
    ) -> References<'a> {
        References {
            files,
            next: AtomicUsize::new(0),
            slots: (0..threads).map(|_| Mutex::default()).collect(),
            blocks: AtomicUsize::new(0),
            shape,
            taxon_of: Mutex::new(taxon_of),
            done: Mutex::new((0..files.len()).map(|_| None).collect()),
            wanted: AtomicUsize::new(files.len()),
            failure: Mutex::new(None),
            progress,
        }
    }

    /// Fills a chunk for a thread; false when there is nothing left to do for it.
    pub(crate) fn next_chunk(&self, thread: usize, chunk: &mut Chunk) -> bool {
        let slots = self.slots[thread..].iter().chain(&self.slots[..thread]);
        slots.enumerate().any(|(at, slot)| {
            let mut slot = slot.lock().expect("no thread panics while it reads");
            while slot.file.is_some() || at == 0 && self.open(&mut slot) {
                if self.fill(&mut slot, chunk) {
                    return true;
                }
            }
            false
        })
    }

    /// Opens the next file; false when there is none.
    fn open(&self, slot: &mut Slot) -> bool {
        let number = self.next.fetch_add(1, Relaxed);
        if number >= self.wanted.load(Relaxed) {
            return false;
        }
        slot.batch.clear();
        match File::open(number, &self.files[number]) {
            Ok(file) => slot.file = Some(file),
            Err(error) => self.fail_at(number, error),
        }
        true
    }

    /// Fills a chunk from the file of a slot; false, and no file any more, when it has no more or
    /// its letters are not wanted.
    fn fill(&self, slot: &mut Slot, chunk: &mut Chunk) -> bool {
        let Slot { file, batch } = slot;
        let Some(open) = file.as_mut() else {
            return false;
        };
        let number = open.number();
        if number >= self.wanted.load(Relaxed) {
            *file = None;
            return false;
        }
        let more = open.fill(chunk, batch, self.shape, &mut |header| {
            let mut taxon_of = self
                .taxon_of
                .lock()
                .expect("no thread panics while it names a taxon");
            (**taxon_of)(header, &self.files[number])
        });
        self.progress.advance(open.advanced());
        match more {
            Ok(true) => open.number_windows(chunk, || self.blocks.fetch_add(1, Relaxed) as u32),
            Ok(false) => self.close(file.take()),
            Err(error) => {
                *file = None;
                self.fail_at(number, error);
            }
        }
        slot.file.is_some()
    }

    fn close(&self, file: Option<File>) {
        let Some(file) = file else { return };
        let mut done = self
            .done
            .lock()
            .expect("no thread panics while it closes a file");
        let number = file.number();
        done[number] = Some(file.into_read());
    }

    /// A file failed: those behind it are wanted no more, those before it may have failures that
    /// come first.
    fn fail_at(&self, number: usize, error: BuildError) {
        let mut failure = self
            .failure
            .lock()
            .expect("no thread panics while it fails");
        if self.wanted.fetch_min(number, Relaxed) > number {
            *failure = Some(error);
        }
    }

    /// Something else failed: no file is wanted any more.
    pub(crate) fn fail(&self, error: BuildError) {
        let mut failure = self
            .failure
            .lock()
            .expect("no thread panics while it fails");
        self.wanted.store(0, Relaxed);
        failure.get_or_insert(error);
    }

    /// `targets` and all that were read behind them, and the numbers of the windows of these.
    ///
    /// # Errors
    /// The failure of the first file that failed, if one did.
    pub(crate) fn finish(self, mut targets: Targets) -> Result<(Targets, Numbers), BuildError> {
        if let Some(failure) = self
            .failure
            .into_inner()
            .expect("no thread panics while it fails")
        {
            return Err(failure);
        }
        let mut source = targets.sources();
        let mut numbers = Numbers {
            starts: vec![0; self.blocks.into_inner()],
        };
        let done = self
            .done
            .into_inner()
            .expect("no thread panics while it closes a file");
        for Read {
            targets: here,
            blocks,
        } in done.into_iter().flatten()
        {
            let start = targets.all_windows();
            let any = !here.is_empty();
            for mut target in here {
                target.source = source;
                targets.push(target).ok_or(BuildError::TooManyWindows)?;
            }
            for (ordinal, block) in blocks.into_iter().enumerate() {
                numbers.starts[block as usize] = start + ((ordinal as u32) << BLOCK_BITS);
            }
            source += u32::from(any);
        }
        Ok((targets, numbers))
    }
}

/// Which window of the database a provisional number means.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numbers {
    /// The first window of every block.
    starts: Vec<u32>,
}

impl Numbers {
    /// The window that `provisional`, which a chunk gave, means.
    #[inline(always)]
    pub(crate) fn window(&self, provisional: u64) -> u32 {
        self.starts[(provisional >> BLOCK_BITS) as usize]
            + (provisional & ((1 << BLOCK_BITS) - 1)) as u32
    }

    /// The bytes that [`Numbers::from_bytes`] reads.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        self.starts
            .iter()
            .flat_map(|start| start.to_le_bytes())
            .collect()
    }

    /// Reads what [`Numbers::to_bytes`] wrote; `None` when the bytes are anything else.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Numbers> {
        let (starts, rest) = bytes.as_chunks();
        rest.is_empty().then(|| Numbers {
            starts: starts
                .iter()
                .map(|start| u32::from_le_bytes(*start))
                .collect(),
        })
    }

    /// The numbers of so many blocks that follow each other.
    #[cfg(test)]
    pub(crate) fn following(blocks: u32) -> Numbers {
        Numbers {
            starts: (0..blocks).map(|block| block << BLOCK_BITS).collect(),
        }
    }
}
