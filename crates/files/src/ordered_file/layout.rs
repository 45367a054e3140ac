//! Several processes lay out their segments in one file.

use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::blocks::{BLOCK, Ends, whole_blocks};
use super::destination::{Aside, Destination, Spill};
use super::error::{Garbled, OrderedError};
use super::segment::read_through;
use super::{OrderedFile, Placed};
use crate::OutputFile;

/// Segments that are laid out together.
const WAVE: usize = 128;

/// Bytes that all processes together send to the first one in a wave at most.
pub(super) const SENT: usize = WAVE * 2 * BLOCK as usize;

/// What every process knows of the segments of all.
#[derive(Debug)]
pub(super) struct LaidOut {
    /// Length and CRC-32 of each.
    segments: Vec<(u64, u32)>,
    /// Behind the last of them.
    pub(super) end: u64,
}

impl LaidOut {
    /// Nothing, the first segment being at `start`.
    pub(super) fn from(start: u64) -> LaidOut {
        LaidOut {
            segments: Vec::new(),
            end: start,
        }
    }
}

impl<T, S: Spill> OrderedFile<T, S> {
    /// What one thread of every process does that gives the segments of all processes their
    /// offsets, as they are finished, and writes those of this one there. Segments go by in waves
    /// of the same segments in every process; `sum` sums each number of a list over the processes,
    /// and `gather` gives the first process what each gave, and the others nothing.
    ///
    /// # Errors
    /// Those of `sum` and `gather`, or when the file cannot be opened or written:
    /// [`OrderedFile::abandon`] was called then. [`OrderedError::Abandoned`] when another thread
    /// did.
    pub fn lay_out<E: From<OrderedError<S::Error>>>(
        &self,
        sum: impl Fn(&[u64]) -> Result<Vec<u64>, E>,
        gather: impl Fn(Vec<u8>) -> Result<Vec<Vec<u8>>, E>,
    ) -> Result<(), E> {
        let laid_out = self.lay_out_waves(sum, gather);
        if laid_out.is_err() {
            self.abandon();
        }
        laid_out
    }

    fn lay_out_waves<E: From<OrderedError<S::Error>>>(
        &self,
        sum: impl Fn(&[u64]) -> Result<Vec<u64>, E>,
        gather: impl Fn(Vec<u8>) -> Result<Vec<Vec<u8>>, E>,
    ) -> Result<(), E> {
        let mut opened = self.to.open();
        for start in (0..self.all).step_by(WAVE) {
            let wave = start..self.all.min(start + WAVE);
            let known = sum(&self.finished_in(&wave)?)?;
            // Not before: the file may be gone with a process that failed, of which `sum` tells.
            std::mem::replace(&mut opened, Ok(()))?;
            let sent = gather(self.write_wave(&wave, &known)?)?;
            self.aside()
                .write_ends(&sent)
                .map_err(|source| self.to.error(source))?;
            self.to.write_back();
        }
        Ok(())
    }

    fn aside(&self) -> &Aside<S> {
        match &self.to {
            Destination::Aside(aside) => aside,
            Destination::File { .. } => panic!("the segments of a process alone have offsets"),
        }
    }

    /// Which of its own segments are in a wave.
    fn own_in(&self, wave: &Range<usize>) -> Range<usize> {
        let before = |end: usize| self.own.partition_point(|&number| number < end);
        before(wave.start)..before(wave.end)
    }

    /// The length of each segment of a wave and then the CRC-32 of each, 0 of those of other
    /// processes, once all of this one are finished.
    fn finished_in(&self, wave: &Range<usize>) -> Result<Vec<u64>, OrderedError<S::Error>> {
        let own = self.own_in(wave);
        let numbers = |placed: &[Placed<T>]| {
            let mut numbers = vec![0; 2 * wave.len()];
            for (number, placed) in self.own[own.clone()].iter().zip(&placed[own.clone()]) {
                numbers[number - wave.start] = placed.length;
                numbers[wave.len() + number - wave.start] = u64::from(placed.crc);
            }
            numbers
        };
        self.order
            .wait_for(|layout| (layout.prefix >= own.end).then(|| numbers(&layout.placed)))
            .map_err(|_| self.abandoned())
    }

    /// Writes what this process is to write of a wave; what it is to send.
    fn write_wave(
        &self,
        wave: &Range<usize>,
        known: &[u64],
    ) -> Result<Vec<u8>, OrderedError<S::Error>> {
        let (lengths, crcs) = known.split_at(wave.len());
        let mut laid_out = self.laid_out();
        let mut offsets = vec![laid_out.end];
        for (&length, &crc) in lengths.iter().zip(crcs) {
            laid_out.segments.push((length, crc as u32));
            laid_out.end += length;
            offsets.push(laid_out.end);
        }
        drop(laid_out);
        let own = self.own_in(wave);
        let mut ends = Ends::default();
        for run in self.own[own].chunk_by(|a, b| a + 1 == *b) {
            let at = run[0] - wave.start;
            let blocks = whole_blocks(&(offsets[at]..offsets[at + run.len()]));
            for &number in run {
                self.write_blocks(number, offsets[number - wave.start], &blocks, &mut ends)?;
            }
        }
        Ok(ends.into_bytes())
    }

    /// Moves a segment that is aside to its offset in the file.
    fn write_blocks(
        &self,
        number: usize,
        offset: u64,
        blocks: &Range<u64>,
        ends: &mut Ends,
    ) -> Result<(), OrderedError<S::Error>> {
        let at = self.position(number);
        let range = self.order.change(|layout| {
            let placed = &mut layout.placed[at];
            let aside = placed.offset..placed.offset + placed.length;
            placed.offset = offset;
            aside
        });
        let buffer = self
            .aside()
            .write_blocks(range, offset, blocks, ends)
            .map_err(|source| self.to.error(source))?;
        self.recycle(buffer.unwrap_or_default());
        Ok(())
    }

    /// Reads back a part of what all processes wrote, once each of them has come back from
    /// [`OrderedFile::settle`]: of `parts` parts, the one with the number `part`. What this machine
    /// keeps of the file in memory is not asked.
    ///
    /// # Errors
    /// [`OrderedError::Garbled`] when the file system has lost something of it.
    pub fn check(&self, part: usize, parts: usize) -> Result<(), OrderedError<S::Error>> {
        let laid_out = self.laid_out();
        let segments = &laid_out.segments;
        let (first, last) = (
            part * segments.len() / parts,
            (part + 1) * segments.len() / parts,
        );
        let before: u64 = segments[..first].iter().map(|segment| segment.0).sum();
        let mut start = self.start + before;
        let file = OutputFile::reread(self.to.target())?;
        for &(length, crc) in &segments[first..last] {
            let range = start..start + length;
            let mut read = crc32fast::Hasher::new();
            let reread = read_through(&file, range.clone(), |bytes| {
                read.update(bytes);
                Ok(())
            });
            reread.map_err(|source| self.to.error(source))?;
            if read.finalize() != crc {
                return Err(garbled(self.to.target(), range));
            }
            start += length;
        }
        Ok(())
    }
}

fn garbled<E>(target: &Path, range: Range<u64>) -> OrderedError<E> {
    let path = target.to_path_buf();
    OrderedError::Garbled(Garbled { path, range })
}

/// Reads back what the first process wrote by itself: bytes at their offsets.
pub(super) fn check_own<E>(
    output: &OutputFile,
    parts: &[(u64, &[u8])],
) -> Result<(), OrderedError<E>> {
    let fail = |source| output.error(source);
    output.file().sync_all().map_err(fail)?;
    let file = OutputFile::reread(output.target())?;
    for &(start, expected) in parts {
        let mut read = vec![0; expected.len()];
        file.read_exact_at(&mut read, start).map_err(fail)?;
        if read != expected {
            let range = start..start + read.len() as u64;
            return Err(garbled(output.target(), range));
        }
    }
    Ok(())
}
