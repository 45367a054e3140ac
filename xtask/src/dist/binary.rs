//! What a program asks of the machine that it is to run on, read off its bytes.

use std::path::Path;

use crate::Result;

/// The glibc that is linked against: that of CentOS 7.
pub const GLIBC: (u32, u32) = (2, 17);

/// Bytes that a program may have.
const LARGEST: u64 = 19 << 20;

/// The kind of entry of an ELF file's program header that names the loader.
const PT_INTERP: u32 = 3;

/// Refuses a program that is too large, or that asks for more than its target promises.
pub fn check(program: &Path, target: &str) -> Result<()> {
    let bytes =
        std::fs::read(program).map_err(|error| format!("{}: {error}", program.display()))?;
    let size = bytes.len() as u64;
    println!("{size} bytes");
    if size > LARGEST {
        return Err(format!("{target}: {size} bytes are more than {LARGEST}"));
    }
    if target.contains("-linux-musl") && has_loader(&bytes) != Some(false) {
        return Err(format!("{target}: it is not linked statically"));
    }
    if target.contains("-linux-gnu") {
        let newest = newest_glibc(&bytes);
        let (major, minor) = newest.ok_or_else(|| format!("{target}: it needs no glibc"))?;
        println!("needs glibc {major}.{minor}");
        if (major, minor) > GLIBC {
            return Err(format!("{target}: it needs glibc {major}.{minor}"));
        }
    }
    Ok(())
}

/// Whether an ELF file of 64 bits names a loader; nothing where it is no such file.
fn has_loader(bytes: &[u8]) -> Option<bool> {
    if !bytes.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let word = |at: usize| Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    let table = u64::from_le_bytes(bytes.get(32..40)?.try_into().ok()?) as usize;
    let (each, entries) = (word(54)? as usize, word(56)? as usize);
    let kind = |entry: usize| {
        let at = table + entry * each;
        Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
    };
    Some((0..entries).any(|entry| kind(entry) == Some(PT_INTERP)))
}

/// The newest version of glibc whose symbols a program names.
fn newest_glibc(bytes: &[u8]) -> Option<(u32, u32)> {
    const MARK: &[u8] = b"GLIBC_";
    let found = bytes.windows(MARK.len()).enumerate();
    let versions = found.filter(|(_, here)| *here == MARK);
    versions
        .filter_map(|(at, _)| version(&bytes[at + MARK.len()..]))
        .max()
}

/// The `2.17` that some bytes begin with.
fn version(bytes: &[u8]) -> Option<(u32, u32)> {
    let end = bytes
        .iter()
        .position(|&byte| !byte.is_ascii_digit() && byte != b'.')?;
    let mut numbers = std::str::from_utf8(&bytes[..end]).ok()?.split('.');
    let (major, minor) = (numbers.next()?, numbers.next()?);
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_is_a_number_not_a_word() {
        let bytes = b"..GLIBC_2.9\0GLIBC_2.17\0GLIBC_2.2.5\0GLIBC_PRIVATE\0";
        assert_eq!(newest_glibc(bytes), Some((2, 17)));
        assert_eq!(newest_glibc(b"GLIBC_PRIVATE\0"), None);
    }

    #[test]
    fn a_loader_is_found() {
        let mut elf = vec![0; 64 + 2 * 56];
        elf[..6].copy_from_slice(b"\x7fELF\x02\x01");
        (elf[32], elf[54], elf[56]) = (64, 56, 2);
        assert_eq!(has_loader(&elf), Some(false));
        elf[64 + 56] = PT_INTERP as u8;
        assert_eq!(has_loader(&elf), Some(true));
        assert_eq!(has_loader(b"#!/bin/sh"), None);
    }
}
