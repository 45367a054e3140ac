//! Rows of diagonals in portable code.

use super::diagonals::{CELLS, Diagonals, NOWHERE, Pair, Reached};

pub(super) fn reach(pair: &Pair, diagonals: Diagonals, row: &mut [[i32; CELLS]]) -> Reached {
    let Diagonals {
        before,
        first,
        count,
        least,
        longest,
    } = diagonals;
    let mut reached = Reached::new(longest);
    for (number, (at, before)) in row
        .as_flattened_mut()
        .iter_mut()
        .zip(before.windows(3))
        .enumerate()
    {
        let from = (before[2].max(before[1]) + 1).max(before[0]);
        let in_query = from + first + number as i32;
        *at = NOWHERE;
        if number < count && from >= 0 && in_query + from >= least {
            let length = pair.matching(in_query as u32, from as u32);
            *at = from + length as i32;
            reached.add(pair, number, length, [in_query + length as i32, *at]);
            reached.follow(number, 1);
        }
    }
    reached
}
