//! Looks up packed k-mers, and says how long that took: the Rust side of `bench/python-lookup`.
//!
//! `cargo run --release -p gyrase-count --example look_up_packed -- X.gyk KMERS COUNTS THREADS
//! TIMES` reads little-endian words of 64 bits, looks them up so many times, prints the seconds of
//! each, a line a time, and writes the counts as little-endian words of 32 bits.
#![allow(clippy::print_stdout, reason = "it is a program")]

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use gyrase_count::query::look_up_packed;
use gyrase_table::gyk::Database;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [database, kmers, counts, threads, times] = &args[..] else {
        return Err("usage: look_up_packed X.gyk KMERS COUNTS THREADS TIMES".into());
    };
    let database = Database::open(Path::new(database))?;
    let bytes = std::fs::read(kmers)?;
    let words: Vec<u64> = bytes
        .as_chunks()
        .0
        .iter()
        .map(|&word| u64::from_le_bytes(word))
        .collect();
    let kmers = words.len() / database.shape().words();
    let mut found = Vec::new();
    for _ in 0..times.parse()? {
        let start = Instant::now();
        found = vec![0; kmers];
        look_up_packed(&database, &words, &mut found, threads.parse()?)?;
        println!("{:.4}", start.elapsed().as_secs_f64());
    }
    let found: Vec<u8> = found.into_iter().flat_map(u32::to_le_bytes).collect();
    std::fs::write(counts, found)?;
    Ok(())
}
