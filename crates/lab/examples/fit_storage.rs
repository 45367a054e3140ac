//! Fits the constants of the storage model, and prints the file of constants.
//!
//! `cargo run --release -p gyrase-lab --example fit_storage -- [ROUNDS] > constants.json` starts
//! from the constants as they are. 0 rounds print what comes of them as they
//! are. Only those that say `fitted` change, and only figure 9 and
//! section 7.4.2 of Wu et al. 2024 are looked at; figures 10 to 12 are what the fit is judged by,
//! and they are printed at the end, beside all others. The same seed gives the same constants.
//!
//! What is minimised are squared logarithms of found by published, of the ratios of OP to Basic and
//! BF and of channels. Beside them a little is asked for every constant that is far from its
//! start, as there are more constants than numbers, and for each case in which OP is not the
//! fastest. A rate and a power of each other counter, and the power of the drive, follow.

use std::error::Error;
use std::io::Write;

use gyrase_lab::ssd::{
    PUBLISHED_SETS, PartitionMapping, PublishedCases, PublishedRuns, PublishedScalar, SetsConfig,
    SsdConfig, SsdConstants, SsdDesign, StorageProfile, Variation,
};
use gyrase_simulate::Random;
use gyrase_work::Progress;

/// What is fitted, from where it starts, within which bounds.
const FREE: [(&str, f64, f64, f64); 4] = [
    ("probe_cycles", 4.0, 1.0, 40.0),
    ("filter_cycles", 2.0, 1.0, 16.0),
    ("filter_kmers_per_cycle", 8.0, 1.0, 64.0),
    ("core_ns", 2.0, 0.1, 50.0),
];
const PLANES: [f64; 3] = [1.0, 2.0, 4.0];
/// Numbers that the constants above are fitted to, and those that one constant each follows from.
const RATIOS: [&str; 4] = [
    "OP faster than Basic",
    "OP faster than BF",
    "16 channels faster than 8",
    "32 channels faster than 8",
];
const FOLLOW: [(&str, &str, f64, f64); 8] = [
    ("cpu_mkmers_per_second", "OP faster than the CPU", 1.0, 1e5),
    (
        "gpu_mkmers_per_second",
        "OP faster than CPU and GPU",
        1.0,
        1e5,
    ),
    ("nest_ns_per_distinct", "OP faster than NEST", 0.001, 100.0),
    ("smart_gb_per_second", "OP faster than SmartSSD", 0.1, 100.0),
    ("idle_watts", "", 0.5, 60.0),
    ("cpu_watts", "energy of the CPU by OP's", 1.0, 2000.0),
    ("gpu_watts", "energy of CPU and GPU by OP's", 1.0, 2000.0),
    ("nest_watts", "energy of NEST by OP's", 1.0, 2000.0),
];
/// How much a constant twice its start, and a case that OP loses, count for.
const FAR: f64 = 0.002;
const LOST: f64 = 0.01;
const THREADS: usize = 2;

fn main() -> Result<(), Box<dyn Error>> {
    let rounds = std::env::args()
        .nth(1)
        .map_or(Ok(40), |rounds| rounds.parse())?;
    let progress = Progress::default();
    let profiles = profiles(&progress)?;
    let mut constants = SsdConstants::standard();
    if rounds > 0 {
        constants = fitted(profiles.clone(), constants, rounds, &progress)?;
    }
    let all = divided(profiles, Variation::all(), &constants, &progress)?;
    let runs = all.simulate(&constants, (THREADS, &progress))?;
    print(&runs, &constants)?;
    std::io::stdout()
        .lock()
        .write_all(constants.text().as_bytes())?;
    Ok(())
}

fn fitted(
    profiles: Vec<StorageProfile>,
    mut constants: SsdConstants,
    rounds: u32,
    progress: &Progress,
) -> Result<SsdConstants, Box<dyn Error>> {
    let cases = divided(profiles, Variation::fitted(), &constants, progress)?;
    let mut random = Random::stream(1, 1, 1);
    let mut best = f64::MAX;
    for planes in PLANES {
        let mut tried = constants.clone();
        set(&mut tried, "planes", planes);
        FREE.iter()
            .for_each(|&(name, start, ..)| set(&mut tried, name, start));
        let (found, cost) = descend(tried, &cases, rounds / 5, &mut random)?;
        writeln!(std::io::stderr(), "planes {planes}: {cost:.4}")?;
        if cost < best {
            (best, constants) = (cost, found);
        }
    }
    (constants, best) = descend(constants, &cases, rounds, &mut random)?;
    writeln!(std::io::stderr(), "cost {best:.4}")?;
    follow(&mut constants, &cases)?;
    Ok(constants)
}

fn profiles(progress: &Progress) -> Result<Vec<StorageProfile>, Box<dyn Error>> {
    let tmp = std::env::temp_dir();
    let config = SetsConfig {
        threads: THREADS,
        memory: 2 << 30,
        ..SetsConfig::standard(&tmp)
    };
    let sets = PUBLISHED_SETS
        .iter()
        .map(|set| set.profiles(&config, progress));
    Ok(sets.collect::<Result<Vec<_>, _>>()?.concat())
}

fn divided(
    profiles: Vec<StorageProfile>,
    variations: Vec<Variation>,
    constants: &SsdConstants,
    progress: &Progress,
) -> Result<PublishedCases, Box<dyn Error>> {
    let grain = SsdConfig {
        batches: PublishedCases::GRAIN,
        ..SsdConfig::of(SsdDesign::Op)
    };
    Ok(PublishedCases::divide(
        profiles,
        variations,
        constants,
        grain,
        (THREADS, progress),
    )?)
}

fn set(constants: &mut SsdConstants, name: &str, value: f64) {
    // Four digits are more than the fit knows.
    let digits = format!("{value:.3e}");
    constants.named(name).expect("it is a constant").value = digits.parse().expect("a number");
}

fn get(constants: &mut SsdConstants, name: &str) -> f64 {
    constants.named(name).expect("it is a constant").value
}

fn cost(constants: &SsdConstants, cases: &PublishedCases) -> Result<f64, Box<dyn Error>> {
    let runs = cases.simulate(constants, (THREADS, &Progress::default()))?;
    let scalars = runs.fitted_scalars(constants);
    let of = |what: &&str| (1.0 + found(&scalars, what).error()).ln().powi(2);
    let ratios: f64 = RATIOS.iter().map(of).sum();
    let op = Variation::of(SsdDesign::Op);
    let lost = [SsdDesign::Basic, SsdDesign::Bf].map(|design| {
        let slower = runs.ratios(Variation::of(design), op);
        slower
            .iter()
            .map(|ratio| (1.05 - ratio).clamp(0.0, 0.3))
            .sum::<f64>()
    });
    let mut copy = constants.clone();
    let far = FREE
        .iter()
        .map(|&(name, start, ..)| (get(&mut copy, name) / start).log2().powi(2));
    Ok(ratios + LOST * (lost[0] + lost[1]) + FAR * far.sum::<f64>())
}

fn found<'s>(scalars: &'s [PublishedScalar], what: &str) -> &'s PublishedScalar {
    scalars
        .iter()
        .find(|scalar| scalar.what == what)
        .expect("the model has it")
}

/// Random steps that grow smaller, each kept where it is better.
fn descend(
    mut constants: SsdConstants,
    cases: &PublishedCases,
    rounds: u32,
    random: &mut Random,
) -> Result<(SsdConstants, f64), Box<dyn Error>> {
    let mut best = cost(&constants, cases)?;
    for round in 0..rounds {
        let width = 0.8 * (1.0 - f64::from(round) / f64::from(rounds)) + 0.05;
        let mut tried = constants.clone();
        for (name, _, least, most) in FREE {
            if random.chance(0.5) {
                let value = get(&mut tried, name) * (width * random.normal()).exp2();
                set(&mut tried, name, value.clamp(least, most));
            }
        }
        let found = cost(&tried, cases)?;
        if found < best {
            (best, constants) = (found, tried);
        }
    }
    Ok((constants, best))
}

/// The constants that one number each follows from, by halving.
fn follow(constants: &mut SsdConstants, cases: &PublishedCases) -> Result<(), Box<dyn Error>> {
    let mut runs = cases.simulate(constants, (THREADS, &Progress::default()))?;
    for (name, what, least, most) in FOLLOW {
        let (mut low, mut high) = (least.ln(), most.ln());
        let mut error = |value: f64| -> Result<f64, Box<dyn Error>> {
            set(constants, name, value.exp());
            if what.is_empty() {
                // The power of the drive lies between what two energies ask for.
                runs = cases.simulate(constants, (THREADS, &Progress::default()))?;
                let scalars = runs.fitted_scalars(constants);
                let energies = ["energy of OP by Basic's", "energy of OP by BF's"];
                let errors = energies.map(|what| (1.0 + found(&scalars, what).error()).ln());
                return Ok(errors.iter().sum());
            }
            Ok(found(&runs.fitted_scalars(constants), what).error())
        };
        let rises = error(high)? > error(low)?;
        let halvings = if what.is_empty() { 8 } else { 24 };
        for _ in 0..halvings {
            let middle = (low + high) / 2.0;
            if (error(middle)? < 0.0) == rises {
                low = middle
            } else {
                high = middle
            }
        }
        error((low + high) / 2.0)?;
    }
    Ok(())
}

fn print(runs: &PublishedRuns<'_>, constants: &SsdConstants) -> std::io::Result<()> {
    let mut out = std::io::stderr().lock();
    for scalar in runs.scalars(constants) {
        let PublishedScalar {
            place,
            what,
            published,
            found,
            origin,
        } = &scalar;
        let error = 100.0 * scalar.error();
        writeln!(
            out,
            "{place:8} {what:45} {published:6.2} {found:7.2} {error:+4.0} % {origin:?}"
        )?;
    }
    for profile in runs.profiles {
        let largest = profile
            .partitions
            .iter()
            .map(|one| one.kept)
            .max()
            .unwrap_or(0);
        writeln!(
            out,
            "k = {}: {largest} k-mers in the largest table behind a filter",
            profile.k
        )?;
    }
    for design in SsdDesign::ALL {
        let times = [PartitionMapping::Random, PartitionMapping::Heuristic]
            .map(|mapping| runs.over_round_robin(design, mapping));
        writeln!(
            out,
            "{}: random and heuristic over round-robin {times:.2?}",
            design.title()
        )?;
    }
    for sentence in runs.sentences() {
        writeln!(
            out,
            "{} {}: {}",
            sentence.holds, sentence.words, sentence.because
        )?;
    }
    Ok(())
}
