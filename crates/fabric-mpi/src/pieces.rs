//! Pieces of a buffer, one for each rank, as MPI numbers them.

use std::ffi::c_int;

/// What of the bytes of an all-to-all is whose.
pub(crate) struct Pieces {
    /// How many bytes of each rank.
    pub(crate) bytes: Vec<c_int>,
    /// Where they begin.
    pub(crate) at: Vec<c_int>,
    /// The sum of `bytes`.
    pub(crate) all: usize,
}

impl Pieces {
    /// Pieces of so many bytes, one behind the other; `None` where that is more than MPI can
    /// number.
    pub(crate) fn of(bytes: impl IntoIterator<Item = u64>) -> Option<Pieces> {
        let mut pieces = Pieces {
            bytes: Vec::new(),
            at: Vec::new(),
            all: 0,
        };
        for bytes in bytes {
            pieces.at.push(c_int::try_from(pieces.all).ok()?);
            pieces.bytes.push(c_int::try_from(bytes).ok()?);
            pieces.all += bytes as usize;
        }
        c_int::try_from(pieces.all).is_ok().then_some(pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_lie_one_behind_the_other() {
        let pieces = Pieces::of([3, 0, 7]).expect("few bytes");
        assert_eq!((pieces.at, pieces.all), (vec![0, 3, 3], 10));
        assert!(Pieces::of([1 << 30, 1 << 30]).is_none());
        assert!(Pieces::of([1 << 31]).is_none());
        assert!(Pieces::of([(1 << 30) - 1, 1 << 30]).is_some());
    }
}
