//! Where words of queries are in subjects, and what of it grows to a segment that is worth a
//! gapped alignment.
//!
//! A stretch of the database has its words sorted by parts of the keys, so that what is looked up
//! is in a cache. Of a run of equal bases only the first word counts, and only where the bases
//! around it are similar enough; of the runs that one extension goes through only the first.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gyrase_align::arch::{BaseCosts, BaseLanes, COLUMNS, Kernels, LANES};
use gyrase_align::nucleotide::BASES;
use gyrase_align::packed::{Packed, WINDOW, compressed, mismatches};
use gyrase_align::residue::BORDER;
use gyrase_align::ungapped::UngappedSegment;
use gyrase_work::{Progress, in_parallel};

use super::scoring::NucleotideScoring;
use super::words::{BEFORE, FIRST_OF_SUBJECT, MASKED, Words, is_border};
use crate::engine::Ended;
use crate::{Match, Sequences};

/// Bases of a stretch of the database.
pub(super) const STRETCH: usize = 1 << 22;
/// Says that no base stands before a word of a subject.
const FIRST: u32 = 1 << 31;
/// Bases behind a word that a filter looks at.
const AFTER: usize = 11;
/// Bases around a word that may differ.
const MOST_DIFFERENCES: u32 = 13;
/// What the best alignment through the bases around a word scores at least, below the segment that
/// is wanted.
const MARGIN: i32 = 2;

/// What is searched for matches, and how.
pub(super) struct Search<'s> {
    pub queries: &'s Sequences,
    pub subjects: &'s Sequences,
    pub scoring: &'s NucleotideScoring,
    pub words: &'s Words,
    /// What a segment of each frame scores at least.
    pub least: &'s [i32],
    /// What an alignment of each frame scores at least.
    pub cutoffs: &'s [i32],
    /// Matches that there may be.
    pub most: usize,
    pub threads: usize,
}

impl Search<'_> {
    /// All matches, by query, subject and place, each once.
    pub(super) fn matches(&self, progress: &Progress) -> Result<Vec<Match>, Ended> {
        let text = COLUMNS..self.subjects.text().len() - COLUMNS;
        progress.start("match", text.len() as u64);
        let (next, held) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let filter = Filter::new(self);
        let join = |()| {
            let mut join = Join::new(self, &filter);
            loop {
                let from = text.start + next.fetch_add(1, Relaxed) * STRETCH;
                if from >= text.end {
                    return Ok(join.found);
                }
                let stretch = from..(from + STRETCH).min(text.end);
                let before = join.found.len();
                join.stretch(stretch.clone());
                join.go_on();
                let added = join.found.len() - before;
                if held.fetch_add(added, Relaxed) + added > self.most {
                    return Err(Ended::TooMany);
                }
                progress.go_on().map_err(|_| Ended::Cancelled)?;
                progress.advance(stretch.len() as u64);
            }
        };
        let mut found = in_parallel(vec![(); self.threads], join)?.concat();
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }
}

/// Which words are looked at more closely, by the bases around them.
struct Filter {
    word: usize,
    bases: usize,
    /// What the word itself scores.
    score: i32,
    least: i32,
    /// What the best of the bases before the word, or behind it, scores, by which of them differ.
    before: Vec<i8>,
    after: Vec<i8>,
}

impl Filter {
    fn new(search: &Search) -> Filter {
        let setting = &search.scoring.setting;
        let best = |bases: usize, place: fn(usize, usize) -> usize| -> Vec<i8> {
            let of = |differing: usize| {
                let score = |&number: &usize| match differing >> place(number, bases) & 1 {
                    0 => setting.reward,
                    _ => setting.penalty,
                };
                let mut sum = 0;
                let sums = (0..bases).map(|number| {
                    sum += score(&number);
                    sum
                });
                sums.max().unwrap_or_default().clamp(0, 127) as i8
            };
            (0..1 << bases).map(of).collect()
        };
        let bases = search.words.bases;
        Filter {
            word: setting.word,
            bases,
            score: bases as i32 * setting.reward,
            least: search.least.iter().min().copied().unwrap_or_default() - MARGIN,
            before: best(BEFORE, |number, bases| bases - 1 - number),
            after: best(AFTER, |number, _| number),
        }
    }

    /// Whether a word is the first of its run and may be in a good segment; of a long word, whether
    /// the bases around its part may be in it. From the bases of windows that differ.
    #[inline(always)]
    fn passes(&self, differing: u64) -> bool {
        if self.word > self.bases {
            return self.may_be_long(compressed(differing));
        }
        const FIRST: u64 = 5 << (2 * (BEFORE - 1));
        if differing & FIRST == 0 {
            return false;
        }
        let around = differing & !(1 << (2 * BEFORE));
        let around = around << (2 * (WINDOW - BEFORE - self.bases - AFTER));
        if around.count_ones() <= MOST_DIFFERENCES {
            return true;
        }
        self.scores_enough(compressed(differing))
    }

    fn scores_enough(&self, differing: u32) -> bool {
        let before = differing as usize & ((1 << BEFORE) - 1);
        let after = (differing >> (BEFORE + self.bases)) as usize & ((1 << AFTER) - 1);
        self.score + i32::from(self.before[before]) + i32::from(self.after[after]) >= self.least
    }

    fn may_be_long(&self, differing: u32) -> bool {
        let before = (differing << (WINDOW - BEFORE)).leading_zeros() as usize;
        let after = (differing >> (BEFORE + self.bases)).trailing_zeros() as usize;
        let most = WINDOW - BEFORE - self.bases;
        before >= BEFORE || after >= most || before + self.bases + after >= self.word
    }
}

/// Finds the matches of one stretch after the other.
struct Join<'s> {
    search: &'s Search<'s>,
    filter: &'s Filter,
    drop: i32,
    packed: Packed,
    /// Words of the stretch by parts of the keys, and where each part begins.
    sorted: Vec<u32>,
    starts: Vec<usize>,
    /// Numbers of words of queries, and where they are in the stretch.
    passed: Vec<(u32, u32)>,
    kernels: Kernels,
    lanes: BaseLanes,
    costs: BaseCosts,
    /// Segments that need more to be reported, with where they are in both texts.
    waiting: Vec<(Match, [usize; 2])>,
    found: Vec<Match>,
}

/// What a score may fall below the best within the reach of the filter to rise again behind it.
const ALIVE: i8 = 12;

impl<'s> Join<'s> {
    fn new(search: &'s Search<'s>, filter: &'s Filter) -> Join<'s> {
        Join {
            search,
            filter,
            drop: search.scoring.ungapped_drop(),
            packed: Packed::default(),
            sorted: Vec::new(),
            starts: Vec::new(),
            passed: Vec::new(),
            kernels: Kernels::detect(),
            lanes: BaseLanes::default(),
            costs: costs(search.scoring),
            waiting: Vec::with_capacity(LANES),
            found: Vec::new(),
        }
    }

    fn stretch(&mut self, range: Range<usize>) {
        let base = range.start - WINDOW;
        self.packed
            .load(&self.search.subjects.text()[base..range.end + WINDOW]);
        self.sort(base, range.start - base..range.end - base);
        for part in 0..self.search.words.parts() {
            self.part(part);
            let passed = std::mem::take(&mut self.passed);
            for &(word, at) in &passed {
                self.look_at(word as usize, base + at as usize);
            }
            self.passed = passed;
        }
    }

    /// Sorts the words of a range that queries have by parts of the keys.
    fn sort(&mut self, base: usize, range: Range<usize>) {
        let words = self.search.words;
        let mut starts = vec![0; words.parts() + 1];
        each_word(words, &self.packed, base, &range, |_, key, _| {
            starts[(key >> words.part_bits) + 1] += usize::from(words.has(key));
        });
        for part in 1..starts.len() {
            starts[part] += starts[part - 1];
        }
        let mut next = starts.clone();
        self.sorted.resize(next[words.parts()], 0);
        let sorted = &mut self.sorted;
        each_word(words, &self.packed, base, &range, |at, key, first| {
            if words.has(key) {
                let place = &mut next[key >> words.part_bits];
                sorted[*place] = at as u32 | if first { FIRST } else { 0 };
                *place += 1;
            }
        });
        self.starts = starts;
    }

    /// Compares the bases around the words of a part with those of the queries.
    fn part(&mut self, part: usize) {
        let (words, filter) = (self.search.words, self.filter);
        self.passed.clear();
        for &entry in &self.sorted[self.starts[part]..self.starts[part + 1]] {
            let at = entry & !FIRST;
            let window = self.packed.window(at as usize - BEFORE);
            let of_key = words.of(words.key(window));
            let window = window ^ (u64::from(entry / FIRST) * FIRST_OF_SUBJECT);
            for (number, &other) in words.windows[of_key.clone()].iter().enumerate() {
                if filter.passes(mismatches(window ^ other)) {
                    self.passed.push(((of_key.start + number) as u32, at));
                }
            }
        }
    }

    /// Adds the segment of a word of a query at a position of the subjects, if it is good enough
    /// and no word before it has the same.
    fn look_at(&mut self, word: usize, of_subject: usize) {
        let words = self.search.words;
        let of_query = words.positions[word] as usize;
        let Some(length) = self.run(of_query, of_subject) else {
            return;
        };
        let (query, subject) = (of_query, of_subject);
        let Some((before, left)) = self.left(query, subject) else {
            return;
        };
        let (after, right) = self.right(query + length, subject + length);
        let score = left + length as i32 * self.search.scoring.setting.reward + right;
        let frame = self.search.queries.at(query);
        if score < self.search.least[frame] {
            return;
        }
        let number = self.search.subjects.at(subject);
        let place = |sequences: &Sequences, number, at: usize| {
            (at - before - sequences.range(number).start) as u32
        };
        let found = Match {
            query: frame as u32,
            subject: number as u32,
            segment: UngappedSegment {
                query: place(self.search.queries, frame, query),
                subject: place(self.search.subjects, number, subject),
                length: (before + length + after) as u32,
                score,
            },
        };
        if score >= self.search.cutoffs[frame] || self.search.scoring.setting.is_greedy() {
            self.found.push(found);
            return;
        }
        self.waiting
            .push((found, [query - before, subject - before]));
        if self.waiting.len() == LANES {
            self.go_on();
        }
    }

    /// Adds those waiting segments that gain enough on both sides with gaps.
    fn go_on(&mut self) {
        let (queries, subjects) = (self.search.queries.text(), self.search.subjects.text());
        let before = self.waiting.iter().map(|(_, [query, subject])| {
            (
                queries[..*query].iter().rev(),
                subjects[..*subject].iter().rev(),
            )
        });
        self.lanes.load(before);
        let left = self.kernels.gains(self.costs, &self.lanes);
        let behind = self.waiting.iter().map(|(found, [query, subject])| {
            let length = found.segment.length as usize;
            (
                queries[query + length..].iter(),
                subjects[subject + length..].iter(),
            )
        });
        self.lanes.load(behind);
        let right = self.kernels.gains(self.costs, &self.lanes);
        for (lane, (found, _)) in self.waiting.drain(..).enumerate() {
            let sides = [&left, &right].map(|[best, last]| (best[lane], last[lane]));
            let alive = sides
                .iter()
                .any(|(best, last)| best.saturating_sub(*last) <= ALIVE);
            let gained: i32 = sides.iter().map(|(best, _)| i32::from(*best)).sum();
            let wanted = self.search.cutoffs[found.query as usize];
            if alive || found.segment.score + gained >= wanted {
                self.found.push(found);
            }
        }
    }

    /// Bases from a word on that are equal without doubt; none where the run of equal bases around
    /// it is too short for a long word, or an earlier part of that was looked up.
    fn run(&self, query: usize, subject: usize) -> Option<usize> {
        let (words, word) = (self.search.words, self.filter.word);
        if word == words.bases {
            return Some(word);
        }
        let same = |by: usize, behind: bool| match behind {
            true => self.equal(query + words.bases + by, subject + words.bases + by),
            false => self.equal(query - 1 - by, subject - 1 - by),
        };
        let before = (0..words.step).take_while(|&by| same(by, false)).count();
        if before >= words.step {
            return None;
        }
        let more = words.step - 1 - before;
        let after = (0..more).take_while(|&by| same(by, true)).count();
        (after == more).then_some(words.bases + after)
    }

    /// Whether two positions have the same base, which is not masked.
    #[inline(always)]
    fn equal(&self, query: usize, subject: usize) -> bool {
        let (one, other) = (
            self.search.words.text[query],
            self.search.subjects.text()[subject],
        );
        one == other && usize::from(one) < BASES
    }

    /// Bases before two positions that belong to the segment, and what they score; none where there
    /// is a word before them from which the same segment is found.
    fn left(&self, query: usize, subject: usize) -> Option<(usize, i32)> {
        let (queries, subjects) = (
            &self.search.words.text[..query],
            &self.search.subjects.text()[..subject],
        );
        let reward = self.search.scoring.setting.reward;
        let (mut length, mut best, mut sum, mut run) = (0, 0, 0, 0);
        for (number, (&one, &other)) in
            std::iter::zip(queries.iter().rev(), subjects.iter().rev()).enumerate()
        {
            if is_border(one) || is_border(other) {
                break;
            }
            let plain = one & !MASKED;
            if plain == other && usize::from(plain) < BASES {
                sum += reward;
                if sum > best {
                    (length, best) = (number + 1, sum);
                }
                run = if plain == one { run + 1 } else { 0 };
                let (query, subject) = (query - number - 1, subject - number - 1);
                if run >= self.filter.word && self.is_found_from(query, subject) {
                    return None;
                }
                continue;
            }
            run = 0;
            sum += self.score(plain, other);
            if best - sum > self.drop {
                break;
            }
        }
        Some((length, best))
    }

    /// The same for two positions and what is behind.
    fn right(&self, query: usize, subject: usize) -> (usize, i32) {
        let (queries, subjects) = (
            &self.search.words.text[query..],
            &self.search.subjects.text()[subject..],
        );
        let reward = self.search.scoring.setting.reward;
        let (mut length, mut best, mut sum) = (0, 0, 0);
        for (number, (&one, &other)) in std::iter::zip(queries, subjects).enumerate() {
            if is_border(one) || is_border(other) {
                break;
            }
            let plain = one & !MASKED;
            if plain == other && usize::from(plain) < BASES {
                sum += reward;
                if sum > best {
                    (length, best) = (number + 1, sum);
                }
                continue;
            }
            sum += self.score(plain, other);
            if best - sum > self.drop {
                break;
            }
        }
        (length, best)
    }

    fn score(&self, query: u8, subject: u8) -> i32 {
        self.search.scoring.scores()[usize::from(query)][usize::from(subject)]
    }

    /// Whether the first word of the run that two positions are in is looked at.
    fn is_found_from(&self, mut query: usize, mut subject: usize) -> bool {
        while self.equal(query - 1, subject - 1) {
            query -= 1;
            subject -= 1;
        }
        let Filter { word, bases, .. } = *self.filter;
        if word > bases {
            return true;
        }
        let differs = |place: usize| {
            let (one, other) = (
                self.search.words.text[query + place - BEFORE],
                self.search.subjects.text()[subject + place - BEFORE],
            );
            u64::from((one ^ other) & 3 != 0) << (2 * place)
        };
        let differing: u64 = (0..WINDOW).map(differs).sum();
        self.filter.passes(differing | 1 << (2 * BEFORE))
    }
}

fn costs(scoring: &NucleotideScoring) -> BaseCosts {
    let setting = &scoring.setting;
    let byte = |score: i32| score.clamp(-127, 127) as i8;
    BaseCosts {
        reward: byte(setting.reward),
        penalty: byte(setting.penalty),
        first: byte(setting.costs.open + setting.costs.extend),
        more: byte(setting.costs.extend),
    }
}

/// Gives each word of a range of packed bases, with its key, and whether a base stands before it.
#[inline(always)]
fn each_word(
    words: &Words,
    packed: &Packed,
    base: usize,
    range: &Range<usize>,
    mut each: impl FnMut(usize, usize, bool),
) {
    for stretch in packed.stretches() {
        let end = (stretch.end + 1).saturating_sub(words.bases).min(range.end);
        let first = stretch.start.max(range.start);
        let from = (base + first).next_multiple_of(words.step) - base;
        for at in (from..end).step_by(words.step) {
            let key = words.key(packed.window(at - BEFORE));
            each(at, key, at == stretch.start);
        }
    }
}

const _: () = assert!(BORDER as usize >= BASES && MASKED > BORDER);
