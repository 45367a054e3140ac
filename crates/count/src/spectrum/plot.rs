//! A spectrum as a picture, without scripts or fonts from elsewhere.

use gyrase_picture::words::{self, grouped};
use gyrase_picture::{Anchor, Axes, GREY, INK, LOWEST, Scale, Stroke, Svg, bold, plain};

use super::Spectrum;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 616.0;
/// Room for a row of estimates below the plot.
const ROW: f64 = 44.0;
const LEFT: f64 = 116.0;
const RIGHT: f64 = 928.0;
const TOP: f64 = 122.0;
const BOTTOM: f64 = 528.0;
/// More steps than this are thinner than a pixel.
const STEPS: u64 = 800;
/// Multiplicities beyond this are left out.
const DEEPEST: u64 = 1 << 32;
/// Points of the fitted line.
const CURVE_POINTS: u32 = 400;
/// Mean width of a bold letter at the size of the labels.
const LETTER: f64 = 7.4;

const UNKNOWN: &str = "#b7c2ce";
const GENOME: &str = "#8fb8de";
const CURVE: &str = "#1c5d99";
const ERRORS: &str = "#e8b4a8";
const VALLEY: &str = "#b3412b";
const HET: &str = "#8a5a00";
const HOM: &str = "#1b6e3c";

/// Draws a histogram of pairs (multiplicity, distinct k-mers) with what [`Spectrum::estimate`]
/// found in it.
///
/// Linear axes end beyond the homozygous peak and just above the higher of the peaks, so that
/// errors and repeats do not flatten them; logarithmic ones show all. `sample` is the title; any
/// text is safe.
pub fn plot(histogram: &[(u64, u64)], spectrum: &Spectrum, sample: &str, scale: Scale) -> Svg {
    let frame = match scale {
        Scale::Linear => Frame::linear(histogram, spectrum),
        Scale::Log => Frame::log(histogram),
    };
    let height = match scale {
        Scale::Linear => HEIGHT,
        Scale::Log => HEIGHT + ROW,
    };
    let mut svg = Svg::new(WIDTH, height, &format!("k-mer spectrum of {sample}"));
    head(&mut svg, spectrum, sample);
    frame.axes.grid(&mut svg);
    area(&mut svg, &frame, spectrum);
    frame.axes.outline(&mut svg);
    curve(&mut svg, &frame.axes, spectrum);
    markers(&mut svg, &frame.axes, spectrum);
    match scale {
        Scale::Linear => boxed(&mut svg, spectrum),
        Scale::Log => below(&mut svg, spectrum),
    }
    note(&mut svg, &frame, spectrum);
    svg
}

/// What is drawn where.
struct Frame {
    axes: Axes<'static>,
    /// Where steps begin, and the last ends; multiplicity m covers m - 1/2 to m + 1/2.
    edges: Vec<f64>,
    /// Mean distinct k-mers of the multiplicities of each step.
    steps: Vec<f64>,
}

impl Frame {
    fn linear(histogram: &[(u64, u64)], spectrum: &Spectrum) -> Frame {
        let last = match spectrum.hom_peak {
            Some(peak) => (2.75 * peak).max(8.0),
            None => reach(histogram).max(8.0),
        };
        let step = (last as u64).div_ceil(STEPS).max(1);
        let steps = last as u64 / step + 2;
        let (edges, steps) = means(histogram, (0..=steps).map(|i| i * step).collect());
        // The step of the valley itself still holds errors where steps are wide.
        let from = spectrum
            .valley
            .map_or(0, |valley| (valley / step + u64::from(step > 1)) as usize);
        let tallest = steps
            .iter()
            .skip(from)
            .fold(0.0, |most: f64, &kmers| most.max(kmers));
        let most = if tallest > 0.0 { 1.12 * tallest } else { 1.0 };
        Frame {
            axes: axes(last, most, Scale::Linear),
            edges,
            steps,
        }
    }

    /// Steps that are equally wide where multiplicities are too dense to have one each.
    fn log(histogram: &[(u64, u64)]) -> Frame {
        let there = histogram.iter().filter(|row| row.1 > 0);
        let last = there.map(|row| row.0).max().unwrap_or(0).clamp(8, DEEPEST);
        let widened = |&from: &u64| Some(from + 1 + from / 64).filter(|_| from <= last);
        let (edges, steps) = means(histogram, std::iter::successors(Some(1), widened).collect());
        let tallest = steps.iter().fold(0.0, |most: f64, &kmers| most.max(kmers));
        Frame {
            axes: axes(1.1 * last as f64, (1.6 * tallest).max(10.0), Scale::Log),
            edges,
            steps,
        }
    }
}

/// Edges of steps that begin with these multiplicities, and the mean of what is in each.
fn means(histogram: &[(u64, u64)], firsts: Vec<u64>) -> (Vec<f64>, Vec<f64>) {
    let mut steps = vec![0.0; firsts.len() - 1];
    for &(count, kmers) in histogram {
        let behind = firsts.partition_point(|&first| first <= count);
        if let Some(slot) = behind.checked_sub(1).and_then(|step| steps.get_mut(step)) {
            *slot += kmers as f64;
        }
    }
    for (slot, ends) in steps.iter_mut().zip(firsts.windows(2)) {
        *slot /= (ends[1] - ends[0]) as f64;
    }
    (
        firsts.iter().map(|&first| first as f64 - 0.5).collect(),
        steps,
    )
}

fn axes(last: f64, most: f64, scale: Scale) -> Axes<'static> {
    Axes {
        left: LEFT,
        right: RIGHT,
        top: TOP,
        bottom: BOTTOM,
        x_end: last,
        y_end: most,
        scale,
        x_title: "Multiplicity (occurrences of a k-mer)",
        y_title: "Distinct k-mers",
    }
}

/// The multiplicity that 99 % of the distinct k-mers do not exceed.
fn reach(histogram: &[(u64, u64)]) -> f64 {
    let mut sorted = histogram.to_vec();
    sorted.sort_unstable();
    let total: f64 = sorted.iter().map(|&(_, kmers)| kmers as f64).sum();
    let mut sum = 0.0;
    let mut within = sorted.iter().take_while(|&&(_, kmers)| {
        let below = sum < 0.99 * total;
        sum += kmers as f64;
        below
    });
    within
        .by_ref()
        .last()
        .map_or(0.0, |&(count, _)| 1.5 * count as f64)
}

fn head(svg: &mut Svg, spectrum: &Spectrum, sample: &str) {
    let title = if sample.is_empty() {
        "k-mer spectrum"
    } else {
        sample
    };
    let (distinct, total) = (grouped(spectrum.distinct), grouped(spectrum.total));
    let subtitle = format!(
        "k = {}   ·   {distinct} distinct k-mers   ·   {total} in total",
        spectrum.k
    );
    svg.heading(LEFT, title, &subtitle);
}

/// The steps below the valley in one colour, the others in another.
fn area(svg: &mut Svg, frame: &Frame, spectrum: &Spectrum) {
    let valley = spectrum.valley.map_or(0.0, |valley| valley as f64);
    let split = frame.edges[1..].partition_point(|&edge| edge < valley);
    let edges: Vec<f64> = frame.edges.iter().map(|&edge| frame.axes.x(edge)).collect();
    let colour = if spectrum.hom_peak.is_some() {
        GENOME
    } else {
        UNKNOWN
    };
    let axes = &frame.axes;
    axes.steps(svg, ERRORS, &edges[..=split], &frame.steps[..split]);
    axes.steps(svg, colour, &edges[split..], &frame.steps[split..]);
}

/// The fitted peaks, as one line.
fn curve(svg: &mut Svg, axes: &Axes, spectrum: &Spectrum) {
    let Some(fit) = &spectrum.fit else { return };
    let points = (0..=CURVE_POINTS).filter_map(|i| {
        let multiplicity = axes.x_at(f64::from(i) / f64::from(CURVE_POINTS));
        let kmers = fit.at(multiplicity);
        // Along its foot a logarithmic axis would draw what is far below.
        let shown = axes.scale == Scale::Linear || kmers > LOWEST;
        shown.then(|| (axes.x(multiplicity), axes.y(kmers)))
    });
    let points: Vec<(f64, f64)> = points.collect();
    let stroke = Stroke {
        colour: CURVE,
        width: 1.8,
        dashed: false,
    };
    svg.polyline(&points, &stroke);
}

/// Dashed lines, their labels above the plot in two rows so that none covers another.
fn markers(svg: &mut Svg, axes: &Axes, spectrum: &Spectrum) {
    let homozygous = if spectrum.het_peak.is_some() {
        "homozygous"
    } else {
        "k-mer coverage"
    };
    let heterozygous = match spectrum.ploidy {
        Some(3..) => "one haplotype",
        _ => "heterozygous",
    };
    let valley = spectrum.valley.map(|valley| valley as f64);
    let found = [
        (valley, "error valley", 0, VALLEY),
        (spectrum.het_peak, heterozygous, 1, HET),
        (spectrum.hom_peak, homozygous, 1, HOM),
    ];
    let mut labels = Vec::new();
    let mut ends = [LEFT - 60.0; 2];
    for (multiplicity, name, decimals, colour) in found {
        let Some(multiplicity) = multiplicity else {
            continue;
        };
        let label = format!("{name} {}", times(multiplicity, decimals));
        let half = LETTER * label.chars().count() as f64 / 2.0;
        let x = axes.x(multiplicity);
        let center = x.clamp(LEFT - 40.0 + half, RIGHT - half);
        let row = usize::from(center - half < ends[0]);
        ends[row] = center + half + 8.0;
        let y = TOP - 12.0 - 18.0 * row as f64;
        svg.put(format_args!(
            "<path d=\"M{x:.1} {BOTTOM}V{:.1}\" stroke=\"{colour}\" stroke-width=\"1.4\" \
             stroke-dasharray=\"5 4\"/>",
            y + 4.0
        ));
        labels.push((center, y, colour, label));
    }
    for (x, y, colour, label) in labels {
        // White around the letters keeps them legible where the line of a label above passes.
        let style = bold(13, colour)
            + " stroke=\"#ffffff\" stroke-width=\"5\" stroke-linejoin=\"round\" \
               paint-order=\"stroke\"";
        svg.text(x, y, Anchor::Middle, &style, &label);
    }
}

/// The estimates, in a box at the right where the curve is low.
fn boxed(svg: &mut Svg, spectrum: &Spectrum) {
    let estimates = estimates(spectrum);
    let (left, top, width) = (RIGHT - 316.0, TOP + 14.0, 304.0);
    let height = 16.0 + 24.0 * estimates.len() as f64;
    svg.put(format_args!(
        "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" rx=\"5\" \
         fill=\"#ffffff\" fill-opacity=\"0.93\" stroke=\"#cbd2d9\"/>"
    ));
    for (i, (name, value)) in estimates.iter().enumerate() {
        let y = top + 26.0 + 24.0 * i as f64;
        svg.text(left + 14.0, y, Anchor::Start, &plain(14, GREY), name);
        let right = left + width - 14.0;
        svg.text(right, y, Anchor::End, &bold(14, INK), value);
    }
}

/// The estimates, in a row below the plot: logarithmic axes leave no room in it.
fn below(svg: &mut Svg, spectrum: &Spectrum) {
    let estimates = estimates(spectrum);
    let width = (RIGHT - LEFT + 60.0) / estimates.len() as f64;
    for (i, (name, value)) in estimates.iter().enumerate() {
        let left = LEFT - 60.0 + width * i as f64;
        svg.text(left, HEIGHT + 6.0, Anchor::Start, &plain(12, GREY), name);
        svg.text(left, HEIGHT + 25.0, Anchor::Start, &bold(13, INK), value);
    }
}

/// The name and the value of each estimate.
fn estimates(spectrum: &Spectrum) -> [(&'static str, String); 6] {
    let percent = |share: f64, decimals: usize| format!("{:.decimals$} %", 100.0 * share);
    let unknown = || "not visible".to_owned();
    let ranges = &spectrum.ranges;
    let bases = |size: Option<u64>, range: Option<(f64, f64)>| {
        size.map(|size| words::bases(size as f64, range.map_or(0.0, half)))
    };
    let repeats = spectrum.repeats().map(|share| percent(share, 1));
    let alone = spectrum.ploidy.map(|_| "one haplotype".to_owned());
    let heterozygosity = spectrum
        .heterozygosity
        .map(|share| words::percents(ranges.heterozygosity.unwrap_or((share, share))));
    let explained = spectrum.fit.as_ref().map(|fit| percent(fit.explained, 1));
    let size = bases(spectrum.genome_size, ranges.genome_size);
    let coverage = spectrum.hom_peak.map(|peak| times(peak, 1));
    let errors = spectrum.error_rate.map(|share| percent(share, 3));
    [
        ("Genome size", size.unwrap_or_else(unknown)),
        ("Repeats", repeats.unwrap_or_else(unknown)),
        ("k-mer coverage", coverage.unwrap_or_else(unknown)),
        (
            "Heterozygosity",
            heterozygosity.or(alone).unwrap_or_else(unknown),
        ),
        ("Error rate", errors.unwrap_or_else(unknown)),
        ("k-mers on the curve", explained.unwrap_or_else(unknown)),
    ]
}

/// Half of a range.
fn half((low, high): (f64, f64)) -> f64 {
    (high - low) / 2.0
}

/// What a reader must know to read the picture right.
fn note(svg: &mut Svg, frame: &Frame, spectrum: &Spectrum) {
    let highest = frame
        .steps
        .iter()
        .fold(0.0, |most: f64, &kmers| most.max(kmers));
    let note = if spectrum.distinct == 0 {
        "The histogram is empty.".to_owned()
    } else if spectrum.hom_peak.is_none() {
        "No coverage peak stands out of the errors, so nothing can be estimated; \
         it takes some 10x of coverage."
            .to_owned()
    } else if highest > frame.axes.y_end {
        format!(
            "The error peak is cut off; it rises to {} distinct k-mers.",
            grouped(highest.round() as u64)
        )
    } else {
        return;
    };
    svg.text(RIGHT, HEIGHT - 12.0, Anchor::End, &plain(12, GREY), &note);
}

/// A multiplicity; from 1,000 on without decimals.
fn times(number: f64, decimals: usize) -> String {
    if number >= 1000.0 {
        format!("{}×", grouped(number.round() as u64))
    } else {
        format!("{number:.decimals$}×")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn poisson(mean: f64, kmers: f64) -> Vec<(u64, u64)> {
        let mut probability = (-mean).exp();
        let mut histogram = vec![(1, 50_000_000), (2, 900_000), (3, 5000), (4, 100)];
        for count in 1..300u64 {
            probability *= mean / count as f64;
            histogram.push((count, (kmers * probability).round() as u64));
        }
        histogram
    }

    fn draw(histogram: &[(u64, u64)], sample: &str) -> String {
        plot(
            histogram,
            &Spectrum::estimate(histogram, 31),
            sample,
            Scale::Linear,
        )
        .finish()
    }

    /// Every element is closed and nothing is not a number.
    fn check(svg: &str) {
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
        assert_eq!(svg.matches('<').count(), svg.matches('>').count());
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }

    #[test]
    fn peaks_are_marked_and_estimates_written() {
        let svg = draw(&poisson(50.0, 4_600_000.0), "E. coli");
        check(&svg);
        for words in [
            "E. coli",
            "k = 31",
            "error valley",
            "k-mer coverage 50.0×",
            "4.60 Mbp",
            "one haplotype",
            "rises to 50,000,000",
        ] {
            assert!(svg.contains(words), "{words}: {svg}");
        }
    }

    #[test]
    fn histograms_without_peaks_are_pictures_that_say_so() {
        let empty = draw(&[], "");
        check(&empty);
        assert!(empty.contains("The histogram is empty.") && empty.contains("k-mer spectrum"));
        for histogram in [
            vec![(1, 1)],
            vec![(1, 900), (2, 30), (u64::MAX, 1)],
            vec![(5_000_000_000, 10)],
        ] {
            let svg = draw(&histogram, "low");
            check(&svg);
            assert!(svg.contains("No coverage peak"), "{histogram:?}");
            assert!(svg.len() < 100_000);
        }
    }

    #[test]
    fn logarithmic_axes_show_everything() {
        let mut histogram = poisson(50.0, 4_600_000.0);
        histogram.push((100_000, 7));
        let spectrum = Spectrum::estimate(&histogram, 31);
        let svg = plot(&histogram, &spectrum, "log", Scale::Log).finish();
        check(&svg);
        assert!(svg.contains(">100,000</text>") && svg.contains(">10,000,000</text>"));
        assert!(!svg.contains("cut off") && svg.len() < 100_000, "{svg}");
        for histogram in [vec![], vec![(1, 1)], vec![(u64::MAX, u64::MAX)]] {
            let spectrum = Spectrum::estimate(&histogram, 31);
            check(&plot(&histogram, &spectrum, "", Scale::Log).finish());
        }
    }

    #[test]
    fn names_are_escaped_and_shortened() {
        let svg = draw(&[], "<script>\"&\u{1}");
        check(&svg);
        assert!(svg.contains("&lt;script&gt;&quot;&amp; ") && !svg.contains("<script"));
        assert!(draw(&[], &"x".repeat(500)).contains('…'));
    }
}
