//! Plans and measured times that the authors of Gossip published: read, refused, simulated.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use gyrase_gossip::simulator::{Timing, ideal_time, simulate, total};
use gyrase_gossip::{GossipError, Sizes, Topology, TransferPlan, Transfers};

/// A file of `tests/published`.
fn published(name: &str) -> String {
    let path = format!("{}/tests/published/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

fn read(name: &str) -> Result<TransferPlan, GossipError> {
    TransferPlan::from_json(name, &published(&format!("{name}.json")))
}

#[test]
fn plans_are_read_and_written_without_a_change() {
    for name in [
        "dgx1_opt-all2all",
        "dgx1_opt-broadcast",
        "dgx1_opt-gather",
        "dgx1_opt-scatter",
        "dgx1_opt_1chunk-all2all",
        "dgx1_quad_opt-scatter",
        "dgx1_quad_opt2-all2all",
        "dgx1_rings-all2all",
        "dgx1_direct-all2all",
    ] {
        let plan = read(name).unwrap();
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        let original = value(&published(&format!("{name}.json")));
        assert_eq!(value(&plan.to_json()), original, "{name}");
    }
}

#[test]
fn plans_that_move_something_else_are_refused_for_that() {
    let error = read("dgx1_symm-all2all").unwrap_err().to_string();
    assert!(
        error.contains("path 0 has 3 devices; 1 steps have 2 each"),
        "{error}"
    );
    let error = read("dgx2_opt-all2all").unwrap_err().to_string();
    assert!(error.contains("path 175 names device 16 of 16"), "{error}");
}

#[test]
fn plans_are_as_good_as_their_authors_say() {
    let dgx: Topology = "dgx-1".parse().unwrap();
    for (name, time) in [
        ("dgx1_opt-all2all", 16.0 / 6.0),
        ("dgx1_rings-all2all", 16.0 / 6.0),
        ("dgx1_opt_1chunk-all2all", 3.0),
        ("dgx1_opt-scatter", 7.0 / 6.0),
        ("dgx1_opt-gather", 7.0 / 6.0),
    ] {
        let plan = read(name).unwrap();
        assert!(
            (ideal_time(&plan, &dgx, None) - time).abs() < 1e-9,
            "{name}"
        );
        assert!(plan.without_links(&dgx).is_empty(), "{name}");
    }
    let direct = read("dgx1_direct-all2all").unwrap();
    assert_eq!(direct.without_links(&dgx).len(), 24);
}

/// Bytes, and the median of the measured milliseconds.
fn measured(name: &str) -> Vec<(u64, f64)> {
    let line = |line: &str| {
        let mut values: Vec<f64> = line.split(',').map(|word| word.parse().unwrap()).collect();
        let bytes = values.remove(0) as u64;
        values.sort_by(f64::total_cmp);
        (bytes, values[values.len() / 2])
    };
    published(&format!("{name}.csv"))
        .lines()
        .map(line)
        .collect()
}

#[test]
fn simulated_times_are_the_measured_ones() {
    for (topology, plan, table, least) in [
        (
            "dgx-1",
            "dgx1_opt-all2all",
            "dgx1-all2all_async-opt",
            4u64 << 30,
        ),
        (
            "dgx-1",
            "dgx1_rings-all2all",
            "dgx1-all2all_async-rings",
            4 << 30,
        ),
        (
            "dgx-1",
            "dgx1_opt_1chunk-all2all",
            "dgx1-all2all_async-opt_1chunk",
            4 << 30,
        ),
        ("dgx-1", "dgx1_opt-scatter", "dgx1-scatter-opt", 512 << 20),
        ("dgx-1", "dgx1_opt-gather", "dgx1-gather-opt", 512 << 20),
        (
            "s3",
            "dgx1_quad_opt2-all2all",
            "dgx1_quad-all2all_async-opt",
            4 << 30,
        ),
        (
            "s3",
            "dgx1_quad_opt-scatter",
            "dgx1_quad-scatter-opt",
            512 << 20,
        ),
    ] {
        let topology: Topology = topology.parse().unwrap();
        let plan = read(plan).unwrap();
        let timing = Timing::measured(&topology);
        let large = measured(table)
            .into_iter()
            .filter(|(bytes, _)| *bytes >= least);
        let large: Vec<(u64, f64)> = large.collect();
        assert!(large.len() >= 2, "{table}");
        for (bytes, expected) in large {
            let sizes = Sizes::even(plan.collective(), plan.devices(), bytes);
            let times = simulate(&Transfers::new(&plan, &sizes), &topology, &timing);
            let ratio = total(&times) * 1e3 / expected;
            assert!(
                (0.95..=1.05).contains(&ratio),
                "{table}, {bytes} bytes: {ratio:.3}"
            );
        }
    }
}
