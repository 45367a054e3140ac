//! Random numbers that are the same on every machine.

/// A SplitMix64 generator (Steele, Lea and Flood 2014, doi:10.1145/2660193.2660195).
#[derive(Clone, Debug)]
pub struct Random(u64);

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

impl Random {
    /// The generator number `index` of the kind `domain` under `seed`: all of them are independent.
    pub fn stream(seed: u64, domain: u64, index: u64) -> Random {
        Random(mix(mix(
            mix(seed.wrapping_add(STEP)) ^ domain.wrapping_mul(STEP)
        )
        .wrapping_add(index)))
    }

    /// The next 64 random bits.
    #[inline(always)]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// A whole number from 0 to `bound - 1`; 0 when `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from 0 to below 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with the given probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// A number of mean 0 and variance 1, normal but for its tails beyond 6: the sum of twelve
    /// uniform ones, as it needs no logarithm.
    pub fn normal(&mut self) -> f64 {
        let sum: u64 = (0..3).map(|_| self.bits()).map(quarters).sum();
        (sum as f64 + 6.0) / 65536.0 - 6.0
    }
}

fn quarters(bits: u64) -> u64 {
    (0..4).map(|i| bits >> (16 * i) & 0xffff).sum()
}

/// e to the power of `x`, rounded the same on every machine (relative error below 1e-12 for |x| <
/// 50).
pub(crate) fn exp(x: f64) -> f64 {
    const HALVINGS: i32 = 10;
    let small = x / f64::from(1 << HALVINGS);
    let series = (1..=8)
        .rev()
        .fold(1.0, |sum, n| 1.0 + sum * small / f64::from(n));
    (0..HALVINGS).fold(series, |power, _| power * power)
}

/// The natural logarithm of a number between e^-40 and e^40, rounded the same on every machine.
pub(crate) fn ln(x: f64) -> f64 {
    let (mut low, mut high) = (-40.0, 40.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if exp(middle) < x {
            low = middle
        } else {
            high = middle
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_fixed_and_differ() {
        let first = |seed, domain, index| Random::stream(seed, domain, index).bits();
        let mut all = vec![
            first(0, 0, 0),
            first(1, 0, 0),
            first(0, 1, 0),
            first(0, 0, 1),
        ];
        assert_eq!(all[0], 3_235_846_975_224_723_415);
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 4);
    }

    #[test]
    fn moments_are_right() {
        let mut random = Random::stream(7, 0, 0);
        let draws: Vec<f64> = (0..200_000).map(|_| random.normal()).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance =
            draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / draws.len() as f64;
        assert!(mean.abs() < 0.01, "{mean}");
        assert!((variance - 1.0).abs() < 0.02, "{variance}");
        let mean = (0..100_000).map(|_| random.below(10)).sum::<u64>() as f64 / 100_000.0;
        assert!((mean - 4.5).abs() < 0.05, "{mean}");
        assert_eq!(random.below(0), 0);
        assert_eq!(random.below(1), 0);
    }

    #[test]
    fn exp_and_ln_agree_with_the_library() {
        for x in [-30.0, -3.5, -0.1, 0.0, 1e-9, 0.7, 1.0, 12.0, 39.0f64] {
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-11, "{x}");
            assert!((ln(x.exp()) - x).abs() < 1e-9, "{x}");
        }
    }
}
