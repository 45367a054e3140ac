//! Every target on its seeds and on mutations of them, for `GYRASE_FUZZ_SECONDS` seconds, all
//! targets together; by libFuzzer where `GYRASE_FUZZ_WITH` is `libfuzzer`, else by our own loop.

use std::panic::catch_unwind;
use std::process::Command;
use std::time::{Duration, Instant};

use gyrase_fuzz::{TARGETS, Target, seeds};

#[test]
fn fastx() {
    holds("fastx");
}

#[test]
fn ranges() {
    holds("ranges");
}

#[test]
fn gyk() {
    holds("gyk");
}

#[test]
fn kmc() {
    holds("kmc");
}

#[test]
fn gydb() {
    holds("gydb");
}

#[test]
fn candidates() {
    holds("candidates");
}

#[test]
fn gysa() {
    holds("gysa");
}

#[test]
fn exact_matches() {
    holds("exact_matches");
}

#[test]
fn taxonomy() {
    holds("taxonomy");
}

/// The invariant of that target, for its share of the time.
fn holds(name: &str) {
    let found = TARGETS.iter().find(|target| target.0 == name);
    let target = found.expect("a target of that name").1;
    let seconds = std::env::var("GYRASE_FUZZ_SECONDS").ok();
    let seconds: u64 = seconds.and_then(|text| text.parse().ok()).unwrap_or(0);
    let share = seconds / TARGETS.len() as u64;
    let held = match std::env::var("GYRASE_FUZZ_WITH").as_deref() {
        Ok("libfuzzer") => search(name, share),
        _ => mutate(name, target, Duration::from_secs(share)),
    };
    assert!(held, "the invariant of {name} broke");
}

/// Lets libFuzzer search.
fn search(name: &str, seconds: u64) -> bool {
    let limit = format!("-max_total_time={seconds}");
    let mut command = Command::new("cargo");
    command.args([
        "+nightly",
        "fuzz",
        "run",
        "--fuzz-dir",
        env!("CARGO_MANIFEST_DIR"),
        "--features",
        "libfuzzer",
        name,
    ]);
    let status = command.args(["--", &limit, "-rss_limit_mb=4096"]).status();
    status.is_ok_and(|status| status.success())
}

/// Mutates seeds; an input that breaks the invariant is kept and named.
fn mutate(name: &str, target: Target, time: Duration) -> bool {
    let seeds = seeds(name);
    // The same inputs every time, as far as the time goes: what fails once fails again.
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (start, mut tried) = (Instant::now(), 0u64);
    while tried < seeds.len() as u64 || start.elapsed() < time {
        let mut input = seeds[random.below(seeds.len())].clone();
        if tried >= seeds.len() as u64 {
            (0..=random.below(6)).for_each(|_| change(&mut input, &seeds, &mut random));
        } else {
            input.clone_from(&seeds[tried as usize]);
        }
        if catch_unwind(|| target(&input)).is_err() {
            return keep(name, &input);
        }
        tried += 1;
    }
    println!("{name}: the invariant held for {tried} inputs");
    true
}

fn keep(name: &str, input: &[u8]) -> bool {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/artifacts");
    let path = format!("{folder}/{name}-smoke");
    let kept = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, input));
    println!("{name}: the invariant broke; the input is in {path} ({kept:?})");
    false
}

fn change(input: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Random) {
    let at = random.below(input.len() + 1);
    match random.below(6) {
        0 if at < input.len() => input[at] = random.next() as u8,
        1 if at < input.len() => input[at] ^= 1 << random.below(8),
        2 => input.insert(at, b"\n\r@>+ACGTN!I~\0"[random.below(14)]),
        3 if at < input.len() => drop(input.drain(at..input.len().min(at + 1 + random.below(8)))),
        4 => {
            let other = &seeds[random.below(seeds.len())];
            let from = random.below(other.len() + 1);
            input.truncate(at);
            input.extend_from_slice(&other[from..]);
        }
        _ => {
            let end = input.len().min(at + random.below(64));
            let again = input[at..end].to_vec();
            input.splice(at..at, again);
        }
    }
    input.truncate(1 << 15);
}

/// xorshift: a sequence that needs no crate.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 16
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}
