//! Runs as JSON, as a table, as a picture.

use std::fmt::Write as _;

use gyrase_picture::words::{bytes, grouped};
use gyrase_picture::{Anchor, Categories, Heights, INK, Svg, Swatch, legend, plain};
use serde_json::{Value, json};

use super::device::{BusyWith, SsdDesign};
use super::profile::StorageProfile;
use super::run::{SsdConfig, SsdRun};

/// Colours of kinds of work, in the order of [`BusyWith::ALL`].
pub(crate) const KINDS: [&str; 5] = ["#0072b2", "#56b4e9", "#cc79a7", "#e69f00", "#009e73"];
/// Colours of designs.
pub(crate) const DESIGNS: [&str; 3] = ["#9aa5b1", "#56b4e9", "#1c5d99"];

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 460.0;

/// What came out for designs over one profile, as an object.
pub fn json(profile: &StorageProfile, runs: &[(SsdConfig, SsdRun)]) -> Value {
    let all = profile.total();
    json!({
        "profile": {
            "k": profile.k, "m": profile.m, "stranded": profile.stranded,
            "text_bytes": profile.text_bytes, "reads": profile.reads, "bases": profile.bases,
            "partitions": profile.partitions.len(), "minimizers": profile.minimizers(),
            "super_kmers": all.super_kmers, "super_kmer_bytes": all.bytes, "kmers": all.kmers,
            "distinct": all.distinct, "unique": all.unique, "estimate": all.estimate,
            "passed": all.passed, "kept": all.kept,
            "share_of_largest": profile.share_of_largest(),
        },
        "runs": runs.iter().map(|(config, run)| of_run(config, run)).collect::<Vec<_>>(),
    })
}

fn of_run(config: &SsdConfig, run: &SsdRun) -> Value {
    let busy: serde_json::Map<String, Value> = BusyWith::ALL
        .into_iter()
        .map(|kind| {
            (
                kind.name().replace(' ', "_").to_lowercase(),
                json!(run.busy[kind as usize]),
            )
        })
        .collect();
    let phases: Vec<Value> = run
        .phases
        .iter()
        .map(|(name, seconds)| json!({"name": name, "seconds": seconds}))
        .collect();
    let moved = &run.moved;
    json!({
        "design": config.design.name(), "mapping": config.mapping.name(), "seed": config.seed,
        "seconds": run.seconds, "joules": run.joules, "phases": phases, "busy_seconds": busy,
        "large_partitions": run.large, "large_kmers": run.large_kmers, "entries": run.entries,
        "filter_bytes": run.filter_bytes, "imbalance": run.imbalance(), "events": run.events,
        "chip_kmers": run.chip_kmers,
        "bytes": {
            "text_read": moved.text_read, "super_kmers_written": moved.super_kmers_written,
            "super_kmers_read": moved.super_kmers_read, "loose_written": moved.loose_written,
            "loose_read": moved.loose_read, "tables_written": moved.tables_written,
            "channels": moved.channels, "dram": moved.dram,
        },
    })
}

/// The same as lines for people.
pub fn table(profile: &StorageProfile, runs: &[(SsdConfig, SsdRun)]) -> String {
    let mut text = facts(profile);
    text.push('\n');
    let names = runs
        .iter()
        .map(|(config, _)| config.design.title().to_owned());
    line(&mut text, "", &names.collect::<Vec<_>>());
    let mut put = |name: &str, of: &dyn Fn(&SsdRun) -> String| {
        let values: Vec<String> = runs.iter().map(|(_, run)| of(run)).collect();
        line(&mut text, name, &values);
    };
    put("seconds", &|run| digits(run.seconds));
    for kind in BusyWith::ALL {
        let name = format!("  busiest {}", kind.name());
        put(&name, &|run| digits(run.busy[kind as usize]));
    }
    put("joules", &|run| digits(run.joules));
    put("tables", &|run| bytes(run.moved.tables_written));
    put("Bloom filters", &|run| bytes(run.filter_bytes));
    put("written to chips", &|run| bytes(run.moved.written()));
    put("read from chips", &|run| bytes(run.moved.read()));
    put("partitions too large", &|run| grouped(run.large));
    put("fullest chip by mean", &|run| {
        format!("{:.2}", run.imbalance())
    });
    text
}

/// What the reads are like.
fn facts(profile: &StorageProfile) -> String {
    let (all, mut text) = (profile.total(), String::new());
    let share = 100.0 * profile.share_of_largest();
    let partitions = format!("{} of {}", profile.partitions.len(), profile.minimizers());
    let facts = [
        ("reads", grouped(profile.reads)),
        ("k-mers", grouped(all.kmers)),
        ("distinct", grouped(all.distinct)),
        ("unique", grouped(all.unique)),
        ("partitions", partitions),
        ("text of reads", bytes(profile.text_bytes)),
        ("super-k-mers", bytes(all.bytes)),
        ("in the largest 1 %", format!("{share:.1} % of the k-mers")),
    ];
    for (name, value) in facts {
        line(&mut text, name, &[value]);
    }
    text
}

/// A few digits of seconds or joules, however short a run is.
fn digits(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 0.1 || value == 0.0 => format!("{value:.2}"),
        value => format!("{value:.6}"),
    }
}

fn line(text: &mut String, name: &str, values: &[String]) {
    let cells: String = values.iter().map(|value| format!("{value:>16}")).collect();
    writeln!(text, "{name:<22}{cells}").expect("a String takes every text");
}

/// Where the time of designs goes, and how full their chips are.
pub fn plot(profile: &StorageProfile, runs: &[(SsdConfig, SsdRun)]) -> Svg {
    let mut svg = Svg::new(WIDTH, HEIGHT, "Seconds of each design, by what is busy");
    let kmers = grouped(profile.total().kmers);
    let subtitle = format!(
        "modelled; {kmers} k-mers, k = {}, m = {}",
        profile.k, profile.m
    );
    svg.heading(
        40.0,
        "Seconds of the busiest server of each kind",
        &subtitle,
    );
    let keys: Vec<(Swatch<'_>, &str)> = BusyWith::ALL
        .into_iter()
        .map(|kind| (Swatch::Bar(KINDS[kind as usize]), kind.name()))
        .collect();
    legend(&mut svg, (40.0, 92.0), 130.0, &keys);
    let title = |(config, run): &(SsdConfig, SsdRun)| {
        format!("{}: {} s", config.design.title(), digits(run.seconds))
    };
    let names: Vec<String> = runs.iter().map(title).collect();
    let milli = |seconds: f64| seconds * 1e3;
    let all = runs.iter().flat_map(|(_, run)| run.busy).map(milli);
    let plot = Categories {
        left: 80.0,
        right: WIDTH - 40.0,
        top: 150.0,
        bottom: HEIGHT - 60.0,
        names: &names,
        heights: Heights::linear(all),
        x_title: "design: seconds of the whole",
        y_title: "milliseconds",
    };
    plot.grid(&mut svg);
    for (category, (_, run)) in runs.iter().enumerate() {
        for kind in BusyWith::ALL {
            let place = (kind as usize, BusyWith::ALL.len());
            let value = milli(run.busy[kind as usize]);
            plot.bar(&mut svg, category, place, value, KINDS[kind as usize]);
        }
    }
    svg
}

/// A picture of bars: rows of a name, a colour and a value for each category.
pub(crate) struct Bars<'a> {
    pub(crate) title: &'a str,
    pub(crate) subtitle: &'a str,
    pub(crate) names: Vec<String>,
    pub(crate) rows: Vec<(&'a str, &'a str, Vec<f64>)>,
    pub(crate) doubling: bool,
    pub(crate) y_title: &'a str,
}

impl Bars<'_> {
    pub(crate) fn draw(&self) -> Svg {
        let mut svg = Svg::new(WIDTH, HEIGHT, self.title);
        svg.heading(40.0, self.title, self.subtitle);
        let keys: Vec<(Swatch<'_>, &str)> = self
            .rows
            .iter()
            .map(|(name, colour, _)| (Swatch::Bar(colour), *name))
            .collect();
        legend(
            &mut svg,
            (40.0, 92.0),
            880.0 / keys.len().max(1) as f64,
            &keys,
        );
        let all = self
            .rows
            .iter()
            .flat_map(|(_, _, values)| values.iter().copied());
        let heights = if self.doubling {
            Heights::doubling(all)
        } else {
            Heights::linear(all)
        };
        let plot = Categories {
            left: 80.0,
            right: WIDTH - 30.0,
            top: 150.0,
            bottom: HEIGHT - 50.0,
            names: &self.names,
            heights,
            x_title: "",
            y_title: self.y_title,
        };
        plot.grid(&mut svg);
        for (place, (_, colour, values)) in self.rows.iter().enumerate() {
            for (category, value) in values.iter().enumerate() {
                let (x, y) = plot.bar(&mut svg, category, (place, self.rows.len()), *value, colour);
                if self.names.len() * self.rows.len() <= 24 {
                    svg.text(
                        x,
                        y - 5.0,
                        Anchor::Middle,
                        &plain(11, INK),
                        &format!("{value:.2}"),
                    );
                }
            }
        }
        svg
    }
}

/// The design of a row of a picture.
pub(crate) fn colour_of(design: SsdDesign) -> &'static str {
    DESIGNS[design as usize]
}
