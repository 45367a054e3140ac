//! What answers tell beside taxa, against what is found by comparing every read with every window
//! of every target.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use gyrase_classify::{
    AnswerConfig, BuildConfig, Catalogue, Collection, Columns, Dropped, Extract, Genomes, Hits,
    Index, Outlets, Parameters, Rule, Summary, TargetId, Wanted, Which, build, classify, covered,
};
use gyrase_fastx::{Format, PairWriter, Reader, Writer};
use gyrase_kmer::Sketcher;
use gyrase_tabulate::Source;
use gyrase_taxonomy::{Node, Taxonomy};
use gyrase_work::Progress;

/// File, taxid, name, letters of every target: 11 and 12 are species of genus 10, and 11 has two
/// targets.
const TARGETS: [(&str, u32, &str, usize); 4] = [
    ("a", 11, "a1", 6000),
    ("a", 11, "a2", 900),
    ("b", 12, "b1", 5000),
    ("c", 22, "c1", 4000),
];

fn letters(n: usize, seed: u64) -> Vec<u8> {
    let word = |i: u64| gyrase_kmer::mix(gyrase_kmer::mix(i ^ seed << 40)) >> 62;
    (0..n as u64).map(|i| b"ACGT"[word(i) as usize]).collect()
}

fn genome(target: usize) -> Vec<u8> {
    letters(TARGETS[target].3, target as u64)
}

struct Case {
    folder: tempfile::TempDir,
    collection: Collection,
    /// Name, letters and target of each read.
    reads: Vec<(String, Vec<u8>)>,
}

impl Case {
    fn new() -> Case {
        Case::without_taxa(&[])
    }

    /// As if nobody knew the taxa of these targets.
    fn without_taxa(unknown: &[usize]) -> Case {
        let folder = tempfile::tempdir().unwrap();
        let node = |taxid, parent, rank| Node {
            taxid,
            parent,
            rank,
            name: "some",
        };
        let nodes = [
            node(1, 1, "no rank"),
            node(10, 1, "genus"),
            node(11, 10, "species"),
            node(12, 10, "species"),
            node(22, 1, "species"),
        ];
        let taxonomy = Taxonomy::new(nodes).unwrap();
        let file = |name: &str| {
            let records = TARGETS
                .iter()
                .enumerate()
                .filter(|(_, target)| target.0 == name);
            let text: Vec<u8> = records
                .flat_map(|(i, target)| {
                    [b">", target.2.as_bytes(), b"\n", &genome(i), b"\n"].concat()
                })
                .collect();
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let config = BuildConfig {
            references: ["a", "b", "c"].map(file).into(),
            output: None,
            parameters: Parameters::default(),
            threads: 2,
            memory: 1 << 30,
            tmp: folder.path().to_path_buf(),
            max_tmp: None,
            resume: None,
        };
        let mut taxon_of = |header: &str, _: &Path| {
            let target = TARGETS.iter().position(|target| target.2 == header)?;
            taxonomy
                .taxon_of(TARGETS[target].1)
                .filter(|_| !unknown.contains(&target))
        };
        let (_, database) = build(&config, &taxonomy, &mut taxon_of, &Progress::default()).unwrap();
        let collection = Index::of(database.unwrap()).unwrap().into();
        Case {
            folder,
            collection,
            reads: reads(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn source(&self) -> Source {
        let path = self.path("reads.fq");
        let text: String = self
            .reads
            .iter()
            .map(|(name, letters)| record(name, letters))
            .collect();
        fs::write(&path, text).unwrap();
        Source::Single(Box::new(Reader::open(&path, &Source::options()).unwrap()))
    }

    /// Lines, and what was found.
    fn run(
        &self,
        columns: Columns,
        wanted: Wanted,
        threads: usize,
        dropped: &Dropped,
        extracts: &mut [Extract],
    ) -> (String, Summary) {
        let mut text = Vec::new();
        let mut outlets = Outlets {
            columns,
            lines: &mut text,
            extracts,
        };
        let config = AnswerConfig {
            rule: Rule::default(),
            insert: 400,
            threads,
            wanted,
        };
        let summary = classify(
            &Hits::of(&self.collection),
            self.source(),
            &config,
            dropped,
            &mut outlets,
            &Progress::default(),
        )
        .unwrap();
        (String::from_utf8(text).unwrap(), summary)
    }
}

fn record(name: &str, letters: &[u8]) -> String {
    format!(
        "@{name} more\n{}\n+\n{}\n",
        str::from_utf8(letters).unwrap(),
        "I".repeat(letters.len())
    )
}

/// Short reads and two long ones of every target, both strands, with an error every 60 letters;
/// some of nothing known.
fn reads() -> Vec<(String, Vec<u8>)> {
    let mut reads = Vec::new();
    for target in 0..TARGETS.len() {
        let genome = genome(target);
        let starts = (0..genome.len() - 150)
            .step_by(311)
            .map(|start| start..start + 150);
        for (j, part) in starts
            .chain([0..genome.len(), genome.len() / 3..genome.len() * 2 / 3])
            .enumerate()
        {
            let mut read = genome[part.clone()].to_vec();
            read.iter_mut()
                .skip(j % 60)
                .step_by(60)
                .for_each(|letter| *letter = if *letter == b'G' { b'T' } else { b'G' });
            let read = if j % 2 == 0 {
                read
            } else {
                gyrase_seq::reverse_complement(&read)
            };
            reads.push((format!("t{target}:{}-{}", part.start, part.end), read));
        }
    }
    reads.extend((0..20).map(|i| (format!("x:{i}"), letters(150, 99 + i))));
    reads.push(("x:short".into(), b"ACG".to_vec()));
    reads
}

/// The best region of a read, found by looking everywhere.
#[derive(Debug)]
struct Found {
    target: usize,
    windows: RangeInclusive<usize>,
    /// Feature and window of each hit.
    hits: Vec<(u32, usize)>,
}

/// The features of the windows of a sequence.
fn sketches(index: &Catalogue, letters: &[u8]) -> Vec<Vec<u32>> {
    let mut all = Vec::new();
    Sketcher::new(index.parameters.sketch).sketch(letters, &mut |window: u32, sketch: &[u32]| {
        all.resize(window as usize, Vec::new());
        all.push(sketch.to_vec());
    });
    all
}

fn naive(index: &Catalogue, targets: &[Vec<Vec<u32>>], read: &[u8]) -> (usize, Option<Found>) {
    let features = sketches(index, read).concat();
    let span = 2 + read.len() / index.parameters.sketch.stride();
    let mut best: Option<Found> = None;
    for (target, windows) in targets.iter().enumerate() {
        let found = |window: usize| {
            features
                .iter()
                .filter(|feature| windows[window].contains(feature))
                .count()
        };
        let counts: Vec<usize> = (0..windows.len()).map(found).collect();
        for first in (0..windows.len()).filter(|&first| counts[first] > 0) {
            let end = (first + span).min(windows.len());
            let sum = counts[first..end].iter().sum::<usize>();
            if sum <= best.as_ref().map_or(0, |best| best.hits.len()) {
                continue;
            }
            let last = (first..end).rfind(|&last| counts[last] > 0).unwrap();
            let at = |window: usize| {
                features
                    .iter()
                    .filter(move |feature| windows[window].contains(feature))
                    .map(move |&feature| (feature, window))
            };
            best = Some(Found {
                target,
                windows: first..=last,
                hits: (first..=last).flat_map(at).collect(),
            });
        }
    }
    (features.len(), best)
}

fn all_naive(case: &Case) -> Vec<(usize, Option<Found>)> {
    let targets: Vec<_> = (0..TARGETS.len())
        .map(|target| sketches(&case.collection.catalogue, &genome(target)))
        .collect();
    case.reads
        .iter()
        .map(|(_, read)| naive(&case.collection.catalogue, &targets, read))
        .collect()
}

#[test]
fn lines_of_locations() {
    let case = Case::new();
    let (columns, wanted) = (Columns::LOCATIONS, Wanted::default());
    let (text, _) = case.run(columns, wanted, 1, &Dropped::default(), &mut []);
    let (stride, window) = (
        case.collection.catalogue.parameters.sketch.stride(),
        case.collection.catalogue.parameters.sketch.window(),
    );
    let mut classified = 0;
    for ((line, (name, read)), (features, found)) in
        text.lines().zip(&case.reads).zip(all_naive(&case))
    {
        let expected = match found {
            None => format!(
                "U\t{name}\t0\t{}\t*\t0\t0\t0\t{features}\t0.0000",
                read.len()
            ),
            Some(Found {
                target,
                windows,
                hits,
            }) => {
                let (_, taxid, target, letters) = TARGETS[target];
                let start = if hits.len() < 2 {
                    "U\t0".into()
                } else {
                    format!("C\t{taxid}")
                };
                let (mark, taxid) = start.split_once('\t').unwrap();
                let last = (windows.end() * stride + window).min(letters);
                let hit = hits.iter().map(|hit| hit.1).collect::<BTreeSet<_>>().len();
                let share = hit as f64 / windows.clone().count() as f64;
                classified += usize::from(mark == "C");
                format!(
                    "{mark}\t{name}\t{taxid}\t{}\t{target}\t{}\t{last}\t{}\t{features}\t{share:.4}",
                    read.len(),
                    windows.start() * stride + 1,
                    hits.len()
                )
            }
        };
        assert_eq!(line, expected);
    }
    assert_eq!(text.lines().count(), case.reads.len());
    assert!(classified > 40, "{text}");
    // The first letters of the line are those of the other form.
    let (hits, _) = case.run(
        Columns::HITS,
        Wanted::default(),
        3,
        &Dropped::default(),
        &mut [],
    );
    let start = |line: &str| {
        line.split('\t')
            .take(4)
            .map(str::to_string)
            .collect::<Vec<_>>()
    };
    assert!(hits.lines().map(start).eq(text.lines().map(start)));
    assert_eq!(
        case.run(columns, wanted, 3, &Dropped::default(), &mut []).0,
        text
    );
}

#[test]
fn evidence_and_depth() {
    let case = Case::new();
    let wanted = Wanted {
        evidence: true,
        depth: true,
    };
    let (lines, one) = case.run(Columns::HITS, wanted, 1, &Dropped::default(), &mut []);
    let (_, three) = case.run(Columns::HITS, wanted, 3, &Dropped::default(), &mut []);
    assert_eq!((&one.tally, &one.depth), (&three.tally, &three.depth));
    let mut features: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut windows: BTreeMap<u32, BTreeSet<(usize, usize)>> = BTreeMap::new();
    let mut depth = vec![0; case.collection.catalogue.targets.all_windows() as usize];
    let all = all_naive(&case);
    for found in lines
        .lines()
        .zip(&all)
        .filter(|(line, _)| line.starts_with('C'))
        .map(|read| read.1.1.as_ref().unwrap())
    {
        let taxid = TARGETS[found.target].1;
        let distinct: BTreeSet<u32> = found.hits.iter().map(|hit| hit.0).collect();
        features.entry(taxid).or_default().extend(distinct);
        windows
            .entry(taxid)
            .or_default()
            .extend(found.hits.iter().map(|hit| (found.target, hit.1)));
        let first = case
            .collection
            .catalogue
            .targets
            .windows(TargetId(found.target as u32))
            .start
            .0 as usize;
        found
            .windows
            .clone()
            .for_each(|window| depth[first + window] += 1);
    }
    assert_eq!(features.len(), 3);
    for (taxid, hits) in features {
        let evidence = one
            .tally
            .evidence(case.collection.catalogue.taxonomy.taxon_of(taxid).unwrap())
            .unwrap();
        let distinct: BTreeSet<u32> = hits.iter().copied().collect();
        assert_eq!(
            (evidence.hits, evidence.features.count()),
            (hits.len() as u64, distinct.len() as u64),
            "{taxid}"
        );
        assert_eq!(
            evidence.windows.len(),
            windows[&taxid].len() as u64,
            "{taxid}"
        );
        let of_taxid = case
            .collection
            .catalogue
            .targets
            .iter()
            .zip(TARGETS)
            .filter(|(_, target)| target.1 == taxid);
        assert_eq!(
            evidence.all_windows,
            Some(of_taxid.map(|(target, _)| u64::from(target.windows)).sum())
        );
    }
    assert_eq!(one.depth.of(case.collection.catalogue.targets.all()), depth);
    let (_, without) = case.run(
        Columns::HITS,
        Wanted::default(),
        1,
        &Dropped::default(),
        &mut [],
    );
    assert_eq!(without.tally.witnessed().count(), 0);
    assert_eq!(without.depth, gyrase_classify::tally::Depth::default());
}

#[test]
fn reads_are_extracted_by_taxon() {
    let case = Case::new();
    let taxonomy = &case.collection.catalogue.taxonomy;
    let clade = |taxid| Which::clade(taxonomy, taxonomy.taxon_of(taxid).unwrap());
    let wanted = [
        clade(10),
        clade(12),
        clade(1),
        Which::Classified,
        Which::Unclassified,
    ];
    let taxids: [&[&str]; 5] = [
        &["10", "11", "12"],
        &["12"],
        &["1", "10", "11", "12", "22"],
        &["1", "10", "11", "12", "22"],
        &["0"],
    ];
    for threads in [1, 3] {
        let paths: Vec<PathBuf> = (0..5)
            .map(|i| case.path(&format!("{threads}.{i}.fq")))
            .collect();
        let extract = |(which, path): (Which, &PathBuf)| Extract {
            which,
            to: PairWriter::new(Writer::create(path, Format::Fastq, None).unwrap(), None),
        };
        let mut extracts: Vec<Extract> = wanted.iter().cloned().zip(&paths).map(extract).collect();
        let (lines, _) = case.run(
            Columns::HITS,
            Wanted::default(),
            threads,
            &Dropped::default(),
            &mut extracts,
        );
        assert!(paths.iter().all(|path| !path.exists()));
        extracts
            .into_iter()
            .for_each(|extract| extract.to.complete().unwrap().publish().unwrap());
        for (path, taxids) in paths.iter().zip(taxids) {
            let mine = |line: &&str| taxids.contains(&line.split('\t').nth(2).unwrap());
            let of_line = |line: &str| {
                case.reads
                    .iter()
                    .find(|read| read.0 == line.split('\t').nth(1).unwrap())
                    .unwrap()
            };
            let expected: String = lines
                .lines()
                .filter(mine)
                .map(of_line)
                .map(|(name, read)| record(name, read))
                .collect();
            assert!(!expected.is_empty());
            assert!(
                fs::read_to_string(path).unwrap() == expected,
                "{}",
                path.display()
            );
        }
    }
}

#[test]
fn reads_get_no_answer_from_what_is_dropped() {
    let mut case = Case::new();
    // Genome 12 has one read, the others are covered.
    let mut seen = 0;
    case.reads.retain(|(name, _)| {
        !name.starts_with("t2:") || {
            seen += 1;
            seen == 5
        }
    });
    let config = AnswerConfig {
        rule: Rule::default(),
        insert: 400,
        threads: 2,
        wanted: Wanted::default(),
    };
    let covered = covered(
        &Hits::of(&case.collection),
        case.source(),
        &config,
        &Progress::default(),
    )
    .unwrap();
    let genomes = Genomes::new(&case.collection.catalogue.targets);
    let dropped =
        Dropped::least_covered(&covered, &case.collection.catalogue.targets, &genomes, 0.1);
    assert_eq!((dropped.genomes, dropped.hit), (1, 3));
    let count = |dropped, taxid: &str| {
        let (lines, _) = case.run(Columns::HITS, Wanted::default(), 2, dropped, &mut []);
        lines
            .lines()
            .filter(|line| line.split('\t').nth(2) == Some(taxid))
            .count()
    };
    let none = Dropped::default();
    assert_eq!((count(&none, "12"), count(&dropped, "12")), (1, 0));
    assert_eq!(
        (count(&none, "11"), count(&none, "22")),
        (count(&dropped, "11"), count(&dropped, "22"))
    );
    assert_eq!(count(&none, "0") + 1, count(&dropped, "0"));
}

/// A part of a target with so many features.
fn part_of(index: &Catalogue, target: usize, features: usize) -> Vec<u8> {
    let genome = genome(target);
    let mut parts = (0..genome.len() - 60)
        .flat_map(|start| (22..60).map(move |letters| start..start + letters));
    let part = parts.find(|part| sketches(index, &genome[part.clone()]).concat().len() == features);
    genome[part.unwrap()].to_vec()
}

/// The taxids of reads that are made of such parts.
fn taxids(mut case: Case, reads: &[&[(usize, usize)]]) -> Vec<String> {
    let index = &case.collection.catalogue;
    let read = |parts: &&[(usize, usize)]| {
        let parts = parts
            .iter()
            .map(|&(target, features)| part_of(index, target, features));
        parts.collect::<Vec<_>>().join(&b"N"[..])
    };
    let reads = reads.iter().map(read);
    case.reads = reads.map(|letters| ("read".into(), letters)).collect();
    let dropped = Dropped::default();
    let (lines, _) = case.run(Columns::HITS, Wanted::default(), 1, &dropped, &mut []);
    let taxid = |line: &str| line.split('\t').nth(2).unwrap().to_owned();
    lines.lines().map(taxid).collect()
}

#[test]
fn hits_that_are_scattered_over_references_are_chance() {
    let (scattered, together) = (&[(0, 1), (1, 1)], &[(0, 2), (1, 1)]);
    assert_eq!(taxids(Case::new(), &[scattered, together]), ["0", "11"]);
}

#[test]
fn references_without_a_taxon_speak_for_none() {
    let with_unknown = &[(0, 1), (1, 1), (3, 2)][..];
    assert_eq!(taxids(Case::without_taxa(&[3]), &[with_unknown]), ["0"]);
}
