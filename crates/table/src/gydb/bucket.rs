//! One bucket: a cache line of features, and where their locations are.
//!
//! A line has sixteen words: where its locations begin, twenty *rests* (what of the place neither
//! partition nor bucket tell, two bytes each, ascending) and as many counts (a byte each, 0 where
//! there is no feature). A bucket with more features goes on in another line, which stands before
//! the locations of the first.

use super::layout::PLACE_BITS;

/// Words of a line.
pub(super) const LINE_WORDS: usize = 16;
/// Features that a line holds.
pub(super) const LANES: usize = 20;
/// Features that a bucket has on average: so many that one bucket in twenty takes another line.
pub(super) const FULL: usize = 14;
/// The fewest buckets: with them a rest fits two bytes.
pub(super) const LEAST: usize = 1 << (PLACE_BITS - 16);
/// The bit of a line's first word that says that the bucket goes on.
const GOES_ON: u32 = 1 << 31;

/// How a partition cuts its places into buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Buckets {
    number: u32,
}

impl Buckets {
    /// The cut of a partition of so many features, at most 2^20.
    pub fn of_features(features: usize) -> Buckets {
        Buckets {
            number: features.div_ceil(FULL).max(LEAST) as u32,
        }
    }

    /// Number of buckets.
    pub fn len(self) -> usize {
        self.number as usize
    }

    /// Where a place is among those of its partition: the bucket, and 16 bits that ascend with the
    /// places of a bucket and differ.
    #[inline(always)]
    fn scaled(self, place: u32) -> u64 {
        // Neighbouring places are as far apart as there are buckets, so the four bits that are
        // dropped distinguish nothing.
        (u64::from(place & ((1 << PLACE_BITS) - 1)) * u64::from(self.number)) >> (PLACE_BITS - 16)
    }

    /// The bucket of a place, whatever its partition.
    #[inline(always)]
    pub fn bucket(self, place: u32) -> usize {
        (self.scaled(place) >> 16) as usize
    }

    /// What of a place the bucket does not tell.
    #[inline(always)]
    pub fn rest(self, place: u32) -> u16 {
        self.scaled(place) as u16
    }

    /// The place of a rest in a bucket of a partition; `None` where no place has this rest.
    pub fn place(self, partition: usize, bucket: usize, rest: u16) -> Option<u32> {
        let scaled = (bucket as u64) << 16 | u64::from(rest);
        let place = (scaled << (PLACE_BITS - 16)).div_ceil(u64::from(self.number)) as u32;
        let whole = (partition as u32) << PLACE_BITS | place;
        (place < 1 << PLACE_BITS && self.scaled(place) == scaled).then_some(whole)
    }
}

/// One line of a bucket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'a>(&'a [u32; LINE_WORDS]);

impl<'a> Line<'a> {
    /// The line that begins at a word, if there are words enough.
    #[inline(always)]
    pub fn at(words: &'a [u32], at: usize) -> Option<Line<'a>> {
        Some(Line(words.get(at..)?.first_chunk()?))
    }

    /// The bucket's next line, by its first word, counted from the start of the partition.
    #[inline(always)]
    pub fn next(self) -> Option<usize> {
        (self.0[0] & GOES_ON != 0).then_some((self.0[0] & !GOES_ON) as usize)
    }

    /// The first word of the line's locations, counted from the start of the partition.
    #[inline(always)]
    pub fn locations(self) -> usize {
        self.next()
            .map_or(self.0[0] as usize, |next| next + LINE_WORDS)
    }

    #[inline(always)]
    fn bytes(self) -> &'a [u8; 4 * LINE_WORDS] {
        bytemuck::cast_ref(self.0)
    }

    /// How many locations each feature has, and 0 for what is none.
    #[inline(always)]
    pub fn counts(self) -> &'a [u8] {
        &self.bytes()[4 + 2 * LANES..]
    }

    /// The rest of the feature in a lane below [`LANES`].
    #[inline(always)]
    pub fn rest(self, lane: usize) -> u16 {
        u16::from_le_bytes([self.bytes()[4 + 2 * lane], self.bytes()[5 + 2 * lane]])
    }

    /// The sum of the counts before the feature with this rest, and its own count; 0 when it is not
    /// there. Written without a branch, so that it is compiled to a few vector instructions; what
    /// is no feature counts nothing.
    #[inline(always)]
    pub fn find(self, rest: u16) -> (usize, usize) {
        let counts = self.counts();
        let (mut before, mut count) = (0u16, 0u16);
        for lane in 0..LANES {
            let (other, here) = (self.rest(lane), u16::from(counts[lane]));
            before += if other < rest { here } else { 0 };
            count += if other == rest { here } else { 0 };
        }
        (usize::from(before), usize::from(count))
    }
}

/// Writes a line of as many features as there are places, whose locations, or whose next line,
/// stand `at` a word.
pub(super) fn write_line(
    line: &mut [u32],
    buckets: Buckets,
    places: &[u32],
    counts: &[u8],
    at: usize,
    goes_on: bool,
) {
    line[0] = at as u32 | if goes_on { GOES_ON } else { 0 };
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut line[1..LINE_WORDS]);
    let (rests, lanes) = bytes.split_at_mut(2 * LANES);
    let (rests, _) = rests.as_chunks_mut::<2>();
    rests
        .iter_mut()
        .zip(places)
        .for_each(|(rest, &place)| *rest = buckets.rest(place).to_le_bytes());
    lanes[..counts.len()].copy_from_slice(counts);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bucket_and_rest_give_the_place_back() {
        for features in [1, 16, 224, 225, 300, 2930, 40_000, 65_537, 1 << 20] {
            let buckets = Buckets::of_features(features);
            let (mut before, mut rests) = (None, 0u32);
            for place in (0..1 << PLACE_BITS).step_by(if features == 300 { 1 } else { 7 }) {
                let (bucket, rest) = (buckets.bucket(place), buckets.rest(place));
                assert!(
                    bucket < buckets.len() && before < Some((bucket, rest)),
                    "{place} of {features}"
                );
                assert_eq!(
                    buckets.place(9, bucket, rest),
                    Some(9 << PLACE_BITS | place)
                );
                before = Some((bucket, rest));
                rests += u32::from(buckets.place(9, bucket, rest ^ 1).is_some());
            }
            assert!(
                features < 1000 || rests < 1 << 19,
                "{features}: hardly any other rest has a place"
            );
        }
    }
}
