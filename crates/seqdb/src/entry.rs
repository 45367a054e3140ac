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

/// How large a sequence is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntrySize<'a> {
    /// Bytes of its title.
    pub title: u64,
    /// Letters, or a few more than it has.
    pub letters: u64,
    /// Its taxids; none where they are not known.
    pub taxids: &'a [u32],
}

impl<'a> EntrySize<'a> {
    /// The size of a sequence.
    pub fn of(entry: &Entry<'a>) -> EntrySize<'a> {
        EntrySize {
            title: entry.title.len() as u64,
            letters: entry.letters.len() as u64,
            taxids: entry.taxids,
        }
    }
}
