//! A spectrum as a picture: one self-contained SVG, without scripts or fonts of its own.

use std::fmt::Write as _;

use super::Spectrum;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 616.0;
const LEFT: f64 = 116.0;
const RIGHT: f64 = 928.0;
const TOP: f64 = 122.0;
const BOTTOM: f64 = 528.0;
/// More steps than this are thinner than a pixel.
const STEPS: u64 = 800;
/// Points of the fitted line.
const CURVE_POINTS: u32 = 400;
/// Mean width of a bold letter at the size of the labels.
const LETTER: f64 = 7.4;

const INK: &str = "#1f2933";
const GREY: &str = "#52606d";
const GRID: &str = "#e4e7eb";
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
/// The axes are linear and end beyond the homozygous peak and just above the higher of the peaks,
/// so that errors and repeats do not flatten them. `sample` is the title; any text is safe.
pub fn plot(histogram: &[(u64, u64)], spectrum: &Spectrum, sample: &str) -> String {
    let frame = Frame::new(histogram, spectrum);
    let mut svg = String::new();
    head(&mut svg, spectrum, sample);
    axes(&mut svg, &frame);
    area(&mut svg, &frame, spectrum);
    curve(&mut svg, &frame, spectrum);
    markers(&mut svg, &frame, spectrum);
    facts(&mut svg, spectrum);
    note(&mut svg, &frame, spectrum);
    svg.push_str("</svg>\n");
    svg
}

/// What is drawn where.
struct Frame {
    /// Last multiplicity and greatest number of k-mers on the axes.
    last: f64,
    most: f64,
    /// Multiplicities to a step.
    step: u64,
    /// Mean distinct k-mers of the multiplicities of each step, from multiplicity 0.
    steps: Vec<f64>,
}

impl Frame {
    fn new(histogram: &[(u64, u64)], spectrum: &Spectrum) -> Frame {
        let last = match spectrum.hom_peak {
            Some(peak) => (2.75 * peak).max(8.0),
            None => reach(histogram).max(8.0),
        };
        let step = (last as u64).div_ceil(STEPS).max(1);
        let mut steps = vec![0.0; (last as u64 / step) as usize + 2];
        for &(count, kmers) in histogram {
            if let Some(slot) = steps.get_mut((count / step) as usize) {
                *slot += kmers as f64 / step as f64;
            }
        }
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
            last,
            most,
            step,
            steps,
        }
    }

    fn x(&self, multiplicity: f64) -> f64 {
        LEFT + (RIGHT - LEFT) * (multiplicity / self.last).clamp(0.0, 1.0)
    }

    fn y(&self, kmers: f64) -> f64 {
        BOTTOM - (BOTTOM - TOP) * (kmers / self.most).clamp(0.0, 1.0)
    }

    /// Left edge of a step; multiplicity m covers m - 1/2 to m + 1/2.
    fn edge(&self, step: usize) -> f64 {
        self.x((step as u64 * self.step) as f64 - 0.5)
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

fn head(svg: &mut String, spectrum: &Spectrum, sample: &str) {
    let label = escape(sample);
    put(
        svg,
        format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         role=\"img\" aria-label=\"k-mer spectrum of {label}\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n"
        ),
    );
    let title = if sample.is_empty() {
        "k-mer spectrum".to_owned()
    } else {
        shortened(sample, 70)
    };
    text(
        svg,
        LEFT,
        38.0,
        "start",
        &format!("font-size=\"21\" font-weight=\"bold\" fill=\"{INK}\""),
        &title,
    );
    let (distinct, total) = (thousands(spectrum.distinct), thousands(spectrum.total));
    let subtitle = format!(
        "k = {}   ·   {distinct} distinct k-mers   ·   {total} in total",
        spectrum.k
    );
    text(
        svg,
        LEFT,
        61.0,
        "start",
        &format!("font-size=\"14\" fill=\"{GREY}\""),
        &subtitle,
    );
}

fn axes(svg: &mut String, frame: &Frame) {
    let style = format!("font-size=\"13\" fill=\"{INK}\"");
    for kmers in ticks(frame.most) {
        let y = frame.y(kmers as f64);
        put(
            svg,
            format_args!("<path d=\"M{LEFT} {y:.1}H{RIGHT}\" stroke=\"{GRID}\"/>\n"),
        );
        text(svg, LEFT - 10.0, y + 4.5, "end", &style, &thousands(kmers));
    }
    for multiplicity in ticks(frame.last) {
        let x = frame.x(multiplicity as f64);
        put(
            svg,
            format_args!("<path d=\"M{x:.1} {BOTTOM}v6\" stroke=\"{INK}\"/>\n"),
        );
        text(
            svg,
            x,
            BOTTOM + 22.0,
            "middle",
            &style,
            &thousands(multiplicity),
        );
    }
    let style = format!("font-size=\"15\" fill=\"{INK}\"");
    text(
        svg,
        (LEFT + RIGHT) / 2.0,
        BOTTOM + 50.0,
        "middle",
        &style,
        "Multiplicity (occurrences of a k-mer)",
    );
    let middle = (TOP + BOTTOM) / 2.0;
    let turned = format!("{style} transform=\"rotate(-90 22 {middle})\"");
    text(svg, 22.0, middle, "middle", &turned, "Distinct k-mers");
}

/// The steps below the valley in one colour, the others in another.
fn area(svg: &mut String, frame: &Frame, spectrum: &Spectrum) {
    let split = spectrum
        .valley
        .map_or(0, |valley| (valley / frame.step) as usize)
        .min(frame.steps.len());
    steps(svg, frame, 0..split, ERRORS);
    let colour = if spectrum.hom_peak.is_some() {
        GENOME
    } else {
        UNKNOWN
    };
    steps(svg, frame, split..frame.steps.len(), colour);
    put(
        svg,
        format_args!(
            "<path d=\"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}\" fill=\"none\" stroke=\"{INK}\"/>\n"
        ),
    );
}

fn steps(svg: &mut String, frame: &Frame, range: std::ops::Range<usize>, colour: &str) {
    if range.is_empty() {
        return;
    }
    put(
        svg,
        format_args!(
            "<path fill=\"{colour}\" d=\"M{:.2} {BOTTOM}",
            frame.edge(range.start)
        ),
    );
    for step in range {
        put(
            svg,
            format_args!(
                "V{:.2}H{:.2}",
                frame.y(frame.steps[step]),
                frame.edge(step + 1)
            ),
        );
    }
    put(svg, format_args!("V{BOTTOM}Z\"/>\n"));
}

/// The fitted peaks, as one line.
fn curve(svg: &mut String, frame: &Frame, spectrum: &Spectrum) {
    let Some(fit) = &spectrum.fit else { return };
    let points = (0..=CURVE_POINTS).map(|i| {
        let multiplicity = frame.last * f64::from(i) / f64::from(CURVE_POINTS);
        format!(
            "{:.1},{:.1}",
            frame.x(multiplicity),
            frame.y(fit.at(multiplicity))
        )
    });
    let points = points.collect::<Vec<_>>().join(" ");
    put(
        svg,
        format_args!(
            "<polyline fill=\"none\" stroke=\"{CURVE}\" stroke-width=\"1.8\" stroke-linejoin=\"round\" points=\"{points}\"/>\n"
        ),
    );
}

/// Dashed lines, their labels above the plot in two rows so that none covers another.
fn markers(svg: &mut String, frame: &Frame, spectrum: &Spectrum) {
    let homozygous = if spectrum.het_peak.is_some() {
        "homozygous"
    } else {
        "k-mer coverage"
    };
    let found = [
        (
            spectrum.valley.map(|valley| valley as f64),
            "error valley",
            0,
            VALLEY,
        ),
        (spectrum.het_peak, "heterozygous", 1, HET),
        (spectrum.hom_peak, homozygous, 1, HOM),
    ];
    let mut labels = String::new();
    let mut ends = [LEFT - 60.0; 2];
    for (place, name, places, colour) in found {
        let Some(place) = place else { continue };
        let label = format!("{name} {}", times(place, places));
        let half = LETTER * label.chars().count() as f64 / 2.0;
        let x = frame.x(place);
        let center = x.clamp(LEFT - 40.0 + half, RIGHT - half);
        let row = usize::from(center - half < ends[0]);
        ends[row] = center + half + 8.0;
        let y = TOP - 12.0 - 18.0 * row as f64;
        put(
            svg,
            format_args!(
                "<path d=\"M{x:.1} {BOTTOM}V{:.1}\" stroke=\"{colour}\" stroke-width=\"1.4\" \
                 stroke-dasharray=\"5 4\"/>\n",
                y + 4.0
            ),
        );
        // White around the letters keeps them legible where the line of a label above passes.
        let style = format!(
            "font-size=\"13\" font-weight=\"bold\" fill=\"{colour}\" stroke=\"#ffffff\" stroke-width=\"5\" \
             stroke-linejoin=\"round\" paint-order=\"stroke\""
        );
        text(&mut labels, center, y, "middle", &style, &label);
    }
    svg.push_str(&labels);
}

/// The estimates, in a box at the right where the curve is low.
fn facts(svg: &mut String, spectrum: &Spectrum) {
    let percent = |share: f64, places| format!("{:.places$} %", 100.0 * share);
    let unknown = || "not visible".to_owned();
    let alone = || {
        if spectrum.hom_peak.is_some() {
            "one peak only".to_owned()
        } else {
            unknown()
        }
    };
    let rows = [
        (
            "Genome size",
            spectrum
                .genome_size
                .map_or_else(unknown, |size| format!("{} bp", thousands(size))),
        ),
        (
            "k-mer coverage",
            spectrum
                .hom_peak
                .map_or_else(unknown, |peak| times(peak, 1)),
        ),
        (
            "Heterozygosity",
            spectrum
                .heterozygosity
                .map_or_else(alone, |share| percent(share, 2)),
        ),
        (
            "Error rate",
            spectrum
                .error_rate
                .map_or_else(unknown, |share| percent(share, 3)),
        ),
    ];
    let (left, top, width) = (RIGHT - 286.0, TOP + 14.0, 274.0);
    put(
        svg,
        format_args!(
            "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"112\" rx=\"5\" fill=\"#ffffff\" fill-opacity=\"0.93\" \
         stroke=\"#cbd2d9\"/>\n"
        ),
    );
    for (i, (name, value)) in rows.iter().enumerate() {
        let y = top + 26.0 + 24.0 * i as f64;
        text(
            svg,
            left + 14.0,
            y,
            "start",
            &format!("font-size=\"14\" fill=\"{GREY}\""),
            name,
        );
        let style = format!("font-size=\"14\" font-weight=\"bold\" fill=\"{INK}\"");
        text(svg, left + width - 14.0, y, "end", &style, value);
    }
}

/// What a reader must know to read the picture right.
fn note(svg: &mut String, frame: &Frame, spectrum: &Spectrum) {
    let highest = frame
        .steps
        .iter()
        .fold(0.0, |most: f64, &kmers| most.max(kmers));
    let note = if spectrum.distinct == 0 {
        "The histogram is empty.".to_owned()
    } else if spectrum.hom_peak.is_none() {
        "No coverage peak stands out of the errors, so nothing can be estimated; it takes some 10x of coverage."
            .to_owned()
    } else if highest > frame.most {
        format!(
            "The error peak is cut off; it rises to {} distinct k-mers.",
            thousands(highest.round() as u64)
        )
    } else {
        return;
    };
    text(
        svg,
        RIGHT,
        HEIGHT - 12.0,
        "end",
        &format!("font-size=\"12\" fill=\"{GREY}\""),
        &note,
    );
}

/// Round numbers from 0 to `end`, five to eleven of them where `end` is not below 5.
fn ticks(end: f64) -> Vec<u64> {
    let mut unit = 1u64;
    while (unit as f64) * 10.0 < end && unit < u64::MAX / 100 {
        unit *= 10;
    }
    let step = [unit / 5, unit / 2, unit, unit * 2]
        .into_iter()
        .find(|&step| step > 0 && end / step as f64 <= 10.0);
    let step = step.unwrap_or(unit * 2);
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

/// A multiplicity; from 1,000 on without decimals.
fn times(number: f64, places: usize) -> String {
    if number >= 1000.0 {
        format!("{}×", thousands(number.round() as u64))
    } else {
        format!("{number:.places$}×")
    }
}

/// The first `most` characters, with an ellipsis where some are left out.
fn shortened(name: &str, most: usize) -> String {
    if name.chars().count() <= most {
        return name.to_owned();
    }
    name.chars().take(most - 1).chain(['…']).collect()
}

/// Text that is safe in an element and in a quoted attribute. Control characters, which XML
/// forbids, become spaces.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            control if control.is_control() || matches!(control, '\u{fffe}' | '\u{ffff}') => {
                escaped.push(' ')
            }
            other => escaped.push(other),
        }
    }
    escaped
}

fn text(svg: &mut String, x: f64, y: f64, anchor: &str, style: &str, words: &str) {
    let words = escape(words);
    put(
        svg,
        format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" {style}>{words}</text>\n"
        ),
    );
}

fn put(svg: &mut String, words: std::fmt::Arguments) {
    svg.write_fmt(words).expect("a String takes every text");
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
        plot(histogram, &Spectrum::estimate(histogram, 31), sample)
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
            "4,59",
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
    fn names_are_escaped_and_shortened() {
        let svg = draw(&[], "<script>\"&\u{1}");
        check(&svg);
        assert!(svg.contains("&lt;script&gt;&quot;&amp; ") && !svg.contains("<script"));
        assert!(draw(&[], &"x".repeat(500)).contains('…'));
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks(8.0), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(ticks(98.0), [0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
        assert_eq!(ticks(1.0), [0, 1]);
        for end in [1.0, 2.5, 11.0, 23.0, 101.0, 340_000.0, 1e9, 1.8e19] {
            assert!((2..=11).contains(&ticks(end).len()), "{end}");
        }
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(
            (thousands(0), thousands(999), thousands(1000)),
            ("0".into(), "999".into(), "1,000".into())
        );
    }
}
