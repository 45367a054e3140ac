//! Which letters of a database were in lower case when it was made.

use gyrase_files::container::u64_at;

use super::section::Row;

/// Neighbouring letters that are masked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mask {
    /// The first, counted through all sequences.
    pub position: u64,
    /// How many.
    pub length: u64,
}

impl Mask {
    pub fn encode(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.position.to_le_bytes());
        bytes[8..].copy_from_slice(&self.length.to_le_bytes());
        bytes
    }
}

impl Row for Mask {
    const BYTES: usize = 16;

    fn decode(bytes: &[u8]) -> Mask {
        Mask {
            position: u64_at(bytes, 0),
            length: u64_at(bytes, 8),
        }
    }

    fn place(&self) -> (u64, u64) {
        (self.position, self.length)
    }
}

/// Makes masks of letters that come one after the other, in bytes of the file.
#[derive(Default)]
pub(super) struct MaskWriter {
    position: u64,
    open: Option<Mask>,
    /// Masks that are over.
    pub done: Vec<u8>,
}

impl MaskWriter {
    pub fn push(&mut self, letter: u8) {
        match &mut self.open {
            Some(open) if letter.is_ascii_lowercase() => open.length += 1,
            _ => {
                self.close();
                self.open = letter.is_ascii_lowercase().then_some(Mask {
                    position: self.position,
                    length: 1,
                });
            }
        }
        self.position += 1;
    }

    /// Ends a mask, as the end of a sequence does.
    pub fn close(&mut self) {
        if let Some(open) = self.open.take() {
            self.done.extend(open.encode());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_end_with_their_sequences() {
        let mut writer = MaskWriter::default();
        for sequence in [&b"acGTa"[..], b"a", b"", b"AAc"] {
            sequence.iter().for_each(|&letter| writer.push(letter));
            writer.close();
        }
        let masks = writer.done.chunks(Mask::BYTES).map(Mask::decode);
        let found: Vec<_> = masks.map(|mask| mask.position..mask.end()).collect();
        assert_eq!(found, [0..2, 4..5, 5..6, 8..9]);
    }
}
