//! How evenly the reads lie along a genome, as a picture: one self-contained SVG, without scripts
//! or fonts of its own.

use std::io::{self, Write};

use super::lines::{escape, ratio};

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

const INK: &str = "#1f2933";
const GREY: &str = "#52606d";
const GRID: &str = "#e4e7eb";
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
    head(genome, out)?;
    axes(&frame, out)?;
    bars(&frame, &frame.highest, HIGHEST, out)?;
    bars(&frame, &frame.means, MEAN, out)?;
    starts(&frame, out)?;
    writeln!(
        out,
        "<path d=\"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}\" fill=\"none\" stroke=\"{INK}\"/>"
    )?;
    note(genome, &frame, out)?;
    writeln!(out, "</svg>")
}

/// What is drawn where.
struct Frame {
    means: Vec<f64>,
    highest: Vec<f64>,
    /// Reads at the top of the axis.
    most: f64,
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

    fn x(&self, letter: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * (letter / self.letters() as f64).min(1.0)
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
        let most = top(&highest);
        let first = |column: usize| positions.of(column * reads.len() / columns.max(1)) as f64;
        let edges = (0..=columns)
            .map(|column| positions.x(first(column)))
            .collect();
        Frame {
            means,
            highest,
            most: if most > 0.0 { 1.06 * most } else { 1.0 },
            edges,
            positions,
        }
    }

    fn y(&self, reads: f64) -> f64 {
        BOTTOM - (BOTTOM - TOP) * (reads / self.most).min(1.0)
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

fn head(genome: &Covered, out: &mut dyn Write) -> io::Result<()> {
    let name = escape(genome.name);
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         role=\"img\" aria-label=\"reads along {name}\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>"
    )?;
    let title = if genome.name.trim().is_empty() {
        "Genome coverage"
    } else {
        genome.name
    };
    text(
        out,
        LEFT,
        34.0,
        "start",
        &format!("font-size=\"19\" font-weight=\"bold\" fill=\"{INK}\""),
        &shortened(title, 80),
    )?;
    text(
        out,
        LEFT,
        58.0,
        "start",
        &format!("font-size=\"14\" fill=\"{GREY}\""),
        &facts(genome.reads),
    )
}

/// How many windows are covered, and how many would be by as many reads that lie evenly.
fn facts(reads: &[u32]) -> String {
    let all = reads.len() as u64;
    let covered = reads.iter().filter(|&&reads| reads > 0).count() as u64;
    let sum: u64 = reads.iter().map(|&reads| u64::from(reads)).sum();
    let mean = ratio(sum, all);
    let even = if all > 0 { -(-mean).exp_m1() } else { 0.0 };
    format!(
        "{} of {} windows covered ({:.1} %; {:.1} % if evenly spread)   ·   {mean:.2} reads per window",
        thousands(covered),
        thousands(all),
        100.0 * ratio(covered, all),
        100.0 * even
    )
}

fn axes(frame: &Frame, out: &mut dyn Write) -> io::Result<()> {
    let style = format!("font-size=\"13\" fill=\"{INK}\"");
    for reads in ticks(frame.most) {
        let y = frame.y(reads as f64);
        writeln!(
            out,
            "<path d=\"M{LEFT} {y:.1}H{RIGHT}\" stroke=\"{GRID}\"/>"
        )?;
        text(out, LEFT - 10.0, y + 4.5, "end", &style, &thousands(reads))?;
    }
    let letters = frame.positions.letters() as f64;
    let (unit, name) = unit(letters);
    for position in ticks(letters / unit) {
        let x = frame.positions.x(position as f64 * unit);
        writeln!(out, "<path d=\"M{x:.1} {BOTTOM}v6\" stroke=\"{INK}\"/>")?;
        text(
            out,
            x,
            BOTTOM + 22.0,
            "middle",
            &style,
            &thousands(position),
        )?;
    }
    let style = format!("font-size=\"14\" fill=\"{INK}\"");
    text(
        out,
        (LEFT + RIGHT) / 2.0,
        BOTTOM + 46.0,
        "middle",
        &style,
        &format!("Position in the genome ({name})"),
    )?;
    let middle = (TOP + BOTTOM) / 2.0;
    let turned = format!("{style} transform=\"rotate(-90 22 {middle})\"");
    text(out, 22.0, middle, "middle", &turned, "Reads per window")
}

/// The unit for positions up to so many letters, and its name.
fn unit(letters: f64) -> (f64, &'static str) {
    match letters {
        small if small <= 20_000.0 => (1.0, "bp"),
        middle if middle <= 10_000_000.0 => (1000.0, "kbp"),
        _ => (1_000_000.0, "Mbp"),
    }
}

fn bars(frame: &Frame, reads: &[f64], colour: &str, out: &mut dyn Write) -> io::Result<()> {
    if reads.is_empty() {
        return Ok(());
    }
    write!(out, "<path fill=\"{colour}\" d=\"M{LEFT} {BOTTOM}")?;
    for (column, &reads) in reads.iter().enumerate() {
        write!(out, "V{:.2}H{:.2}", frame.y(reads), frame.edges[column + 1])?;
    }
    writeln!(out, "V{BOTTOM}Z\"/>")
}

fn starts(frame: &Frame, out: &mut dyn Write) -> io::Result<()> {
    let positions = &frame.positions;
    if positions.sequences.len() > STARTS {
        return Ok(());
    }
    for &(_, start) in positions
        .sequences
        .iter()
        .filter(|&&(_, start)| start > 0 && start < positions.letters())
    {
        let x = positions.x(start as f64);
        writeln!(
            out,
            "<path d=\"M{x:.1} {TOP}V{BOTTOM}\" stroke=\"{GREY}\" stroke-width=\"0.6\" stroke-dasharray=\"2 3\"/>"
        )?;
    }
    Ok(())
}

/// What a reader must know to read the picture right.
fn note(genome: &Covered, frame: &Frame, out: &mut dyn Write) -> io::Result<()> {
    let style = format!("font-size=\"12\" fill=\"{GREY}\"");
    if genome.reads.len() > COLUMNS {
        text(
            out,
            LEFT,
            HEIGHT - 10.0,
            "start",
            &style,
            "Dark: mean of neighbouring windows; light: the highest of them.",
        )?;
    }
    let highest = genome.reads.iter().copied().max().unwrap_or(0);
    let words = if highest == 0 {
        "No read was found in this genome.".to_owned()
    } else if f64::from(highest) > frame.most {
        format!(
            "Cut off: the highest window has {} reads.",
            thousands(highest.into())
        )
    } else {
        return Ok(());
    };
    text(out, RIGHT, HEIGHT - 10.0, "end", &style, &words)
}

/// Round numbers from 0 to `end`, at most eleven of them.
fn ticks(end: f64) -> Vec<u64> {
    let mut unit = 1u64;
    while unit as f64 * 10.0 < end && unit < u64::MAX / 100 {
        unit *= 10;
    }
    let steps = [unit / 5, unit / 2, unit, unit * 2];
    let step = steps
        .into_iter()
        .find(|&step| step > 0 && end / step as f64 <= 10.0)
        .unwrap_or(unit * 2);
    (0..=(end / step as f64) as u64).map(|i| i * step).collect()
}

/// Digits in groups of three.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// The first `most` characters, with an ellipsis where some are left out.
fn shortened(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_owned();
    }
    name.chars().take(most - 1).chain(['…']).collect()
}

fn text(
    out: &mut dyn Write,
    x: f64,
    y: f64,
    anchor: &str,
    style: &str,
    words: &str,
) -> io::Result<()> {
    let words = escape(words);
    writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" {style}>{words}</text>"
    )
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
        let bars = "M84 312V312.00H295.00V96.91H506.00V204.45H717.00V312.00H928.00V312Z";
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
