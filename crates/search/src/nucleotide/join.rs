//! Where words of queries are in subjects.
//!
//! Words of a stretch of the database are divided by parts of the keys, so that what is looked up
//! is in a cache. Of a run of equal bases only the first word counts, and only where the bases
//! around it are similar enough.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gyrase_align::arch::{BEFORE, COLUMNS, Kernels, LANES, SIDE_LANES};
use gyrase_align::packed::{WINDOW, differing};
use gyrase_work::{Progress, in_parallel, prefetch};

use super::coarse::{Coarse, PLACES, WINDOWS};
use super::filter::Filter;
use super::pairs::Pairs;
use super::search::{Search, Stretch};
use super::segments::Segments;
use super::word_index::{FIRST, WordIndex};
use super::words::{FIRST_OF_SUBJECT, Words};
use crate::Match;
use crate::engine::Ended;

/// Bases of a stretch of the database.
const STRETCH: usize = 1 << 22;
/// Words of a part that are kept before they are compared, as a power of two. Queries have few of
/// the parts of long words.
const KEPT_BITS: u32 = 13;
const KEPT_BITS_OF_LONG: u32 = 10;
/// Words that are compared at once.
const AT_ONCE: usize = 256;
/// Keys that are looked up in an index at a time, and how many before their words are read.
const KEYS_AT_ONCE: usize = 1 << 10;
const KEYS_AHEAD: usize = 4;
/// Keys whose words are about to be counted.
const COUNTS_AHEAD: usize = 16;
/// Pairs of words around which bases are asked for before they are read.
const AHEAD: usize = 32;
/// Bases that are gone through in the time in which a word is looked at by its place.
const BASES_OF_WORD: usize = 4;

impl Search<'_> {
    /// All matches, by query, subject and place, each once.
    pub(super) fn matches(&self, progress: &Progress) -> Result<Vec<Match>, Ended> {
        let text = COLUMNS..self.subjects.packed().len() - COLUMNS;
        let mut found = if let Some(index) = self.index
            && let Some(keys) = self.few(index, text.len())
        {
            let at_once = keys.len().div_ceil(4 * self.threads).clamp(1, KEYS_AT_ONCE);
            self.join(0..keys.len(), at_once, progress, |join, range| {
                join.keys(index, &keys[range]);
            })?
        } else {
            let stretch = text.len().div_ceil(2 * self.threads).clamp(1, STRETCH);
            self.join(text, stretch, progress, |join, range| join.stretch(range))?
        };
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// The keys of the queries, if subjects of so many bases have so few words of them that these
    /// are looked at sooner than all words of the subjects.
    fn few(&self, index: &WordIndex, bases: usize) -> Option<Vec<u32>> {
        let mut left = bases / BASES_OF_WORD;
        let mut later = self.words.keys().skip(COUNTS_AHEAD);
        let mut keys = Vec::new();
        for key in self.words.keys() {
            if let Some(later) = later.next() {
                index.prefetch_start(later);
            }
            let words = index.count(key);
            left = left.checked_sub(words)?;
            if words > 0 {
                keys.push(key as u32);
            }
        }
        Some(keys)
    }

    /// What threads find in a range, so much of it at a time.
    fn join(
        &self,
        range: Range<usize>,
        at_once: usize,
        progress: &Progress,
        look_at: impl Fn(&mut Join, Range<usize>) + Sync,
    ) -> Result<Vec<Match>, Ended> {
        progress.start("match", range.len() as u64);
        let (next, held) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let least = self.least.iter().min().copied().unwrap_or_default();
        let filter = Filter::new(&self.scoring.setting, self.words.seed, least);
        let join = |()| {
            let mut join = Join::new(self, &filter);
            loop {
                let from = range.start + next.fetch_add(1, Relaxed) * at_once;
                if from >= range.end {
                    return Ok(join.finish());
                }
                let own = from..(from + at_once).min(range.end);
                let before = join.segments.found.len();
                look_at(&mut join, own.clone());
                let added = join.segments.found.len() - before;
                if held.fetch_add(added, Relaxed) + added > self.most {
                    return Err(Ended::TooMany);
                }
                progress.go_on().map_err(|_| Ended::Cancelled)?;
                progress.advance(own.len() as u64);
            }
        };
        Ok(in_parallel(vec![(); self.threads], join)?.concat())
    }

    /// Bytes that a thread takes beside its matches, where words have so many parts, and every so
    /// many are looked up.
    pub(super) fn thread_bytes(parts: usize, step: usize) -> u64 {
        ((parts << kept_bits(step)) * size_of::<(u64, u32)>()) as u64
    }
}

/// Finds the matches of one stretch after the other.
struct Join<'s> {
    search: &'s Search<'s>,
    kernels: Kernels,
    /// Where the stretch of kept words begins: at the first base of a window.
    base: usize,
    parts: Parts,
    pairs: Pairs,
    passed: Passed<'s>,
    segments: Segments<'s>,
}

impl<'s> Join<'s> {
    fn new(search: &'s Search<'s>, filter: &'s Filter) -> Join<'s> {
        Join {
            search,
            kernels: Kernels::detect(),
            base: 0,
            parts: Parts::new(search.words),
            pairs: Pairs::new(search.index.map_or(0, |_| search.subjects.packed().len())),
            passed: Passed {
                words: search.words,
                filter,
                pairs: Vec::new(),
            },
            segments: Segments::new(search, filter),
        }
    }

    /// Keeps the words of a range, which is behind those before.
    fn stretch(&mut self, range: Range<usize>) {
        let packed = self.search.subjects.packed();
        if range.end - self.base >= FIRST as usize {
            self.compare_all();
            // What is before the first word is looked at too.
            self.base = (range.start - COLUMNS) / WINDOW * WINDOW;
        }
        let base = self.base;
        let stretch = Stretch { packed, base };
        let own = range.start - base..range.end - base;
        for stretch_of_bases in self.search.subjects.seed_stretches(range) {
            let end = (stretch_of_bases.end + 1).saturating_sub(self.search.words.seed.span);
            let end = end.saturating_sub(base).min(own.end);
            match stretch_of_bases.start.checked_sub(base) {
                Some(first) if own.contains(&first) && first < end => {
                    self.look_up(stretch, first..first + 1, FIRST);
                    self.look_up(stretch, first + 1..end, 0);
                }
                first => self.look_up(stretch, first.unwrap_or(0).max(own.start)..end, 0),
            }
        }
    }

    /// Compares the bases around the words of subjects that have these keys.
    fn keys(&mut self, index: &WordIndex, keys: &[u32]) {
        self.kernels.run(
            #[inline(always)]
            || self.compare_keys(index, keys),
        );
    }

    #[inline(always)]
    fn compare_keys(&mut self, index: &WordIndex, keys: &[u32]) {
        let words = self.search.words;
        for (number, &key) in keys.iter().enumerate() {
            if let Some(&later) = keys.get(number + 2 * KEYS_AHEAD) {
                index.prefetch_start(later as usize);
            }
            if let Some(&later) = keys.get(number + KEYS_AHEAD) {
                index.prefetch(later as usize);
            }
            for number in words.of(words.place(key as usize)) {
                let goes_on = index.goes_on(words.window(number), key as usize);
                for entry in index.of(key as usize) {
                    let (pair, at) = ((number as u32, entry), index.position(entry) as usize);
                    if let Some(part) = self.pairs.keep(pair, at, !goes_on(entry)) {
                        self.compare_pairs(index, part);
                    }
                }
            }
        }
    }

    /// Compares the bases around the pairs of words of a part of the subjects.
    #[inline(always)]
    fn compare_pairs(&mut self, index: &WordIndex, part: usize) {
        let (words, packed) = (self.search.words, self.search.subjects.packed());
        let stretch = Stretch { packed, base: 0 };
        let pairs = self.pairs.take(part);
        self.passed.pairs.clear();
        for (place, &(number, entry)) in pairs.iter().enumerate() {
            if let Some(&(later, entry)) = pairs.get(place + AHEAD) {
                packed.prefetch_window(index.position(entry) as usize - BEFORE);
                prefetch(&words.windows, later as usize);
            }
            let (at, number) = (index.position(entry), number as usize);
            let window = noted(packed.window(at as usize - BEFORE), entry);
            self.passed.add(window, at, number..number + 1);
            if self.passed.pairs.len() == AT_ONCE {
                self.segments.look_at(stretch, &self.passed.pairs);
                self.passed.pairs.clear();
            }
        }
        self.segments.look_at(stretch, &self.passed.pairs);
    }

    /// The matches that were found.
    fn finish(mut self) -> Vec<Match> {
        self.compare_all();
        self.compare_all_pairs();
        self.segments.go_on();
        self.segments.found
    }

    fn compare_all_pairs(&mut self) {
        let Some(index) = self.search.index else {
            return;
        };
        self.kernels.run(
            #[inline(always)]
            || (0..self.pairs.parts()).for_each(|part| self.compare_pairs(index, part)),
        );
    }

    fn compare_all(&mut self) {
        let packed = self.search.subjects.packed();
        let base = self.base;
        for part in 0..self.parts.filled.len() {
            self.compare(Stretch { packed, base }, part);
        }
    }

    /// Keeps the words of a range that queries have, with a flag.
    fn look_up(&mut self, stretch: Stretch, range: Range<usize>, flag: u32) {
        let words = self.search.words;
        if range.is_empty() {
            return;
        }
        self.kernels.run(
            #[inline(always)]
            || match &words.coarse {
                None if words.step > 1 => self.look_up_some(stretch, range),
                Some(coarse) if coarse.step == 4 => {
                    self.look_up_parts::<4>(stretch, coarse, range, flag);
                }
                Some(coarse) => self.look_up_parts::<2>(stretch, coarse, range, flag),
                None => self.look_up_all(stretch, range, flag),
            },
        );
    }

    /// The same of parts of words, at some places.
    #[inline(always)]
    fn look_up_some(&mut self, stretch: Stretch, range: Range<usize>) {
        let words = self.search.words;
        let first = (stretch.base + range.start).next_multiple_of(words.step) - stretch.base;
        for from in (first..range.end).step_by(AT_ONCE * words.step) {
            let places = (from..range.end).step_by(words.step).take(AT_ONCE);
            let mut keys = [(0, 0); AT_ONCE];
            let mut looked = 0;
            for (key, at) in keys.iter_mut().zip(places) {
                *key = (words.key(stretch.window(at - BEFORE)), at as u32);
                prefetch(&words.present, key.0 / 64);
                looked += 1;
            }
            // Whether there is a word cannot be foreseen: there is no branch.
            let mut found = [0_u32; AT_ONCE];
            let mut count = 0;
            for &(key, at) in &keys[..looked] {
                found[count % AT_ONCE] = at;
                count += usize::from(words.has(key));
            }
            for &at in &found[..count] {
                self.keep(stretch, at as usize, 0);
            }
        }
    }

    /// The same, where all places are looked at.
    #[inline(always)]
    fn look_up_all(&mut self, stretch: Stretch, range: Range<usize>, flag: u32) {
        let mut from = range.start;
        while from < range.end {
            let rest = from..range.end;
            let full;
            (from, full) = self.parts.fill(self.search.words, stretch, rest, flag);
            if let Some(part) = full {
                self.compare(stretch, part);
            }
        }
    }

    /// The same, where few words are queries': first at a part of the places.
    #[inline(always)]
    fn look_up_parts<const STEP: usize>(
        &mut self,
        stretch: Stretch,
        coarse: &Coarse,
        range: Range<usize>,
        flag: u32,
    ) {
        let last = range.end - 1 + STEP - 1;
        let windows = range.start.saturating_sub(STEP) / WINDOW..last / WINDOW + 1;
        let mut found = [0; PLACES];
        for from in windows.clone().step_by(WINDOWS) {
            let some = from..(from + WINDOWS).min(windows.end);
            let count = coarse.find::<STEP>(stretch, some, &mut found);
            self.look_around::<STEP>(stretch, (coarse, &found[..count]), &range, flag);
        }
    }

    /// Looks up the words of a range that begin at one of so many places up to each of these.
    #[inline(always)]
    fn look_around<const STEP: usize>(
        &mut self,
        stretch: Stretch,
        (coarse, places): (&Coarse, &[u32]),
        range: &Range<usize>,
        flag: u32,
    ) {
        let words = self.search.words;
        for &place in places {
            let first = place as usize + 1 - STEP;
            let window = stretch.window(first);
            let mut found = 0_u32;
            for by in 0..STEP {
                let key = words.key_of(window >> by, window >> (WINDOW + by));
                found |= u32::from(coarse.may_have(key)) << by;
            }
            while found != 0 {
                let at = first + found.trailing_zeros() as usize;
                found &= found - 1;
                if range.contains(&at) {
                    self.keep(stretch, at, flag);
                }
            }
        }
    }

    /// Keeps the word at a place for its part, if queries have it.
    fn keep(&mut self, stretch: Stretch, at: usize, flag: u32) {
        let words = self.search.words;
        let window = stretch.window(at - BEFORE);
        let key = words.key(window);
        if words.has(key) {
            let part = key >> words.part_bits;
            if self.parts.keep(part, window, at as u32 | flag) {
                self.compare(stretch, part);
            }
        }
    }

    /// Compares the bases around the words of a part with those of the queries.
    fn compare(&mut self, stretch: Stretch, part: usize) {
        self.kernels.run(
            #[inline(always)]
            || self.compare_part(stretch, part),
        );
    }

    #[inline(always)]
    fn compare_part(&mut self, stretch: Stretch, part: usize) {
        let words = self.search.words;
        let filled = std::mem::take(&mut self.parts.filled[part]) as usize;
        let first = self.parts.first(part);
        let kept = first..first + filled;
        let windows = self.parts.windows[kept.clone()].chunks(AT_ONCE);
        let (mut of_keys, mut numbers) = ([0; AT_ONCE], [const { 0..0 }; AT_ONCE]);
        self.passed.pairs.clear();
        for (windows, places) in windows.zip(self.parts.places[kept].chunks(AT_ONCE)) {
            // One step after the other for all: the next one finds in a cache what it asks for.
            for (of_key, &window) in of_keys.iter_mut().zip(windows) {
                *of_key = words.place(words.key(window));
            }
            for (numbers, &of_key) in numbers.iter_mut().zip(&of_keys[..windows.len()]) {
                *numbers = words.of(of_key);
            }
            let numbered = windows.iter().zip(places).zip(&numbers);
            let numbered = numbered.map(|((&window, &entry), numbers)| {
                (noted(window, entry), start(entry), numbers.clone())
            });
            match words.windows.is_empty() {
                true => {
                    let all = numbers[..windows.len()].iter().cloned();
                    all.for_each(|numbers| words.prefetch_bases(numbers));
                    numbered.for_each(|(window, at, numbers)| {
                        self.passed.add(window, at, numbers);
                    });
                }
                false => numbered.for_each(|(window, at, numbers)| {
                    self.passed.add_side_by_side(window, at, numbers);
                }),
            }
            // As many as fill all lanes.
            let whole = self.passed.pairs.len() / LANES * LANES;
            self.segments.look_at(stretch, &self.passed.pairs[..whole]);
            self.passed.pairs.drain(..whole);
        }
        self.segments.look_at(stretch, &self.passed.pairs);
    }
}

/// Words of queries that pass the filter, beside one of the subjects.
struct Passed<'s> {
    words: &'s Words,
    filter: &'s Filter,
    /// Their numbers, and where the other is in the stretch.
    pairs: Vec<(u32, u32)>,
}

impl Passed<'_> {
    /// Keeps those of some words of queries that pass beside a window. Whether one does cannot be
    /// foreseen: there is no branch.
    #[inline(always)]
    fn add(&mut self, window: u64, at: u32, numbers: Range<usize>) {
        for number in numbers {
            let other = self.words.window(number);
            let passes = self.filter.passes(differing(window ^ other));
            let kept = self.pairs.len() + usize::from(passes);
            self.pairs.push((number as u32, at));
            self.pairs.truncate(kept);
        }
    }

    /// The same of words of which few pass.
    #[inline(always)]
    fn add_side_by_side(&mut self, window: u64, at: u32, numbers: Range<usize>) {
        for first in numbers.clone().step_by(SIDE_LANES) {
            let others = self.words.windows[first..].first_chunk();
            let others = others.expect("there are more windows than words");
            let count = SIDE_LANES.min(numbers.end - first);
            let mut passing = self.filter.passing(window, (others, count));
            while passing != 0 {
                let number = first as u32 + passing.trailing_zeros();
                self.pairs.push((number, at));
                passing &= passing - 1;
            }
        }
    }
}

/// Where the word of an entry begins.
#[inline(always)]
fn start(entry: u32) -> u32 {
    entry & !FIRST
}

/// The window of an entry's word, with whether no base stands before it.
#[inline(always)]
fn noted(window: u64, entry: u32) -> u64 {
    window ^ (u64::from(entry / FIRST) * FIRST_OF_SUBJECT)
}

/// Words of a part that are kept, as a power of two, where every so many are looked up.
fn kept_bits(step: usize) -> u32 {
    match step {
        1 => KEPT_BITS,
        _ => KEPT_BITS_OF_LONG,
    }
}

/// Words of a stretch by parts of the keys: their windows, and where they are.
struct Parts {
    kept_bits: u32,
    /// How many are kept of each part.
    filled: Vec<u32>,
    windows: Vec<u64>,
    places: Vec<u32>,
}

impl Parts {
    fn new(words: &Words) -> Parts {
        let kept_bits = kept_bits(words.step);
        let room = words.parts() << kept_bits;
        Parts {
            kept_bits,
            filled: vec![0; words.parts()],
            windows: vec![0; room],
            places: vec![0; room],
        }
    }

    /// Where those of a part begin.
    #[inline(always)]
    fn first(&self, part: usize) -> usize {
        part << self.kept_bits
    }

    /// Keeps a word, and says whether its part is full.
    #[inline(always)]
    fn keep(&mut self, part: usize, window: u64, place: u32) -> bool {
        let filled = self.filled[part];
        let at = self.first(part) + filled as usize;
        (self.windows[at], self.places[at]) = (window, place);
        self.filled[part] = filled + 1;
        filled + 1 == 1 << self.kept_bits
    }

    /// Keeps the words of a range that queries have, with a flag, until those of a part are many:
    /// where it ended, and which.
    #[inline(always)]
    fn fill(
        &mut self,
        words: &Words,
        stretch: Stretch,
        range: Range<usize>,
        flag: u32,
    ) -> (usize, Option<usize>) {
        let starts = range.start - BEFORE..range.end - BEFORE;
        for block in starts.start / WINDOW..starts.end.div_ceil(WINDOW) {
            let [low, high] = stretch.bits(block);
            let own = |start: usize| start.saturating_sub(block * WINDOW).min(WINDOW);
            let key = |place: usize| words.key_of(low >> BEFORE >> place, high >> BEFORE >> place);
            let mut found = 0_u32;
            for place in own(starts.start)..own(starts.end) {
                found |= u32::from(words.has(key(place))) << place;
            }
            while found != 0 {
                let place = found.trailing_zeros() as usize;
                found &= found - 1;
                let window = u64::from((low >> place) as u32) | high >> place << WINDOW;
                let (part, at) = (
                    key(place) >> words.part_bits,
                    block * WINDOW + place + BEFORE,
                );
                if self.keep(part, window, at as u32 | flag) {
                    return (at + 1, Some(part));
                }
            }
        }
        (range.end, None)
    }
}
