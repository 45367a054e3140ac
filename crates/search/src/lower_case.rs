//! Which letters of sequences are in lower case.

use std::ops::Range;

/// Where sequences are written in lower case.
#[derive(Clone, Debug, Default)]
pub(crate) struct LowerCase {
    /// Ranges of their text, in ascending order.
    ranges: Vec<Range<u32>>,
}

impl LowerCase {
    /// Bytes of a range, while there may be room for as many more.
    pub(crate) const BYTES: u64 = 2 * size_of::<Range<u32>>() as u64;

    /// Notes where the letters of a sequence that begins at a place are in lower case, behind those
    /// of all before it.
    pub(crate) fn note(&mut self, start: usize, letters: impl Iterator<Item = u8>) {
        for (place, letter) in (start..).zip(letters) {
            if letter.is_ascii_lowercase() {
                self.add(place..place + 1);
            }
        }
    }

    /// Adds a range behind all others.
    pub(crate) fn add(&mut self, range: Range<usize>) {
        let (start, end) = (range.start as u32, range.end as u32);
        match self.ranges.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => self.ranges.push(start..end),
        }
    }

    /// All ranges of the text.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = Range<usize>> + Clone + '_ {
        self.ranges.iter().map(usize_range)
    }

    /// What of a range of the text is in lower case, from its first place on.
    pub(crate) fn of(&self, own: Range<usize>) -> impl Iterator<Item = Range<usize>> + Clone + '_ {
        let inside = self.ranges[self.before(own.start)..]
            .iter()
            .map(usize_range);
        let inside = inside.take_while(move |range| range.start < own.end);
        inside.map(move |range| {
            range.start.max(own.start) - own.start..range.end.min(own.end) - own.start
        })
    }

    /// Whether a place of the text is in lower case.
    #[inline]
    pub(crate) fn has(&self, at: usize) -> bool {
        let next = self.ranges.get(self.before(at));
        next.is_some_and(|range| range.start as usize <= at)
    }

    /// What of a stretch of the text is not in lower case and has something of a range, in order,
    /// each as long as it can be.
    pub(crate) fn outside(
        &self,
        stretch: Range<usize>,
        range: Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> + '_ {
        let before = self.before(range.start.max(stretch.start));
        let last = before
            .checked_sub(1)
            .map(|last| self.ranges[last].end as usize);
        let (mut start, end) = (last.unwrap_or_default().max(stretch.start), range.end);
        let ranges = self.ranges[before..].iter().map(usize_range);
        let ranges = ranges.take_while(move |range| range.start < stretch.end);
        let all = ranges.chain(std::iter::once(stretch.end..stretch.end));
        let pieces = all.map(move |range| {
            std::mem::replace(&mut start, range.end.min(stretch.end))..range.start
        });
        let pieces = pieces.take_while(move |piece| piece.start < end);
        pieces.filter(move |piece| !piece.is_empty() && piece.end > range.start)
    }

    /// Adds what a part of another text has, which begins at a place of this one.
    pub(crate) fn add_part(&mut self, other: &LowerCase, part: Range<usize>, start: usize) {
        other
            .of(part)
            .for_each(|range| self.add(range.start + start..range.end + start));
    }

    /// Ranges that end at a place or before.
    fn before(&self, at: usize) -> usize {
        self.ranges
            .partition_point(|range| range.end as usize <= at)
    }
}

fn usize_range(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sequence_has_its_own_lower_case() {
        let (mut noted, mut start, mut all) = (LowerCase::default(), 3, Vec::new());
        for letters in [&b"abCDe"[..], b"", b"AB", b"a", b"Ab"] {
            noted.note(start, letters.iter().copied());
            all.push(start..start + letters.len());
            start += letters.len() + 1;
        }
        let of = |number: usize| noted.of(all[number].clone()).collect::<Vec<_>>();
        assert_eq!(of(0), [0..2, 4..5]);
        assert!(of(1).is_empty() && of(2).is_empty());
        assert_eq!([of(3), of(4)].concat(), [0..1, 1..2]);
    }

    /// Against what is looked at letter by letter.
    #[test]
    fn what_is_outside_is_as_long_as_it_can_be() {
        let text = b"abCDEfGhijKLmnOP";
        let mut noted = LowerCase::default();
        noted.note(0, text.iter().copied());
        for at in 0..text.len() {
            assert_eq!(noted.has(at), text[at].is_ascii_lowercase(), "{at}");
        }
        let each = |most: usize| (0..=most).flat_map(move |to| (0..=to).map(move |from| from..to));
        for stretch in each(text.len()) {
            let upper = stretch.clone().filter(|&at| text[at].is_ascii_uppercase());
            let mut pieces: Vec<Range<usize>> = Vec::new();
            for at in upper {
                match pieces.last_mut() {
                    Some(last) if last.end == at => last.end += 1,
                    _ => pieces.push(at..at + 1),
                }
            }
            for range in each(text.len()).filter(|range| !range.is_empty()) {
                let expected = pieces
                    .iter()
                    .filter(|piece| piece.start < range.end && piece.end > range.start);
                let expected: Vec<_> = expected.cloned().collect();
                let found: Vec<_> = noted.outside(stretch.clone(), range.clone()).collect();
                assert_eq!(found, expected, "{stretch:?} {range:?}");
            }
        }
        let mut part = LowerCase::default();
        part.add_part(&noted, 4..14, 100);
        assert!(part.ranges().eq([101..102, 103..106, 108..110]));
    }
}
