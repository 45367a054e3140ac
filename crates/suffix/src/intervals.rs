//! The intervals of a suffix array whose suffixes share some letters: the inner nodes of its suffix
//! tree, from the leaves up (Abouelhoda, Kurtz, Ohlebusch 2004).

use std::ops::Range;

use crate::sort::{SENTINEL, SuffixArray};

/// Suffixes that share letters, by their places in the array, and no others do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Interval {
    pub places: Range<usize>,
    /// Letters that they share.
    pub common: usize,
    /// Whether not all have one letter before them.
    pub is_left_diverse: bool,
    /// Whether no two of them share more letters.
    pub has_no_inner: bool,
}

/// What is before the suffixes of an interval: one letter, or different ones.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    One(u8),
    Different,
}

impl Before {
    fn and(self, other: Before) -> Before {
        match self == other && self != Before::One(SENTINEL) {
            true => self,
            false => Before::Different,
        }
    }
}

/// An interval that may grow.
struct Open {
    common: usize,
    start: usize,
    before: Before,
    has_no_inner: bool,
}

/// Hands every interval of at least `least` shared letters to `each`, inner ones first. A sentinel
/// is unlike any letter, and unlike every other sentinel.
pub(crate) fn each_interval<E>(
    text: &[u8],
    sorted: &SuffixArray,
    least: usize,
    mut each: impl FnMut(Interval) -> Result<(), E>,
) -> Result<(), E> {
    let count = sorted.positions.len();
    let mut open: Vec<Open> = Vec::new();
    for place in 1..=count {
        // What is shared below `least` is as nothing.
        let common = if place < count {
            sorted.common.get(place)
        } else {
            0
        };
        let common = if common < least { 0 } else { common };
        if open.is_empty() && common == 0 {
            continue;
        }
        let position = sorted.positions.get(place - 1);
        let letter = position
            .checked_sub(1)
            .map_or(SENTINEL, |before| text[before]);
        let (mut start, mut before, mut is_leaf) = (place - 1, Before::One(letter), true);
        while let Some(last) = open.pop_if(|last| last.common > common) {
            before = last.before.and(before);
            let has_no_inner = last.has_no_inner && is_leaf;
            (start, is_leaf) = (last.start, false);
            each(Interval {
                places: start..place,
                common: last.common,
                is_left_diverse: before == Before::Different,
                has_no_inner,
            })?;
        }
        match open.last_mut().filter(|last| last.common == common) {
            Some(last) => {
                last.before = last.before.and(before);
                last.has_no_inner &= is_leaf;
            }
            None if common > 0 => open.push(Open {
                common,
                start,
                before,
                has_no_inner: is_leaf,
            }),
            None => {}
        }
    }
    Ok(())
}
