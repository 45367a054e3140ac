//! Numbers by name, as processes add them up or agree on them.

/// A struct of numbers that every process has one of. [`numbers!`](crate::numbers) implements it.
///
/// ```
/// struct Read { reads: u64, bases: u64 }
/// gyrase_fabric::numbers!(Read { reads, bases });
/// ```
pub trait Numbers: Sized {
    /// Appends its numbers.
    fn put(&self, to: &mut Vec<u64>);

    /// Takes as many from the front as it put.
    ///
    /// # Panics
    /// When there are fewer.
    fn take(from: &mut std::vec::IntoIter<u64>) -> Self;
}

impl Numbers for u64 {
    fn put(&self, to: &mut Vec<u64>) {
        to.push(*self);
    }

    fn take(from: &mut std::vec::IntoIter<u64>) -> u64 {
        from.next().expect("as many numbers as were put")
    }
}

impl Numbers for u32 {
    fn put(&self, to: &mut Vec<u64>) {
        to.push(u64::from(*self));
    }

    /// The largest there is where sums are larger.
    fn take(from: &mut std::vec::IntoIter<u64>) -> u32 {
        u32::try_from(u64::take(from)).unwrap_or(u32::MAX)
    }
}

impl Numbers for usize {
    fn put(&self, to: &mut Vec<u64>) {
        to.push(*self as u64);
    }

    fn take(from: &mut std::vec::IntoIter<u64>) -> usize {
        u64::take(from) as usize
    }
}

/// 1 stands for true, and so does any sum of which a part was true.
impl Numbers for bool {
    fn put(&self, to: &mut Vec<u64>) {
        to.push(u64::from(*self));
    }

    fn take(from: &mut std::vec::IntoIter<u64>) -> bool {
        u64::take(from) > 0
    }
}

impl<T: Numbers, const N: usize> Numbers for [T; N] {
    fn put(&self, to: &mut Vec<u64>) {
        self.iter().for_each(|number| number.put(to));
    }

    fn take(from: &mut std::vec::IntoIter<u64>) -> [T; N] {
        std::array::from_fn(|_| T::take(from))
    }
}

impl<A: Numbers, B: Numbers> Numbers for (A, B) {
    fn put(&self, to: &mut Vec<u64>) {
        self.0.put(to);
        self.1.put(to);
    }

    fn take(from: &mut std::vec::IntoIter<u64>) -> (A, B) {
        (A::take(from), B::take(from))
    }
}

/// The numbers of a struct, in order.
pub(crate) fn of<T: Numbers>(numbers: &T) -> Vec<u64> {
    let mut all = Vec::new();
    numbers.put(&mut all);
    all
}

/// The struct of such numbers.
pub(crate) fn made<T: Numbers>(all: Vec<u64>) -> T {
    T::take(&mut all.into_iter())
}

/// The numbers of a struct as bytes.
pub(crate) fn to_bytes<T: Numbers>(numbers: &T) -> Vec<u8> {
    let all = of(numbers).into_iter();
    all.flat_map(u64::to_le_bytes).collect()
}

/// The struct of which these are the numbers.
pub(crate) fn from_bytes<T: Numbers>(bytes: &[u8]) -> T {
    let all = bytes.as_chunks().0.iter();
    made(all.map(|&bytes| u64::from_le_bytes(bytes)).collect())
}

/// Implements [`Numbers`] for a struct: its name, and all of its fields.
#[macro_export]
macro_rules! numbers {
    ($type:ident { $($field:ident),+ $(,)? }) => {
        impl $crate::Numbers for $type {
            fn put(&self, to: &mut Vec<u64>) {
                $($crate::Numbers::put(&self.$field, to);)+
            }

            fn take(from: &mut ::std::vec::IntoIter<u64>) -> $type {
                $type { $($field: $crate::Numbers::take(from)),+ }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Inner {
        largest: u32,
        whole: bool,
    }

    #[derive(Debug, PartialEq)]
    struct Outer {
        reads: u64,
        inner: Inner,
        pair: [usize; 2],
    }

    numbers!(Inner { largest, whole });
    numbers!(Outer { reads, inner, pair });

    #[test]
    fn a_struct_is_made_again_of_its_numbers() {
        let outer = Outer {
            reads: u64::MAX,
            inner: Inner {
                largest: 7,
                whole: true,
            },
            pair: [1, 2],
        };
        assert_eq!(of(&outer), [u64::MAX, 7, 1, 1, 2]);
        assert_eq!(made::<Outer>(of(&outer)), outer);
        assert_eq!(made::<u32>(vec![1 << 32]), u32::MAX);
    }
}
