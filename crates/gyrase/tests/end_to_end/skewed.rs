//! Memory is a promise also where all k-mers share one minimizer, and so one bin.

use gyrase_kmer::{minimizer_hash, mix};

use crate::place::Place;

/// Length of minimizers from k = 25 on.
const M: u32 = 11;

fn reverse_complement(value: u32) -> u32 {
    (0..M).fold(0, |reverse, i| reverse << 2 | (3 - (value >> (2 * i) & 3)))
}

fn letters(value: u64, length: u32) -> Vec<u8> {
    (0..length)
        .rev()
        .map(|i| b"ACGT"[(value >> (2 * i) & 3) as usize])
        .collect()
}

/// The word that is the minimizer of every k-mer that has it.
fn least_word() -> Vec<u8> {
    let canonical = (0..1 << (2 * M)).filter(|&value| value <= reverse_complement(value));
    let least = canonical
        .min_by_key(|&value| minimizer_hash(value))
        .unwrap();
    letters(u64::from(least), M)
}

/// Reads of random bases around the least word, as long as each of their k-mers has it.
fn reads(number: u64, k: u32) -> Vec<u8> {
    let (word, mut text) = (least_word(), Vec::new());
    let random =
        |seed: u64| (0..k - M).flat_map(move |i| letters(mix(seed << 32 | u64::from(i)) >> 62, 1));
    for read in 0..number {
        text.extend_from_slice(b">r\n");
        text.extend(random(2 * read + 1));
        text.extend_from_slice(&word);
        text.extend(random(2 * read + 2));
        text.push(b'\n');
    }
    text
}

/// How much of its memory a run may have taken at the most.
fn check_peak(place: &Place, memory: u64) {
    let report = place.json("r.json");
    let peak = report["peak_memory_bytes"].as_u64().unwrap();
    assert!(
        0 < peak && peak <= memory,
        "{peak} bytes, {memory} were allowed"
    );
}

#[test]
fn a_count_of_one_bin_stays_within_its_memory() {
    let place = Place::new();
    // Their rows in memory and in the file would together be more than the least memory.
    place.write("r_1.fq", reads(19_000, 127));
    let least = place.least_memory(1);
    let count = |output, memory| {
        let means = ["-t", "1", "--memory", memory, "--report", "r.json"];
        place.ok(&[&["count", "r_1.fq", "-k", "127", "-o", output][..], &means].concat());
    };
    count("o.gyk", "4G");
    assert_eq!(place.json("r.json")["counts"]["distinct"], 2_223_000);
    count("p.gyk", &least);
    check_peak(&place, least.parse().unwrap());
    assert!(
        place.read("o.gyk") == place.read("p.gyk"),
        "the memory changes the result"
    );
    place.ok(&["kmers", "verify", "p.gyk"]);
    assert_eq!(place.files(), ["o.gyk", "p.gyk", "r.json", "r_1.fq"]);
}

#[test]
fn an_import_of_one_bin_stays_within_its_memory() {
    let place = Place::new();
    place.write("r_1.fa", reads(110_000, 31));
    place.ok(&["count", "r_1.fa", "-o", "c.gyk"]);
    place.ok(&["kmers", "dump", "c.gyk", "-o", "c.txt"]);
    let ran = place.run(&[
        "kmers", "import", "c.txt", "-o", "o.gyk", "--memory", "1M", "-t", "1",
    ]);
    let least = ran
        .stderr
        .split_once("at least ")
        .unwrap()
        .1
        .split(' ')
        .next()
        .unwrap()
        .to_owned();
    place.ok(&["kmers", "import", "c.txt", "-o", "o.gyk", "--memory", "2G"]);
    for threads in ["1", "3"] {
        let means = ["--memory", &least, "-t", threads, "--report", "r.json"];
        place.ok(&[&["kmers", "import", "c.txt", "-o", "p.gyk"][..], &means].concat());
        check_peak(&place, least.parse().unwrap());
        assert!(
            place.read("o.gyk") == place.read("p.gyk"),
            "the memory changes the result"
        );
    }
    let dump = place.ok(&["kmers", "dump", "p.gyk"]);
    assert!(dump.as_bytes() == place.read("c.txt") && dump.lines().count() == 2_310_000);
    assert_eq!(
        place.files(),
        ["c.gyk", "c.txt", "o.gyk", "p.gyk", "r.json", "r_1.fa"]
    );
}
