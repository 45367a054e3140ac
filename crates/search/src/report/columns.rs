//! The columns of tables: what each is called, and what stands in it.

use std::borrow::Borrow;
use std::fmt;
use std::io::Write;

use gyrase_align::statistics::text::{write_bits, write_evalue};
use gyrase_taxonomy::{Rank, Taxonomy};

use super::aligned::{Aligned, SUBJECT};
use crate::Molecule;

/// A column of a table.
#[derive(Clone, Copy)]
pub(super) struct Column {
    /// Its name in the command.
    name: &'static str,
    /// What comments call it.
    pub heading: &'static str,
    /// Appends its text.
    pub write: fn(&mut Vec<u8>, &Aligned),
}

impl Column {
    /// Whether names of taxa stand in it.
    pub(super) fn names_taxa(&self) -> bool {
        matches!(
            self.name,
            "ssciname" | "sscinames" | "sskingdom" | "sskingdoms"
        )
    }
}

impl fmt::Debug for Column {
    /// Its name: where functions are differs from process to process.
    fn fmt(&self, text: &mut fmt::Formatter) -> fmt::Result {
        text.write_str(self.name)
    }
}

impl PartialEq for Column {
    fn eq(&self, other: &Column) -> bool {
        self.name == other.name
    }
}

const STANDARD: [&str; 12] = [
    "qaccver", "saccver", "pident", "length", "mismatch", "gapopen", "qstart", "qend", "sstart",
    "send", "evalue", "bitscore",
];

const COLUMNS: &[Column] = &[
    column("qseqid", "query id", query_name),
    column("qgi", "query gi", no_gi),
    column("qacc", "query acc.", query_name),
    column("qaccver", "query acc.ver", query_name),
    column("qlen", "query length", |text, row| {
        number(text, row.query_length())
    }),
    column("sseqid", "subject id", subject_name),
    column("sallseqid", "subject ids", subject_name),
    column("sgi", "subject gi", no_gi),
    column("sallgi", "subject gis", no_gi),
    column("sacc", "subject acc.", subject_name),
    column("saccver", "subject acc.ver", subject_name),
    column("sallacc", "subject accs.", subject_name),
    column("slen", "subject length", |text, row| {
        number(text, row.subject_length())
    }),
    column("qstart", "q. start", |text, row| {
        number(text, row.query_ends()[0])
    }),
    column("qend", "q. end", |text, row| {
        number(text, row.query_ends()[1])
    }),
    column("sstart", "s. start", |text, row| {
        number(text, row.subject_ends()[0])
    }),
    column("send", "s. end", |text, row| {
        number(text, row.subject_ends()[1])
    }),
    column("qseq", "query seq", |text, row| {
        text.extend(row.query_letters())
    }),
    column("sseq", "subject seq", |text, row| {
        text.extend(row.subject_letters())
    }),
    column("evalue", "evalue", |text, row| {
        write_evalue(text, row.hsp.evalue)
    }),
    column("bitscore", "bit score", |text, row| {
        write_bits(text, row.hsp.bits)
    }),
    column("score", "score", |text, row| show(text, &row.hsp.score)),
    column("length", "alignment length", |text, row| {
        number(text, row.length)
    }),
    column("pident", "% identity", |text, row| {
        percent(text, row.identical, row.length, 3)
    }),
    column("nident", "identical", |text, row| {
        number(text, row.identical)
    }),
    column("mismatch", "mismatches", |text, row| {
        number(text, row.length - row.identical - row.gaps)
    }),
    column("positive", "positives", |text, row| {
        number(text, row.positive)
    }),
    column("gapopen", "gap opens", |text, row| {
        number(text, row.gap_openings)
    }),
    column("gaps", "gaps", |text, row| number(text, row.gaps)),
    column("ppos", "% positives", |text, row| {
        percent(text, row.positive, row.length, 2)
    }),
    column("frames", "query/sbjct frames", |text, row| {
        let [query, subject] = told_frames(row);
        let _ = write!(text, "{query}/{subject}");
    }),
    column("qframe", "query frame", |text, row| {
        show(text, &told_frames(row)[0])
    }),
    column("sframe", "sbjct frame", |text, row| {
        show(text, &told_frames(row)[1])
    }),
    column("btop", "BTOP", operations),
    column("staxid", "subject tax id", |text, row| taxids(text, row, 1)),
    column("ssciname", "subject sci name", |text, row| {
        told(text, &row.answer.organisms(row.hit.subject), 1)
    }),
    column("scomname", "subject com names", not_known),
    column("sblastname", "subject blast name", not_known),
    column("sskingdom", "subject super kingdom", |text, row| {
        told(text, &kingdoms(row), 1)
    }),
    column("staxids", "subject tax ids", |text, row| {
        taxids(text, row, usize::MAX)
    }),
    column("sscinames", "subject sci names", |text, row| {
        told(text, &row.answer.organisms(row.hit.subject), usize::MAX)
    }),
    column("scomnames", "subject com names", not_known),
    column("sblastnames", "subject blast names", not_known),
    column("sskingdoms", "subject super kingdoms", |text, row| {
        told(text, &kingdoms(row), usize::MAX)
    }),
    column("stitle", "subject title", subject_title),
    column("salltitles", "subject titles", subject_title),
    column("sstrand", "subject strand", strand),
    column("qcovs", "% query coverage per subject", |text, row| {
        number(text, coverage(covered(row), row.query_length()))
    }),
    column("qcovhsp", "% query coverage per hsp", |text, row| {
        number(text, coverage(row.in_query().len(), row.query_length()))
    }),
    column(
        "qcovus",
        "% query coverage per uniq subject",
        |text, row| match row.answer.program.compares() {
            Molecule::Nucleotide => number(text, coverage(covered(row), row.query_length())),
            Molecule::Protein => not_known(text, row),
        },
    ),
];

const fn column(
    name: &'static str,
    heading: &'static str,
    write: fn(&mut Vec<u8>, &Aligned),
) -> Column {
    Column {
        name,
        heading,
        write,
    }
}

impl Column {
    /// The columns of a name, if there are any: several where it is `std`.
    pub(super) fn named(name: &str) -> Option<Vec<Column>> {
        match name {
            "std" => Some(standard()),
            name => find(name).map(|column| vec![column]),
        }
    }
}

fn find(name: &str) -> Option<Column> {
    COLUMNS.iter().copied().find(|column| column.name == name)
}

/// The columns of a table where none are named.
pub(super) fn standard() -> Vec<Column> {
    STANDARD.into_iter().filter_map(find).collect()
}

/// The names of all.
pub(super) fn names() -> String {
    let names: Vec<&str> = COLUMNS.iter().map(|column| column.name).collect();
    names.join(", ")
}

fn query_name(text: &mut Vec<u8>, row: &Aligned) {
    text.extend_from_slice(row.answer.queries.name(row.answer.query));
}

fn subject_name(text: &mut Vec<u8>, row: &Aligned) {
    text.extend_from_slice(row.answer.subjects.name(row.hit.subject));
}

fn subject_title(text: &mut Vec<u8>, row: &Aligned) {
    let title = row.answer.subjects.title(row.hit.subject);
    // A tab would be the end of the column.
    text.extend(title.iter().map(|&byte| match byte {
        b'\t' => b' ',
        other => other,
    }));
}

/// Sequences have no GI numbers: BLAST writes 0.
fn no_gi(text: &mut Vec<u8>, _: &Aligned) {
    text.push(b'0');
}

/// So many taxids of the subject at most.
fn taxids(text: &mut Vec<u8>, row: &Aligned, most: usize) {
    let taxids = row.answer.subjects.taxids(row.hit.subject).into_iter();
    let taxids: Vec<String> = taxids.map(|taxid| taxid.to_string()).collect();
    told(text, &taxids, most);
}

/// What BLAST calls super kingdoms of the subject: the domains of its taxa.
fn kingdoms<'r>(row: &'r Aligned) -> Vec<&'r str> {
    let domain = |taxonomy: &Taxonomy, taxon| taxonomy.ancestor_at(taxon, Rank::Domain);
    row.answer.taxon_names(row.hit.subject, domain)
}

/// So many words at most, if any are known.
fn told<T: Borrow<str>>(text: &mut Vec<u8>, words: &[T], most: usize) {
    match words {
        [] => text.extend_from_slice(NOT_KNOWN),
        _ => text.extend(words[..most.min(words.len())].join(";").bytes()),
    }
}

const NOT_KNOWN: &[u8] = b"N/A";

fn not_known(text: &mut Vec<u8>, _: &Aligned) {
    text.extend_from_slice(NOT_KNOWN);
}

/// BLAST has strands of nucleotides that are compared as they are.
fn strand(text: &mut Vec<u8>, row: &Aligned) {
    text.extend_from_slice(match row.answer.program.compares() {
        Molecule::Nucleotide if row.hsp.frames[SUBJECT] < 0 => b"minus",
        Molecule::Nucleotide => b"plus",
        Molecule::Protein => b"N/A",
    });
}

fn number(text: &mut Vec<u8>, number: usize) {
    show(text, &number);
}

fn show(text: &mut Vec<u8>, value: &dyn fmt::Display) {
    // Writing to memory cannot fail.
    let _ = write!(text, "{value}");
}

fn percent(text: &mut Vec<u8>, part: usize, whole: usize, digits: usize) {
    let percent = 100.0 * part as f64 / whole as f64;
    let _ = write!(text, "{percent:.digits$}");
}

/// The frames of query and subject. Proteins have none: BLAST writes 1 for two of them, 0 for one
/// beside what is translated.
fn told_frames(row: &Aligned) -> [i8; 2] {
    match row.hsp.frames {
        [0, 0] => [1, 1],
        frames => frames,
    }
}

/// BLAST's traceback operations: how many residues are the same, then the two that are not.
fn operations(text: &mut Vec<u8>, row: &Aligned) {
    let mut same = 0;
    for (query, subject) in row.pairs() {
        if query == subject {
            same += 1;
            continue;
        }
        if same > 0 {
            number(text, same);
        }
        same = 0;
        text.extend([query, subject].map(|code| row.letter(code)));
    }
    if same > 0 {
        number(text, same);
    }
}

/// A part of the query in percent, rounded; below 100 where it is not the whole.
pub(super) fn coverage(part: usize, whole: usize) -> usize {
    crate::scoring::coverage(part, whole) as usize
}

/// Residues of the query that are in an alignment with the subject.
pub(super) fn covered(row: &Aligned) -> usize {
    let places = row.hit.hsps.iter().map(|hsp| row.answer.in_query(hsp));
    let mut ranges: Vec<(usize, usize)> = places.map(|range| (range.start, range.end)).collect();
    ranges.sort_unstable();
    let (mut covered, mut reached) = (0, 0);
    for (start, end) in ranges {
        covered += end.saturating_sub(start.max(reached));
        reached = reached.max(end);
    }
    covered
}
