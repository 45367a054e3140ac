//! What goes wrong is named, has its exit code, and publishes nothing.

use crate::place::{Place, gzip};

const READS: &str =
    "@one\nACGTACGTACGTACGTACGTACGTACGTACGTACGT\n+\nIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIIII\n";

#[test]
fn arguments_that_make_no_sense_are_usage() {
    let place = Place::new();
    place.write("r.fq", READS);
    std::fs::create_dir(place.path("folder")).unwrap();
    place.fails(&[], 1, &["Usage"]);
    place.fails(&["cuont"], 1, &["gyrase: error: ", "cuont", "count"]);
    place.fails(&["count", "r.fq"], 1, &["--output"]);
    place.fails(&["count", "-o", "o.gyk"], 1, &["READS"]);
    for k in ["0", "128", "-3", "x", "999999999999999999999"] {
        place.fails(
            &["count", "r.fq", "-o", "o.gyk", &format!("-k={k}")],
            1,
            &["127"],
        );
    }
    place.fails(
        &[
            "count",
            "r.fq",
            "-o",
            "o.gyk",
            "--min-count",
            "5",
            "--max-count",
            "2",
        ],
        1,
        &["--min-count 5"],
    );
    place.fails(
        &["count", "r.fq", "-o", "o.gyk", "--memory", "lots"],
        1,
        &["lots", "512M"],
    );
    place.fails(
        &["count", "nowhere.fq", "-o", "o.gyk"],
        1,
        &["nowhere.fq", "no such file"],
    );
    place.fails(
        &["count", "folder", "-o", "o.gyk"],
        1,
        &["folder", "the folder folder has no sequences"],
    );
    place.fails(&["count", "@nolist", "-o", "o.gyk"], 1, &["nolist"]);
    place.write("list", "# none\n");
    place.fails(
        &["count", "r.fq", "@list", "-o", "o.gyk"],
        1,
        &["list: the list names no file"],
    );
    place.fails(&["man", "cuont"], 1, &["cuont"]);
}

#[test]
fn processes_that_cannot_share_the_work_are_refused() {
    let place = Place::new();
    place.write("r.fq", READS);
    let files = place.files();
    let refused = |args: &[&str], words: &[&str]| {
        place.check_failure(place.launched(4, args), 8, words, &files)
    };
    refused(
        &["simulate", "genome", "-o", "g.fa"],
        &["4 processes were started", "GYRASE_MPI=off"],
    );
    refused(&["kmers", "histo", "x.gyk"], &["4 processes were started"]);
    refused(
        &["count", "r.fq", "-o", "o.gyk"],
        &["gyrase mpi-setup", "libgyrase-mpi-openmpi.so"],
    );
    assert_eq!(place.launched(1, &["count", "r.fq", "-o", "o.gyk"]).code, 0);
    assert_eq!(place.launched(4, &["--version"]).code, 0);
}

#[test]
fn too_many_threads_are_a_warning() {
    let place = Place::new();
    place.write("r.fq", READS);
    let ran = place.run(&["count", "r.fq", "-o", "o.gyk", "--threads", "100000"]);
    assert!(
        ran.code == 0 && ran.stderr.contains("warning: --threads 100000"),
        "{}",
        ran.stderr
    );
}

#[test]
fn broken_input_is_named() {
    let place = Place::new();
    let many = READS.repeat(5000);
    let whole = gzip(many.as_bytes());
    place.write("cut.fq.gz", &whole[..whole.len() / 2]);
    place.write("tail.fq.gz", &whole[..whole.len() - 4]);
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 0x55;
    place.write("damaged.fq.gz", &damaged);
    place.write(
        "lengths.fq",
        format!("{READS}@two\nACGTACGT\n+\nIIII\n{READS}"),
    );
    place.write("cut.fq", format!("{READS}@two\nACGTACGT\n"));
    place.write(
        "protein.fa",
        ">albumin\nMKWVTFISLLFLFSSAYSRGVFRRDAHKSEVAHRFKDLGEENFKALVLIAFAQYLQQCPFEDHVKLVNEVTEF\n",
    );
    place.write(
        "rubbish",
        (0..4096u32)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8 | 0x80)
            .collect::<Vec<_>>(),
    );
    place.write(
        "inside.fq",
        READS.replace(
            "ACGTACGTACGTACGTACGTACGTACGTACGTACGT",
            "ACGTACGTACGTACGTACGTACG\u{1}ACGTACGTACGT",
        ),
    );
    place.write("text", "Dear reader,\nthis is a letter.\n");
    let cases: [(&str, &[&str]); 9] = [
        ("cut.fq.gz", &["cut.fq.gz", "truncated"]),
        ("tail.fq.gz", &["tail.fq.gz", "truncated"]),
        ("damaged.fq.gz", &["damaged.fq.gz"]),
        (
            "lengths.fq",
            &["lengths.fq", "record 2", "two", "4 letters", "8"],
        ),
        ("cut.fq", &["cut.fq", "record 2", "truncated"]),
        (
            "protein.fa",
            &["protein.fa", "record 1", "albumin", "protein"],
        ),
        ("rubbish", &["rubbish", "FASTA", "FASTQ"]),
        ("inside.fq", &["inside.fq", "record 1", "0x01"]),
        ("text", &["text", "FASTA", "FASTQ"]),
    ];
    for (name, words) in cases {
        for threads in ["1", "2"] {
            place.fails(
                &["count", name, "-o", "o.gyk", "-t", threads, "--histo", "h"],
                7,
                words,
            );
        }
    }
}

#[test]
fn what_was_counted_elsewhere_is_sent_to_its_verb() {
    let place = Place::new();
    place.simulate("2000", "2");
    place.ok(&["count", "r_1.fq", "-o", "a.gyk"]);
    for (format, name) in [("kmc", "a"), ("kff", "a.kff")] {
        place.ok(&["kmers", "export", "a.gyk", "--to", format, "-o", name]);
    }
    place.write("a.jf", "000000015{\"size\":1024} binary");
    for (name, words) in [
        ("a.gyk", [".gyk database", "gyrase kmers"]),
        ("a.kmc_pre", ["KMC", "gyrase kmers import"]),
        ("a.kmc_suf", ["KMC", "gyrase kmers import"]),
        ("a.kff", ["KFF", "gyrase kmers import"]),
        ("a.jf", ["Jellyfish", "jellyfish dump"]),
    ] {
        place.fails(
            &["count", "r_1.fq", name, "-o", "o.gyk"],
            7,
            &[&[name], &words[..]].concat(),
        );
    }
}

#[test]
fn mates_out_of_step_are_named() {
    let place = Place::new();
    place.simulate("3000", "3");
    place.ok(&["count", "g.fa", "-o", "g.gyk"]);
    let second = String::from_utf8(place.read("r_2.fq")).unwrap();
    let later: String = second
        .lines()
        .skip(4)
        .map(|line| format!("{line}\n"))
        .collect();
    place.write("r_3.fq", later);
    let filter = ["kmers", "filter", "g.gyk", "r_1.fq", "r_3.fq", "-o", "o.fq"];
    place.fails(&filter, 7, &["r_1.fq", "r_3.fq", "record 1"]);
    let count = |mates| ["count", "--paired", "r_1.fq", mates, "-o", "o.gyk"];
    place.fails(&count("r_3.fq"), 7, &["r_1.fq", "r_3.fq", "record 1"]);
    let last = second.lines().count() - 4;
    place.write(
        "r_4.fq",
        second
            .lines()
            .take(last)
            .map(|line| format!("{line}\n"))
            .collect::<String>(),
    );
    place.fails(&count("r_4.fq"), 7, &["has no mate", "r_4.fq ends"]);
    place.fails(
        &["count", "--paired", "r_1.fq", "-o", "o.gyk"],
        1,
        &["mates", "odd number: 1"],
    );
    place.ok(&count("r_2.fq"));
    place.ok(&["count", "r_1.fq", "r_2.fq", "-o", "any.gyk"]);
    assert!(place.read("o.gyk") == place.read("any.gyk"));
    place.ok(&["count", "r_1.fq", "r_3.fq", "-o", "any.gyk"]);
    let mixed = [place.read("r_1.fq"), place.read("r_3.fq")].concat();
    place.write("mixed.fq", mixed);
    place.fails(
        &[
            "kmers",
            "filter",
            "g.gyk",
            "mixed.fq",
            "--interleaved",
            "-o",
            "o.fq",
        ],
        7,
        &["record 1", "record 2"],
    );
}

#[test]
fn databases_that_cannot_be_used_are_named() {
    let place = Place::new();
    place.simulate("2000", "2");
    place.ok(&["count", "r_1.fq", "-o", "a.gyk"]);
    place.ok(&["count", "r_1.fq", "-k", "21", "-o", "b.gyk"]);
    let whole = place.read("a.gyk");
    place.write("short.gyk", &whole[..whole.len() - 100]);
    let mut flipped = whole.clone();
    // The bins begin behind the header of 4,096 bytes.
    flipped[4100] ^= 1;
    place.write("flipped.gyk", &flipped);
    let mut newer = whole.clone();
    newer[8] = 77;
    place.write("newer.gyk", &newer);
    place.write("stub.gyk", &whole[..10]);
    place.fails(
        &["kmers", "info", "nowhere.gyk"],
        2,
        &["nowhere.gyk", "No such file"],
    );
    place.fails(
        &["kmers", "info", "r_1.fq"],
        2,
        &["r_1.fq", "no .gyk file: it looks like a FASTQ file"],
    );
    place.fails(
        &["kmers", "info", "short.gyk"],
        2,
        &["short.gyk", "truncated"],
    );
    place.fails(&["kmers", "info", "stub.gyk"], 2, &["stub.gyk"]);
    place.fails(
        &["kmers", "info", "newer.gyk"],
        2,
        &["newer.gyk", "version 77"],
    );
    place.fails(
        &["kmers", "verify", "a.gyk", "flipped.gyk"],
        2,
        &["flipped.gyk", "corrupt", "checksum"],
    );
    let mut tail = whole.clone();
    *tail.last_mut().unwrap() ^= 1;
    place.write("tail.gyk", &tail);
    place.fails(
        &["kmers", "verify", "tail.gyk"],
        2,
        &["tail.gyk", "corrupt"],
    );
    for verb in ["union", "intersect", "subtract"] {
        place.fails(
            &["kmers", verb, "flipped.gyk", "a.gyk", "-o", "o.gyk"],
            2,
            &["flipped.gyk", "corrupt"],
        );
    }
    for more in [
        &["dump"][..],
        &["dump", "--sorted"],
        &["histo"],
        &["export", "--to", "kff", "-o", "o.kff"],
    ] {
        place.fails(
            &[&["kmers"], more, &["flipped.gyk"]].concat(),
            2,
            &["flipped.gyk", "corrupt"],
        );
    }
    let dump = place.ok(&["kmers", "dump", "a.gyk"]);
    let of_first_bin = dump.split_once('\t').unwrap().0;
    for more in [
        &[of_first_bin][..],
        &["-r", "r_1.fq"],
        &["-r", "r_1.fq", "-o", "o.tsv"],
    ] {
        place.fails(
            &[&["kmers", "query", "flipped.gyk"], more].concat(),
            2,
            &["flipped.gyk", "corrupt", "checksum"],
        );
    }
    let filter = ["kmers", "filter", "flipped.gyk", "r_1.fq", "-o", "o.fq"];
    place.fails(&filter, 2, &["flipped.gyk", "corrupt", "checksum"]);
    place.fails(
        &["kmers", "union", "a.gyk", "b.gyk", "-o", "o.gyk"],
        1,
        &["31-mers", "21-mers"],
    );
    place.fails(
        &["kmers", "intersect", "a.gyk", "-o", "o.gyk"],
        1,
        &["at least two"],
    );
    place.fails(&["kmers", "query", "a.gyk", "ACGT"], 1, &["ACGT", "31"]);
}

#[test]
fn nothing_is_written_over_what_is_read() {
    let place = Place::new();
    place.simulate("2000", "2");
    place.ok(&["count", "r_1.fq", "-o", "a.gyk"]);
    let (reads, database) = (place.read("r_1.fq"), place.read("a.gyk"));
    std::os::unix::fs::symlink(place.path("r_1.fq"), place.path("link")).unwrap();
    place.fails(
        &["count", "g.fa", "-o", "r_1.fq"],
        6,
        &["r_1.fq", "no .gyk database"],
    );
    place.fails(
        &["kmers", "union", "a.gyk", "-o", "r_1.fq"],
        6,
        &["r_1.fq", "no .gyk database"],
    );
    place.fails(
        &["count", "r_1.fq", "-o", "o.gyk", "--histo", "link"],
        1,
        &["link", "input"],
    );
    place.fails(
        &["count", "r_1.fq", "-o", "o", "--histo", "o"],
        1,
        &["two outputs"],
    );
    for more in [&["dump"][..], &["histo"], &["histo", "--plot", "x.svg"]] {
        place.fails(
            &[&["kmers"], more, &["a.gyk", "-o", "a.gyk"]].concat(),
            1,
            &["a.gyk", "input"],
        );
    }
    place.fails(
        &["kmers", "query", "a.gyk", "-r", "r_1.fq", "-o", "r_1.fq"],
        1,
        &["r_1.fq", "input"],
    );
    place.fails(
        &["kmers", "filter", "a.gyk", "r_1.fq", "-o", "r_1.fq"],
        1,
        &["r_1.fq", "input"],
    );
    place.fails(
        &[
            "kmers", "filter", "a.gyk", "r_1.fq", "r_2.fq", "-o", "o", "--out2", "o",
        ],
        1,
        &["two outputs"],
    );
    place.write("list", "g.fa\nr_1.fq\n");
    place.fails(
        &["count", "@list", "-o", "o.gyk", "--histo", "link"],
        1,
        &["link", "input"],
    );
    place.fails(
        &["count", "@list", "-o", "o.gyk", "--histo", "list"],
        1,
        &["list", "input"],
    );
    let report = |verb: &[&str], name: &str, why: &str| {
        place.fails(&[verb, &["--report", name]].concat(), 1, &[name, why]);
    };
    report(&["count", "@list", "-o", "o.gyk"], "r_1.fq", "input");
    report(&["count", "@list", "-o", "o.gyk"], "./o.gyk", "two outputs");
    report(&["plan", "count", "r_1.fq"], "r_1.fq", "input");
    report(
        &["kmers", "union", "a.gyk", "-o", "o.gyk"],
        "a.gyk",
        "input",
    );
    report(
        &["kmers", "union", "a.gyk", "-o", "o.gyk"],
        "o.gyk",
        "two outputs",
    );
    report(&["kmers", "info", "a.gyk"], "a.gyk", "input");
    report(&["kmers", "verify", "a.gyk"], "a.gyk", "input");
    report(
        &["kmers", "export", "a.gyk", "--to", "kmc", "-o", "x"],
        "x.kmc_suf",
        "two outputs",
    );
    report(&["simulate", "genome", "-o", "x.fa"], "x.fa", "two outputs");
    place.fails(
        &["simulate", "reads", "g.fa", "-o", "g.fa"],
        1,
        &["g.fa", "input"],
    );
    assert!(reads == place.read("r_1.fq") && database == place.read("a.gyk"));
    place.write("o.gyk", "");
    place.ok(&["count", "r_1.fq", "-o", "o.gyk"]);
    place.ok(&["kmers", "union", "a.gyk", "o.gyk", "-o", "o.gyk"]);
    assert_eq!(
        place.ok(&["kmers", "dump", "a.gyk", "-o", "/dev/stdout"]),
        place.ok(&["kmers", "dump", "a.gyk"])
    );
}

#[test]
fn outputs_that_cannot_be_written_are_named() {
    let place = Place::new();
    place.simulate("2000", "2");
    place.ok(&["count", "r_1.fq", "-o", "a.gyk"]);
    std::fs::create_dir(place.path("folder")).unwrap();
    place.fails(&["count", "r_1.fq", "-o", "none/o.gyk"], 6, &["none/o.gyk"]);
    place.fails(
        &["count", "r_1.fq", "-o", "folder"],
        6,
        &["folder", "directory"],
    );
    place.fails(
        &["kmers", "dump", "a.gyk", "-o", "/dev/full"],
        6,
        &["/dev/full", "No space left"],
    );
    place.fails(
        &["kmers", "export", "a.gyk", "--to", "kmc", "-o", "-"],
        1,
        &["-o"],
    );
    place.fails(
        &["kmers", "export", "a.gyk", "-o", "x.txt"],
        1,
        &["--to", "kff"],
    );
    let tmp = |name| ["count", "r_1.fq", "-o", "o.gyk", "--tmp", name];
    place.fails(&tmp("none/tmp"), 6, &["--tmp none/tmp", "no folder none"]);
    place.fails(&tmp("a.gyk"), 6, &["--tmp a.gyk", "no folder"]);
    place.ok(&tmp("folder/new"));
    place.fails(
        &["plan", "count", "r_1.fq", "--tmp", "none/tmp"],
        6,
        &["--tmp"],
    );
    for verb in [
        &["kmers", "dump", "a.gyk"][..],
        &["kmers", "histo", "a.gyk"],
        &["kmers", "info", "a.gyk"],
        &["cite"],
    ] {
        let full = std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let output = place.command(verb).stdout(full).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.code() == Some(6) && said.contains("No space left"),
            "{verb:?}: {said}"
        );
    }
}

#[test]
fn databases_do_not_go_to_standard_output() {
    let place = Place::new();
    place.simulate("2000", "2");
    place.ok(&["count", "r_1.fq", "-o", "a.gyk"]);
    place.write("d.tsv", "KMER\tcount\n");
    let files = place.files();
    for verb in [
        &["count", "r_1.fq"][..],
        &["kmers", "union", "a.gyk", "a.gyk"],
        &["kmers", "import", "d.tsv"],
        &["db", "build", "g.fa", "--taxonomy", "tax"],
        &["db", "merge", "a.gydb"],
        &["db", "add", "a.gydb", "g.fa"],
        &["db", "remove", "a.gydb", "--taxid", "2"],
    ] {
        place.fails(
            &[verb, &["-o", "-"]].concat(),
            1,
            &[
                "database cannot go to standard output",
                "name a file with -o",
            ],
        );
    }
    assert_eq!(place.files(), files);
}

#[test]
fn inputs_that_may_be_cut_off_are_named_in_a_warning_and_in_the_report() {
    let place = Place::new();
    let args = ["simulate", "genome", "-o", "g.fa.gz", "--length", "200000"];
    place.ok(&args);
    let whole = place.read("g.fa.gz");
    // The empty block that ends every BGZF file has 28 bytes.
    place.write("cut.fa.gz", &whole[..whole.len() - 28]);
    place.write("none.fa.gz", "");
    let count = |input: &str, more: &[&str]| {
        let args = ["count", input, "-o", "o.gyk", "--report", "r.json"];
        let ran = place.run(&[&args[..], more].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        (ran.stderr, place.json("r.json")["warnings"].to_string())
    };
    for (input, words) in [
        ("cut.fa.gz", "lacks the empty block that ends a BGZF file"),
        (
            "none.fa.gz",
            "none.fa.gz is empty, which no compressed file is",
        ),
    ] {
        let (said, reported) = count(input, &[]);
        assert_eq!(said.matches("warning: ").count(), 1, "{said}");
        assert!(said.contains(input) && said.contains(words), "{said}");
        assert!(reported.contains(words), "{reported}");
        let (said, reported) = count(input, &["--quiet"]);
        assert!(said.is_empty() && reported.contains(words), "{said}");
    }
    let (said, reported) = count("g.fa.gz", &[]);
    assert!(!said.contains("warning") && reported == "[]", "{said}");
}

#[test]
fn names_of_outputs_say_how_texts_are_compressed_and_pictures_drawn() {
    let place = Place::new();
    place.write("r.fq", READS);
    place.ok(&["-q", "count", "r.fq", "-o", "r.gyk", "--histo", "h.gz"]);
    let dump = |name: &str| place.ok(&["-q", "kmers", "dump", "r.gyk", "-o", name]);
    dump("plain.tsv");
    let plain = place.read("plain.tsv");
    let unpacked = |name: &str| {
        let mut text = Vec::new();
        let stored = std::fs::File::open(place.path(name)).unwrap();
        let mut reader = gyrase_fastx::decompress(stored).unwrap();
        std::io::Read::read_to_end(&mut reader, &mut text).unwrap();
        text
    };
    for (name, words) in [
        ("d.lz4", "name it d.gz, d.zst, d.bz2 or d.xz"),
        ("d.tsv.Z", "name it d.tsv.gz"),
    ] {
        place.fails(&["kmers", "dump", "r.gyk", "-o", name], 1, &[name, words]);
    }
    let packed = ["-q", "count", "r.fq", "-o", "t.gyk.gz"];
    place.fails(&packed, 1, &["not compressed", "name it t.gyk"]);
    for ending in ["gz", "GZ", "bgz", "zst", "bz2", "xz"] {
        let name = format!("dump.{ending}");
        dump(&name);
        assert!(
            place.read(&name) != plain && unpacked(&name) == plain,
            "{name}"
        );
    }
    assert!(place.read("h.gz").starts_with(&[0x1f, 0x8b]));
    for name in ["e.tsv", "e.tsv.gz"] {
        place.ok(&["-q", "kmers", "export", "r.gyk", "--to", "text", "-o", name]);
    }
    assert!(unpacked("e.tsv.gz") == place.read("e.tsv") && place.read("e.tsv.gz")[0] == 0x1f);
    let histo = ["kmers", "histo", "r.gyk", "--plot"];
    for (name, words) in [
        ("p.pdf", "name it p.svg or p.png"),
        ("p", "name it p.svg or p.png"),
        ("p.txt.gz", "name it p.svg or p.png"),
        ("p.png.gz", "name it p.png"),
    ] {
        place.fails(&[&histo[..], &[name]].concat(), 1, &[name, words]);
    }
    place.ok(&["-q", "count", "r.fq", "-o", "t.gyk", "--trace", "t.json.gz"]);
    assert!(unpacked("t.json.gz").starts_with(b"{"));
    place.ok(&["profile", "t.json.gz"]);
    let trace = place.ok(&["-q", "count", "r.fq", "-o", "t.gyk", "--trace", "-"]);
    assert!(trace.starts_with('{') && !place.path("-").exists());
    for two in [
        &["kmers", "histo", "r.gyk", "-o", "-", "--plot", "-"][..],
        &[
            "count", "r.fq", "-o", "t.gyk", "--histo", "-", "--report", "-",
        ],
        &["simulate", "genome", "-o", "-", "--truth", "-"],
    ] {
        place.fails(two, 1, &["two outputs go to standard output"]);
    }
    place.fails(
        &["kmers", "histo", "r.gyk", "--plot", "-", "--report", "-"],
        1,
        &["two outputs go to standard output"],
    );
    place.ok(&[&histo[..], &["p.png"]].concat());
    assert!(place.read("p.png").starts_with(b"\x89PNG\r\n\x1a\n"));
    for name in ["p.svg", "p.svg.gz"] {
        place.ok(&[&histo[..], &[name]].concat());
        assert!(unpacked(name).starts_with(b"<svg"), "{name}");
    }
    let count = ["-q", "count", "r.fq", "-o", "t.gyk", "--multiqc"];
    place.ok(&[&count[..], &["t_mqc.json"]].concat());
    let row = &place.json("t_mqc.json")["data"]["t"];
    assert_eq!(
        row["distinct"],
        plain.split(|&byte| byte == b'\n').count() - 1
    );
    place.fails(
        &[&count[..], &["t.json"]].concat(),
        1,
        &["name it t_mqc.json"],
    );
}

/// What a verb prints without being told to is an output as any other.
#[test]
fn nothing_else_goes_where_a_verb_prints() {
    let place = Place::new();
    place.write("r.fq", READS);
    place.write("refs.fa", format!(">r\n{}\n", "GATTACA".repeat(40)));
    place.write("lineages.tsv", "file\tgenus\nrefs.fa\tG\n");
    place.ok(&[
        "count", "r.fq", "-k", "5", "-o", "r.gyk", "--trace", "t.json",
    ]);
    place.ok(&[
        "db",
        "build",
        "refs.fa",
        "--taxonomy",
        "lineages.tsv",
        "-o",
        "d.gydb",
    ]);
    for verb in [
        "kmers histo r.gyk",
        "kmers dump r.gyk",
        "kmers info r.gyk",
        "kmers query r.gyk GATTA",
        "db info d.gydb",
        "db inspect d.gydb",
        "db targets d.gydb",
        "db taxa d.gydb",
        "classify --db d.gydb r.fq",
        "plan count r.fq",
        "plan classify --db d.gydb r.fq",
        "plan db build refs.fa --taxonomy lineages.tsv",
        "plan kmers histo r.gyk",
        "profile t.json",
        "doctor",
        "demo",
        "cite",
        "man",
        "completions bash",
    ] {
        for other in ["--report", "--trace"] {
            let words: Vec<&str> = verb.split(' ').chain([other, "-"]).collect();
            place.fails(&words, 1, &["two outputs go to standard output"]);
        }
    }
    for verb in [
        "kmers histo r.gyk -o h",
        "kmers dump r.gyk -o d",
        "db inspect d.gydb -o i",
    ] {
        let words: Vec<&str> = verb.split(' ').chain(["--report", "-"]).collect();
        let report: serde_json::Value = serde_json::from_str(&place.ok(&words)).unwrap();
        assert_eq!(report["command"][1], words[0], "{verb}");
    }
    place.ok(&["man", "--all", ".", "--report", "-"]);
}

#[test]
fn habits_of_other_programs_are_done_or_told_what_to_type() {
    let place = Place::new();
    place.write("r.fq", READS);
    for (args, words) in [
        (
            &["count", "-m", "31", "r.fq", "-o", "x.gyk"][..],
            &["write 31G", "-k"][..],
        ),
        (&["count", "-m8", "r.fq", "-o", "x.gyk"], &["write 8G"]),
        (&["count", "-ci2", "r.fq", "-o", "x.gyk"], &["--min-count"]),
        (
            &["count", "-fm", "r.fq", "-o", "x.gyk"],
            &["known by content"],
        ),
        (
            &["count", "-s", "100M", "r.fq", "-o", "x.gyk"],
            &["leave it out"],
        ),
        (
            &["classify", "--db", "x", "--paired", "r.fq"],
            &["--interleaved"],
        ),
        (
            &["classify", "--db", "x", "--use-names", "r.fq"],
            &["--kreport"],
        ),
        (
            &["classify", "--db", "x", "--report", "s.kreport", "r.fq"],
            &["type --kreport s.kreport"],
        ),
        (&["hist", "x.gyk"], &["gyrase kmers histo"]),
        (&["stats", "x.gyk"], &["gyrase kmers info"]),
        (&["-t", "2", "stats", "x.gyk"], &["gyrase kmers info"]),
        (&["kmers", "stats", "x.gyk"], &["unrecognized subcommand"]),
        (&["build", "--db", "x"], &["gyrase db build"]),
    ] {
        place.fails(args, 1, words);
    }
    place.ok(&["-q", "count", "-C", "r.fq", "-o", "x.gyk"]);
    assert!(place.ok(&["help", "count"]).contains("--stranded"));
    // The same file twice, and reads shorter than k.
    let twice = place.run(&["count", "r.fq", "r.fq", "-o", "x.gyk"]);
    assert!(
        twice.code == 0 && twice.stderr.contains("warning: r.fq is named twice"),
        "{twice:?}"
    );
    let short = place.run(&["count", "-k", "99", "r.fq", "-o", "x.gyk"]);
    assert!(
        short.code == 0
            && short
                .stderr
                .contains("warning: no read has 99 letters in a row"),
        "{short:?}"
    );
}
