//! Rows packed into blocks.

use std::io;

use zstd::bulk::Compressor;

use super::row::{Kind, write_hits, write_read};
use crate::bytes::{Reader, put_section};
use crate::candidates::Hit;
use crate::read::Read;

/// Bytes of rows from which on a block is full. A row is in one block.
pub(crate) const FULL: usize = 1 << 17;

/// The level of compression: the rows are read once or twice, and what makes them is faster than
/// any higher level.
const LEVEL: i32 = 1;

/// Compressed rows.
#[derive(Debug)]
pub(crate) struct Block {
    /// The rows as zstd packs them.
    pub packed: Vec<u8>,
    /// Their bytes before.
    pub bytes: u32,
    /// How many they are.
    pub rows: u32,
}

impl Block {
    /// Appends it, for another process of the job.
    pub(crate) fn put(&self, to: &mut Vec<u8>) {
        to.extend(self.bytes.to_le_bytes());
        to.extend(self.rows.to_le_bytes());
        put_section(to, &self.packed);
    }

    /// The blocks that [`Block::put`] appended one behind the other.
    pub(crate) fn take_all(mut reader: Reader<'_>) -> Vec<Block> {
        let mut take = || {
            Some(Block {
                bytes: reader.u32()?,
                rows: reader.u32()?,
                packed: reader.section()?.to_vec(),
            })
        };
        std::iter::from_fn(&mut take).collect()
    }
}

/// Packs rows into blocks. Make one for each thread.
pub(crate) struct Encoder {
    kind: Kind,
    packer: Compressor<'static>,
    bytes: Vec<u8>,
    rows: u32,
    blocks: Vec<Block>,
}

impl Encoder {
    /// An encoder of rows of this kind.
    ///
    /// # Errors
    /// There is no memory for it.
    pub(crate) fn new(kind: Kind) -> io::Result<Encoder> {
        Ok(Encoder {
            kind,
            packer: Compressor::new(LEVEL)?,
            bytes: Vec::new(),
            rows: 0,
            blocks: Vec::new(),
        })
    }

    /// Appends a row: of a read and its ascending hits what the kind of the rows tells.
    pub(crate) fn push(&mut self, read: &Read<'_>, hits: &[Hit]) -> io::Result<()> {
        if self.kind == Kind::Reads {
            write_read(read, &mut self.bytes);
        }
        write_hits(hits, &mut self.bytes);
        self.rows += 1;
        if self.bytes.len() >= FULL {
            self.pack()
        } else {
            Ok(())
        }
    }

    /// The blocks of all rows since they were last taken.
    pub(crate) fn take(&mut self) -> io::Result<Vec<Block>> {
        if self.rows > 0 {
            self.pack()?;
        }
        Ok(std::mem::take(&mut self.blocks))
    }

    fn pack(&mut self) -> io::Result<()> {
        let bytes = u32::try_from(self.bytes.len())
            .map_err(|_| io::Error::other("a read has more hits than a file can hold"))?;
        self.blocks.push(Block {
            packed: self.packer.compress(&self.bytes)?,
            bytes,
            rows: self.rows,
        });
        self.bytes.clear();
        self.rows = 0;
        Ok(())
    }
}
