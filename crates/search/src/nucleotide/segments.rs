//! What of a word grows to a segment that is worth a gapped alignment. Of the runs of equal bases
//! that one extension goes through only the first counts.

use gyrase_align::arch::{
    BEFORE, BaseCosts, BaseLanes, Kernels, LANES, UngappedCosts, UngappedGains,
};
use gyrase_align::nucleotide::BASES;
use gyrase_align::packed::{Packed, WINDOW, differing};
use gyrase_align::residue::BORDER;
use gyrase_align::ungapped::UngappedSegment;
use gyrase_work::prefetch;

use super::filter::Filter;
use super::scoring::NucleotideScoring;
use super::search::{Search, Stretch};
use super::words::{MASKED, is_border};
use crate::{Match, Sequences};

/// What a score may fall below the best within the reach of the filter to rise again behind it.
const ALIVE: i8 = 14;
/// Scores that vectors take.
const MOST: i32 = 255;

/// Makes segments of words.
pub(super) struct Segments<'s> {
    search: &'s Search<'s>,
    filter: &'s Filter,
    kernels: Kernels,
    drop: i32,
    /// What a segment of any frame scores at least.
    least: i32,
    /// Frames ask for different scores.
    is_mixed: bool,
    /// None where scores are too large for vectors, or words longer than their keys.
    ungapped: Option<UngappedCosts>,
    /// Where words are that are looked at.
    places: Vec<Place>,
    lanes: BaseLanes,
    costs: BaseCosts,
    /// Segments that need more to be reported, with where they are in both texts.
    waiting: Vec<(Match, [usize; 2])>,
    pub found: Vec<Match>,
}

/// Where a word is in both texts.
#[derive(Clone, Copy)]
struct Place {
    query: usize,
    subject: usize,
}

/// Bases on one side of words: which differ from the word on, and which pairs have to be looked at
/// base by base.
struct Side {
    differing: [u32; LANES],
    strange: u64,
    ended: u64,
}

/// A segment in both texts.
struct Found {
    place: Place,
    before: usize,
    length: usize,
    score: i32,
}

impl<'s> Segments<'s> {
    pub(super) fn new(search: &'s Search<'s>, filter: &'s Filter) -> Segments<'s> {
        let drop = search.scoring.ungapped_drop();
        let setting = &search.scoring.setting;
        let fit = [setting.reward, -setting.penalty, drop]
            .iter()
            .all(|&score| score <= MOST);
        let ungapped = UngappedCosts {
            reward: setting.reward as i16,
            penalty: setting.penalty as i16,
            drop: drop as i16,
        };
        Segments {
            search,
            filter,
            kernels: Kernels::detect(),
            drop,
            least: search.least.iter().min().copied().unwrap_or_default(),
            is_mixed: search.least.iter().any(|&least| least != search.least[0]),
            ungapped: (fit && !filter.is_long()).then_some(ungapped),
            places: Vec::new(),
            lanes: BaseLanes::default(),
            costs: costs(search.scoring),
            waiting: Vec::with_capacity(LANES),
            found: Vec::new(),
        }
    }

    /// Adds the segments of words of queries at positions of a stretch, by the numbers of both.
    pub(super) fn look_at(&mut self, stretch: Stretch, words: &[(u32, u32)]) {
        for &(word, at) in words {
            stretch.packed.prefetch(stretch.base + at as usize);
            prefetch(&self.search.words.entries, word as usize);
        }
        let mut places = std::mem::take(&mut self.places);
        places.clear();
        places.extend(words.iter().map(|&(word, at)| {
            let query = self.search.words.position(word as usize);
            self.search.words.packed.prefetch(query);
            let subject = stretch.base + at as usize;
            Place { query, subject }
        }));
        let passed = self.by_themselves(&mut places);
        for places in places[..passed].chunks(LANES) {
            match self.ungapped {
                Some(costs) => self.extend_all(stretch, costs, places),
                None => places.iter().for_each(|&place| self.extend(place)),
            }
        }
        self.places = places;
    }

    /// Moves those that pass by what their own query asks for before the others, and counts them:
    /// what other queries ask for is no part of the answer.
    fn by_themselves(&self, places: &mut [Place]) -> usize {
        let search = self.search;
        if !self.is_mixed {
            return places.len();
        }
        let mut passed = 0;
        for number in 0..places.len() {
            let Place { query, subject } = places[number];
            let least = search.least[search.words.frame(search.queries, query)];
            if least == self.least || self.passes_for(least, query, subject) {
                places[passed] = places[number];
                passed += 1;
            }
        }
        passed
    }

    /// Whether the bases around a word pass for a segment that scores so much.
    fn passes_for(&self, least: i32, query: usize, subject: usize) -> bool {
        let of_query = self.search.words.packed.window(query - BEFORE);
        let of_subject = self.search.subjects.packed().window(subject - BEFORE);
        // Of a long word only a part is known to be equal, and it need not be the first.
        let first = u32::from(!self.filter.is_long()) << BEFORE;
        let differing = differing(of_query ^ of_subject);
        self.filter.passes_for(least, differing | first)
    }

    /// Extends words by vectors; those that go on behind the next bases one by one.
    fn extend_all(&mut self, stretch: Stretch, costs: UngappedCosts, places: &[Place]) {
        let word = self.filter.sure;
        let side = |left| {
            self.kernels.run(
                #[inline(always)]
                || self.side(stretch, places, left),
            )
        };
        let (left, right) = (side(true), side(false));
        let [of_left, of_right] =
            [&left, &right].map(|side| self.kernels.ungapped_gains(costs, &side.differing));
        let of_word = word as i32 * self.search.scoring.setting.reward;
        let mut going_on = 0_u64;
        for (lane, &place) in places.iter().enumerate() {
            let goes_on = |side: &Side, gains: &UngappedGains| {
                side.strange >> lane & 1 == 1
                    || side.ended >> lane & 1 == 0 && gains.fallen[lane] <= costs.drop
            };
            let [before, after] = [&of_left, &of_right].map(|gains| gains.lengths[lane] as usize);
            let gained = of_left.scores[lane] + of_right.scores[lane];
            let score = of_word + i32::from(gained);
            let both = [left.differing[lane], right.differing[lane]];
            if goes_on(&left, &of_left)
                || goes_on(&right, &of_right)
                || score >= self.least && self.has_earlier(both)
            {
                prefetch(self.seed_text(), place.query - 1);
                going_on |= 1 << lane;
            } else if score >= self.least {
                self.add(Found {
                    place,
                    before,
                    length: before + word + after,
                    score,
                });
            }
        }
        while going_on != 0 {
            self.extend(places[going_on.trailing_zeros() as usize]);
            going_on &= going_on - 1;
        }
    }

    /// The bases on one side of words. Behind the end of a sequence all differ.
    #[inline(always)]
    fn side(&self, stretch: Stretch, places: &[Place], left: bool) -> Side {
        let queries = &self.search.words.packed;
        let mut side = Side {
            differing: [0; LANES],
            strange: 0,
            ended: 0,
        };
        let text = self.search.queries.text();
        let mut beside = [(0, 0, 0); LANES];
        let mut ended = 0;
        for (lane, place) in places.iter().enumerate() {
            let at = |at: usize| match left {
                true => at - WINDOW,
                false => at + self.filter.sure,
            };
            let (of_query, of_subject) = (at(place.query), at(place.subject));
            let difference = queries.window(of_query) ^ stretch.packed.window(of_subject);
            let others = queries.others(of_query) | stretch.packed.others(of_subject);
            let turn = |bits: u32| if left { bits.reverse_bits() } else { bits };
            side.differing[lane] = turn(differing(difference));
            if others != 0 {
                let by = turn(others).trailing_zeros();
                side.differing[lane] |= u32::MAX << by;
                let first = |at: usize| {
                    at + if left {
                        WINDOW - 1 - by as usize
                    } else {
                        by as usize
                    }
                };
                prefetch(text, first(of_query));
                beside[ended] = (lane, first(of_query), first(of_subject));
                ended += 1;
            }
        }
        for &(lane, of_query, of_subject) in &beside[..ended] {
            let codes = [text[of_query], stretch.packed.code(of_subject)];
            side.ended |= 1 << lane;
            side.strange |= u64::from(!codes.into_iter().any(is_border)) << lane;
        }
        side
    }

    /// Adds the segment of a word, if it is good enough and no word before it has the same.
    fn extend(&mut self, place: Place) {
        let Place { query, subject } = place;
        let Some(length) = self.run(query, subject) else {
            return;
        };
        let Some((before, left)) = self.left(query, subject) else {
            return;
        };
        let (after, right) = self.right(query + length, subject + length);
        self.add(Found {
            place,
            before,
            length: before + length + after,
            score: left + length as i32 * self.search.scoring.setting.reward + right,
        });
    }

    /// Whether another word may begin among the bases before one, by which of those before it and
    /// behind what is sure differ.
    fn has_earlier(&self, [before, behind]: [u32; 2]) -> bool {
        let Filter { seed, sure, .. } = self.filter;
        if !seed.is_template() {
            let mut runs = !before;
            (1..seed.bases).for_each(|_| runs &= runs >> 1);
            return runs != 0;
        }
        let behind = u64::from(behind).checked_shl((WINDOW + sure) as u32);
        let differing = u64::from(before.reverse_bits()) | behind.unwrap_or_default();
        let places = u64::from(seed.places);
        (0..WINDOW).any(|start| differing >> start & places == 0)
    }

    /// Adds a segment if it scores enough, or leaves it to wait.
    fn add(&mut self, found: Found) {
        let Found {
            place: Place { query, subject },
            before,
            length,
            score,
        } = found;
        let search = self.search;
        let frame = search.words.frame(search.queries, query);
        if score < search.least[frame] {
            return;
        }
        let number = search.subjects.at(subject);
        let place = |sequences: &Sequences, number, at: usize| {
            (at - before - sequences.range(number).start) as u32
        };
        let found = Match {
            query: frame as u32,
            subject: number as u32,
            segment: UngappedSegment {
                query: place(search.queries, frame, query),
                subject: place(search.subjects, number, subject),
                length: length as u32,
                score,
            },
        };
        if score >= search.wanted[frame] || search.scoring.setting.is_greedy() {
            self.found.push(found);
            return;
        }
        self.waiting
            .push((found, [query - before, subject - before]));
        if self.waiting.len() == LANES {
            self.go_on();
        }
    }

    /// What waiting segments gain with gaps on one side, and what they have at its end.
    fn gains_beside(&mut self, left: bool) -> [[i8; LANES]; 2] {
        let queries = &self.search.words.packed;
        let subjects = self.search.subjects.packed();
        let waiting = &self.waiting;
        let fill = |lane: usize, of_query: &mut _, of_subject: &mut _| {
            let (found, [query, subject]) = &waiting[lane];
            if left {
                queries.codes_before(*query, of_query);
                subjects.codes_before(*subject, of_subject);
            } else {
                let length = found.segment.length as usize;
                queries.codes_from(query + length, of_query);
                subjects.codes_from(subject + length, of_subject);
            }
        };
        self.lanes.load(self.kernels, waiting.len(), fill);
        self.kernels.gains(self.costs, &self.lanes)
    }

    /// Adds those waiting segments that gain enough on both sides with gaps.
    pub(super) fn go_on(&mut self) {
        let [left, right] = [true, false].map(|left| self.gains_beside(left));
        for (lane, (found, _)) in self.waiting.drain(..).enumerate() {
            let sides = [&left, &right].map(|[best, last]| (best[lane], last[lane]));
            let alive = sides
                .iter()
                .any(|(best, last)| best.saturating_sub(*last) <= ALIVE);
            let gained: i32 = sides.iter().map(|(best, _)| i32::from(*best)).sum();
            let wanted = self.search.wanted[found.query as usize];
            if alive || found.segment.score + gained >= wanted {
                self.found.push(found);
            }
        }
    }

    /// Bases from a word on that are equal without doubt; none where the run of equal bases around
    /// it is too short for a long word, or an earlier part of that was looked up.
    fn run(&self, query: usize, subject: usize) -> Option<usize> {
        let words = self.search.words;
        if !self.filter.is_long() {
            return Some(self.filter.sure);
        }
        let bases = self.filter.seed.bases;
        let before = self.equal_before(query, subject, words.step);
        if before >= words.step {
            return None;
        }
        let more = words.step - 1 - before;
        let after = self.equal_from(query + bases, subject + bases, more);
        (after >= more).then_some(bases + more)
    }

    /// How many bases in a row match without masks before two positions; so many are enough.
    fn equal_before(&self, query: usize, subject: usize, enough: usize) -> usize {
        let queries = &self.search.words.masked;
        let mut equal = 0;
        while equal < enough {
            let by = equal + WINDOW;
            let differing = self.differing(queries, query - by, subject - by);
            equal += differing.leading_zeros() as usize;
            if differing != 0 {
                break;
            }
        }
        let noted = self.search.subjects.noted_case();
        let masked = noted.and_then(|noted| (0..equal).find(|by| noted.has(subject - 1 - by)));
        masked.unwrap_or(equal)
    }

    /// The same from two positions on.
    fn equal_from(&self, query: usize, subject: usize, enough: usize) -> usize {
        let queries = &self.search.words.masked;
        let mut equal = 0;
        while equal < enough {
            let differing = self.differing(queries, query + equal, subject + equal);
            equal += differing.trailing_zeros() as usize;
            if differing != 0 {
                break;
            }
        }
        let noted = self.search.subjects.noted_case();
        let masked = noted.and_then(|noted| (0..equal).find(|by| noted.has(subject + by)));
        masked.unwrap_or(equal)
    }

    /// Which bases of two windows differ, or are none: of masked queries what is masked is none.
    fn differing(&self, queries: &Packed, query: usize, subject: usize) -> u32 {
        let subjects = self.search.subjects.packed();
        let others = queries.others(query) | subjects.others(subject);
        differing(queries.window(query) ^ subjects.window(subject)) | others
    }

    /// The text of the queries; what is masked has another bit.
    #[inline(always)]
    fn seed_text(&self) -> &'s [u8] {
        self.search.queries.seed_text()
    }

    /// Whether no seed begins at a position of the subjects.
    #[inline(always)]
    fn is_masked(&self, subject: usize) -> bool {
        let noted = self.search.subjects.noted_case();
        noted.is_some_and(|noted| noted.has(subject))
    }

    /// Whether two positions have the same base, which is not masked.
    #[inline(always)]
    fn equal(&self, query: usize, subject: usize) -> bool {
        let one = self.seed_text()[query];
        let other = self.search.subjects.packed().code(subject);
        one == other && usize::from(one) < BASES && !self.is_masked(subject)
    }

    /// Bases before two positions that belong to the segment, and what they score; none where there
    /// is a word before them from which the same segment is found.
    fn left(&self, query: usize, subject: usize) -> Option<(usize, i32)> {
        let queries = self.seed_text()[..query].iter().rev().copied();
        let subjects = self.search.subjects.packed().backward(subject);
        let reward = self.search.scoring.setting.reward;
        let (mut length, mut best, mut sum) = (0, 0, 0);
        let mut recent = Recent::new(self, query, subject);
        for (number, (one, other)) in std::iter::zip(queries, subjects).enumerate() {
            if is_border(one) || is_border(other) {
                break;
            }
            let plain = one & !MASKED;
            let (query, subject) = (query - number - 1, subject - number - 1);
            let seen = match self.is_masked(subject) {
                true => other | MASKED,
                false => other,
            };
            let is_word = recent.push(one, seen);
            if is_word && self.is_found_from(query, subject) {
                return None;
            }
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
        Some((length, best))
    }

    /// The same for two positions and what is behind: runs of equal bases at once.
    fn right(&self, query: usize, subject: usize) -> (usize, i32) {
        let (of_queries, of_subjects) = (&self.search.words.packed, self.search.subjects.packed());
        let reward = self.search.scoring.setting.reward;
        let (mut number, mut length, mut best, mut sum) = (0, 0, 0, 0);
        loop {
            let (one, other) = (query + number, subject + number);
            let differing = self.differing(of_queries, one, other);
            let equal = differing.trailing_zeros() as usize;
            number += equal;
            sum += equal as i32 * reward;
            if sum > best {
                (length, best) = (number, sum);
            }
            if equal == WINDOW {
                continue;
            }
            let (one, other) = (query + number, subject + number);
            let codes = [self.search.queries.text()[one], of_subjects.code(other)];
            if codes.into_iter().any(is_border) {
                break;
            }
            sum += self.score(codes[0], codes[1]);
            number += 1;
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
        if self.filter.is_long() {
            return true;
        }
        while !self.filter.seed.is_template() && self.equal(query - 1, subject - 1) {
            query -= 1;
            subject -= 1;
        }
        let search = self.search;
        let least = search.least[search.words.frame(search.queries, query)];
        self.passes_for(least, query, subject)
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

/// The pairs of codes from a position on, while one goes to the left.
struct Recent {
    /// Which are equal, unmasked bases, and which are unmasked bases at all; the lowest bit is of
    /// the first.
    equal: u64,
    plain: u64,
    /// Those that have to be for a word.
    equal_of_word: u64,
    plain_of_word: u64,
}

impl Recent {
    /// At two positions. Behind them all counts for templates; other words end there.
    fn new(segments: &Segments, query: usize, subject: usize) -> Recent {
        let Filter { word, seed, .. } = segments.filter;
        let template = seed.is_template();
        let ones = |count: usize| u64::MAX >> (u64::BITS as usize - count);
        let mut recent = Recent {
            equal: 0,
            plain: 0,
            equal_of_word: if template {
                seed.places.into()
            } else {
                ones(*word)
            },
            plain_of_word: ones(if template { seed.span } else { *word }),
        };
        for by in (0..seed.span).rev().filter(|_| template) {
            let one = segments.seed_text()[query + by];
            recent.push(one, segments.search.subjects.packed().code(subject + by));
        }
        recent
    }

    /// Goes on to the pair before, and says whether a word begins there.
    fn push(&mut self, one: u8, other: u8) -> bool {
        let plain = usize::from(one.max(other)) < BASES;
        self.equal = self.equal << 1 | u64::from(plain && one == other);
        self.plain = self.plain << 1 | u64::from(plain);
        self.equal & self.equal_of_word == self.equal_of_word
            && self.plain & self.plain_of_word == self.plain_of_word
    }
}

const _: () = assert!(BORDER as usize >= BASES && MASKED > BORDER);
