//! What the start of an input tells of all of it: how far it is compressed, and how much of its
//! text is sequence.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use gyrase_seq::Batch;

use crate::decoder::{ANY_WINDOW, Bytes, decompressed};
use crate::options::{Alphabet, Format, Input, Options};
use crate::reader::Reader;

/// Bytes that are read from the file at a time, so that what the text came from is known to so
/// many.
const STEP: u64 = 4 << 10;

/// Bytes of text that are taken at a time.
const PIECE: u64 = 16 << 10;

/// The start of an input, measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasuredStart {
    /// Bytes as they are stored.
    pub stored: u64,
    /// Bytes of text in them.
    pub text: u64,
    /// Records that begin in that text.
    pub records: u64,
    /// Letters of their names.
    pub names: u64,
    /// Letters of sequences in that text.
    pub letters: u64,
    /// This is all of the input.
    pub whole: bool,
}

impl Input {
    /// Reads the first `most` bytes of text. `None` for a pipe, which could not be read again, and
    /// where nothing can be told: the file cannot be read or decompressed, or its first record is
    /// longer than the sample.
    pub fn sample(&self, most: usize) -> Option<MeasuredStart> {
        let size = self.size?;
        let stored = Arc::new(AtomicU64::new(0));
        let file: Bytes = Box::new(Steps {
            file: File::open(&self.path).ok()?,
            read: Arc::clone(&stored),
        });
        let mut reader = decompressed(file, self.compression, ANY_WINDOW).ok()?;
        let (mut text, mut known, mut ended) = (Vec::new(), (0, 0), false);
        while text.len() < most && !ended {
            let before = (stored.load(Relaxed), text.len());
            // Damage is told when the file is read in earnest; here it only ends the sample.
            let read = reader
                .by_ref()
                .take(PIECE)
                .read_to_end(&mut text)
                .unwrap_or(0);
            ended = read == 0;
            // Who asks for more has given away all that it had.
            if stored.load(Relaxed) > before.0 && before.1 > 0 {
                known = before;
            }
        }
        let whole = ended && stored.load(Relaxed) == size;
        if whole || known.1 == 0 {
            known = (stored.load(Relaxed), text.len());
        }
        text.truncate(known.1);
        let length = text.len() as u64;
        let start = MeasuredStart {
            stored: known.0,
            text: length,
            records: 0,
            names: 0,
            letters: 0,
            whole,
        };
        if length == 0 {
            return Some(start);
        }
        start.with_records(text)
    }
}

impl MeasuredStart {
    /// Counts the records of the text, the last of which may be cut short.
    fn with_records(mut self, text: Vec<u8>) -> Option<MeasuredStart> {
        // Small batches: the one in which the text breaks off is lost.
        let options = Options {
            batch_bytes: PIECE as usize,
            // What the letters stand for is told when the file is read in earnest.
            alphabet: Alphabet::Any,
            ..Options::default()
        };
        let mut reader = Reader::from_read("sample", Cursor::new(text), &options).ok()?;
        let format = reader.input().format;
        let (mut batch, mut goes_on) = (Batch::default(), false);
        while matches!(reader.next_batch(&mut batch), Ok(true)) {
            for record in &batch.records {
                self.letters += record.letters.len() as u64;
                if !goes_on {
                    self.records += 1;
                    self.names += record.name.len() as u64;
                }
                goes_on = record.continues;
            }
        }
        (self.letters > 0 || format != Some(Format::Fastq)).then_some(self)
    }
}

/// Reads a file in small steps and counts them: a decompressor takes no more than it needs.
struct Steps {
    file: File,
    read: Arc<AtomicU64>,
}

impl Read for Steps {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = self.file.by_ref().take(STEP).read(out)?;
        self.read.fetch_add(length as u64, Relaxed);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Compression, Inputs, Writer};

    /// `reads` reads of 100 letters, each with 211 bytes of text.
    fn fastq(reads: usize) -> Batch {
        let mut batch = Batch::default();
        let mut state = 7u64;
        for _ in 0..reads {
            let start = batch.text.len();
            batch.text.extend_from_slice(b"read");
            for alphabet in [b"ACGTACGT", b"FFFFFF,:"] {
                for _ in 0..100 {
                    state = state
                        .wrapping_mul(6364136223846793005)
                        .wrapping_add(1442695040888963407);
                    batch.text.push(alphabet[(state >> 61) as usize]);
                }
            }
            batch.records.push(gyrase_seq::Record {
                name: (start..start + 4).into(),
                letters: (start + 4..start + 104).into(),
                qualities: (start + 104..start + 204).into(),
                ..Default::default()
            });
        }
        batch
    }

    fn sample(reads: usize, compression: Compression) -> (u64, Option<MeasuredStart>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let mut writer = Writer::create(&path, Format::Fastq, Some(compression)).unwrap();
        let batch = fastq(reads);
        (0..reads).for_each(|index| writer.write_record(&batch, index).unwrap());
        writer.finish().unwrap();
        let inputs = Inputs::open(std::slice::from_ref(&path), Options::default()).unwrap();
        (
            inputs.total_bytes().unwrap(),
            inputs.inputs()[0].sample(4 << 20),
        )
    }

    #[test]
    fn a_small_input_is_measured_as_a_whole() {
        for compression in Compression::ALL {
            let (stored, found) = sample(1000, compression);
            let want = MeasuredStart {
                stored,
                text: 210_000,
                records: 1000,
                names: 4000,
                letters: 100_000,
                whole: true,
            };
            assert_eq!(found, Some(want), "{compression}");
            let empty = sample(0, compression).1.unwrap();
            assert_eq!((empty.text, empty.letters), (0, 0), "{compression}");
        }
    }

    #[test]
    fn the_start_of_a_large_input_tells_its_letters() {
        let reads = 25_000;
        for compression in [
            Compression::Plain,
            Compression::Bgzf,
            Compression::Zstd,
            Compression::Bzip2,
        ] {
            let (stored, found) = sample(reads, compression);
            let found = found.unwrap();
            let letters = found.letters as f64 / found.stored as f64 * stored as f64;
            let error = letters / (100.0 * reads as f64) - 1.0;
            assert!(
                !found.whole && error.abs() < 0.02,
                "{compression}: {error} {found:?}"
            );
        }
    }

    #[test]
    fn what_cannot_be_told_is_not_guessed() {
        let pipe = Input {
            path: "-".into(),
            window: 0,
            name: "x".into(),
            format: None,
            compression: Compression::Gzip,
            size: None,
        };
        assert_eq!(pipe.sample(1 << 20), None);
        assert_eq!(
            Input {
                size: Some(9),
                path: "nowhere".into(),
                ..pipe
            }
            .sample(1 << 20),
            None
        );
    }
}
