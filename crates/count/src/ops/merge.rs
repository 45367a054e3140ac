//! Two sorted lists of keys with counts into one. No branch depends on the keys but the end of a
//! list.

/// Rows in ascending order of their keys, a count each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rows<const W: usize> {
    pub(super) keys: Vec<[u64; W]>,
    pub(super) counts: Vec<u32>,
}

/// [`Rows`] of somebody else.
#[derive(Clone, Copy)]
pub(super) struct RowsRef<'a, const W: usize> {
    pub(super) keys: &'a [[u64; W]],
    pub(super) counts: &'a [u32],
}

impl<const W: usize> Rows<W> {
    pub(super) fn as_ref(&self) -> RowsRef<'_, W> {
        RowsRef {
            keys: &self.keys,
            counts: &self.counts,
        }
    }

    /// Makes room for `n` rows of any content.
    fn resize(&mut self, n: usize) {
        self.keys.resize(n, [0; W]);
        self.counts.resize(n, 0);
    }

    fn truncate(&mut self, n: usize) {
        self.keys.truncate(n);
        self.counts.truncate(n);
    }

    pub(super) fn clear(&mut self) {
        self.truncate(0);
    }

    /// Keeps the rows whose count passes.
    pub(super) fn retain(&mut self, keep: impl Fn(u32) -> bool) {
        let mut kept = 0;
        for at in 0..self.counts.len() {
            let count = self.counts[at];
            self.keys[kept] = self.keys[at];
            self.counts[kept] = count;
            kept += usize::from(keep(count));
        }
        self.truncate(kept);
    }
}

impl<const W: usize> RowsRef<'_, W> {
    /// Copies the rows from `from` on to place `at` of `out`, which has room for them.
    fn copy_rest(&self, from: usize, out: &mut Rows<W>, at: usize) -> usize {
        let end = at + self.keys.len() - from;
        out.keys[at..end].copy_from_slice(&self.keys[from..]);
        out.counts[at..end].copy_from_slice(&self.counts[from..]);
        end
    }
}

/// Walks both lists. For every key that is in one of them `step` gets it with a count and an
/// all-ones mask for either list (or 0 and 0 where the list has it not) until one list ends;
/// returns how far both were read and how many keys both have.
#[inline(always)]
fn walk<const W: usize>(
    a: RowsRef<W>,
    b: RowsRef<W>,
    mut step: impl FnMut([u64; W], (u32, u32), (u32, u32)),
) -> (usize, usize, u64) {
    let (mut i, mut j, mut both) = (0, 0, 0);
    let (na, nb) = (
        a.keys.len().min(a.counts.len()),
        b.keys.len().min(b.counts.len()),
    );
    while i < na && j < nb {
        let (x, y) = (a.keys[i], b.keys[j]);
        let (in_a, in_b) = (x <= y, y <= x);
        let (mask_a, mask_b) = (
            u32::from(in_a).wrapping_neg(),
            u32::from(in_b).wrapping_neg(),
        );
        step(
            if in_a { x } else { y },
            (a.counts[i] & mask_a, mask_a),
            (b.counts[j] & mask_b, mask_b),
        );
        i += usize::from(in_a);
        j += usize::from(in_b);
        both += u64::from(in_a & in_b);
    }
    (i, j, both)
}

/// Every key of either list. `combine` gets both counts with their masks. Returns how many keys
/// both have.
#[inline(always)]
pub(super) fn union<const W: usize>(
    a: RowsRef<W>,
    b: RowsRef<W>,
    out: &mut Rows<W>,
    combine: impl Fn((u32, u32), (u32, u32)) -> u32,
) -> u64 {
    out.resize(a.keys.len() + b.keys.len());
    let mut n = 0;
    let (i, j, both) = walk(a, b, |key, in_a, in_b| {
        out.keys[n] = key;
        out.counts[n] = combine(in_a, in_b);
        n += 1;
    });
    n = a.copy_rest(i, out, n);
    n = b.copy_rest(j, out, n);
    out.truncate(n);
    both
}

/// The keys that both lists have.
#[inline(always)]
pub(super) fn intersect<const W: usize>(
    a: RowsRef<W>,
    b: RowsRef<W>,
    out: &mut Rows<W>,
    combine: impl Fn((u32, u32), (u32, u32)) -> u32,
) -> u64 {
    // One more than can be kept: a row is written before it is known to stay.
    out.resize(a.keys.len().min(b.keys.len()) + 1);
    let mut n = 0;
    let (_, _, both) = walk(a, b, |key, in_a, in_b| {
        out.keys[n] = key;
        out.counts[n] = combine(in_a, in_b);
        n += (in_a.1 & in_b.1 & 1) as usize;
    });
    out.truncate(n);
    both
}

/// The keys of `a` with the counts that `left` makes of both counts; those that get 0 drop out.
#[inline(always)]
pub(super) fn subtract<const W: usize>(
    a: RowsRef<W>,
    b: RowsRef<W>,
    out: &mut Rows<W>,
    left: impl Fn((u32, u32), (u32, u32)) -> u32,
) -> u64 {
    out.resize(a.keys.len() + 1);
    let mut n = 0;
    let (i, _, both) = walk(a, b, |key, in_a, in_b| {
        let count = left(in_a, in_b);
        out.keys[n] = key;
        out.counts[n] = count;
        n += usize::from(count != 0);
    });
    n = a.copy_rest(i, out, n);
    out.truncate(n);
    both
}
