//! Faults of one rank end the job of all, soon, with one message, and leave nothing.

use std::process::Command;

use crate::launch::{Ended, Job, Mpi, SOON};
use crate::matrix::least_memory;
use crate::network_files::{HEAVY, heavy};
use crate::place::Place;
use crate::stealing::hindered;

const COUNT: [&str; 5] = ["-q", "count", "r_1.fq", "r_2.fq", "-o"];

/// Runs a job with a fault on each library: it must end soon, with this code, with one message that
/// has all of `words`, and leave no file.
fn fails(
    place: &Place,
    job: impl Fn(Job<'_>) -> Job<'_>,
    args: &[&str],
    code: i32,
    words: &[&str],
) {
    let before = place.files();
    for mpi in Mpi::all() {
        let ended = job(Job::new(place, mpi, 3)).start(args).end_within(SOON);
        ended.check(code, words);
        assert_eq!(place.files(), before, "{mpi:?}: {}", ended.stderr);
    }
}

#[test]
fn a_bad_record_is_named_with_its_rank_and_file() {
    let place = Place::new();
    place.simulate("40000", "20");
    let reads = String::from_utf8(place.read("r_1.fq")).unwrap();
    let mut lines: Vec<String> = reads.lines().map(str::to_owned).collect();
    let bad = lines.len() / 4 / 2;
    lines[bad * 4 + 3].truncate(7);
    place.write("bad.fq", format!("{}\n", lines.join("\n")));
    let record = format!("record {}", bad + 1);
    for chunk in ["64K", "64M"] {
        let args = [
            "-q", "count", "r_2.fq", "bad.fq", "r_1.fq", "-o", "o.gyk", "--chunk", chunk,
        ];
        fails(&place, |job| job, &args, 7, &["rank ", "bad.fq", &record]);
        let unstolen = [&args[..], &["--stealing", "off", "--threads", "1"]].concat();
        let words: &[&str] = if chunk == "64K" {
            &["rank 1", "bad.fq", &record]
        } else {
            &["rank ", "bad.fq", &record]
        };
        fails(&place, |job| job, &unstolen, 7, words);
    }
}

#[test]
fn a_disk_that_cannot_be_read_is_named_with_its_rank() {
    let place = Place::new();
    place.simulate("30000", "20");
    let args = [
        &COUNT[..],
        &["o.gyk", "--chunk", "64K", "--stealing", "off"],
    ]
    .concat();
    let broken = hindered("GYRASE_BROKEN_DISK=1");
    fails(
        &place,
        |job| job.on(2, &broken),
        &args,
        7,
        &["rank 2", "r_", ".fq", "Input/output error"],
    );
}

#[test]
fn a_full_disk_is_named_with_its_rank() {
    let place = Place::new();
    place.simulate_much();
    let full = hindered("GYRASE_FULL_DISK=o.gyk.partial");
    let args = [&COUNT[..], &["o.gyk", "--memory", "2G"]].concat();
    fails(
        &place,
        |job| job.on_all(&full),
        &args,
        6,
        &["rank ", "No space left", "o.gyk"],
    );
    // What other ranks write are blocks that lie in bins of their own, and those must be large.
    place.write("heavy.fa", heavy());
    fails(
        &place,
        |job| job.on(2, &full),
        &HEAVY,
        6,
        &["rank 2", "No space left", "o.gyk"],
    );
}

#[test]
fn a_full_folder_for_temporary_files_is_named() {
    let place = Place::new();
    place.simulate_much();
    let args = [&COUNT[..], &["o.gyk", "--threads", "1"]].concat();
    for mpi in Mpi::all() {
        let least = format!("{}M", least_memory(&place, mpi, 3, &args));
        let args = [&args[..], &["--memory", &least]].concat();
        fails(
            &place,
            |job| job,
            &[&args[..], &["--max-tmp", "100K"]].concat(),
            6,
            &["--max-tmp"],
        );
        let full = hindered("GYRASE_FULL_DISK=/spill-");
        fails(
            &place,
            |job| job.on(1, &full),
            &args,
            6,
            &["rank 1", "No space left"],
        );
    }
}

/// A file system of so many bytes that goes away with the test; nothing where none can be mounted
/// here.
struct Small<'a>(&'a Place);

impl Small<'_> {
    fn mount<'a>(place: &'a Place, size: &str) -> Option<Small<'a>> {
        std::fs::create_dir(place.path("small")).unwrap();
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", size, "tmpfs"])
            .arg(place.path("small"));
        let mounted = mount.output().is_ok_and(|done| done.status.success());
        mounted.then_some(Small(place))
    }
}

impl Drop for Small<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount")
            .arg("--lazy")
            .arg(self.0.path("small"))
            .status();
    }
}

#[test]
fn a_file_system_that_fills_up_is_named() {
    let place = Place::new();
    place.simulate_much();
    let Some(_small) = Small::mount(&place, "size=1m") else {
        return eprintln!("skipped, nothing can be mounted here");
    };
    let left = || std::fs::read_dir(place.path("small")).unwrap().count();
    fails(
        &place,
        |job| job,
        &[&COUNT[..], &["small/o.gyk"]].concat(),
        6,
        &["small/o.gyk", "No space left"],
    );
    assert_eq!(left(), 0);
    for mpi in Mpi::all() {
        let args = [&COUNT[..], &["o.gyk", "--threads", "1"]].concat();
        let least = format!("{}M", least_memory(&place, mpi, 3, &args));
        fails(
            &place,
            |job| job,
            &[&args[..], &["--memory", &least, "--tmp", "small"]].concat(),
            6,
            &["small"],
        );
        assert_eq!(left(), 0);
    }
}

#[test]
fn too_little_memory_is_said_once() {
    let place = Place::new();
    place.simulate("30000", "20");
    fails(
        &place,
        |job| job,
        &[&COUNT[..], &["o.gyk", "--memory", "1M"]].concat(),
        4,
        &["--memory", "needs at least"],
    );
}

#[test]
fn a_rank_whose_worker_gets_no_memory_says_so() {
    let place = Place::new();
    place.simulate("30000", "20");
    let hindered = hindered("GYRASE_NO_MEMORY=200000");
    let args = [&COUNT[..], &["o.gyk", "--chunk", "1M", "--stealing", "off"]].concat();
    fails(
        &place,
        |job| job.on(1, &hindered),
        &args,
        4,
        &["rank 1", "no more memory"],
    );
}

#[test]
fn ranks_that_are_asked_for_different_counts_are_refused() {
    let place = Place::new();
    place.simulate("2000", "5");
    for other in ["-k 21", "--min-count 2", "--stranded", "--resume"] {
        let asked = format!("set -- \"$@\" {other}");
        fails(
            &place,
            |job| job.on(1, &asked),
            &[&COUNT[..], &["o.gyk"]].concat(),
            1,
            &["the same"],
        );
    }
}

#[test]
fn a_rank_that_gets_no_memory_ends_the_job() {
    let place = Place::new();
    place.simulate("30000", "20");
    let before = place.files();
    for mpi in Mpi::all() {
        // Too little for the program or for its work; which of them depends on the machine. With
        // less MPI itself crashes.
        for kilobytes in [700_000, 1_000_000] {
            let job = Job::new(&place, mpi, 3).on(1, format!("ulimit -v {kilobytes}"));
            let ended = job
                .start(&[&COUNT[..], &["o.gyk", "--memory", "4G"]].concat())
                .end_within(SOON);
            let Ended { code, stderr, .. } = &ended;
            assert!(
                [0, 4, 8].contains(code),
                "{mpi:?} within {kilobytes} KB: {code}: {stderr}"
            );
            if *code == 0 {
                std::fs::remove_file(place.path("o.gyk")).unwrap();
            }
            assert_eq!(
                place.files(),
                before,
                "{mpi:?} within {kilobytes} KB: {stderr}"
            );
        }
    }
}

#[test]
fn files_that_one_rank_does_not_see_are_named() {
    let place = Place::new();
    place.simulate("30000", "20");
    let other = place.path("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::copy(place.path("r_1.fq"), other.join("r_1.fq")).unwrap();
    let output = place.path("o.gyk");
    let args = [&COUNT[..], &[output.to_str().unwrap()]].concat();
    fails(
        &place,
        |job| job.on(1, "cd other"),
        &args,
        1,
        &["rank 1", "r_2.fq"],
    );
    // There, but not the same.
    std::fs::write(other.join("r_2.fq"), &place.read("r_2.fq")[..5000]).unwrap();
    fails(
        &place,
        |job| job.on(1, "cd other"),
        &args,
        7,
        &["r_2.fq", "same files"],
    );
}

#[test]
fn an_output_that_one_rank_does_not_see_is_named() {
    let place = Place::new();
    place.simulate("30000", "20");
    std::fs::create_dir(place.path("other")).unwrap();
    for name in ["r_1.fq", "r_2.fq"] {
        std::fs::copy(place.path(name), place.path("other").join(name)).unwrap();
    }
    let args = [&COUNT[..], &["o.gyk"]].concat();
    let named = || {
        fails(
            &place,
            |job| job.on(2, "cd other"),
            &args,
            6,
            &["rank 2", "o.gyk", "all machines of the job share"],
        )
    };
    named();
    assert_eq!(std::fs::read_dir(place.path("other")).unwrap().count(), 2);
    // Where an earlier job was killed there is one of that name.
    place.write("other/o.gyk.partial", [7; 100]);
    named();
    assert_eq!(place.read("other/o.gyk.partial"), [7; 100]);
}

#[test]
fn an_output_that_another_job_builds_is_refused_and_left_to_that() {
    let place = Place::new();
    place.simulate("30000", "20");
    // What the other job has there.
    let output = gyrase_files::OutputFile::create(&place.path("o.gyk")).unwrap();
    fails(
        &place,
        |job| job,
        &[&COUNT[..], &["o.gyk"]].concat(),
        6,
        &["rank 0", "o.gyk", "another process is writing it"],
    );
    output.commit().unwrap();
}
