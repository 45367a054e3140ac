//! What a histogram tells of a genome whose truth is known.

use crate::place::Place;

#[test]
fn spectra_tell_size_and_heterozygosity_as_they_were_simulated() {
    let place = Place::new();
    let run = |line: &str| place.ok(&line.split(' ').collect::<Vec<_>>());
    run("simulate genome -o g.fa --length 400000 --heterozygosity 0.005 --seed 3");
    // 13x in all: the peaks of the two haplotypes look like one.
    run("simulate reads g.fa -o r.fq --layout single --coverage 6.5 --error-rate 0.003");
    run("-q count r.fq -k 21 -o d.gyk");
    let said = place.run(&["kmers", "histo", "d.gyk", "--summary", "s.json"]);
    assert!(
        said.stdout.is_empty() && said.stderr.contains(" kbp, "),
        "{said:?}"
    );
    let summary = place.json("s.json");
    let near = |name: &str, expected: f64, tolerance: f64| {
        let found = summary[name].as_f64().unwrap();
        assert!(
            (found / expected - 1.0).abs() < tolerance,
            "{name}: {summary}"
        );
        let ends = summary[format!("{name}_range")].as_array().unwrap();
        let ends: Vec<f64> = ends.iter().map(|end| end.as_f64().unwrap()).collect();
        assert!(ends[0] <= found && found <= ends[1], "{name}: {summary}");
    };
    near("genome_size", 400_000.0, 0.03);
    near("heterozygosity", 0.005, 0.15);
    assert_eq!(summary["ploidy"], 2);
    let table = run("-q kmers histo d.gyk --ploidy 1 --summary - --plot s.svg --axes log");
    assert!(
        table.starts_with("estimate\tvalue\tlow\thigh\nk\t21\t\t\n"),
        "{table}"
    );
    assert!(table.contains("\nploidy\t1\t\t\n") && table.contains("\nheterozygosity\t\t\t\n"));
    assert!(
        String::from_utf8(place.read("s.svg"))
            .unwrap()
            .contains("one haplotype")
    );
    for (args, words) in [
        ("--ploidy 2", "--plot"),
        ("--axes log", "--plot"),
        ("--plot x.svg --ploidy 5", "5"),
    ] {
        let args: Vec<&str> = args.split(' ').collect();
        place.fails(
            &[&["kmers", "histo", "d.gyk"], &args[..]].concat(),
            1,
            &[words],
        );
    }
}

#[test]
fn a_genome_of_three_haplotypes_has_its_size_where_that_is_said() {
    let place = Place::new();
    let run = |line: &str| place.ok(&line.split(' ').collect::<Vec<_>>());
    run("simulate genome -o g.fa --length 100000 --heterozygosity 0.01 --ploidy 3");
    run("simulate reads g.fa -o r.fq --layout single --coverage 20 --error-rate 0.003");
    run("-q count r.fq -k 21 -o d.gyk");
    run("-q kmers histo d.gyk --ploidy 3 --summary s.json --plot s.svg");
    let summary = place.json("s.json");
    let near = |name: &str, expected: f64, tolerance: f64| {
        let found = summary[name].as_f64().unwrap();
        let off = (found / expected - 1.0).abs();
        assert!(off < tolerance, "{name}: {summary}");
    };
    near("genome_size", 100_000.0, 0.03);
    // Of each of two haplotypes one base in a hundred is its own.
    near("heterozygosity", 1.0 - 0.99f64.powi(2), 0.1);
    near("one_differs", 1.0 - 0.99f64.powi(2), 0.1);
    assert_eq!(summary["ploidy"], 3);
    let picture = String::from_utf8(place.read("s.svg")).unwrap();
    assert!(picture.contains("one haplotype"), "{picture}");
    let said = place.run(&[
        "kmers",
        "histo",
        "d.gyk",
        "--ploidy",
        "3",
        "--summary",
        "t.tsv",
    ]);
    let words = "of the bases one haplotype differs from all others";
    assert!(said.stderr.contains(words), "{}", said.stderr);
}
