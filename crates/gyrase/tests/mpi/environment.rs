//! What is missing or does not fit: the shim, the library, the verb.

use std::fs;
use std::process::Command;

use crate::launch::{Job, Mpi, SOON};
use crate::place::Place;

const COUNT: [&str; 6] = ["-q", "count", "r_1.fq", "r_2.fq", "-o", "o.gyk"];

/// A job that looks for its shim in an empty folder.
fn without_shim<'a>(place: &'a Place, mpi: Mpi, ranks: usize) -> Job<'a> {
    let nowhere = place.path("nowhere").to_str().unwrap().to_owned();
    let job = Job::new(place, mpi, ranks).variable("GYRASE_MPI_DIR", nowhere.clone());
    job.variable("XDG_DATA_HOME", nowhere.clone())
        .variable("HOME", nowhere)
}

#[test]
fn without_a_shim_several_ranks_are_refused_and_one_is_not() {
    let place = Place::new();
    place.simulate("2000", "5");
    for mpi in Mpi::all() {
        let before = place.files();
        without_shim(&place, mpi, 2)
            .run(&COUNT)
            .check_each(8, &["gyrase mpi-setup"]);
        assert_eq!(place.files(), before);
        without_shim(&place, mpi, 1).ok(&COUNT);
        fs::remove_file(place.path("o.gyk")).unwrap();
    }
}

#[test]
fn a_rank_that_comes_late_is_waited_for_in_words() {
    let place = Place::new();
    place.simulate("2000", "5");
    for mpi in Mpi::all() {
        let job = Job::new(&place, mpi, 3).on(2, "sleep 7");
        let said = job.ok(&COUNT[1..]);
        let words = "waiting for MPI to start, 5 s: not all processes are there";
        assert_eq!(said.matches(words).count(), 1, "{said}");
        let in_time = Job::new(&place, mpi, 3).ok(&COUNT[1..]);
        assert!(!in_time.contains("waiting for MPI"), "{in_time}");
    }
}

#[test]
fn a_shim_of_another_library_is_refused() {
    let place = Place::new();
    place.simulate("2000", "5");
    let libraries = Mpi::all();
    for &mpi in &libraries {
        for other in libraries.iter().filter(|&&other| other != mpi) {
            let shim = other
                .shims()
                .join(format!("libgyrase-mpi-{}.so", other.name()));
            assert!(shim.exists(), "{}", shim.display());
            let job = Job::new(&place, mpi, 2).variable("GYRASE_MPI_SHIM", shim.to_str().unwrap());
            job.run(&COUNT)
                .check_each(8, &["different MPIs", "mpi-setup"]);
            // A library that met no launcher may leave files of its own.
            assert!(!place.path("o.gyk").exists());
        }
    }
}

#[test]
fn a_shim_that_is_none_is_refused() {
    let place = Place::new();
    place.simulate("2000", "5");
    for mpi in Mpi::all() {
        let job = |shim: &str| {
            Job::new(&place, mpi, 2).variable("GYRASE_MPI_SHIM", place.path(shim).to_str().unwrap())
        };
        job("nowhere.so").run(&COUNT).check_each(8, &["nowhere.so"]);
        job("r_1.fq").run(&COUNT).check_each(8, &["r_1.fq"]);
    }
}

#[test]
fn a_shim_of_another_version_is_refused() {
    let place = Place::new();
    place.simulate("2000", "5");
    place.write("old.c", "int gyrase_mpi_version(void) { return 1; }\n");
    let (source, old) = (place.path("old.c"), place.path("old.so"));
    let mut compiler = Command::new("cc");
    assert!(
        compiler
            .args(["-shared", "-fPIC", "-o"])
            .arg(&old)
            .arg(source)
            .status()
            .unwrap()
            .success()
    );
    for mpi in Mpi::all() {
        let job = Job::new(&place, mpi, 2).variable("GYRASE_MPI_SHIM", old.to_str().unwrap());
        job.run(&COUNT).check_each(
            8,
            &["another version of Gyrase", "run `gyrase mpi-setup` again"],
        );
    }
}

#[test]
fn other_verbs_are_for_one_process() {
    let place = Place::new();
    place.simulate("2000", "5");
    place.ok(&COUNT);
    let before = place.files();
    for mpi in Mpi::all() {
        let histo = ["kmers", "histo", "o.gyk"];
        Job::new(&place, mpi, 2)
            .run(&histo)
            .check_each(8, &["works in one"]);
        assert_eq!(
            Job::new(&place, mpi, 1).run(&histo).stdout,
            place.ok(&histo)
        );
        let simulate = ["simulate", "genome", "-o", "h.fa", "--length", "1000"];
        Job::new(&place, mpi, 2)
            .run(&simulate)
            .check_each(8, &["works in one"]);
        assert_eq!(place.files(), before);
    }
}

#[test]
fn what_only_one_rank_can_read_is_refused() {
    let place = Place::new();
    place.simulate("2000", "5");
    place.pipe("pipe");
    let before = place.files();
    for mpi in Mpi::all() {
        for (input, word) in [("-", "standard input"), ("pipe", "pipe is a pipe")] {
            // Nobody writes into the pipe: to wait for somebody would be to wait for ever.
            let job =
                Job::new(&place, mpi, 2).start(&["-q", "count", "r_1.fq", input, "-o", "o.gyk"]);
            job.end_within(SOON).check(1, &[word, "one process"]);
            assert_eq!(place.files(), before);
        }
    }
}

#[test]
fn a_compiler_that_is_missing_or_fails_is_named() {
    let place = Place::new();
    place.fails(
        &["mpi-setup", "--mpicc", "mpicc-of-nowhere"],
        8,
        &["mpicc-of-nowhere"],
    );
    place.fails(&["mpi-setup", "--mpicc", "false"], 8, &["false"]);
}
