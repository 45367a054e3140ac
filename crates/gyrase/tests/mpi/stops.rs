//! Jobs that are stopped: by a person, by the system, one rank of them or all; and go on.

use std::fmt::Debug;
use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::launch::{Ended, Job, Mpi, Running, SOON};
use crate::matrix::least_memory;
use crate::place::Place;
use crate::stealing::hindered;

const COUNT: [&str; 8] = [
    "-q",
    "count",
    "r_1.fq",
    "r_2.fq",
    "-o",
    "o.gyk",
    "--threads",
    "1",
];

/// Files of a name below a folder.
fn found(folder: &Path, name: &str) -> Vec<std::path::PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let paths = entries.flatten().map(|entry| entry.path());
    paths
        .flat_map(|path| {
            if path.ends_with(name) {
                vec![path]
            } else {
                found(&path, name)
            }
        })
        .collect()
}

/// A job whose reading takes long on every rank, once it has begun.
fn start_slow(place: &Place, mpi: Mpi) -> Running {
    start_patient(place, mpi, "30")
}

/// The same with so many seconds of patience with a silent rank.
fn start_patient(place: &Place, mpi: Mpi, patience: &str) -> Running {
    let least = format!("{}M", least_memory(place, mpi, 3, &COUNT));
    let job = Job::new(place, mpi, 3).on_all(&hindered("GYRASE_DELAY_MS=100"));
    let job = job.variable("GYRASE_MPI_PATIENCE", patience);
    let mut job = job.start(&[&COUNT[..], &["--memory", &least, "--chunk", "1M"]].concat());
    let ready = job.wait_until(|| place.files().iter().any(|name| name == "o.gyk.partial"));
    assert!(ready, "it was done before it was stopped");
    // Long enough for all ranks to read, far from as long as they read.
    std::thread::sleep(Duration::from_millis(700));
    job
}

/// Stops jobs in each of some ways: they must end soon, pass the `check`, and leave nothing.
fn stops<W: Copy + Debug>(
    ways: [W; 2],
    stop: impl Fn(&Running, W),
    check: impl Fn(&Place, &Ended),
) {
    let place = Place::new();
    place.simulate_much();
    let before = place.files();
    for (mpi, way) in Mpi::with_each(&ways) {
        let job = start_slow(&place, mpi);
        stop(&job, way);
        let ended = job.end_within(SOON);
        println!("{mpi:?}, {way:?}: {}", ended.stderr);
        check(&place, &ended);
        assert_eq!(place.files(), before);
    }
}

#[test]
fn a_signal_to_the_launcher_ends_all_and_leaves_nothing() {
    stops(["TERM", "INT"], Running::signal_launcher, |_, ended| {
        assert!(ended.code != 0)
    });
}

#[test]
fn a_rank_that_is_asked_to_stop_ends_all_and_leaves_nothing() {
    let stop = |job: &Running, rank| job.signal_rank(rank, "TERM");
    stops([0, 2], stop, |_, ended| {
        ended.check(143, &["stopped as asked"])
    });
}

#[test]
fn a_rank_that_is_killed_ends_all_and_publishes_nothing() {
    let stop = |job: &Running, rank| job.signal_rank(rank, "KILL");
    stops([1, 0], stop, |place, ended| {
        assert!(ended.code != 0);
        assert!(!place.path("o.gyk").exists());
        // Who is killed cannot clean up: the next run does.
        place.ok(&[&COUNT[..], &["--memory", "1G"]].concat());
        fs::remove_file(place.path("o.gyk")).unwrap();
    });
}

#[test]
fn a_silent_rank_is_named_and_ends_all() {
    let place = Place::new();
    place.simulate_much();
    for (mpi, rank) in Mpi::with_each(&[1, 0]) {
        let job = start_patient(&place, mpi, "4");
        job.signal_rank(rank, "STOP");
        let ended = job.end_within(SOON);
        // MPICH's launcher may tell of the signal that it ended the silent process with.
        let told = ended.code == 8 || mpi == Mpi::Mpich && ended.code == 9;
        assert!(told, "{mpi:?}: {} {}", ended.code, ended.stderr);
        let named = format!("rank {rank} on ");
        let (first, others) = ended
            .errors()
            .split_first()
            .map(|(a, b)| (*a, b.to_vec()))
            .unwrap();
        let why = "has given no sign of life for 4 s";
        assert!(first.contains(&named) && first.contains(why), "{first}");
        // Open MPI wakes the rank up to end it.
        let woken = format!("rank {rank}: stopped as asked");
        assert!(
            others.iter().all(|error| error.contains(&woken)),
            "{others:?}"
        );
        assert!(!place.path("o.gyk").exists());
        // Rank 0 may have had no time to; with it the next job would seem to have begun.
        let _ = fs::remove_file(place.path("o.gyk.partial"));
    }
}

#[test]
fn a_rank_that_pauses_or_waits_for_its_disk_is_not_silent() {
    let place = Place::new();
    place.simulate_much();
    place.ok(&["-q", "count", "r_1.fq", "r_2.fq", "-o", "alone.gyk"]);
    let ways: [fn(&Place, Mpi); 2] = [pause, write_slowly];
    for (mpi, way) in Mpi::with_each(&ways) {
        way(&place, mpi);
        assert!(place.read("o.gyk") == place.read("alone.gyk"), "{mpi:?}");
        fs::remove_file(place.path("o.gyk")).unwrap();
    }
}

fn pause(place: &Place, mpi: Mpi) {
    let job = start_patient(place, mpi, "5");
    job.signal_rank(1, "STOP");
    std::thread::sleep(Duration::from_secs(2));
    job.signal_rank(1, "CONT");
    // A scheduler that suspends the job, or a person: time in which nobody runs does not count.
    (0..3).for_each(|rank| job.signal_rank(rank, "STOP"));
    std::thread::sleep(Duration::from_secs(7));
    (0..3).for_each(|rank| job.signal_rank(rank, "CONT"));
    assert_eq!(job.end_within(Duration::from_secs(120)).code, 0);
}

fn write_slowly(place: &Place, mpi: Mpi) {
    let least = format!("{}M", least_memory(place, mpi, 3, &COUNT));
    let job = Job::new(place, mpi, 3).on(2, hindered("GYRASE_SLOW_WRITE=/spill-"));
    let job = job.variable("GYRASE_MPI_PATIENCE", "2");
    job.ok(&[&COUNT[..], &["--memory", &least]].concat());
}

#[test]
fn a_killed_job_goes_on_with_any_number_of_ranks() {
    let place = Place::new();
    place.simulate_much();
    place.ok(&["-q", "count", "r_1.fq", "r_2.fq", "-o", "alone.gyk"]);
    let before = place.files();
    let jobs = Mpi::with_each(&[2, 3, 1, 2]);
    let mut resumed = 0;
    for &(mpi, ranks) in &jobs {
        let least = format!("{}M", least_memory(&place, mpi, 2, &COUNT));
        let args = [&COUNT[..], &["--resume", "--memory", &least]].concat();
        let mut job = Job::new(&place, mpi, 2).start(&args);
        // Both have noted what they spilled.
        if job.wait_until(|| found(&place.path("tmp"), "manifest").len() == 2) {
            job.signal_rank(0, "KILL");
            job.signal_rank(1, "KILL");
            assert!(job.end_within(SOON).code != 0);
            assert!(
                !place.path("o.gyk").exists(),
                "a killed job published its output"
            );
            let more = ["--resume", "--memory", "1G", "--report", "r.json"];
            Job::new(&place, mpi, ranks).ok(&[&COUNT[..], &more].concat());
            let stages = place.json("r.json")["stages"].as_array().unwrap().clone();
            resumed += usize::from(stages.iter().all(|stage| stage["stage"] != "read"));
            fs::remove_file(place.path("r.json")).unwrap();
        } else {
            job.end_within(SOON);
        }
        assert!(
            place.read("o.gyk") == place.read("alone.gyk"),
            "{mpi:?}: resumed by {ranks} ranks"
        );
        fs::remove_file(place.path("o.gyk")).unwrap();
        assert_eq!(place.files(), before);
    }
    assert!(
        jobs.is_empty() || resumed > jobs.len() / 2,
        "{resumed} jobs were killed in time and resumed"
    );
}
