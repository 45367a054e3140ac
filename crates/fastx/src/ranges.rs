//! Plain files in byte ranges, each read by one thread, all together exactly what one thread would
//! read.
//!
//! A file is cut every `batch_bytes`. In FASTA a range's letters are those whose bytes lie in it;
//! when it begins inside a record it continues that record, and the letters before it that k-mers
//! need are looked up backwards ([`Back`]). In FASTQ a range's records are those whose headers
//! begin in it. The first range begins with a record; every other *guesses* its first record.
//! Reading from a true record start is exact whatever the lines look like, so the guesses are right
//! if and only if each range ends where the next one guessed its start. This chain is checked as
//! ranges are done, and a broken one is an error, [`Error::NeedsSerial`]. What a caller got before
//! is as void as after any error.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use gyrase_seq::Batch;
use memchr::memchr;
use tracing::info_span;

use crate::back::Back;
use crate::error::{Error, Fault};
use crate::fasta::{self, Open, Work};
use crate::fastq::{self, Guess, Place, Window};
use crate::letters::Rules;
use crate::options::Format;
use crate::source;
use crate::stream::Reading;

/// What is read behind a range at first, for the record that crosses its end.
pub(crate) const MARGIN: u64 = 4 << 10;

pub(crate) struct Ranges {
    /// Which input it is.
    pub index: usize,
    pub format: Format,
    /// The bytes from the first record to the end of the file.
    pub bytes: Range<u64>,
    /// Length of a range.
    step: u64,
    file: Mutex<Option<Arc<File>>>,
    left: AtomicUsize,
    /// FASTQ: whether ranges fit together.
    chain: Mutex<Chain>,
    /// FASTA: places in long lines, and what is known of the lines.
    lines: Mutex<BTreeMap<u64, Line>>,
}

/// What is known of a line.
#[derive(Clone, Copy, Debug)]
enum Line {
    /// Where it begins.
    From(u64),
    /// Nothing, but that it is long: it is taken for a sequence ([`Ranges::check_line`]).
    Long,
}

/// From a place so far behind the start of its line the start is not searched twice.
const LONG_LINE: u64 = 64 << 10;

/// How far the start of a line is looked for where a chunk begins inside it. What is longer is
/// hardly a header, and in lines of gigabytes every chunk would be read as often as there are
/// chunks behind it.
const FAR: u64 = 1 << 20;

/// Where a range's first record starts, if there is one, and where its last record ends.
type Link = (Option<u64>, u64);

/// The ranges of a FASTQ file, as far as they are known to fit together.
#[derive(Debug, Default)]
struct Chain {
    /// The first range that is not in the chain.
    next: usize,
    /// End of the last record of the chain.
    end: u64,
    /// Ranges that were done before their turn.
    waiting: BTreeMap<usize, Link>,
}

/// A failure in a range: the system's, or one of the text that only a serial reading can name.
pub(crate) enum Failed {
    Read(io::Error),
    Text,
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Failed {
        Failed::Read(error)
    }
}

impl From<Fault> for Failed {
    fn from(_: Fault) -> Failed {
        Failed::Text
    }
}

impl Ranges {
    pub(crate) fn new(index: usize, format: Format, bytes: Range<u64>, step: usize) -> Ranges {
        let step = step as u64;
        let count = (bytes.end - bytes.start).div_ceil(step) as usize;
        let chain = Mutex::new(Chain {
            end: bytes.start,
            ..Chain::default()
        });
        Ranges {
            index,
            format,
            bytes,
            step,
            file: Mutex::default(),
            left: AtomicUsize::new(count),
            chain,
            lines: Mutex::default(),
        }
    }

    /// How many ranges there are.
    pub(crate) fn count(&self) -> usize {
        (self.bytes.end - self.bytes.start).div_ceil(self.step) as usize
    }

    /// Fills the batch with the records of a range.
    pub(crate) fn read(
        &self,
        range: usize,
        reading: &Reading,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        batch.records.clear();
        batch.input = self.index;
        batch.first_record = None;
        batch.first_letter = None;
        let file = self.open(reading)?;
        let bytes = self.bytes_of(range);
        let _parse =
            info_span!(target: "gyrase::trace", "parse", bytes = bytes.end - bytes.start).entered();
        let done = match self.format {
            Format::Fasta => self.fasta(&file, bytes.clone(), u64::MAX, reading, batch),
            Format::Fastq => self.fastq(&file, range, bytes.clone(), reading, batch),
        };
        done.map_err(|failed| self.error(failed, bytes.start, reading))?;
        if self.left.fetch_sub(1, Relaxed) == 1 {
            *self
                .file
                .lock()
                .expect("no thread panics while it opens a file") = None;
        }
        reading.read.fetch_add(bytes.end - bytes.start, Relaxed);
        reading.mask(batch);
        Ok(())
    }

    /// A failure at a place as an error of the input.
    pub(crate) fn error(&self, failed: Failed, at: u64, reading: &Reading) -> Error {
        let input = reading.inputs[self.index].name.clone();
        match failed {
            Failed::Text => Error::NeedsSerial { input },
            Failed::Read(source) => Error::Read { input, at, source },
        }
    }

    fn bytes_of(&self, range: usize) -> Range<u64> {
        let start = self.bytes.start + range as u64 * self.step;
        start..self.bytes.end.min(start + self.step)
    }

    fn open(&self, reading: &Reading) -> Result<Arc<File>, Error> {
        let mut file = self
            .file
            .lock()
            .expect("no thread panics while it opens a file");
        if let Some(file) = &*file {
            return Ok(file.clone());
        }
        let opened = Arc::new(source::open(&reading.inputs[self.index].path)?);
        *file = Some(opened.clone());
        Ok(opened)
    }

    /// Adds a range to the chain, and those that waited for it; fails when they do not fit.
    fn link(&self, range: usize, link: Link) -> Result<(), Failed> {
        let mut chain = self.chain.lock().expect("no thread panics while it links");
        chain.waiting.insert(range, link);
        let mut next = chain.next;
        while let Some((start, end)) = chain.waiting.remove(&next) {
            match start {
                Some(start) if start == chain.end => chain.end = end,
                None if chain.end >= self.bytes_of(next).end => {}
                _ => return Err(Failed::Text),
            }
            next += 1;
        }
        chain.next = next;
        Ok(())
    }

    /// Makes `text[at..]` hold the file's bytes from `from` on, up to `to` or the end of the file.
    pub(crate) fn load(
        &self,
        file: &File,
        text: &mut Vec<u8>,
        at: usize,
        from: u64,
        to: u64,
    ) -> io::Result<()> {
        let length = self.bytes.end.min(to).saturating_sub(from) as usize;
        text.resize(at + length, 0);
        let _read = info_span!(target: "gyrase::trace", "read", bytes = length).entered();
        file.read_exact_at(&mut text[at..], from)
            .map_err(source::shrunk)
    }

    fn fastq(
        &self,
        file: &File,
        range: usize,
        bytes: Range<u64>,
        reading: &Reading,
        batch: &mut Batch,
    ) -> Result<(), Failed> {
        let base = bytes.start - u64::from(range > 0);
        let mut text = FastqText {
            ranges: self,
            file,
            base,
            limit: (bytes.end - base) as usize,
            to: bytes.end + MARGIN,
            rules: reading.rules,
        };
        self.load(file, &mut batch.text, 0, base, text.to)?;
        let start = match range {
            0 => Some(0),
            _ => text.first_record(&mut batch.text)?,
        };
        let Some(start) = start else {
            return self.link(range, (None, 0));
        };
        let end = text.parse(start, batch)?;
        self.link(range, (Some(base + start as u64), base + end as u64))
    }

    /// Fills the batch with a part of a chunk of a FASTA file.
    pub(crate) fn fasta_of_chunk(
        &self,
        file: &File,
        bytes: Range<u64>,
        reading: &Reading,
        batch: &mut Batch,
    ) -> Result<(), Failed> {
        self.fasta(file, bytes, FAR, reading, batch)
    }

    /// Fails where the next chunk takes the line that it begins in for a sequence and it is none,
    /// as far as this chunk knows: all its bytes from `chunk.start` on were read. The chunk before
    /// has checked what this one took its first line for, and the first of a file takes nothing for
    /// anything: if nobody fails all were right.
    pub(crate) fn check_line(&self, file: &File, chunk: Range<u64>) -> Result<(), Failed> {
        let mut back = Back::new(file, self.bytes.start);
        let near = self.bytes.start.max(chunk.end.saturating_sub(FAR));
        if near == self.bytes.start || back.after_line_end(near, chunk.end)?.is_some() {
            return Ok(());
        }
        let (from, known) = match self.nearest(chunk.clone()) {
            Some(known) => known,
            None if chunk.start == self.bytes.start || back.byte(chunk.start - 1)? == b'\n' => {
                (chunk.start, Line::From(chunk.start))
            }
            None => (chunk.start, self.line(&mut back, chunk.start, FAR)?),
        };
        let line = back
            .after_line_end(from, chunk.end)?
            .map_or(known, Line::From);
        match line {
            Line::From(start) if matches!(back.byte(start)?, b'>' | b';') => Err(Failed::Text),
            _ => Ok(()),
        }
    }

    /// Fills the batch with what lies in any bytes of a FASTA file. The start of the line that they
    /// begin in is looked for in `far` bytes.
    fn fasta(
        &self,
        file: &File,
        bytes: Range<u64>,
        far: u64,
        reading: &Reading,
        batch: &mut Batch,
    ) -> Result<(), Failed> {
        let front = reading.rules.overlap;
        let end = front + (bytes.end - bytes.start) as usize;
        let Batch { text, records, .. } = batch;
        self.load(file, text, front, bytes.start, bytes.end + 1)?;
        self.load_last_header(file, text, front..end, bytes.start)?;
        let goes_on = bytes.end < self.bytes.end && !(text[end - 1] == b'\n' && text[end] == b'>');
        let mut work = Work {
            text,
            records,
            rules: reading.rules,
            place: &mut Place::default(),
        };
        let mut at = front;
        if bytes.start > self.bytes.start {
            let before = self.before(file, bytes.start, far, front)?;
            if !before.line_start || work.text[front] != b'>' {
                at = continued(&mut work, front..end, before, goes_on)?;
            }
        }
        if at < end {
            let tail = work.read_records(at..end, goes_on)?;
            work.judge_part(&tail)?;
        }
        Ok(())
    }

    /// Loads the last header of the range (whose first byte is at `from` in the file) to its end.
    fn load_last_header(
        &self,
        file: &File,
        text: &mut Vec<u8>,
        range: Range<usize>,
        from: u64,
    ) -> io::Result<()> {
        let front = range.start;
        let header = fasta::last_header(text, front, range.end).unwrap_or(front);
        let size = front + (self.bytes.end - from) as usize;
        let mut searched = header;
        while text[header] == b'>'
            && text.len() < size
            && memchr(b'\n', &text[searched..]).is_none()
        {
            searched = text.len();
            let next = from + (searched - front) as u64;
            self.load(
                file,
                text,
                searched,
                next,
                next + MARGIN.max((searched - header) as u64),
            )?;
        }
        Ok(())
    }

    /// What a range begins inside of.
    fn before(&self, file: &File, start: u64, far: u64, overlap: usize) -> Result<Before, Failed> {
        let mut back = Back::new(file, self.bytes.start);
        if back.byte(start - 1)? == b'\n' {
            return Ok(Before {
                line_start: true,
                skip: false,
                letters: back.letters(start, None, overlap)?,
            });
        }
        let Line::From(line) = self.line(&mut back, start, far)? else {
            let letters = back.letters(start, Some(start - far), overlap)?;
            // Fewer only where a line is of spaces.
            let enough = letters.len() == overlap;
            return if enough {
                Ok(Before {
                    line_start: false,
                    skip: false,
                    letters,
                })
            } else {
                Err(Failed::Text)
            };
        };
        let (skip, letters) = match back.byte(line)? {
            b'>' => (true, Vec::new()),
            b';' => (true, back.letters(line, None, overlap)?),
            _ => (false, back.letters(start, Some(line), overlap)?),
        };
        Ok(Before {
            line_start: false,
            skip,
            letters,
        })
    }

    /// The line that a place lies in. Ranges tell each other, so that a line of many ranges is
    /// searched once.
    fn line(&self, back: &mut Back, place: u64, far: u64) -> io::Result<Line> {
        let first = (self.bytes.start, Line::From(self.bytes.start));
        let (from, known) = self.nearest(self.bytes.start..place + 1).unwrap_or(first);
        let near = from.max(place.saturating_sub(far));
        let line = match back.after_line_end(near, place)? {
            Some(start) => Line::From(start),
            None if near == from => known,
            None => Line::Long,
        };
        if !matches!(line, Line::From(start) if place - start <= LONG_LINE) {
            self.lines
                .lock()
                .expect("no thread panics here")
                .insert(place, line);
        }
        Ok(line)
    }

    /// The last of the places that something is known of, and what.
    fn nearest(&self, places: Range<u64>) -> Option<(u64, Line)> {
        let lines = self.lines.lock().expect("no thread panics here");
        lines
            .range(places)
            .next_back()
            .map(|(&place, &line)| (place, line))
    }
}

/// The text of a range of FASTQ, and as much of what follows as its last record needs.
struct FastqText<'a> {
    ranges: &'a Ranges,
    file: &'a File,
    /// Where the text begins in the file.
    base: u64,
    /// Where the range ends in the text.
    limit: usize,
    /// Up to where the file was read.
    to: u64,
    rules: Rules,
}

impl FastqText<'_> {
    /// Where the first record that begins in the range starts, if one does.
    fn first_record(&mut self, text: &mut Vec<u8>) -> Result<Option<usize>, Failed> {
        loop {
            match fastq::first_record(text, self.limit, self.is_whole(text)) {
                Guess::At(at) => return Ok(Some(at)),
                Guess::None => return Ok(None),
                Guess::More => self.read_on(text)?,
            }
        }
    }

    /// Parses the records that begin in the range, from `at` on; returns where the last ends.
    fn parse(&mut self, mut at: usize, batch: &mut Batch) -> Result<usize, Failed> {
        let Batch { text, records, .. } = batch;
        loop {
            let window = Window {
                bytes: at..text.len(),
                limit: self.limit,
                last: self.is_whole(text),
            };
            at = fastq::parse(text, &window, self.rules, &mut Place::default(), records)?;
            if window.last || at >= self.limit && at < window.bytes.end {
                return Ok(at);
            }
            self.read_on(text)?;
        }
    }

    /// Whether the file ends with the text.
    fn is_whole(&self, text: &[u8]) -> bool {
        self.base + text.len() as u64 == self.ranges.bytes.end
    }

    /// Reads as many bytes again as there are.
    fn read_on(&mut self, text: &mut Vec<u8>) -> Result<(), Failed> {
        let from = text.len();
        // What begins in the range is longer than there is room for.
        if from.saturating_sub(self.limit) > self.rules.longest_record {
            return Err(Failed::Text);
        }
        self.to = (self.base + 2 * (self.to - self.base)).min(self.ranges.bytes.end);
        let at = self.base + from as u64;
        Ok(self.ranges.load(self.file, text, from, at, self.to)?)
    }
}

/// What lies before a range of a FASTA file.
struct Before {
    /// The range starts a line.
    line_start: bool,
    /// The range starts inside a header or a comment.
    skip: bool,
    /// The last letters of the record that goes on.
    letters: Vec<u8>,
}

/// Reads the rest of the record that the range begins inside of; returns where the next record or
/// the range's end is.
fn continued(
    work: &mut Work,
    range: Range<usize>,
    before: Before,
    goes_on: bool,
) -> Result<usize, Fault> {
    let mut from = range.start;
    if before.skip {
        from = memchr(b'\n', &work.text[range.clone()]).map_or(range.end, |end| from + end + 1);
    }
    let overlap = before.letters.len();
    let at = from - overlap;
    work.text[at..from].copy_from_slice(&before.letters);
    let open = Open {
        overlap,
        line_start: before.line_start || before.skip,
        ..Open::default()
    };
    let tail = work.rest(at..range.end, !goes_on, &open)?;
    work.judge_part(&tail)?;
    Ok(if tail.next < range.end && work.text[tail.next] == b'>' {
        tail.next
    } else {
        range.end
    })
}
