//! The recipes of `packaging/`: they call verbs and flags that there are, in this version.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::place::Place;

fn packaging() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging")
}

/// Every file of the recipes, with its text.
fn recipes() -> Vec<(PathBuf, String)> {
    let (mut open, mut found) = (vec![packaging()], Vec::new());
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.push((path.clone(), std::fs::read_to_string(path).unwrap()));
            }
        }
    }
    found
}

/// The calls in a text: the words behind each `gyrase` that begins a command.
fn calls(text: &str) -> Vec<Vec<String>> {
    let joined = text.replace("\\\\\n", " ").replace("\\\n", " ");
    // The wrappers of Snakemake are strings side by side, the commands of Galaxy lines.
    let joined = joined.replace("\"\n    \"", " ").replace("\n    ", " ");
    let mut calls = Vec::new();
    for line in joined.lines() {
        for part in line.split("gyrase ").skip(1) {
            let end = part.find(['\n', '|', ';', '`', '&', '"', '>']);
            let part = &part[..end.unwrap_or(part.len())];
            calls.push(part.split_whitespace().map(String::from).collect());
        }
    }
    calls
}

/// The verbs that a call begins with.
fn verbs(call: &[String]) -> Vec<&str> {
    let nested = ["kmers", "db", "plan", "simulate"];
    let most = 1 + usize::from(nested.contains(&call[0].as_str()));
    call.iter().take(most).map(String::as_str).collect()
}

#[test]
fn recipes_call_what_there_is() {
    let (place, mut checked) = (Place::new(), 0);
    let known = [
        "count",
        "kmers",
        "db",
        "classify",
        "man",
        "completions",
        "demo",
    ];
    for (path, text) in recipes() {
        if path.extension().is_some_and(|ending| ending == "md") {
            continue;
        }
        let calls = calls(&text).into_iter();
        for call in calls.filter(|call| {
            known
                .iter()
                .any(|verb| call.first().is_some_and(|first| first == verb))
        }) {
            let verbs = verbs(&call);
            let help = place.ok(&[&verbs[..], &["--help"]].concat());
            for flag in call.iter().filter(|word| word.starts_with('-')) {
                let there = help
                    .split_whitespace()
                    .any(|word| word.trim_end_matches(',') == flag);
                assert!(
                    there,
                    "{}: {} has no {flag}",
                    path.display(),
                    verbs.join(" ")
                );
                checked += 1;
            }
        }
    }
    assert!(checked > 40, "{checked} flags were found");
}

#[test]
fn recipes_are_of_this_version() {
    let version = env!("CARGO_PKG_VERSION");
    for name in [
        "bioconda/meta.yaml",
        "container/Dockerfile",
        "container/Dockerfile.static",
        "container/gyrase.def",
        "galaxy/macros.xml",
        "nf-core/gyrase/classify/environment.yml",
        "nf-core/gyrase/count/environment.yml",
        "nf-core/gyrase/dbbuild/environment.yml",
        "nf-core/gyrase/classify/main.nf",
        "nf-core/gyrase/count/main.nf",
        "nf-core/gyrase/dbbuild/main.nf",
        "snakemake/bio/gyrase/classify/environment.yaml",
        "snakemake/bio/gyrase/count/environment.yaml",
        "snakemake/bio/gyrase/db_build/environment.yaml",
    ] {
        let text = std::fs::read_to_string(packaging().join(name)).unwrap();
        assert!(text.contains(version), "{name} is not of {version}");
    }
}

#[test]
fn the_tests_of_recipes_hold() {
    let place = Place::new();
    let data = packaging().join("galaxy/test-data");
    let at = |name: &str| data.join(name).display().to_string();
    place.ok(&[
        "count",
        "-k",
        "5",
        "-o",
        "s.gyk",
        "--histo",
        "h.txt",
        &at("reads.fa"),
    ]);
    assert!(
        String::from_utf8(place.read("h.txt"))
            .unwrap()
            .lines()
            .any(|line| line == "2 7")
    );
    let kmers = place.ok(&["kmers", "dump", "s.gyk", "--sorted"]);
    assert_eq!(
        kmers,
        std::fs::read_to_string(data.join("kmers.tsv")).unwrap()
    );
    let (genome, lineages) = (at("genome.fa"), at("lineages.tsv"));
    let answers = place.ok(&[
        "classify",
        "--refs",
        &genome,
        "--taxonomy",
        &lineages,
        &genome,
        "--kreport",
        "k.txt",
        "--bracken",
        "b.txt",
    ]);
    assert!(answers.starts_with("C\tgenome\t"), "{answers}");
    for report in ["k.txt", "b.txt"] {
        assert!(
            String::from_utf8_lossy(&place.read(report)).contains("Genus species"),
            "{report}"
        );
    }
}

#[test]
fn wrappers_of_galaxy_are_well_formed() {
    let wrappers = recipes()
        .into_iter()
        .filter(|(path, _)| path.extension().is_some_and(|ending| ending == "xml"));
    for (path, _) in wrappers {
        let script = "! command -v xmllint || xmllint --noout \"$1\"";
        let read = Command::new("sh")
            .args(["-c", script, "sh"])
            .arg(&path)
            .output()
            .unwrap();
        assert!(
            read.status.success(),
            "{}",
            String::from_utf8_lossy(&read.stderr)
        );
    }
}
