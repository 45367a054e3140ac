//! Databases of features of every version of the format are readable for ever: files that were
//! written once and are never regenerated. `small.gydb` stands beside the text of what is in it,
//! `crowded.gydb` has a rule.
// A helper of a test is a test.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::features::{Places, check, write};
use gyrase_table::gydb::{Database, Location, Writer, place_of};

type Sections = BTreeMap<String, Vec<u8>>;

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden/v1")
        .join(name)
}

/// What the text says: the cap, the sections in hexadecimal digits, every feature with its
/// locations.
fn small() -> (u8, Sections, Places) {
    let text = std::fs::read_to_string(golden("small.gydb.txt")).unwrap();
    let (mut cap, mut sections, mut places) = (0, Sections::new(), Places::new());
    for line in text.lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        match cells[..] {
            ["cap", number] => cap = number.parse().unwrap(),
            ["section", name, digits] => {
                let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
                sections.insert(
                    name.to_string(),
                    (0..digits.len()).step_by(2).map(byte).collect(),
                );
            }
            [feature, ref locations @ ..] => {
                let locations = locations
                    .iter()
                    .map(|number| Location(number.parse().unwrap()))
                    .collect();
                places.insert(
                    place_of(u32::from_str_radix(feature, 16).unwrap()),
                    locations,
                );
            }
            [] => panic!("an empty line"),
        }
    }
    (cap, sections, places)
}

/// All features in one partition, which has many blocks.
fn crowded() -> (u8, Sections, Places) {
    (
        2,
        Sections::new(),
        (0..33_000)
            .map(|i| ((4095 << 20) + 31 * i, vec![Location(i)]))
            .collect(),
    )
}

fn empty() -> (u8, Sections, Places) {
    (254, Sections::new(), Places::new())
}

fn all() -> [(&'static str, (u8, Sections, Places)); 3] {
    [
        ("small.gydb", small()),
        ("crowded.gydb", crowded()),
        ("empty.gydb", empty()),
    ]
}

#[test]
fn version_1_is_readable() {
    for (name, (cap, sections, places)) in all() {
        let database = Database::open(&golden(name)).unwrap();
        assert_eq!(database.summary().cap, cap, "{name}");
        assert!(database.sections().eq(sections.keys()), "{name}");
        sections
            .iter()
            .for_each(|(name, bytes)| assert_eq!(database.section(name).unwrap(), bytes));
        check(&database, &places);
    }
}

/// What this program writes is still version 1, to the byte.
#[test]
fn version_1_is_what_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gydb");
    for (name, (cap, sections, places)) in all() {
        let writer = Writer::create(&path, cap).unwrap();
        sections
            .iter()
            .for_each(|(name, bytes)| writer.section(name, bytes));
        write(&writer, &places, 2).unwrap();
        writer.finish().unwrap();
        assert!(
            std::fs::read(&path).unwrap() == std::fs::read(golden(name)).unwrap(),
            "{name}"
        );
    }
}

/// The test vectors of `docs/formats.md`.
#[test]
fn the_documented_places_hold() {
    let documented = include_str!("../../../docs/formats.md");
    let mut checked = 0;
    for line in documented.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, feature, place, _] = cells[..] else {
            continue;
        };
        let Ok(feature) = u32::from_str_radix(feature, 16) else {
            continue;
        };
        if place.len() == 8 {
            assert_eq!(format!("{:08x}", place_of(feature)), place);
            checked += 1;
        }
    }
    assert_eq!(checked, 5);
}
