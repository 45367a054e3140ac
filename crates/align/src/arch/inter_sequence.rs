//! Rows of gapped extensions of many pairs of nucleotide sequences, one in each lane. Written once
//! for all processors: the compiler makes vectors of the lanes.
//!
//! A cell stands for a diagonal of each pair, so that a row is computed in the place of the row
//! before it: from its own cell, from that of the next diagonal and from the cell just made.

use std::ops::Range;

use super::cells::{BY_QUERY, BY_SUBJECT, QUERY_GOES_ON, SUBJECT_GOES_ON};
use super::kernels::Kernels;
use super::lanes::{LANES, Lanes};

/// Pairs that are extended at a time.
pub(crate) const PAIRS: usize = LANES;
/// Diagonals of a pair.
pub(crate) const BAND: usize = 256;
/// The diagonal of the first bases.
pub(crate) const MIDDLE: usize = BAND / 2;

/// Rows whose bases are loaded at a time.
pub(crate) const ROWS: usize = 16;
/// Bases of each subject: those of a row and of the next [`ROWS`].
pub(crate) const RING: usize = 2 * BAND;

/// Below any score that is not dropped.
pub(crate) const NEVER: i8 = i8::MIN;
/// What the X-drop and a match may be together, so that a match after [`NEVER`] stays dropped.
pub(crate) const ROOM: i32 = i8::MAX as i32;
/// A best score above this becomes the base.
const MOST: i8 = 48;

/// A number for each pair.
pub(crate) type Pairs = [i8; PAIRS];

/// How a cell of each pair was reached: four bits of one in the first half, four of one in the
/// second.
pub(crate) type Reached = [u8; PAIRS / 2];

/// The cells of all pairs by diagonal, relative to a base that each pair has of its own (see
/// [`super::cells`]). Where all pairs of a diagonal are dropped, all are [`NEVER`].
pub(crate) struct Band {
    pub cells: [Cell; BAND + 1],
    /// From the first diagonal that has a cell which was not dropped to behind the last.
    pub kept: Range<usize>,
    /// The base of the subject before each cell, as a ring: that of row r and diagonal d is at
    /// r + d. What is behind the subject is [`NEVER`].
    pub subject: [Lanes<i8>; RING],
}

/// A cell of each pair. Both are side by side: processors take what is read for what was written
/// just before where both are multiples of 4,096 bytes apart, and wait.
#[derive(Clone, Copy)]
pub(crate) struct Cell {
    /// What the best alignment of the two prefixes scores, [`NEVER`] where it was dropped.
    pub best: Lanes<i8>,
    /// The best that ends with a gap beside the query's next base.
    pub gap: Lanes<i8>,
}

impl Cell {
    /// One that all pairs dropped.
    pub const NEVER: Cell = Cell {
        best: Lanes([NEVER; PAIRS]),
        gap: Lanes([NEVER; PAIRS]),
    };
}

/// What a row is computed from, beside the cells of the row before.
pub(crate) struct BandRow {
    /// Its number.
    pub number: u32,
    /// The base of each query.
    pub query: Pairs,
    /// Of a match, and of a mismatch.
    pub reward: i8,
    pub penalty: i8,
    /// Of a gap with its first base, and of each more.
    pub opens: i8,
    pub extend: i8,
    /// What the score may fall below the best.
    pub x_drop: i8,
    /// 1 where there is a pair.
    pub pairs: Pairs,
}

/// The best cell of each pair.
pub(crate) struct Bests {
    /// Its score relative to the base, 0 at least.
    pub score: Pairs,
    /// The base.
    pub base: [i32; PAIRS],
    /// Its diagonal.
    pub diagonal: [u8; PAIRS],
    /// Its row.
    pub row: [u32; PAIRS],
    /// The highest score of the last row; [`NEVER`] where all cells were dropped.
    pub of_row: Pairs,
}

impl Kernels {
    /// Turns the cells of a row into those of the next; whether a pair has no cell any more, or one
    /// on an outmost diagonal. With `TRACE`, pushes how they were reached, from the diagonal before
    /// the first kept one on.
    pub(crate) fn band_row<const TRACE: bool>(
        self,
        row: &BandRow,
        band: &mut Band,
        bests: &mut Bests,
        reached: &mut Vec<Reached>,
    ) -> bool {
        self.run(
            #[inline(always)]
            || band_row::<TRACE>(row, band, bests, reached),
        )
    }
}

#[inline(always)]
fn band_row<const TRACE: bool>(
    row: &BandRow,
    band: &mut Band,
    bests: &mut Bests,
    reached: &mut Vec<Reached>,
) -> bool {
    let (start, end) = (band.kept.start.saturating_sub(1), band.kept.end);
    let mut so_far = SoFar {
        best: bests.score,
        diagonal: bests.diagonal,
        of_row: [NEVER; PAIRS],
        in_subject: [NEVER; PAIRS],
    };
    let mut place = start;
    while place < BAND && (place < end || reaches(&so_far, row.x_drop)) {
        // Copies, as the compiler cannot tell cells that are read from those that are written.
        let beside = Beside {
            subject: band.subject[(row.number as usize + place) % RING].0,
            before: band.cells[place].best.0,
            in_query: band.cells[place + 1].gap.0,
        };
        let (cell, ways) = cell::<TRACE>(row, place, &beside, &mut so_far);
        band.cells[place] = cell;
        if TRACE {
            let mut both = [0; PAIRS / 2];
            for pair in 0..PAIRS / 2 {
                both[pair] = ways[pair] | ways[pair + PAIRS / 2] << 4;
            }
            reached.push(both);
        }
        place += 1;
    }
    let mut highest = 0;
    for pair in 0..PAIRS {
        let rises = so_far.best[pair] > bests.score[pair];
        bests.row[pair] = if rises { row.number } else { bests.row[pair] };
        highest = highest.max(so_far.best[pair]);
    }
    (bests.score, bests.diagonal) = (so_far.best, so_far.diagonal);
    bests.of_row = so_far.of_row;
    leave_kept(band, start..place);
    if highest > MOST {
        make_bases(band, bests);
    }
    let outmost = [0, BAND - 1].map(|place| band.cells[place].best);
    let mut any = 0;
    for pair in 0..PAIRS {
        let is_out = outmost[0][pair].max(outmost[1][pair]) != NEVER;
        let ends = is_out | (bests.of_row[pair] == NEVER);
        any |= if ends { row.pairs[pair] } else { 0 };
    }
    any != 0
}

/// What is known of a row up to a cell.
struct SoFar {
    /// The best score so far, and its diagonal.
    best: Pairs,
    diagonal: [u8; PAIRS],
    /// The highest of the row.
    of_row: Pairs,
    /// The best that ends with a gap beside the subject's base before the cell.
    in_subject: Pairs,
}

/// What a cell is made of, beside that.
struct Beside {
    subject: Pairs,
    /// The cell of the row before.
    before: Pairs,
    in_query: Pairs,
}

/// A cell of each pair, and how it was reached.
#[inline(always)]
fn cell<const TRACE: bool>(
    row: &BandRow,
    place: usize,
    beside: &Beside,
    so_far: &mut SoFar,
) -> (Cell, [u8; PAIRS]) {
    let (mut score, mut gap, mut ways) = ([0; PAIRS], [0; PAIRS], [0; PAIRS]);
    for pair in 0..PAIRS {
        let (in_query, in_subject) = (beside.in_query[pair], so_far.in_subject[pair]);
        let unequal = row.penalty.min(beside.subject[pair]);
        let equal = row.query[pair] == beside.subject[pair];
        let both = if equal { row.reward } else { unequal };
        let diagonal = beside.before[pair].saturating_add(both);
        let without = diagonal.max(in_query);
        let sum = without.max(in_subject);
        let (best, at) = (so_far.best[pair], so_far.diagonal[pair]);
        so_far.diagonal[pair] = if sum > best { place as u8 } else { at };
        so_far.best[pair] = best.max(sum);
        let is_kept = sum >= best.max(sum).saturating_sub(row.x_drop);
        score[pair] = if is_kept { sum } else { NEVER };
        so_far.of_row[pair] = so_far.of_row[pair].max(score[pair]);
        let opened = sum.saturating_sub(row.opens);
        let longer = in_query.saturating_sub(row.extend);
        let longer_in_subject = in_subject.saturating_sub(row.extend);
        if TRACE {
            let by_query = if in_query > diagonal { BY_QUERY } else { 0 };
            let by = if in_subject > without {
                BY_SUBJECT
            } else {
                by_query
            };
            let query_goes_on = if longer > opened { QUERY_GOES_ON } else { 0 };
            let goes_on = longer_in_subject > opened;
            ways[pair] = by | query_goes_on | if goes_on { SUBJECT_GOES_ON } else { 0 };
        }
        gap[pair] = longer.max(opened);
        so_far.in_subject[pair] = longer_in_subject.max(opened);
    }
    let [best, gap] = [score, gap].map(Lanes);
    (Cell { best, gap }, ways)
}

/// Whether a gap beside a subject reaches the next cell.
#[inline(always)]
fn reaches(so_far: &SoFar, x_drop: i8) -> bool {
    let mut any = false;
    for (gap, best) in so_far.in_subject.iter().zip(so_far.best) {
        any |= *gap >= best.saturating_sub(x_drop);
    }
    any
}

/// Leaves out the diagonals on both sides where all cells were dropped.
#[inline(always)]
fn leave_kept(band: &mut Band, mut kept: Range<usize>) {
    while kept.start < kept.end && is_dropped(&band.cells[kept.start]) {
        band.cells[kept.start] = Cell::NEVER;
        kept.start += 1;
    }
    while kept.start < kept.end && is_dropped(&band.cells[kept.end - 1]) {
        kept.end -= 1;
        band.cells[kept.end] = Cell::NEVER;
    }
    band.kept = kept;
}

#[inline(always)]
fn is_dropped(cell: &Cell) -> bool {
    let mut highest = NEVER;
    for &score in &*cell.best {
        highest = highest.max(score);
    }
    highest == NEVER
}

/// Makes all best scores the bases.
#[inline(always)]
fn make_bases(band: &mut Band, bests: &mut Bests) {
    let by = bests.score;
    for Cell { best, gap } in &mut band.cells[band.kept.clone()] {
        for pair in 0..PAIRS {
            best[pair] = best[pair].saturating_sub(by[pair]);
        }
        for pair in 0..PAIRS {
            gap[pair] = gap[pair].saturating_sub(by[pair]);
        }
    }
    for pair in 0..PAIRS {
        bests.base[pair] += i32::from(by[pair]);
    }
    bests.score = [0; PAIRS];
}
