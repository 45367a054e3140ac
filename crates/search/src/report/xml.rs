//! BLAST's XML (format 5), by its document type `NCBI_BlastOutput`.

use std::io::{self, Write};

use super::aligned::Aligned;
use super::layout::{About, Layout, QueryHits};

const HEAD: &str = r#"<?xml version="1.0"?>
<!DOCTYPE BlastOutput PUBLIC "-//NCBI//NCBI BlastOutput/EN" "http://www.ncbi.nlm.nih.gov/dtd/NCBI_BlastOutput.dtd">
<BlastOutput>
  <BlastOutput_program>blastp</BlastOutput_program>
"#;

const REFERENCE: &[u8] = b"Altschul et al. (1997), Nucleic Acids Res. 25:3389-3402";

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
        let version = format!("BLASTP {}", about.program);
        text(out, 2, "BlastOutput_version", version.as_bytes())?;
        text(out, 2, "BlastOutput_reference", REFERENCE)?;
        text(out, 2, "BlastOutput_db", about.database.as_bytes())?;
        let title = first.map_or(&b""[..], |answer| answer.queries.title(answer.query));
        let length = first.map_or(0, |answer| answer.queries.residues(answer.query).len());
        let id = if first.is_some() { "Query_1" } else { "" };
        text(out, 2, "BlastOutput_query-ID", id.as_bytes())?;
        text(out, 2, "BlastOutput_query-def", title)?;
        value(out, 2, "BlastOutput_query-len", length)?;
        writeln!(out, "  <BlastOutput_param>\n    <Parameters>")?;
        text(out, 6, "Parameters_matrix", b"BLOSUM62")?;
        value(out, 6, "Parameters_expect", general(about.evalue))?;
        value(out, 6, "Parameters_gap-open", 11)?;
        value(out, 6, "Parameters_gap-extend", 1)?;
        text(out, 6, "Parameters_filter", b"F")?;
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

    fn tail(&self, out: &mut dyn Write, _: usize) -> io::Result<()> {
        out.write_all(TAIL.as_bytes())
    }
}

fn write_hit(out: &mut dyn Write, answer: &QueryHits, rank: usize) -> io::Result<()> {
    let hit = &answer.hits[rank];
    writeln!(out, "<Hit>")?;
    value(out, 2, "Hit_num", rank + 1)?;
    text(out, 2, "Hit_id", answer.subjects.name(hit.subject))?;
    text(out, 2, "Hit_def", answer.subjects.title(hit.subject))?;
    let accession = format!("Subject_{}", hit.subject + 1);
    value(out, 2, "Hit_accession", accession)?;
    let length = answer.subjects.residues(hit.subject).len();
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
    value(out, 6, "Hsp_query-from", row.query_ends()[0])?;
    value(out, 6, "Hsp_query-to", row.query_ends()[1])?;
    value(out, 6, "Hsp_hit-from", row.subject_ends()[0])?;
    value(out, 6, "Hsp_hit-to", row.subject_ends()[1])?;
    value(out, 6, "Hsp_query-frame", row.hsp.frames[0])?;
    value(out, 6, "Hsp_hit-frame", row.hsp.frames[1])?;
    value(out, 6, "Hsp_identity", row.identical)?;
    value(out, 6, "Hsp_positive", row.positive)?;
    value(out, 6, "Hsp_gaps", row.gaps)?;
    value(out, 6, "Hsp_align-len", row.length)?;
    text(out, 6, "Hsp_qseq", &row.query_letters().collect::<Vec<_>>())?;
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
    let karlin = answer.scoring.karlin();
    let query = answer.queries.residues(answer.query).len();
    let space = answer.scoring.space(query, answer.subjects.len());
    writeln!(out, "  <Iteration_stat>\n    <Statistics>")?;
    value(out, 6, "Statistics_db-num", answer.subjects.len())?;
    value(out, 6, "Statistics_db-len", space.letters)?;
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

/// An element of a text. What XML cannot hold becomes `?`.
fn text(out: &mut dyn Write, indent: usize, name: &str, text: &[u8]) -> io::Result<()> {
    write!(out, "{:indent$}<{name}>", "")?;
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
    writeln!(out, "</{name}>")
}

/// Six digits at most, as C's `%g` writes them.
fn general(number: f64) -> String {
    if number == 0.0 {
        return "0".into();
    }
    let rounded = format!("{number:.5e}");
    let (digits, power) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let power: i32 = power.parse().unwrap_or_default();
    let trimmed = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    if (-4..6).contains(&power) {
        let after = (5 - power) as usize;
        return trimmed(&format!("{number:.after$}"));
    }
    let sign = if power < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(digits), power.abs())
}

#[cfg(test)]
mod tests {
    use super::general;

    #[test]
    fn numbers_are_those_of_c() {
        let numbers = [
            (0.0, "0"),
            (10.0, "10"),
            (1e-3, "0.001"),
            (9.999_996e-5, "0.0001"),
            (1.5e-5, "1.5e-05"),
            (243.816_9, "243.817"),
            (5.655_171e-89, "5.65517e-89"),
            (1.234_567e7, "1.23457e+07"),
            (1e-179, "1e-179"),
        ];
        for (number, text) in numbers {
            assert_eq!(general(number), text);
        }
    }
}
