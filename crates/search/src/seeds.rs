//! Seeds: some of a few neighbouring residues, in an alphabet of classes of similar ones.
//!
//! Short seeds over a fine alphabet find more than long ones over a coarse one, with fewer matches
//! by chance; frequent seeds are never left out.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use gyrase_align::residue::CODES;
use gyrase_work::in_parallel;

use crate::Sequences;

/// Classes of residues: `KR E Q D N C G H IV LM FY W P ST A`.
const CLASSES: usize = 15;

/// No class: what stands for several residues, or none.
const NONE: u8 = u8::MAX;

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

/// An index of the subjects for each shape, made when it is first wanted.
pub(crate) type Indexes = [OnceLock<Index>; SHAPES.len()];

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

    /// The key of the seed at that position; none where it looks at no residue.
    fn key(self, classes: &[u8]) -> Option<usize> {
        let mut key = 0;
        for place in self.0 {
            let class = classes[place];
            if class == NONE {
                return None;
            }
            key = key * CLASSES + usize::from(class);
        }
        Some(key)
    }
}

/// The positions of all seeds of a text, by key.
pub(crate) struct Index {
    /// Where the positions of each key begin, and where all end.
    starts: Vec<u32>,
    positions: Vec<AtomicU32>,
}

impl Index {
    /// The index of a text of codes.
    pub(crate) fn new(text: &[u8], shape: Shape, threads: usize) -> Index {
        let stretch = text.len().div_ceil(threads).max(1);
        let seeds = text.len().saturating_sub(shape.span() - 1);
        let stretches: Vec<_> = (0..seeds)
            .step_by(stretch)
            .map(|from| from..(from + stretch).min(seeds))
            .collect();
        let each_seed = |range: std::ops::Range<usize>, each: &mut dyn FnMut(usize, usize)| {
            let classes: Vec<u8> = text[range.start..range.end + shape.span() - 1]
                .iter()
                .map(|&code| CLASS_OF[usize::from(code)])
                .collect();
            for at in 0..range.len() {
                if let Some(key) = shape.key(&classes[at..]) {
                    each(key, range.start + at);
                }
            }
        };
        let count = |range| {
            let mut counts = vec![0_u32; KEYS];
            each_seed(range, &mut |key, _| counts[key] += 1);
            Ok::<_, std::convert::Infallible>(counts)
        };
        let Ok(mut next) = in_parallel(stretches.clone(), count);
        let mut starts = Vec::with_capacity(KEYS + 1);
        let mut sum = 0;
        for key in 0..KEYS {
            starts.push(sum);
            for counts in &mut next {
                let count = std::mem::replace(&mut counts[key], sum);
                sum += count;
            }
        }
        starts.push(sum);
        let mut positions = Vec::new();
        positions.resize_with(sum as usize, AtomicU32::default);
        let place = |(range, mut next): (_, Vec<u32>)| {
            each_seed(range, &mut |key, position| {
                positions[next[key] as usize].store(position as u32, Relaxed);
                next[key] += 1;
            });
            Ok::<_, std::convert::Infallible>(())
        };
        let Ok(_) = in_parallel(stretches.into_iter().zip(next).collect(), place);
        Index { starts, positions }
    }

    /// Where a key's seeds are, in ascending order.
    pub(crate) fn positions(&self, key: usize) -> impl ExactSizeIterator<Item = usize> + Clone {
        let range = self.starts[key] as usize..self.starts[key + 1] as usize;
        self.positions[range]
            .iter()
            .map(|position| position.load(Relaxed) as usize)
    }
}

/// How often sequences have a seed of a shape in common, outside of masks.
pub(crate) fn common(queries: &Sequences, subjects: &Sequences, shape: Shape) -> u64 {
    let index = |sequences: &Sequences| Index::new(sequences.seed_text(), shape, 1);
    let (queries, subjects) = (index(queries), index(subjects));
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
                shape
                    .key(&classes)
                    .into_iter()
                    .for_each(|key| expected[key].push(at));
            }
            for threads in [1, 2, 7] {
                let index = Index::new(&text, shape, threads);
                for (key, expected) in expected.iter().enumerate() {
                    assert!(index.positions(key).eq(expected.iter().copied()), "{key}");
                }
            }
            assert_eq!(Index::new(&[0; 3], shape, 2).positions.len(), 0);
        }
    }
}
