//! Random features with their locations, and the databases made of them.
// Each test file takes what it needs, and a helper of a test is a test.
#![allow(dead_code, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gyrase_kmer::mix;
use gyrase_table::gydb::{
    Database, GydbError, Location, MAX_COUNT, PARTITIONS, Writer, feature_at, place_of,
};

/// The oracle: locations by the place of their feature.
pub type Places = BTreeMap<u32, Vec<Location>>;

/// Numbers that look random.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x1234_5678_9abc_def1);
        mix(self.0)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.next()) * limit as u128) >> 64) as usize
    }

    /// Locations of a feature: mostly one, now and then as many as there can be.
    pub fn locations(&mut self, windows: usize) -> Vec<Location> {
        let count = match self.below(40) {
            0 => usize::from(MAX_COUNT),
            1..5 => 2 + self.below(20),
            _ => 1,
        };
        let mut locations: Vec<_> = (0..count)
            .map(|_| Location(self.below(windows) as u32))
            .collect();
        locations.sort_unstable();
        locations.dedup();
        locations
    }
}

/// Features as sketches have them: small hashes.
pub fn features(n: usize, seed: u64) -> Places {
    let mut random = Random(seed);
    (0..n)
        .map(|_| {
            (
                place_of((random.next() >> 34) as u32),
                random.locations(1 << 32),
            )
        })
        .collect()
}

/// What no sketches have and a database holds all the same: partitions that are full, crowded in
/// one bucket, or hold one feature at either end.
pub fn odd_places() -> Places {
    let mut random = Random(77);
    let mut places = Places::new();
    let mut add = |place: u32, locations: Vec<Location>| drop(places.insert(place, locations));
    // Many lines of a bucket; one or two that are full, and a feature less or more.
    for (partition, n) in [(3u32, 300), (4, 19), (5, 20), (6, 21), (8, 40), (9, 41)] {
        (0..n).for_each(|i| add((partition << 20) + i, random.locations(1000)));
    }
    // Many buckets, and every place that there is.
    (0..40_000).for_each(|_| {
        add(
            (7 << 20) + random.below(1 << 20) as u32,
            random.locations(50),
        )
    });
    (0..1 << 20).for_each(|i| add((11 << 20) + i, vec![Location(i)]));
    for edge in [
        0,
        1,
        (1 << 20) - 1,
        1 << 20,
        (2 << 20) - 1,
        u32::MAX - 1,
        u32::MAX,
    ] {
        add(edge, vec![Location(edge)]);
    }
    places
}

/// The pieces of a database: places, counts and locations of every partition.
pub fn pieces(places: &Places) -> Vec<(Vec<u32>, Vec<u8>, Vec<Location>)> {
    let mut pieces = vec![(Vec::new(), Vec::new(), Vec::new()); PARTITIONS];
    for (&place, locations) in places {
        let piece = &mut pieces[(place >> 20) as usize];
        piece.0.push(place);
        piece.1.push(u8::try_from(locations.len()).unwrap());
        piece.2.extend(locations);
    }
    pieces
}

/// Writes every partition, from `threads` threads.
pub fn write(writer: &Writer, places: &Places, threads: usize) -> Result<(), GydbError> {
    let (pieces, next) = (pieces(places), AtomicUsize::new(0));
    let work = || {
        while let Some((partition, piece)) =
            Some(next.fetch_add(1, Relaxed)).and_then(|number| Some((number, pieces.get(number)?)))
        {
            writer.piece(partition, &piece.0, &piece.1, &piece.2)?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        running
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap())
    })
}

/// Adds sections: with bytes, without, and with a name as long as there can be.
pub fn add_sections(writer: &Writer) {
    sections()
        .iter()
        .for_each(|(name, bytes)| writer.section(name, bytes));
}

pub fn sections() -> [(String, Vec<u8>); 4] {
    [
        ("taxonomy".into(), b"not looked at".to_vec()),
        ("a.b-c_9".into(), vec![7; 64]),
        ("empty".into(), Vec::new()),
        ("x".repeat(40), (0..=255).collect()),
    ]
}

/// A database in memory.
pub fn in_memory(places: &Places) -> Database {
    let writer = Writer::in_memory(MAX_COUNT);
    add_sections(&writer);
    write(&writer, places, 1).unwrap();
    writer.into_database(3).unwrap()
}

/// Checks every way to read a database against the oracle.
pub fn check(database: &Database, expected: &Places) {
    database.verify().unwrap();
    let found: Vec<(u32, &[Location])> = database.features().map(Result::unwrap).collect();
    let listed = expected
        .iter()
        .map(|(&place, locations)| (feature_at(place), &locations[..]));
    assert!(listed.eq(found.iter().copied()));
    // Every feature, its neighbours, and others.
    let mut random = Random(5);
    let asked = expected
        .keys()
        .flat_map(|&place| [place, place.wrapping_add(1), place.wrapping_sub(1)]);
    let asked: Vec<u32> = asked
        .chain((0..3000).map(|_| random.next() as u32))
        .map(feature_at)
        .collect();
    let mut batched: Vec<(usize, &[Location])> = Vec::new();
    let mut start = 0;
    for size in [0usize, 1, 15, 16, 17, 33, 500, 10_000].into_iter().cycle() {
        let end = asked.len().min(start + size);
        database
            .locations_of(&asked[start..end], |at, found| {
                batched.push((start + at, found))
            })
            .unwrap();
        start = end;
        if start == asked.len() {
            break;
        }
    }
    let mut batched = batched.into_iter().peekable();
    for (at, &feature) in asked.iter().enumerate() {
        let expected = expected
            .get(&place_of(feature))
            .map_or(&[][..], |locations| locations);
        assert_eq!(
            database.locations(feature).unwrap(),
            expected,
            "feature {feature:08x}"
        );
        let found = batched
            .next_if(|(index, _)| *index == at)
            .map_or(&[][..], |(_, found)| found);
        assert_eq!(found, expected, "feature {feature:08x} of a batch");
    }
    assert!(batched.next().is_none());
}
