//! Texts line by line, counted, whatever they are compressed with.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use memchr::memchr;

use crate::error::TaxonomyError;

/// Bytes that are read at a time.
const CHUNK: usize = 1 << 20;

/// Bytes that a line may have: more than any name, and no binary file is taken for text.
const LONGEST: usize = 1 << 24;

/// Letters of a line that a message repeats.
const SHOWN: usize = 60;

/// What messages say where there is no file of a taxonomy.
pub(crate) const TAXONOMY: &str =
    "a folder with nodes.dmp and names.dmp, a taxdump.tar.gz, or a table of lineages";

/// What messages say where there is no table of taxids.
pub(crate) const TAXIDS: &str = "a table of sequences, assemblies or files and their taxids";

/// What messages say where there is no table of assemblies.
pub(crate) const ASSEMBLIES: &str = "NCBI's assembly_summary.txt";

/// The text of a file, decompressed; `expected` is what may be there.
pub(crate) fn open(
    path: &Path,
    expected: &'static str,
) -> Result<Box<dyn Read + Send>, TaxonomyError> {
    let file = File::open(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => TaxonomyError::NotFound {
            path: path.to_path_buf(),
            expected,
        },
        _ => TaxonomyError::reading(path, source),
    })?;
    gyrase_fastx::decompress(file).map_err(|source| TaxonomyError::reading(path, source))
}

/// The lines of a text.
pub(crate) struct Lines<'a> {
    input: Box<dyn Read + 'a>,
    /// The file, and the part of it where it is an archive.
    path: PathBuf,
    part: Option<String>,
    buffer: Vec<u8>,
    from: usize,
    to: usize,
    ended: bool,
    line: u64,
}

impl<'a> Lines<'a> {
    pub(crate) fn open(
        path: &Path,
        expected: &'static str,
    ) -> Result<Lines<'static>, TaxonomyError> {
        Ok(Lines::new(open(path, expected)?, path, None))
    }

    /// The lines of `part` of the archive `path`, or of all of it.
    pub(crate) fn new(input: impl Read + 'a, path: &Path, part: Option<&str>) -> Lines<'a> {
        Lines {
            input: Box::new(input),
            path: path.to_path_buf(),
            part: part.map(str::to_owned),
            buffer: vec![0; CHUNK],
            from: 0,
            to: 0,
            ended: false,
            line: 0,
        }
    }

    /// The next line, without its end.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, TaxonomyError> {
        let mut searched = 0;
        loop {
            let text = &self.buffer[self.from..self.to];
            if let Some(more) = memchr(b'\n', &text[searched..]) {
                return Ok(Some(self.take(searched + more, 1)));
            }
            searched = text.len();
            if !self.fill()? {
                return Ok((searched > 0).then(|| self.take(searched, 0)));
            }
        }
    }

    fn take(&mut self, length: usize, end: usize) -> &[u8] {
        let line = self.from..self.from + length;
        self.from = line.end + end;
        self.line += 1;
        let line = &self.buffer[line];
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    /// Reads more; false when there is no more.
    #[cold]
    fn fill(&mut self) -> Result<bool, TaxonomyError> {
        self.buffer.copy_within(self.from..self.to, 0);
        self.to -= std::mem::take(&mut self.from);
        if self.to == self.buffer.len() {
            if self.to >= LONGEST {
                self.line += 1;
                return Err(self
                    .malformed("the line is longer than 16 MiB; this is no table of text".into()));
            }
            self.buffer.resize(2 * self.to, 0);
        }
        while !self.ended {
            match self.input.read(&mut self.buffer[self.to..]) {
                Ok(0) => self.ended = true,
                Ok(more) => {
                    self.to += more;
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(TaxonomyError::reading(&self.path, error)),
            }
        }
        Ok(false)
    }

    /// Tells `take` every line that is not blank, with its number from 1, and ends at the first
    /// that it refuses, saying why.
    #[inline]
    pub(crate) fn each(
        &mut self,
        mut take: impl FnMut(u64, &[u8]) -> Result<(), String>,
    ) -> Result<(), TaxonomyError> {
        loop {
            let number = self.line + 1;
            let Some(line) = self.next()? else {
                return Ok(());
            };
            if !line.trim_ascii_start().is_empty()
                && let Err(problem) = take(number, line)
            {
                return Err(self.malformed(problem));
            }
        }
    }

    /// What messages call the text.
    pub(crate) fn name(&self) -> String {
        match &self.part {
            Some(part) => format!("{} in {}", part, self.path.display()),
            None => self.path.display().to_string(),
        }
    }

    /// The line that came last is at fault.
    pub(crate) fn malformed(&self, problem: String) -> TaxonomyError {
        TaxonomyError::Malformed {
            input: self.name(),
            line: self.line,
            problem,
        }
    }
}

/// The beginning of a line for a message.
pub(crate) fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let mut short: String = text.chars().take(SHOWN).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("{short:?}")
}

/// A number of digits only.
pub(crate) fn number(field: &[u8]) -> Option<u32> {
    let digit = |sum: u32, &byte: &u8| match byte {
        b'0'..=b'9' => sum.checked_mul(10)?.checked_add((byte - b'0').into()),
        _ => None,
    };
    if field.is_empty() {
        None
    } else {
        field.iter().try_fold(0, digit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a byte at a time, as a slow pipe does.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let out = &mut out[..1];
            self.0.read(out)
        }
    }

    fn all(mut lines: Lines) -> Vec<(u64, Vec<u8>)> {
        let mut all = Vec::new();
        let read = lines.each(|number, line| {
            all.push((number, line.to_vec()));
            Ok(())
        });
        read.expect("text");
        all
    }

    #[test]
    fn lines_are_those_of_the_text() {
        let long = "x".repeat(3 * CHUNK + 5);
        for text in [
            "",
            "\n",
            "a",
            "a\n",
            "a\r\nb",
            "\n\nc\n",
            &format!("a\n{long}\nb\n{long}"),
        ] {
            let expected = (1..).zip(text.lines().map(|line| line.as_bytes().to_vec()));
            let expected: Vec<_> = expected.filter(|line| !line.1.is_empty()).collect();
            assert_eq!(
                all(Lines::new(text.as_bytes(), Path::new("t"), None)),
                expected
            );
            if text.len() < 100 {
                assert_eq!(
                    all(Lines::new(Slow(text.as_bytes()), Path::new("t"), None)),
                    expected
                );
            }
        }
    }

    #[test]
    fn a_line_that_is_refused_is_named() {
        let mut lines = Lines::new(&b"a\n \nb\nc\n"[..], Path::new("t"), None);
        let error = lines.each(|_, line| {
            if line == b"b" {
                Err("no".into())
            } else {
                Ok(())
            }
        });
        assert_eq!(error.expect_err("refused").to_string(), "t, line 3: no");
    }

    #[test]
    fn what_has_no_lines_is_refused() {
        let mut lines = Lines::new(io::repeat(b'x'), Path::new("t"), Some("p"));
        let error = lines.next().expect_err("it has no end").to_string();
        assert!(error.starts_with("p in t, line 1: "), "{error}");
    }

    #[test]
    fn numbers_are_digits() {
        assert_eq!(number(b"4294967295"), Some(u32::MAX));
        for wrong in [&b""[..], b"4294967296", b"-1", b"+1", b"1 ", b"0x1"] {
            assert_eq!(number(wrong), None);
        }
    }
}
