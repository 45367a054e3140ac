//! BLAST's XML (format 5), by its document type `NCBI_BlastOutput`.

use std::io::{self, Write};

use gyrase_align::statistics::Costs;

use super::aligned::Aligned;
use super::layout::{About, End, Layout, QueryHits};
use super::numbers::general;
use super::setting::Setting;
use crate::Molecule;
use crate::scoring::PairScores;

const HEAD: &str = r#"<?xml version="1.0"?>
<!DOCTYPE BlastOutput PUBLIC "-//NCBI//NCBI BlastOutput/EN" "http://www.ncbi.nlm.nih.gov/dtd/NCBI_BlastOutput.dtd">
<BlastOutput>
"#;

const TAIL: &str = "</BlastOutput_iterations>\n</BlastOutput>\n\n";

/// One document of all queries.
pub(super) struct Xml;

impl Layout for Xml {
    fn head(
        &self,
        out: &mut dyn Write,
        about: &About,
        first: Option<&QueryHits>,
    ) -> io::Result<()> {
        out.write_all(HEAD.as_bytes())?;
        let setting = first.map(Setting::of);
        let program = setting.map_or("blast", |setting| setting.program.told());
        text(out, 2, "BlastOutput_program", program.as_bytes())?;
        let version = format!("{} {}", program.to_uppercase(), about.program);
        text(out, 2, "BlastOutput_version", version.as_bytes())?;
        let reference = setting.map_or("", |setting| setting.program.reference());
        text(out, 2, "BlastOutput_reference", reference.as_bytes())?;
        text(out, 2, "BlastOutput_db", about.database.as_bytes())?;
        let title = first.map_or(&b""[..], |answer| answer.queries.title(answer.query));
        let length = first.map_or(0, |answer| answer.queries.residues(answer.query).len());
        let id = if first.is_some() { "Query_1" } else { "" };
        text(out, 2, "BlastOutput_query-ID", id.as_bytes())?;
        text(out, 2, "BlastOutput_query-def", title)?;
        value(out, 2, "BlastOutput_query-len", length)?;
        writeln!(out, "  <BlastOutput_param>\n    <Parameters>")?;
        write_parameters(out, about, setting)?;
        writeln!(out, "    </Parameters>\n  </BlastOutput_param>")?;
        writeln!(out, "<BlastOutput_iterations>")
    }

    fn query(&self, out: &mut dyn Write, _: &About, answer: &QueryHits) -> io::Result<()> {
        let number = answer.query + 1;
        writeln!(out, "<Iteration>")?;
        value(out, 2, "Iteration_iter-num", number)?;
        value(out, 2, "Iteration_query-ID", format!("Query_{number}"))?;
        let title = answer.queries.title(answer.query);
        text(out, 2, "Iteration_query-def", title)?;
        let length = answer.queries.residues(answer.query).len();
        value(out, 2, "Iteration_query-len", length)?;
        writeln!(out, "<Iteration_hits>")?;
        for rank in 0..answer.hits.len() {
            write_hit(out, answer, rank)?;
        }
        writeln!(out, "</Iteration_hits>")?;
        write_statistics(out, answer)?;
        if answer.hits.is_empty() {
            text(out, 2, "Iteration_message", b"No hits found")?;
        }
        writeln!(out, "</Iteration>")
    }

    fn tail(&self, out: &mut dyn Write, _: &About, _: &End) -> io::Result<()> {
        out.write_all(TAIL.as_bytes())
    }
}

fn write_parameters(
    out: &mut dyn Write,
    about: &About,
    setting: Option<Setting>,
) -> io::Result<()> {
    let scores = setting.map(|setting| setting.scores);
    if let Some(PairScores::Matrix(matrix)) = scores {
        text(out, 6, "Parameters_matrix", matrix.name().as_bytes())?;
    }
    value(out, 6, "Parameters_expect", general(about.evalue))?;
    if let Some(PairScores::Bases { reward, penalty }) = scores {
        value(out, 6, "Parameters_sc-match", reward)?;
        value(out, 6, "Parameters_sc-mismatch", penalty)?;
    }
    if let Some(setting) = setting {
        // The document type wants costs, and BLAST writes those of its matrix where there are
        // no gaps.
        let costs = setting.costs.unwrap_or(Costs::new(11, 1));
        value(out, 6, "Parameters_gap-open", costs.open)?;
        value(out, 6, "Parameters_gap-extend", costs.extend)?;
        text(out, 6, "Parameters_filter", setting.filter().as_bytes())?;
    }
    Ok(())
}

fn write_hit(out: &mut dyn Write, answer: &QueryHits, rank: usize) -> io::Result<()> {
    let hit = &answer.hits[rank];
    writeln!(out, "<Hit>")?;
    value(out, 2, "Hit_num", rank + 1)?;
    text(out, 2, "Hit_id", answer.subjects.name(hit.subject))?;
    text(out, 2, "Hit_def", answer.subjects.title(hit.subject))?;
    let accession = format!("Subject_{}", hit.subject + 1);
    value(out, 2, "Hit_accession", accession)?;
    let length = answer.subjects.length(hit.subject);
    value(out, 2, "Hit_len", length)?;
    writeln!(out, "  <Hit_hsps>")?;
    for (number, hsp) in hit.hsps.iter().enumerate() {
        write_hsp(out, number + 1, &Aligned::new(answer, hit, hsp))?;
    }
    writeln!(out, "  </Hit_hsps>\n</Hit>")
}

fn write_hsp(out: &mut dyn Write, number: usize, row: &Aligned) -> io::Result<()> {
    writeln!(out, "    <Hsp>")?;
    value(out, 6, "Hsp_num", number)?;
    value(out, 6, "Hsp_bit-score", general(row.hsp.bits))?;
    value(out, 6, "Hsp_score", row.hsp.score)?;
    value(out, 6, "Hsp_evalue", general(row.hsp.evalue))?;
    let [query, subject] = row.told_ends();
    value(out, 6, "Hsp_query-from", query[0])?;
    value(out, 6, "Hsp_query-to", query[1])?;
    value(out, 6, "Hsp_hit-from", subject[0])?;
    value(out, 6, "Hsp_hit-to", subject[1])?;
    value(out, 6, "Hsp_query-frame", row.hsp.frames[0])?;
    value(out, 6, "Hsp_hit-frame", row.hsp.frames[1])?;
    value(out, 6, "Hsp_identity", row.identical)?;
    value(out, 6, "Hsp_positive", row.positive)?;
    value(out, 6, "Hsp_gaps", row.gaps)?;
    value(out, 6, "Hsp_align-len", row.length)?;
    let masked = |letter| match row.answer.program.compares() {
        Molecule::Protein => b'X',
        Molecule::Nucleotide => letter,
    };
    text(out, 6, "Hsp_qseq", &row.masked_query_letters(masked))?;
    text(
        out,
        6,
        "Hsp_hseq",
        &row.subject_letters().collect::<Vec<_>>(),
    )?;
    text(out, 6, "Hsp_midline", &row.middle().collect::<Vec<_>>())?;
    writeln!(out, "    </Hsp>")
}

fn write_statistics(out: &mut dyn Write, answer: &QueryHits) -> io::Result<()> {
    let [_, karlin] = answer.scoring.karlin();
    let (size, space) = (answer.scoring.size(), answer.space());
    writeln!(out, "  <Iteration_stat>\n    <Statistics>")?;
    value(out, 6, "Statistics_db-num", size.sequences)?;
    value(out, 6, "Statistics_db-len", size.letters)?;
    value(out, 6, "Statistics_hsp-len", space.adjustment(karlin))?;
    value(
        out,
        6,
        "Statistics_eff-space",
        format!("{:.0}", space.effective(karlin)),
    )?;
    value(out, 6, "Statistics_kappa", general(karlin.k))?;
    value(out, 6, "Statistics_lambda", general(karlin.lambda))?;
    value(out, 6, "Statistics_entropy", general(karlin.h))?;
    writeln!(out, "    </Statistics>\n  </Iteration_stat>")
}

fn value(
    out: &mut dyn Write,
    indent: usize,
    name: &str,
    value: impl std::fmt::Display,
) -> io::Result<()> {
    writeln!(out, "{:indent$}<{name}>{value}</{name}>", "")
}

/// An element of a text.
fn text(out: &mut dyn Write, indent: usize, name: &str, text: &[u8]) -> io::Result<()> {
    write!(out, "{:indent$}<{name}>", "")?;
    escape(out, text)?;
    writeln!(out, "</{name}>")
}

/// A text without what means something in XML; what XML cannot hold becomes `?`.
pub(super) fn escape(out: &mut dyn Write, text: &[u8]) -> io::Result<()> {
    for symbol in String::from_utf8_lossy(text).chars() {
        match symbol {
            '<' => out.write_all(b"&lt;")?,
            '>' => out.write_all(b"&gt;")?,
            '&' => out.write_all(b"&amp;")?,
            '"' => out.write_all(b"&quot;")?,
            '\'' => out.write_all(b"&apos;")?,
            '\t' => out.write_all(b" ")?,
            '\0'..' ' | '\u{fffe}' | '\u{ffff}' => out.write_all(b"?")?,
            symbol => write!(out, "{symbol}")?,
        }
    }
    Ok(())
}
