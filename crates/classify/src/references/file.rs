//! One file of references, from front to end.

use std::ops::Range;
use std::path::Path;

use gyrase_fastx::{Options, Reader};
use gyrase_kmer::SketchShape;
use gyrase_seq::{Batch, Record};

use super::BLOCK_BITS;
use crate::BuildError;
use crate::targets::Target;
use gyrase_taxonomy::Taxon;

/// Letters of a chunk, about.
const CHUNK: usize = 1 << 20;

/// Letters of one file to sketch, of one or more targets.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    letters: Vec<u8>,
    pieces: Vec<Piece>,
    /// The blocks that the windows of the file from number `first_block << BLOCK_BITS` on are in.
    blocks: Vec<u32>,
    first_block: u32,
}

/// Letters of one target that begin where a window begins and end where one ends.
#[derive(Debug)]
struct Piece {
    letters: Range<usize>,
    /// Its first window, among those of the file.
    first_window: u32,
}

impl Chunk {
    /// Every piece: the number of its first window in the file, and its letters.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (u32, &[u8])> {
        self.pieces
            .iter()
            .map(|piece| (piece.first_window, &self.letters[piece.letters.clone()]))
    }

    /// What says until all is read which window of the file it is, and of which file.
    #[inline(always)]
    pub(crate) fn provisional(&self, window: u32) -> u64 {
        let block = self.blocks[((window >> BLOCK_BITS) - self.first_block) as usize];
        u64::from(block) << BLOCK_BITS | u64::from(window & ((1 << BLOCK_BITS) - 1))
    }
}

/// What was in a file.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub targets: Vec<Target>,
    /// The blocks of its windows, in order.
    pub blocks: Vec<u32>,
}

/// A file that is read.
pub(super) struct File {
    number: usize,
    reader: Reader,
    /// The next record of the batch.
    next: usize,
    read: Read,
    /// Windows of the targets that are closed.
    windows: u32,
    open: Option<Open>,
    /// Stored bytes that the progress was told of.
    told: u64,
}

/// A target of which not all letters have come.
struct Open {
    target: Target,
    /// Windows cut so far.
    cut: u32,
    /// Letters from the start of the next window on that the last chunk had no room for.
    rest: Vec<u8>,
}

impl File {
    /// Opens file `number`.
    pub fn open(number: usize, path: &Path) -> Result<File, BuildError> {
        let reader = Reader::open(path, &Options::default())?;
        Ok(File {
            number,
            reader,
            next: 0,
            read: Read::default(),
            windows: 0,
            open: None,
            told: 0,
        })
    }

    /// Its number among all files.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Stored bytes that were read since the last call.
    pub fn advanced(&mut self) -> u64 {
        let read = self.reader.read_bytes();
        read - std::mem::replace(&mut self.told, read)
    }

    /// What was read of it.
    pub fn into_read(self) -> Read {
        self.read
    }

    /// Fills a chunk; false when there is no more.
    pub fn fill(
        &mut self,
        chunk: &mut Chunk,
        batch: &mut Batch,
        shape: SketchShape,
        taxon_of: &mut dyn FnMut(&str) -> Option<Taxon>,
    ) -> Result<bool, BuildError> {
        chunk.letters.clear();
        chunk.pieces.clear();
        let mut start = 0;
        if let Some(open) = &mut self.open {
            chunk.letters.append(&mut open.rest);
        }
        let mut more = true;
        while chunk.letters.len() < CHUNK {
            more = self.has_record(batch)?;
            if !more {
                break;
            }
            let record = batch.records[self.next];
            self.next += 1;
            let open = self
                .open
                .get_or_insert_with(|| Open::start(batch, &record, taxon_of));
            let letters = batch.bytes(record.letters);
            chunk.letters.extend_from_slice(letters);
            open.target.letters += letters.len() as u64;
            if !record.continues {
                self.close_target(chunk, start, shape)?;
                start = chunk.letters.len();
            }
        }
        self.cut_open(chunk, start, shape)?;
        Ok(more || !chunk.pieces.is_empty())
    }

    /// True when the batch has another record, perhaps after reading one.
    fn has_record(&mut self, batch: &mut Batch) -> Result<bool, BuildError> {
        while self.next == batch.records.len() {
            self.next = 0;
            if !self.reader.next_batch(batch)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The rest of the open target is in `chunk` from `start` on.
    fn close_target(
        &mut self,
        chunk: &mut Chunk,
        start: usize,
        shape: SketchShape,
    ) -> Result<(), BuildError> {
        let Some(Open {
            mut target, cut, ..
        }) = self.open.take()
        else {
            return Ok(());
        };
        target.windows =
            shape.windows(usize::try_from(target.letters).expect("letters fit an address"));
        let end = self
            .windows
            .checked_add(target.windows)
            .ok_or(BuildError::TooManyWindows)?;
        if target.windows > cut {
            chunk.pieces.push(Piece {
                letters: start..chunk.letters.len(),
                first_window: self.windows + cut,
            });
        }
        self.windows = end;
        self.read.targets.push(target);
        Ok(())
    }

    /// Cuts the whole windows off a target that goes on in the next chunk.
    fn cut_open(
        &mut self,
        chunk: &mut Chunk,
        start: usize,
        shape: SketchShape,
    ) -> Result<(), BuildError> {
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        let (window, stride) = (shape.window(), shape.stride());
        let letters = chunk.letters.len() - start;
        // The last whole window is kept back too: the target may end with it.
        let whole = letters.saturating_sub(window) / stride;
        open.rest
            .extend_from_slice(&chunk.letters[start + whole * stride..]);
        if whole > 0 {
            let end = start + (whole - 1) * stride + window;
            let cut = open
                .cut
                .checked_add(whole as u32)
                .filter(|&cut| self.windows.checked_add(cut).is_some());
            chunk.pieces.push(Piece {
                letters: start..end,
                first_window: self.windows + open.cut,
            });
            open.cut = cut.ok_or(BuildError::TooManyWindows)?;
        }
        Ok(())
    }

    /// Gives the windows of a chunk that was just filled their blocks.
    pub fn number_windows(&mut self, chunk: &mut Chunk, mut new_block: impl FnMut() -> u32) {
        let end = self.windows + self.open.as_ref().map_or(0, |open| open.cut);
        while (self.read.blocks.len() as u64) << BLOCK_BITS < u64::from(end) {
            self.read.blocks.push(new_block());
        }
        chunk.first_block = chunk
            .pieces
            .first()
            .map_or(0, |piece| piece.first_window >> BLOCK_BITS);
        chunk.blocks.clear();
        chunk
            .blocks
            .extend_from_slice(&self.read.blocks[chunk.first_block as usize..]);
    }
}

impl Open {
    fn start(
        batch: &Batch,
        record: &Record,
        taxon_of: &mut dyn FnMut(&str) -> Option<Taxon>,
    ) -> Open {
        let header = String::from_utf8_lossy(batch.bytes(record.name));
        let name = header
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .to_owned();
        let target = Target {
            name,
            taxon: taxon_of(&header),
            letters: 0,
            windows: 0,
            source: 0,
        };
        Open {
            target,
            cut: 0,
            rest: Vec::new(),
        }
    }
}
