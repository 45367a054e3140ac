//! Import and export against each other, and against the programs of KMC where they are installed.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "helpers of tests may panic and say what they skip"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use gyrase_count::dump::Style;
use gyrase_count::exchange::{
    ExportConfig, Exported, Format, ImportConfig, Imported, export, import,
};
use gyrase_kmer::mix;
use gyrase_seq::reverse_complement;
use gyrase_table::gyk::{Cutoffs, Database};
use gyrase_work::Progress;

const KS: [usize; 12] = [1, 2, 5, 21, 31, 32, 33, 63, 64, 65, 96, 127];
const FORMATS: [Format; 5] = [
    Format::Kmc,
    Format::Kff,
    Format::Text(Style::Tab),
    Format::Text(Style::Space),
    Format::Text(Style::Fasta),
];

type Counts = BTreeMap<String, u32>;

/// Random k-mers and counts, of which one in eight is large.
fn random(k: usize, kmers: usize, stranded: bool) -> Counts {
    let mut state = k as u64;
    let mut next = move || {
        state = mix(state.wrapping_add(0x9e37_79b9_7f4a_7c15));
        state
    };
    let letter = |number: u64| b"ACGT"[(number >> 60 & 3) as usize];
    let mut counts = Counts::new();
    for _ in 0..kmers {
        let letters: Vec<u8> = (0..k).map(|_| letter(next())).collect();
        let form = if stranded {
            letters
        } else {
            canonical(&letters)
        };
        let count = if next() % 8 == 0 {
            (next() >> 32) as u32
        } else {
            next() as u32 % 300
        };
        counts.insert(String::from_utf8(form).unwrap(), count.max(1));
    }
    counts
}

fn canonical(letters: &[u8]) -> Vec<u8> {
    reverse_complement(letters).min(letters.to_vec())
}

fn text(counts: &Counts) -> String {
    counts
        .iter()
        .map(|(kmer, count)| format!("{kmer}\t{count}\n"))
        .collect()
}

/// A folder with everything that a test makes.
struct Bench(tempfile::TempDir);

impl Bench {
    fn new() -> Bench {
        Bench(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        std::fs::write(self.path(name), content).unwrap();
        self.path(name)
    }

    fn import_config(&self, input: &Path, output: &str) -> ImportConfig {
        ImportConfig {
            input: input.to_path_buf(),
            output: self.path(output),
            k: None,
            stranded: false,
            cutoffs: Cutoffs::default(),
            memory: 272 << 20,
            tmp: self.0.path().to_path_buf(),
            max_tmp: None,
            threads: 2,
        }
    }

    fn import(&self, input: &Path, output: &str) -> Imported {
        import(&self.import_config(input, output), &Progress::default()).unwrap()
    }

    fn export_config(&self, input: &str, output: &str, format: Format) -> ExportConfig {
        ExportConfig {
            input: self.path(input),
            output: self.path(output),
            format,
            cutoffs: Cutoffs::default(),
            memory: 272 << 20,
            tmp: self.0.path().to_path_buf(),
            max_tmp: None,
            threads: 2,
        }
    }

    fn export(&self, input: &str, output: &str, format: Format) -> Exported {
        export(
            &self.export_config(input, output, format),
            &Progress::default(),
        )
        .unwrap()
    }

    /// The k-mers of a database, through its text.
    fn content(&self, database: &str) -> String {
        self.export(database, "content.txt", Format::Text(Style::Tab));
        std::fs::read_to_string(self.path("content.txt")).unwrap()
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        let output = Command::new(program)
            .args(arguments)
            .current_dir(self.0.path())
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{program} {arguments:?}: {output:?}"
        );
    }
}

fn installed(program: &str) -> bool {
    let found = Command::new(program).output().is_ok();
    if !found {
        eprintln!("skipped: {program} is not installed");
    }
    found
}

#[test]
fn every_format_brings_back_what_it_was_given() {
    for k in KS {
        // The k that fill whole words, where a mistake of one bit shows most.
        let strands: &[bool] = if k % 32 == 0 {
            &[false, true]
        } else {
            &[k % 2 == 0]
        };
        for &stranded in strands {
            let bench = Bench::new();
            let counts = random(k, 600, stranded);
            let config = ImportConfig {
                stranded,
                ..bench.import_config(&bench.write("a.txt", text(&counts)), "a.gyk")
            };
            let imported = import(&config, &Progress::default()).unwrap();
            assert_eq!(imported.table.distinct, counts.len() as u64);
            Database::open(&bench.path("a.gyk"))
                .unwrap()
                .verify()
                .unwrap();
            assert_eq!(bench.content("a.gyk"), text(&counts), "k={k}");
            for format in FORMATS {
                let exported = bench.export("a.gyk", "b", format);
                assert_eq!(
                    exported,
                    Exported {
                        read: counts.len() as u64,
                        written: counts.len() as u64
                    }
                );
                // A text does not say that it is stranded.
                let config = ImportConfig {
                    stranded: stranded && matches!(format, Format::Text(_)),
                    ..bench.import_config(&bench.path("b"), "b.gyk")
                };
                let imported = import(&config, &Progress::default()).unwrap();
                assert_eq!(imported.read, counts.len() as u64);
                assert_eq!(bench.content("b.gyk"), text(&counts), "k={k} {format:?}");
                assert_eq!(
                    Database::open(&bench.path("b.gyk"))
                        .unwrap()
                        .shape()
                        .stranded(),
                    stranded
                );
            }
        }
    }
}

#[test]
fn both_strands_and_repeats_are_summed_in_any_order() {
    let bench = Bench::new();
    let input = bench.write(
        "a.txt",
        "TTTTG 4\nACCCC 1\nCAAAA 3\nGGGGT 4294967290\nTTTTG 1\nACCCC 9\nAAAAA 0\n",
    );
    let imported = bench.import(&input, "a.gyk");
    assert_eq!((imported.read, imported.zeros), (7, 1));
    assert!(imported.table.saturated);
    assert_eq!(bench.content("a.gyk"), "ACCCC\t4294967295\nCAAAA\t8\n");
    let config = ImportConfig {
        cutoffs: Cutoffs { min: 5, max: 100 },
        ..bench.import_config(&input, "a.gyk")
    };
    import(&config, &Progress::default()).unwrap();
    assert_eq!(bench.content("a.gyk"), "CAAAA\t8\n");
}

#[test]
fn a_database_of_kmc_says_which_counts_were_kept() {
    let bench = Bench::new();
    let cutoffs = |database: &str| {
        Database::open(&bench.path(database))
            .unwrap()
            .header()
            .cutoffs
    };
    let some = Cutoffs { min: 2, max: 300 };
    let input = bench.write("a.txt", "AAAAC 1\nAAACC 2\nAACCC 300\nACCCC 301\n");
    let config = ImportConfig {
        cutoffs: some,
        ..bench.import_config(&input, "a.gyk")
    };
    import(&config, &Progress::default()).unwrap();
    bench.export("a.gyk", "b", Format::Kmc);
    bench.import(&bench.path("b"), "b.gyk");
    assert_eq!(
        (cutoffs("b.gyk"), bench.content("b.gyk")),
        (some, "AAACC\t2\nAACCC\t300\n".to_string())
    );
    for (asked, kept) in [
        ((1, 5), (2, 5)),
        ((9, u32::MAX), (9, 300)),
        ((400, 500), (400, 500)),
    ] {
        let asked = Cutoffs {
            min: asked.0,
            max: asked.1,
        };
        let config = ImportConfig {
            cutoffs: asked,
            ..bench.import_config(&bench.path("b"), "c.gyk")
        };
        import(&config, &Progress::default()).unwrap();
        assert_eq!(
            cutoffs("c.gyk"),
            Cutoffs {
                min: kept.0,
                max: kept.1
            }
        );
        Database::open(&bench.path("c.gyk"))
            .unwrap()
            .verify()
            .unwrap();
    }
}

#[test]
fn what_does_not_fit_goes_to_disk_with_the_same_result() {
    let bench = Bench::new();
    let counts = random(31, 200_000, false);
    // Every k-mer comes ten times.
    let content: String = (0..10)
        .flat_map(|_| counts.keys())
        .map(|kmer| format!("{kmer} 1\n"))
        .collect();
    let input = bench.write("a.txt", content);
    let results = [(1 << 30, 1), (1 << 30, 4), (72 << 20, 1)].map(|(memory, threads)| {
        let config = ImportConfig {
            memory,
            threads,
            ..bench.import_config(&input, "a.gyk")
        };
        import(&config, &Progress::default()).unwrap();
        let config = ExportConfig {
            memory,
            threads,
            ..bench.export_config("a.gyk", "b.kff", Format::Kff)
        };
        export(&config, &Progress::default()).unwrap();
        (
            std::fs::read(bench.path("a.gyk")).unwrap(),
            std::fs::read(bench.path("b.kff")).unwrap(),
        )
    });
    let expected: Counts = counts.keys().map(|kmer| (kmer.clone(), 10)).collect();
    assert_eq!(bench.content("a.gyk"), text(&expected));
    assert!(results.iter().all(|result| *result == results[0]));
    let tight = ImportConfig {
        memory: 72 << 20,
        max_tmp: Some(0),
        ..bench.import_config(&input, "b.gyk")
    };
    let error = import(&tight, &Progress::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("would exceed the 0 bytes"), "{error}");
    let leftovers: Vec<_> = std::fs::read_dir(bench.0.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(leftovers.len(), 4, "{leftovers:?}");
}

#[test]
fn too_little_memory_is_refused() {
    let bench = Bench::new();
    let config = ImportConfig {
        memory: 1 << 20,
        ..bench.import_config(&bench.write("a.txt", "ACG 1\n"), "a.gyk")
    };
    let error = import(&config, &Progress::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("bytes of memory are needed, 1048576 were given"),
        "{error}"
    );
    assert!(!bench.path("a.gyk").exists());
}

#[test]
fn export_keeps_to_its_limits() {
    let bench = Bench::new();
    bench.import(
        &bench.write("a.txt", "AAA 1\nAAC 5\nAAG 70000\nACA 9\n"),
        "a.gyk",
    );
    for format in FORMATS {
        let config = ExportConfig {
            cutoffs: Cutoffs { min: 5, max: 9 },
            ..bench.export_config("a.gyk", "b", format)
        };
        assert_eq!(
            export(&config, &Progress::default()).unwrap(),
            Exported {
                read: 4,
                written: 2
            }
        );
        bench.import(&bench.path("b"), "b.gyk");
        assert_eq!(bench.content("b.gyk"), "AAC\t5\nACA\t9\n", "{format:?}");
    }
}

#[test]
fn an_empty_database_goes_through_every_format() {
    let bench = Bench::new();
    let config = ImportConfig {
        k: Some(31),
        ..bench.import_config(&bench.write("a.txt", ""), "a.gyk")
    };
    assert_eq!(
        import(&config, &Progress::default())
            .unwrap()
            .table
            .distinct,
        0
    );
    for format in FORMATS {
        bench.export("a.gyk", "b", format);
        let config = ImportConfig {
            k: Some(31),
            ..bench.import_config(&bench.path("b"), "b.gyk")
        };
        import(&config, &Progress::default()).unwrap();
        assert_eq!(bench.content("b.gyk"), "", "{format:?}");
    }
    let error = import(
        &bench.import_config(&bench.path("a.txt"), "c.gyk"),
        &Progress::default(),
    )
    .unwrap_err();
    assert!(error.to_string().contains("-k"), "{error}");
    assert!(!bench.path("c.gyk").exists());
}

#[test]
fn what_is_damaged_leaves_no_output() {
    let bench = Bench::new();
    let cases: [(&[u8], &str); 4] = [
        (b"ACGT 1\nACGN 1\n", "line 2"),
        (b"KFF\x01\x00\x1b\x01\x01", "is truncated"),
        (b"KMCP", "kmc_suf"),
        (b"\x1f\x8b\x08\x00", "is truncated"),
    ];
    for (content, expected) in cases {
        let config = bench.import_config(&bench.write("a", content), "a.gyk");
        let error = import(&config, &Progress::default())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(expected) || error.contains("No such file"),
            "{error}"
        );
        assert!(!bench.path("a.gyk").exists() && !bench.path("a.gyk.partial").exists());
    }
    let config = ImportConfig {
        k: Some(5),
        ..bench.import_config(&bench.write("a", "ACGT 1\n"), "a.gyk")
    };
    assert!(
        import(&config, &Progress::default())
            .unwrap_err()
            .to_string()
            .contains("expected 5 (-k)")
    );
}

#[test]
fn what_is_compressed_is_read_as_it_is() {
    use std::io::Write;
    let bench = Bench::new();
    let counts = random(31, 500, false);
    bench.import(&bench.write("a.txt", text(&counts)), "a.gyk");
    bench.export("a.gyk", "a.kff", Format::Kff);
    for name in ["a.txt", "a.kff"] {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder
            .write_all(&std::fs::read(bench.path(name)).unwrap())
            .unwrap();
        let packed = encoder.finish().unwrap();
        bench.import(&bench.write("packed", &packed), "b.gyk");
        assert_eq!(bench.content("b.gyk"), text(&counts), "{name}");
        let mut damaged = packed.clone();
        damaged[packed.len() / 2] ^= 0x55;
        for (content, expected) in [
            (&packed[..packed.len() - 9], "is truncated"),
            (&damaged, ""),
        ] {
            let config = bench.import_config(&bench.write("packed", content), "c.gyk");
            let error = import(&config, &Progress::default())
                .unwrap_err()
                .to_string();
            assert!(
                error.contains("packed") && error.contains(expected),
                "{error}"
            );
            assert!(!bench.path("c.gyk").exists());
        }
    }
}

#[test]
fn a_cancelled_run_leaves_no_output() {
    let bench = Bench::new();
    let input = bench.write("a.txt", text(&random(21, 1000, false)));
    bench.import(&input, "a.gyk");
    let cancelled = Progress::default();
    cancelled.cancel();
    assert!(import(&bench.import_config(&input, "b.gyk"), &cancelled).is_err());
    for format in FORMATS {
        assert!(export(&bench.export_config("a.gyk", "b", format), &cancelled).is_err());
    }
    assert_eq!(std::fs::read_dir(bench.0.path()).unwrap().count(), 2);
}

/// A pair of version 0x200 with two bins, put together by hand: k = 5, prefixes of one base,
/// signatures of one.
#[test]
fn a_pair_with_bins_is_read() {
    let bench = Bench::new();
    let suffix = |letters: &[u8]| {
        letters.iter().fold(0, |byte, letter| {
            byte << 2 | (letter >> 1 ^ letter >> 2) & 3
        })
    };
    let records: [(&[u8], u16); 4] = [(b"AAAC", 3), (b"CCGT", 500), (b"AAAA", 7), (b"GGGG", 1)];
    let mut suffixes = b"KMCS".to_vec();
    for (letters, count) in records {
        suffixes.push(suffix(letters));
        suffixes.extend(count.to_le_bytes());
    }
    suffixes.extend(b"KMCS");
    let mut prefixes = b"KMCP".to_vec();
    // Bin 1: AAAAC, CCCGT. Bin 2: AAAAA, TGGGG. Then the closing number.
    for start in [0u64, 1, 2, 2, 2, 3, 3, 3, 4] {
        prefixes.extend(start.to_le_bytes());
    }
    prefixes.extend([0; 4 * 5]);
    let (k, mode, counter, prefix, signature, least, most) =
        (5u32, 0u32, 2u32, 1u32, 1u32, 2u32, 1000u32);
    for field in [k, mode, counter, prefix, signature, least, most] {
        prefixes.extend(field.to_le_bytes());
    }
    prefixes.extend(4u64.to_le_bytes());
    prefixes.extend([1; 1]);
    prefixes.extend([0; 27]);
    prefixes.extend(0x200u32.to_le_bytes());
    prefixes.extend(68u32.to_le_bytes());
    prefixes.extend(b"KMCP");
    bench.write("x.kmc_suf", suffixes);
    bench.import(&bench.write("x.kmc_pre", prefixes), "x.gyk");
    // The count 1 is below the least that the header allows, and the pair is stranded.
    assert_eq!(bench.content("x.gyk"), "AAAAA\t7\nAAAAC\t3\nCCCGT\t500\n");
}

/// Reads that cover a random genome, with an N now and then.
fn reads() -> String {
    let mut state = 1u64;
    let mut next = move || {
        state = mix(state.wrapping_add(0x9e37_79b9_7f4a_7c15));
        state
    };
    let genome: Vec<u8> = (0..3000)
        .map(|_| b"ACGT"[(next() >> 62) as usize])
        .collect();
    let mut text = String::new();
    for i in 0..300 {
        let start = (next() % 2800) as usize;
        let mut read = genome[start..start + 200].to_vec();
        if i % 5 == 0 {
            read[(next() % 200) as usize] = b'N';
        }
        text += &format!(">{i}\n{}\n", String::from_utf8(read).unwrap());
    }
    text
}

#[test]
fn reads_what_kmc_writes() {
    if !installed("kmc") || !installed("kmc_dump") {
        return;
    }
    // Up to k = 13 KMC writes version 0.
    for (k, extra) in [(5, ""), (9, "-b"), (31, ""), (65, "-b"), (127, "")] {
        let bench = Bench::new();
        bench.write("reads.fa", reads());
        let (k, extras) = (
            format!("-k{k}"),
            if extra.is_empty() { "-hp" } else { extra },
        );
        let count = |format, name| {
            bench.run(
                "kmc",
                &[
                    &k,
                    "-ci1",
                    "-cs1000000",
                    "-m2",
                    "-t2",
                    "-fa",
                    extras,
                    format,
                    "reads.fa",
                    name,
                    ".",
                ],
            );
        };
        count("-okmc", "db");
        bench.run("kmc_dump", &["db", "dump.txt"]);
        let dump = std::fs::read_to_string(bench.path("dump.txt")).unwrap();
        let mut lines: Vec<&str> = dump.lines().collect();
        lines.sort_unstable();
        assert!(!lines.is_empty());
        bench.import(&bench.path("db"), "pair.gyk");
        assert!(
            bench.content("pair.gyk").lines().eq(lines.iter().copied()),
            "{k} {extra}"
        );
        if extra.is_empty() {
            count("-okff", "other");
            bench.import(&bench.path("other.kff"), "kff.gyk");
            assert!(
                bench.content("kff.gyk").lines().eq(lines.iter().copied()),
                "{k} {extra}"
            );
        }
    }
}

#[test]
fn kmc_reads_what_is_written() {
    if !installed("kmc_tools") || !installed("kmc_dump") {
        return;
    }
    for (i, k) in KS.into_iter().enumerate() {
        let (bench, stranded) = (Bench::new(), i % 3 == 0);
        let counts = random(k, 600, stranded);
        let input = bench.write("a.txt", text(&counts));
        import(
            &ImportConfig {
                stranded,
                ..bench.import_config(&input, "a.gyk")
            },
            &Progress::default(),
        )
        .unwrap();
        bench.export("a.gyk", "ours", Format::Kmc);
        bench.run("kmc_dump", &["ours", "dump.txt"]);
        assert_eq!(
            std::fs::read_to_string(bench.path("dump.txt")).unwrap(),
            text(&counts),
            "k={k}"
        );
        bench.export("a.gyk", "ours.kff", Format::Kff);
        for name in ["ours", "ours.kff"] {
            bench.run(
                "kmc_tools",
                &[
                    "-hp",
                    "transform",
                    name,
                    "dump",
                    "dump.txt",
                    "histogram",
                    "h.txt",
                    "-cx300",
                ],
            );
            assert_eq!(
                std::fs::read_to_string(bench.path("dump.txt")).unwrap(),
                text(&counts),
                "k={k} {name}"
            );
            let histogram = std::fs::read_to_string(bench.path("h.txt")).unwrap();
            let seven = counts.values().filter(|&&count| count == 7).count();
            assert!(
                histogram.lines().any(|line| line == format!("7\t{seven}")),
                "k={k} {name}"
            );
        }
    }
}

#[test]
fn kmc_tools_joins_ours_with_theirs() {
    if !installed("kmc") || !installed("kmc_tools") || !installed("kmc_dump") {
        return;
    }
    let bench = Bench::new();
    bench.write("reads.fa", reads());
    bench.run(
        "kmc",
        &[
            "-k31",
            "-ci1",
            "-cs1000000",
            "-m2",
            "-t2",
            "-fa",
            "reads.fa",
            "theirs",
            ".",
        ],
    );
    bench.import(&bench.path("theirs.kmc_suf"), "a.gyk");
    for (format, ours) in [(Format::Kmc, "ours"), (Format::Kff, "ours.kff")] {
        bench.export("a.gyk", ours, format);
        let operations = [
            "intersect",
            "both",
            "kmers_subtract",
            "left",
            "counters_subtract",
            "none",
        ];
        bench.run(
            "kmc_tools",
            &[&["-hp", "simple", "theirs", ours], operations.as_slice()].concat(),
        );
        bench.run("kmc_dump", &["both", "both.txt"]);
        assert_eq!(
            std::fs::read_to_string(bench.path("both.txt")).unwrap(),
            bench.content("a.gyk")
        );
        for name in ["left", "none"] {
            bench.run("kmc_dump", &[name, "none.txt"]);
            assert_eq!(
                std::fs::read_to_string(bench.path("none.txt")).unwrap(),
                "",
                "{name}"
            );
        }
    }
}

#[test]
fn reads_what_jellyfish_writes() {
    if !installed("jellyfish")
        || !Command::new("jellyfish")
            .arg("--version")
            .output()
            .unwrap()
            .status
            .success()
    {
        return;
    }
    let bench = Bench::new();
    bench.write("reads.fa", reads());
    bench.run(
        "jellyfish",
        &[
            "count", "-m", "25", "-s", "1M", "-C", "-o", "db.jf", "reads.fa",
        ],
    );
    bench.run("jellyfish", &["dump", "-o", "a.fa", "db.jf"]);
    bench.run("jellyfish", &["dump", "-c", "-o", "a.txt", "db.jf"]);
    bench.run("jellyfish", &["dump", "-c", "-t", "-o", "a.tsv", "db.jf"]);
    let mut lines: Vec<String> = std::fs::read_to_string(bench.path("a.tsv"))
        .unwrap()
        .lines()
        .map(String::from)
        .collect();
    lines.sort_unstable();
    for name in ["a.fa", "a.txt", "a.tsv"] {
        bench.import(&bench.path(name), "a.gyk");
        assert!(bench.content("a.gyk").lines().eq(lines.iter()), "{name}");
    }
}
