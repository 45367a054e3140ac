//! The page where no script runs: a table of the subjects of every query.

use std::io::{self, Write};

use gyrase_align::statistics::text::{bits, evalue};
use gyrase_picture::escape;
use gyrase_picture::words::{grouped, things};

use crate::report::aligned::{Aligned, QUERY};
use crate::report::answer::QueryHits;
use crate::report::columns::{coverage, covered};
use crate::{Hit, Molecule};

/// Subjects of a query that the page lists: the best.
pub(super) const LISTED: usize = 50;

/// The table's first row, as the script makes it too: what stands before the subject's organism,
/// and behind it.
const HEADS: [&str; 2] = [
    "<thead><tr><th scope=\"col\">Subject</th>",
    "<th scope=\"col\" class=\"number\">Bits</th><th scope=\"col\" class=\"number\">E-value</th>\
    <th scope=\"col\" class=\"number\">Identical</th>\
    <th scope=\"col\" class=\"number\">Of query</th><th scope=\"col\" class=\"number\">HSPs</th>\
    <th scope=\"col\" class=\"number\">Length</th></tr></thead>",
];
const ORGANISM: &str = "<th scope=\"col\">Organism</th>";

/// What the letters of a query are called.
pub(super) fn units(answer: &QueryHits) -> &'static str {
    match answer.program.molecules()[QUERY] {
        Molecule::Protein => "residues",
        Molecule::Nucleotide => "bases",
    }
}

/// Writes what the search was.
pub(super) fn about(out: &mut dyn Write, words: &str) -> io::Result<()> {
    let words = escape(words);
    writeln!(
        out,
        "<noscript><main aria-label=\"The search\"><p>{words}. With scripts this page has \
         pictures and alignments; it loads nothing.</p></main></noscript>"
    )
}

/// Writes a query and the table of its subjects.
pub(super) fn query(out: &mut dyn Write, answer: &QueryHits) -> io::Result<()> {
    let title = shown(answer.queries.title(answer.query));
    let length = grouped(answer.queries.residues(answer.query).len() as u64);
    let (all, units) = (answer.hits.len(), units(answer));
    let found = match all {
        0 => "no hits found".to_string(),
        _ if all > LISTED => format!("{}; the first {LISTED} are here", subjects(all)),
        _ => subjects(all),
    };
    writeln!(
        out,
        "<noscript><section aria-label=\"{title}\"><h2>{title}</h2>\n\
         <p>{length} {units}, {found}</p>"
    )?;
    if all > 0 {
        let heads = HEADS.join(if answer.taxonomy().is_some() {
            ORGANISM
        } else {
            ""
        });
        writeln!(
            out,
            "<div class=\"scroll\" tabindex=\"0\"><table>{heads}<tbody>"
        )?;
        for hit in answer.hits.iter().take(LISTED) {
            row(out, answer, hit)?;
        }
        writeln!(out, "</tbody></table></div>")?;
    }
    writeln!(out, "</section></noscript>")
}

fn subjects(number: usize) -> String {
    things(number as u64, "subject")
}

/// Writes what a subject's best alignment has.
fn row(out: &mut dyn Write, answer: &QueryHits, hit: &Hit) -> io::Result<()> {
    let best = Aligned::new(answer, hit, &hit.hsps[0]);
    let numbers = [
        bits(best.hsp.bits),
        evalue(best.hsp.evalue),
        format!(
            "{:.1} %",
            100.0 * best.identical as f64 / best.length as f64
        ),
        format!("{} %", coverage(covered(&best), best.query_length())),
        hit.hsps.len().to_string(),
        grouped(answer.subjects.length(hit.subject) as u64),
    ];
    let title = shown(answer.subjects.title(hit.subject));
    write!(out, "<tr><td>{title}</td>")?;
    if answer.taxonomy().is_some() {
        let organisms = escape(&answer.organisms(hit.subject).join("; "));
        write!(out, "<td class=\"organism\">{organisms}</td>")?;
    }
    for number in numbers {
        write!(out, "<td class=\"number\">{number}</td>")?;
    }
    writeln!(out, "</tr>")
}

/// A title as HTML.
fn shown(title: &[u8]) -> String {
    match title {
        [] => "(no name)".to_string(),
        _ => escape(&String::from_utf8_lossy(title)),
    }
}
