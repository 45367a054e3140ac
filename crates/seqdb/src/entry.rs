//! A sequence of a database.

use std::ops::Range;

/// Nucleotides of a `.gysd` database, which are read when they are wanted
/// ([`SeqDb::bases`](crate::gysd::SeqDb::bases)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedBases<'a> {
    /// The number of its first among those of the whole database.
    pub first: u64,
    /// How many there are.
    pub count: usize,
    /// What is no base, in order: its places from the first on, and its letter.
    pub exceptions: &'a [(Range<usize>, u8)],
    /// What is masked, in order.
    pub masks: &'a [Range<usize>],
}

/// A sequence, whatever file it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The whole line that names it. Where it stands for several equal ones, a byte 1 divides
    /// their titles.
    pub title: &'a [u8],
    /// Its letters, of either case: that of a database is lower where it is masked. Gaps (`-` and
    /// `.`) are none.
    pub letters: &'a [u8],
    /// What there is instead of letters, where the reader was asked for it.
    pub packed: Option<PackedBases<'a>>,
    /// Its taxids; none where they are not known.
    pub taxids: &'a [u32],
}

/// How large a sequence is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntrySize<'a> {
    /// Bytes of its title.
    pub title: u64,
    /// Letters, or a few more than it has.
    pub letters: u64,
    /// Its taxids; none where they are not known.
    pub taxids: &'a [u32],
    /// Stretches of letters in lower case.
    pub masks: u64,
}

impl<'a> EntrySize<'a> {
    /// The size of a sequence.
    pub fn of(entry: &Entry<'a>) -> EntrySize<'a> {
        EntrySize {
            title: entry.title.len() as u64,
            letters: entry
                .packed
                .map_or(entry.letters.len(), |packed| packed.count) as u64,
            taxids: entry.taxids,
            masks: entry.packed.map_or_else(
                || stretches_in_lower_case(entry.letters),
                |packed| packed.masks.len() as u64,
            ),
        }
    }
}

/// Pairs of letters that are counted at a time, in a byte.
const AT_ONCE: usize = 255;

fn stretches_in_lower_case(letters: &[u8]) -> u64 {
    let Some((first, others)) = letters.split_first() else {
        return 0;
    };
    let begins = |before: u8, letter: u8| {
        u8::from(!before.is_ascii_lowercase() & letter.is_ascii_lowercase())
    };
    let parts = others.chunks(AT_ONCE).zip(letters.chunks(AT_ONCE));
    let counts = parts.map(|(part, before)| {
        let pairs = part.iter().zip(before);
        u64::from(pairs.fold(0, |count, (letter, before)| {
            count + begins(*before, *letter)
        }))
    });
    u64::from(first.is_ascii_lowercase()) + counts.sum::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_counted_across_parts() {
        let of = |letters: &[u8]| stretches_in_lower_case(letters);
        assert_eq!([of(b""), of(b"A"), of(b"a"), of(b"aAa-a")], [0, 0, 1, 3]);
        for before in 250..260 {
            let letters = [&b"A".repeat(before)[..], b"aa", b"Ca"].concat();
            assert_eq!(of(&letters), 2);
            assert_eq!(of(&b"aC".repeat(before)), before as u64);
        }
    }
}
