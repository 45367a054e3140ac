//! The reads of a run, packed, in memory: what every step behind the counting reads.

use std::sync::LazyLock;

use gyrase_fastx::{PairedReader, Reader};
use gyrase_seq::{Batch, encode};
use gyrase_tabulate::Source;
use gyrase_work::{Progress, in_order};

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

/// All reads of a run.
#[derive(Debug, Default)]
pub struct Reads {
    blocks: Vec<Block>,
    /// For each length how many have it.
    lengths: std::collections::BTreeMap<u32, u64>,
    adapters: AdapterReads,
}

impl Reads {
    /// Reads all libraries.
    ///
    /// # Errors
    /// A file cannot be read, mates are not in step, or somebody cancelled.
    pub fn load(
        libraries: &[Library],
        threads: usize,
        progress: &Progress,
    ) -> Result<Reads, AssemblyError> {
        let mut reads = Reads::default();
        for library in libraries {
            let pack = |_: &mut (), batches: &[Batch; 2]| packed(batches);
            in_order(
                threads,
                open(library)?,
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
        Ok(reads)
    }

    /// Reads without mates, as codes.
    #[cfg(test)]
    pub fn of(codes: &[Vec<u8>]) -> Reads {
        let (mut reads, mut block) = (Reads::default(), Block::default());
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

    /// The reads, in blocks.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Reads that hold each of the adapters.
    pub fn adapters(&self) -> AdapterReads {
        self.adapters
    }

    /// Bytes of memory that they take.
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
