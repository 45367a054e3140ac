//! CPU seconds that sorting suffixes takes, and that libsais alone takes for the same text, in
//! turns:
//!
//!     cargo run --release -p gyrase-suffix --example against_libsais genome.fa [TURNS]

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;

use gyrase_suffix::{SENTINEL, SuffixArray, Texts, sort};
use gyrase_work::Progress;
use libsais::SuffixArrayConstruction;

/// More than any text here takes.
const MEMORY: u64 = 1 << 40;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let path = [PathBuf::from(words.next().ok_or("which FASTA file?")?)];
    let turns = words.next().map_or(Ok(3), |turns| turns.parse())?;
    let progress = Progress::default();
    let mut out = std::io::stdout().lock();
    writeln!(out, "turn\tread\tsort\tlibsais\tratio")?;
    for turn in 1..=turns {
        let (texts, read) = timed(|| Texts::read(&path, None, MEMORY, &progress));
        let mut texts = texts?;
        let (sorted, own) = timed(|| sort(&mut texts, false, MEMORY, &progress));
        let alone = alone(&texts.letters, &sorted?)?;
        let ratio = own / alone;
        writeln!(out, "{turn}\t{read:.2}\t{own:.2}\t{alone:.2}\t{ratio:.3}")?;
    }
    Ok(())
}

/// Sorts by libsais, and finds what neighbours share; the CPU seconds. Libsais takes no sentinels
/// that follow each other, so that all but one of them are left out first.
fn alone(text: &[u8], expected: &SuffixArray) -> Result<f64, Box<dyn Error>> {
    let mut closed = [&[SENTINEL], text].concat();
    closed.dedup_by(|one, before| *one == SENTINEL && *before == SENTINEL);
    let closed = &closed[1..];
    let (sorted, seconds) = timed(|| {
        let sorting = SuffixArrayConstruction::for_text(closed).in_owned_buffer32();
        let sorted = sorting.single_threaded().generalized_suffix_array().run()?;
        let prefixes = sorted.plcp_construction().single_threaded().run()?;
        prefixes.lcp_construction().single_threaded().run()
    });
    let sorted = sorted?;
    // Sentinels come first, and share nothing.
    let rest = expected.common.iter().skip(text.len() - closed.len());
    match rest.eq(sorted.lcp().iter().map(|&common| common as usize)) {
        true => Ok(seconds),
        false => Err("libsais sorts otherwise".into()),
    }
}

/// What work gives, and the CPU seconds of this thread that it took.
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let before = cpu();
    let done = work();
    (done, cpu() - before)
}

fn cpu() -> f64 {
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let nanoseconds = spent
        .split(' ')
        .next()
        .and_then(|spent| spent.parse::<u64>().ok());
    nanoseconds.expect("nanoseconds of CPU") as f64 / 1e9
}
