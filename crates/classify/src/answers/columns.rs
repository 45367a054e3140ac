//! The line of a read: Kraken's columns, and in place of the last where the read lies.

use std::cmp::Reverse;
use std::io::Write;

use gyrase_table::gydb::Location;

use crate::candidates::Candidate;
use crate::confidence::Confidence;
use crate::query::{Answer, Form};
use crate::share::Travels;

/// Candidates shown in the last column.
const SHOWN: usize = 4;

/// What the line of a read tells behind `C` or `U`, its name, its taxid, and its letters (`|`
/// between mates).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// Where on which target it may come from: name, first and last letter (from 1), hits there,
    /// features of the read, and the share of the windows there that were hit. Without it: hits of
    /// the candidates by taxid, where Kraken 2 has k-mers by taxid.
    pub locations: bool,
    /// Last: the confidence of its taxon, and of the taxa above with more.
    pub confidence: bool,
}

impl Columns {
    /// Hits of the candidates.
    pub const HITS: Columns = Columns {
        locations: false,
        confidence: false,
    };
    /// Where the read lies.
    pub const LOCATIONS: Columns = Columns {
        locations: true,
        confidence: false,
    };
}

/// The lines of a batch of reads.
#[derive(Debug, Default)]
pub struct Lines {
    text: Vec<u8>,
    /// Taxids of the candidates of a read, and their hits.
    shown: Vec<(u32, usize)>,
}

impl Lines {
    /// The lines, each with its end.
    pub fn text(&self) -> &[u8] {
        &self.text
    }
}

impl Travels for Lines {
    fn put(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.text);
    }

    fn take(bytes: &[u8]) -> Option<Lines> {
        Some(Lines {
            text: bytes.to_vec(),
            shown: Vec::new(),
        })
    }
}

impl Form for Columns {
    type Made = Lines;

    fn wants_region(&self) -> bool {
        self.locations
    }

    fn wants_supports(&self) -> bool {
        self.confidence
    }

    fn clear(&self, lines: &mut Lines) {
        lines.text.clear();
    }

    fn push(&self, answer: &Answer<'_>, lines: &mut Lines) {
        write_start(answer, &mut lines.text);
        match self.locations {
            false => write_hits(answer, lines),
            true => write_location(answer, &mut lines.text),
        }
        if self.confidence {
            write_confidence(answer, &mut lines.text);
        }
        lines.text.push(b'\n');
    }
}

/// The columns of all forms of lines.
fn write_start(answer: &Answer<'_>, text: &mut Vec<u8>) {
    let taxonomy = &answer.catalogue.taxonomy;
    text.extend_from_slice(if answer.taxon.is_some() {
        b"C\t"
    } else {
        b"U\t"
    });
    text.extend_from_slice(answer.read.name);
    let taxid = answer.taxon.map_or(0, |taxon| taxonomy.taxid(taxon));
    let written = match answer.read.lengths {
        (first, Some(mate)) => write!(text, "\t{taxid}\t{first}|{mate}\t"),
        (only, None) => write!(text, "\t{taxid}\t{only}\t"),
    };
    written.expect("memory takes all text");
}

/// Writes target, first and last letter of the region there, hits in it, features of the read, and
/// the share of the region's windows that were hit.
fn write_location(answer: &Answer<'_>, text: &mut Vec<u8>) {
    let features = answer.read.features.len();
    let written = match answer.region {
        None => write!(text, "*\t0\t0\t0\t{features}\t0.0000"),
        Some(region) => {
            let catalogue = answer.catalogue;
            let target = catalogue.targets.get(region.target);
            let first_of_target = catalogue.targets.windows(region.target).start;
            let sketch = catalogue.parameters.sketch;
            let start =
                |window: Location| u64::from(window.0 - first_of_target.0) * sketch.stride() as u64;
            let last = (start(region.last) + sketch.window() as u64).min(target.letters);
            let windows = f64::from(region.last.0 - region.first.0 + 1);
            let share = answer.windows_hit(region) as f64 / windows;
            let (name, first, hits) = (&target.name, start(region.first) + 1, region.hits.len());
            write!(
                text,
                "{name}\t{first}\t{last}\t{hits}\t{features}\t{share:.4}"
            )
        }
    };
    written.expect("memory takes all text");
}

/// Writes a column of taxids and their confidence, from the taxon of the read upwards; `0:0.0000`
/// of a read without a taxon.
fn write_confidence(answer: &Answer<'_>, text: &mut Vec<u8>) {
    let mut separator = '\t';
    for support in answer.supports {
        let taxid = answer.catalogue.taxonomy.taxid(support.taxon);
        let confidence = Confidence::of(support.features, answer.read.features.len());
        write!(text, "{separator}{taxid}:{confidence}").expect("memory takes all text");
        separator = ' ';
    }
    if answer.supports.is_empty() {
        write!(text, "\t0:{}", Confidence::default()).expect("memory takes all text");
    }
}

/// Writes the candidates' hits by taxid, best first; `0:0` where there are none.
fn write_hits(answer: &Answer<'_>, lines: &mut Lines) {
    let Lines { text, shown } = lines;
    let catalogue = answer.catalogue;
    let taxid = |candidate: &Candidate| {
        let taxon = catalogue.targets.get(candidate.target).taxon;
        taxon.map_or(0, |taxon| catalogue.taxonomy.taxid(taxon))
    };
    shown.clear();
    shown.extend(
        answer
            .candidates
            .iter()
            .map(|one| (taxid(one), one.hits.len())),
    );
    shown.sort_unstable_by_key(|&(taxid, hits)| (taxid, Reverse(hits)));
    shown.dedup_by_key(|&mut (taxid, _)| taxid);
    shown.sort_unstable_by_key(|&(taxid, hits)| (Reverse(hits), taxid));
    shown.truncate(SHOWN);
    if shown.is_empty() {
        shown.push((0, 0));
    }
    for (i, (taxid, hits)) in shown.iter().enumerate() {
        let space = if i == 0 { "" } else { " " };
        write!(text, "{space}{taxid}:{hits}").expect("memory takes all text");
    }
}
