//! The natural logarithm in plain arithmetic.
//!
//! Libraries of the system differ in the last bit, and none can be vectorised; this one gives the
//! same bits on every processor and in every vector.

/// The bits of the square root of one half: where one binary exponent ends and the next begins.
const BORDER: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();
const ONE: u64 = 1f64.to_bits();
/// 2^52: its last bits count ones, so that an integer becomes a number without a conversion.
const COUNTER: f64 = 4_503_599_627_370_496.0;
const BIAS: f64 = COUNTER + 1023.0;

/// The first bits of ln 2: their products with exponents are exact.
const LN_2_HIGH: f64 = f64::from_bits(std::f64::consts::LN_2.to_bits() & !0xffff_ffff);
const LN_2_LOW: f64 = std::f64::consts::LN_2 - LN_2_HIGH;

/// Coefficients, last first, of the polynomial in s² nearest to (ln m - 2s)/s³ for m in [√½, √2):
/// a relative error of 2e-16 in ln m. They are near those of the series, 2/3, 2/5, 2/7, ...
const SERIES: [f64; 6] = [
    0.168_198_277_394_789_54,
    0.181_236_420_792_640_7,
    0.222_233_716_983_975_6,
    0.285_714_171_295_800_9,
    0.400_000_000_522_749_75,
    0.666_666_666_665_872,
];

/// The natural logarithm of a positive, normal number, with a relative error below 6e-16;
/// nonsense for others.
///
/// With m in [√½, √2) and s = (m-1)/(m+1), ln m is 2(s + s³/3 + s⁵/5 + ...).
#[inline(always)]
pub(super) fn ln(x: f64) -> f64 {
    let shifted = x.to_bits().wrapping_sub(BORDER).wrapping_add(ONE);
    let exponent = f64::from_bits((shifted >> 52) | COUNTER.to_bits()) - BIAS;
    let m = f64::from_bits((shifted & ((1 << 52) - 1)).wrapping_add(BORDER));
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let mut series = SERIES[0];
    for coefficient in &SERIES[1..] {
        series = series * z + coefficient;
    }
    let small = exponent * LN_2_LOW + s * z * series;
    exponent * LN_2_HIGH + (2.0 * s + small)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn knows_exact_values() {
        assert_eq!(ln(1.0), 0.0);
        for power in -1000..1000 {
            let expected = f64::from(power) * std::f64::consts::LN_2;
            assert!((ln(2f64.powi(power)) - expected).abs() <= expected.abs() * 3e-16);
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_library(x in 1e-300f64..1e300, near in 0.4f64..2.5) {
            for one in [x, near, near * 1e-6] {
                let expected = one.ln();
                prop_assert!((ln(one) - expected).abs() <= 6e-16 * expected.abs().max(1e-3), "{one}");
            }
        }
    }
}
