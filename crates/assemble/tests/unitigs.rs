//! Unitigs against their definition: a map of k-mers, and walks from k-mer to k-mer.

#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;

use gyrase_assemble::unitigs::{Config, GraphFormat, GraphTarget, KmersOf, run, run_in};
use gyrase_fabric::{Steal, World, testing};
use gyrase_kmer::{Key, Kmer, Shape, bin_of, mix, with_words};
use gyrase_seq::reverse_complement;
use gyrase_work::Progress;
use proptest::prelude::*;

type Letters = Vec<u8>;

fn canonical(kmer: &[u8]) -> Letters {
    let other = reverse_complement(kmer);
    other.min(kmer.to_vec())
}

/// The canonical k-mers that are there often enough, and how often.
fn counted(records: &[Letters], k: usize, min_count: u64) -> HashMap<Letters, u64> {
    let mut counts = HashMap::new();
    let kmers = records.iter().flat_map(|record| record.windows(k));
    kmers.for_each(|kmer| *counts.entry(canonical(kmer)).or_insert(0) += 1);
    counts.retain(|_, count| *count >= min_count);
    counts
}

/// The k-mers of a graph, as they are read.
struct Naive {
    k: usize,
    counts: HashMap<Letters, u64>,
}

impl Naive {
    /// What may follow a k-mer.
    fn next(&self, kmer: &[u8]) -> Vec<Letters> {
        let followed = |base: &u8| [&kmer[1..], &[*base]].concat();
        let all = b"ACGT".iter().map(followed);
        all.filter(|next| self.counts.contains_key(&canonical(next)))
            .collect()
    }

    /// The one k-mer that follows, if this is the one before it.
    fn joined(&self, kmer: &[u8]) -> Option<Letters> {
        let next = self.next(kmer);
        let [only] = &next[..] else { return None };
        let before = self.next(&reverse_complement(only));
        let alone = before.len() == 1 && canonical(only) != canonical(kmer);
        alone.then(|| only.clone())
    }

    /// The k-mers from one on, to the end or to itself; true for a ring.
    fn walk(&self, first: &[u8]) -> (Vec<Letters>, bool) {
        let mut path = vec![first.to_vec()];
        while let Some(next) = self.joined(&path[path.len() - 1]) {
            if next == first {
                return (path, true);
            }
            path.push(next);
        }
        (path, false)
    }

    fn place(&self, kmer: &[u8]) -> (usize, Vec<u64>) {
        let shape = Shape::new(self.k, false).unwrap();
        with_words!(shape, W => {
            let kmer = Kmer::<W>::from_letters(&canonical(kmer)).unwrap();
            (bin_of(kmer, shape), Key::from(kmer).0.to_vec())
        })
    }

    /// All unitigs, with the sums of their counts, in the order of the program.
    fn unitigs(&self) -> Vec<(Letters, u64)> {
        let (mut seen, mut linear, mut rings) = (HashSet::new(), Vec::new(), Vec::new());
        for kmer in self.counts.keys() {
            if seen.contains(kmer) {
                continue;
            }
            let (path, ring) = self.walk(kmer);
            // Back to where it begins, and from there to its end.
            let path = match ring {
                true => path,
                false => self.walk(&reverse_complement(&path[path.len() - 1])).0,
            };
            seen.extend(path.iter().map(|kmer| canonical(kmer)));
            let sum = path
                .iter()
                .map(|kmer| self.counts[&canonical(kmer)])
                .sum::<u64>();
            match ring {
                true => rings.push((self.ring(&path), sum)),
                false => {
                    let spelled = spell(&path);
                    let ends = [self.place(&path[0]), self.place(&path[path.len() - 1])];
                    linear.push((ends.into_iter().min().unwrap(), canonical(&spelled), sum));
                }
            }
        }
        linear.sort();
        rings.sort();
        let linear = linear.into_iter().map(|(_, letters, sum)| (letters, sum));
        linear.chain(rings).collect()
    }

    /// From the least canonical k-mer on, and k-1 bases more than once around.
    fn ring(&self, path: &[Letters]) -> Letters {
        let least = path.iter().map(|kmer| canonical(kmer)).min().unwrap();
        spell(&self.walk(&least).0)
    }

    fn text(&self, format: GraphFormat) -> String {
        let unitigs = self.unitigs();
        // Which unitig a k-mer at an end leads into, and in which direction.
        let mut into: BTreeMap<Letters, Vec<(usize, char)>> = BTreeMap::new();
        for (number, (letters, _)) in unitigs.iter().enumerate() {
            for (letters, sign) in [(letters.clone(), '+'), (reverse_complement(letters), '-')] {
                into.entry(letters[..self.k].to_vec())
                    .or_default()
                    .push((number, sign));
            }
        }
        let mut text = String::new();
        if format == GraphFormat::Gfa {
            text += "H\tVN:Z:1.0\n";
        }
        for (number, (letters, sum)) in unitigs.iter().enumerate() {
            let mut links = Vec::new();
            for (sign, letters) in [('-', reverse_complement(letters)), ('+', letters.clone())] {
                let next = self.next(&letters[letters.len() - self.k..]);
                let met = next
                    .iter()
                    .flat_map(|kmer| into.get(kmer).cloned().unwrap_or_default());
                // The side that is entered: a unitig read forwards is entered at its left.
                let mut met: Vec<_> = met.map(|(to, into)| (to, into == '-', into)).collect();
                met.sort_unstable();
                links.extend(met.into_iter().map(|(to, _, into)| (sign, to, into)));
            }
            write(&mut text, format, self.k, number, (letters, *sum), &links);
        }
        text
    }
}

fn write(
    text: &mut String,
    format: GraphFormat,
    k: usize,
    number: usize,
    (letters, sum): (&Letters, u64),
    links: &[(char, usize, char)],
) {
    let (length, mean) = (letters.len(), sum as f64 / (letters.len() + 1 - k) as f64);
    let letters = str::from_utf8(letters).unwrap();
    if format == GraphFormat::Fasta {
        *text += &format!(">{number} LN:i:{length} KC:i:{sum} km:f:{mean:.1}");
        for (sign, to, into) in links {
            let _ = write!(text, " L:{sign}:{to}:{into}");
        }
        *text += &format!("\n{letters}\n");
        return;
    }
    *text += &format!("S\t{number}\t{letters}\tLN:i:{length}\tKC:i:{sum}\tDP:f:{mean:.2}\n");
    for (sign, to, into) in links {
        // Each once: from the lesser, and of one with itself the ways that begin forwards, or turn.
        let once = number < *to || number == *to && (*sign == '+' || sign != into);
        if once {
            *text += &format!("L\t{number}\t{sign}\t{to}\t{into}\t{}M\n", k - 1);
        }
    }
}

fn spell(path: &[Letters]) -> Letters {
    let mut letters = path[0].clone();
    letters.extend(path[1..].iter().map(|kmer| kmer[kmer.len() - 1]));
    letters
}

fn config(folder: &Path, k: usize, min_count: u32, threads: usize, format: GraphFormat) -> Config {
    let output = folder.join("unitigs");
    let memory = 400 << 20;
    let reads = gyrase_count::Config {
        inputs: vec![folder.join("records.fa")],
        output: output.clone(),
        shape: Shape::new(k, false).unwrap(),
        min_count,
        max_count: u32::MAX,
        min_base_quality: None,
        paired: false,
        threads,
        memory,
        tmp: folder.into(),
        max_tmp: None,
        resume: false,
        chunk: None,
    };
    Config {
        kmers: KmersOf::Reads(Box::new(reads)),
        format,
        output,
        threads,
        memory,
        tmp: folder.into(),
        max_tmp: None,
    }
}

fn made(folder: &Path, config: &Config) -> String {
    let mut text = Vec::new();
    run(config, &mut text, &Progress::default()).unwrap();
    let left = std::fs::read_dir(folder).unwrap().count();
    assert_eq!(left, 1, "no temporary files are left");
    String::from_utf8(text).unwrap()
}

fn check(records: &[Letters], k: usize, min_count: u64) {
    let naive = Naive {
        k,
        counts: counted(records, k, min_count),
    };
    let folder = tempfile::tempdir().unwrap();
    let fasta: Vec<u8> = records
        .iter()
        .flat_map(|record| [b">r\n", &record[..], b"\n"].concat())
        .collect();
    std::fs::write(folder.path().join("records.fa"), fasta).unwrap();
    for format in [GraphFormat::Fasta, GraphFormat::Gfa] {
        let expected = naive.text(format);
        for threads in [1, 3] {
            let config = config(folder.path(), k, min_count as u32, threads, format);
            let found = made(folder.path(), &config);
            assert!(found == expected, "k = {k}\n{found}\nbut\n{expected}");
        }
    }
}

/// Processes that share the work make the same text: in a file, and in a stream.
fn check_shared(records: &[Letters], k: usize, of_ranks: &[usize]) {
    let folder = tempfile::tempdir().unwrap();
    let fasta: Vec<u8> = records
        .iter()
        .flat_map(|record| [b">r\n", &record[..], b"\n"].concat())
        .collect();
    std::fs::write(folder.path().join("records.fa"), fasta).unwrap();
    for (number, &ranks) in of_ranks.iter().enumerate() {
        let format = [GraphFormat::Gfa, GraphFormat::Fasta][number % 2];
        let config = config(folder.path(), k, 1, 1 + number % 2, format);
        let expected = made(folder.path(), &config);
        for to_file in [true, false] {
            let process = |world: &testing::Process| {
                let mut text = Vec::new();
                let target = match to_file {
                    true => GraphTarget::File(&config.output),
                    false => GraphTarget::Stream(&mut text),
                };
                let made = run_in(&config, target, world, &Progress::default())?;
                assert!(world.rank() == 0 || text.is_empty());
                Ok::<_, gyrase_assemble::Error>((made.unitigs, text))
            };
            let done = testing::run(ranks, Steal::Off, process);
            let mut done: Vec<_> = done.into_iter().map(Result::unwrap).collect();
            assert!(done.iter().all(|one| one.0 == done[0].0));
            let found = match to_file {
                true => std::fs::read(&config.output).unwrap(),
                false => std::mem::take(&mut done[0].1),
            };
            let found = String::from_utf8(found).unwrap();
            assert!(
                found == expected,
                "k = {k}, {ranks} ranks\n{found}\nbut\n{expected}"
            );
            let _ = std::fs::remove_file(&config.output);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

fn random(bases: usize, seed: u64) -> Letters {
    let base = |at| b"ACGT"[(mix(at + (seed << 32) + 1) >> 62) as usize];
    (0..bases as u64).map(base).collect()
}

const LENGTHS: [usize; 15] = [3, 5, 7, 9, 11, 19, 21, 31, 33, 63, 65, 95, 97, 99, 127];

/// A ring: its first k-1 bases are at its end again.
fn ring(letters: &[u8], k: usize) -> Letters {
    let turns = letters.iter().cycle();
    turns.take(letters.len() + k - 1).copied().collect()
}

#[test]
fn random_sequences_at_all_lengths() {
    for k in LENGTHS {
        for (seed, bases) in [(1, k), (2, k + 1), (3, 400), (4, 3000)] {
            check(&[random(bases, seed)], k, 1);
        }
    }
}

#[test]
fn rings_pass_many_bins() {
    for k in LENGTHS {
        // In one direction, in the other, and two of them.
        let (one, two) = (ring(&random(2000, 7), k), ring(&random(300, 8), k));
        check(std::slice::from_ref(&one), k, 1);
        check(&[reverse_complement(&one), two.clone()], k, 1);
        // Broken by a branch, and closed by a second record alone.
        check(&[one.clone(), [&one[..k], b"A", &two[..k]].concat()], k, 1);
        check(&[one[..1000].to_vec(), one[1000 - k + 1..].to_vec()], k, 1);
    }
}

#[test]
fn rings_as_short_as_a_few_kmers() {
    for k in LENGTHS {
        for turn in 1..6 {
            for seed in 0..3 {
                check(&[ring(&random(turn, seed), k)], k, 1);
            }
        }
    }
}

#[test]
fn homopolymers_hairpins_and_palindromes() {
    for k in LENGTHS {
        let arm = random(k, 11);
        let other = reverse_complement(&arm);
        check(&[vec![b'A'; 2 * k]], k, 1);
        check(&[b"AC".repeat(k)], k, 1);
        // The arms meet in a palindrome of k-1 bases, or of more, or around a loop.
        check(&[[&arm[..], &other].concat()], k, 1);
        check(&[[&arm[..], b"CG", &other].concat()], k, 1);
        check(&[[&arm[..], &random(40, 12), &other].concat()], k, 1);
        check(&[[&vec![b'A'; k][..], &arm, &vec![b'T'; k]].concat()], k, 1);
    }
}

#[test]
fn counts_choose_the_kmers() {
    for k in [9, 31, 33, 127] {
        let whole = random(700, 21);
        let mut other = whole.clone();
        other[350] = if other[350] == b'A' { b'C' } else { b'A' };
        for min_count in 1..=3 {
            let records = [whole.clone(), whole[100..500].to_vec(), other.clone()];
            check(&records, k, min_count);
        }
    }
}

#[test]
fn nothing_makes_nothing() {
    check(&[], 31, 1);
    check(&[b"ACGT".to_vec()], 31, 1);
    check(&[random(100, 1)], 31, 2);
}

#[test]
fn processes_share_chains_and_rings() {
    let repeat = random(300, 31);
    for k in [3, 9, 21, 31, 127] {
        let one = ring(&random(1500, 32), k);
        let others = [ring(&random(200, 33), k), ring(&random(k + 1, 34), k)];
        check_shared(&[&[one][..], &others].concat(), k, &[2, 7]);
        let genome = [
            &random(2000, 35)[..],
            &repeat,
            &random(900, 36),
            &repeat,
            &reverse_complement(&random(400, 35)),
        ];
        check_shared(&[genome.concat(), random(50, 37)], k, &[3, 4]);
    }
    check_shared(&[], 31, &[3]);
}

proptest! {
    #[test]
    fn repeats_in_both_directions(
        length in 0..LENGTHS.len(), seed in 0..1000u64, min_count in 1..3u64,
        // Which stretch of which source comes next, and in which direction.
        parts in proptest::collection::vec(
            (0..3u64, 0..100usize, 1..160usize, any::<bool>()), 1..14,
        ),
        closed: bool,
    ) {
        let k = LENGTHS[length];
        let sources: Vec<Letters> = (0..3).map(|source| random(260, 3 * seed + source)).collect();
        let mut genome = Vec::new();
        for (source, start, length, forward) in parts {
            let stretch = &sources[source as usize][start..start + length];
            match forward {
                true => genome.extend_from_slice(stretch),
                false => genome.extend(reverse_complement(stretch)),
            }
        }
        if closed {
            genome = ring(&genome, k);
        }
        let records = [genome.clone(), genome[genome.len() / 3..].to_vec()];
        check(&records, k, min_count);
    }
}
