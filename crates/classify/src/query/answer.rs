//! From the hits of a read to its answer: candidates, a taxon, a region.

use std::cmp::Reverse;

use gyrase_taxonomy::Taxon;

use super::config::AnswerConfig;
use super::located::Located;
use super::sink::{Answer, Form};
use super::summary::Summary;
use crate::candidates::{Candidate, Hit, Regions, windows_of};
use crate::catalogue::Catalogue;
use crate::confidence::Found;
use crate::decide::Judge;
use crate::filter::{Covered, Dropped};
use crate::read::Read;
use crate::tally::Tally;

/// The answers of a batch of reads.
#[derive(Debug, Default)]
pub(super) struct Answers<M> {
    /// What was made of them.
    pub made: M,
    /// The taxon of each.
    pub taxa: Vec<Option<Taxon>>,
}

/// How many windows a read can touch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spans {
    stride: usize,
    insert: usize,
}

impl Spans {
    /// Those of a read with so many letters, or of two mates.
    pub(super) fn of(self, lengths: (usize, Option<usize>)) -> u32 {
        let pair = |mate: usize| (lengths.0 + mate).max(self.insert);
        let letters = lengths.1.map_or(lengths.0, pair);
        2 + (letters / self.stride) as u32
    }
}

/// Answers for reads whose hits are known. Make one for each thread: what it needs is kept from
/// read to read.
pub(super) struct Answerer<'i> {
    index: &'i Catalogue,
    config: &'i AnswerConfig,
    regions: Regions<'i>,
    candidates: Vec<Candidate>,
    judge: Judge,
    /// Features of a read that its region has.
    found: Vec<u32>,
    dropped: &'i Dropped,
}

impl<'i> Answerer<'i> {
    /// No read gets its answer from what is in `dropped`.
    pub(super) fn new(
        index: &'i Catalogue,
        config: &'i AnswerConfig,
        dropped: &'i Dropped,
    ) -> Answerer<'i> {
        Answerer {
            index,
            config,
            regions: Regions::new(&index.targets),
            candidates: Vec::new(),
            judge: Judge::default(),
            found: Vec::new(),
            dropped,
        }
    }

    /// The spans of reads.
    pub(super) fn spans(&self) -> Spans {
        Spans {
            stride: self.index.parameters.sketch.stride(),
            insert: self.config.insert,
        }
    }

    /// Notes which windows a read covers with what was found of it, whose hits change their order.
    pub(super) fn cover(&mut self, read: &Read<'_>, located: Located<'_>, covered: &mut Covered) {
        let hits = self.find_candidates(read, located);
        if self
            .candidates
            .iter()
            .any(|candidate| candidate.hits.len() >= self.config.rule.least_hits as usize)
        {
            covered.add(hits, &self.candidates);
        }
    }

    /// Lists the best region of every target that may be an answer; what their hits are ranges of.
    fn find_candidates<'h>(&mut self, read: &Read<'_>, located: Located<'h>) -> &'h mut [Hit] {
        let span = self.spans().of(read.lengths);
        let Answerer {
            regions,
            candidates,
            dropped,
            ..
        } = self;
        candidates.clear();
        let Located { hits, found } = located;
        let is_there = |candidate: &Candidate| !dropped.has(candidate.target);
        match found {
            Some(found) => candidates.extend(found.iter().filter(|one| is_there(one)).cloned()),
            None => regions.best(hits, span, |candidate| {
                candidates.extend(Some(candidate).filter(is_there));
            }),
        }
        hits
    }

    /// Adds the answer for a read by what was found of it, whose hits change their order.
    pub(super) fn answer<F: Form>(
        &mut self,
        read: &Read<'_>,
        located: Located<'_>,
        form: &F,
        Answers { made, taxa }: &mut Answers<F::Made>,
        summary: &mut Summary,
    ) {
        let hits = self.find_candidates(read, located);
        let found = Found {
            index: self.index,
            features: read.features.len(),
            hits,
            candidates: &self.candidates,
        };
        let taxon = self.judge.taxon(&self.config.rule, &found);
        if let Some(taxon) = taxon.filter(|_| form.wants_supports()) {
            self.judge.list_supports(&found, taxon);
        }
        match taxon {
            Some(taxon) => summary.tally.assign(taxon, 1),
            None => summary.tally.leave(1),
        }
        let mates = [Some(read.lengths.0), read.lengths.1];
        summary.add_letters(mates.into_iter().flatten().map(|letters| letters as u64));
        taxa.push(taxon);
        let region = if self.config.wanted.regions() || form.wants_region() {
            self.region(taxon).cloned()
        } else {
            None
        };
        if let Some(region) = &region {
            hits[region.hits.clone()].sort_unstable();
            if taxon.is_some() {
                self.add_region(read, region, hits, summary);
            }
        }
        let answer = Answer {
            read,
            taxon,
            candidates: &self.candidates,
            region: region.as_ref(),
            supports: taxon.map_or(&[], |_| self.judge.supports()),
            catalogue: self.index,
            hits,
        };
        form.push(&answer, made);
    }

    /// Adds the region of a classified read to what is wanted of the sample.
    fn add_region(
        &mut self,
        read: &Read<'_>,
        region: &Candidate,
        hits: &[Hit],
        summary: &mut Summary,
    ) {
        let wanted = self.config.wanted;
        if wanted.evidence {
            self.note(read, region, &hits[region.hits.clone()], &mut summary.tally);
        }
        if wanted.depth {
            summary.depth.add(region.first..=region.last);
        }
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
        found.extend(hits.iter().map(|&hit| read.features[hit.feature()]));
        found.sort_unstable();
        found.dedup();
        tally.evidence_mut(taxon).hit_in(found, windows_of(hits));
    }
}
