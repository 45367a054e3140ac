//! From the hits of a read to its answer: candidates, a taxon, a line.

use std::io::Write;

use gyrase_seq::Batch;

use super::Config;
use crate::candidates::{Candidate, Hit, best_regions};
use crate::decide::Judge;
use crate::index::Index;
use crate::tally::Tally;
use crate::taxonomy::Taxon;

/// A read or pair, as answers need it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read<'b> {
    /// The first word of its header, without the number of the mate.
    pub name: &'b [u8],
    /// Letters, and those of the second mate.
    pub lengths: (usize, Option<usize>),
    /// Its features; hits name them by their place here.
    pub features: &'b [u32],
}

impl<'b> Read<'b> {
    /// The read of that number in a batch of reads or first mates and a batch of second mates.
    pub(super) fn of([first, second]: &'b [Batch; 2], number: usize, features: &'b [u32]) -> Read<'b> {
        let record = first.records[number];
        let mate = second.records.get(number).map(|mate| mate.letters.len());
        Read { name: name_of(first.bytes(record.name)), lengths: (record.letters.len(), mate), features }
    }

    fn letters(&self) -> usize {
        self.lengths.0 + self.lengths.1.unwrap_or(0)
    }
}

/// The first word of a header, without the number of the mate.
fn name_of(header: &[u8]) -> &[u8] {
    let word = header.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    word.strip_suffix(b"/1").or_else(|| word.strip_suffix(b"/2")).unwrap_or(word)
}

/// The answers for some reads.
#[derive(Debug)]
pub(super) struct Answers {
    /// A line for each.
    pub text: Vec<u8>,
    pub tally: Tally,
    /// Letters of the reads.
    pub letters: u64,
}

impl Answers {
    pub(super) fn new() -> Answers {
        Answers { text: Vec::new(), tally: Tally::new(), letters: 0 }
    }
}

/// Answers for reads whose hits are known. Make one for each thread: what it needs is kept from read to read.
pub(super) struct Answerer<'i> {
    index: &'i Index,
    config: &'i Config,
    candidates: Vec<Candidate>,
    judge: Judge,
    /// Taxids of the candidates of a read, and their hits.
    shown: Vec<(u32, usize)>,
}

impl<'i> Answerer<'i> {
    pub(super) fn new(index: &'i Index, config: &'i Config) -> Answerer<'i> {
        Answerer { index, config, candidates: Vec::new(), judge: Judge::default(), shown: Vec::new() }
    }

    /// Adds the answer for a read with these hits, which are sorted on the way.
    pub(super) fn answer(&mut self, read: &Read<'_>, hits: &mut [Hit], answers: &mut Answers) {
        let span = self.span(read.lengths);
        let Answerer { index, config, candidates, judge, .. } = self;
        candidates.clear();
        best_regions(hits, span, &index.targets, |candidate| candidates.push(candidate));
        let taxon = judge.taxon(index, &config.rule, read.features.len(), hits, candidates);
        match taxon {
            Some(taxon) => answers.tally.assign(taxon, 1),
            None => answers.tally.leave(1),
        }
        answers.letters += read.letters() as u64;
        self.write_line(read, taxon, &mut answers.text);
    }

    /// Windows that a read can touch.
    fn span(&self, lengths: (usize, Option<usize>)) -> u32 {
        let letters = lengths.1.map_or(lengths.0, |mate| (lengths.0 + mate).max(self.config.insert));
        2 + (letters / self.index.parameters.sketch.stride()) as u32
    }

    fn write_line(&mut self, read: &Read<'_>, taxon: Option<Taxon>, text: &mut Vec<u8>) {
        text.extend_from_slice(if taxon.is_some() { b"C\t" } else { b"U\t" });
        text.extend_from_slice(read.name);
        let taxid = taxon.map_or(0, |taxon| self.index.taxonomy.taxid(taxon));
        let written = match read.lengths {
            (first, Some(mate)) => write!(text, "\t{taxid}\t{first}|{mate}\t"),
            (only, None) => write!(text, "\t{taxid}\t{only}\t"),
        };
        written.expect("memory takes all text");
        self.write_hits(text);
        text.push(b'\n');
    }

    /// Writes the candidates' hits by taxid, best first; `0:0` where there are none.
    fn write_hits(&mut self, text: &mut Vec<u8>) {
        let Answerer { index, candidates, shown: hits, .. } = self;
        let taxid = |candidate: &Candidate| {
            index.targets.get(candidate.target).taxon.map_or(0, |taxon| index.taxonomy.taxid(taxon))
        };
        hits.clear();
        hits.extend(candidates.iter().map(|one| (taxid(one), one.hits.len())));
        hits.sort_unstable_by_key(|&(taxid, hits)| (taxid, std::cmp::Reverse(hits)));
        hits.dedup_by_key(|&mut (taxid, _)| taxid);
        hits.sort_unstable_by_key(|&(taxid, hits)| (std::cmp::Reverse(hits), taxid));
        hits.truncate(SHOWN);
        if hits.is_empty() {
            hits.push((0, 0));
        }
        for (i, (taxid, hits)) in hits.iter().enumerate() {
            let space = if i == 0 { "" } else { " " };
            write!(text, "{space}{taxid}:{hits}").expect("memory takes all text");
        }
    }
}

/// Candidates shown in the last column.
const SHOWN: usize = 4;
