//! How many reads a GPU looks up in a second, with the reads in memory and nothing decided about
//! them.
//!
//! `GYRASE_GPU=... gpu_rate DATABASE.gydb THREADS ROUNDS READS [MATES]` takes all reads through the
//! GPU as often as asked for, and prints a line: the GPU, reads (or pairs) a round, their features
//! and hits, seconds of the best round, reads a second in it.

#![allow(clippy::print_stdout, reason = "a tool for the terminal")]

use std::env;
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use gyrase_classify::{INSERT, Index, Lane};
use gyrase_gpu::{GpuDatabase, GpuError, GpuIndex, GpuLibrary, GpuSequence, GpuShare, GpuSlice};
use gyrase_seq::Batch;
use gyrase_table::gydb::{Location, PARTITIONS};
use gyrase_work::{Feed, in_parallel};

/// Bytes of a batch, as `gyrase classify` takes them.
const BATCH: usize = 1 << 20;

/// Bytes of this machine's memory for each thread.
const HOST: u64 = 48 << 20;

/// A batch as the GPU is asked for it.
type Asked<'b> = (Vec<GpuSequence<'b>>, Vec<u32>);

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [database, threads, rounds, reads @ ..] = &words[..] else {
        return Err("DATABASE.gydb THREADS ROUNDS READS [MATES]".into());
    };
    let (threads, rounds): (usize, usize) = (threads.parse()?, rounds.parse()?);
    let lane = Lane {
        reads: reads.first().ok_or("READS")?.into(),
        mates: reads.get(1).map(Into::into),
        interleaved: false,
    };
    let index = Index::open(Path::new(database))?;
    index.features.verify()?;
    let stride = index.parameters.sketch.stride();
    let batches = read(&lane)?;
    let asked: Vec<Asked<'_>> = batches.iter().map(|batch| asked(batch, stride)).collect();

    let library = GpuLibrary::find()?;
    let gpu = library.gpu(None)?;
    let gpu_index = bring(&index, &library, threads)?;
    // The first round makes buffers.
    let mut best = Duration::MAX;
    let mut found = (0, 0);
    for _ in 0..=rounds {
        let start = Instant::now();
        found = round(&gpu_index, &asked, threads)?;
        best = best.min(start.elapsed());
    }
    let reads: usize = asked.iter().map(|(_, spans)| spans.len()).sum();
    let (seconds, (features, hits)) = (best.as_secs_f64(), found);
    let rate = reads as f64 / seconds;
    let name = gpu.name;
    println!("{name}\t{threads}\t{reads}\t{features}\t{hits}\t{seconds:.4}\t{rate:.0}");
    Ok(())
}

/// All reads of a lane.
fn read(lane: &Lane) -> Result<Vec<[Batch; 2]>, Box<dyn Error>> {
    let (mut source, mut batches) = (lane.open(BATCH, 1 << 30)?, Vec::new());
    loop {
        let mut batch = [Batch::default(), Batch::default()];
        if !source.next(&mut batch)? {
            return Ok(batches);
        }
        batches.push(batch);
    }
}

fn asked([first, second]: &[Batch; 2], stride: usize) -> Asked<'_> {
    let (mut sequences, mut spans) = (Vec::new(), Vec::new());
    for (number, record) in first.records.iter().enumerate() {
        let read = number as u32;
        let mate = second.records.get(number);
        let mate = mate.map(|mate| second.bytes(mate.letters));
        let letters = first.bytes(record.letters);
        let pair = |mate: &[u8]| (letters.len() + mate.len()).max(INSERT);
        spans.push(2 + (mate.map_or(letters.len(), pair) / stride) as u32);
        let mates = [Some(letters), mate].into_iter().flatten();
        sequences.extend(mates.map(|letters| GpuSequence { letters, read }));
    }
    (sequences, spans)
}

fn bring(index: &Index, library: &GpuLibrary, threads: usize) -> Result<GpuIndex, GpuError> {
    let gpu = library.gpu(None)?;
    let slices = [GpuSlice {
        words: index.features.feature_words(0..PARTITIONS),
        first_window: Location(0),
    }];
    let database = GpuDatabase {
        shape: index.parameters.sketch,
        slices: &slices,
        first_windows: index.targets.first_windows(),
        windows: index.targets.all_windows(),
    };
    let share = GpuShare {
        library,
        gpu: &gpu,
        memory: gpu.free / 10 * 9,
    };
    GpuIndex::open(&share, &database, threads, HOST)
}

/// Asks for all reads once; how many features they have, and how many hits their regions.
fn round(
    index: &GpuIndex,
    asked: &[Asked<'_>],
    threads: usize,
) -> Result<(usize, usize), GpuError> {
    let shares = (0..threads).map(|first| asked.iter().skip(first).step_by(threads));
    let found = in_parallel(shares.collect(), |share| {
        let mut found = (0, 0);
        for (sequences, spans) in share {
            index.ask(sequences, spans)?.each(|_, features, _, hits| {
                found = (found.0 + features.len(), found.1 + hits.len());
                Ok::<_, GpuError>(())
            })?;
        }
        Ok(found)
    })?;
    let sum = |all: (usize, usize), one: (usize, usize)| (all.0 + one.0, all.1 + one.1);
    Ok(found.into_iter().fold((0, 0), sum))
}
