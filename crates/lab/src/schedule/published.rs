//! Table 5.2 of the thesis, beside what the simulation gives.

use std::fmt::Write;

use gyrase_schedule::{Policy, Sizing};

use super::run::{Experiment, Measured};
use super::workload::Demand;

/// Queries of each workload of the table.
const QUERIES: usize = 600;

/// A column of the table: load, sizing (with PLARD), and its numbers in the order of [`ROWS`].
const COLUMNS: [(f64, Sizing, [f64; 6]); 4] = [
    (
        0.6,
        Sizing::Medium,
        [93.00, 8.81, 2.50, 11.31, 69_936.0, 3.71],
    ),
    (
        0.6,
        Sizing::Rmap,
        [132.74, 9.53, 2.95, 12.48, 78_700.0, 3.88],
    ),
    (
        0.8,
        Sizing::Medium,
        [63.64, 8.76, 128.25, 137.02, 69_657.0, 3.71],
    ),
    (
        0.8,
        Sizing::Rmap,
        [224.88, 15.47, 12.51, 27.98, 63_977.0, 2.78],
    ),
];

/// A measure: its name, its digits, and where it is found.
type Row = (&'static str, usize, fn(&Measured) -> f64);

const ROWS: [Row; 6] = [
    ("page faults", 2, Measured::faults),
    ("service time, s", 2, Measured::service),
    ("waiting time, s", 2, Measured::wait),
    ("response time, s", 2, Measured::response),
    ("total service, s", 0, Measured::processor_seconds),
    ("log2 of the size", 2, Measured::log2_size),
];

/// The experiments of the table.
pub fn comparison_experiments() -> Vec<Experiment> {
    let column = |(load, sizing, _): (f64, Sizing, _)| Experiment {
        policy: Policy::plard(sizing),
        demand: Some(Demand::constant(load, QUERIES)),
    };
    COLUMNS.map(column).to_vec()
}

/// The published numbers beside those of `measured`, which holds the experiments of the table, and
/// the ratios of these to those.
pub fn comparison(measured: &[Measured]) -> String {
    let mut text = format!(
        "{:<5} {:<12} {:<17} {:>10} {:>10} {:>6}\n",
        "load", "policy", "mean", "published", "simulated", "ratio"
    );
    for (experiment, (load, _, published)) in comparison_experiments().iter().zip(COLUMNS) {
        let found = measured
            .iter()
            .find(|other| other.experiment == *experiment);
        let Some(found) = found else { continue };
        for ((name, places, value), published) in ROWS.into_iter().zip(published) {
            let (policy, simulated) = (experiment.policy, value(found));
            writeln!(
                text,
                "{load:<5} {policy:<12} {name:<17} {published:>10.places$} \
                 {simulated:>10.places$} {:>6.2}",
                simulated / published
            )
            .expect("a String takes every text");
        }
    }
    text
}
