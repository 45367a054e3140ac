//! The bytes of a `.gysa` file: header and table of sections.

use gyrase_files::container::{Container, expect, reserved, u32_at, u64_at};

use crate::numbers::number_width;
use crate::texts::Letters;

/// What a file begins with.
pub const MAGIC: [u8; 8] = *b"GYRASEX\n";
/// The version of the format that is written and read.
pub const VERSION: u32 = 1;

pub(super) const FORMAT: Container = Container {
    magic: MAGIC,
    version: VERSION,
    header_bytes: HEADER_BYTES,
    ending: ".gysa",
    verb: "build",
    makers: "`gyrase suffix build` makes one of FASTA",
};
pub(super) const HEADER_BYTES: usize = 4096;

const CHECKSUM_AT: usize = HEADER_BYTES - 4;
/// The first byte of the header that means nothing yet.
const RESERVED_AT: usize = 64;

/// The sections, in the order of the file. Only the last may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Letters,
    Ends,
    Files,
    Names,
    NameEnds,
    Positions,
    Common,
    Transform,
}

impl Part {
    pub const ALL: [Part; 8] = [
        Part::Letters,
        Part::Ends,
        Part::Files,
        Part::Names,
        Part::NameEnds,
        Part::Positions,
        Part::Common,
        Part::Transform,
    ];

    /// Its name in the table of sections.
    pub fn name(self) -> &'static str {
        match self {
            Part::Letters => "letters",
            Part::Ends => "ends",
            Part::Files => "files",
            Part::Names => "names",
            Part::NameEnds => "name-ends",
            Part::Positions => "positions",
            Part::Common => "common",
            Part::Transform => "transform",
        }
    }

    /// Bytes that it has in a file of such facts; none where it is as long as it is.
    pub fn bytes(self, facts: &GysaFacts) -> Option<u64> {
        match self {
            Part::Letters | Part::Transform => Some(facts.letters),
            Part::Ends | Part::NameEnds => facts.texts.checked_mul(8),
            Part::Files => facts.texts.checked_mul(4),
            Part::Names => None,
            Part::Positions | Part::Common => facts.letters.checked_mul(facts.width as u64),
        }
    }
}

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GysaFacts {
    /// Which letters equal which.
    pub kind: Letters,
    /// Texts.
    pub texts: u64,
    /// Letters of all, and a sentinel for each.
    pub letters: u64,
    /// Bytes of a position: 4 or 5.
    pub width: usize,
    /// Whether it has the Burrows-Wheeler transform.
    pub has_transform: bool,
    /// Bytes of the file.
    pub bytes: u64,
}

/// The header: totals, and where the table of sections is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub facts: GysaFacts,
    /// First byte of the table of sections.
    pub table: u64,
    pub table_crc: u32,
}

impl Header {
    pub fn sections(&self) -> usize {
        Part::ALL.len() - usize::from(!self.facts.has_transform)
    }

    pub fn encode(&self) -> Vec<u8> {
        let facts = &self.facts;
        let mut bytes = FORMAT.begin();
        let (kind, width) = (facts.kind as u32, facts.width as u32);
        for word in [
            HEADER_BYTES as u32,
            kind,
            width,
            self.sections() as u32,
            self.table_crc,
        ] {
            bytes.extend(word.to_le_bytes());
        }
        for word in [facts.texts, facts.letters, self.table, facts.bytes] {
            bytes.extend(word.to_le_bytes());
        }
        FORMAT.seal(bytes)
    }

    /// Reads a header that fits its checksum; the error says what contradicts what.
    pub fn decode(bytes: &[u8]) -> Result<Header, String> {
        let [header_bytes, kind, position_bytes, sections, table_crc] =
            [12, 16, 20, 24, 28].map(|at| u32_at(bytes, at));
        expect("header bytes", header_bytes.into(), HEADER_BYTES as u64)?;
        let kind = Letters::from_number(kind)
            .ok_or_else(|| format!("letters of the unknown kind {kind}"))?;
        reserved(&bytes[RESERVED_AT..CHECKSUM_AT])?;
        let [texts, letters, table, length] = [32, 40, 48, 56].map(|at| u64_at(bytes, at));
        let expected = number_width(letters);
        expect(
            "bytes of a position",
            position_bytes.into(),
            expected as u64,
        )?;
        let all = Part::ALL.len() as u32;
        if !(all - 1..=all).contains(&sections) {
            return Err(format!("{sections} sections"));
        }
        Ok(Header {
            facts: GysaFacts {
                kind,
                texts,
                letters,
                width: expected,
                has_transform: sections == all,
                bytes: length,
            },
            table,
            table_crc,
        })
    }
}
