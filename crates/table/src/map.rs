//! A whole file as a slice of bytes: the one unsafe line of this crate.

use std::fs::File;
use std::io;

use memmap2::Mmap;

/// Maps `file` for reading; the map begins at a page, so its words are aligned.
#[allow(unsafe_code)]
pub(crate) fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: a database is renamed into place when it is whole and never written again, so the bytes
    // under the map do not change. Who truncates the file in place meanwhile gets SIGBUS, as with any map.
    unsafe { Mmap::map(file) }
}
