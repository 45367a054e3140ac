//! A GPU gives the answers that the processor gives, reads or k-mers or suffixes. It is the host
//! twin of the library.

use std::path::Path;

use serde_json::Value;

use crate::classify::{BUILD, PAIRS, place};
use crate::place::{Place, Ran, ran};
use crate::twin::{make, twin};

const OUTPUTS: [&str; 8] = [
    "answers",
    "kreport",
    "evidence",
    "extract_1",
    "extract_2",
    "html",
    "bracken",
    "more",
];

/// Nobody knows how many reads come through a pipe, so that a GPU is tried.
const PIPE: [&str; 4] = ["classify", "--db", "r.gydb", "-"];

fn made() -> Option<&'static Path> {
    twin(Path::new(env!("CARGO_TARGET_TMPDIR")))
}

/// The program with a library for GPUs.
fn with(place: &Place, library: &Path, args: &[&str]) -> Ran {
    ran(place
        .command(args)
        .env("GYRASE_GPU", library)
        .output()
        .unwrap())
}

/// All outputs of a run with `--gpu which`.
fn outputs(place: &Place, library: &Path, which: &str, args: &[&str]) -> Vec<Vec<u8>> {
    let wanted = [
        "-o",
        "answers",
        "--kreport",
        "kreport",
        "--evidence",
        "evidence",
        "--html",
        "html",
        "--bracken",
        "bracken",
        "--kreport-evidence",
        "more",
        "--locations",
        "--with-confidence",
        "--report",
        "run.json",
        "--gpu",
        which,
    ];
    let ran = with(place, library, &[args, &wanted[..]].concat());
    assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
    let there = OUTPUTS.iter().filter(|name| place.path(name).exists());
    let all = there.map(|name| place.read(name)).collect();
    for name in OUTPUTS {
        let _ = std::fs::remove_file(place.path(name));
    }
    all
}

/// Reads of 1 to 6,000 letters of the genomes, some with letters that are no bases.
fn long_reads(place: &Place) -> String {
    let mut all = String::new();
    for name in ["a", "b", "c"] {
        let text = String::from_utf8(place.read(&format!("refs/{name}.fa"))).unwrap();
        let genome: String = text.lines().skip(1).collect();
        let mut start = 0;
        for (number, length) in [1, 22, 134, 999, 6000, 2500, 300, 0]
            .into_iter()
            .enumerate()
        {
            let mut read = genome[start..start + length].to_string();
            if number % 3 == 2 {
                read.replace_range(length / 2..length / 2 + 3, "NnR");
            }
            all += &format!(">{name}{number}\n{read}\n");
            start += length;
        }
    }
    all
}

#[test]
fn a_gpu_gives_every_answer_that_the_processor_gives() {
    let Some(library) = made() else { return };
    let place = place();
    place.ok(&BUILD);
    place.write("long.fa", long_reads(&place));
    let single = ["classify", "--db", "r.gydb", "r_1.fq"];
    let long = [
        "classify",
        "--db",
        "r.gydb",
        "long.fa",
        "--lowest-rank",
        "strain",
    ];
    let on_the_fly = [
        "classify",
        "--refs",
        "refs",
        "--taxonomy",
        "tax",
        "--map",
        "map",
        "r_1.fq",
        "r_2.fq",
    ];
    let extracted = [&PAIRS[..], &["--extract", "561=extract#"]].concat();
    let dropped = [
        &PAIRS[..],
        &["--drop-least-covered", "0.4", "--threads", "3"],
    ]
    .concat();
    let sure = [&PAIRS[..], &["--confidence", "0.3", "--min-hits", "9"]].concat();
    for args in [&single[..], &long, &on_the_fly, &extracted, &dropped, &sure] {
        let expected = outputs(&place, library, "off", args);
        assert!(place.json("run.json")["gpu"].is_null());
        assert!(outputs(&place, library, "0", args) == expected, "{args:?}");
        let gpu = &place.json("run.json")["gpu"];
        assert!(gpu["name"].is_string());
        assert!(
            gpu["reads"].as_u64() > Some(20) && gpu["reads_of_processor"] == 0,
            "{gpu}"
        );
    }
    // The database is made by the GPU before it is asked, here in parts.
    let memory = memory_for(&place, &["r.gydb"], 3);
    let args = [&on_the_fly[..], &["--gpu-memory", &memory]].concat();
    let expected = outputs(&place, library, "off", &args);
    assert!(outputs(&place, library, "0", &args) == expected);
    let report = place.json("run.json");
    assert!(
        report["gpu_build"]["windows"].as_u64() > Some(100)
            && report["gpu_build"]["failed"].is_null()
            && report["gpu"]["reads"].as_u64() > Some(60),
        "{report}"
    );
    // So few reads are not worth it.
    assert!(!outputs(&place, library, "auto", &single).is_empty());
    assert!(place.json("run.json")["gpu"].is_null());
    // What comes through a pipe may be many.
    let piped = with(&place, library, &PIPE);
    assert!(
        piped.code == 0 && piped.stderr.contains("looked up on the"),
        "{}",
        piped.stderr
    );
}

#[test]
fn a_read_that_is_too_long_for_a_gpu_is_looked_up_beside_the_others() {
    let Some(library) = made() else { return };
    let place = place();
    place.ok(&BUILD);
    let genome = String::from_utf8(place.read("refs/b.fa")).unwrap();
    let genome: String = genome.lines().skip(1).collect();
    // A read has up to 65,536 features, and one k-mer in five is one.
    let long = genome.repeat(420_000 / genome.len());
    let reads = long_reads(&place);
    let again = reads.replace('>', ">again");
    place.write("mixed.fa", format!("{reads}>long\n{long}\n{again}"));
    let args = ["classify", "--db", "r.gydb", "mixed.fa"];
    let expected = outputs(&place, library, "off", &args);
    assert!(outputs(&place, library, "0", &args) == expected);
    let gpu = &place.json("run.json")["gpu"];
    assert!(
        gpu["reads"] == 48 && gpu["reads_of_processor"] == 1,
        "{gpu}"
    );
    let memory = memory_for(&place, &["r.gydb"], 3);
    let args = [&args[..], &["--gpu-memory", &memory]].concat();
    assert!(outputs(&place, library, "0", &args) == expected);
    let gpu = &place.json("run.json")["gpu"];
    let left = gpu["reads_of_processor"].as_u64().unwrap();
    assert!(left >= 3 && gpu["reads"] == 48 * left, "{gpu}");
}

/// Bytes of a GPU that takes a database in so many parts, at least: beside these it needs 129 MiB,
/// for each database an eighth of a MiB, and for parts a seventh more than their bytes.
fn memory_for(place: &Place, databases: &[&str], parts: u64) -> String {
    let bytes = |name: &&str| place.path(name).metadata().unwrap().len();
    let all: u64 = databases.iter().map(bytes).sum();
    let beside = (129 << 20) + (databases.len() as u64 * (1 << 17)) + 12;
    (beside + all * 8 / 7 / parts).to_string()
}

/// Checks that a GPU which takes databases in so many parts gives these outputs, and looks the
/// reads up in each part.
fn keep_in_parts(
    place: &Place,
    library: &Path,
    (args, databases): (&[&str], &[&str]),
    parts: u64,
    expected: &[Vec<u8>],
) {
    let memory = memory_for(place, databases, parts);
    let args = [args, &["--gpu-memory", &memory]].concat();
    assert!(outputs(place, library, "0", &args) == expected, "{args:?}");
    let gpu = &place.json("run.json")["gpu"];
    assert!(
        gpu["reads"].as_u64() > Some(20 * parts) && gpu["reads_of_processor"] == 0,
        "{gpu}"
    );
}

#[test]
fn a_gpu_is_asked_in_passes_where_a_database_does_not_fit_it() {
    let Some(library) = made() else { return };
    let place = place();
    place.ok(&BUILD);
    place.write("long.fa", long_reads(&place));
    let single = ["classify", "--db", "r.gydb", "r_1.fq"];
    let long = ["classify", "--db", "r.gydb", "long.fa", "-t", "1"];
    let dropped = [&PAIRS[..], &["--drop-least-covered", "0.4"]].concat();
    let extracted = [&PAIRS[..], &["--extract", "561=extract#", "-t", "3"]].concat();
    for args in [&PAIRS[..], &single, &long, &dropped, &extracted] {
        let expected = outputs(&place, library, "off", args);
        for parts in [2, 3, 11] {
            keep_in_parts(&place, library, (args, &["r.gydb"]), parts, &expected);
        }
    }
    let memory = memory_for(&place, &["r.gydb"], 3);
    let parts = ["--gpu-memory", &memory, "--gpu", "0"];
    let said = with(&place, library, &[&PAIRS[..], &parts].concat()).stderr;
    assert!(
        said.contains("the reads are read ") && said.contains("of features at a time"),
        "{said}"
    );
    let planned = with(&place, library, &[&["plan"], &PAIRS[..], &parts].concat());
    for words in [
        "features at a time",
        "over the reads",
        "the hits of the reads",
    ] {
        assert!(planned.stdout.contains(words), "{}", planned.stdout);
    }
    // A pipe cannot be read again; nobody asked for a GPU, and the processor reads it once.
    let piped = [&PIPE[..], &parts].concat();
    let refused = with(&place, library, &piped);
    assert!(
        refused.code == 1 && refused.stderr.contains("write them to a file first"),
        "{}",
        refused.stderr
    );
    let piped = with(&place, library, &piped[..piped.len() - 2]);
    assert!(
        piped.code == 0 && piped.stderr.contains("without a GPU less often"),
        "{}",
        piped.stderr
    );
}

#[test]
fn several_databases_are_asked_on_a_gpu() {
    let Some(library) = made() else { return };
    let place = place();
    // So few locations a feature that the cap decides which of them stay.
    for (name, refs) in [("one.gydb", "refs/a.fa"), ("two.gydb", "refs/b.fa")] {
        let build = [
            &BUILD[..2],
            &[refs, "refs/c.fa"],
            &BUILD[3..7],
            &["-o", name],
        ]
        .concat();
        place.ok(&[&build[..], &["--locations", "1"]].concat());
    }
    let databases = ["one.gydb", "two.gydb"];
    let both = ["classify", "--db", "one.gydb", "--db", "two.gydb", "r_1.fq"];
    let pairs = [&both[..], &["r_2.fq"]].concat();
    for args in [&both[..], &pairs] {
        let expected = outputs(&place, library, "off", args);
        for parts in [1, 3] {
            keep_in_parts(&place, library, (args, &databases), parts, &expected);
        }
    }
}

#[test]
fn candidates_are_stored_by_a_gpu() {
    let Some(library) = made() else { return };
    let place = place();
    place.ok(&BUILD);
    for (which, more) in [
        ("off", vec![]),
        ("0", vec![]),
        (
            "0",
            vec!["--gpu-memory".into(), memory_for(&place, &["r.gydb"], 3)],
        ),
    ] {
        let more: Vec<&str> = more.iter().map(String::as_str).collect();
        let file = format!("{which}{}.gyc", more.len());
        let args = [
            "--candidates",
            &file,
            "--gpu",
            which,
            "--report",
            "run.json",
        ];
        let ran = with(&place, library, &[&PAIRS[..], &args, &more].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(place.read(&file) == place.read("off0.gyc"), "{file}");
        assert_eq!(place.json("run.json")["gpu"].is_null(), which == "off");
    }
}

#[test]
fn samples_of_a_sheet_share_the_database_on_a_gpu() {
    let Some(library) = made() else { return };
    let place = place();
    place.ok(&BUILD);
    place.write(
        "sheet",
        "sample,fastq_1,fastq_2\none,r_1.fq,r_2.fq\none,r_2.fq,r_1.fq\ntwo,r_2.fq,\n",
    );
    let memory = memory_for(&place, &["r.gydb"], 3);
    for (which, folder, more) in [
        ("off", "off", &[][..]),
        ("0", "on", &[]),
        ("0", "parts", &["--gpu-memory", &memory]),
    ] {
        let args = [
            "classify",
            "--db",
            "r.gydb",
            "--samples",
            "sheet",
            "--out-dir",
            folder,
        ];
        let args = [&args[..], &["--gpu", which], more].concat();
        let ran = with(&place, library, &args);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
    for name in [
        "one.tsv",
        "two.tsv",
        "one.kraken2.kreport",
        "two.kraken2.kreport",
        "taxa.tsv",
    ] {
        let of = |folder| place.read(&format!("{folder}/{name}"));
        let (off, on, parts) = (of("off"), of("on"), of("parts"));
        assert!(off == on && off == parts && !on.is_empty(), "{name}");
    }
}

#[test]
fn what_a_gpu_cannot_take_is_refused_or_left_to_the_processor() {
    let Some(library) = made() else { return };
    let place = place();
    place.ok(&BUILD);
    for (more, words) in [
        (["--gpu-memory", "1M"], "--gpu-memory allows"),
        (["--memory", "80M"], "and --memory is"),
    ] {
        let asked = [&PAIRS[..], &more, &["--gpu", "0"]].concat();
        let ran = with(&place, library, &asked);
        assert!(
            ran.code == 8 && ran.stderr.contains(words),
            "{}",
            ran.stderr
        );
        let ran = with(&place, library, &[&PIPE[..], &more].concat());
        assert!(
            ran.code == 0 && ran.stderr.contains(words),
            "{}",
            ran.stderr
        );
        assert!(ran.stderr.contains("no GPU is used"), "{}", ran.stderr);
    }
    // A machine without a library, or with one that is none, goes on as it did.
    let expected = place.ok(&PIPE);
    for (library, words) in [
        ("/nowhere/x.so", "cannot be loaded"),
        ("map", "cannot be loaded"),
    ] {
        let ran = with(&place, &place.path(library), &PIPE);
        assert_eq!((ran.code, &ran.stdout), (0, &expected));
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    }
    let planned = [&["plan"], &PAIRS[..], &["--gpu", "0"]].concat();
    let ran = with(&place, library, &planned);
    assert!(
        ran.stdout.contains("of memory may be taken"),
        "{}",
        ran.stdout
    );
    let ran = with(&place, library, &["doctor"]);
    assert!(
        ran.stdout.contains("classify uses the first") && ran.code == 0,
        "{}",
        ran.stdout
    );
}

#[test]
fn a_gpu_sorts_suffixes_as_the_processor_does() {
    let Some(library) = made() else { return };
    let place = Place::new();
    let long = "ACGTTGCAAC".repeat(300);
    place.write(
        "g.fa",
        format!(
            ">a\n{long}\n>b\nGATTACANNNNGATTACA\n>none\n>c\n{}\n",
            &long[7..2000]
        ),
    );
    place.write(
        "p.fa",
        ">p\nMKVLITGGAGFIGSHLVDRLMKVLITGG\n>q\nMKVLITGGAXGF*\n",
    );
    for file in ["g.fa", "p.fa"] {
        let [off, on] = ["off", "0"].map(|which| {
            let args = [
                "suffix", "build", file, "--bwt", "-o", "x.gysa", "--gpu", which,
            ];
            let ran = with(
                &place,
                library,
                &[&args[..], &["--report", "run.json"]].concat(),
            );
            assert_eq!(ran.code, 0, "{}", ran.stderr);
            (
                place.read("x.gysa"),
                place.json("run.json")["gpu"]["name"].is_string(),
            )
        });
        assert!(off.0 == on.0 && !off.1 && on.1, "{file}");
    }
}

#[test]
fn several_gpus_sort_suffixes_as_the_processor_does() {
    let Some(library) = made() else { return };
    let place = Place::new();
    let unit = "ACGTTGCAACGATTACA".repeat(90);
    place.write(
        "g.fa",
        format!(">a\n{unit}\n>b\nNNGATTACANNNN\n>c\n{}\n", &unit[5..]),
    );
    let build = ["suffix", "build", "g.fa", "--bwt", "-o", "x.gysa"];
    let with_gpus = |more: &[&str]| with(&place, library, &[&build[..], more].concat());
    assert_eq!(with_gpus(&["--gpu", "off"]).code, 0);
    let expected = place.read("x.gysa");
    for more in [
        &["--gpu", "0,0"][..],
        &["--gpu", "0,0,0,0", "--gpu-memory", "80M"],
        &["--gpu", "0,0,0,0,0,0,0,0", "--gpu-topology", "dgx-1"],
        &["--gpu", "0,0,0", "--gpu-topology", "ring-3"],
    ] {
        std::fs::remove_file(place.path("x.gysa")).unwrap();
        let ran = with_gpus(&[more, &["--report", "run.json"]].concat());
        assert_eq!(ran.code, 0, "{more:?}: {}", ran.stderr);
        assert!(place.read("x.gysa") == expected, "{more:?}");
        let gpus = more[1].split(',').count();
        let numbers = &place.json("run.json")["gpu"]["numbers"];
        assert_eq!(numbers.as_array().map(Vec::len), Some(gpus));
    }
    let count = ["count", "g.fa", "-o", "x.gyk", "--gpu", "0,0"];
    let counted = with(&place, library, &count);
    assert!(
        counted.code == 1 && counted.stderr.contains("name one"),
        "{}",
        counted.stderr
    );
    for (more, code, words) in [
        (&["--gpu", "0,9"][..], 8, "there is no GPU 9"),
        (
            &["--gpu", "0,0", "--gpu-topology", "s3"],
            1,
            "has 4 devices",
        ),
        (&["--gpu-topology", "s3"], 1, "several GPUs"),
        (
            &["--gpu", "0,0", "--gpu-memory", "20K"],
            8,
            "more of the memory",
        ),
    ] {
        let ran = with_gpus(more);
        let said = ran.stderr.contains(words);
        assert!(ran.code == code && said, "{more:?}: {}", ran.stderr);
    }
}

#[test]
fn gpus_carry_plans_out() {
    let Some(library) = made() else { return };
    let place = Place::new();
    place.ok(&["gossip", "plan", "s1", "-o", "p.json", "-q"]);
    let run = ["gossip", "run", "p.json", "--topology", "s1"];
    let run = [&run[..], &["--bytes", "64K,1M"]].concat();
    let on = |gpus| with(&place, library, &[&run[..], &["--gpu", gpus]].concat());
    let ran = on("0,0,0,0");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let lines: Vec<&str> = ran.stdout.lines().skip(1).collect();
    assert!(lines.len() == 2 && lines[0].starts_with("65536\tequal\t0."));
    for (gpus, code, words) in [
        ("0,0", 1, "--gpu has 2 numbers"),
        ("0,0,0,7", 8, "there is no GPU 7"),
    ] {
        let ran = on(gpus);
        let said = ran.stderr.contains(words);
        assert!(ran.code == code && said, "{}", ran.stderr);
    }
}

/// The bytes of a database that is made with `--gpu which`, and the report.
fn counted(place: &Place, library: &Path, which: &str, args: &[&str]) -> (Vec<u8>, Value) {
    let count = ["count", "r_1.fq", "r_2.fq", "-t", "1", "-o", "x.gyk"];
    let more = ["--report", "run.json", "--gpu", which];
    let ran = with(place, library, &[&count[..], &more, args].concat());
    assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
    (place.read("x.gyk"), place.json("run.json"))
}

#[test]
fn a_gpu_counts_kmers_as_the_processor_does() {
    let Some(library) = made() else { return };
    let place = Place::new();
    place.simulate_much();
    let least: u64 = place.least_memory(1).parse().unwrap();
    let beside_a_gpu = (least + (64 << 20)).to_string();
    let solid = ["--min-count", "2"];
    // Nobody asked for one.
    let (expected, report) = counted(&place, library, "auto", &solid);
    assert!(report["gpu"].is_null());
    for (memory, spills) in [("2G", false), (&beside_a_gpu, true)] {
        let more = ["--memory", memory, "--gpu-memory", "20M"];
        let args = [&solid[..], &more].concat();
        // Nobody says which worker comes first.
        let has_part = (0..5).any(|_| {
            let (bytes, report) = counted(&place, library, "0", &args);
            assert!(bytes == expected, "{report}");
            let (temporary, gpu) = (&report["bytes"]["temporary"], &report["gpu"]);
            assert!((temporary.as_u64() > Some(0)) == spills, "{report}");
            assert!(
                gpu["name"].is_string() && gpu["partitions_left"] == 0,
                "{gpu}"
            );
            gpu["partitions"].as_u64() > Some(0)
        });
        assert!(has_part, "the GPU has counted nothing");
    }
    let args = ["count", "r_1.fq", "-t", "1", "-o", "y.gyk"];
    let least = least.to_string();
    for (more, words) in [
        (["-k", "33"], "up to 32 bases, and these have 33"),
        (["--memory", &least], "and --memory is"),
    ] {
        let ran = with(
            &place,
            library,
            &[&args[..], &more, &["--gpu", "0"]].concat(),
        );
        assert!(
            ran.code == 8 && ran.stderr.contains(words),
            "{}",
            ran.stderr
        );
    }
    let plan = [&["plan"], &args[..], &["--gpu", "0"]].concat();
    let planned = with(&place, library, &plan).stdout;
    assert!(planned.contains("of its memory may be taken"), "{planned}");
}

/// The bytes of a database of references that is made with `--gpu which`, and what was said.
fn built(place: &Place, library: &Path, which: &str, args: &[&str]) -> (Vec<u8>, String) {
    let more = ["--report", "run.json", "--gpu", which];
    let ran = with(place, library, &[&BUILD[..], &more, args].concat());
    assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
    (place.read("r.gydb"), ran.stderr)
}

#[test]
fn a_gpu_sketches_references_as_the_processor_does() {
    let Some(library) = made() else { return };
    let place = place();
    let refs = String::from_utf8(place.read("refs/a.fa")).unwrap();
    let others = format!(
        "{refs}>odd\nACGTNNNNacgtRRu{}\n>short\nACG\n>none\n",
        "AC".repeat(90)
    );
    place.write("refs/a.fa", others);
    for args in [
        &["-t", "1"][..],
        &["-t", "3", "--one-in", "1"],
        &["-k", "16", "--smallest", "16"],
        &["-k", "9", "--window", "256", "--stride", "100"],
    ] {
        let expected = built(&place, library, "auto", args).0;
        assert!(place.json("run.json")["gpu"].is_null());
        assert!(built(&place, library, "0", args).0 == expected, "{args:?}");
        let gpu = &place.json("run.json")["gpu"];
        assert!(
            gpu["windows"].as_u64() > Some(100) && gpu["passes"] == 1 && gpu["failed"].is_null(),
            "{gpu}"
        );
    }
    let all = ["-t", "1", "--one-in", "1"];
    let expected = built(&place, library, "off", &all).0;
    for (memory, passes) in [("2M", 2), ("1200K", 3)] {
        let few = [&all[..], &["--gpu-memory", memory]].concat();
        assert!(built(&place, library, "0", &few).0 == expected);
        let gpu = &place.json("run.json")["gpu"];
        assert!(
            gpu["passes"].as_u64() >= Some(passes) && gpu["failed"].is_null(),
            "{gpu}"
        );
    }
    // What comes through a pipe cannot be read again.
    let letters: String = refs.lines().skip(1).collect();
    place.write("piped.fa", format!(">a|kraken:taxid|561\n{letters}\n"));
    let piped = [
        "db",
        "build",
        "-",
        "--taxonomy",
        "tax",
        "-o",
        "p.gydb",
        "--gpu",
        "0",
    ];
    let build = |memory| {
        let few = ["--gpu-memory", memory, "-t", "1", "--one-in", "1"];
        let mut command = place.command(&[&piped[..], &few].concat());
        let from = std::fs::File::open(place.path("piped.fa")).unwrap();
        ran(command
            .env("GYRASE_GPU", library)
            .stdin(from)
            .output()
            .unwrap())
    };
    let (enough, little) = (build("1G"), build("900K"));
    assert_eq!(enough.code, 0, "{}", enough.stderr);
    let why = "can only be read once";
    assert!(
        little.code == 1 && little.stderr.contains(why),
        "{}",
        little.stderr
    );
    let expected = built(&place, library, "off", &[]).0;
    let (left, said) = built(&place, library, "0", &["--gpu-memory", "1K"]);
    assert!(
        left == expected && said.contains("the processor has built the database instead"),
        "{said}"
    );
    let long = [&BUILD[..], &["--window", "300", "--gpu", "0"]].concat();
    let refused = with(&place, library, &long);
    assert!(
        refused.code == 8 && refused.stderr.contains("up to 256 letters"),
        "{}",
        refused.stderr
    );
    let planned = with(
        &place,
        library,
        &[&["plan"], &BUILD[..], &["--gpu", "0"]].concat(),
    );
    assert!(
        planned.stdout.contains("of its memory may be taken"),
        "{}",
        planned.stdout
    );
}

#[test]
fn the_processor_goes_on_where_a_gpu_breaks() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../gpu/tests/twin/broken.cu");
    let Some(library) = make(folder, &source, "gyrase_gpu_broken") else {
        return;
    };
    let place = place();
    let expected = built(&place, &library, "off", &[]).0;
    for bears in ["sketches", "sorts", "lists"] {
        let mut command = place.command(&[&BUILD[..], &["--gpu", "0", "-t", "1"]].concat());
        let command = command
            .args(["--report", "run.json"])
            .env("BEARS_NO_MORE", bears);
        let broken = ran(command.env("GYRASE_GPU", &library).output().unwrap());
        assert!(
            broken.code == 0 && place.read("r.gydb") == expected,
            "{bears}"
        );
        let broke = "the GPU failed: it broke; the processor has built the database instead";
        assert!(broken.stderr.contains(broke), "{}", broken.stderr);
        let gpu = &place.json("run.json")["gpu"];
        assert!(gpu["windows"].as_u64() > Some(0), "{gpu}");
    }
    let expected = outputs(&place, &library, "off", &PAIRS);
    let memory = memory_for(&place, &["r.gydb"], 20);
    let parts = [&PAIRS[..], &["--gpu-memory", &memory]].concat();
    assert!(outputs(&place, &library, "0", &parts) == expected);
    let gpu = &place.json("run.json")["gpu"];
    assert!(
        gpu["reads"].as_u64() > Some(0) && gpu["reads_of_processor"].as_u64() > Some(0),
        "{gpu}"
    );
}
