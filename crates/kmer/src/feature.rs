//! Features: hashes of canonical k-mers, and which k-mers are chosen where one in so many is.

use crate::{Kmer, mix};

/// The longest k of `Choice::Smallest`: its k-mers fill 32 bits.
pub const MAX_FEATURE_K: usize = 16;

/// The longest k of `Choice::OneIn`: its k-mers fill 64 bits.
pub const MAX_SAMPLED_K: usize = 32;

/// Most features of a sketch of `Choice::Smallest`.
pub const MAX_FEATURES: usize = 64;

/// The fewest that `Choice::OneIn` chooses: one in so many k-mers.
pub const MAX_ONE_IN: usize = 1000;

pub(crate) const SALT: u32 = 0x741b_8175;
pub(crate) const FIRST: u32 = 0x21f0_aaad;
pub(crate) const SECOND: u32 = 0x735a_2d97;

/// The feature of a k-mer for `Choice::Smallest`, given as the two-bit value of its canonical
/// form: a bijection of 32-bit words, so equal features of one k are equal k-mers. Part of the file
/// format.
///
/// Two rounds of multiplication make the order of features independent of the order of k-mers, and
/// the salt keeps the commonest low-complexity words from being the smallest, as which they would
/// be in every sketch near them: for k from 12 to 16 words of period 1 and 2, and for k = 16 those
/// of period 3, have features in the upper four fifths; no sketch takes them while it has a choice.
#[inline(always)]
pub const fn feature_of(canonical: u32) -> u32 {
    let word = (canonical ^ SALT).wrapping_mul(FIRST);
    (word ^ word >> 15).wrapping_mul(SECOND)
}

/// Bases of the shortest s-mers: of shorter ones too many are equal.
const LEAST_S: usize = 9;

/// The fewest s-mers of which it means something that one is the smallest.
const LEAST_SMERS: usize = 4;

pub(crate) const SAMPLED_SALT: u64 = 0x78de_fe41_708d_b555;

/// How one k-mer in so many is chosen: by its s-mers, and where these would choose too many, by its
/// own hash besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// s-mers of a k-mer that are compared; 0 when a k-mer is too short for it.
    pub smers: usize,
    /// Bases of an s-mer, at most [`MAX_FEATURE_K`].
    pub s: usize,
    /// Bases of the k-mer before the first of them; behind the last there are as many.
    pub margin: usize,
    /// The largest upper half of a key that is chosen.
    pub limit: u32,
}

impl Sampling {
    /// One in `one_in` k-mers of `k` bases, both at least 1.
    pub(crate) fn new(k: usize, one_in: usize) -> Sampling {
        let smers = (2 * one_in).min((k + 1).saturating_sub(LEAST_S));
        if smers < LEAST_SMERS {
            return Sampling {
                smers: 0,
                s: 0,
                margin: 0,
                limit: u32::MAX / one_in as u32,
            };
        }
        let most = k + 1 - smers;
        let s = most.min(MAX_FEATURE_K);
        let s = s - (most - s) % 2;
        let limit = (u64::from(u32::MAX) * smers as u64 / (2 * one_in as u64)) as u32;
        Sampling {
            smers,
            s,
            margin: (most - s) / 2,
            limit,
        }
    }

    /// The places, in ascending order, one of which must have the smallest s-mer. Each is as far
    /// from the begin as the other from the end, so that both strands of a k-mer are chosen or
    /// none.
    pub(crate) fn places(self) -> (usize, usize) {
        let first = (self.smers - 1) / 4;
        (first, self.smers - 1 - first)
    }

    /// Whether the hashes of the s-mers of a k-mer, in order, allow that it is chosen: that of one
    /// of the places is smaller than all others.
    #[inline(always)]
    pub(crate) fn allows(self, hashes: &[u32]) -> bool {
        let (first, second) = self.places();
        let least = |hashes: &[u32]| hashes.iter().fold(u32::MAX, |least, &hash| least.min(hash));
        let others = least(&hashes[..first])
            .min(least(&hashes[first + 1..second]))
            .min(least(&hashes[second + 1..]));
        hashes[first] != hashes[second] && hashes[first].min(hashes[second]) < others
    }
}

/// The feature of a k-mer of `k` bases (1 to [`MAX_SAMPLED_K`]) for `Choice::OneIn`, given
/// as the two-bit value of its canonical form; `None` when it is not among the one in `one_in` (at
/// least 1) that are chosen. Part of the file format.
///
/// Of the s-mers of the k-mer, 2 `one_in` where they fit, the one with the smallest [`feature_of`]
/// must be at one of two places, and no other may have as small a one. k-mers that are chosen so
/// lie more evenly in a sequence than those that are chosen by a hash of themselves, and what
/// differs between two sequences is more often in one of them; and k-mers that repeat a unit of a
/// few bases, which are in every large genome, are never chosen (Edgar 2021,
/// doi:10.7717/peerj.10805; Shaw and Yu 2022, doi:10.1093/bioinformatics/btab790). Where more
/// s-mers would be needed than fit, the upper half of the k-mer's key decides besides.
///
/// Both halves of the key make the feature: two k-mers may share one, as about one pair in four
/// thousand million does.
pub fn sampled_feature_of(canonical: u64, k: usize, one_in: usize) -> Option<u32> {
    let sampling = Sampling::new(k, one_in);
    let smer = |i| {
        let word = canonical >> (2 * (k - sampling.s - sampling.margin - i))
            & (u64::MAX >> (64 - 2 * sampling.s));
        feature_of(Kmer([word]).canonical(sampling.s).0[0] as u32)
    };
    let mut hashes = [0; MAX_SAMPLED_K];
    hashes
        .iter_mut()
        .enumerate()
        .take(sampling.smers)
        .for_each(|(i, hash)| *hash = smer(i));
    let key = key_of(canonical);
    let chosen = (sampling.smers == 0 || sampling.allows(&hashes[..sampling.smers]))
        && (key >> 32) as u32 <= sampling.limit;
    chosen.then(|| feature_of_key(key))
}

#[inline(always)]
pub(crate) const fn key_of(canonical: u64) -> u64 {
    mix(canonical ^ SAMPLED_SALT)
}

#[inline(always)]
pub(crate) const fn feature_of_key(key: u64) -> u32 {
    (key ^ key >> 32) as u32
}
