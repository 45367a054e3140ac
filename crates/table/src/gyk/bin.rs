//! One bin of a database: keys, counts, and the look-up.

use super::layout::OVERFLOW;

/// The k-mers of one bin, ascending by key, straight from the map.
#[derive(Clone, Copy, Debug)]
pub struct BinView<'a> {
    words: usize,
    keys: &'a [u64],
    counts: &'a [u8],
    overflow: &'a [[u32; 2]],
}

impl<'a> BinView<'a> {
    /// Takes apart the bytes of a bin of `kmers` k-mers, `None` when they do not fit.
    pub(super) fn new(bytes: &'a [u8], words: usize, kmers: usize) -> Option<BinView<'a>> {
        let (keys, rest) = bytes.split_at_checked(kmers.checked_mul(8 * words)?)?;
        let (counts, overflow) = rest.split_at_checked(kmers.checked_next_multiple_of(8)?)?;
        let keys = bytemuck::try_cast_slice(keys).ok()?;
        let overflow = bytemuck::try_cast_slice(overflow).ok()?;
        Some(BinView {
            words,
            keys,
            counts: &counts[..kmers],
            overflow,
        })
    }

    /// Number of k-mers.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// True when the bin holds no k-mer.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// The keys, row by row, as many words a row as the shape has.
    pub fn keys(&self) -> &'a [u64] {
        self.keys
    }

    /// The keys as rows.
    ///
    /// # Panics
    /// When `W` is not the number of words of the database's shape.
    pub fn rows<const W: usize>(&self) -> &'a [[u64; W]] {
        assert_eq!(
            W, self.words,
            "rows are as wide as the keys of the database"
        );
        self.keys.as_chunks().0
    }

    /// The counts in the order of the keys.
    pub fn counts(&self) -> impl ExactSizeIterator<Item = u32> + use<'a> {
        let mut overflow = self.overflow.iter();
        // A corrupt overflow list gives 255, never a panic; `Database::verify` tells.
        self.counts.iter().map(move |&byte| match byte {
            OVERFLOW => overflow.next().map_or(u32::from(OVERFLOW), |pair| pair[1]),
            _ => u32::from(byte),
        })
    }

    /// A byte for every k-mer: its count, or 255 for a count in [`BinView::overflow`].
    pub fn small_counts(&self) -> &'a [u8] {
        self.counts
    }

    /// (Index, count) of every k-mer with a count of 255 or more, ascending by index.
    pub fn overflow(&self) -> &'a [[u32; 2]] {
        self.overflow
    }

    /// Appends the counts, in the order of the keys, to `counts`.
    pub fn append_counts(&self, counts: &mut Vec<u32>) {
        let start = counts.len();
        counts.extend(self.counts.iter().map(|&byte| u32::from(byte)));
        let added = &mut counts[start..];
        for &[index, count] in self.overflow {
            if let Some(slot) = added.get_mut(index as usize) {
                *slot = count;
            }
        }
    }

    /// The count of the k-mer at `index`.
    ///
    /// # Panics
    /// When `index` is not below [`BinView::len`].
    #[inline]
    pub fn count(&self, index: usize) -> u32 {
        match self.counts[index] {
            OVERFLOW => {
                let at = self
                    .overflow
                    .partition_point(|pair| (pair[0] as usize) < index);
                self.overflow
                    .get(at)
                    .map_or(u32::from(OVERFLOW), |pair| pair[1])
            }
            byte => u32::from(byte),
        }
    }

    /// The place of a key, where the bin has it.
    ///
    /// # Panics
    /// When `W` is not the number of words of the database's shape.
    #[inline]
    pub fn find<const W: usize>(&self, key: &[u64; W]) -> Option<usize> {
        let rows = self.rows::<W>();
        let (low, high) = bracket(rows, key);
        rows[low..high].binary_search(key).ok().map(|at| low + at)
    }

    /// Reads where [`BinView::find`] and [`BinView::count`] will read for this key, to have it in
    /// the cache by then. Touch many keys, then find them: their waits for memory overlap. The
    /// value means nothing; `black_box` it.
    ///
    /// # Panics
    /// When `W` is not the number of words of the database's shape.
    #[inline(always)]
    pub fn touch<const W: usize>(&self, key: &[u64; W]) -> u64 {
        let rows = self.rows::<W>();
        let near = ((u128::from(key[0]) * rows.len() as u128) >> 64) as usize;
        rows.get(near)
            .zip(self.counts.get(near))
            .map_or(0, |(row, &count)| row[0] ^ u64::from(count))
    }

    /// Checks what the checksum does not: order of keys and overflow list against the count bytes.
    pub(super) fn check(&self) -> Result<(), String> {
        let rows = self.keys.chunks_exact(self.words);
        if let Some(at) = rows.clone().zip(rows.skip(1)).position(|(a, b)| a >= b) {
            return Err(format!("key {} is not above the key before it", at + 2));
        }
        let marked = self
            .counts
            .iter()
            .enumerate()
            .filter(|&(_, &byte)| byte == OVERFLOW)
            .map(|(at, _)| at);
        if !marked.eq(self.overflow.iter().map(|pair| pair[0] as usize)) {
            return Err("the overflow list does not fit the count bytes".to_string());
        }
        let small = self
            .overflow
            .iter()
            .any(|pair| pair[1] < u32::from(OVERFLOW));
        if small || self.counts.contains(&0) {
            Err("a count is out of range".to_string())
        } else {
            Ok(())
        }
    }
}

/// Where a uniform distribution expects `key`: first from the whole range, which is off by about
/// the square root of the length, then from the row found there, which is off by about the square
/// root of that.
#[inline(always)]
fn expected_row<const W: usize>(rows: &[[u64; W]], key: &[u64; W]) -> Option<usize> {
    let rows_within = |distance: u64| ((u128::from(distance) * rows.len() as u128) >> 64) as usize;
    let near = rows_within(key[0]);
    let found = rows.get(near)?[0];
    let off = rows_within(key[0].abs_diff(found));
    Some(if found < key[0] {
        (near + off).min(rows.len() - 1)
    } else {
        near.saturating_sub(off)
    })
}

/// A range of rows that holds `key` if any does: from the expected row on in doubling steps.
#[inline]
fn bracket<const W: usize>(rows: &[[u64; W]], key: &[u64; W]) -> (usize, usize) {
    let Some(guess) = expected_row(rows, key) else {
        return (0, 0);
    };
    let mut step = 4;
    if rows[guess] < *key {
        let mut low = guess + 1;
        while let Some(row) = rows.get(low + step) {
            if row >= key {
                return (low, low + step + 1);
            }
            low += step + 1;
            step *= 2;
        }
        (low, rows.len())
    } else {
        let mut high = guess + 1;
        while high > step {
            if rows[high - step] <= *key {
                return (high - step, high);
            }
            high -= step;
            step *= 2;
        }
        (0, high)
    }
}
