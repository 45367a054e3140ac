//! SAM: BLAST's format 17, by the specification of the Global Alliance (samtools/hts-specs).

use std::io::{self, Write};

use gyrase_align::nucleotide::complement;

use super::aligned::{Aligned, QUERY, SUBJECT};
use super::layout::{About, End, Layout, QueryHits};
use super::numbers::general;
use crate::Subjects;

/// The other strand of the reference.
const REVERSED: u32 = 16;
/// No quality of the place is known.
const UNKNOWN: u32 = 255;

/// A line for each alignment of nucleotides.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sam {
    /// Lines have the letters that are aligned (`SQ`).
    pub letters: bool,
    /// Subjects are what queries are placed on (`SR`), and not the other way round.
    pub on_subjects: bool,
}

impl Sam {
    /// The side that is the reference, and the one that is placed on it.
    fn sides(&self) -> [usize; 2] {
        if self.on_subjects {
            [SUBJECT, QUERY]
        } else {
            [QUERY, SUBJECT]
        }
    }

    fn write(&self, out: &mut dyn Write, row: &Aligned) -> io::Result<()> {
        let [reference, read] = self.sides();
        let turned = row.strands_differ();
        let mut line = Vec::new();
        line.extend_from_slice(row.name(read));
        let flag = if turned { REVERSED } else { 0 };
        write!(line, "\t{flag}\t")?;
        line.extend_from_slice(row.name(reference));
        let start = row.place(reference).start + 1;
        write!(line, "\t{start}\t{UNKNOWN}\t")?;
        let place = row.place(read);
        let mut clipped = [place.start, row.whole(read) - place.end];
        if turned {
            clipped.reverse();
        }
        let [before, behind] = clipped.map(|letters| match letters {
            0 => String::new(),
            some => format!("{some}H"),
        });
        write!(line, "{before}{}{behind}\t*\t0\t0\t", row.cigar(reference))?;
        if self.letters {
            line.extend(read_letters(row, reference, read));
        } else {
            line.push(b'*');
        }
        write_tags(&mut line, row)?;
        out.write_all(&line)
    }
}

/// The letters of the read that are aligned, as the reference ascends.
fn read_letters(row: &Aligned, reference: usize, read: usize) -> Vec<u8> {
    let of_read = |pair: (Option<u8>, Option<u8>)| [pair.0, pair.1][read];
    let mut codes: Vec<u8> = row.pairs().filter_map(of_read).collect();
    if row.hsp.frames[reference] < 0 {
        codes.reverse();
        codes.iter_mut().for_each(|code| *code = complement(*code));
    }
    codes
        .into_iter()
        .map(|code| row.letter(Some(code)))
        .collect()
}

fn write_tags(line: &mut Vec<u8>, row: &Aligned) -> io::Result<()> {
    let hsp = row.hsp;
    let evalue = general(hsp.evalue);
    let identity = 100.0 * row.identical as f64 / row.length as f64;
    let (differ, bits) = (row.length - row.identical, general(hsp.bits));
    writeln!(
        line,
        "\t*\tAS:i:{}\tEV:f:{evalue}\tNM:i:{differ}\tPI:f:{identity:.2}\tBS:f:{bits}",
        hsp.score
    )
}

impl Layout for Sam {
    fn head(
        &self,
        out: &mut dyn Write,
        about: &About,
        first: Option<&QueryHits>,
    ) -> io::Result<()> {
        let order = if self.on_subjects {
            "GO:query"
        } else {
            "SO:coordinate\tGO:reference"
        };
        writeln!(out, "@HD\tVN:1.2\t{order}")?;
        let Some(first) = first else { return Ok(()) };
        let sequences: [&dyn Subjects; 2] = [first.queries, first.subjects];
        sequences[self.sides()[0]].each(&mut |name, length| {
            out.write_all(b"@SQ\tSN:")?;
            out.write_all(name)?;
            writeln!(out, "\tLN:{length}")
        })?;
        let (version, program) = (&about.program, first.program.told());
        writeln!(out, "@PG\tID:0\tVN:{version}\tPN:{program}")
    }

    fn query(&self, out: &mut dyn Write, _: &About, answer: &QueryHits) -> io::Result<()> {
        let hits = answer.hits.iter();
        let mut rows: Vec<Aligned> = hits
            .flat_map(|hit| hit.hsps.iter().map(|hsp| Aligned::new(answer, hit, hsp)))
            .collect();
        if !self.on_subjects {
            rows.sort_by_key(|row| row.place(QUERY).start);
        }
        rows.iter().try_for_each(|row| self.write(out, row))
    }

    fn tail(&self, _: &mut dyn Write, _: &About, _: &End) -> io::Result<()> {
        Ok(())
    }
}
