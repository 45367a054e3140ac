//! The same bytes whatever the ranks, threads, libraries, chunks, memory and ways to steal.

use std::collections::{BTreeMap, BTreeSet};

use crate::inputs::{Input, inputs};
use crate::launch::{Job, Mpi, full};
use crate::network_files::{HEAVY, heavy};
use crate::place::Place;
use crate::stealing::of_ranks;

const RANKS: [usize; 6] = [1, 2, 3, 4, 7, 16];

/// So many that two cores take minutes for them are tried in the full matrix alone.
fn ranks() -> &'static [usize] {
    match full() {
        true => &RANKS,
        false => &RANKS[..RANKS.len() - 2],
    }
}

const STEAL: [&str; 3] = ["auto", "off", "forced"];
/// The default, which makes few of small inputs, and the smallest.
const CHUNKS: [Option<&str>; 2] = [None, Some("64K")];
const LENGTHS: [&str; 9] = ["31", "1", "32", "33", "63", "64", "65", "97", "127"];

/// One way to count, as positions in [`Axes`].
type Case = [usize; 6];

/// What can be chosen.
struct Axes {
    libraries: Vec<Mpi>,
    inputs: Vec<Input>,
}

impl Axes {
    fn sizes(&self) -> Case {
        [
            self.libraries.len(),
            ranks().len(),
            2,
            STEAL.len(),
            CHUNKS.len(),
            self.inputs.len(),
        ]
    }

    /// Every way to count.
    fn all(&self) -> Vec<Case> {
        self.sizes()
            .iter()
            .enumerate()
            .fold(vec![[0; 6]], |cases, (axis, &size)| {
                let each = |case: Case| {
                    (0..size).map(move |at| {
                        let mut case = case;
                        case[axis] = at;
                        case
                    })
                };
                cases.into_iter().flat_map(each).collect()
            })
    }
}

/// The choices of a case, two by two.
fn pairs(case: &Case) -> impl Iterator<Item = (usize, usize, usize, usize)> {
    let case = *case;
    (0..case.len()).flat_map(move |a| (0..a).map(move |b| (a, case[a], b, case[b])))
}

/// A few of the cases, so that any two choices that one of them has together are together in one of
/// the few.
fn covering(all: &[Case]) -> Vec<Case> {
    let mut open: BTreeSet<_> = all.iter().flat_map(pairs).collect();
    let mut chosen = Vec::new();
    while !open.is_empty() {
        let news = |case: &&Case| pairs(case).filter(|pair| open.contains(pair)).count();
        let best = *all
            .iter()
            .max_by_key(news)
            .expect("a pair that is open is of a case");
        for pair in pairs(&best) {
            open.remove(&pair);
        }
        chosen.push(best);
    }
    chosen
}

#[test]
fn matrix_of_ranks_and_all_that_may_not_matter() {
    let place = Place::new();
    let axes = Axes {
        libraries: Mpi::all(),
        inputs: inputs(&place),
    };
    let all = axes.all();
    let cases = if full() { all } else { covering(&all) };
    let mut expected = BTreeMap::new();
    for (number, case) in cases.iter().enumerate() {
        let [library, ranks, threads, steal, chunk, input] = *case;
        let (input, k) = (&axes.inputs[input], LENGTHS[number % LENGTHS.len()]);
        let wanted = expected
            .entry((input.name, k))
            .or_insert_with(|| alone(&place, input, k));
        let threads = (threads + 1).to_string();
        let mut args = vec![
            "-q",
            "count",
            "-o",
            "o.gyk",
            "-k",
            k,
            "--threads",
            &threads,
            "--stealing",
            STEAL[steal],
        ];
        args.extend(["--memory", "1G"]);
        args.extend(
            CHUNKS[chunk]
                .map(|chunk| ["--chunk", chunk])
                .iter()
                .flatten(),
        );
        args.extend(input.files.iter().map(String::as_str));
        Job::new(&place, axes.libraries[library], RANKS[ranks]).ok(&args);
        let at = format!(
            "{:?}, {} ranks: {args:?}",
            axes.libraries[library], RANKS[ranks]
        );
        assert!(
            place.read("o.gyk") == *wanted,
            "other bytes than one process: {at}"
        );
        if full() {
            println!("{} of {}: {at}", number + 1, cases.len());
        }
    }
}

/// What one process makes of the inputs.
fn alone(place: &Place, input: &Input, k: &str) -> Vec<u8> {
    let args = ["-q", "count", "-o", "alone.gyk", "-k", k, "--threads", "1"];
    let files: Vec<&str> = input.files.iter().map(String::as_str).collect();
    place.ok(&[&args[..], &files].concat());
    place.read("alone.gyk")
}

/// The memory below which a job is refused, in MiB, as its message says.
pub fn least_memory(place: &Place, mpi: Mpi, ranks: usize, args: &[&str]) -> u64 {
    let ended = Job::new(place, mpi, ranks).run(&[args, &["--memory", "1M"]].concat());
    ended.check(4, &["--memory", "needs at least "]);
    let (_, least) = ended.stderr.split_once("needs at least ").unwrap();
    least.split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn ranks_out_of_core_make_the_same_bytes() {
    let place = Place::new();
    place.simulate_much();
    place.ok(&["-q", "count", "r_1.fq", "r_2.fq", "-o", "alone.gyk"]);
    let before = place.files();
    for (mpi, ranks, threads) in Mpi::all()
        .into_iter()
        .flat_map(|mpi| [(mpi, 2, "2"), (mpi, 3, "1")])
    {
        let args = [
            "-q",
            "count",
            "r_1.fq",
            "r_2.fq",
            "-o",
            "o.gyk",
            "--threads",
            threads,
        ];
        let least = format!("{}M", least_memory(&place, mpi, ranks, &args));
        Job::new(&place, mpi, ranks)
            .ok(&[&args[..], &["--memory", &least, "--report", "r.json"]].concat());
        assert!(
            place.read("o.gyk") == place.read("alone.gyk"),
            "{mpi:?}, {ranks} ranks within {least}"
        );
        assert!(
            place.json("r.json")["bytes"]["temporary"].as_u64().unwrap() > 0,
            "nothing was spilled"
        );
        std::fs::remove_file(place.path("o.gyk")).unwrap();
        std::fs::remove_file(place.path("r.json")).unwrap();
        assert_eq!(place.files(), before);
    }
}

#[test]
fn every_flag_of_counting_means_the_same() {
    let place = Place::new();
    place.simulate("30000", "12");
    let flags: [&[&str]; 5] = [
        &["--stranded"],
        &["--min-count", "2", "--max-count", "9"],
        &["--min-base-quality", "20"],
        &["--paired"],
        &["--histo", "histo"],
    ];
    for (mpi, flags) in Mpi::with_each(&flags) {
        let count = |output| [&["-q", "count", "r_1.fq", "r_2.fq", "-o", output], flags].concat();
        place.ok(&count("alone.gyk"));
        let histogram = place.path("histo").exists().then(|| place.read("histo"));
        Job::new(&place, mpi, 3).ok(&[&count("o.gyk"), &["--chunk", "64K"][..]].concat());
        assert!(place.read("o.gyk") == place.read("alone.gyk"), "{flags:?}");
        assert!(
            histogram
                .as_ref()
                .is_none_or(|histogram| place.read("histo") == *histogram)
        );
    }
}

#[test]
fn heavy_bins_are_cut_for_many_ranks() {
    let place = Place::new();
    place.write("heavy.fa", heavy());
    place.ok(&HEAVY);
    let alone = place.read("o.gyk");
    for mpi in Mpi::all() {
        let args = [&HEAVY[..], &["--chunk", "64K", "--report", "report.json"]];
        Job::new(&place, mpi, 9).ok(&args.concat());
        assert!(place.read("o.gyk") == alone, "{}", mpi.name());
        let report = serde_json::from_slice(&place.read("report.json")).unwrap();
        let partitions: u64 = of_ranks(&report, "partitions").iter().sum();
        assert!(partitions > 4096, "{partitions}");
    }
}

#[test]
fn no_reads_make_an_empty_database() {
    let place = Place::new();
    place.write("none.fq", "");
    place.write("short.fa", ">a\nACGT\n");
    for files in [&["none.fq"][..], &["short.fa", "none.fq"]] {
        place.ok(&[&["-q", "count", "-o", "alone.gyk"], files].concat());
        for mpi in Mpi::all() {
            Job::new(&place, mpi, 3).ok(&[&["-q", "count", "-o", "o.gyk"], files].concat());
            assert!(place.read("o.gyk") == place.read("alone.gyk"), "{files:?}");
        }
    }
}

#[test]
fn the_covering_cases_cover() {
    let axes = Axes {
        libraries: vec![Mpi::Open, Mpi::Mpich],
        inputs: vec![
            Input {
                name: "x",
                files: vec![]
            };
            7
        ],
    };
    let (all, wanted) = (axes.all(), |cases: &[Case]| {
        cases.iter().flat_map(pairs).collect::<BTreeSet<_>>()
    });
    let few = covering(&all);
    assert_eq!(wanted(&few), wanted(&all));
    assert!(few.len() < 80, "{} of {}", few.len(), all.len());
}
