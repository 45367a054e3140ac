//! What many pairs of nucleotide sequences gain by going on with gaps. Written once for all
//! processors: the compiler makes vectors of the lanes.

use super::kernels::Kernels;
use super::lanes::{COLUMNS, LANES, LaneColumns, LaneRows, Lanes};
use super::load::transpose;
use crate::residue::BORDER;

/// Bases of the query that a lane has.
pub const REACH: usize = 40;
/// Diagonals beside that of the first bases.
const BESIDE: usize = 10;
/// Diagonals of a band.
const BAND: usize = 2 * BESIDE + 1;
/// No score.
const NEVER: i8 = i8::MIN;

/// What bases score.
#[derive(Clone, Copy, Debug)]
pub struct BaseCosts {
    /// Of a match.
    pub reward: i8,
    /// Of a mismatch; below 0.
    pub penalty: i8,
    /// Of a gap with its first base.
    pub first: i8,
    /// Of each more.
    pub more: i8,
}

/// Bases of up to [`LANES`] pairs, column by column.
pub struct BaseLanes {
    /// Both as they are given, a row for each lane.
    rows: Box<[LaneRows; 2]>,
    query: Box<LaneColumns>,
    subject: Box<LaneColumns>,
}

impl Default for BaseLanes {
    fn default() -> BaseLanes {
        BaseLanes {
            rows: Box::new([[[BORDER; COLUMNS]; LANES]; 2]),
            query: Box::new([Lanes([BORDER; LANES]); COLUMNS]),
            subject: Box::new([Lanes([BORDER; LANES]); COLUMNS]),
        }
    }
}

impl BaseLanes {
    /// Loads so many pairs: `fill` writes the codes of the query and of the subject of a lane, from
    /// a place on. Of the query [`REACH`] count, of the subject a few more.
    ///
    /// # Panics
    /// When there are more than [`LANES`].
    pub fn load(
        &mut self,
        kernels: Kernels,
        pairs: usize,
        mut fill: impl FnMut(usize, &mut [u8; COLUMNS], &mut [u8; COLUMNS]),
    ) {
        let [queries, subjects] = &mut *self.rows;
        let both = queries[..pairs].iter_mut().zip(&mut subjects[..pairs]);
        for (lane, (query, subject)) in both.enumerate() {
            fill(lane, query, subject);
        }
        transpose(kernels, queries, &mut self.query);
        transpose(kernels, subjects, &mut self.subject);
    }
}

/// The kernel: see [`super::Kernels::gains`].
#[inline(always)]
pub(super) fn gains(costs: BaseCosts, lanes: &BaseLanes) -> [[i8; LANES]; 2] {
    let BaseCosts {
        reward,
        penalty,
        first,
        more,
    } = costs;
    let mut best = [Lanes([NEVER; LANES]); BAND + 1];
    let mut in_query = best;
    let mut beside = 0_i8;
    for place in BESIDE..BAND {
        best[place] = Lanes([beside; LANES]);
        beside = beside.saturating_sub(if place == BESIDE { first } else { more });
    }
    let (mut highest, mut last) = ([0_i8; LANES], [NEVER; LANES]);
    for row in 0..REACH {
        let query = &lanes.query[row];
        let (mut in_subject, mut before) = ([NEVER; LANES], [NEVER; LANES]);
        last = [NEVER; LANES];
        for place in 0..BAND {
            // Before the first base of a subject is none.
            let subject = match (row + place).checked_sub(BESIDE) {
                Some(column) => &lanes.subject[column],
                None => &Lanes([BORDER; LANES]),
            };
            let (above, over) = (best[place + 1], in_query[place + 1]);
            let (now, open) = (&mut best[place], &mut in_query[place]);
            for lane in 0..LANES {
                let equal = query[lane] == subject[lane];
                let score = if equal { reward } else { penalty };
                let by_query = over[lane]
                    .saturating_sub(more)
                    .max(above[lane].saturating_sub(first));
                let by_subject = in_subject[lane]
                    .saturating_sub(more)
                    .max(before[lane].saturating_sub(first));
                let both = now[lane].saturating_add(score);
                let sum = both.max(by_query).max(by_subject);
                now[lane] = sum;
                open[lane] = by_query;
                in_subject[lane] = by_subject;
                before[lane] = sum;
                last[lane] = last[lane].max(sum);
                highest[lane] = highest[lane].max(sum);
            }
        }
    }
    [highest, last]
}

const _: () = assert!(REACH + BAND <= COLUMNS);
