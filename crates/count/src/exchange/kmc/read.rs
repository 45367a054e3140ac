//! Reads a KMC pair of either version, as a stream: neither file is held in memory.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use gyrase_kmer::MAX_K;
use gyrase_table::gyk::Cutoffs;

use super::super::error::{ExchangeError, FilePosition, Result};
use super::super::source::{KmerSource, WideKmer, from_big_endian};
use super::{PREFIX_MARKER, SUFFIX_MARKER, pair};

/// Bytes of the version, the length of the fields and the last marker, with which `.kmc_pre` ends.
const TAIL: u64 = 12;
/// The longest prefix: a table of it takes 8 GiB.
const MAX_PREFIX: u32 = 15;
/// The longest signature that KMC offers.
const MAX_SIGNATURE: u32 = 11;

/// The fixed fields of a pair.
#[derive(Clone, Copy, Debug)]
struct Fields {
    k: usize,
    counter_bytes: usize,
    prefix: u32,
    min_count: u64,
    max_count: u64,
    kmers: u64,
    stranded: bool,
    /// Numbers in the tables of prefixes, the closing one left out.
    entries: u64,
}

impl Fields {
    fn suffix_bytes(&self) -> usize {
        (self.k - self.prefix as usize) / 4
    }

    fn record_bytes(&self) -> usize {
        self.suffix_bytes() + self.counter_bytes
    }
}

/// A pair of files, read record by record in their own order.
pub struct Reader<P, S> {
    prefixes: P,
    suffixes: S,
    prefixes_path: PathBuf,
    suffixes_path: PathBuf,
    fields: Fields,
    /// The table entry after the one whose k-mers are being read.
    entry: u64,
    /// The first record of that entry.
    next_start: u64,
    /// The record that is read next, from 0.
    record: u64,
    bytes: Vec<u8>,
}

impl Reader<BufReader<File>, BufReader<File>> {
    /// Opens the pair that `path` names (see [`pair`]).
    ///
    /// # Errors
    /// When a file cannot be read, is cut short, or holds fields that contradict each other.
    pub fn open(path: &Path) -> Result<Self> {
        let (prefixes, suffixes) = pair(path);
        let open = |path: &Path| {
            let file = File::open(path).map_err(|source| ExchangeError::read(path, source));
            file.map(|file| BufReader::with_capacity(1 << 20, file))
        };
        Reader::new(open(&prefixes)?, open(&suffixes)?, &prefixes, &suffixes)
    }
}

impl<P: Read + Seek, S: Read + Seek> Reader<P, S> {
    /// Reads a pair from anything; the paths only name the files in errors.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn new(
        mut prefixes: P,
        mut suffixes: S,
        prefixes_path: &Path,
        suffixes_path: &Path,
    ) -> Result<Self> {
        let fields = read_fields(&mut prefixes, prefixes_path)?;
        check_suffixes(&mut suffixes, suffixes_path, &fields)?;
        let seek = |error| ExchangeError::read(prefixes_path, error);
        prefixes.seek(SeekFrom::Start(4)).map_err(seek)?;
        let mut reader = Reader {
            prefixes,
            suffixes,
            prefixes_path: prefixes_path.to_path_buf(),
            suffixes_path: suffixes_path.to_path_buf(),
            fields,
            entry: 0,
            next_start: 0,
            record: 0,
            bytes: vec![0; fields.record_bytes()],
        };
        if reader.read_start()? != 0 {
            let what = "the table of prefixes must begin with record 0";
            return Err(ExchangeError::malformed(
                prefixes_path,
                FilePosition::Header,
                what,
            ));
        }
        reader.advance()?;
        Ok(reader)
    }

    fn read_start(&mut self) -> Result<u64> {
        read_u64(&mut self.prefixes)
            .map_err(|error| ExchangeError::read(&self.prefixes_path, error))
    }

    /// Goes on to the next table entry.
    fn advance(&mut self) -> Result<()> {
        self.entry += 1;
        let before = self.next_start;
        self.next_start = match self.entry < self.fields.entries {
            true => self.read_start()?,
            false => self.fields.kmers,
        };
        if self.next_start < before || self.next_start > self.fields.kmers {
            let what = format!(
                "entry {} of the table of prefixes is {}, expected {before} to {}",
                self.entry, self.next_start, self.fields.kmers
            );
            return Err(ExchangeError::malformed(
                &self.prefixes_path,
                FilePosition::Header,
                what,
            ));
        }
        Ok(())
    }

    fn read_record(&mut self) -> Result<(WideKmer, u64)> {
        while self.record >= self.next_start {
            self.advance()?;
        }
        let read = self.suffixes.read_exact(&mut self.bytes);
        read.map_err(|error| ExchangeError::read(&self.suffixes_path, error))?;
        self.record += 1;
        let (suffix, counter) = self.bytes.split_at(self.fields.suffix_bytes());
        let suffix = from_big_endian(suffix, self.fields.k);
        let prefix = (self.entry - 1) & ((1 << (2 * self.fields.prefix)) - 1);
        Ok((joined(prefix, suffix, self.fields), read_counter(counter)))
    }
}

/// Puts the prefix before the suffix.
fn joined(prefix: u64, suffix: WideKmer, fields: Fields) -> WideKmer {
    let bit = 8 * fields.suffix_bytes();
    let mut kmer = suffix;
    let (word, shift) = (3 - bit / 64, bit % 64);
    kmer.0[word] |= prefix << shift;
    if shift > 0 && word > 0 {
        kmer.0[word - 1] |= prefix >> (64 - shift);
    }
    kmer
}

/// A count of up to eight bytes; one of no bytes stands for a k-mer that is there.
fn read_counter(bytes: &[u8]) -> u64 {
    if bytes.is_empty() {
        return 1;
    }
    bytes
        .iter()
        .rev()
        .fold(0, |count, &byte| count << 8 | u64::from(byte))
}

impl<P: Read + Seek + Send, S: Read + Seek + Send> KmerSource for Reader<P, S> {
    fn k(&self) -> Option<usize> {
        Some(self.fields.k)
    }

    fn stranded(&self) -> bool {
        self.fields.stranded
    }

    fn limits(&self) -> Cutoffs {
        let limit = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        Cutoffs {
            min: limit(self.fields.min_count.max(1)),
            max: limit(self.fields.max_count),
        }
    }

    fn kmers(&self) -> u64 {
        self.fields.kmers
    }

    fn next(&mut self) -> Result<Option<(WideKmer, u64)>> {
        while self.record < self.fields.kmers {
            let (kmer, count) = self.read_record()?;
            // KMC's tools leave a record in place and narrow the limits in the header.
            if (self.fields.min_count..=self.fields.max_count).contains(&count) {
                return Ok(Some((kmer, count)));
            }
        }
        Ok(None)
    }
}

fn read_u32(reader: &mut impl Read) -> std::io::Result<u32> {
    let mut bytes = [0; 4];
    reader.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

fn read_u64(reader: &mut impl Read) -> std::io::Result<u64> {
    let mut bytes = [0; 8];
    reader.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

/// Looks for the marker at both ends; returns the length of the file.
fn check_markers<R: Read + Seek>(
    reader: &mut R,
    path: &Path,
    marker: &[u8; 4],
    least: u64,
) -> Result<u64> {
    let error = |source| ExchangeError::read(path, source);
    let name = String::from_utf8_lossy(marker);
    let length = reader.seek(SeekFrom::End(0)).map_err(error)?;
    if length < least {
        let what = format!("a file of KMC has at least {least} bytes, this one has {length}");
        return Err(ExchangeError::truncated(path, what));
    }
    let mut found = [0; 4];
    reader
        .rewind()
        .and_then(|()| reader.read_exact(&mut found))
        .map_err(error)?;
    if found != *marker {
        let what = format!(
            "expected the marker {name} at the start, found bytes {found:02x?}: is this a file of \
             KMC?"
        );
        return Err(ExchangeError::malformed(path, FilePosition::Header, what));
    }
    reader
        .seek(SeekFrom::End(-4))
        .and_then(|_| reader.read_exact(&mut found))
        .map_err(error)?;
    if found != *marker {
        return Err(ExchangeError::truncated(
            path,
            format!("the marker {name} is missing at its end"),
        ));
    }
    Ok(length)
}

fn read_fields<P: Read + Seek>(prefixes: &mut P, path: &Path) -> Result<Fields> {
    let length = check_markers(prefixes, path, PREFIX_MARKER, 4 + TAIL)?;
    let error = |source| ExchangeError::read(path, source);
    prefixes
        .seek(SeekFrom::Start(length - TAIL))
        .map_err(error)?;
    let version = read_u32(prefixes).map_err(error)?;
    let size = u64::from(read_u32(prefixes).map_err(error)?);
    let signatures = match version {
        0 => false,
        0x200 => true,
        _ => {
            let what = format!(
                "it is of version {version:#x} of KMC's format; versions 0 and 0x200 are known"
            );
            return Err(ExchangeError::unsupported(path, what));
        }
    };
    let least = if signatures { 41 } else { 33 };
    let start = (length - 8)
        .checked_sub(size)
        .filter(|&start| size >= least && start >= 4)
        .ok_or_else(|| {
            let what = format!(
                "the fields take {size} bytes in a file of {length}; expected at least {least}"
            );
            ExchangeError::malformed(path, FilePosition::Header, what)
        })?;
    prefixes.seek(SeekFrom::Start(start)).map_err(error)?;
    let raw = RawFields::read(prefixes, signatures, size >= least + 7).map_err(error)?;
    raw.check(start - 4)
        .map_err(|what| ExchangeError::malformed(path, FilePosition::Header, what))
}

/// The fixed fields as they are written.
struct RawFields {
    k: u32,
    mode: u32,
    counter_bytes: u32,
    prefix: u32,
    signature: Option<u32>,
    min_count: u32,
    max_count: u64,
    kmers: u64,
    one_strand: bool,
}

impl RawFields {
    /// Reads the fields; `high` says that the upper half of the largest count is there.
    fn read(reader: &mut impl Read, signatures: bool, high: bool) -> std::io::Result<RawFields> {
        let (k, mode, counter_bytes) = (read_u32(reader)?, read_u32(reader)?, read_u32(reader)?);
        let prefix = read_u32(reader)?;
        let signature = if signatures {
            Some(read_u32(reader)?)
        } else {
            None
        };
        let (min_count, low, kmers) = (read_u32(reader)?, read_u32(reader)?, read_u64(reader)?);
        let mut strand = [0; 4];
        let strand_bytes = if high { 4 } else { 1 };
        reader.read_exact(&mut strand[..strand_bytes])?;
        let upper = if high {
            u64::from(read_u32(reader)?)
        } else {
            0
        };
        let max_count = upper << 32 | u64::from(low);
        let one_strand = strand[0] & 0xf == 1;
        Ok(RawFields {
            k,
            mode,
            counter_bytes,
            prefix,
            signature,
            min_count,
            max_count,
            kmers,
            one_strand,
        })
    }

    /// Holds the fields against each other and against the `room` bytes that lie between the marker
    /// and them.
    fn check(&self, room: u64) -> std::result::Result<Fields, String> {
        let RawFields {
            k,
            prefix,
            counter_bytes,
            ..
        } = *self;
        if !(1..=MAX_K as u32).contains(&k) {
            return Err(format!(
                "k is {k}; tables of Gyrase have a k from 1 to {MAX_K}"
            ));
        }
        if self.mode != 0 {
            return Err(
                "the counts are weighted by quality (kmc -q); Gyrase reads whole counts".into(),
            );
        }
        if counter_bytes > 8 {
            return Err(format!(
                "a count takes {counter_bytes} bytes, expected at most 8"
            ));
        }
        if prefix > k.min(MAX_PREFIX) || !(k - prefix).is_multiple_of(4) {
            return Err(format!(
                "prefixes of {prefix} bases cannot be cut from k-mers of {k}"
            ));
        }
        Ok(Fields {
            k: k as usize,
            counter_bytes: counter_bytes as usize,
            prefix,
            min_count: u64::from(self.min_count),
            max_count: self.max_count,
            kmers: self.kmers,
            stranded: self.one_strand,
            entries: self.entries(room)?,
        })
    }

    fn entries(&self, room: u64) -> std::result::Result<u64, String> {
        let table = 1u64 << (2 * self.prefix);
        let Some(signature) = self.signature else {
            // Some writers close the only table with the number of k-mers.
            let fits = room == 8 * table || room == 8 * (table + 1);
            return fits.then_some(table).ok_or(format!(
                "the table of prefixes takes {room} bytes, not {}",
                8 * table
            ));
        };
        if signature > MAX_SIGNATURE {
            return Err(format!(
                "signatures have {signature} bases, expected at most {MAX_SIGNATURE}"
            ));
        }
        let map = 4 * ((1u64 << (2 * signature)) + 1);
        let tables = room
            .checked_sub(map + 8)
            .filter(|tables| tables.is_multiple_of(8 * table) && *tables > 0);
        let what = || {
            format!(
                "the tables of prefixes and the map of signatures cannot take {room} bytes together"
            )
        };
        tables.map(|tables| tables / 8).ok_or_else(what)
    }
}

fn check_suffixes<S: Read + Seek>(suffixes: &mut S, path: &Path, fields: &Fields) -> Result<()> {
    let length = check_markers(suffixes, path, SUFFIX_MARKER, 8)?;
    let expected = fields
        .kmers
        .checked_mul(fields.record_bytes() as u64)
        .and_then(|bytes| bytes.checked_add(8));
    if expected != Some(length) {
        let what = format!(
            "{} k-mers of {} bytes and two markers are announced, the file has {length} bytes: is \
             it of another pair?",
            fields.kmers,
            fields.record_bytes()
        );
        return Err(ExchangeError::malformed(path, FilePosition::Header, what));
    }
    // Without this, no bytes at all could announce any number of k-mers.
    if fields.suffix_bytes() == 0 && fields.kmers > fields.entries {
        let what = format!(
            "{} k-mers cannot be told apart by {} prefixes",
            fields.kmers, fields.entries
        );
        return Err(ExchangeError::malformed(path, FilePosition::Header, what));
    }
    suffixes
        .seek(SeekFrom::Start(4))
        .map(drop)
        .map_err(|source| ExchangeError::read(path, source))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;

    const PREFIXES: &[u8] = include_bytes!("../../../tests/data/kmc1.kmc_pre");
    const SUFFIXES: &[u8] = include_bytes!("../../../tests/data/kmc1.kmc_suf");

    fn read(prefixes: &[u8], suffixes: &[u8]) -> Result<usize> {
        let mut reader = Reader::new(
            Cursor::new(prefixes),
            Cursor::new(suffixes),
            Path::new("x.kmc_pre"),
            Path::new("x.kmc_suf"),
        )?;
        let mut kmers = 0;
        while reader.next()?.is_some() {
            kmers += 1;
        }
        Ok(kmers)
    }

    #[test]
    fn every_truncation_is_an_error() {
        assert!(read(PREFIXES, SUFFIXES).unwrap() > 0);
        for length in 0..PREFIXES.len() {
            assert!(read(&PREFIXES[..length], SUFFIXES).is_err(), "{length}");
        }
        for length in 0..SUFFIXES.len() {
            assert!(read(PREFIXES, &SUFFIXES[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn other_versions_are_named() {
        let mut bytes = PREFIXES.to_vec();
        let at = bytes.len() - 12;
        bytes[at] = 7;
        let error = read(&bytes, SUFFIXES).unwrap_err().to_string();
        assert!(
            error.contains("version 0x7") && error.contains("x.kmc_pre"),
            "{error}"
        );
    }

    proptest! {
        #[test]
        fn damage_never_panics(
            at in any::<prop::sample::Index>(),
            byte in any::<u8>(),
            tail in any::<bool>(),
        ) {
            let mut bytes = PREFIXES.to_vec();
            let at = if tail { bytes.len() - 1 - at.index(80) } else { at.index(bytes.len()) };
            bytes[at] = byte;
            let _ = read(&bytes, SUFFIXES);
        }
    }
}
