//! How proteins are compared: what a program decides, and what one may choose instead.

use gyrase_align::matrix::Matrix;
use gyrase_align::statistics::Costs;
use gyrase_align::statistics::protein::Protein;

use crate::{Program, SearchError};

/// How scores fit the composition of a query and a subject: BLAST's `-comp_based_stats`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompositionMode {
    /// They are those of the matrix.
    Off,
    /// Those of the matrix times a factor: composition-based statistics.
    Scaled,
    /// They are adjusted, or scaled where both are very unlike: what BLAST does by itself.
    Conditional,
    /// They are adjusted, whatever the two are.
    Adjusted,
}

impl CompositionMode {
    /// All modes, each at the place of its number.
    pub const ALL: [CompositionMode; 4] = [
        CompositionMode::Off,
        CompositionMode::Scaled,
        CompositionMode::Conditional,
        CompositionMode::Adjusted,
    ];

    /// BLAST's number of it.
    pub fn number(self) -> usize {
        self as usize
    }
}

/// What may be chosen for proteins. What is none is as the program has it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProteinOptions {
    /// What pairs of residues score.
    pub matrix: Option<&'static Matrix>,
    /// What a gap costs beside its residues.
    pub gap_open: Option<i32>,
    /// What each residue beside a gap costs.
    pub gap_extend: Option<i32>,
    /// How scores fit the composition of both sequences.
    pub composition: Option<CompositionMode>,
}

impl ProteinOptions {
    /// What was chosen, in a line.
    pub(crate) fn question(&self) -> String {
        let ProteinOptions {
            matrix,
            gap_open,
            gap_extend,
            composition,
        } = self;
        let matrix = matrix.map(Matrix::name);
        format!("{matrix:?} {gap_open:?} {gap_extend:?} {composition:?}")
    }
}

/// What holds for a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Setting {
    pub matrix: &'static Matrix,
    pub statistics: Protein,
    pub composition: CompositionMode,
}

impl Setting {
    /// What holds for a program where this was chosen. Gaps cost what BLAST takes for the matrix.
    ///
    /// # Errors
    /// There are no statistics for these scores.
    pub(crate) fn new(program: Program, options: &ProteinOptions) -> Result<Setting, SearchError> {
        let (usual, composition) = match program {
            Program::BlastpShort => ("PAM30", CompositionMode::Off),
            _ => ("BLOSUM62", CompositionMode::Conditional),
        };
        let usual = || Matrix::named(usual).expect("the matrix is there");
        let matrix = options.matrix.unwrap_or_else(usual);
        let costs = Protein::usual(matrix);
        let costs = Costs::new(
            options.gap_open.unwrap_or(costs.open),
            options.gap_extend.unwrap_or(costs.extend),
        );
        Ok(Setting {
            matrix,
            statistics: Protein::new(matrix, costs)?,
            composition: options.composition.unwrap_or(composition),
        })
    }
}
