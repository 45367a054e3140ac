//! How nucleotides are compared: what a program decides, and what one may choose instead.

use gyrase_align::statistics::Costs;

use super::seed::{Seed, TemplateType};
use crate::{Program, SearchError};

/// Bases of a word that has a key; longer ones are found by parts of them.
const LONGEST_KEY: usize = 11;
/// Bases of a part at most: a window has some before it and some behind.
const LONGEST_PART: usize = 16;
/// Bases from the first to the last of a template.
const TEMPLATE_LENGTH: usize = 18;

/// Which strands of the queries are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strands {
    /// Both.
    #[default]
    Both,
    /// The queries as they are.
    Plus,
    /// Their other strands.
    Minus,
}

impl Strands {
    /// Whether a frame is one of them.
    pub(crate) fn have(self, frame: i8) -> bool {
        match self {
            Strands::Both => true,
            Strands::Plus => frame > 0,
            Strands::Minus => frame < 0,
        }
    }
}

/// What may be chosen for nucleotides. What is none is as the program has it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NucleotideOptions {
    /// Bases of a word: so many in a row are equal in each alignment; 4 to 64. Of a template 11 or
    /// 12 are.
    pub word: Option<usize>,
    /// Bases from the first to the last of a template: 16, 18 or 21.
    pub template_length: Option<usize>,
    /// Which of them are equal.
    pub template: TemplateType,
    /// What a match scores, above 0.
    pub reward: Option<i32>,
    /// What a mismatch scores, below 0.
    pub penalty: Option<i32>,
    /// What a gap costs beside its bases.
    pub gap_open: Option<i32>,
    /// What each base beside a gap costs.
    pub gap_extend: Option<i32>,
    /// Strands of the queries.
    pub strands: Strands,
    /// The least part of the columns of an alignment that are equal, in percent.
    pub identity: f64,
}

/// Words so long are in few places of a database by chance.
const LONG_WORD: usize = 15;

/// What holds for a search.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Setting {
    pub word: usize,
    /// Which bases of a word have a key, for one search after the other.
    pub seeds: Vec<Seed>,
    pub reward: i32,
    pub penalty: i32,
    pub costs: Costs,
    pub strands: Strands,
    pub identity: f64,
}

impl Setting {
    /// What holds for a program (BLAST+'s `blast_options_handle`: `blastn_options.cpp`,
    /// `disc_nucl_options.cpp`).
    ///
    /// # Errors
    /// There is no such template.
    pub(crate) fn new(
        program: Program,
        options: &NucleotideOptions,
    ) -> Result<Setting, SearchError> {
        let (word, reward, penalty, costs) = match program {
            Program::Megablast => (28, 1, -2, (0, 0)),
            Program::BlastnShort => (7, 1, -3, (5, 2)),
            _ => (11, 2, -3, (5, 2)),
        };
        let word = options.word.unwrap_or(word);
        let seeds = match program {
            Program::DcMegablast => {
                let length = options.template_length.unwrap_or(TEMPLATE_LENGTH);
                templates(word, length, options.template)?
            }
            _ => vec![Seed::contiguous(part_of(word))],
        };
        Ok(Setting {
            word,
            seeds,
            reward: options.reward.unwrap_or(reward),
            penalty: options.penalty.unwrap_or(penalty),
            costs: Costs::new(
                options.gap_open.unwrap_or(costs.0),
                options.gap_extend.unwrap_or(costs.1),
            ),
            strands: options.strands,
            identity: options.identity,
        })
    }

    /// Every so many words of subjects are looked up.
    pub(super) fn step(&self) -> usize {
        match &self.seeds[..] {
            [seed] if !seed.is_template() => self.word - seed.bases + 1,
            _ => 1,
        }
    }

    /// Letters of the queries of a batch, but for the last of them: all of the database is looked
    /// through for each.
    pub(super) fn letters_at_once(&self) -> u64 {
        if self.word > LONG_WORD {
            5_000_000
        } else {
            1_000_000
        }
    }

    /// Whether gaps cost the same for each base and nothing beside.
    pub(crate) fn is_greedy(&self) -> bool {
        self.costs == Costs::new(0, 0)
    }
}

/// Bases of a word that have a key. The longer a part the fewer are found by chance, and the
/// shorter the more of them can be left out.
fn part_of(word: usize) -> usize {
    match word {
        ..=LONGEST_KEY => word,
        _ => (word / 2).clamp(LONGEST_KEY, LONGEST_PART),
    }
}

/// The templates of a type.
fn templates(
    bases: usize,
    length: usize,
    template: TemplateType,
) -> Result<Vec<Seed>, SearchError> {
    let kinds = match template {
        TemplateType::Both => &[TemplateType::Coding, TemplateType::Optimal][..],
        TemplateType::Coding => &[TemplateType::Coding],
        TemplateType::Optimal => &[TemplateType::Optimal],
    };
    let seeds = kinds
        .iter()
        .map(|&kind| Seed::template(bases, length, kind));
    let seeds: Option<Vec<Seed>> = seeds.collect();
    seeds.ok_or(SearchError::Template { bases, length })
}
