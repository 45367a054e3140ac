//! How far the diagonals of a greedy extension reach ([`crate::greedy`]).

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod diagonals;
mod scalar;

pub(crate) use diagonals::*;

use super::kernels::Kernels;

impl Kernels {
    /// Makes a row of diagonals, whose number is rounded up to whole vectors: each goes one base on
    /// from the best of its neighbours, and then through what matches.
    #[inline(always)]
    pub(crate) fn reach(
        self,
        pair: &Pair,
        diagonals: Diagonals,
        row: &mut [[i32; CELLS]],
    ) -> Reached {
        match self {
            Kernels::Scalar => scalar::reach(pair, diagonals, row),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` found the features.
            #[allow(unsafe_code, reason = "kernels need the features that were found")]
            Kernels::Avx2 => unsafe { avx2::reach(pair, diagonals, row) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` found the features.
            #[allow(unsafe_code, reason = "kernels need the features that were found")]
            Kernels::Avx512 => unsafe { avx512::reach(pair, diagonals, row) },
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Kernels;
    use super::*;

    proptest! {
        #[test]
        fn all_kernels_reach_as_far(
            query in proptest::collection::vec(0..3_u8, 0..90),
            subject in proptest::collection::vec(0..3_u8, 0..90),
            is_same in proptest::bool::ANY,
            before in proptest::collection::vec(NOWHERE..90, 3..40),
            first in -20..20_i32,
            least in 0..60_i32,
            longest in 0..9_u32,
        ) {
            let subject = if is_same { query.clone() } else { subject };
            let ends = [query.len() as i32, subject.len() as i32];
            let behind = |codes: &[u8], end| [codes, &[end; BEHIND]].concat();
            let of_query = behind(&query, END_OF_QUERY);
            let of_subject = behind(&subject, END_OF_SUBJECT);
            let pair = Pair { query: &of_query, subject: &of_subject, ends };
            let count = before.len() - 2;
            // One base more, on a diagonal beside it too, is not behind the ends.
            let inside = |(number, &at): (usize, &i32)| {
                let in_query = at + first - 1 + number as i32;
                let is_inside = (0..ends[0]).contains(&in_query) && at < ends[1];
                if is_inside { at } else { NOWHERE }
            };
            let mut before: Vec<i32> = before.iter().enumerate().map(inside).collect();
            let mut reached = Reached::new(longest);
            let mut expected = vec![NOWHERE; count.next_multiple_of(CELLS)];
            for (number, expected) in expected[..count].iter_mut().enumerate() {
                let [less, same, more] = [0, 1, 2].map(|by| before[number + by]);
                let at = less.max(same + 1).max(more + 1);
                let in_query = at + first + number as i32;
                if at < 0 || in_query + at < least {
                    continue;
                }
                let (from_query, from_subject) = (in_query as usize, at as usize);
                let pairs = std::iter::zip(&query[from_query..], &subject[from_subject..]);
                let length = pairs.take_while(|(one, other)| one == other).count();
                *expected = at + length as i32;
                reached.add(&pair, number, length as u32, [in_query + length as i32, *expected]);
                if reached.followed.1 == 0 {
                    reached.followed.0 = number;
                }
                reached.followed.1 = number + 1;
            }
            before.resize(expected.len() + 2, NOWHERE);
            let diagonals = Diagonals { before: &before, first, count, least, longest };
            for kernels in Kernels::available() {
                let mut row = vec![[7; CELLS]; expected.len() / CELLS];
                prop_assert_eq!(kernels.reach(&pair, diagonals, &mut row), reached);
                prop_assert_eq!(row.as_flattened(), &expected);
            }
        }
    }
}
