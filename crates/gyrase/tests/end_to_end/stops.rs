//! Runs that are stopped: by a person, by the system, in the middle.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::place::Place;

const COUNT: [&str; 5] = ["count", "r_1.fq", "r_2.fq", "-o", "o.gyk"];

pub fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill")
        .args([&format!("-{name}"), &child.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
}

fn start(place: &Place, more: &[&str]) -> Child {
    place
        .command(&[&COUNT[..], more].concat())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
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
    let folder = std::fs::read_dir(place.path("tmp"))
        .unwrap()
        .next()?
        .unwrap()
        .path();
    Some(folder.join("bins"))
}

fn bins_done(place: &Place) -> usize {
    log(place)
        .and_then(|log| std::fs::read_to_string(log).ok())
        .map_or(0, |text| text.lines().count().saturating_sub(3))
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
            assert!(
                !place.path("o.gyk").exists(),
                "a killed run published its output"
            );
            place.ok(&[
                &COUNT[..],
                &[
                    "--resume",
                    "--memory",
                    "1G",
                    "--threads",
                    "1",
                    "--report",
                    "r.json",
                ],
            ]
            .concat());
            resumed |= place.json("r.json")["counts"]["resumed_bins"]
                .as_u64()
                .unwrap()
                > 0;
            std::fs::remove_file(place.path("r.json")).unwrap();
        }
        assert!(
            place.read("o.gyk") == whole,
            "killed after {wanted} bins, resumed to other bytes"
        );
        std::fs::remove_file(place.path("o.gyk")).unwrap();
        assert_eq!(place.files(), ["g.fa", "r_1.fq", "r_2.fq"]);
    }
    assert!(resumed, "no run was killed in time and resumed");
}

#[test]
fn a_damaged_spill_is_no_result() {
    let place = Place::new();
    place.simulate_much();
    let least = place.least_memory(2);
    let mut child = start(&place, &["--resume", "--memory", &least]);
    assert!(
        wait_until(&mut child, || bins_done(&place) >= 1),
        "it was done before it was killed"
    );
    child.kill().unwrap();
    child.wait().unwrap();
    // A thread that the system gave little to do may have no file.
    let spills = ["spill-0", "spill-1"].map(|spill| log(&place).unwrap().with_file_name(spill));
    for path in spills.iter().filter(|path| path.exists()) {
        let mut bytes = std::fs::read(path).unwrap();
        bytes.iter_mut().step_by(1000).for_each(|byte| *byte ^= 1);
        std::fs::write(path, bytes).unwrap();
    }
    let ran = place.run(&[&COUNT[..], &["--resume", "--memory", &least]].concat());
    assert!(
        ran.code == 2
            && ran
                .stderr
                .contains("may be failing; run again without --resume"),
        "{ran:?}"
    );
    assert!(!place.path("o.gyk").exists());
    place.ok(&COUNT);
}

#[test]
fn a_run_killed_while_it_reads_starts_anew() {
    let place = Place::new();
    place.simulate_much();
    let least = place.least_memory(2);
    let stopped = (0..20).any(|_| killed_while_it_spills(&place, &least));
    assert!(stopped, "no run was caught while it read");
    assert!(
        !place.path("o.gyk").exists() && spilling(&place),
        "there is nothing to start anew from"
    );
    place.ok(&[&COUNT[..], &["--resume", "--memory", &least]].concat());
    place.ok(&["count", "r_1.fq", "r_2.fq", "-o", "other.gyk"]);
    assert!(place.read("o.gyk") == place.read("other.gyk"));
}

/// Stops a run dead once it spills, looks whether it still reads (it writes a manifest afterwards),
/// and kills it if so.
fn killed_while_it_spills(place: &Place, memory: &str) -> bool {
    let mut child = start(place, &["--resume", "--memory", memory]);
    let spilled = wait_until(&mut child, || spilling(place));
    if spilled {
        signal(&child, "STOP");
    }
    let reading = spilled && log(place).is_some_and(|log| !log.with_file_name("manifest").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    if !reading {
        let _ = std::fs::remove_file(place.path("o.gyk"));
    }
    reading
}

const BUILD: [&str; 9] = [
    "db",
    "build",
    "g.fa",
    "--taxonomy",
    "tax.tsv",
    "-o",
    "g.gydb",
    "--one-in",
    "1",
];

/// The file that a build notes in its folder once it has read everything.
fn manifest(place: &Place) -> bool {
    log(place).is_some_and(|log| log.with_file_name("manifest").exists())
}

#[test]
fn a_killed_build_goes_on() {
    let place = Place::new();
    place.ok(&[
        "-q", "simulate", "genome", "-o", "g.fa", "--length", "12000000",
    ]);
    place.write("tax.tsv", "id\tspecies\ng.fa\tSome species\n");
    place.ok(&BUILD);
    let whole = place.read("g.gydb");
    std::fs::remove_file(place.path("g.gydb")).unwrap();
    let refused = place
        .run(&[&BUILD[..], &["--memory", "1M"]].concat())
        .stderr;
    let least: u64 = refused
        .split_once("needs at least ")
        .unwrap()
        .1
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let memory = format!("{}M", least + 2);
    let resume = [
        &BUILD[..],
        &["--resume", "--memory", &memory, "--report", "r.json"],
    ]
    .concat();
    let killed = |ready: &dyn Fn() -> bool| {
        let mut child = place
            .command(&resume)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        assert!(
            wait_until(&mut child, ready),
            "it was done before it was killed"
        );
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(
            !place.path("g.gydb").exists(),
            "a killed build published its output"
        );
    };
    // While it reads: there is nothing to go on from.
    killed(&|| spilling(&place));
    assert!(!manifest(&place));
    place.ok(&resume);
    assert!(place.read("g.gydb") == whole && place.json("r.json")["counts"]["resumed"] == false);
    std::fs::remove_file(place.path("g.gydb")).unwrap();
    // While it sorts.
    killed(&|| manifest(&place));
    place.ok(&resume);
    assert!(place.read("g.gydb") == whole && place.json("r.json")["counts"]["resumed"] == true);
    std::fs::remove_file(place.path("g.gydb")).unwrap();
    // What was read with other parameters is of no use.
    killed(&|| manifest(&place));
    let other = place.run(&[&resume[..], &["--locations", "9"]].concat());
    assert!(
        other.code == 0
            && other
                .stderr
                .contains("was of other references or parameters"),
        "{other:?}"
    );
    assert_eq!(place.json("r.json")["counts"]["resumed"], false);
    assert_eq!(place.files(), ["g.fa", "g.gydb", "r.json", "tax.tsv"]);
}

fn spilling(place: &Place) -> bool {
    std::fs::read_dir(place.path("tmp"))
        .unwrap()
        .next()
        .is_some()
}

/// A run that cannot end before its pipe does: the pipe has brought some reads already.
fn held(place: &Place, before: &str, more: &[&str]) -> (Child, std::fs::File) {
    let pipe = place.pipe("pipe");
    let args = [&COUNT[..], &["pipe"], more].concat();
    let mut child = place
        .behind(before, &args)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = std::fs::File::options().write(true).open(pipe).unwrap();
    // More than the look at the first bytes and the pipe itself hold: the run has begun to read.
    pipe.write_all(
        "@r\nACGTTGCAACGTTGCAACGTTGCAACGTTGCAACGT\n+\nIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIII\n"
            .repeat(2000)
            .as_bytes(),
    )
    .unwrap();
    assert!(child.try_wait().unwrap().is_none());
    (child, pipe)
}

#[test]
fn a_signal_cleans_up() {
    let place = Place::new();
    place.simulate_much();
    let least = place.least_memory(2);
    let before = place.files();
    for (name, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        // Whoever runs the tests under nohup ignores SIGHUP, and so would the program.
        let heeds = "set -- env --default-signal=HUP \"$@\"";
        let (mut child, pipe) = held(&place, heeds, &["--memory", &least]);
        assert!(
            wait_until(&mut child, || spilling(&place)),
            "SIG{name}: it ended by itself"
        );
        signal(&child, name);
        let said = BufReader::new(child.stderr.take().unwrap())
            .lines()
            .map_while(Result::ok);
        assert!(
            said.into_iter().any(|line| line.contains("stopping")),
            "SIG{name}"
        );
        drop(pipe);
        assert_eq!(child.wait().unwrap().code(), Some(code), "SIG{name}");
        std::fs::remove_file(place.path("pipe")).unwrap();
        assert_eq!(place.files(), before, "SIG{name}");
    }
}

#[test]
fn nohup_outlives_the_terminal() {
    let place = Place::new();
    place.simulate("2000", "2");
    let (mut child, pipe) = held(&place, "trap '' HUP", &[]);
    for _ in 0..3 {
        signal(&child, "HUP");
        sleep(Duration::from_millis(20));
        assert!(
            child.try_wait().unwrap().is_none(),
            "it did not outlive the terminal"
        );
    }
    drop(pipe);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(place.path("o.gyk").exists());
}

#[test]
fn a_signal_ends_what_cannot_hear() {
    let place = Place::new();
    place.simulate("2000", "2");
    let (mut child, _pipe) = held(&place, "true", &[]);
    signal(&child, "INT");
    let mut said = BufReader::new(child.stderr.take().unwrap())
        .lines()
        .map_while(Result::ok);
    assert!(said.any(|line| line.contains("once more to stop at once")));
    assert!(
        child.try_wait().unwrap().is_none(),
        "it heard, though its pipe brings nothing"
    );
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!place.path("o.gyk").exists() && !place.path("o.gyk.partial").exists());
}

#[test]
fn a_signal_before_the_first_stage_leaves_nothing() {
    let place = Place::new();
    place.simulate("2000", "2");
    place.ok(&["-q", "count", "g.fa", "-o", "g.gyk"]);
    place.pipe("pipe");
    let before = place.files();
    let args = ["kmers", "filter", "g.gyk", "pipe", "-o", "f.fq"];
    let mut child = place.behind("true", &args).spawn().unwrap();
    // It waits for somebody to open the pipe.
    let partial = place.path("f.fq.partial");
    assert!(wait_until(&mut child, || partial.exists()));
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(place.files(), before);
}
