//! How near their bound plans are: on the machines of the publication, and on random topologies.
//!
//! `GYRASE_TOPOLOGIES=1000 cargo test --release -p gyrase-gossip --test plans` tries as many of up
//! to 12 devices.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use gyrase_gossip::simulator::ideal_time;
use gyrase_gossip::{Collective, Config, GossipError, Method, Planned, Sizes, Topology, planner};
use gyrase_simulate::Random;
use gyrase_work::Progress;

fn planned(
    topology: &Topology,
    collective: Collective,
    method: Method,
    chunks: Option<usize>,
) -> Result<Planned, GossipError> {
    let config = Config {
        topology: topology.clone(),
        collective,
        method,
        chunks,
        sizes: None,
    };
    planner::plan(&config, &Progress::default())
}

/// Plans by name: topology, collective, method, chunks, and what the steps must not exceed.
fn within(name: &str, collective: &str, method: &str, chunks: usize, steps: usize) -> Planned {
    let collective = collective.parse().unwrap();
    let method = method.parse().unwrap();
    let planned = planned(&name.parse().unwrap(), collective, method, Some(chunks)).unwrap();
    let found = planned.plan.steps();
    assert!(
        found <= steps,
        "{name}, {collective}, {method}, {chunks} chunks: {found} steps"
    );
    planned
}

#[test]
fn flows_reach_the_bound_where_chunks_allow_it() {
    for (name, chunks, steps) in [
        ("dgx-1", 1, 3),
        ("dgx-1", 3, 8),
        ("dgx-1", 48, 128),
        ("alternative", 1, 3),
        ("alternative", 2, 4),
        ("s3", 5, 4),
        ("s3", 6, 5),
        ("s3", 48, 39),
        ("ring-8", 1, 8),
        ("h100", 1, 7),
        ("dgx-2", 1, 15),
        ("cube-16", 6, 49),
    ] {
        within(name, "all2all", "flow", chunks, steps);
    }
    let odd: Topology = "dgx-1".parse().unwrap();
    let odd = odd.of_devices(&[1, 2, 3, 4, 5, 6, 7]).unwrap();
    assert_eq!(
        planned(&odd, Collective::AllToAll, Method::Flow, Some(1))
            .unwrap()
            .plan
            .steps(),
        3
    );
}

#[test]
fn integer_programs_give_the_published_steps() {
    for (name, collective, chunks, steps) in [
        ("dgx-1", "all2all", 1, 6),
        ("alternative", "all2all", 1, 4),
        ("s3", "all2all", 5, 8),
        ("s1", "scatter:0", 4, 6),
        ("dgx-1", "scatter:0", 6, 14),
        ("dgx-1", "scatter:0", 1, 3),
        ("s3", "scatter:3", 5, 6),
        ("s3", "gather:3", 5, 6),
    ] {
        within(name, collective, "integer", chunks, steps);
    }
    let planned = within("dgx-1", "all2all", "integer-steps", 3, 8);
    assert_eq!(planned.plan.transfers(), 240);
    let planned = within("switch-8", "all2all", "integer-steps", 1, 7);
    assert_eq!(planned.plan.transfers(), 56);
    // One chunk of each of 7 messages over 6 links: 7 of 9 parts of what is possible.
    let unsplit = within("dgx-1", "scatter:0", "integer", 1, 3);
    assert!((unsplit.efficiency() - 7.0 / 9.0).abs() < 1e-9);
}

#[test]
fn the_automatic_method_finds_the_best_scatter() {
    for (name, collective) in [
        ("dgx-1", "scatter:0"),
        ("dgx-1", "gather:5"),
        ("s1", "gather:2"),
        ("s3", "scatter:3"),
        ("h100", "scatter:1"),
    ] {
        let topology = name.parse().unwrap();
        let planned = planned(&topology, collective.parse().unwrap(), Method::Auto, None);
        let percent = 100.0 * planned.unwrap().efficiency();
        assert!(percent > 99.999, "{name}, {collective}: {percent:.2} %");
    }
}

#[test]
fn broadcasts_fill_all_links() {
    for name in ["dgx-1", "s3", "ring-6", "h100", "cube-8"] {
        let topology = name.parse().unwrap();
        let broadcast = Collective::Broadcast { main: 1 };
        let planned = planned(&topology, broadcast, Method::Auto, None).unwrap();
        let percent = 100.0 * planned.efficiency();
        assert!(percent > 75.0, "{name}: {percent:.1} %");
    }
}

#[test]
fn what_cannot_be_planned_is_said() {
    let links = vec![vec![0, 1, 0], vec![1, 0, 0], vec![0, 1, 0]];
    let apart = Topology::new("apart", links, 25.0).unwrap();
    let scatter = Collective::Scatter { main: 2 };
    assert!(planned(&apart, scatter, Method::Auto, None).is_ok());
    let error = planned(&apart, Collective::AllToAll, Method::Auto, None).unwrap_err();
    assert!(
        error.to_string().contains("from device 0 to device 2"),
        "{error}"
    );
    let broadcast = Collective::Broadcast { main: 3 };
    let error = planned(&apart, broadcast, Method::Auto, None).unwrap_err();
    assert!(error.to_string().contains("no device 3"), "{error}");
    let cube: Topology = "cube-16".parse().unwrap();
    let error = planned(&cube, Collective::AllToAll, Method::Integer, Some(3)).unwrap_err();
    assert!(matches!(error, GossipError::Solver { .. }), "{error}");
}

/// A connected topology whose links come from a seed: a tree, and some more.
fn random_topology(random: &mut Random, most: u64) -> Topology {
    let devices = 2 + random.below(most - 1) as usize;
    let mut links = vec![vec![0; devices]; devices];
    let mut join = |a: usize, b: usize, count: u64| {
        links[a][b] += count as u32;
        links[b][a] += count as u32;
    };
    for device in 1..devices {
        join(
            random.below(device as u64) as usize,
            device,
            1 + random.below(3),
        );
    }
    for _ in 0..random.below(2 * devices as u64) {
        let (a, b) = (
            random.below(devices as u64) as usize,
            random.below(devices as u64) as usize,
        );
        if a != b {
            join(a, b, 1 + random.below(2));
        }
    }
    Topology::new("random", links, 25.0).unwrap()
}

#[test]
fn random_topologies_are_near_their_bound() {
    let asked = std::env::var("GYRASE_TOPOLOGIES").ok();
    let (count, most) = match asked {
        Some(count) => (count.parse().unwrap(), 12),
        None => (24, 8),
    };
    let mut least: f64 = 1.0;
    for seed in 0..count {
        let topology = random_topology(&mut Random::stream(seed, 0, 0), most);
        let planned = planned(&topology, Collective::AllToAll, Method::Auto, Some(12)).unwrap();
        let efficiency = planned.efficiency();
        assert!(
            efficiency >= 0.9,
            "seed {seed}: {efficiency:.3}, {}",
            topology.to_json()
        );
        assert!(
            efficiency <= 1.0 + 1e-6,
            "seed {seed}: faster than the bound: {efficiency}"
        );
        least = least.min(efficiency);
    }
    println!(
        "of {count} topologies the least has {:.1} % of the bound",
        100.0 * least
    );
}

#[test]
fn plans_for_known_sizes_are_near_their_bound() {
    let asked = std::env::var("GYRASE_TOPOLOGIES").ok();
    let (count, most) = asked.map_or((12, 7), |count| (count.parse().unwrap(), 12));
    let (mut least, mut gained): (f64, f64) = (1.0, 0.0);
    for seed in 0..count {
        let mut random = Random::stream(seed, 9, 0);
        let topology = random_topology(&mut random, most);
        let devices = topology.devices();
        let row = |random: &mut Random| {
            let bytes = |random: &mut Random| match random.below(5) {
                0 => "0".to_owned(),
                _ => (1000 + random.below(9000)).to_string(),
            };
            (0..devices)
                .map(|_| bytes(random))
                .collect::<Vec<String>>()
                .join(" ")
        };
        let text: Vec<String> = (0..devices).map(|_| row(&mut random)).collect();
        let collective = match seed % 4 {
            0..=2 => Collective::AllToAll,
            _ => Collective::Gather { main: 0 },
        };
        let mut rows = text.clone();
        if let Collective::Gather { .. } = collective {
            for row in &mut rows {
                let first = row.split(' ').next().unwrap().to_owned();
                *row = first + &" 0".repeat(devices - 1);
            }
        }
        let sizes = Sizes::parse("t", &rows.join("\n"), collective, devices).unwrap();
        let config = Config {
            topology,
            collective,
            method: Method::Auto,
            chunks: Some(12),
            sizes: Some(sizes.clone()),
        };
        let known = planner::plan(&config, &Progress::default()).unwrap();
        let even = Config {
            sizes: None,
            ..config.clone()
        };
        let even = planner::plan(&even, &Progress::default()).unwrap().plan;
        let before = ideal_time(&even, &config.topology, Some(&sizes));
        assert!(
            known.efficiency() <= 1.0 + 1e-6,
            "seed {seed}: faster than the bound"
        );
        assert!(
            known.efficiency() >= 0.85,
            "seed {seed}: {:.3}",
            known.efficiency()
        );
        least = least.min(known.efficiency());
        gained += before / known.time / count as f64;
    }
    println!(
        "least {:.1} %, {gained:.2} times as fast as plans for one size",
        100.0 * least
    );
}
