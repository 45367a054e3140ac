//! Masks of queries and subjects: what is too simple to be evidence, or in lower case. No
//! alignment begins in a mask; where masks are hard its letters match nothing either.

use std::ops::Range;

use gyrase_align::genetic_code::CODON;
use gyrase_align::mask::{self, dust::Dust, seg::Seg};
use gyrase_align::{nucleotide, residue};
use gyrase_work::in_threads;

use crate::frames::Frames;
use crate::nucleotide::MASKED;
use crate::sequences::LetterCase;
use crate::{Molecule, Program, Sequences};

/// What SEG masks in proteins, and in nucleotides that are translated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SegMask {
    /// Nothing.
    Off,
    /// What is around windows of low entropy.
    On {
        /// Residues of a window.
        window: usize,
        /// Bits of a residue, at most, in a window with which a mask begins.
        low: f64,
        /// Bits of a residue, at most, in the windows that it grows over.
        high: f64,
    },
}

impl SegMask {
    /// As BLAST has it: `12 2.2 2.5`.
    pub const USUAL: SegMask = SegMask::On {
        window: 12,
        low: 2.2,
        high: 2.5,
    };

    /// As BLAST tells it in its reports.
    fn told(self) -> String {
        match self {
            SegMask::Off => String::new(),
            SegMask::USUAL => "L;".into(),
            SegMask::On { window, low, high } => format!("S {window} {low:.1} {high:.1};"),
        }
    }
}

/// What DUST masks in nucleotides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DustMask {
    /// Nothing.
    Off,
    /// What repeats few triplets.
    On {
        /// What ten times the score of a mask exceeds, 2 to 64.
        level: u32,
        /// Bases of a window, 8 to 64.
        window: usize,
        /// Masks with fewer bases between them become one, 1 to 32.
        linker: usize,
    },
}

impl DustMask {
    /// As BLAST has it: `20 64 1`.
    pub const USUAL: DustMask = DustMask::On {
        level: 20,
        window: 64,
        linker: 1,
    };

    /// As BLAST tells it in its reports.
    fn told(self) -> String {
        match self {
            DustMask::Off => String::new(),
            DustMask::USUAL => "L;".into(),
            DustMask::On {
                level,
                window,
                linker,
            } => format!("D {level} {window} {linker};"),
        }
    }
}

/// What masks of subjects do, which databases and the lower case of files tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DatabaseMask {
    /// Nothing.
    #[default]
    Ignored,
    /// No alignment begins in a mask, but one may go through it.
    Soft,
    /// Masked letters are X, and of nucleotides B, as BLAST+ takes them.
    Hard,
}

impl DatabaseMask {
    /// What letters in lower case are.
    pub(crate) fn case(self) -> LetterCase {
        match self {
            DatabaseMask::Ignored => LetterCase::Ignored,
            DatabaseMask::Soft => LetterCase::Noted,
            DatabaseMask::Hard => LetterCase::Hidden,
        }
    }
}

/// What is masked in queries. What is none is as the program has it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MaskOptions {
    /// Lower-case letters.
    pub lower_case: bool,
    /// What is simple in proteins.
    pub seg: Option<SegMask>,
    /// What is simple in nucleotides that are not translated.
    pub dust: Option<DustMask>,
    /// No alignment begins in a mask, but one may go through it with the letters that are there.
    pub soft: Option<bool>,
}

impl MaskOptions {
    /// What letters of queries in lower case are.
    pub(crate) fn case(&self) -> LetterCase {
        match self.lower_case {
            true => LetterCase::Noted,
            false => LetterCase::Ignored,
        }
    }
}

/// What is masked in the queries of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct QueryMasks {
    seg: SegMask,
    dust: DustMask,
    /// Masked letters stay what they are, but begin nothing.
    pub is_soft: bool,
}

impl QueryMasks {
    /// What a program masks where this was chosen (BLAST+'s applications, by their defaults).
    pub(crate) fn new(program: Program, options: &MaskOptions) -> QueryMasks {
        let seg = match program {
            Program::Blastx | Program::Tblastn | Program::Tblastx => SegMask::USUAL,
            _ => SegMask::Off,
        };
        let compares_bases = program.compares() == Molecule::Nucleotide;
        QueryMasks {
            seg: options.seg.unwrap_or(seg),
            dust: options.dust.unwrap_or(DustMask::USUAL),
            is_soft: options.soft.unwrap_or(compares_bases),
        }
    }

    /// What is masked, as BLAST tells it in its reports.
    pub(crate) fn told(&self, compared: Molecule) -> String {
        let simple = match compared {
            Molecule::Protein => self.seg.told(),
            Molecule::Nucleotide => self.dust.told(),
        };
        match simple + if self.is_soft { "m;" } else { "" } {
            nothing if nothing.is_empty() => "F".into(),
            told => told,
        }
    }

    /// Masks the frames of some queries, which are all of `part`.
    pub(crate) fn apply(
        &self,
        queries: &Sequences,
        range: Range<usize>,
        frames: Frames,
        part: &mut Sequences,
        threads: usize,
    ) {
        let mut simple = Simple::new(self);
        let simple_letters = self.of_letters(queries, range.clone(), frames, threads);
        let firsts = (0..).step_by(frames.numbers().len());
        for ((query, first), of_letters) in range.zip(firsts).zip(&simple_letters) {
            let residues = |at| part.residues(first + at);
            let masked = simple.of_query(queries, query, frames, of_letters, residues);
            for (place, masked) in (first..).zip(&masked) {
                match self.is_soft {
                    true => hide_from_seeds(part, place, masked),
                    false => hide(part, place, masked),
                }
            }
        }
    }

    /// What is simple in the nucleotides of some queries.
    fn of_letters(
        &self,
        queries: &Sequences,
        range: Range<usize>,
        frames: Frames,
        threads: usize,
    ) -> Vec<Vec<Range<usize>>> {
        let numbers: Vec<usize> = range.collect();
        let mask = |numbers: &[usize]| -> Vec<_> {
            let mut simple = Simple::new(self);
            let letters = numbers.iter().map(|&query| queries.residues(query));
            letters
                .map(|letters| simple.of_letters(frames, letters))
                .collect()
        };
        let each = numbers.len().div_ceil(threads).max(1);
        in_threads(numbers.chunks(each).collect(), mask).concat()
    }

    /// What is masked in each frame of a query.
    pub(crate) fn of_query(
        &self,
        queries: &Sequences,
        query: usize,
        frames: Frames,
    ) -> Vec<Vec<Range<usize>>> {
        let part = queries.frames(query..query + 1, frames, 1);
        let mut simple = Simple::new(self);
        let of_letters = simple.of_letters(frames, queries.residues(query));
        simple.of_query(queries, query, frames, &of_letters, |at| part.residues(at))
    }
}

/// The frames of some subjects, in which no seed is looked for where they are masked.
pub(crate) fn frames_of_subjects(
    subjects: &Sequences,
    range: Range<usize>,
    frames: Frames,
    threads: usize,
) -> Sequences {
    let mut part = subjects.frames(range.clone(), frames, threads);
    let numbers = frames.numbers();
    for (subject, first) in range.zip((0..).step_by(numbers.len())) {
        let length = subjects.range(subject).len();
        for (place, &frame) in (first..).zip(numbers) {
            let masks = subjects.lower_case(subject);
            let masked: Vec<_> = masks
                .map(|mask| in_frame(frames, frame, length, &mask))
                .collect();
            hide_from_seeds(&mut part, place, &masked);
        }
    }
    part
}

/// Makes ranges of a sequence letters that stand for any.
fn hide(part: &mut Sequences, number: usize, masked: &[Range<usize>]) {
    let any = match part.molecule() {
        Molecule::Protein => residue::ANY,
        Molecule::Nucleotide => nucleotide::ANY,
    };
    mask::cover(part.residues_mut(number), masked, any);
}

/// Leaves ranges of a sequence what they are, but no seed is looked for there.
fn hide_from_seeds(part: &mut Sequences, number: usize, masked: &[Range<usize>]) {
    let molecule = part.molecule();
    for range in masked.iter().filter(|range| !range.is_empty()) {
        let codes = &mut part.seed_residues_mut(number)[range.clone()];
        match molecule {
            Molecule::Protein => codes.fill(residue::ANY),
            Molecule::Nucleotide => codes.iter_mut().for_each(|code| *code |= MASKED),
        }
    }
}

/// Finds what is simple.
struct Simple {
    seg: Option<Seg>,
    dust: Option<Dust>,
    known: Vec<u8>,
}

impl Simple {
    fn new(masks: &QueryMasks) -> Simple {
        Simple {
            seg: match masks.seg {
                SegMask::Off => None,
                SegMask::On { window, low, high } => Some(Seg::new(window, low, high)),
            },
            dust: match masks.dust {
                DustMask::Off => None,
                DustMask::On {
                    level,
                    window,
                    linker,
                } => Some(Dust::new(level, window, linker)),
            },
            known: Vec::new(),
        }
    }

    /// What is masked in the frames of a query, which have these residues: its letters that are
    /// simple, residues that are, and what is in lower case.
    fn of_query<'r>(
        &mut self,
        queries: &Sequences,
        query: usize,
        frames: Frames,
        of_letters: &[Range<usize>],
        residues: impl Fn(usize) -> &'r [u8],
    ) -> Vec<Vec<Range<usize>>> {
        let length = queries.residues(query).len();
        let numbers = frames.numbers().iter().enumerate();
        let of_frame = |(at, &frame): (usize, &i8)| {
            let placed = |range: &Range<usize>| in_frame(frames, frame, length, range);
            let of_case = queries.lower_case(query);
            let mut masked: Vec<Range<usize>> = of_case.map(|one| placed(&one)).collect();
            masked.extend(of_letters.iter().map(placed));
            masked.extend(self.of_residues(frames, residues(at)));
            merged(masked)
        };
        numbers.map(of_frame).collect()
    }

    /// What is simple in nucleotides whose strands are compared.
    fn of_letters(&mut self, frames: Frames, codes: &[u8]) -> Vec<Range<usize>> {
        match &mut self.dust {
            Some(dust) if frames == Frames::Strands => {
                self.known.clear();
                self.known.extend(codes.iter().map(|&code| known(code)));
                dust.mask(&self.known).to_vec()
            }
            _ => Vec::new(),
        }
    }

    /// What is simple in the residues of a frame.
    fn of_residues(&mut self, frames: Frames, residues: &[u8]) -> Vec<Range<usize>> {
        match &mut self.seg {
            Some(seg) if frames.molecule() == Molecule::Protein => seg.mask(residues).to_vec(),
            _ => Vec::new(),
        }
    }
}

/// Ranges that have the same letters, each once and in their order.
fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_by_key(|range| range.start);
    ranges.dedup_by(|next, before| {
        let overlaps = next.start <= before.end;
        if overlaps {
            before.end = before.end.max(next.end);
        }
        overlaps
    });
    ranges
}

/// As DUST takes codes: what stands for some bases is an A.
fn known(code: u8) -> u8 {
    match code {
        nucleotide::ANY => nucleotide::ANY,
        code if usize::from(code) < nucleotide::BASES => code,
        _ => 0,
    }
}

/// Where letters of a sequence of such a length are in a frame of it. Codons of which a part is in
/// the range count too (NCBI's `BlastMaskLocDNAToProtein`).
fn in_frame(frames: Frames, frame: i8, length: usize, letters: &Range<usize>) -> Range<usize> {
    match frames {
        Frames::Protein | Frames::Plus => letters.clone(),
        Frames::Strands => frames.place(letters, frame, length),
        Frames::Six(_) => {
            let residues = frames.length(length, frame);
            let by = usize::from(frame.unsigned_abs());
            let [first, last] = match frame > 0 {
                true => [letters.start + 1, letters.end].map(|at| at.saturating_sub(by)),
                false => {
                    [letters.end - 1, letters.start].map(|at| (length - at).saturating_sub(by))
                }
            };
            let last_of_all = residues.saturating_sub(1);
            let [first, last] = [first, last].map(|at| (at / CODON).min(last_of_all));
            first..(last + 1).min(residues)
        }
    }
}
