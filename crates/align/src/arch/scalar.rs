//! The kernels in portable code: what the others must find.

use super::lanes::{
    COLUMNS, Gaps, LANES, LaneColumns, LaneRows, Lanes, QueryWindow, Rows, ZERO, unbiased,
};

/// Turns rows into columns, eight by eight.
pub(super) fn transpose(rows: &LaneRows, columns: &mut LaneColumns) {
    for lane in (0..LANES).step_by(8) {
        for column in (0..COLUMNS).step_by(8) {
            let word = |number: usize| {
                let bytes = rows[lane + number][column..column + 8].try_into();
                u64::from_le_bytes(bytes.expect("eight bytes"))
            };
            let block = transpose_block(std::array::from_fn(word));
            for (number, word) in block.into_iter().enumerate() {
                columns[column + number][lane..lane + 8].copy_from_slice(&word.to_le_bytes());
            }
        }
    }
}

/// Transposes 8 x 8 bytes, by halves, quarters and eighths.
#[inline(always)]
fn transpose_block(mut words: [u64; 8]) -> [u64; 8] {
    const STEPS: [(usize, u64); 3] = [
        (4, 0x0000_0000_ffff_ffff),
        (2, 0x0000_ffff_0000_ffff),
        (1, 0x00ff_00ff_00ff_00ff),
    ];
    for (step, low) in STEPS {
        for first in (0..8).filter(|first| first & step == 0) {
            let second = first + step;
            let bits = 8 * step;
            let changed = (words[first] >> bits ^ words[second]) & low;
            words[second] ^= changed;
            words[first] ^= changed << bits;
        }
    }
    words
}
pub(super) fn windows_scoring<const N: usize>(
    rows: &Rows,
    queries: [QueryWindow; N],
    columns: &LaneColumns,
) -> [u64; N] {
    queries.map(|(query, least)| {
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
    })
}

/// Row by row of the query: a cell meets its neighbour before on the same diagonal of the band, the
/// one above on the next diagonal, the one beside on the diagonal before.
pub(super) fn band_scores(
    rows: &Rows,
    gaps: Gaps,
    query: &[u8],
    columns: &[Lanes<u8>],
) -> [u8; LANES] {
    const NONE: [i8; LANES] = [ZERO; LANES];
    // One more than the band: nothing comes from beyond.
    let (mut best, mut in_query) = ([NONE; COLUMNS + 1], [NONE; COLUMNS + 1]);
    let mut highest = NONE;
    for (number, &residue) in query.iter().enumerate() {
        let row = &rows[usize::from(residue)];
        let (mut in_subject, mut beside) = (NONE, NONE);
        for place in 0..COLUMNS {
            let column = &columns[number + place];
            for lane in 0..LANES {
                let longer = in_query[place + 1][lane].saturating_sub(gaps.more);
                let above = longer.max(best[place + 1][lane].saturating_sub(gaps.first));
                let longer = in_subject[lane].saturating_sub(gaps.more);
                in_subject[lane] = longer.max(beside[lane].saturating_sub(gaps.first));
                let both = best[place][lane].saturating_add(row[usize::from(column[lane])]);
                let score = both.max(above).max(in_subject[lane]);
                (best[place][lane], in_query[place][lane]) = (score, above);
                beside[lane] = score;
                highest[lane] = highest[lane].max(score);
            }
        }
    }
    highest.map(unbiased)
}

/// Column by column of the subjects: a cell meets its neighbour before on its diagonal, the one
/// above in the same column, the one beside in the column before.
pub(super) fn local_scores(
    rows: &Rows,
    gaps: Gaps,
    query: &[u8],
    columns: &[Lanes<u8>],
) -> [u8; LANES] {
    const NONE: [i8; LANES] = [ZERO; LANES];
    let mut cells = vec![(NONE, NONE); query.len()];
    let mut highest = NONE;
    for column in columns {
        let (mut diagonal, mut above, mut in_query) = (NONE, NONE, NONE);
        for ((best, in_subject), &residue) in cells.iter_mut().zip(query) {
            let row = &rows[usize::from(residue)];
            for lane in 0..LANES {
                let longer = in_subject[lane].saturating_sub(gaps.more);
                in_subject[lane] = longer.max(best[lane].saturating_sub(gaps.first));
                let longer = in_query[lane].saturating_sub(gaps.more);
                in_query[lane] = longer.max(above[lane].saturating_sub(gaps.first));
                let both = diagonal[lane].saturating_add(row[usize::from(column[lane])]);
                diagonal[lane] = best[lane];
                let score = both.max(in_subject[lane]).max(in_query[lane]);
                (best[lane], above[lane]) = (score, score);
                highest[lane] = highest[lane].max(score);
            }
        }
    }
    highest.map(unbiased)
}
