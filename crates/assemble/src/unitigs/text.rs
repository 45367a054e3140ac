//! Unitigs as text: FASTA with the header fields of BCALM 2, and GFA 1.

use std::fmt::Write as _;
use std::io::Write;
use std::ops::Range;

use gyrase_work::{Progress, in_parallel};

use super::{Links, Side, UnitigEnd, Unitigs};
use crate::Error;

/// How a graph is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphFormat {
    /// `>0 LN:i:38 KC:i:16 km:f:2.0 L:-:17406:+`, and the letters in one line: BCALM 2's fields.
    Fasta,
    /// GFA 1: a segment for each unitig, a link for each pair of ends that meet.
    Gfa,
}

/// Bases of the unitigs that a thread writes at a time.
const PORTION: usize = 1 << 20;

/// Writes all unitigs, in their order, each named by its number.
///
/// # Errors
/// The sink takes no more, or somebody cancelled.
pub fn write(
    unitigs: &Unitigs,
    links: &Links,
    format: GraphFormat,
    threads: usize,
    sink: &mut dyn Write,
    progress: &Progress,
) -> Result<(), Error> {
    progress.start("write", unitigs.len() as u64);
    let text = Text {
        unitigs,
        links,
        format,
    };
    if format == GraphFormat::Gfa {
        sink.write_all(b"H\tVN:Z:1.0\n").map_err(Error::Sink)?;
    }
    let mut next = 0;
    while next < unitigs.len() {
        progress.go_on()?;
        let portions = (0..threads)
            .map_while(|_| text.portion(&mut next))
            .collect();
        let texts = in_parallel(portions, |portion: Range<usize>| {
            let mut bytes = Vec::new();
            let written = portion.len();
            text.write(portion, &mut bytes);
            Ok::<_, Error>((written, bytes))
        })?;
        for (written, bytes) in texts {
            sink.write_all(&bytes).map_err(Error::Sink)?;
            progress.advance(written as u64);
        }
    }
    Ok(())
}

struct Text<'u> {
    unitigs: &'u Unitigs,
    links: &'u Links,
    format: GraphFormat,
}

impl Text<'_> {
    /// The next unitigs, of about [`PORTION`] bases.
    fn portion(&self, next: &mut usize) -> Option<Range<usize>> {
        let (first, mut bases) = (*next, 0);
        while *next < self.unitigs.len() && bases < PORTION {
            bases += self.unitigs.length(*next);
            *next += 1;
        }
        (first < *next).then_some(first..*next)
    }

    fn write(&self, portion: Range<usize>, bytes: &mut Vec<u8>) {
        let mut line = String::new();
        for unitig in portion {
            line.clear();
            match self.format {
                GraphFormat::Fasta => self.fasta(unitig, &mut line, bytes),
                GraphFormat::Gfa => self.gfa(unitig, &mut line, bytes),
            }
        }
    }

    fn fasta(&self, unitig: usize, line: &mut String, bytes: &mut Vec<u8>) {
        let (length, sum, mean) = self.numbers(unitig);
        let _ = write!(line, ">{unitig} LN:i:{length} KC:i:{sum} km:f:{mean:.1}");
        for side in [Side::Left, Side::Right] {
            for to in self.links.from(UnitigEnd { unitig, side }) {
                let (from, into) = (leaving(side), entering(to.side));
                let _ = write!(line, " L:{from}:{}:{into}", to.unitig);
            }
        }
        line.push('\n');
        bytes.extend_from_slice(line.as_bytes());
        let stretch = self.unitigs.stretch(unitig);
        self.unitigs.bases().write_letters(stretch, bytes);
        bytes.push(b'\n');
    }

    fn gfa(&self, unitig: usize, line: &mut String, bytes: &mut Vec<u8>) {
        let (length, sum, mean) = self.numbers(unitig);
        bytes.extend_from_slice(format!("S\t{unitig}\t").as_bytes());
        let stretch = self.unitigs.stretch(unitig);
        self.unitigs.bases().write_letters(stretch, bytes);
        let _ = writeln!(line, "\tLN:i:{length}\tKC:i:{sum}\tDP:f:{mean:.2}");
        let overlap = self.unitigs.k() - 1;
        for side in [Side::Left, Side::Right] {
            let from = UnitigEnd { unitig, side };
            for to in self.links.from(from).filter(|to| is_written(from, *to)) {
                let (leaves, enters) = (leaving(side), entering(to.side));
                let to = to.unitig;
                let _ = writeln!(line, "L\t{unitig}\t{leaves}\t{to}\t{enters}\t{overlap}M");
            }
        }
        bytes.extend_from_slice(line.as_bytes());
    }

    /// Bases, the sum of the counts, and their mean.
    fn numbers(&self, unitig: usize) -> (usize, u64, f64) {
        let sum = self.unitigs.count_sum(unitig);
        let mean = sum as f64 / self.unitigs.kmers(unitig) as f64;
        (self.unitigs.length(unitig), sum, mean)
    }
}

/// A pair of ends that meet is written once: where the first comes before the second, read from
/// left to right where both are of one unitig.
pub fn is_written(from: UnitigEnd, to: UnitigEnd) -> bool {
    match from.unitig == to.unitig {
        true => from.side >= to.side,
        false => from < to,
    }
}

/// The direction in which a unitig is read that is left at an end.
pub fn leaving(side: Side) -> char {
    match side {
        Side::Left => '-',
        Side::Right => '+',
    }
}

/// The direction in which one is read that is entered at an end.
pub fn entering(side: Side) -> char {
    leaving(side.other())
}
