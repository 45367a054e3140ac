//! One bucket: features, counts and locations side by side.
//!
//! A bucket of n features is: n (u16), n rests (what of the place neither partition nor bucket tell, one or two bytes
//! each, ascending), n counts (a byte each), zeros up to a multiple of 4, and the locations of each feature in turn (u32).
//! A bucket without features takes no bytes.

use super::layout::PLACE_BITS;

/// The fewest bits that choose a bucket: with them a rest fits two bytes.
const LEAST_BITS: u32 = 4;
/// The most features per bucket on average; half as many are the fewest, but in small partitions.
const FULL: usize = 8;
/// Features that are compared at once.
const LANES: usize = 16;

/// How a partition cuts its places into buckets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Buckets {
    /// Bits of a rest: those of a place below the bits that choose the bucket.
    rest_bits: u32,
}

/// Where a feature's locations are, in words from the bucket's start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub at: usize,
    pub count: usize,
}

impl Buckets {
    /// The cut of a partition of so many features, at most 2^20.
    pub fn of_features(features: usize) -> Buckets {
        let bits = features.div_ceil(FULL).next_power_of_two().ilog2();
        Buckets { rest_bits: PLACE_BITS - bits.max(LEAST_BITS) }
    }

    /// Number of buckets.
    pub fn len(self) -> usize {
        1 << (PLACE_BITS - self.rest_bits)
    }

    /// The bucket of a place, whatever its partition.
    #[inline(always)]
    pub fn bucket(self, place: u32) -> usize {
        ((place & ((1 << PLACE_BITS) - 1)) >> self.rest_bits) as usize
    }

    /// What of a place the bucket does not tell.
    #[inline(always)]
    pub fn rest(self, place: u32) -> u16 {
        (place & ((1 << self.rest_bits) - 1)) as u16
    }

    /// The place of a rest in a bucket of a partition.
    pub fn place(self, partition: usize, bucket: usize, rest: u16) -> u32 {
        (partition as u32) << PLACE_BITS | (bucket as u32) << self.rest_bits | u32::from(rest)
    }

    /// The least that is no rest.
    pub fn rest_limit(self) -> u32 {
        1 << self.rest_bits
    }

    #[inline(always)]
    fn is_narrow(self) -> bool {
        self.rest_bits <= 8
    }

    /// Bytes before the counts of a bucket of `n` features.
    #[inline(always)]
    fn counts_at(self, n: usize) -> usize {
        if self.is_narrow() { 2 + n } else { 2 + 2 * n }
    }

    /// Words before the locations of a bucket of `n` features, `n` above 0.
    #[inline(always)]
    pub fn head_words(self, n: usize) -> usize {
        (self.counts_at(n) + n).div_ceil(4)
    }

    /// Writes what stands before the locations into as many zeroed bytes as [`Buckets::head_words`] says.
    pub fn write_head(self, head: &mut [u8], places: &[u32], counts: &[u8]) {
        let n = places.len();
        head[..2].copy_from_slice(&(n as u16).to_le_bytes());
        let (rests, behind) = head[2..].split_at_mut(self.counts_at(n) - 2);
        if self.is_narrow() {
            rests.iter_mut().zip(places).for_each(|(rest, &place)| *rest = self.rest(place) as u8);
        } else {
            let (rests, _) = rests.as_chunks_mut::<2>();
            rests.iter_mut().zip(places).for_each(|(rest, &place)| *rest = self.rest(place).to_le_bytes());
        }
        behind[..n].copy_from_slice(counts);
    }

    /// Takes the head of a bucket apart; `None` when the words do not hold what their first two bytes promise.
    pub fn read(self, words: &[u32]) -> Option<Bucket<'_>> {
        let bytes: &[u8] = bytemuck::cast_slice(words);
        let n = usize::from(u16::from_le_bytes([*bytes.first()?, *bytes.get(1)?]));
        let (rests, behind) = bytes.get(2..4 * self.head_words(n))?.split_at_checked(self.counts_at(n) - 2)?;
        let (counts, zeros) = behind.split_at_checked(n)?;
        Some(Bucket { narrow: self.is_narrow(), rests, counts, zeros, locations: &words[self.head_words(n)..] })
    }

    /// Where a bucket's locations of the feature with this rest are; a count of 0 when it is not there. `words` begin with the bucket, and those behind
    /// its end are not looked at but may be loaded. Nonsense in, nonsense out, but no panic.
    #[inline(always)]
    pub fn find(self, words: &[u32], rest: u16) -> Found {
        let bytes: &[u8] = bytemuck::cast_slice(words);
        let Some(&[low, high]) = bytes.first_chunk() else { return Found::default() };
        let n = usize::from(u16::from_le_bytes([low, high]));
        let counts = bytes.get(self.counts_at(n)..).and_then(|counts| counts.first_chunk());
        let (before, count) = match (counts, n <= LANES) {
            (Some(counts), true) if self.is_narrow() => match bytes[2..].first_chunk::<LANES>() {
                Some(rests) => select(|lane| u16::from(rests[lane]), counts, n, rest),
                None => self.search(words, rest),
            },
            (Some(counts), true) => match bytes[2..].first_chunk::<{ 2 * LANES }>() {
                Some(rests) => {
                    select(|lane| u16::from_le_bytes([rests[2 * lane], rests[2 * lane + 1]]), counts, n, rest)
                }
                None => self.search(words, rest),
            },
            _ => self.search(words, rest),
        };
        Found { at: self.head_words(n) + usize::from(before), count: usize::from(count) }
    }

    /// The same for buckets of any size, one feature after the other.
    fn search(self, words: &[u32], rest: u16) -> (u16, u16) {
        let Some(bucket) = self.read(words) else { return (0, 0) };
        let mut before = 0u16;
        for (other, count) in bucket.features() {
            match other.cmp(&rest) {
                std::cmp::Ordering::Less => before = before.saturating_add(u16::from(count)),
                std::cmp::Ordering::Equal => return (before, u16::from(count)),
                std::cmp::Ordering::Greater => break,
            }
        }
        (0, 0)
    }
}

/// The sum of the counts before the rest, and its own count or 0; of the first `n` of [`LANES`] features. Written without a branch, so that it is
/// compiled to a few vector instructions.
#[inline(always)]
fn select(rests: impl Fn(usize) -> u16, counts: &[u8; LANES], n: usize, rest: u16) -> (u16, u16) {
    let (mut before, mut count) = (0, 0);
    for lane in 0..LANES {
        let (other, here) = (rests(lane), u16::from(counts[lane]));
        let here = if (lane as u16) < n as u16 { here } else { 0 };
        before += if other < rest { here } else { 0 };
        count += if other == rest { here } else { 0 };
    }
    (before, count)
}

/// A bucket that was taken apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket<'a> {
    narrow: bool,
    rests: &'a [u8],
    pub counts: &'a [u8],
    /// What stands between counts and locations.
    pub zeros: &'a [u8],
    pub locations: &'a [u32],
}

impl<'a> Bucket<'a> {
    /// Rest and count of each feature.
    pub fn features(self) -> impl Iterator<Item = (u16, u8)> + use<'a> {
        (0..self.counts.len()).map(move |at| (self.rest(at), self.counts[at]))
    }

    /// The rest of the feature at an index below the number of counts.
    pub fn rest(self, at: usize) -> u16 {
        match self.narrow {
            true => u16::from(self.rests[at]),
            false => u16::from_le_bytes([self.rests[2 * at], self.rests[2 * at + 1]]),
        }
    }
}
