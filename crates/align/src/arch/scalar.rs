//! The kernels in portable code: what the others must find.

use super::{COLUMNS, LANES, Rows};

pub(super) fn windows_scoring(
    rows: &Rows,
    query: &[u8; COLUMNS],
    columns: &[[u8; LANES]; COLUMNS],
    least: i8,
) -> u64 {
    let (mut scores, mut best) = ([0_i8; LANES], [0_i8; LANES]);
    for (&residue, column) in query.iter().zip(columns) {
        let row = &rows[usize::from(residue)];
        for lane in 0..LANES {
            let score = scores[lane].saturating_add(row[usize::from(column[lane])]);
            scores[lane] = score.max(0);
            best[lane] = best[lane].max(score);
        }
    }
    let found = best.iter().enumerate();
    found.fold(0, |lanes, (lane, &best)| {
        lanes | u64::from(best >= least) << lane
    })
}
