//! Rows of diagonals, and what they have reached.

/// Diagonals of a vector.
pub(crate) const CELLS: usize = 8;
/// No base of the subject.
pub(crate) const NOWHERE: i32 = -2;
/// Codes that are compared at a time.
const AT_ONCE: usize = 8;
/// Codes behind both that match nothing, at least.
pub(crate) const BEHIND: usize = 128;
/// What a query has behind its bases, and a subject.
pub(crate) const END_OF_QUERY: u8 = 255;
pub(crate) const END_OF_SUBJECT: u8 = 127;
/// Codes that vectors compare on a diagonal.
#[cfg(target_arch = "x86_64")]
pub(super) const CODES_OF_WORD: usize = 4;
/// Bits of a key that are of the number of a diagonal; those above are of the length of its run, so
/// that the highest key is of the first of the longest runs.
#[cfg(target_arch = "x86_64")]
pub(super) const NUMBER: i32 = 28;
#[cfg(target_arch = "x86_64")]
pub(super) const MOST_NUMBERS: i32 = (1 << NUMBER) - 1;

/// A query and a subject in the order in which they are read. Behind both there are [`BEHIND`]
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
    /// The longest run of matches that is known: only longer ones are of interest.
    pub longest: u32,
}

/// What the diagonals of a row have reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reached {
    /// The furthest sum of both positions, or 0.
    pub sum: i32,
    /// The longest run of matches, and the number of the first diagonal that has it if none as
    /// long is known.
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
    fn ends_at(&self, in_query: i32, in_subject: i32) -> bool {
        in_query == self.ends[0] || in_subject == self.ends[1]
    }
}

impl Reached {
    /// Nothing but the longest run that is known.
    #[inline(always)]
    pub(super) fn new(longest: u32) -> Reached {
        Reached {
            longest: (longest, 0),
            ..Reached::default()
        }
    }

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

    /// Goes on along diagonals of a vector on which a word of codes has matched, a bit for each; by
    /// the first diagonal of the row, and the number of that of the vector.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn go_on(
        &mut self,
        pair: &Pair,
        (first, number): (i32, usize),
        mut which: u32,
        cells: &mut [i32],
    ) {
        while which != 0 {
            let lane = which.trailing_zeros() as usize;
            which &= which - 1;
            let number = number + lane;
            let in_query = cells[lane] + first + number as i32;
            let more = pair.matching(in_query as u32, cells[lane] as u32);
            cells[lane] += more as i32;
            let ends = [in_query + more as i32, cells[lane]];
            self.add(pair, number, CODES_OF_WORD as u32 + more, ends);
        }
    }

    /// Adds what vectors have found: the highest sum and key, and whether a diagonal is at an end.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn add_vectors(&mut self, sum: i32, key: i32, ended: bool) {
        self.sum = self.sum.max(sum);
        self.ended |= ended;
        let length = (key >> NUMBER) as u32;
        if length > self.longest.0 {
            let number = MOST_NUMBERS - (key & MOST_NUMBERS);
            self.longest = (length, number as usize);
        }
    }
}
