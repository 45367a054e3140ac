//! What becomes of a query and a subject by any program, in brief.

use std::ops::Range;

use gyrase_work::Progress;

use super::ranked::{LeftOut, Ranked};
use crate::engine::{Ended, Query};
use crate::frames::Frames;
use crate::masks::frames_of_subjects;
use crate::prepared::{AnyScoring, Prepared};
use crate::seeds::{self, Shape};
use crate::{
    Config, Hit, HitLimits, Match, PairAlignment, Program, SearchError, Sensitivity, Sequences,
};

/// An alignment with so large an E-value is told, though none so weak was asked for.
const WEAK: f64 = 1000.0;

/// What a search does with a query and a subject, where alignments are not told step by step.
#[derive(Clone, Debug, PartialEq)]
pub struct BriefExplanation {
    /// What is compared with what.
    pub program: Program,
    /// Letters of the query.
    pub query: usize,
    /// Letters of the subject.
    pub subject: usize,
    /// Letters of the frames of the query, and how many of them are masked.
    pub masked: [usize; 2],
    /// How often both have a word or a seed in common: with all masks, without those of the
    /// subject, and without any. None where every pair is aligned.
    pub words: Option<[u64; 3]>,
    /// Segments that are worth an alignment.
    pub segments: usize,
    /// The best alignment up to an E-value of 1000, or of the limit where that is larger.
    pub best: Option<PairAlignment>,
    /// An alignment is within all limits, but for those that depend on other subjects.
    pub is_good: bool,
    /// The limits of the report.
    pub limits: HitLimits,
    /// Where the subject stands among those that the other limits leave, from 1 on.
    pub rank: Option<usize>,
    /// How many these are.
    pub subjects: usize,
}

impl BriefExplanation {
    /// Why the subject is not reported, if it is not.
    pub fn left_out(&self) -> Option<LeftOut> {
        let is_weak = |best: &PairAlignment| best.evalue > self.limits.evalue;
        match (self.rank, self.words, &self.best) {
            (Some(rank), _, _) if rank <= self.limits.top => None,
            (Some(_), _, _) => Some(LeftOut::Top),
            (_, Some([0, 0, 0]), _) => Some(LeftOut::NoSeed),
            (_, Some([0, 0, _]), _) => Some(LeftOut::Masked),
            (_, Some([0, ..]), _) => Some(LeftOut::MaskedInSubject),
            (_, _, None) => Some(LeftOut::Segment),
            (_, _, Some(best)) if is_weak(best) => Some(LeftOut::Evalue),
            _ if self.is_good => Some(LeftOut::Culled),
            _ if self.segments == 0 => Some(LeftOut::Segment),
            _ => Some(LeftOut::Cover),
        }
    }
}

/// Explains what becomes of a query and a subject of some, by their numbers.
pub(super) fn explain(
    config: &Config,
    mut prepared: Prepared,
    subjects: &Sequences,
    ranked: &Ranked,
    progress: &Progress,
) -> Result<BriefExplanation, SearchError> {
    let Ranked {
        query,
        subject,
        limits,
        ..
    } = *ranked;
    let pair = Pair {
        plain: prepared
            .queries
            .frames(query..query + 1, prepared.frames[0], 1),
        masked: prepared.masked_frames(query..query + 1),
        subject: subjects.slice(subject..subject + 1),
        unmasked: subjects.shown_frames(subject..subject + 1, prepared.frames[1]),
    };
    let (matches, hits) = pair.search(&prepared, query, progress)?;
    let words = pair.words(&prepared);
    let mut weak = config.clone();
    weak.limits = HitLimits {
        evalue: limits.evalue.max(WEAK),
        query_cover: 0.0,
        ..config.limits
    };
    weak.nucleotide.identity = 0.0;
    prepared.score_as(&weak)?;
    let (_, all) = pair.search(&prepared, query, progress)?;
    let lengths = [
        prepared.queries.residues(query).len(),
        subjects.range(subject).len(),
    ];
    Ok(BriefExplanation {
        program: prepared.program,
        query: lengths[0],
        subject: lengths[1],
        masked: pair.letters(),
        words,
        segments: matches.len(),
        best: best(&all, prepared.frames, lengths),
        is_good: !hits.is_empty(),
        limits,
        rank: ranked.rank,
        subjects: ranked.subjects,
    })
}

/// The best alignment of the hits of a pair, by letters of both.
fn best(hits: &[Hit], frames: [Frames; 2], lengths: [usize; 2]) -> Option<PairAlignment> {
    let hsp = hits.first()?.hsps.first()?;
    let place = |side: usize, range: &Range<usize>| {
        frames[side].place(range, hsp.frames[side], lengths[side])
    };
    Some(PairAlignment {
        score: hsp.score.into(),
        evalue: hsp.evalue,
        query: place(0, &hsp.query),
        subject: place(1, &hsp.subject),
    })
}

/// The frames of a query as they are and masked, and a subject, masked and its frames as they are.
struct Pair {
    plain: Sequences,
    masked: Sequences,
    subject: Sequences,
    /// The frames of the subject without masks.
    unmasked: Sequences,
}

impl Pair {
    /// The matches of both, and the hit, if there is one.
    fn search(
        &self,
        prepared: &Prepared,
        query: usize,
        progress: &Progress,
    ) -> Result<(Vec<Match>, Vec<Hit>), SearchError> {
        let engine = prepared.engine(&self.subject, None);
        let matches = engine.matches(&self.masked, prepared.most, progress);
        let matches = matches.map_err(|ended| match ended {
            Ended::Cancelled => SearchError::Cancelled,
            Ended::TooMany => SearchError::Matches {
                query: String::from_utf8_lossy(prepared.queries.name(query)).into_owned(),
            },
        })?;
        let frames = Query {
            frames: &self.masked,
            first: 0,
        };
        let hits = engine.aligner().hits(frames, &matches);
        Ok((matches, hits))
    }

    /// Letters of the frames of the query, and how many of them are masked.
    fn letters(&self) -> [usize; 2] {
        let numbers = 0..self.plain.len();
        let frames = numbers.map(|frame| {
            let (plain, seen) = (self.plain.residues(frame), self.masked.seed_residues(frame));
            let masked = plain.iter().zip(seen).filter(|(one, other)| one != other);
            [plain.len(), masked.count()]
        });
        frames.fold([0, 0], |sum, of_frame| {
            [sum[0] + of_frame[0], sum[1] + of_frame[1]]
        })
    }

    /// How often both have a word or a seed in common, with masks and without them; none where that
    /// does not matter.
    fn words(&self, prepared: &Prepared) -> Option<[u64; 3]> {
        if prepared.sensitivity == Sensitivity::Exhaustive {
            return None;
        }
        let of_subject = frames_of_subjects(&self.subject, 0..1, prepared.frames[1], 1);
        let common = |frames: &Sequences, of_subject: &Sequences| match &prepared.scoring {
            AnyScoring::Nucleotide(scoring) => {
                let numbers = 0..frames.len();
                let words = numbers
                    .zip(Frames::Strands.numbers())
                    .map(|(frame, strand)| {
                        let codes = frames.seed_residues(frame);
                        scoring.common_words(*strand, codes, of_subject.seed_residues(0))
                    });
                words.sum()
            }
            AnyScoring::Protein(_) | AnyScoring::Translated(_) => {
                let shapes = prepared.sensitivity.shapes(prepared.program).iter();
                let of_shape = |&shape: &Shape| seeds::common(frames, of_subject, shape);
                shapes.map(of_shape).sum()
            }
        };
        let words = common(&self.masked, &of_subject);
        let [some, all] = [&self.masked, &self.plain].map(|frames| common(frames, &self.unmasked));
        Some([words, some, all])
    }
}
