//! How evenly a file's k-mers spread over bins and workers, by how minimizers are given to bins and
//! bins to workers.
//!
//! `cargo run --release -p gyrase-tabulate --example partition_balance -- K FILE...` prints, for
//! each strategy, the largest load and the 99th percentile (nearest rank) in units of the mean
//! load: 1.00 is perfect. A load is a number of k-mers, each occurrence counted; the load of a
//! worker is what it has to do, so the largest is when the last one is done. The strategies are
//! those of Abakus (Wu et al. 2024, doi:10.1145/3632952, section 4.3), and the hash that Gyrase
//! uses.
//!
//! A minimizer's *rank* is the place of its hash among the hashes of all canonical m-mers, 0 the
//! smallest. The hash is a bijection, so ranks are those of the order in which minimizers are
//! chosen: a low rank is a heavy minimizer.

use gyrase_fastx::{Inputs, Options};
use gyrase_kmer::{
    BINS, Kernels, MAX_LETTERS, MinimizerScheme, Shape, Stretch, bin_of_hash, minimizer_hash,
};
use gyrase_seq::Batch;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::error::Error;
use std::io::Write;
use std::path::PathBuf;

const WORKERS: [usize; 4] = [2, 16, 128, 1024];
/// One super-k-mer in so many is in the sample.
const SAMPLE: u64 = 100;

/// A canonical m-mer and the k-mers of which it is the minimizer.
struct Minimizer {
    hash: u32,
    value: u32,
    kmers: u64,
    sampled: u64,
}

/// A way to give a bin to the minimizer of a rank, of so many.
type Strategy = fn(&Minimizer, usize, usize) -> usize;

const STRATEGIES: [(&str, Strategy); 4] = [
    (
        "hash of the minimizer (Gyrase; the paper's random)",
        |minimizer, _, _| bin_of_hash(minimizer.hash),
    ),
    ("round-robin by rank", |_, rank, _| rank % BINS),
    (
        "round-robin by letters: the last six name the bin",
        |minimizer, _, _| minimizer.value as usize % BINS,
    ),
    (
        "paired ranks: the i-th and the i-th last, pairs round-robin",
        |_, rank, all| rank.min(all - 1 - rank) % BINS,
    ),
];

/// k-mers of every bin: what there is, and what the sample makes one expect.
struct Loads {
    kmers: Vec<u64>,
    sampled: Vec<u64>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let k = arguments
        .next()
        .ok_or("Give k and the files: partition_balance 31 reads.fq.gz.")?
        .parse()?;
    let shape = Shape::new(k, false)?;
    let files: Vec<PathBuf> = arguments.map(PathBuf::from).collect();
    let mut minimizers = all_minimizers(shape.m());
    count(&files, shape, &mut minimizers)?;
    report(shape, &minimizers, &mut std::io::stdout().lock())?;
    Ok(())
}

/// Every canonical m-mer, by rank.
fn all_minimizers(m: usize) -> Vec<Minimizer> {
    // Bits reversed, and those of each base put right again.
    let reversed = |word: u32| {
        word.reverse_bits() >> 1 & 0x5555_5555 | (word.reverse_bits() & 0x5555_5555) << 1
    };
    let canonical = |&word: &u32| word <= !reversed(word) >> (32 - 2 * m);
    let minimizer = |value| Minimizer {
        hash: minimizer_hash(value),
        value,
        kmers: 0,
        sampled: 0,
    };
    let mut all: Vec<Minimizer> = (0..1 << (2 * m)).filter(canonical).map(minimizer).collect();
    all.sort_unstable_by_key(|minimizer| minimizer.hash);
    all
}

/// Adds the k-mers of `files` to their minimizers.
fn count(
    files: &[PathBuf],
    shape: Shape,
    minimizers: &mut [Minimizer],
) -> Result<(), Box<dyn Error>> {
    let inputs = Inputs::open(
        files,
        Options {
            serial: true,
            ..Options::for_kmers(shape.k())
        },
    )?;
    let (mut batch, mut stretch, mut superkmers) = (Batch::default(), Stretch::default(), 0u64);
    while inputs.next_batch(&mut batch)? {
        for bases in batch
            .letters()
            .flat_map(|letters| stretches(letters, shape.k()))
        {
            for_each_superkmer(bases, shape, &mut stretch, |hash, kmers| {
                let rank = minimizers.binary_search_by_key(&hash, |minimizer| minimizer.hash);
                let minimizer = &mut minimizers[rank.expect("a minimizer is a canonical m-mer")];
                minimizer.kmers += kmers;
                minimizer.sampled += if superkmers.is_multiple_of(SAMPLE) {
                    kmers
                } else {
                    0
                };
                superkmers += 1;
            });
        }
    }
    Ok(())
}

/// The stretches of bases that hold every k-mer of `letters` once.
fn stretches(letters: &[u8], k: usize) -> impl Iterator<Item = &[u8]> {
    let runs = letters
        .split(|&letter| gyrase_seq::encode(letter).is_none())
        .filter(move |run| run.len() >= k);
    runs.flat_map(move |run| {
        let starts = (0..=run.len() - k).step_by(MAX_LETTERS - (k - 1));
        starts.map(move |start| &run[start..run.len().min(start + MAX_LETTERS)])
    })
}

fn for_each_superkmer(
    bases: &[u8],
    shape: Shape,
    stretch: &mut Stretch,
    mut each: impl FnMut(u32, u64),
) {
    let kernels = Kernels::detect();
    kernels.pack(bases, stretch);
    let kmers = kernels.minimizers(
        bases.len(),
        MinimizerScheme {
            m: shape.m(),
            w: shape.window(),
        },
        stretch,
    );
    stretch.hashes[..kmers]
        .chunk_by(|a, b| a == b)
        .for_each(|run| each(run[0], run.len() as u64));
}

fn report(
    shape: Shape,
    minimizers: &[Minimizer],
    out: &mut impl Write,
) -> Result<(), Box<dyn Error>> {
    let kmers: u64 = minimizers.iter().map(|minimizer| minimizer.kmers).sum();
    let heaviest = minimizers
        .iter()
        .max_by_key(|minimizer| minimizer.kmers)
        .ok_or("There are no minimizers.")?;
    let used = minimizers
        .iter()
        .filter(|minimizer| minimizer.kmers > 0)
        .count();
    let share = 100.0 * heaviest.kmers as f64 / kmers.max(1) as f64;
    writeln!(
        out,
        "k = {}, m = {}, {kmers} k-mers, {used} of {} minimizers",
        shape.k(),
        shape.m(),
        minimizers.len()
    )?;
    writeln!(
        out,
        "heaviest minimizer: {}, {share:.4} % of the k-mers\n",
        letters(heaviest.value, shape.m())
    )?;
    writeln!(
        out,
        "{:12}{:>16}{:>16}{:>16}{:>16}",
        "max p99", "fixed", "in turn", "by sample", "by load"
    )?;
    for (name, strategy) in STRATEGIES {
        let loads = loads(minimizers, strategy);
        writeln!(out, "{name}\n{:12}{}", "  bins", balance(&loads.kmers))?;
        for workers in WORKERS {
            let columns: String = schedules(&loads, workers)
                .iter()
                .map(|loads| balance(loads))
                .collect();
            writeln!(out, "  {workers:<10}{columns}")?;
        }
    }
    Ok(())
}

fn letters(value: u32, m: usize) -> String {
    (0..m)
        .rev()
        .map(|i| char::from(gyrase_seq::decode((value >> (2 * i) & 3) as u8)))
        .collect()
}

fn loads(minimizers: &[Minimizer], strategy: Strategy) -> Loads {
    let mut loads = Loads {
        kmers: vec![0; BINS],
        sampled: vec![0; BINS],
    };
    for (rank, minimizer) in minimizers.iter().enumerate() {
        let bin = strategy(minimizer, rank, minimizers.len());
        loads.kmers[bin] += minimizer.kmers;
        loads.sampled[bin] += minimizer.sampled;
    }
    loads
}

/// The loads of workers: bin b to worker b mod n; the next bin to the first free worker (Gyrase);
/// the largest bin first to the least loaded worker, by the loads of the sample and by the true
/// ones.
fn schedules(loads: &Loads, workers: usize) -> [Vec<u64>; 4] {
    let in_turn: Vec<usize> = (0..BINS).collect();
    let mut fixed = vec![0; workers];
    loads
        .kmers
        .iter()
        .enumerate()
        .for_each(|(bin, kmers)| fixed[bin % workers] += kmers);
    [
        fixed,
        to_least_loaded(&in_turn, &loads.kmers, &loads.kmers, workers),
        to_least_loaded(
            &largest_first(&loads.sampled),
            &loads.sampled,
            &loads.kmers,
            workers,
        ),
        to_least_loaded(
            &largest_first(&loads.kmers),
            &loads.kmers,
            &loads.kmers,
            workers,
        ),
    ]
}

fn largest_first(loads: &[u64]) -> Vec<usize> {
    let mut bins: Vec<usize> = (0..loads.len()).collect();
    bins.sort_by_key(|&bin| Reverse(loads[bin]));
    bins
}

/// Gives each bin of `order` to the worker that is expected to be free first; returns what workers
/// then have to do in truth.
fn to_least_loaded(order: &[usize], expected: &[u64], kmers: &[u64], workers: usize) -> Vec<u64> {
    let mut free: BinaryHeap<_> = (0..workers).map(|worker| Reverse((0, worker))).collect();
    let mut loads = vec![0; workers];
    for &bin in order {
        let Reverse((load, worker)) = free.pop().expect("there is a worker");
        // A bin that the sample missed has some load too: all of these must not go to one worker.
        free.push(Reverse((load + expected[bin].max(1), worker)));
        loads[worker] += kmers[bin];
    }
    loads
}

/// Largest load and 99th percentile, in units of the mean.
fn balance(loads: &[u64]) -> String {
    let mut sorted = loads.to_vec();
    sorted.sort_unstable();
    let mean = sorted.iter().sum::<u64>().max(1) as f64 / sorted.len() as f64;
    let [max, p99] = [sorted.len(), (99 * sorted.len()).div_ceil(100)]
        .map(|place| sorted[place - 1] as f64 / mean);
    format!("{max:>10.3}{p99:>6.2}")
}
