//! How many distinct keys: HyperLogLog (Flajolet et al. 2007, doi:10.46298/dmtcs.3545).

const BITS: u32 = 10;

/// An estimate of the number of distinct places seen, within about 3 % (one standard error), in 1
/// KiB.
#[derive(Clone, Debug)]
pub struct Cardinality {
    registers: Box<[u8; 1 << BITS]>,
}

impl Default for Cardinality {
    fn default() -> Cardinality {
        Cardinality {
            registers: Box::new([0; 1 << BITS]),
        }
    }
}

impl Cardinality {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.registers.fill(0);
    }

    /// Sees a uniform number, once or many times.
    #[inline(always)]
    pub fn see(&mut self, place: u64) {
        let register = &mut self.registers[(place >> (64 - BITS)) as usize];
        // The guard bit ends the count where the register's own bits would begin.
        let zeros = (place << BITS | 1 << (BITS - 1)).leading_zeros() as u8 + 1;
        *register = (*register).max(zeros);
    }

    /// The estimate.
    pub fn estimate(&self) -> usize {
        let mut tally = [0u32; 65];
        self.registers
            .iter()
            .for_each(|&register| tally[usize::from(register)] += 1);
        let m = f64::from(1 << BITS);
        let sum: f64 = tally
            .iter()
            .enumerate()
            .map(|(zeros, &n)| f64::from(n) * (-(zeros as f64)).exp2())
            .sum();
        let raw = 0.7213 / (1.0 + 1.079 / m) * m * m / sum;
        if raw <= 2.5 * m && tally[0] > 0 {
            return (m * (m / f64::from(tally[0])).ln()).round() as usize;
        }
        raw.round() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_within_a_tenth() {
        for distinct in [0usize, 1, 10, 500, 3000, 20_000, 1_000_000] {
            let mut cardinality = Cardinality::default();
            for i in 0..2 * distinct as u64 {
                cardinality.see(gyrase_kmer::mix(i % distinct as u64 + 1));
            }
            let error = (cardinality.estimate() as f64 - distinct as f64).abs();
            assert!(
                error <= 0.1 * distinct as f64 + 1.0,
                "{distinct}: {}",
                cardinality.estimate()
            );
        }
    }
}
