//! Runs of matching: MUMmer's columns as MUMmer prints them, the same for any threads, and the sets
//! of matches of the definitions.

#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gyrase_suffix::matching::{self, Config, Dots, MatchFormat, MatchKind, Summary};
use gyrase_suffix::{Error, Letters, Texts};
use gyrase_work::Progress;

const REFERENCE: &str = ">ref one\n\
    GATCCTGAACCATTATGCAGAAAATCTACTTCGCCTGATAGGTCGATACCANNNRYKMTTGACCGGTACATTCGAGGAACTGTGACC\n\
    >ref2 b\nTTACTTCGCCTGATAGGTCGAA\n";
const QUERIES: &str = ">q1 x y\n\
    CGAAAATCTACTTCGCCTGATAGGTCGATACCANNNRYKMTTGACCGGTA\n\
    >q2\nGGTCACAGTTCCTCGAATGTACCGGTCAAKMRYNNNTGGTATCGACC\n\
    >q3 empty\n\n>q4\nccattatgcagaaaatctactt\n>q5\nACGNNNNNNNNNNNNNNNNN\n";

/// What `mummer -maxmatch -b -c -l 12` 3.23 prints of these two, its lines in our order.
const MAXMATCH: &str = include_str!("golden/maxmatch.txt");
/// The same with `-mum`.
const MUM: &str = include_str!("golden/mum.txt");
/// The same with `-mumreference -n`, which matches bases alone.
const BASES: &str = include_str!("golden/bases.txt");

fn config(queries: Vec<PathBuf>) -> Config {
    Config {
        queries,
        least: 12,
        kind: MatchKind::All,
        both_strands: true,
        format: MatchFormat::Mummer,
        threads: 1,
        memory: 1 << 30,
    }
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn read(path: PathBuf, letters: Letters) -> Texts {
    Texts::read(&[path], Some(letters), 1 << 30, &Progress::default()).unwrap()
}

fn told(config: &Config, reference: &Texts) -> (Summary, String) {
    let mut out = Vec::new();
    let ran = matching::run(config, reference, &mut out, None, &Progress::default());
    (ran.unwrap(), String::from_utf8(out).unwrap())
}

#[test]
fn lines_are_those_of_mummer() {
    let folder = tempfile::tempdir().unwrap();
    let reference = write(folder.path(), "r.fa", REFERENCE);
    let queries = vec![write(folder.path(), "q.fa", QUERIES)];
    for (kind, letters, expected) in [
        (MatchKind::All, Letters::Any, MAXMATCH),
        (MatchKind::Unique, Letters::Any, MUM),
        (MatchKind::UniqueInReference, Letters::Bases, BASES),
    ] {
        let config = Config {
            kind,
            ..config(queries.clone())
        };
        let (summary, lines) = told(&config, &read(reference.clone(), letters));
        assert_eq!(lines, expected, "{kind:?}");
        let matches = expected
            .lines()
            .filter(|line| !line.starts_with('>'))
            .count() as u64;
        assert_eq!((summary.queries, summary.matches), (5, matches));
    }
}

#[test]
fn paf_has_places_from_zero_on_the_forward_strand() {
    let folder = tempfile::tempdir().unwrap();
    let reference = read(
        write(folder.path(), "r.fa", ">r\nCCCACGTTGCATT\n"),
        Letters::Bases,
    );
    let queries = vec![write(
        folder.path(),
        "q.fa",
        ">f\nGGACGTTGCAGG\n>b\nGTGCAACGTA\n",
    )];
    let config = Config {
        least: 8,
        format: MatchFormat::Paf,
        ..config(queries)
    };
    let (_, lines) = told(&config, &reference);
    let expected = "f\t12\t2\t10\t+\tr\t13\t3\t11\t8\t8\t255\tcg:Z:8=\n\
                    b\t10\t1\t9\t-\tr\t13\t3\t11\t8\t8\t255\tcg:Z:8=\n";
    assert_eq!(lines, expected);
}

/// Random letters, of which some stretches come again, forward and backward.
fn genome(length: usize, seed: u64) -> String {
    let mut state = seed;
    let mut next = |most: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695);
        (state >> 33) as usize % most
    };
    let mut text = Vec::new();
    while text.len() < length {
        let copied = next(300).min(text.len());
        let from = next(text.len() - copied + 1);
        match next(3) {
            0 => text.extend_from_within(from..from + copied),
            1 => text.extend(gyrase_seq::reverse_complement(&text[from..from + copied])),
            _ => text.extend((0..150).map(|_| b"ACGT"[next(4)])),
        }
    }
    String::from_utf8(text).unwrap()
}

#[test]
fn threads_leave_no_trace_and_long_queries_are_whole() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (genome(90_000, 1), genome(20_000, 2));
    let reference = read(
        write(folder.path(), "r.fa", &format!(">r\n{one}\n")),
        Letters::Bases,
    );
    let text = format!(
        ">a\n{two}{}\n>b\n{two}\n>c\n{}\n",
        &one[1000..89_000].repeat(3),
        &one[..50_000]
    );
    let queries = vec![
        write(folder.path(), "q.fa", &text),
        write(folder.path(), "p.fa", ">p\nA\n"),
    ];
    for kind in [MatchKind::All, MatchKind::Unique] {
        let mut first = None;
        for threads in [1, 3] {
            let config = Config {
                kind,
                threads,
                least: 20,
                ..config(queries.clone())
            };
            let mut dots = Dots::default();
            let mut out = Vec::new();
            let progress = Progress::default();
            let ran = matching::run(&config, &reference, &mut out, Some(&mut dots), &progress);
            let made = (
                ran.unwrap(),
                out,
                dots.svg(&reference, ["r.fa", "q.fa"]).finish(),
            );
            assert_eq!(
                first.get_or_insert_with(|| made.clone()),
                &made,
                "{kind:?}, {threads}"
            );
        }
        let (summary, out, svg) = first.unwrap();
        // The whole of what was cut out is one match.
        assert!(
            summary.longest >= 50_000 && summary.queries == 4,
            "{summary:?}"
        );
        assert_eq!(
            out.iter().filter(|&&byte| byte == b'\n').count() as u64,
            summary.matches + 8
        );
        assert!(svg.contains("exact matches of q.fa with r.fa") && !svg.contains("NaN"));
    }
}

/// Matches by what they say: place in the query on its strand, in the reference, letters.
fn unique_of(reference: &str, query: &str, least: usize) -> BTreeSet<(usize, usize, usize)> {
    let mut texts = Texts::new(Letters::Bases);
    texts.push(b"r", 0, reference.as_bytes());
    let all = matching::matches(&texts, query.as_bytes(), least).unwrap();
    let once = |text: &str, word: &str| {
        let at = |place: usize| text[place..].starts_with(word);
        (0..text.len()).filter(|&place| at(place)).count() == 1
    };
    let is_unique = |found: &&matching::ExactMatch| {
        let word = &query[found.query..found.query + found.length];
        once(reference, word) && once(query, word)
    };
    let unique = all.iter().filter(is_unique);
    unique
        .map(|found| (found.query, found.reference, found.length))
        .collect()
}

#[test]
fn unique_matches_are_those_whose_letters_occur_once() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 1..6 {
        let reference = genome(700, seed);
        let changed = |(place, letter)| if place % 37 == 36 { 'A' } else { letter };
        let moved = [&reference[300..], &reference[..400]].concat();
        let query: String = moved.chars().enumerate().map(changed).collect();
        let texts = read(
            write(folder.path(), "r.fa", &format!(">r\n{reference}\n")),
            Letters::Bases,
        );
        let config = Config {
            kind: MatchKind::Unique,
            least: 9,
            both_strands: false,
            ..config(vec![write(
                folder.path(),
                "q.fa",
                &format!(">q\n{query}\n"),
            )])
        };
        let (_, lines) = told(&config, &texts);
        let found = lines.lines().skip(1).map(|line| {
            let fields: Vec<usize> = line
                .split_whitespace()
                .map(|one| one.parse().unwrap())
                .collect();
            (fields[1] - 1, fields[0] - 1, fields[2])
        });
        let expected = unique_of(&reference, &query, 9);
        assert!(!expected.is_empty(), "{seed}");
        assert_eq!(found.collect::<BTreeSet<_>>(), expected, "{seed}");
    }
}

#[test]
fn what_cannot_be_matched_is_refused_or_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let empty = write(folder.path(), "empty.fa", "");
    let none = read(empty.clone(), Letters::Bases);
    let queries = write(folder.path(), "q.fa", QUERIES);
    let (summary, lines) = told(&config(vec![queries.clone()]), &none);
    assert_eq!((summary.matches, lines.lines().count()), (0, 10));
    let reference = read(queries.clone(), Letters::Bases);
    assert_eq!(told(&config(vec![empty]), &reference).0, Summary::default());
    let proteins = format!(">p\n{}\n", "MKVLAWQFERTYIPLDHN".repeat(10));
    let proteins = read(write(folder.path(), "p.faa", &proteins), Letters::Any);
    let refused = |config: &Config, reference: &Texts| {
        let mut out = Vec::new();
        let ran = matching::run(config, reference, &mut out, None, &Progress::default());
        assert!(out.is_empty());
        ran.unwrap_err()
    };
    assert!(matches!(
        refused(&config(vec![queries.clone()]), &proteins),
        Error::OneStrand
    ));
    let small = Config {
        memory: 1000,
        ..config(vec![queries])
    };
    assert!(matches!(refused(&small, &reference), Error::Memory { .. }));
    let missing = config(vec![folder.path().join("none.fa")]);
    assert!(
        refused(&missing, &reference)
            .to_string()
            .contains("none.fa")
    );
}
