//! What processes lay out at a time, and what all of them know of it.

use super::blocks::BLOCK;

/// Segments that are laid out together.
pub(super) const WAVE: usize = 128;

/// Bytes that all processes together send to one in a wave at most.
pub(super) const SENT: usize = WAVE * 2 * BLOCK as usize;

/// What every process knows of the segments of all.
#[derive(Debug)]
pub(super) struct LaidOut {
    /// Length and CRC-32 of each.
    pub(super) segments: Vec<(u64, u32)>,
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

    /// Adds a wave; the offset of each of its segments, and of the first byte behind them.
    pub(super) fn add(&mut self, lengths: &[u64], crcs: &[u64]) -> Vec<u64> {
        let mut offsets = vec![self.end];
        for (&length, &crc) in lengths.iter().zip(crcs) {
            self.segments.push((length, crc as u32));
            self.end += length;
            offsets.push(self.end);
        }
        offsets
    }
}
