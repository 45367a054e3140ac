//! What the two ends say. Numbers are little-endian.
//!
//! ```text
//!  sender                                     receiver
//!  F, number of files (u16), of each:
//!    bytes (u64), length of its name (u8),
//!    name
//!                                             word
//!                                             of each file: how many of its first chunks are
//!                                             there (u64), their hashes
//!  of each file, of each chunk that is not
//!  there as it is here:
//!    number (u64, from 1), hash, bytes
//!  0 (u64), hash of the hashes of all chunks
//!                                             word, once all files have their names
//!
//!  P, number of bytes (u32), bytes            word
//! ```
//!
//! A word is a byte 0, or a byte 1 and a text (u16, bytes) that says why not. Hashes are of BLAKE3,
//! 32 bytes each. Every chunk has [`CHUNK_BYTES`] but the last of a file.

use blake3::Hash;

use crate::error::TransferError;
use crate::line::Line;

/// Bytes of a chunk.
pub const CHUNK_BYTES: u64 = 1 << 20;
/// Files that go together, at most.
pub(crate) const MOST_FILES: usize = 1000;
/// Bytes of a name, at most.
pub(crate) const MOST_NAME: usize = 200;
/// Bytes of a file, at most: a pebibyte. Numbers of chunks that are larger are no numbers.
const MOST_BYTES: u64 = 1 << 50;
/// Bytes of a text that says why not, at most.
const MOST_TEXT: usize = 1000;

/// Files come.
pub(crate) const FILES: u8 = b'F';
/// Bytes come that mean nothing.
pub(crate) const PROBE: u8 = b'P';

/// A file that is to come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Offer {
    pub name: String,
    pub bytes: u64,
}

impl Offer {
    pub fn chunks(&self) -> u64 {
        self.bytes.div_ceil(CHUNK_BYTES)
    }

    /// Bytes of a chunk, by its number from 0.
    pub fn bytes_of(&self, chunk: u64) -> usize {
        (self.bytes - chunk * CHUNK_BYTES).min(CHUNK_BYTES) as usize
    }

    /// A chunk, by its number from 0, in words.
    pub fn name_of(&self, chunk: u64) -> String {
        format!("chunk {} of {} of {}", chunk + 1, self.chunks(), self.name)
    }
}

/// True for the name of a file in a folder that does not hide, and is not one that is still built.
pub(crate) fn is_fit(name: &str) -> bool {
    (1..=MOST_NAME).contains(&name.len())
        && !name.starts_with('.')
        && !name.ends_with(".partial")
        && !name.contains(|letter: char| letter == '/' || letter.is_control())
}

/// What the hashes of all chunks of a file come to.
pub(crate) fn hash_of(chunks: &[Hash]) -> Hash {
    let mut all = blake3::Hasher::new();
    for hash in chunks {
        all.update(hash.as_bytes());
    }
    all.finalize()
}

impl Line {
    pub fn write_offers(&mut self, offers: &[Offer]) -> Result<(), TransferError> {
        let mut text = vec![FILES];
        text.extend((offers.len() as u16).to_le_bytes());
        for Offer { name, bytes } in offers {
            text.extend(bytes.to_le_bytes());
            text.push(name.len() as u8);
            text.extend(name.as_bytes());
        }
        self.write(&text)?;
        self.flush()
    }

    /// The offers behind [`FILES`].
    pub fn read_offers(&mut self) -> Result<Vec<Offer>, TransferError> {
        let number = u16::from_le_bytes(self.read_array()?) as usize;
        if !(1..=MOST_FILES).contains(&number) {
            return Err(self.garbled("so many files never come"));
        }
        let mut offers: Vec<Offer> = Vec::new();
        for _ in 0..number {
            let offer = self.read_offer()?;
            if offers.iter().any(|other| other.name == offer.name) {
                return Err(self.garbled("two files have one name"));
            }
            offers.push(offer);
        }
        Ok(offers)
    }

    fn read_offer(&mut self) -> Result<Offer, TransferError> {
        let bytes = u64::from_le_bytes(self.read_array()?);
        let [length] = self.read_array()?;
        let mut name = vec![0; length as usize];
        self.read(&mut name)?;
        match String::from_utf8(name) {
            Ok(name) if is_fit(&name) && bytes <= MOST_BYTES => Ok(Offer { name, bytes }),
            _ => Err(self.garbled("no file has that name, or is that long")),
        }
    }

    pub fn write_word(&mut self, word: Result<(), &str>) -> Result<(), TransferError> {
        match word {
            Ok(()) => self.write(&[0])?,
            Err(why) => {
                let text = &why.as_bytes()[..why.len().min(MOST_TEXT)];
                self.write(&[1])?;
                self.write(&(text.len() as u16).to_le_bytes())?;
                self.write(text)?;
            }
        }
        self.flush()
    }

    /// A word, which may take its time.
    pub fn read_word(&mut self) -> Result<(), TransferError> {
        match self.read_start()? {
            Some(0) => Ok(()),
            Some(1) => {
                let length = u16::from_le_bytes(self.read_array()?) as usize;
                let mut text = vec![0; length.min(MOST_TEXT)];
                self.read(&mut text)?;
                let text = String::from_utf8_lossy(&text);
                Err(TransferError::Refused {
                    peer: self.peer.clone(),
                    why: text.replace(char::is_control, " "),
                })
            }
            Some(_) => Err(self.garbled("it is neither yes nor no")),
            None => Err(self.ended()),
        }
    }

    /// What stands before a chunk, or in the place of one.
    pub fn write_number_and_hash(&mut self, number: u64, hash: &Hash) -> Result<(), TransferError> {
        self.write(&[&number.to_le_bytes()[..], hash.as_bytes()].concat())
    }

    pub fn read_hash(&mut self) -> Result<Hash, TransferError> {
        Ok(Hash::from_bytes(self.read_array()?))
    }

    pub fn read_number(&mut self) -> Result<u64, TransferError> {
        Ok(u64::from_le_bytes(self.read_array()?))
    }

    /// A number, which may take its time.
    pub fn wait_for_number(&mut self) -> Result<u64, TransferError> {
        let first = self.read_start()?.ok_or_else(|| self.ended())?;
        let [b, c, d, e, f, g, h] = self.read_array()?;
        Ok(u64::from_le_bytes([first, b, c, d, e, f, g, h]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leaves_the_folder_or_hides_in_it() {
        for name in ["hits.gym", "a b.tsv", "ä.fa", "a..b"] {
            assert!(is_fit(name), "{name}");
        }
        let long = "x".repeat(MOST_NAME + 1);
        let unfit = [
            "",
            ".",
            "..",
            "../x",
            "/x",
            "a/b",
            ".ssh",
            "x.partial",
            "a\nb",
            "a\0b",
        ];
        for name in unfit.into_iter().chain([&long[..]]) {
            assert!(!is_fit(name), "{name}");
        }
    }

    #[test]
    fn the_last_chunk_has_what_is_left() {
        let offer = |bytes| Offer {
            name: "x".into(),
            bytes,
        };
        assert_eq!(offer(0).chunks(), 0);
        assert_eq!(offer(CHUNK_BYTES).chunks(), 1);
        let two = offer(CHUNK_BYTES + 1);
        assert_eq!((two.chunks(), two.bytes_of(1)), (2, 1));
        assert_eq!(two.name_of(1), "chunk 2 of 2 of x");
    }
}
