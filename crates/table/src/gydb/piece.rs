//! One partition as it stands in the file: buckets, locations, checksums.

use bytemuck::TransparentWrapper;
use gyrase_files::container::ALIGNMENT;

use super::bucket::{Buckets, LANES, LINE_WORDS, write_line};
use super::layout::{BLOCK_BYTES, Entry, PLACE_BITS};
use crate::location::Location;

/// A partition that was laid out.
#[derive(Debug, Default)]
pub(super) struct Piece {
    /// Buckets, locations, the checksum of each block, zeros.
    pub words: Vec<u32>,
    /// What the directory will say of it; the offset is still to come.
    pub entry: Entry,
    /// One more than the largest location, 0 without locations.
    pub windows: u64,
}

impl Piece {
    /// Lays a partition out, in `words` whatever they held. One pass over the features.
    ///
    /// # Panics
    /// When the parts do not fit each other; see [`super::Writer::piece`].
    pub fn new(
        words: Vec<u32>,
        partition: usize,
        places: &[u32],
        counts: &[u8],
        locations: &[Location],
        cap: u8,
    ) -> Piece {
        check(partition, places, counts, cap);
        let mut piece = Piece {
            words,
            ..Piece::default()
        };
        piece.words.clear();
        if places.is_empty() {
            assert!(
                locations.is_empty(),
                "partition {partition} has locations and no features"
            );
            return piece;
        }
        encode(places, counts, locations, &mut piece.words);
        piece.windows = locations
            .iter()
            .max()
            .map_or(0, |largest| u64::from(largest.0) + 1);
        let bytes = size_of_val(&piece.words[..]);
        piece.seal();
        // A partition has 2^20 places of at most 254 locations each, less than 2^28, and less than
        // 2^31 bytes.
        let [bytes, features, locations] =
            [bytes, places.len(), locations.len()].map(|length| length as u32);
        piece.entry = Entry {
            bytes,
            features,
            locations,
            ..piece.entry
        };
        piece
    }

    /// Appends the checksums of the blocks, and zeros up to where the next partition begins.
    fn seal(&mut self) {
        let blocks = bytemuck::cast_slice::<u32, u8>(&self.words).chunks(BLOCK_BYTES);
        let checksums: Vec<u32> = blocks.map(crc32fast::hash).collect();
        let start = self.words.len();
        self.words.extend(checksums);
        self.words
            .resize(self.words.len().next_multiple_of(ALIGNMENT / 4), 0);
        self.entry.crc = crc32fast::hash(bytemuck::cast_slice(&self.words[start..]));
    }
}

fn check(partition: usize, places: &[u32], counts: &[u8], cap: u8) {
    assert_eq!(
        places.len(),
        counts.len(),
        "every feature of partition {partition} has a place and a count"
    );
    let ends = [places.first(), places.last()];
    assert!(
        ends.into_iter()
            .flatten()
            .all(|&place| (place >> PLACE_BITS) as usize == partition),
        "the features belong to partition {partition}"
    );
    let (first, second) = (places, places.get(1..).unwrap_or_default());
    assert!(
        first
            .iter()
            .zip(second)
            .fold(true, |ascend, (a, b)| ascend & (a < b)),
        "the places of partition {partition} ascend"
    );
    let possible = counts.iter().fold(true, |possible, &count| {
        possible & (count.wrapping_sub(1) < cap)
    });
    assert!(
        possible,
        "every feature of partition {partition} has 1 to {cap} locations"
    );
}

fn encode(places: &[u32], counts: &[u8], locations: &[Location], words: &mut Vec<u32>) {
    let buckets = Buckets::of_features(places.len());
    let mut at = LINE_WORDS * buckets.len();
    // No partition takes more: a line for each bucket, and one for each that is full.
    words.resize(
        at + LINE_WORDS * (places.len() / LANES) + locations.len(),
        0,
    );
    let mut left = Features {
        places,
        counts,
        locations,
    };
    for bucket in 0..buckets.len() {
        let mut n = left
            .places
            .iter()
            .take_while(|&&place| buckets.bucket(place) == bucket)
            .count();
        let mut line = LINE_WORDS * bucket;
        loop {
            let here = left.take(n.min(LANES));
            n -= here.places.len();
            write_line(
                &mut words[line..line + LINE_WORDS],
                buckets,
                here.places,
                here.counts,
                at,
                n > 0,
            );
            if n > 0 {
                line = at;
                at += LINE_WORDS;
            }
            words[at..at + here.locations.len()]
                .copy_from_slice(Location::peel_slice(here.locations));
            at += here.locations.len();
            if n == 0 {
                break;
            }
        }
    }
    assert!(
        left.locations.is_empty(),
        "there are as many locations as the counts say"
    );
    words.truncate(at);
}

/// Neighbouring features of a partition.
struct Features<'a> {
    places: &'a [u32],
    counts: &'a [u8],
    locations: &'a [Location],
}

impl<'a> Features<'a> {
    /// Takes the first `n` away.
    fn take(&mut self, n: usize) -> Features<'a> {
        let (places, counts) = (self.places.split_at(n), self.counts.split_at(n));
        let sum = counts.0.iter().map(|&count| usize::from(count)).sum();
        let locations = self
            .locations
            .split_at_checked(sum)
            .expect("there are as many locations as the counts say");
        *self = Features {
            places: places.1,
            counts: counts.1,
            locations: locations.1,
        };
        Features {
            places: places.0,
            counts: counts.0,
            locations: locations.0,
        }
    }
}
