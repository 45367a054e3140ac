//! The best prefixes of many pairs of nucleotide sequences without gaps. Written once for all
//! processors: the compiler makes vectors of the lanes.

use super::lanes::LANES;

/// Bases of each pair.
const BASES: usize = u32::BITS as usize;
/// Far below any score.
const NEVER: i16 = i16::MIN / 2;

/// What bases score, and what the score may fall below the best before a pair ends.
#[derive(Clone, Copy, Debug)]
pub struct UngappedCosts {
    /// Of a match.
    pub reward: i16,
    /// Of a mismatch; below 0.
    pub penalty: i16,
    /// What the score may fall.
    pub drop: i16,
}

/// The best prefixes of the pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UngappedGains {
    /// What they score, 0 at least.
    pub scores: [i16; LANES],
    /// Their bases.
    pub lengths: [i16; LANES],
    /// What scores have fallen at the last base, if so far they did not fall too much: such a pair
    /// may go on. Others have more than the limit.
    pub fallen: [i16; LANES],
}

/// The kernel: see [`super::Kernels::ungapped_gains`].
#[inline(always)]
pub(super) fn ungapped_gains(costs: UngappedCosts, differing: &[u32; LANES]) -> UngappedGains {
    let UngappedCosts {
        reward,
        penalty,
        drop,
    } = costs;
    let less = reward.wrapping_sub(penalty);
    let (mut scores, mut lengths) = ([0_i16; LANES], [0_i16; LANES]);
    let mut sums = [0_i16; LANES];
    for half in 0..2 {
        let bits = differing.map(|bits| (bits >> (16 * half)) as i16);
        for place in 0..BASES / 2 {
            let length = (BASES / 2 * half + place + 1) as i16;
            for lane in 0..LANES {
                let differs = -(bits[lane] >> place & 1);
                let sum = sums[lane] + reward - (differs & less);
                let rises = sum > scores[lane];
                scores[lane] = if rises { sum } else { scores[lane] };
                lengths[lane] = if rises { length } else { lengths[lane] };
                sums[lane] = if scores[lane] - sum > drop {
                    NEVER
                } else {
                    sum
                };
            }
        }
    }
    UngappedGains {
        scores,
        lengths,
        fallen: std::array::from_fn(|lane| scores[lane] - sums[lane]),
    }
}
