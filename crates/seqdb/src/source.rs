//! Where sequences come from: files of any format that is read.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gyrase_files::container::what_it_is;
use gyrase_taxonomy::taxid_in;

use crate::blast::BlastDatabase;
use crate::gysd::{self, SeqDb};
use crate::{Molecule, SeqDbError};

/// What databases of DIAMOND begin with.
const DIAMOND: [u8; 8] = 0x24a_f8a4_15ee_186d_u64.to_le_bytes();

/// A file or a database of sequences.
#[derive(Debug)]
pub enum SequenceSource {
    /// FASTA or FASTQ, compressed or not; `-` is standard input.
    Fasta(PathBuf),
    /// The same in memory, by a name for messages.
    Text(String, Arc<[u8]>),
    /// A database of ours.
    Gysd(SeqDb),
    /// A database of BLAST.
    Blast(BlastDatabase),
}

/// The sources that paths name, in their order; `@list` stands for the paths in a file.
///
/// # Errors
/// As [`SequenceSource::open`]; and a list that cannot be read.
pub fn open_all(paths: &[PathBuf]) -> Result<Vec<SequenceSource>, SeqDbError> {
    let paths = gyrase_fastx::expand_lists(paths)?;
    paths
        .iter()
        .map(|path| SequenceSource::open(path))
        .collect()
}

impl SequenceSource {
    /// Opens what a path names: a file, by its content, or a BLAST database, by the name that its
    /// files have in common or by one of them.
    ///
    /// # Errors
    /// There is nothing of that name; a database cannot be opened, is damaged, or is of a kind that
    /// is not read. A FASTA file is opened when it is read.
    pub fn open(path: &Path) -> Result<SequenceSource, SeqDbError> {
        let fasta = || Ok(SequenceSource::Fasta(path.to_path_buf()));
        if path.as_os_str() == "-" {
            return fasta();
        }
        let there = match path.metadata() {
            Ok(there) => there,
            Err(error) => {
                return match (BlastDatabase::open(path)?, error.kind()) {
                    (Some(database), _) => Ok(SequenceSource::Blast(database)),
                    (None, ErrorKind::NotFound) => {
                        let path = path.to_path_buf();
                        Err(SeqDbError::Missing { path })
                    }
                    (None, _) => fasta(),
                };
            }
        };
        // A pipe would be empty afterwards.
        if !there.is_file() {
            return fasta();
        }
        let start = start(path)?;
        if start == gysd::MAGIC {
            return Ok(SequenceSource::Gysd(SeqDb::open(path)?));
        }
        if let Some(found) = foreign(path, &start) {
            let path = path.to_path_buf();
            return Err(SeqDbError::Foreign { path, found });
        }
        // A FASTA file may have files of a database of its name beside it, and be called so.
        let is_fasta = matches!(start.first(), Some(b'>' | b'@' | b';'));
        match BlastDatabase::open(path) {
            Ok(Some(database)) if !is_fasta && database.path() != path => {
                Ok(SequenceSource::Blast(database))
            }
            Err(error) if !is_fasta && is_of_blast(path) => Err(error),
            _ => fasta(),
        }
    }

    /// Its name in messages.
    pub fn name(&self) -> String {
        match self {
            SequenceSource::Fasta(path) => path.display().to_string(),
            SequenceSource::Text(name, _) => name.clone(),
            SequenceSource::Gysd(database) => database.path().display().to_string(),
            SequenceSource::Blast(database) => database.path().display().to_string(),
        }
    }

    /// What its sequences are made of, where that is known without reading them.
    pub fn molecule(&self) -> Option<Molecule> {
        match self {
            SequenceSource::Fasta(_) | SequenceSource::Text(..) => None,
            SequenceSource::Gysd(database) => Some(database.summary().molecule),
            SequenceSource::Blast(database) => Some(database.molecule()),
        }
    }

    /// True for what can be read only once.
    pub fn is_pipe(&self) -> bool {
        let SequenceSource::Fasta(path) = self else {
            return false;
        };
        path.as_os_str() == "-" || path.metadata().is_ok_and(|there| !there.is_file())
    }

    /// True for what may say which of its letters are masked: a file by their case, a database
    /// where it was made with masks.
    pub fn may_have_masks(&self) -> bool {
        match self {
            SequenceSource::Fasta(_) | SequenceSource::Text(..) => true,
            SequenceSource::Gysd(database) => database.has_masks(),
            SequenceSource::Blast(database) => database.masks().is_some(),
        }
    }

    /// How many masks a database has, or a few more.
    pub fn masks(&self) -> u64 {
        match self {
            SequenceSource::Gysd(database) => database.masks_of_all(),
            SequenceSource::Blast(database) => database.masks().unwrap_or_default(),
            SequenceSource::Fasta(_) | SequenceSource::Text(..) => 0,
        }
    }

    /// Bytes that will be read; 0 for a pipe.
    pub fn bytes(&self) -> u64 {
        match self {
            SequenceSource::Fasta(path) => path.metadata().map_or(0, |there| there.len()),
            SequenceSource::Text(_, text) => text.len() as u64,
            SequenceSource::Gysd(database) => database.summary().bytes,
            SequenceSource::Blast(database) => database.bytes(),
        }
    }

    /// How many sequences and letters it has, where that is known without reading them.
    pub fn size(&self) -> Option<SourceSize> {
        match self {
            SequenceSource::Fasta(_) | SequenceSource::Text(..) => None,
            SequenceSource::Gysd(database) => Some(SourceSize {
                sequences: database.summary().sequences,
                letters: database.summary().letters,
            }),
            SequenceSource::Blast(database) => Some(SourceSize {
                sequences: database.len() as u64,
                letters: database.letters(),
            }),
        }
    }

    /// Letters of its longest sequence, where that is known without reading them.
    pub fn longest(&self) -> Option<u64> {
        match self {
            SequenceSource::Fasta(_) | SequenceSource::Text(..) => None,
            SequenceSource::Gysd(database) => Some(database.summary().longest),
            SequenceSource::Blast(database) => Some(database.longest()),
        }
    }
}

/// How much a source holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceSize {
    /// Sequences.
    pub sequences: u64,
    /// Letters of all of them.
    pub letters: u64,
}

/// What the sequences of all sources are made of, as far as it is known without reading them.
///
/// # Errors
/// They are of both kinds.
pub fn shared_molecule(sources: &[SequenceSource]) -> Result<Option<Molecule>, SeqDbError> {
    let mut known: Option<(&SequenceSource, Molecule)> = None;
    for source in sources {
        match (known, source.molecule()) {
            (Some((first, of_first)), Some(of_second)) if of_first != of_second => {
                return Err(SeqDbError::Mixed {
                    first: first.name(),
                    of_first,
                    second: source.name(),
                    of_second,
                });
            }
            (None, Some(molecule)) => known = Some((source, molecule)),
            _ => {}
        }
    }
    Ok(known.map(|(_, molecule)| molecule))
}

/// The first eight bytes of a file, or what it has.
fn start(path: &Path) -> Result<Vec<u8>, SeqDbError> {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(8).read_to_end(&mut start));
    match read {
        Ok(_) => Ok(start),
        Err(source) if source.kind() == ErrorKind::PermissionDenied => {
            Err(SeqDbError::open(path.to_path_buf(), source))
        }
        // Whoever reads it says what is wrong.
        Err(_) => Ok(Vec::new()),
    }
}

/// What a database of another program or of another verb is, and what helps. One of MMseqs2 is
/// known by the files beside it.
fn foreign(path: &Path, start: &[u8]) -> Option<String> {
    let of_others = |program: &str, writes: &str| {
        format!(
            "is a database of {program}, whose format is its own; write its sequences with \
             `{writes}` and name refs.fa"
        )
    };
    let beside = |ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        Path::new(&name).is_file()
    };
    match what_it_is(start) {
        Some(own) => Some(format!(
            "is {own}; name the FASTA files that it was made of"
        )),
        None if start == DIAMOND => {
            Some(of_others("DIAMOND", "diamond getseq --db FILE > refs.fa"))
        }
        None if beside(".index") && beside(".dbtype") => {
            Some(of_others("MMseqs2", "mmseqs convert2fasta DB refs.fa"))
        }
        None => None,
    }
}

fn is_of_blast(path: &Path) -> bool {
    let endings = ["pal", "pin", "phr", "psq", "nal", "nin", "nhr", "nsq"];
    path.extension()
        .is_some_and(|ending| endings.iter().any(|one| ending == *one))
}

/// The taxids that a title tells: of each of its parts, which a byte 1 divides, `kraken:taxid|N` in
/// its first word or UniProt's `OX=N`.
pub fn header_taxids(title: &[u8]) -> Vec<u32> {
    let mut taxids = Vec::new();
    for part in title.split(|&byte| byte == 1) {
        let name = String::from_utf8_lossy(gysd::name_of(part));
        let taxid = taxid_in(&name).or_else(|| organism(part));
        taxids.extend(taxid.filter(|taxid| !taxids.contains(taxid)));
    }
    taxids
}

/// The number behind UniProt's `OX=`.
fn organism(title: &[u8]) -> Option<u32> {
    let mut words = title.split(u8::is_ascii_whitespace);
    let number = words.find_map(|word| word.strip_prefix(b"OX="))?;
    let number = str::from_utf8(number).ok()?.parse().ok();
    number.filter(|&number| number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_tell_taxids() {
        let of = |title: &[u8]| header_taxids(title);
        assert_eq!(
            of(b"sp|P1|X_HUMAN Some OS=Homo sapiens OX=9606 GN=x"),
            [9606]
        );
        assert_eq!(of(b"a|kraken:taxid|562 x OX=1"), [562]);
        assert_eq!(of(b"a OX=5\x01b OX=7\x01c\x01d OX=5"), [5, 7]);
        for title in [&b"plain"[..], b"x OX=0", b"x OX=many", b"OX", b""] {
            assert!(of(title).is_empty(), "{title:?}");
        }
    }
}
