//! Processes that share a search write what one process writes.

use std::fmt::Write as _;

use crate::launch::{Job, Mpi, SOON};
use crate::place::{Place, gzip};
use crate::stealing::hindered;

/// Letters of proteins, the frequent ones more than once.
const LETTERS: &[u8] = b"AAAARRNNDDCQQEEEGGGGHIIILLLLLKKKMFFPPPSSSSTTTWYYVVV";

/// Families of proteins of a few lengths, so that batches of queries are many and uneven.
fn families() -> Place {
    let place = Place::new();
    let mut state = 7_u64;
    let mut next = move |below: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    let (mut queries, mut subjects) = (String::new(), String::new());
    for family in 0..36 {
        let length = [40, 300, 900, 2500][family % 4];
        let letters = (0..length).map(|_| LETTERS[next(LETTERS.len())]);
        let ancestor: Vec<u8> = letters.collect();
        let mut relative = |percent: usize| {
            let mutate = |&letter: &u8| match next(100) < percent {
                true => LETTERS[next(LETTERS.len())],
                false => letter,
            };
            let letters = ancestor.iter().map(mutate).collect();
            String::from_utf8(letters).unwrap()
        };
        let _ = writeln!(queries, ">q{family} of a family\n{}", relative(20));
        // The last of the database is the first again: a tie.
        for percent in [0, 30, 50] {
            let _ = writeln!(subjects, ">s{family}-{percent}\n{}", relative(percent));
        }
        if family % 7 == 0 {
            let _ = writeln!(queries, ">none{family}\nMKW");
        }
    }
    place.write("q.faa", queries);
    place.write("s.faa", format!("{subjects}{subjects}"));
    place
}

const SEARCH: [&str; 5] = ["-q", "search", "q.faa", "--db", "s.faa"];

#[test]
fn processes_search_as_one_does() {
    let place = families();
    let ways = [(2, "1"), (3, "2"), (1, "2"), (4, "1")];
    for (format, ways) in [
        ("6", &ways[..]),
        ("7 std qcovs stitle", &ways[1..2]),
        ("10", &ways[..1]),
        ("5", &ways[2..]),
    ] {
        let args = [&SEARCH[..], &["--format", format, "-o"]].concat();
        place.ok(&[&args[..], &["one.txt"]].concat());
        let expected = place.read("one.txt");
        assert!(expected.len() > 10_000);
        for (mpi, (ranks, threads)) in Mpi::with_each(ways) {
            let args = [&args[..], &["all.txt", "--threads", threads]].concat();
            Job::new(&place, mpi, ranks).ok(&args);
            let at = format!("{format}: {ranks} ranks of {threads}, {}", mpi.name());
            assert!(place.read("all.txt") == expected, "{at}");
        }
    }
    let metadata = |name| [&SEARCH[..], &["--fast", "--metadata", name]].concat();
    place.ok(&metadata("one.gym"));
    for (mpi, ranks) in Mpi::with_each(&[8]) {
        Job::new(&place, mpi, ranks).ok(&metadata("all.gym"));
        assert!(place.read("all.gym") == place.read("one.gym"));
    }
    for mpi in Mpi::all() {
        // One writes what is compressed, and standard output.
        let job = || Job::new(&place, mpi, 3);
        job().ok(&[&SEARCH[..], &["-o", "all.txt.gz"]].concat());
        place.ok(&[&SEARCH[..], &["-o", "one.txt.gz"]].concat());
        assert!(place.read("all.txt.gz") == place.read("one.txt.gz"));
        let printed = job().run(&SEARCH);
        assert!(printed.stdout == place.ok(&SEARCH), "{}", printed.stderr);
    }
}

#[test]
fn processes_without_memory_for_the_database_have_parts_of_it() {
    let place = families();
    place.ok(&["-q", "index", "s.faa", "-o", "s.gysd"]);
    for (format, more, of_ranks) in [("6", &[][..], &[2, 4][..]), ("0", &["--resume"], &[3])] {
        let args = [
            "-q", "search", "q.faa", "--db", "s.gysd", "--format", format, "-o",
        ];
        place.ok(&[&args[..], &["one.txt"]].concat());
        let expected = place.read("one.txt");
        for (mpi, ranks) in Mpi::with_each(of_ranks) {
            let own = [
                "all.txt",
                "--threads",
                "1",
                "-m",
                "20M",
                "--report",
                "r.json",
            ];
            let args = [&args[..], &own, more].concat();
            Job::new(&place, mpi, ranks).ok(&args);
            let stages = place.json("r.json")["stages"].to_string();
            assert!(stages.contains("merge"), "{stages}");
            let at = format!("{format}: {ranks} ranks, {}", mpi.name());
            assert!(place.read("all.txt") == expected, "{at}");
        }
    }
}

#[test]
fn faults_of_a_search_are_named_and_leave_nothing() {
    let place = families();
    let queries = gzip(&place.read("q.faa"));
    place.write("cut.faa.gz", &queries[..queries.len() / 2]);
    place.write("none.faa", "");
    let before = place.files();
    for mpi in Mpi::all() {
        let output = ["-o", "o.txt"];
        let ended = |job: Job, args: &[&str]| job.start(args).end_within(SOON);
        let job = || Job::new(&place, mpi, 3);
        let full = hindered("GYRASE_FULL_DISK=o.txt.partial");
        let args = [&SEARCH[..], &output].concat();
        ended(job().on_all(&full), &args).check(6, &["rank ", "No space left", "o.txt"]);
        let cut = ["-q", "search", "cut.faa.gz", "--db", "s.faa"];
        ended(job(), &[&cut[..], &output].concat()).check(7, &["cut.faa.gz"]);
        let stdin = ["-q", "search", "-", "--db", "s.faa"];
        ended(job(), &[&stdin[..], &output].concat()).check(1, &["standard input"]);
        let apart = job().on(2, "cd tmp; cp ../s.faa .; head -n 20 ../q.faa > q.faa");
        let path = place.path("o.txt").display().to_string();
        let told = "q.faa is not the same on rank 2 as on rank 0";
        ended(apart, &[&SEARCH[..], &["-o", &path]].concat()).check(7, &[told]);
        for name in ["q.faa", "s.faa"] {
            std::fs::remove_file(place.path("tmp").join(name)).unwrap();
        }
        assert_eq!(place.files(), before, "{mpi:?}");
        let mut empty = SEARCH;
        empty[2] = "none.faa";
        job().ok(&[&empty[..], &output].concat());
        assert_eq!(place.read("o.txt"), b"");
        std::fs::remove_file(place.path("o.txt")).unwrap();
    }
}

#[test]
fn a_killed_search_goes_on_with_any_number_of_ranks() {
    let place = families();
    place.ok(&[&SEARCH[..], &["-o", "one.txt"]].concat());
    let expected = place.read("one.txt");
    let kept = |place: &Place| {
        let folders = std::fs::read_dir(place.path("tmp")).unwrap().flatten();
        let files = folders.flat_map(|folder| std::fs::read_dir(folder.path()));
        let files = files.flatten().flatten().map(|file| file.path());
        let logs = files.filter(|path| path.extension().is_some_and(|e| e == "batches"));
        let lines = |path| std::fs::read_to_string(path).unwrap_or_default();
        logs.map(|path| lines(path).lines().count().saturating_sub(1))
            .sum::<usize>()
    };
    for (mpi, again) in Mpi::with_each(&[3, 1]) {
        let args = [&SEARCH[..], &["-o", "o.txt", "--resume", "--threads", "1"]].concat();
        let mut job = Job::new(&place, mpi, 2).start(&args);
        if job.wait_until(|| kept(&place) > 0) {
            job.signal_rank(0, "KILL");
            job.signal_rank(1, "KILL");
            assert!(job.end_within(SOON).code != 0);
        } else {
            job.end_within(SOON);
        }
        Job::new(&place, mpi, again).ok(&args);
        assert!(place.read("o.txt") == expected, "{mpi:?}, {again} ranks");
        assert_eq!(kept(&place), 0);
        std::fs::remove_file(place.path("o.txt")).unwrap();
    }
}
