//! Texts of k-mers and counts: KMC's dump (`KMER<tab>count`), Jellyfish's column dump
//! (`KMER count`) and Jellyfish's FASTA dump (`>count`, then the k-mer on a line of its own).
//! [`crate::dump`] writes them.

use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use gyrase_kmer::MAX_K;

use super::error::{ExchangeError, FilePosition, Result};
use super::source::{KmerSource, WideKmer};

/// The longest line that a k-mer and its count can make, with room for blanks.
const MAX_LINE: u64 = 4096;

/// A text, read line by line. Which of the styles it has is seen from its first line.
pub struct Reader<R> {
    input: R,
    path: PathBuf,
    line: Vec<u8>,
    /// Number of the line that was read last, from 1.
    number: u64,
    fasta: bool,
    k: Option<usize>,
    first: Option<(WideKmer, u64)>,
}

impl<R: BufRead> Reader<R> {
    /// Reads a text as far as its first k-mer; the path only names the file in errors.
    ///
    /// # Errors
    /// When it cannot be read or begins with something else than a k-mer and its count.
    pub fn new(input: R, path: &Path) -> Result<Reader<R>> {
        let path = path.to_path_buf();
        let mut reader = Reader {
            input,
            path,
            line: Vec::new(),
            number: 0,
            fasta: false,
            k: None,
            first: None,
        };
        if reader.next_line()? {
            reader.fasta = reader.line.starts_with(b">");
            reader.first = Some(reader.record()?);
        }
        Ok(reader)
    }

    fn malformed(&self, what: impl Into<String>) -> ExchangeError {
        ExchangeError::malformed(&self.path, FilePosition::Line(self.number), what)
    }

    /// Reads the next line that is not blank, without blanks at its ends. False at the end.
    fn next_line(&mut self) -> Result<bool> {
        loop {
            self.line.clear();
            let read = self
                .input
                .by_ref()
                .take(MAX_LINE)
                .read_until(b'\n', &mut self.line);
            match read.map_err(|source| ExchangeError::read(&self.path, source))? {
                0 => return Ok(false),
                read => self.number += u64::from(read > 0),
            }
            if self.line.len() as u64 == MAX_LINE && !self.line.ends_with(b"\n") {
                return Err(self.malformed(format!(
                    "more than {MAX_LINE} bytes; expected a k-mer and its count"
                )));
            }
            self.line.truncate(self.line.trim_ascii_end().len());
            if !self.line.is_empty() {
                return Ok(true);
            }
        }
    }

    /// Reads a k-mer and its count from the line that was read, and the line after it in FASTA.
    fn record(&mut self) -> Result<(WideKmer, u64)> {
        if self.fasta {
            let Some(count) = self.line.strip_prefix(b">") else {
                return Err(
                    self.malformed(format!("expected >count, found \"{}\"", shown(&self.line)))
                );
            };
            let count = self.count(count.trim_ascii())?;
            if !self.next_line()? {
                let what = format!(
                    "no k-mer follows the count on line {}, the last",
                    self.number
                );
                return Err(ExchangeError::truncated(&self.path, what));
            }
            return Ok((self.kmer(self.line.len())?, count));
        }
        let Some(end) = self.line.iter().position(u8::is_ascii_whitespace) else {
            let what = format!(
                "expected a k-mer, a tab or a space, and its count; found \"{}\"",
                shown(&self.line)
            );
            return Err(self.malformed(what));
        };
        let count = self.count(self.line[end..].trim_ascii())?;
        Ok((self.kmer(end)?, count))
    }

    fn count(&self, digits: &[u8]) -> Result<u64> {
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return Err(self.malformed(format!("expected a count, found \"{}\"", shown(digits))));
        }
        let digit = |count: u64, &byte: &u8| {
            count
                .saturating_mul(10)
                .saturating_add(u64::from(byte - b'0'))
        };
        Ok(digits.iter().fold(0, digit))
    }

    /// The k-mer in the first `length` bytes of the line.
    fn kmer(&mut self, length: usize) -> Result<WideKmer> {
        if length > MAX_K {
            return Err(self.malformed(format!(
                "a k-mer of {length} letters; tables have a k from 1 to {MAX_K}"
            )));
        }
        let k = *self.k.get_or_insert(length);
        if k != length {
            let what =
                format!("a k-mer of {length} letters, those before it have {k}: a table has one k");
            return Err(self.malformed(what));
        }
        let letters = &self.line[..length];
        WideKmer::from_letters(letters).ok_or_else(|| {
            let what = format!(
                "\"{}\" is no k-mer: expected the letters A, C, G, T only",
                shown(letters)
            );
            self.malformed(what)
        })
    }
}

/// The beginning of a line for a message, with what cannot be shown escaped.
fn shown(bytes: &[u8]) -> String {
    bytes[..bytes.len().min(40)].escape_ascii().to_string()
}

impl<R: BufRead + Send> KmerSource for Reader<R> {
    fn k(&self) -> Option<usize> {
        self.k
    }

    fn stranded(&self) -> bool {
        false
    }

    fn next(&mut self) -> Result<Option<(WideKmer, u64)>> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        if self.k.is_none() || !self.next_line()? {
            return Ok(None);
        }
        self.record().map(Some)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &[u8]) -> Result<Vec<(String, u64)>> {
        let mut reader = Reader::new(text, Path::new("x.txt"))?;
        let mut found = Vec::new();
        while let Some((kmer, count)) = reader.next()? {
            found.push((
                String::from_utf8(kmer.letters(reader.k().unwrap())).unwrap(),
                count,
            ));
        }
        Ok(found)
    }

    #[test]
    fn every_style_is_known_from_its_content() {
        let expected = vec![("ACGTA".to_string(), 3), ("TTTTT".to_string(), u64::MAX)];
        for text in [
            "ACGTA\t3\nTTTTT\t99999999999999999999999\n",
            "acgta 3\r\n\r\nUuTTT   18446744073709551615",
            "\n>3\nACGTA\n>18446744073709551615\r\nTTTTT",
        ] {
            assert_eq!(read(text.as_bytes()).unwrap(), expected, "{text}");
        }
        assert_eq!(read(b"").unwrap(), []);
        assert_eq!(read(b"\r\n\n").unwrap(), []);
    }

    #[test]
    fn errors_name_file_and_line() {
        for (text, expected) in [
            (
                "ACGT 1\nACG 2\n",
                "x.txt, line 2: a k-mer of 3 letters, those before it have 4",
            ),
            ("ACGT 1\n\nACGN 2\n", "x.txt, line 3: \"ACGN\" is no k-mer"),
            (
                "ACGT 1\nACGA\n",
                "x.txt, line 2: expected a k-mer, a tab or a space",
            ),
            (
                "ACGT one\n",
                "x.txt, line 1: expected a count, found \"one\"",
            ),
            ("ACGT 1 2\n", "x.txt, line 1: expected a count"),
            ("ACGT -1\n", "x.txt, line 1: expected a count"),
            (">1\nACGT\nACGT 3\n", "x.txt, line 3: expected >count"),
            (">1\nACGT\n>2\n", "x.txt is truncated"),
            ("\u{1f}\u{8b} 1", "line 1"),
        ] {
            let error = read(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(expected), "{text:?}: {error}");
        }
        let long = read(&[b'A'; 10_000]).unwrap_err().to_string();
        assert!(long.contains("line 1: more than"), "{long}");
        let long = read(format!("{} 1", "A".repeat(128)).as_bytes())
            .unwrap_err()
            .to_string();
        assert!(long.contains("a k-mer of 128 letters"), "{long}");
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(
            text in prop::collection::vec(
                prop::sample::select(b">AC\t 19\n\rN\xff".to_vec()),
                0..60,
            ),
        ) {
            let _ = read(&text);
        }
    }
}
