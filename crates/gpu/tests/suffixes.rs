//! Suffix arrays by the host twin, against the definition.

#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

mod twin;

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::path::Path;

use gyrase_gpu::{Gpu, GpuError, GpuHop, GpuLibrary, GpuRoutes, GpuShare, GpuShares, GpuSuffixes};
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

/// Each message goes straight to its target.
fn direct(devices: usize) -> GpuRoutes {
    let pairs = (0..devices * devices).map(|pair| (pair / devices, pair % devices));
    let hop = |(source, target)| GpuHop {
        from: source,
        to: target,
        source,
        target,
        chunks: 0..1,
        after: None,
    };
    let hops = pairs.filter(|(source, target)| source != target).map(hop);
    GpuRoutes::new(devices, 1, hops.collect())
}

/// Each message goes round a ring, half of it either way.
fn ring(devices: usize) -> GpuRoutes {
    let mut hops = Vec::new();
    for pair in 0..devices * devices {
        let (source, target) = (pair / devices, pair % devices);
        for (chunk, step) in [(0, 1), (1, devices - 1)] {
            let (mut from, mut after) = (source, None);
            while from != target {
                let to = (from + step) % devices;
                hops.push(GpuHop {
                    from,
                    to,
                    source,
                    target,
                    chunks: chunk..chunk + 1,
                    after,
                });
                (from, after) = (to, Some(hops.len() - 1));
            }
        }
    }
    GpuRoutes::new(devices, 2, hops)
}

fn sorted_among(
    library: &GpuLibrary,
    text: &[u8],
    routes: &GpuRoutes,
    memory: u64,
) -> Result<GpuSuffixes, GpuError> {
    let shares = GpuShares {
        library,
        shares: vec![(0, memory); routes.devices()],
        routes,
    };
    shares.suffixes(text)
}

/// So many logical devices sort as one does.
fn check_among(library: &GpuLibrary, text: &[u8], devices: usize, sorted: &GpuSuffixes) {
    for routes in [direct(devices), ring(devices)] {
        let among = sorted_among(library, text, &routes, 1 << 30).unwrap();
        let shown = &text[..text.len().min(60)];
        assert!(among == *sorted, "{devices} devices: {shown:?}");
    }
}

fn check(library: &GpuLibrary, text: &[u8]) {
    let gpu = library.gpu(None).unwrap();
    let share = share(library, &gpu, 1 << 30);
    let sorted = share.suffixes(text).unwrap();
    assert_eq!(share.suffix_array(text).unwrap(), sorted.positions);
    check_among(library, text, 1 + text.len() % 8, &sorted);
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

/// So many times the same letters, and behind each what tells it from others.
fn times(count: usize, copy: &[u8], told: impl Fn(usize) -> Vec<u8>) -> Vec<u8> {
    (0..count)
        .flat_map(|number| [copy, &told(number)].concat())
        .collect()
}

#[test]
fn buckets_of_every_size_are_sorted() {
    let Some(path) = twin::twin(Path::new(env!("CARGO_TARGET_TMPDIR"))) else {
        return;
    };
    let library = GpuLibrary::load(path).unwrap();
    let ended = |letters: &[u8]| [letters, &[0]].concat();
    let copy = random(50, b"ACGT", 21);
    // About as many as a small bucket has, and as a warp looks at.
    let counts = [2, 31, 32, 33, 34, 65, 224, 225, 256, 257];
    for count in counts {
        let seed = |number| (count * 1000 + number) as u64;
        // All stay together until the copies end, and then they part at once.
        let told = |number| random(40, b"ACGT", seed(number));
        check(&library, &ended(&times(count, &copy, told)));
        // The same, and a sentinel ends each.
        check(&library, &times(count, &copy, |_| vec![0]));
        // Large ones become small ones, which stay for a while: there are two or three of each.
        let told = |number| random(80, b"ACGT", seed(number % (count / 2 + 1)));
        check(&library, &ended(&times(count, &copy, told)));
        // Of each bucket a few part: they become large ones, and then alone.
        let told = |number| match number % 40 {
            0 => random(9, b"AC", seed(number)),
            _ => b"T".to_vec(),
        };
        check(&library, &ended(&times(count, &copy, told)));
        // A few letters, and all others.
        let told = |number| vec![b'A' + number as u8 % 3; number % 67 + 1];
        check(&library, &ended(&times(count, b"GT", told)));
    }
}

#[test]
fn alphabets_of_every_size_are_sorted() {
    let Some(path) = twin::twin(Path::new(env!("CARGO_TARGET_TMPDIR"))) else {
        return;
    };
    let library = GpuLibrary::load(path).unwrap();
    for size in (1..=20).chain([31, 32, 63, 64, 127, 128, 129, 254, 255]) {
        let alphabet: Vec<u8> = (0..size).map(|letter| 255 - letter).collect();
        // The letters of a key, and one more or less.
        let key = (1..).find(|&letters| (u128::from(size) + 1).pow(letters) > 1 << 64);
        let key = key.unwrap() as usize - 1;
        for length in [key - 1, key, key + 1, 2 * key, 3 * key + 1] {
            let letters = random(length, &alphabet, u64::from(size));
            let last = vec![alphabet[0]; length];
            check(&library, &[&letters[..], &[0], &letters, &[0]].concat());
            check(&library, &[&last[..], &[0], &last, &letters, &[0]].concat());
        }
    }
}

/// Each word of so many letters once.
fn de_bruijn(letters: usize) -> Vec<u8> {
    let (mut text, mut seen) = (vec![b'A'; letters], BTreeSet::new());
    seen.insert(text.clone());
    while let Some(next) = b"TGCA".iter().find(|&&letter| {
        let word = [&text[text.len() - letters + 1..], &[letter]].concat();
        seen.insert(word)
    }) {
        text.push(*next);
    }
    text
}

#[test]
fn any_number_of_devices_sorts_as_one_does() {
    let Some(path) = twin::twin(Path::new(env!("CARGO_TARGET_TMPDIR"))) else {
        return;
    };
    let library = GpuLibrary::load(path).unwrap();
    let gpu = library.gpu(None).unwrap();
    let share = share(&library, &gpu, 1 << 30);
    let (mut fibonacci, mut before) = (b"A".to_vec(), b"C".to_vec());
    while fibonacci.len() < 3000 {
        let next = [&fibonacci[..], &before].concat();
        before = std::mem::replace(&mut fibonacci, next);
    }
    let copy = random(900, b"ACGT", 31);
    let all: Vec<u8> = (0..=255).collect();
    let texts = [
        vec![],
        vec![b'A'; 5000],
        vec![0; 100],
        b"GA".to_vec(),
        fibonacci,
        (0..4096u32)
            .map(|i| b"AC"[i.count_ones() as usize % 2])
            .collect(),
        de_bruijn(6),
        [&copy[..], &[0], &copy, &copy[7..], &[0, 0], &copy[..99]].concat(),
        b"GATTACA\0".repeat(400),
        random(5000, b"ACGT", 32),
        random(5000, b"ACGT\0", 33),
        random(5000, &all, 34),
    ];
    for text in texts {
        let text = [&text[..], &[0]].concat();
        let sorted = share.suffixes(&text).unwrap();
        for devices in 1..=8 {
            check_among(&library, &text, devices, &sorted);
        }
    }
}

#[test]
#[should_panic(expected = "each chunk comes once")]
fn a_plan_that_forgets_a_device_is_refused() {
    let hop = GpuHop {
        from: 0,
        to: 1,
        source: 0,
        target: 1,
        chunks: 0..1,
        after: None,
    };
    GpuRoutes::new(2, 1, vec![hop]);
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
    // Equal letters are for one device, whatever there is for others.
    let declined = sorted_among(&library, &text, &direct(4), 300_000);
    assert!(matches!(declined, Err(GpuError::Declined)));
    let other = [random(9999, b"ACGT", 41), vec![0]].concat();
    assert!(sorted_among(&library, &other, &direct(4), 300_000).is_ok());
}
