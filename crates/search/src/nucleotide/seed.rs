//! Which of some neighbouring bases make the key of a word: all, or those of a *template*, which
//! finds what has no such run of equal bases (Ma, Tromp and Li, "PatternHunter", Bioinformatics 18
//! (2002) 440).

/// Bases of a table of a part of a template.
const PART: usize = 7;
const TABLES: usize = 3;

/// The templates of BLAST (`mb_lookup.h`): bases that make a key, bases from the first to the last,
/// for coding sequences or not, and the bases themselves.
const TEMPLATES: [(usize, usize, TemplateType, &[u8]); 12] = [
    (11, 16, TemplateType::Coding, b"1101101101101101"),
    (11, 16, TemplateType::Optimal, b"1110010110110111"),
    (12, 16, TemplateType::Coding, b"1111101101101101"),
    (12, 16, TemplateType::Optimal, b"1110110110110111"),
    (11, 18, TemplateType::Coding, b"101101100101101101"),
    (11, 18, TemplateType::Optimal, b"111010010110010111"),
    (12, 18, TemplateType::Coding, b"101101101101101101"),
    (12, 18, TemplateType::Optimal, b"111010110010110111"),
    (11, 21, TemplateType::Coding, b"100101100101100101101"),
    (11, 21, TemplateType::Optimal, b"111010010100010010111"),
    (12, 21, TemplateType::Coding, b"100101101101100101101"),
    (12, 21, TemplateType::Optimal, b"111010010110010010111"),
];

/// Which bases of a word have to be equal where not all have to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TemplateType {
    /// Mostly two of three, as in coding sequences.
    #[default]
    Coding,
    /// Those that find most elsewhere.
    Optimal,
    /// Both, one after the other.
    Both,
}

/// Which bases make a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Seed {
    /// Bases of a key.
    pub bases: usize,
    /// From the first to the last of them.
    pub span: usize,
    /// Which of these they are: the lowest bit is of the first.
    pub places: u32,
    /// The bits of a key by those of seven bases, where there is a template.
    tables: Option<[[u16; 1 << PART]; TABLES]>,
}

impl Seed {
    /// So many neighbouring bases.
    pub(super) const fn contiguous(bases: usize) -> Seed {
        Seed {
            bases,
            span: bases,
            places: (1 << bases) - 1,
            tables: None,
        }
    }

    /// The template of so many bases, of a length and a type; none where there is no such.
    pub(super) fn template(bases: usize, length: usize, kind: TemplateType) -> Option<Seed> {
        let own = |template: &&(usize, usize, TemplateType, &[u8])| {
            (template.0, template.1, template.2) == (bases, length, kind)
        };
        let (.., template) = TEMPLATES.iter().find(own)?;
        let (mut places, mut keys, mut bases) = (0, [0; TABLES * PART], 0);
        for (place, _) in template
            .iter()
            .enumerate()
            .filter(|(_, base)| **base == b'1')
        {
            places |= 1 << place;
            keys[place] = 1 << bases;
            bases += 1;
        }
        let bits = |part: usize, seven: usize| -> u16 {
            let set = (0..PART).filter(|place| seven >> place & 1 == 1);
            set.map(|place| keys[part * PART + place]).sum()
        };
        Some(Seed {
            bases,
            span: length,
            places,
            tables: Some(std::array::from_fn(|part| {
                std::array::from_fn(|seven| bits(part, seven))
            })),
        })
    }

    /// True where some of the bases do not count.
    pub(super) fn is_template(&self) -> bool {
        self.tables.is_some()
    }

    /// Bases from the first on that are equal where keys are.
    pub(super) fn sure(&self) -> usize {
        self.places.trailing_ones() as usize
    }

    /// The key of the word whose lower and upper bits begin these.
    #[inline(always)]
    pub(super) fn key(&self, low: u64, high: u64) -> usize {
        let half = |bits: u64| match &self.tables {
            None => (bits & ((1 << self.bases) - 1)) as usize,
            Some(tables) => {
                let part = |number: usize| {
                    let seven = (bits >> (number * PART)) as usize % (1 << PART);
                    usize::from(tables[number][seven])
                };
                part(0) | part(1) | part(2)
            }
        };
        half(low) | half(high) << self.bases
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_bases_of_templates() {
        for (bases, length, kind, template) in TEMPLATES {
            let seed = Seed::template(bases, length, kind).unwrap();
            assert_eq!((seed.bases, seed.span), (bases, length));
            assert_eq!(template.len(), length);
            let (low, high) = (0x1_9e37_79b9_u64, 0x1_7f4a_7c15_u64);
            let places = (0..length).filter(|&place| template[place] == b'1');
            let expected = places.enumerate().map(|(number, place)| {
                let bit = |bits: u64| (bits >> place & 1) as usize;
                bit(low) << number | bit(high) << (bases + number)
            });
            assert_eq!(seed.key(low, high), expected.sum::<usize>());
            let sure = template.iter().take_while(|&&base| base == b'1').count();
            assert_eq!(seed.sure(), sure);
        }
        assert_eq!(Seed::template(11, 17, TemplateType::Coding), None);
        assert_eq!(Seed::contiguous(7).key(0xffff, 0), 0x7f);
    }
}
