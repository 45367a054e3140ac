//! Finds out what a foreign database is.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, stdin};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use gyrase_fastx::decompress;
use gyrase_files::container::what_it_is;

use super::error::{ExchangeError, Result};
use super::source::KmerSource;
use super::{kff, kmc, text};

/// Opens `path`: a KMC pair (either file, or the name without ending), or a KFF file or a text,
/// known by its first bytes and compressed or not; `-` is the standard input.
pub(crate) fn open(path: &Path) -> Result<Box<dyn KmerSource>> {
    open_metered(path, Arc::default())
}

/// As [`open`]; `stored` counts the bytes that are taken from a file that is no pair.
pub(crate) fn open_metered(path: &Path, stored: Arc<AtomicU64>) -> Result<Box<dyn KmerSource>> {
    if is_pair(path) {
        return Ok(Box::new(kmc::Reader::open(path)?));
    }
    let error = |source| ExchangeError::read(path, source);
    let text = match path.as_os_str() == "-" {
        true => decompress(stdin()),
        false => {
            let file = File::open(path).map_err(error)?;
            decompress(Metered { file, stored })
        }
    };
    let mut input = BufReader::with_capacity(1 << 20, text.map_err(error)?);
    let start = input.fill_buf().map_err(error)?;
    if let Some(what) = stranger(start) {
        return Err(ExchangeError::unsupported(path, what));
    }
    match start.first() {
        Some(b'K') => Ok(Box::new(kff::Reader::new(input, path)?)),
        _ => Ok(Box::new(text::Reader::new(input, path)?)),
    }
}

/// A file that counts the bytes which are taken from it.
struct Metered {
    file: File,
    stored: Arc<AtomicU64>,
}

impl Read for Metered {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(into)?;
        self.stored.fetch_add(read as u64, Relaxed);
        Ok(read)
    }
}

/// What helps with a file that is no foreign database that we read, known by its first bytes.
fn stranger(start: &[u8]) -> Option<String> {
    // A binary file of Jellyfish begins with nine digits, the length of the JSON object behind
    // them.
    let jellyfish = start.get(9) == Some(&b'{') && start[..9].iter().all(u8::is_ascii_digit);
    let of_others = match start {
        _ if jellyfish => Some(
            "it is a binary file of Jellyfish; give it as `jellyfish dump -c FILE | gyrase kmers \
             import -`",
        ),
        [b'K', b'M', b'C', b'P' | b'S', ..] => Some(
            "it is one file of a KMC database; name the pair itself, uncompressed, and not through \
             a pipe",
        ),
        [b'@', ..] => Some("it looks like FASTQ; `gyrase count` counts the k-mers of reads"),
        _ => None,
    };
    let own = || what_it_is(start).map(|own| format!("it is {own}"));
    of_others.map(String::from).or_else(own)
}

/// True when `path` names files of KMC and not a file of its own that is something else.
fn is_pair(path: &Path) -> bool {
    if path.as_os_str() == "-" {
        return false;
    }
    let mut start = [0; 3];
    match File::open(path).and_then(|mut file| file.read_exact(&mut start)) {
        Ok(()) => start == *b"KMC",
        Err(_) => !path.is_file() && kmc::pair(path).0.is_file(),
    }
}
