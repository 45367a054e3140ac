//! Kernels that are chosen at run time: the best ungapped alignment of a query's window with the
//! windows of many subjects, the best gapped one in a band around a diagonal, the best of all, and
//! the rows of gapped extensions.
//!
//! Portable code is the definition that the others are tested against. [`Kernels::detect`] chooses
//! once; the choice never changes a result.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub(crate) mod cells;
mod gains;
pub(crate) mod inter_sequence;
mod kernels;
mod lanes;
mod load;
mod planes;
mod prefixes;
pub(crate) mod reach;
mod scalar;
mod sides;

pub use gains::{BaseCosts, BaseLanes, REACH};
pub use kernels::Kernels;
pub(crate) use lanes::Lanes;
pub use lanes::{Bands, COLUMNS, LANES, QueryWindow, Rows, SubjectWindows};
pub use prefixes::{UngappedCosts, UngappedGains};
pub use sides::{BEFORE, BEHIND, SIDE_LANES, SideScores, Sides};

use crate::packed::WINDOW;
use crate::statistics::Costs;
use lanes::Gaps;

impl Kernels {
    /// Runs what is written once for all processors. Only what is inlined into it is compiled for
    /// this one: all that it calls has to be `#[inline(always)]`. The operations and their order
    /// are the same, and so is every bit of the result.
    #[inline]
    pub fn run<T>(self, work: impl FnOnce() -> T) -> T {
        match self {
            Kernels::Scalar => work(),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` found the features.
            #[allow(unsafe_code, reason = "kernels need the features that were found")]
            Kernels::Avx2 => unsafe { avx2::run(work) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` found the features.
            #[allow(unsafe_code, reason = "kernels need the features that were found")]
            Kernels::Avx512 => unsafe { avx512::run(work) },
        }
    }

    /// The lanes whose window has an ungapped alignment with a query's window, column on column,
    /// that scores what is asked or more; scores end at 127.
    pub fn windows_scoring<const N: usize>(
        self,
        rows: &Rows,
        queries: [QueryWindow; N],
        windows: &SubjectWindows,
    ) -> [u64; N] {
        let SubjectWindows { columns, .. } = windows;
        let found = match self {
            Kernels::Scalar => scalar::windows_scoring(rows, queries, columns),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` found the features.
            #[allow(unsafe_code, reason = "kernels need the features that were found")]
            Kernels::Avx2 => unsafe { avx2::windows_scoring(rows, queries, columns) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` found the features.
            #[allow(unsafe_code, reason = "kernels need the features that were found")]
            Kernels::Avx512 => unsafe { avx512::windows_scoring(rows, queries, columns) },
        };
        found.map(|found| found & windows.filled())
    }

    /// The best score of a local alignment of the query with each lane's subject inside of its
    /// band; 255 where it is 255 or more, 0 for lanes without a subject.
    pub fn band_scores(
        self,
        rows: &Rows,
        costs: Costs,
        query: &[u8],
        bands: &Bands,
    ) -> [u8; LANES] {
        let gaps = Gaps::of(costs);
        let columns = &bands.columns[..query.len() + COLUMNS];
        let mut scores = match self {
            Kernels::Scalar => scalar::band_scores(rows, gaps, query, columns),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` found the features.
            #[allow(unsafe_code, reason = "kernels need the features that were found")]
            Kernels::Avx2 => unsafe { avx2::band_scores(rows, gaps, query, columns) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` found the features.
            #[allow(unsafe_code, reason = "kernels need the features that were found")]
            Kernels::Avx512 => unsafe { avx512::band_scores(rows, gaps, query, columns) },
        };
        scores[bands.lanes..].fill(0);
        scores
    }

    /// The best score of a local alignment of the query with each lane's whole subject
    /// ([`Bands::load_whole`]); 255 where it is 255 or more, 0 for lanes without a subject.
    pub fn local_scores(
        self,
        rows: &Rows,
        costs: Costs,
        query: &[u8],
        subjects: &Bands,
    ) -> [u8; LANES] {
        let (gaps, columns) = (Gaps::of(costs), &subjects.columns);
        let mut scores = match self {
            Kernels::Scalar => scalar::local_scores(rows, gaps, query, columns),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` found the features.
            #[allow(unsafe_code, reason = "kernels need the features that were found")]
            Kernels::Avx2 => unsafe { avx2::local_scores(rows, gaps, query, columns) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` found the features.
            #[allow(unsafe_code, reason = "kernels need the features that were found")]
            Kernels::Avx512 => unsafe { avx512::local_scores(rows, gaps, query, columns) },
        };
        scores[subjects.lanes..].fill(0);
        scores
    }

    /// What the best gapped alignment gains that begins with the first bases of a lane, in a band
    /// around its diagonal: 0 at least, 127 at most; and the best at the last base of the query
    /// that a lane has.
    pub fn gains(self, costs: BaseCosts, lanes: &BaseLanes) -> [[i8; LANES]; 2] {
        self.run(
            #[inline(always)]
            || gains::gains(costs, lanes),
        )
    }

    /// The lower bits of 32 bases of two bits each, side by side in the lower half of a word, the
    /// upper ones in the other half; the first base is in the upper bits of the first byte, and
    /// becomes the lowest bit of each half.
    pub(crate) fn planes(self, bases: &[[u8; 8]], words: &mut [u64]) {
        self.run(
            #[inline(always)]
            || planes::planes(bases, words),
        )
    }

    /// The codes of 32 bases, a byte each, from bits as [`Kernels::planes`] sorts them.
    #[inline(always)]
    pub(crate) fn unpack_window(self, window: u64, codes: &mut [u8; WINDOW]) {
        match self {
            Kernels::Scalar => planes::unpack_window(window, codes),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` found the features.
            #[allow(unsafe_code, reason = "kernels need the features that were found")]
            Kernels::Avx2 => unsafe { avx2::unpack_window(window, codes) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` found the features.
            #[allow(unsafe_code, reason = "kernels need the features that were found")]
            Kernels::Avx512 => unsafe { avx512::unpack_window(window, codes) },
        }
    }

    /// The best prefixes of pairs without gaps, from which of the next 32 bases differ: the lowest
    /// bit is of the first. Costs and limit are below 256.
    pub fn ungapped_gains(self, costs: UngappedCosts, differing: &[u32; LANES]) -> UngappedGains {
        self.run(
            #[inline(always)]
            || prefixes::ungapped_gains(costs, differing),
        )
    }

    /// Which of the first so many windows with a word score so much on both sides of it, beside
    /// another one ([`Sides::score`]): a bit each.
    #[inline(always)]
    pub fn sides_scoring(
        self,
        sides: &Sides,
        least: i32,
        window: u64,
        (others, count): (&[u64; SIDE_LANES], usize),
    ) -> u32 {
        let found = match self {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` found the features.
            #[allow(unsafe_code, reason = "kernels need the features that were found")]
            Kernels::Avx512 => unsafe { avx512::sides_scoring(sides, least, window, others) },
            _ => sides.scoring(least, window, others, count),
        };
        found & ((1 << count) - 1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::lanes::HALF_BAND;
    use super::*;
    use crate::residue::{BORDER, CODES};

    fn rows() -> impl Strategy<Value = Rows> {
        proptest::collection::vec(-60..=17_i8, CODES * CODES).prop_map(|scores| {
            std::array::from_fn(|q| std::array::from_fn(|s| scores[q * CODES + s]))
        })
    }

    proptest! {
        #[test]
        fn all_kernels_find_the_same(
            rows in rows(),
            text in proptest::collection::vec(0..CODES as u8, 400),
            query in proptest::collection::vec(0..CODES as u8, COLUMNS),
            starts in proptest::collection::vec(0..400 - COLUMNS, 0..=LANES),
            least in 1..=127_i8,
        ) {
            let query: [u8; COLUMNS] = query.try_into().expect("a window");
            let other = query.map(|residue| (residue + 7) % CODES as u8);
            let expected = starts.iter().enumerate().fold(0, |lanes, (lane, &start)| {
                let (mut best, mut score) = (0, 0);
                for (&q, &s) in query.iter().zip(&text[start..]) {
                    let one: &[i8; CODES] = &rows[usize::from(q)];
                    score = (score + i32::from(one[usize::from(s)])).max(0);
                    best = best.max(score);
                }
                lanes | u64::from(best >= i32::from(least)) << lane
            });
            for kernels in Kernels::available() {
                let mut windows = SubjectWindows::new(kernels);
                windows.load(&text, starts.iter().copied());
                let asked = [(&query, least), (&other, 20), (&query, least)];
                let [first, _, last] = kernels.windows_scoring(&rows, asked, &windows);
                prop_assert_eq!([first, last], [expected; 2]);
                let [other] = kernels.windows_scoring(&rows, [asked[0]], &windows);
                prop_assert_eq!(other, expected);
            }
        }
        #[test]
        fn all_kernels_gain_the_same(
            lanes in proptest::collection::vec(proptest::collection::vec(0..4_u8, 130), 0..=LANES),
            border in 0..=COLUMNS,
            penalty in -4..0_i8, first in 1..9_i8, more in 1..4_i8,
        ) {
            let costs = BaseCosts { reward: 2, penalty, first, more };
            let mut loaded = BaseLanes::default();
            let mut fill = |lane: usize, query: &mut [u8; COLUMNS], subject: &mut [u8; COLUMNS]| {
                query.copy_from_slice(&lanes[lane][..COLUMNS]);
                subject.copy_from_slice(&lanes[lane][COLUMNS..2 * COLUMNS]);
                subject[border..].fill(BORDER);
            };
            loaded.load(Kernels::Scalar, lanes.len(), &mut fill);
            let expected = Kernels::Scalar.gains(costs, &loaded);
            for kernels in Kernels::available() {
                let mut loaded = BaseLanes::default();
                loaded.load(kernels, lanes.len(), &mut fill);
                prop_assert_eq!(kernels.gains(costs, &loaded), expected);
            }
            for (lane, &gain) in lanes.iter().zip(&expected[0]) {
                let end = border.min(REACH + 10);
                let exact = gain_of(costs, &lane[..REACH], &lane[COLUMNS..COLUMNS + end]);
                prop_assert!(i32::from(gain) <= exact.0.min(127));
                prop_assert!(i32::from(gain) >= exact.1.min(127));
            }
        }
        #[test]
        fn all_kernels_unpack_the_same(window in proptest::num::u64::ANY) {
            let expected: [u8; WINDOW] = std::array::from_fn(|base| {
                let [low, high] = [base, WINDOW + base].map(|bit| window >> bit & 1);
                (low | high << 1) as u8
            });
            for kernels in Kernels::available() {
                let mut codes = [0; WINDOW];
                kernels.unpack_window(window, &mut codes);
                prop_assert_eq!(codes, expected);
            }
        }
        #[test]
        fn all_kernels_end_where_scores_fall(
            pairs in proptest::collection::vec(proptest::num::u32::ANY, LANES),
            sparse in proptest::bool::ANY,
            reward in 1..9_i16, penalty in -9..0_i16, drop in 0..60_i16,
        ) {
            let thin = |bits: &u32| if sparse { bits & bits.rotate_left(7) } else { *bits };
            let pairs: Vec<u32> = pairs.iter().map(thin).collect();
            let pairs: [u32; LANES] = pairs.try_into().expect("as many as lanes");
            let costs = UngappedCosts { reward, penalty, drop };
            for kernels in Kernels::available() {
                let gains = kernels.ungapped_gains(costs, &pairs);
                for (lane, &bits) in pairs.iter().enumerate() {
                    let (mut best, mut length, mut sum) = (0, 0, 0);
                    for place in 0..32 {
                        sum += if bits >> place & 1 == 1 { penalty } else { reward };
                        if sum > best {
                            (best, length) = (sum, place + 1);
                        }
                        if best - sum > drop {
                            break;
                        }
                    }
                    prop_assert_eq!((gains.scores[lane], gains.lengths[lane]), (best, length));
                    let fallen = gains.fallen[lane];
                    prop_assert_eq!(fallen <= drop, best - sum <= drop);
                    prop_assert!(fallen > drop || fallen == best - sum);
                }
            }
        }
        #[test]
        fn all_kernels_score_the_same_sides(
            windows in proptest::collection::vec(proptest::num::u64::ANY, SIDE_LANES + 1),
            thin in proptest::bool::ANY, count in 0..=SIDE_LANES, word in 4..=11_usize,
            reward in 1..=5_i32, penalty in -5..0_i32, beyond in 0..=30_i32, least in -3..=90_i32,
        ) {
            let sides = Sides::new(word, SideScores { reward, penalty, beyond });
            let thinned = |bits: &u64| bits & bits.rotate_left(if thin { 7 } else { 0 });
            let others: Vec<u64> = windows[1..].iter().map(thinned).collect();
            let others: [u64; SIDE_LANES] = others.try_into().expect("as many");
            let expected = others[..count].iter().enumerate().fold(0, |found, (lane, other)| {
                let bits = crate::packed::differing(windows[0] ^ other);
                let gain = |places: &mut dyn Iterator<Item = usize>| {
                    let (mut best, mut sum) = (0, 0);
                    for place in places {
                        sum += if bits >> place & 1 == 1 { penalty } else { reward };
                        best = best.max(sum);
                    }
                    best.max(sum + beyond)
                };
                let behind = BEFORE + word..BEFORE + word + BEHIND;
                let both = gain(&mut (0..BEFORE).rev()) + gain(&mut behind.into_iter());
                let is_first = bits >> (BEFORE - 1) & 3 != 0;
                found | u32::from(is_first && both >= least) << lane
            });
            for kernels in Kernels::available() {
                let found = kernels.sides_scoring(&sides, least, windows[0], (&others, count));
                prop_assert_eq!(found, expected);
            }
        }
        #[test]
        fn all_kernels_align_in_a_band(
            mut rows in rows(),
            query in proptest::collection::vec(0..23_u8, 1..150),
            subjects in proptest::collection::vec(
                (proptest::collection::vec(0..23_u8, 0..150), -160..160_i64), 0..5),
            open in 0..15, extend in 1..4,
        ) {
            rows.iter_mut().for_each(|row| row[usize::from(BORDER)] = -60);
            let costs = Costs::new(open, extend);
            let lanes = subjects.iter().map(|(one, middle)| (&one[..], *middle));
            let lanes: Vec<_> = lanes.collect();
            let mut expected = [0; LANES];
            for (score, &(subject, diagonal)) in expected.iter_mut().zip(&lanes) {
                *score = local(&rows, costs, &query, subject, Some(diagonal)).min(255) as u8;
            }
            for kernels in Kernels::available() {
                let mut bands = Bands::new(kernels);
                bands.load(query.len(), &lanes);
                prop_assert_eq!(kernels.band_scores(&rows, costs, &query, &bands), expected);
            }
            let whole: Vec<&[u8]> = lanes.iter().map(|&(subject, _)| subject).collect();
            for (score, subject) in expected.iter_mut().zip(&whole) {
                *score = local(&rows, costs, &query, subject, None).min(255) as u8;
            }
            for kernels in Kernels::available() {
                let mut bands = Bands::new(kernels);
                bands.load_whole(&whole);
                prop_assert_eq!(kernels.local_scores(&rows, costs, &query, &bands), expected);
            }
        }
    }

    /// The best of all alignments of prefixes, and the best of those without gaps.
    fn gain_of(costs: BaseCosts, query: &[u8], subject: &[u8]) -> (i32, i32) {
        use crate::gapped::{Extension, ExtensionLimits, Scores};
        let [reward, penalty] = [costs.reward, costs.penalty].map(i32::from);
        let scores: Box<Scores> = Box::new(std::array::from_fn(|q| {
            std::array::from_fn(|s| match q == s {
                _ if q.max(s) == usize::from(BORDER) => -10_000,
                true => reward,
                false => penalty,
            })
        }));
        let (first, more) = (i32::from(costs.first), i32::from(costs.more));
        let limits = ExtensionLimits {
            costs: Costs::new(first - more, more),
            x_drop: 1 << 20,
        };
        let best =
            Extension::new(Kernels::Scalar).extend(&scores, limits, query.iter(), subject.iter());
        let (mut sum, mut highest) = (0, 0);
        for (one, other) in query.iter().zip(subject) {
            sum += if one == other { reward } else { penalty };
            highest = highest.max(sum);
        }
        (best.score, highest)
    }

    /// The best local alignment, in a band around a diagonal if there is one, by the textbook.
    fn local(
        rows: &Rows,
        costs: Costs,
        query: &[u8],
        subject: &[u8],
        diagonal: Option<i64>,
    ) -> i32 {
        const NEVER: i32 = i32::MIN / 2;
        let width = subject.len() + 1;
        let (mut best, mut in_query) = (vec![0; width], vec![NEVER; width]);
        let mut highest = 0;
        for (i, &q) in query.iter().enumerate() {
            let before = best.clone();
            let mut in_subject = NEVER;
            for j in 1..width {
                let ahead = |diagonal| i as i64 - (j as i64 - 1) - diagonal;
                let place = diagonal.map_or(0, |diagonal| HALF_BAND - ahead(diagonal));
                if !(0..COLUMNS as i64).contains(&place) {
                    (best[j], in_query[j], in_subject) = (0, NEVER, NEVER);
                    continue;
                }
                in_query[j] =
                    (in_query[j] - costs.extend).max(before[j] - costs.open - costs.extend);
                in_subject =
                    (in_subject - costs.extend).max(best[j - 1] - costs.open - costs.extend);
                let both =
                    before[j - 1] + i32::from(rows[usize::from(q)][usize::from(subject[j - 1])]);
                best[j] = both.max(in_query[j]).max(in_subject).max(0);
                highest = highest.max(best[j]);
            }
        }
        highest
    }
}
