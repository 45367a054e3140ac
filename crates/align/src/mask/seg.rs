//! SEG: stretches of a protein whose windows hold few kinds of residues.
//!
//! A window is *low* when its entropy, in bits a residue, is at most `low`. A low window grows over
//! neighbours of at most `high`; the stretch is then trimmed to its least probable part. After
//! Wootton and Federhen, Comput. Chem. 17 (1993) 149, and Methods Enzymol. 266 (1996) 554.

use std::ops::Range;
use std::sync::LazyLock;

use crate::residue::STANDARD;

/// Residues without a frequency that a window may have; with more it is not looked at.
const MOST_OTHERS: usize = 2;

/// How much a stretch is trimmed at most, in residues.
const MOST_TRIMMED: usize = 50;

/// A window of more has sums that are too large.
const MOST_WINDOW: usize = 1 << 16;

/// More than any entropy of 20 kinds, in bits.
const MOST_BITS: f64 = 5.0;

/// Entropies are sums of whole numbers, so that no order of additions matters: units a bit.
const UNIT: f64 = (1u64 << 40) as f64;

/// Rounding of an entropy at the most, in those units.
const SLACK: i64 = 64;

/// Logarithms of factorials are whole millionths, as in BLAST+: ties are ties there too.
const MILLION: f64 = 1e6;

const OTHER: u8 = 0;
const GROWS: u8 = 1;
const TRIGGERS: u8 = 2;

/// What the sum of `n log2 n` of a window must reach, by how many others it has.
type Reach = [i64; MOST_OTHERS + 1];

/// Finds masks of proteins. Keeps room for the next one.
#[derive(Clone, Debug)]
pub struct Seg {
    window: usize,
    low: Reach,
    high: Reach,
    /// What the sum of `n log2 n` gains when n becomes n + 1.
    gains: Vec<i64>,
    judged: Vec<u8>,
    found: Vec<Range<usize>>,
}

impl Seg {
    /// For windows of `window` residues; `low` and `high` in bits a residue, from 0 to 4.33.
    ///
    /// `high` is at least `low`, and a window has 1 to 65,536 residues: what is outside becomes the
    /// nearest. From 4 residues on masks are those of segmasker, with ranges that overlap made one.
    pub fn new(window: usize, low: f64, high: f64) -> Seg {
        let window = window.clamp(1, MOST_WINDOW);
        let [low, high] = [low, high].map(|cut| if cut.is_nan() { 0.0 } else { cut });
        let low = low.clamp(0.0, MOST_BITS);
        let reach = |cut: f64| std::array::from_fn(|others| least_sum(window, others, cut));
        Seg {
            window,
            low: reach(low),
            high: reach(high.clamp(low, MOST_BITS)),
            gains: (0..=window)
                .map(|n| in_units(n_log_n(n + 1)) - in_units(n_log_n(n)))
                .collect(),
            judged: Vec::new(),
            found: Vec::new(),
        }
    }

    /// As blastp masks the subjects whose composition it adjusts for: 10, 1.8, 2.1.
    pub fn of_subjects() -> Seg {
        Seg::new(10, 1.8, 2.1)
    }

    /// As segmasker does, and blastx and tblastn with their queries: 12, 2.2, 2.5.
    pub fn of_queries() -> Seg {
        Seg::new(12, 2.2, 2.5)
    }

    /// The mask of a protein, given as codes of [`crate::residue`].
    ///
    /// ```
    /// use gyrase_align::{mask::seg::Seg, residue};
    ///
    /// let protein = b"MKVLAQWERTYHHHHHHHHHHHHHHHHNDCFGIKLPWST".map(residue::code);
    /// assert_eq!(Seg::of_queries().mask(&protein), [11..27]);
    /// ```
    pub fn mask(&mut self, residues: &[u8]) -> &[Range<usize>] {
        self.found.clear();
        if self.judge(residues) {
            let last = residues.len() - self.window;
            self.scan(residues, 0, last);
            merge(&mut self.found);
        }
        &self.found
    }

    /// Judges every window, at its first position; false when none triggers.
    fn judge(&mut self, residues: &[u8]) -> bool {
        self.judged.clear();
        let Some((first, rest)) = residues.split_at_checked(self.window) else {
            return false;
        };
        let mut sums = Sums::new(&self.gains);
        first.iter().for_each(|&residue| sums.add(residue));
        self.judged.reserve(rest.len() + 1);
        self.judged.push(sums.judged(&self.low, &self.high));
        for (&leaves, &enters) in residues.iter().zip(rest) {
            sums.remove(leaves);
            sums.add(enters);
            self.judged.push(sums.judged(&self.low, &self.high));
        }
        self.judged.contains(&TRIGGERS)
    }

    /// Finds stretches among the windows that begin at `first` to `last`.
    fn scan(&mut self, residues: &[u8], first: usize, last: usize) {
        let (mut limit, mut at) = (first, first);
        while at <= last {
            if self.judged[at] != TRIGGERS {
                at += 1;
                continue;
            }
            let before = self.judged[limit..at].iter().rev();
            let low = at - before.take_while(|&&judged| judged != OTHER).count();
            let behind = self.judged[at + 1..=last].iter();
            let high = at + behind.take_while(|&&judged| judged != OTHER).count();
            let stretch = low..high + self.window;
            let trimmed = trim(&residues[stretch.clone()]);
            let (left, right) = (low + trimmed.start, low + trimmed.end);
            if at + self.window <= left {
                self.scan(residues, low, left - self.window);
            }
            self.found.push(left..right);
            at = high.min(right - 1) + 1;
            limit = at;
        }
    }
}

/// How many residues of each kind a window has, and the sum of `n log2 n` of these numbers.
struct Sums<'a> {
    gains: &'a [i64],
    counts: [u32; STANDARD],
    sum: i64,
    others: usize,
}

impl Sums<'_> {
    fn new(gains: &[i64]) -> Sums<'_> {
        Sums {
            gains,
            counts: [0; STANDARD],
            sum: 0,
            others: 0,
        }
    }

    fn add(&mut self, residue: u8) {
        match self.counts.get_mut(residue as usize) {
            Some(count) => {
                self.sum += self.gains[*count as usize];
                *count += 1;
            }
            None => self.others += 1,
        }
    }

    fn remove(&mut self, residue: u8) {
        match self.counts.get_mut(residue as usize) {
            Some(count) => {
                *count -= 1;
                self.sum -= self.gains[*count as usize];
            }
            None => self.others -= 1,
        }
    }

    /// What such a window does, by the sums for low windows and for those that stretches grow over.
    fn judged(&self, low: &Reach, high: &Reach) -> u8 {
        match high.get(self.others) {
            Some(&high) if self.sum >= high => GROWS + u8::from(self.sum >= low[self.others]),
            _ => OTHER,
        }
    }
}

/// Sorts ranges, and makes one of those that overlap.
fn merge(ranges: &mut Vec<Range<usize>>) {
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    ranges.dedup_by(|next, kept| {
        let overlaps = next.start < kept.end;
        if overlaps {
            kept.end = kept.end.max(next.end);
        }
        overlaps
    });
}

fn n_log_n(n: usize) -> f64 {
    if n == 0 {
        0.0
    } else {
        n as f64 * (n as f64).log2()
    }
}

fn in_units(bits: f64) -> i64 {
    (bits * UNIT).round() as i64
}

/// The sum of `n log2 n` from which on a window's entropy is at most `cut`.
fn least_sum(window: usize, others: usize, cut: f64) -> i64 {
    let total = window.saturating_sub(others);
    in_units(n_log_n(total) - total as f64 * cut) - SLACK
}

/// The least probable part of a stretch, the longest of equals, then the first.
fn trim(stretch: &[u8]) -> Range<usize> {
    let shortest = stretch.len().saturating_sub(MOST_TRIMMED).max(1);
    let (mut best, mut part) = (1.0, 0..stretch.len());
    let mut prefix = Composition::of(stretch);
    for length in (shortest + 1..=stretch.len()).rev() {
        prefix.resize(stretch, length);
        let (least, at) = prefix.clone().least(stretch, length);
        let constant = least.saturating_add(ln_factorial(STANDARD) + ln_factorial(length));
        let probability = constant as f64 / MILLION - length as f64 * (STANDARD as f64).ln();
        if probability < best {
            best = probability;
            part = at..at + length;
        }
    }
    part
}

/// How many residues of each kind a window has, and how many kinds have each count.
///
/// The logarithm of the probability of such a composition is, but for terms of the length, minus
/// the logarithms of the factorials of both.
#[derive(Clone)]
struct Composition {
    counts: [u32; STANDARD],
    kinds: Vec<u8>,
    length: usize,
    value: i64,
    standard: usize,
}

impl Composition {
    fn of(residues: &[u8]) -> Composition {
        let mut composition = Composition {
            counts: [0; STANDARD],
            kinds: vec![0; residues.len() + 2],
            length: residues.len(),
            value: -ln_factorial(STANDARD),
            standard: 0,
        };
        composition.kinds[0] = STANDARD as u8;
        residues
            .iter()
            .for_each(|&residue| composition.add(residue));
        composition
    }

    fn add(&mut self, residue: u8) {
        let Some(count) = self.counts.get_mut(residue as usize) else {
            return;
        };
        let now = *count as usize;
        *count += 1;
        self.standard += 1;
        self.value += step(self.kinds[now] as usize) - step(now + 1);
        self.kinds[now] -= 1;
        self.kinds[now + 1] += 1;
        self.value -= step(self.kinds[now + 1] as usize);
    }

    fn remove(&mut self, residue: u8) {
        let Some(count) = self.counts.get_mut(residue as usize) else {
            return;
        };
        let now = *count as usize;
        *count -= 1;
        self.standard -= 1;
        self.value += step(self.kinds[now] as usize) + step(now);
        self.kinds[now] -= 1;
        self.kinds[now - 1] += 1;
        self.value -= step(self.kinds[now - 1] as usize);
    }

    /// Shortens the window from behind to `length`.
    fn resize(&mut self, residues: &[u8], length: usize) {
        for &residue in &residues[length..self.length] {
            self.remove(residue);
        }
        self.length = length;
    }

    /// The least value of a window of `length`, and where the first such window begins.
    fn least(mut self, residues: &[u8], length: usize) -> (i64, usize) {
        let (mut least, mut at_least) = (self.judged(), 0);
        let (mut counts, mut kinds) = (self.counts, self.kinds.clone());
        for (at, (&leaves, &enters)) in residues.iter().zip(&residues[length..]).enumerate() {
            if leaves == enters {
                continue;
            }
            self.remove(leaves);
            self.add(enters);
            let value = self.judged();
            let tie = value == least && kinds != self.kinds;
            if value < least || tie && last_bits(self.counts, length) < last_bits(counts, length) {
                (least, at_least, counts) = (value, at + 1, self.counts);
                kinds.clone_from(&self.kinds);
            }
        }
        (least, at_least)
    }

    /// A window without any standard residue is no simple one.
    fn judged(&self) -> i64 {
        if self.standard == 0 {
            i64::MAX / 2
        } else {
            self.value
        }
    }
}

/// What decides between compositions of one value: the sum in the order of BLAST+, by falling
/// counts, whose last bits depend on it.
fn last_bits(mut counts: [u32; STANDARD], length: usize) -> f64 {
    let ln_factorial = |n: usize| ln_factorial(n) as f64 / MILLION;
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let kinds = counts.chunk_by(|a, b| a == b);
    let of_kinds = kinds.fold(ln_factorial(STANDARD), |sum, kind| {
        sum - ln_factorial(kind.len())
    });
    let present = counts.iter().take_while(|&&count| count > 0);
    let of_counts = present.fold(ln_factorial(length), |sum, &count| {
        sum - ln_factorial(count as usize)
    });
    of_kinds + of_counts - length as f64 * (STANDARD as f64).ln()
}

/// The logarithm of n! in millionths.
fn ln_factorial(n: usize) -> i64 {
    let exact = if n < 20 {
        (1..=n).map(|factor| factor as f64).product::<f64>().ln()
    } else {
        let n = n as f64;
        let series = 1.0 / (12.0 * n) - 1.0 / (360.0 * n.powi(3)) + 1.0 / (1260.0 * n.powi(5));
        n * n.ln() - n + 0.5 * (std::f64::consts::TAU * n).ln() + series
    };
    (exact * MILLION).round() as i64
}

/// What the logarithm of the factorial gains from n - 1 to n, n at least 1.
fn step(n: usize) -> i64 {
    static STEPS: LazyLock<Vec<i64>> = LazyLock::new(|| (0..4096).map(exact_step).collect());
    STEPS.get(n).copied().unwrap_or_else(|| exact_step(n))
}

fn exact_step(n: usize) -> i64 {
    ln_factorial(n) - ln_factorial(n.saturating_sub(1))
}

#[cfg(test)]
mod tests;
