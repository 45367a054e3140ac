//! From the hits of a read to its answer: candidates, a taxon, a line.

use std::cmp::Reverse;
use std::io::Write;

use gyrase_seq::Batch;

use super::{Config, Lines};
use crate::candidates::{Candidate, Hit, Regions, feature_of, windows_of};
use crate::catalogue::Catalogue;
use crate::decide::Judge;
use crate::filter::{Covered, Dropped};
use crate::tally::{Depth, Tally};
use gyrase_taxonomy::Taxon;

/// A read or pair, as answers need it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Read<'b> {
    /// The first word of its header, without the number of the mate.
    pub name: &'b [u8],
    /// Letters, and those of the second mate.
    pub lengths: (usize, Option<usize>),
    /// Its features; hits name them by their place here.
    pub features: &'b [u32],
}

impl<'b> Read<'b> {
    /// The read of that number in a batch of reads or first mates and a batch of second mates.
    pub(super) fn of(
        [first, second]: &'b [Batch; 2],
        number: usize,
        features: &'b [u32],
    ) -> Read<'b> {
        let record = first.records[number];
        let mate = second.records.get(number).map(|mate| mate.letters.len());
        Read {
            name: name_of(first.bytes(record.name)),
            lengths: (record.letters.len(), mate),
            features,
        }
    }

    fn letters(&self) -> usize {
        self.lengths.0 + self.lengths.1.unwrap_or(0)
    }
}

/// The first word of a header, without the number of the mate.
fn name_of(header: &[u8]) -> &[u8] {
    let word = header
        .split(u8::is_ascii_whitespace)
        .next()
        .unwrap_or_default();
    word.strip_suffix(b"/1")
        .or_else(|| word.strip_suffix(b"/2"))
        .unwrap_or(word)
}

/// The answers for some reads.
#[derive(Debug)]
pub(super) struct Answers {
    /// A line for each.
    pub text: Vec<u8>,
    pub tally: Tally,
    /// Letters of the reads.
    pub letters: u64,
    /// The taxon of each, where records are extracted.
    pub taxa: Vec<Option<Taxon>>,
    /// Reads per window, where that is wanted.
    pub depth: Depth,
}

impl Answers {
    pub(super) fn new() -> Answers {
        Answers {
            text: Vec::new(),
            tally: Tally::new(),
            letters: 0,
            taxa: Vec::new(),
            depth: Depth::default(),
        }
    }
}

/// Answers for reads whose hits are known. Make one for each thread: what it needs is kept from
/// read to read.
pub(super) struct Answerer<'i> {
    index: &'i Catalogue,
    config: &'i Config,
    regions: Regions<'i>,
    candidates: Vec<Candidate>,
    judge: Judge,
    /// Taxids of the candidates of a read, and their hits.
    shown: Vec<(u32, usize)>,
    /// Features of a read that its region has.
    found: Vec<u32>,
    dropped: &'i Dropped,
}

impl<'i> Answerer<'i> {
    /// No read gets its answer from what is in `dropped`.
    pub(super) fn new(
        index: &'i Catalogue,
        config: &'i Config,
        dropped: &'i Dropped,
    ) -> Answerer<'i> {
        let (regions, judge) = (Regions::new(&index.targets), Judge::default());
        Answerer {
            index,
            config,
            regions,
            candidates: Vec::new(),
            judge,
            shown: Vec::new(),
            found: Vec::new(),
            dropped,
        }
    }

    /// Notes which windows a read with these hits covers, which change their order.
    pub(super) fn cover(&mut self, read: &Read<'_>, hits: &mut [Hit], covered: &mut Covered) {
        self.find_candidates(read, hits);
        if self
            .candidates
            .iter()
            .any(|candidate| candidate.hits.len() >= self.config.rule.least_hits as usize)
        {
            covered.add(hits, &self.candidates);
        }
    }

    /// Lists the best region of every target that may be an answer.
    fn find_candidates(&mut self, read: &Read<'_>, hits: &mut [Hit]) {
        let span = self.span(read.lengths);
        let Answerer {
            regions,
            candidates,
            dropped,
            ..
        } = self;
        candidates.clear();
        regions.best(hits, span, |candidate| {
            if !dropped.has(candidate.target) {
                candidates.push(candidate);
            }
        });
    }

    /// Adds the answer for a read with these hits, which change their order.
    pub(super) fn answer(&mut self, read: &Read<'_>, hits: &mut [Hit], answers: &mut Answers) {
        self.find_candidates(read, hits);
        let Answerer {
            index,
            config,
            candidates,
            judge,
            ..
        } = self;
        let taxon = judge.taxon(index, &config.rule, read.features.len(), hits, candidates);
        match taxon {
            Some(taxon) => answers.tally.assign(taxon, 1),
            None => answers.tally.leave(1),
        }
        answers.letters += read.letters() as u64;
        answers.taxa.push(taxon);
        let wanted = self.config.wanted;
        let region = if wanted.regions() {
            self.region(taxon).cloned()
        } else {
            None
        };
        region
            .iter()
            .for_each(|region| hits[region.hits.clone()].sort_unstable());
        if let (Some(_), Some(region)) = (taxon, &region) {
            if wanted.evidence {
                self.note(read, region, &hits[region.hits.clone()], &mut answers.tally);
            }
            if wanted.depth {
                answers.depth.add(region.first..=region.last);
            }
        }
        self.write_start(read, taxon, &mut answers.text);
        match wanted.lines {
            Lines::Hits => self.write_hits(&mut answers.text),
            Lines::Locations => self.write_location(read, region.as_ref(), hits, &mut answers.text),
        }
        answers.text.push(b'\n');
    }

    /// The region that a read of `taxon` comes from: the best candidate at or below it, of equals
    /// that of the first target; of a read without a taxon the best candidate.
    fn region(&self, taxon: Option<Taxon>) -> Option<&Candidate> {
        let Answerer {
            index, candidates, ..
        } = self;
        let clade = taxon.map(|taxon| index.taxonomy.clade(taxon));
        let inside = |candidate: &Candidate| {
            let taxon = index.targets.get(candidate.target).taxon;
            clade
                .as_ref()
                .is_none_or(|clade| taxon.is_some_and(|taxon| clade.contains(&taxon)))
        };
        let order = |one: &Candidate| (one.hits.len(), Reverse(one.target));
        let better = |best: Option<&'_ Candidate>, one: &'_ Candidate| {
            best.is_none_or(|best| order(one) > order(best)) && inside(one)
        };
        candidates.iter().fold(
            None,
            |best, one| if better(best, one) { Some(one) } else { best },
        )
    }

    /// Notes the features of a read that are in its region, and where, for the taxon of the target.
    fn note(&mut self, read: &Read<'_>, region: &Candidate, hits: &[Hit], tally: &mut Tally) {
        let Some(taxon) = self.index.targets.get(region.target).taxon else {
            return;
        };
        let Answerer { found, .. } = self;
        found.clear();
        found.extend(hits.iter().map(|&hit| read.features[feature_of(hit)]));
        found.sort_unstable();
        found.dedup();
        tally.evidence_mut(taxon).hit_in(found, windows_of(hits));
    }

    /// Windows that a read can touch.
    fn span(&self, lengths: (usize, Option<usize>)) -> u32 {
        let letters = lengths
            .1
            .map_or(lengths.0, |mate| (lengths.0 + mate).max(self.config.insert));
        2 + (letters / self.index.parameters.sketch.stride()) as u32
    }

    /// The columns of all forms of lines.
    fn write_start(&self, read: &Read<'_>, taxon: Option<Taxon>, text: &mut Vec<u8>) {
        text.extend_from_slice(if taxon.is_some() { b"C\t" } else { b"U\t" });
        text.extend_from_slice(read.name);
        let taxid = taxon.map_or(0, |taxon| self.index.taxonomy.taxid(taxon));
        let written = match read.lengths {
            (first, Some(mate)) => write!(text, "\t{taxid}\t{first}|{mate}\t"),
            (only, None) => write!(text, "\t{taxid}\t{only}\t"),
        };
        written.expect("memory takes all text");
    }

    /// Writes target, first and last letter of the region there, hits in it, features of the read,
    /// and the share of the region's windows that were hit.
    fn write_location(
        &self,
        read: &Read<'_>,
        region: Option<&Candidate>,
        hits: &[Hit],
        text: &mut Vec<u8>,
    ) {
        let features = read.features.len();
        let written = match region {
            None => write!(text, "*\t0\t0\t0\t{features}\t0.0000"),
            Some(region) => {
                let target = self.index.targets.get(region.target);
                let first_of_target = self.index.targets.windows(region.target).start;
                let sketch = self.index.parameters.sketch;
                let start =
                    |window: u32| u64::from(window - first_of_target) * sketch.stride() as u64;
                let last = (start(region.last) + sketch.window() as u64).min(target.letters);
                let in_region = &hits[region.hits.clone()];
                let hit = windows_of(in_region).count();
                let share = hit as f64 / f64::from(region.last - region.first + 1);
                let (name, first, hits) = (&target.name, start(region.first) + 1, in_region.len());
                write!(
                    text,
                    "{name}\t{first}\t{last}\t{hits}\t{features}\t{share:.4}"
                )
            }
        };
        written.expect("memory takes all text");
    }

    /// Writes the candidates' hits by taxid, best first; `0:0` where there are none.
    fn write_hits(&mut self, text: &mut Vec<u8>) {
        let Answerer {
            index,
            candidates,
            shown: hits,
            ..
        } = self;
        let taxid = |candidate: &Candidate| {
            index
                .targets
                .get(candidate.target)
                .taxon
                .map_or(0, |taxon| index.taxonomy.taxid(taxon))
        };
        hits.clear();
        hits.extend(candidates.iter().map(|one| (taxid(one), one.hits.len())));
        hits.sort_unstable_by_key(|&(taxid, hits)| (taxid, Reverse(hits)));
        hits.dedup_by_key(|&mut (taxid, _)| taxid);
        hits.sort_unstable_by_key(|&(taxid, hits)| (Reverse(hits), taxid));
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
