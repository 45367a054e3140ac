//! What many pairs of nucleotide sequences gain by going on with gaps. Written once for all
//! processors: the compiler makes vectors of the lanes.

use super::lanes::{COLUMNS, LANES};
use super::scalar::transpose;
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
    query: Box<[[u8; LANES]; COLUMNS]>,
    subject: Box<[[u8; LANES]; COLUMNS]>,
}

impl Default for BaseLanes {
    fn default() -> BaseLanes {
        BaseLanes {
            query: Box::new([[BORDER; LANES]; COLUMNS]),
            subject: Box::new([[BORDER; LANES]; COLUMNS]),
        }
    }
}

impl BaseLanes {
    /// Loads pairs: codes of query and subject from a place on, those of the query up to
    /// [`REACH`], of the subject up to a few more.
    pub fn load<'b, B: Iterator<Item = &'b u8>>(&mut self, pairs: impl Iterator<Item = (B, B)>) {
        let mut queries = [[BORDER; COLUMNS]; LANES];
        let mut subjects = [[BORDER; COLUMNS]; LANES];
        for (lane, (query, subject)) in pairs.take(LANES).enumerate() {
            queries[lane]
                .iter_mut()
                .zip(query.take(REACH))
                .for_each(|(to, from)| *to = *from);
            let places = subjects[lane][BESIDE..REACH + BAND].iter_mut();
            places.zip(subject).for_each(|(to, from)| *to = *from);
        }
        transpose(&queries, &mut self.query);
        transpose(&subjects, &mut self.subject);
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
    let mut best = [[NEVER; LANES]; BAND + 1];
    let mut in_query = [[NEVER; LANES]; BAND + 1];
    let mut beside = 0_i8;
    for place in BESIDE..BAND {
        best[place] = [beside; LANES];
        beside = beside.saturating_sub(if place == BESIDE { first } else { more });
    }
    let (mut highest, mut last) = ([0_i8; LANES], [NEVER; LANES]);
    for row in 0..REACH {
        let query = &lanes.query[row];
        let (mut in_subject, mut before) = ([NEVER; LANES], [NEVER; LANES]);
        last = [NEVER; LANES];
        for place in 0..BAND {
            let subject = &lanes.subject[row + place];
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
