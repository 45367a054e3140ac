//! Symmetric DUST: stretches of DNA that repeat few triplets.
//!
//! The score of a stretch of n triplets is the number of pairs of equal ones, over n - 1. A stretch
//! is masked when ten times its score exceeds the level and no part of it scores more. After
//! Morgulis and others, J. Comput. Biol. 13 (2006) 1028; the masks are those of dustmasker.

use std::collections::VecDeque;
use std::ops::Range;

const TRIPLETS: usize = 64;

/// Finds masks of DNA. Keeps room for the next one.
#[derive(Clone, Debug)]
pub struct Dust {
    level: u32,
    /// Triplets of a window at the most.
    window: usize,
    linker: usize,
    found: Vec<Range<usize>>,
}

impl Default for Dust {
    /// As dustmasker and blastn: level 20, window 64, linker 1.
    fn default() -> Dust {
        Dust::new(20, 64, 1)
    }
}

impl Dust {
    /// Masks above `level`, ten times a score, 2 to 64, in windows of 8 to 64 bases. Ranges with
    /// fewer than `linker` bases between them, 1 to 32, become one. What is outside its bounds
    /// becomes 20, 64 or 1.
    pub fn new(level: u32, window: usize, linker: usize) -> Dust {
        Dust {
            level: if (2..=64).contains(&level) { level } else { 20 },
            window: if (8..=64).contains(&window) {
                window
            } else {
                64
            } - 2,
            linker: if (1..=32).contains(&linker) {
                linker
            } else {
                1
            },
            found: Vec::new(),
        }
    }

    /// The mask of a sequence of bases by their codes, 0 to 3; any other is an N.
    ///
    /// As in dustmasker, N at the ends and more of them than a window are masked. Other N repeat
    /// nothing: dustmasker takes random bases there, so that ranges may differ around them. Letters
    /// for some of the bases, such as R, are an A for it: code 0.
    ///
    /// ```
    /// use gyrase_align::mask::dust::Dust;
    ///
    /// let repeat: Vec<u8> = (0..40).map(|at| at % 2).collect();
    /// assert_eq!(Dust::default().mask(&repeat), [0..40]);
    /// ```
    pub fn mask(&mut self, bases: &[u8]) -> &[Range<usize>] {
        self.found.clear();
        let mut from = 0;
        while let Some(run) = self.unknown(bases, from) {
            self.mask_part(bases, from..run.start);
            from = run.end;
            self.join(run);
        }
        self.mask_part(bases, from..bases.len());
        &self.found
    }

    /// The next run of N that is masked as a whole.
    fn unknown(&self, bases: &[u8], from: usize) -> Option<Range<usize>> {
        let mut at = from;
        loop {
            let start = at + bases[at..].iter().position(|&base| base > 3)?;
            let known = bases[start..].iter().position(|&base| base <= 3);
            at = known.map_or(bases.len(), |known| start + known);
            let ends = start == 0 || at == bases.len();
            if ends || at - start > self.window + 2 {
                return Some(start..at);
            }
        }
    }

    fn mask_part(&mut self, bases: &[u8], part: Range<usize>) {
        let bases = &bases[..part.end];
        let mut start = part.start;
        while bases.len() > start + 3 {
            let mut window = Window::new(self.level, self.window);
            self.walk(&mut window, bases, start);
            let mut until = window.start;
            while !window.perfect.is_empty() {
                self.keep(&mut window.perfect, until, start);
                until += 1;
            }
            if window.start == 0 {
                break;
            }
            start += window.start;
        }
    }

    /// Walks to the end, or to the end of a run of one triplet that fills a window.
    fn walk(&mut self, window: &mut Window, bases: &[u8], start: usize) {
        let mut triplet = Triplet::default();
        triplet.add(bases[start]);
        triplet.add(bases[start + 1]);
        let mut in_run = false;
        for &next in &bases[start + 2..] {
            self.keep(&mut window.perfect, window.start, start);
            triplet.add(next);
            match (window.shift(triplet.code()), in_run) {
                (Shift::Run, _) => in_run = true,
                (Shift::Mixed, true) => return,
                (Shift::Mixed, false) => window.find_perfect(),
            }
        }
    }

    /// Keeps the perfect stretches that begin before `until`: the window has left them.
    fn keep(&mut self, perfect: &mut Vec<Perfect>, until: usize, start: usize) {
        let Some(widest) = perfect.last().filter(|one| one.first < until) else {
            return;
        };
        self.join(start + widest.first..start + widest.last + 1);
        while perfect.last().is_some_and(|one| one.first < until) {
            perfect.pop();
        }
    }

    fn join(&mut self, range: Range<usize>) {
        match self.found.last_mut() {
            Some(last) if last.end + self.linker > range.start => {
                last.end = last.end.max(range.end);
            }
            _ => self.found.push(range),
        }
    }
}

/// The last three bases.
#[derive(Default)]
struct Triplet {
    bases: u8,
    known: usize,
}

impl Triplet {
    fn add(&mut self, base: u8) {
        self.bases = ((self.bases << 2) | (base & 3)) & (TRIPLETS as u8 - 1);
        self.known = if base > 3 { 0 } else { self.known + 1 };
    }

    /// What it counts as: `TRIPLETS` with an N in it.
    fn code(&self) -> u8 {
        if self.known < 3 {
            TRIPLETS as u8
        } else {
            self.bases
        }
    }
}

/// A stretch that no part of it beats: its bases from first to last, pairs and triplets.
#[derive(Clone, Copy, Debug)]
struct Perfect {
    first: usize,
    last: usize,
    pairs: u32,
    triplets: u32,
}

impl Perfect {
    fn beats(&self, pairs: u32, triplets: u32) -> bool {
        triplets * self.pairs > pairs * self.triplets
    }
}

/// Whether a full window holds one triplet only.
enum Shift {
    Mixed,
    Run,
}

/// Counts of triplets, and the pairs of equal ones among them.
#[derive(Clone)]
struct Counts {
    of: [u8; TRIPLETS],
    pairs: u32,
    kinds: u32,
}

impl Counts {
    const NONE: Counts = Counts {
        of: [0; TRIPLETS],
        pairs: 0,
        kinds: 0,
    };

    /// One with an N is of a kind of its own.
    fn add(&mut self, triplet: u8) {
        let Some(count) = self.of.get_mut(triplet as usize) else {
            self.kinds += 1;
            return;
        };
        self.pairs += u32::from(*count);
        self.kinds += u32::from(*count == 0);
        *count += 1;
    }

    fn remove(&mut self, triplet: u8) {
        let Some(count) = self.of.get_mut(triplet as usize) else {
            self.kinds -= 1;
            return;
        };
        *count -= 1;
        self.pairs -= u32::from(*count);
        self.kinds -= u32::from(*count == 0);
    }

    fn count(&self, triplet: u8) -> u8 {
        self.of.get(triplet as usize).copied().unwrap_or(0)
    }
}

/// The triplets that end at a position, and the perfect stretches among them.
///
/// The core is the longest suffix in which no triplet is frequent enough for a stretch to be
/// masked: stretches that begin in it need not be looked at.
struct Window {
    level: u32,
    most: usize,
    triplets: VecDeque<u8>,
    start: usize,
    stop: usize,
    core: usize,
    all: Counts,
    in_core: Counts,
    /// Those that begin last come first.
    perfect: Vec<Perfect>,
}

impl Window {
    fn new(level: u32, most: usize) -> Window {
        Window {
            level,
            most,
            triplets: VecDeque::with_capacity(most + 1),
            start: 0,
            stop: 0,
            core: 0,
            all: Counts::NONE,
            in_core: Counts::NONE,
            perfect: Vec::new(),
        }
    }

    fn full(&self) -> bool {
        self.triplets.len() >= self.most
    }

    fn shift(&mut self, triplet: u8) -> Shift {
        let in_run = self.full() && self.all.kinds <= 1;
        if self.full() {
            self.pop(in_run);
        }
        self.triplets.push_back(triplet);
        self.all.add(triplet);
        self.stop += 1;
        if !in_run {
            self.in_core.add(triplet);
            self.shrink_core(triplet);
        }
        if !self.full() || self.all.kinds > 1 {
            return Shift::Mixed;
        }
        if !in_run {
            self.perfect.clear();
        }
        let whole = Perfect {
            first: self.start,
            last: self.stop + 1,
            pairs: 0,
            triplets: 0,
        };
        self.perfect.insert(0, whole);
        Shift::Run
    }

    /// Drops the first triplet; in a run the core is no longer kept.
    fn pop(&mut self, in_run: bool) {
        let Some(first) = self.triplets.pop_front() else {
            return;
        };
        self.all.remove(first);
        if !in_run && self.core == self.start {
            self.core += 1;
            self.in_core.remove(first);
        }
        self.start += 1;
    }

    fn shrink_core(&mut self, triplet: u8) {
        if u32::from(self.in_core.count(triplet)) <= self.level / 5 {
            return;
        }
        loop {
            let dropped = self.triplets[self.core - self.start];
            self.in_core.remove(dropped);
            self.core += 1;
            if dropped == triplet {
                return;
            }
        }
    }

    /// Finds the perfect stretches that end with the window, if any can.
    fn find_perfect(&mut self) {
        let core = (self.stop - self.core) as u32;
        if core as usize >= self.triplets.len() || 10 * self.all.pairs <= self.least(core) {
            return;
        }
        let mut counts = self.in_core.clone();
        let (mut next, mut best) = (0, None::<Perfect>);
        for first in (self.start..self.core).rev() {
            let triplet = self.triplets[first - self.start];
            let length = (self.stop - first - 1) as u32;
            let repeated = counts.count(triplet) > 0;
            counts.add(triplet);
            if !repeated || 10 * counts.pairs <= self.least(length) {
                continue;
            }
            while let Some(other) = self.perfect.get(next).filter(|one| first <= one.first) {
                if best.is_none_or(|best| best.pairs == 0 || other.beats(best.pairs, best.triplets))
                {
                    best = Some(*other);
                }
                next += 1;
            }
            let found = Perfect {
                first,
                last: self.stop + 1,
                pairs: counts.pairs,
                triplets: length,
            };
            if best.is_none_or(|best| best.pairs == 0 || !best.beats(found.pairs, found.triplets)) {
                best = Some(found);
                self.perfect.insert(next, found);
            }
        }
    }

    /// What ten times the pairs of a masked stretch exceed.
    fn least(&self, triplets: u32) -> u32 {
        if triplets == 0 {
            1
        } else {
            triplets * self.level
        }
    }
}

#[cfg(test)]
mod tests;
