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
fn a_pipe_is_for_one_process() {
    let place = sample();
    for mpi in Mpi::all() {
        let ended = Job::new(&place, mpi, 2).run(&["classify", "--db", "g.gydb", "-"]);
        assert!(
            ended.code == 1 && ended.stderr.contains("several processes"),
            "{}",
            ended.stderr
        );
    }
}

#[test]
fn processes_store_and_merge_candidates_as_one_does() {
    let place = sample();
    let keep = |path| {
        let reads = ["classify", "--db", "g.gydb", "r_1.fq", "r_2.fq"];
        [&reads[..], &["--candidates", path]].concat()
    };
    let merge = |path, output| ["classify", "--merge", path, "-o", output];
    place.ok(&keep("one.gyc"));
    place.ok(&merge("one.gyc", "one.tsv"));
    for mpi in Mpi::all() {
        for ranks in [2, 3] {
            Job::new(&place, mpi, ranks).ok(&keep("all.gyc"));
            Job::new(&place, mpi, ranks).ok(&merge("all.gyc", "all.tsv"));
            for [one, all] in [["one.gyc", "all.gyc"], ["one.tsv", "all.tsv"]] {
                let at = format!("{all} of {ranks} ranks, {}", mpi.name());
                assert!(place.read(one) == place.read(all), "{at}");
            }
        }
    }
}

/// What is in a folder of samples but the records of the run, which tell of its time.
fn of_samples(place: &Place, folder: &str) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(place.path(folder)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name != ".gyrase").collect();
    names.sort();
    let read = |name: String| (place.read(&format!("{folder}/{name}")), name);
    names
        .into_iter()
        .map(read)
        .map(|(bytes, name)| (name, bytes))
        .collect()
}

/// The arguments of a run over the samples of a sheet.
fn over_samples<'a>(sheet: &'a str, folder: &'a str) -> Vec<&'a str> {
    let reports = "kreport,html,evidence";
    let args = ["classify", "--db", "g.gydb", "--reports", reports];
    [&args[..], &["--samples", sheet, "--out-dir", folder]].concat()
}

#[test]
fn processes_classify_samples_as_one_does() {
    let place = sample();
    let reads = place.read("r_1.fq");
    std::fs::write(place.path("torn.fq"), &reads[..reads.len() * 2 / 3]).unwrap();
    let header = "sample,fastq_1,fastq_2\n";
    place.write("sheet.csv", format!("{header}a,r_1.fq,r_2.fq\nb,r_2.fq,\n"));
    place.write("torn.csv", format!("{header}a,torn.fq,\nb,r_1.fq,r_2.fq\n"));
    place.ok(&over_samples("sheet.csv", "one"));
    let torn = place.run(&over_samples("torn.csv", "one-torn"));
    assert!(torn.code == 7 && torn.stderr.contains("1 of 2 samples failed"));
    let [expected, expected_torn] = ["one", "one-torn"].map(|folder| of_samples(&place, folder));
    assert_eq!((expected.len(), expected_torn.len()), (13, 4));
    for mpi in Mpi::all() {
        for ranks in [2, 3] {
            let at = format!("{ranks} ranks, {}", mpi.name());
            let folder = format!("all-{ranks}-{}", mpi.name());
            Job::new(&place, mpi, ranks).ok(&over_samples("sheet.csv", &folder));
            assert!(of_samples(&place, &folder) == expected, "{at}");
            let again = [&over_samples("sheet.csv", &folder)[..], &["--resume"]].concat();
            let said = Job::new(&place, mpi, ranks).ok(&again);
            assert!(said.contains("2 of 2 samples done before"), "{at}: {said}");
            assert!(of_samples(&place, &folder) == expected, "{at}, again");
            let folder = format!("{folder}-torn");
            let ended = Job::new(&place, mpi, ranks).run(&over_samples("torn.csv", &folder));
            assert!(ended.code == 7, "{at}: {}", ended.stderr);
            assert!(
                ended.stderr.contains("1 of 2 samples failed"),
                "{}",
                ended.stderr
            );
            assert!(of_samples(&place, &folder) == expected_torn, "{at}, torn");
        }
    }
}

/// A folder whose files are those of the place, but for one letter near the end of `stale`.
fn stale_copy(place: &Place, stale: &str) {
    for name in ["r_1.fq", "r_2.fq", "g.fa", "taxa.tsv", "g.gydb"] {
        let mut bytes = place.read(name);
        let near_end = bytes.len() - 100;
        bytes[near_end] ^= u8::from(name == stale);
        place.write(&format!("stale/{name}"), bytes);
    }
}

#[test]
fn a_stale_copy_of_an_input_is_noticed() {
    let place = sample();
    std::fs::create_dir(place.path("stale")).unwrap();
    let output = place.path("o").display().to_string();
    let count = ["count", "r_1.fq", "r_2.fq", "-o", &output];
    let build = [
        "db",
        "build",
        "g.fa",
        "--taxonomy",
        "taxa.tsv",
        "-o",
        &output,
    ];
    let classify = [
        "classify", "--db", "g.gydb", "r_1.fq", "r_2.fq", "-o", &output,
    ];
    let runs = [
        ("r_2.fq", &count[..]),
        ("g.fa", &build),
        ("taxa.tsv", &build),
        ("g.gydb", &classify),
        ("r_1.fq", &classify),
    ];
    for (stale, args) in runs {
        stale_copy(&place, stale);
        for mpi in Mpi::all() {
            let job = Job::new(&place, mpi, 3).on(1, "cd stale");
            let ended = job.run(&[&["-q"], args].concat());
            ended.check(7, &[stale, "is not the same on rank 1 as on rank 0"]);
            assert!(!place.path("o").exists());
        }
    }
}

#[test]
fn processes_build_as_one_does() {
    let place = sample();
    split_genomes(&place);
    let build = ["db", "build", "refs", "--taxonomy", "taxa.tsv", "-o"];
    place.ok(&[&build[..], &["one.gydb"]].concat());
    let expected = place.read("one.gydb");
    for mpi in Mpi::all() {
        for (ranks, memory) in [(2, "1G"), (3, "250M"), (4, "1G")] {
            let limits = ["--threads", "2", "--memory", memory, "--resume"];
            let output = ["all.gydb"];
            Job::new(&place, mpi, ranks).ok(&[&build[..], &output, &limits].concat());
            assert!(
                place.read("all.gydb") == expected,
                "{ranks} ranks, {}",
                mpi.name()
            );
        }
        place.ok(&["db", "verify", "all.gydb"]);
    }
}

#[test]
fn processes_change_databases_as_one_does() {
    let place = sample();
    split_genomes(&place);
    let taxonomy = ["--taxonomy", "taxa.tsv", "-o"];
    let build =
        |refs: &[&'static str], output| [&["db", "build"], refs, &taxonomy[..], &[output]].concat();
    let (first, second) = (["refs/0.fa", "refs/1.fa"], ["refs/2.fa", "refs/3.fa"]);
    place.ok(&build(&first, "a.gydb"));
    place.ok(&build(&second, "b.gydb"));
    place.ok(&build(&[first, second].concat(), "both.gydb"));
    for mpi in Mpi::all() {
        for ranks in [2, 3] {
            let job = |args: &[&str]| Job::new(&place, mpi, ranks).ok(args);
            job(&["db", "merge", "a.gydb", "b.gydb", "-o", "merged.gydb"]);
            job(&[
                &["db", "add", "a.gydb"],
                &second[..],
                &taxonomy,
                &["added.gydb"],
            ]
            .concat());
            for name in ["merged.gydb", "added.gydb"] {
                let at = format!("{name} of {ranks} ranks, {}", mpi.name());
                assert!(place.read(name) == place.read("both.gydb"), "{at}");
            }
        }
    }
}

/// Makes a file of each genome in the folder `refs`, so that processes have different ones.
fn split_genomes(place: &Place) {
    let genomes = String::from_utf8(place.read("g.fa")).unwrap();
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
}
