//! From unitigs as BCALM 2 writes them to GFA 1.

use std::collections::HashMap;
use std::io::Write;
use std::ops::Range;
use std::path::Path;

use gyrase_fastx::{Options, Reader};
use gyrase_kmer::MAX_K;
use gyrase_seq::{Batch, reverse_complement};

use super::text::shown;
use super::{GfaError, GfaProblem};
use crate::unitigs::{entering, is_written, leaving};
use crate::{Side, UnitigEnd};

/// The least k of unitigs.
const LEAST_K: usize = 3;

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Converted {
    /// Bases of the k-mers.
    pub k: usize,
    /// Unitigs.
    pub segments: u64,
    /// Links between them.
    pub links: u64,
}

/// Writes the unitigs of a FASTA file with the header fields of BCALM 2 as GFA 1. Where `k` is not
/// given, it is what fits all of them: the letters of linked unitigs, and the counts.
///
/// # Errors
/// The file cannot be read, its records are not as BCALM 2's, or several k fit.
pub fn unitigs_to_gfa(
    path: &Path,
    k: Option<usize>,
    memory: u64,
    out: &mut dyn Write,
) -> Result<Converted, GfaError> {
    let records = Records::read(path, memory / 2)?;
    let wrong = |(record, problem)| GfaError::Record {
        path: path.to_path_buf(),
        record,
        problem,
    };
    let links = records.links().map_err(wrong)?;
    let k = match k {
        Some(k) => {
            let checked = |&(from, to): &EndsMet| {
                let checked = records.check(from, to, k);
                checked.map_err(|problem| wrong((from.unitig as u64 + 1, problem)))
            };
            links.iter().try_for_each(checked)?;
            k
        }
        // That all links overlap tells it.
        None => records.only_k(&links).map_err(|found| {
            let path = path.to_path_buf();
            GfaError::LengthOfKmers { path, found }
        })?,
    };
    let links = records.write(&links, k, out).map_err(GfaError::Sink)?;
    let segments = records.all.len() as u64;
    Ok(Converted { k, segments, links })
}

struct Record {
    header: Range<usize>,
    letters: Range<usize>,
}

/// The records of a file.
struct Records {
    text: Vec<u8>,
    all: Vec<Record>,
}

type EndsMet = (UnitigEnd, UnitigEnd);

impl Records {
    fn read(path: &Path, most: u64) -> Result<Records, GfaError> {
        let options = Options {
            whole_records: true,
            ..Options::default()
        };
        let mut reader = Reader::open(path, &options)?;
        let (mut batch, mut text, mut all) = (Batch::default(), Vec::new(), Vec::new());
        while reader.next_batch(&mut batch)? {
            for record in &batch.records {
                let [header, letters] = [record.name, record.letters].map(|span| {
                    let start = text.len();
                    text.extend_from_slice(batch.bytes(span));
                    start..text.len()
                });
                all.push(Record { header, letters });
            }
            if text.len() as u64 > most {
                let path = path.to_path_buf();
                return Err(GfaError::Memory { path, most });
            }
        }
        Ok(Records { text, all })
    }

    fn letters(&self, unitig: usize) -> &[u8] {
        &self.text[self.all[unitig].letters.clone()]
    }

    fn words(&self, unitig: usize) -> impl Iterator<Item = &[u8]> {
        let header = &self.text[self.all[unitig].header.clone()];
        let words = header.split(|byte| byte.is_ascii_whitespace());
        words.filter(|word| !word.is_empty())
    }

    fn name(&self, unitig: usize) -> &[u8] {
        self.words(unitig).next().unwrap_or_default()
    }

    /// The number behind a field of a header.
    fn field<T: std::str::FromStr>(&self, unitig: usize, field: &str) -> Option<T> {
        let mut words = self.words(unitig);
        let value = words.find_map(|word| word.strip_prefix(field.as_bytes()))?;
        std::str::from_utf8(value).ok()?.parse().ok()
    }

    /// Which ends meet, in the order of the file.
    fn links(&self) -> Result<Vec<EndsMet>, (u64, GfaProblem)> {
        let mut names = HashMap::new();
        for unitig in 0..self.all.len() {
            if let Some(first) = names.insert(self.name(unitig), unitig) {
                let problem = GfaProblem::Twice {
                    name: shown(self.name(unitig)),
                    of: "record",
                    first: first as u64 + 1,
                };
                return Err((unitig as u64 + 1, problem));
            }
        }
        let mut links = Vec::new();
        for unitig in 0..self.all.len() {
            let fields = self
                .words(unitig)
                .filter_map(|word| word.strip_prefix(b"L:"));
            for field in fields {
                let link = link(field, unitig, &names);
                links.push(link.map_err(|problem| (unitig as u64 + 1, problem))?);
            }
        }
        Ok(links)
    }

    /// The k that all unitigs and links fit, or those that they do.
    fn only_k(&self, links: &[EndsMet]) -> Result<usize, Vec<usize>> {
        let fits = |&k: &usize| {
            let mut unitigs = 0..self.all.len();
            unitigs.all(|unitig| self.counts_fit(unitig, k))
                && links
                    .iter()
                    .all(|&(from, to)| self.check(from, to, k).is_ok())
        };
        // Without unitigs every k is as good.
        let found: Vec<usize> = match self.all.is_empty() {
            true => vec![LEAST_K],
            false => (LEAST_K..=MAX_K).step_by(2).filter(fits).collect(),
        };
        match found[..] {
            [k] => Ok(k),
            _ => Err(found),
        }
    }

    /// Whether so long k-mers have the mean that the header tells, as it is rounded.
    fn counts_fit(&self, unitig: usize, k: usize) -> bool {
        let Some(kmers) = (self.letters(unitig).len() + 1).checked_sub(k) else {
            return false;
        };
        let told = self.field(unitig, "KC:i:").zip(self.field(unitig, "km:f:"));
        kmers > 0
            && told.is_none_or(|(sum, mean): (f64, f64)| {
                // No k-mer is there without a count.
                sum >= kmers as f64 && (sum / kmers as f64 - mean).abs() <= 0.051 + mean * 1e-5
            })
    }

    /// Refuses ends that do not overlap by k-1 letters.
    fn check(&self, from: UnitigEnd, to: UnitigEnd, k: usize) -> Result<(), GfaProblem> {
        let ahead = self.end(from, k - 1);
        let behind = self.end(to, k - 1).map(|end| reverse_complement(&end));
        if ahead.is_some() && ahead == behind {
            return Ok(());
        }
        Err(GfaProblem::Apart {
            from: shown(self.name(from.unitig)),
            to: shown(self.name(to.unitig)),
            overlap: k - 1,
        })
    }

    /// The last letters of a unitig that is left at an end.
    fn end(&self, end: UnitigEnd, overlap: usize) -> Option<Vec<u8>> {
        let letters = self.letters(end.unitig);
        let end = match end.side {
            Side::Right => letters[letters.len().checked_sub(overlap)?..].to_vec(),
            Side::Left => reverse_complement(letters.get(..overlap)?),
        };
        Some(end.to_ascii_uppercase())
    }

    fn write(&self, links: &[EndsMet], k: usize, out: &mut dyn Write) -> std::io::Result<u64> {
        let (mut links, mut written) = (links.iter().peekable(), 0);
        out.write_all(b"H\tVN:Z:1.0\n")?;
        for unitig in 0..self.all.len() {
            let letters = self.letters(unitig);
            for text in [b"S\t", self.name(unitig), b"\t", letters] {
                out.write_all(text)?;
            }
            write!(out, "\tLN:i:{}", letters.len())?;
            let kmers = (letters.len() + 1).saturating_sub(k).max(1);
            if let Some(sum) = self.field::<u64>(unitig, "KC:i:") {
                let mean = sum as f64 / kmers as f64;
                write!(out, "\tKC:i:{sum}\tDP:f:{mean:.2}")?;
            }
            out.write_all(b"\n")?;
            while let Some(&(from, to)) = links.next_if(|link| link.0.unitig == unitig) {
                if is_written(from, to) {
                    let (one, other) = (self.name(from.unitig), self.name(to.unitig));
                    for text in [b"L\t", one] {
                        out.write_all(text)?;
                    }
                    write!(out, "\t{}\t", leaving(from.side))?;
                    out.write_all(other)?;
                    writeln!(out, "\t{}\t{}M", entering(to.side), k - 1)?;
                    written += 1;
                }
            }
        }
        Ok(written)
    }
}

/// `+:17:-`: the end that is left, the unitig that comes then, and in which direction.
fn link(field: &[u8], unitig: usize, names: &HashMap<&[u8], usize>) -> Result<EndsMet, GfaProblem> {
    let parts: Vec<&[u8]> = field.split(|&byte| byte == b':').collect();
    let side = |sign: &[u8], forward: Side| match sign {
        b"+" => Some(forward),
        b"-" => Some(forward.other()),
        _ => None,
    };
    let [leaves, name, enters] = parts[..] else {
        return Err(no_link(field));
    };
    let (Some(left), Some(entered)) = (side(leaves, Side::Right), side(enters, Side::Left)) else {
        return Err(no_link(field));
    };
    let Some(&to) = names.get(name) else {
        return Err(GfaProblem::Missing { name: shown(name) });
    };
    let from = UnitigEnd { unitig, side: left };
    let to = UnitigEnd {
        unitig: to,
        side: entered,
    };
    Ok((from, to))
}

fn no_link(field: &[u8]) -> GfaProblem {
    GfaProblem::UnitigLink {
        found: format!("L:{}", shown(field)),
    }
}
