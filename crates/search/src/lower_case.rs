//! Which letters of sequences are in lower case.

use std::ops::Range;

/// Where sequences are written in lower case.
#[derive(Debug, Default)]
pub(crate) struct LowerCase {
    /// Numbers of sequences and places in them, in ascending order.
    ranges: Vec<(u32, Range<u32>)>,
}

impl LowerCase {
    /// Notes where the letters of a sequence are in lower case, behind those of all before it.
    pub(crate) fn note(&mut self, number: usize, letters: impl Iterator<Item = u8>) {
        let number = number as u32;
        for (place, letter) in letters.enumerate() {
            if !letter.is_ascii_lowercase() {
                continue;
            }
            let place = place as u32;
            match self.ranges.last_mut() {
                Some((of, range)) if *of == number && range.end == place => range.end += 1,
                _ => self.ranges.push((number, place..place + 1)),
            }
        }
    }

    /// Where a sequence is in lower case.
    pub(crate) fn of(&self, number: usize) -> impl Iterator<Item = Range<usize>> + '_ {
        let first = |number: usize| {
            self.ranges
                .partition_point(|(own, _)| (*own as usize) < number)
        };
        let own = &self.ranges[first(number)..first(number + 1)];
        own.iter()
            .map(|(_, range)| range.start as usize..range.end as usize)
    }

    /// Bytes that it takes.
    pub(crate) fn bytes(&self) -> u64 {
        (self.ranges.capacity() * size_of::<(u32, Range<u32>)>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sequence_has_its_own_lower_case() {
        let mut noted = LowerCase::default();
        for (number, letters) in [&b"abCDe"[..], b"", b"AB", b"a", b"Ab"]
            .into_iter()
            .enumerate()
        {
            noted.note(number, letters.iter().copied());
        }
        let of = |number| noted.of(number).collect::<Vec<_>>();
        assert_eq!(of(0), [0..2, 4..5]);
        assert!(of(1).is_empty() && of(2).is_empty());
        assert_eq!([of(3), of(4)].concat(), [0..1, 1..2]);
    }
}
