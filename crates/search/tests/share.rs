//! A search that is divided: by hand, among processes, into runs that go on with each other.

#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

use gyrase_fabric::{Alone, Steal, World, testing};
use gyrase_files::OutputError;
use gyrase_search::{About, Config, Report, ReportTarget, SearchError, WaitingText, run_in};
use gyrase_work::Progress;

use crate::families::{Place, Random, families, report, table};

#[test]
fn shards_by_hand_have_the_rows_of_the_whole() {
    let (queries, subjects) = families(&mut Random::new());
    let place = Place::new();
    let mut whole = place.config(&queries, &subjects);
    whole.limits.evalue = 10.0;
    let sorted = |tables: &str| {
        let mut rows: Vec<String> = tables.lines().map(str::to_owned).collect();
        rows.sort();
        rows
    };
    let expected = sorted(&table(&whole).unwrap());
    assert!(expected.len() > 50);
    let letters = subjects.iter().map(|one| one.lines().last().unwrap().len());
    let (letters, sequences) = (letters.sum::<usize>() as u64, subjects.len() as u64);
    for shards in [2, 7] {
        let (mut found, mut alone) = (String::new(), String::new());
        for number in 0..shards {
            let of_shard = subjects.iter().skip(number).step_by(shards).cloned();
            let mut shard = place.config(&queries, &of_shard.collect::<Vec<_>>());
            shard.limits.evalue = 10.0;
            alone += &table(&shard).unwrap();
            (shard.db_length, shard.db_sequences) = (Some(letters), Some(sequences));
            found += &table(&shard).unwrap();
        }
        assert_eq!(sorted(&found), expected, "{shards} shards");
        assert_ne!(sorted(&alone), expected, "{shards} shards");
    }
}

/// Several batches of queries, and what is reported of them.
fn many_queries(place: &Place, format: &str) -> (Config, Report, String) {
    let (queries, subjects) = families(&mut Random::new());
    let again = |number: usize| queries.replace(">q", &format!(">again{number}-"));
    let config = place.config(&(0..9).map(again).collect::<String>(), &subjects);
    let about = About {
        program: "2.12.0+".into(),
        database: "proteins.faa".into(),
        evalue: config.limits.evalue,
    };
    let expected = report(&config, format).unwrap();
    (
        config,
        Report::new(format.parse().unwrap(), about),
        expected,
    )
}

fn waiting(place: &Place, resume: bool) -> WaitingText {
    WaitingText {
        folder: place.0.path().join("waiting"),
        limit: None,
        resume,
    }
}

#[test]
fn processes_write_what_one_does() {
    for (format, resume) in [("6", false), ("7", true), ("5", false)] {
        let place = Place::new();
        let (config, report, expected) = many_queries(&place, format);
        let (path, waiting) = (place.0.path().join("o.txt"), waiting(&place, resume));
        for (ranks, threads) in [(1, 2), (2, 1), (4, 2)] {
            let own = |rank: usize| Config {
                threads: if rank == 0 { threads } else { 1 },
                memory: config.memory >> (rank % 3),
                waiting: waiting.clone(),
                ..config.clone()
            };
            let search = |world: &testing::Process, target: ReportTarget| {
                let (config, progress) = (own(world.rank()), Progress::default());
                run_in(&config, &report, world, target, &progress)
            };
            let to_file = |world: &testing::Process| search(world, ReportTarget::File(&path));
            let summaries = testing::run(ranks, Steal::Off, to_file);
            let summaries: Vec<_> = summaries.into_iter().map(Result::unwrap).collect();
            assert!(summaries[1..].iter().all(Option::is_none));
            assert_eq!(summaries[0].as_ref().unwrap().queries, 108);
            let found = std::fs::read_to_string(&path).unwrap();
            assert!(found == expected, "{format}, {ranks} ranks");
            let streamed = testing::run(ranks, Steal::Off, |world| {
                let mut text = Vec::new();
                let mut take = |part: &[u8]| {
                    text.extend_from_slice(part);
                    Ok(())
                };
                search(world, ReportTarget::Stream(&mut take))?;
                Ok::<_, SearchError>(text)
            });
            let streamed: Vec<_> = streamed.into_iter().map(Result::unwrap).collect();
            assert!(
                streamed[0] == expected.as_bytes(),
                "{format}, {ranks} ranks"
            );
            assert!(streamed[1..].iter().all(Vec::is_empty));
            assert!(!waiting.folder.exists());
        }
    }
}

#[test]
fn what_was_kept_is_not_searched_again() {
    let place = Place::new();
    let (config, report, expected) = many_queries(&place, "6");
    let waiting = waiting(&place, true);
    let search = |config: &Config, take: &mut dyn FnMut(&[u8]) -> Result<(), OutputError>| {
        let (target, progress) = (ReportTarget::Stream(take), Progress::default());
        let config = Config {
            waiting: waiting.clone(),
            ..config.clone()
        };
        run_in(&config, &report, &Alone, target, &progress)
    };
    let full = |_: &[u8]| {
        Err(OutputError {
            path: "o".into(),
            source: std::io::ErrorKind::StorageFull.into(),
        })
    };
    let log = waiting.folder.join("kept-0.batches");
    let lines = || std::fs::read_to_string(&log).unwrap().lines().count();
    assert!(matches!(
        search(&config, &mut full.clone()),
        Err(SearchError::Output(_))
    ));
    let kept = lines();
    assert!(kept > 1, "a question, and a batch");
    // Of another question nothing is taken.
    let mut other = config.clone();
    other.limits.top = 3;
    assert!(search(&other, &mut full.clone()).is_err());
    assert!(std::fs::read_to_string(&log).unwrap().contains("top: 3"));
    assert!(search(&config, &mut full.clone()).is_err());
    // What is kept is written as it is, if its checksum is right.
    let path = waiting.folder.join("kept-0.text");
    let mut text = std::fs::read(&path).unwrap();
    let mut windows = text.windows(9);
    let at = windows.position(|name| name == b"again0-0\t").unwrap();
    text[at..at + 9].copy_from_slice(b"AGAIN0-0\t");
    std::fs::write(&path, &text).unwrap();
    let lines = std::fs::read_to_string(&log).unwrap();
    let checked = lines.lines().map(|line| {
        let mut numbers: Vec<&str> = line.split(' ').collect();
        let [batch, offset, length] = [0, 1, 2].map(|at| numbers[at].parse::<usize>().ok());
        let Some(((_, from), length)) = batch.zip(offset).zip(length) else {
            return format!("{line}\n");
        };
        let crc = crc32fast::hash(&text[from..from + length]).to_string();
        numbers[3] = &crc;
        numbers.join(" ") + "\n"
    });
    std::fs::write(&log, checked.collect::<String>()).unwrap();
    let expected = expected.replacen("again0-0\t", "AGAIN0-0\t", 1);
    let mut found = Vec::new();
    let mut take = |part: &[u8]| {
        found.extend_from_slice(part);
        Ok(())
    };
    search(&config, &mut take).unwrap();
    assert!(found == expected.as_bytes());
    assert!(!waiting.folder.exists());
}

#[test]
fn processes_without_queries_write_what_one_does() {
    let place = Place::new();
    let (config, ..) = many_queries(&place, "6");
    std::fs::write(&config.queries[0], "").unwrap();
    let path = place.0.path().join("o.txt");
    for format in ["0", "5", "6", "7", "15", "16", "jsonl", "html"] {
        let expected = report(&config, format).unwrap();
        let about = About {
            program: "2.12.0+".into(),
            database: "proteins.faa".into(),
            evalue: config.limits.evalue,
        };
        let report = Report::new(format.parse().unwrap(), about);
        let search = |world: &testing::Process| {
            let (target, progress) = (ReportTarget::File(&path), Progress::default());
            run_in(&config, &report, world, target, &progress)
        };
        let done = testing::run(3, Steal::Off, search);
        assert!(done.iter().all(Result::is_ok), "{done:?}");
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            expected,
            "{format}"
        );
    }
}
