//! Changed databases against databases built of the same references, byte by byte.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use gyrase_classify::edit::{self, Changed, EditError, Unwanted};
use gyrase_classify::{
    BuildConfig, Contents, Index, Mismatch, Parameters, Target, Targets, build, inspect,
};
use gyrase_fabric::{Steal, World, testing};
use gyrase_kmer::{SketchShape, mix};
use gyrase_table::gydb::{Location, PARTITIONS, Writer};
use gyrase_taxonomy::{Node, ROOT, Taxon, Taxonomy};
use gyrase_work::Progress;

/// Files of references.
const FILES: usize = 8;

/// Root, a genus of two species, another species with a strain.
fn taxonomy() -> Taxonomy {
    let node = |taxid, parent, rank, name| Node {
        taxid,
        parent,
        rank,
        name,
    };
    Taxonomy::new([
        node(1, 1, "no rank", "root"),
        node(10, 1, "genus", "One"),
        node(11, 10, "species", "One first"),
        node(12, 10, "species", "One second"),
        node(22, 1, "species", "Two"),
        node(23, 22, "strain", "Two a"),
    ])
    .unwrap()
}

fn letters(n: usize, seed: u64) -> Vec<u8> {
    (0..n as u64)
        .map(|i| b"ACGT"[(mix(mix(i ^ seed << 40)) >> 62) as usize])
        .collect()
}

/// References of a file: what all files share, so that features have many locations, and what it
/// has alone. Some have no taxon, some no window.
fn fasta(number: usize) -> String {
    let shared = letters(3000, 77);
    let taxids = [Some(11), Some(12), None, Some(23), Some(22)];
    let mut text = String::new();
    for part in 0..1 + number % 3 {
        let taxid = taxids[(number + part) % taxids.len()];
        let header = taxid.map_or_else(String::new, |taxid| format!("|kraken:taxid|{taxid}"));
        let own = letters(2000 + 700 * part, (10 * number + part) as u64);
        let both = [&own[..], &shared[350 * number..], &shared[..500 * part]].concat();
        text += &format!(
            ">f{number}.{part}{header} more\n{}\n",
            String::from_utf8(both).unwrap()
        );
    }
    text + &format!(">short{number}|kraken:taxid|12\nACGT\n")
}

/// A folder with the references and what is made of them.
struct Place {
    folder: tempfile::TempDir,
    parameters: Parameters,
}

impl Place {
    fn new(locations: u8) -> Place {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..FILES {
            fs::write(folder.path().join(format!("{number}.fa")), fasta(number)).unwrap();
        }
        Place {
            folder,
            parameters: Parameters {
                locations,
                ..Parameters::default()
            },
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn config(&self, files: Range<usize>, output: &str, threads: usize) -> BuildConfig {
        BuildConfig {
            references: files
                .map(|number| self.path(&format!("{number}.fa")))
                .collect(),
            output: Some(self.path(output)),
            parameters: self.parameters,
            threads,
            memory: BuildConfig::least_memory_in(threads, 7),
            tmp: self.folder.path().to_path_buf(),
            max_tmp: None,
            resume: None,
        }
    }

    /// Builds a database of some files.
    fn build(&self, files: Range<usize>, output: &str) -> Vec<u8> {
        let taxonomy = taxonomy();
        let config = self.config(files, output, 2);
        build(
            &config,
            &taxonomy,
            &mut |header, _| taxon_of(&taxonomy, header),
            &Progress::default(),
        )
        .unwrap();
        fs::read(self.path(output)).unwrap()
    }

    fn open(&self, name: &str) -> Index {
        Index::open(&self.path(name)).unwrap()
    }
}

fn taxon_of(taxonomy: &Taxonomy, header: &str) -> Option<Taxon> {
    taxonomy.taxon_of(gyrase_taxonomy::taxid_in(header.split(' ').next()?)?)
}

#[test]
fn merged_parts_are_the_whole() {
    for cap in [1, 4, 254] {
        let place = Place::new(cap);
        let whole = place.build(0..FILES, "whole");
        for (threads, cuts) in [
            (1, vec![3]),
            (2, vec![1, 2, 6]),
            (3, vec![0, 5]),
            (2, vec![]),
        ] {
            let starts = [0].into_iter().chain(cuts.iter().copied());
            let ends = cuts.iter().copied().chain([FILES]);
            let parts = starts.zip(ends).enumerate().map(|(number, (start, end))| {
                let name = format!("part{number}");
                place.build(start..end, &name);
                place.open(&name)
            });
            let parts: Vec<Index> = parts.collect();
            let merged =
                edit::merge(&parts, &place.path("merged"), threads, &Progress::default()).unwrap();
            assert!(
                fs::read(place.path("merged")).unwrap() == whole,
                "{cuts:?} with a cap of {cap}"
            );
            assert_eq!((merged.repeated.len(), merged.incomplete), (0, 0));
            assert_eq!(merged.database.targets, place.open("whole").targets.len());
        }
    }
}

#[test]
fn what_was_merged_merges_on_and_may_be_replaced() {
    let place = Place::new(3);
    let whole = place.build(0..FILES, "whole");
    for (name, files) in [("a", 0..2), ("b", 2..5), ("c", 5..FILES)] {
        place.build(files, name);
    }
    edit::merge(
        &[place.open("a"), place.open("b")],
        &place.path("a"),
        2,
        &Progress::default(),
    )
    .unwrap();
    edit::merge(
        &[place.open("a"), place.open("c")],
        &place.path("c"),
        2,
        &Progress::default(),
    )
    .unwrap();
    assert!(fs::read(place.path("c")).unwrap() == whole);
    let twice = edit::merge(
        &[place.open("a"), place.open("a")],
        &place.path("twice"),
        2,
        &Progress::default(),
    )
    .unwrap();
    let names: Vec<String> = place
        .open("a")
        .targets
        .iter()
        .map(|target| target.name.clone())
        .collect();
    assert_eq!(twice.repeated, names);
    assert_eq!(twice.database.targets, 2 * names.len());
}

#[test]
fn added_references_are_as_built_with_the_others() {
    for (cap, start, threads) in [
        (1, 1, 2),
        (4, 5, 1),
        (4, 0, 2),
        (254, 3, 2),
        (254, FILES, 2),
    ] {
        let place = Place::new(cap);
        let whole = place.build(0..FILES, "whole");
        place.build(0..start, "refs");
        let taxonomy = taxonomy();
        let config = place.config(start..FILES, "refs", threads);
        // Those of the database count.
        let config = BuildConfig {
            parameters: Parameters::default(),
            ..config
        };
        let base = place.open("refs");
        let mut taxon_of = |header: &str, _: &Path| taxon_of(&taxonomy, header);
        let added = edit::add(
            &base,
            &config,
            &taxonomy,
            &mut taxon_of,
            &Progress::default(),
        )
        .unwrap();
        assert!(
            fs::read(place.path("refs")).unwrap() == whole,
            "from file {start} on with a cap of {cap}"
        );
        assert_eq!(added.database.targets, place.open("whole").targets.len());
        assert_eq!(added.repeated, Vec::<String>::new());
    }
}

#[test]
fn names_that_are_there_already_are_told() {
    let place = Place::new(254);
    place.build(0..3, "refs");
    let taxonomy = taxonomy();
    let mut taxon_of = |header: &str, _: &Path| taxon_of(&taxonomy, header);
    let config = place.config(2..4, "more", 1);
    let added = edit::add(
        &place.open("refs"),
        &config,
        &taxonomy,
        &mut taxon_of,
        &Progress::default(),
    )
    .unwrap();
    let expected = ["f2.0", "f2.1", "f2.2", "short2"];
    let names: Vec<&str> = added
        .repeated
        .iter()
        .map(|name| name.split('|').next().unwrap())
        .collect();
    assert_eq!(names, expected);
}

/// The references that stay, in files of their own.
fn rest(place: &Place, stays: impl Fn(&str) -> bool) {
    for number in 0..FILES {
        let text = fasta(number);
        let records = text.split_inclusive('\n').collect::<Vec<_>>();
        let kept = records.chunks(2).filter(|record| {
            stays(
                record[0]
                    .trim_start_matches('>')
                    .split_whitespace()
                    .next()
                    .unwrap(),
            )
        });
        fs::write(
            place.path(&format!("{number}.fa")),
            kept.flatten().copied().collect::<String>(),
        )
        .unwrap();
    }
}

fn unwanted(taxids: &[u32], names: &[&str]) -> Unwanted {
    Unwanted {
        taxids: taxids.to_vec(),
        names: names.iter().map(|&name| name.to_owned()).collect(),
    }
}

#[test]
fn without_some_references_it_is_as_built_of_the_rest() {
    let place = Place::new(254);
    place.build(0..FILES, "refs");
    let base = place.open("refs");
    type Stays = fn(&str) -> bool;
    let cases: [(Unwanted, Stays); 4] = [
        (unwanted(&[10], &[]), |name| {
            !name.ends_with("|11") && !name.ends_with("|12")
        }),
        (unwanted(&[22, 12], &[]), |name| {
            name.ends_with("|11") || !name.contains('|')
        }),
        (unwanted(&[0], &["f0.0|kraken:taxid|11"]), |name| {
            name.contains('|') && !name.starts_with("f0.0")
        }),
        (
            unwanted(&[23], &["f1.0|kraken:taxid|12", "short7|kraken:taxid|12"]),
            |name| {
                !name.ends_with("|23") && !name.starts_with("f1.0") && !name.starts_with("short7")
            },
        ),
    ];
    let remove = |unwanted: &Unwanted| {
        let less = place.path("less");
        edit::remove(&base, unwanted, &less, 2, &Progress::default()).unwrap()
    };
    for (unwanted, stays) in cases {
        let removed = remove(&unwanted);
        rest(&place, stays);
        let expected = place.build(0..FILES, "expected");
        assert!(
            fs::read(place.path("less")).unwrap() == expected,
            "{unwanted:?}"
        );
        assert_eq!(removed.incomplete, 0);
        assert_eq!(
            removed.database.targets,
            place.open("expected").targets.len()
        );
    }
    // No build makes a database without any taxon; who removes them all has said so.
    let removed = remove(&unwanted(&[1], &[])).database;
    assert!(removed.targets > 0 && removed.without_taxon == removed.targets);
}

#[test]
fn features_that_the_cap_had_cut_are_counted() {
    let place = Place::new(4);
    place.build(0..FILES, "refs");
    let base = place.open("refs");
    let removed = edit::remove(
        &base,
        &unwanted(&[11], &[]),
        &place.path("less"),
        2,
        &Progress::default(),
    )
    .unwrap();
    let gone = base.taxonomy.taxon_of(11);
    let goes = |&&at: &&Location| base.targets.get(base.targets.at(at)).taxon == gone;
    let lost = base
        .features
        .features()
        .map(Result::unwrap)
        .filter(|(_, locations)| {
            let going = locations.iter().filter(goes).count();
            locations.len() == 4 && (1..4).contains(&going)
        });
    let lost = lost.count() as u64;
    assert!(lost > 0);
    assert_eq!(removed.incomplete, lost);
    place.open("less").features.verify().unwrap();
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let place = Place::new(254);
    place.build(0..2, "a");
    let refused = |parts: &[Index], words: &[&str]| {
        let error = edit::merge(parts, &place.path("out"), 1, &Progress::default()).unwrap_err();
        let said = error.to_string();
        assert!(words.iter().all(|&word| said.contains(word)), "{said}");
        assert!(!place.path("out").exists());
    };
    let sketch = SketchShape::sampled(20, 130, 111, 5).unwrap();
    for (parameters, word) in [
        (
            Parameters {
                sketch,
                ..place.parameters
            },
            "k = 20, window 130",
        ),
        (
            Parameters {
                locations: 9,
                ..place.parameters
            },
            "9 locations",
        ),
        (
            Parameters {
                sketch: SketchShape::new(16, 127, 112, 16).unwrap(),
                ..place.parameters
            },
            "the smallest 16",
        ),
    ] {
        let other = Place {
            folder: tempfile::tempdir().unwrap(),
            parameters,
        };
        fs::write(other.path("0.fa"), fasta(0)).unwrap();
        other.build(0..1, "b");
        refused(
            &[place.open("a"), place.open("a"), other.open("b")],
            &["/a was built with k = 22", "/b with", word],
        );
    }
    let node = |taxid, parent, rank, name| Node {
        taxid,
        parent,
        rank,
        name,
    };
    let root = node(1, 1, "no rank", "root");
    let other = Taxonomy::new([root, node(11, 1, "species", "One first")]).unwrap();
    let config = BuildConfig {
        output: Some(place.path("b")),
        ..place.config(0..1, "b", 1)
    };
    build(
        &config,
        &other,
        &mut |_, _| other.taxon_of(11),
        &Progress::default(),
    )
    .unwrap();
    let words = [
        "taxid 11 is \"One first\" (species, below 10) in ",
        "/a and \"One first\" (species, below 1) in ",
        "/b;",
    ];
    refused(&[place.open("a"), place.open("b")], &words);
    let base = place.open("a");
    let added = edit::add(
        &base,
        &config,
        &other,
        &mut |_, _| other.taxon_of(11),
        &Progress::default(),
    )
    .unwrap_err();
    assert!(
        added.to_string().contains("below 1) in what is added"),
        "{added}"
    );
}

#[test]
fn only_what_is_there_can_be_removed_and_not_all_of_it() {
    let place = Place::new(254);
    let before = place.build(0..2, "a");
    let refused = |unwanted: Unwanted, words: &[&str]| {
        let error = edit::remove(
            &place.open("a"),
            &unwanted,
            &place.path("a"),
            1,
            &Progress::default(),
        )
        .unwrap_err();
        let said = error.to_string();
        assert!(words.iter().all(|&word| said.contains(word)), "{said}");
        assert!(fs::read(place.path("a")).unwrap() == before);
    };
    refused(
        unwanted(&[23, 99], &["f0.0"]),
        &["/a has no taxid 23, taxid 99, f0.0"],
    );
    refused(
        unwanted(&[], &["w", "f1.1", "x", "y", "z"]),
        &["has no w, x, y and 1 more"],
    );
    refused(
        unwanted(&[1, 0], &[]),
        &["no reference of", "/a would be left"],
    );
}

#[test]
fn what_others_did_meanwhile_is_not_undone() {
    let place = Place::new(254);
    place.build(0..2, "a");
    let (before, path) = (place.open("a"), place.path("a"));
    edit::remove(
        &before,
        &unwanted(&[0], &[]),
        &path,
        1,
        &Progress::default(),
    )
    .unwrap();
    let after = fs::read(&path).unwrap();
    let taxonomy = taxonomy();
    let config = place.config(2..3, "a", 1);
    let outcomes = [
        edit::remove(
            &before,
            &unwanted(&[11], &[]),
            &path,
            1,
            &Progress::default(),
        ),
        edit::merge(
            &[place.open("a"), place.open("a"), before],
            &path,
            1,
            &Progress::default(),
        ),
    ];
    let before = Index::open(&path).unwrap();
    fs::copy(&path, place.path("copy")).unwrap();
    fs::rename(place.path("copy"), &path).unwrap();
    let added = edit::add(
        &before,
        &config,
        &taxonomy,
        &mut |_, _| None,
        &Progress::default(),
    );
    for outcome in outcomes.into_iter().chain([added]) {
        assert!(
            matches!(outcome, Err(EditError::Replaced { .. })),
            "{outcome:?}"
        );
        assert!(fs::read(&path).unwrap() == after);
    }
}

/// A database without features, of one target with so many windows.
fn hollow(place: &Place, windows: u32) -> Index {
    let writer = Writer::in_memory(place.parameters.locations);
    (0..PARTITIONS).for_each(|partition| writer.piece(partition, &[], &[], &[]).unwrap());
    let mut targets = Targets::default();
    targets
        .push(Target {
            name: "big".to_owned(),
            taxon: Some(ROOT),
            letters: 0,
            windows,
            source: 0,
        })
        .unwrap();
    place.build(0..1, "sections");
    writer.section(
        "parameters",
        place
            .open("sections")
            .features
            .section("parameters")
            .unwrap(),
    );
    writer.section("targets", &targets.to_bytes());
    writer.section("taxonomy", &taxonomy().subset([]).to_bytes());
    ["distinct", "full"]
        .into_iter()
        .for_each(|name| writer.section(name, &[0; 8]));
    Index::of(writer.into_database(1).unwrap()).unwrap()
}

#[test]
fn more_windows_than_numbers_are_refused() {
    let place = Place::new(254);
    let parts = [1 << 31, (1 << 31) - 1].map(|windows| hollow(&place, windows));
    let merged = edit::merge(&parts, &place.path("out"), 1, &Progress::default()).unwrap();
    assert_eq!(merged.database.windows, u32::MAX);
    let parts = [1 << 31, 1 << 31].map(|windows| hollow(&place, windows));
    let error = edit::merge(&parts, &place.path("more"), 1, &Progress::default()).unwrap_err();
    assert!(
        matches!(error, EditError::Mismatch(Mismatch::TooManyWindows { .. })),
        "{error}"
    );
    assert!(!place.path("more").exists());
}

#[test]
fn a_feature_counts_for_what_its_references_have_in_common() {
    let place = Place::new(6);
    place.build(0..FILES, "refs");
    let index = place.open("refs");
    let mut naive: (BTreeMap<Option<Taxon>, u64>, BTreeMap<usize, u64>) = Default::default();
    for (_, locations) in index.features.features().map(Result::unwrap) {
        let taxa = locations
            .iter()
            .filter_map(|&location| index.targets.get(index.targets.at(location)).taxon);
        let above = taxa.map(|taxon| index.taxonomy.path(taxon).collect::<Vec<_>>());
        let common = above.reduce(|one, other| {
            one.into_iter()
                .filter(|taxon| other.contains(taxon))
                .collect()
        });
        *naive.0.entry(common.map(|path| path[0])).or_default() += 1;
        *naive.1.entry(locations.len()).or_default() += 1;
    }
    let full = naive.1.get(&6).copied().unwrap_or_default();
    assert!(
        full > 0 && index.full_features() == full,
        "{} of {full}",
        index.full_features()
    );
    assert!(naive.0.len() > 5 && naive.1.len() > 2, "{naive:?}");
    for threads in [1, 3] {
        let Contents { tally, histogram } = inspect(&index, threads, &Progress::default()).unwrap();
        let taxa = tally
            .taxa()
            .map(|(taxon, features)| (Some(taxon), features));
        let all: BTreeMap<Option<Taxon>, u64> =
            taxa.chain([(None, tally.unclassified())]).collect();
        assert_eq!(all, naive.0);
        let counted = histogram
            .into_iter()
            .enumerate()
            .filter(|entry| entry.1 > 0);
        assert_eq!(counted.collect::<BTreeMap<_, _>>(), naive.1);
    }
}

#[test]
fn processes_change_databases_as_one_does() {
    let place = Place::new(4);
    let whole = place.build(0..FILES, "whole");
    place.build(0..3, "a");
    place.build(3..FILES, "b");
    let unwanted = unwanted(&[12], &[]);
    let progress = Progress::default();
    let (base, less) = (place.open("whole"), place.path("less"));
    let one = edit::remove(&base, &unwanted, &less, 2, &progress).unwrap();
    let expected = fs::read(&less).unwrap();
    assert!(one.incomplete > 0);
    for ranks in [1, 2, 3, 4, 7] {
        place.build(0..3, "added");
        let bases = [place.open("a"), place.open("b")];
        let added = place.open("added");
        let all = testing::run(ranks, Steal::On, |process| {
            let tmp = place.path("tmp");
            let limits = edit::Limits {
                threads: 1 + process.rank() % 2,
                tmp: &tmp,
                max_tmp: None,
            };
            let progress = Progress::default();
            let merged = place.path("merged");
            edit::merge_in(&bases, &merged, &limits, process, &progress)?;
            let taxonomy = taxonomy();
            let names = &mut |header: &str, _: &Path| taxon_of(&taxonomy, header);
            let config = place.config(3..FILES, "added", limits.threads);
            let more = edit::add_in(&added, &config, process, &taxonomy, names, &progress)?;
            assert_eq!(more.database.targets, base.targets.len());
            let left = place.path("left");
            edit::remove_in(&base, &unwanted, &left, &limits, process, &progress)
        });
        for left in all {
            let left: Changed = left.map_err(|error: EditError| error.to_string()).unwrap();
            assert_eq!(left, one, "{ranks} ranks");
        }
        for (name, expected) in [("merged", &whole), ("added", &whole), ("left", &expected)] {
            assert!(
                fs::read(place.path(name)).unwrap() == *expected,
                "{name}, {ranks} ranks"
            );
        }
        let left = fs::read_dir(place.path("tmp")).map_or(0, |left| left.count());
        assert_eq!(left, 0, "{ranks} ranks leave temporary files");
    }
}
