//! What a spectrum tells of a genome: as a table, as JSON, in words.

use std::fmt::Write;

use gyrase_count::spectrum::Spectrum;
use gyrase_picture::words::{bases, percents};
use serde_json::{Map, Value};

/// Digits of a value that is measured.
const DIGITS: i32 = 6;

/// An estimate: its name, its value, and the range of two standard errors to either side.
type Estimate = (&'static str, Option<f64>, Option<(f64, f64)>);

fn estimates(spectrum: &Spectrum) -> [Estimate; 14] {
    let (ranges, fit) = (&spectrum.ranges, spectrum.fit.as_ref());
    let whole = |number: Option<u64>| number.map(|number| number as f64);
    [
        ("k", Some(spectrum.k as f64), None),
        ("distinct", whole(Some(spectrum.distinct)), None),
        ("total", whole(Some(spectrum.total)), None),
        ("valley", whole(spectrum.valley), None),
        ("ploidy", spectrum.ploidy.map(f64::from), None),
        ("kmer_coverage", spectrum.hom_peak, ranges.coverage),
        (
            "genome_size",
            whole(spectrum.genome_size),
            ranges.genome_size,
        ),
        (
            "unique_size",
            whole(spectrum.unique_size),
            ranges.unique_size,
        ),
        ("repeats", spectrum.repeats(), None),
        (
            "heterozygosity",
            spectrum.heterozygosity,
            ranges.heterozygosity,
        ),
        ("one_differs", spectrum.one_differs, ranges.one_differs),
        ("error_rate", spectrum.error_rate, None),
        ("dispersion", fit.map(|fit| fit.dispersion), None),
        ("explained", fit.map(|fit| fit.explained), None),
    ]
}

/// An object: each estimate, null where it cannot be told, and its range as `<name>_range`.
pub fn json(spectrum: &Spectrum) -> Value {
    let mut object = Map::new();
    for (name, value, range) in estimates(spectrum) {
        object.insert(name.into(), value.map_or(Value::Null, number));
        if let Some((low, high)) = range {
            object.insert(
                format!("{name}_range"),
                [low, high].map(number).to_vec().into(),
            );
        }
    }
    object.into()
}

/// A line for each estimate: name, value, ends of the range; what cannot be told is empty.
pub fn table(spectrum: &Spectrum) -> String {
    let mut text = String::from("estimate\tvalue\tlow\thigh\n");
    let cell = |value: Option<f64>| value.map_or(String::new(), |value| number(value).to_string());
    for (name, value, range) in estimates(spectrum) {
        let (low, high) = range.unzip();
        let cells = [value, low, high].map(cell).join("\t");
        writeln!(text, "{name}\t{cells}").expect("a String takes every text");
    }
    text
}

/// Without digits that mean nothing: whole from 100,000 on, six digits below.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 || value.abs() >= 10f64.powi(DIGITS - 1) {
        return (value.round() as i64).into();
    }
    let places = DIGITS - 1 - value.abs().log10().floor() as i32;
    let scale = 10f64.powi(places.min(300));
    ((value * scale).round() / scale).into()
}

/// Says it to a person, with the digits that are known.
pub fn say(spectrum: &Spectrum) {
    let Some(size) = spectrum.genome_size else {
        tracing::info!(
            "the spectrum has no peak beside the errors: nothing can be said about the genome"
        );
        return;
    };
    let range = spectrum.ranges.genome_size.unwrap_or_default();
    let size = bases(size as f64, (range.1 - range.0) / 2.0);
    let repeats = spectrum.repeats().unwrap_or_default();
    tracing::info!(
        "genome size about {size}, {:.1} % of it repeats",
        100.0 * repeats
    );
    if let Some(depth) = spectrum.hom_peak {
        tracing::info!("each k-mer of the genome about {depth:.1} times");
    }
    if let Some(share) = spectrum.heterozygosity {
        let (low, high) = spectrum.ranges.heterozygosity.unwrap_or((share, share));
        tracing::info!("heterozygosity {}", percents((low, high)));
    }
    if let Some(share) = spectrum.one_differs {
        let (low, high) = spectrum.ranges.one_differs.unwrap_or((share, share));
        tracing::info!(
            "in {} of the bases one haplotype differs from all others",
            percents((low, high))
        );
    }
    if let Some(rate) = spectrum.error_rate {
        tracing::info!("sequencing errors about {:.2} % of the bases", rate * 100.0);
    }
    if let Some(fit) = &spectrum.fit {
        tracing::info!(
            "{:.1} % of the k-mers are where the fit has them",
            100.0 * fit.explained
        );
    }
}
