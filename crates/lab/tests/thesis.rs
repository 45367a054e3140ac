//! What the thesis measured comes out of the simulation, as far as it is held to that.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use gyrase_lab::schedule::{
    Cluster, Config, Experiment, FIGURES, Measured, Queries, comparison, comparison_experiments,
    figure_experiments, run, tsv,
};
use gyrase_schedule::{Policy, Sizing, Tuning};
use gyrase_work::Progress;

fn config(experiments: Vec<Experiment>, seeds: u64, threads: usize) -> Config {
    Config {
        cluster: Cluster::orbitty(),
        tuning: Tuning::default(),
        experiments,
        queries: Queries::Drawn { seed: 1, seeds },
        threads,
        keep: false,
    }
}

fn measured(config: &Config) -> Vec<Measured> {
    run(config, &Progress::default()).unwrap()
}

fn response(all: &[Measured], policy: Policy, load: &str) -> f64 {
    let is = |one: &&Measured| {
        let demand = one.experiment.demand.as_ref().unwrap();
        one.experiment.policy == policy && demand.to_string() == load
    };
    all.iter().find(is).unwrap().response()
}

const FIXED: [Sizing; 3] = [Sizing::Small, Sizing::Medium, Sizing::Large];

/// The best and the worst of the fixed sizes with PLARD.
fn fixed(all: &[Measured], load: &str) -> (f64, f64) {
    let times = FIXED.map(|sizing| response(all, Policy::plard(sizing), load));
    (
        times.into_iter().fold(f64::MAX, f64::min),
        times.into_iter().fold(0.0, f64::max),
    )
}

#[test]
fn the_figures_of_the_thesis() {
    let all = measured(&config(figure_experiments(), 20, 2));
    assert!(all.iter().all(|one| one.unserved() == 0.0));
    let rmap = |load| response(&all, Policy::plard(Sizing::Rmap), load);
    for load in ["0.2", "0.4", "0.6", "0.8", "1"] {
        let (best, worst) = fixed(&all, load);
        assert!(
            (2.0..=10.0).contains(&(worst / best)),
            "{load}: {worst} against {best}"
        );
        let most = if load == "0.8" || load == "1" {
            0.9
        } else {
            1.15
        };
        assert!(
            rmap(load) <= most * best,
            "{load}: {} against {best}",
            rmap(load)
        );
    }
    for loads in ["0.2:0.4:0.6:0.8", "0.2:0.8:0.2:0.8"] {
        let (best, _) = fixed(&all, loads);
        assert!(
            best >= 1.15 * rmap(loads),
            "{loads}: {best} against {}",
            rmap(loads)
        );
    }
    for figure in FIGURES {
        let svg = figure.draw(&all).unwrap().finish();
        assert!(svg.contains("means of 20 workloads"), "{}", figure.name);
        assert!(figure.draw(&all[..20]).is_none(), "{}", figure.name);
    }
}

#[test]
fn the_table_of_the_thesis() {
    let all = measured(&config(comparison_experiments(), 20, 2));
    let table = comparison(&all);
    assert_eq!(table.lines().count(), 25);
    for line in table.lines().filter(|line| line.starts_with("0.8")) {
        let ratio: f64 = line.split_whitespace().last().unwrap().parse().unwrap();
        // Their one workload filled the cluster when sizes are medium, so waits are its own.
        let of_waits =
            line.contains("FIX-M") && (line.contains("waiting") || line.contains("response"));
        let off = if line.contains("faults") { 0.35 } else { 0.25 };
        assert!(of_waits || (ratio - 1.0).abs() <= off, "{line}");
    }
}

#[test]
fn the_same_bytes_for_any_threads() {
    let experiments = figure_experiments()
        .into_iter()
        .step_by(5)
        .collect::<Vec<_>>();
    let tables = [1, 3].map(|threads| tsv(&measured(&config(experiments.clone(), 3, threads))));
    assert_eq!(tables[0], tables[1]);
    assert_eq!(tables[0].lines().count(), experiments.len() + 1);
}
