//! Seeds: some of a few neighbouring residues, in an alphabet of classes of similar ones.
//!
//! Short seeds over a fine alphabet find more than long ones over a coarse one, with fewer matches
//! by chance; frequent seeds are never left out.

use std::ops::Range;
use std::sync::OnceLock;

use gyrase_align::arch::Kernels;
use gyrase_align::residue::CODES;

use crate::Sequences;
use crate::positions::{Keyed, Positions};

/// Classes of residues: `KR E Q D N C G H IV LM FY W P ST A`.
const CLASSES: usize = 15;

/// No class: what stands for several residues, or none. Classes are less than its upper bit.
const NONE: u8 = u8::MAX;

/// The key of a seed that looks at no residue.
const NO_KEY: u16 = u16::MAX;

/// Keys that are made at a time.
const AT_ONCE: usize = 4096;

/// The class of each code, in the order of [`gyrase_align::residue::LETTERS`]; U is a C.
const CLASS_OF: [u8; CODES] = {
    let mut classes = [NONE; CODES];
    let standard = [
        14, 0, 4, 3, 5, 2, 1, 6, 7, 8, 9, 0, 9, 10, 12, 13, 13, 11, 10, 8,
    ];
    let mut code = 0;
    while code < standard.len() {
        classes[code] = standard[code];
        code += 1;
    }
    classes[25] = 5;
    classes
};

/// Residues of a seed.
const WEIGHT: usize = 4;

/// Seeds that there are.
pub(crate) const KEYS: usize = CLASSES.pow(WEIGHT as u32);

/// At which of the next residues a seed looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape(pub [usize; WEIGHT]);

/// `11011 1010011 11000101 100100011`: each finds what the ones before do not.
pub(crate) const SHAPES: [Shape; 4] = [
    Shape([0, 1, 3, 4]),
    Shape([0, 2, 5, 6]),
    Shape([0, 1, 5, 7]),
    Shape([0, 3, 7, 8]),
];

/// Residues from the first of a seed to its last, at most.
const MOST_SPAN: usize = 9;

/// An index of the subjects for each shape, made when it is first wanted.
pub(crate) type SeedIndexes = [OnceLock<Index>; SHAPES.len()];

/// Bytes of indexes for all shapes but one, of so many residues.
pub(crate) fn bytes_of_indexes(residues: u64) -> u64 {
    (SHAPES.len() as u64 - 1) * (size_of::<u32>() as u64) * (residues + KEYS as u64)
}

/// Whether a code is of a class, so that seeds look at it.
pub(crate) fn is_known(code: u8) -> bool {
    CLASS_OF
        .get(usize::from(code))
        .is_some_and(|&class| class != NONE)
}

impl Shape {
    /// Residues from its first to its last.
    pub(crate) fn span(self) -> usize {
        self.0[WEIGHT - 1] + 1
    }

    /// The keys of the seeds at the first positions of a text of classes.
    #[inline(always)]
    fn keys(self, classes: &[u8], keys: &mut [u16]) {
        let [first, second, third, fourth] = self.0.map(|place| &classes[place..][..keys.len()]);
        for (at, key) in keys.iter_mut().enumerate() {
            let own = [first[at], second[at], third[at], fourth[at]];
            let known = own.iter().fold(0, |all, one| all | one) < NONE / 2;
            let append = |key: u16, &class: &u8| {
                let key = key.wrapping_mul(CLASSES as u16);
                key.wrapping_add(class.into())
            };
            *key = if known {
                own.iter().fold(0, append)
            } else {
                NO_KEY
            };
        }
    }
}

/// The seeds of a stretch of a text, some after the other.
struct Seeds<'t> {
    text: &'t [u8],
    shape: Shape,
    /// By key, and [`NO_KEY`].
    wanted: &'t [bool; 1 << u16::BITS],
    kernels: Kernels,
}

impl Keyed for Seeds<'_> {
    /// Those keys that are wanted.
    fn of(&self, range: Range<usize>, mut each: impl FnMut(usize, u32)) {
        let mut classes = [NONE; AT_ONCE + MOST_SPAN];
        let mut keys = [NO_KEY; AT_ONCE];
        let mut found = [(0_u16, NO_KEY); AT_ONCE];
        for from in range.clone().step_by(AT_ONCE) {
            let keys = &mut keys[..AT_ONCE.min(range.end - from)];
            let text = &self.text[from..from + keys.len() + self.shape.span() - 1];
            for (class, &code) in classes.iter_mut().zip(text) {
                *class = CLASS_OF[usize::from(code)];
            }
            self.kernels.run(
                #[inline(always)]
                || self.shape.keys(&classes, keys),
            );
            // Whether a key is wanted cannot be foreseen: there is no branch.
            let mut count = 0;
            for (at, &key) in keys.iter().enumerate() {
                found[count] = (at as u16, key);
                count += usize::from(self.wanted[usize::from(key)]);
            }
            for &(at, key) in &found[..count] {
                each(key.into(), from as u32 + u32::from(at));
            }
        }
    }
}

/// The positions of all seeds of a text, by key.
pub(crate) struct Index(Positions);

impl Index {
    /// The index of a text of codes: of all keys, or of those alone that another has.
    pub(crate) fn new(text: &[u8], shape: Shape, other: Option<&Index>, threads: usize) -> Index {
        let mut wanted = Box::new([false; 1 << u16::BITS]);
        for (key, wanted) in wanted[..KEYS].iter_mut().enumerate() {
            *wanted = other.is_none_or(|other| other.positions(key).len() > 0);
        }
        let seeds = Seeds {
            text,
            shape,
            wanted: &wanted,
            kernels: Kernels::detect(),
        };
        let positions = text.len().saturating_sub(shape.span() - 1);
        Index(Positions::new(0..positions, KEYS, &seeds, threads))
    }

    /// Where a key's seeds are, in ascending order.
    pub(crate) fn positions(&self, key: usize) -> impl ExactSizeIterator<Item = usize> + Clone {
        self.0.of(key).map(|position| position as usize)
    }

    /// Asks the processor for where a key's seeds begin.
    pub(crate) fn prefetch_start(&self, key: usize) {
        self.0.prefetch_start(key);
    }

    /// Asks for the first of them, so many at least.
    pub(crate) fn prefetch(&self, key: usize, first: usize) {
        self.0.prefetch(key, first);
    }
}

/// How often sequences have a seed of a shape in common, outside of masks.
pub(crate) fn common(queries: &Sequences, subjects: &Sequences, shape: Shape) -> u64 {
    let queries = Index::new(queries.seed_text(), shape, None, 1);
    let subjects = Index::new(subjects.seed_text(), shape, Some(&queries), 1);
    let of_key = |key| queries.positions(key).len() as u64 * subjects.positions(key).len() as u64;
    (0..KEYS).map(of_key).sum()
}

#[cfg(test)]
mod tests {
    use gyrase_align::residue::{LETTERS, code};

    use super::*;

    #[test]
    fn similar_residues_are_of_one_class() {
        let classes: [&[u8]; CLASSES] = [
            b"KR", b"E", b"Q", b"D", b"N", b"CU", b"G", b"H", b"IV", b"LM", b"FY", b"W", b"P",
            b"ST", b"A",
        ];
        for (number, letters) in classes.into_iter().enumerate() {
            for &letter in letters {
                assert_eq!(
                    usize::from(CLASS_OF[usize::from(code(letter))]),
                    number,
                    "{}",
                    letter as char
                );
            }
        }
        let with_one = LETTERS
            .iter()
            .filter(|&&letter| CLASS_OF[usize::from(code(letter))] != NONE);
        assert_eq!(with_one.count(), 21);
    }

    #[test]
    fn every_seed_is_at_its_key_whatever_the_threads() {
        let text: Vec<u8> = (0..3000_u32).map(|at| (at * at % 29) as u8).collect();
        for shape in SHAPES {
            let mut expected = vec![Vec::new(); KEYS];
            for at in 0..=text.len() - shape.span() {
                let classes: Vec<u8> = text[at..]
                    .iter()
                    .map(|&code| CLASS_OF[usize::from(code)])
                    .collect();
                let seed = shape.0.map(|place| classes[place]);
                if !seed.contains(&NONE) {
                    let key = seed.iter().fold(0, |key, &one| 15 * key + usize::from(one));
                    expected[key].push(at);
                }
            }
            let some = Index::new(&text[..40], shape, None, 1);
            for (threads, other) in [(1, None), (2, None), (7, None), (2, Some(&some))] {
                let index = Index::new(&text, shape, other, threads);
                for (key, expected) in expected.iter().enumerate() {
                    let wanted = other.is_none_or(|other| other.positions(key).len() > 0);
                    let expected: &[usize] = if wanted { expected } else { &[] };
                    assert!(index.positions(key).eq(expected.iter().copied()), "{key}");
                }
            }
            assert_eq!(Index::new(&[0; 3], shape, None, 2).0.len(), 0);
        }
    }
}
