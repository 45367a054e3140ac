//! From references to answers: the same for any threads, in memory or from a file, and right for
//! reads of the references.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use std::fs;
use std::path::{Path, PathBuf};

use gyrase_classify::{
    AnswerConfig, BuildConfig, BuildSummary, Collection, Columns, Config, Dropped, Extract, Hits,
    Index, Lane, Outlet, Outlets, Parameters, Reads, Rule, Scratch, Summary, TargetId, Wanted,
    Which, build, build_in, classify, run, run_in,
};
use gyrase_fabric::{Steal, World, testing};
use gyrase_fastx::{Format, Options, PairWriter, PairedReader, Reader, Writer};
use gyrase_kmer::SketchShape;
use gyrase_tabulate::Source;
use gyrase_taxonomy::{Node, Taxonomy};
use gyrase_work::Progress;

fn letters(n: usize, seed: u64) -> Vec<u8> {
    let word = |i: u64| gyrase_kmer::mix(gyrase_kmer::mix(i ^ seed << 40)) >> 62;
    (0..n as u64).map(|i| b"ACGT"[word(i) as usize]).collect()
}

/// Root, a genus of two species, another species.
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
    ])
    .unwrap()
}

/// Three genomes: the second is the first with every 50th base changed in its last half.
fn genomes() -> [Vec<u8>; 3] {
    let first = letters(40_000, 1);
    let mut second = first.clone();
    for at in (20_000..40_000).step_by(50) {
        second[at] = if second[at] == b'A' { b'C' } else { b'A' };
    }
    [first, second, letters(30_000, 2)]
}

const TAXIDS: [u32; 3] = [11, 12, 22];

fn references(folder: &Path) -> Vec<PathBuf> {
    let write = |(i, genome): (usize, Vec<u8>)| {
        let path = folder.join(format!("{i}.fa"));
        // A plasmid too short for a k-mer, and a contig without a taxon.
        let text = [
            b">g".as_slice(),
            &[b'0' + i as u8],
            b" x\n",
            &genome,
            b"\n>short\nACGT\n",
        ]
        .concat();
        fs::write(&path, text).unwrap();
        path
    };
    genomes().into_iter().enumerate().map(write).collect()
}

fn built(
    folder: &Path,
    threads: usize,
    memory: u64,
    output: Option<PathBuf>,
) -> (BuildSummary, Option<Index>) {
    let config = BuildConfig {
        references: references(folder),
        output,
        parameters: Parameters::default(),
        threads,
        memory,
        tmp: folder.to_path_buf(),
        max_tmp: None,
        resume: None,
    };
    let taxonomy = taxonomy();
    let mut taxon_of = |header: &str, file: &Path| {
        let number = file.file_stem()?.to_str()?;
        assert!(
            header.starts_with(&format!("g{number}")) || header == "short",
            "{header} of {number}"
        );
        let genome = header
            .strip_prefix('g')?
            .split(' ')
            .next()?
            .parse::<usize>()
            .ok()?;
        taxonomy.taxon_of(TAXIDS[genome])
    };
    let (summary, database) =
        build(&config, &taxonomy, &mut taxon_of, &Progress::default()).unwrap();
    (
        summary,
        database.map(|database| Index::of(database).unwrap()),
    )
}

fn answers(index: Index, source: Source, threads: usize) -> String {
    let (mut text, collection) = (Vec::new(), Collection::from(index));
    let config = AnswerConfig {
        rule: Rule::default(),
        insert: 400,
        threads,
        wanted: Wanted::default(),
    };
    let mut outlets = Outlets {
        columns: Columns::HITS,
        lines: &mut text,
        extracts: &mut [],
    };
    let none = Dropped::default();
    let summary = classify(
        &Hits::of(&collection),
        source,
        &config,
        &none,
        &mut outlets,
        &Progress::default(),
    )
    .unwrap();
    assert_eq!(
        summary.tally.total(),
        text.iter().filter(|&&byte| byte == b'\n').count() as u64
    );
    String::from_utf8(text).unwrap()
}

/// Reads of 150 letters of each genome, both strands, and as many of nothing known.
fn reads(folder: &Path) -> PathBuf {
    let mut text = String::new();
    for (i, genome) in genomes().iter().chain([&letters(30_000, 9)]).enumerate() {
        for (j, start) in (0..genome.len() - 150).step_by(977).enumerate() {
            let read = &genome[start..start + 150];
            let read = if j % 2 == 0 {
                read.to_vec()
            } else {
                gyrase_seq::reverse_complement(read)
            };
            text += &format!(
                "@g{i}:{start} more\n{}\n+\n{}\n",
                str::from_utf8(&read).unwrap(),
                "I".repeat(150)
            );
        }
    }
    let path = folder.join("reads.fq");
    fs::write(&path, text).unwrap();
    path
}

fn single(path: &Path) -> Source {
    Source::Single(Box::new(Reader::open(path, &Source::options()).unwrap()))
}

#[test]
fn one_database_for_any_threads_memory_and_place() {
    let folder = tempfile::tempdir().unwrap();
    let reads = reads(folder.path());
    let mut all = Vec::new();
    for (number, (threads, memory)) in [(1, 1 << 30), (3, 1 << 30), (2, 0)].into_iter().enumerate()
    {
        let path = folder.path().join(format!("{number}.gydb"));
        let memory = memory.max(BuildConfig::least_memory(threads));
        let (summary, _) = built(folder.path(), threads, memory, Some(path.clone()));
        assert_eq!(
            (summary.targets, summary.without_taxon, summary.letters),
            (6, 3, 110_012)
        );
        let index = Index::open(&path).unwrap();
        assert_eq!(index.targets.all_windows(), summary.windows);
        let names: Vec<&str> = index
            .targets
            .iter()
            .map(|target| target.name.as_str())
            .collect();
        assert_eq!(names, ["g0", "short", "g1", "short", "g2", "short"]);
        all.push((
            fs::read(&path).unwrap(),
            answers(index, single(&reads), threads),
        ));
    }
    assert!(all.windows(2).all(|two| two[0] == two[1]));
    let (_, index) = built(folder.path(), 2, 1 << 30, None);
    assert_eq!(answers(index.unwrap(), single(&reads), 2), all[0].1);
}

/// Builds files of records with such windows that a file of 200,000 letters has more of them than a
/// block of numbers.
fn built_dense(folder: &Path, files: &[PathBuf], threads: usize) -> Result<Vec<u8>, String> {
    let output = folder.join("dense.gydb");
    let config = BuildConfig {
        references: files.to_vec(),
        output: Some(output.clone()),
        parameters: Parameters {
            sketch: SketchShape::sampled(22, 30, 2, 40).unwrap(),
            locations: 9,
        },
        threads,
        memory: BuildConfig::least_memory(threads),
        tmp: folder.to_path_buf(),
        max_tmp: None,
        resume: None,
    };
    let taxonomy = taxonomy();
    let mut taxon_of = |header: &str, _: &Path| taxonomy.taxon_of(10 + header.len() as u32 % 3);
    build(&config, &taxonomy, &mut taxon_of, &Progress::default())
        .map_err(|error| error.to_string())?;
    Ok(fs::read(output).unwrap())
}

/// A long file, hundreds of short ones, some of them empty or compressed, and one of thousands of
/// scaffolds.
fn many_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut write = |name: String, text: &[u8]| {
        files.push(folder.join(name));
        fs::write(files.last().unwrap(), text).unwrap();
    };
    write(
        "long.fa".into(),
        &[b">long\n", &letters(300_000, 3)[..]].concat(),
    );
    for i in 0..200 {
        let text = [
            format!(">v{i}\n").as_bytes(),
            &letters(i * 17 % 900, i as u64 % 90),
            b"\n>more\nACGT\n",
        ]
        .concat();
        write(format!("v{i}.fa"), if i % 9 == 4 { b"" } else { &text });
    }
    let scaffold =
        |i: usize| [format!("\n>s{i}\n").as_bytes(), &letters(i % 300, i as u64)].concat();
    write(
        "scaffolds.fa".into(),
        &(0..4000).flat_map(scaffold).skip(1).collect::<Vec<u8>>(),
    );
    files
}

#[test]
fn many_files_are_one_database_for_any_threads() {
    let folder = tempfile::tempdir().unwrap();
    let files = many_files(folder.path());
    let one = built_dense(folder.path(), &files, 1).unwrap();
    let index = Index::open(&folder.path().join("dense.gydb")).unwrap();
    assert_eq!(index.targets.len(), 1 + 2 * 178 + 4000);
    assert_eq!(
        (
            index.targets.get(TargetId(0)).source,
            index.targets.get(TargetId(356)).source,
            index.targets.get(TargetId(357)).source
        ),
        (0, 178, 179)
    );
    assert!(index.targets.get(TargetId(0)).windows > 2 << 16);
    // Every feature of the last scaffold is where its windows are.
    let target = index.targets.ids().last().unwrap();
    let mut sketcher = gyrase_kmer::Sketcher::new(index.parameters.sketch);
    let mut found = 0;
    sketcher.sketch(&letters(3999 % 300, 3999), &mut |window, features| {
        for &feature in features {
            let locations = index.features.locations(feature).unwrap();
            let expected = index.targets.windows(target).start.behind(window);
            found += u32::from(locations.contains(&expected));
        }
    });
    assert!(found > 0);
    for threads in [2, 3, 8] {
        assert!(
            built_dense(folder.path(), &files, threads).unwrap() == one,
            "{threads} threads"
        );
    }
}

#[test]
fn the_first_malformed_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let files = many_files(folder.path());
    fs::write(&files[60], ">ok\nACGT\n>bad\nAC1T\n").unwrap();
    fs::write(
        &files[40],
        [b">ok\n", &letters(200_000, 1)[..], b"\n>bad\nA!\n"].concat(),
    )
    .unwrap();
    for threads in [1, 2, 8, 8, 8] {
        let error = built_dense(folder.path(), &files, threads).unwrap_err();
        assert!(error.contains("v39.fa"), "{threads} threads: {error}");
    }
    // What is missing is known before anything is read.
    fs::remove_file(&files[90]).unwrap();
    let error = built_dense(folder.path(), &files, 2).unwrap_err();
    assert!(error.contains("v89.fa"), "{error}");
}

#[test]
fn distinct_features_are_those_of_a_naive_count() {
    let folder = tempfile::tempdir().unwrap();
    let (summary, index) = built(folder.path(), 2, 1 << 30, None);
    let index = index.unwrap();
    let mut naive = std::collections::BTreeSet::new();
    let mut all = 0;
    for (feature, locations) in index.features.features().map(Result::unwrap) {
        all += 1;
        let taxa = locations
            .iter()
            .filter_map(|&location| index.targets.get(index.targets.at(location)).taxon);
        naive.extend(taxa.map(|taxon| (taxon, feature)));
    }
    assert_eq!(all, summary.table.features);
    for taxon in index.taxonomy.taxa() {
        let expected = naive.range((taxon, 0)..=(taxon, u32::MAX)).count() as u64;
        assert_eq!(index.distinct(taxon), expected);
        assert_eq!(expected > 0, TAXIDS.contains(&index.taxonomy.taxid(taxon)));
    }
}

#[test]
fn reads_find_their_genome() {
    let folder = tempfile::tempdir().unwrap();
    let (_, index) = built(folder.path(), 2, 1 << 30, None);
    let text = answers(index.unwrap(), single(&reads(folder.path())), 2);
    for line in text.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let (genome, start) = columns[1]
            .strip_prefix('g')
            .unwrap()
            .split_once(':')
            .unwrap();
        let (genome, start): (usize, usize) = (genome.parse().unwrap(), start.parse().unwrap());
        // Where the first two are alike only their genus can be told.
        let expected = match genome {
            0 | 1 if start + 150 <= 20_000 => 10,
            0..3 => TAXIDS[genome],
            _ => 0,
        };
        let near_the_border = genome < 2 && (19_700..20_300).contains(&start);
        assert!(
            near_the_border || columns[2] == expected.to_string(),
            "{line}"
        );
        assert_eq!(
            (columns[0], columns[3]),
            (if expected == 0 { "U" } else { "C" }, "150"),
            "{line}"
        );
    }
}

#[test]
fn mates_are_one_answer() {
    let folder = tempfile::tempdir().unwrap();
    let (_, index) = built(folder.path(), 2, 1 << 30, None);
    let genome = &genomes()[2];
    let [first, second] = [1, 2].map(|mate| folder.path().join(format!("{mate}.fq")));
    let record = |name: &str, letters: &[u8]| {
        format!(
            "@{name}\n{}\n+\n{}\n",
            str::from_utf8(letters).unwrap(),
            "I".repeat(letters.len())
        )
    };
    fs::write(
        &first,
        record("a/1", &genome[500..600]) + &record("b/1", b"ACG"),
    )
    .unwrap();
    let back = gyrase_seq::reverse_complement(&genome[700..850]);
    fs::write(&second, record("a/2", &back) + &record("b/2", b"")).unwrap();
    let source = Source::Paired(Box::new(
        PairedReader::open(&first, &second, &Options::default()).unwrap(),
    ));
    let text = answers(index.unwrap(), source, 1);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("C\ta\t22\t100|150\t22:"), "{text}");
    assert_eq!(lines[1], "U\tb\t0\t3|0\t0:0");
}

/// The lines and the extracted reads of a run.
type Outputs = (Vec<u8>, Vec<u8>);

/// Answers two lanes into memory and a file, by `classify`; what it returns, and the outputs.
fn outputs<T>(
    folder: &Path,
    classify: impl FnOnce(&mut Outlets) -> Result<T, gyrase_classify::ClassifyError>,
) -> (T, Outputs) {
    let (mut lines, path) = (Vec::new(), folder.join("extracted.fq"));
    let to = PairWriter::new(Writer::create(&path, Format::Fastq, None).unwrap(), None);
    let mut extracts = [Extract {
        which: Which::Classified,
        to,
    }];
    let mut outlets = Outlets {
        columns: Columns::LOCATIONS,
        lines: &mut lines,
        extracts: &mut extracts,
    };
    let made = classify(&mut outlets).unwrap();
    for extract in extracts {
        extract.to.complete().unwrap().publish().unwrap();
    }
    (made, (lines, fs::read(path).unwrap()))
}

#[test]
fn processes_share_a_sample_and_give_what_one_gives() {
    let folder = tempfile::tempdir().unwrap();
    let collection = Collection::from(built(folder.path(), 2, 1 << 30, None).1.unwrap());
    let file = reads(folder.path());
    let lane = |reads: &Path| Lane {
        reads: reads.into(),
        mates: None,
        interleaved: false,
    };
    let lanes = [
        lane(&file),
        Lane {
            mates: Some(file.clone()),
            ..lane(&file)
        },
    ];
    let config = |drop_least_covered| Config {
        reads: Reads::Lanes {
            collection: &collection,
            lanes: &lanes,
        },
        answer: AnswerConfig {
            rule: Rule::default(),
            insert: 400,
            threads: 2,
            wanted: Wanted {
                evidence: true,
                ..Wanted::default()
            },
        },
        memory: 1 << 30,
        scratch: Scratch {
            folder: folder.path(),
            limit: None,
        },
        drop_least_covered,
    };
    for dropped in [None, Some(0.4)] {
        let progress = Progress::default();
        let (one, expected) = outputs(folder.path(), |outlets| {
            run(&config(dropped), &progress, outlets)
        });
        assert!(!expected.0.is_empty() && !expected.1.is_empty());
        let bytes = 3 * fs::metadata(&file).unwrap().len();
        assert_eq!(progress.now(), ("classify", bytes, bytes));
        // Those of the pairs are mates of themselves.
        assert_eq!(progress.reads(), 3 * one.tally.total() / 2);
        for ranks in [1, 2, 3, 5] {
            let all = testing::run(ranks, Steal::On, |process| {
                let (config, progress) = (config(dropped), Progress::default());
                if process.rank() > 0 {
                    let away = Outlet::<Outlets>::Away(Columns::LOCATIONS);
                    let none = run_in(&config, process, away, true, &progress)?;
                    return Ok::<_, gyrase_classify::ClassifyError>(none.map(|it| (it, None)));
                }
                let (summary, outputs) = outputs(folder.path(), |outlets| {
                    run_in(&config, process, Outlet::Here(outlets), true, &progress)
                });
                Ok(summary.map(|summary| (summary, Some(outputs))))
            });
            let mut all = all.into_iter().map(Result::unwrap);
            let (summary, found) = all.next().unwrap().expect("the first process has it");
            assert!(all.all(|other| other.is_none()));
            let bytes = |summary: &Summary| summary.to_bytes();
            assert_eq!(bytes(&summary), bytes(&one), "{ranks} ranks, {dropped:?}");
            assert_eq!(summary.dropped, one.dropped);
            assert!(
                found.as_ref() == Some(&expected),
                "{ranks} ranks, {dropped:?}"
            );
        }
    }
}

#[test]
fn processes_build_what_one_builds() {
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<PathBuf> = references(folder.path());
    let config = |output: &str, threads| BuildConfig {
        references: files.clone(),
        output: Some(folder.path().join(output)),
        parameters: Parameters::default(),
        threads,
        memory: 1 << 30,
        tmp: folder.path().join("tmp"),
        max_tmp: None,
        resume: None,
    };
    let taxonomy = taxonomy();
    let taxon_of = |header: &str, _: &Path| {
        let number: usize = header.strip_prefix('g')?.split(' ').next()?.parse().ok()?;
        taxonomy.taxon_of(TAXIDS[number])
    };
    let progress = Progress::default();
    let (one, _) = build(&config("one", 2), &taxonomy, &mut { taxon_of }, &progress).unwrap();
    let expected = fs::read(folder.path().join("one")).unwrap();
    assert!(one.targets > 3 && one.without_taxon > 0);
    for ranks in [2, 3, 5] {
        let all = testing::run(ranks, Steal::On, |process| {
            let (config, progress) = (config("all", 1 + process.rank() % 2), Progress::default());
            build_in(&config, process, &taxonomy, &mut { taxon_of }, &progress)
        });
        for summary in all.into_iter().map(|built| built.unwrap().0) {
            assert_eq!(summary, one, "{ranks} ranks");
        }
        let found = fs::read(folder.path().join("all")).unwrap();
        assert!(found == expected, "{ranks} ranks");
    }
    let left: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|it| it.unwrap().path())
        .collect();
    assert!(
        left.iter().all(|path| !path.ends_with("all.partial")),
        "{left:?}"
    );
}
