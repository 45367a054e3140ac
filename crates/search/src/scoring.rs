//! How a search scores: the matrix, gaps, E-values of the whole database.

use std::ops::Range;

use gyrase_align::arch::Rows;
use gyrase_align::composition::{Adjuster, MatrixFrequencies, ideal_lambda};
use gyrase_align::gapped::Scores;
use gyrase_align::matrix::Matrix;
use gyrase_align::residue::{self, CODES};
use gyrase_align::statistics::protein::Protein;
use gyrase_align::statistics::ungapped::{BACKGROUND, ScoreFrequencies};
use gyrase_align::statistics::{Costs, Karlin, SearchSpace};

use crate::culling::Culling;
use crate::hits::{Hit, Hsp};
use crate::matches::SegmentScores;
use crate::protein_options::{CompositionMode, ProteinOptions, Setting};
use crate::{Program, SearchError};

/// What is not yet fitted to both sequences is looked at again when its E-value is this much larger
/// than what is asked for.
const PROMISING: f64 = 10.0;

/// What is reported of what is found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HitLimits {
    /// The largest E-value.
    pub evalue: f64,
    /// Subjects of a query at most: the best of those that the other limits leave.
    pub top: usize,
    /// Alignments of a query and a subject at most.
    pub max_hsps: usize,
    /// The least part of the query that an alignment has, in percent.
    pub query_cover: f64,
    /// Which alignments are left out because others are there.
    pub culling: Culling,
}

impl HitLimits {
    /// The limits of what is found before alignments are left out because of others.
    pub(crate) fn before_culling(self) -> HitLimits {
        match self.culling.is_any() {
            true => HitLimits {
                top: usize::MAX,
                max_hsps: usize::MAX,
                ..self
            },
            false => self,
        }
    }

    /// Leaves the best of all hits of a query, by where each alignment is in it.
    pub(crate) fn leave(&self, hits: &mut Vec<Hit>, in_query: impl Fn(&Hsp) -> Range<usize>) {
        if self.culling.is_any() {
            self.culling.cull(hits, in_query);
            hits.iter_mut()
                .for_each(|hit| hit.hsps.truncate(self.max_hsps));
        }
        hits.sort_by(Hit::order);
        hits.truncate(self.top);
    }
}

/// How large the database is that E-values are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatabaseSize {
    /// Residues or nucleotides.
    pub letters: u64,
    /// Sequences.
    pub sequences: u64,
}

impl DatabaseSize {
    /// Letters of a sequence, in the mean.
    pub(crate) fn mean(self) -> usize {
        (self.letters / self.sequences.max(1)) as usize
    }
}

/// What reports tell of how a search scores.
pub trait ScoringSystem: Sync {
    /// What two letters score.
    fn score(&self, query: u8, subject: u8) -> i8;
    /// What pairs of letters score, in a word.
    fn pairs(&self) -> PairScores;
    /// What gaps cost.
    fn gap_costs(&self) -> Costs;
    /// Parameters of alignments without gaps, and with them.
    fn karlin(&self) -> [&Karlin; 2];
    /// The size of the database.
    fn size(&self) -> DatabaseSize;
    /// The statistics of proteins; none of nucleotides.
    fn protein(&self) -> Option<&Protein>;
    /// How scores fit the composition of both sequences.
    fn composition(&self) -> CompositionMode;

    /// What is searched for a query of a length.
    fn space(&self, query: usize) -> SearchSpace {
        let DatabaseSize { letters, sequences } = self.size();
        SearchSpace {
            query: query as u64,
            letters,
            sequences,
        }
    }
}

/// What pairs of letters score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PairScores {
    /// By a matrix.
    Matrix(&'static Matrix),
    /// A reward for the same base twice, and a penalty for others, which is negative.
    Bases {
        /// Above 0.
        reward: i32,
        /// Below 0.
        penalty: i32,
    },
}

/// How a search of proteins scores and what it asks for.
pub struct Scoring {
    matrix: &'static Matrix,
    scores: Box<Scores>,
    statistics: Protein,
    composition: CompositionMode,
    /// The whole database.
    pub(crate) size: DatabaseSize,
    pub(crate) limits: HitLimits,
}

impl Scoring {
    /// The scoring that was chosen, for a database of that size.
    ///
    /// # Errors
    /// There are no statistics for these scores.
    pub fn new(
        program: Program,
        options: &ProteinOptions,
        size: DatabaseSize,
        limits: HitLimits,
    ) -> Result<Scoring, SearchError> {
        let Setting {
            matrix,
            statistics,
            composition,
        } = Setting::new(program, options)?;
        let rows = matrix.rows();
        let scores = std::array::from_fn(|q| std::array::from_fn(|s| rows[q][s].into()));
        Ok(Scoring {
            matrix,
            scores: Box::new(scores),
            statistics,
            composition,
            size,
            limits,
        })
    }

    pub(crate) fn matrix(&self) -> &'static Matrix {
        self.matrix
    }

    pub(crate) fn rows(&self) -> &Rows {
        self.matrix.rows()
    }

    pub(crate) fn scores(&self) -> &Scores {
        &self.scores
    }

    /// What gaps cost where a unit of the matrix is `scale`.
    pub(crate) fn costs(&self, scale: i32) -> Costs {
        let Costs { open, extend } = self.statistics.costs();
        Costs::new(open * scale, extend * scale)
    }

    /// What an extension may lose, of bits.
    pub(crate) fn x_drop(&self, bits: f64, scale: i32) -> i32 {
        let units = bits * std::f64::consts::LN_2 / self.statistics.gapped().lambda;
        (units * f64::from(scale)) as i32
    }

    /// Whether an alignment of so many residues of the query has enough of it.
    pub(crate) fn covers(&self, part: usize, query: usize) -> bool {
        coverage(part, query) >= self.limits.query_cover
    }

    pub(crate) fn bits(&self, score: i32) -> f64 {
        self.statistics.bits(score.into())
    }

    /// The E-value of an alignment of sequences of such lengths.
    pub(crate) fn evalue_of(&self, score: f64, query: usize, subject: usize) -> f64 {
        self.statistics
            .evalue(score, query, subject, self.size.letters)
    }

    /// Whether a score of the matrix may become good enough when it is fitted to both sequences.
    pub(crate) fn promises(&self, score: f64, query: usize, subject: usize) -> bool {
        self.evalue_of(score, query, subject) <= self.promising()
    }

    /// The least score of the matrix that promises enough, of sequences of such lengths.
    pub(crate) fn least_promising(&self, query: usize, subject: usize) -> i32 {
        let letters = self.size.letters;
        (self.statistics).cutoff(self.promising(), query, subject, letters)
    }

    pub(crate) fn segments(&self) -> SegmentScores {
        SegmentScores::new(self.statistics.ungapped())
    }

    /// What a segment of a query of a length scores at least to be aligned, where one of so many
    /// bits is worth it in any search.
    pub(crate) fn least_segment(&self, query: usize, enough: f64) -> i32 {
        let (evalue, mean) = (self.limits.evalue, self.size.mean());
        let cutoff = (self.statistics).cutoff(evalue, query, mean, self.size.letters);
        let enough = self.statistics.ungapped().score(enough);
        self.segments().least(cutoff, enough.round() as i32)
    }

    /// Bits of a score of the matrix for each of so many residues, whatever the search.
    pub(crate) fn bits_per_residue(&self, score: i32, residues: usize) -> f64 {
        let bits = f64::from(score) * self.statistics.gapped().lambda / std::f64::consts::LN_2;
        bits / residues.max(1) as f64
    }

    /// The largest E-value of what is looked at again, where scores are fitted afterwards.
    pub(crate) fn promising(&self) -> f64 {
        match self.composition {
            CompositionMode::Off => self.limits.evalue,
            _ => PROMISING * self.limits.evalue,
        }
    }

    /// Whether subjects stand in the order of their scores of the matrix, and no other limit comes
    /// before the number of subjects.
    pub(crate) fn ranks_by_matrix(&self) -> bool {
        self.composition == CompositionMode::Off && self.limits.query_cover <= 0.0
    }

    pub(crate) fn adjuster(&self) -> Adjuster {
        let known = "the matrix has frequencies";
        let frequencies = MatrixFrequencies::named(self.matrix.name()).expect(known);
        Adjuster::new(frequencies, ideal_lambda(self.matrix.rows()).expect(known))
    }
}

impl ScoringSystem for Scoring {
    fn score(&self, query: u8, subject: u8) -> i8 {
        self.rows()[usize::from(query)][usize::from(subject)]
    }

    fn pairs(&self) -> PairScores {
        PairScores::Matrix(self.matrix)
    }

    fn gap_costs(&self) -> Costs {
        self.statistics.costs()
    }

    fn karlin(&self) -> [&Karlin; 2] {
        [self.statistics.ungapped(), self.statistics.gapped()]
    }

    fn size(&self) -> DatabaseSize {
        self.size
    }

    fn protein(&self) -> Option<&Protein> {
        Some(&self.statistics)
    }

    fn composition(&self) -> CompositionMode {
        self.composition
    }
}

/// A part of a whole in percent. BLAST cuts it to show it: half a percent more makes that rounding,
/// except near the whole, where only the whole is 100.
pub(crate) fn coverage(part: usize, whole: usize) -> f64 {
    let percent = 100.0 * part as f64 / whole.max(1) as f64;
    if percent < 99.0 {
        percent + 0.5
    } else {
        percent
    }
}

/// The parameters of alignments without gaps between proteins of common composition.
pub(crate) fn common(matrix: &Matrix) -> Karlin {
    let frequencies = ScoreFrequencies::of_proteins(matrix, &BACKGROUND, &BACKGROUND);
    let frequencies = frequencies.expect("a matrix has statistics");
    frequencies.karlin()
}

/// The parameters of alignments without gaps for the composition of a query, if there are any.
/// BLAST counts B, Z and stops too, and U as C.
pub(crate) fn karlin_of(matrix: &Matrix, query: &[u8]) -> Option<Karlin> {
    let counted = query
        .iter()
        .filter_map(|&residue| match residue::letter(residue) {
            b'X' | b'J' | b'O' => None,
            b'U' => Some(residue::code(b'C')),
            _ => Some(residue),
        });
    let mut counts = [0.0; CODES];
    counted.for_each(|residue| counts[usize::from(residue)] += 1.0);
    let pairs = counts.iter().enumerate().flat_map(|(query, count)| {
        let subjects = BACKGROUND.iter().enumerate();
        subjects.map(move |(subject, weight)| {
            let score = matrix.score(query as u8, subject as u8);
            (i32::from(score), count * weight)
        })
    });
    let frequencies = ScoreFrequencies::new(pairs);
    frequencies.ok().map(|frequencies| frequencies.karlin())
}
