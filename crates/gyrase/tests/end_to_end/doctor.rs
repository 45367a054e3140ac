//! `doctor` says what it finds and whether Gyrase can be used.

use serde_json::Value;

use crate::place::Place;

#[test]
fn doctor_says_what_it_finds() {
    let place = Place::new();
    let text = place.ok(&["doctor"]);
    for topic in [
        "instructions",
        "cores",
        "memory",
        "open files",
        "shared memory",
        "temporary files",
        "GPU",
    ] {
        assert!(text.contains(topic), "expected {topic} in: {text}");
    }
    assert!(text.contains("Gyrase can be used here"), "{text}");
    let facts: Value = serde_json::from_str(&place.ok(&["doctor", "--json"])).unwrap();
    assert_eq!(facts["usable"], true);
    assert!(
        facts["findings"]
            .as_array()
            .is_some_and(|findings| findings.len() == text.lines().count() - 2),
        "{facts}"
    );
}

#[test]
fn doctor_fails_where_temporary_files_cannot_be_made() {
    let place = Place::new();
    let ran = place.run(&["doctor", "--tmp", "/proc/self"]);
    assert_eq!(ran.code, 6, "{}", ran.stderr);
    assert!(
        ran.stdout.contains("broken") && ran.stderr.contains("temporary files"),
        "{} {}",
        ran.stdout,
        ran.stderr
    );
}
