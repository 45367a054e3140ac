//! The sequencing machine: letters of a template in, letters with errors and matching qualities
//! out.

use crate::Random;

/// The quality that a machine without errors writes.
const BEST: u8 = 41;
/// The best level of qualities; one better is still below 64.
const TOP: u8 = 62;
/// Error probability that a quality of 0, 1, .. stands for is this power: 10^(-1/10).
const STEP: f64 = 0.794_328_234_724_281_5;
/// Quality of a letter that the machine could not read.
const UNREAD: u8 = 2;
/// How far below the level of their position the qualities of 256 equally likely bases lie.
const SPREAD: [(u8, u16); 8] = [
    (0, 150),
    (1, 40),
    (2, 22),
    (4, 16),
    (7, 12),
    (11, 8),
    (16, 5),
    (22, 3),
];

/// Phred + 33.
pub(crate) const PHRED_ZERO: u8 = 33;

/// How errors are spread over a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Course {
    /// Tenfold from the first base to the last, by the square of the position, as on Illumina
    /// machines.
    Rising,
    /// The same everywhere.
    Flat,
}

/// A machine: for each position 256 equally likely qualities, each of which errs as often as it
/// says.
#[derive(Clone, Debug)]
pub(crate) struct Sequencer {
    qualities: Vec<[u8; 256]>,
    /// Per quality, how many of 2^32 bases are wrong.
    errors: [u64; 64],
    /// How many of 2^16 errors are a base too many or too few.
    indels: u64,
    complements: [u8; 256],
}

impl Sequencer {
    /// A machine for reads of `length` bases with the mean error rate `rate`, of which the share
    /// `indels` are insertions and deletions. A rate of 0 makes no error and writes the best
    /// quality.
    pub(crate) fn new(length: usize, rate: f64, indels: f64, course: Course) -> Sequencer {
        let probabilities = std::array::from_fn(|quality| probability(quality as u8));
        let positions = if course == Course::Flat { 1 } else { length };
        let qualities = (0..positions)
            .map(|i| qualities_of(rate * course.factor(i, length), &probabilities))
            .collect();
        let scale = (1u64 << 32) as f64;
        let mut errors = [0; 64];
        if rate > 0.0 {
            (0u8..)
                .zip(&mut errors)
                .for_each(|(quality, errors)| *errors = (probability(quality) * scale) as u64);
        }
        let complements = std::array::from_fn(|letter| gyrase_seq::complement(letter as u8));
        Sequencer {
            qualities,
            errors,
            indels: (indels * 65536.0) as u64,
            complements,
        }
    }

    /// Reads `template` (its minus strand if `reverse`), adding letters and qualities (Phred + 33).
    pub(crate) fn read(
        &self,
        template: &[u8],
        reverse: bool,
        random: &mut Random,
        read: &mut Read,
    ) {
        read.clear();
        if reverse {
            let complement = |&letter: &u8| self.complements[usize::from(letter)];
            self.read_letters(template.iter().rev().map(complement), random, read);
        } else {
            self.read_letters(template.iter().copied(), random, read);
        }
    }

    #[inline(always)]
    fn read_letters(
        &self,
        template: impl Iterator<Item = u8>,
        random: &mut Random,
        read: &mut Read,
    ) {
        let last = self.qualities.len() - 1;
        for (i, letter) in template.enumerate() {
            let bits = random.bits();
            let quality = self.qualities[i.min(last)][(bits & 0xff) as usize];
            if letter == b'N' {
                read.push(letter, UNREAD);
            } else if bits >> 32 >= self.errors[usize::from(quality)] {
                read.push(letter, quality);
            } else {
                self.err(letter, quality, bits >> 8 & 0xffff, random.bits(), read);
            }
        }
    }

    /// One error at `letter`; `kind` (16 bits) says which, `bits` choose the wrong base.
    #[cold]
    fn err(&self, letter: u8, quality: u8, kind: u64, bits: u64, read: &mut Read) {
        if kind >= self.indels {
            read.push(substitute(letter, bits), quality);
        } else if kind & 1 == 0 {
            read.push(gyrase_seq::decode((bits >> 60) as u8), quality);
            read.push(letter, quality);
        }
        read.errors += 1;
    }
}

impl Course {
    /// Error rate at position `i` of `length`, over the mean of all positions.
    fn factor(self, i: usize, length: usize) -> f64 {
        let place = (i as f64 + 0.5) / length as f64;
        match self {
            Course::Rising => 0.25 + 2.25 * place * place,
            Course::Flat => 1.0,
        }
    }
}

/// One of the three other bases.
pub(crate) fn substitute(letter: u8, bits: u64) -> u8 {
    let code = gyrase_seq::encode(letter).unwrap_or(0);
    gyrase_seq::decode(code.wrapping_add(1 + (((bits >> 32) * 3) >> 32) as u8))
}

/// Chance of an error at a base of this quality.
fn probability(quality: u8) -> f64 {
    (0..quality).fold(1.0, |probability, _| probability * STEP)
}

/// 256 qualities whose mean chance of an error is as near to `rate` as one quality step in one of
/// them allows.
fn qualities_of(rate: f64, probabilities: &[f64; 64]) -> [u8; 256] {
    if rate == 0.0 {
        return [BEST; 256];
    }
    let mean = |level: u8, raised: usize| {
        let sum: f64 = spread(level, raised)
            .iter()
            .map(|&quality| probabilities[usize::from(quality)])
            .sum();
        sum / 256.0
    };
    let level = (UNREAD..TOP)
        .find(|&level| mean(level, 256) <= rate)
        .unwrap_or(TOP);
    let (mut low, mut high) = (0, 256);
    while low < high {
        let raised = (low + high) / 2;
        if mean(level, raised) <= rate {
            high = raised
        } else {
            low = raised + 1
        }
    }
    spread(level, low)
}

/// The qualities of a level, the first `raised` of them one step better.
fn spread(level: u8, raised: usize) -> [u8; 256] {
    let mut drops = SPREAD
        .iter()
        .flat_map(|&(drop, times)| std::iter::repeat_n(drop, usize::from(times)));
    std::array::from_fn(|i| {
        let drop = drops.next().expect("the spread has 256 entries");
        level.saturating_sub(drop).max(UNREAD) + u8::from(i < raised)
    })
}

/// The letters and qualities that came out of the machine, and how many errors it made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Read {
    pub(crate) letters: Vec<u8>,
    pub(crate) qualities: Vec<u8>,
    pub(crate) errors: u64,
}

impl Read {
    fn clear(&mut self) {
        self.letters.clear();
        self.qualities.clear();
        self.errors = 0;
    }

    #[inline(always)]
    fn push(&mut self, letter: u8, quality: u8) {
        self.letters.push(letter);
        self.qualities.push(quality + PHRED_ZERO);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(length: usize) -> Vec<u8> {
        let mut random = Random::stream(3, 0, 0);
        (0..length)
            .map(|_| gyrase_seq::decode(random.bits() as u8))
            .collect()
    }

    #[test]
    fn a_perfect_machine_copies() {
        let machine = Sequencer::new(100, 0.0, 0.0, Course::Rising);
        let template = template(100);
        let mut read = Read::default();
        machine.read(&template, false, &mut Random::stream(1, 0, 0), &mut read);
        assert_eq!(read.letters, template);
        machine.read(&template, true, &mut Random::stream(1, 0, 0), &mut read);
        assert_eq!(read.letters, gyrase_seq::reverse_complement(&template));
        assert_eq!(read.errors, 0);
    }

    #[test]
    fn errors_are_as_many_as_asked_and_as_the_qualities_say() {
        for (rate, course) in [
            (0.001, Course::Rising),
            (0.02, Course::Rising),
            (0.1, Course::Flat),
        ] {
            let machine = Sequencer::new(150, rate, 0.0, course);
            let template = template(150);
            let mut random = Random::stream(5, 0, 0);
            let (mut wrong, mut told, mut late) = (0.0, 0.0, 0.0);
            for _ in 0..10_000 {
                let mut read = Read::default();
                machine.read(&template, false, &mut random, &mut read);
                for i in 0..150 {
                    let differs = f64::from(u8::from(read.letters[i] != template[i]));
                    wrong += differs;
                    late += if i < 75 { 0.0 } else { differs };
                    told += probability(read.qualities[i] - PHRED_ZERO);
                }
            }
            let all = 150.0 * 10_000.0;
            assert!(
                (wrong / all / rate - 1.0).abs() < 0.08,
                "{rate}: {}",
                wrong / all
            );
            assert!(
                (told / all / rate - 1.0).abs() < 0.03,
                "{rate}: {}",
                told / all
            );
            let share = if course == Course::Flat { 0.5 } else { 0.78 };
            assert!(
                (late / wrong - share).abs() < 0.05,
                "{rate}: {}",
                late / wrong
            );
        }
    }

    #[test]
    fn indels_change_the_length_and_nothing_else_does() {
        let machine = Sequencer::new(1, 0.1, 1.0, Course::Flat);
        let template = template(100_000);
        let mut read = Read::default();
        machine.read(&template, false, &mut Random::stream(1, 0, 0), &mut read);
        assert_eq!(read.letters.len(), read.qualities.len());
        assert!((9_000..11_000).contains(&read.errors), "{}", read.errors);
        assert!(
            read.letters.len().abs_diff(template.len()) < 500,
            "{}",
            read.letters.len()
        );
    }

    #[test]
    fn n_stays_n_with_a_low_quality() {
        let machine = Sequencer::new(4, 0.01, 0.0, Course::Flat);
        let mut read = Read::default();
        machine.read(b"NNNN", false, &mut Random::stream(1, 0, 0), &mut read);
        assert_eq!(
            (read.letters.as_slice(), read.qualities.as_slice()),
            (&b"NNNN"[..], &b"####"[..])
        );
    }

    #[test]
    fn a_substitute_is_another_base() {
        let mut random = Random::stream(1, 0, 0);
        for letter in *b"ACGT" {
            assert!((0..100).all(|_| substitute(letter, random.bits()) != letter));
        }
    }
}
