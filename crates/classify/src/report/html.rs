//! An interactive page in one file: rings of taxa from the middle outwards, for many samples.
//!
//! The page needs no network, and forbids itself any. The data are JSON in a script element, where
//! no letter can end that element, and its script puts names on the page as texts only.

use std::collections::BTreeSet;
use std::io::{self, Write};

use gyrase_picture::Page;

use super::NamedTally;
use super::clades::Clades;
use super::json::{array, string};
use super::lines::name;
use crate::tally::{EvidenceNumbers, Tally};
use gyrase_taxonomy::{ROOT, Taxon, Taxonomy};

const STYLE: &str = include_str!("html/page.css");
const BODY: &str = include_str!("html/body.html");
const SCRIPT: &str = include_str!("html/page.js");

/// Writes the page: click a ring to zoom, the middle to go back; counts under the pointer; search
/// by name or taxid.
///
/// `title` and the names of samples may be any text. Fails as `out` does.
pub fn html(
    taxonomy: &Taxonomy,
    title: &str,
    samples: &[NamedTally],
    out: &mut dyn Write,
) -> io::Result<()> {
    let page = Page {
        title,
        style: STYLE,
        body: BODY,
        script: SCRIPT,
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
    write!(out, ",\n\"samples\":")?;
    array(samples, out, |sample, out| {
        write!(out, "\n{{\"name\":")?;
        string(sample.name, out)?;
        write!(
            out,
            ",\"unclassified\":{},\"reads\":",
            sample.tally.unclassified()
        )?;
        array(sample.tally.taxa(), out, |(taxon, reads), out| {
            write!(out, "[{},{reads}]", place(taxon))
        })?;
        write!(out, ",\"evidence\":")?;
        array(
            witnessed(taxonomy, sample.tally),
            out,
            |(taxon, evidence), out| {
                let features = (evidence.hits > 0).then_some(evidence.distinct);
                let expected = evidence.expected_features.map(f64::round);
                let covered = evidence.all_windows.map(|_| evidence.covered_windows);
                write!(
                    out,
                    "[{},{},{},",
                    place(taxon),
                    cell(features),
                    cell(expected)
                )?;
                write!(out, "{},{}]", cell(covered), cell(evidence.all_windows))
            },
        )?;
        write!(out, "}}")
    })?;
    writeln!(out, "}}")
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
