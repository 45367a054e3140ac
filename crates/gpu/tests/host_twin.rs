//! Reads looked up by the host twin, against the kernels and the database of the processor.

#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

mod twin;
mod with;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use gyrase_gpu::{GpuDatabase, GpuError, GpuIndex, GpuLibrary, GpuRegion, GpuSequence, GpuSlice};
use gyrase_kmer::{SketchShape, Sketcher};
use gyrase_table::gydb::{Database, Location, PARTITIONS, Writer, place_of};

use with::{Chance, HOST, MEMORY, made, with_share};

fn open(
    library: &GpuLibrary,
    database: &GpuDatabase<'_>,
    memory: u64,
    host: u64,
) -> Result<GpuIndex, GpuError> {
    with_share(library, memory, |share| {
        GpuIndex::open(&share, database, 2, host)
    })
}

/// References, and the database of their features.
struct References {
    targets: Vec<Vec<u8>>,
    first_windows: Vec<Location>,
    windows: u32,
    database: Database,
}

impl References {
    fn new(shape: SketchShape, chance: &mut Chance) -> References {
        let shared = chance.letters(1500);
        let mut targets: Vec<Vec<u8>> = [3000, 0, 900, 5, 2500, 1500]
            .iter()
            .map(|&count| chance.letters(count))
            .collect();
        targets[4][300..1800].copy_from_slice(&shared);
        targets[5] = shared;
        // Windows that are hit as often as others, further on.
        let again = targets[0][..800].to_vec();
        targets[0].extend(again);
        let mut lists: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        let (mut first_windows, mut windows) = (Vec::new(), 0);
        for target in &targets {
            first_windows.push(Location(windows));
            Sketcher::new(shape).sketch(target, &mut |window, features| {
                for &feature in features {
                    lists
                        .entry(place_of(feature))
                        .or_default()
                        .insert(windows + window);
                }
            });
            windows += shape.windows(target.len());
        }
        crowd(&mut lists, windows, chance);
        References {
            targets,
            first_windows,
            windows,
            database: database(&lists),
        }
    }

    /// Some partitions of the database.
    fn slice(&self, partitions: Range<usize>) -> GpuSlice<'_> {
        GpuSlice {
            words: self.database.feature_words(partitions),
            first_window: Location(0),
        }
    }

    /// What a GPU is given of these slices.
    fn given<'d>(&'d self, shape: SketchShape, slices: &'d [GpuSlice<'d>]) -> GpuDatabase<'d> {
        GpuDatabase {
            shape,
            slices,
            first_windows: &self.first_windows,
            windows: self.windows,
        }
    }

    /// A read of some target with errors.
    fn read(&self, letters: usize, chance: &mut Chance) -> Vec<u8> {
        let target = &self.targets[[0, 0, 2, 4, 5][chance.below(5)]];
        let start = chance.below(target.len().saturating_sub(letters).max(1));
        let mut read = target[start..target.len().min(start + letters)].to_vec();
        for _ in 0..read.len() / 40 {
            let at = chance.below(read.len());
            read[at] = b"ACGTacgtuNn-\xff"[chance.below(13)];
        }
        read
    }
}

/// Fills the buckets of some features, so that these go on in other lines.
fn crowd(lists: &mut BTreeMap<u32, BTreeSet<u32>>, windows: u32, chance: &mut Chance) {
    let places: Vec<u32> = lists.keys().copied().step_by(9).collect();
    for place in places {
        for near in place.saturating_sub(25)..place {
            let some = (0..1 + chance.below(12)).map(|_| chance.below(windows as usize) as u32);
            lists.entry(near).or_insert_with(|| some.collect());
        }
    }
}

fn database(lists: &BTreeMap<u32, BTreeSet<u32>>) -> Database {
    let writer = Writer::in_memory(254);
    for partition in 0..PARTITIONS as u32 {
        let own = || lists.range(partition << 20..=partition << 20 | 0xf_ffff);
        let places: Vec<u32> = own().map(|(&place, _)| place).collect();
        let kept = |list: &BTreeSet<u32>| list.iter().take(254).copied().collect::<Vec<_>>();
        let kept: Vec<Vec<u32>> = own().map(|(_, list)| kept(list)).collect();
        let counts: Vec<u8> = kept.iter().map(|list| list.len() as u8).collect();
        let locations: Vec<Location> = kept.into_iter().flatten().map(Location).collect();
        writer
            .piece(partition as usize, &places, &counts, &locations)
            .unwrap();
    }
    writer.into_database(1).unwrap()
}

type Found = (Vec<u32>, Vec<(u32, u32, u32, Vec<(u32, u32)>)>);

/// The definition: every feature is looked up by itself, and every stretch of a target is tried.
fn expected(references: &References, shape: SketchShape, mates: &[Vec<u8>], span: u32) -> Found {
    let mut features = Vec::new();
    for mate in mates {
        Sketcher::new(shape).sketch(mate, &mut |_, some| features.extend_from_slice(some));
    }
    let mut hits: Vec<(u32, u32)> = Vec::new();
    for (number, &feature) in features.iter().enumerate() {
        let locations = references.database.locations(feature).unwrap();
        hits.extend(locations.iter().map(|location| (location.0, number as u32)));
    }
    hits.sort_unstable();
    let mut regions = Vec::new();
    let ends = references.first_windows.iter().skip(1).map(|first| first.0);
    let ends = ends.chain([references.windows]);
    for (target, (first, end)) in references.first_windows.iter().zip(ends).enumerate() {
        let own: Vec<(u32, u32)> = hits
            .iter()
            .copied()
            .filter(|hit| (first.0..end).contains(&hit.0))
            .collect();
        let within = |last: u32| {
            let stretch = |hit: &&(u32, u32)| hit.0 <= last && last - hit.0 < span;
            own.iter().filter(stretch).copied().collect::<Vec<_>>()
        };
        let most = own.iter().map(|hit| within(hit.0).len()).max();
        let best = own
            .iter()
            .map(|hit| within(hit.0))
            .find(|some| Some(some.len()) == most);
        if let Some(best) = best {
            let (first, last) = (best[0].0, best[best.len() - 1].0);
            regions.push((target as u32, first, last, best));
        }
    }
    (features, regions)
}

fn unpacked(features: &[u32], regions: &[GpuRegion], mut hits: &[u32]) -> Found {
    let mut all = Vec::new();
    for region in regions {
        let (own, others) = hits.split_at(region.hits as usize);
        let unpacked = own
            .iter()
            .map(|hit| (region.first + (hit >> 16), hit & 0xffff));
        all.push((region.target, region.first, region.last, unpacked.collect()));
        hits = others;
    }
    (features.to_vec(), all)
}

fn index(library: &GpuLibrary, references: &References, shape: SketchShape) -> GpuIndex {
    let slices = [references.slice(0..PARTITIONS)];
    open(library, &references.given(shape, &slices), MEMORY, HOST).unwrap()
}

/// Reads of all kinds: one or two mates each.
fn reads(references: &References, mates: usize, chance: &mut Chance) -> Vec<Vec<Vec<u8>>> {
    const LENGTHS: [usize; 18] = [
        0, 1, 4, 11, 21, 22, 23, 31, 32, 33, 64, 132, 133, 134, 150, 245, 700, 2500,
    ];
    let lengths = LENGTHS.into_iter().chain([150; 12]);
    let mut reads: Vec<Vec<Vec<u8>>> = lengths
        .map(|letters| {
            (0..mates)
                .map(|_| references.read(letters, chance))
                .collect()
        })
        .collect();
    for alone in [
        vec![b'A'; 400],
        b"AC".repeat(90),
        vec![b'N'; 200],
        chance.letters(300),
    ] {
        reads.push(vec![alone; mates]);
    }
    reads
}

fn check(library: &GpuLibrary, shape: SketchShape, mates: usize, chance: &mut Chance) {
    let references = References::new(shape, chance);
    let index = index(library, &references, shape);
    let reads = reads(&references, mates, chance);
    let spans: Vec<u32> = reads
        .iter()
        .map(|_| [1, 2, 3, 5, 1 << 16][chance.below(5)])
        .collect();
    let sequences: Vec<GpuSequence> = (0..)
        .zip(&reads)
        .flat_map(|(read, mates)| {
            mates
                .iter()
                .map(move |letters| GpuSequence { letters, read })
        })
        .collect();
    // The second time the buffers are there, and hold what the first left.
    for _ in 0..2 {
        let answers = index.ask(&sequences, &spans).unwrap();
        let (mut number, mut hits) = (0, 0);
        answers
            .each(|read, features, regions, own| {
                assert_eq!(read, number);
                let expected = expected(&references, shape, &reads[read], spans[read]);
                let what = format!("read {read} of {shape:?}, span {}", spans[read]);
                assert_eq!(unpacked(features, regions, own), expected, "{what}");
                number += 1;
                hits += own.len();
                Ok::<_, ()>(())
            })
            .unwrap();
        assert_eq!(number, reads.len());
        assert!(hits > 10, "{shape:?}: reads are found");
    }
}

#[test]
fn reads_are_found_as_the_processor_finds_them() {
    let Some(path) = made() else { return };
    let library = GpuLibrary::load(path).unwrap();
    let sampled =
        |k, window, stride, one_in| SketchShape::sampled(k, window, stride, one_in).unwrap();
    let smallest = |k, window, stride, most| SketchShape::new(k, window, stride, most).unwrap();
    let shapes = [
        SketchShape::default(),
        sampled(32, 256, 225, 1),
        sampled(12, 40, 29, 2),
        sampled(8, 33, 20, 3),
        sampled(31, 64, 64, 20),
        sampled(32, 80, 49, 3),
        smallest(16, 127, 112, 16),
        smallest(16, 256, 100, 64),
        smallest(9, 12, 1, 1),
    ];
    let mut chance = Chance(1);
    for shape in shapes {
        for mates in [1, 2] {
            check(&library, shape, mates, &mut chance);
        }
    }
}

/// A database is looked up in slices, one after the other, and two databases at once.
#[test]
fn all_hits_come_back_of_any_slices() {
    let Some(path) = made() else { return };
    let library = GpuLibrary::load(path).unwrap();
    let smallest = SketchShape::new(9, 12, 1, 1).unwrap();
    let mut chance = Chance(11);
    for (shape, mates) in [(SketchShape::default(), 2), (smallest, 1)] {
        let references = References::new(shape, &mut chance);
        let other = References::new(shape, &mut chance);
        let reads = reads(&references, mates, &mut chance);
        let sequences: Vec<GpuSequence> = (0..)
            .zip(&reads)
            .flat_map(|(read, mates)| {
                mates
                    .iter()
                    .map(move |letters| GpuSequence { letters, read })
            })
            .collect();
        for parts in [1, 2, 3, 40] {
            let cuts: Vec<usize> = (0..=parts).map(|part| part * PARTITIONS / parts).collect();
            let slices = cuts.windows(2).map(|cut| references.slice(cut[0]..cut[1]));
            let slices: Vec<GpuSlice> = slices.collect();
            let mut apart = HitsOf::new();
            for slice in slices.chunks(1) {
                let given = references.given(shape, slice);
                add_hits(&library, &given, &sequences, reads.len(), &mut apart);
            }
            let expected = hits_of(shape, &reads, &[(&references, 0)]);
            assert!(apart == expected, "{parts} parts");
        }
        // Another database, whose windows are behind those of the first.
        let first_window = references.windows;
        let mut slices = vec![references.slice(0..PARTITIONS), other.slice(0..PARTITIONS)];
        slices[1].first_window = Location(first_window);
        let behind = |window: &Location| window.behind(first_window);
        let firsts = references.first_windows.iter().copied();
        let given = GpuDatabase {
            first_windows: &firsts
                .chain(other.first_windows.iter().map(behind))
                .collect::<Vec<_>>(),
            windows: first_window + other.windows,
            ..references.given(shape, &slices)
        };
        let mut both = HitsOf::new();
        add_hits(&library, &given, &sequences, reads.len(), &mut both);
        let databases = [(&references, 0), (&other, first_window)];
        assert!(both == hits_of(shape, &reads, &databases));
        assert!(both.values().any(|(_, hits)| hits.len() > 10));
    }
}

/// Of each read its features, and its hits as pairs of a window and the number of a feature.
type HitsOf = BTreeMap<usize, (Vec<u32>, BTreeSet<(u32, u32)>)>;

/// Adds the hits that a GPU finds. Those of a read ascend.
fn add_hits(
    library: &GpuLibrary,
    given: &GpuDatabase<'_>,
    sequences: &[GpuSequence],
    reads: usize,
    to: &mut HitsOf,
) {
    let index = open(library, given, MEMORY, HOST).unwrap();
    // The second batch is in buffers that regions were found in.
    drop(index.ask(sequences, &vec![3; reads]).unwrap());
    let found = index.ask_hits(sequences, reads).unwrap();
    let each = |read, features: &[u32], hits: &[u64]| {
        assert!(hits.is_sorted());
        let entry = to
            .entry(read)
            .or_insert_with(|| (features.to_vec(), BTreeSet::new()));
        assert_eq!(entry.0, features);
        let before = entry.1.len();
        entry
            .1
            .extend(hits.iter().map(|&hit| ((hit >> 32) as u32, hit as u32)));
        assert_eq!(entry.1.len(), before + hits.len(), "each comes once");
        Ok::<_, ()>(())
    };
    found.each(each).unwrap();
}

/// The same by the definition, of databases whose windows are counted from those.
fn hits_of(shape: SketchShape, reads: &[Vec<Vec<u8>>], databases: &[(&References, u32)]) -> HitsOf {
    let of_read = |mates: &Vec<Vec<u8>>| {
        let mut features = Vec::new();
        for mate in mates {
            Sketcher::new(shape).sketch(mate, &mut |_, some| features.extend_from_slice(some));
        }
        let mut hits = BTreeSet::new();
        for (number, &feature) in features.iter().enumerate() {
            for (references, first_window) in databases {
                let locations = references.database.locations(feature).unwrap();
                hits.extend(
                    locations
                        .iter()
                        .map(|location| (first_window + location.0, number as u32)),
                );
            }
        }
        (features, hits)
    };
    reads.iter().map(of_read).enumerate().collect()
}

#[test]
fn letters_have_the_codes_that_they_have_elsewhere() {
    let Some(path) = made() else { return };
    let library = GpuLibrary::load(path).unwrap();
    let shape = SketchShape::sampled(1, 1, 1, 1).unwrap();
    let mut chance = Chance(5);
    let references = References::new(shape, &mut chance);
    let index = index(&library, &references, shape);
    let letters: Vec<[u8; 1]> = (0..=255).map(|letter| [letter]).collect();
    let sequences: Vec<GpuSequence> = (0..)
        .zip(&letters)
        .map(|(read, letters)| GpuSequence { letters, read })
        .collect();
    let answers = index.ask(&sequences, &[1; 256]).unwrap();
    let same = answers.each(|read, features, _, _| {
        let mut expected: Vec<u32> = Vec::new();
        Sketcher::new(shape).sketch(&letters[read], &mut |_, some| expected.extend(some));
        if features == expected {
            Ok(())
        } else {
            Err(read)
        }
    });
    assert_eq!(same, Ok(()));
}

#[test]
fn what_does_not_fit_is_declined_and_the_next_batch_is_answered() {
    let Some(path) = made() else { return };
    let library = GpuLibrary::load(path).unwrap();
    let (shape, mut chance) = (SketchShape::default(), Chance(9));
    let references = References::new(shape, &mut chance);
    let index = index(&library, &references, shape);
    let read = references.read(150, &mut chance);
    let one = [GpuSequence {
        letters: &read,
        read: 0,
    }];
    let long = SketchShape::sampled(22, 257, 236, 5).unwrap();
    let refused = with_share(&library, MEMORY, |share| share.records(long, 0).err());
    assert!(matches!(
        refused,
        Some(GpuError::Window { window: 257, .. })
    ));
    for span in [(1 << 16) + 1, u32::MAX] {
        assert!(matches!(index.ask(&one, &[span]), Err(GpuError::Declined)));
    }
    // A pipeline of so few bytes of the host has no room for what comes back.
    let slices = [references.slice(0..PARTITIONS)];
    let database = references.given(shape, &slices);
    let narrow = open(&library, &database, MEMORY, 400).unwrap();
    assert!(matches!(narrow.ask(&one, &[9]), Err(GpuError::Declined)));
    let long = vec![b'A'; (1 << 24) + 1];
    let long = [GpuSequence {
        letters: &long,
        read: 0,
    }];
    assert!(matches!(index.ask(&long, &[9]), Err(GpuError::Declined)));
    // More features than hits can name.
    let long = chance.letters(400_000);
    let long = [GpuSequence {
        letters: &long,
        read: 0,
    }];
    assert!(matches!(index.ask(&long, &[9]), Err(GpuError::Declined)));
    let mut found = 0;
    let answers = index.ask(&one, &[9]).unwrap();
    answers
        .each(|_, features, _, _| {
            found += features.len();
            Ok::<_, ()>(())
        })
        .unwrap();
    assert!(found > 0);
}

#[test]
fn a_bucket_that_points_outside_is_damage() {
    let Some(path) = made() else { return };
    let library = GpuLibrary::load(path).unwrap();
    let (shape, mut chance) = (SketchShape::default(), Chance(3));
    let references = References::new(shape, &mut chance);
    let read = references.read(2000, &mut chance);
    let mut words = references.database.feature_words(0..PARTITIONS);
    // The first word of every line says where its locations are, or its next line.
    let mut damaged = words.words.to_vec();
    for partition in &words.partitions {
        for bucket in 0..if partition.words > 0 {
            partition.buckets as usize
        } else {
            0
        } {
            damaged[partition.start as usize + 16 * bucket] |= 0x7fff_fff0;
        }
    }
    words.words = &damaged;
    let first_window = Location(0);
    let slices = [GpuSlice {
        words,
        first_window,
    }];
    let database = references.given(shape, &slices);
    let index = open(&library, &database, MEMORY, HOST).unwrap();
    let one = [GpuSequence {
        letters: &read,
        read: 0,
    }];
    assert!(matches!(index.ask(&one, &[9]), Err(GpuError::Damaged)));
}

#[test]
fn threads_share_an_index_and_its_lanes() {
    let Some(path) = made() else { return };
    let library = GpuLibrary::load(path).unwrap();
    let (shape, mut chance) = (SketchShape::default(), Chance(7));
    let references = References::new(shape, &mut chance);
    let index = index(&library, &references, shape);
    let reads: Vec<Vec<u8>> = (0..200)
        .map(|_| references.read(150, &mut chance))
        .collect();
    std::thread::scope(|scope| {
        for reads in reads.chunks(40) {
            let (index, references) = (&index, &references);
            scope.spawn(move || {
                let sequences: Vec<GpuSequence> = (0..)
                    .zip(reads)
                    .map(|(read, letters)| GpuSequence { letters, read })
                    .collect();
                let answers = index.ask(&sequences, &[4; 40]).unwrap();
                answers
                    .each(|read, features, regions, hits| {
                        let read = std::slice::from_ref(&reads[read]);
                        let expected = expected(references, shape, read, 4);
                        assert_eq!(unpacked(features, regions, hits), expected);
                        Ok::<_, ()>(())
                    })
                    .unwrap();
            });
        }
    });
}

#[test]
fn what_cannot_be_used_is_said_in_a_sentence() {
    let Some(path) = made() else { return };
    let library = GpuLibrary::load(path).unwrap();
    let count = library.gpus().unwrap().len();
    let error = library.gpu(Some(99)).unwrap_err().to_string();
    let expected = format!("there is no GPU 99; they are numbered from 0, and there are {count}");
    assert_eq!(error, expected);
    let no_library = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    assert!(matches!(
        GpuLibrary::load(&no_library),
        Err(GpuError::Load { .. })
    ));

    let (shape, mut chance) = (SketchShape::sampled(22, 300, 279, 5).unwrap(), Chance(2));
    let references = References::new(shape, &mut chance);
    let slices = [references.slice(0..PARTITIONS)];
    let mut database = references.given(shape, &slices);
    let error = open(&library, &database, MEMORY, HOST)
        .unwrap_err()
        .to_string();
    assert!(
        error.ends_with("up to 256 letters, those of the database have 300"),
        "{error}"
    );
    database.shape = SketchShape::default();
    let error = open(&library, &database, 1 << 20, HOST).unwrap_err();
    assert!(
        matches!(
            error,
            GpuError::Memory {
                room: 1_048_576,
                ..
            }
        ),
        "{error}"
    );
}
