//! BLAST's databases of versions 4 and 5, read in their order: `.pin`, `.phr` and `.psq` of
//! proteins, `.nin`, `.nhr` and `.nsq` of nucleotides, in volumes that alias files (`.pal`, `.nal`)
//! name.
//!
//! The facts are NCBI's, in the public domain: its C++ toolkit reads these files in
//! `objtools/blast/seqdb_reader` (`seqdbfile.cpp`: `CSeqDBIdxFile`; `seqdbvol.cpp`:
//! `CSeqDBVol::x_GetSequence`, `s_SeqDBRebuildDNA_4na`; `seqdbalias.cpp`), and
//! `objects/blastdb/blastdb.asn` has the description of headers.

mod alias;
mod bases;
mod ber;
mod deflines;
mod files;
mod masks;
mod volume;

use std::path::{Path, PathBuf};

use crate::{Molecule, SeqDbError};
use files::with_ending;
use volume::Volume;

pub(crate) use deflines::Titles;

/// Kinds of databases and the letter that the endings of their files begin with.
const KINDS: [(Molecule, char); 2] = [(Molecule::Protein, 'p'), (Molecule::Nucleotide, 'n')];

/// Endings of files of a database, behind the letter of its kind.
const ENDINGS: [&str; 4] = ["al", "in", "hr", "sq"];

/// An opened BLAST database.
#[derive(Debug)]
pub struct BlastDatabase {
    prefix: PathBuf,
    molecule: Molecule,
    volumes: Vec<Volume>,
}

impl BlastDatabase {
    /// Opens the database that a path names: without the endings of its files, as BLAST does, or
    /// by one of its files. `None` where there is no such database.
    ///
    /// # Errors
    /// There are databases of proteins and of nucleotides of that name; a file of the database
    /// cannot be opened, is damaged, or asks for something that is not read.
    pub fn open(path: &Path) -> Result<Option<BlastDatabase>, SeqDbError> {
        let (prefix, kinds) = match of_file(path) {
            Some((prefix, kind)) => (prefix, vec![kind]),
            None => (path.to_path_buf(), KINDS.to_vec()),
        };
        let there = |&(_, letter): &(Molecule, char)| {
            let is_file = |ending: &str| with_ending(&prefix, letter, ending).is_file();
            is_file("al") || is_file("in")
        };
        let found: Vec<(Molecule, char)> = kinds.into_iter().filter(there).collect();
        let (molecule, letter) = match found[..] {
            [] => return Ok(None),
            [one] => one,
            _ => {
                return Err(SeqDbError::Foreign {
                    path: prefix.clone(),
                    found: format!(
                        "names a database of proteins and one of nucleotides: name {0}.pin or \
                         {0}.nin (or .pal, .nal)",
                        prefix.display()
                    ),
                });
            }
        };
        let names = alias::volumes(&prefix, letter)?;
        let volumes = names
            .iter()
            .map(|name| Volume::open(name, molecule, letter));
        Ok(Some(BlastDatabase {
            volumes: volumes.collect::<Result<_, _>>()?,
            prefix,
            molecule,
        }))
    }

    /// Its name, without the endings of its files.
    pub fn path(&self) -> &Path {
        &self.prefix
    }

    /// What its sequences are made of.
    pub fn molecule(&self) -> Molecule {
        self.molecule
    }

    /// Sequences of all volumes.
    pub fn len(&self) -> usize {
        self.volumes.iter().map(Volume::len).sum()
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of its files of sequences and headers.
    pub fn bytes(&self) -> u64 {
        self.volumes.iter().map(Volume::bytes).sum()
    }

    /// Letters of all volumes.
    pub fn letters(&self) -> u64 {
        self.volumes.iter().map(Volume::total).sum()
    }

    /// Letters of the longest sequence.
    pub(crate) fn longest(&self) -> u64 {
        let longest = self.volumes.iter().map(Volume::longest);
        longest.max().unwrap_or_default()
    }

    /// Masks of all volumes, or a few more than there are; nothing where none was made with masks.
    pub(crate) fn masks(&self) -> Option<u64> {
        let masks: Vec<u64> = self.volumes.iter().filter_map(Volume::masks).collect();
        (!masks.is_empty()).then(|| masks.iter().sum())
    }

    /// How many masks the sequence of a number has.
    pub(crate) fn masks_of(&self, number: usize) -> Result<u64, SeqDbError> {
        let (volume, own) = self.volume_of(number);
        volume.masks_of(own)
    }

    /// Appends the letters of the sequence of a number, in lower case where they are masked, and
    /// reads its titles; bytes of both.
    pub(crate) fn read(
        &self,
        number: usize,
        letters: &mut Vec<u8>,
        titles: &mut Titles,
    ) -> Result<u64, SeqDbError> {
        let (volume, own) = self.volume_of(number);
        volume.letters(own, letters)?;
        volume.titles(own, number, titles)?;
        Ok(volume.bytes_of(own))
    }

    /// Reads the titles of the sequence of a number; about how many letters it has.
    pub(crate) fn read_titles(
        &self,
        number: usize,
        titles: &mut Titles,
    ) -> Result<u64, SeqDbError> {
        let (volume, own) = self.volume_of(number);
        volume.titles(own, number, titles)?;
        Ok(volume.letters_at_most(own))
    }

    /// Gives back the memory that what was read takes in this process.
    pub(crate) fn let_go(&self) {
        self.volumes.iter().for_each(Volume::let_go);
    }

    /// The volume that has the sequence of a number, and its number there.
    fn volume_of(&self, number: usize) -> (&Volume, usize) {
        let mut own = number;
        for volume in &self.volumes {
            if own < volume.len() {
                return (volume, own);
            }
            own -= volume.len();
        }
        panic!("there is no sequence of number {number}");
    }
}

/// The name of a database and its kind, of the name of one of its files.
fn of_file(path: &Path) -> Option<(PathBuf, (Molecule, char))> {
    let ending = path.extension()?.to_str()?;
    let of_kind = |&&(_, letter): &&(Molecule, char)| {
        ending
            .strip_prefix(letter)
            .is_some_and(|rest| ENDINGS.contains(&rest))
    };
    let kind = KINDS.iter().find(of_kind)?;
    Some((path.with_extension(""), *kind))
}
