//! PAF, the format of minimap2: a line for each alignment, twelve columns and tags.

use std::io::{self, Write};

use super::aligned::{Aligned, QUERY, SUBJECT};
use super::layout::{About, End, Layout, QueryHits};
use super::numbers::general;

/// A line for each alignment.
pub(super) struct Paf;

impl Layout for Paf {
    fn head(&self, _: &mut dyn Write, _: &About, _: Option<&QueryHits>) -> io::Result<()> {
        Ok(())
    }

    fn query(&self, out: &mut dyn Write, _: &About, answer: &QueryHits) -> io::Result<()> {
        for hit in answer.hits {
            for hsp in &hit.hsps {
                write_row(out, &Aligned::new(answer, hit, hsp))?;
            }
        }
        Ok(())
    }

    fn tail(&self, _: &mut dyn Write, _: &About, _: &End) -> io::Result<()> {
        Ok(())
    }
}

fn write_row(out: &mut dyn Write, row: &Aligned) -> io::Result<()> {
    let mut line = Vec::new();
    write_side(&mut line, row, QUERY)?;
    line.extend_from_slice(if row.strands_differ() {
        b"\t-\t"
    } else {
        b"\t+\t"
    });
    write_side(&mut line, row, SUBJECT)?;
    let (score, evalue, bits) = (row.hsp.score, row.hsp.evalue, row.hsp.bits);
    let differ = row.length - row.identical;
    // As minimap2 has it: a gap counts once, however long.
    let events = row.length - row.gaps + row.gap_openings;
    let diverged = 1.0 - row.identical as f64 / events as f64;
    writeln!(
        line,
        "\t{}\t{}\t255\tNM:i:{differ}\tAS:i:{score}\tde:f:{diverged:.4}\tEV:f:{}\tBS:f:{}\tcg:Z:{}",
        row.identical,
        row.length,
        general(evalue),
        general(bits),
        row.cigar(SUBJECT)
    )?;
    out.write_all(&line)
}

/// Name, length, and where the alignment begins and ends, from 0 on.
fn write_side(line: &mut Vec<u8>, row: &Aligned, side: usize) -> io::Result<()> {
    line.extend_from_slice(row.name(side));
    let place = row.place(side);
    write!(
        line,
        "\t{}\t{}\t{}",
        row.whole(side),
        place.start,
        place.end
    )
}
