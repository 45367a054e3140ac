//! The reads of a run, packed: what every step behind the counting reads. They are in memory, and
//! where they take more than their part of it in a file without a name.
//!
//! Several processes [share](crate::shares) files of plain FASTQ; of others each process reads all,
//! and keeps the batches that it is dealt. No process has all reads. What is told of their number
//! and lengths is told of all.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use bytemuck::{cast_slice, cast_slice_mut};
use gyrase_fabric::{Alone, FabricError, SpillFolder, World};
use gyrase_fastx::{PairedReader, Reader};
use gyrase_seq::{Batch, encode};
use gyrase_tabulate::{Source, TabulateError, spill_path};
use gyrase_work::{Checking, Feed, Fetching, Progress, in_order};

use crate::config::{AssemblyError, Config, Library};
use crate::foreign::{AdapterReads, count_adapters};
use crate::shares::share_of;

/// The code of a letter that is no base.
pub const NONE: u8 = 4;

/// Codes of the four bases in a byte, the first highest.
static CODES: LazyLock<[[u8; 4]; 256]> =
    LazyLock::new(|| std::array::from_fn(|byte| [6, 4, 2, 0].map(|bits| (byte >> bits & 3) as u8)));

/// Packs codes of bases, four a byte.
pub fn pack(codes: &[u8], packed: &mut Vec<u8>) {
    for four in codes.chunks(4) {
        let codes = four.iter().zip([6, 4, 2, 0]);
        packed.push(codes.fold(0, |byte, (code, bits)| byte | code << bits));
    }
}

/// Bytes that so many codes take.
pub fn packed_bytes(codes: usize) -> usize {
    codes.div_ceil(4)
}

/// Appends so many codes that were packed.
pub fn unpack(packed: &[u8], len: usize, codes: &mut Vec<u8>) {
    let end = codes.len() + len;
    for &byte in &packed[..packed_bytes(len)] {
        codes.extend_from_slice(&CODES[usize::from(byte)]);
    }
    codes.truncate(end);
}

/// Reads that came in one batch; of pairs the mates follow each other.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Whether the reads are mates in turn.
    pub paired: bool,
    /// Four bases a byte; each read begins with a byte.
    packed: Vec<u8>,
    lengths: Vec<u32>,
    /// Letters that are no base: the number of the read in the block, and the place.
    holes: Vec<[u32; 2]>,
    adapters: AdapterReads,
}

impl Block {
    fn push(&mut self, letters: &[u8]) {
        count_adapters(letters, &mut self.adapters);
        let read = self.lengths.len() as u32;
        for (quarter, four) in letters.chunks(4).enumerate() {
            let mut byte = 0;
            for (place, &letter) in four.iter().enumerate() {
                let code = encode(letter).unwrap_or_else(|| {
                    self.holes.push([read, (4 * quarter + place) as u32]);
                    0
                });
                byte |= code << (6 - 2 * place);
            }
            self.packed.push(byte);
        }
        self.lengths.push(letters.len() as u32);
    }

    /// A sequence of bases alone.
    pub fn of_codes(codes: &[u8]) -> Block {
        let mut block = Block::default();
        pack(codes, &mut block.packed);
        block.lengths.push(codes.len() as u32);
        block
    }

    /// Bytes of memory that it takes.
    fn bytes(&self) -> u64 {
        let [packed, lengths, holes] = self.parts().map(<[u8]>::len);
        (packed + lengths + holes) as u64
    }

    /// What is in it, as a file holds it.
    fn parts(&self) -> [&[u8]; 3] {
        let (lengths, holes) = (cast_slice(&self.lengths), cast_slice(&self.holes));
        [&self.packed, lengths, holes]
    }

    fn shrink(&mut self) {
        self.packed.shrink_to_fit();
        self.lengths.shrink_to_fit();
        self.holes.shrink_to_fit();
    }

    /// Calls `each` with the codes of all reads, in their order, so many at a time;
    /// [`NONE`] where there is no base.
    pub fn for_each_some(&self, at_once: usize, mut each: impl FnMut(&[Vec<u8>])) {
        let (mut reads, mut from, mut hole) = (vec![Vec::new(); at_once], 0, 0);
        for (number, &length) in self.lengths.iter().enumerate() {
            let codes = &mut reads[number % at_once];
            codes.clear();
            unpack(&self.packed[from..], length as usize, codes);
            while let Some(&[_, place]) = self.holes.get(hole).filter(|at| at[0] == number as u32) {
                codes[place as usize] = NONE;
                hole += 1;
            }
            from += packed_bytes(length as usize);
            if number % at_once + 1 == at_once {
                each(&reads);
            }
        }
        each(&reads[..self.lengths.len() % at_once]);
    }
}

/// A block that is in memory, or in the file.
enum Kept {
    Memory(Block),
    /// Where it begins, and how much of each part there is.
    File {
        at: u64,
        paired: bool,
        packed: usize,
        reads: usize,
        holes: usize,
    },
}

/// Where blocks go that find no room.
#[derive(Default)]
struct Overflow {
    /// Bytes of memory for those that stay.
    room: u64,
    folder: Arc<SpillFolder>,
    /// And where the next one begins.
    file: Option<(File, u64)>,
}

impl Overflow {
    /// Keeps a block where there is room.
    fn keep(&mut self, block: Block) -> Result<Kept, FabricError> {
        let bytes = block.bytes();
        if bytes <= self.room {
            self.room -= bytes;
            return Ok(Kept::Memory(block));
        }
        if self.file.is_none() {
            self.file = Some((self.folder.nameless()?, 0));
        }
        let (file, end) = self.file.as_mut().expect("it was just made");
        let at = *end;
        for part in block.parts() {
            let written = file.write_all_at(part, *end);
            written.map_err(|source| self.folder.error(source))?;
            *end += part.len() as u64;
        }
        Ok(Kept::File {
            at,
            paired: block.paired,
            packed: block.packed.len(),
            reads: block.lengths.len(),
            holes: block.holes.len(),
        })
    }

    /// A block that was kept.
    fn get<'b>(&self, kept: &'b Kept) -> Result<Cow<'b, Block>, FabricError> {
        let (mut at, paired, [packed, reads, holes]) = match *kept {
            Kept::Memory(ref block) => return Ok(Cow::Borrowed(block)),
            Kept::File {
                at,
                paired,
                packed,
                reads,
                holes,
            } => (at, paired, [packed, reads, holes]),
        };
        let mut block = Block {
            paired,
            packed: vec![0; packed],
            lengths: vec![0; reads],
            holes: vec![[0; 2]; holes],
            ..Block::default()
        };
        let (file, _) = self.file.as_ref().expect("a block went to it");
        let (lengths, holes) = (&mut block.lengths[..], &mut block.holes[..]);
        let (lengths, holes) = (cast_slice_mut(lengths), cast_slice_mut(holes));
        for part in [&mut block.packed[..], lengths, holes] {
            let read = file.read_exact_at(part, at);
            read.map_err(|source| self.folder.error(source))?;
            at += part.len() as u64;
        }
        Ok(Cow::Owned(block))
    }
}

/// The part of the memory of a run that reads may take.
const PART: u64 = 16;

/// Bytes of memory that reads take of so many.
pub fn room_for_reads(memory: u64) -> u64 {
    memory / PART
}

/// Bytes that reads may take in the least memory in which so much is left for what is `beside`.
pub fn least_room(beside: u64) -> u64 {
    beside.div_ceil(PART - 1)
}

/// All reads of a run, of which a process has its share.
pub struct Reads<'w> {
    world: &'w dyn World,
    /// Those of this process.
    blocks: Vec<Kept>,
    overflow: Overflow,
    held: u64,
    /// For each length how many have it, in all processes.
    lengths: BTreeMap<u32, u64>,
    adapters: AdapterReads,
}

impl<'w> Reads<'w> {
    /// Reads all libraries.
    ///
    /// Collective.
    ///
    /// # Errors
    /// A file cannot be read, mates are not in step, there is no room for what does not fit the
    /// memory, or somebody cancelled.
    pub fn load(
        config: &Config,
        world: &'w dyn World,
        progress: &Progress,
    ) -> Result<Reads<'w>, AssemblyError> {
        let shared = world.ranks() > 1;
        match Reads::load_by(config, world, progress, shared)? {
            Some(reads) => Ok(reads),
            None => {
                let reads = Reads::load_by(config, world, progress, false)?;
                Ok(reads.expect("what is not shared is read, or its error is told"))
            }
        }
    }

    /// Reads all libraries, `shared` or not; nothing where something is wrong with a share.
    fn load_by(
        config: &Config,
        world: &'w dyn World,
        progress: &Progress,
        shared: bool,
    ) -> Result<Option<Reads<'w>>, AssemblyError> {
        let root = folder(config);
        let overflow = Overflow {
            room: room_for_reads(config.memory),
            folder: Arc::new(SpillFolder::of_process(&root, world.peer(), None, false)),
            file: None,
        };
        let mut reads = Reads::none(world, overflow);
        for library in &config.libraries {
            let pack = |_: &mut (), batches: &[Batch; 2], block: &mut Block| {
                *block = packed(batches);
                Ok(())
            };
            let share = match shared {
                true => share_of(library, world, progress)?,
                false => None,
            };
            let is_share = share.is_some();
            let dealt = match share {
                Some(source) => Dealt::new(source, &Alone),
                None => Dealt::new(open(library)?, world),
            };
            let read = in_order(
                config.threads,
                dealt,
                progress,
                || (),
                pack,
                |_, block| -> Result<(), AssemblyError> {
                    progress.add_reads(block.lengths.len() as u64);
                    Ok(reads.add(std::mem::take(block))?)
                },
            );
            let is_right = match read {
                Ok(()) => Some(()),
                Err(AssemblyError::Tabulate(TabulateError::Input(_))) if is_share => None,
                Err(error) => return Err(error),
            };
            if is_share && world.if_all_have(is_right)?.is_none() {
                return Ok(None);
            }
        }
        reads.agree()?;
        Ok(Some(reads))
    }

    fn none(world: &'w dyn World, overflow: Overflow) -> Reads<'w> {
        Reads {
            world,
            blocks: Vec::new(),
            overflow,
            held: 0,
            lengths: BTreeMap::new(),
            adapters: AdapterReads::default(),
        }
    }

    /// Adds up what all processes read.
    ///
    /// Collective.
    fn agree(&mut self) -> Result<(), AssemblyError> {
        let found = self.world.sum(&self.adapters)?;
        self.adapters.copy_from_slice(&found);
        let own = std::mem::take(&mut self.lengths).into_iter();
        let numbers = own.flat_map(|(length, reads)| [u64::from(length), reads]);
        let bytes: Vec<u8> = numbers.flat_map(u64::to_le_bytes).collect();
        for bytes in self.world.all_gather(&bytes)? {
            let (numbers, _) = bytes.as_chunks();
            for pair in numbers.chunks_exact(2) {
                let [length, reads] = [0, 1].map(|at| u64::from_le_bytes(pair[at]));
                *self.lengths.entry(length as u32).or_default() += reads;
            }
        }
        Ok(())
    }

    /// The processes that have the reads together.
    pub fn world(&self) -> &'w dyn World {
        self.world
    }

    /// The folder for what does not fit the memory.
    pub fn folder(&self) -> Arc<SpillFolder> {
        Arc::clone(&self.overflow.folder)
    }

    /// Reads without mates, as codes.
    #[cfg(test)]
    pub fn of(codes: &[Vec<u8>]) -> Reads<'static> {
        Reads::of_blocks(&[codes])
    }

    /// The same in several blocks.
    #[cfg(test)]
    pub fn of_blocks(blocks: &[impl AsRef<[Vec<u8>]>]) -> Reads<'static> {
        let overflow = Overflow {
            room: u64::MAX,
            ..Overflow::default()
        };
        let mut reads = Reads::none(&Alone, overflow);
        for codes in blocks {
            let mut block = Block::default();
            for read in codes.as_ref() {
                let letter = |&code: &u8| match code {
                    NONE => b'N',
                    code => gyrase_seq::decode(code),
                };
                block.push(&read.iter().map(letter).collect::<Vec<u8>>());
            }
            reads.add(block).expect("there is room");
        }
        reads
    }

    fn add(&mut self, block: Block) -> Result<(), FabricError> {
        for &length in &block.lengths {
            *self.lengths.entry(length).or_default() += 1;
        }
        for (sum, &more) in self.adapters.iter_mut().zip(&block.adapters) {
            *sum += more;
        }
        let bytes = block.bytes();
        let kept = self.overflow.keep(block)?;
        if matches!(kept, Kept::Memory(_)) {
            self.held += bytes;
        }
        self.blocks.push(kept);
        Ok(())
    }

    /// Reads that hold each of the adapters.
    pub fn adapters(&self) -> AdapterReads {
        self.adapters
    }

    /// Bytes of memory that those of this process take.
    pub fn held(&self) -> u64 {
        self.held
    }

    /// The least memory in which they have their part, and so much is `beside` them.
    pub fn least_memory(&self, beside: u64) -> u64 {
        let room = match self.overflow.file {
            None => self.held,
            Some(_) => self.held.max(least_room(beside)),
        };
        room + beside
    }

    /// How many reads.
    pub fn len(&self) -> u64 {
        self.lengths.values().sum()
    }

    /// Their letters.
    pub fn bases(&self) -> u64 {
        let bases = self
            .lengths
            .iter()
            .map(|(&length, &reads)| u64::from(length) * reads);
        bases.sum()
    }

    /// The length that half of all letters are in reads of, or of longer ones.
    pub fn typical_length(&self) -> u32 {
        let half = self.bases().div_ceil(2);
        let mut seen = 0;
        let longest_first = self.lengths.iter().rev();
        for (&length, &reads) in longest_first {
            seen += u64::from(length) * reads;
            if seen >= half {
                return length;
            }
        }
        0
    }
}

/// Sequences of this process in blocks: reads, or what is looked up as reads are.
pub trait ReadBlocks: Sync {
    /// How many.
    fn count(&self) -> usize;

    /// One of them.
    ///
    /// # Errors
    /// It cannot be read.
    fn get(&self, number: usize) -> Result<Cow<'_, Block>, FabricError>;
}

impl ReadBlocks for Reads<'_> {
    fn count(&self) -> usize {
        self.blocks.len()
    }

    fn get(&self, number: usize) -> Result<Cow<'_, Block>, FabricError> {
        self.overflow.get(&self.blocks[number])
    }
}

/// Some of the blocks of others, as a process of a test has them.
#[cfg(test)]
pub struct TestShare<'b> {
    pub blocks: &'b dyn ReadBlocks,
    pub own: Vec<usize>,
}

#[cfg(test)]
impl ReadBlocks for TestShare<'_> {
    fn count(&self) -> usize {
        self.own.len()
    }

    fn get(&self, number: usize) -> Result<Cow<'_, Block>, FabricError> {
        self.blocks.get(self.own[number])
    }
}

/// The folder for reads that do not fit the memory.
pub fn folder(config: &Config) -> PathBuf {
    spill_path(&config.tmp, "gyrase-reads", &config.output)
}

/// The batches of a source that one of several processes is dealt, where every process reads all of
/// them; all batches of a source that it reads alone.
struct Dealt {
    source: Source,
    rank: usize,
    ranks: usize,
    /// Batches so far.
    next: usize,
    /// Of several processes each checks all batches: where one is wrong, all stop.
    check: Option<Checking<[Batch; 2], TabulateError>>,
}

impl Dealt {
    fn new(source: Source, world: &dyn World) -> Dealt {
        let check = source.checking().filter(|_| world.ranks() > 1);
        Dealt {
            source,
            rank: world.rank(),
            ranks: world.ranks(),
            next: 0,
            check,
        }
    }
}

impl Feed for Dealt {
    type Task = [Batch; 2];
    type Error = TabulateError;

    fn next(&mut self, batches: &mut [Batch; 2]) -> Result<bool, TabulateError> {
        while self.source.next(batches)? {
            self.check.as_ref().map_or(Ok(()), |check| check(batches))?;
            let dealt_to = self.next % self.ranks;
            self.next += 1;
            if dealt_to == self.rank {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn fetching(&self) -> Option<Fetching> {
        self.source.fetching()
    }

    fn checking(&self) -> Option<Checking<[Batch; 2], TabulateError>> {
        self.source.checking().filter(|_| self.check.is_none())
    }
}

fn open(library: &Library) -> Result<Source, AssemblyError> {
    let options = Source::options();
    Ok(match library {
        Library::Single(path) => Source::Single(Box::new(Reader::open(path, &options)?)),
        Library::Paired(one, two) => {
            Source::Paired(Box::new(PairedReader::open(one, two, &options)?))
        }
        Library::Interleaved(path) => {
            Source::Paired(Box::new(PairedReader::open_interleaved(path, &options)?))
        }
    })
}

fn packed([first, second]: &[Batch; 2]) -> Block {
    let mut block = Block::default();
    if second.records.is_empty() {
        first.letters().for_each(|letters| block.push(letters));
    } else {
        block.paired = true;
        for (one, two) in first.letters().zip(second.letters()) {
            block.push(one);
            block.push(two);
        }
    }
    block.shrink();
    block
}

#[cfg(test)]
mod tests {
    use gyrase_fabric::Alone;

    use super::*;

    #[test]
    fn reads_that_find_no_room_come_back_from_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let texts: [&[&[u8]]; 4] = [
            &[b"GATTACA", b"", b"NNACGTNAC"],
            &[],
            &[b"TTTTN"],
            &[b"ACGTACGTACGTA", b"C"],
        ];
        let codes = texts.concat().into_iter().map(|text| {
            let code = |&letter| encode(letter).unwrap_or(NONE);
            text.iter().map(code).collect::<Vec<u8>>()
        });
        let codes: Vec<_> = codes.collect();
        for room in [0, 20, 40, u64::MAX] {
            let path = folder.path().join("reads");
            let overflow = Overflow {
                room,
                folder: Arc::new(SpillFolder::new(path.clone(), None, false)),
                file: None,
            };
            let mut reads = Reads::none(&Alone, overflow);
            for text in texts {
                let mut block = Block {
                    paired: text.len() == 2,
                    ..Block::default()
                };
                text.iter().for_each(|letters| block.push(letters));
                reads.add(block).unwrap();
            }
            let (mut found, mut paired) = (Vec::new(), Vec::new());
            for number in 0..reads.count() {
                let block = reads.get(number).expect("it can be read");
                block.for_each_some(3, |some| found.extend_from_slice(some));
                paired.push(block.paired);
            }
            let expected = (codes.clone(), vec![false, false, false, true]);
            assert_eq!((found, paired), expected);
            assert!(reads.held() <= room && (reads.held() > 0) == (room > 0));
            drop(reads);
            assert!(!path.exists());
        }
    }
}
