//! One answer: from a whole database, slice by slice, from databases of parts of the references,
//! from stored candidates.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use std::fs;
use std::path::{Path, PathBuf};

use gyrase_classify::{
    AnswerConfig, BuildConfig, Candidates, CandidatesError, Collection, Columns, Dropped, Hits,
    Index, Mismatch, Outlets, Parameters, QueryError, Rule, Scratch, StoredError, Summary, Wanted,
    build, classify, classify_candidates, covered, covered_candidates,
};
use gyrase_fastx::{PairedReader, Reader};
use gyrase_kmer::SketchShape;
use gyrase_table::gydb::Database;
use gyrase_tabulate::Source;
use gyrase_taxonomy::{Node, Taxonomy};
use gyrase_work::Progress;

/// The most locations of a feature: few, so that the cap decides.
const CAP: u8 = 5;
const TAXIDS: [u32; 4] = [11, 12, 22, 11];

pub(crate) fn letters(n: usize, seed: u64) -> Vec<u8> {
    let word = |i: u64| gyrase_kmer::mix(gyrase_kmer::mix(i ^ seed << 40)) >> 62;
    (0..n as u64).map(|i| b"ACGT"[word(i) as usize]).collect()
}

fn taxonomy(species: &str) -> Taxonomy {
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
        node(12, 10, "species", species),
        node(22, 1, "species", "Two"),
    ])
    .unwrap()
}

/// Four genomes. They have in common a repeat of 300 letters, three times each, so that its
/// features are capped.
fn genomes() -> [Vec<u8>; 4] {
    let repeat = letters(300, 7);
    [1, 2, 3, 4].map(|seed| {
        let mut genome = letters(12_000, if seed == 4 { 1 } else { seed });
        let changed = genome.len() - 6000;
        if seed == 4 {
            genome[changed..]
                .iter_mut()
                .step_by(40)
                .for_each(|letter| *letter = if *letter == b'A' { b'C' } else { b'A' });
        }
        [1000, 5000, 9000]
            .iter()
            .for_each(|&at| genome[at..at + 300].copy_from_slice(&repeat));
        genome
    })
}

pub(crate) struct Case {
    folder: tempfile::TempDir,
}

impl Case {
    pub(crate) fn new() -> Case {
        let case = Case {
            folder: tempfile::tempdir().unwrap(),
        };
        for (i, genome) in genomes().into_iter().enumerate() {
            fs::write(
                case.path(&format!("{i}.fa")),
                [format!(">g{i}\n").as_bytes(), &genome, b"\n"].concat(),
            )
            .unwrap();
        }
        let mut text = [String::new(), String::new()];
        for (i, genome) in genomes()
            .iter()
            .chain([&letters(12_000, 9), &letters(300, 7)])
            .enumerate()
        {
            for (j, start) in (0..genome.len() - 250).step_by(47).enumerate() {
                let mates = [
                    genome[start..start + 100].to_vec(),
                    gyrase_seq::reverse_complement(&genome[start + 130..start + 250]),
                ];
                for (mate, letters) in mates.iter().enumerate() {
                    text[(mate + j) % 2] += &format!(
                        "@g{i}:{start}/{}\n{}\n+\n{}\n",
                        mate + 1,
                        str::from_utf8(letters).unwrap(),
                        "I".repeat(letters.len())
                    );
                }
            }
        }
        text.iter()
            .enumerate()
            .for_each(|(mate, text)| fs::write(case.path(&format!("{mate}.fq")), text).unwrap());
        fs::write(case.path("none.fq"), "").unwrap();
        case
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn database(&self, genomes: &[usize], taxonomy: &Taxonomy, one_in: usize) -> Index {
        let output = self.path(&format!("{genomes:?}{one_in}.gydb"));
        self.build(genomes, taxonomy, one_in, Some(output.clone()));
        Index::open(&output).unwrap()
    }

    /// The database of all genomes, in memory.
    pub(crate) fn in_memory(&self) -> Index {
        let built = self.build(&[0, 1, 2, 3], &taxonomy("One second"), 3, None);
        Index::of(built.unwrap()).unwrap()
    }

    fn build(
        &self,
        genomes: &[usize],
        taxonomy: &Taxonomy,
        one_in: usize,
        output: Option<PathBuf>,
    ) -> Option<Database> {
        let config = BuildConfig {
            references: genomes
                .iter()
                .map(|i| self.path(&format!("{i}.fa")))
                .collect(),
            output,
            parameters: Parameters {
                sketch: SketchShape::sampled(20, 130, 112, one_in).unwrap(),
                locations: CAP,
            },
            threads: 1,
            memory: 1 << 30,
            tmp: self.folder.path().to_path_buf(),
            max_tmp: None,
            resume: None,
        };
        let mut taxon_of =
            |header: &str, _: &Path| taxonomy.taxon_of(TAXIDS[header[1..].parse::<usize>().ok()?]);
        let built = build(&config, taxonomy, &mut taxon_of, &Progress::default());
        built.unwrap().1
    }

    pub(crate) fn collection(&self, parts: &[&[usize]]) -> Collection {
        Collection::new(
            parts
                .iter()
                .map(|part| self.database(part, &taxonomy("One second"), 3))
                .collect(),
        )
        .unwrap()
    }

    pub(crate) fn source(&self, paired: bool) -> Source {
        let [first, second] = [0, 1].map(|mate| self.path(&format!("{mate}.fq")));
        let options = gyrase_fastx::Options {
            batch_bytes: 50_000,
            ..Source::options()
        };
        match paired {
            true => Source::Paired(Box::new(
                PairedReader::open(&first, &second, &options).unwrap(),
            )),
            false => Source::Single(Box::new(Reader::open(&first, &options).unwrap())),
        }
    }

    pub(crate) fn scratch(&self) -> Scratch<'_> {
        Scratch {
            folder: self.folder.path(),
            limit: None,
        }
    }

    /// Answers of hits, without and with the coverage filter.
    pub(crate) fn answers(
        &self,
        hits: &Hits<'_>,
        collection: &Collection,
        paired: bool,
        threads: usize,
    ) -> [(String, Summary); 2] {
        let config = config(threads);
        let genomes = gyrase_classify::Genomes::new(&collection.catalogue.targets);
        let covered = covered(hits, self.source(paired), &config, &Progress::default()).unwrap();
        let dropped =
            Dropped::least_covered(&covered, &collection.catalogue.targets, &genomes, 0.3);
        assert!(dropped.genomes > 0);
        [Dropped::default(), dropped].map(|dropped| {
            answer(|outlets| {
                classify(
                    hits,
                    self.source(paired),
                    &config,
                    &dropped,
                    outlets,
                    &Progress::default(),
                )
            })
        })
    }

    fn stored(&self, paths: &[PathBuf], threads: usize) -> [(String, Summary); 2] {
        let (config, candidates) = (config(threads), Candidates::open(paths).unwrap());
        let genomes = gyrase_classify::Genomes::new(&candidates.catalogue().targets);
        let covered = covered_candidates(&candidates, &config, &Progress::default()).unwrap();
        let dropped =
            Dropped::least_covered(&covered, &candidates.catalogue().targets, &genomes, 0.3);
        [Dropped::default(), dropped].map(|dropped| {
            answer(|outlets| {
                classify_candidates(
                    &candidates,
                    &config,
                    &dropped,
                    outlets,
                    &Progress::default(),
                )
            })
        })
    }
}

pub(crate) fn config(threads: usize) -> AnswerConfig {
    let wanted = Wanted {
        depth: true,
        ..Wanted::default()
    };
    AnswerConfig {
        rule: Rule::default(),
        insert: 400,
        threads,
        wanted,
    }
}

pub(crate) fn answer(
    classify: impl FnOnce(&mut Outlets<'_>) -> Result<Summary, QueryError>,
) -> (String, Summary) {
    let mut text = Vec::new();
    let summary = classify(&mut Outlets {
        columns: Columns::LOCATIONS,
        lines: &mut text,
        extracts: &mut [],
    })
    .unwrap();
    (String::from_utf8(text).unwrap(), summary)
}

pub(crate) fn assert_equal(
    some: &[(String, Summary); 2],
    others: &[(String, Summary); 2],
    what: &str,
) {
    for (one, other) in some.iter().zip(others) {
        let difference = one
            .0
            .lines()
            .zip(other.0.lines())
            .find(|(one, other)| one != other);
        assert_eq!(difference, None, "{what}");
        assert_eq!(
            (one.0.len(), &one.1.tally, &one.1.depth),
            (other.0.len(), &other.1.tally, &other.1.depth),
            "{what}"
        );
    }
}

#[test]
fn one_answer_whole_in_passes_in_parts_and_stored() {
    let case = Case::new();
    let whole = case.collection(&[&[0, 1, 2, 3]]);
    for paired in [false, true] {
        let expected = case.answers(&Hits::of(&whole), &whole, paired, 1);
        let found = |taxid| {
            expected[0]
                .0
                .lines()
                .filter(|line| line.split('\t').nth(2) == Some(taxid))
                .count()
        };
        assert!(
            ["0", "11", "12", "22"]
                .iter()
                .all(|&taxid| found(taxid) > 2),
            "{}",
            expected[0].0
        );
        let splits: [&[&[usize]]; 3] = [
            &[&[0, 1, 2, 3]],
            &[&[0, 1], &[2, 3]],
            &[&[0], &[1], &[2], &[3]],
        ];
        for parts in splits {
            let collection = case.collection(parts);
            for threads in [1, 8] {
                let what = format!("{parts:?}, {threads} threads, paired: {paired}");
                assert_equal(
                    &case.answers(&Hits::of(&collection), &collection, paired, threads),
                    &expected,
                    &what,
                );
                for most in [collection.bytes() / 7, collection.bytes() / 3] {
                    let open = || Ok::<_, QueryError>(case.source(paired));
                    let hits = Hits::in_passes(
                        &collection,
                        most,
                        case.scratch(),
                        threads,
                        open,
                        &Progress::default(),
                    );
                    let what = format!("{what}, {most} bytes at a time");
                    assert_equal(
                        &case.answers(&hits.unwrap(), &collection, paired, 9 - threads),
                        &expected,
                        &what,
                    );
                }
            }
            let paths: Vec<PathBuf> = parts
                .iter()
                .map(|part| {
                    let (collection, path) = (
                        case.collection(&[part]),
                        case.path(&format!("{part:?}.gyc")),
                    );
                    let kept = Hits::of(&collection)
                        .keep(case.source(paired), &path, 2, &Progress::default())
                        .unwrap();
                    assert_eq!(kept, expected[0].1.tally.total());
                    path
                })
                .collect();
            for threads in [1, 3] {
                assert_equal(
                    &case.stored(&paths, threads),
                    &expected,
                    &format!("{parts:?} stored, paired: {paired}"),
                );
            }
        }
    }
}

#[test]
fn the_memory_decides_how_many_passes_it_takes() {
    let case = Case::new();
    let collection = case.collection(&[&[0, 1], &[2, 3]]);
    let plan = |memory, threads| collection.plan(memory, threads);
    let all = plan(1 << 40, 2).unwrap();
    assert!(all.passes == 1 && all.most >= collection.bytes());
    for threads in [1, 2, 8] {
        let least = plan(0, threads).unwrap_err();
        assert_eq!(
            (plan(least - (1 << 20), threads), least % (1 << 20)),
            (Err(least), 0)
        );
        assert!(plan(least, threads).is_ok());
        let mut before = usize::MAX;
        for more in 0..20 {
            let plan = plan(least + (more << 19), threads).unwrap();
            assert!(plan.passes <= before);
            before = plan.passes;
        }
        assert_eq!(before, 1);
    }
}

#[test]
fn no_reads_are_no_answers() {
    let case = Case::new();
    let collection = case.collection(&[&[0, 1]]);
    let open = || {
        Source::Single(Box::new(
            Reader::open(&case.path("none.fq"), &Source::options()).unwrap(),
        ))
    };
    let progress = Progress::default();
    let passes = Hits::in_passes(
        &collection,
        1000,
        case.scratch(),
        2,
        || Ok::<_, QueryError>(open()),
        &progress,
    )
    .unwrap();
    let path = case.path("none.gyc");
    assert_eq!(passes.keep(open(), &path, 2, &progress).unwrap(), 0);
    let answers = answer(|outlets| {
        classify(
            &passes,
            open(),
            &config(2),
            &Dropped::default(),
            outlets,
            &progress,
        )
    });
    assert_eq!((answers.0.as_str(), answers.1.tally.total()), ("", 0));
    assert_eq!(case.stored(&[path.clone(), path], 2)[0].0, "");
}

#[test]
fn what_does_not_fit_together_is_refused_by_name() {
    let case = Case::new();
    let here = taxonomy("One second");
    let parts = |one, other| {
        Collection::new(vec![one, other])
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    let other = parts(case.database(&[0], &here, 3), case.database(&[1], &here, 4));
    assert!(
        other.contains("[0]3.gydb")
            && other.contains("[1]4.gydb")
            && other.contains("one k-mer in 4"),
        "{other}"
    );
    let other = parts(
        case.database(&[0, 1], &here, 3),
        case.database(&[1], &taxonomy("Another"), 3),
    );
    assert!(
        other.contains("taxid 12") && other.contains("\"Another\"") && other.contains("[1]3.gydb"),
        "{other}"
    );

    let keep = |name: &str, index: Index, paired| {
        let path = case.path(name);
        Hits::of(&index.into())
            .keep(case.source(paired), &path, 2, &Progress::default())
            .unwrap();
        path
    };
    let single = keep("single.gyc", case.database(&[0], &here, 3), false);
    let paired = keep("paired.gyc", case.database(&[2], &here, 3), true);
    let sparse = keep("sparse.gyc", case.database(&[2], &here, 4), false);
    let refused = Candidates::open(&[single.clone(), sparse]);
    assert!(matches!(
        refused,
        Err(CandidatesError::Mismatch(Mismatch::Parameters { .. }))
    ));
    // As many reads, but others.
    let candidates = Candidates::open(&[single, paired]).unwrap();
    let mut text = Vec::new();
    let mut outlets = Outlets {
        columns: Columns::LOCATIONS,
        lines: &mut text,
        extracts: &mut [],
    };
    let refused = classify_candidates(
        &candidates,
        &config(2),
        &Dropped::default(),
        &mut outlets,
        &Progress::default(),
    );
    assert!(
        matches!(
            refused,
            Err(QueryError::Stored(StoredError::OtherReads { .. }))
        ),
        "{refused:?}"
    );
}

#[test]
fn damaged_candidates_are_refused() {
    let case = Case::new();
    let (path, damaged) = (case.path("a.gyc"), case.path("damaged.gyc"));
    Hits::of(&case.collection(&[&[0, 1]]))
        .keep(case.source(true), &path, 2, &Progress::default())
        .unwrap();
    let bytes = fs::read(&path).unwrap();
    let try_all = |bytes: &[u8]| {
        fs::write(&damaged, bytes).unwrap();
        let candidates =
            Candidates::open(std::slice::from_ref(&damaged)).map_err(|error| error.to_string())?;
        let mut text = Vec::new();
        let mut outlets = Outlets {
            columns: Columns::LOCATIONS,
            lines: &mut text,
            extracts: &mut [],
        };
        let done = classify_candidates(
            &candidates,
            &config(1),
            &Dropped::default(),
            &mut outlets,
            &Progress::default(),
        );
        done.map(|_| text).map_err(|error| error.to_string())
    };
    let whole = try_all(&bytes).unwrap();
    let ends = (0..bytes.len())
        .step_by(997)
        .chain(bytes.len() - 70..bytes.len());
    for end in ends.clone() {
        let error = try_all(&bytes[..end]).unwrap_err();
        assert!(error.contains("damaged.gyc"), "{end}: {error}");
    }
    for at in ends {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        // Between what is checked there is only what nobody reads.
        assert!(
            try_all(&changed).is_ok_and(|text| text == whole)
                == (bytes.len() - 12..bytes.len() - 8).contains(&at),
            "{at}"
        );
    }
    let text = try_all(b">chr1\nACGT\n").unwrap_err();
    assert!(
        text.contains("no file of candidates: it looks like a FASTA"),
        "{text}"
    );
    let mut other = bytes;
    other[8] = 9;
    assert!(try_all(&other).unwrap_err().contains("version 9"));
}

#[test]
fn scratch_files_keep_to_their_limit() {
    let case = Case::new();
    let collection = case.collection(&[&[0, 1]]);
    let scratch = Scratch {
        limit: Some(5000),
        ..case.scratch()
    };
    let open = || Ok::<_, QueryError>(case.source(true));
    let most = collection.bytes() / 3;
    let refused = Hits::in_passes(&collection, most, scratch, 2, open, &Progress::default());
    assert!(matches!(
        refused,
        Err(QueryError::Stored(StoredError::Full { limit: 5000, .. }))
    ));
}

#[test]
fn reads_that_came_or_went_meanwhile_are_noticed() {
    let case = Case::new();
    let (collection, progress) = (case.collection(&[&[0, 1]]), Progress::default());
    let few = || {
        Ok::<_, QueryError>(Source::Single(Box::new(
            Reader::open(&case.path("none.fq"), &Source::options()).unwrap(),
        )))
    };
    let hits = Hits::in_passes(
        &collection,
        collection.bytes() / 3,
        case.scratch(),
        2,
        few,
        &progress,
    )
    .unwrap();
    let mut text = Vec::new();
    let mut outlets = Outlets {
        columns: Columns::LOCATIONS,
        lines: &mut text,
        extracts: &mut [],
    };
    let refused = classify(
        &hits,
        case.source(true),
        &config(2),
        &Dropped::default(),
        &mut outlets,
        &progress,
    );
    assert!(
        matches!(
            refused,
            Err(QueryError::Stored(StoredError::Changed { read: 1 }))
        ),
        "{refused:?}"
    );
    let all = || Ok::<_, QueryError>(case.source(true));
    let hits = Hits::in_passes(
        &collection,
        collection.bytes() / 3,
        case.scratch(),
        2,
        all,
        &progress,
    )
    .unwrap();
    let mut outlets = Outlets {
        columns: Columns::LOCATIONS,
        lines: &mut text,
        extracts: &mut [],
    };
    let refused = classify(
        &hits,
        few().unwrap(),
        &config(2),
        &Dropped::default(),
        &mut outlets,
        &progress,
    );
    assert!(
        matches!(
            refused,
            Err(QueryError::Stored(StoredError::Changed { read: 1 }))
        ),
        "{refused:?}"
    );
}

#[test]
fn golden_candidates_give_their_answers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1");
    let candidates = Candidates::open(&[folder.join("candidates.gyc")]).unwrap();
    let answers = answer(|outlets| {
        classify_candidates(
            &candidates,
            &config(2),
            &Dropped::default(),
            outlets,
            &Progress::default(),
        )
    });
    assert_eq!(
        answers.0,
        fs::read_to_string(folder.join("candidates.tsv")).unwrap()
    );
}
