//! Nucleotides with nucleotides: `blastn` and what differs from it by its words and scores.
//!
//! Words of both strands of the queries are looked up in the database, what is around them grows
//! without gaps and then with gaps; the answer is on the plus strand of the query.

mod aligned;
mod alignments;
mod coarse;
mod common;
mod evaluate;
mod filter;
mod join;
mod options;
mod scoring;
mod search;
mod seed;
mod segments;
mod sorted;
mod stretch;
mod words;

use std::ops::{Range, RangeInclusive};

use gyrase_align::ungapped::UngappedSegment;
use gyrase_work::Progress;

use crate::engine::{Align, Ended, Engine, Query};
use crate::hits::{Best, Hit, Hsp, Match};
use crate::{DatabaseSize, HitLimits, Program, SearchError, Sequences};
use aligned::Aligned;
use alignments::PairAligner;
use options::Setting;
use search::Search;
use words::Words;

pub use options::{NucleotideOptions, Strands};
pub(crate) use scoring::NucleotideScoring;
pub use seed::TemplateType;
pub(crate) use words::MASKED;

/// A search of nucleotides.
pub(crate) struct Nucleotides<'s> {
    pub subjects: &'s Sequences,
    pub scoring: &'s NucleotideScoring,
    pub threads: usize,
}

/// How a program of nucleotides scores.
///
/// # Errors
/// There are no statistics for these scores; there is no such template.
pub(crate) fn scoring_of(
    program: Program,
    options: &NucleotideOptions,
    size: DatabaseSize,
    limits: HitLimits,
) -> Result<NucleotideScoring, SearchError> {
    NucleotideScoring::new(Setting::new(program, options)?, size, limits)
}

/// Bytes that a search takes beside sequences and matches, for queries of so many letters in all
/// frames: their words, and what each thread reads of the database.
pub(crate) fn bytes_beside(
    program: Program,
    options: &NucleotideOptions,
    letters: u64,
    threads: usize,
) -> u64 {
    // A setting that makes no sense is refused before anything is searched.
    let words = |setting: Setting| Words::bytes(letters as usize, &setting);
    Setting::new(program, options).map_or(0, words) + stretches(threads, letters as usize)
}

/// Letters of the queries of a batch, but for the last of them.
pub(crate) fn letters_at_once(program: Program, options: &NucleotideOptions) -> u64 {
    Setting::new(program, options).map_or(0, |setting| setting.letters_at_once())
}

fn stretches(threads: usize, letters: usize) -> u64 {
    threads as u64 * Search::thread_bytes(Words::most_parts(letters))
}

impl Engine for Nucleotides<'_> {
    fn matches(
        &self,
        queries: &Sequences,
        most: usize,
        progress: &Progress,
    ) -> Result<Vec<Match>, Ended> {
        let setting = &self.scoring.setting;
        let letters = queries.text().len();
        let words = Words::bytes(letters, setting) + stretches(self.threads, letters);
        let matches = words.div_ceil(3 * size_of::<Match>() as u64) as usize;
        if queries.total() == 0 || self.subjects.total() == 0 {
            return Ok(Vec::new());
        }
        let most = most.checked_sub(matches).ok_or(Ended::TooMany)?;
        let lengths = (0..queries.len()).map(|frame| queries.residues(frame).len());
        let of_lengths = |length| {
            let cutoff = self.scoring.cutoff(length);
            (self.scoring.trigger(cutoff), self.scoring.wanted(length))
        };
        let (least, wanted): (Vec<i32>, Vec<i32>) = lengths.map(of_lengths).unzip();
        let mut found = Vec::new();
        for &seed in &setting.seeds {
            let search = Search {
                queries,
                subjects: self.subjects,
                scoring: self.scoring,
                words: &Words::new(queries, setting, seed, self.threads),
                least: &least,
                wanted: &wanted,
                most: most.checked_sub(found.len()).ok_or(Ended::TooMany)?,
                threads: self.threads,
            };
            found.append(&mut search.matches(progress)?);
        }
        if setting.seeds.len() > 1 {
            found.sort_unstable();
            found.dedup();
        }
        Ok(found)
    }

    fn batch(&self) -> RangeInclusive<u64> {
        let most = self.scoring.setting.letters_at_once();
        most / 10..=most
    }

    fn aligner(&self) -> Box<dyn Align + Send + '_> {
        Box::new(Aligner {
            subjects: self.subjects,
            scoring: self.scoring,
            pairs: PairAligner::new(self.scoring),
        })
    }
}

/// Aligns one query after the other.
struct Aligner<'s> {
    subjects: &'s Sequences,
    scoring: &'s NucleotideScoring,
    pairs: PairAligner<'s>,
}

impl Align for Aligner<'_> {
    fn hits(&mut self, query: Query, matches: &[Match]) -> Vec<Hit> {
        let mut matches: Vec<&Match> = matches.iter().collect();
        // By subject, then by frame: the order of both is there already.
        matches.sort_by_key(|found| found.subject);
        let mut hits = Best::new(self.scoring.limits.top, Hit::order);
        for of_subject in matches.chunk_by(|one, next| one.subject == next.subject) {
            if let Some(hit) = self.align(query, of_subject) {
                hits.push(hit);
            }
        }
        hits.sorted()
    }
}

impl Aligner<'_> {
    /// The alignments of a query with a subject, if there is one.
    fn align(&mut self, query: Query, matches: &[&Match]) -> Option<Hit> {
        let number = matches[0].subject as usize;
        let length = query.residues().len();
        let of_subject = self.subjects.range(number).len();
        let effective = self.scoring.effective(length);
        let mut all: Vec<(usize, Aligned)> = Vec::new();
        for of_frame in matches.chunk_by(|one, next| one.query == next.query) {
            let frame = of_frame[0].query as usize;
            let segments = of_frame.iter().map(|found| found.segment).collect();
            let aligned = self.align_frame(query.frames.residues(frame), number, segments);
            all.extend(aligned.into_iter().map(|one| (frame - query.first, one)));
        }
        all.sort_by_cached_key(|(_, one)| one.rank());
        let limits = self.scoring.limits;
        let hsps = all.into_iter().map(|(frame, one)| {
            let evalue = self.scoring.evalue(one.score, effective);
            let bits = self.scoring.bits(one.score);
            hsp(frame, one, [length, of_subject], evalue, bits)
        });
        let hsps = hsps.filter(|hsp| hsp.evalue <= limits.evalue);
        let hsps: Vec<Hsp> = hsps.take(limits.max_hsps).collect();
        let rank_score = hsps.first()?.score;
        Some(Hit {
            subject: number,
            rank_score,
            hsps,
        })
    }

    /// The good alignments of a frame of a query with a subject. Segments so far from each other
    /// that nothing reaches from one to the other are aligned by themselves.
    fn align_frame(
        &mut self,
        query: &[u8],
        subject: usize,
        mut segments: Vec<UngappedSegment>,
    ) -> Vec<Aligned> {
        let length = self.subjects.range(subject).len();
        let reach = self.scoring.reach(query.len());
        let window = |segment: &UngappedSegment| {
            let range = segment.in_subject();
            range.start.saturating_sub(reach)..(range.end + reach).min(length)
        };
        segments.sort_by_key(|segment| segment.subject);
        let (mut all, mut rest) = (Vec::new(), &segments[..]);
        while let Some(first) = rest.first() {
            let (mut stretch, mut near) = (window(first), 1);
            while let Some(next) = rest
                .get(near)
                .map(window)
                .filter(|next| next.start < stretch.end)
            {
                (stretch.end, near) = (stretch.end.max(next.end), near + 1);
            }
            all.append(&mut self.align_near(query, subject, stretch, &rest[..near]));
            rest = &rest[near..];
        }
        all
    }

    /// The same of segments in a stretch of the subject.
    fn align_near(
        &mut self,
        query: &[u8],
        subject: usize,
        stretch: Range<usize>,
        segments: &[UngappedSegment],
    ) -> Vec<Aligned> {
        let codes = self.subjects.codes(subject, stretch.clone());
        let own = segments.iter().map(|segment| UngappedSegment {
            subject: segment.subject - stretch.start as u32,
            ..*segment
        });
        let cutoff = self.scoring.cutoff(query.len());
        let aligned = self.pairs.align(query, &codes, own, cutoff).into_iter();
        let good = aligned.filter(|one| {
            let covers = self.scoring.covers(one.query.len(), query.len());
            covers && self.is_similar(query, &codes, one)
        });
        good.map(|one| one.behind(stretch.start)).collect()
    }

    /// Whether enough columns are equal.
    fn is_similar(&self, query: &[u8], subject: &[u8], aligned: &Aligned) -> bool {
        let least = self.scoring.setting.identity;
        if least <= 0.0 {
            return true;
        }
        let (of_query, of_subject) = (
            &query[aligned.query.clone()],
            &subject[aligned.subject.clone()],
        );
        let pairs = crate::hits::pairs(of_query.into(), of_subject.into(), &aligned.steps);
        let equal = pairs.filter(|(one, other)| one == other).count();
        100.0 * equal as f64 / aligned.steps.len() as f64 >= least
    }
}

/// An alignment on the plus strand of the query.
fn hsp(frame: usize, one: Aligned, lengths: [usize; 2], evalue: f64, bits: f64) -> Hsp {
    let Aligned {
        mut query,
        mut subject,
        score,
        mut steps,
        ..
    } = one;
    let mut frames = [1, 1];
    if frame > 0 {
        frames[1] = -1;
        query = lengths[0] - query.end..lengths[0] - query.start;
        subject = lengths[1] - subject.end..lengths[1] - subject.start;
        steps.reverse();
    }
    Hsp {
        query,
        subject,
        frames,
        score,
        evalue,
        bits,
        adjusted: None,
        steps,
    }
}
