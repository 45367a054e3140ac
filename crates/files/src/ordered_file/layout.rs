//! Several processes lay out their segments in one file.

use std::ops::Range;

use super::blocks::{Ends, whole_blocks};
use super::check::check_segments;
use super::destination::{Aside, Destination, Spill};
use super::error::OrderedError;
use super::file::{OrderedFile, Placed};
use super::wave::WAVE;

impl<T, S: Spill> OrderedFile<T, S> {
    /// What one thread of every process does that gives the segments of all processes their
    /// offsets, as they are finished, and writes those of this one there. Segments go by in waves
    /// of the same segments in every process; `sum` sums each number of a list over the `ranks`
    /// processes, and `all_to_all` takes bytes for each process and returns those of each for this.
    ///
    /// # Errors
    /// Those of `sum` and `all_to_all`, or when the file cannot be opened or written:
    /// [`OrderedFile::abandon`] was called then. [`OrderedError::Abandoned`] when another thread
    /// did.
    pub fn lay_out<E: From<OrderedError<S::Error>>>(
        &self,
        ranks: usize,
        sum: impl Fn(&[u64]) -> Result<Vec<u64>, E>,
        all_to_all: impl Fn(Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, E>,
    ) -> Result<(), E> {
        let laid_out = self.lay_out_waves(ranks, sum, all_to_all);
        if laid_out.is_err() {
            self.abandon();
        }
        laid_out
    }

    fn lay_out_waves<E: From<OrderedError<S::Error>>>(
        &self,
        ranks: usize,
        sum: impl Fn(&[u64]) -> Result<Vec<u64>, E>,
        all_to_all: impl Fn(Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, E>,
    ) -> Result<(), E> {
        let mut opened = self.to.open();
        for start in (0..self.all).step_by(WAVE) {
            let wave = start..self.all.min(start + WAVE);
            let known = sum(&self.finished_in(&wave)?)?;
            // Not before: the file may be gone with a process that failed, of which `sum` tells.
            std::mem::replace(&mut opened, Ok(()))?;
            let sent = all_to_all(self.write_wave(&wave, &known, ranks)?)?;
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
        let before = |end: usize| self.own().partition_point(|&number| number < end);
        before(wave.start)..before(wave.end)
    }

    /// The length of each segment of a wave and then the CRC-32 of each, 0 of those of other
    /// processes, once all of this one are finished.
    fn finished_in(&self, wave: &Range<usize>) -> Result<Vec<u64>, OrderedError<S::Error>> {
        let own = self.own_in(wave);
        let numbers = |placed: &[Placed<T>]| {
            let mut numbers = vec![0; 2 * wave.len()];
            for (number, placed) in self.own()[own.clone()].iter().zip(&placed[own.clone()]) {
                numbers[number - wave.start] = placed.length;
                numbers[wave.len() + number - wave.start] = u64::from(placed.crc);
            }
            numbers
        };
        self.order
            .wait_for(|layout| (layout.prefix >= own.end).then(|| numbers(&layout.placed)))
            .map_err(|_| self.abandoned())
    }

    /// Writes what this process has of whole blocks of a wave; what it is to send to each.
    fn write_wave(
        &self,
        wave: &Range<usize>,
        known: &[u64],
        ranks: usize,
    ) -> Result<Vec<Vec<u8>>, OrderedError<S::Error>> {
        let (lengths, crcs) = known.split_at(wave.len());
        let offsets = self.laid_out().add(lengths, crcs);
        let own = self.own()[self.own_in(wave)].to_vec();
        let mut ends = Ends::of(offsets[0]..offsets[wave.len()], ranks);
        for run in own.chunk_by(|a, b| a + 1 == *b) {
            let at = run[0] - wave.start;
            let blocks = whole_blocks(&(offsets[at]..offsets[at + run.len()]));
            for &number in run {
                self.write_blocks(number, offsets[number - wave.start], &blocks, &mut ends)?;
            }
        }
        Ok(ends.into_messages())
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
        let border = |part: usize| part * laid_out.segments.len() / parts;
        let (before, rest) = laid_out.segments.split_at(border(part));
        let start = self.start + before.iter().map(|segment| segment.0).sum::<u64>();
        let own = &rest[..border(part + 1) - border(part)];
        check_segments(self.to.target(), start, own)
    }
}
