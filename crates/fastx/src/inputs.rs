//! Many inputs, read by many threads at once.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gyrase_seq::Batch;

use crate::error::Error;
use crate::list;
use crate::look::{Looked, look};
use crate::options::{Compression, Format, Input, Options};
use crate::paired::PairedReader;
use crate::pairs::Pair;
use crate::ranges::Ranges;
use crate::reader::Reader;
use crate::source::Origin;
use crate::stream::{Asked, Reading, Stream};

/// Many inputs, read by many threads at once: every thread calls [`Inputs::next_batch`] with a
/// batch of its own.
///
/// There are no threads and no queues inside. Plain files are read in byte ranges, which any thread
/// can take; compressed files and pipes one chunk at a time, each decompressed by the thread that
/// asks. Threads spread over the files, and share one when there are more threads than files.
pub struct Inputs {
    pub(crate) reading: Reading,
    pub(crate) streams: Vec<Stream>,
    /// Instead of streams and ranges, where mates are to be in step.
    pub(crate) pairs: Vec<Pair>,
    pub(crate) ranges: Vec<Ranges>,
    /// The number of the first range of each element of `ranges`, and of all ranges at the end.
    firsts: Vec<usize>,
    next_range: AtomicUsize,
}

impl Inputs {
    /// Finds out what the inputs are. `@list.txt` stands for the paths in it, one a line, relative
    /// to the list, blank lines and lines that start with `#` skipped; `-` is standard input.
    /// Format and compression are known by content, never by name.
    ///
    /// # Errors
    /// A file that does not exist or cannot be opened, a directory, no file at all
    /// ([`Error::is_usage`]); a file that starts neither as FASTA nor as FASTQ; an odd number of
    /// files with [`Options::paired`].
    pub fn open(paths: &[PathBuf], options: Options) -> Result<Inputs, Error> {
        let looked: Vec<Looked> = list::expand(paths)?
            .iter()
            .map(|path| look(path, &options))
            .collect::<Result<_, _>>()?;
        if options.paired {
            return Inputs::paired(looked, &options);
        }
        // A pipe cannot be read again, so nothing may turn out to need it.
        let serial = options.serial || looked.iter().any(|looked| looked.input.size.is_none());
        let mut inputs = Vec::new();
        let (mut streams, mut ranges) = (Vec::new(), Vec::new());
        for (index, looked) in looked.into_iter().enumerate() {
            match plain_ranges(index, &looked, serial, &options) {
                Some(plain) => ranges.push(plain),
                None if looked.empty => {}
                None => streams.push(Stream::new(index, looked.origin)),
            }
            inputs.push(looked.input);
        }
        let mut firsts = vec![0];
        firsts.extend(ranges.iter().map(Ranges::count).scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        }));
        let reading = Reading::new(inputs, &options);
        Ok(Inputs {
            reading,
            streams,
            pairs: Vec::new(),
            ranges,
            firsts,
            next_range: AtomicUsize::new(0),
        })
    }

    fn paired(looked: Vec<Looked>, options: &Options) -> Result<Inputs, Error> {
        if !looked.len().is_multiple_of(2) {
            let what = "mates come in two files each, the first mates and the second mates in turn";
            return Err(Error::Arguments(format!(
                "{what}, and this is an odd number: {}",
                looked.len()
            )));
        }
        let options = Options {
            whole_records: true,
            ..options.clone()
        };
        let reading = Reading::new(
            looked.iter().map(|looked| looked.input.clone()).collect(),
            &options,
        );
        let mut readers = looked
            .into_iter()
            .map(|looked| Reader::counting(looked, &options, &reading.read));
        let mut pairs = Vec::new();
        while let (Some(first), Some(second)) = (readers.next(), readers.next()) {
            pairs.push(Pair::new(2 * pairs.len(), PairedReader::of(first, second)));
        }
        drop(readers);
        let (streams, ranges) = (Vec::new(), Vec::new());
        Ok(Inputs {
            reading,
            streams,
            pairs,
            ranges,
            firsts: vec![0],
            next_range: AtomicUsize::new(0),
        })
    }

    /// Fills the batch with the next records of any input; false when there are no more. Batches
    /// come in no particular order.
    ///
    /// # Errors
    /// The input is malformed, truncated or unreadable: everything that was read is void. After
    /// [`Error::NeedsSerial`], which never comes where an input is a pipe, the same inputs can be
    /// read with [`Options::serial`].
    pub fn next_batch(&self, batch: &mut Batch) -> Result<bool, Error> {
        self.fill(batch, false)
    }

    /// Fills the batch with the next records of a compressed input, a pipe or a pair that another
    /// thread of this process reads as a chunk ([`Inputs::chunks`]); false when there are no more.
    ///
    /// # Errors
    /// The input is malformed, truncated or unreadable: everything that was read is void.
    pub fn help(&self, batch: &mut Batch) -> Result<bool, Error> {
        self.fill(batch, true)
    }

    /// `taken`: only of inputs that this process has as chunks.
    fn fill(&self, batch: &mut Batch, taken: bool) -> Result<bool, Error> {
        batch.records.clear();
        while let Some(asked) = self
            .ask(batch, taken)
            .map_err(|error| self.first_of(error, batch.input))?
        {
            if matches!(asked, Asked::Batch) && !batch.records.is_empty() {
                return Ok(true);
            }
        }
        batch.clear();
        Ok(false)
    }

    /// Takes a chunk from a stream that no other thread holds, else a range, else waits for a
    /// stream.
    fn ask(&self, batch: &mut Batch, taken: bool) -> Result<Option<Asked>, Error> {
        let may = |stream: &&Stream| !stream.has_ended() && (!taken || stream.taken.load(Relaxed));
        for stream in self.streams.iter().filter(may) {
            match stream.ask(&self.reading, batch, false)? {
                Asked::Busy | Asked::Ended => {}
                asked => return Ok(Some(asked)),
            }
        }
        if !taken && let Some((file, range)) = self.take_range() {
            file.read(range, &self.reading, batch)
                .map_err(|error| self.explain_input(error, batch.input))?;
            return Ok(Some(Asked::Batch));
        }
        match self.streams.iter().find(may) {
            Some(stream) => stream.ask(&self.reading, batch, true).map(Some),
            None => self.ask_pairs(batch, taken),
        }
    }

    /// Takes a batch of a pair that no other thread holds, else waits for one.
    fn ask_pairs(&self, batch: &mut Batch, taken: bool) -> Result<Option<Asked>, Error> {
        let may = |pair: &&Pair| !pair.has_ended() && (!taken || pair.taken.load(Relaxed));
        for wait in [false, true] {
            for pair in self.pairs.iter().filter(may) {
                if let asked @ Asked::Batch = pair.ask(batch, wait)? {
                    return Ok(Some(asked));
                }
            }
        }
        Ok(None)
    }

    fn take_range(&self) -> Option<(&Ranges, usize)> {
        let all = self.firsts[self.ranges.len()];
        if self.next_range.load(Relaxed) >= all {
            return None;
        }
        let range = self.next_range.fetch_add(1, Relaxed);
        if range >= all {
            return None;
        }
        let file = self.firsts.partition_point(|&first| first <= range) - 1;
        Some((&self.ranges[file], range - self.firsts[file]))
    }

    /// What is truly wrong where a chunk ([`Chunk::next_batch`](crate::Chunk::next_batch)) found
    /// that it cannot be read so: its input is read from its start, and an error there is the true
    /// one and knows its record and line. Any other error stays what it is.
    pub fn explain(&self, error: Error) -> Error {
        match &error {
            Error::NeedsSerial { input } => {
                let index = self.names().position(|name| name == input);
                self.explain_input(
                    error,
                    index.expect("the input that an error names is one of these"),
                )
            }
            _ => error,
        }
    }

    /// The first error in the order of inputs, where one that is read from front to end failed and
    /// other threads still read some before it.
    fn first_of(&self, error: Error, index: usize) -> Error {
        let open = |stream: &&Stream| {
            let again = self.inputs()[stream.index].size.is_some();
            stream.index < index && again && !stream.has_ended_well()
        };
        let found = self.streams.iter().filter(open).find_map(|stream| {
            let mut batch = Batch::default();
            let stream = Stream::new(stream.index, Origin::File);
            stream.read_through(&self.reading, &mut batch).err()
        });
        found.unwrap_or(error)
    }

    /// Reads a file that failed in ranges from its start.
    fn explain_input(&self, error: Error, index: usize) -> Error {
        if !error.needs_serial() {
            return error;
        }
        let stream = Stream::new(index, Origin::File);
        let found = stream
            .read_through(&self.reading, &mut Batch::default())
            .err();
        found.unwrap_or(error)
    }

    /// The inputs, lists expanded, in the order of the command line; [`Batch::input`] counts in it.
    pub fn inputs(&self) -> &[Input] {
        &self.reading.inputs
    }

    /// What messages call the inputs.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.reading.inputs.iter().map(|input| input.name.as_str())
    }

    /// Bytes of all inputs as they are stored; `None` when one is a pipe.
    pub fn total_bytes(&self) -> Option<u64> {
        self.reading.inputs.iter().map(|input| input.size).sum()
    }

    /// Bytes that were read so far, of [`Inputs::total_bytes`].
    pub fn read_bytes(&self) -> u64 {
        self.reading.read.load(Relaxed)
    }
}

impl std::fmt::Debug for Inputs {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.debug_struct("Inputs")
            .field("inputs", &self.reading.inputs)
            .finish_non_exhaustive()
    }
}

/// The byte ranges of a plain file, where it can be read so.
pub(crate) fn plain_ranges(
    index: usize,
    looked: &Looked,
    serial: bool,
    options: &Options,
) -> Option<Ranges> {
    let Input {
        format,
        size,
        compression,
        ..
    } = looked.input;
    let format = format?;
    let whole = format == Format::Fasta && options.whole_records;
    if serial || whole || compression != Compression::Plain {
        return None;
    }
    Some(Ranges::new(
        index,
        format,
        looked.start? as u64..size?,
        options.batch(),
    ))
}

// Every thread that counts shares the inputs.
const _: fn() = || {
    fn shared<T: Send + Sync>() {}
    shared::<Inputs>();
};
