//! Reads back what processes wrote.

use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::error::{Garbled, OrderedError};
use super::segment::read_through;
use crate::{OutputError, OutputFile};

/// Reads back segments, one behind the other from `start` on: length and CRC-32 of each.
pub(super) fn check_segments<E>(
    target: &Path,
    start: u64,
    segments: &[(u64, u32)],
) -> Result<(), OrderedError<E>> {
    let file = OutputFile::reread(target)?;
    let mut start = start;
    for &(length, crc) in segments {
        let range = start..start + length;
        let mut read = crc32fast::Hasher::new();
        let reread = read_through(&file, range.clone(), |bytes| {
            read.update(bytes);
            Ok(())
        });
        reread.map_err(|source| OutputError {
            path: target.to_path_buf(),
            source,
        })?;
        if read.finalize() != crc {
            return Err(garbled(target, range));
        }
        start += length;
    }
    Ok(())
}

fn garbled<E>(target: &Path, range: Range<u64>) -> OrderedError<E> {
    let path = target.to_path_buf();
    OrderedError::Garbled(Garbled { path, range })
}

/// Reads back what the first process wrote by itself: bytes at their offsets.
pub(super) fn check_own<E>(
    output: &OutputFile,
    parts: &[(u64, &[u8])],
) -> Result<(), OrderedError<E>> {
    let fail = |source| output.error(source);
    output.file().sync_all().map_err(fail)?;
    let file = OutputFile::reread(output.target())?;
    for &(start, expected) in parts {
        let mut read = vec![0; expected.len()];
        file.read_exact_at(&mut read, start).map_err(fail)?;
        if read != expected {
            let range = start..start + read.len() as u64;
            return Err(garbled(output.target(), range));
        }
    }
    Ok(())
}
