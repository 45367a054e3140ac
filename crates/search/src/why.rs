//! Why a subject is among the hits of a query, or is not.

mod brief;
mod ranked;

use gyrase_align::ungapped::UngappedSegment;
use gyrase_work::Progress;

use crate::alignments::{Aligner, PairSteps};
use crate::engine::Ended;
use crate::masks::frames_of_subjects;
use crate::matches::Search;
use crate::prepared::{AnyScoring, Prepared, Source};
use crate::seeds;
use crate::{Config, HitLimits, Scoring, SearchError, Sensitivity, Sequences};

pub use brief::BriefExplanation;
pub use ranked::LeftOut;
use ranked::{Ranked, ranked};

/// What a search does with a query and a subject.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Residues of the query.
    pub query: usize,
    /// Residues of the subject.
    pub subject: usize,
    /// How often both have a seed in common, by its shape.
    pub seeds: Vec<u64>,
    /// The same of all shapes where nothing of the subject is masked.
    pub unmasked_seeds: u64,
    /// What a segment scores at least to be aligned.
    pub least_segment: i32,
    /// The best segment around a seed of both that scores 20 or more.
    pub segment: Option<UngappedSegment>,
    /// What becomes of segments that score enough, or of the best one where none does.
    pub steps: Option<PairSteps>,
    /// The limits of the report.
    pub limits: HitLimits,
    /// Where the subject stands among those that the other limits leave, from 1 on.
    pub rank: Option<usize>,
    /// How many these are.
    pub subjects: usize,
}

impl Explanation {
    /// Why the subject is not reported, if it is not.
    pub fn left_out(&self) -> Option<LeftOut> {
        let has_segment = |segment: UngappedSegment| segment.score >= self.least_segment;
        let Some(steps) = &self.steps else {
            let seeds = self.seeds.iter().sum::<u64>();
            return Some(match (seeds, self.unmasked_seeds) {
                (0, 0) => LeftOut::NoSeed,
                (0, _) => LeftOut::MaskedInSubject,
                _ => LeftOut::Segment,
            });
        };
        if !self.segment.is_some_and(has_segment) {
            return Some(LeftOut::Segment);
        }
        if !steps.passes_band || steps.by_matrix.evalue > steps.promising {
            return Some(LeftOut::Gapped);
        }
        let fitted = steps.by_fitted.as_ref();
        if fitted.is_none_or(|fitted| fitted.evalue > self.limits.evalue) {
            return Some(LeftOut::Evalue);
        }
        match self.rank {
            _ if steps.exceeds_bands => Some(LeftOut::Bands),
            _ if !steps.is_good => Some(LeftOut::Cover),
            Some(rank) if rank <= self.limits.top => None,
            Some(_) => Some(LeftOut::Top),
            None if self.limits.culling.is_any() => Some(LeftOut::Culled),
            // Its score is spread over more than a window.
            None => Some(LeftOut::Segment),
        }
    }
}

/// What a search does with a query and a subject, as far as it can be told.
#[derive(Clone, Debug, PartialEq)]
pub enum Explained {
    /// Step by step, where seeds of proteins are looked for.
    Steps(Explanation),
    /// In brief.
    Brief(BriefExplanation),
}

/// Explains what a search does with the query and the subject of these names.
///
/// # Errors
/// See [`SearchError`].
pub fn explain(
    config: &Config,
    names: [&str; 2],
    progress: &Progress,
) -> Result<Explained, SearchError> {
    let limits = config.limits;
    let every = HitLimits {
        top: usize::MAX,
        ..limits
    };
    let config = Config {
        limits: every,
        ..config.clone()
    };
    let mut prepared = Prepared::new(&config, Source::ALL, false, &Ok, progress)?;
    progress.start("explain", 1);
    let part = progress.of_part();
    let ranked = ranked(&prepared, names, limits, &part)?;
    let subjects = prepared.whole.take();
    let subjects = subjects.expect("all of it was searched");
    let seeded = prepared.sensitivity != Sensitivity::Exhaustive;
    if let (AnyScoring::Protein(scoring), true) = (&prepared.scoring, seeded) {
        let steps = steps((&prepared, &subjects), scoring, &ranked, &part)?;
        return Ok(Explained::Steps(steps));
    }
    let brief = brief::explain(&config, prepared, &subjects, &ranked, &part)?;
    Ok(Explained::Brief(brief))
}

/// Explains step by step.
fn steps(
    (prepared, subjects): (&Prepared, &Sequences),
    scoring: &Scoring,
    ranked: &Ranked,
    progress: &Progress,
) -> Result<Explanation, SearchError> {
    let pair = Pair::new((prepared, subjects), scoring, ranked.query, ranked.subject);
    let (segment, steps) = pair.steps(progress)?;
    let own = ranked.subject..ranked.subject + 1;
    let unmasked = subjects.shown_frames(own, prepared.frames[1]);
    Ok(Explanation {
        query: prepared.queries.residues(ranked.query).len(),
        subject: subjects.range(ranked.subject).len(),
        seeds: pair.seeds(&pair.subject),
        unmasked_seeds: pair.seeds(&unmasked).iter().sum(),
        least_segment: pair.least,
        segment,
        steps,
        limits: ranked.limits,
        rank: ranked.rank,
        subjects: ranked.subjects,
    })
}

/// A query and a subject by themselves.
struct Pair<'p> {
    prepared: &'p Prepared,
    /// The database.
    subjects: &'p Sequences,
    scoring: &'p Scoring,
    /// The number of the subject in the database.
    number: usize,
    query: Sequences,
    subject: Sequences,
    /// What a segment scores at least.
    least: i32,
}

impl Pair<'_> {
    fn new<'p>(
        (prepared, subjects): (&'p Prepared, &'p Sequences),
        scoring: &'p Scoring,
        query: usize,
        number: usize,
    ) -> Pair<'p> {
        let [_, of_subject] = prepared.frames;
        let length = prepared.queries.residues(query).len();
        Pair {
            prepared,
            subjects,
            scoring,
            number,
            query: prepared.masked_frames(query..query + 1),
            subject: frames_of_subjects(subjects, number..number + 1, of_subject, 1),
            least: scoring.least_segment(length, prepared.sensitivity.segment()),
        }
    }

    /// How often the query and a subject have a seed in common, by its shape.
    fn seeds(&self, subject: &Sequences) -> Vec<u64> {
        let common = |shape| seeds::common(&self.query, subject, shape);
        let shapes = self.prepared.sensitivity.shapes(self.prepared.program);
        shapes.iter().copied().map(common).collect()
    }

    /// The best segment, and what becomes of it.
    fn steps(
        &self,
        progress: &Progress,
    ) -> Result<(Option<UngappedSegment>, Option<PairSteps>), SearchError> {
        let scoring = self.scoring;
        let segments = self.prepared.sensitivity.windows(scoring.segments());
        let search = Search {
            queries: &self.query,
            subjects: &self.subject,
            indexes: None,
            rows: scoring.rows(),
            segments,
            least: &[segments.shortest.min(self.least)],
            most: usize::MAX,
            threads: 1,
            shapes: self.prepared.sensitivity.shapes(self.prepared.program),
        };
        let found = search.matches(progress).map_err(|ended| match ended {
            Ended::TooMany => unreachable!("any number is allowed"),
            Ended::Cancelled => SearchError::Cancelled,
        })?;
        let best = found.iter().map(|one| one.segment);
        let Some(best) = best.max_by_key(|segment| segment.score) else {
            return Ok((None, None));
        };
        let least = self.least.min(best.score);
        let mut matches: Vec<_> = found
            .into_iter()
            .filter(|one| one.segment.score >= least)
            .collect();
        matches
            .iter_mut()
            .for_each(|one| one.subject = self.number as u32);
        let mut aligner = match self.prepared.sensitivity {
            Sensitivity::Fast => Aligner::fast(self.subjects, scoring),
            _ => Aligner::new(self.subjects, scoring),
        };
        let steps = aligner.steps_of_pair(self.query.residues(0), self.number, &matches);
        Ok((Some(best), Some(steps)))
    }
}
