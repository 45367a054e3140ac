//! Processes that sort suffixes write what one process writes.

use crate::launch::{Job, Mpi, SOON};
use crate::place::Place;
use crate::stealing::hindered;

const BUILD: [&str; 4] = ["-q", "suffix", "build", "--bwt"];

#[test]
fn processes_sort_as_one_does() {
    let place = Place::new();
    place.simulate("30000", "2");
    let genome = place.read("g.fa");
    // What repeats goes over the borders of blocks.
    place.write("again.fa", genome);
    place.write(
        "repeats.fa",
        format!(">a\n{}\n>b\nNNACGTNACGTNN\n", "GATTACA".repeat(900)),
    );
    let args = [&BUILD[..], &["g.fa", "repeats.fa", "again.fa", "-o"]].concat();
    place.ok(&[&args[..], &["one.gysa"]].concat());
    let expected = place.read("one.gysa");
    for (mpi, ranks) in Mpi::with_each(&[2, 3, 1, 5]) {
        Job::new(&place, mpi, ranks).ok(&[&args[..], &["all.gysa"]].concat());
        let at = format!("{ranks} ranks, {}", mpi.name());
        assert!(place.read("all.gysa") == expected, "{at}");
    }
}

#[test]
fn faults_are_named_and_leave_nothing() {
    let place = Place::new();
    place.simulate("30000", "2");
    let before = place.files();
    let full = hindered("GYRASE_FULL_DISK=all.gysa.partial");
    let faults: [(&str, &[&str], i32, &str); 4] = [
        (
            ":",
            &["g.fa", "-m", "20M"],
            4,
            "sorting the suffixes in each process takes",
        ),
        (
            ":",
            &["-"],
            1,
            "several processes cannot share standard input",
        ),
        (":", &["no.fa"], 1, "no.fa"),
        (&full, &["g.fa"], 6, "No space left"),
    ];
    for (mpi, (hinder, inputs, code, what)) in Mpi::with_each(&faults) {
        let job = Job::new(&place, mpi, 3).on_all(hinder);
        let args = [&BUILD[..], inputs, &["-o", "all.gysa"]].concat();
        job.start(&args).end_within(SOON).check(code, &[what]);
        assert_eq!(place.files(), before, "{what}");
    }
}

#[test]
fn that_there_is_no_sequence_is_said_once() {
    let place = Place::new();
    place.write("none.fa", "");
    for (mpi, ranks) in Mpi::with_each(&[2]) {
        let args = ["suffix", "build", "none.fa", "-o", "none.gysa"];
        let said = Job::new(&place, mpi, ranks).ok(&args);
        let times = said.matches("there is no sequence to look at").count();
        assert_eq!(times, 1, "{said}");
    }
}
