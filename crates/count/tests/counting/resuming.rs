//! Runs killed at any moment and resumed: the same bytes, nothing left behind.

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gyrase_count::{Config, Error, Summary, run};
use gyrase_work::Progress;

use crate::naive::Random;
use crate::runs::{Place, done, least, run_until};
use crate::spilling::genome;

const CHILD: &str = "GYRASE_TEST_CHILD";
/// Little more than the least memory holds.
const MEGABASES: usize = 15;

/// A run out of core that can be resumed.
fn config(place: &Place, input: &Path) -> Config {
    Config {
        resume: true,
        ..least(place.config(&[input.to_path_buf()], 15, false))
    }
}

/// What a child of this test does: it counts until a stage has come so far, and dies.
#[test]
fn child() {
    let Ok(order) = std::env::var(CHILD) else {
        return;
    };
    let [folder, input, threads, stage, units] = order.split('\n').collect::<Vec<_>>()[..] else {
        panic!("{order}")
    };
    let (tmp, output) = (
        Path::new(folder).join("tmp"),
        Path::new(folder).join("out/x.gyk"),
    );
    let place = Place::new();
    let config = Config {
        tmp,
        output,
        threads: threads.parse().unwrap(),
        ..config(&place, Path::new(input))
    };
    let config = least(config);
    run_until(&config, stage, units.parse().unwrap(), |_| die_at_once()).unwrap();
}

fn die_at_once() {
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL)
        .unwrap();
}

/// Runs in a child that dies when the stage has come so far.
fn die(place: &Place, input: &Path, threads: usize, stage: &str, units: u64) {
    let order = format!(
        "{}\n{}\n{threads}\n{stage}\n{units}",
        place.folder.path().display(),
        input.display()
    );
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["resuming::child", "--exact"])
        .env(CHILD, order)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().unwrap();
}

/// A database, made without interruption.
fn undisturbed(place: &Place, input: &Path) -> Vec<u8> {
    let summary = done(&Config {
        resume: false,
        ..config(place, input)
    });
    assert!(summary.spilled_bytes > 0);
    place.take()
}

fn spill_folder(place: &Place) -> PathBuf {
    std::fs::read_dir(place.tmp())
        .unwrap()
        .next()
        .expect("a folder with spill files")
        .unwrap()
        .path()
}

/// True when a run that spilled all was cut short.
fn noted(place: &Place) -> bool {
    std::fs::read_dir(place.tmp())
        .unwrap()
        .any(|folder| folder.unwrap().path().join("manifest").exists())
}

fn finish(place: &Place, input: &Path, threads: usize, expected: &[u8]) -> Summary {
    let summary = done(&least(Config {
        threads,
        ..config(place, input)
    }));
    assert!(place.take() == expected, "other bytes");
    summary
}

#[test]
fn a_run_killed_at_any_moment_is_resumed() {
    let place = Place::new();
    let input = genome(&place, MEGABASES, 31);
    let expected = undisturbed(&place, &input);
    let mut random = Random(32);

    // Killed while it reads, again and again: every run begins anew, and nothing piles up.
    for units in [random.below(MEGABASES * 1_000_000), 14_500_000] {
        die(&place, &input, 1, "read", units as u64);
        assert!(place.left().contains(&"x.gyk.partial".to_owned()) && !place.output().exists());
    }
    let noted = noted(&place);
    assert!(finish(&place, &input, 1, &expected).resumed_bins == 0 || noted);

    // Killed while it counts, resumed, killed later on, resumed with other threads.
    let mut before = 0;
    for (threads, units) in [
        (1, 0),
        (1, 1 + random.below(1000)),
        (2, 1500 + random.below(2000)),
        (1, 4095),
    ] {
        die(&place, &input, threads, "count", units as u64);
        if !place.output().exists() {
            assert_eq!(place.left().len(), 2, "{:?}", place.left());
            let log = std::fs::read_to_string(spill_folder(&place).join("bins")).unwrap();
            let bins = log.lines().count() - 3;
            // With two threads many bins may wait for one that takes its time.
            assert!(
                bins >= before && (threads > 1 || bins + 2 >= units),
                "{bins} bins after {units}"
            );
            before = bins;
        }
    }
    if !place.output().exists() {
        let summary = finish(&place, &input, 2, &expected);
        assert!(
            summary.resumed_bins >= before,
            "{} bins",
            summary.resumed_bins
        );
        assert!(
            summary.spilled_bytes > 0,
            "the spill files of the first run were used"
        );
    }
}

#[test]
fn a_cancelled_run_is_resumed_or_begun_anew() {
    let place = Place::new();
    let input = genome(&place, MEGABASES, 33);
    let expected = undisturbed(&place, &input);
    let cancelled = |config: &Config, stage, units| {
        let error = run_until(config, stage, units, Progress::cancel).unwrap_err();
        let text = error.to_string();
        assert!(
            matches!(
                error,
                Error::Tabulate(gyrase_tabulate::TabulateError::Cancelled)
            ),
            "{text}"
        );
        assert!(!place.output().exists());
    };
    let with = config(&place, &input);
    let without = Config {
        resume: false,
        ..with.clone()
    };
    for (stage, units) in [
        ("read", 0),
        ("read", 14_500_000),
        ("count", 0),
        ("count", 700),
    ] {
        cancelled(&without, stage, units);
        assert_eq!(place.left(), [""; 0], "{stage} {units}");
    }
    cancelled(&with, "read", 14_500_000);
    assert!(
        place.left().is_empty() || noted(&place),
        "what cannot be resumed is not kept"
    );
    cancelled(&with, "count", 900);
    assert_eq!(place.left().len(), 2);
    let resumed = finish(&place, &input, 1, &expected).resumed_bins;
    assert!(resumed >= 890, "{resumed} bins");

    // Without --resume the next run has no use for what was left, and removes it.
    cancelled(&with, "count", 10);
    done(&without);
    assert!(place.take() == expected);
}

#[test]
fn what_does_not_belong_to_the_run_is_not_used() {
    let place = Place::new();
    let input = genome(&place, MEGABASES, 34);
    let expected = undisturbed(&place, &input);
    let stop =
        |units| run_until(&config(&place, &input), "count", units, Progress::cancel).unwrap_err();

    // Another question about the same inputs.
    stop(800);
    let other = Config {
        min_count: 2,
        ..config(&place, &input)
    };
    assert_eq!(done(&other).resumed_bins, 0);
    let repeated = place.take();
    done(&Config {
        resume: false,
        ..other
    });
    assert!(place.take() == repeated);

    // The input changed, to one of the same length.
    stop(800);
    std::thread::sleep(std::time::Duration::from_millis(20));
    let changed = genome(&place, MEGABASES, 35);
    let summary = done(&config(&place, &changed));
    assert_eq!(summary.resumed_bins, 0);
    let resumed = place.take();
    assert!(resumed == undisturbed(&place, &changed) && resumed != expected);
}

#[test]
fn a_database_that_counts_less_than_was_read_is_not_made() {
    let place = Place::new();
    let input = genome(&place, MEGABASES, 37);
    let config = config(&place, &input);
    run_until(&config, "count", 1000, Progress::cancel).unwrap_err();
    let path = spill_folder(&place).join("bins");
    let log = std::fs::read_to_string(&path).unwrap();
    let read = log.lines().nth(1).unwrap();
    let mut numbers: Vec<u64> = read.split(' ').map(|it| it.parse().unwrap()).collect();
    let kmers = numbers[3];
    numbers[3] += 1;
    let changed: Vec<String> = numbers.iter().map(u64::to_string).collect();
    std::fs::write(&path, log.replace(read, &changed.join(" "))).unwrap();
    let error = run(&config, &Progress::default()).unwrap_err();
    let Error::Miscounted { read, counted } = error else {
        panic!("{error}")
    };
    assert_eq!((read, counted), (kmers + 1, kmers));
    assert!(!place.output().exists());
}

/// The files of a run that was cut short, to be damaged in many ways.
struct Rest {
    folder: PathBuf,
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl Rest {
    fn of(place: &Place) -> Rest {
        let folder = spill_folder(place);
        let paths = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let files = paths
            .chain([partial(place)])
            .map(|path| (path.clone(), std::fs::read(path).unwrap()));
        Rest {
            files: files.collect(),
            folder,
        }
    }

    fn restore(&self) {
        std::fs::create_dir_all(&self.folder).unwrap();
        self.files
            .iter()
            .for_each(|(path, bytes)| std::fs::write(path, bytes).unwrap());
    }
}

fn partial(place: &Place) -> PathBuf {
    place.folder.path().join("out/x.gyk.partial")
}

fn open(path: &Path) -> std::fs::File {
    std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
        .unwrap()
}

#[test]
fn damage_is_found() {
    let place = Place::new();
    let input = genome(&place, MEGABASES, 36);
    let expected = undisturbed(&place, &input);
    let config = config(&place, &input);
    run_until(&config, "count", 1000, Progress::cancel).unwrap_err();
    let rest = Rest::of(&place);
    let resumed = |damage: &dyn Fn()| {
        rest.restore();
        damage();
        finish(&place, &input, 1, &expected).resumed_bins
    };
    let all = resumed(&|| {});
    assert!(all >= 1000);

    // Finished bins: what is damaged is counted again, with the rest.
    let half = resumed(&|| {
        let file = open(&partial(&place));
        file.write_all_at(b"damage", file.metadata().unwrap().len() / 2)
            .unwrap();
    });
    assert!(
        (all / 4..all * 3 / 4).contains(&half),
        "{half} of {all} bins"
    );
    assert!((0..all / 2).contains(&resumed(&|| open(&partial(&place)).set_len(9999).unwrap())));
    assert_eq!(
        resumed(&|| std::fs::remove_file(partial(&place)).unwrap()),
        0
    );

    // The log and the manifest.
    let cut = |name: &str, length: u64| {
        let file = open(&rest.folder.join(name));
        file.set_len(file.metadata().unwrap().len() - length)
            .unwrap();
    };
    assert_eq!(resumed(&|| cut("bins", 3)), all - 1);
    assert_eq!(resumed(&|| cut("manifest", 30)), 0);

    // The spill file.
    assert_eq!(
        resumed(&|| std::fs::remove_file(rest.folder.join("spill-0")).unwrap()),
        0
    );
    let spill = |damage: &dyn Fn(std::fs::File)| {
        rest.restore();
        damage(open(&rest.folder.join("spill-0")));
        let error = run(&config, &Progress::default()).unwrap_err().to_string();
        assert!(error.contains("spill-0 was damaged"), "{error}");
        assert!(!place.output().exists());
    };
    spill(&|file| {
        file.write_all_at(&[0x5a; 1 << 20], file.metadata().unwrap().len() / 2)
            .unwrap()
    });
    spill(&|file| file.set_len(file.metadata().unwrap().len() / 2).unwrap());
    done(&Config {
        resume: false,
        ..config.clone()
    });
    assert!(place.take() == expected);
}
