//! Where a query and a subject have a seed in common and more around it: segments without gaps.

use std::f64::consts::LN_2;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gyrase_align::arch::{COLUMNS, Kernels, LANES, Rows, SubjectWindows};
use gyrase_align::statistics::Karlin;
use gyrase_align::ungapped::{self, UngappedSegment};
use gyrase_work::{Progress, in_parallel, prefetch};

use crate::Sequences;
use crate::engine::Ended;
use crate::hits::Match;
use crate::seeds::{Index, KEYS, SeedIndexes, Shape};

/// Residues of a window before the seed.
const BEFORE: usize = 28;
/// Keys of queries that a thread takes at a time.
const KEYS_AT_ONCE: usize = 16;

/// What is searched for matches, and how.
pub(crate) struct Search<'s> {
    pub queries: &'s Sequences,
    pub subjects: &'s Sequences,
    /// Indexes of the subjects, where they are kept.
    pub indexes: Option<&'s SeedIndexes>,
    pub rows: &'s Rows,
    pub segments: SegmentScores,
    /// What a segment of each query scores at least.
    pub least: &'s [i32],
    /// Matches that there may be.
    pub most: usize,
    pub threads: usize,
    /// Which seeds are looked at.
    pub shapes: &'s [Shape],
}

/// Scores of segments without gaps, in units of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentScores {
    /// What an extension may lose, as BLAST has it: 7 bits.
    pub x_drop: i32,
    /// The least of a segment in a search so small that chance gives few: 12 bits.
    pub shortest: i32,
    /// What a window scores less than the segment around it, at most, to be looked at: most of a
    /// segment is in its best window. 2.8 bits.
    pub margin: i32,
}

impl SegmentScores {
    /// Those of a matrix with such parameters of alignments without gaps.
    pub(crate) fn new(ungapped: &Karlin) -> SegmentScores {
        let units = |bits: f64| bits * LN_2 / ungapped.lambda;
        SegmentScores {
            x_drop: units(7.0).ceil() as i32,
            shortest: ungapped.score(12.0).round() as i32,
            margin: units(2.8).round() as i32,
        }
    }

    /// The same where fewer windows are looked at: they score 2 bits less than segments at most.
    pub(crate) fn of_fewer_windows(self) -> SegmentScores {
        SegmentScores {
            margin: self.margin * 5 / 7,
            ..self
        }
    }

    /// What a segment scores at least, where an alignment scores `cutoff` to be reported and a
    /// segment of `enough` is worth a gapped alignment in any search.
    pub(crate) fn least(&self, cutoff: i32, enough: i32) -> i32 {
        cutoff.clamp(self.shortest, enough)
    }
}

impl Search<'_> {
    /// All matches, by query, subject and place, each once. The progress is in keys.
    pub(crate) fn matches(&self, progress: &Progress) -> Result<Vec<Match>, Ended> {
        Ok(self.matches_and_work(progress)?.0)
    }

    /// The same, and how many residues segments had that were extended.
    fn matches_and_work(&self, progress: &Progress) -> Result<(Vec<Match>, u64), Ended> {
        progress.start("match", (self.shapes.len() * KEYS) as u64);
        let least = self.windows();
        let (mut found, mut work) = (Vec::new(), 0);
        for (number, &shape) in self.shapes.iter().enumerate() {
            for (mut of_thread, extended) in self.of_shape((number, shape), &least, progress)? {
                found.append(&mut of_thread);
                work += extended;
            }
            // Those of each thread and those of the shapes before are sorted: this merges them.
            found.sort();
            found.dedup();
            if found.len() > self.most {
                return Err(Ended::TooMany);
            }
        }
        Ok((found, work))
    }

    fn of_shape(
        &self,
        (number, shape): (usize, Shape),
        least: &[i8],
        progress: &Progress,
    ) -> Result<Vec<(Vec<Match>, u64)>, Ended> {
        let of_queries = Index::new(self.queries.seed_text(), shape, None, self.threads);
        let of_subjects = |other| Index::new(self.subjects.seed_text(), shape, other, self.threads);
        let made;
        let of_subjects = match self.indexes {
            // Other queries want it too.
            Some(kept) => kept[number].get_or_init(|| of_subjects(None)),
            None => {
                made = of_subjects(Some(&of_queries));
                &made
            }
        };
        let indexes = [&of_queries, of_subjects];
        let has_some = |&key: &usize| of_queries.positions(key).len() > 0;
        let keys: Vec<usize> = (0..KEYS).filter(has_some).collect();
        let (next, held) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let kernels = Kernels::detect();
        let join = |()| {
            let mut join = Join {
                search: self,
                least,
                held: &held,
                counted: 0,
                kernels,
                windows: SubjectWindows::new(kernels),
                span: shape.span(),
                known: Known::new(),
                extended: 0,
                found: Vec::new(),
            };
            loop {
                let from = next.fetch_add(KEYS_AT_ONCE, Relaxed);
                if from >= keys.len() {
                    join.merge();
                    return Ok((join.found, join.extended));
                }
                let end = (from + KEYS_AT_ONCE).min(keys.len());
                (from..end).try_for_each(|number| join.key(indexes, &keys[number..]))?;
                progress.go_on().map_err(|_| Ended::Cancelled)?;
                let passed = |number: usize| (number * KEYS / keys.len()) as u64;
                progress.advance(passed(end) - passed(from));
            }
        };
        in_parallel(vec![(); self.threads], join)
    }

    /// What a window around each position of the queries scores at least.
    fn windows(&self) -> Vec<i8> {
        let mut windows = vec![i8::MAX; self.queries.text().len()];
        let margin = self.segments.margin;
        for (number, least) in self.least.iter().enumerate() {
            windows[self.queries.range(number)].fill((least - margin) as i8);
        }
        windows
    }
}

/// Long segments that were found last, one for each of some diagonals: the seeds of a repeat lead
/// to few of them, again and again.
struct Known {
    slots: Vec<KnownSegment>,
}

/// A segment by its diagonal in the texts.
#[derive(Clone, Default)]
struct KnownSegment {
    diagonal: i64,
    in_query: Range<usize>,
    score: i32,
    /// Every extension in it is known to lead to it.
    is_closed: bool,
}

impl Known {
    /// Residues of a segment that is worth to be known.
    const LONG: u32 = 128;
    const SLOTS: usize = 1 << 10;

    fn new() -> Known {
        Known {
            slots: vec![KnownSegment::default(); Known::SLOTS],
        }
    }

    /// The diagonal of two positions in the texts, and its slot.
    fn slot(&mut self, query: usize, subject: usize) -> (i64, &mut KnownSegment) {
        let diagonal = query as i64 - subject as i64;
        let mixed = (diagonal as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (diagonal, &mut self.slots[(mixed >> 54) as usize])
    }

    /// Whether the extension of two positions is known. Few segments are met twice: only then it is
    /// seen whether this one is `closed`.
    fn has(
        &mut self,
        (query, subject): (usize, usize),
        closed: impl FnOnce([Range<usize>; 2], i32) -> bool,
    ) -> bool {
        let (diagonal, known) = self.slot(query, subject);
        if known.diagonal != diagonal || !known.in_query.contains(&query) {
            return false;
        }
        if !known.is_closed {
            let own = known.in_query.clone();
            let before = query - own.start;
            let other = subject - before..subject - before + own.len();
            if !closed([own, other], known.score) {
                *known = KnownSegment::default();
                return false;
            }
            known.is_closed = true;
        }
        true
    }

    /// Notes a segment.
    fn add(&mut self, segment: &UngappedSegment) {
        let (own, other) = (segment.in_query(), segment.in_subject());
        let (diagonal, known) = self.slot(own.start, other.start);
        *known = KnownSegment {
            diagonal,
            in_query: own,
            score: segment.score,
            is_closed: false,
        };
    }
}

/// Compares all queries and subjects that have a seed in common.
struct Join<'s> {
    search: &'s Search<'s>,
    /// What a window around each position of the queries scores at least.
    least: &'s [i8],
    /// Matches of all threads, as last counted.
    held: &'s AtomicUsize,
    /// Of these, of this thread.
    counted: usize,
    kernels: Kernels,
    windows: SubjectWindows,
    /// Residues from the first of a seed to its last.
    span: usize,
    known: Known,
    /// Residues of segments that were extended.
    extended: u64,
    found: Vec<Match>,
}

impl Join<'_> {
    /// Compares those that have the first of some keys of queries.
    fn key(&mut self, indexes: [&Index; 2], keys: &[usize]) -> Result<(), Ended> {
        let [of_queries, mut of_subjects] = indexes.map(|index| index.positions(keys[0]));
        let [_, index] = indexes;
        if let Some(&later) = keys.get(3) {
            index.prefetch_start(later);
        }
        if let Some(&later) = keys.get(2) {
            index.prefetch(later, LANES);
        }
        let Search {
            queries, subjects, ..
        } = self.search;
        let [queries, subjects] = [queries, subjects].map(|sequences| sequences.text());
        let prefetch_window = |text: &[u8], position: usize| {
            let from = position - BEFORE;
            prefetch(text, from);
            prefetch(text, from + COLUMNS - 1);
        };
        for position in of_queries.clone().take(LANES) {
            prefetch_window(queries, position);
            prefetch(self.least, position);
        }
        let mut taken = [0; LANES];
        while of_subjects.len() > 0 {
            let count = of_subjects.len().min(LANES);
            let lanes = &mut taken[..count];
            lanes.fill_with(|| of_subjects.next().expect("there are so many"));
            self.windows
                .load(subjects, lanes.iter().map(|position| position - BEFORE));
            // What is compared next: others of the key, or those of the next one.
            let later = match keys.get(1) {
                Some(&next) if of_subjects.len() == 0 => index.positions(next),
                _ => of_subjects.clone(),
            };
            let later = later.take(LANES);
            later.for_each(|position| prefetch_window(subjects, position));
            let mut left = of_queries.clone();
            while let Some(first) = left.next() {
                match left.next() {
                    Some(second) => self.compare([first, second], &taken),
                    None => self.compare([first], &taken),
                }
            }
            self.stay_within()?;
        }
        Ok(())
    }

    /// Compares the windows around some positions of queries with those of subjects that are
    /// loaded: what scores enough is extended.
    #[inline(always)]
    fn compare<const N: usize>(&mut self, of_queries: [usize; N], of_subjects: &[usize]) {
        let Search { queries, rows, .. } = self.search;
        let windows = of_queries.map(|position| {
            let window = &queries.text()[position - BEFORE..][..COLUMNS];
            (window.try_into().expect("a window"), self.least[position])
        });
        let passed = self.kernels.windows_scoring(rows, windows, &self.windows);
        for (of_query, mut passed) in of_queries.into_iter().zip(passed) {
            while passed != 0 {
                let lane = passed.trailing_zeros() as usize;
                passed &= passed - 1;
                self.extend(of_query, of_subjects[lane]);
            }
        }
    }

    /// Extends the match of two positions. No extension leaves its sequences: a border costs more
    /// than it may lose.
    fn extend(&mut self, of_query: usize, of_subject: usize) {
        let Search {
            queries,
            subjects,
            segments,
            rows,
            ..
        } = self.search;
        let texts = [queries.text(), subjects.text()];
        let (at, x_drop) = ((of_query, of_subject), segments.x_drop);
        let closed = |[own, other]: [Range<usize>; 2], score| {
            ungapped::is_closed(rows, &texts[0][own], &texts[1][other], score, x_drop)
        };
        if self.known.has(at, closed) {
            return;
        }
        let mut segment = ungapped::extend(rows, texts[0], texts[1], at, x_drop);
        self.extended += u64::from(segment.length);
        if segment.score < i32::from(self.least[of_query]) + segments.margin {
            return;
        }
        let (query, subject) = (queries.at(of_query), subjects.at(of_subject));
        let own = [queries.range(query), subjects.range(subject)];
        if !self.passes_by_itself([of_query, of_subject], &own) {
            return;
        }
        if segment.length >= Known::LONG {
            self.known.add(&segment);
        }
        segment.query -= own[0].start as u32;
        segment.subject -= own[1].start as u32;
        self.found.push(Match {
            query: query as u32,
            subject: subject as u32,
            segment,
        });
    }

    /// Whether the seed at two positions is of their sequences alone, and the window around it
    /// scores enough in them: what stands beside them in the text is no part of the answer.
    fn passes_by_itself(&self, [query, subject]: [usize; 2], own: &[Range<usize>; 2]) -> bool {
        let Search {
            queries,
            subjects,
            rows,
            ..
        } = self.search;
        let before = BEFORE.min(query - own[0].start).min(subject - own[1].start);
        let behind = (COLUMNS - BEFORE)
            .min(own[0].end - query)
            .min(own[1].end - subject);
        if before + behind == COLUMNS {
            return true;
        }
        if behind < self.span {
            return false;
        }
        let of_query = &queries.text()[query - before..query + behind];
        let of_subject = &subjects.text()[subject - before..subject + behind];
        let mut score = 0;
        of_query.iter().zip(of_subject).any(|(&one, &other)| {
            score = (score + i32::from(rows[usize::from(one)][usize::from(other)])).max(0);
            score >= i32::from(self.least[query])
        })
    }

    /// Leaves each match once.
    fn merge(&mut self) {
        self.found.sort_unstable();
        self.found.dedup();
    }

    /// Leaves each match once when there are twice as many as before; ends when all threads
    /// together have more than there may be.
    fn stay_within(&mut self) -> Result<(), Ended> {
        let few = self.search.most / (4 * self.search.threads);
        if self.found.len() > (2 * self.counted).max(few) {
            self.merge();
            let before = std::mem::replace(&mut self.counted, self.found.len());
            self.held
                .fetch_add(self.counted.wrapping_sub(before), Relaxed);
        }
        if self.held.load(Relaxed) > self.search.most {
            return Err(Ended::TooMany);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use gyrase_align::matrix::Matrix;
    use gyrase_align::statistics::Costs;
    use gyrase_align::statistics::protein::Protein;

    use super::*;

    #[test]
    fn scores_of_segments_are_as_many_bits_in_every_matrix() {
        for matrix in Matrix::all() {
            let statistics = Protein::new(matrix, Protein::usual(matrix)).expect("it is known");
            let ungapped = statistics.ungapped();
            let scores = SegmentScores::new(ungapped);
            let bits = |score: i32| f64::from(score) * ungapped.lambda / LN_2;
            assert!((7.0..7.6).contains(&bits(scores.x_drop)), "{scores:?}");
            assert!((2.4..3.2).contains(&bits(scores.margin)), "{scores:?}");
            let shortest = ungapped.bits(scores.shortest.into());
            assert!((11.7..12.3).contains(&shortest), "{scores:?}");
        }
        let blosum62 = Protein::new(Matrix::named("BLOSUM62").expect("one"), Costs::new(11, 1));
        let scores = SegmentScores::new(blosum62.expect("known").ungapped());
        assert_eq!([scores.x_drop, scores.shortest, scores.margin], [16, 20, 6]);
    }

    /// Residues that look random, one after the other.
    fn residues(mut state: u64) -> impl FnMut() -> u8 {
        move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            b"ACDEFGHIKLMNPQRSTVWY"[((state >> 33) % 20) as usize]
        }
    }

    /// What stands beside a sequence makes no segment of it.
    #[test]
    fn neighbours_do_not_matter() {
        let mut residue = residues(7);
        let query: Vec<u8> = (0..200).map(|_| residue()).collect();
        // Far relatives of a part of the query; behind each begins what is next in the query.
        let mut all: Vec<Vec<u8>> = Vec::new();
        for number in 0..200 {
            let (from, to) = (number % 60, number % 60 + 80);
            let far = |(place, &own): (usize, &u8)| match (place * 7 + number) % 10 {
                0..3 => own,
                _ => residue(),
            };
            all.push(query[from..to].iter().enumerate().map(far).collect());
            all.push(query[to + 1..to + 40].to_vec());
        }
        let matrix = Matrix::named("BLOSUM62").expect("one");
        let statistics = Protein::new(matrix, Protein::usual(matrix)).expect("it is known");
        let sequences = |some: &[Vec<u8>]| {
            let mut sequences = Sequences::default();
            some.iter()
                .for_each(|one| sequences.push(b"", one).expect("residues"));
            sequences
        };
        let queries = sequences(&[query]);
        let of = |subjects: &Sequences| {
            let search = Search {
                queries: &queries,
                subjects,
                indexes: None,
                rows: matrix.rows(),
                segments: SegmentScores::new(statistics.ungapped()),
                least: &[46],
                most: usize::MAX,
                threads: 1,
                shapes: &crate::seeds::SHAPES,
            };
            search.matches(&Progress::default()).ok().expect("few")
        };
        let together = of(&sequences(&all));
        let mut alone = Vec::new();
        for (number, one) in all.iter().enumerate() {
            alone.extend(
                of(&sequences(std::slice::from_ref(one)))
                    .into_iter()
                    .map(|found| Match {
                        subject: number as u32,
                        ..found
                    }),
            );
        }
        alone.sort();
        assert!(together.len() > 300, "{}", together.len());
        assert_eq!(together, alone);
    }

    /// In repeats a diagonal has as many seeds as residues, and segments as long.
    #[test]
    fn work_in_repeats_grows_no_faster_than_what_is_compared() {
        let mut residue = residues(11);
        let unit: Vec<u8> = (0..100).map(|_| residue()).collect();
        let matrix = Matrix::named("BLOSUM62").expect("one");
        let statistics = Protein::new(matrix, Protein::usual(matrix)).expect("it is known");
        let mut work = |units: usize| {
            let kept = |&own: &u8| if residue() > b'C' { own } else { residue() };
            let repeat: Vec<u8> = unit.iter().cycle().take(100 * units).map(kept).collect();
            let mut sequences = Sequences::default();
            sequences.push(b"", &repeat).expect("residues");
            let search = Search {
                queries: &sequences,
                subjects: &sequences,
                indexes: None,
                rows: matrix.rows(),
                segments: SegmentScores::new(statistics.ungapped()),
                least: &[46],
                most: usize::MAX,
                threads: 1,
                shapes: &crate::seeds::SHAPES,
            };
            let done = search.matches_and_work(&Progress::default());
            done.ok().expect("few matches").1
        };
        let (few, many) = (work(20), work(80));
        assert!(many < 20 * few, "{few} {many}");
    }
}
