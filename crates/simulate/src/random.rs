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

    /// A number whose logarithm has mean `mu` and standard deviation `sigma`, and is normal as
    /// [`normal`](Random::normal) is.
    pub fn log_normal(&mut self, mu: f64, sigma: f64) -> f64 {
        exp(mu + sigma * self.normal())
    }

    /// An exponential number of mean 1, exact without a logarithm: runs of falling uniform numbers
    /// are drawn until one has an odd length, and those before it are counted (von Neumann 1951,
    /// *Various techniques used in connection with random digits*).
    pub fn exponential(&mut self) -> f64 {
        let mut whole = 0.0;
        loop {
            let first = self.unit();
            let (mut last, mut odd) = (first, true);
            loop {
                let next = self.unit();
                if next >= last {
                    break;
                }
                (last, odd) = (next, !odd);
            }
            if odd {
                return whole + first;
            }
            whole += 1.0;
        }
    }
}

fn quarters(bits: u64) -> u64 {
    (0..4).map(|i| bits >> (16 * i) & 0xffff).sum()
}

/// e to the power of `x`, rounded the same on every machine (relative error below 1e-12 for |x| <
/// 50).
fn exp(x: f64) -> f64 {
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
    fn exponential_numbers_are_spread_as_they_should() {
        let mut random = Random::stream(7, 0, 1);
        let draws: Vec<f64> = (0..200_000).map(|_| random.exponential()).collect();
        let mean = draws.iter().sum::<f64>() / 200_000.0;
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        for limit in [0.1, 0.5, 1.0, 2.5, 6.0f64] {
            let above = draws.iter().filter(|&&draw| draw > limit).count() as f64 / 200_000.0;
            assert!((above - (-limit).exp()).abs() < 0.004, "{limit}: {above}");
        }
        let middle = (0..100_001)
            .map(|_| random.log_normal(1.0, 0.5))
            .filter(|&x| x < exp(1.0));
        assert!(middle.count().abs_diff(50_000) < 700);
    }

    #[test]
    fn exp_and_ln_agree_with_the_library() {
        for x in [-30.0, -3.5, -0.1, 0.0, 1e-9, 0.7, 1.0, 12.0, 39.0f64] {
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-11, "{x}");
            assert!((ln(x.exp()) - x).abs() < 1e-9, "{x}");
        }
    }
}
