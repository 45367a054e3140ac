//! Processes that share the making of unitigs, or an assembly, write what one process writes.

use crate::launch::{Job, Mpi, SOON, full};
use crate::matrix::least_memory;
use crate::place::Place;
use crate::stealing::hindered;

/// Ranks, and threads of each.
type Shape = (usize, &'static str);

/// All shapes with each library in the full matrix, else the one of that number, with one in turn.
fn each(few: &[Shape], number: usize) -> Vec<(Mpi, Shape)> {
    let threads = |ranks| [(ranks, "1"), (ranks, "2")];
    if full() {
        let all: Vec<Shape> = [1, 2, 3, 4, 7].into_iter().flat_map(threads).collect();
        return Mpi::with_each(&all);
    }
    let all = Mpi::all();
    let one = all.get(number % all.len().max(1));
    one.map(|&mpi| (mpi, few[number])).into_iter().collect()
}

/// Reads of a genome, and a ring that passes many bins.
fn reads() -> Place {
    let place = Place::new();
    place.simulate("30000", "12");
    let genome = String::from_utf8(place.read("g.fa")).unwrap();
    let letters: String = genome.lines().skip(1).collect();
    let (start, end) = (&letters[..30], &letters[20_000..20_900]);
    place.write("ring.fa", format!(">r\n{start}{end}{start}\n"));
    place.ok(&["-q", "count", "ring.fa", "r_1.fq", "-o", "all.gyk"]);
    place
}

#[test]
fn matrix_of_processes_that_make_unitigs() {
    let place = reads();
    let of_reads = ["r_1.fq", "r_2.fq", "--min-count", "2"];
    let inputs: [(&[&str], &str); 5] = [
        (&of_reads, "fa"),
        (&of_reads, "gfa"),
        (&["all.gyk"], "gfa"),
        (&["ring.fa", "g.fa", "-k", "127"], "fa"),
        // Compressed, and so by one process.
        (&["ring.fa", "r_1.fq", "-k", "7"], "fa.gz"),
    ];
    let few = [(3, "2"), (2, "1"), (7, "1"), (4, "1"), (2, "2")];
    // Of all of them every second is enough where time is short.
    let step = if full() { 1 } else { 2 };
    for (number, (inputs, ending)) in inputs.into_iter().enumerate().step_by(step) {
        let (one, all) = (format!("one.{ending}"), format!("all.{ending}"));
        let args = [&["-q", "unitigs"], inputs, &["-o"]].concat();
        place.ok(&[&args[..], &[&one]].concat());
        let expected = place.read(&one);
        for (mpi, (ranks, threads)) in each(&few, number) {
            let args = [&args[..], &[&all, "--threads", threads]].concat();
            Job::new(&place, mpi, ranks).ok(&args);
            let at = format!("{ranks} ranks of {threads}, {}: {inputs:?}", mpi.name());
            assert!(place.read(&all) == expected, "{at}");
        }
    }
}

const OUT_OF_CORE: [&str; 8] = [
    "-q",
    "unitigs",
    "r_1.fq",
    "r_2.fq",
    "-o",
    "all.gfa",
    "--min-count",
    "2",
];

#[test]
fn matrix_of_processes_that_make_unitigs_out_of_core() {
    if !full() {
        return;
    }
    let place = Place::new();
    place.simulate_much();
    let mut alone = OUT_OF_CORE;
    alone[5] = "one.gfa";
    place.ok(&alone);
    let before = place.files();
    for (mpi, (ranks, threads)) in each(&[(2, "1")], 0) {
        let args = [&OUT_OF_CORE[..], &["--threads", threads]].concat();
        let least = format!("{}M", least_memory(&place, mpi, ranks, &args));
        let means = ["--memory", &least, "--report", "r.json"];
        Job::new(&place, mpi, ranks).ok(&[&args[..], &means].concat());
        let at = format!("{ranks} ranks of {threads} within {least}, {}", mpi.name());
        assert!(place.read("all.gfa") == place.read("one.gfa"), "{at}");
        let report = place.json("r.json");
        assert!(report["bytes"]["temporary"].as_u64().unwrap() > 0, "{at}");
        std::fs::remove_file(place.path("all.gfa")).unwrap();
        std::fs::remove_file(place.path("r.json")).unwrap();
        assert_eq!(place.files(), before);
    }
}

#[test]
fn faults_of_shared_unitigs_are_named_and_leave_nothing() {
    let place = reads();
    let before = place.files();
    let args = ["-q", "unitigs", "r_1.fq", "r_2.fq", "-o", "o.fa"];
    for (number, mpi) in Mpi::all().into_iter().enumerate() {
        let job = || Job::new(&place, mpi, 3);
        if full() || number == 0 {
            let full = hindered("GYRASE_FULL_DISK=o.fa.partial");
            let ended = job().on_all(&full).start(&args).end_within(SOON);
            ended.check(6, &["rank ", "No space left", "o.fa"]);
        }
        let one = job().on(2, "set -- \"$@\" --min-count 2").start(&args);
        one.end_within(SOON).check(1, &["not asked for the same"]);
        assert_eq!(place.files(), before, "{mpi:?}");
    }
}

/// The files of an assembly that do not tell of time and memory.
const FILES: [&str; 5] = [
    "contigs.fa",
    "scaffolds.fa",
    "graph.gfa",
    "report.tsv",
    "report.html",
];

const ASSEMBLE: [&str; 8] = [
    "-q", "assemble", "r_1.fq", "r_2.fq", "-s", "g.fa", "-o", "asm",
];

/// Reads, and what one process makes of them, which is gone.
fn assembled() -> (Place, [Vec<u8>; 5]) {
    let place = Place::new();
    place.simulate("20000", "30");
    place.ok(&ASSEMBLE);
    let expected = assembly(&place);
    assert!(expected[0].len() > 15_000);
    std::fs::remove_dir_all(place.path("asm")).unwrap();
    (place, expected)
}

fn assembly(place: &Place) -> [Vec<u8>; 5] {
    FILES.map(|name| place.read(&format!("asm/{name}")))
}

#[test]
fn matrix_of_processes_that_assemble() {
    let (place, expected) = assembled();
    let before = place.files();
    let few = [(3, "1"), (2, "2")];
    for (mpi, (ranks, threads)) in (0..few.len()).flat_map(|number| each(&few, number)) {
        Job::new(&place, mpi, ranks).ok(&[&ASSEMBLE[..], &["--threads", threads]].concat());
        let at = format!("{ranks} ranks of {threads}, {}", mpi.name());
        assert!(assembly(&place) == expected, "{at}");
        let report = place.json("asm/report.json");
        let told = report["ranks"].as_array().map_or(1, Vec::len);
        assert_eq!(told, ranks, "{at}");
        std::fs::remove_dir_all(place.path("asm")).unwrap();
        assert_eq!(place.files(), before, "{at}");
    }
}

#[test]
fn mates_that_differ_are_named_as_one_process_names_them() {
    let place = Place::new();
    place.simulate("20000", "10");
    let mates = String::from_utf8(place.read("r_2.fq")).expect("names and letters");
    let records: Vec<&str> = mates.split_inclusive('\n').collect();
    let late = records.len() / 8 * 7 / 4;
    let renamed = |(number, line): (usize, &&str)| match number == 4 * late {
        true => "@another\n".to_owned(),
        false => (*line).to_owned(),
    };
    let renamed: String = records.iter().enumerate().map(renamed).collect();
    let told = format!("record {} is ", late + 1);
    for (mates, words) in [
        (renamed, [&told[..], "\"another\" in r_2.fq"]),
        (
            records[..4 * late].concat(),
            [&format!("record {} (", late + 1), "r_2.fq ends before it"],
        ),
    ] {
        place.write("r_2.fq", mates);
        let args = ["-q", "assemble", "r_1.fq", "r_2.fq", "-o", "asm"];
        place.fails(&args, 7, &words);
        for mpi in Mpi::all() {
            let ended = Job::new(&place, mpi, 3).start(&args).end_within(SOON);
            ended.check(7, &words);
            assert!(!place.path("asm").exists(), "{mpi:?}");
        }
    }
}

const METAGENOME: [&str; 11] = [
    "-q",
    "assemble",
    "--meta",
    "-1",
    "r_1.fq",
    "-2",
    "r_2.fq",
    "-s",
    "strain.fa",
    "-o",
    "asm",
];

/// Reads of a strain of a genome that differs in a base of 150.
fn strain(genome: &[u8]) -> String {
    let mut letters: Vec<u8> = genome
        .split(|&byte| byte == b'\n')
        .skip(1)
        .flatten()
        .copied()
        .collect();
    for letter in letters.iter_mut().step_by(150) {
        *letter = if *letter == b'A' { b'C' } else { b'A' };
    }
    let reads = letters.windows(100).step_by(25).enumerate();
    let record = |(number, read)| format!(">s{number}\n{}\n", String::from_utf8_lossy(read));
    reads.map(record).collect()
}

#[test]
fn matrix_of_processes_that_assemble_a_metagenome() {
    let place = Place::new();
    place.simulate("20000", "4");
    place.write("strain.fa", strain(&place.read("g.fa")));
    place.ok(&METAGENOME);
    let expected = assembly(&place);
    assert!(expected[0].len() > 10_000);
    let joins = &place.json("asm/report.json")["joins"];
    assert!(joins["strains_left_out"].as_u64() > Some(50), "{joins}");
    std::fs::remove_dir_all(place.path("asm")).unwrap();
    let before = place.files();
    // Of so few reads so many processes look for theirs in bins.
    let few = [(7, "1"), (2, "2")];
    for (mpi, (ranks, threads)) in (0..few.len()).flat_map(|number| each(&few, number)) {
        Job::new(&place, mpi, ranks).ok(&[&METAGENOME[..], &["--threads", threads]].concat());
        let at = format!("{ranks} ranks of {threads}, {}", mpi.name());
        assert!(assembly(&place) == expected, "{at}");
        std::fs::remove_dir_all(place.path("asm")).unwrap();
        assert_eq!(place.files(), before, "{at}");
    }
}

#[test]
fn a_killed_assembly_goes_on_with_any_number_of_ranks() {
    let (place, expected) = assembled();
    let kept = || {
        let folders = std::fs::read_dir(place.path("tmp")).unwrap().flatten();
        let files = folders.filter_map(|folder| std::fs::read_dir(folder.path()).ok());
        let files = files.flatten().flatten().map(|file| file.path());
        let logs = files.filter(|path| path.extension().is_some_and(|e| e == "batches"));
        let lines = |path| std::fs::read_to_string(path).unwrap_or_default();
        logs.map(|path| lines(path).lines().count()).sum::<usize>()
    };
    let args = [&ASSEMBLE[..], &["--resume", "--threads", "1"]].concat();
    for (mpi, again) in Mpi::with_each(&[3, 1]) {
        let mut job = Job::new(&place, mpi, 2).start(&args);
        // The question, and a share, of both.
        if job.wait_until(|| kept() > 3) {
            job.signal_rank(0, "KILL");
            job.signal_rank(1, "KILL");
        }
        let killed = job.end_within(SOON).code != 0;
        Job::new(&place, mpi, again).ok(&args);
        assert!(assembly(&place) == expected, "{mpi:?}, {again} ranks");
        let behind = &place.json("asm/report.json")["resumed_behind_k"];
        assert!(!killed || behind.as_u64() >= Some(31), "{behind}");
        assert_eq!(kept(), 0);
        std::fs::remove_dir_all(place.path("asm")).unwrap();
    }
}
