//! What a page shows without its script: a table of species, bars of the samples.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;

use gyrase_picture::escape;
use gyrase_picture::words::{grouped, percent, things};
use gyrase_taxonomy::{Rank, Taxon, Taxonomy};

use super::colour::colour;
use crate::report::NamedTally;
use crate::report::lines::{name, ratio};
use crate::tally::Tally;

/// The most cells and the most rows of a table; there is always room for [`FEWEST`] species.
const CELLS: usize = 20_000;
const MOST: usize = 500;
const FEWEST: usize = 20;
/// Species with a colour of their own in the bars.
const COLOURED: usize = 12;

/// Colours of what is no species, in the style of the page.
const OTHERS: &str = "var(--others)";
const ABOVE: &str = "var(--above)";
const UNCLASSIFIED: &str = "var(--unclassified)";

/// The species of some samples.
pub struct Overview<'a> {
    taxonomy: &'a Taxonomy,
    samples: &'a [NamedTally<'a>],
    /// By their shares of the samples, then by taxid.
    species: Vec<Species>,
    /// Reads of taxa that belong to no species, by sample.
    above: Vec<u64>,
}

/// A species and its reads, by sample.
struct Species {
    taxon: Taxon,
    reads: Vec<u64>,
}

impl<'a> Overview<'a> {
    /// Counts the reads of the species of all samples.
    pub fn new(taxonomy: &'a Taxonomy, samples: &'a [NamedTally<'a>]) -> Overview<'a> {
        let mut reads_of: BTreeMap<Taxon, Vec<u64>> = BTreeMap::new();
        let mut above = vec![0; samples.len()];
        for (place, sample) in samples.iter().enumerate() {
            for (taxon, reads) in sample.tally.taxa() {
                match taxonomy.ancestor_at(taxon, Rank::Species) {
                    Some(species) => {
                        let row = reads_of.entry(species);
                        row.or_insert_with(|| vec![0; samples.len()])[place] += reads;
                    }
                    None => above[place] += reads,
                }
            }
        }
        let mut species: Vec<Species> = reads_of
            .into_iter()
            .map(|(taxon, reads)| Species { taxon, reads })
            .collect();
        let weight = |species: &Species| -> u128 {
            let shares = species.reads.iter().zip(samples).map(|(&reads, sample)| {
                (u128::from(reads) << 40) / u128::from(sample.tally.total().max(1))
            });
            shares.sum()
        };
        species.sort_by_cached_key(|species| {
            (Reverse(weight(species)), taxonomy.taxid(species.taxon))
        });
        Overview {
            taxonomy,
            samples,
            species,
            above,
        }
    }

    /// All of it but where the page comes from.
    pub fn html(&self) -> String {
        let mut out = String::new();
        self.summary(&mut out);
        out.push_str("</header>\n<main>\n<section>\n<h2 id=\"species\">Species</h2>\n");
        match self.samples {
            [] => out.push_str("<p>There is no sample.</p>\n"),
            [sample] => self.table_of_one(sample.tally, &mut out),
            _ => self.table_of_all(&mut out),
        }
        out.push_str("</section>\n");
        if self.samples.len() > 1 {
            self.bars(&mut out);
        }
        out
    }

    fn summary(&self, out: &mut String) {
        let sum = |of: fn(&Tally) -> u64| self.samples.iter().map(|sample| of(sample.tally)).sum();
        let (all, classified) = (sum(Tally::total), sum(Tally::classified));
        let (samples, reads) = (self.samples.len() as u64, things(all, "read"));
        let share = percent(classified, all);
        let species = match self.species.len() as u64 {
            1 => "1 species".to_owned(),
            more => format!("{} species", grouped(more)),
        };
        let samples = things(samples, "sample");
        put(
            out,
            format_args!("<p>{samples} · {reads} or pairs · {share} classified · {species}</p>\n"),
        );
    }

    /// How many species have a row.
    fn rows(&self) -> usize {
        let room = (CELLS / self.samples.len().max(1)).clamp(FEWEST, MOST);
        self.species.len().min(room)
    }

    /// The reads of a sample's species from the `first` on.
    fn others(&self, first: usize, sample: usize) -> u64 {
        let others = self.species[first..].iter();
        others.map(|species| species.reads[sample]).sum()
    }

    fn table_of_one(&self, tally: &Tally, out: &mut String) {
        let (total, rows) = (tally.total(), self.rows());
        out.push_str(
            "<div class=\"scroll\" role=\"region\" aria-labelledby=\"species\" tabindex=\"0\">\n\
             <table class=\"species\">\n<thead><tr><th scope=\"col\">Species</th>\
             <th scope=\"col\" class=\"number\">Taxid</th>\
             <th scope=\"col\" class=\"number\">Reads</th>\
             <th scope=\"col\" class=\"number\">Of all</th></tr></thead>\n<tbody>\n",
        );
        let most = self.species.first().map_or(0, |species| species.reads[0]);
        for species in &self.species[..rows] {
            let reads = species.reads[0];
            let width = 100.0 * ratio(reads, most);
            put(out, format_args!("<tr>{}", self.head(species.taxon)));
            put(
                out,
                format_args!(
                    "<td class=\"number\">{}</td><td class=\"number\">{}\
                     <span class=\"bar\" style=\"width:{width:.1}%\"></span></td>\
                     <td class=\"number\">{}</td></tr>\n",
                    self.taxonomy.taxid(species.taxon),
                    grouped(reads),
                    share(reads, total),
                ),
            );
        }
        out.push_str("</tbody>\n<tfoot>\n");
        for (label, _, reads) in self.rest(rows, 0) {
            put(
                out,
                format_args!(
                    "<tr><th scope=\"row\">{label}</th><td></td><td class=\"number\">{}</td>\
                     <td class=\"number\">{}</td></tr>\n",
                    grouped(reads),
                    share(reads, total)
                ),
            );
        }
        out.push_str("</tfoot>\n</table>\n</div>\n");
    }

    /// What is no species with a row, with its colour and the reads of a sample.
    fn rest(&self, rows: usize, sample: usize) -> Vec<(String, &'static str, u64)> {
        let mut rest = Vec::new();
        if rows < self.species.len() {
            let label = format!(
                "{} other species",
                grouped((self.species.len() - rows) as u64)
            );
            rest.push((label, OTHERS, self.others(rows, sample)));
        }
        let unclassified = self.samples[sample].tally.unclassified();
        rest.push((
            "No species, a taxon above".into(),
            ABOVE,
            self.above[sample],
        ));
        rest.push(("Unclassified".into(), UNCLASSIFIED, unclassified));
        rest
    }

    /// The name of a species, its colour before it, as the head of a row that leads to the taxon.
    fn head(&self, taxon: Taxon) -> String {
        let (name, taxid) = (
            escape(&name(self.taxonomy, taxon)),
            self.taxonomy.taxid(taxon),
        );
        format!(
            "<th scope=\"row\"><span class=\"key\" style=\"background:{}\"></span>\
             <a href=\"#taxid={taxid}\">{name}</a></th>",
            colour(taxid)
        )
    }

    fn table_of_all(&self, out: &mut String) {
        let rows = self.rows();
        out.push_str(
            "<p>Percent of all reads of each sample; the stronger the colour, the more.</p>\n\
             <div class=\"scroll\" role=\"region\" aria-labelledby=\"species\" tabindex=\"0\">\n\
             <table class=\"species many\">\n<thead><tr><th scope=\"col\">Species</th>",
        );
        for sample in self.samples {
            let name = escape(sample.name);
            put(
                out,
                format_args!("<th scope=\"col\" class=\"number\">{name}</th>"),
            );
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for species in &self.species[..rows] {
            put(out, format_args!("<tr>{}", self.head(species.taxon)));
            self.cells(out, |sample| species.reads[sample]);
        }
        out.push_str("</tbody>\n<tfoot>\n");
        for row in 0..self.rest(rows, 0).len() {
            let label = &self.rest(rows, 0)[row].0;
            put(out, format_args!("<tr><th scope=\"row\">{label}</th>"));
            self.cells(out, |sample| self.rest(rows, sample)[row].2);
        }
        out.push_str("<tr><th scope=\"row\">All reads</th>");
        for sample in self.samples {
            let reads = grouped(sample.tally.total());
            put(out, format_args!("<td class=\"number\">{reads}</td>"));
        }
        out.push_str("</tr>\n</tfoot>\n</table>\n</div>\n");
    }

    /// A cell for each sample, and the end of the row.
    fn cells(&self, out: &mut String, reads: impl Fn(usize) -> u64) {
        for (place, sample) in self.samples.iter().enumerate() {
            let (reads, total) = (reads(place), sample.tally.total());
            match reads {
                0 => out.push_str("<td class=\"number none\">0</td>"),
                _ => put(
                    out,
                    format_args!(
                        "<td class=\"number\" style=\"--part:{:.2}\" title=\"{} reads\">{}</td>",
                        ratio(reads, total).sqrt(),
                        grouped(reads),
                        share(reads, total)
                    ),
                ),
            }
        }
        out.push_str("</tr>\n");
    }

    /// A bar for each sample, of the species with the largest shares and of the rest.
    fn bars(&self, out: &mut String) {
        let coloured = self.species.len().min(COLOURED);
        out.push_str("<section>\n<h2 id=\"across\">Across samples</h2>\n<ul class=\"legend\">\n");
        let mut entry = |colour: &str, label: &str| {
            put(
                out,
                format_args!(
                    "<li><span class=\"key\" style=\"background:{colour}\"></span>{label}</li>\n"
                ),
            );
        };
        for species in &self.species[..coloured] {
            let label = escape(&name(self.taxonomy, species.taxon));
            entry(&colour(self.taxonomy.taxid(species.taxon)), &label);
        }
        for (label, colour, _) in self.rest(coloured, 0) {
            entry(colour, &label);
        }
        out.push_str(
            "</ul>\n<div class=\"scroll\" role=\"region\" aria-labelledby=\"across\" \
             tabindex=\"0\">\n<table class=\"bars\">\n<tbody>\n",
        );
        for (place, sample) in self.samples.iter().enumerate() {
            let label = escape(sample.name);
            put(
                out,
                format_args!("<tr><th scope=\"row\">{label}</th><td><span class=\"stack\">"),
            );
            let total = sample.tally.total();
            for species in &self.species[..coloured] {
                let taxid = self.taxonomy.taxid(species.taxon);
                let label = escape(&name(self.taxonomy, species.taxon));
                segment(out, &colour(taxid), &label, (species.reads[place], total));
            }
            for (label, colour, reads) in self.rest(coloured, place) {
                segment(out, colour, &label, (reads, total));
            }
            out.push_str("</span></td></tr>\n");
        }
        out.push_str("</tbody>\n</table>\n</div>\n</section>\n");
    }
}

/// A part of a bar; nothing where there are no reads.
fn segment(out: &mut String, colour: &str, label: &str, (reads, total): (u64, u64)) {
    if reads > 0 {
        let (width, share) = (100.0 * ratio(reads, total), share(reads, total));
        put(
            out,
            format_args!(
                "<span style=\"width:{width:.2}%;background:{colour}\" \
                 title=\"{label}: {share}\"></span>"
            ),
        );
    }
}

/// Percent of all reads; what is not nothing is never 0.
fn share(part: u64, whole: u64) -> String {
    match percent(part, whole) {
        share if part > 0 && share == "0.00 %" => "&lt;0.01 %".into(),
        share => share,
    }
}

fn put(out: &mut String, text: std::fmt::Arguments) {
    out.write_fmt(text).expect("a String takes every text");
}
