//! Hits as a table: BLAST's format 6.

use std::io::{self, Write};

use gyrase_align::gapped::Step;
use gyrase_align::statistics::text::{write_bits, write_evalue};

use crate::{Hit, Hsp, Sequences};

/// What the columns of an alignment count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    length: usize,
    identical: usize,
    different: usize,
    gaps: usize,
}

/// Writes a line for each alignment: names of query and subject, percent of identical residues,
/// length, residues that differ, gaps, first and last residue of both from 1, E-value, bits.
///
/// # Errors
/// Those of `out`.
pub fn write_tabular(
    out: &mut impl Write,
    queries: &Sequences,
    query: usize,
    subjects: &Sequences,
    hits: &[Hit],
) -> io::Result<()> {
    let mut line = Vec::new();
    for hit in hits {
        let [of_query, of_subject] = [queries.residues(query), subjects.residues(hit.subject)];
        for alignment in &hit.hsps {
            line.clear();
            line.extend_from_slice(queries.name(query));
            line.push(b'\t');
            line.extend_from_slice(subjects.name(hit.subject));
            let counts = count(of_query, of_subject, alignment);
            let percent = 100.0 * counts.identical as f64 / counts.length as f64;
            let (q, s) = (&alignment.query, &alignment.subject);
            write!(
                line,
                "\t{percent:.3}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t",
                counts.length,
                counts.different,
                counts.gaps,
                q.start + 1,
                q.end,
                s.start + 1,
                s.end
            )?;
            write_evalue(&mut line, alignment.evalue);
            line.push(b'\t');
            write_bits(&mut line, alignment.bits);
            line.push(b'\n');
            out.write_all(&line)?;
        }
    }
    Ok(())
}

fn count(query: &[u8], subject: &[u8], alignment: &Hsp) -> Counts {
    let (mut q, mut s) = (alignment.query.start, alignment.subject.start);
    let (mut counts, mut before) = (Counts::default(), Step::Both);
    for &step in &alignment.steps {
        match step {
            Step::Both if query[q] == subject[s] => counts.identical += 1,
            Step::Both => counts.different += 1,
            _ => counts.gaps += usize::from(step != before),
        }
        counts.length += 1;
        q += usize::from(step != Step::Subject);
        s += usize::from(step != Step::Query);
        before = step;
    }
    counts
}
