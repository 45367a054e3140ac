//! A file that arrives.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use blake3::Hash;
use gyrase_files::{OutputError, OutputFile};

use crate::error::TransferError;
use crate::wire::{CHUNK_BYTES, Offer, hash_of};

/// A file of which some chunks are there.
pub(crate) struct Arrival {
    pub offer: Offer,
    path: PathBuf,
    place: Place,
    /// Hashes of the chunks that are there, from the first on.
    there: Vec<Option<Hash>>,
    /// The file that is there may give way to another one.
    replace: bool,
}

/// Where chunks are.
enum Place {
    /// In a file that has the name, and is as long.
    Whole(File),
    /// In a file that is built.
    Built(OutputFile),
}

impl Arrival {
    /// What is there of a file, of an earlier try or as a whole.
    ///
    /// # Errors
    /// Another file is there, or none can be written.
    pub fn begin(folder: &Path, offer: Offer, replace: bool) -> Result<Arrival, TransferError> {
        let path = folder.join(&offer.name);
        let taken = || TransferError::Taken {
            name: offer.name.clone(),
        };
        let place = match path.symlink_metadata() {
            Ok(there) if !there.is_file() => return Err(taken()),
            Ok(there) if there.len() == offer.bytes => {
                let file = File::open(&path).map_err(|source| unwritable(&path, source))?;
                Place::Whole(file)
            }
            Ok(_) if !replace => return Err(taken()),
            _ => Place::Built(resume(&path, offer.bytes)?),
        };
        let mut arrival = Arrival {
            there: Vec::new(),
            offer,
            path,
            place,
            replace,
        };
        arrival.keep();
        Ok(arrival)
    }

    /// How many of the first chunks are there, whatever is in them.
    pub fn first(&self) -> u64 {
        match &self.place {
            Place::Whole(_) => self.offer.chunks(),
            Place::Built(output) => match output.file().metadata() {
                Ok(built) if built.len() == self.offer.bytes => self.offer.chunks(),
                Ok(built) => built.len() / CHUNK_BYTES,
                Err(_) => 0,
            },
        }
    }

    /// Reads the next of the first chunks.
    pub fn hash_next(&mut self) -> Result<Hash, TransferError> {
        let chunk = self.there.len() as u64;
        let mut bytes = vec![0; self.offer.bytes_of(chunk)];
        let file = match &self.place {
            Place::Whole(file) => file,
            Place::Built(output) => output.file(),
        };
        let read = file.read_exact_at(&mut bytes, chunk * CHUNK_BYTES);
        read.map_err(|source| unwritable(&self.path, source))?;
        let hash = blake3::hash(&bytes);
        self.there.push(Some(hash));
        Ok(hash)
    }

    /// Puts a chunk in its place.
    ///
    /// # Errors
    /// It is not what was sent, or cannot be written.
    pub fn put(&mut self, chunk: u64, hash: Hash, bytes: &[u8]) -> Result<(), TransferError> {
        if blake3::hash(bytes) != hash {
            return Err(self.damaged(chunk));
        }
        let output = self.built()?;
        let written = output.file().write_all_at(bytes, chunk * CHUNK_BYTES);
        written.map_err(|source| output.error(source))?;
        let place = chunk as usize;
        self.there.resize(self.there.len().max(place + 1), None);
        self.there[place] = Some(hash);
        self.keep();
        Ok(())
    }

    /// Where what comes is built.
    fn built(&mut self) -> Result<&mut OutputFile, TransferError> {
        if let Place::Whole(there) = &mut self.place {
            if !self.replace {
                let name = self.offer.name.clone();
                return Err(TransferError::Taken { name });
            }
            let mut output = OutputFile::create(&self.path)?;
            io::copy(there, &mut output).map_err(|source| unwritable(&self.path, source))?;
            self.place = Place::Built(output);
        }
        match &mut self.place {
            Place::Built(output) => Ok(output),
            Place::Whole(_) => unreachable!("it has just become one that is built"),
        }
    }

    /// From the first chunk on what is there is kept for another try.
    fn keep(&mut self) {
        if let Place::Built(output) = &mut self.place
            && output.file().metadata().is_ok_and(|built| built.len() > 0)
        {
            output.keep_partial();
        }
    }

    /// Whether all chunks are there, by what their hashes come to.
    ///
    /// # Errors
    /// They are not.
    pub fn check(&self, hash: Hash) -> Result<(), TransferError> {
        let there: Vec<Hash> = self.there.iter().flatten().copied().collect();
        if let Some(chunk) = self.next_missing(0) {
            return Err(self.damaged(chunk));
        }
        match hash_of(&there) == hash {
            true => Ok(()),
            false => Err(TransferError::Damaged {
                chunk: self.offer.name.clone(),
            }),
        }
    }

    /// The first chunk from a number on that is not there.
    pub fn next_missing(&self, from: u64) -> Option<u64> {
        let has = |chunk: u64| matches!(self.there.get(chunk as usize), Some(Some(_)));
        (from..self.offer.chunks()).find(|&chunk| !has(chunk))
    }

    fn damaged(&self, chunk: u64) -> TransferError {
        let chunk = self.offer.name_of(chunk);
        TransferError::Damaged { chunk }
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// The disk is full.
    pub fn finish(self) -> Result<PathBuf, OutputError> {
        if let Place::Built(output) = self.place {
            // Of an earlier try more may be there.
            let cut = output.file().set_len(self.offer.bytes);
            cut.map_err(|source| output.error(source))?;
            output.commit()?;
        }
        Ok(self.path)
    }
}

/// Goes on with what an earlier try left of a file of so many bytes.
fn resume(path: &Path, bytes: u64) -> Result<OutputFile, OutputError> {
    let partial = OutputFile::partial(path);
    let there = partial.and_then(|partial| partial.metadata().ok());
    let there = there.map_or(0, |there| there.len());
    let kept = match there == bytes {
        true => bytes,
        false => there.min(bytes) / CHUNK_BYTES * CHUNK_BYTES,
    };
    OutputFile::resume(path, kept)
}

fn unwritable(path: &Path, source: io::Error) -> TransferError {
    let path = path.to_path_buf();
    OutputError { path, source }.into()
}
