//! How evenly the reads lie along a genome, as a picture: one self-contained SVG, without scripts
//! or fonts of its own.

use std::io::{self, Write};

use gyrase_picture::words::grouped;
use gyrase_picture::{Anchor, Axes, GREY, Scale, Svg, plain};

use super::lines::ratio;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 394.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 928.0;
const TOP: f64 = 84.0;
const BOTTOM: f64 = 312.0;
/// More columns than this are thinner than a pixel.
const COLUMNS: usize = 844;
/// More starts of sequences than this would cover the plot.
const STARTS: usize = 200;

const HIGHEST: &str = "#b9d3ea";
const MEAN: &str = "#1c5d99";

/// A genome, window by window.
#[derive(Clone, Copy, Debug)]
pub struct Covered<'a> {
    /// Title of the picture; any text.
    pub name: &'a str,
    /// Reads found in each window, in the order of the genome.
    pub reads: &'a [u32],
    /// Letters from the start of a window to that of the next in its sequence.
    pub stride: u32,
    /// The windows and letters of each sequence, in order; their starts are drawn where they are
    /// not too many. Windows are those of `reads`.
    pub sequences: &'a [(usize, u64)],
}

/// Draws the reads of every window along the genome. Fails as `out` does.
///
/// Where windows are more than the picture has columns, a column shows the mean of its windows, and
/// behind it in a lighter colour the highest of them. The line above tells the share of covered
/// windows, and how many there would be if as many reads lay evenly: far fewer covered than that is
/// a sign that only a shared region was found.
pub fn coverage(genome: &Covered, out: &mut dyn Write) -> io::Result<()> {
    let frame = Frame::new(genome);
    let mut svg = Svg::new(WIDTH, HEIGHT, &format!("reads along {}", genome.name));
    let title = if genome.name.trim().is_empty() {
        "Genome coverage"
    } else {
        genome.name
    };
    svg.heading(LEFT, title, &facts(genome.reads));
    let axes = &frame.axes;
    axes.grid(&mut svg);
    axes.steps(&mut svg, HIGHEST, &frame.edges, &frame.highest);
    axes.steps(&mut svg, MEAN, &frame.edges, &frame.means);
    starts(&frame, &mut svg);
    axes.outline(&mut svg);
    note(genome, &frame, &mut svg);
    out.write_all(svg.finish().as_bytes())
}

/// What is drawn where.
struct Frame {
    /// Of reads, over positions in units.
    axes: Axes<'static>,
    /// Letters of a unit of the axis.
    unit: f64,
    means: Vec<f64>,
    highest: Vec<f64>,
    /// Where columns begin, and the last ends.
    edges: Vec<f64>,
    positions: Positions,
}

/// Letters before each sequence, and before each window: a sequence that is no multiple of the
/// stride long has a shorter last window.
struct Positions {
    stride: u64,
    /// The first window and the first letter of every sequence, and those behind the last.
    sequences: Vec<(usize, u64)>,
}

impl Positions {
    fn new(genome: &Covered) -> Positions {
        let mut end = (0, 0);
        let behind = genome.sequences.iter().map(|&(windows, letters)| {
            end = (end.0 + windows, end.1 + letters);
            end
        });
        Positions {
            stride: genome.stride.into(),
            sequences: [(0, 0)].into_iter().chain(behind).collect(),
        }
    }

    /// Letters of the genome, at least 1.
    fn letters(&self) -> u64 {
        self.sequences.last().map_or(1, |end| end.1.max(1))
    }

    /// The letters before a window, or before the end of the last.
    fn of(&self, window: usize) -> u64 {
        let behind = self
            .sequences
            .partition_point(|&(first, _)| first <= window);
        let (first, letter) = self.sequences[behind - 1];
        let end = self.sequences.get(behind).map_or(letter, |next| next.1);
        end.min(letter + (window - first) as u64 * self.stride)
    }
}

impl Frame {
    fn new(genome: &Covered) -> Frame {
        let (reads, positions) = (genome.reads, Positions::new(genome));
        let columns = reads.len().min(COLUMNS);
        let spans = (0..columns).map(|column| {
            &reads[column * reads.len() / columns..(column + 1) * reads.len() / columns]
        });
        let mean = |span: &[u32]| {
            span.iter().map(|&reads| f64::from(reads)).sum::<f64>() / span.len() as f64
        };
        let means: Vec<f64> = spans.clone().map(mean).collect();
        let highest: Vec<f64> = spans
            .map(|span| f64::from(span.iter().copied().max().unwrap_or(0)))
            .collect();
        let (unit, x_title) = unit(positions.letters());
        let axes = axes(positions.letters() as f64 / unit, top(&highest), x_title);
        let first = |column: usize| positions.of(column * reads.len() / columns.max(1)) as f64;
        let edges = (0..=columns)
            .map(|column| axes.x(first(column) / unit))
            .collect();
        Frame {
            axes,
            unit,
            means,
            highest,
            edges,
            positions,
        }
    }
}

fn axes(x_end: f64, most: f64, x_title: &'static str) -> Axes<'static> {
    Axes {
        left: LEFT,
        right: RIGHT,
        top: TOP,
        bottom: BOTTOM,
        x_end,
        y_end: if most > 0.0 { 1.06 * most } else { 1.0 },
        scale: Scale::Linear,
        x_title,
        y_title: "Reads per window",
    }
}

/// The most reads to show: few columns that tower above all others are cut off, so that they do not
/// flatten the rest.
fn top(highest: &[f64]) -> f64 {
    let mut sorted = highest.to_vec();
    sorted.sort_by(f64::total_cmp);
    let most = sorted.last().copied().unwrap_or(0.0);
    let usual = sorted[sorted.len() * 99 / 100..]
        .first()
        .copied()
        .unwrap_or(0.0);
    if usual > 0.0 {
        most.min(2.0 * usual)
    } else {
        most
    }
}

/// How many windows are covered, and how many would be by as many reads that lie evenly.
fn facts(reads: &[u32]) -> String {
    let all = reads.len() as u64;
    let covered = reads.iter().filter(|&&reads| reads > 0).count() as u64;
    let sum: u64 = reads.iter().map(|&reads| u64::from(reads)).sum();
    let mean = ratio(sum, all);
    let even = if all > 0 { -(-mean).exp_m1() } else { 0.0 };
    format!(
        "{} of {} windows covered ({:.1} %; {:.1} % if evenly spread)   ·   {mean:.2} reads per \
         window",
        grouped(covered),
        grouped(all),
        100.0 * ratio(covered, all),
        100.0 * even
    )
}

/// The letters of a unit for positions up to so many letters, and the title of their axis.
fn unit(letters: u64) -> (f64, &'static str) {
    match letters {
        0..=20_000 => (1.0, "Position in the genome (bp)"),
        20_001..=10_000_000 => (1000.0, "Position in the genome (kbp)"),
        _ => (1_000_000.0, "Position in the genome (Mbp)"),
    }
}

fn starts(frame: &Frame, svg: &mut Svg) {
    let positions = &frame.positions;
    if positions.sequences.len() > STARTS {
        return;
    }
    for &(_, start) in positions
        .sequences
        .iter()
        .filter(|&&(_, start)| start > 0 && start < positions.letters())
    {
        let x = frame.axes.x(start as f64 / frame.unit);
        svg.put(format_args!(
            "<path d=\"M{x:.1} {TOP}V{BOTTOM}\" stroke=\"{GREY}\" stroke-width=\"0.6\" \
             stroke-dasharray=\"2 3\"/>"
        ));
    }
}

/// What a reader must know to read the picture right.
fn note(genome: &Covered, frame: &Frame, svg: &mut Svg) {
    let (style, y) = (plain(12, GREY), HEIGHT - 10.0);
    if genome.reads.len() > COLUMNS {
        let words = "Dark: mean of neighbouring windows; light: the highest of them.";
        svg.text(LEFT, y, Anchor::Start, &style, words);
    }
    let highest = genome.reads.iter().copied().max().unwrap_or(0);
    let words = if highest == 0 {
        "No read was found in this genome.".to_owned()
    } else if f64::from(highest) > frame.axes.y_end {
        let highest = grouped(highest.into());
        format!("Cut off: the highest window has {highest} reads.")
    } else {
        return;
    };
    svg.text(RIGHT, y, Anchor::End, &style, &words);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(name: &str, reads: &[u32], sequences: &[(usize, u64)]) -> String {
        let mut svg = Vec::new();
        coverage(
            &Covered {
                name,
                reads,
                stride: 112,
                sequences,
            },
            &mut svg,
        )
        .unwrap();
        let svg = String::from_utf8(svg).unwrap();
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
        assert_eq!(svg.matches('<').count(), svg.matches('>').count());
        assert!(!svg.contains("NaN") && !svg.contains("inf\""), "{svg}");
        svg
    }

    #[test]
    fn bars_have_the_heights_of_the_reads() {
        let svg = draw("four", &[0, 2, 1, 0], &[(2, 224), (2, 224)]);
        assert!(svg.contains(
            "2 of 4 windows covered (50.0 %; 52.8 % if evenly spread)   ·   0.75 reads per window"
        ));
        // The top is 2.12 reads, the plot 228 high and 844 wide.
        let bars = "M84.00 312V312.00H295.00V96.91H506.00V204.45H717.00V312.00H928.00V312Z";
        assert_eq!(svg.matches(bars).count(), 2, "{svg}");
        assert_eq!(svg.matches("stroke-dasharray").count(), 1);
    }

    #[test]
    fn the_axis_is_of_letters() {
        // Windows of 112, 112 and 26 letters, a sequence without any, and one of 300 letters: 700
        // in all.
        let sequences = [(3, 250), (0, 150), (3, 300)];
        let positions = Positions::new(&Covered {
            name: "",
            reads: &[0; 6],
            stride: 112,
            sequences: &sequences,
        });
        assert_eq!(
            [0, 1, 2, 3, 4, 5, 6].map(|window| positions.of(window)),
            [0, 112, 224, 400, 512, 624, 700]
        );
        let svg = draw("short", &[1; 6], &sequences);
        // Its last tick is at its end, and the two starts are where the letters are.
        assert!(
            svg.contains("<text x=\"928.0\" y=\"334.0\"") && svg.contains(">700</text>"),
            "{svg}"
        );
        for start in [250.0, 400.0] {
            let x = LEFT + 844.0 * start / 700.0;
            assert!(
                svg.contains(&format!("M{x:.1} {TOP}V{BOTTOM}\" stroke=\"{GREY}\"")),
                "{svg}"
            );
        }
    }

    #[test]
    fn long_genomes_have_means_and_peaks() {
        let mut reads = vec![1u32; 100_000];
        reads[50_000] = 4000;
        let svg = draw("long", &reads, &[(100, 11_200); 1000]);
        assert!(svg.len() < 60_000 && !svg.contains("stroke-dasharray"));
        assert!(
            svg.contains("the highest window has 4,000 reads") && svg.contains("(Mbp)"),
            "{svg}"
        );
    }

    #[test]
    fn nothing_found_is_a_picture_that_says_so() {
        for reads in [&[][..], &[0], &[0, 0, 0]] {
            let svg = draw("", reads, &[(0, 9), (reads.len(), 90)]);
            assert!(
                svg.contains("No read was found") && svg.contains("Genome coverage"),
                "{svg}"
            );
        }
    }

    #[test]
    fn names_are_escaped() {
        let svg = draw("<script>\"&\u{1}", &[1], &[(1, 112)]);
        assert!(svg.contains("&lt;script&gt;&quot;&amp; ") && !svg.contains("<script"));
        assert!(draw(&"x".repeat(300), &[1], &[(1, 112)]).contains('…'));
    }
}
