//! Reads a `.gysa` file.

use std::path::{Path, PathBuf};

use gyrase_files::container::{self, Section, expect, u32_at, u64_at};
use gyrase_table::open;
use memmap2::Mmap;

use super::layout::{FORMAT, GysaFacts, Header, MAGIC, Part, VERSION};
use crate::check::{check_common, check_positions};
use crate::error::Error;
use crate::numbers::NumberArray;
use crate::sort::{SENTINEL, SuffixArray, Zeros};
use crate::texts::{Text, Texts};

/// An opened file. Opening reads the header and the table of sections; a section is checked
/// against its checksum when it is read.
#[derive(Debug)]
pub struct GysaFile {
    path: PathBuf,
    bytes: Mmap,
    header: Header,
    sections: Vec<Section>,
}

impl GysaFile {
    /// Opens a file.
    ///
    /// # Errors
    /// It cannot be opened; it is no `.gysa` file, of another version, truncated or damaged.
    pub fn open(path: &Path) -> Result<GysaFile, Error> {
        let (_, bytes) = open(path)?;
        let header = FORMAT.header_of(path, &bytes)?;
        let header = Header::decode(header).map_err(|what| FORMAT.corrupt(path, what))?;
        FORMAT.length(path, header.facts.bytes, bytes.len())?;
        let sections = sections(&header, &bytes).map_err(|what| FORMAT.corrupt(path, what))?;
        Ok(GysaFile {
            path: path.to_path_buf(),
            bytes,
            header,
            sections,
        })
    }

    /// Whether a file begins as one of this format does.
    pub fn is_one(path: &Path) -> bool {
        let mut start = [0; MAGIC.len()];
        let file = std::fs::File::open(path);
        let read = file.and_then(|mut file| std::io::Read::read_exact(&mut file, &mut start));
        read.is_ok() && start == MAGIC
    }

    /// The version of its format.
    pub fn version(&self) -> u32 {
        VERSION
    }

    /// What it holds.
    pub fn facts(&self) -> GysaFacts {
        self.header.facts
    }

    /// A section that fits its checksum.
    fn section(&self, part: Part) -> Result<&[u8], Error> {
        let section = &self.sections[part as usize];
        let Section {
            name,
            offset,
            bytes,
            crc,
        } = section;
        let name = format_args!("section {name}");
        let checked = container::checked_part(&self.bytes, *offset, *bytes, *crc, name);
        checked.map_err(|what| self.corrupt(what))
    }

    fn corrupt(&self, what: String) -> Error {
        FORMAT.corrupt(&self.path, what).into()
    }

    /// The texts.
    ///
    /// # Errors
    /// Here and below, bytes that do not fit their checksums, or contradict others.
    pub fn texts(&self) -> Result<Texts, Error> {
        let letters = self.section(Part::Letters)?.to_vec();
        let [ends, files, names, name_ends] =
            [Part::Ends, Part::Files, Part::Names, Part::NameEnds].map(|part| self.section(part));
        let (ends, files, names, name_ends) = (ends?, files?, names?, name_ends?);
        let mut texts = Texts::new(self.header.facts.kind);
        let (mut start, mut name_start) = (0, 0);
        for number in 0..self.header.facts.texts as usize {
            let end = u64_at(ends, 8 * number) as usize;
            let name_end = u64_at(name_ends, 8 * number) as usize;
            let name = names.get(name_start..name_end);
            let is_end = letters.get(end) == Some(&SENTINEL) && end >= start;
            let Some(name) = name.filter(|_| is_end) else {
                return Err(self.corrupt(format!("text {number} has no end")));
            };
            texts.texts.push(Text {
                name: name.to_vec(),
                file: u32_at(files, 4 * number),
                start,
                end,
            });
            (start, name_start) = (end + 1, name_end);
        }
        let behind = expect("letters of all texts", letters.len() as u64, start as u64);
        behind.map_err(|what| self.corrupt(what))?;
        texts.letters = letters;
        Ok(texts)
    }

    /// The suffix array.
    pub fn suffix_array(&self) -> Result<SuffixArray, Error> {
        Ok(SuffixArray {
            positions: self.numbers(Part::Positions)?,
            common: self.numbers(Part::Common)?,
        })
    }

    fn numbers(&self, part: Part) -> Result<NumberArray, Error> {
        let facts = self.header.facts;
        let bytes = self.section(part)?.chunks_exact(facts.width);
        let numbers = match facts.width {
            4 => NumberArray::Narrow(bytes.map(|number| u32_at(number, 0)).collect()),
            width => NumberArray::Wide(
                bytes
                    .map(|number| {
                        let mut word = [0; 8];
                        word[..width].copy_from_slice(number);
                        u64::from_le_bytes(word)
                    })
                    .collect(),
            ),
        };
        let outside = numbers
            .iter()
            .find(|&number| number as u64 >= facts.letters);
        match outside {
            Some(number) => Err(self.corrupt(format!("{number} in section {}", part.name()))),
            None => Ok(numbers),
        }
    }

    /// The Burrows-Wheeler transform.
    pub fn transform(&self) -> Result<&[u8], Error> {
        match self.header.facts.has_transform {
            true => self.section(Part::Transform),
            false => Err(Error::Lacking {
                path: self.path.clone(),
                what: "Burrows-Wheeler transform",
                how: "with --bwt",
            }),
        }
    }

    /// Bytes of memory that [`GysaFile::verify`] takes.
    pub fn memory(&self) -> u64 {
        let letters = self.header.facts.letters;
        2 * letters + 3 * NumberArray::bytes(letters, letters)
    }

    /// Checks that every byte fits its checksum, that the suffixes are in order, and that they
    /// share what the file says: in linear time, without sorting.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn verify(&self) -> Result<(), Error> {
        let (texts, sorted) = (self.texts()?, self.suffix_array()?);
        let (letters, zeros) = (&texts.letters, Zeros::Sentinels);
        let SuffixArray { positions, common } = &sorted;
        check_positions(letters, zeros, positions).map_err(|what| self.corrupt(what))?;
        check_common(letters, zeros, positions, common).map_err(|what| self.corrupt(what))?;
        if self.header.facts.has_transform {
            let stored = self.transform()?.iter().copied();
            if !stored.eq(sorted.transform(letters)) {
                let what = "section transform has not the letters before the suffixes";
                return Err(self.corrupt(what.into()));
            }
        }
        Ok(())
    }
}

/// The sections, each as long as it has to be.
fn sections(header: &Header, bytes: &[u8]) -> Result<Vec<Section>, String> {
    let count = header.sections();
    let sections = Section::table(bytes, header.table, count as u32, header.table_crc)?;
    for (section, part) in sections.iter().zip(Part::ALL) {
        if section.name != part.name() {
            let (found, name) = (&section.name, part.name());
            return Err(format!("section {found} where {name} should be"));
        }
        let name = format_args!("bytes of section {}", section.name);
        let expected = part.bytes(&header.facts).unwrap_or(section.bytes);
        expect(name, section.bytes, expected)?;
    }
    Ok(sections)
}
