//! The bytes of a `.gysd` file: header and table of sections.

use gyrase_files::container::{Container, Section, expect, reserved, u32_at, u64_at};

use crate::Molecule;

/// What a database begins with.
pub const MAGIC: [u8; 8] = *b"GYRASES\n";
/// The version of the format that is written and read.
pub const VERSION: u32 = 1;

pub(super) const FORMAT: Container = Container {
    magic: MAGIC,
    version: VERSION,
    header_bytes: HEADER_BYTES,
    ending: ".gysd",
    verb: "build",
    makers: "`gyrase index` makes one",
};
pub(super) const HEADER_BYTES: usize = 4096;
/// Bytes of a section that share a checksum.
pub(super) const BLOCK_BYTES: usize = 1 << 16;
/// Borders before the first sequence of proteins and behind the last.
pub(super) const MARGIN: usize = 64;
/// Sequences that have numbers.
pub(super) const MOST_SEQUENCES: u64 = u32::MAX as u64;

const CHECKSUM_AT: usize = HEADER_BYTES - 4;
/// The first byte of the header that means nothing yet.
const RESERVED_AT: usize = 68;

/// The sections, in the order of the file. Only that of masks may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Letters,
    Ends,
    Exceptions,
    Titles,
    TitleEnds,
    Taxids,
    TaxidEnds,
    Names,
    Taxonomy,
    Masks,
}

impl Part {
    pub const ALL: [Part; 10] = [
        Part::Letters,
        Part::Ends,
        Part::Exceptions,
        Part::Titles,
        Part::TitleEnds,
        Part::Taxids,
        Part::TaxidEnds,
        Part::Names,
        Part::Taxonomy,
        Part::Masks,
    ];

    /// Its name in the table of sections.
    pub fn name(self) -> &'static str {
        match self {
            Part::Letters => "letters",
            Part::Ends => "ends",
            Part::Exceptions => "exceptions",
            Part::Titles => "titles",
            Part::TitleEnds => "title-ends",
            Part::Taxids => "taxids",
            Part::TaxidEnds => "taxid-ends",
            Part::Names => "names",
            Part::Taxonomy => "taxonomy",
            Part::Masks => "masks",
        }
    }
}

/// What a database holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// What its sequences are made of.
    pub molecule: Molecule,
    /// Sequences.
    pub sequences: u64,
    /// Letters of all sequences.
    pub letters: u64,
    /// Letters of the longest.
    pub longest: u64,
    /// Bytes of the file.
    pub bytes: u64,
}

/// The header: totals, and where the table of sections is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub summary: Summary,
    /// First byte of the table of sections.
    pub table: u64,
    pub sections: u32,
    pub table_crc: u32,
}

impl Header {
    pub fn encode(&self) -> Vec<u8> {
        let Summary {
            molecule,
            sequences,
            letters,
            longest,
            bytes: length,
        } = self.summary;
        let mut bytes = FORMAT.begin();
        for word in [HEADER_BYTES as u32, molecule as u32, self.sections] {
            bytes.extend(word.to_le_bytes());
        }
        for word in [sequences, letters, longest, self.table, length] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(self.table_crc.to_le_bytes());
        FORMAT.seal(bytes)
    }

    /// Reads a header that fits its checksum; the error says what contradicts what.
    pub fn decode(bytes: &[u8]) -> Result<Header, String> {
        expect(
            "header bytes",
            u64::from(u32_at(bytes, 12)),
            HEADER_BYTES as u64,
        )?;
        let molecule = u32_at(bytes, 16);
        let molecule = Molecule::from_number(molecule)
            .ok_or_else(|| format!("sequences of the unknown kind {molecule}"))?;
        reserved(&bytes[RESERVED_AT..CHECKSUM_AT])?;
        let [sequences, letters, longest, table, length] =
            [24, 32, 40, 48, 56].map(|at| u64_at(bytes, at));
        if sequences > MOST_SEQUENCES {
            return Err(format!(
                "{sequences} sequences, there are {MOST_SEQUENCES} at most"
            ));
        }
        Ok(Header {
            summary: Summary {
                molecule,
                sequences,
                letters,
                longest,
                bytes: length,
            },
            table,
            sections: u32_at(bytes, 20),
            table_crc: u32_at(bytes, 64),
        })
    }
}

/// Blocks of a section, each with a checksum.
pub(super) fn blocks(section: &Section) -> u64 {
    section.bytes.div_ceil(BLOCK_BYTES as u64)
}
