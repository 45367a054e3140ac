//! A page in one file: where in each query its hits are, a table of them, alignments.
//!
//! It needs no network, and forbids itself any. A script draws one query at a time; texts are put
//! on the page as texts only. Without scripts there are the tables of all queries.

mod still;

use std::io::{self, Write};

use gyrase_align::residue;
use gyrase_align::statistics::text::{bits, evalue};
use gyrase_picture::Page;
use gyrase_picture::words::grouped;

use super::aligned::Aligned;
use super::columns::{coverage, covered};
use super::json::quoted;
use super::layout::{About, End, Layout, QueryHits};
use super::setting::Setting;
use crate::{Hit, Molecule};
use still::{LISTED, units};

/// Subjects of a query whose alignments have letters in the page.
const SPELT: usize = 10;
/// Alignments of a query and a subject that the page has.
const ALIGNMENTS: usize = 20;

/// The page of a report: its style, its script, and what stands around the data.
pub const PAGE: Page = Page {
    title: "Search",
    style: include_str!("page/page.css"),
    body: include_str!("page/body.html"),
    script: include_str!("page/page.js"),
};

/// One page of all queries.
pub(super) struct Html;

impl Layout for Html {
    fn head(
        &self,
        out: &mut dyn Write,
        about: &About,
        first: Option<&QueryHits>,
    ) -> io::Result<()> {
        PAGE.begin(out)?;
        let words = first.map_or("No queries".to_string(), |first| words(about, first));
        Page::data(out, |out| write_about(out, &words, first))?;
        still::about(out, &words)
    }

    fn query(&self, out: &mut dyn Write, _: &About, answer: &QueryHits) -> io::Result<()> {
        Page::data(out, |out| write_query(out, answer))?;
        still::query(out, answer)
    }

    fn tail(&self, out: &mut dyn Write, _: &About, _: &End) -> io::Result<()> {
        PAGE.end(out)
    }
}

/// What was searched in, and how.
fn words(about: &About, first: &QueryHits) -> String {
    let setting = Setting::of(first);
    format!(
        "{} by {}; {}: {} sequences, {} letters; E-values up to {}",
        setting.program.told(),
        about.program,
        about.database,
        grouped(setting.sequences),
        grouped(setting.letters),
        about.evalue
    )
}

fn write_about(out: &mut dyn Write, words: &str, first: Option<&QueryHits>) -> io::Result<()> {
    write!(out, "{{")?;
    member(out, "words", words.as_bytes())?;
    let bases = first.is_some_and(|first| first.program.compares() == Molecule::Nucleotide);
    let units = first.map_or("", units);
    let taxa = first.is_some_and(|first| first.taxonomy().is_some());
    write!(
        out,
        ",\"units\":\"{units}\",\"bases\":{bases},\"taxa\":{taxa},\"positive\":["
    )?;
    if let Some(first) = first.filter(|_| !bases) {
        write_positive(out, first)?;
    }
    writeln!(out, "]}}")
}

fn write_query(out: &mut dyn Write, answer: &QueryHits) -> io::Result<()> {
    write!(out, "{{")?;
    member(out, "title", answer.queries.title(answer.query))?;
    let length = answer.queries.residues(answer.query).len();
    let all = answer.hits.len();
    write!(out, ",\"length\":{length},\"all\":{all},\"hits\":[")?;
    for (rank, hit) in answer.hits.iter().take(LISTED).enumerate() {
        if rank > 0 {
            writeln!(out, ",")?;
        }
        write_hit(out, answer, hit, rank < SPELT)?;
    }
    writeln!(out, "]}}")
}

/// Pairs of different residues that score above 0.
fn write_positive(out: &mut dyn Write, answer: &QueryHits) -> io::Result<()> {
    let mut before = "";
    for (a, one) in residue::LETTERS
        .iter()
        .map(|&one| char::from(one))
        .enumerate()
    {
        for (b, other) in residue::LETTERS
            .iter()
            .map(|&other| char::from(other))
            .enumerate()
        {
            if a != b && answer.scoring.score(a as u8, b as u8) > 0 {
                write!(out, "{before}\"{one}{other}\"")?;
                before = ",";
            }
        }
    }
    Ok(())
}

fn write_hit(out: &mut dyn Write, answer: &QueryHits, hit: &Hit, spelt: bool) -> io::Result<()> {
    write!(out, "{{")?;
    member(out, "title", answer.subjects.title(hit.subject))?;
    if answer.taxonomy().is_some() {
        write!(out, ",")?;
        let organisms = answer.organisms(hit.subject).join("; ");
        member(out, "organism", organisms.as_bytes())?;
    }
    let length = answer.subjects.length(hit.subject);
    let first = Aligned::new(answer, hit, &hit.hsps[0]);
    let cover = coverage(covered(&first), first.query_length());
    let all = hit.hsps.len();
    write!(
        out,
        ",\"length\":{length},\"cover\":{cover},\"all\":{all},\"hsps\":["
    )?;
    for (rank, hsp) in hit.hsps.iter().take(ALIGNMENTS).enumerate() {
        if rank > 0 {
            write!(out, ",")?;
        }
        write_alignment(out, &Aligned::new(answer, hit, hsp), spelt)?;
    }
    write!(out, "]}}")
}

fn write_alignment(out: &mut dyn Write, row: &Aligned, spelt: bool) -> io::Result<()> {
    let ([q, r], [s, t]) = (row.query_ends(), row.subject_ends());
    write!(
        out,
        "{{\"bits\":\"{}\",\"evalue\":\"{}\",\"score\":{},\"query\":[{q},{r}],\"subject\":[{s},{t}],\
         \"columns\":{},\"identical\":{},\"positive\":{},\"gaps\":{}",
        bits(row.hsp.bits),
        evalue(row.hsp.evalue),
        row.hsp.score,
        row.length,
        row.identical,
        row.positive,
        row.gaps
    )?;
    write!(out, ",\"directions\":\"{}\"", directions(row))?;
    if spelt {
        let (in_query, in_subject) = (row.query_step(), row.subject_step());
        write!(out, ",\"steps\":[{in_query},{in_subject}],\"letters\":[")?;
        quoted(out, &row.query_letters().collect::<Vec<u8>>())?;
        write!(out, ",")?;
        quoted(out, &row.subject_letters().collect::<Vec<u8>>())?;
        write!(out, "]")?;
    }
    write!(out, "}}")
}

/// Strands or frames, where there are any.
fn directions(row: &Aligned) -> String {
    let [query, subject] = row.hsp.frames;
    match (row.answer.program.compares(), row.hsp.frames) {
        (Molecule::Nucleotide, _) => {
            let strand = |frame| if frame < 0 { "minus" } else { "plus" };
            format!("strands {}/{}", strand(query), strand(subject))
        }
        (_, [0, 0]) => String::new(),
        (_, [query, 0]) => format!("frame {query:+}"),
        (_, [0, subject]) => format!("frame {subject:+}"),
        _ => format!("frames {query:+}/{subject:+}"),
    }
}

/// A member that is a text. No `<` in it can end the element that the data stand in.
fn member(out: &mut dyn Write, name: &str, text: &[u8]) -> io::Result<()> {
    let mut value = Vec::new();
    quoted(&mut value, text)?;
    write!(out, "\"{name}\":")?;
    for part in value.split_inclusive(|&byte| byte == b'<') {
        match part.strip_suffix(b"<") {
            Some(before) => {
                out.write_all(before)?;
                out.write_all(b"\\u003c")?;
            }
            None => out.write_all(part)?,
        }
    }
    Ok(())
}
