//! The best prefixes of many pairs of nucleotide sequences without gaps. Written once for all
//! processors: the compiler makes vectors of the lanes.

use super::lanes::LANES;

/// Bases of each pair.
const BASES: usize = u32::BITS as usize;

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

/// What scores of bytes may be.
const MOST_IN_BYTES: i16 = i8::MAX as i16;
const MOST_DROP_IN_BYTES: i16 = 100;

/// The kernel: see [`super::Kernels::ungapped_gains`].
#[inline(always)]
pub(super) fn ungapped_gains(costs: UngappedCosts, differing: &[u32; LANES]) -> UngappedGains {
    let fit = costs.reward * BASES as i16 <= MOST_IN_BYTES
        && costs.penalty >= -MOST_IN_BYTES
        && costs.drop <= MOST_DROP_IN_BYTES;
    match fit {
        true => in_bytes(costs, differing),
        false => in_words(costs, differing),
    }
}

/// The kernel for lanes of a type. A score that has fallen too much is so far below that it never
/// comes back. Bits choose a length: of a branch AVX2 makes a store for each lane.
macro_rules! kernel {
    ($name:ident, $lane:ty) => {
        #[inline(always)]
        fn $name(costs: UngappedCosts, differing: &[u32; LANES]) -> UngappedGains {
            const PLACES: usize = <$lane>::BITS as usize;
            let UngappedCosts {
                reward,
                penalty,
                drop,
            } = costs;
            let [reward, penalty, drop] = [reward, penalty, drop].map(|cost| cost as $lane);
            let (mut scores, mut lengths) = ([0; LANES], [0; LANES]);
            let mut sums: [$lane; LANES] = [0; LANES];
            for part in 0..BASES / PLACES {
                let bits = differing.map(|bits| (bits >> (PLACES * part)) as $lane);
                for place in 0..PLACES {
                    let length = (PLACES * part + place + 1) as $lane;
                    let bit: $lane = 1 << place;
                    for lane in 0..LANES {
                        let equal = bits[lane] & bit == 0;
                        let sum = sums[lane].saturating_add(if equal { reward } else { penalty });
                        let rises = -<$lane>::from(sum > scores[lane]);
                        scores[lane] = scores[lane].max(sum);
                        lengths[lane] ^= (lengths[lane] ^ length) & rises;
                        let has_fallen = scores[lane].saturating_sub(sum) > drop;
                        sums[lane] = if has_fallen { <$lane>::MIN } else { sum };
                    }
                }
            }
            let fallen: [$lane; LANES] =
                std::array::from_fn(|lane| scores[lane].saturating_sub(sums[lane]));
            UngappedGains {
                scores: scores.map(i16::from),
                lengths: lengths.map(i16::from),
                fallen: fallen.map(i16::from),
            }
        }
    };
}

kernel!(in_bytes, i8);
kernel!(in_words, i16);
