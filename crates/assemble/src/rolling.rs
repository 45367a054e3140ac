//! A hash of the k bases in a window, of any k, that is the same for both strands.

use gyrase_kmer::mix;

/// A number for each code, as good as any: the first digits of the square roots of 2, 3, 5, 7.
const VALUES: [u64; 4] = [
    0x6a09_e667_f3bc_c909,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
];

/// What the value of a base is multiplied by for each place; odd, so that it can be taken back.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// Polynomials of both strands modulo 2^64: the hash of the next window takes a few steps.
#[derive(Clone, Copy, Debug)]
pub struct Rolling {
    /// The base to the powers k-1 and k, and its inverse.
    top: u64,
    above: u64,
    inverse: u64,
}

/// The hashes of a window and of its reverse complement.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window {
    forward: u64,
    backward: u64,
}

impl Rolling {
    /// Of windows of `k` bases.
    pub fn new(k: usize) -> Rolling {
        let top = (1..k).fold(1u64, |power, _| power.wrapping_mul(BASE));
        // Newton's iteration doubles the bits that are right.
        let inverse = (0..6).fold(BASE, |x, _| {
            x.wrapping_mul(2u64.wrapping_sub(BASE.wrapping_mul(x)))
        });
        Rolling {
            top,
            above: top.wrapping_mul(BASE),
            inverse,
        }
    }

    /// The window of the first k codes.
    pub fn start(&self, codes: &[u8]) -> Window {
        let add = |sum: u64, code: u8| sum.wrapping_mul(BASE).wrapping_add(value(code));
        let forward = codes.iter().fold(0, |sum, &code| add(sum, code));
        let backward = codes
            .iter()
            .rev()
            .fold(0, |sum, &code| add(sum, other(code)));
        Window { forward, backward }
    }

    /// The window one base on: `old` is its first base, `new` the one behind its last.
    #[inline(always)]
    pub fn next(&self, window: Window, old: u8, new: u8) -> Window {
        let forward = window.forward.wrapping_mul(BASE).wrapping_add(value(new));
        let backward = window.backward.wrapping_sub(value(other(old)));
        Window {
            forward: forward.wrapping_sub(value(old).wrapping_mul(self.above)),
            backward: backward
                .wrapping_mul(self.inverse)
                .wrapping_add(value(other(new)).wrapping_mul(self.top)),
        }
    }
}

impl Window {
    /// The same for both strands, uniform in all of its bits.
    #[inline(always)]
    pub fn hash(self) -> u64 {
        mix(self.forward.min(self.backward))
    }
}

/// The code of the base on the other strand. What is no base has a value as well: a window with it
/// is like none of a graph, but those behind it go on from its hash.
#[inline(always)]
fn other(code: u8) -> u8 {
    3 - (code & 3)
}

#[inline(always)]
fn value(code: u8) -> u64 {
    VALUES[usize::from(code & 3)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_roll_and_do_not_know_the_strand() {
        let mut codes: Vec<u8> = (0..400u64).map(|at| (mix(at) >> 62) as u8).collect();
        for k in [1, 2, 31, 32, 77, 127] {
            let rolling = Rolling::new(k);
            let mut window = rolling.start(&codes[..k]);
            for at in 0..codes.len() - k {
                let stretch = &codes[at..at + k];
                let other: Vec<u8> = stretch.iter().rev().map(|code| 3 - code).collect();
                assert_eq!(window.hash(), rolling.start(stretch).hash());
                assert_eq!(window.hash(), rolling.start(&other).hash());
                window = rolling.next(window, codes[at], codes[at + k]);
            }
        }
        // Behind what is no base windows are as if it had never been.
        codes[7] = crate::reads::NONE;
        let rolling = Rolling::new(31);
        let mut window = rolling.start(&codes[..31]);
        (0..8).for_each(|at| window = rolling.next(window, codes[at], codes[at + 31]));
        assert_eq!(window.hash(), rolling.start(&codes[8..39]).hash());
    }
}
