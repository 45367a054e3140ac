//! The plots of a page.

use gyrase_picture::words::grouped;
use gyrase_picture::{Axes, Scale, Svg, escape};

use crate::pairs::Inserts;

const HEIGHT: f64 = 320.0;
const COLOUR: &str = "#2f6fc4";
/// Contigs that are drawn, the longest.
const MOST: usize = 2000;
/// Steps of a histogram, so that each is seen.
const STEPS: usize = 240;

/// A contig.
pub struct Dot {
    pub name: String,
    pub length: u64,
    pub depth: f64,
}

/// A dot for each contig, the longest first: its length and how often it was read.
pub fn lengths(dots: &[Dot], width: f64) -> Svg {
    let longest = dots.iter().map(|dot| dot.length).max().unwrap_or(0);
    let deepest = dots.iter().map(|dot| dot.depth).fold(1.0, f64::max);
    let axes = Axes {
        x_end: (longest as f64 / 1000.0 * 1.5).max(2.0),
        y_end: deepest * 1.6,
        scale: Scale::Log,
        x_title: "Length (kb)",
        y_title: "Depth",
        ..frame(width)
    };
    let mut svg = Svg::new(width, HEIGHT, "length and depth of contigs");
    axes.grid(&mut svg);
    for dot in dots.iter().take(MOST) {
        let (x, y) = (axes.x(dot.length as f64 / 1000.0), axes.y(dot.depth));
        let (name, length) = (escape(&dot.name), grouped(dot.length));
        svg.put(format_args!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{COLOUR}\" fill-opacity=\"0.8\">\
             <title>{name}: {length} bases, depth {:.1}</title></circle>",
            dot.depth
        ));
    }
    axes.outline(&mut svg);
    svg
}

/// How many fragments have each length.
pub fn inserts(inserts: &Inserts, width: f64) -> Svg {
    let counts = inserts.counts();
    let wide = counts.len().div_ceil(STEPS).max(1);
    let sums: Vec<f64> = counts
        .chunks(wide)
        .map(|some| some.iter().sum::<u64>() as f64)
        .collect();
    let most = sums.iter().copied().fold(1.0, f64::max);
    let axes = Axes {
        x_end: (counts.len() as f64 * 1.05).max(2.0),
        y_end: most * 1.05,
        x_title: "Insert (bases)",
        y_title: "Pairs",
        ..frame(width)
    };
    let mut svg = Svg::new(width, HEIGHT, "insert sizes");
    axes.grid(&mut svg);
    let edges: Vec<f64> = (0..=sums.len())
        .map(|step| axes.x((step * wide) as f64 - 0.5))
        .collect();
    axes.steps(&mut svg, COLOUR, &edges, &sums);
    axes.outline(&mut svg);
    svg
}

fn frame(width: f64) -> Axes<'static> {
    Axes {
        left: 84.0,
        right: width - 14.0,
        top: 12.0,
        bottom: HEIGHT - 58.0,
        x_end: 1.0,
        y_end: 1.0,
        scale: Scale::Linear,
        x_title: "",
        y_title: "",
    }
}
