//! Why a subject is among the hits of a query, or is not.

use gyrase_align::ungapped::UngappedSegment;
use gyrase_work::Progress;

use crate::alignments::{Aligner, PairSteps};
use crate::batches::Over;
use crate::engine::Ended;
use crate::matches::Search;
use crate::prepared::{AnyScoring, Prepared};
use crate::seeds::{Index, KEYS};
use crate::{Config, HitLimits, Scoring, SearchError, Sensitivity, Sequences};

/// What a search does with a query and a subject.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// Residues of the query.
    pub query: usize,
    /// Residues of the subject.
    pub subject: usize,
    /// How often both have a seed in common, by its shape.
    pub seeds: Vec<u64>,
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

/// Why a subject is not reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// Both have no seed in common.
    NoSeed,
    /// No segment around a seed scores enough.
    Segment,
    /// Its gapped score has too large an E-value, before scores are fitted.
    Gapped,
    /// Its fitted score has too large an E-value.
    Evalue,
    /// Its alignments have too little of the query.
    Cover,
    /// Others of its query leave no place for its alignments.
    Culled,
    /// Enough others are better.
    Top,
}

impl Explanation {
    /// Why the subject is not reported, if it is not.
    pub fn left_out(&self) -> Option<LeftOut> {
        let has_segment = |segment: UngappedSegment| segment.score >= self.least_segment;
        let Some(steps) = &self.steps else {
            let seeds = self.seeds.iter().sum::<u64>();
            return Some(if seeds == 0 {
                LeftOut::NoSeed
            } else {
                LeftOut::Segment
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
            _ if !steps.is_good => Some(LeftOut::Cover),
            Some(rank) if rank <= self.limits.top => None,
            Some(_) => Some(LeftOut::Top),
            None if self.limits.culling.is_any() => Some(LeftOut::Culled),
            // Its score is spread over more than a window.
            None => Some(LeftOut::Segment),
        }
    }
}

/// Explains what a search does with the query and the subject of these names.
///
/// # Errors
/// See [`SearchError`].
pub fn explain(
    config: &Config,
    [query, subject]: [&str; 2],
    progress: &Progress,
) -> Result<Explanation, SearchError> {
    let limits = config.limits;
    let every = HitLimits {
        top: usize::MAX,
        ..limits
    };
    let config = Config {
        limits: every,
        ..config.clone()
    };
    let prepared = Prepared::new(&config, false, &Ok, progress)?;
    let subjects = prepared.whole()?;
    let (AnyScoring::Protein(scoring), Sensitivity::Blast | Sensitivity::Fast) =
        (&prepared.scoring, prepared.sensitivity)
    else {
        return Err(SearchError::NotExplained {
            program: prepared.program.name(),
        });
    };
    let query = named(&prepared.queries, query, "query")?;
    let subject = named(subjects, subject, "subject")?;
    progress.start("explain", 1);
    let mut found = Vec::new();
    let (engine, part) = (prepared.engine(subjects, None), progress.of_part());
    let over = Over {
        prepared: &prepared,
        subjects,
        engine: &*engine,
        progress: &part,
    };
    over.search::<SearchError>(query..query + 1, &mut |answer| {
        found.extend(answer.hits.iter().map(|hit| hit.subject));
        Ok(())
    })?;
    let rank = found.iter().position(|&hit| hit == subject);
    let pair = Pair::new((&prepared, subjects), scoring, query, subject);
    let (segment, steps) = pair.steps(&part)?;
    Ok(Explanation {
        query: prepared.queries.residues(query).len(),
        subject: subjects.residues(subject).len(),
        seeds: pair.seeds(),
        least_segment: pair.least,
        segment,
        steps,
        limits,
        rank: rank.map(|rank| rank + 1),
        subjects: found.len(),
    })
}

fn named(sequences: &Sequences, name: &str, what: &'static str) -> Result<usize, SearchError> {
    let mut numbers = 0..sequences.len();
    let found = numbers.find(|&number| sequences.name(number) == name.as_bytes());
    found.ok_or_else(|| SearchError::Name {
        what,
        name: name.into(),
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
        let [of_query, of_subject] = prepared.frames;
        let length = prepared.queries.residues(query).len();
        Pair {
            prepared,
            subjects,
            scoring,
            number,
            query: prepared.queries.frames(query..query + 1, of_query),
            subject: subjects.frames(number..number + 1, of_subject),
            least: scoring.least_segment(length, prepared.sensitivity.segment()),
        }
    }

    /// How often both have a seed in common, by its shape.
    fn seeds(&self) -> Vec<u64> {
        let common = |shape| {
            let index = |sequences: &Sequences| Index::new(sequences.text(), shape, 1);
            let [query, subject] = [&self.query, &self.subject].map(index);
            let of_key =
                |key| query.positions(key).len() as u64 * subject.positions(key).len() as u64;
            (0..KEYS).map(of_key).sum()
        };
        let shapes = self.prepared.sensitivity.shapes();
        shapes.iter().copied().map(common).collect()
    }

    /// The best segment, and what becomes of it.
    fn steps(
        &self,
        progress: &Progress,
    ) -> Result<(Option<UngappedSegment>, Option<PairSteps>), SearchError> {
        let scoring = self.scoring;
        let segments = scoring.segments();
        let search = Search {
            queries: &self.query,
            subjects: &self.subject,
            indexes: None,
            rows: scoring.rows(),
            segments,
            least: &[segments.shortest.min(self.least)],
            most: usize::MAX,
            threads: 1,
            shapes: self.prepared.sensitivity.shapes(),
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
        let mut aligner = Aligner::new(self.subjects, scoring);
        let steps = aligner.steps_of_pair(self.query.residues(0), self.number, &matches);
        Ok((Some(best), Some(steps)))
    }
}
