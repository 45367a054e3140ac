//! The tables and figures of the publication beside those of the model, as a page in one file.

use std::io::{self, Write};

use gyrase_picture::{Page, Svg, escape, put_line};

use super::constants::{Constant, SsdConstants};
use super::device::{BusyWith, SsdDesign};
use super::hosts::OtherCounter;
use super::mapping::PartitionMapping;
use super::power::added_hardware;
use super::published::{PADS, PublishedRuns, PublishedScalar, ScalarOrigin, Variation};
use super::report::{Bars, colour_of};
use super::sets::{PUBLISHED_K, PUBLISHED_SETS};

const PUBLISHED: &str = "#9aa5b1";
const MODELLED: &str = "#1c5d99";

const STYLE: &str = "\
body { font: 16px/1.5 Helvetica, Arial, sans-serif; color: #1f2933; margin: 0 auto; max-width: 62rem;
  padding: 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .2rem .7rem; text-align: left; border-bottom: 1px solid #e4e7eb; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
svg { max-width: 100%; height: auto; }
.scroll { overflow-x: auto; }
";

/// Writes the page.
///
/// # Errors
/// As `out` has them.
pub fn page(
    runs: &PublishedRuns<'_>,
    constants: &SsdConstants,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut body = String::new();
    head(&mut body);
    table_1(&mut body, constants);
    table_2(&mut body, runs);
    figure_9(&mut body, runs, constants);
    figure_10(&mut body, runs);
    let scalars = runs.scalars(constants);
    figure_11(&mut body, runs, &scalars);
    figure_12(&mut body, runs, &scalars);
    all_scalars(&mut body, &scalars);
    sentences(&mut body, runs);
    all_constants(&mut body, constants);
    body.push_str("</main>\n");
    let title = "Counting k-mers inside the storage: published and modelled";
    let page = Page {
        title,
        style: STYLE,
        body: &body,
        script: "",
    };
    page.begin(out)?;
    page.end(out)
}

fn picture(body: &mut String, svg: Svg) {
    put_line(body, format_args!("<figure>\n{}</figure>", svg.finish()));
}

fn section(body: &mut String, title: &str, words: &str) {
    put_line(
        body,
        format_args!("<h2>{}</h2>\n<p>{}</p>", escape(title), escape(words)),
    );
}

/// A table: its first column is of words, the others of numbers.
fn table(body: &mut String, head: &[&str], rows: &[Vec<String>]) {
    body.push_str("<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>");
    head.iter().for_each(|name| {
        put_line(
            body,
            format_args!("<th scope=\"col\">{}</th>", escape(name)),
        )
    });
    body.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        body.push_str("<tr>");
        for (column, cell) in row.iter().enumerate() {
            let number =
                cell.starts_with(|first: char| first.is_ascii_digit() || "+-".contains(first));
            let class = if column > 0 && number {
                " class=\"number\""
            } else {
                ""
            };
            put_line(body, format_args!("<td{class}>{}</td>", escape(cell)));
        }
        body.push_str("</tr>\n");
    }
    body.push_str("</tbody></table></div>\n");
}

fn head(body: &mut String) {
    body.push_str(
        "<p>Wu, Zhou, Xu, Venkat, Rosing and Skadron, <i>Abakus: Accelerating k-mer Counting with \
         Storage Technology</i>, ACM TACO 21 (1), 2024, doi:10.1145/3632952.</p>\n</header>\n<main>\n",
    );
    body.push_str(
        "<p>Nobody outside can repeat the publication: its five read sets have 13 to 91 GB, its \
         simulator is not public, and its figures have bars without numbers. What is here is a model \
         of our own. Reads of random genomes, with the six-base words of yeast and worm, stand in \
         for the read sets; the trunk of Gyrase cuts and counts them, and their partitions are \
         brought to the sums of table 2. Time is of an event-driven model of the drive, whose \
         constants are below. Some are <b>fitted</b> to figure 9 and section 7.4.2: those numbers are \
         no evidence for the model. Figures 10 to 12 are predicted, but \
         the model was changed with them in sight.</p>\n",
    );
}

fn table_1(body: &mut String, constants: &SsdConstants) {
    section(
        body,
        "Table 1: area and power",
        "Computed of the parts that the publication lists.",
    );
    let of = |design, kib: u64| added_hardware(constants, design, (128, 32), kib << 10);
    let (basic, op) = (of(SsdDesign::Basic, 512), of(SsdDesign::Op, 2048));
    let (small, large) = (of(SsdDesign::Op, 512), of(SsdDesign::Op, 4096));
    let rows = [
        ("Basic and BF, mm² of a chip", 0.51, basic.unit_mm2),
        ("Basic and BF, mm²", 65.9, basic.area_mm2),
        ("Basic and BF, peak W", 8.6, basic.peak_w),
        ("OP, mm² of a channel", 1.83, op.unit_mm2),
        ("OP, mm²", 58.6, op.area_mm2),
        ("32 scratchpads of 2 MB, mm²", 54.6, op.pads_mm2),
        ("32 scratchpads of 2 MB, W", 19.8, op.pads_w),
        ("32 scratchpads of 512 KB, mm²", 15.47, small.pads_mm2),
        ("32 scratchpads of 512 KB, W", 2.03, small.pads_w),
        ("32 scratchpads of 4 MB, mm²", 104.2, large.pads_mm2),
        ("32 scratchpads of 4 MB, W", 42.7, large.pads_w),
    ];
    let row = |(what, published, found): &(&str, f64, f64)| {
        let error = format!("{:+.1} %", 100.0 * (found / published - 1.0));
        vec![
            (*what).into(),
            format!("{published}"),
            format!("{found:.3}"),
            error,
        ]
    };
    table(
        body,
        &["", "published", "computed", ""],
        &rows.iter().map(row).collect::<Vec<_>>(),
    );
}

fn table_2(body: &mut String, runs: &PublishedRuns<'_>) {
    section(
        body,
        "Table 2: the read sets",
        "Sums are those of the publication, in thousand millions; shorter k-mers and what follows are \
         of what stands in for the reads.",
    );
    let milliards = |number: u64| format!("{:.3}", number as f64 / 1e9);
    let mut rows = Vec::new();
    for (number, profile) in runs.profiles.iter().enumerate() {
        let (set, all) = (&PUBLISHED_SETS[number / PUBLISHED_K.len()], profile.total());
        let published = match profile.k {
            28 => format!("{}, {}, {}", set.kmers, set.distinct, set.unique),
            _ => String::new(),
        };
        rows.push(vec![
            format!("{}, k = {}", set.name, profile.k),
            published,
            milliards(all.kmers),
            milliards(all.distinct),
            milliards(all.unique),
            milliards(all.kept),
            format!("{:.2}", all.kmers as f64 / all.super_kmers.max(1) as f64),
            format!("{:.0} %", 100.0 * profile.share_of_largest()),
        ]);
    }
    let head = [
        "",
        "published k-mers, distinct, unique",
        "k-mers",
        "distinct",
        "unique",
        "behind a filter",
        "k-mers of a super-k-mer",
        "in the largest 1 %",
    ];
    table(body, &head, &rows);
}

fn names(runs: &PublishedRuns<'_>) -> Vec<String> {
    let name = |(number, profile): (usize, &super::profile::StorageProfile)| {
        let set = PUBLISHED_SETS[number / PUBLISHED_K.len()].name;
        format!("{} {}", &set[..4], profile.k)
    };
    runs.profiles.iter().enumerate().map(name).collect()
}

fn figure_9(body: &mut String, runs: &PublishedRuns<'_>, constants: &SsdConstants) {
    section(
        body,
        "Figure 9: how many times as fast OP is",
        "By read set (its first letters) and k. Only means and two greatest values are published: \
         CPU 8.38, CPU and GPU 6.95 (at most 11.20), NEST 2.32 (9.84), SmartSSD 3.47, Basic 2.57, \
         BF 1.76. The rates of the first four are fitted, one number each.",
    );
    let op = Variation::of(SsdDesign::Op);
    let others = OtherCounter::ALL.map(|other| (other.name(), runs.against(other, constants)));
    let own = [SsdDesign::Basic, SsdDesign::Bf]
        .map(|design| (design.title(), runs.ratios(Variation::of(design), op)));
    const COLOURS: [&str; 6] = [
        "#cc79a7", "#e69f00", "#009e73", "#d55e00", "#9aa5b1", "#56b4e9",
    ];
    let rows = others.into_iter().chain(own).zip(COLOURS);
    let rows = rows
        .map(|((name, values), colour)| (name, colour, values))
        .collect();
    let bars = Bars {
        title: "Time by that of OP",
        subtitle: "modelled",
        names: names(runs),
        rows,
        doubling: true,
        y_title: "times",
    };
    picture(body, bars.draw());
}

fn figure_10(body: &mut String, runs: &PublishedRuns<'_>) {
    section(
        body,
        "Figure 10: where the time goes",
        "Shares of the busiest server of each kind. Published: 59.3 % of computation in OP on the mean, \
         more than twice that of the others.",
    );
    let row = |design: SsdDesign| {
        let shares = runs.of(Variation::of(design)).iter();
        let shares = shares
            .map(|run| 100.0 * run.share(BusyWith::Compute))
            .collect();
        (design.title(), colour_of(design), shares)
    };
    let bars = Bars {
        title: "Share of computation",
        subtitle: "modelled",
        names: names(runs),
        rows: SsdDesign::ALL.map(row).into(),
        doubling: false,
        y_title: "per cent",
    };
    picture(body, bars.draw());
}

/// The rows of a picture of what is published and what is found.
fn beside<'a>(scalars: &[&PublishedScalar]) -> Vec<(&'a str, &'a str, Vec<f64>)> {
    let published = scalars.iter().map(|scalar| scalar.published).collect();
    let found = scalars.iter().map(|scalar| scalar.found).collect();
    vec![
        ("published", PUBLISHED, published),
        ("modelled", MODELLED, found),
    ]
}

fn of<'s>(scalars: &'s [PublishedScalar], place: &str) -> Vec<&'s PublishedScalar> {
    scalars
        .iter()
        .filter(|scalar| scalar.place == place)
        .collect()
}

fn figure_11(body: &mut String, runs: &PublishedRuns<'_>, scalars: &[PublishedScalar]) {
    section(
        body,
        "Figure 11: mappings of partitions",
        "How many times as fast as round-robin they are. The text leaves open which design that is of: \
         the bars are means of all three. And it leaves open how its heuristic spreads pairs of \
         partitions; only pairs that are spread at random balance.",
    );
    let chosen = of(scalars, "fig. 11");
    let names = [
        "random, least k",
        "random, best k",
        "k = 14",
        "k = 21",
        "k = 28",
    ];
    let bars = Bars {
        title: "Times as fast as round-robin",
        subtitle: "random, then the heuristic",
        names: names.map(String::from).into(),
        rows: beside(&chosen),
        doubling: false,
        y_title: "times",
    };
    picture(body, bars.draw());
    let mut rows = Vec::new();
    for design in SsdDesign::ALL {
        for mapping in &PartitionMapping::ALL[1..] {
            let times = runs.over_round_robin(design, *mapping);
            let mut row = vec![format!("{}, {mapping}", design.title())];
            row.extend(times.iter().map(|ratio| format!("{ratio:.2}")));
            rows.push(row);
        }
    }
    table(body, &["modelled", "k = 14", "k = 21", "k = 28"], &rows);
}

fn figure_12(body: &mut String, runs: &PublishedRuns<'_>, scalars: &[PublishedScalar]) {
    section(
        body,
        "Figure 12: sizes of scratchpads",
        "Means over all read sets at k = 28, by time with 2 MB.",
    );
    let chosen: Vec<_> = of(scalars, "fig. 12").into_iter().take(6).collect();
    let words = chosen
        .iter()
        .map(|scalar| scalar.what.replace("slower than", "by"))
        .collect();
    let bars = Bars {
        title: "How many times as long",
        subtitle: "scratchpads of a channel, OP",
        names: words,
        rows: beside(&chosen),
        doubling: false,
        y_title: "times",
    };
    picture(body, bars.draw());
    let mut rows = Vec::new();
    for (number, name) in names(runs).into_iter().enumerate() {
        let mut row = vec![name];
        let op = Variation::of(SsdDesign::Op);
        let base = runs.of(op)[number].seconds;
        for kib in PADS {
            let run = &runs.of(Variation {
                pad_kib: Some(kib),
                ..op
            })[number];
            row.push(format!("{:.2} ({})", run.seconds / base, run.large));
        }
        rows.push(row);
    }
    let head = [
        "time by 2 MB (too large)",
        "512 KB",
        "1 MB",
        "4 MB",
        "8 MB",
        "16 MB",
        "32 MB",
    ];
    table(body, &head, &rows);
}

fn all_scalars(body: &mut String, scalars: &[PublishedScalar]) {
    let near = |within: f64| {
        scalars
            .iter()
            .filter(|one| one.error().abs() <= within)
            .count()
    };
    let words = format!(
        "{} of {} are within 15 %, {} within 25 %. Fitted ones are no evidence.",
        near(0.15),
        scalars.len(),
        near(0.25)
    );
    section(body, "All numbers of the text", &words);
    let row = |scalar: &PublishedScalar| {
        let origin = match scalar.origin {
            ScalarOrigin::Fitted => "fitted",
            ScalarOrigin::Predicted => "predicted",
        };
        vec![
            format!("{}: {}", scalar.place, scalar.what),
            format!("{}", scalar.published),
            format!("{:.2}", scalar.found),
            format!("{:+.0} %", 100.0 * scalar.error()),
            origin.into(),
        ]
    };
    let rows: Vec<_> = scalars.iter().map(row).collect();
    table(body, &["", "published", "modelled", "off by", ""], &rows);
}

fn sentences(body: &mut String, runs: &PublishedRuns<'_>) {
    section(
        body,
        "What the text says in words",
        "Whether it holds in the model.",
    );
    let rows: Vec<Vec<String>> = runs
        .sentences()
        .into_iter()
        .map(|one| {
            let holds = if one.holds { "holds" } else { "does not hold" };
            vec![one.words.into(), holds.into(), one.because]
        })
        .collect();
    table(body, &["", "", "modelled"], &rows);
}

fn all_constants(body: &mut String, constants: &SsdConstants) {
    section(body, "Constants", "Each with where it comes from.");
    let row = |(name, constant): (&str, &Constant)| {
        let Constant {
            value,
            unit,
            source,
        } = constant;
        vec![
            name.replace('_', " "),
            format!("{value}"),
            unit.clone(),
            source.clone(),
        ]
    };
    let rows: Vec<_> = constants.each().into_iter().map(row).collect();
    table(body, &["", "value", "unit", "source"], &rows);
}
