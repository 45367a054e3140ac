//! The reads of a run, packed, in memory: what every step behind the counting reads.
//!
//! Several processes read all of them, and each keeps the batches that it is dealt: no process has
//! all reads. What is told of their number and lengths is told of all.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gyrase_fabric::World;
use gyrase_fastx::{PairedReader, Reader};
use gyrase_seq::{Batch, encode};
use gyrase_tabulate::{Source, TabulateError};
use gyrase_work::{Cancelled, Feed, Fetching, Progress, in_order, in_parallel};

use crate::config::{AssemblyError, Library};
use crate::foreign::{AdapterReads, count_adapters};

/// The code of a letter that is no base.
pub const NONE: u8 = 4;

/// Codes of the four bases in a byte, the first highest.
static CODES: LazyLock<[[u8; 4]; 256]> =
    LazyLock::new(|| std::array::from_fn(|byte| [6, 4, 2, 0].map(|bits| (byte >> bits & 3) as u8)));

/// Reads that came in one batch; of pairs the mates follow each other.
#[derive(Debug, Default)]
pub struct Block {
    /// Whether the reads are mates in turn.
    pub paired: bool,
    /// Four bases a byte; each read begins with a byte.
    packed: Vec<u8>,
    lengths: Vec<u32>,
    /// Letters that are no base: the number of the read in the block, and the place.
    holes: Vec<(u32, u32)>,
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
                    self.holes.push((read, (4 * quarter + place) as u32));
                    0
                });
                byte |= code << (6 - 2 * place);
            }
            self.packed.push(byte);
        }
        self.lengths.push(letters.len() as u32);
    }

    fn shrink(&mut self) {
        self.packed.shrink_to_fit();
        self.lengths.shrink_to_fit();
        self.holes.shrink_to_fit();
    }

    /// Calls `each` with the codes of every read, in their order; [`NONE`] where there is no base.
    pub fn for_each(&self, mut each: impl FnMut(&[u8])) {
        let (mut codes, mut from, mut hole) = (Vec::new(), 0, 0);
        for (read, &length) in self.lengths.iter().enumerate() {
            let bytes = (length as usize).div_ceil(4);
            codes.clear();
            for &byte in &self.packed[from..from + bytes] {
                codes.extend_from_slice(&CODES[usize::from(byte)]);
            }
            codes.truncate(length as usize);
            while let Some(&(_, place)) = self.holes.get(hole).filter(|at| at.0 == read as u32) {
                codes[place as usize] = NONE;
                hole += 1;
            }
            from += bytes;
            each(&codes);
        }
    }
}

/// All reads of a run, of which a process has its share.
pub struct Reads<'w> {
    world: &'w dyn World,
    /// Those of this process.
    blocks: Vec<Block>,
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
    /// A file cannot be read, mates are not in step, or somebody cancelled.
    pub fn load(
        libraries: &[Library],
        threads: usize,
        world: &'w dyn World,
        progress: &Progress,
    ) -> Result<Reads<'w>, AssemblyError> {
        let mut reads = Reads::none(world);
        for library in libraries {
            let pack = |_: &mut (), batches: &[Batch; 2]| packed(batches);
            in_order(
                threads,
                Dealt::new(open(library)?, world),
                progress,
                || (),
                pack,
                |_, block| -> Result<(), AssemblyError> {
                    progress.add_reads(block.lengths.len() as u64);
                    reads.add(block);
                    Ok(())
                },
            )?;
        }
        reads.agree()?;
        Ok(reads)
    }

    fn none(world: &'w dyn World) -> Reads<'w> {
        Reads {
            world,
            blocks: Vec::new(),
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

    /// Reads without mates, as codes.
    #[cfg(test)]
    pub fn of(codes: &[Vec<u8>]) -> Reads<'static> {
        let (mut reads, mut block) = (Reads::none(&gyrase_fabric::Alone), Block::default());
        for read in codes {
            let letters: Vec<u8> = read.iter().map(|&code| gyrase_seq::decode(code)).collect();
            block.push(&letters);
        }
        reads.add(block);
        reads
    }

    fn add(&mut self, block: Block) {
        for &length in &block.lengths {
            *self.lengths.entry(length).or_default() += 1;
        }
        for (sum, &more) in self.adapters.iter_mut().zip(&block.adapters) {
            *sum += more;
        }
        self.blocks.push(block);
    }

    /// What each thread makes of the blocks of reads of this process that it takes, one after the
    /// other as long as there are any.
    ///
    /// # Errors
    /// Those of `make`, which is told when somebody cancels.
    pub fn by_threads<T: Send>(
        &self,
        (threads, progress): (usize, &Progress),
        make: impl Fn(Blocks<'_, '_>) -> Result<T, AssemblyError> + Sync,
    ) -> Result<Vec<T>, AssemblyError> {
        let next = AtomicUsize::new(0);
        let take = || {
            let block = self.blocks.get(next.fetch_add(1, Relaxed))?;
            let taken = progress.go_on().map(|()| block);
            progress.advance(1);
            Some(taken)
        };
        in_parallel(vec![(); threads], |()| make(&mut std::iter::from_fn(take)))
    }

    /// How many blocks of reads this process has.
    pub fn blocks(&self) -> u64 {
        self.blocks.len() as u64
    }

    /// Reads that hold each of the adapters.
    pub fn adapters(&self) -> AdapterReads {
        self.adapters
    }

    /// Bytes of memory that those of this process take.
    pub fn held(&self) -> u64 {
        let of =
            |block: &Block| block.packed.len() + 4 * block.lengths.len() + 8 * block.holes.len();
        self.blocks.iter().map(of).sum::<usize>() as u64
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

/// Blocks of reads that a thread takes, until there are none; an error where somebody cancels.
pub type Blocks<'i, 'b> = &'i mut dyn Iterator<Item = Result<&'b Block, Cancelled>>;

/// The batches of a source that one of several processes is dealt: every process reads all of them,
/// which takes a small part of what is done with them.
struct Dealt {
    source: Source,
    rank: usize,
    ranks: usize,
    /// Batches so far.
    next: usize,
}

impl Dealt {
    fn new(source: Source, world: &dyn World) -> Dealt {
        Dealt {
            source,
            rank: world.rank(),
            ranks: world.ranks(),
            next: 0,
        }
    }
}

impl Feed for Dealt {
    type Task = [Batch; 2];
    type Error = TabulateError;

    fn next(&mut self, batches: &mut [Batch; 2]) -> Result<bool, TabulateError> {
        while self.source.next(batches)? {
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
