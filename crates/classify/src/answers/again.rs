//! Lines of an earlier run, with other thresholds: answers need neither the reads nor their hits
//! again.

use std::io::{self, BufRead, BufReader, Read, Write};

use gyrase_taxonomy::{Taxon, Taxonomy};

use crate::confidence::Confidence;
use crate::lowest::LowestRank;
use crate::query::Summary;

/// Bytes that are read at a time.
const CHUNK: usize = 1 << 20;

/// Thresholds for lines that are there.
#[derive(Clone, Copy, Debug)]
pub struct Again<'t> {
    /// The taxonomy of the database that the lines are of.
    pub taxonomy: &'t Taxonomy,
    /// The least confidence, at least that of the run that wrote them. Nothing leaves lines of any
    /// program with Kraken's columns as they are.
    pub confidence: Option<Confidence>,
    /// The lowest rank.
    pub lowest: LowestRank,
}

/// Why lines cannot be answered again.
#[derive(Debug, thiserror::Error)]
pub enum AgainError {
    /// They cannot be read.
    #[error("cannot be read: {0}")]
    Read(#[source] io::Error),
    /// The new ones cannot be written.
    #[error(transparent)]
    Write(io::Error),
    /// A line has no such columns.
    #[error("line {line} does not begin with C or U, a name, a taxid and letters")]
    Columns {
        /// Its number, from 1.
        line: u64,
    },
    /// A taxon is not in the taxonomy.
    #[error("taxid {taxid} of line {line} is not in the database: the answers are of another")]
    Taxid {
        /// The number of the line, from 1.
        line: u64,
        /// The taxid.
        taxid: u32,
    },
    /// A line of a classified read does not tell its confidence.
    #[error("line {line} has no last column of confidences")]
    NoConfidence {
        /// Its number, from 1.
        line: u64,
    },
}

/// The parts of a line.
struct Parts<'l> {
    taxid: u32,
    /// Of the read and its mate.
    letters: [Option<u64>; 2],
    /// From the name to before the taxid, and from behind it to before the confidences.
    name: &'l [u8],
    rest: &'l [u8],
    confidences: Option<&'l str>,
}

impl Again<'_> {
    /// Writes the lines of `from` again, each with the taxon that it has with these thresholds.
    ///
    /// # Errors
    /// See [`AgainError`].
    pub fn answer(
        &self,
        from: impl Read,
        to: &mut (impl Write + ?Sized),
    ) -> Result<Summary, AgainError> {
        let mut from = BufReader::with_capacity(CHUNK, from);
        let (mut summary, mut text, mut number) = (Summary::default(), Vec::new(), 0);
        loop {
            text.clear();
            if from
                .read_until(b'\n', &mut text)
                .map_err(AgainError::Read)?
                == 0
            {
                return Ok(summary);
            }
            number += 1;
            let parts = parts(text.trim_ascii_end()).ok_or(AgainError::Columns { line: number })?;
            self.one(&parts, number, &mut summary, to)?;
        }
    }

    fn one(
        &self,
        parts: &Parts<'_>,
        line: u64,
        summary: &mut Summary,
        to: &mut (impl Write + ?Sized),
    ) -> Result<(), AgainError> {
        let taxon = match parts.taxid {
            0 => None,
            _ => self.taxon(parts, line)?,
        };
        summary.add_letters(parts.letters.into_iter().flatten());
        match taxon {
            Some(taxon) => summary.tally.assign(taxon, 1),
            None => summary.tally.leave(1),
        }
        let (state, taxid) = match taxon {
            Some(taxon) => ('C', self.taxonomy.taxid(taxon)),
            None => ('U', 0),
        };
        let confidences = parts.confidences.map(|confidences| {
            let left = taxon.map_or("", |taxon| self.from(taxon, confidences));
            if left.is_empty() { "0:0.0000" } else { left }
        });
        let mut write = || {
            write!(to, "{state}\t")?;
            to.write_all(parts.name)?;
            write!(to, "\t{taxid}\t")?;
            to.write_all(parts.rest)?;
            if let Some(confidences) = confidences {
                write!(to, "\t{confidences}")?;
            }
            to.write_all(b"\n")
        };
        write().map_err(AgainError::Write)
    }

    /// The taxon of a read that had one.
    fn taxon(&self, parts: &Parts<'_>, line: u64) -> Result<Option<Taxon>, AgainError> {
        let known = |taxid| {
            let taxon = self.taxonomy.resolve(taxid).taxon();
            taxon.ok_or(AgainError::Taxid { line, taxid })
        };
        let Some(least) = self.confidence else {
            return Ok(Some(self.lowest.of(self.taxonomy, known(parts.taxid)?)));
        };
        let confidences = parts.confidences.ok_or(AgainError::NoConfidence { line })?;
        let enough = supports(confidences).find(|one| one.1 >= least);
        let Some((taxid, _)) = enough else {
            return Ok(None);
        };
        Ok(Some(self.lowest.of(self.taxonomy, known(taxid)?)))
    }

    /// The confidences of `taxon` and of the taxa above it.
    fn from<'l>(&self, taxon: Taxon, confidences: &'l str) -> &'l str {
        let above = |&(taxid, _): &(u32, Confidence)| {
            let taxon_there = self.taxonomy.resolve(taxid).taxon();
            taxon_there.is_none_or(|there| there > taxon)
        };
        let before = supports(confidences).take_while(above).count();
        let mut left = confidences;
        for _ in 0..before {
            left = left.split_once(' ').map_or("", |parts| parts.1);
        }
        left
    }
}

/// Taxids and their confidences, upwards.
fn supports(confidences: &str) -> impl Iterator<Item = (u32, Confidence)> + '_ {
    confidences.split(' ').filter_map(|one| {
        let (taxid, confidence) = one.split_once(':')?;
        Some((taxid.parse().ok()?, confidence.parse().ok()?))
    })
}

fn parts(line: &[u8]) -> Option<Parts<'_>> {
    let mut fields = line.splitn(4, |&byte| byte == b'\t');
    let (state, name) = (fields.next()?, fields.next()?);
    let (taxid, rest) = (std::str::from_utf8(fields.next()?).ok()?, fields.next()?);
    // Kraken 2 writes `Escherichia coli (taxid 562)` when asked for names.
    let taxid = match taxid.rsplit_once("(taxid ") {
        Some((_, number)) => number.strip_suffix(')')?,
        None => taxid,
    };
    let letters = std::str::from_utf8(rest.split(|&byte| byte == b'\t').next()?).ok()?;
    let mut mates = letters.split('|').map(|mate| mate.parse::<u64>().ok());
    let letters = (mates.next()??, mates.next());
    let last_tab = memchr::memrchr(b'\t', rest);
    let last = last_tab.and_then(|tab| std::str::from_utf8(&rest[tab + 1..]).ok());
    let confidences = last.filter(|last| are_confidences(last));
    let rest = match (last_tab, confidences) {
        (Some(tab), Some(_)) => &rest[..tab],
        _ => rest,
    };
    matches!(state, b"C" | b"U").then_some(Parts {
        taxid: taxid.parse().ok()?,
        letters: match letters {
            (first, None) => [Some(first), None],
            (first, Some(second)) => [Some(first), Some(second?)],
        },
        name,
        rest,
        confidences,
    })
}

/// True for what `Columns::confidence` writes; hits have no point.
fn are_confidences(text: &str) -> bool {
    text.split(' ').all(|one| {
        let share = one.split_once(':').map(|parts| parts.1);
        share.is_some_and(|share| share.contains('.') && share.parse::<Confidence>().is_ok())
    })
}
