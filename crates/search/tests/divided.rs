//! Databases in fragments that processes hold: what they find together is what one finds alone.

#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

use std::path::Path;

use gyrase_search::{
    About, Config, DividedDatabase, FoundFragments, FragmentCache, FragmentShare, Program, Report,
    ReportFormat, SearchError, SearchMetadata,
};
use gyrase_work::Progress;

use crate::families::{Place, report};
use crate::parts::{nucleotides, proteins};

/// Bytes of memory that are enough.
const ENOUGH: u64 = 1 << 30;

fn about(config: &Config) -> About {
    About {
        program: "2.12.0+".into(),
        database: "proteins.faa".into(),
        evalue: config.limits.evalue,
    }
}

/// What so many workers find, each with a cache of its own, and how much they read.
fn found(
    divided: &DividedDatabase,
    config: &Config,
    caches: &mut [FragmentCache],
) -> (Vec<Vec<u8>>, u64) {
    let (mut all, mut read, of) = (Vec::new(), 0, caches.len());
    // Whoever is done first says it first.
    for (number, cache) in caches.iter_mut().enumerate().rev() {
        let before = cache.read();
        let (share, progress) = (FragmentShare { number, of }, Progress::default());
        divided
            .search_share::<SearchError>(config, share, cache, &progress, |text| {
                all.push(text);
                Ok(())
            })
            .unwrap();
        read += cache.read() - before;
    }
    (all, read)
}

/// What was found, some of it in a file.
fn gathered(config: &Config, found: &[Vec<u8>]) -> FoundFragments {
    let mut gathered = FoundFragments::new(config.waiting.clone(), found[0].len() as u64);
    for text in found {
        gathered.push(text.clone()).unwrap();
    }
    gathered
}

/// What was found, in a format.
fn merged(
    divided: &DividedDatabase,
    config: &Config,
    found: &[Vec<u8>],
    format: ReportFormat,
) -> Vec<u8> {
    let (report, mut out) = (Report::new(format, about(config)), Vec::new());
    let summary = divided
        .merge::<SearchError>(
            config,
            gathered(config, found),
            &Progress::default(),
            |answer| {
                report.answer(&mut out, answer).unwrap();
                Ok(())
            },
        )
        .unwrap();
    report.finish(&mut out, summary.queries as usize).unwrap();
    out
}

/// The report of metadata with alignments, of which the database reads what it needs.
fn again(divided: &DividedDatabase, config: &Config, metadata: &[u8], format: &str) -> Vec<u8> {
    let metadata = SearchMetadata::of_bytes(Path::new("hits.gym"), metadata).unwrap();
    let (report, mut out) = (
        Report::new(format.parse().unwrap(), about(config)),
        Vec::new(),
    );
    let asked = (&metadata, 0..metadata.queries());
    divided
        .answers_again::<SearchError>(config, asked, &Progress::default(), |answer| {
            report.answer(&mut out, answer).unwrap();
            Ok(())
        })
        .unwrap();
    report.finish(&mut out, metadata.queries()).unwrap();
    out
}

#[test]
fn any_shares_give_the_same_bytes() {
    for program in [Program::Blastp, Program::Blastn, Program::Tblastx] {
        let place = Place::new();
        let config = match program {
            Program::Blastp => proteins(&place),
            _ => nucleotides(&place),
        };
        let config = Config {
            program: Some(program),
            memory: ENOUGH,
            ..config
        };
        let expected = report(&config, "0").unwrap();
        let text = std::fs::read(&config.queries[0]).unwrap().into();
        let config = Config {
            queries: Vec::new(),
            query_texts: vec![("queries in memory".into(), text)],
            ..config
        };
        let files = config.subjects.clone();
        let divided = DividedDatabase::open(files.clone(), 8, 1, &Progress::default()).unwrap();
        let same = DividedDatabase::open(files, 8, 2, &Progress::default()).unwrap();
        assert_eq!(divided.digest(), same.digest());
        let mut caches: Vec<_> = (0..5).map(|_| FragmentCache::new(ENOUGH)).collect();
        for workers in [1, 2, 5] {
            let (found, _) = found(&divided, &config, &mut caches[..workers]);
            assert!(found.len() >= 8, "{}", found.len());
            let text = merged(&divided, &config, &found, "0".parse().unwrap());
            assert!(
                text == expected.as_bytes(),
                "{program:?}, {workers} workers"
            );
            assert!(!place.0.path().join("waiting").exists());
            let metadata = ReportFormat::metadata(Vec::new(), true);
            let metadata = merged(&divided, &config, &found, metadata);
            let text = again(&divided, &config, &metadata, "0");
            assert!(text == expected.as_bytes(), "{program:?} again");
        }
    }
}

#[test]
fn what_is_held_is_not_read_again() {
    let place = Place::new();
    let config = Config {
        memory: ENOUGH,
        ..proteins(&place)
    };
    let files = config.subjects.clone();
    let divided = DividedDatabase::open(files, 4, 1, &Progress::default()).unwrap();
    let mut two = [(); 2].map(|()| FragmentCache::new(ENOUGH));
    let (_, first) = found(&divided, &config, &mut two);
    assert_eq!(first, divided.bytes()[0]);
    let (_, second) = found(&divided, &config, &mut two);
    assert_eq!(second, 0);
    // The first has every other fragment.
    let (_, rest) = found(&divided, &config, &mut two[..1]);
    assert!(rest > 0 && rest < first, "{rest} of {first}");
    // With room for about one fragment each is read again.
    let mut small = [FragmentCache::new(first / 3)];
    let (text, read) = found(&divided, &config, &mut small);
    assert_eq!(text.len(), divided.fragments());
    let (again, more) = found(&divided, &config, &mut small);
    assert!((read, more, text) == (first, first, again));
    let mut none = FragmentCache::new(1000);
    let share = FragmentShare { number: 0, of: 1 };
    let refused = divided.search_share::<SearchError>(
        &config,
        share,
        &mut none,
        &Progress::default(),
        |_| Ok(()),
    );
    assert!(matches!(refused, Err(SearchError::Memory { .. })));
}

#[test]
fn words_of_what_is_searched_often_are_indexed() {
    let place = Place::new();
    let config = Config {
        program: Some(Program::Blastn),
        memory: ENOUGH,
        ..nucleotides(&place)
    };
    let other = Config {
        program: Some(Program::DcMegablast),
        ..config.clone()
    };
    let files = config.subjects.clone();
    let divided = DividedDatabase::open(files, 2, 1, &Progress::default()).unwrap();
    let caches = |most| [FragmentCache::new(most)];
    let [mut with_room, mut least, mut of_other] = [ENOUGH, divided.bytes()[1], ENOUGH].map(caches);
    let (expected, _) = found(&divided, &config, &mut with_room);
    for _ in 0..20 {
        assert_eq!(found(&divided, &config, &mut least).0, expected);
        found(&divided, &other, &mut of_other);
        found(&divided, &config, &mut with_room);
    }
    // An index needs as much again while it is made.
    let most = divided.fragments();
    for (cache, indexes) in [
        (&mut least, most - 1),
        (&mut of_other, 0),
        (&mut with_room, most),
    ] {
        let make = || {
            let begun = cache[0].index_words(2);
            cache[0].finish_indexing();
            begun
        };
        let made = std::iter::repeat_with(make).take_while(|&made| made);
        assert_eq!(made.count(), indexes);
    }
    assert_eq!(found(&divided, &config, &mut with_room), (expected, 0));
}

#[test]
fn damage_of_what_was_found_is_an_error() {
    let place = Place::new();
    let config = Config {
        memory: ENOUGH,
        ..proteins(&place)
    };
    let files = config.subjects.clone();
    let divided = DividedDatabase::open(files, 2, 1, &Progress::default()).unwrap();
    let (mut found, _) = found(&divided, &config, &mut [FragmentCache::new(ENOUGH)]);
    let last = found.last_mut().unwrap();
    last.truncate(last.len() - 3);
    let merged = divided.merge::<SearchError>(
        &config,
        gathered(&config, &found),
        &Progress::default(),
        |_| Ok(()),
    );
    assert!(merged.is_err());
}
