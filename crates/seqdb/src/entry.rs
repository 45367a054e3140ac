//! A sequence of a database.

/// A sequence, whatever file it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The whole line that names it. Where it stands for several equal ones, a byte 1 divides
    /// their titles.
    pub title: &'a [u8],
    /// Its letters, of either case; gaps (`-` and `.`) are none.
    pub letters: &'a [u8],
    /// Its taxids; none where they are not known.
    pub taxids: &'a [u32],
}
