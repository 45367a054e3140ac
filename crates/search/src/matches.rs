//! Where a query and a subject have a seed in common and more around it: segments without gaps.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gyrase_align::arch::{COLUMNS, Kernels, LANES, Rows, Windows};
use gyrase_align::ungapped::{self, Segment};
use gyrase_work::in_parallel;

use crate::Sequences;
use crate::seeds::{Index, KEYS, SHAPES, Shape};

/// Residues of a window before the seed.
const BEFORE: usize = 28;
/// What a window scores at least that is looked at: it loses nothing of what scores enough without
/// it.
const WINDOW: i8 = 36;
/// What an ungapped extension may lose, as BLAST has it: 7 bits.
const X_DROP: i32 = 16;
/// Keys that a thread takes at a time.
const KEYS_AT_ONCE: usize = 16;

/// A segment of a query and a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Match {
    /// Number of the query.
    pub query: u32,
    /// Number of the subject.
    pub subject: u32,
    /// Where, in both.
    pub segment: Segment,
}

/// All segments that score `least` or more, by query, subject and place, each once.
pub fn matches(
    queries: &Sequences,
    subjects: &Sequences,
    rows: &Rows,
    least: i32,
    threads: usize,
) -> Vec<Match> {
    let mut found = Vec::new();
    for shape in SHAPES {
        found.extend(of_shape(queries, subjects, rows, least, threads, shape));
        found.sort_unstable();
        found.dedup();
    }
    found
}

fn of_shape(
    queries: &Sequences,
    subjects: &Sequences,
    rows: &Rows,
    least: i32,
    threads: usize,
    shape: Shape,
) -> Vec<Match> {
    let indexes = [queries, subjects].map(|sequences| Index::new(sequences.text(), shape, threads));
    let next = AtomicUsize::new(0);
    let join = |()| {
        let mut join = Join {
            sequences: [queries, subjects],
            rows,
            least,
            kernels: Kernels::detect(),
            windows: Windows::default(),
            found: Vec::new(),
        };
        loop {
            let from = next.fetch_add(KEYS_AT_ONCE, Relaxed);
            if from >= KEYS {
                join.found.sort_unstable();
                join.found.dedup();
                return Ok::<_, std::convert::Infallible>(join.found);
            }
            for key in from..(from + KEYS_AT_ONCE).min(KEYS) {
                join.key(&indexes, key);
            }
        }
    };
    let Ok(found) = in_parallel(vec![(); threads], join);
    found.concat()
}

/// Compares all queries and subjects that have a seed in common.
struct Join<'s> {
    sequences: [&'s Sequences; 2],
    rows: &'s Rows,
    least: i32,
    kernels: Kernels,
    windows: Windows,
    found: Vec<Match>,
}

impl Join<'_> {
    fn key(&mut self, [queries, subjects]: &[Index; 2], key: usize) {
        let (of_queries, mut of_subjects) = (queries.positions(key), subjects.positions(key));
        if of_queries.len() == 0 {
            return;
        }
        let [queries, subjects] = self.sequences.map(Sequences::text);
        let mut taken = [0; LANES];
        while of_subjects.len() > 0 {
            let count = of_subjects.len().min(LANES);
            let lanes = &mut taken[..count];
            lanes.fill_with(|| of_subjects.next().expect("there are so many"));
            self.windows
                .load(subjects, lanes.iter().map(|position| position - BEFORE));
            for position in of_queries.clone() {
                let from = position - BEFORE;
                let window = queries[from..from + COLUMNS].try_into().expect("a window");
                let mut passed =
                    self.kernels
                        .windows_scoring(self.rows, window, &self.windows, WINDOW);
                while passed != 0 {
                    let lane = passed.trailing_zeros() as usize;
                    passed &= passed - 1;
                    self.extend(position, taken[lane]);
                }
            }
        }
    }

    /// Extends the match of two positions.
    fn extend(&mut self, of_query: usize, of_subject: usize) {
        let [queries, subjects] = self.sequences;
        let around = |sequences: &Sequences, position| {
            let number = sequences.at(position);
            (number, position - sequences.range(number).start)
        };
        let (query, in_query) = around(queries, of_query);
        let (subject, in_subject) = around(subjects, of_subject);
        let segment = ungapped::extend(
            self.rows,
            queries.residues(query),
            subjects.residues(subject),
            (in_query, in_subject),
            X_DROP,
        );
        if segment.score >= self.least {
            self.found.push(Match {
                query: query as u32,
                subject: subject as u32,
                segment,
            });
        }
    }
}
