//! Writes KFF as KMC does: one raw section with a k-mer a block, in the order of the letters, then
//! an index and a footer.

use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use gyrase_files::OutputFile;
use gyrase_kmer::Kmer;

use super::super::error::Result;
use super::super::sink::Plan;
use super::super::source::to_big_endian;
use super::{MARKER, STRANDED};

/// A file under construction.
pub struct Writer {
    output: BufWriter<OutputFile>,
    plan: Plan,
    /// Where the number of blocks stands.
    blocks_at: u64,
    written: u64,
    kmers: u64,
}

impl Writer {
    /// Starts the file that will appear at `path`.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn create(path: &Path, plan: Plan) -> Result<Writer> {
        let output = BufWriter::with_capacity(1 << 20, OutputFile::create(path)?);
        let mut writer = Writer {
            output,
            plan,
            blocks_at: 0,
            written: 0,
            kmers: 0,
        };
        let mut header = header(plan);
        writer.blocks_at = header.len() as u64 + 1;
        header.push(b'r');
        header.extend([0; 8]);
        writer.append(&header)?;
        Ok(writer)
    }

    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.written += bytes.len() as u64;
        let written = self.output.write_all(bytes);
        Ok(written.map_err(|source| self.output.get_ref().error(source))?)
    }

    /// Adds the next k-mer in the order of the letters.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add<const W: usize>(&mut self, kmer: Kmer<W>, count: u32) -> Result<()> {
        self.kmers += 1;
        self.append(&to_big_endian(kmer)[32 - self.plan.k.div_ceil(4)..])?;
        self.append(&count.to_be_bytes()[4 - self.plan.counter_bytes()..])
    }

    /// Ends the file and gives it its name. Returns the number of k-mers.
    ///
    /// # Errors
    /// When it cannot be written or named.
    pub fn finish(mut self) -> Result<u64> {
        let tail = tail(self.plan, self.written, self.blocks_at);
        self.append(&tail)?;
        let output = self.output.into_inner().map_err(|error| {
            let (source, writer) = error.into_parts();
            writer.get_ref().error(source)
        })?;
        let patched = output
            .file()
            .write_all_at(&self.kmers.to_be_bytes(), self.blocks_at);
        patched.map_err(|source| output.error(source))?;
        output.commit()?;
        Ok(self.kmers)
    }
}

/// Bytes of a k-mer, bytes beside all of them, and those of memory that wait until the end.
pub(crate) fn sizes(plan: Plan) -> (u64, u64, u64) {
    let each = plan.k.div_ceil(4) + plan.counter_bytes();
    let written = header(plan).len() as u64 + 9;
    (
        each as u64,
        written + tail(plan, written, written).len() as u64,
        0,
    )
}

fn header(plan: Plan) -> Vec<u8> {
    let mut bytes = MARKER.to_vec();
    let (major, minor, encoding) = (1, 0, 0b00_01_10_11);
    let unique = 1;
    bytes.extend([major, minor, encoding, unique, u8::from(!plan.stranded)]);
    bytes.extend(0u32.to_be_bytes());
    let mut variables: Vec<(&[u8], u64)> = vec![
        (b"k", plan.k as u64),
        (b"max", 1),
        (b"data_size", plan.counter_bytes() as u64),
        (b"ordered", 1),
    ];
    if plan.stranded {
        variables.push((STRANDED, 1));
    }
    bytes.extend(section(&variables));
    bytes
}

fn section(variables: &[(&[u8], u64)]) -> Vec<u8> {
    let mut bytes = vec![b'v'];
    bytes.extend((variables.len() as u64).to_be_bytes());
    for (name, value) in variables {
        bytes.extend(*name);
        bytes.push(0);
        bytes.extend(value.to_be_bytes());
    }
    bytes
}

/// Index, footer and closing marker of a file of which `written` bytes are there. Offsets in the
/// index are relative to its end.
fn tail(plan: Plan, written: u64, blocks_at: u64) -> Vec<u8> {
    const HEADER: u64 = 12;
    let index = [(b'v', HEADER), (b'r', blocks_at - 1)];
    let mut bytes = vec![b'i'];
    bytes.extend((index.len() as u64).to_be_bytes());
    let end = written + 9 + 9 * index.len() as u64 + 8;
    for (kind, at) in index {
        bytes.push(kind);
        bytes.extend(at.wrapping_sub(end).to_be_bytes());
    }
    bytes.extend(0u64.to_be_bytes());
    let footer = |size| {
        section(&[
            (b"first_index", written),
            (b"min_count", u64::from(plan.limits.0)),
            (b"max_count", u64::from(plan.limits.1)),
            (b"counter_size", plan.counter_bytes() as u64),
            (b"footer_size", size),
        ])
    };
    let size = footer(0).len() as u64;
    bytes.extend(footer(size));
    bytes.extend(MARKER);
    bytes
}
