//! A whole file as a slice of bytes, with the unsafe lines of this crate; and memory of the same
//! kind.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;

use bytemuck::TransparentWrapper;
use gyrase_files::container::ContainerError;
use memmap2::{Mmap, MmapMut, UncheckedAdvice};

use crate::location::Location;

/// Maps a file that nobody writes to, for reading; the map begins at a page, so its words are
/// aligned.
///
/// # Errors
/// What the system says.
#[allow(unsafe_code)]
pub fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: a database is renamed into place when it is whole and never written again, so the
    // bytes under the map do not change. Who truncates the file in place meanwhile gets SIGBUS, as
    // with any map.
    unsafe { Mmap::map(file) }
}

/// Opens and maps the file of a database.
///
/// # Errors
/// [`ContainerError::Open`], also of a folder.
pub fn open(path: &Path) -> Result<(File, Mmap), ContainerError> {
    let fail = |source| ContainerError::Open {
        path: path.to_path_buf(),
        source,
    };
    let file = File::open(path).map_err(fail)?;
    if file.metadata().map_err(fail)?.is_dir() {
        return Err(fail(io::Error::other("it is a directory")));
    }
    let bytes = map(&file).map_err(fail)?;
    Ok((file, bytes))
}

/// Gives memory back that a mapped file takes in this process; who reads it again reads the file
/// again. Only for what [`map`] made: other memory would come back as zeros.
pub fn let_go(map: &Mmap) {
    let_go_of(map, 0..map.len());
}

/// The same of some of its bytes.
#[allow(unsafe_code)]
pub(crate) fn let_go_of(map: &Mmap, bytes: Range<usize>) {
    // SAFETY: the map is one of a file that nobody writes to, so its pages come back with the bytes
    // that they had. A system that refuses has only kept the memory.
    let _ =
        unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, bytes.start, bytes.len()) };
}

/// So many zeros of memory, from a page on, in pages as large as the system gives: random look-ups
/// translate fewer addresses then.
pub(crate) fn anonymous(bytes: usize) -> io::Result<MmapMut> {
    let map = MmapMut::map_anon(bytes)?;
    // A system without large pages is no reason not to go on.
    #[cfg(target_os = "linux")]
    let _ = map.advise(memmap2::Advice::HugePage);
    Ok(map)
}

// SAFETY: a location is nothing but its number, by its layout, and every number is one.
#[allow(unsafe_code)]
unsafe impl TransparentWrapper<u32> for Location {}
