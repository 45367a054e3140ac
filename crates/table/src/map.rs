//! A whole file as a slice of bytes, with the one unsafe line of this crate; and memory of the same kind.

use std::fs::File;
use std::io;

use memmap2::{Mmap, MmapMut};

/// Maps `file` for reading; the map begins at a page, so its words are aligned.
#[allow(unsafe_code)]
pub(crate) fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: a database is renamed into place when it is whole and never written again, so the bytes
    // under the map do not change. Who truncates the file in place meanwhile gets SIGBUS, as with any map.
    unsafe { Mmap::map(file) }
}

/// So many zeros of memory, from a page on, in pages as large as the system gives: random look-ups translate fewer addresses then.
pub(crate) fn anonymous(bytes: usize) -> io::Result<MmapMut> {
    let map = MmapMut::map_anon(bytes)?;
    // A system without large pages is no reason not to go on.
    #[cfg(target_os = "linux")]
    let _ = map.advise(memmap2::Advice::HugePage);
    Ok(map)
}
