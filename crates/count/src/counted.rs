//! Where counted k-mers go.

use gyrase_fabric::KeyRange;

use crate::Error;

/// Sorted k-mers of a bin: all that are counted of a range of keys.
#[derive(Clone, Copy)]
pub(crate) struct Counted<'r> {
    /// The range.
    pub(crate) range: KeyRange,
    /// The keys, as many words a row as the shape has, ascending.
    pub(crate) keys: &'r [u64],
    /// The count of each row.
    pub(crate) counts: &'r [u32],
}

#[cfg(test)]
impl<'r> Counted<'r> {
    /// Those of ascending keys of one word that are in a range.
    pub(crate) fn within(range: KeyRange, keys: &'r [u64], counts: &'r [u32]) -> Counted<'r> {
        let first = keys.partition_point(|&key| key < range.first);
        let end = keys.partition_point(|&key| key <= range.last);
        Counted {
            range,
            keys: &keys[first..end],
            counts: &counts[first..end],
        }
    }
}

/// What takes the k-mers that workers counted: a file, or what keeps them for another stage.
pub(crate) trait Destination: Sync {
    /// Takes a whole bin.
    ///
    /// # Errors
    /// It cannot be kept, or another thread gave up.
    fn put_bin(&self, bin: usize, rows: Counted) -> Result<(), Error>;

    /// Takes k-mers of a bin. The ranges of a bin, in whatever process, are all keys.
    ///
    /// # Errors
    /// They cannot be kept or sent, or another thread gave up.
    fn put(&self, bin: usize, rows: Counted) -> Result<(), Error>;

    /// Ends the waits of other threads.
    fn abandon(&self);
}
