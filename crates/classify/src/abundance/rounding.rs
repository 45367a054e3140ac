//! Whole numbers of reads that add up.

use std::cmp::Reverse;

/// Shares are compared in units of 2^-20 read, so that the last bits of their arithmetic decide no
/// tie.
const UNIT: u32 = 20;

/// Shares that sum to `total`, rounded by largest remainder so that the whole numbers do too;
/// earlier ones win ties.
pub(super) fn rounded(shares: &[f64], total: u64) -> Vec<u64> {
    let units: Vec<_> = shares
        .iter()
        .map(|share| (share * f64::from(1 << UNIT)).round() as u128)
        .collect();
    let mut whole: Vec<_> = units.iter().map(|units| (units >> UNIT) as u64).collect();
    let mut places: Vec<_> = (0..shares.len()).collect();
    places.sort_by_key(|&place| Reverse(units[place] & ((1 << UNIT) - 1)));
    let left = total.saturating_sub(whole.iter().sum());
    places
        .iter()
        .take(left as usize)
        .for_each(|&place| whole[place] += 1);
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_remainders_get_what_is_left() {
        assert!(rounded(&[], 0).is_empty());
        assert_eq!(rounded(&[1.2, 2.7, 3.1], 7), [1, 3, 3]);
        assert_eq!(rounded(&[1.5, 2.5, 3.0], 7), [2, 2, 3]);
        assert_eq!(rounded(&[2.999_999_999_9, 3.000_000_000_1], 6), [3, 3]);
    }

    #[test]
    fn noise_of_the_arithmetic_decides_no_tie() {
        let third = 10.0 / 3.0;
        assert_eq!(
            rounded(&[third, third + 1e-12, third - 1e-12], 10),
            [4, 3, 3]
        );
        assert_eq!(
            rounded(&[4e9 + 0.25, 4e9 + 0.75], 8_000_000_001),
            [4_000_000_000, 4_000_000_001]
        );
    }
}
