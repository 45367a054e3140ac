//! How often the k-mer at each place of a set of sequences occurs in it.
//!
//! The *frequency* of a place is how often the k letters from it on occur in all sequences
//! together; its *mappability* is 1 divided by that (Pockrandt et al. 2020, GenMap, no errors). A
//! place of which the k letters leave the sequence, or are not all bases, has neither.

use std::io::Write;

use gyrase_work::Progress;

use crate::error::Error;
use crate::numbers::NumberArray;
use crate::sort::{SENTINEL, SuffixArray};
use crate::strands::sort;
use crate::texts::Texts;

/// What is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Letters of a k-mer, at least 1.
    pub k: usize,
    /// Whether a k-mer occurs where its reverse complement does, too.
    pub both_strands: bool,
    /// Whether frequencies are told instead of mappabilities.
    pub counts: bool,
    /// Bytes of memory that the run may take.
    pub memory: u64,
}

/// What a run found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Sequences.
    pub texts: u64,
    /// Their letters.
    pub letters: u64,
    /// Places that have a frequency.
    pub places: u64,
    /// Places of k-mers that occur once.
    pub unique: u64,
    /// The highest frequency.
    pub most: u64,
}

/// Writes a bedGraph: sequence, first place, place behind the last, from 0, and the mappability of
/// these places. Neighbouring places of one frequency share a line; those without have none.
///
/// `sorted` are the suffixes of the texts, where they are known.
///
/// # Errors
/// The memory does not suffice, `out` cannot be written.
pub fn run(
    config: &Config,
    texts: Texts,
    sorted: Option<SuffixArray>,
    out: &mut dyn Write,
    progress: &Progress,
) -> Result<Summary, Error> {
    let (own, letters) = (texts.texts.len(), texts.letters.len());
    let frequencies = frequencies(config, texts, sorted, progress)?;
    progress.start("write", letters as u64);
    let Frequencies { texts, counts } = frequencies;
    let mut summary = Summary::default();
    for text in &texts.texts[..own] {
        progress.go_on()?;
        let mut start = text.start;
        while start < text.end {
            let count = counts.get(start);
            let same = (start..text.end).take_while(|&place| counts.get(place) == count);
            let end = start + same.count();
            if count > 0 {
                out.write_all(&text.name)?;
                let [first, behind] = [start, end].map(|place| place - text.start);
                let told = match config.counts {
                    true => count.to_string(),
                    false => six_digits(1.0 / count as f64),
                };
                writeln!(out, "\t{first}\t{behind}\t{told}")?;
            }
            summary.add(count as u64, (end - start) as u64);
            start = end;
        }
        summary.texts += 1;
        summary.letters += text.len() as u64;
        progress.advance(text.len() as u64);
    }
    Ok(summary)
}

impl Summary {
    fn add(&mut self, count: u64, places: u64) {
        self.places += if count > 0 { places } else { 0 };
        self.unique += if count == 1 { places } else { 0 };
        self.most = self.most.max(count);
    }
}

/// Texts, and how often the k-mer from each position on occurs; 0 where there is none.
struct Frequencies {
    texts: Texts,
    counts: NumberArray,
}

fn frequencies(
    config: &Config,
    mut texts: Texts,
    sorted: Option<SuffixArray>,
    progress: &Progress,
) -> Result<Frequencies, Error> {
    let own = texts.letters.len();
    let sorted = match sorted.filter(|_| !config.both_strands) {
        Some(sorted) => sorted,
        None => sort(&mut texts, config.both_strands, config.memory, progress)?,
    };
    progress.start("count", 0);
    let length = texts.letters.len();
    let mut counts = NumberArray::zeros(own, length as u64);
    let mut start = 0;
    for place in 1..=length {
        if place < length && sorted.common.get(place) >= config.k {
            continue;
        }
        let alike = place - start;
        for member in start..place * usize::from(alike > 1) {
            let position = sorted.positions.get(member);
            if position < own {
                counts.set(position, alike);
            }
        }
        start = place;
    }
    // What occurs once shares fewer letters with its neighbours, but may have as many.
    let mut run = 0;
    for position in (0..own).rev() {
        run = if texts.letters[position] == SENTINEL {
            0
        } else {
            run + 1
        };
        if run >= config.k && counts.get(position) == 0 {
            counts.set(position, 1);
        }
    }
    Ok(Frequencies { texts, counts })
}

/// A number above 0 and up to 1 with six digits, as C's `%g` has it.
fn six_digits(value: f64) -> String {
    let scientific = format!("{value:.5e}");
    let (digits, power) = scientific.split_once('e').expect("it has an exponent");
    let power: i32 = power.parse().expect("an exponent is a number");
    let shorter = |text: &str| text.trim_end_matches('0').trim_end_matches('.').to_owned();
    match power {
        -4.. => shorter(&format!("{value:.*}", (5 - power) as usize)),
        _ => format!("{}e-{:02}", shorter(digits), -power),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_as_c_prints_them() {
        for (count, text) in [
            (1, "1"),
            (2, "0.5"),
            (3, "0.333333"),
            (7, "0.142857"),
            (10, "0.1"),
            (4096, "0.000244141"),
            (10_000, "0.0001"),
            (12_345, "8.10045e-05"),
            (100_000, "1e-05"),
        ] {
            assert_eq!(six_digits(1.0 / f64::from(count)), text);
        }
    }
}
