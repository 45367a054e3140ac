//! The reader of `.gydb`. The first byte chooses: even, the rest are edits of a valid database;
//! odd, the rest is the file.

use std::path::Path;
use std::sync::OnceLock;

use gyrase_table::gydb::{Database, Location, PARTITIONS, Writer, place_of};

use crate::databases::edit;

/// Features of the valid database are those below this.
const FEATURES: u32 = 3000;

/// Most features have one location, every tenth has as many as there can be.
fn count(feature: u32) -> u8 {
    if feature.is_multiple_of(10) {
        254
    } else {
        1 + (feature % 3) as u8
    }
}

fn valid() -> &'static [u8] {
    static VALID: OnceLock<Vec<u8>> = OnceLock::new();
    VALID.get_or_init(|| {
        let folder = tempfile::tempdir().expect("the system has room for a small folder");
        let path = folder.path().join("x.gydb");
        let writer = Writer::create(&path, 254).expect("a small file can be written");
        writer.section("taxonomy", b"is not looked at");
        let mut places: Vec<(u32, u32)> = (0..FEATURES)
            .map(|feature| (place_of(feature), feature))
            .collect();
        places.sort_unstable();
        for partition in 0..PARTITIONS {
            let own = places
                .iter()
                .filter(|(place, _)| (place >> 20) as usize == partition);
            let (places, features): (Vec<u32>, Vec<u32>) = own.copied().unzip();
            let counts: Vec<u8> = features.iter().map(|&feature| count(feature)).collect();
            let locations: Vec<Location> = features
                .iter()
                .flat_map(|&feature| expected(feature))
                .collect();
            writer
                .piece(partition, &places, &counts, &locations)
                .expect("a small file can be written");
        }
        writer.finish().expect("a small file can be written");
        std::fs::read(&path).expect("it was just written")
    })
}

/// The locations of a feature of the valid database.
fn expected(feature: u32) -> Vec<Location> {
    if feature >= FEATURES {
        Vec::new()
    } else {
        (0..u32::from(count(feature)))
            .map(|i| Location(7 * feature + i))
            .collect()
    }
}

/// No bytes make the reader panic, no change of a database goes unseen, and no look-up in a changed
/// one gives a wrong answer.
pub fn gydb(data: &[u8]) {
    let Some((&choice, rest)) = data.split_first() else {
        return;
    };
    if choice % 2 == 1 {
        if let Ok(database) = Database::from_bytes(Path::new("x.gydb"), rest) {
            let _ = database.features().count();
            let _ = database.verify();
        }
        return;
    }
    let mut bytes = valid().to_vec();
    edit(&mut bytes, rest);
    let changed = bytes != valid();
    let opened = Database::from_bytes(Path::new("x.gydb"), &bytes);
    let sound = opened
        .as_ref()
        .is_ok_and(|database| database.verify().is_ok());
    assert_eq!(
        sound, !changed,
        "a changed database was accepted, or a whole one refused"
    );
    let Ok(database) = opened else { return };
    let asked: Vec<u32> = (0..2 * FEATURES).step_by(1 + usize::from(choice)).collect();
    let right = |feature: u32, found: &[Location]| {
        assert_eq!(found, expected(feature), "locations of {feature}")
    };
    let batch = database.locations_of(&asked, |at, found| right(asked[at], found));
    assert!(batch.is_ok() || changed, "a whole database gives errors");
    asked.iter().for_each(|&feature| {
        database
            .locations(feature)
            .map_or((), |found| right(feature, found))
    });
}
