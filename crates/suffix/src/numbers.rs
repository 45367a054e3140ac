//! Positions and lengths in a text, as narrow as its length allows.

/// A text of so many letters has positions of 32 bits.
const MOST_NARROW: u64 = u32::MAX as u64;

/// Bytes of a position where it is stored or sent: in a text with positions of 32 bits, and in a
/// longer one.
pub(crate) const NARROW: usize = 4;
pub(crate) const WIDE: usize = 5;

/// Bytes of a position in a text of so many letters, where it is stored or sent.
pub(crate) fn number_width(letters: u64) -> usize {
    if is_narrow(letters) { NARROW } else { WIDE }
}

/// Whether positions of a text of so many letters have 32 bits.
pub(crate) fn is_narrow(letters: u64) -> bool {
    letters <= MOST_NARROW && !all_are_wide()
}

/// Whether short texts are taken as long ones are: only in tests.
#[cfg(not(test))]
pub(crate) const fn all_are_wide() -> bool {
    false
}

#[cfg(test)]
pub(crate) use wide::{all_are_wide, as_if_long};

#[cfg(test)]
mod wide {
    use std::cell::Cell;

    thread_local! {
        static ALL: Cell<bool> = const { Cell::new(false) };
    }

    pub(crate) fn all_are_wide() -> bool {
        ALL.get()
    }

    /// Does something in this thread with texts as if each were too long for 32 bits.
    pub(crate) fn as_if_long<T>(work: impl FnOnce() -> T) -> T {
        ALL.set(true);
        let done = work();
        ALL.set(false);
        done
    }
}

/// Many numbers of one width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NumberArray {
    /// Of 32 bits.
    Narrow(Vec<u32>),
    /// Of 64 bits.
    Wide(Vec<u64>),
}

impl NumberArray {
    /// So many zeros that can hold positions of a text of `length` letters.
    pub fn zeros(count: usize, length: u64) -> NumberArray {
        match is_narrow(length) {
            true => NumberArray::Narrow(vec![0; count]),
            false => NumberArray::Wide(vec![0; count]),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            NumberArray::Narrow(numbers) => numbers.len(),
            NumberArray::Wide(numbers) => numbers.len(),
        }
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them.
    ///
    /// # Panics
    /// When there are not so many.
    #[inline]
    pub fn get(&self, place: usize) -> usize {
        match self {
            NumberArray::Narrow(numbers) => numbers[place] as usize,
            NumberArray::Wide(numbers) => numbers[place] as usize,
        }
    }

    /// Changes one of them.
    ///
    /// # Panics
    /// When there are not so many, or the number is too large for the width.
    #[inline]
    pub fn set(&mut self, place: usize, number: usize) {
        match self {
            NumberArray::Narrow(numbers) => {
                numbers[place] = u32::try_from(number).expect("a number of the text");
            }
            NumberArray::Wide(numbers) => numbers[place] = number as u64,
        }
    }

    /// All of them, in their order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).map(|place| self.get(place))
    }

    /// Bytes of memory that so many numbers take for a text of `length` letters.
    pub fn bytes(count: u64, length: u64) -> u64 {
        count * if is_narrow(length) { 4 } else { 8 }
    }
}

impl FromIterator<usize> for NumberArray {
    /// Narrow ones where all are.
    fn from_iter<I: IntoIterator<Item = usize>>(numbers: I) -> NumberArray {
        let wide: Vec<u64> = numbers.into_iter().map(|number| number as u64).collect();
        match wide.iter().all(|&number| number <= MOST_NARROW) {
            true => NumberArray::Narrow(wide.into_iter().map(|number| number as u32).collect()),
            false => NumberArray::Wide(wide),
        }
    }
}
