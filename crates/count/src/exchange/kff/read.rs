//! Reads KFF as a stream.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use gyrase_kmer::MAX_K;
use gyrase_seq::encode;

use super::super::error::{ExchangeError, FilePosition, Result};
use super::super::source::{KmerSource, WideKmer};
use super::{MARKER, STRANDED};

/// The longest block that is read, in k-mers.
const MAX_BLOCK: u64 = 1 << 24;
/// The longest name of a variable.
const MAX_NAME: u64 = 256;

/// The variables that sections need, as they stand.
#[derive(Clone, Copy, Debug, Default)]
struct Variables {
    k: Option<u64>,
    m: Option<u64>,
    max: Option<u64>,
    data_size: Option<u64>,
    stranded: bool,
}

/// A section of sequences.
#[derive(Clone, Debug, Default)]
struct Section {
    /// Codes of the minimizer; none in a raw section.
    minimizer: Vec<u8>,
    has_minimizer: bool,
    blocks_left: u64,
    k: usize,
    data_bytes: usize,
    /// The most k-mers of a block.
    max: u64,
    /// Bytes of the number of k-mers and of the place of the minimizer.
    number_bytes: usize,
    place_bytes: usize,
}

/// One sequence and its data.
#[derive(Clone, Debug, Default)]
struct Block {
    codes: Vec<u8>,
    data: Vec<u8>,
    /// K-mers of the block that were handed on.
    taken: usize,
    kmers: usize,
    kmer: Option<WideKmer>,
}

/// A KFF file, read block by block.
pub struct Reader<R> {
    input: R,
    path: PathBuf,
    /// Our code for each code of the file.
    codes: [u8; 4],
    variables: Variables,
    sections: u64,
    blocks: u64,
    k: Option<usize>,
    section: Section,
    block: Block,
    bytes: Vec<u8>,
    ended: bool,
}

impl Reader<BufReader<File>> {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// When it cannot be read, is no KFF file, or one of another version.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|source| ExchangeError::read(path, source))?;
        Reader::new(BufReader::with_capacity(1 << 20, file), path)
    }
}

impl<R: Read> Reader<R> {
    /// Reads from anything (which should be buffered); the path only names the file in errors.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn new(input: R, path: &Path) -> Result<Self> {
        let mut reader = Reader {
            input,
            path: path.to_path_buf(),
            codes: [0; 4],
            variables: Variables::default(),
            sections: 0,
            blocks: 0,
            k: None,
            section: Section::default(),
            block: Block::default(),
            bytes: Vec::new(),
            ended: false,
        };
        reader.read_header()?;
        // Up to the first block, so that k is known.
        reader.next_block()?;
        Ok(reader)
    }

    fn read_header(&mut self) -> Result<()> {
        let [a, b, c] = self.array()?;
        if [a, b, c] != *MARKER {
            let what = format!(
                "expected the marker KFF at the start, found bytes {:02x?}: is this a KFF file?",
                [a, b, c]
            );
            return Err(self.malformed(FilePosition::Header, what));
        }
        let [major, minor, encoding, _unique, _canonical] = self.array()?;
        if major != 1 {
            let what = format!("it is of version {major}.{minor} of KFF; version 1 is known");
            return Err(ExchangeError::unsupported(&self.path, what));
        }
        self.codes = self.read_encoding(encoding)?;
        let free = u64::from(u32::from_be_bytes(self.array()?));
        self.skip(free)
    }

    fn read_encoding(&self, encoding: u8) -> Result<[u8; 4]> {
        let mut codes = [None; 4];
        for (i, letter) in b"ACGT".iter().enumerate() {
            codes[usize::from(encoding >> (6 - 2 * i) & 3)] = encode(*letter);
        }
        match codes {
            [Some(a), Some(b), Some(c), Some(d)] => Ok([a, b, c, d]),
            _ => {
                let what = format!("the encoding {encoding:08b} gives two letters the same code");
                Err(self.malformed(FilePosition::Header, what))
            }
        }
    }

    fn malformed(&self, place: FilePosition, what: impl Into<String>) -> ExchangeError {
        ExchangeError::malformed(&self.path, place, what)
    }

    fn failed(&self, error: io::Error) -> ExchangeError {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                let what = format!(
                    "it ends in section {} after {} blocks, without the marker KFF",
                    self.sections, self.blocks
                );
                ExchangeError::truncated(&self.path, what)
            }
            _ => ExchangeError::read(&self.path, error),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.input
            .read_exact(&mut bytes)
            .map_err(|error| self.failed(error))?;
        Ok(bytes)
    }

    /// A big-endian number of up to eight bytes.
    fn number(&mut self, bytes: usize) -> Result<u64> {
        let mut padded = [0; 8];
        self.input
            .read_exact(&mut padded[8 - bytes..])
            .map_err(|error| self.failed(error))?;
        Ok(u64::from_be_bytes(padded))
    }

    fn skip(&mut self, bytes: u64) -> Result<()> {
        let skipped = io::copy(&mut self.input.by_ref().take(bytes), &mut io::sink());
        match skipped.map_err(|error| self.failed(error))? {
            skipped if skipped == bytes => Ok(()),
            _ => Err(self.failed(io::ErrorKind::UnexpectedEof.into())),
        }
    }

    /// Reads `letters` packed letters into our codes, at the end of `codes`.
    fn read_letters(&mut self, letters: usize, codes: &mut Vec<u8>) -> Result<()> {
        let size = letters.div_ceil(4);
        self.bytes.clear();
        let read = self
            .input
            .by_ref()
            .take(size as u64)
            .read_to_end(&mut self.bytes);
        if read.map_err(|error| self.failed(error))? < size {
            return Err(self.failed(io::ErrorKind::UnexpectedEof.into()));
        }
        let padding = 4 * size - letters;
        let code =
            |at: usize| self.codes[usize::from(self.bytes[at / 4] >> (6 - 2 * (at % 4)) & 3)];
        codes.extend((padding..4 * size).map(code));
        Ok(())
    }

    /// Goes on to the next block that holds a k-mer. False at the end of the file.
    fn next_block(&mut self) -> Result<bool> {
        while !self.ended {
            if self.section.blocks_left > 0 {
                self.section.blocks_left -= 1;
                self.blocks += 1;
                self.read_block()?;
                return Ok(true);
            }
            self.next_section()?;
        }
        Ok(false)
    }

    fn next_section(&mut self) -> Result<()> {
        let [kind] = self.array()?;
        self.sections += 1;
        match kind {
            b'v' => self.read_variables(),
            b'i' => {
                let entries = self.number(8)?;
                // Entries of a letter and an offset, then the offset of the next index.
                self.skip(entries.saturating_mul(9).saturating_add(8))
            }
            b'r' => self.begin_section(false),
            b'm' => self.begin_section(true),
            b'K' => self.read_end(),
            _ => {
                let what = format!(
                    "expected a section v, r, m, i or the closing KFF, found byte {kind:#04x}"
                );
                Err(self.malformed(FilePosition::Section(self.sections), what))
            }
        }
    }

    fn read_end(&mut self) -> Result<()> {
        let rest = self.array::<2>()?;
        self.ended = true;
        let more = self
            .input
            .read(&mut [0])
            .map_err(|error| self.failed(error))?
            > 0;
        if rest != MARKER[1..] || more {
            return Err(self.malformed(
                FilePosition::Section(self.sections),
                "the closing KFF is not the end of the file",
            ));
        }
        Ok(())
    }

    fn read_variables(&mut self) -> Result<()> {
        for _ in 0..self.number(8)? {
            let name = self.read_name()?;
            let value = self.number(8)?;
            match name.as_slice() {
                b"k" => self.variables.k = Some(value),
                b"m" => self.variables.m = Some(value),
                b"max" => self.variables.max = Some(value),
                b"data_size" => self.variables.data_size = Some(value),
                name if name == STRANDED => self.variables.stranded = value != 0,
                _ => {}
            }
        }
        Ok(())
    }

    fn read_name(&mut self) -> Result<Vec<u8>> {
        let mut name = Vec::new();
        for _ in 0..MAX_NAME {
            match self.array()? {
                [0] => return Ok(name),
                [byte] => name.push(byte),
            }
        }
        let what = format!("the name of a variable has more than {MAX_NAME} bytes");
        Err(self.malformed(FilePosition::Section(self.sections), what))
    }

    fn variable(&self, name: &str, value: Option<u64>, least: u64, most: u64) -> Result<u64> {
        let value = value.ok_or_else(|| {
            self.malformed(
                FilePosition::Section(self.sections),
                format!("the variable {name} is not set before it"),
            )
        })?;
        if (least..=most).contains(&value) {
            return Ok(value);
        }
        let what = format!("{name} is {value}; Gyrase reads {least} to {most}");
        Err(self.malformed(FilePosition::Section(self.sections), what))
    }

    fn begin_section(&mut self, has_minimizer: bool) -> Result<()> {
        let variables = self.variables;
        let k = self.variable("k", variables.k, 1, MAX_K as u64)?;
        let max = self.variable("max", variables.max, 1, u64::MAX)?;
        let data_size = self.variable("data_size", variables.data_size, 0, 8)?;
        if let Some(first) = self.k.filter(|&first| first as u64 != k) {
            let what = format!(
                "its k is {k}, and that of the sections before it is {first}: a table has one k"
            );
            return Err(self.malformed(FilePosition::Section(self.sections), what));
        }
        self.k = Some(k as usize);
        let mut minimizer = Vec::new();
        if has_minimizer {
            let m = self.variable("m", variables.m, 1, k)?;
            self.read_letters(m as usize, &mut minimizer)?;
        }
        self.section = Section {
            minimizer,
            has_minimizer,
            blocks_left: self.number(8)?,
            k: k as usize,
            data_bytes: data_size as usize,
            max,
            number_bytes: bytes_below(max),
            place_bytes: bytes_below(max.saturating_add(k - 1)),
        };
        Ok(())
    }

    fn read_block(&mut self) -> Result<()> {
        let section = std::mem::take(&mut self.section);
        let kmers = if section.max == 1 {
            1
        } else {
            self.number(section.number_bytes)?
        };
        if !(1..=section.max.min(MAX_BLOCK)).contains(&kmers) {
            let what = format!(
                "a block of {kmers} k-mers, expected 1 to {}",
                section.max.min(MAX_BLOCK)
            );
            return Err(self.malformed(FilePosition::Record(self.blocks), what));
        }
        let place = if section.has_minimizer {
            self.number(section.place_bytes)?
        } else {
            0
        };
        let letters = kmers as usize + section.k - 1 - section.minimizer.len();
        let mut codes = std::mem::take(&mut self.block.codes);
        codes.clear();
        self.read_letters(letters, &mut codes)?;
        if section.has_minimizer {
            let place = usize::try_from(place)
                .ok()
                .filter(|&place| place <= letters)
                .ok_or_else(|| {
                    let what = format!(
                        "the minimizer is to stand at {place} in a sequence of {letters} letters"
                    );
                    self.malformed(FilePosition::Record(self.blocks), what)
                })?;
            codes.splice(place..place, section.minimizer.iter().copied());
        }
        let mut data = std::mem::take(&mut self.block.data);
        self.read_data(kmers as usize * section.data_bytes, &mut data)?;
        self.block = Block {
            codes,
            data,
            taken: 0,
            kmers: kmers as usize,
            kmer: None,
        };
        self.section = section;
        Ok(())
    }

    fn read_data(&mut self, size: usize, data: &mut Vec<u8>) -> Result<()> {
        data.clear();
        let read = self.input.by_ref().take(size as u64).read_to_end(data);
        match read.map_err(|error| self.failed(error))? {
            read if read == size => Ok(()),
            _ => Err(self.failed(io::ErrorKind::UnexpectedEof.into())),
        }
    }
}

impl Block {
    fn take(&mut self, section: &Section) -> (WideKmer, u64) {
        let k = section.k;
        let kmer = match self.kmer {
            Some(kmer) => kmer.push(self.codes[self.taken + k - 1]).masked(k),
            None => self.codes[..k]
                .iter()
                .fold(WideKmer::ZERO, |kmer, &code| kmer.push(code)),
        };
        self.kmer = Some(kmer);
        let datum = &self.data[self.taken * section.data_bytes..][..section.data_bytes];
        let count = if datum.is_empty() {
            1
        } else {
            datum.iter().fold(0, |count, &b| count << 8 | u64::from(b))
        };
        self.taken += 1;
        (kmer, count)
    }
}

/// Bytes that hold every number below `limit`, as KFF reckons them: a `limit` of 1 takes none.
fn bytes_below(limit: u64) -> usize {
    let bits = 64 - (limit - 1).leading_zeros() as usize;
    bits.div_ceil(8)
}

impl<R: Read + Send> KmerSource for Reader<R> {
    fn k(&self) -> Option<usize> {
        self.k
            .or(self.variables.k.and_then(|k| usize::try_from(k).ok()))
    }

    fn stranded(&self) -> bool {
        self.variables.stranded
    }

    fn next(&mut self) -> Result<Option<(WideKmer, u64)>> {
        if self.block.taken == self.block.kmers && !self.next_block()? {
            return Ok(None);
        }
        Ok(Some(self.block.take(&self.section)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The example of the specification, once raw (`r`) and once by its minimizer (`m`).
    fn example(minimizer: bool) -> Vec<u8> {
        let mut bytes = b"KFF\x01\x00\x2d\x01\x00\x00\x00\x00\x02hi".to_vec();
        let mut variables: Vec<(&[u8], u64)> =
            vec![(b"k", 10), (b"max", 255), (b"data_size", 1), (b"other", 7)];
        if minimizer {
            variables.push((b"m", 8));
        }
        bytes.push(b'v');
        bytes.extend((variables.len() as u64).to_be_bytes());
        for (name, value) in variables {
            bytes.extend(name);
            bytes.push(0);
            bytes.extend(value.to_be_bytes());
        }
        // A sequence fills its bytes from the right; what is left of it means nothing.
        let blocks: [&[u8]; 3] = match minimizer {
            false => [
                b"\x03\x24\x09\xc5\x20\x2f\x01",
                b"\x01\xf0\x27\x1b\x0c",
                b"\x02\xe4\x09\xc5\x01\x2f",
            ],
            // ACTT, CG and CTT, each after two bytes for the place of the minimizer (264 places).
            true => [
                b"\x03\x00\x03\x25\x20\x2f\x01",
                b"\x01\x00\x00\x0b\x0c",
                b"\x02\x00\x02\xe5\x01\x2f",
            ],
        };
        bytes.extend(if minimizer {
            b"m\x02\x71".as_slice()
        } else {
            b"r"
        });
        bytes.extend(3u64.to_be_bytes());
        blocks.iter().for_each(|block| bytes.extend(*block));
        bytes.push(b'i');
        bytes.extend(1u64.to_be_bytes());
        bytes.extend(b"rsomewhere_there!");
        bytes.extend(b"KFF");
        bytes
    }

    fn read(bytes: &[u8]) -> Result<Vec<(String, u64)>> {
        let mut reader = Reader::new(bytes, Path::new("x.kff"))?;
        let mut found = Vec::new();
        while let Some((kmer, count)) = reader.next()? {
            found.push((String::from_utf8(kmer.letters(10)).unwrap(), count));
        }
        Ok(found)
    }

    #[test]
    fn reads_the_example_of_the_specification() {
        let expected = [
            ("ACTAAACTGA", 32),
            ("CTAAACTGAT", 47),
            ("TAAACTGATT", 1),
            ("AAACTGATCG", 12),
            ("CTAAACTGAT", 1),
            ("TAAACTGATT", 47),
        ];
        for minimizer in [false, true] {
            let found = read(&example(minimizer)).unwrap();
            let found: Vec<_> = found
                .iter()
                .map(|(letters, count)| (letters.as_str(), *count))
                .collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn every_truncation_is_an_error() {
        for bytes in [example(false), example(true)] {
            for length in 0..bytes.len() {
                let error = read(&bytes[..length]).unwrap_err();
                assert!(
                    matches!(error, ExchangeError::Truncated { .. }),
                    "{length}: {error}"
                );
            }
        }
    }

    #[test]
    fn other_versions_and_second_ks_are_named() {
        let mut bytes = example(false);
        bytes[3] = 2;
        assert!(
            read(&bytes)
                .unwrap_err()
                .to_string()
                .contains("version 2.0")
        );
        let mut bytes = example(false);
        bytes.truncate(bytes.len() - 3);
        bytes.extend(b"v\0\0\0\0\0\0\0\x01k\0\0\0\0\0\0\0\0\x0br\0\0\0\0\0\0\0\0KFF");
        let error = read(&bytes).unwrap_err().to_string();
        assert!(
            error.contains("k is 11") && error.contains("before it is 10"),
            "{error}"
        );
    }

    #[test]
    fn numbers_take_the_bytes_of_the_specification() {
        assert_eq!(
            [1, 2, 255, 256, 257, 65_536, 65_537, u64::MAX].map(bytes_below),
            [0, 1, 1, 1, 2, 2, 3, 8]
        );
    }

    proptest! {
        #[test]
        fn damage_never_panics(
            at in any::<prop::sample::Index>(),
            byte in any::<u8>(),
            minimizer in any::<bool>(),
        ) {
            let mut bytes = example(minimizer);
            let at = at.index(bytes.len());
            bytes[at] = byte;
            let _ = read(&bytes);
        }
    }
}
