//! Reference sequences: how their windows are sketched, sent and numbered.
//!
//! Any worker sketches any batch of any file. How many windows the batches before it have is not
//! known then, so its windows get provisional numbers, in blocks of its own. Every worker notes
//! what was in its batches; once all is read, [`Numbers`] makes windows of the database of them.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gyrase_fabric::{FabricError, Sender, World};
use gyrase_fastx::Options;
use gyrase_kmer::{SketchShape, Sketcher};
use gyrase_seq::{Batch, Record};
use gyrase_table::gydb::{self, Location, PARTITIONS};
use gyrase_tabulate::Cut;

use crate::build::error::BuildError;
use crate::build::on_gpu::{GpuPass, SketchLane};
use crate::targets::{Target, Targets};
use gyrase_taxonomy::Taxon;

/// Names the taxon of a reference, by its header and its file.
pub(crate) type TaxonOf<'t> = dyn FnMut(&str, &Path) -> Option<Taxon> + Send + 't;

/// Windows of a batch whose numbers follow each other in the database, as a power of two.
const BLOCK_BITS: u32 = 16;

/// Bits of a number that says which window until windows have their numbers of the database.
pub(crate) const PROVISIONAL_BITS: u32 = 44;

/// Bytes of a record: the place of a feature in its partition, and the provisional number of a
/// window.
pub(crate) const RECORD: usize = 8;

/// Places of a partition.
pub(crate) const PLACES: u32 = u32::MAX / PARTITIONS as u32 + 1;

const _: () = assert!(PLACES as u64 == 1 << (64 - PROVISIONAL_BITS));

/// How references are read: from front to end, so that it is known where each part of a long one
/// begins; what a part repeats is all of the windows that end in it.
pub(crate) fn options(shape: SketchShape) -> Options {
    Options {
        overlap: shape.window() - 1,
        serial: true,
        ..Options::default()
    }
}

/// What all workers that read references share.
pub(crate) struct References<'a> {
    files: &'a [PathBuf],
    shape: SketchShape,
    /// Sketches in place of the threads, and keeps the features.
    gpu: Option<&'a GpuPass<'a>>,
    taxon_of: Mutex<&'a mut TaxonOf<'a>>,
    /// The next block of windows: of several processes each hands out one in so many.
    next_block: AtomicUsize,
    /// How many processes there are.
    ranks: usize,
}

impl<'a> References<'a> {
    /// The sequences of `files`; `taxon_of` is told the header of each, and its file.
    pub(crate) fn new(
        files: &'a [PathBuf],
        shape: SketchShape,
        gpu: Option<&'a GpuPass<'a>>,
        taxon_of: &'a mut TaxonOf<'a>,
        world: &dyn World,
    ) -> References<'a> {
        References {
            files,
            shape,
            gpu,
            taxon_of: Mutex::new(taxon_of),
            next_block: AtomicUsize::new(world.rank()),
            ranks: world.ranks(),
        }
    }

    fn new_block(&self) -> u32 {
        self.next_block.fetch_add(self.ranks, Relaxed) as u32
    }

    /// What one worker cuts with.
    pub(crate) fn cut(&self) -> Windows<'_, 'a> {
        Windows {
            references: self,
            sketcher: Sketcher::new(self.shape),
            on_gpu: self.gpu.map(GpuPass::lane),
            batches: Vec::new(),
        }
    }

    /// Collective. What was in all batches of all processes, of which `read` are this one's.
    ///
    /// # Errors
    /// Another process failed.
    pub(crate) fn gather(
        &self,
        read: Vec<Contents>,
        world: &dyn World,
    ) -> Result<Vec<Contents>, FabricError> {
        if world.ranks() == 1 {
            return Ok(read);
        }
        let mut bytes = Vec::new();
        read.iter().for_each(|contents| contents.encode(&mut bytes));
        let all = world.all_gather(&bytes)?;
        Ok(all
            .iter()
            .flat_map(|bytes| Contents::decode_all(bytes))
            .collect())
    }

    /// `targets` and all that `read` tells of behind them, and the numbers of the windows of these.
    ///
    /// # Errors
    /// There are more windows than a location can name.
    pub(crate) fn number(
        &self,
        mut targets: Targets,
        mut read: Vec<Contents>,
    ) -> Result<Numbered, BuildError> {
        read.sort_by_key(|batch| (batch.input, batch.first_record, batch.first_letter));
        let last = read.iter().flat_map(|batch| &batch.blocks).max();
        let mut numbers = Numbers {
            starts: vec![0; last.map_or(0, |&last| last as usize + 1)],
        };
        let (mut window, mut came) = (targets.all_windows(), Vec::new());
        for batch in &read {
            let first = batch.came.filter(|_| batch.windows > 0);
            came.extend(first.map(|first| (first, window)));
            for (ordinal, &block) in (0..).zip(&batch.blocks) {
                numbers.starts[block as usize] = window.wrapping_add(ordinal << BLOCK_BITS);
            }
            let next = window.checked_add(batch.windows);
            window = next.ok_or(BuildError::TooManyWindows)?;
        }
        let mut source = targets.sources();
        for file in read.chunk_by_mut(|one, other| one.input == other.input) {
            let mut any = false;
            for target in targets_of(file) {
                any = true;
                let windows = self.shape.windows(target.letters as usize);
                let target = Target {
                    windows,
                    source,
                    ..target
                };
                targets.push(target).ok_or(BuildError::TooManyWindows)?;
            }
            source += u32::from(any);
        }
        debug_assert_eq!(targets.all_windows(), window, "each window was cut once");
        Ok(Numbered {
            targets,
            numbers,
            came,
        })
    }

    fn start(&self, batch: &Batch, record: &Record) -> Target {
        let header = String::from_utf8_lossy(batch.bytes(record.name));
        let name = header
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .to_owned();
        let mut taxon_of = self
            .taxon_of
            .lock()
            .expect("no thread panics while it names a taxon");
        let taxon = (**taxon_of)(&header, &self.files[batch.input]);
        Target {
            name,
            taxon,
            letters: 0,
            windows: 0,
            source: 0,
        }
    }
}

/// References whose windows have their numbers of the database.
pub(crate) struct Numbered {
    pub targets: Targets,
    pub numbers: Numbers,
    /// Of each batch that a GPU keeps the features of, the number of its first window as it came to
    /// the GPU, and in the database.
    pub came: Vec<(u32, u32)>,
}

impl Numbered {
    /// Targets, and no windows behind theirs.
    pub(crate) fn of(targets: Targets) -> Numbered {
        Numbered {
            targets,
            numbers: Numbers::default(),
            came: Vec::new(),
        }
    }
}

/// The targets of a file, of which the batches are in order.
fn targets_of(batches: &mut [Contents]) -> Vec<Target> {
    let mut targets = Vec::<Target>::new();
    for batch in batches {
        if let Some(open) = targets.last_mut() {
            open.letters += batch.rest;
        }
        targets.append(&mut batch.targets);
    }
    targets
}

/// What was in a batch.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    input: usize,
    first_record: u64,
    /// Letters that the batch's first record had in earlier batches; `None` where it begins here.
    first_letter: Option<u64>,
    /// The blocks that its windows are in.
    blocks: Vec<u32>,
    windows: u32,
    /// The number of its first window where a GPU has their features.
    came: Option<u32>,
    /// Letters of the target that began in an earlier batch.
    rest: u64,
    /// The targets that begin here, with their letters here.
    targets: Vec<Target>,
}

/// Sends the features of every window to the partitions of their places.
pub(crate) struct Windows<'r, 'a> {
    references: &'r References<'a>,
    sketcher: Sketcher,
    on_gpu: Option<SketchLane<'r>>,
    batches: Vec<Contents>,
}

/// Letters of a part of a sequence, and the first of the windows that begin with them, in a batch.
type Cuttings<'b> = (&'b [u8], u32);

impl Windows<'_, '_> {
    /// What was in the batches that were cut.
    pub(crate) fn into_contents(self) -> Vec<Contents> {
        self.batches
    }

    /// Numbers the windows of a record, or of a part of one that had `before` letters in earlier
    /// batches; nothing where there is none.
    fn cut_part<'b>(
        &self,
        letters: &'b [u8],
        part: Part,
        contents: &mut Contents,
    ) -> Result<Option<Cuttings<'b>>, BuildError> {
        let references = self.references;
        let shape = references.shape;
        let windows = part.windows(shape);
        let first = contents.windows;
        let all = first.checked_add(windows.end - windows.start);
        contents.windows = all.ok_or(BuildError::TooManyWindows)?;
        while (contents.blocks.len() as u64) << BLOCK_BITS < u64::from(contents.windows) {
            contents.blocks.push(references.new_block());
        }
        let some = !windows.is_empty();
        Ok(some.then(|| (&letters[part.letters_of(windows, shape)], first)))
    }

    /// Sends the features of the windows of a batch, unless a GPU keeps them.
    fn send(
        &mut self,
        parts: &[Cuttings],
        contents: &mut Contents,
        sender: &mut impl Sender,
    ) -> Result<(), BuildError> {
        if let Some(lane) = &mut self.on_gpu {
            let sequences = parts.iter().map(|part| part.0);
            contents.came = Some(lane.sketch(sequences, contents.windows)?);
            return Ok(());
        }
        for &(letters, first) in parts {
            let mut sent = Ok(());
            self.sketcher.sketch(letters, &mut |window, features| {
                if sent.is_ok() {
                    sent = send(sender, features, contents.provisional(first + window));
                }
            });
            sent?;
        }
        Ok(())
    }
}

impl Cut<Batch, BuildError> for Windows<'_, '_> {
    fn cut(&mut self, batch: &Batch, sender: &mut impl Sender) -> Result<(), BuildError> {
        let mut contents = Contents {
            input: batch.input,
            first_record: batch
                .first_record
                .expect("references are read from front to end"),
            first_letter: batch.first_letter,
            ..Contents::default()
        };
        let mut parts = Vec::with_capacity(batch.records.len());
        for (index, record) in batch.records.iter().enumerate() {
            let before = batch.first_letter.filter(|_| index == 0);
            let new = record.letters.len() as u64 - u64::from(record.overlap);
            match before {
                Some(_) => contents.rest = new,
                None => {
                    let target = self.references.start(batch, record);
                    contents.targets.push(Target {
                        letters: new,
                        ..target
                    });
                }
            }
            let before = before.unwrap_or(0);
            let part = Part {
                first: before - u64::from(record.overlap),
                before,
                end: before + new,
                last: !record.continues,
            };
            parts.extend(self.cut_part(batch.bytes(record.letters), part, &mut contents)?);
        }
        self.send(&parts, &mut contents, sender)?;
        self.batches.push(contents);
        Ok(())
    }
}

impl Contents {
    /// Appends what [`Contents::decode`] reads.
    fn encode(&self, bytes: &mut Vec<u8>) {
        let mut targets = Targets::default();
        for target in &self.targets {
            targets
                .push(target.clone())
                .expect("they have no windows yet");
        }
        let targets = targets.to_bytes();
        let numbers = [
            self.input as u64,
            self.first_record,
            // One more, so that 0 is left for none.
            self.first_letter.map_or(0, |letter| letter + 1),
            u64::from(self.windows),
            self.rest,
            self.blocks.len() as u64,
            targets.len() as u64,
        ];
        numbers
            .iter()
            .for_each(|number| bytes.extend(number.to_le_bytes()));
        self.blocks
            .iter()
            .for_each(|block| bytes.extend(block.to_le_bytes()));
        bytes.extend(targets);
    }

    /// What another process of this job encoded.
    fn decode_all(mut bytes: &[u8]) -> Vec<Contents> {
        std::iter::from_fn(|| (!bytes.is_empty()).then(|| Contents::decode(&mut bytes))).collect()
    }

    fn decode(bytes: &mut &[u8]) -> Contents {
        const WHOLE: &str = "messages arrive whole";
        let mut number = || {
            let (number, rest) = bytes.split_first_chunk().expect(WHOLE);
            *bytes = rest;
            u64::from_le_bytes(*number)
        };
        let [
            input,
            first_record,
            first_letter,
            windows,
            rest,
            blocks,
            targets,
        ] = std::array::from_fn(|_| number());
        let (blocks, after) = bytes.split_at(4 * blocks as usize);
        let (targets, after) = after.split_at(targets as usize);
        *bytes = after;
        Contents {
            input: input as usize,
            first_record,
            first_letter: first_letter.checked_sub(1),
            blocks: blocks
                .as_chunks()
                .0
                .iter()
                .map(|&block| u32::from_le_bytes(block))
                .collect(),
            windows: windows as u32,
            came: None,
            rest,
            targets: Targets::from_bytes(targets)
                .expect(WHOLE)
                .iter()
                .cloned()
                .collect(),
        }
    }

    /// What says until all is read which window of this batch it is.
    #[inline(always)]
    fn provisional(&self, window: u32) -> u64 {
        let block = self.blocks[(window >> BLOCK_BITS) as usize];
        u64::from(block) << BLOCK_BITS | u64::from(window & ((1 << BLOCK_BITS) - 1))
    }
}

/// A part of a sequence: letters, counted from 0 through the sequence.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// The first that is here, repeated from the part before.
    first: u64,
    /// How many were in the parts before.
    before: u64,
    /// The end of those that are here.
    end: u64,
    /// The sequence ends with them.
    last: bool,
}

impl Part {
    /// The windows of the sequence that end in this part and in none before.
    fn windows(self, shape: SketchShape) -> std::ops::Range<u32> {
        let whole = |letters: u64| match letters.checked_sub(shape.window() as u64) {
            Some(more) => u32::try_from(more / shape.stride() as u64 + 1).unwrap_or(u32::MAX),
            None => 0,
        };
        let end = if self.last {
            shape.windows(self.end as usize)
        } else {
            whole(self.end)
        };
        let start = if self.before > 0 {
            whole(self.before)
        } else {
            0
        };
        start.min(end)..end
    }

    /// Where the letters of some windows, at least one, are among those that are here.
    fn letters_of(
        self,
        windows: std::ops::Range<u32>,
        shape: SketchShape,
    ) -> std::ops::Range<usize> {
        let start = u64::from(windows.start) * shape.stride() as u64;
        let whole = u64::from(windows.end - 1) * shape.stride() as u64 + shape.window() as u64;
        let end = if self.last { self.end } else { whole };
        (start - self.first) as usize..(end - self.first) as usize
    }
}

/// Sends the features of a window, whose partitions are told of before the first is sent.
fn send(sender: &mut impl Sender, features: &[u32], window: u64) -> Result<(), FabricError> {
    features
        .iter()
        .for_each(|&feature| sender.expect(gydb::partition_of(feature)));
    features.iter().try_for_each(|&feature| {
        let record = u64::from(gydb::place_of(feature) % PLACES) << PROVISIONAL_BITS | window;
        sender.send(gydb::partition_of(feature), &record.to_le_bytes(), RECORD)
    })
}

/// Which window of the database a provisional number means: that of the same number where no block
/// begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numbers {
    /// The first window of every block.
    starts: Vec<u32>,
}

impl Numbers {
    /// The window that a provisional number means.
    #[inline(always)]
    pub(crate) fn window(&self, provisional: u64) -> Location {
        let within = (provisional & ((1 << BLOCK_BITS) - 1)) as u32;
        match self.starts.get((provisional >> BLOCK_BITS) as usize) {
            Some(&start) => Location(start).behind(within),
            None => Location(provisional as u32),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows are cut once, each from the part in which it ends, wherever a sequence is parted.
    #[test]
    fn parts_have_the_windows_of_the_whole() {
        for (k, window, stride) in [
            (4, 10, 7),
            (4, 10, 10),
            (4, 4, 1),
            (1, 5, 2),
            (16, 127, 112),
        ] {
            let shape = SketchShape::new(k, window, stride, 4).unwrap();
            for letters in [
                0, 1, 3, 4, 5, 9, 10, 11, 16, 17, 18, 30, 31, 127, 128, 240, 1000,
            ] {
                for step in [1, 2, 5, 7, 10, 100, 2000] {
                    let mut expected = 0..shape.windows(letters);
                    let mut before = 0;
                    while before < letters.max(1) {
                        let end = letters.min(before + step);
                        let first = before.saturating_sub(window - 1);
                        let part = Part {
                            first: first as u64,
                            before: before as u64,
                            end: end as u64,
                            last: end == letters,
                        };
                        let found = part.windows(shape);
                        for window in found.clone() {
                            assert_eq!(Some(window), expected.next(), "{shape:?} {letters} {step}");
                            let here = part.letters_of(window..window + 1, shape);
                            let extent = shape.extent(window, letters);
                            assert_eq!(here.start + first, extent.start);
                            assert!(here.end + first >= extent.end && here.end <= end - first);
                        }
                        before += step;
                    }
                    assert_eq!(expected.next(), None, "{shape:?} {letters} {step}");
                }
            }
        }
    }
}
