//! Several processes, as threads, give what one process gives: passes, stored candidates, samples.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use std::fs;
use std::path::{Path, PathBuf};

use gyrase_classify::samples::{SampleReads, Series};
use gyrase_classify::{
    AnswerConfig, BuildConfig, Candidates, ClassifyError, Collection, Columns, Config, Earlier,
    Index, Lane, Outlet, Outlets, Parameters, QueryError, Reads, Rule, Scratch, Summary, Wanted,
    build, build_in, run, run_in, store, store_in,
};
use gyrase_fabric::{FabricError, Steal, World, testing};
use gyrase_files::OutputError;
use gyrase_kmer::{SketchShape, mix};
use gyrase_tabulate::TabulateError;
use gyrase_taxonomy::{Node, Taxon, Taxonomy};
use gyrase_work::Progress;

const RANKS: [usize; 5] = [1, 2, 3, 4, 7];
const TAXIDS: [u32; 4] = [11, 12, 22, 22];

fn letters(n: usize, seed: u64) -> Vec<u8> {
    let word = |i: u64| mix(mix(i ^ seed << 40)) >> 62;
    (0..n as u64).map(|i| b"ACGT"[word(i) as usize]).collect()
}

/// Root, a genus of two species, another species.
fn taxonomy() -> Taxonomy {
    let node = |taxid, parent, rank| Node {
        taxid,
        parent,
        rank,
        name: rank,
    };
    Taxonomy::new([
        node(1, 1, "no rank"),
        node(10, 1, "genus"),
        node(11, 10, "species"),
        node(12, 10, "species"),
        node(22, 1, "species"),
    ])
    .unwrap()
}

/// Four genomes, reads of them and of nothing known, and a database that takes several passes.
struct Case {
    folder: tempfile::TempDir,
    collection: Collection,
    lanes: [Lane; 2],
}

impl Case {
    fn new() -> Case {
        let folder = tempfile::tempdir().unwrap();
        let config = config_of(folder.path(), "db", 300_000);
        build(
            &config,
            &taxonomy(),
            &mut |header, _| taxon_of(header),
            &Progress::default(),
        )
        .unwrap();
        let index = Index::open(&folder.path().join("db")).unwrap();
        let lane = |mates: Option<&str>| Lane {
            reads: folder.path().join("0.fq"),
            mates: mates.map(|name| folder.path().join(name)),
            interleaved: false,
        };
        for mate in 0..2 {
            fs::write(folder.path().join(format!("{mate}.fq")), reads(mate)).unwrap();
        }
        let lanes = [lane(Some("1.fq")), lane(None)];
        Case {
            collection: index.into(),
            lanes,
            folder,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// How lanes are answered, in as many passes as there can be or at once.
    fn config<'a>(&'a self, reads: Reads<'a>, passes: bool) -> Config<'a> {
        let memory = match passes {
            true => self.collection.least_memory(2),
            false => 1 << 30,
        };
        let plan = self.collection.plan(memory, 2).unwrap();
        assert_eq!(plan.passes > 1, passes);
        let wanted = Wanted {
            evidence: true,
            depth: true,
        };
        Config {
            reads,
            answer: AnswerConfig {
                rule: Rule::default(),
                insert: 400,
                threads: 2,
                wanted,
            },
            memory,
            scratch: Scratch {
                folder: self.folder.path(),
                limit: None,
            },
            drop_least_covered: None,
        }
    }

    fn reads<'a>(&'a self, lanes: &'a [Lane]) -> Reads<'a> {
        Reads::Lanes {
            collection: &self.collection,
            lanes,
        }
    }
}

fn taxon_of(header: &str) -> Option<Taxon> {
    taxonomy().taxon_of(TAXIDS[header.parse::<usize>().ok()?])
}

/// A database of four genomes of so many letters, a file each.
fn config_of(folder: &Path, output: &str, genome: usize) -> BuildConfig {
    let reference = |number: usize| {
        let path = folder.join(format!("{number}.fa"));
        let genome = letters(genome, number as u64);
        let text = [format!(">{number}\n").as_bytes(), &genome].concat();
        fs::write(&path, text).unwrap();
        path
    };
    BuildConfig {
        references: (0..4).map(reference).collect(),
        output: Some(folder.join(output)),
        parameters: Parameters {
            sketch: SketchShape::sampled(20, 130, 111, 1).unwrap(),
            locations: 9,
        },
        threads: 1,
        memory: BuildConfig::least_memory(1),
        tmp: folder.join("tmp"),
        max_tmp: None,
        resume: None,
    }
}

/// Some batches of 256 KiB.
fn reads(mate: usize) -> String {
    let mut text = String::new();
    for (number, start) in (0..299_000).step_by(170).enumerate() {
        let genome = number % 5;
        let letters = match genome {
            4 => letters(150, number as u64),
            known => genome_part(known, start + 150 * mate),
        };
        let letters = match mate {
            0 => letters,
            _ => gyrase_seq::reverse_complement(&letters),
        };
        let letters = str::from_utf8(&letters).unwrap().repeat(3);
        let qualities = "I".repeat(letters.len());
        text += &format!(
            "@{genome}:{start}/{}\n{letters}\n+\n{qualities}\n",
            mate + 1
        );
    }
    text
}

fn genome_part(number: usize, start: usize) -> Vec<u8> {
    let word = |i: u64| mix(mix(i ^ (number as u64) << 40)) >> 62;
    let range = start as u64..start as u64 + 150;
    range.map(|i| b"ACGT"[word(i) as usize]).collect()
}

/// The lines that `classify` gives, and what it returns.
fn lines<T>(classify: impl FnOnce(&mut Outlets) -> T) -> (T, Vec<u8>) {
    let mut lines = Vec::new();
    let made = classify(&mut Outlets {
        columns: Columns::LOCATIONS,
        lines: &mut lines,
        extracts: &mut [],
    });
    (made, lines)
}

/// What one process of a job finds, and the lines in the first.
fn found(
    config: &Config,
    process: &testing::Process,
) -> Result<Option<(Summary, Vec<u8>)>, ClassifyError> {
    let progress = Progress::default();
    if process.rank() > 0 {
        let away = Outlet::<Outlets>::Away(Columns::LOCATIONS);
        assert!(run_in(config, process, away, false, &progress)?.is_none());
        return Ok(None);
    }
    let (summary, lines) =
        lines(|outlets| run_in(config, process, Outlet::Here(outlets), false, &progress));
    Ok(summary?.map(|summary| (summary, lines)))
}

#[test]
fn passes_and_stored_candidates_are_those_of_one_process() {
    let case = Case::new();
    let (one, expected) = lines(|outlets| {
        let config = case.config(case.reads(&case.lanes), false);
        run(&config, &Progress::default(), outlets).unwrap()
    });
    assert!(one.tally.classified() > 1000 && one.tally.unclassified() > 100);
    for passes in [true, false] {
        let pairs = case.config(case.reads(&case.lanes[..1]), passes);
        let progress = Progress::default();
        store(&pairs, &case.path("one.gyc"), &progress).unwrap();
        for ranks in RANKS {
            let what = format!("{ranks} ranks, passes: {passes}");
            let config = case.config(case.reads(&case.lanes), passes);
            let all = testing::run(ranks, Steal::On, |process| found(&config, process));
            let (summary, text) = all.into_iter().next().unwrap().unwrap().unwrap();
            assert!(text == expected, "{what}");
            assert_eq!(summary.to_bytes(), one.to_bytes(), "{what}");
            let stored = testing::run(ranks, Steal::On, |process| {
                let progress = Progress::default();
                store_in(&pairs, process, &case.path("all.gyc"), &progress)
            });
            let reads = one.tally.total() / 2;
            assert!(stored.into_iter().all(|stored| stored.unwrap() == reads));
            let [one, all] = ["one.gyc", "all.gyc"].map(|name| fs::read(case.path(name)).unwrap());
            assert!(one == all, "{what}, stored");
        }
    }
}

#[test]
fn stored_candidates_are_answered_as_by_one_process() {
    let case = Case::new();
    let progress = Progress::default();
    let pairs = case.config(case.reads(&case.lanes[..1]), false);
    store(&pairs, &case.path("one.gyc"), &progress).unwrap();
    let candidates = Candidates::open(&[case.path("one.gyc")]).unwrap();
    for drop_least_covered in [None, Some(0.3)] {
        let config = Config {
            drop_least_covered,
            ..case.config(Reads::Stored(&candidates), false)
        };
        let (one, expected) = lines(|outlets| run(&config, &progress, outlets).unwrap());
        for ranks in RANKS {
            let all = testing::run(ranks, Steal::On, |process| found(&config, process));
            let (summary, text) = all.into_iter().next().unwrap().unwrap().unwrap();
            assert!(text == expected, "{ranks} ranks");
            assert_eq!(summary.to_bytes(), one.to_bytes(), "{ranks} ranks");
        }
    }
}

/// What a sample of many may fail with.
#[derive(Debug)]
enum Failed {
    Sample,
    Job,
}

impl From<OutputError> for Failed {
    fn from(_: OutputError) -> Failed {
        Failed::Job
    }
}

impl From<FabricError> for Failed {
    fn from(_: FabricError) -> Failed {
        Failed::Job
    }
}

#[test]
fn damaged_reads_end_their_sample_in_all_processes() {
    let case = Case::new();
    let whole = fs::read(case.path("0.fq")).unwrap();
    fs::write(case.path("torn.fq"), &whole[..whole.len() * 2 / 3]).unwrap();
    let samples = ["torn.fq", "0.fq", "none.fq", "0.fq"].map(|reads| SampleReads {
        name: reads.into(),
        lanes: vec![Lane {
            reads: case.path(reads),
            mates: None,
            interleaved: false,
        }],
    });
    let taxonomy = taxonomy();
    let series = Series {
        folder: case.folder.path(),
        what: "the same".into(),
        resume: false,
        taxonomy: &taxonomy,
    };
    series.prepare().unwrap();
    for (ranks, passes) in [(1, false), (2, false), (3, true), (4, false), (7, true)] {
        let all = testing::run(ranks, Steal::On, |process| {
            let done = samples.iter().map(|sample| {
                let make = || {
                    let config = case.config(case.reads(&sample.lanes), passes);
                    let found = found(&config, process).map_err(|_| Failed::Sample)?;
                    Ok(found.unwrap_or_default().0)
                };
                match series.one(process, sample, &[], make) {
                    Ok(done) => Ok(done.summary.tally.total()),
                    Err(Failed::Sample) => Ok(u64::MAX),
                    Err(Failed::Job) => Err(()),
                }
            });
            done.collect::<Result<Vec<u64>, ()>>()
        });
        let reads = whole.iter().filter(|&&byte| byte == b'@').count() as u64;
        for (rank, done) in all.into_iter().enumerate() {
            let reads = if rank == 0 { reads } else { 0 };
            assert_eq!(done.unwrap(), [u64::MAX, reads, u64::MAX, reads]);
        }
    }
}

#[test]
fn the_process_that_cannot_read_what_others_can_is_named() {
    let case = Case::new();
    // As where each machine has a folder of that name of its own. Files with other contents are
    // found before anything is read.
    let cases = [(1, "none.fq"), (0, "none.fq"), (2, "none.fq")];
    for (number, (rank, wrong)) in cases.into_iter().chain(cases).enumerate() {
        let passes = number >= cases.len();
        let all = testing::run(3, Steal::On, |process| {
            let name = if process.rank() == rank {
                wrong
            } else {
                "0.fq"
            };
            let lanes = [Lane {
                reads: case.path(name),
                mates: None,
                interleaved: false,
            }];
            match found(&case.config(case.reads(&lanes), passes), process) {
                // As if all had found it, and went on to the next sample.
                Err(ClassifyError::Query(QueryError::Reads(TabulateError::Input(_)))) => {
                    process.sum(&[1])?;
                }
                found => drop(found?),
            }
            Ok(())
        });
        let named = |error: &ClassifyError| match error {
            ClassifyError::Query(QueryError::Apart { rank: of, why }) => {
                assert!(*of == rank && why.contains(wrong), "{error}");
                true
            }
            ClassifyError::Query(QueryError::Reads(TabulateError::Fabric(error))) => {
                assert!(matches!(error, FabricError::Elsewhere), "{error}");
                false
            }
            error => panic!("{error}"),
        };
        let errors = all
            .into_iter()
            .map(|found: Result<(), _>| found.unwrap_err());
        let errors: Vec<bool> = errors.map(|error| named(&error)).collect();
        assert_eq!(errors.into_iter().filter(|&named| named).count(), 1);
    }
}

#[test]
fn processes_go_on_with_what_as_many_had_read() {
    let folder = tempfile::tempdir().unwrap();
    // More than the least memory holds.
    let config = |output: &str| BuildConfig {
        resume: Some("the same taxa".into()),
        ..config_of(folder.path(), output, 1_500_000)
    };
    let taxonomy = taxonomy();
    let made = |config: &BuildConfig, process: &testing::Process, progress: &Progress| {
        let names = &mut |header: &str, _: &Path| taxon_of(header);
        build_in(config, process, &taxonomy, names, progress).map(|built| built.0.earlier)
    };
    let progress = Progress::default();
    let names = &mut |header: &str, _: &Path| taxon_of(header);
    build(&config("one"), &taxonomy, names, &progress).unwrap();
    let expected = fs::read(folder.path().join("one")).unwrap();
    // Enough for the most processes, and too little for what two of them read.
    let all = &BuildConfig {
        memory: BuildConfig::least_memory_in(1, 3),
        ..config("all")
    };
    let stop = || {
        // Stopped once it is noted that all is read.
        let progress = Progress::default();
        let watch = |_: usize, method: &str, numbers: &[u64]| {
            if method == "max" && numbers.len() == 2 && numbers[0] == 1 {
                progress.cancel();
            }
        };
        let stopped = testing::run_watched(2, Steal::On, &watch, |process| {
            made(all, process, &progress)
        });
        assert!(stopped.iter().all(Result::is_err));
    };
    for (ranks, earlier) in [(2, Earlier::TakenUp), (3, Earlier::OfAnother)] {
        stop();
        let found = testing::run(ranks, Steal::On, |process| {
            made(all, process, &Progress::default())
        });
        for one in found {
            assert_eq!(one.unwrap(), earlier);
        }
        assert!(fs::read(folder.path().join("all")).unwrap() == expected);
        let left = folder.path().join("tmp").read_dir();
        assert!(!left.is_ok_and(|mut left| left.next().is_some()));
    }
}
