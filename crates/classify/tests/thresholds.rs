//! How much must speak for a taxon, and how far down it may be, against features that are counted
//! one by one.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use gyrase_classify::{
    Again, AgainError, AnswerConfig, BuildConfig, Collection, Columns, Confidence, Dropped, Hits,
    Index, LowestRank, Outlets, Parameters, Rule, Summary, Wanted, build, classify,
};
use gyrase_fastx::Reader;
use gyrase_kmer::Sketcher;
use gyrase_tabulate::Source;
use gyrase_taxonomy::{Node, Taxonomy};
use gyrase_work::Progress;

/// Taxid, parent, rank.
const NODES: [(u32, u32, &str); 9] = [
    (1, 1, "no rank"),
    (2, 1, "domain"),
    (5, 2, "family"),
    (10, 5, "genus"),
    (11, 10, "species"),
    (110, 11, "subspecies"),
    (111, 110, "strain"),
    (112, 110, "strain"),
    (12, 10, "species"),
];

/// Taxa of the targets.
const TARGETS: [u32; 3] = [111, 112, 12];

const TOP: u64 = 1 << 62;

fn letters(n: usize, seed: u64) -> Vec<u8> {
    let word = |i: u64| gyrase_kmer::mix(gyrase_kmer::mix(i ^ seed << 40)) >> 62;
    (0..n as u64).map(|i| b"ACGT"[word(i) as usize]).collect()
}

/// Of the species 11 strain 112 differs from 111 once in 120 letters in its first half. Species 12
/// has a quarter of 11.
fn genomes() -> [Vec<u8>; 3] {
    let first = letters(6000, 1);
    let mut second = first.clone();
    for at in (60..3000).step_by(120) {
        second[at] = if second[at] == b'A' { b'C' } else { b'A' };
    }
    let third = [&first[4500..], &letters(4500, 2)[..]].concat();
    [first, second, third]
}

/// Pieces of the genomes, alone, behind each other, and before letters that nobody has.
fn reads() -> Vec<Vec<u8>> {
    let all = genomes();
    let mut reads = Vec::new();
    for genome in &all {
        let starts = (0..5800).step_by(173);
        reads.extend(starts.map(|at| genome[at..at + 200].to_vec()));
    }
    for at in (0..4300).step_by(331) {
        let (one, other) = (&all[0][at..at + 100], &all[2][5600..5800]);
        reads.push([one, other].concat());
        reads.push([one, &letters(300 + at, 7)].concat());
        reads.push([one, other, &letters(at, 8)].concat());
    }
    reads.push(letters(400, 9));
    reads
}

struct Case {
    folder: tempfile::TempDir,
    taxonomy: Taxonomy,
    collection: Collection,
}

impl Case {
    fn new() -> Case {
        let folder = tempfile::tempdir().unwrap();
        let node = |&(taxid, parent, rank)| Node {
            taxid,
            parent,
            rank,
            name: "some",
        };
        let taxonomy = Taxonomy::new(NODES.iter().map(node)).unwrap();
        let text: Vec<u8> = (genomes().iter().zip(TARGETS))
            .flat_map(|(genome, taxid)| [format!(">{taxid}\n").as_bytes(), genome, b"\n"].concat())
            .collect();
        let path = folder.path().join("refs.fa");
        fs::write(&path, text).unwrap();
        let config = BuildConfig {
            references: vec![path],
            output: None,
            parameters: Parameters::default(),
            threads: 1,
            memory: 1 << 30,
            tmp: folder.path().to_path_buf(),
            max_tmp: None,
            resume: None,
        };
        let mut taxon_of = |header: &str, _: &Path| taxonomy.taxon_of(header.parse().unwrap());
        let (_, database) = build(&config, &taxonomy, &mut taxon_of, &Progress::default()).unwrap();
        let collection = Index::of(database.unwrap()).unwrap().into();
        Case {
            folder,
            taxonomy,
            collection,
        }
    }

    fn run(&self, rule: Rule, locations: bool) -> (String, Summary) {
        self.run_on(reads(), rule, locations)
    }

    fn run_on(&self, reads: Vec<Vec<u8>>, rule: Rule, locations: bool) -> (String, Summary) {
        let path = self.folder.path().join("reads.fa");
        let text = (0..).zip(reads).map(|(number, read): (u32, _)| {
            format!(">{number}\n{}\n", str::from_utf8(&read).unwrap())
        });
        fs::write(&path, text.collect::<String>()).unwrap();
        let source = Source::Single(Box::new(Reader::open(&path, &Source::options()).unwrap()));
        let config = AnswerConfig {
            rule,
            insert: 400,
            threads: 2,
            wanted: Wanted::default(),
        };
        let (mut lines, extracts) = (Vec::new(), &mut []);
        let columns = Columns {
            locations,
            confidence: true,
        };
        let mut outlets = Outlets {
            columns,
            lines: &mut lines,
            extracts,
        };
        let (hits, none) = (Hits::of(&self.collection), Dropped::default());
        let summary = classify(
            &hits,
            source,
            &config,
            &none,
            &mut outlets,
            &Progress::default(),
        );
        (String::from_utf8(lines).unwrap(), summary.unwrap())
    }

    fn features(&self, letters: &[u8]) -> Vec<u32> {
        let (mut all, shape) = (Vec::new(), self.collection.catalogue.parameters.sketch);
        Sketcher::new(shape).sketch(letters, &mut |_, sketch: &[u32]| all.extend(sketch));
        all
    }

    /// The column of confidences of a read of this taxid, and the taxid at which one is enough.
    fn expected(&self, read: &[u8], taxid: u32, least: f64) -> (String, Option<u32>) {
        let (features, mut shown, mut before) = (self.features(read), Vec::new(), TOP);
        let mut enough = None;
        let taxon = self.taxonomy.taxon_of(taxid).unwrap();
        for above in self.taxonomy.path(taxon) {
            let of_clade = genomes().into_iter().zip(TARGETS).filter(|(_, taxid)| {
                let clade = self.taxonomy.clade(above);
                clade.contains(&self.taxonomy.taxon_of(*taxid).unwrap())
            });
            let there: HashSet<u32> = of_clade
                .flat_map(|(genome, _)| self.features(&genome))
                .collect();
            let found = features.iter().filter(|one| there.contains(one)).count() as u64;
            if before == TOP || found > before {
                before = found;
                let share = (found * 10_000 / features.len() as u64) as f64 / 10_000.0;
                let taxid = self.taxonomy.taxid(above);
                shown.push(format!("{taxid}:{share:.4}"));
                enough = enough.or((share >= least).then_some(taxid));
            }
        }
        (shown.join(" "), enough)
    }
}

fn rule(confidence: &str, lowest: LowestRank) -> Rule {
    Rule {
        confidence: confidence.parse().unwrap(),
        lowest,
        ..Rule::default()
    }
}

fn column(line: &str, number: usize) -> &str {
    line.split('\t').nth(number).unwrap()
}

#[test]
fn confidences_are_shares_of_features() {
    let case = Case::new();
    let (text, _) = case.run(rule("0", LowestRank::default()), false);
    let (mut stepped, mut left) = (0, 0);
    for (line, read) in text.lines().zip(reads()) {
        let (taxid, shown) = (column(line, 2).parse().unwrap(), column(line, 5));
        if taxid == 0 {
            assert_eq!(shown, "0:0.0000");
            left += 1;
            continue;
        }
        assert_eq!(shown, case.expected(&read, taxid, 0.0).0, "{line}");
        stepped += usize::from(shown.contains(' '));
    }
    assert!(stepped > 5 && left > 0, "{stepped} {left}");
}

#[test]
fn a_read_gets_the_nearest_taxon_with_enough() {
    let case = Case::new();
    let (all, _) = case.run(rule("0", LowestRank::default()), false);
    let (mut lifted, mut left) = (0, 0);
    for least in ["0.1", "0.25", "0.4", "0.8", "1"] {
        let (text, summary) = case.run(rule(least, LowestRank::default()), false);
        for ((line, before), read) in text.lines().zip(all.lines()).zip(reads()) {
            let taxid = match column(before, 2).parse().unwrap() {
                0 => None,
                taxid => case.expected(&read, taxid, least.parse().unwrap()).1,
            };
            assert_eq!(column(line, 2), taxid.unwrap_or(0).to_string(), "{before}");
            let is_lifted = taxid.is_some_and(|taxid| taxid.to_string() != column(before, 2));
            lifted += usize::from(is_lifted);
            left += usize::from(taxid.is_none());
        }
        assert_eq!(summary.tally.total(), reads().len() as u64);
    }
    assert!(lifted > 3 && left > 20, "{lifted} {left}");
}

#[test]
fn lines_are_answered_again_as_a_run_would() {
    let case = Case::new();
    let (all, _) = case.run(rule("0.02", LowestRank::Strain), false);
    for least in ["0.02", "0.1", "0.25", "0.4", "0.6", "1"] {
        for lowest in ["strain", "subspecies", "species", "genus", "family", "d"] {
            let lowest: LowestRank = lowest.parse().unwrap();
            let (text, summary) = case.run(rule(least, lowest), false);
            let again = Again {
                taxonomy: &case.collection.catalogue.taxonomy,
                confidence: Some(least.parse().unwrap()),
                lowest,
            };
            let mut lines = Vec::new();
            let told = again.answer(all.as_bytes(), &mut lines).unwrap();
            let taxids = |text: &str| {
                let taxids = text.lines().map(|line| column(line, 2).to_owned());
                taxids.collect::<Vec<_>>()
            };
            let lines = String::from_utf8(lines).unwrap();
            assert_eq!(taxids(&lines), taxids(&text), "{least} {lowest}");
            assert_eq!(told.to_bytes(), summary.to_bytes());
            if lowest == LowestRank::Strain {
                assert_eq!(lines, text);
            }
        }
    }
}

#[test]
fn strains_are_named_where_something_tells_them_apart() {
    let case = Case::new();
    let (text, _) = case.run(rule("0", LowestRank::Strain), true);
    let (mut named, mut common) = ([0; 2], 0);
    for (line, read) in text.lines().zip(reads()).take(2 * 34) {
        let is_of = genomes().map(|genome| has(&genome, &read));
        match (is_of, column(line, 2)) {
            ([true, false, _], "111") => named[0] += 1,
            ([false, true, _], "112") => named[1] += 1,
            ([true, true, _], "110" | "10") => common += 1,
            // The features may miss a letter that differs.
            ([true, false, _] | [false, true, _], "110") => {}
            wrong => panic!("{wrong:?}: {line}"),
        }
    }
    assert!(
        named[0] > 12 && named[1] > 12 && common > 10,
        "{named:?} {common}"
    );
}

fn has(genome: &[u8], read: &[u8]) -> bool {
    genome.windows(read.len()).any(|window| window == read)
}

/// Of a read whose features are found in two species, the more of them in one, nobody can say what
/// it is of; but where they lie all over the read it is of that one, with errors.
#[test]
fn errors_do_not_make_a_read_a_stranger() {
    let (case, [genome, _, _]) = (Case::new(), genomes());
    let with_errors = |seed: u64| {
        let mut read = genome[3000..].to_vec();
        let mut at = 0;
        while at < read.len() {
            read[at] = if read[at] == b'C' { b'T' } else { b'C' };
            at += 1 + (gyrase_kmer::mix(at as u64 ^ seed << 32) % 28) as usize;
        }
        read
    };
    let lump = |seed| [&genome[4300..4800], &letters(3000, seed)[..]].concat();
    let both = (0..20).map(with_errors).chain((50..70).map(lump));
    let (text, _) = case.run_on(both.collect(), Rule::default(), false);
    let taxids: Vec<&str> = text.lines().map(|line| column(line, 2)).collect();
    assert_eq!(taxids[..20], ["11"; 20], "{text}");
    assert_eq!(taxids[20..], ["10"; 20], "{text}");
}

#[test]
fn lines_of_others_are_read_and_nonsense_is_named() {
    let case = Case::new();
    let again = |confidence: Option<Confidence>, text: &str| {
        let again = Again {
            taxonomy: &case.collection.catalogue.taxonomy,
            confidence,
            lowest: LowestRank::default(),
        };
        let mut lines = Vec::new();
        let summary = again.answer(text.as_bytes(), &mut lines)?;
        Ok::<_, AgainError>((
            String::from_utf8(lines).unwrap(),
            summary.tally.classified(),
        ))
    };
    let kraken = "C\tone\tsome name (taxid 111)\t150|148\t111:20 0:3\nU\ttwo\t0\t70\t0:0";
    let (lines, classified) = again(None, kraken).unwrap();
    let expected = "C\tone\t11\t150|148\t111:20 0:3\nU\ttwo\t0\t70\t0:0\n";
    assert_eq!((lines.as_str(), classified), (expected, 1));
    let some = Some("0.1".parse().unwrap());
    let error = again(some, kraken).unwrap_err();
    assert!(matches!(error, AgainError::NoConfidence { line: 1 }));
    let error = again(None, "C\tone\t999\t150\t").unwrap_err();
    assert!(matches!(
        error,
        AgainError::Taxid {
            line: 1,
            taxid: 999
        }
    ));
    for text in [
        "\n",
        "C\tone\t11",
        "X\tone\t11\t150\t",
        "C\tone\tx\t150\t",
        "C\tone\t11\tx\t",
    ] {
        let error = again(None, text).unwrap_err();
        assert!(matches!(error, AgainError::Columns { line: 1 }), "{text:?}");
    }
}
