//! What this machine takes for a sample of the reads.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use gyrase_count::{Config, Summary};
use gyrase_fastx::{Compression, Format, Inputs, Options, Output, Writer};
use gyrase_kmer::Shape;
use gyrase_seq::Batch;
use gyrase_tabulate::{TabulateError, input_contents};
use gyrase_work::{Progress, in_parallel};
use serde::{Deserialize, Serialize};

use crate::ssd::{SsdError, scratch};

/// What is to be counted, and with what.
#[derive(Clone, Debug)]
pub struct BottleneckConfig {
    /// FASTA and FASTQ files.
    pub inputs: Vec<PathBuf>,
    /// The k-mers.
    pub shape: Shape,
    /// Threads, at least 1.
    pub threads: usize,
    /// Bytes of memory.
    pub memory: u64,
    /// Folder for temporary files; what is written is measured there.
    pub tmp: PathBuf,
    /// Bytes of text of the sample.
    pub sample: u64,
}

/// What a machine takes: all of the model that is not data. It can be kept, changed, and taken for
/// another machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredMachine {
    /// Bytes that are read of the inputs in a second.
    pub read_bytes_per_second: f64,
    /// Bytes that are written to temporary files and kept in a second.
    pub write_bytes_per_second: f64,
    /// Threads.
    pub threads: usize,
    /// Threads of this machine by what one does: 1 for each that does as much as one alone.
    pub gain_of_threads: f64,
    /// Seconds of one thread to decompress a byte of text; 0 where nothing is compressed.
    pub inflate_seconds_per_byte: f64,
    /// Seconds of one thread to read a base of text in memory and send its k-mers to bins.
    pub cut_seconds_per_base: f64,
    /// Seconds of one thread to count a k-mer in its bin.
    pub count_seconds_per_kmer: f64,
    /// Seconds that a run takes whatever it counts.
    pub start_seconds: f64,
    /// Bytes of memory of the run.
    pub memory: u64,
}

impl MeasuredMachine {
    /// That of a file.
    ///
    /// # Errors
    /// The text is no JSON, or has other fields.
    pub fn parse(path: &Path, text: &str) -> Result<MeasuredMachine, SsdError> {
        serde_json::from_str(text).map_err(|source| SsdError::Constants {
            path: path.to_path_buf(),
            source,
        })
    }

    /// The text of a file.
    pub fn text(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("numbers are always written");
        text + "\n"
    }
}

/// What the data ask for, on any machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CountedData {
    /// Bytes of the inputs as they are stored.
    pub stored: f64,
    /// Bytes of text behind compressed inputs.
    pub inflated: f64,
    /// Compressed files: so many are decompressed at once.
    pub streams: usize,
    /// Bases.
    pub bases: f64,
    /// k-mers.
    pub kmers: f64,
    /// Bytes of super-k-mers.
    pub super_kmers: f64,
    /// Bytes of the database.
    pub output: f64,
    /// Bytes of memory in which nothing need be spilled, as far as samples tell.
    pub in_memory: u64,
    /// Bytes that are spilled with the memory of the machine.
    pub spilled: f64,
}

/// What is too small to be measured is read as fast as memory is.
const MOST: f64 = 1e10;
/// Bytes that are read, and written, to measure storage.
const READ: u64 = 64 << 20;
const WRITTEN: u64 = 64 << 20;
const BLOCK: usize = 1 << 20;
/// Bytes of memory in which nothing is spilled.
const AMPLE: u64 = 1 << 50;

/// Times this machine, and looks at the data.
///
/// # Errors
/// The reads cannot be read or counted, or nothing can be written to the temporary folder.
pub fn measure(
    config: &BottleneckConfig,
    progress: &Progress,
) -> Result<(MeasuredMachine, CountedData), SsdError> {
    let failed = |source| SsdError::Temporary {
        folder: config.tmp.clone(),
        source,
    };
    let scratch = scratch(&config.tmp)?;
    progress.start("measure storage", 0);
    let read = read_rate(&config.inputs, config.threads).unwrap_or(MOST);
    let write = write_rate(&scratch.path().join("written")).map_err(failed)?;
    progress.start("sample", 0);
    let (halves, inflate) = sample(config, scratch.path())?;
    let timed = |files: &[PathBuf], threads| time(config, files, threads, scratch.path());
    let nothing = timed(&[], 1)?;
    // Once to warm up: the first run pays for pages that later ones find.
    timed(&halves[..1], 1)?;
    let half = timed(&halves[..1], 1)?;
    let alone = timed(&halves, 1)?;
    // Other work of a moment makes a run longer, never shorter.
    let whole = match config.threads {
        1 => alone.sooner(timed(&halves, 1)?),
        threads => timed(&halves, threads)?.sooner(timed(&halves, threads)?),
    };
    let (bases, kmers) = (whole.read.bases as f64, whole.read.kmers as f64);
    let gain = (alone.seconds() / whole.seconds().max(1e-9)).clamp(1.0, config.threads as f64);
    let of_thread = |seconds: f64, of: f64| if of > 0.0 { seconds * gain / of } else { 0.0 };
    let machine = MeasuredMachine {
        read_bytes_per_second: read,
        write_bytes_per_second: write,
        threads: config.threads,
        gain_of_threads: gain,
        inflate_seconds_per_byte: inflate,
        cut_seconds_per_base: of_thread(whole.cut, bases),
        count_seconds_per_kmer: of_thread(whole.count, kmers),
        start_seconds: nothing.seconds(),
        memory: config.memory,
    };
    Ok((machine, data(config, &half, &whole)?))
}

/// A run that was timed.
#[derive(Clone, Copy)]
struct Timed {
    read: gyrase_count::Scattered,
    distinct: u64,
    file_bytes: u64,
    cut: f64,
    count: f64,
}

impl Timed {
    /// Of what the model has rates for.
    fn seconds(&self) -> f64 {
        self.cut + self.count
    }

    /// The one of two runs of the same work that took less.
    fn sooner(self, other: Timed) -> Timed {
        if other.seconds() < self.seconds() {
            other
        } else {
            self
        }
    }
}

fn time(
    config: &BottleneckConfig,
    files: &[PathBuf],
    threads: usize,
    folder: &Path,
) -> Result<Timed, SsdError> {
    let empty = folder.join("empty.fa");
    let inputs = match files {
        [] => {
            std::fs::write(&empty, b"").map_err(|source| SsdError::Temporary {
                folder: folder.into(),
                source,
            })?;
            vec![empty]
        }
        files => files.to_vec(),
    };
    let config = count_config(config, inputs, folder.join("sample.gyk"), threads);
    let (progress, start) = (Progress::default(), Instant::now());
    let Summary { read, database, .. } = gyrase_count::run(&config, &progress)?;
    let whole = start.elapsed().as_secs_f64();
    let seconds = |name: &str| -> f64 {
        let stages = progress.stages();
        stages
            .iter()
            .filter(|one| one.name == name)
            .map(|one| one.time.as_secs_f64())
            .sum()
    };
    let (cut, write) = (seconds("read"), seconds("write"));
    Ok(Timed {
        read,
        distinct: database.distinct,
        file_bytes: database.file_bytes,
        cut,
        count: (whole - cut - write).max(0.0),
    })
}

/// The count that is asked about.
pub(crate) fn count_config(
    config: &BottleneckConfig,
    inputs: Vec<PathBuf>,
    output: PathBuf,
    threads: usize,
) -> Config {
    Config {
        inputs,
        output,
        shape: config.shape,
        min_count: 1,
        max_count: u32::MAX,
        min_base_quality: None,
        paired: false,
        threads,
        memory: config.memory,
        tmp: config.tmp.clone(),
        max_tmp: None,
        resume: false,
        chunk: None,
    }
}

/// What so many threads can read of the inputs in a second, in whatever state the machine has them:
/// each a part of the largest, all of it one after the other, since systems read ahead.
fn read_rate(inputs: &[PathBuf], threads: usize) -> Option<f64> {
    let size = |path: &&PathBuf| path.metadata().map_or(0, |found| found.len());
    let largest = inputs.iter().max_by_key(size)?;
    let (all, parts) = (size(&largest), threads as u64);
    let rates = in_parallel((0..parts).collect(), |part| {
        let most = (READ / parts).min(all / parts);
        part_rate(largest, all / parts * part, most, &mut vec![0; BLOCK])
    });
    let rate = rates.ok()?.iter().sum::<f64>();
    (rate > 0.0).then_some(rate)
}

/// Bytes a second of a part of a file, by those behind its first quarter: the system has begun to
/// read ahead by then, and is as far ahead at the end.
fn part_rate(path: &Path, from: u64, most: u64, block: &mut [u8]) -> io::Result<f64> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut timed = (0, Instant::now());
    let mut read = 0;
    while read < most {
        match file.read(block)? {
            0 => break,
            got => read += got as u64,
        }
        if timed.0 == 0 && read >= most / 4 {
            timed = (read, Instant::now());
        }
    }
    let seconds = timed.1.elapsed().as_secs_f64();
    Ok((read - timed.0) as f64 / seconds.max(1e-9))
}

/// What can be written and kept in a second.
fn write_rate(path: &Path) -> io::Result<f64> {
    // Bytes that no file system makes fewer of.
    let mut state = 1u64;
    let mut block = vec![0u8; BLOCK];
    for word in block.chunks_mut(8) {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        word.copy_from_slice(&(state ^ state >> 29).to_le_bytes());
    }
    let start = Instant::now();
    let mut file = File::create(path)?;
    for _ in 0..WRITTEN / BLOCK as u64 {
        file.write_all(&block)?;
    }
    file.sync_all()?;
    let seconds = start.elapsed().as_secs_f64();
    std::fs::remove_file(path)?;
    Ok(WRITTEN as f64 / seconds)
}

/// Writes the beginning of the reads to two plain files of about equal size; and what it takes to
/// decompress a byte of text.
fn sample(config: &BottleneckConfig, folder: &Path) -> Result<(Vec<PathBuf>, f64), SsdError> {
    let inputs = in_one_thread(&config.inputs)?;
    let compressed = inputs
        .inputs()
        .iter()
        .any(|one| one.compression != Compression::Plain);
    let format = inputs
        .inputs()
        .iter()
        .find_map(|one| one.format)
        .unwrap_or(Format::Fasta);
    let names = ["first", "second"].map(|name| folder.join(name));
    let (mut batch, mut text, mut seconds) = (Batch::default(), 0u64, 0.0);
    for (number, name) in (1..).zip(&names) {
        let failed = |error: gyrase_files::OutputError| SsdError::Temporary {
            folder: folder.into(),
            source: error.source,
        };
        let mut writer = Writer::new(Output::open(name).map_err(failed)?, format);
        while text < config.sample / 2 * number {
            let start = Instant::now();
            let more = inputs.next_batch(&mut batch).map_err(TabulateError::from)?;
            seconds += start.elapsed().as_secs_f64();
            if !more {
                break;
            }
            for read in &batch.records {
                let [name, letters, qualities] =
                    [read.name, read.letters, read.qualities].map(|span| batch.bytes(span));
                writer.write(name, letters, qualities).map_err(failed)?;
                text += (name.len() + letters.len() + qualities.len() + 4) as u64;
            }
        }
        writer.finish().map_err(failed)?;
    }
    let names = Vec::from(names);
    if !compressed || text == 0 {
        return Ok((names, 0.0));
    }
    // Plain text is parsed as well.
    let (plain, start) = (in_one_thread(&names)?, Instant::now());
    while plain.next_batch(&mut batch).map_err(TabulateError::from)? {}
    let inflate = (seconds - start.elapsed().as_secs_f64()).max(0.0);
    Ok((names, inflate / text as f64))
}

/// Inputs that the thread that asks decompresses and parses itself.
fn in_one_thread(files: &[PathBuf]) -> Result<Inputs, SsdError> {
    let options = Options {
        serial: true,
        whole_records: true,
        ..Options::default()
    };
    Ok(Inputs::open(files, options).map_err(TabulateError::from)?)
}

/// What all of the inputs hold, by what half of a sample and all of it had.
fn data(config: &BottleneckConfig, half: &Timed, whole: &Timed) -> Result<CountedData, SsdError> {
    let inputs = Inputs::open(&config.inputs, Options::default()).map_err(TabulateError::from)?;
    let contents = input_contents(inputs.inputs());
    let middle = |least: u64, most: Option<u64>| (least + most.unwrap_or(least)) as f64 / 2.0;
    let bases = middle(contents.bases.least, contents.bases.most);
    let grown = bases / (whole.read.bases as f64).max(1.0);
    let kmers = whole.read.kmers as f64 * grown;
    // As distinct k-mers grew from the half to the whole, so they go on.
    let doubled = (whole.read.kmers as f64 / (half.read.kmers as f64).max(1.0)).ln();
    let rose = (whole.distinct as f64 / (half.distinct as f64).max(1.0)).ln();
    let power = if doubled > 0.0 {
        (rose / doubled).clamp(0.0, 1.0)
    } else {
        1.0
    };
    let planned = |memory| {
        let output = config.tmp.join("none.gyk");
        let wanted = count_config(config, config.inputs.clone(), output, config.threads);
        gyrase_count::plan(&Config { memory, ..wanted })
    };
    let (plan, ample) = (planned(config.memory)?, planned(AMPLE)?);
    let compressed = inputs
        .inputs()
        .iter()
        .filter(|one| one.compression != Compression::Plain);
    let middle_of = |estimate: gyrase_count::Estimate| middle(estimate.least, estimate.most);
    Ok(CountedData {
        stored: inputs
            .inputs()
            .iter()
            .filter_map(|one| one.size)
            .sum::<u64>() as f64,
        inflated: contents.inflated,
        streams: compressed.count(),
        bases,
        kmers,
        super_kmers: middle_of(plan.super_kmers),
        output: whole.file_bytes as f64 * grown.max(f64::MIN_POSITIVE).powf(power),
        in_memory: ample.memory,
        spilled: middle_of(plan.tmp),
    })
}
