//! Writes a `.gysa` file.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use gyrase_files::OutputFile;
use gyrase_files::container::{ALIGNMENT, Section, aligned};

use super::layout::{GysaFacts, HEADER_BYTES, Header, Part};
use crate::Error;
use crate::numbers::{NumberArray, number_width};
use crate::sort::SuffixArray;
use crate::texts::{Text, Texts};

/// Writes texts and their suffixes, with the Burrows-Wheeler transform if it is wanted, to a file
/// that appears whole or not at all.
///
/// # Errors
/// The file cannot be written.
pub fn write(
    target: &Path,
    texts: &Texts,
    sorted: &SuffixArray,
    transform: bool,
) -> Result<GysaFacts, Error> {
    write_contents(target, &(texts, sorted), transform)
}

/// What a file is made of.
pub(super) trait Contents {
    /// What the file will hold, but for its length.
    fn facts(&self, transform: bool) -> GysaFacts;

    /// Adds the bytes of a section.
    fn add(&self, part: Part, pieces: &mut Pieces) -> Result<(), Error>;
}

/// Writes it to a file that appears whole or not at all.
pub(super) fn write_contents(
    target: &Path,
    contents: &impl Contents,
    transform: bool,
) -> Result<GysaFacts, Error> {
    let mut output = OutputFile::create(target)?;
    let written = write_to(&mut output, contents, transform);
    let facts = written.map_err(|error| match error {
        Error::Sink(source) => output.error(source).into(),
        error => error,
    })?;
    output.commit()?;
    Ok(facts)
}

fn write_to(
    output: &mut OutputFile,
    contents: &impl Contents,
    transform: bool,
) -> Result<GysaFacts, Error> {
    let mut pieces = Pieces {
        file: BufWriter::with_capacity(1 << 20, output.file().try_clone()?),
        at: 0,
        crc: crc32fast::Hasher::new(),
    };
    pieces.add(&[0; HEADER_BYTES])?;
    let mut sections = Vec::new();
    for part in Part::ALL {
        if part != Part::Transform || transform {
            let offset = pieces.begin()?;
            contents.add(part, &mut pieces)?;
            let bytes = pieces.at - offset;
            let crc = std::mem::take(&mut pieces.crc).finalize();
            let name = part.name().into();
            sections.push(Section {
                name,
                offset,
                bytes,
                crc,
            });
        }
    }
    let table = pieces.begin()?;
    let mut entries = Vec::new();
    sections
        .iter()
        .for_each(|section| section.encode(&mut entries));
    pieces.add(&entries)?;
    let facts = GysaFacts {
        bytes: pieces.at,
        ..contents.facts(transform)
    };
    let header = Header {
        facts,
        table,
        table_crc: crc32fast::hash(&entries),
    };
    let mut file = pieces
        .file
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&header.encode())?;
    Ok(facts)
}

impl Contents for (&Texts, &SuffixArray) {
    fn facts(&self, transform: bool) -> GysaFacts {
        let letters = self.0.letters.len() as u64;
        GysaFacts {
            kind: self.0.kind,
            texts: self.0.texts.len() as u64,
            letters,
            width: number_width(letters),
            has_transform: transform,
            bytes: 0,
        }
    }

    fn add(&self, part: Part, pieces: &mut Pieces) -> Result<(), Error> {
        let (Texts { letters, texts, .. }, sorted) = self;
        match part {
            Part::Letters => pieces.add(letters)?,
            Part::Positions => pieces.add_numbers(&sorted.positions, letters.len())?,
            Part::Common => pieces.add_numbers(&sorted.common, letters.len())?,
            Part::Transform => {
                let transform: Vec<u8> = sorted.transform(letters).collect();
                pieces.add(&transform)?;
            }
            of_texts => pieces.add_texts(of_texts, texts)?,
        }
        Ok(())
    }
}

/// Bytes of numbers that are added at a time.
const BLOCK: usize = 1 << 16;

/// A file that grows by pieces.
pub(super) struct Pieces {
    file: BufWriter<File>,
    /// Bytes so far.
    at: u64,
    /// Of the section so far.
    crc: crc32fast::Hasher,
}

impl Pieces {
    pub fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.crc.update(bytes);
        self.at += bytes.len() as u64;
        self.file.write_all(bytes)
    }

    /// Adds what a section says of the texts: their ends, files and names.
    pub fn add_texts(&mut self, part: Part, texts: &[Text]) -> io::Result<()> {
        let (mut names, mut each) = (0, texts.iter());
        match part {
            Part::Ends => each.try_for_each(|text| self.add(&(text.end as u64).to_le_bytes())),
            Part::Files => each.try_for_each(|text| self.add(&text.file.to_le_bytes())),
            Part::Names => each.try_for_each(|text| self.add(&text.name)),
            Part::NameEnds => each.try_for_each(|text| {
                names += text.name.len() as u64;
                self.add(&names.to_le_bytes())
            }),
            _ => Ok(()),
        }
    }

    fn add_numbers(&mut self, numbers: &NumberArray, letters: usize) -> io::Result<()> {
        let width = number_width(letters as u64);
        let mut block = Vec::with_capacity(BLOCK + width);
        for number in numbers.iter() {
            block.extend_from_slice(&(number as u64).to_le_bytes()[..width]);
            if block.len() >= BLOCK {
                self.add(&block)?;
                block.clear();
            }
        }
        self.add(&block)
    }

    /// Goes to where a part may begin: its offset.
    fn begin(&mut self) -> io::Result<u64> {
        let zeros = (aligned(self.at) - self.at) as usize;
        self.add(&[0; ALIGNMENT][..zeros])?;
        self.crc = crc32fast::Hasher::new();
        Ok(self.at)
    }
}
