//! `.gysa` files: what is written is read, the first version stays readable, damage is named.

#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

use std::path::{Path, PathBuf};

use gyrase_fabric::{Steal, testing};
use gyrase_suffix::gysa::{self, GysaFile};
use gyrase_suffix::{Letters, SuffixArray, Texts, Zeros, build_in};
use gyrase_work::Progress;

/// Made once by version 1 of [`gysa::write`], and never again.
const GOLDEN: &[u8] = include_bytes!("golden/v1.gysa");
const FASTA: &str = ">one first\nGATTACAGATTACA\n>two\nacgunTTGA\n>none\n>one\nGATTACAGATTACA\n";

fn sorted() -> (Texts, SuffixArray) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.fa");
    std::fs::write(&path, FASTA).unwrap();
    let progress = Progress::default();
    let texts = Texts::read(&[path], Some(Letters::Bases), 1 << 20, &progress).unwrap();
    let sorted = SuffixArray::of(&texts.letters, Zeros::Sentinels).unwrap();
    (texts, sorted)
}

fn file(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn refused(bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let opened = GysaFile::open(&file(folder.path(), "x.gysa", bytes));
    opened
        .and_then(|file| file.verify())
        .unwrap_err()
        .to_string()
}

#[test]
fn the_first_version_is_still_written_and_read() {
    let folder = tempfile::tempdir().unwrap();
    let (texts, suffixes) = sorted();
    let path = folder.path().join("new.gysa");
    let facts = gysa::write(&path, &texts, &suffixes, true).unwrap();
    assert!(std::fs::read(&path).unwrap() == GOLDEN);
    let golden = GysaFile::open(&file(folder.path(), "v1.gysa", GOLDEN)).unwrap();
    assert_eq!(golden.facts(), facts);
    assert_eq!((facts.texts, facts.letters, facts.width), (4, 41, 4));
    assert_eq!(golden.texts().unwrap(), texts);
    assert_eq!(golden.suffix_array().unwrap(), suffixes);
    assert!(
        golden
            .transform()
            .unwrap()
            .iter()
            .copied()
            .eq(suffixes.transform(&texts.letters))
    );
    golden.verify().unwrap();
}

#[test]
fn a_file_needs_no_transform_and_no_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gysa");
    for (texts, sorted) in [
        sorted(),
        (
            Texts::new(Letters::Any),
            SuffixArray::of(b"", Zeros::Sentinels).unwrap(),
        ),
    ] {
        gysa::write(&path, &texts, &sorted, false).unwrap();
        let file = GysaFile::open(&path).unwrap();
        file.verify().unwrap();
        assert_eq!(file.texts().unwrap(), texts);
        let lacking = file.transform().unwrap_err().to_string();
        assert!(lacking.contains("--bwt"), "{lacking}");
    }
}

#[test]
fn damage_is_found_wherever_it_is() {
    assert!(refused(b"").contains("no .gysa file: it is empty"));
    assert!(refused(FASTA.as_bytes()).contains("gyrase suffix build"));
    assert!(refused(&GOLDEN[..GOLDEN.len() - 1]).contains("truncated"));
    assert!(refused(&GOLDEN[..100]).contains("truncated"));
    assert!(refused(&[GOLDEN, b"more"].concat()).contains("truncated or was changed"));
    let mut newer = GOLDEN.to_vec();
    newer[8] = 2;
    assert!(refused(&newer).contains("of version 2, this program reads version 1"));
    let (mut silent, mut bytes) = (0, 0);
    for place in (0..GOLDEN.len()).step_by(3) {
        // The zeros of the header say nothing one by one; its checksum does, once.
        if (200..4000).contains(&place) && place % 301 != 0 {
            continue;
        }
        let mut damaged = GOLDEN.to_vec();
        damaged[place] ^= 0x20;
        let folder = tempfile::tempdir().unwrap();
        let opened = GysaFile::open(&file(folder.path(), "x.gysa", &damaged));
        bytes += 1;
        if opened.and_then(|file| file.verify()).is_ok() {
            // What is between sections aligns them, and is not read.
            assert_eq!(GOLDEN[place], 0, "byte {place}");
            silent += 1;
        }
    }
    assert!(silent * 2 < bytes, "{silent} of {bytes}");
}

#[test]
fn a_file_that_lies_is_found_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gysa");
    let (texts, honest) = sorted();
    let said = |suffixes: &SuffixArray| {
        gysa::write(&path, &texts, suffixes, false).unwrap();
        GysaFile::open(&path)
            .unwrap()
            .verify()
            .unwrap_err()
            .to_string()
    };
    let mut swapped = honest.clone();
    let [one, other] = [10, 11].map(|place| honest.positions.get(place));
    swapped.positions.set(10, other);
    swapped.positions.set(11, one);
    assert!(said(&swapped).contains("the suffix at"));
    let mut shared = honest.clone();
    shared.common.set(10, honest.common.get(10) + 1);
    assert!(said(&shared).contains("shares"));
    let mut outside = honest;
    outside.common.set(3, 1000);
    assert!(said(&outside).contains("1000 in section common"));
}

/// Sequences, each a text, in FASTA.
fn fasta(texts: &[Vec<u8>]) -> Vec<u8> {
    let record = |(number, text): (usize, &Vec<u8>)| {
        let name = format!(">t{number} a text\n");
        [name.as_bytes(), text, b"\n"].concat()
    };
    texts.iter().enumerate().flat_map(record).collect()
}

/// Processes write what one writes.
fn check_processes(files: &[Vec<u8>], letters: Option<Letters>, ranks: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let write = |(number, content): (usize, &Vec<u8>)| {
        let file = path(&format!("{number}.fa"));
        std::fs::write(&file, content).unwrap();
        file
    };
    let inputs: Vec<PathBuf> = files.iter().enumerate().map(write).collect();
    let progress = Progress::default();
    let mut texts = Texts::read(&inputs, letters, MEMORY, &progress).unwrap();
    let sorted = gyrase_suffix::sort(&mut texts, false, MEMORY, &progress).unwrap();
    let expected = gysa::write(&path("one.gysa"), &texts, &sorted, true).unwrap();
    let done = testing::run(ranks, Steal::Off, |world| {
        let (target, progress) = (path("all.gysa"), Progress::default());
        build_in(world, &inputs, letters, (&target, true), MEMORY, &progress)
    });
    let done: Vec<_> = done.into_iter().map(Result::unwrap).collect();
    assert_eq!(done[0], Some(expected));
    assert!(done[1..].iter().all(Option::is_none));
    let [one, all] = ["one.gysa", "all.gysa"].map(|name| std::fs::read(path(name)).unwrap());
    assert!(
        one == all,
        "{ranks} ranks: {:?}",
        files.concat().escape_ascii().to_string()
    );
}

/// Memory that suffices.
const MEMORY: u64 = 1 << 30;

#[test]
fn processes_write_what_one_does() {
    let mut state = 5u64;
    let mut next = |below: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    let mut random = |letters: &[u8], length: usize| -> Vec<u8> {
        (0..length).map(|_| letters[next(letters.len())]).collect()
    };
    let genome = random(b"ACGT", 3000);
    let mut fibonacci = [b"A".to_vec(), b"AC".to_vec()];
    while fibonacci[1].len() < 2000 {
        let [one, two] = fibonacci;
        fibonacci = [two.clone(), [two, one].concat()];
    }
    let [_, fibonacci] = fibonacci;
    let proteins: Vec<Vec<u8>> = (0..20).map(|at| random(b"MKLWVA", 1 + 9 * at)).collect();
    let cases: [(Vec<Vec<u8>>, Option<Letters>); 9] = [
        (vec![], None),
        (vec![vec![b'A'; 1500]], None),
        (vec![b"A".to_vec()], None),
        (
            vec![b"NNANNN".to_vec(), vec![], b"N".to_vec()],
            Some(Letters::Bases),
        ),
        (vec![fibonacci.clone(), genome.clone(), fibonacci], None),
        (vec![b"GATTACA".repeat(200), b"ATTACAG".repeat(90)], None),
        // Copies, and one that is another's beginning.
        (
            vec![
                genome.clone(),
                genome.clone(),
                genome[..1000].to_vec(),
                genome,
            ],
            None,
        ),
        (proteins, None),
        (
            vec![(b'A'..=b'Z').chain(b'a'..=b'z').collect()],
            Some(Letters::Any),
        ),
    ];
    for (texts, letters) in cases {
        for ranks in [2, 3, 7] {
            check_processes(&[fasta(&texts)], letters, ranks);
        }
    }
    let more = random(b"ACGTN", 5000);
    check_processes(
        &[
            fasta(std::slice::from_ref(&more)),
            fasta(&[]),
            fasta(&[more]),
        ],
        None,
        5,
    );
}

#[test]
fn processes_refuse_memory_that_does_not_suffice() {
    let folder = tempfile::tempdir().unwrap();
    let [input, target] = ["a.fa", "a.gysa"].map(|name| folder.path().join(name));
    std::fs::write(&input, fasta(&[vec![b'A'; 500_000]])).unwrap();
    for (memory, what) in [
        (1 << 20, "sorting the suffixes"),
        (114 << 20, "sorting what repeats"),
    ] {
        let done = testing::run(2, Steal::Off, |world| {
            let (inputs, progress) = (std::slice::from_ref(&input), Progress::default());
            build_in(world, inputs, None, (&target, false), memory, &progress)
        });
        for error in done {
            let error = error.unwrap_err().to_string();
            assert!(error.starts_with(what), "{error}");
        }
        assert!(!target.exists());
    }
}
