//! Suffix arrays by the host twin, against the definition.

#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

mod twin;

use std::cmp::Ordering;
use std::path::Path;

use gyrase_gpu::{Gpu, GpuError, GpuLibrary, GpuShare};
use gyrase_kmer::mix;

/// Letters that two suffixes share before a sentinel, and their order.
fn compared(text: &[u8], one: usize, other: usize) -> (usize, Ordering) {
    let pairs = text[one..].iter().zip(&text[other..]);
    let equal = pairs.take_while(|(a, b)| a == b && **a != 0).count();
    let [a, b] = [text[one + equal], text[other + equal]];
    (equal, a.cmp(&b).then(one.cmp(&other)))
}

fn share<'g>(library: &'g GpuLibrary, gpu: &'g Gpu, memory: u64) -> GpuShare<'g> {
    GpuShare {
        library,
        gpu,
        memory,
    }
}

fn check(library: &GpuLibrary, text: &[u8]) {
    let gpu = library.gpu(None).unwrap();
    let sorted = share(library, &gpu, 1 << 30).suffixes(text).unwrap();
    let mut expected: Vec<usize> = (0..text.len()).collect();
    expected.sort_by(|&one, &other| compared(text, one, other).1);
    let shown = &text[..text.len().min(60)];
    assert!(
        sorted
            .positions
            .iter()
            .map(|&at| at as usize)
            .eq(expected.iter().copied()),
        "{shown:?}"
    );
    let pairs = expected
        .windows(2)
        .map(|two| compared(text, two[0], two[1]).0);
    let common = [0].into_iter().chain(pairs).take(text.len());
    assert!(
        sorted
            .common
            .iter()
            .map(|&shared| shared as usize)
            .eq(common),
        "{shown:?}"
    );
}

fn random(letters: usize, alphabet: &[u8], seed: u64) -> Vec<u8> {
    let letter = |i| alphabet[(mix(i ^ seed << 40) >> 33) as usize % alphabet.len()];
    (0..letters as u64).map(letter).collect()
}

#[test]
fn suffixes_are_in_order() {
    let Some(path) = twin::twin(Path::new(env!("CARGO_TARGET_TMPDIR"))) else {
        return;
    };
    let library = GpuLibrary::load(path).unwrap();
    let ended = |letters: &[u8]| [letters, &[0]].concat();
    check(&library, b"");
    check(&library, b"\0");
    check(&library, b"\0\0\0\0");
    check(&library, b"GATTACA\0");
    check(&library, &ended(&[b'A'; 700]));
    check(
        &library,
        &ended(&[&[b'A'; 300][..], &[0; 3], &[b'A'; 299]].concat()),
    );
    let (mut fibonacci, mut before) = (b"A".to_vec(), b"C".to_vec());
    while fibonacci.len() < 1000 {
        let next = [&fibonacci[..], &before].concat();
        before = std::mem::replace(&mut fibonacci, next);
    }
    check(&library, &ended(&fibonacci));
    let thue_morse: Vec<u8> = (0..1024u32)
        .map(|i| b"AC"[i.count_ones() as usize % 2])
        .collect();
    check(&library, &ended(&thue_morse));
    for (seed, alphabet) in (1..).zip([
        &b"A"[..],
        b"AC",
        b"ACGT\0",
        b"ACGT",
        b"ACDEFGHIKLMNPQRSTVWY",
    ]) {
        for letters in [1, 20, 21, 22, 31, 32, 33, 63, 64, 65, 1500] {
            check(&library, &ended(&random(letters, alphabet, seed)));
        }
    }
    let all: Vec<u8> = (0..=255).collect();
    check(&library, &ended(&random(2000, &all, 9)));
    // Copies in one text and in others, far longer than a key.
    let copy = random(500, b"ACGT", 11);
    let spaced = |seed| random(77, b"ACGT", seed);
    let copies = [
        &copy[..],
        &spaced(1),
        &copy,
        b"\0",
        &spaced(2),
        &copy,
        b"\0\0",
        &copy,
    ];
    check(&library, &ended(&copies.concat()));
}

#[test]
fn a_text_that_takes_too_much_memory_is_declined() {
    let Some(path) = twin::twin(Path::new(env!("CARGO_TARGET_TMPDIR"))) else {
        return;
    };
    let library = GpuLibrary::load(path).unwrap();
    let gpu = library.gpu(None).unwrap();
    let text = [vec![b'A'; 9999], vec![0]].concat();
    let declined = share(&library, &gpu, 100_000).suffixes(&text);
    assert!(matches!(declined, Err(GpuError::Declined)));
}
