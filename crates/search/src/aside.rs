//! What was found in parts of a database, laid aside until all parts are done: in memory as far as
//! that goes, then in a file without a name.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use gyrase_fabric::{FabricError, SpillFolder};

/// Bytes that are read from the file at a time.
const AT_ONCE: usize = 1 << 16;

/// Texts by number, each of pieces.
pub(crate) struct Aside {
    folder: Arc<SpillFolder>,
    file: Option<Arc<File>>,
    /// Bytes in the file.
    written: u64,
    /// Bytes that may be held in memory, and those that are.
    limit: u64,
    held: u64,
    texts: HashMap<usize, Vec<Piece>>,
}

enum Piece {
    Held(Vec<u8>),
    Written { offset: u64, length: u64 },
}

impl Aside {
    /// Nothing yet; it will hold so many bytes in memory.
    pub(crate) fn new(folder: Arc<SpillFolder>, limit: u64) -> Aside {
        Aside {
            folder,
            file: None,
            written: 0,
            limit,
            held: 0,
            texts: HashMap::new(),
        }
    }

    /// Appends to the text of a number.
    ///
    /// # Errors
    /// The file cannot be written, or must not grow.
    pub(crate) fn append(&mut self, number: usize, text: Vec<u8>) -> Result<(), FabricError> {
        let length = text.len() as u64;
        let piece = if self.held + length <= self.limit {
            self.held += length;
            Piece::Held(text)
        } else {
            self.folder.allow(length)?;
            let file = match &self.file {
                Some(file) => file,
                None => self.file.insert(Arc::new(self.folder.nameless()?)),
            };
            let written = file.write_all_at(&text, self.written);
            written.map_err(|source| self.folder.error(source))?;
            let offset = self.written;
            self.written += length;
            Piece::Written { offset, length }
        };
        self.texts.entry(number).or_default().push(piece);
        Ok(())
    }

    /// Takes the text of a number out, to be read from its first piece on.
    pub(crate) fn take(&mut self, number: usize) -> AsideReader {
        let mut pieces = self.texts.remove(&number).unwrap_or_default();
        let held = pieces.iter().map(|piece| match piece {
            Piece::Held(text) => text.len() as u64,
            Piece::Written { .. } => 0,
        });
        self.held -= held.sum::<u64>();
        pieces.reverse();
        AsideReader {
            file: self.file.clone(),
            pieces,
            now: Vec::new(),
            at: 0,
        }
    }
}

/// Reads a text.
pub(crate) struct AsideReader {
    file: Option<Arc<File>>,
    /// What follows, the next one last.
    pieces: Vec<Piece>,
    /// What was read, and how much of it was given.
    now: Vec<u8>,
    at: usize,
}

impl AsideReader {
    /// Reads what follows; false where nothing does.
    fn fill(&mut self) -> io::Result<bool> {
        self.at = 0;
        match self.pieces.pop() {
            None => Ok(false),
            Some(Piece::Held(text)) => {
                self.now = text;
                Ok(true)
            }
            Some(Piece::Written { offset, length }) => {
                let some = length.min(AT_ONCE as u64);
                self.now.resize(some as usize, 0);
                let file = self.file.as_ref().expect("what was written is in a file");
                file.read_exact_at(&mut self.now, offset)?;
                if some < length {
                    let (offset, length) = (offset + some, length - some);
                    self.pieces.push(Piece::Written { offset, length });
                }
                Ok(true)
            }
        }
    }
}

impl Read for AsideReader {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while self.at == self.now.len() {
            if !self.fill()? {
                self.now.clear();
                return Ok(0);
            }
        }
        let some = to.len().min(self.now.len() - self.at);
        to[..some].copy_from_slice(&self.now[self.at..self.at + some]);
        self.at += some;
        Ok(some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_from_memory_and_disk() {
        let place = tempfile::tempdir().unwrap();
        let pieces: Vec<Vec<u8>> = (0..9_usize)
            .map(|number| vec![number as u8; number * 30_000])
            .collect();
        for limit in [0, 100_000, 1 << 30] {
            let path = place.path().join("aside");
            let folder = Arc::new(SpillFolder::new(path.clone(), None, false));
            let mut aside = Aside::new(folder, limit);
            for (number, piece) in pieces.iter().enumerate() {
                aside.append(number % 2, piece.clone()).unwrap();
            }
            for number in [1, 0, 7] {
                let own = pieces.iter().enumerate();
                let own = own.filter(|(at, _)| at % 2 == number);
                let expected: Vec<u8> = own.flat_map(|(_, piece)| piece.clone()).collect();
                let mut found = Vec::new();
                aside.take(number).read_to_end(&mut found).unwrap();
                assert!(found == expected, "{number}, {limit}");
            }
            assert_eq!(path.exists(), limit < 1 << 30);
        }
        let little = SpillFolder::new(place.path().join("little"), Some(10), false);
        let mut aside = Aside::new(Arc::new(little), 5);
        aside.append(0, vec![1; 5]).unwrap();
        assert!(matches!(
            aside.append(0, vec![1; 11]),
            Err(FabricError::TooMuchSpill { limit: 10 })
        ));
    }
}
