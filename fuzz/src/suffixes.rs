//! The reader of `.gysa`, where the first byte chooses as for candidates; and exact matches, where
//! the rest is a reference and a query of few letters.

use std::sync::OnceLock;

use gyrase_suffix::gysa::GysaFile;
use gyrase_suffix::matching::{ExactMatch, matches};
use gyrase_suffix::{Letters, Texts, mappability, repeats};
use gyrase_work::Progress;

use crate::databases::edit;
use crate::seals;

/// Memory that a small file never takes.
const MEMORY: u64 = 1 << 30;

/// A file of today's version, and what is told of it.
fn valid() -> &'static (Vec<u8>, Vec<u8>) {
    static VALID: OnceLock<(Vec<u8>, Vec<u8>)> = OnceLock::new();
    VALID.get_or_init(|| {
        let path = crate::repository().join("crates/suffix/tests/golden/v1.gysa");
        let bytes = std::fs::read(path).expect("the golden file is there");
        let told = told(&bytes).expect("the golden file is whole");
        (bytes, told)
    })
}

/// The repeats and the mappability of a file of these bytes; nothing where it is refused.
fn told(bytes: &[u8]) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().expect("the system has room for a small folder");
    let path = folder.path().join("x.gysa");
    std::fs::write(&path, bytes).expect("a small file can be written");
    let file = GysaFile::open(&path).ok()?;
    let _ = file.verify();
    let (progress, mut told) = (Progress::default(), Vec::new());
    let config = repeats::Config {
        least: 3,
        kind: repeats::RepeatKind::Maximal,
        spread: repeats::Spread::Anywhere,
        both_strands: false,
        memory: MEMORY,
    };
    let (texts, sorted) = (file.texts().ok()?, file.suffix_array().ok()?);
    let both = (texts.clone(), Some(sorted.clone()));
    repeats::run(&config, both.0, both.1, &mut told, None, &progress).ok()?;
    let config = mappability::Config {
        k: 4,
        both_strands: false,
        counts: true,
        memory: MEMORY,
    };
    mappability::run(&config, texts, Some(sorted), &mut told, &progress).ok()?;
    Some(told)
}

/// No bytes make the reader panic, nor what finds repeats, and a changed file is refused or tells
/// the same, unless its checksums were changed with it.
pub fn gysa(data: &[u8]) {
    let Some((&choice, rest)) = data.split_first() else {
        return;
    };
    if choice % 2 == 1 {
        told(rest);
        return;
    }
    let (whole, expected) = valid();
    let mut bytes = whole.clone();
    edit(&mut bytes, rest);
    if choice % 4 == 2 {
        seals::gysa(&mut bytes);
        told(&bytes);
        return;
    }
    if let Some(found) = told(&bytes) {
        assert!(&found == expected, "a changed file tells other repeats");
    }
}

/// Exact matches are those of the definition.
pub fn exact_matches(data: &[u8]) {
    let [least, letters, cut, rest @ ..] = data else {
        return;
    };
    let rest = &rest[..rest.len().min(1 << 9)];
    let letters = 1 + usize::from(letters % 5);
    let letter = |byte: &u8| b"ACGTN"[usize::from(*byte) % letters];
    let all: Vec<u8> = rest.iter().map(letter).collect();
    let (reference, query) = all.split_at(all.len() * usize::from(*cut) / 256);
    let least = 1 + usize::from(least % 40);
    let mut texts = Texts::new(Letters::Bases);
    texts.push(b"reference", 0, reference);
    let found = matches(&texts, query, least).expect("the reference is short");
    assert!(
        found == by_definition(reference, query, least),
        "{texts:?} {query:?} {least}"
    );
}

fn by_definition(reference: &[u8], query: &[u8], least: usize) -> Vec<ExactMatch> {
    let is_base = |letter: u8| letter != b'N';
    let mut all = Vec::new();
    for at in 0..query.len() {
        for place in 0..reference.len() {
            let equal = |(one, other): &(&u8, &u8)| one == other && is_base(**one);
            let before = query[..at].last().zip(reference[..place].last());
            if before.as_ref().is_some_and(equal) {
                continue;
            }
            let behind = query[at..].iter().zip(&reference[place..]);
            let length = behind.take_while(equal).count();
            if length >= least {
                let (query, reference) = (at, place);
                all.push(ExactMatch {
                    query,
                    reference,
                    length,
                });
            }
        }
    }
    all
}
