//! What a report says of how a search scores.

use gyrase_align::matrix::Matrix;
use gyrase_align::statistics::{Costs, Karlin};

use super::answer::QueryHits;
use crate::masks::QueryMasks;
use crate::protein_options::CompositionMode;
use crate::scoring::{PairScores, karlin_of};
use crate::{Molecule, Program};

const ALTSCHUL: &str = "Stephen F. Altschul, Thomas L. Madden, Alejandro A. Sch&auml;ffer, Jinghui \
    Zhang, Zheng Zhang, Webb Miller, and David J. Lipman (1997), \"Gapped BLAST and PSI-BLAST: a \
    new generation of protein database search programs\", Nucleic Acids Res. 25:3389-3402.";
const ZHANG: &str = "Zheng Zhang, Scott Schwartz, Lukas Wagner, and Webb Miller (2000), \"A greedy \
    algorithm for aligning DNA sequences\", J Comput Biol 2000; 7(1-2):203-14.";

impl Program {
    /// The program of BLAST that compares the same.
    pub(super) fn told(self) -> &'static str {
        let [queries, subjects] = self.molecules();
        match (queries, subjects, self.compares()) {
            (_, _, Molecule::Nucleotide) => "blastn",
            (Molecule::Protein, Molecule::Protein, _) => "blastp",
            (Molecule::Nucleotide, Molecule::Protein, _) => "blastx",
            (Molecule::Protein, Molecule::Nucleotide, _) => "tblastn",
            (Molecule::Nucleotide, Molecule::Nucleotide, _) => "tblastx",
        }
    }

    /// Whether queries and subjects are translated.
    pub(super) fn translates(self) -> [bool; 2] {
        let compares = self.compares();
        self.molecules().map(|molecule| molecule != compares)
    }

    /// Whether alignments may have gaps.
    pub(super) fn has_gaps(self) -> bool {
        self.told() != "tblastx"
    }

    /// The paper that BLAST cites, in its words.
    pub(super) fn reference(self) -> &'static str {
        match self.compares() {
            Molecule::Nucleotide if self.name().contains("mega") => ZHANG,
            _ => ALTSCHUL,
        }
    }
}

/// What a search scores with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Setting {
    pub program: Program,
    pub scores: PairScores,
    /// What gaps cost, where there are any.
    pub costs: Option<Costs>,
    pub composition: CompositionMode,
    /// What of queries is masked.
    pub masks: QueryMasks,
    /// Letters and sequences of the database.
    pub letters: u64,
    pub sequences: u64,
}

impl Setting {
    pub(super) fn of(answer: &QueryHits) -> Setting {
        let size = answer.scoring.size();
        Setting {
            program: answer.program,
            scores: answer.scoring.pairs(),
            costs: answer
                .program
                .has_gaps()
                .then(|| answer.scoring.gap_costs()),
            composition: answer.scoring.composition(),
            masks: answer.masks,
            letters: size.letters,
            sequences: size.sequences,
        }
    }

    /// What BLAST calls the filter of queries.
    pub(super) fn filter(&self) -> String {
        self.masks.told(self.program.compares())
    }
}

/// Parameters of alignments of a query, without gaps and with them, in the order in which BLAST
/// tells them: lambda, K, H, a, alpha, sigma; nucleotides have the first three.
pub(super) fn parameters(answer: &QueryHits) -> [Vec<f64>; 2] {
    let three = |karlin: &Karlin| vec![karlin.lambda, karlin.k, karlin.h];
    let (PairScores::Matrix(matrix), Some(statistics)) =
        (answer.scoring.pairs(), answer.scoring.protein())
    else {
        return answer.scoring.karlin().map(three);
    };
    let [without, with, covariance] = statistics.spread();
    let mut ungapped = three(&ungapped_of(answer, matrix));
    ungapped.extend([statistics.ungapped().alpha, without]);
    let mut gapped = three(statistics.gapped());
    gapped.extend([statistics.gapped().alpha, with, covariance]);
    [ungapped, gapped]
}

/// The parameters for the composition of the query; those of common proteins where it has none or
/// is translated.
fn ungapped_of(answer: &QueryHits, matrix: &Matrix) -> Karlin {
    let residues = answer.queries.residues(answer.query);
    let own = (!answer.program.translates()[0]).then(|| karlin_of(matrix, residues));
    own.flatten().unwrap_or(*answer.scoring.karlin()[0])
}
