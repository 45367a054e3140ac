//! Alignments without gaps of frames with frames: `tblastx`.

use std::cmp::Reverse;

use gyrase_align::gapped::Step;
use gyrase_align::statistics::Karlin;
use gyrase_align::statistics::told;
use gyrase_align::ungapped::UngappedSegment;

use super::chains::{Chains, Link};
use super::searched::Searched;
use crate::engine::{Align, Query};
use crate::hits::{Hit, Hsp, Match};

/// Aligns one query after the other.
pub(super) struct Aligner<'s> {
    search: Searched<'s>,
}

/// An alignment with the parameters of its frame of the query.
struct Aligned {
    segment: UngappedSegment,
    frames: [i8; 2],
    karlin: Karlin,
    evalue: f64,
}

impl Align for Aligner<'_> {
    fn hits(&mut self, query: Query, matches: &[Match]) -> Vec<Hit> {
        let frames = self.search.frames[1].numbers().len();
        let subject_of = |one: &Match| one.subject as usize / frames;
        let mut matches = matches.to_vec();
        matches.sort_by_key(|one| subject_of(one));
        let groups = matches.chunk_by(|one, next| subject_of(one) == subject_of(next));
        let of_queries = self.search.frames[0].numbers().len();
        let karlins: Vec<Karlin> = (query.first..query.first + of_queries)
            .map(|frame| {
                let residues = query.frames.residues(frame);
                self.search.scoring.ungapped(residues)
            })
            .collect();
        let aligned = groups.map(|group| self.align(query, &karlins, subject_of(&group[0]), group));
        let mut hits: Vec<Hit> = aligned.flatten().collect();
        hits.sort_by(Hit::order);
        hits.truncate(self.search.scoring.protein.limits.top);
        hits
    }
}

impl<'s> Aligner<'s> {
    pub(super) fn new(search: Searched<'s>) -> Aligner<'s> {
        Aligner { search }
    }

    /// The alignments with a subject, if one is good enough.
    fn align(
        &self,
        query: Query,
        karlins: &[Karlin],
        subject: usize,
        matches: &[Match],
    ) -> Option<Hit> {
        let [of_queries, of_subjects] = self.search.frames.map(|frames| frames.numbers());
        let mut aligned: Vec<Aligned> = Vec::new();
        for of_frames in
            matches.chunk_by(|one, next| (one.query, one.subject) == (next.query, next.subject))
        {
            let frame = of_frames[0].query as usize - query.first;
            let frames = [
                of_queries[frame],
                of_subjects[of_frames[0].subject as usize % of_subjects.len()],
            ];
            aligned.extend(longest(of_frames).into_iter().map(|segment| Aligned {
                segment,
                frames,
                karlin: karlins[frame],
                evalue: f64::INFINITY,
            }));
        }
        self.take_together(query, karlins, subject, &mut aligned);
        let limits = self.search.scoring.protein.limits;
        let residues = query.residues().len();
        aligned.retain(|one| {
            let covers =
                (self.search.scoring.protein).covers(one.segment.length as usize, residues);
            one.evalue <= limits.evalue && covers
        });
        let mut hsps: Vec<Hsp> = aligned.iter().map(Aligned::hsp).collect();
        hsps.sort_by(Hsp::order);
        hsps.truncate(limits.max_hsps);
        let rank_score = hsps.first()?.score;
        Some(Hit {
            subject,
            rank_score,
            hsps,
        })
    }

    /// Sets the E-values, strand by strand.
    fn take_together(
        &self,
        query: Query,
        karlins: &[Karlin],
        subject: usize,
        aligned: &mut [Aligned],
    ) {
        let scoring = self.search.scoring;
        let letters = self.search.subjects.residues(subject).len();
        let strands = |one: &Aligned| one.frames.map(i8::signum);
        aligned.sort_by_key(|one| {
            let segment = &one.segment;
            let places = [segment.in_query(), segment.in_subject()];
            let places = places.map(|place| Reverse((place.start, place.end)));
            (Reverse(strands(one)), places)
        });
        let lengths: Vec<usize> = (0..karlins.len())
            .map(|frame| query.frames.residues(query.first + frame).len())
            .collect();
        for of_strands in aligned.chunk_by_mut(|one, next| strands(one) == strands(next)) {
            let frame = self.search.frames[0].place_of(of_strands[0].frames[0]);
            let space = scoring.apart(&karlins[frame], lengths[frame], letters);
            if !scoring.sums {
                for one in of_strands {
                    let evalue = one.karlin.evalue(one.segment.score.into(), space.search);
                    one.evalue = told(evalue);
                }
                continue;
            }
            let links: Vec<Link> = of_strands.iter().map(Aligned::link).collect();
            let cutoffs = scoring.cutoffs(karlins, &lengths, letters);
            let chains = Chains { space, cutoffs };
            for (one, evalue) in of_strands.iter_mut().zip(chains.evalues(&links)) {
                one.evalue = told(evalue);
            }
        }
    }
}

impl Aligned {
    fn link(&self) -> Link {
        let score = self.segment.score;
        Link {
            query: self.segment.in_query(),
            subject: self.segment.in_subject(),
            score,
            normalised: self.karlin.lambda * f64::from(score) - self.karlin.k.ln(),
        }
    }

    fn hsp(&self) -> Hsp {
        let score = self.segment.score;
        Hsp {
            query: self.segment.in_query(),
            subject: self.segment.in_subject(),
            frames: self.frames,
            score,
            evalue: self.evalue,
            bits: self.karlin.bits(score.into()),
            adjusted: None,
            steps: vec![Step::Both; self.segment.length as usize],
        }
    }
}

/// The segments of two frames that are in no better one of their diagonal.
fn longest(matches: &[Match]) -> Vec<UngappedSegment> {
    let mut segments: Vec<UngappedSegment> = matches.iter().map(|one| one.segment).collect();
    segments.sort_by_key(|one| (one.diagonal(), Reverse(one.score), one.query));
    let mut kept: Vec<UngappedSegment> = Vec::new();
    for segment in segments {
        let before = kept.iter().rev();
        let mut before = before.take_while(|one| one.diagonal() == segment.diagonal());
        let overlaps = |one: &UngappedSegment| {
            let (own, other) = (segment.in_query(), one.in_query());
            own.start < other.end && other.start < own.end
        };
        if !before.any(overlaps) {
            kept.push(segment);
        }
    }
    kept
}
