//! Processes that share the reads of a sample write what one process writes.

use crate::launch::{Job, Mpi};
use crate::place::Place;

/// Outputs of a sample, and how their names end.
const OUTPUTS: [(&str, &str); 5] = [
    ("-o", "lines"),
    ("--kreport", "kreport"),
    ("--html", "html"),
    ("--bracken", "bracken"),
    ("--evidence", "evidence"),
];

/// Six genomes with a taxon each, pairs of reads of them, and a database.
pub fn sample() -> Place {
    let place = Place::new();
    let simulate = "simulate community -o r_1.fq --out2 r_2.fq --truth t --abundances a \
                    --genomes-out g.fa --genome-length 30000 --coverage 3";
    place.ok(&simulate.split_whitespace().collect::<Vec<_>>());
    let genomes = std::fs::read_to_string(place.path("g.fa")).unwrap();
    let names = genomes.lines().filter_map(|line| line.strip_prefix('>'));
    let lineage = |name: &str| {
        let species = &name[..8];
        format!("{name}\td__Bacteria;p__P;c__C;o__O;f__F;g__G;s__{species}\n")
    };
    place.write("taxa.tsv", names.map(lineage).collect::<String>());
    place.ok(&[
        "db",
        "build",
        "g.fa",
        "--taxonomy",
        "taxa.tsv",
        "-o",
        "g.gydb",
    ]);
    place
}

/// The arguments of a run whose outputs have names that begin with `name`.
fn args(name: &str, more: &[&str]) -> Vec<String> {
    let mut args: Vec<String> = ["classify", "--db", "g.gydb"].map(String::from).into();
    args.extend(more.iter().map(|word| word.to_string()));
    for (flag, output) in OUTPUTS {
        args.extend([flag.to_string(), format!("{name}.{output}")]);
    }
    // Of pairs the mates have a file each.
    let mates = if more.contains(&"r_2.fq") { "#" } else { "_1" };
    args.extend(["--classified-out".into(), format!("{name}{mates}.fq")]);
    args
}

fn outputs(place: &Place, name: &str) -> Vec<Vec<u8>> {
    let read = |(_, output): &(&str, &str)| place.read(&format!("{name}.{output}"));
    OUTPUTS
        .iter()
        .map(read)
        .chain([place.read(&format!("{name}_1.fq"))])
        .collect()
}

#[test]
fn processes_classify_as_one_does() {
    let place = sample();
    for reads in [
        &["r_1.fq", "r_2.fq"][..],
        &["r_1.fq"],
        &["r_1.fq", "--drop-least-covered", "0.3"],
    ] {
        let one = args("one", reads);
        place.ok(&one.iter().map(String::as_str).collect::<Vec<_>>());
        let expected = outputs(&place, "one");
        assert!(expected.iter().all(|bytes| !bytes.is_empty()));
        for mpi in Mpi::all() {
            for ranks in [2, 3] {
                let all = args("all", reads);
                let all: Vec<&str> = all.iter().map(String::as_str).collect();
                Job::new(&place, mpi, ranks).ok(&all);
                let found = outputs(&place, "all");
                for (number, (found, expected)) in found.iter().zip(&expected).enumerate() {
                    let at = format!("output {number} of {ranks} ranks, {}", mpi.name());
                    assert!(found == expected, "{at}");
                }
            }
        }
    }
}

#[test]
fn a_pipe_and_many_samples_are_for_one_process() {
    let place = sample();
    for mpi in Mpi::all() {
        for args in [
            &["classify", "--db", "g.gydb", "-"][..],
            &[
                "classify",
                "--db",
                "g.gydb",
                "--samples",
                "sheet.csv",
                "--out-dir",
                "out",
            ],
        ] {
            let ended = Job::new(&place, mpi, 2).run(args);
            assert!(
                ended.code != 0 && ended.stderr.contains("processes"),
                "{}",
                ended.stderr
            );
        }
    }
}

#[test]
fn processes_build_as_one_does() {
    let place = sample();
    let genomes = String::from_utf8(place.read("g.fa")).unwrap();
    // A file for each genome, the first packed, so that processes have different ones.
    let files: Vec<String> = genomes
        .split_inclusive("\n>")
        .map(|genome| genome.replace('>', ""))
        .collect();
    std::fs::create_dir(place.path("refs")).unwrap();
    for (number, genome) in files.iter().enumerate() {
        place.write(
            &format!("refs/{number}.fa"),
            format!(">{}", genome.trim_end()),
        );
    }
    let build = ["db", "build", "refs", "--taxonomy", "taxa.tsv", "-o"];
    place.ok(&[&build[..], &["one.gydb"]].concat());
    let expected = place.read("one.gydb");
    for mpi in Mpi::all() {
        for (ranks, memory) in [(2, "1G"), (3, "200M"), (4, "1G")] {
            Job::new(&place, mpi, ranks).ok(&[
                &build[..],
                &["all.gydb", "--threads", "2", "--memory", memory],
            ]
            .concat());
            assert!(
                place.read("all.gydb") == expected,
                "{ranks} ranks, {}",
                mpi.name()
            );
        }
    }
    place.ok(&["db", "verify", "all.gydb"]);
}
