//! A page in one file: a table of species, and rings of taxa to explore, for many samples.
//!
//! The page needs no network, and forbids itself any. Its tables and bars are there without a
//! script. The data of the rings are JSON in a script element, where no letter can end that
//! element, and the script puts names on the page as texts only.

mod colour;
mod origin;
mod overview;

use std::collections::BTreeSet;
use std::io::{self, Write};

use gyrase_picture::Page;

use self::colour::colour;
pub use self::origin::Origin;
use self::overview::Overview;
use super::NamedTally;
use super::clades::Clades;
use super::json::{array, string};
use super::lines::name;
use crate::tally::{EvidenceNumbers, Tally};
use gyrase_taxonomy::{ROOT, Taxon, Taxonomy};

/// The page: its style, its script, and what stands around the data.
pub const PAGE: Page = Page {
    title: "Taxa",
    style: include_str!("html/page.css"),
    body: include_str!("html/body.html"),
    script: include_str!("html/page.js"),
};

/// Writes the page: the species of every sample, then all taxa as rings that can be searched and
/// entered, then where it comes from.
///
/// `title` and the names of samples may be any text. Fails as `out` does.
pub fn html(
    taxonomy: &Taxonomy,
    title: &str,
    samples: &[NamedTally],
    origin: &Origin,
    out: &mut dyn Write,
) -> io::Result<()> {
    let still = Overview::new(taxonomy, samples).html();
    let page = Page {
        title,
        body: &[&still, PAGE.body, &origin.html()].concat(),
        ..PAGE
    };
    page.write(out, |out| data(taxonomy, samples, out))
}

/// The taxa that any sample reaches, parents before children, and the reads of every sample.
fn data(taxonomy: &Taxonomy, samples: &[NamedTally], out: &mut dyn Write) -> io::Result<()> {
    let taxa = reached(taxonomy, samples);
    let place = |taxon: Taxon| {
        taxa.binary_search(&taxon)
            .expect("all that is above a taxon with reads is reached")
    };
    write!(out, "{{\"taxids\":")?;
    array(&taxa, out, |&taxon, out| {
        write!(out, "{}", taxonomy.taxid(taxon))
    })?;
    write!(out, ",\n\"names\":")?;
    array(&taxa, out, |&taxon, out| {
        string(&name(taxonomy, taxon), out)
    })?;
    write!(out, ",\n\"ranks\":")?;
    array(&taxa, out, |&taxon, out| {
        string(taxonomy.rank_name(taxon), out)
    })?;
    write!(out, ",\n\"parents\":")?;
    array(&taxa, out, |&taxon, out| match taxon {
        ROOT => write!(out, "null"),
        _ => write!(out, "{}", place(taxonomy.parent(taxon))),
    })?;
    write!(out, ",\n\"colours\":")?;
    array(&taxa, out, |&taxon, out| {
        string(&colour(taxonomy.taxid(taxon)), out)
    })?;
    write!(out, ",\n\"samples\":")?;
    array(samples, out, |sample, out| {
        reads(taxonomy, sample, place, out)
    })?;
    writeln!(out, "}}")
}

/// The reads of a sample and what speaks for its taxa.
fn reads(
    taxonomy: &Taxonomy,
    sample: &NamedTally,
    place: impl Fn(Taxon) -> usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    write!(out, "\n{{\"name\":")?;
    string(sample.name, out)?;
    let unclassified = sample.tally.unclassified();
    write!(out, ",\"unclassified\":{unclassified},\"reads\":")?;
    array(sample.tally.taxa(), out, |(taxon, reads), out| {
        write!(out, "[{},{reads}]", place(taxon))
    })?;
    write!(out, ",\"evidence\":")?;
    let witnessed = witnessed(taxonomy, sample.tally);
    array(witnessed, out, |(taxon, evidence), out| {
        let features = cell((evidence.hits > 0).then_some(evidence.distinct));
        let expected = cell(evidence.expected_features.map(f64::round));
        let windows = evidence.all_windows;
        let covered = cell(windows.map(|_| evidence.covered_windows));
        write!(out, "[{},{features},{expected},", place(taxon))?;
        write!(out, "{covered},{}]", cell(windows))
    })?;
    write!(out, "}}")
}

/// The clades with reads that something is known of.
fn witnessed(taxonomy: &Taxonomy, tally: &Tally) -> Vec<(Taxon, EvidenceNumbers)> {
    let clades = Clades::new(taxonomy, tally, false);
    let all = clades
        .iter()
        .zip(clades.evidence(taxonomy, tally))
        .filter(|(clade, _)| clade.reads > 0);
    let known = all.filter(|(_, evidence)| evidence.hits > 0 || evidence.all_windows.is_some());
    known
        .map(|(clade, evidence)| (clade.taxon, evidence))
        .collect()
}

fn cell(value: Option<impl ToString>) -> String {
    value.map_or("null".to_owned(), |value| value.to_string())
}

fn reached(taxonomy: &Taxonomy, samples: &[NamedTally]) -> Vec<Taxon> {
    let mut reached = BTreeSet::from([ROOT]);
    for (taxon, _) in samples.iter().flat_map(|sample| sample.tally.taxa()) {
        // What is above a taxon that is there already is there too.
        let new: Vec<_> = taxonomy
            .path(taxon)
            .take_while(|above| !reached.contains(above))
            .collect();
        reached.extend(new);
    }
    reached.into_iter().collect()
}
