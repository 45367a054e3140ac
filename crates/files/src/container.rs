//! What the binary formats of the house have in common.
//!
//! A container begins with a header: magic (8 bytes), version (4 bytes), what the format says,
//! zeros, and in the last 4 bytes the CRC-32 of all before. Numbers are little-endian. The other
//! parts of the file each have an offset, a length and a CRC-32 somewhere in the header or in a
//! part before. A reader refuses what it does not know, and says what it is.
//!
//! ```
//! use gyrase_files::container::{Container, Unfit, part, u64_at};
//!
//! const FORMAT: Container = Container {
//!     magic: *b"EXAMPLE\n",
//!     version: 1,
//!     header_bytes: 64,
//!     ending: ".example",
//!     verb: "write",
//!     makers: "`example write` makes one",
//! };
//! let names = b"reads";
//! let mut header = FORMAT.begin();
//! header.extend((names.len() as u64).to_le_bytes());
//! let file = [&FORMAT.seal(header)[..], names].concat();
//!
//! let header = FORMAT.header(&file).unwrap();
//! assert_eq!(part(&file, 64, u64_at(header, 12), "names").unwrap(), names);
//! let found = "does not begin with \"EXAMPLE\"".to_string();
//! assert_eq!(FORMAT.header(b"hello"), Err(Unfit::Foreign(found)));
//! ```

mod error;
mod foreign;
mod section;

use std::fmt::Display;

pub use error::ContainerError;
pub use foreign::what_it_is;
pub use section::{ALIGNMENT, MAX_SECTION_NAME, SECTION_BYTES, Section, aligned, is_section_name};

/// A format: what its files begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Container {
    /// The first bytes of every file.
    pub magic: [u8; 8],
    /// The version that is written and read.
    pub version: u32,
    /// Bytes of the header, its checksum included.
    pub header_bytes: usize,
    /// What the names of its files end with: `.gyk`.
    pub ending: &'static str,
    /// What one does to make such a file: `count`, `build`.
    pub verb: &'static str,
    /// Which commands make such files, as a sentence of its own.
    pub makers: &'static str,
}

/// Why bytes are no file of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// They do not begin with the magic: what they seem to be instead, to follow "it".
    Foreign(String),
    /// They are fewer than a header has.
    Short,
    /// They are of another version, this one.
    Version(u32),
    /// The header does not fit its checksum: what was expected and what was found.
    Corrupt(String),
}

impl Container {
    /// The beginning of a header: magic and version. What the format says follows them.
    pub fn begin(&self) -> Vec<u8> {
        let mut header = Vec::with_capacity(self.header_bytes);
        header.extend(self.magic);
        header.extend(self.version.to_le_bytes());
        header
    }

    /// The whole header: zeros up to its end, and the checksum.
    ///
    /// # Panics
    /// When it is longer than a header of the format.
    pub fn seal(&self, mut header: Vec<u8>) -> Vec<u8> {
        let end = self.header_bytes - 4;
        assert!(header.len() <= end, "a header of {end} bytes at most");
        header.resize(end, 0);
        header.extend(crc32fast::hash(&header).to_le_bytes());
        header
    }

    /// The header of a file that begins with these bytes.
    ///
    /// # Errors
    /// They are not of this format and version, or not what was written.
    pub fn header<'a>(&self, bytes: &'a [u8]) -> Result<&'a [u8], Unfit> {
        if !bytes.starts_with(&self.magic) {
            return Err(Unfit::Foreign(self.foreign(bytes)));
        }
        let header = bytes.get(..self.header_bytes).ok_or(Unfit::Short)?;
        match u32_at(header, 8) {
            version if version == self.version => {}
            version => return Err(Unfit::Version(version)),
        }
        let end = self.header_bytes - 4;
        checksum("header", &header[..end], u32_at(header, end)).map_err(Unfit::Corrupt)?;
        Ok(header)
    }
}

/// The part of a file at an offset.
///
/// # Errors
/// A sentence that names the part, when it lies outside of the file.
pub fn part(bytes: &[u8], offset: u64, length: u64, name: impl Display) -> Result<&[u8], String> {
    let start = usize::try_from(offset).ok();
    let end = offset
        .checked_add(length)
        .and_then(|end| usize::try_from(end).ok());
    let part = start
        .zip(end)
        .and_then(|(start, end)| bytes.get(start..end));
    part.ok_or_else(|| format!("the {name} lies outside the file"))
}

/// The same, of bytes that fit their CRC-32.
///
/// # Errors
/// As [`part`], and when they do not.
pub fn checked_part(
    bytes: &[u8],
    offset: u64,
    length: u64,
    crc: u32,
    name: impl Display,
) -> Result<&[u8], String> {
    let part = part(bytes, offset, length, &name)?;
    checksum(name, part, crc)?;
    Ok(part)
}

/// An error sentence unless `found` is `expected`.
///
/// # Errors
/// That sentence.
pub fn expect(what: impl Display, found: u64, expected: u64) -> Result<(), String> {
    if found == expected {
        Ok(())
    } else {
        Err(format!("{what}: expected {expected}, found {found}"))
    }
}

/// An error sentence unless `bytes` fit their CRC-32.
///
/// # Errors
/// That sentence.
pub fn checksum(name: impl Display, bytes: &[u8], stored: u32) -> Result<(), String> {
    match crc32fast::hash(bytes) {
        computed if computed == stored => Ok(()),
        computed => Err(format!(
            "the checksum of the {name} is {stored:08x}, its bytes give {computed:08x}"
        )),
    }
}

/// An error sentence unless all `bytes` of the header that mean nothing yet are zero.
///
/// # Errors
/// That sentence.
pub fn reserved(bytes: &[u8]) -> Result<(), String> {
    let others = bytes.iter().filter(|&&byte| byte != 0).count();
    expect("reserved bytes that are not zero", others as u64, 0)
}

/// The number of four bytes at an offset.
///
/// # Panics
/// When the bytes end before.
pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(
        bytes[at..at + 4]
            .try_into()
            .expect("the range is four bytes long"),
    )
}

/// The number of eight bytes at an offset.
///
/// # Panics
/// When the bytes end before.
pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(
        bytes[at..at + 8]
            .try_into()
            .expect("the range is eight bytes long"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: Container = Container {
        magic: *b"A TEST.\n",
        version: 7,
        header_bytes: 32,
        ending: ".test",
        verb: "write",
        makers: "`test write` makes one",
    };

    #[test]
    fn errors_name_the_file_and_what_mends_it() {
        let path = std::path::Path::new("x.test");
        let foreign = FORMAT.header_of(path, b">chr1\n").unwrap_err().to_string();
        let words = "x.test is no .test file: it looks like a FASTA file; `test write` makes one";
        assert_eq!(foreign, words);
        let said = |unfit| FORMAT.unfit(path, 9, unfit).to_string();
        for (unfit, words) in [
            (
                Unfit::Short,
                "x.test is truncated or was changed: its header says 32 bytes",
            ),
            (
                Unfit::Version(3),
                "x.test is a .test database of version 3, this program reads",
            ),
            (
                Unfit::Corrupt("bad".into()),
                "x.test is corrupt: bad; copy or write it again",
            ),
        ] {
            let said = said(unfit);
            assert!(
                said.contains(words) && said.contains("write it again"),
                "{said}"
            );
        }
        assert!(FORMAT.length(path, 9, 9).is_ok() && FORMAT.length(path, 8, 9).is_err());
    }

    #[test]
    fn a_header_is_read_as_it_was_written_and_nothing_else_is() {
        let mut header = FORMAT.begin();
        header.extend(0x0102_0304_u32.to_le_bytes());
        let file = [FORMAT.seal(header), b"more".to_vec()].concat();
        let header = FORMAT.header(&file).unwrap();
        assert_eq!((header.len(), u32_at(header, 12)), (32, 0x0102_0304));
        assert_eq!(u64_at(header, 8), 0x0102_0304_0000_0007);
        assert!(reserved(&header[16..28]).is_ok() && reserved(header).is_err());
        for bit in 0..32 * 8 {
            let mut damaged = file.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let unfit = FORMAT.header(&damaged).unwrap_err();
            let expected = match bit / 8 {
                0..8 => matches!(unfit, Unfit::Foreign(_)),
                8..12 => matches!(unfit, Unfit::Version(_)),
                _ => matches!(unfit, Unfit::Corrupt(_)),
            };
            assert!(expected, "bit {bit}: {unfit:?}");
        }
        assert_eq!(FORMAT.header(&file[..31]), Err(Unfit::Short));
        assert!(matches!(FORMAT.header(&file[..7]), Err(Unfit::Foreign(_))));
    }

    #[test]
    fn parts_are_within_the_file_and_fit_their_checksums() {
        let file = b"0123456789";
        assert_eq!(part(file, 2, 3, "middle"), Ok(&b"234"[..]));
        assert_eq!(part(file, 10, 0, "end"), Ok(&b""[..]));
        for (offset, length) in [(9, 2), (11, 0), (u64::MAX, 2), (0, u64::MAX)] {
            let error = part(file, offset, length, "rest").unwrap_err();
            assert_eq!(error, "the rest lies outside the file");
        }
        let crc = crc32fast::hash(b"234");
        assert_eq!(checked_part(file, 2, 3, crc, "middle"), Ok(&b"234"[..]));
        let error = checked_part(file, 3, 3, crc, "middle").unwrap_err();
        assert!(error.contains("checksum of the middle"), "{error}");
    }
}
