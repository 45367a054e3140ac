//! Figures 5.4 to 5.8 of the thesis, of simulated queries.

use gyrase_picture::{Anchor, Categories, Heights, INK, Stroke, Svg, Swatch, bold, legend, plain};
use gyrase_schedule::{Placement, Policy, Sizing};

use super::run::{Experiment, Measured};
use super::workload::Demand;

/// Loads of the figures, and queries of each workload.
const LOADS: [f64; 5] = [0.2, 0.4, 0.6, 0.8, 1.0];
const QUERIES: usize = 600;

/// Loads of the two workloads of mixed load, and queries of each.
const MIXED: [[f64; 4]; 2] = [[0.2, 0.4, 0.6, 0.8], [0.2, 0.8, 0.2, 0.8]];
const MIXED_QUERIES: usize = 800;

const FIXED: [(Sizing, &str, &str); 3] = [
    (Sizing::Small, "FIX-S", "#0072b2"),
    (Sizing::Medium, "FIX-M", "#e69f00"),
    (Sizing::Large, "FIX-L", "#cc79a7"),
];
const RMAP: (Sizing, &str, &str) = (Sizing::Rmap, "RMAP", "#009e73");

/// Colours of First Available, of PLARD, and of the loads.
const BEFORE: &str = "#9aa5b1";
const AFTER: &str = "#1c5d99";
const OF_LOADS: [&str; 5] = ["#e69f00", "#56b4e9", "#009e73", "#0072b2", "#d55e00"];

/// The size of all pictures, in pixels.
const WIDTH: f64 = 1140.0;
const HEIGHT: f64 = 440.0;

/// A figure of the thesis.
#[derive(Clone, Copy)]
pub struct Figure {
    /// The name of its file, without the ending.
    pub name: &'static str,
    draw: fn(&Results<'_>) -> Option<Svg>,
}

/// All of them.
pub const FIGURES: [Figure; 5] = [
    Figure {
        name: "figure-5.4-page-faults",
        draw: page_faults,
    },
    Figure {
        name: "figure-5.5-load-of-processors",
        draw: load_of_processors,
    },
    Figure {
        name: "figure-5.6-effect-of-plard",
        draw: effect_of_plard,
    },
    Figure {
        name: "figure-5.7-fixed-loads",
        draw: fixed_loads,
    },
    Figure {
        name: "figure-5.8-mixed-loads",
        draw: mixed_loads,
    },
];

impl Figure {
    /// Draws it of what was measured; nothing where an experiment is missing.
    pub fn draw(&self, measured: &[Measured]) -> Option<Svg> {
        (self.draw)(&Results(measured))
    }
}

/// The experiments that all figures take, each once.
pub fn figure_experiments() -> Vec<Experiment> {
    let of = |policy, demand| Experiment {
        policy,
        demand: Some(demand),
    };
    let single = LOADS.map(|load| Demand::constant(load, QUERIES));
    let mixed = MIXED.map(mixed_demand);
    let policies = Policy::all().filter(|policy| *policy != Policy::first_available(Sizing::Rmap));
    policies
        .flat_map(|policy| {
            let plard = policy.placement == Placement::Plard;
            let mixed = mixed.iter().filter(move |_| plard);
            let demands = single.iter().chain(mixed).cloned();
            demands
                .map(move |demand| of(policy, demand))
                .collect::<Vec<_>>()
        })
        .collect()
}

fn mixed_demand(loads: [f64; 4]) -> Demand {
    Demand {
        loads: loads.to_vec(),
        queries: MIXED_QUERIES,
    }
}

/// What figures are drawn of.
struct Results<'m>(&'m [Measured]);

impl<'m> Results<'m> {
    fn of(&self, policy: Policy, demand: Demand) -> Option<&'m Measured> {
        let wanted = Experiment {
            policy,
            demand: Some(demand),
        };
        self.0.iter().find(|measured| measured.experiment == wanted)
    }

    /// A measure of a policy at each load.
    fn at_loads(&self, policy: Policy, value: fn(&Measured) -> f64) -> Option<Vec<f64>> {
        let of = |load| self.of(policy, Demand::constant(load, QUERIES)).map(value);
        LOADS.into_iter().map(of).collect()
    }

    /// What the subtitle of every figure says.
    fn note(&self) -> String {
        let workloads = self.0.first().map_or(0, |measured| measured.workloads);
        format!("simulated; means of {workloads} workloads")
    }
}

fn load_names() -> Vec<String> {
    LOADS.iter().map(ToString::to_string).collect()
}

/// The plot number `number` of the `of` that stand side by side.
fn plot<'a>(
    (number, of): (usize, usize),
    names: &'a [String],
    heights: Heights,
    titles: (&'a str, &'a str),
) -> Categories<'a> {
    let each = (WIDTH - 20.0) / of as f64;
    let left = 70.0 + each * number as f64;
    Categories {
        left,
        right: left + each - 70.0,
        top: 150.0,
        bottom: HEIGHT - 60.0,
        names,
        heights,
        x_title: titles.0,
        y_title: titles.1,
    }
}

fn titled(svg: &mut Svg, plot: &Categories<'_>, title: &str) {
    let middle = (plot.left + plot.right) / 2.0;
    svg.text(
        middle,
        plot.top - 14.0,
        Anchor::Middle,
        &bold(14, INK),
        title,
    );
}

fn picture(title: &str, results: &Results<'_>) -> Svg {
    let mut svg = Svg::new(WIDTH, HEIGHT, title);
    svg.heading(40.0, title, &results.note());
    svg
}

fn line(colour: &str, dashed: bool) -> Stroke<'_> {
    Stroke {
        colour,
        width: 2.0,
        dashed,
    }
}

/// Figure 5.4: page faults and service times, as parts of those without PLARD at load 1.
fn page_faults(results: &Results<'_>) -> Option<Svg> {
    let mut svg = picture(
        "Page faults and service times, as parts of FA's at load 1",
        results,
    );
    let keys = [
        (Swatch::Line(line(BEFORE, true)), "page faults, FA"),
        (Swatch::Line(line(AFTER, true)), "page faults, PLARD"),
        (Swatch::Line(line(BEFORE, false)), "service time, FA"),
        (Swatch::Line(line(AFTER, false)), "service time, PLARD"),
    ];
    legend(&mut svg, (40.0, 92.0), 190.0, &keys);
    let names = load_names();
    for (number, (sizing, name, _)) in FIXED.into_iter().enumerate() {
        let mut lines = Vec::new();
        let mut ones = Vec::new();
        for (dashed, value) in [
            (true, Measured::faults as fn(&Measured) -> f64),
            (false, Measured::service),
        ] {
            let before = results.at_loads(Policy::first_available(sizing), value)?;
            let after = results.at_loads(Policy::plard(sizing), value)?;
            let one = before[LOADS.len() - 1];
            let part = |value: &f64| if one > 0.0 { value / one } else { 0.0 };
            for (colour, values) in [(BEFORE, before), (AFTER, after)] {
                let parts: Vec<f64> = values.iter().map(part).collect();
                lines.push((line(colour, dashed), parts));
            }
            ones.push(one);
        }
        let all = lines.iter().flat_map(|(_, parts)| parts.iter().copied());
        let plot = plot((number, 3), &names, Heights::linear(all), ("load", ""));
        plot.grid(&mut svg);
        titled(
            &mut svg,
            &plot,
            &format!("{name}: 1 is {:.1} faults, {:.1} s", ones[0], ones[1]),
        );
        for (stroke, parts) in &lines {
            plot.line(&mut svg, parts, stroke);
        }
    }
    Some(svg)
}

/// Figure 5.5: queries that each processor took part in.
fn load_of_processors(results: &Results<'_>) -> Option<Svg> {
    let mut svg = picture("Queries that each processor took part in, FIX-M", results);
    let policies = [
        (Policy::first_available(Sizing::Medium), "First Available"),
        (Policy::plard(Sizing::Medium), "PLARD"),
    ];
    let loads = load_names();
    let words: Vec<String> = loads.iter().map(|load| format!("load {load}")).collect();
    let keys: Vec<(Swatch<'_>, &str)> = OF_LOADS
        .iter()
        .zip(&words)
        .map(|(colour, words)| (Swatch::Line(line(colour, false)), words.as_str()))
        .collect();
    legend(&mut svg, (40.0, 92.0), 120.0, &keys);
    let mut panels = Vec::new();
    for (policy, title) in policies {
        let of = |load| results.of(policy, Demand::constant(load, QUERIES));
        let lines: Option<Vec<&Measured>> = LOADS.into_iter().map(of).collect();
        panels.push((title, lines?));
    }
    let all = panels
        .iter()
        .flat_map(|(_, lines)| lines)
        .flat_map(|line| &line.node_queries);
    let heights = Heights::linear(all.copied());
    let nodes = panels[0].1[0].node_queries.len();
    let every = nodes.div_ceil(10);
    let named = |node: usize| match node % every {
        0 => (node + 1).to_string(),
        _ => String::new(),
    };
    let names: Vec<String> = (0..nodes).map(named).collect();
    for (number, (title, lines)) in panels.iter().enumerate() {
        let plot = plot((number, 2), &names, heights, ("node", "queries"));
        plot.grid(&mut svg);
        titled(&mut svg, &plot, title);
        for (measured, colour) in lines.iter().zip(OF_LOADS) {
            plot.line(&mut svg, &measured.node_queries, &line(colour, false));
        }
    }
    Some(svg)
}

/// Figure 5.6: response times with and without PLARD.
fn effect_of_plard(results: &Results<'_>) -> Option<Svg> {
    let mut svg = picture(
        "Response times with and without PLARD, and how much faster it is",
        results,
    );
    let keys = [
        (Swatch::Bar(BEFORE), "First Available"),
        (Swatch::Bar(AFTER), "PLARD"),
    ];
    legend(&mut svg, (40.0, 92.0), 170.0, &keys);
    let names = load_names();
    for (number, (sizing, name, _)) in FIXED.into_iter().enumerate() {
        let before = results.at_loads(Policy::first_available(sizing), Measured::response)?;
        let after = results.at_loads(Policy::plard(sizing), Measured::response)?;
        let heights = Heights::doubling(before.iter().chain(&after).copied());
        let plot = plot((number, 3), &names, heights, ("load", "seconds"));
        plot.grid(&mut svg);
        titled(&mut svg, &plot, name);
        for (load, (before, after)) in before.iter().zip(&after).enumerate() {
            let (_, one) = plot.bar(&mut svg, load, (0, 2), *before, BEFORE);
            let (_, other) = plot.bar(&mut svg, load, (1, 2), *after, AFTER);
            let words = format!("{:.2}", before / after);
            let y = one.min(other) - 6.0;
            svg.text(plot.x(load), y, Anchor::Middle, &plain(13, INK), &words);
        }
    }
    Some(svg)
}

/// What the bars of a category are of.
fn key_of_sizings(svg: &mut Svg) {
    let keys = [FIXED[0], FIXED[1], FIXED[2], RMAP];
    let keys = keys.map(|(_, name, colour)| (Swatch::Bar(colour), name));
    legend(svg, (40.0, 92.0), 110.0, &keys);
}

/// Figure 5.7: response times of all sizings with PLARD.
fn fixed_loads(results: &Results<'_>) -> Option<Svg> {
    let mut svg = picture("Response times with PLARD, by load", results);
    key_of_sizings(&mut svg);
    let names = load_names();
    let sizings = [FIXED[0], FIXED[1], FIXED[2], RMAP];
    let rows = sizings.map(|(sizing, _, colour)| {
        let values = results.at_loads(Policy::plard(sizing), Measured::response);
        values.map(|values| (colour, values))
    });
    bars(
        &mut svg,
        &names,
        ("load", "seconds"),
        rows.into_iter().collect::<Option<_>>()?,
    );
    Some(svg)
}

/// Figure 5.8: response times for workloads of mixed load.
fn mixed_loads(results: &Results<'_>) -> Option<Svg> {
    let mut svg = picture(
        "Response times with PLARD, loads that change within a workload",
        results,
    );
    key_of_sizings(&mut svg);
    let sizings = [FIXED[0], FIXED[1], FIXED[2], RMAP];
    let rows = sizings.map(|(sizing, _, colour)| {
        let of = |loads| results.of(Policy::plard(sizing), mixed_demand(loads));
        let values = MIXED
            .into_iter()
            .map(|loads| of(loads).map(Measured::response));
        values
            .collect::<Option<Vec<f64>>>()
            .map(|values| (colour, values))
    });
    let rows: Vec<(&str, Vec<f64>)> = rows.into_iter().collect::<Option<_>>()?;
    let names: Vec<String> = (0..MIXED.len())
        .map(|number| {
            let best = rows[..3]
                .iter()
                .map(|(_, values)| values[number])
                .fold(f64::MAX, f64::min);
            let loads = mixed_demand(MIXED[number]);
            format!(
                "{loads} (RMAP {:.2} times as fast as the best fixed size)",
                best / rows[3].1[number]
            )
        })
        .collect();
    bars(
        &mut svg,
        &names,
        ("loads, for a quarter of the queries each", "seconds"),
        rows,
    );
    Some(svg)
}

/// One plot of bars: a row for each colour, with a value for each name.
fn bars(svg: &mut Svg, names: &[String], titles: (&str, &str), rows: Vec<(&str, Vec<f64>)>) {
    let all = rows.iter().flat_map(|(_, values)| values.iter().copied());
    let plot = plot((0, 1), names, Heights::doubling(all), titles);
    plot.grid(svg);
    for (place, (colour, values)) in rows.iter().enumerate() {
        for (category, value) in values.iter().enumerate() {
            let (x, y) = plot.bar(svg, category, (place, rows.len()), *value, colour);
            let words = format!("{value:.1}");
            svg.text(x, y - 5.0, Anchor::Middle, &plain(12, INK), &words);
        }
    }
}
