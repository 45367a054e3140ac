//! How translated searches score, and what their E-values are.

use gyrase_align::statistics::protein::Protein;
use gyrase_align::statistics::sum::{DECAY_GAPPED, DECAY_UNGAPPED, PairSpace};
use gyrase_align::statistics::{Costs, Karlin, SearchSpace};

use super::chains::{Cutoffs, SHARE, STARTS};
use super::links::Links;
use super::options::TranslationOptions;
use crate::frames::Frames;
use crate::protein::Sensitivity;
use crate::scoring::{PairScores, ScoringSystem, common, karlin_of};
use crate::{
    CompositionMode, DatabaseSize, HitLimits, Program, ProteinOptions, Scoring, SearchError,
};

/// Residues of a subject that is short: what an alignment with it scores at least to be taken
/// together with others.
const SHORT: u64 = 30;

/// Bits of an alignment without gaps that is rare.
const TRIGGER: f64 = 22.0;

/// What keeps a chance from being divided by nothing, as BLAST has it.
const EPSILON: f64 = 1e-9;

/// How a translated search scores and what it asks for.
pub(crate) struct TranslatedScoring {
    pub protein: Scoring,
    pub(super) program: Program,
    /// Letters and sequences as they are.
    size: DatabaseSize,
    /// Residues that may be between alignments that are taken together.
    pub(super) gap: Option<usize>,
    pub(super) sums: bool,
    /// Parameters without gaps, for common compositions.
    common: Karlin,
}

impl TranslatedScoring {
    /// # Errors
    /// There are no statistics for these scores.
    pub(crate) fn new(
        program: Program,
        frames: [Frames; 2],
        (proteins, options): (&ProteinOptions, &TranslationOptions),
        size: DatabaseSize,
        limits: HitLimits,
    ) -> Result<TranslatedScoring, SearchError> {
        let translated = DatabaseSize {
            letters: size.letters / frames[1].step() as u64,
            ..size
        };
        let protein = Scoring::new(program, proteins, translated, limits)?;
        Ok(TranslatedScoring {
            common: common(protein.matrix()),
            protein,
            program,
            size,
            gap: options.longest_gap(),
            sums: options.sums,
        })
    }

    /// What a segment of a frame of the query scores at least that is worth more.
    pub(super) fn least_segment(&self, frame: &[u8], sensitivity: Sensitivity) -> i32 {
        match self.program {
            // It is an alignment already.
            Program::Tblastx => self.trigger(&self.ungapped(frame), frame.len()),
            _ => (self.protein).least_segment(frame.len(), sensitivity.segment()),
        }
    }

    /// What an alignment without gaps scores at least, with such parameters of a frame of so many
    /// residues: it is rare, or is reported by itself.
    fn trigger(&self, karlin: &Karlin, residues: usize) -> i32 {
        let space = self.protein.space(residues).effective(karlin);
        let cutoff = karlin.cutoff(self.protein.limits.evalue, space);
        (self.protein.segments()).least(cutoff, karlin.score(TRIGGER) as i32)
    }

    /// The E-value of an alignment by itself, by what the scores of its sequences make it.
    pub(super) fn alone(&self, evalue: f64) -> f64 {
        match self.gap {
            Some(_) => evalue / (1.0 - DECAY_GAPPED),
            None => evalue,
        }
    }

    /// A score in nats, without its units.
    pub(super) fn normalised(&self, score: f64) -> f64 {
        let [_, gapped] = self.protein.karlin();
        gapped.lambda * score - gapped.k.ln()
    }

    /// What takes alignments together of a query whose frames have so many residues, and a subject
    /// of so many.
    pub(super) fn links(
        &self,
        queries: impl Iterator<Item = usize>,
        subject: usize,
    ) -> Option<Links> {
        let gap = self.gap?;
        let [_, gapped] = self.protein.karlin();
        let space = |query: usize| {
            let space = self.protein.space(query);
            let adjustment = space.adjustment(gapped);
            let left = |length: usize| (length as u64).saturating_sub(adjustment).max(1) as f64;
            PairSpace {
                query: left(query),
                subject: left(subject),
                search: space.effective(gapped),
                decay: DECAY_GAPPED,
            }
        };
        Some(Links {
            spaces: queries.map(space).collect(),
            gap,
        })
    }

    /// What an alignment scores at least, in units of the matrix, whatever it is taken with: chance
    /// gives one for two short sequences (BLAST has the shortest of the database instead).
    pub(super) fn least(&self) -> i32 {
        match self.gap {
            None => 1,
            Some(_) => {
                let [_, gapped] = self.protein.karlin();
                let evalue = (1.0 - DECAY_GAPPED) * DECAY_GAPPED;
                gapped.cutoff(evalue, (SHORT * SHORT) as f64)
            }
        }
    }

    /// The parameters of alignments without gaps of a frame of the query: its own where they ask
    /// for more than the common ones.
    pub(super) fn ungapped(&self, frame: &[u8]) -> Karlin {
        let own = karlin_of(self.protein.matrix(), frame);
        let own = own.filter(|own| own.lambda < self.common.lambda);
        let own = own.unwrap_or(self.common);
        let Karlin { alpha, beta, .. } = *self.protein.karlin()[0];
        Karlin { alpha, beta, ..own }
    }

    /// What a frame of so many residues and a subject of so many letters offer alignments without
    /// gaps of such parameters.
    pub(super) fn apart(&self, karlin: &Karlin, query: usize, subject: usize) -> PairSpace {
        let space = self.protein.space(query);
        let adjustment = space.adjustment(karlin);
        let left = |length: u64, adjustment| length.saturating_sub(adjustment).max(1) as f64;
        PairSpace {
            query: left(query as u64, adjustment),
            subject: left(subject as u64 / 3, adjustment / 3),
            search: space.effective(karlin),
            decay: DECAY_UNGAPPED,
        }
    }
}

impl TranslatedScoring {
    /// What a link of a chain costs (BLAST's `CalculateLinkHSPCutoffs`), for frames of such
    /// parameters and lengths, and a subject of so many letters.
    pub(super) fn cutoffs(&self, karlins: &[Karlin], lengths: &[usize], letters: usize) -> Cutoffs {
        let least = |one: &&Karlin, other: &&Karlin| one.lambda.total_cmp(&other.lambda);
        let karlin = karlins.iter().min_by(least).unwrap_or(&self.common);
        // With a border behind each frame but the last.
        let all = lengths.iter().sum::<usize>() + lengths.len() - 2;
        let query = (all / lengths.len()) as f64;
        let subject = (letters / 3) as f64;
        let expected = ((karlin.k * query * subject).ln() / karlin.h).round();
        let left = |length: f64| (length - expected).max(1.0);
        let (query, subject) = (left(query), left(subject));
        let all = self.protein.size.letters as f64;
        let whole = if all > subject {
            all
        } else {
            subject + expected
        };
        let chance = (whole / subject).ln() * karlin.k / DECAY_UNGAPPED;
        let score = |chance: f64| (chance.ln() / karlin.lambda).floor() as i32 + 1;
        let space = query * subject;
        let starts = (STARTS * STARTS) as f64;
        if space <= 8.0 * starts {
            return Cutoffs {
                small: None,
                large: score(0.25 * chance * space),
            };
        }
        let small = score(chance * starts / (SHARE + EPSILON));
        let rare = karlins.iter().zip(lengths);
        let rare = rare.map(|(karlin, &length)| self.trigger(karlin, length));
        Cutoffs {
            small: Some(small.max(rare.min().unwrap_or_default())),
            large: score(0.25 * chance * space / (1.0 - SHARE + EPSILON)),
        }
    }
}

impl ScoringSystem for TranslatedScoring {
    fn score(&self, query: u8, subject: u8) -> i8 {
        self.protein.score(query, subject)
    }

    fn pairs(&self) -> PairScores {
        self.protein.pairs()
    }

    fn gap_costs(&self) -> Costs {
        self.protein.gap_costs()
    }

    fn karlin(&self) -> [&Karlin; 2] {
        match self.program {
            Program::Tblastx => [&self.common; 2],
            _ => self.protein.karlin(),
        }
    }

    fn size(&self) -> DatabaseSize {
        self.size
    }

    fn space(&self, query: usize) -> SearchSpace {
        self.protein.space(query)
    }

    fn protein(&self) -> Option<&Protein> {
        self.protein.protein()
    }

    fn composition(&self) -> CompositionMode {
        match self.program {
            Program::Tblastx => CompositionMode::Off,
            _ => self.protein.composition(),
        }
    }
}
