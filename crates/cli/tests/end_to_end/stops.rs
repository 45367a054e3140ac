//! Runs that are stopped: by a person, by the system, in the middle.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::place::Place;

const COUNT: [&str; 5] = ["count", "r_1.fq", "r_2.fq", "-o", "o.gyk"];

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

fn start(place: &Place, more: &[&str]) -> Child {
    place.command(&[&COUNT[..], more].concat()).stderr(Stdio::null()).spawn().unwrap()
}

/// Waits until `ready` or the end of the child; true when it was ready.
fn wait_until(child: &mut Child, ready: impl Fn() -> bool) -> bool {
    while child.try_wait().unwrap().is_none() {
        if ready() {
            return true;
        }
        sleep(Duration::from_millis(1));
    }
    false
}

/// The log of finished bins that `--resume` keeps.
fn log(place: &Place) -> Option<PathBuf> {
    let folder = std::fs::read_dir(place.path("tmp")).unwrap().next()?.unwrap().path();
    Some(folder.join("bins"))
}

fn bins_done(place: &Place) -> usize {
    log(place)
        .and_then(|log| std::fs::read_to_string(log).ok())
        .map_or(0, |text| text.lines().count().saturating_sub(2))
}

#[test]
fn a_killed_run_goes_on() {
    let place = Place::new();
    place.simulate_much();
    let least = place.least_memory(2);
    place.ok(&COUNT);
    let whole = place.read("o.gyk");
    std::fs::remove_file(place.path("o.gyk")).unwrap();
    let mut resumed = false;
    for wanted in [1, 500, 2000, 1000, 100] {
        let mut child = start(&place, &["--resume", "--memory", &least]);
        if wait_until(&mut child, || bins_done(&place) >= wanted) {
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(!place.path("o.gyk").exists(), "a killed run published its output");
            place.ok(&[&COUNT[..], &["--resume", "--memory", "1G", "--threads", "1", "--report", "r.json"]].concat());
            resumed |= place.json("r.json")["counts"]["resumed_bins"].as_u64().unwrap() > 0;
            std::fs::remove_file(place.path("r.json")).unwrap();
        }
        assert!(place.read("o.gyk") == whole, "killed after {wanted} bins, resumed to other bytes");
        std::fs::remove_file(place.path("o.gyk")).unwrap();
        assert_eq!(place.files(), ["g.fa", "r_1.fq", "r_2.fq"]);
    }
    assert!(resumed, "no run was killed in time and resumed");
}

#[test]
fn a_run_killed_while_it_reads_starts_anew() {
    let place = Place::new();
    place.simulate_much();
    let least = place.least_memory(2);
    let mut child = start(&place, &["--resume", "--memory", &least]);
    let spilling = || std::fs::read_dir(place.path("tmp")).unwrap().next().is_some();
    let killed = wait_until(&mut child, spilling);
    child.kill().ok();
    child.wait().unwrap();
    if killed {
        assert!(!place.path("o.gyk").exists());
    }
    place.ok(&[&COUNT[..], &["--resume", "--memory", &least]].concat());
    place.ok(&["count", "r_1.fq", "r_2.fq", "-o", "other.gyk"]);
    assert!(place.read("o.gyk") == place.read("other.gyk"));
}

#[test]
fn a_signal_cleans_up() {
    let place = Place::new();
    place.simulate_much();
    let least = place.least_memory(2);
    let before = place.files();
    for (name, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let mut child = start(&place, &["--memory", &least]);
        let spilling = || std::fs::read_dir(place.path("tmp")).unwrap().next().is_some();
        if wait_until(&mut child, spilling) {
            signal(&child, name);
        }
        match child.wait().unwrap().code() {
            // It was done before it heard.
            Some(0) => std::fs::remove_file(place.path("o.gyk")).unwrap(),
            found => assert_eq!(found, Some(code), "SIG{name}"),
        }
        assert_eq!(place.files(), before, "SIG{name}");
    }
}

#[test]
fn nohup_outlives_the_terminal() {
    let place = Place::new();
    place.simulate("100000", "40");
    let hang_up = "trap '' HUP; { for i in 1 2 3 4 5 6; do sleep 0.05; kill -HUP $$; done 2>/dev/null & }";
    let ran = place.limited(hang_up, &COUNT);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

#[test]
fn a_signal_ends_what_cannot_hear() {
    let place = Place::new();
    let mut child =
        place.command(&["count", "-", "-o", "o.gyk"]).stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    sleep(Duration::from_millis(300));
    signal(&child, "INT");
    sleep(Duration::from_millis(100));
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!place.path("o.gyk").exists());
}
