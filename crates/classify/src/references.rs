//! Reference sequences, cut into chunks of whole windows.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::vec;

use gyrase_fastx::{Error, Options, Reader};
use gyrase_kmer::SketchShape;
use gyrase_seq::{Batch, Record};

use crate::BuildError;
use crate::targets::{Target, Targets};
use crate::taxonomy::Taxon;

/// Names the taxon of a reference, by its header and its file.
pub(crate) type TaxonOf<'t> = dyn FnMut(&str, &Path) -> Option<Taxon> + Send + 't;

/// Letters of a chunk, about.
const CHUNK: usize = 1 << 20;

/// Letters to sketch, of one or more targets.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    letters: Vec<u8>,
    pieces: Vec<Piece>,
}

/// Letters of one target that begin where a window begins and end where one ends.
#[derive(Debug)]
struct Piece {
    letters: Range<usize>,
    first_window: u32,
}

impl Chunk {
    /// Every piece: the number of its first window, and its letters.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (u32, &[u8])> {
        self.pieces.iter().map(|piece| (piece.first_window, &self.letters[piece.letters.clone()]))
    }
}

/// Reads files one after the other and gives targets and windows their numbers, in the order of the files.
pub(crate) struct References<'a> {
    files: vec::IntoIter<PathBuf>,
    /// The file that is read, and its name.
    reader: Option<(Reader, PathBuf)>,
    batch: Batch,
    /// The number of the file, among those that have a target.
    source: u32,
    /// The next record of the batch.
    next: usize,
    shape: SketchShape,
    taxon_of: &'a mut TaxonOf<'a>,
    targets: Targets,
    open: Option<Open>,
}

/// A target of which not all letters have come.
struct Open {
    target: Target,
    /// Windows cut so far.
    cut: u32,
    /// Letters from the start of the next window on that the last chunk had no room for.
    rest: Vec<u8>,
}

impl<'a> References<'a> {
    /// The sequences of `files`, numbered from behind `targets` on; `taxon_of` is told the header of each, and its file.
    pub(crate) fn new(
        files: Vec<PathBuf>,
        targets: Targets,
        shape: SketchShape,
        taxon_of: &'a mut TaxonOf<'a>,
    ) -> References<'a> {
        let (files, batch) = (files.into_iter(), Batch::default());
        let source = targets.sources().saturating_sub(1);
        References { files, reader: None, source, batch, next: 0, shape, taxon_of, targets, open: None }
    }

    /// The targets that it began with, and those read so far.
    pub(crate) fn into_targets(self) -> Targets {
        self.targets
    }

    /// Fills a chunk; false when there is no more.
    pub(crate) fn next_chunk(&mut self, chunk: &mut Chunk) -> Result<bool, BuildError> {
        chunk.letters.clear();
        chunk.pieces.clear();
        let mut start = 0;
        if let Some(open) = &mut self.open {
            chunk.letters.append(&mut open.rest);
        }
        let mut more = true;
        while chunk.letters.len() < CHUNK {
            more = self.has_record()?;
            if !more {
                break;
            }
            let record = self.batch.records[self.next];
            self.next += 1;
            self.open_target(&record);
            let letters = self.batch.bytes(record.letters);
            chunk.letters.extend_from_slice(letters);
            let open = self.open.as_mut().expect("a target is open");
            open.target.letters += letters.len() as u64;
            if !record.continues {
                self.close_target(chunk, start)?;
                start = chunk.letters.len();
            }
        }
        self.cut_open(chunk, start);
        Ok(more || !chunk.pieces.is_empty())
    }

    /// True when the batch has another record, perhaps after reading one from this or the next file.
    fn has_record(&mut self) -> Result<bool, Error> {
        while self.next == self.batch.records.len() {
            self.next = 0;
            let more = self.reader.as_mut().map_or(Ok(false), |(reader, _)| reader.next_batch(&mut self.batch))?;
            if more {
                continue;
            }
            self.batch.clear();
            let Some(file) = self.files.next() else { return Ok(false) };
            self.reader = Some((Reader::open(&file, &Options::default())?, file));
            self.source += u32::from(self.targets.iter().last().is_some_and(|target| target.source == self.source));
        }
        Ok(true)
    }

    fn open_target(&mut self, record: &Record) {
        if self.open.is_some() {
            return;
        }
        let header = String::from_utf8_lossy(self.batch.bytes(record.name));
        let name = header.split_whitespace().next().unwrap_or_default().to_owned();
        let file = self.reader.as_ref().map_or(Path::new(""), |(_, file)| file);
        let target =
            Target { name, taxon: (self.taxon_of)(&header, file), letters: 0, windows: 0, source: self.source };
        self.open = Some(Open { target, cut: 0, rest: Vec::new() });
    }

    /// The rest of the open target is in `chunk` from `start` on.
    fn close_target(&mut self, chunk: &mut Chunk, start: usize) -> Result<(), BuildError> {
        let Some(Open { mut target, cut, .. }) = self.open.take() else { return Ok(()) };
        target.windows = self.shape.windows(usize::try_from(target.letters).expect("letters fit an address"));
        if target.windows > cut {
            let first_window = self.targets.all_windows().checked_add(cut).ok_or(BuildError::TooManyWindows)?;
            chunk.pieces.push(Piece { letters: start..chunk.letters.len(), first_window });
        }
        self.targets.push(target).ok_or(BuildError::TooManyWindows)
    }

    /// Cuts the whole windows off a target that goes on in the next chunk.
    fn cut_open(&mut self, chunk: &mut Chunk, start: usize) {
        let first_window = self.targets.all_windows();
        let Some(open) = &mut self.open else { return };
        let (window, stride) = (self.shape.window(), self.shape.stride());
        let letters = chunk.letters.len() - start;
        // The last whole window is kept back too: the target may end with it.
        let whole = letters.saturating_sub(window) / stride;
        open.rest.extend_from_slice(&chunk.letters[start + whole * stride..]);
        if whole > 0 {
            let end = start + (whole - 1) * stride + window;
            chunk.pieces.push(Piece { letters: start..end, first_window: first_window.saturating_add(open.cut) });
            open.cut = open.cut.saturating_add(whole as u32);
        }
    }
}
