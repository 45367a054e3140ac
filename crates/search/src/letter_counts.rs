//! How many there are of each letter, of many letters.

/// Letters that are counted at a time, in a byte.
const AT_ONCE: usize = 255;
/// Most letters of nucleotides.
const BASES: [u8; 4] = *b"acgt";

/// How often each letter is there.
pub(crate) struct LetterCounts([u64; 256]);

impl LetterCounts {
    /// Those of letters; the four bases in lower case are counted with those in upper case.
    pub(crate) fn of(letters: &[u8]) -> LetterCounts {
        let mut counts = [0; 256];
        for part in letters.chunks(AT_ONCE) {
            let of_bases = BASES.map(|base| {
                let is_base = |letter: u8| u8::from(letter | 0x20 == base);
                part.iter()
                    .fold(0, |count, &letter| count + is_base(letter))
            });
            let bases = of_bases
                .iter()
                .map(|&count| usize::from(count))
                .sum::<usize>();
            for (base, count) in BASES.iter().zip(of_bases) {
                counts[usize::from(base.to_ascii_uppercase())] += u64::from(count);
            }
            let mut others = part
                .iter()
                .filter(|letter| !BASES.contains(&(**letter | 0x20)));
            (bases..part.len()).for_each(|_| {
                let other = others.next().expect("it is no base");
                counts[usize::from(*other)] += 1;
            });
        }
        LetterCounts(counts)
    }

    /// The letters that there are, and how many.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u8, u64)> + '_ {
        let all = (0..=u8::MAX).zip(self.0);
        all.filter(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_letters_are_counted() {
        let letters: Vec<u8> = (0..=255).cycle().take(1000).chain(*b"acgtACGTn-").collect();
        for from in (0..letters.len()).step_by(13) {
            let mut expected = [0_u64; 256];
            for &letter in &letters[from..] {
                let is_base = b"acgt".contains(&letter);
                expected[usize::from(if is_base { letter - 32 } else { letter })] += 1;
            }
            let counts = LetterCounts::of(&letters[from..]);
            assert_eq!(counts.0, expected);
            let kinds = expected.iter().filter(|count| **count > 0).count();
            assert_eq!(counts.iter().count(), kinds);
        }
    }
}
