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
        ("--plot x.svg --ploidy 3", "3"),
    ] {
        let args: Vec<&str> = args.split(' ').collect();
        place.fails(
            &[&["kmers", "histo", "d.gyk"], &args[..]].concat(),
            1,
            &[words],
        );
    }
}
