//! How far the diagonals of a greedy extension reach ([`crate::greedy`]).

/// Diagonals of a vector.
pub(crate) const CELLS: usize = 8;
/// No base of the subject.
pub(crate) const NOWHERE: i32 = -2;
/// Codes that are compared at a time.
pub(crate) const AT_ONCE: usize = 8;

/// A query and a subject in the order in which they are read. Behind both there are [`AT_ONCE`]
/// codes or more that match nothing.
#[derive(Clone, Copy)]
pub(crate) struct Pair<'c> {
    pub query: &'c [u8],
    pub subject: &'c [u8],
    /// Where they end.
    pub ends: [i32; 2],
}

/// Diagonals with one difference more than those of a row before.
#[derive(Clone, Copy)]
pub(crate) struct Diagonals<'r> {
    /// The row before from the diagonal before the first on, with [`NOWHERE`] behind it: two more
    /// than the row that is made.
    pub before: &'r [i32],
    /// The first: how far the query is ahead of the subject.
    pub first: i32,
    /// How many there are.
    pub count: usize,
    /// The least sum of both positions with which a diagonal is followed.
    pub least: i32,
}

/// What the diagonals of a row have reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reached {
    /// The furthest sum of both positions, or 0.
    pub sum: i32,
    /// The longest run of matches, and the number of the first diagonal that has it.
    pub longest: (u32, usize),
    /// The number of the first diagonal that is followed, and of the one behind the last; the same
    /// where there is none.
    pub followed: (usize, usize),
    /// Whether a diagonal is at an end.
    pub ended: bool,
}

impl Pair<'_> {
    /// How many bases match from two places on.
    #[inline(always)]
    pub(crate) fn matching(&self, in_query: u32, in_subject: u32) -> u32 {
        let some = |codes: &[u8], at: u32| {
            let at = at as usize;
            let some = codes.get(at..at + AT_ONCE)?.first_chunk();
            some.map(|some| u64::from_le_bytes(*some))
        };
        let mut length = 0;
        // Nothing matches behind the ends.
        while let Some((one, other)) =
            some(self.query, in_query + length).zip(some(self.subject, in_subject + length))
        {
            if one != other {
                return length + (one ^ other).trailing_zeros() / u8::BITS;
            }
            length += AT_ONCE as u32;
        }
        length
    }

    /// Whether one of both ends at two places.
    #[inline(always)]
    pub(super) fn ends_at(&self, in_query: i32, in_subject: i32) -> bool {
        in_query == self.ends[0] || in_subject == self.ends[1]
    }
}

impl Reached {
    /// Adds diagonals of a vector from a number on: a bit for each that is followed.
    #[inline(always)]
    pub(super) fn follow(&mut self, number: usize, followed: u32) {
        if followed != 0 {
            let first = number + followed.trailing_zeros() as usize;
            let end = number + (u32::BITS - followed.leading_zeros()) as usize;
            let (before, behind) = self.followed;
            self.followed = (if behind == 0 { first } else { before }, end);
        }
    }

    /// Adds a run of matches of the diagonal of a number, which reaches two places.
    #[inline(always)]
    pub(super) fn add(&mut self, pair: &Pair, number: usize, length: u32, ends: [i32; 2]) {
        let [in_query, in_subject] = ends;
        self.sum = self.sum.max(in_query + in_subject);
        self.ended |= pair.ends_at(in_query, in_subject);
        if length > self.longest.0 {
            self.longest = (length, number);
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
        ) {
            let subject = if is_same { query.clone() } else { subject };
            let ends = [query.len() as i32, subject.len() as i32];
            let behind = |codes: &[u8], end| [codes, &[end; 2 * AT_ONCE]].concat();
            let (of_query, of_subject) = (behind(&query, 255), behind(&subject, 127));
            let pair = Pair { query: &of_query, subject: &of_subject, ends };
            let count = before.len() - 2;
            // One base more, on a diagonal beside it too, is not behind the ends.
            let inside = |(number, &at): (usize, &i32)| {
                let in_query = at + first - 1 + number as i32;
                let is_inside = (0..ends[0]).contains(&in_query) && at < ends[1];
                if is_inside { at } else { NOWHERE }
            };
            let mut before: Vec<i32> = before.iter().enumerate().map(inside).collect();
            let mut reached = Reached::default();
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
            let diagonals = Diagonals { before: &before, first, count, least };
            for kernels in Kernels::available() {
                let mut row = vec![[7; CELLS]; expected.len() / CELLS];
                prop_assert_eq!(kernels.reach(&pair, diagonals, &mut row), reached);
                prop_assert_eq!(row.as_flattened(), &expected);
            }
        }
    }
}
