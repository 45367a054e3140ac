//! Gapped extensions of many pairs of nucleotide sequences at a time, one in each lane of a vector
//! (*inter-sequence* parallelisation: Rognes, BMC Bioinformatics 12 (2011) 221, "SWIPE"). A lane
//! that is done takes the next pair.
//!
//! Each finds what [`Extension`](crate::gapped::Extension) finds.

use gyrase_work::prefetch;

use crate::arch::inter_sequence::{
    BAND, Band, BandRow, Bests, Cell, MIDDLE, NEVER, PAIRS, RING, ROOM, ROWS, Reached,
};
use crate::arch::{Kernels, Lanes};
use crate::gapped::{Extension, ExtensionLimits, Prefixes, Scores, Step, Walk};
use crate::greedy::Direction;
use crate::nucleotide::BASES;

/// Cells of all lanes of which it is known how they were reached, at most.
const MOST_REACHED: usize = 1 << 17;
/// What is taken for the usual: cells of a row, and rows that a pair goes on behind its best cell.
const WIDTH: usize = 112;
const BEHIND: usize = 128;
/// Rows of which is asked for how their cells were reached before it is read.
const AHEAD: usize = 12;
/// Rows before the best cell of a pair whose steps are asked for that there is room for, at least.
pub const MOST_ROWS: usize = MOST_REACHED / WIDTH - BEHIND;

/// No base of a query, which equals none of a subject.
const NO_BASE: i8 = -1;
/// What is behind the codes of a sequence.
const END: u8 = u8::MAX;

/// Two sequences of codes whose extension begins with the first of both, or with the last.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'b> {
    /// That of the rows.
    pub query: &'b [u8],
    /// That of the columns.
    pub subject: &'b [u8],
    /// Whether it begins with the last codes.
    pub backward: bool,
}

impl<'b> Pair<'b> {
    fn along(self, codes: &'b [u8]) -> Direction<'b> {
        match self.backward {
            true => Direction::Backward(codes),
            false => Direction::Forward(codes),
        }
    }
}

impl Extension {
    /// Extends a pair by itself; with `TRACE`, with its steps.
    pub fn pair<const TRACE: bool>(
        &mut self,
        scores: &Scores,
        limits: ExtensionLimits,
        pair: &Pair,
    ) -> Extended {
        let mut steps = Vec::new();
        let (q, s) = (pair.query.iter(), pair.subject.iter());
        let best = match (pair.backward, TRACE) {
            (true, true) => self.trace(scores, limits, q.rev(), s.rev(), &mut steps),
            (false, true) => self.trace(scores, limits, q, s, &mut steps),
            (true, false) => self.extend(scores, limits, q.rev(), s.rev()),
            (false, false) => self.extend(scores, limits, q, s),
        };
        (best, steps)
    }
}

/// What an extension found, and its steps, from the last to the first, where they are asked for.
pub type Extended = (Prefixes, Vec<Step>);

/// Gives pairs, and takes what was found.
pub trait Pairs<'b> {
    /// The next pair, if there is one by now, with its number: one whose best cell is in the first
    /// `rows`, as far as is known.
    fn next(&mut self, rows: usize) -> Option<(usize, Pair<'b>)>;

    /// Takes what was found for the pair of a number: nothing where one has a code that is no base,
    /// or where it needs more diagonals or rows than a lane has.
    fn done(&mut self, number: usize, extended: Option<Extended>);
}

/// Extends pairs; the memory of some is used again for others.
pub struct Extensions {
    kernels: Kernels,
    /// Of a match, and of a mismatch.
    reward: i8,
    penalty: i8,
    band: Box<Band>,
    bests: Bests,
    /// Rows so far.
    number: usize,
    /// The bases of some rows.
    queries: [[i8; PAIRS]; ROWS],
    reached: Vec<Reached>,
    /// Per row, from number 1 on: its first diagonal, and where it is in `reached`.
    rows: Vec<(usize, usize)>,
}

/// A pair in its lane.
#[derive(Clone, Copy)]
struct Lane<'b> {
    pair: Pair<'b>,
    number: usize,
    /// The row before its first.
    start: usize,
    /// It cannot be extended here.
    fails: bool,
}

impl Extensions {
    /// For bases that score so much.
    pub fn new(kernels: Kernels, reward: i32, penalty: i32) -> Extensions {
        let never = [NEVER; PAIRS];
        Extensions {
            kernels,
            reward: byte(reward),
            penalty: byte(penalty),
            band: Box::new(Band {
                cells: [Cell::NEVER; BAND + 1],
                kept: MIDDLE..MIDDLE,
                subject: [Lanes(never); RING],
            }),
            bests: Bests {
                score: [0; PAIRS],
                base: [0; PAIRS],
                diagonal: [0; PAIRS],
                row: [0; PAIRS],
                of_row: never,
            },
            number: 0,
            queries: [[NO_BASE; PAIRS]; ROWS],
            reached: Vec::with_capacity(MOST_REACHED + BAND),
            rows: Vec::new(),
        }
    }

    /// Bytes that it takes.
    pub const fn bytes() -> u64 {
        (size_of::<Band>() + (MOST_REACHED + BAND) * size_of::<Reached>()) as u64
    }

    /// Whether lanes have room for such scores.
    pub fn have_room(&self, ExtensionLimits { costs, x_drop }: ExtensionLimits) -> bool {
        let [reward, penalty] = [self.reward, self.penalty].map(i32::from);
        let opens = costs.open + costs.extend;
        let fits = [reward, -penalty, opens, x_drop]
            .iter()
            .all(|&one| (0..ROOM).contains(&one));
        fits && reward + x_drop <= ROOM
    }

    /// Extends all pairs; with `TRACE`, with their steps.
    ///
    /// # Panics
    /// When lanes have no room for such scores.
    pub fn run<'b, const TRACE: bool>(
        &mut self,
        limits: ExtensionLimits,
        pairs: &mut impl Pairs<'b>,
    ) {
        assert!(self.have_room(limits), "scores that do not fit in bytes");
        let mut lanes: [Option<Lane>; PAIRS] = [None; PAIRS];
        loop {
            if lanes.iter().all(Option::is_none) {
                self.reached.clear();
                self.rows.clear();
                self.number = 0;
            }
            let rows = if TRACE { self.rows_left() } else { usize::MAX };
            for (at, lane) in lanes.iter_mut().enumerate() {
                if lane.is_none() {
                    let Some(next) = pairs.next(rows) else { break };
                    *lane = Some(self.start(limits, at, next));
                }
            }
            if lanes.iter().all(Option::is_none) {
                return;
            }
            self.rows::<TRACE>(limits, &mut lanes);
            for (at, slot) in lanes.iter_mut().enumerate() {
                if let Some(lane) = slot.take_if(|lane| self.is_done(at, lane)) {
                    self.clear(at);
                    let extended = (!lane.fails).then(|| self.extended::<TRACE>(at, &lane));
                    pairs.done(lane.number, extended);
                }
            }
        }
    }

    /// Rows before the best cell that there is room for.
    fn rows_left(&self) -> usize {
        let cells = MOST_REACHED.saturating_sub(self.reached.len());
        (cells / WIDTH).saturating_sub(BEHIND)
    }

    /// Gaps from the start on.
    fn start<'b>(
        &mut self,
        limits: ExtensionLimits,
        at: usize,
        (number, pair): (usize, Pair<'b>),
    ) -> Lane<'b> {
        let ExtensionLimits { costs, x_drop } = limits;
        let opens = costs.open + costs.extend;
        let mut lane = Lane {
            pair,
            number,
            start: self.number,
            fails: false,
        };
        for column in (1..BAND - MIDDLE + ROWS).step_by(ROWS) {
            self.load_subject(at, &mut lane, column);
        }
        let next = self.number + 1;
        if !next.is_multiple_of(ROWS) {
            self.load_query(at, &mut lane, next);
        }
        let (mut score, mut end) = (0, 0);
        while end <= pair.subject.len() && (end == 0 || score >= -x_drop) {
            if MIDDLE + end == BAND {
                lane.fails = true;
                break;
            }
            let cell = &mut self.band.cells[MIDDLE + end];
            cell.best[at] = score as i8;
            cell.gap[at] = byte(score - opens);
            score -= if end == 0 { opens } else { costs.extend };
            end += 1;
        }
        (self.bests.score[at], self.bests.of_row[at]) = (0, 0);
        (self.bests.row[at], self.bests.diagonal[at]) = (self.number as u32, MIDDLE as u8);
        self.bests.base[at] = 0;
        let of_lane = MIDDLE..MIDDLE + end;
        let kept = self.band.kept.clone();
        self.band.kept = match kept.is_empty() {
            true => of_lane,
            false => kept.start.min(of_lane.start)..kept.end.max(of_lane.end),
        };
        lane
    }

    /// Loads bases of the subject from before a column on.
    fn load_subject(&mut self, at: usize, lane: &mut Lane, column: usize) {
        let codes: [u8; ROWS] = lane.pair.along(lane.pair.subject).some(column - 1, END);
        lane.fails |= codes.iter().any(|&code| is_no_base(code));
        for (column, code) in (column..).zip(codes) {
            let base = if code == END { NEVER } else { code as i8 };
            self.band.subject[(lane.start + MIDDLE + column) % RING][at] = base;
        }
    }

    /// Loads bases of the query from a row on, as far as rows are loaded at a time.
    fn load_query(&mut self, at: usize, lane: &mut Lane, row: usize) {
        let codes: [u8; ROWS] = lane
            .pair
            .along(lane.pair.query)
            .some(row - lane.start - 1, END);
        lane.fails |= codes.iter().any(|&code| is_no_base(code));
        for (bases, code) in self.queries[row % ROWS..].iter_mut().zip(codes) {
            bases[at] = if code == END { NO_BASE } else { code as i8 };
        }
    }

    /// Goes on until a pair is to be looked at.
    fn rows<const TRACE: bool>(
        &mut self,
        limits: ExtensionLimits,
        lanes: &mut [Option<Lane>; PAIRS],
    ) {
        let ExtensionLimits { costs, x_drop } = limits;
        let pairs = lanes.map(|lane| lane.is_some().into());
        let ends = lanes.iter().flatten().map(Lane::end);
        let end = ends.min().unwrap_or_default();
        let mut fails = lanes.iter().flatten().any(|lane| lane.fails);
        let mut any = false;
        while !any && !fails && self.number < end && self.reached.len() <= MOST_REACHED {
            self.number += 1;
            if self.number.is_multiple_of(ROWS) {
                fails = self.load(lanes);
            }
            if TRACE {
                let first = self.band.kept.start.saturating_sub(1);
                self.rows.push((first, self.reached.len()));
            }
            let row = BandRow {
                number: self.number as u32,
                query: self.queries[self.number % ROWS],
                reward: self.reward,
                penalty: self.penalty,
                opens: byte(costs.open + costs.extend),
                extend: byte(costs.extend),
                x_drop: byte(x_drop),
                pairs,
            };
            let (band, bests, reached) = (&mut self.band, &mut self.bests, &mut self.reached);
            any = self.kernels.band_row::<TRACE>(&row, band, bests, reached);
        }
    }

    /// Loads bases for this row and those that follow; whether one has a code that is no base.
    fn load(&mut self, lanes: &mut [Option<Lane>; PAIRS]) -> bool {
        let mut fails = false;
        for (at, slot) in lanes.iter_mut().enumerate() {
            if let Some(lane) = slot {
                self.load_query(at, lane, self.number);
                self.load_subject(at, lane, self.number - lane.start + BAND - MIDDLE - 1);
                fails |= lane.fails;
            }
        }
        fails
    }

    fn is_done(&self, at: usize, lane: &mut Lane) -> bool {
        let outmost = [0, BAND - 1].map(|place| self.band.cells[place].best[at]);
        lane.fails |= outmost != [NEVER; 2] || self.reached.len() > MOST_REACHED;
        lane.fails || self.bests.of_row[at] == NEVER || self.number >= lane.end()
    }

    fn clear(&mut self, at: usize) {
        for cell in &mut self.band.cells[self.band.kept.clone()] {
            cell.best[at] = NEVER;
            cell.gap[at] = NEVER;
        }
    }

    fn extended<const TRACE: bool>(&self, at: usize, lane: &Lane) -> Extended {
        let query = self.bests.row[at] as usize - lane.start;
        let best = Prefixes {
            score: self.bests.base[at] + i32::from(self.bests.score[at]),
            query,
            subject: query + self.bests.diagonal[at] as usize - MIDDLE,
        };
        let mut steps = Vec::new();
        if TRACE {
            let mut walk = Walk::from(best);
            let number = |row: usize, place: usize| {
                let (first, offset) = self.rows[lane.start + row - 1];
                (offset + place).wrapping_sub(first)
            };
            while walk.row > 0 {
                let place = MIDDLE + walk.column - walk.row;
                // Most steps stay on their diagonal.
                prefetch(
                    &self.reached,
                    number(walk.row.saturating_sub(AHEAD).max(1), place),
                );
                let both = self.reached[number(walk.row, place)][at % (PAIRS / 2)];
                steps.push(walk.back(both >> (4 * (at / (PAIRS / 2)))));
            }
            steps.extend(std::iter::repeat_n(Step::Subject, walk.column));
        }
        (best, steps)
    }
}

impl Lane<'_> {
    /// The row of the last base of the query.
    fn end(&self) -> usize {
        self.start + self.pair.query.len().max(1)
    }
}

/// A score as a lane has it.
fn byte(score: i32) -> i8 {
    score.clamp(i8::MIN.into(), i8::MAX.into()) as i8
}

/// Whether a code stands for something else than one base.
fn is_no_base(code: u8) -> bool {
    code != END && usize::from(code) >= BASES
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::residue::BORDER;
    use crate::statistics::Costs;

    const REWARD: i32 = 2;
    const PENALTY: i32 = -3;

    /// Pairs in their order, and what was found for each.
    struct All<'b> {
        pairs: Vec<Pair<'b>>,
        given: usize,
        found: Vec<Option<Extended>>,
    }

    impl<'b> Pairs<'b> for All<'b> {
        fn next(&mut self, _: usize) -> Option<(usize, Pair<'b>)> {
            let pair = *self.pairs.get(self.given)?;
            self.given += 1;
            Some((self.given - 1, pair))
        }

        fn done(&mut self, number: usize, extended: Option<Extended>) {
            assert!(self.found[number].is_none());
            self.found[number] = extended;
        }
    }

    fn extended<const TRACE: bool>(
        kernels: Kernels,
        limits: ExtensionLimits,
        pairs: Vec<Pair>,
    ) -> Vec<Option<Extended>> {
        let found = vec![None; pairs.len()];
        let mut all = All {
            pairs,
            given: 0,
            found,
        };
        Extensions::new(kernels, REWARD, PENALTY).run::<TRACE>(limits, &mut all);
        assert_eq!(all.given, all.pairs.len());
        all.found
    }

    /// What [`Extension`] finds.
    fn alone(limits: ExtensionLimits, pair: &Pair) -> Extended {
        let scores: Box<Scores> = Box::new(std::array::from_fn(|q| {
            std::array::from_fn(|s| match q == s {
                _ if q.max(s) == usize::from(BORDER) => -(1 << 24),
                true => REWARD,
                false => PENALTY,
            })
        }));
        Extension::new(Kernels::Scalar).pair::<true>(&scores, limits, pair)
    }

    fn is_plain(pair: &Pair) -> bool {
        let mut codes = pair.query.iter().chain(pair.subject);
        codes.all(|&code| usize::from(code) < BASES)
    }

    /// A query and what became of it.
    #[derive(Clone, Debug)]
    struct Related {
        query: Vec<u8>,
        subject: Vec<u8>,
        backward: bool,
    }

    impl Related {
        fn pair(&self) -> Pair<'_> {
            Pair {
                query: &self.query,
                subject: &self.subject,
                backward: self.backward,
            }
        }
    }

    fn related() -> impl Strategy<Value = Related> {
        let changes =
            proptest::collection::vec((0..300_usize, 0..4_u8, 0..3_u8, 1..30_usize), 0..12);
        let query = proptest::collection::vec(0..4_u8, 0..300);
        (query, changes, proptest::bool::ANY).prop_map(|(query, changes, backward)| {
            let mut subject = query.clone();
            for (at, base, kind, length) in changes {
                let at = at.min(subject.len());
                let end = (at + length).min(subject.len());
                match kind {
                    0 => drop(subject.drain(at..end)),
                    1 => drop(subject.splice(at..at, vec![base; length])),
                    _ => subject[at..end].fill(base),
                }
            }
            Related {
                query,
                subject,
                backward,
            }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn each_is_extended_as_if_alone(
            sequences in proptest::collection::vec(related(), 0..160),
            no_base in proptest::option::of((0..160_usize, 0..300_usize)),
            open in 0..8, extend in 1..5, x_drop in 0..=ROOM - REWARD,
        ) {
            let mut sequences = sequences;
            let other = no_base.and_then(|(number, at)| {
                sequences.get_mut(number).and_then(|one| one.subject.get_mut(at))
            });
            if let Some(code) = other {
                *code = 14;
            }
            let limits = ExtensionLimits { costs: Costs { open, extend }, x_drop };
            let pairs: Vec<Pair> = sequences.iter().map(Related::pair).collect();
            for kernels in Kernels::available() {
                let found = extended::<false>(kernels, limits, pairs.clone());
                let traced = extended::<true>(kernels, limits, pairs.clone());
                for ((one, found), traced) in sequences.iter().zip(found).zip(traced) {
                    let pair = &one.pair();
                    let expected = alone(limits, pair);
                    // Gaps to an outmost diagonal cost more than all matches bring.
                    let most = REWARD * one.query.len() as i32 + x_drop;
                    let fits = most < (MIDDLE as i32 - 1) * extend && is_plain(pair);
                    prop_assert!(found.is_some() || !fits, "{:?} {:?}", kernels, pair);
                    if let Some((best, _)) = found {
                        prop_assert_eq!(best, expected.0, "{:?}", kernels);
                    }
                    if let Some(traced) = traced {
                        prop_assert_eq!(traced, expected, "{:?}", kernels);
                    }
                }
            }
        }
    }
}
