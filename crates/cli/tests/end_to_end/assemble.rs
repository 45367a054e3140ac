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
    assert!(read("asm/report.tsv").starts_with("Assembly\tasm\n"));
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
    // Again, in the place of the first.
    place.ok(&[&["-q", "assemble"], &mates[..], &["-o", "asm/"]].concat());
    assert_eq!(read("asm/graph.gfa"), graph);
    assert_eq!(place.files().len(), before.len() + 4);
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
            .contains("least memory")
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
