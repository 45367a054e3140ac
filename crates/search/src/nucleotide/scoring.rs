//! How nucleotides score: matches, gaps, E-values of the whole database.

use std::f64::consts::LN_2;

use gyrase_align::gapped::{ExtensionLimits, Scores};
use gyrase_align::greedy::GreedyLimits;
use gyrase_align::nucleotide::bases;
use gyrase_align::residue::{BORDER, CODES};
use gyrase_align::statistics::nucleotide::Nucleotide;
use gyrase_align::statistics::protein::Protein;
use gyrase_align::statistics::{Costs, Karlin};

use super::options::Setting;
use super::word_index::WordIndex;
use crate::protein_options::CompositionMode;
use crate::scoring::{PairScores, ScoringSystem, coverage};
use crate::{DatabaseSize, HitLimits, SearchError};

/// What chance has of an ungapped segment that is extended with gaps, in bits: BLAST's
/// `gap_trigger`, and where only better alignments are asked for.
const TRIGGER: f64 = 27.0;
const HIGHEST_TRIGGER: f64 = 32.0;
/// The part of an alignment's score that one of its segments has without gaps, in twentieths.
const OF_SEGMENT: i32 = 11;
/// What extensions may lose, in bits: without gaps, with gaps, and the last one with its steps;
/// greedily at first.
const UNGAPPED_DROP: f64 = 20.0;
const GAPPED_DROP: f64 = 30.0;
const GREEDY_DROP: f64 = 25.0;
const LAST_DROP: f64 = 100.0;
/// The E-value up to which BLAST reports where nothing else is asked for.
const USUAL_EVALUE: f64 = 10.0;
/// How much less a segment and the bases around it may be worth than the alignment: by E-values.
const OF_AROUND: f64 = 1e5;

/// Which extension with gaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    /// To see what is worth it.
    First,
    /// For what is reported.
    Last,
}

/// How a search of nucleotides scores and what it asks for.
pub(crate) struct NucleotideScoring {
    pub(super) setting: Setting,
    scores: Box<Scores>,
    statistics: Nucleotide,
    size: DatabaseSize,
    pub(super) limits: HitLimits,
}

impl NucleotideScoring {
    /// Whether words are looked for of which subjects may have an index.
    pub(crate) fn wants_words(&self) -> bool {
        let (step, mut seeds) = (self.setting.step(), self.setting.seeds.iter());
        seeds.all(|&seed| WordIndex::is_of(seed, step))
    }

    /// # Errors
    /// There are no statistics for these scores.
    pub(super) fn new(
        setting: Setting,
        size: DatabaseSize,
        limits: HitLimits,
    ) -> Result<NucleotideScoring, SearchError> {
        let Setting {
            reward,
            penalty,
            costs,
            ..
        } = setting;
        Ok(NucleotideScoring {
            setting,
            scores: scores(reward, penalty),
            statistics: Nucleotide::new(reward, penalty, costs)?,
            size,
            limits,
        })
    }

    pub(super) fn scores(&self) -> &Scores {
        &self.scores
    }

    /// What an extension without gaps may lose.
    pub(super) fn ungapped_drop(&self) -> i32 {
        (UNGAPPED_DROP * LN_2 / self.statistics.ungapped().lambda).ceil() as i32
    }

    fn gapped_drop(&self, bits: f64) -> i32 {
        (bits * LN_2 / self.statistics.gapped().lambda) as i32
    }

    pub(super) fn extension(&self, pass: Pass) -> ExtensionLimits {
        let costs = self.setting.costs;
        let first = self.gapped_drop(GAPPED_DROP);
        let x_drop = match pass {
            Pass::First => first,
            Pass::Last => self.gapped_drop(LAST_DROP).max(first),
        };
        ExtensionLimits {
            costs,
            x_drop: x_drop.max(costs.open + costs.extend),
        }
    }

    pub(super) fn greedy(&self, pass: Pass) -> GreedyLimits {
        GreedyLimits {
            reward: self.setting.reward,
            penalty: self.setting.penalty,
            x_drop: self.gapped_drop(match pass {
                Pass::First => GREEDY_DROP,
                Pass::Last => LAST_DROP,
            }),
        }
    }

    /// Letters of a subject that gaps may take to each side of a segment of a query of so many. All
    /// extensions begin on the diagonal of the segment, but for the last greedy one, which begins
    /// where the first may have come.
    pub(super) fn gaps(&self, query: usize) -> usize {
        let Setting {
            reward,
            penalty,
            costs,
            ..
        } = self.setting;
        let (gap, drop, passes) = match self.setting.is_greedy() {
            true => (-penalty, self.greedy(Pass::Last).x_drop, 2),
            false => (costs.extend, self.extension(Pass::Last).x_drop, 1),
        };
        passes * (reward as usize * query + drop as usize) / gap.max(1) as usize
    }

    /// The effective search space of a query of a length.
    pub(super) fn effective(&self, query: usize) -> f64 {
        let space = self.space(query);
        self.statistics.effective(&space)
    }

    pub(super) fn evalue(&self, score: i32, effective: f64) -> f64 {
        self.statistics.evalue(score.into(), effective)
    }

    /// The least score that is reported of a query of a length.
    pub(super) fn cutoff(&self, query: usize) -> i32 {
        self.statistics
            .cutoff(self.limits.evalue, self.effective(query))
    }

    /// What a segment of a query of a length scores at least with the bases around it to be
    /// aligned: what the usual E-value asks of an alignment, and somewhat less than a lower one
    /// does. What is around a segment says little of a long alignment; and a gap may begin within
    /// the segment, whose last bases are equal by chance: one match less.
    pub(super) fn wanted(&self, query: usize) -> i32 {
        let asked = self.limits.evalue;
        let evalue = (asked * OF_AROUND).min(USUAL_EVALUE).max(asked);
        self.statistics.cutoff(evalue, self.effective(query)) - self.setting.reward
    }

    /// What an ungapped segment scores at least to be extended with gaps, where an alignment
    /// scores `cutoff` to be reported.
    pub(super) fn trigger(&self, cutoff: i32) -> i32 {
        let score = |bits| self.statistics.ungapped().score(bits) as i32;
        let of_segment = cutoff * OF_SEGMENT / 20;
        let trigger = of_segment.clamp(score(TRIGGER), score(HIGHEST_TRIGGER));
        trigger.min(cutoff)
    }

    pub(super) fn bits(&self, score: i32) -> f64 {
        self.statistics.bits(score.into())
    }

    /// Bases in a row that the least word has.
    pub(crate) fn least_run(&self) -> usize {
        let spans = self.setting.seeds.iter().map(|seed| seed.span);
        spans.fold(self.setting.word, usize::max)
    }

    /// Whether an alignment of so many residues of the query has enough of it.
    pub(super) fn covers(&self, part: usize, query: usize) -> bool {
        coverage(part, query) >= self.limits.query_cover
    }
}

impl ScoringSystem for NucleotideScoring {
    fn score(&self, query: u8, subject: u8) -> i8 {
        let row = &self.scores[usize::from(query) % CODES];
        row[usize::from(subject) % CODES].clamp(i8::MIN.into(), i8::MAX.into()) as i8
    }

    fn pairs(&self) -> PairScores {
        let Setting {
            reward, penalty, ..
        } = self.setting;
        PairScores::Bases { reward, penalty }
    }

    fn gap_costs(&self) -> Costs {
        self.setting.costs
    }

    fn karlin(&self) -> [&Karlin; 2] {
        [self.statistics.ungapped(), self.statistics.gapped()]
    }

    fn size(&self) -> DatabaseSize {
        self.size
    }

    fn protein(&self) -> Option<&Protein> {
        None
    }

    fn composition(&self) -> CompositionMode {
        CompositionMode::Off
    }
}

/// Scores by codes: a letter for several bases scores their mean where they have one in common
/// (NCBI's `blast_stat.c`: `BlastScoreBlkNuclMatrixCreate`).
fn scores(reward: i32, penalty: i32) -> Box<Scores> {
    const NEVER: i32 = -(1 << 24);
    let score = |one: usize, other: usize| {
        let [first, second] = [one, other].map(|code| bases(code as u8));
        if first == 0 || second == 0 {
            return match [one, other].contains(&usize::from(BORDER)) {
                true => NEVER,
                false => penalty,
            };
        }
        if first & second == 0 {
            return penalty;
        }
        let several = f64::from(bases(one.max(other) as u8).count_ones());
        let mean = ((several - 1.0) * f64::from(penalty) + f64::from(reward)) / several;
        mean.round() as i32
    };
    Box::new(std::array::from_fn(|q| {
        std::array::from_fn(|s| score(q, s))
    }))
}
