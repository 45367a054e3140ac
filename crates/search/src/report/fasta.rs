//! FASTA of what is aligned of subjects: a record for each alignment, without its gaps.

use std::io::{self, Write};

use super::aligned::{Aligned, QUERY, SUBJECT};
use super::layout::{About, End, Layout, QueryHits};

/// Letters of a line.
const LINE: usize = 80;

/// A record for each alignment.
pub(super) struct AlignedFasta;

impl Layout for AlignedFasta {
    fn head(&self, _: &mut dyn Write, _: &About, _: Option<&QueryHits>) -> io::Result<()> {
        Ok(())
    }

    fn query(&self, out: &mut dyn Write, _: &About, answer: &QueryHits) -> io::Result<()> {
        for hit in answer.hits {
            for hsp in &hit.hsps {
                write_record(out, &Aligned::new(answer, hit, hsp))?;
            }
        }
        Ok(())
    }

    fn tail(&self, _: &mut dyn Write, _: &About, _: &End) -> io::Result<()> {
        Ok(())
    }
}

/// The name of the subject and where it is aligned, backwards on its other strand, as BLAST counts;
/// then the query. Proteins of translated subjects are translated.
fn write_record(out: &mut dyn Write, row: &Aligned) -> io::Result<()> {
    let [start, end] = row.subject_ends();
    let mut record = vec![b'>'];
    record.extend_from_slice(row.name(SUBJECT));
    write!(record, ":{start}-{end} ")?;
    record.extend_from_slice(row.name(QUERY));
    record.push(b'\n');
    let letters: Vec<u8> = row
        .subject_letters()
        .filter(|&letter| letter != b'-')
        .collect();
    for line in letters.chunks(LINE) {
        record.extend_from_slice(line);
        record.push(b'\n');
    }
    out.write_all(&record)
}
