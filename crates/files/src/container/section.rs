//! Sections: bytes by name, and the table that says where they are.

use super::{checked_part, u32_at, u64_at};

/// What every part of a file is aligned to.
pub const ALIGNMENT: usize = 64;
/// Bytes of a section's entry in the table.
pub const SECTION_BYTES: usize = 64;
/// The most bytes of a section's name.
pub const MAX_SECTION_NAME: usize = 40;

/// Where a section is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its name.
    pub name: String,
    /// Its first byte in the file.
    pub offset: u64,
    /// Its bytes.
    pub bytes: u64,
    /// A CRC-32: of the section, or of a list of checksums that follows it.
    pub crc: u32,
}

impl Section {
    /// First byte behind the section and the zeros behind it.
    pub fn end(&self) -> u64 {
        aligned(self.offset.saturating_add(self.bytes))
    }

    /// Appends its entry, of [`SECTION_BYTES`] bytes.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        let end = bytes.len() + MAX_SECTION_NAME;
        bytes.extend(self.name.as_bytes());
        bytes.resize(end, 0);
        bytes.extend(self.offset.to_le_bytes());
        bytes.extend(self.bytes.to_le_bytes());
        bytes.extend(self.crc.to_le_bytes());
        bytes.extend([0; 4]);
    }

    /// Reads an entry of [`SECTION_BYTES`] bytes; `None` when its name is none or its reserved
    /// bytes are not zero.
    pub fn decode(bytes: &[u8]) -> Option<Section> {
        let (name, zeros) = bytes[..MAX_SECTION_NAME].split_at(
            bytes[..MAX_SECTION_NAME]
                .iter()
                .position(|&byte| byte == 0)
                .unwrap_or(MAX_SECTION_NAME),
        );
        let name = str::from_utf8(name)
            .ok()
            .filter(|name| is_section_name(name))?;
        let mut zeros = zeros.iter().chain(&bytes[60..SECTION_BYTES]);
        zeros.all(|&byte| byte == 0).then(|| Section {
            name: name.to_string(),
            offset: u64_at(bytes, 40),
            bytes: u64_at(bytes, 48),
            crc: u32_at(bytes, 56),
        })
    }

    /// Reads the table of so many sections at an offset of a file, where it fits its CRC-32.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn table(
        file: &[u8],
        offset: u64,
        sections: u32,
        crc: u32,
    ) -> Result<Vec<Section>, String> {
        let length = u64::from(sections) * SECTION_BYTES as u64;
        let table = checked_part(file, offset, length, crc, "table of sections")?;
        let entries = table.chunks_exact(SECTION_BYTES).map(Section::decode);
        let sections: Option<Vec<Section>> = entries.collect();
        sections.ok_or_else(|| "an entry of the table of sections is none".into())
    }
}

/// True for what may name a section: 1 to 40 lower-case letters, digits, `.`, `-` and `_`.
pub fn is_section_name(name: &str) -> bool {
    let letter =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-_".contains(&byte);
    (1..=MAX_SECTION_NAME).contains(&name.len()) && name.bytes().all(letter)
}

/// The next offset at which a part of the file may begin; beyond 2^64 what no file has.
pub fn aligned(offset: u64) -> u64 {
    offset
        .checked_next_multiple_of(ALIGNMENT as u64)
        .unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_as_it_was_written_and_nothing_else_is() {
        let longest = "x".repeat(MAX_SECTION_NAME);
        let sections: Vec<Section> = ["a", "title-ends", &longest]
            .into_iter()
            .zip(1..)
            .map(|(name, number)| Section {
                name: name.into(),
                offset: 64 * number,
                bytes: 7 + number,
                crc: 0x0102_0304 * number as u32,
            })
            .collect();
        let mut table = vec![9; 5];
        sections
            .iter()
            .for_each(|section| section.encode(&mut table));
        let crc = crc32fast::hash(&table[5..]);
        assert_eq!(Section::table(&table, 5, 3, crc).unwrap(), sections);
        assert!(
            Section::table(&table, 5, 4, crc)
                .unwrap_err()
                .contains("outside")
        );
        assert!(
            Section::table(&table, 5, 3, !crc)
                .unwrap_err()
                .contains("checksum")
        );
        assert_eq!((sections[0].end(), aligned(u64::MAX)), (128, u64::MAX));
        for at in (0..MAX_SECTION_NAME).chain(60..SECTION_BYTES) {
            let mut entry = table[5..5 + SECTION_BYTES].to_vec();
            entry[at] = 0x80;
            assert_eq!(Section::decode(&entry), None, "byte {at}");
        }
        assert!(!is_section_name("") && !is_section_name("A") && is_section_name("a.b_1"));
    }
}
