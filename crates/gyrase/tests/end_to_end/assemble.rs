//! `gyrase assemble`: the folder, its files, and what is refused.

use crate::place::Place;

/// The letters of each record.
fn records(fasta: &str) -> Vec<(String, String)> {
    let records = fasta.split('>').skip(1);
    let apart = |record: &str| {
        let (header, letters) = record.split_once('\n').unwrap();
        (header.to_owned(), letters.replace('\n', ""))
    };
    records.map(apart).collect()
}

fn reverse(letters: &str) -> String {
    String::from_utf8(gyrase_seq::reverse_complement(letters.as_bytes())).unwrap()
}

#[test]
fn contigs_are_stretches_of_the_genome_in_every_file() {
    let place = Place::new();
    place.simulate("30000", "40");
    let mates = ["r_1.fq", "r_2.fq"];
    place.ok(&[&["-q", "assemble"], &mates[..], &["-o", "asm"]].concat());
    let read = |name: &str| String::from_utf8(place.read(name)).unwrap();
    let genome = records(&read("g.fa"))[0].1.to_uppercase();
    let contigs = records(&read("asm/contigs.fa"));
    assert!(!contigs.is_empty());
    let graph = read("asm/graph.gfa");
    for (header, letters) in &contigs {
        assert!(
            genome.contains(letters) || genome.contains(&reverse(letters)),
            "{header}"
        );
        let name = header.split(' ').next().unwrap();
        assert!(
            graph.contains(&format!("S\t{name}\t{letters}\t")),
            "{header}"
        );
    }
    let report = place.json("asm/report.json");
    assert_eq!(report["counts"]["contigs"], contigs.len());
    assert!(report["joins"]["by_pairs"].is_number());
    assert_eq!(report["joins"]["scaffolded"], 0);
    assert_eq!(records(&read("asm/scaffolds.fa")).len(), contigs.len());
    assert!(read("asm/report.tsv").starts_with("Assembly\tasm\n"));
    let page = read("asm/report.html");
    for words in [
        "<h1>asm</h1>",
        "r_1.fq, r_2.fq",
        "contig_1: ",
        "<dt>N50</dt>",
        "Insert size",
    ] {
        assert!(page.contains(words), "{words}");
    }
    // Nothing is asked for; the one address is the name of SVG.
    assert_eq!(
        page.matches("http:").count(),
        page.matches("http://www.w3.org/2000/svg").count()
    );
    assert!(!page.contains("NaN"));
    let before = place.files();
    for (more, name) in [
        (["--threads", "1"], "one"),
        (["--header-style", "spades"], "spades"),
        (["--header-style", "megahit"], "megahit"),
        (["--header-style", "abyss"], "abyss"),
    ] {
        place.ok(&[&["-q", "assemble"], &mates[..], &more[..], &["-o", name]].concat());
        let others = records(&read(&format!("{name}/contigs.fa")));
        let letters = |records: &[(String, String)]| -> Vec<String> {
            records.iter().map(|record| record.1.clone()).collect()
        };
        assert_eq!(letters(&others), letters(&contigs), "{name}");
    }
    assert_eq!(read("one/graph.gfa"), graph);
    assert!(read("one/report.html").replace(">one<", ">asm<") == page);
    // Again, in the place of the first.
    place.ok(&[&["-q", "assemble"], &mates[..], &["-o", "asm/"]].concat());
    assert_eq!(read("asm/graph.gfa"), graph);
    assert_eq!(place.files().len(), before.len() + 4);
}

#[test]
fn adapters_are_told_of() {
    let place = Place::new();
    place.simulate("3000", "20");
    let text = String::from_utf8(place.read("r_1.fq")).unwrap();
    let lines = text
        .lines()
        .enumerate()
        .map(|(number, line)| match number % 20 {
            1 => format!("{}AGATCGGAAGAGCACACGTC\n", &line[20..]),
            _ => format!("{line}\n"),
        });
    place.write("cut.fq", lines.collect::<String>());
    let reads = text.lines().count() / 4;
    let ran = place.run(&["assemble", "cut.fq", "-o", "asm"]);
    let words = "of the reads hold the adapter TruSeq (AGATCGGAAGAGC): trim it, as `cutadapt -a";
    assert!(ran.code == 0 && ran.stderr.contains(words), "{ran:?}");
    let report = place.json("asm/report.json");
    let found = &report["foreign"]["adapters"]["TruSeq"]["reads"];
    assert_eq!(*found, reads.div_ceil(5));
    assert!(
        report["warnings"].to_string().contains("TruSeq"),
        "{report}"
    );
    let page = String::from_utf8(place.read("asm/report.html")).unwrap();
    assert!(page.contains("hold the adapter TruSeq"), "{page}");
    assert_eq!(report["foreign"]["phix174"], serde_json::json!([]));
    let clean = place.run(&["assemble", "r_1.fq", "-o", "asm"]);
    assert!(!clean.stderr.contains("adapter"), "{clean:?}");
}

#[test]
fn a_killed_run_and_a_full_disk_leave_nothing_that_looks_whole() {
    let place = Place::new();
    place.simulate("20000", "20");
    let args = ["-q", "assemble", "r_1.fq", "r_2.fq", "-o", "asm"];
    let before = place.files();
    for limit in ["ulimit -f 4", "ulimit -f 30"] {
        place.check_failure(place.limited(limit, &args), 6, &["File too large"], &before);
    }
    let start = std::time::Instant::now();
    place.ok(&args);
    let whole = start.elapsed();
    let made = ["contigs.fa", "scaffolds.fa", "graph.gfa", "report.html"];
    let read = || made.map(|name| place.read(&format!("asm/{name}")));
    let (expected, there) = (read(), place.files());
    for moment in 1..5 {
        std::fs::remove_dir_all(place.path("asm")).unwrap();
        let mut child = place.command(&args).spawn().unwrap();
        std::thread::sleep(whole * moment / 5);
        child.kill().unwrap();
        child.wait().expect("it was started");
        // It may have been over, or about to end.
        let is_there = place.path("asm").exists();
        assert!(!is_there || read() == expected, "moment {moment}");
        place.ok(&args);
        assert!(read() == expected, "moment {moment}");
        assert_eq!(place.files(), there, "moment {moment}");
    }
}

#[test]
fn nothing_to_assemble_is_no_error() {
    let place = Place::new();
    place.write("none.fq", "");
    place.write("short.fq", "@r\nACGT\n+\nIIII\n");
    for reads in ["none.fq", "short.fq"] {
        place.ok(&["-q", "assemble", reads, "-o", "asm"]);
        assert_eq!(place.read("asm/contigs.fa"), b"");
        assert_eq!(place.read("asm/graph.gfa"), b"H\tVN:Z:1.0\n");
        let table = String::from_utf8(place.read("asm/report.tsv")).unwrap();
        assert!(
            table.contains("N50\t0\n") && !table.contains("nan"),
            "{table}"
        );
        let page = String::from_utf8(place.read("asm/report.html")).unwrap();
        assert!(page.contains("</html>") && !page.contains("NaN"), "{page}");
    }
}

#[test]
fn what_cannot_be_assembled_is_refused() {
    let place = Place::new();
    place.simulate("2000", "2");
    let letters = "ACGTTGCA".repeat(200);
    place.write("long.fa", format!(">r\n{letters}\n"));
    place.write("thesis.tex", "mine");
    place.fails(&["assemble", "long.fa", "-o", "asm"], 1, &["long reads"]);
    place.fails(&["assemble", "-", "-o", "asm"], 1, &["pipe", "give a file"]);
    place.fails(
        &["assemble", "-1", "r_1.fq", "-o", "asm"],
        1,
        &["1 file", "0 files"],
    );
    place.fails(
        &["assemble", "r_1.fq", "r_1.fq", "-o", "asm"],
        1,
        &["named twice"],
    );
    place.fails(&["assemble", "none.fq", "-o", "asm"], 1, &["none.fq"]);
    let little = ["assemble", "r_1.fq", "-o", "asm", "--memory", "20M"];
    place.fails(&little, 4, &["MiB of memory", "give --memory"]);
    assert!(
        place
            .ok(&["plan", "assemble", "r_1.fq"])
            .contains("least --memory")
    );
    std::fs::create_dir(place.path("held")).unwrap();
    place.write("held/thesis.tex", "mine");
    let held = ["assemble", "r_1.fq", "-o", "held/"];
    place.fails(&held, 6, &["thesis.tex", "would be lost"]);
    place.fails(&["assemble", "r_1.fq", "-o", "."], 6, &["no name"]);
    place.fails(
        &["assemble", "r_1.fq", "-o", "thesis.tex"],
        6,
        &["thesis.tex"],
    );
}

/// The letters that a path of a GFA spells, k-1 of which are in two segments each.
fn spelled(graph: &str, path: &str, overlap: usize) -> String {
    let segments: std::collections::HashMap<&str, &str> = graph
        .lines()
        .filter(|line| line.starts_with('S'))
        .filter_map(|line| line[2..].split_once('\t'))
        .collect();
    let mut letters = String::new();
    for step in path.split(',') {
        let (name, sign) = step.split_at(step.len() - 1);
        let segment = segments[name].split('\t').next().unwrap();
        let segment = if sign == "-" {
            reverse(segment)
        } else {
            segment.to_owned()
        };
        let skip = if letters.is_empty() { 0 } else { overlap };
        letters.push_str(&segment[skip..]);
    }
    letters
}

#[test]
fn contigs_of_a_metagenome_are_paths_through_the_graph() {
    let place = Place::new();
    place.simulate("12000", "12");
    let mut reads: Vec<String> = ["r_1.fq", "r_2.fq"]
        .map(|name| String::from_utf8(place.read(name)).unwrap())
        .into();
    place.simulate("5000", "30");
    for (mate, text) in reads.iter_mut().enumerate() {
        let name = format!("r_{}.fq", mate + 1);
        text.push_str(&String::from_utf8(place.read(&name)).unwrap());
        place.write(&name, text.as_str());
    }
    let run = |more: &[&str], name: &str| {
        let args = [
            "-q", "assemble", "--meta", "-1", "r_1.fq", "-2", "r_2.fq", "-o", name,
        ];
        place.ok(&[&args[..], more].concat());
        let read = |file: &str| String::from_utf8(place.read(&format!("{name}/{file}"))).unwrap();
        ["contigs.fa", "scaffolds.fa", "graph.gfa"].map(read)
    };
    let made = run(&["--min-length", "1"], "one");
    let [contigs, _, graph] = &made;
    let contigs = records(contigs);
    let paths: Vec<Vec<&str>> = graph
        .lines()
        .filter(|line| line.starts_with('P'))
        .map(|line| line.split('\t').collect())
        .collect();
    assert!(!contigs.is_empty() && paths.len() == contigs.len());
    let k = place.json("one/report.json")["graphs"]
        .as_array()
        .unwrap()
        .len();
    let k = place.json("one/report.json")["graphs"][k - 1]["k"]
        .as_u64()
        .unwrap() as usize;
    for ((header, letters), path) in contigs.iter().zip(&paths) {
        assert_eq!(header.split(' ').next(), Some(path[1]));
        if !header.ends_with("circular=yes") {
            assert_eq!(&spelled(graph, path[2], k - 1), letters, "{header}");
        }
    }
    let more = ["--min-length", "1", "--threads", "1", "--memory", "300M"];
    assert!(run(&more, "other") == made);
    let [kept, _, graph] = run(&["--keep-strains", "--min-length", "1"], "kept");
    assert!(!graph.contains("\nP\t"));
    for (header, letters) in records(&kept) {
        let name = header.split(' ').next().unwrap();
        assert!(
            graph.contains(&format!("S\t{name}\t{letters}\t")),
            "{header}"
        );
    }
    let before = place.files();
    let refused = place.run(&["assemble", "--keep-strains", "r_1.fq", "-o", "no"]);
    place.check_failure(refused, 1, &["--meta"], &before);
}
