//! Jobs under the launchers of the MPIs that are installed here. Without any, only what needs none
//! is tested.
//!
//! This program starts itself again under `mpirun`: then it is one process of a job and plays a
//! part.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it is a program")]

mod launch;
mod parts;

use launch::{Run, Site, sites};

fn main() {
    if let Some(part) = std::env::var_os(launch::PART) {
        return parts::play(&part.to_string_lossy());
    }
    no_launcher_is_no_job();
    let folder = tempfile::tempdir().expect("a folder");
    let sites = sites(folder.path());
    for (number, site) in sites.iter().enumerate() {
        // Where there are several libraries, each takes its turn.
        for &ranks in [1, 2, 3, 4, 7].iter().skip(number).step_by(sites.len()) {
            say(site, &format!("all parts of the contract on {ranks} ranks"));
            everything(site, ranks);
        }
        say(site, "failures");
        one_failure_ends_all(site);
        a_failure_ends_the_exchange(site);
        a_stopped_rank_waits_no_more(site);
        a_failed_rank_waits_no_more(site);
        a_rank_without_room_ends_all(site);
        one_of_two_failures_is_told(site);
        a_stuck_rank_ends_too(site);
        a_rank_without_memory_ends_all(site);
        a_missing_shim_is_named(site);
    }
    if let [first, second, ..] = &sites[..] {
        another_mpi_than_the_launchers_is_noticed(first, second);
        another_mpi_than_the_launchers_is_noticed(second, first);
        for site in [first, second] {
            the_likeliest_of_both_shims_is_taken(site);
        }
    }
}

fn say(site: &Site, what: &str) {
    println!("{}: {what}", site.name);
}

fn no_launcher_is_no_job() {
    let job = gyrase_fabric_mpi::start(parts::CODES, |_| ())
        .expect("there is no launcher to be at odds with");
    assert!(job.is_none(), "no launcher started this test");
}

fn everything(site: &Site, ranks: usize) {
    let run = site.run("everything", ranks);
    assert_eq!(
        (run.code, run.lines("all as it must be")),
        (Some(0), ranks),
        "{}",
        run.all
    );
}

fn ended_by(run: &Run, code: i32, message: &str) {
    assert_eq!(
        (run.code, run.lines(message)),
        (Some(code), 1),
        "{}",
        run.all
    );
    assert_eq!(run.lines("says: rank"), 1, "one rank tells: {}", run.all);
}

fn one_failure_ends_all(site: &Site) {
    let run = site.run("one fails", 3);
    ended_by(&run, 7, "says: rank 1: line 5 is broken");
}

fn a_failure_ends_the_exchange(site: &Site) {
    let run = site.run("one fails while records move", 3);
    ended_by(&run, 7, "says: rank 1: record 9 is cut off");
}

fn a_stopped_rank_waits_no_more(site: &Site) {
    let run = site.run("one is stopped", 3);
    ended_by(&run, 143, "says: rank 1: stopped as asked");
}

fn a_failed_rank_waits_no_more(site: &Site) {
    let run = site.run("one gives up beside a collective", 3);
    ended_by(&run, 6, "says: rank 1: no space is left");
}

fn a_rank_without_room_ends_all(site: &Site) {
    let run = site.run("one has no room for what comes", 3);
    ended_by(&run, 6, "says: rank 1: no room for what came");
}

/// The rank says so by itself, with the last of its breath.
fn a_rank_without_memory_ends_all(site: &Site) {
    let run = site.run("one gets no memory", 3);
    let said = run.lines("gyrase: error: rank 1: the system gave no more memory");
    assert_eq!(
        (run.code, said, run.lines("says: ")),
        (Some(4), 1, 0),
        "{}",
        run.all
    );
}

/// Which of them is known first is open; the other one is not told.
fn one_of_two_failures_is_told(site: &Site) {
    let run = site.run("two fail", 4);
    let told =
        run.lines("says: rank 1: the disk is full") + run.lines("says: rank 3: the disk is full");
    assert_eq!((run.code, told), (Some(6), 1), "{}", run.all);
}

fn a_stuck_rank_ends_too(site: &Site) {
    let run = site.run("one is stuck", 3);
    ended_by(&run, 4, "says: rank 0: no memory");
    assert_eq!(run.lines("cleans up and exits"), 1, "{}", run.all);
}

fn a_missing_shim_is_named(site: &Site) {
    let run = site.without_shim(2);
    assert_eq!(
        (run.code, run.lines("run `gyrase mpi-setup` once")),
        (Some(8), 2),
        "{}",
        run.all
    );
}

fn another_mpi_than_the_launchers_is_noticed(launcher: &Site, other: &Site) {
    let run = launcher.with_shim_of(other, 2);
    let shim = format!("GYRASE_MPI_SHIM={}", launcher.shim.display());
    let told = [run.lines("are of different MPIs"), run.lines(&shim)];
    assert_eq!((run.code, told), (Some(8), [2, 2]), "{}", run.all);
}

/// As under `srun`, which says by its PMI alone of which MPI a process is likely to be.
fn the_likeliest_of_both_shims_is_taken(site: &Site) {
    let run = site.as_under_srun("everything", 2);
    assert_eq!(
        (run.code, run.lines("all as it must be")),
        (Some(0), 2),
        "{}",
        run.all
    );
}
