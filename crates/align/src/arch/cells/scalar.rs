//! Rows in portable code, cell by cell: what the others must find.

use super::row::{
    BY_QUERY, BY_SUBJECT, CELLS, Cells, ExtensionRow, NEVER, QUERY_GOES_ON, RowEnd, SUBJECT_GOES_ON,
};
use crate::residue::CODES;

pub(super) fn row<const TRACE: bool>(
    row: &ExtensionRow,
    cells: &mut [Cells],
    reached: &mut Vec<[u8; CELLS]>,
) -> RowEnd {
    let mut end = RowEnd::new(row.best);
    let never = i32::from(NEVER);
    let (mut before, mut in_subject) = (never, never);
    let blocks = cells.iter_mut().enumerate();
    for (number, block) in blocks.skip(row.kept.start / CELLS) {
        if number > row.last_block() && in_subject < end.best - row.x_drop {
            break;
        }
        let mut ways = [0; CELLS];
        let first = number * CELLS;
        for lane in 0..CELLS.min(row.columns - first) {
            let residue = row.subject[first + lane];
            let diagonal = before + row.scores[usize::from(residue) % CODES];
            before = block.best[lane].into();
            let cell = Cell {
                diagonal,
                in_query: block.gap[lane].into(),
                in_subject,
            };
            let score = cell.score();
            block.best[lane] = NEVER;
            if score < end.best - row.x_drop {
                continue;
            }
            if end.kept.is_empty() {
                end.kept.start = first + lane;
            }
            end.kept.end = first + lane + 1;
            if score > end.best {
                (end.best, end.at) = (score, Some(first + lane));
            }
            if TRACE {
                ways[lane] = cell.reached(row);
            }
            let opened = score - row.opens();
            block.best[lane] = score as i16;
            block.gap[lane] = opened.max(cell.in_query - row.costs.extend).max(never) as i16;
            in_subject = opened.max(in_subject - row.costs.extend);
        }
        if TRACE {
            reached.push(ways);
        }
    }
    end
}

/// From where a cell can be reached.
struct Cell {
    diagonal: i32,
    in_query: i32,
    in_subject: i32,
}

impl Cell {
    fn score(&self) -> i32 {
        self.diagonal.max(self.in_query).max(self.in_subject)
    }

    fn reached(&self, row: &ExtensionRow) -> u8 {
        let from = if self.in_subject > self.diagonal.max(self.in_query) {
            BY_SUBJECT
        } else if self.in_query > self.diagonal {
            BY_QUERY
        } else {
            0
        };
        let goes_on = |gap: i32, flag: u8| {
            let longer = gap - row.costs.extend > self.score() - row.opens();
            if longer { flag } else { 0 }
        };
        from | goes_on(self.in_query, QUERY_GOES_ON) | goes_on(self.in_subject, SUBJECT_GOES_ON)
    }
}
