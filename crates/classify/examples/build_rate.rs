//! How fast a database is built in memory, by a GPU where one is named.
//!
//! `GYRASE_GPU=... build_rate TAXONOMY THREADS ROUNDS (gpu|processor) REFERENCES...` builds it as
//! often as asked for, every reference of the root, and prints a line: what built it, bytes of
//! the references as they are stored, its checksum, seconds of the best round, GB a second in it.

#![allow(clippy::print_stdout, reason = "a tool for the terminal")]

use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gyrase_classify::{BuildConfig, Parameters, build, build_on};
use gyrase_gpu::{GpuLibrary, GpuShare};
use gyrase_taxonomy::ROOT;
use gyrase_work::{Progress, machine};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [taxonomy, threads, rounds, by, references @ ..] = &words[..] else {
        return Err("TAXONOMY THREADS ROUNDS (gpu|processor) REFERENCES...".into());
    };
    let taxonomy = gyrase_taxonomy::read(Path::new(taxonomy))?.taxonomy;
    let references: Vec<PathBuf> = references.iter().map(PathBuf::from).collect();
    let bytes: Option<u64> = references
        .iter()
        .map(|path| Some(path.metadata().ok()?.len()))
        .sum();
    let bytes = bytes.ok_or("a reference is missing")?;
    let config = BuildConfig {
        references,
        output: None,
        parameters: Parameters::default(),
        threads: threads.parse()?,
        memory: machine::memory(),
        tmp: env::temp_dir(),
        max_tmp: None,
        resume: None,
    };
    let (mut best, mut checksum, mut name) = (Duration::MAX, 0, "processor".to_owned());
    for _ in 0..rounds.parse()? {
        let (start, progress) = (Instant::now(), Progress::default());
        let mut taxon_of = |_: &str, _: &Path| Some(ROOT);
        let (_, database) = match by.as_str() {
            "gpu" => {
                let library = GpuLibrary::find()?;
                let gpu = library.gpu(None)?;
                let share = GpuShare {
                    library: &library,
                    gpu: &gpu,
                    memory: gpu.free / 10 * 9,
                };
                let on_gpu = config.on_gpu(share)?;
                let built = build_on(&on_gpu, &config, &taxonomy, &mut taxon_of, &progress)?;
                if let Some(why) = on_gpu.failure() {
                    return Err(why.to_string().into());
                }
                name.clone_from(&gpu.name);
                built
            }
            _ => build(&config, &taxonomy, &mut taxon_of, &progress)?,
        };
        best = best.min(start.elapsed());
        checksum = database.ok_or("it is kept in memory")?.checksum();
    }
    let seconds = best.as_secs_f64();
    let rate = bytes as f64 / 1e9 / seconds;
    println!("{name}\t{threads}\t{bytes}\t{checksum:016x}\t{seconds:.4}\t{rate:.2}");
    Ok(())
}
