//! The inputs in chunks, for the workers of many processes.
//!
//! A worker reads a chunk from front to end. In FASTQ a record may cross the border to the next
//! chunk, and from the middle of a file nobody knows for certain where a record starts. So the
//! worker of a chunk *guesses* its first record start and sends what is before it back to the
//! worker of the chunk before, who joins it with what was left there: if both together are whole
//! records and nothing else, then the guess was right, since reading from a true record start is
//! exact; if not, [`Error::NeedsSerial`]. A chunk in which no record starts goes back as a whole,
//! behind it what comes back from the next one. In FASTA the worker looks backwards in the file
//! instead: a chunk alone does not tell a header from a sequence. It does not look further than a
//! MiB: what is in a longer line it takes for sequence, and the worker of the chunk before checks
//! that it is.

use std::fs::File;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

use gyrase_seq::Batch;
use tracing::info_span;

use crate::error::Error;
use crate::fastq::{self, Guess, Place, Window};
use crate::inputs::Inputs;
use crate::options::Format;
use crate::parser::Parser;
use crate::plan::{Part, Plan};
use crate::ranges::{Failed, MARGIN, Ranges};
use crate::source;
use crate::stream::{Asked, HEADROOM};

/// Bytes of a chunk: large enough that what a border costs does not count.
const LARGEST: u64 = 64 << 20;
/// Bytes of a chunk where there is little for each worker.
const SMALLEST: u64 = 1 << 20;
/// How many chunks there are for a worker at least, so that all end at about the same time.
const EACH: u64 = 32;

/// Bytes of a chunk's beginning, and the chunk before it that they belong to.
pub type SentBack = (usize, Vec<u8>);

/// The inputs in chunks: the same in every process that opens the same inputs.
#[derive(Debug)]
pub struct Chunks<'i> {
    inputs: &'i Inputs,
    plan: Plan,
}

impl Inputs {
    /// Bytes of a chunk that suit so many workers: up to 64 MiB, as many chunks for each of them,
    /// at least 32 where that does not make them smaller than 1 MiB.
    pub fn chunk_bytes(&self, workers: usize) -> u64 {
        let plain: u64 = self
            .ranges
            .iter()
            .map(|file| file.bytes.end - file.bytes.start)
            .sum();
        let share = plain.div_ceil(workers as u64);
        let chunks = share
            .div_ceil(share.div_ceil(EACH).clamp(SMALLEST, LARGEST))
            .max(1);
        share.div_ceil(chunks).max(SMALLEST)
    }

    /// The plain files in chunks of `bytes` bytes (at least 1), whatever the files' sizes; each
    /// compressed input, pipe and pair a chunk of its own. They are for `runs` processes, each of
    /// which begins with a run of neighbouring chunks.
    pub fn chunks(&self, bytes: u64, runs: usize) -> Chunks<'_> {
        let size = |index: usize| self.inputs()[index].size.unwrap_or(u64::MAX);
        let streams = self.streams.iter().map(|stream| size(stream.index));
        let pairs = self
            .pairs
            .iter()
            .map(|pair| size(pair.index).saturating_add(size(pair.index + 1)));
        let whole: Vec<u64> = streams.chain(pairs).collect();
        let plain = self
            .ranges
            .iter()
            .map(|file| file.bytes.end - file.bytes.start);
        Chunks {
            inputs: self,
            plan: Plan::new(plain, &whole, bytes, runs),
        }
    }
}

impl Chunks<'_> {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.plan.chunks()
    }

    /// A number that is equal where chunks are: processes that share chunks compare it.
    pub fn fingerprint(&self) -> u64 {
        self.plan.fingerprint()
    }

    /// A chunk, to be read by one thread, once. Others may [help](Inputs::help) where it is an
    /// input that cannot be cut.
    ///
    /// # Panics
    /// When there is no such chunk.
    pub fn read(&self, chunk: usize) -> Chunk<'_> {
        assert!(chunk < self.count(), "there are {} chunks", self.count());
        match self.plan.part(chunk) {
            Part::Plain(bytes) => Chunk(Kind::Plain(Box::new(Plain::new(self, chunk, bytes)))),
            Part::Whole(whole) => {
                let Inputs { streams, pairs, .. } = self.inputs;
                let taken = streams.get(whole).map(|stream| &stream.taken);
                taken
                    .unwrap_or_else(|| &pairs[whole].taken)
                    .store(true, Relaxed);
                Chunk(Kind::Whole(self.inputs, whole))
            }
        }
    }

    /// Makes the last record that was left of a chunk whole.
    ///
    /// `sent_back` is what came back to the chunk of the border. Either it makes whole records with
    /// what is there, which the batch then holds (there may be none), or all of it has to go
    /// further back.
    ///
    /// # Errors
    /// As those of [`Chunk::next_batch`].
    pub fn join(
        &self,
        border: Border,
        sent_back: &[u8],
        batch: &mut Batch,
    ) -> Result<Option<SentBack>, Error> {
        let Border {
            file,
            at,
            mut text,
            back,
            ..
        } = border;
        let ranges = &self.inputs.ranges[file];
        text.extend_from_slice(sent_back);
        batch.clear();
        let joined = match back {
            Some(chunk) if text.len() <= self.inputs.reading.rules.longest_record => {
                return Ok(Some((chunk, text)));
            }
            Some(_) => Err(Failed::Text),
            None => self.parse_joined(text, at + sent_back.len() as u64 == ranges.bytes.end, batch),
        };
        batch.input = ranges.index;
        self.inputs.reading.mask(batch);
        joined
            .map(|()| None)
            .map_err(|failed| ranges.error(failed, at, &self.inputs.reading))
    }

    /// Parses text that begins with a record and must end with one. `last`: the file ends there.
    fn parse_joined(&self, mut text: Vec<u8>, last: bool, batch: &mut Batch) -> Result<(), Failed> {
        let limit = text.len();
        if !last {
            // What follows is a header, or the guess was wrong; some records end only where one
            // follows.
            text.push(b'@');
        }
        batch.text = text;
        let window = Window {
            bytes: 0..batch.text.len(),
            limit,
            last,
        };
        let (rules, place) = (self.inputs.reading.rules, &mut Place::default());
        let end = fastq::parse(&mut batch.text, &window, rules, place, &mut batch.records)?;
        if end == limit {
            Ok(())
        } else {
            Err(Failed::Text)
        }
    }
}

/// A chunk while it is read.
pub struct Chunk<'c>(Kind<'c>);

enum Kind<'c> {
    Plain(Box<Plain<'c>>),
    /// This one of the streams, or of the pairs.
    Whole(&'c Inputs, usize),
}

impl Chunk<'_> {
    /// Fills the batch with the next records; false at the end of the chunk.
    ///
    /// # Errors
    /// The input is malformed, truncated or unreadable: everything that was read is void.
    /// [`Error::NeedsSerial`] stands for all that is wrong with the text of a plain file;
    /// [`Inputs::explain`] tells what it is.
    pub fn next_batch(&mut self, batch: &mut Batch) -> Result<bool, Error> {
        batch.records.clear();
        match &mut self.0 {
            Kind::Plain(plain) => plain.next_batch(batch),
            Kind::Whole(inputs, whole) => {
                while batch.records.is_empty() {
                    let asked = match inputs.streams.get(*whole) {
                        Some(stream) => stream.ask(&inputs.reading, batch, true)?,
                        None => inputs.pairs[*whole].ask(batch, true)?,
                    };
                    if matches!(asked, Asked::Ended) {
                        batch.clear();
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }

    /// What has to be sent back, once it is known: after the first call of [`Chunk::next_batch`].
    /// Given out once.
    pub fn send_back(&mut self) -> Option<SentBack> {
        match &mut self.0 {
            Kind::Plain(plain) => plain.back.take(),
            Kind::Whole(..) => None,
        }
    }

    /// The chunk that the last record goes on in, after the last batch; `None` where none does.
    pub fn next_chunk(&self) -> Option<usize> {
        match &self.0 {
            Kind::Plain(plain) => plain.next_chunk(),
            Kind::Whole(..) => None,
        }
    }

    /// Reads on in [`Chunk::next_chunk`], which the same worker has taken, as if both were one
    /// chunk.
    pub fn go_on(&mut self) {
        if let Kind::Plain(plain) = &mut self.0 {
            plain.go_on();
        }
    }

    /// What is left at the border to [`Chunk::next_chunk`], which another worker has taken; `None`
    /// where there is none.
    ///
    /// # Errors
    /// The input cannot be read.
    pub fn into_border(self) -> Result<Option<Border>, Error> {
        match self.0 {
            Kind::Plain(plain) if plain.next_chunk().is_some() => plain.into_border().map(Some),
            _ => Ok(None),
        }
    }
}

impl std::fmt::Debug for Chunk<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match &self.0 {
            Kind::Plain(plain) => write!(f, "Chunk({}, {}..{})", plain.last, plain.at, plain.end),
            Kind::Whole(_, whole) => write!(f, "Chunk(input {whole})"),
        }
    }
}

/// What is left of a chunk until the bytes behind it come back ([`Chunks::join`]).
#[derive(Debug)]
pub struct Border {
    chunk: usize,
    file: usize,
    /// Where the chunk ends in the file.
    at: u64,
    text: Vec<u8>,
    /// No record starts in the chunk: all belongs to this one before it.
    back: Option<usize>,
}

impl Border {
    /// The chunk that the bytes are sent back to.
    pub fn chunk(&self) -> usize {
        self.chunk
    }
}

/// A chunk of the stream.
struct Plain<'c> {
    chunks: &'c Chunks<'c>,
    /// Numbers of the chunk and of the last one that it goes on in.
    first: usize,
    last: usize,
    /// Where it begins in the stream, and what is still to be read.
    start: u64,
    at: u64,
    end: u64,
    file: Option<(usize, File)>,
    /// Of the FASTQ file that is read.
    parser: Parser,
    /// No record start is known: one is looked for from `at` on.
    lost: bool,
    back: Option<SentBack>,
}

impl<'c> Plain<'c> {
    fn new(chunks: &'c Chunks<'c>, number: usize, bytes: Range<u64>) -> Plain<'c> {
        let Range { start, end } = bytes;
        let (file, parser, back) = (None, Parser::of_fastq(), None);
        let mut plain = Plain {
            chunks,
            first: number,
            last: number,
            start,
            at: start,
            end,
            file,
            parser,
            lost: false,
            back,
        };
        plain.lost = plain.cuts_fastq(start);
        plain
    }

    fn ranges_at(&self, at: u64) -> (&'c Ranges, Range<u64>) {
        let (file, place) = self.chunks.plan.file(at);
        (&self.chunks.inputs.ranges[file], place)
    }

    /// Whether a border at this place may cut a record of FASTQ.
    fn cuts_fastq(&self, at: u64) -> bool {
        self.chunks.plan.is_inside(at) && self.ranges_at(at).0.format == Format::Fastq
    }

    fn next_batch(&mut self, batch: &mut Batch) -> Result<bool, Error> {
        if self.lost && !self.find_record(batch)? {
            return Ok(false);
        }
        while self.at < self.end {
            self.read(batch)?;
            if !batch.records.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Opens the file that holds `at`, if it is not the one that is open.
    fn open(&mut self) -> Result<(), Error> {
        let number = self.chunks.plan.file(self.at).0;
        if self.file.as_ref().is_none_or(|&(open, _)| open != number) {
            let Inputs {
                ranges, reading, ..
            } = self.chunks.inputs;
            self.file = Some((
                number,
                source::open(&reading.inputs[ranges[number].index].path)?,
            ));
        }
        Ok(())
    }

    /// Calls `read` with the file that holds `at` and the bytes of it in `at..to`, as they lie in
    /// the file.
    fn in_file<T>(
        &mut self,
        to: u64,
        read: impl FnOnce(&mut Self, &File, &'c Ranges, Range<u64>) -> Result<T, Failed>,
    ) -> Result<T, Error> {
        self.open()?;
        let (number, file) = self.file.take().expect("it was just opened");
        let (ranges, place) = self.ranges_at(self.at);
        let in_file = |at| ranges.bytes.start + (at - place.start);
        let (from, to) = (in_file(self.at), in_file(to.min(place.end)));
        let done = read(self, &file, ranges, from..to);
        self.file = Some((number, file));
        done.map_err(|failed| ranges.error(failed, from, &self.chunks.inputs.reading))
    }

    /// Looks for the first record start of the chunk; false when there is none and the chunk ends
    /// inside the file.
    fn find_record(&mut self, batch: &mut Batch) -> Result<bool, Error> {
        let longest = self.chunks.inputs.reading.rules.longest_record as u64;
        let found = self.in_file(self.end, |_, file, ranges, bytes| {
            let start = find_record(file, ranges, bytes.clone(), longest, &mut batch.text)?;
            let known = start.or((bytes.end == ranges.bytes.end).then_some(bytes.end));
            Ok(known.map(|start| batch.text[1..][..(start - bytes.start) as usize].to_vec()))
        })?;
        let Some(head) = found else { return Ok(false) };
        self.advance(head.len() as u64);
        self.lost = false;
        let before = self
            .chunks
            .plan
            .before(self.first)
            .expect("a chunk that begins inside a file has one before it");
        self.back = Some((before, head));
        Ok(true)
    }

    fn advance(&mut self, bytes: u64) {
        self.at += bytes;
        self.chunks.inputs.reading.read.fetch_add(bytes, Relaxed);
    }

    /// Reads the next range.
    fn read(&mut self, batch: &mut Batch) -> Result<(), Error> {
        let reading = &self.chunks.inputs.reading;
        let to = self.end.min(self.at + reading.batch_bytes as u64);
        let length = self.in_file(to, |plain, file, ranges, bytes| {
            let length = bytes.end - bytes.start;
            let _parse = info_span!(target: "gyrase::trace", "parse", bytes = length).entered();
            batch.input = ranges.index;
            match ranges.format {
                Format::Fasta => plain.fasta(file, ranges, bytes, batch)?,
                Format::Fastq => plain.fastq(file, ranges, bytes, batch)?,
            }
            Ok(length)
        })?;
        batch.first_record = None;
        batch.first_letter = None;
        reading.mask(batch);
        self.advance(length);
        Ok(())
    }

    fn fasta(
        &self,
        file: &File,
        ranges: &Ranges,
        bytes: Range<u64>,
        batch: &mut Batch,
    ) -> Result<(), Failed> {
        let end = bytes.end;
        ranges.fasta_of_chunk(file, bytes.clone(), &self.chunks.inputs.reading, batch)?;
        if self.at + (end - bytes.start) < self.end || end == ranges.bytes.end {
            return Ok(());
        }
        let (_, place) = self.chunks.plan.file(self.at);
        ranges.check_line(
            file,
            ranges.bytes.start + (self.start.max(place.start) - place.start)..end,
        )
    }

    fn fastq(
        &mut self,
        file: &File,
        ranges: &Ranges,
        bytes: Range<u64>,
        batch: &mut Batch,
    ) -> Result<(), Failed> {
        ranges.load(file, &mut batch.text, HEADROOM, bytes.start, bytes.end)?;
        let (text, last) = (HEADROOM..batch.text.len(), bytes.end == ranges.bytes.end);
        self.parser
            .parse(batch, (text, None), last, self.chunks.inputs.reading.rules)?;
        if last {
            self.parser = Parser::of_fastq();
        }
        Ok(())
    }

    fn next_chunk(&self) -> Option<usize> {
        if self.cuts_fastq(self.end) {
            self.chunks.plan.after(self.last)
        } else {
            None
        }
    }

    fn go_on(&mut self) {
        let next = self
            .next_chunk()
            .expect("the last record goes on in another chunk");
        let Part::Plain(bytes) = self.chunks.plan.part(next) else {
            unreachable!("what lies behind is of the stream")
        };
        self.last = next;
        self.end = bytes.end;
    }

    fn into_border(mut self) -> Result<Border, Error> {
        let (file, place) = self.chunks.plan.file(self.end);
        let at = self.chunks.inputs.ranges[file].bytes.start + (self.end - place.start);
        let (chunk, first) = (self.last, self.first);
        if !self.lost {
            return Ok(Border {
                chunk,
                file,
                at,
                text: self.parser.into_carry(),
                back: None,
            });
        }
        let mut text = Vec::new();
        self.in_file(self.end, |_, file, ranges, bytes| {
            Ok(ranges.load(file, &mut text, 0, bytes.start, bytes.end)?)
        })?;
        self.advance(text.len() as u64);
        Ok(Border {
            chunk,
            file,
            at,
            text,
            back: self.chunks.plan.before(first),
        })
    }
}

/// The first record start among the bytes of a file. The text holds the byte before them, and all
/// of them that were looked at.
pub(crate) fn find_record(
    file: &File,
    ranges: &Ranges,
    bytes: Range<u64>,
    longest: u64,
    text: &mut Vec<u8>,
) -> Result<Option<u64>, Failed> {
    let base = bytes.start - 1;
    let limit = (bytes.end - base) as usize;
    let mut to = bytes.start + MARGIN;
    text.clear();
    loop {
        let length = text.len();
        ranges.load(file, text, length, base + length as u64, to)?;
        let last = base + text.len() as u64 == ranges.bytes.end;
        match fastq::first_record(text, limit.min(text.len()), last) {
            Guess::At(at) => return Ok(Some(base + at as u64)),
            Guess::None if text.len() >= limit => return Ok(None),
            // No record may be so long.
            _ if text.len() as u64 > longest.saturating_add(MARGIN) => return Err(Failed::Text),
            _ => to = base + 2 * text.len() as u64,
        }
    }
}
