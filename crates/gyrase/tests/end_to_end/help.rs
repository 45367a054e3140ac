//! What the program says of itself: version, help, manual pages.

use crate::place::Place;

#[test]
fn version_and_help() {
    let place = Place::new();
    let (alone, told) = (place.ok(&["-V"]), place.ok(&["--version"]));
    assert_eq!(alone, format!("gyrase {}\n", env!("CARGO_PKG_VERSION")));
    if let Some(commit) = told.strip_prefix(alone.trim_end()).map(str::trim)
        && !commit.is_empty()
    {
        // As `(8f28e3e, 2026-11-23)`; a crate that was published knows no day.
        let commit = commit.trim_matches(['(', ')']);
        let (hash, day) = commit.split_once(", ").unwrap_or((commit, "2026-11-23"));
        assert!(hash.len() >= 7 && hash.chars().all(|letter| letter.is_ascii_hexdigit()));
        assert_eq!((day.len(), day.matches('-').count()), (10, 2), "{told}");
        // Whatever is written is the same for all commits of a version.
        assert!(!place.ok(&["man"]).contains(hash) && !place.ok(&["cite"]).contains(hash));
    }
    for verb in [
        &["--help"][..],
        &["count", "--help"],
        &["kmers", "histo", "--help"],
        &["simulate", "reads", "-h"],
    ] {
        assert!(place.ok(verb).contains("Examples:"), "{verb:?}");
    }
}

#[test]
fn the_short_help_is_short_and_the_pages_are_valid() {
    let place = Place::new();
    let (short, long) = (place.ok(&["count", "-h"]), place.ok(&["count", "--help"]));
    assert!(
        short.contains("--threads") && !short.contains("--report"),
        "{short}"
    );
    assert!(long.contains("--report") && long.lines().count() > short.lines().count());
    std::fs::create_dir(place.path("man")).unwrap();
    place.ok(&["man", "--all", "man"]);
    let (all, count) = (place.read("man/gyrase.1"), place.read("man/gyrase-count.1"));
    let has = |page: &[u8], words: &str| String::from_utf8_lossy(page).contains(words);
    assert!(has(&all, "\\-\\-report") && !has(&count, "\\-\\-report"));
    assert!(has(&count, ".SH EXAMPLES\n.nf\n") && has(&count, ".SH SYNOPSIS\n.nf\ngyrase count"));
    let lint = std::process::Command::new("sh")
        .args([
            "-c",
            "! command -v mandoc || mandoc -T lint -W warning man/*",
        ])
        .current_dir(place.path(""))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&lint.stdout);
    assert!(lint.status.success(), "{said}");
}
