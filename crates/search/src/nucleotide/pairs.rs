//! Words of queries and of subjects that have the same key, by where in the subjects they are: what
//! is around those of a part is read from a cache.

/// Bases of a part of the subjects, as a power of two.
const PART_BITS: u32 = 21;
/// Pairs that are kept of all parts.
const KEPT: usize = 1 << 17;

/// Pairs of a word of queries, by its number, and one of subjects, by its position.
pub(super) struct Pairs {
    /// Pairs that are kept of a part.
    room: usize,
    /// How many are kept of each.
    filled: Vec<u32>,
    pairs: Vec<(u32, u32)>,
}

impl Pairs {
    /// Bytes that they take.
    pub(super) const BYTES: u64 = (KEPT * size_of::<(u32, u32)>()) as u64;

    /// None yet, of subjects of so many bases; they take memory where there are any.
    pub(super) fn new(bases: usize) -> Pairs {
        let parts = bases.div_ceil(1 << PART_BITS);
        let room = KEPT / parts.max(1);
        Pairs {
            room,
            filled: vec![0; parts],
            pairs: vec![(0, 0); parts * room],
        }
    }

    /// Parts that there are.
    pub(super) fn parts(&self) -> usize {
        self.filled.len()
    }

    /// Keeps a pair whose word of subjects begins at `at`, if it is wanted, and says which part is
    /// full with it. Whether it is cannot be foreseen: there is no branch.
    #[inline(always)]
    pub(super) fn keep(&mut self, pair: (u32, u32), at: usize, is_wanted: bool) -> Option<usize> {
        let part = at >> PART_BITS;
        let filled = &mut self.filled[part];
        self.pairs[part * self.room + *filled as usize] = pair;
        *filled += u32::from(is_wanted);
        (*filled as usize == self.room).then_some(part)
    }

    /// Those of a part, which are not kept any more.
    pub(super) fn take(&mut self, part: usize) -> &[(u32, u32)] {
        let filled = std::mem::take(&mut self.filled[part]) as usize;
        &self.pairs[part * self.room..][..filled]
    }
}
