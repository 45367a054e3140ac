//! Writes a database, one sequence after the other, in constant memory.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use gyrase_align::residue::{BORDER, code};
use gyrase_files::OutputFile;
use gyrase_files::container::{ALIGNMENT, Section, aligned};
use gyrase_taxonomy::Taxonomy;

use super::layout::{HEADER_BYTES, Header, MARGIN, MOST_SEQUENCES, Part, Summary};
use super::masks::MaskWriter;
use super::names::{self, names_of};
use super::packed::Packer;
use super::spool::{Checksums, Spool};
use crate::{Molecule, SeqDbError};

/// Bytes of packed letters that are written at a time.
const AT_ONCE: usize = 1 << 16;

/// A database under construction; it appears with [`Writer::finish`].
pub struct Writer {
    output: OutputFile,
    file: BufWriter<File>,
    molecule: Molecule,
    packer: Packer,
    /// What is packed and not yet written.
    buffer: Vec<u8>,
    letters: Checksums,
    ends: Spool,
    exceptions: Spool,
    titles: Spool,
    title_ends: Spool,
    taxids: Spool,
    taxid_ends: Spool,
    names: Spool,
    /// Of letters in lower case, if they are kept.
    masks: Option<(MaskWriter, Spool)>,
    /// Sequences, letters of all and of the longest, bytes of titles, taxids, names.
    sequences: u64,
    total: u64,
    longest: u64,
    title_bytes: u64,
    taxid_count: u64,
    name_count: u64,
}

impl Writer {
    /// Starts the database that will appear at `target`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn create(target: &Path, molecule: Molecule) -> Result<Writer, SeqDbError> {
        let output = OutputFile::create(target)?;
        let spool = || output.scratch().map(Spool::new);
        let (ends, exceptions, titles) = (spool()?, spool()?, spool()?);
        let (title_ends, taxids) = (spool()?, spool()?);
        let (taxid_ends, names) = (spool()?, spool()?);
        let file = output.file().try_clone();
        let mut file = BufWriter::new(file.map_err(|source| output.error(source))?);
        let begun = file.write_all(&[0; HEADER_BYTES]);
        begun.map_err(|source| output.error(source))?;
        let mut writer = Writer {
            output,
            file,
            molecule,
            packer: Packer::default(),
            buffer: Vec::new(),
            letters: Checksums::default(),
            ends,
            exceptions,
            titles,
            title_ends,
            taxids,
            taxid_ends,
            names,
            masks: None,
            sequences: 0,
            total: 0,
            longest: 0,
            title_bytes: 0,
            taxid_count: 0,
            name_count: 0,
        };
        if molecule == Molecule::Protein {
            writer.buffer.resize(MARGIN, BORDER);
        }
        Ok(writer)
    }

    /// The same that keeps which letters are in lower case.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keeping_masks(mut self) -> Result<Writer, SeqDbError> {
        let spool = Spool::new(self.output.scratch()?);
        self.masks = Some((MaskWriter::default(), spool));
        Ok(self)
    }

    /// Adds a sequence by its title, its letters of either case, and its taxids. Gaps (`-` and `.`)
    /// are left out, U is a T in nucleotides, other letters become X or N.
    ///
    /// # Errors
    /// The file cannot be written; there are too many sequences.
    pub fn push(&mut self, title: &[u8], letters: &[u8], taxids: &[u32]) -> Result<(), SeqDbError> {
        if self.sequences == MOST_SEQUENCES {
            return Err(SeqDbError::TooMany {
                most: MOST_SEQUENCES,
            });
        }
        let length = self.add_letters(letters);
        if let Some((masks, _)) = &mut self.masks {
            let kept = letters
                .iter()
                .filter(|&&one| self.molecule.stored(one).is_some());
            kept.for_each(|&letter| masks.push(letter));
            masks.close();
        }
        self.total += length;
        self.longest = self.longest.max(length);
        self.title_bytes += title.len() as u64;
        self.taxid_count += taxids.len() as u64;
        let added = self.add_rows(title, taxids);
        added.map_err(|source| self.output.error(source))?;
        self.sequences += 1;
        Ok(())
    }

    /// Packs letters; how many there are.
    fn add_letters(&mut self, letters: &[u8]) -> u64 {
        let kept = letters.iter().filter_map(|&one| self.molecule.stored(one));
        let mut count = 0;
        if self.molecule == Molecule::Protein {
            let before = self.buffer.len();
            self.buffer.extend(kept.map(code));
            count += (self.buffer.len() - before) as u64;
            self.buffer.push(BORDER);
        } else {
            for letter in kept {
                self.packer.push(letter);
                count += 1;
            }
            self.packer.close();
            self.buffer.append(&mut self.packer.full);
        }
        count
    }

    fn add_rows(&mut self, title: &[u8], taxids: &[u32]) -> io::Result<()> {
        self.exceptions.add(&self.packer.exceptions)?;
        self.packer.exceptions.clear();
        if let Some((masks, spool)) = &mut self.masks {
            spool.add(&masks.done)?;
            masks.done.clear();
        }
        self.ends.add(&self.total.to_le_bytes())?;
        self.titles.add(title)?;
        self.title_ends.add(&self.title_bytes.to_le_bytes())?;
        for taxid in taxids {
            self.taxids.add(&taxid.to_le_bytes())?;
        }
        self.taxid_ends.add(&self.taxid_count.to_le_bytes())?;
        for name in names_of(title) {
            let word = names::word(name, self.sequences as u32);
            self.names.add(&word.to_le_bytes())?;
            self.name_count += 1;
        }
        if self.buffer.len() >= AT_ONCE {
            self.write_letters()?;
        }
        Ok(())
    }

    fn write_letters(&mut self) -> io::Result<()> {
        self.letters.add(&self.buffer);
        self.file.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// Writes the rest, with the taxonomy that the taxids are of, if there is one, and lets the
    /// database appear.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn finish(mut self, taxonomy: Option<&Taxonomy>) -> Result<Summary, SeqDbError> {
        let written = self.write_rest(taxonomy);
        let summary = written.map_err(|source| self.output.error(source))?;
        self.output.commit()?;
        Ok(summary)
    }

    fn write_rest(&mut self, taxonomy: Option<&Taxonomy>) -> io::Result<Summary> {
        if self.molecule == Molecule::Protein {
            self.buffer.resize(self.buffer.len() + MARGIN, BORDER);
        } else {
            self.packer.finish();
            self.buffer.append(&mut self.packer.full);
        }
        self.write_letters()?;
        let sums = std::mem::take(&mut self.letters);
        let mut place = Place {
            file: &mut self.file,
            at: HEADER_BYTES as u64,
        };
        let mut sections = vec![place.end_section(Part::Letters, sums)?];
        let spools = [
            (Part::Ends, &mut self.ends),
            (Part::Exceptions, &mut self.exceptions),
            (Part::Titles, &mut self.titles),
            (Part::TitleEnds, &mut self.title_ends),
            (Part::Taxids, &mut self.taxids),
            (Part::TaxidEnds, &mut self.taxid_ends),
        ];
        for (part, spool) in spools {
            sections.push(place.section(part, |each| spool.replay(each))?);
        }
        let (names, count) = (&mut self.names, self.name_count);
        sections.push(place.section(Part::Names, |each| names::sorted(names, count, each))?);
        let taxonomy = taxonomy.map(Taxonomy::to_bytes).unwrap_or_default();
        sections.push(place.section(Part::Taxonomy, |each| each(&taxonomy))?);
        if let Some((_, spool)) = &mut self.masks {
            sections.push(place.section(Part::Masks, |each| spool.replay(each))?);
        }
        let mut table = Vec::new();
        sections
            .iter()
            .for_each(|section| section.encode(&mut table));
        let header = Header {
            summary: Summary {
                molecule: self.molecule,
                sequences: self.sequences,
                letters: self.total,
                longest: self.longest,
                bytes: place.at + table.len() as u64,
            },
            table: place.at,
            sections: sections.len() as u32,
            table_crc: crc32fast::hash(&table),
        };
        self.file.write_all(&table)?;
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&header.encode())?;
        self.file.flush()?;
        Ok(header.summary)
    }
}

type Each<'e> = &'e mut dyn FnMut(&[u8]) -> io::Result<()>;

/// Where the next section goes.
struct Place<'f> {
    file: &'f mut BufWriter<File>,
    at: u64,
}

impl Place<'_> {
    /// Writes a section whose bytes `replay` hands over.
    fn section(
        &mut self,
        part: Part,
        replay: impl FnOnce(Each) -> io::Result<()>,
    ) -> io::Result<Section> {
        let mut sums = Checksums::default();
        replay(&mut |bytes| {
            sums.add(bytes);
            self.file.write_all(bytes)
        })?;
        self.end_section(part, sums)
    }

    /// Writes what stands behind a section: its checksums.
    fn end_section(&mut self, part: Part, sums: Checksums) -> io::Result<Section> {
        let (bytes, list) = sums.finish();
        let section = Section {
            name: part.name().into(),
            offset: self.at,
            bytes,
            crc: crc32fast::hash(&list),
        };
        self.at += bytes;
        self.align()?;
        self.file.write_all(&list)?;
        self.at += list.len() as u64;
        self.align()?;
        Ok(section)
    }

    fn align(&mut self) -> io::Result<()> {
        let zeros = aligned(self.at) - self.at;
        self.at += zeros;
        self.file.write_all(&[0; ALIGNMENT][..zeros as usize])
    }
}
