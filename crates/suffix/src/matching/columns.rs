//! Matches as lines of text: the columns of MUMmer, or PAF.

use super::ExactMatch;
use super::queries::{Queries, Strand};
use crate::texts::Texts;

/// How matches are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatchFormat {
    /// As `mummer -maxmatch -b -c` does: a line `> name` for each strand of a query, and a line for
    /// each match: the sequence of the reference, where there are several, the place in it, the
    /// place in the query, counted along its forward strand from 1, and the letters.
    #[default]
    Mummer,
    /// PAF: a line for each match, with places from 0.
    Paf,
}

/// Width of a number in MUMmer's columns.
const WIDTH: usize = 8;

/// Writes the matches of strands.
pub(super) struct Columns<'r> {
    reference: &'r Texts,
    format: MatchFormat,
    /// Width of the names of the reference; 0 where there are none to tell.
    name_width: usize,
}

impl<'r> Columns<'r> {
    pub fn new(reference: &'r Texts, format: MatchFormat) -> Columns<'r> {
        let several = reference.texts.len() > 1;
        let widths = reference.texts.iter().map(|text| text.name.len());
        Columns {
            reference,
            format,
            name_width: if several {
                widths.max().unwrap_or(0)
            } else {
                0
            },
        }
    }

    /// The line before the matches of a strand.
    pub fn begin(&self, queries: &Queries, strand: &Strand, out: &mut Vec<u8>) {
        if self.format == MatchFormat::Mummer {
            out.extend(b"> ");
            out.extend(queries.name(strand));
            let reverse: &[u8] = if strand.reverse { b" Reverse" } else { b"" };
            out.extend(reverse);
            out.push(b'\n');
        }
    }

    /// The line of a match in a strand.
    pub fn line(&self, queries: &Queries, strand: &Strand, found: &ExactMatch, out: &mut Vec<u8>) {
        let (text, place) = self.reference.place(found.reference);
        let text = &self.reference.texts[text];
        let length = strand.letters.len();
        let in_strand = found.query - strand.letters.start;
        match self.format {
            MatchFormat::Mummer => {
                if self.name_width > 0 {
                    out.extend(b"  ");
                    out.extend(&text.name);
                    let spaces = self.name_width - text.name.len() + 2;
                    out.resize(out.len() + spaces, b' ');
                }
                let first = if strand.reverse {
                    length - in_strand
                } else {
                    in_strand + 1
                };
                number(place + 1, WIDTH, out);
                out.extend(b"  ");
                number(first, WIDTH, out);
                out.extend(b"  ");
                number(found.length, WIDTH, out);
            }
            MatchFormat::Paf => {
                let start = match strand.reverse {
                    true => length - in_strand - found.length,
                    false => in_strand,
                };
                out.extend(queries.name(strand));
                for field in [length, start, start + found.length] {
                    out.push(b'\t');
                    number(field, 0, out);
                }
                out.extend(if strand.reverse { b"\t-\t" } else { b"\t+\t" });
                out.extend(&text.name);
                let fields = [text.len(), place, place + found.length];
                for field in fields.into_iter().chain([found.length; 2]) {
                    out.push(b'\t');
                    number(field, 0, out);
                }
                out.extend(b"\t255\tcg:Z:");
                number(found.length, 0, out);
                out.push(b'=');
            }
        }
        out.push(b'\n');
    }
}

/// Appends a number, with spaces before it up to a width.
pub(crate) fn number(mut number: usize, width: usize, out: &mut Vec<u8>) {
    let mut digits = [b' '; 20];
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend(&digits[first.min(digits.len() - width)..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_wide_as_asked_for_and_wider_where_they_must() {
        for (value, width) in [(0, 0), (7, 8), (123_456_789, 8), (usize::MAX, 3), (99, 2)] {
            let mut out = Vec::new();
            number(value, width, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), format!("{value:>width$}"));
        }
    }
}
