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
mod pairs;
mod scoring;
mod search;
mod seed;
mod segments;
mod sorted;
mod stretch;
mod word_index;
mod words;

use std::ops::{Range, RangeInclusive};

use gyrase_align::inter_sequence::Extensions;
use gyrase_align::ungapped::UngappedSegment;
use gyrase_work::Progress;

use crate::engine::{Align, Ended, Engine, Query};
use crate::hits::{Best, Hit, Hsp, Match};
use crate::{DatabaseSize, HitLimits, Program, SearchError, Sequences};
use aligned::Aligned;
use alignments::{Locus, LocusAligner};
use options::Setting;
use pairs::Pairs;
use search::Search;
use words::Words;

pub use options::{NucleotideOptions, Strands};
pub(crate) use scoring::NucleotideScoring;
pub use seed::TemplateType;
pub(crate) use word_index::WordIndex;
pub(crate) use words::{KeptWords, MASKED};

/// Letters of subjects at loci that are extended side by side.
const LETTERS_AT_ONCE: usize = 1 << 21;
/// Queries that are aligned together, so that there is enough to extend side by side.
const QUERIES_AT_ONCE: usize = 32;

/// A search of nucleotides.
pub(crate) struct Nucleotides<'s> {
    pub subjects: &'s Sequences,
    pub scoring: &'s NucleotideScoring,
    pub threads: usize,
    /// The words of the subjects, where they are kept from one search to the next and the scoring
    /// [wants them](NucleotideScoring::wants_words).
    pub index: Option<&'s WordIndex>,
    /// Where the words of the queries are kept for other subjects.
    pub words: &'s KeptWords,
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
    Setting::new(program, options).map_or(0, |setting| {
        let words = Words::bytes(letters as usize, &setting);
        words + of_threads(threads, &setting, letters as usize)
    })
}

/// Letters of the queries of a batch, but for the last of them.
pub(crate) fn letters_at_once(program: Program, options: &NucleotideOptions) -> u64 {
    Setting::new(program, options).map_or(0, |setting| setting.letters_at_once())
}

/// Bytes of threads that find matches and align: of what they read, and of what they extend side by
/// side.
fn of_threads(threads: usize, setting: &Setting, letters: usize) -> u64 {
    let beside = match setting.is_greedy() {
        true => 0,
        false => Extensions::bytes(),
    };
    let aligned = beside + letters_of_loci(setting) as u64;
    let found = Search::thread_bytes(Words::most_parts(letters), setting.step());
    threads as u64 * (found + aligned)
}

/// Letters of subjects at loci that are aligned at a time.
fn letters_of_loci(setting: &Setting) -> usize {
    match setting.is_greedy() {
        true => 0,
        false => LETTERS_AT_ONCE,
    }
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
        let words = Words::bytes(letters, setting) + of_threads(self.threads, setting, letters);
        let words = words + self.index.map_or(0, |_| self.threads as u64 * Pairs::BYTES);
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
            let words = self.words.of(queries, setting, seed, self.threads);
            let search = Search {
                queries,
                subjects: self.subjects,
                scoring: self.scoring,
                words: &words,
                least: &least,
                wanted: &wanted,
                most: most.checked_sub(found.len()).ok_or(Ended::TooMany)?,
                threads: self.threads,
                index: self.index,
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

    fn aligned_together(&self) -> usize {
        match self.scoring.setting.is_greedy() {
            true => 1,
            false => QUERIES_AT_ONCE,
        }
    }

    fn aligner(&self) -> Box<dyn Align + Send + '_> {
        Box::new(Aligner {
            subjects: self.subjects,
            scoring: self.scoring,
            loci: LocusAligner::new(self.scoring),
        })
    }
}

/// Aligns queries.
struct Aligner<'s> {
    subjects: &'s Sequences,
    scoring: &'s NucleotideScoring,
    loci: LocusAligner<'s>,
}

impl Align for Aligner<'_> {
    fn hits(&mut self, query: Query, matches: &[Match]) -> Vec<Hit> {
        self.hits_of_all(&[(query, matches)]).concat()
    }

    fn hits_of_all(&mut self, queries: &[(Query, &[Match])]) -> Vec<Vec<Hit>> {
        let best = |_: &_| Best::new(self.scoring.limits.top, Hit::order);
        let mut all: Vec<Best<Hit>> = queries.iter().map(best).collect();
        let places = self.places(queries);
        let mut rest = &places[..];
        let most = letters_of_loci(&self.scoring.setting);
        // Those of a query and a subject that came so far.
        let (mut of, mut aligned) = ((0, 0), Vec::new());
        while !rest.is_empty() {
            let mut letters = 0;
            let some = rest.iter().take_while(|place| {
                let fits = letters <= most;
                letters += place.stretch.len();
                fits
            });
            let (some, others) = rest.split_at(some.count());
            rest = others;
            for (place, more) in some.iter().zip(self.align(queries, some)) {
                let next = (place.query, place.subject);
                if of != next {
                    all[of.0].extend(self.hit(queries, of, std::mem::take(&mut aligned)));
                    of = next;
                }
                let frame = place.frame - queries[place.query].0.first;
                aligned.extend(more.into_iter().map(|one| (frame, one)));
            }
        }
        if !places.is_empty() {
            all[of.0].extend(self.hit(queries, of, aligned));
        }
        all.into_iter().map(Best::sorted).collect()
    }
}

/// A place in a subject where a frame of a query has segments, so far from others that nothing
/// reaches from one to the other.
struct Place {
    /// Number of the query, of those that are aligned together.
    query: usize,
    frame: usize,
    subject: usize,
    /// What of the subject may be reached; segments are relative to it.
    stretch: Range<usize>,
    segments: Vec<UngappedSegment>,
}

impl Aligner<'_> {
    /// By query, subject and frame.
    fn places(&self, queries: &[(Query, &[Match])]) -> Vec<Place> {
        let mut places = Vec::new();
        for (number, (query, matches)) in queries.iter().enumerate() {
            let mut matches: Vec<&Match> = matches.iter().collect();
            // By subject, then by frame: the order of both is there already.
            matches.sort_by_key(|found| found.subject);
            let same = |one: &&Match, next: &&Match| {
                (one.subject, one.query) == (next.subject, next.query)
            };
            for of_frame in matches.chunk_by(same) {
                self.places_of(number, query, of_frame, &mut places);
            }
        }
        places
    }

    /// Those of a frame of a query in a subject.
    fn places_of(&self, number: usize, query: &Query, matches: &[&Match], places: &mut Vec<Place>) {
        let (frame, subject) = (matches[0].query as usize, matches[0].subject as usize);
        let length = self.subjects.range(subject).len();
        let letters = query.frames.residues(frame).len();
        let gaps = self.scoring.gaps(letters);
        let reached = |segment: UngappedSegment| {
            let (query, subject) = (segment.in_query(), segment.in_subject());
            let start = subject.start.saturating_sub(query.start + gaps);
            let end = subject.end + (letters - query.end) + gaps;
            (start..end.min(length), segment)
        };
        let mut segments: Vec<_> = matches.iter().map(|one| reached(one.segment)).collect();
        segments.sort_by_key(|(stretch, _)| stretch.start);
        let first = places.len();
        for (stretch, segment) in segments {
            match places[first..].last_mut() {
                Some(place) if stretch.start < place.stretch.end => {
                    place.stretch.end = place.stretch.end.max(stretch.end);
                    place.segments.push(segment);
                }
                _ => places.push(Place {
                    query: number,
                    frame,
                    subject,
                    stretch,
                    segments: vec![segment],
                }),
            }
        }
        for place in &mut places[first..] {
            let start = place.stretch.start as u32;
            place
                .segments
                .iter_mut()
                .for_each(|segment| segment.subject -= start);
        }
    }

    /// The good alignments at places.
    fn align(&mut self, queries: &[(Query, &[Match])], places: &[Place]) -> Vec<Vec<Aligned>> {
        let loci = places.iter().map(|place| {
            let query = queries[place.query].0.frames.residues(place.frame);
            Locus {
                query,
                subject: self.subjects.codes(place.subject, place.stretch.clone()),
                segments: &place.segments,
                cutoff: self.scoring.cutoff(query.len()),
            }
        });
        let loci: Vec<Locus> = loci.collect();
        let aligned = self.loci.align(&loci);
        let good = |((place, locus), all): ((&Place, &Locus), Vec<Aligned>)| {
            let all = all.into_iter().filter(|one| {
                let covers = self.scoring.covers(one.query.len(), locus.query.len());
                covers && self.is_similar(locus.query, &locus.subject, one)
            });
            all.map(|one| one.behind(place.stretch.start)).collect()
        };
        places.iter().zip(&loci).zip(aligned).map(good).collect()
    }

    /// What a query has in common with a subject, by the alignments of its frames.
    fn hit(
        &self,
        queries: &[(Query, &[Match])],
        (query, subject): (usize, usize),
        mut all: Vec<(usize, Aligned)>,
    ) -> Option<Hit> {
        let query = queries[query].0;
        let lengths = [query.residues().len(), self.subjects.range(subject).len()];
        let effective = self.scoring.effective(lengths[0]);
        all.sort_by_cached_key(|(_, one)| one.rank());
        let limits = self.scoring.limits;
        let hsps = all.into_iter().map(|(frame, one)| {
            let evalue = self.scoring.evalue(one.score, effective);
            let bits = self.scoring.bits(one.score);
            hsp(frame, one, lengths, evalue, bits)
        });
        let hsps = hsps.filter(|hsp| hsp.evalue <= limits.evalue);
        let hsps: Vec<Hsp> = hsps.take(limits.max_hsps).collect();
        let rank_score = hsps.first()?.score;
        Some(Hit {
            subject,
            rank_score,
            hsps,
        })
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
