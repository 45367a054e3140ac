//! Dumps in NCBI's format: nodes.dmp, names.dmp, merged.dmp, delnodes.dmp; a folder of them or an
//! archive.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use memchr::memchr_iter;

use crate::error::{Flaw, TaxonomyError};
use crate::lines::{Lines, TAXONOMY, number, open, shown};
use crate::taxon::Taxon;
use crate::taxonomy::Taxonomy;
use crate::tree::{Sprouts, Texts};

const NODES: &str = "nodes.dmp";
const NAMES: &str = "names.dmp";
const MERGED: &str = "merged.dmp";
const DELETED: &str = "delnodes.dmp";

/// Archives that are looked for in a folder without nodes.dmp.
const ARCHIVES: [&str; 4] = [
    "taxdump.tar.gz",
    "new_taxdump.tar.gz",
    "taxdump.tar",
    "new_taxdump.tar",
];

/// Endings of compressed files; what they really are shows in their bytes.
const ENDINGS: [&str; 5] = ["", ".gz", ".zst", ".bz2", ".xz"];

/// The class of the names that are kept.
const SCIENTIFIC: &[u8] = b"scientific name";

/// How often in turn a taxid may have been merged, so that no circle holds us.
const MOST_MERGERS: usize = 64;

const MEND: &str = "the dump is incomplete or was changed: unpack or download it again";

/// The files of a folder that are read.
pub(crate) fn files_of(folder: &Path) -> Vec<PathBuf> {
    let files = || [NODES, NAMES, MERGED, DELETED].iter();
    match archive_of(folder) {
        Some(archive) => vec![archive],
        None => files().filter_map(|file| find(folder, file)).collect(),
    }
}

/// The archive of a folder that has no files.
fn archive_of(folder: &Path) -> Option<PathBuf> {
    let mut archives = ARCHIVES.iter().map(|name| folder.join(name));
    match find(folder, NODES) {
        Some(_) => None,
        None => archives.find(|path| path.is_file()),
    }
}

/// Reads a folder, which may hold the archive instead of the files.
pub(crate) fn read_folder(folder: &Path) -> Result<Taxonomy, TaxonomyError> {
    let mut dump = Dump::default();
    if let Some(archive) = archive_of(folder) {
        return read_archive(open(&archive, TAXONOMY)?, &archive);
    }
    for file in [NODES, NAMES, MERGED, DELETED] {
        if let Some(path) = find(folder, file) {
            dump.read(file, &mut Lines::open(&path, TAXONOMY)?)?;
        }
    }
    dump.finish(folder)
}

fn find(folder: &Path, file: &str) -> Option<PathBuf> {
    ENDINGS
        .iter()
        .map(|ending| folder.join(format!("{file}{ending}")))
        .find(|path| path.is_file())
}

/// Reads an archive as NCBI packs it, decompressed.
pub(crate) fn read_archive(text: impl Read, path: &Path) -> Result<Taxonomy, TaxonomyError> {
    let failed = |source| TaxonomyError::reading(path, source);
    let mut dump = Dump::default();
    let mut archive = tar::Archive::new(text);
    for entry in archive.entries().map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry
            .path()
            .map_err(failed)?
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if entry.header().entry_type().is_file() {
            let expected = entry.size();
            let mut lines = Lines::new(
                Whole {
                    entry,
                    left: expected,
                },
                path,
                Some(&name),
            );
            dump.read(&name, &mut lines)?;
        }
    }
    // What is compressed is checked at its end, which lies behind that of the archive.
    io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(failed)?;
    dump.finish(path)
}

/// A part of an archive that must be as long as the archive says.
struct Whole<R> {
    entry: R,
    left: u64,
}

impl<R: Read> Read for Whole<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let length = self.entry.read(out)?;
        if length == 0 && self.left > 0 && !out.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.left -= length as u64;
        Ok(length)
    }
}

/// What was read, in any order of files.
#[derive(Default)]
struct Dump {
    nodes: Option<Nodes>,
    names: Option<Names>,
    merged: Vec<(u32, u32)>,
    deleted: Vec<u32>,
}

struct Nodes {
    sprouts: Sprouts,
    /// Line of each node.
    lines: Vec<u64>,
    input: String,
}

struct Names {
    /// Taxid, line, and number of the name, in order of taxids once all are there.
    taxids: Vec<(u32, u64, u32)>,
    names: Texts,
    input: String,
}

impl Dump {
    fn read(&mut self, file: &str, lines: &mut Lines) -> Result<(), TaxonomyError> {
        match file {
            NODES => self.nodes = Some(read_nodes(lines)?),
            NAMES => self.names = Some(read_names(lines)?),
            MERGED => lines.each(|_, line| {
                self.merged
                    .push(pair(line).ok_or_else(|| expected("taxid | new taxid |", line))?);
                Ok(())
            })?,
            DELETED => lines.each(|_, line| {
                let taxid = fields(line).and_then(|[taxid]| number(taxid));
                self.deleted
                    .push(taxid.ok_or_else(|| expected("taxid |", line))?);
                Ok(())
            })?,
            _ => {}
        }
        Ok(())
    }

    fn finish(self, path: &Path) -> Result<Taxonomy, TaxonomyError> {
        let missing = |file| TaxonomyError::Missing {
            path: path.to_path_buf(),
            file,
        };
        let mut nodes = self.nodes.ok_or_else(|| missing(NODES))?;
        let names = self.names.ok_or_else(|| missing(NAMES))?;
        names.give(&mut nodes)?;
        let mut taxonomy =
            Taxonomy::from_parts(nodes.sprouts.grow().map_err(|flaw| nodes.explain(flaw))?);
        let (merged, deleted) = old_taxids(&taxonomy, self.merged, self.deleted);
        (taxonomy.parts.merged, taxonomy.parts.deleted) = (merged, deleted);
        Ok(taxonomy)
    }
}

fn expected(form: &str, found: &[u8]) -> String {
    format!("expected a line \"{form}\", found {}; {MEND}", shown(found))
}

/// The first fields of a line, each ended by `|`, without the white space around them; `None` when
/// there are fewer. Where the marks have tabs before them, as NCBI's have, others belong to the
/// fields.
fn fields<const N: usize>(line: &[u8]) -> Option<[&[u8]; N]> {
    let tabbed = line.windows(2).any(|two| two == b"\t|");
    let mut ends =
        memchr_iter(b'|', line).filter(|&at| !tabbed || (at > 0 && line[at - 1] == b'\t'));
    let mut fields = [&line[..0]; N];
    let mut start = 0;
    for field in &mut fields {
        let end = ends.next()?;
        *field = line[start..end].trim_ascii();
        start = end + 1;
    }
    Some(fields)
}

fn pair(line: &[u8]) -> Option<(u32, u32)> {
    let [old, new] = fields(line)?;
    Some((number(old)?, number(new)?))
}

fn node(line: &[u8]) -> Option<(u32, u32, &str)> {
    let [taxid, parent, rank] = fields(line)?;
    Some((
        number(taxid)?,
        number(parent)?,
        std::str::from_utf8(rank).ok()?,
    ))
}

fn read_nodes(lines: &mut Lines) -> Result<Nodes, TaxonomyError> {
    let mut nodes = Nodes {
        sprouts: Sprouts::default(),
        lines: Vec::new(),
        input: lines.name(),
    };
    lines.each(|number, line| {
        let (taxid, parent, rank) =
            node(line).ok_or_else(|| expected("taxid | parent | rank |", line))?;
        nodes.sprouts.push_nameless(taxid, parent, rank);
        nodes.lines.push(number);
        Ok(())
    })?;
    Ok(nodes)
}

fn read_names(lines: &mut Lines) -> Result<Names, TaxonomyError> {
    let mut names = Names {
        taxids: Vec::new(),
        names: Texts::default(),
        input: lines.name(),
    };
    lines.each(|at, line| {
        match fields(line).map(|[taxid, name, _, class]| (number(taxid), name, class)) {
            Some((Some(taxid), name, SCIENTIFIC)) => names.push(taxid, at, name),
            Some((Some(_), ..)) => Ok(()),
            _ => Err(expected(
                "taxid | name | unique name | class of name |",
                line,
            )),
        }
    })?;
    names.taxids.sort_unstable();
    Ok(names)
}

impl Names {
    fn push(&mut self, taxid: u32, line: u64, name: &[u8]) -> Result<(), String> {
        let text = std::str::from_utf8(name).map_err(|_| {
            format!(
                "the name of taxid {taxid}, {}, is not UTF-8; convert the file, for instance with \
                 iconv",
                shown(name)
            )
        })?;
        self.taxids.push((taxid, line, self.names.len() as u32));
        self.names.push(text);
        Ok(())
    }

    /// Names every node.
    fn give(&self, nodes: &mut Nodes) -> Result<(), TaxonomyError> {
        let same = self.taxids.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        if let Some(pair) = same.min_by_key(|pair| pair[1].1) {
            let problem = format!(
                "taxid {} has a second scientific name, the first is on line {}",
                pair[1].0, pair[0].1
            );
            return Err(TaxonomyError::Malformed {
                input: self.input.clone(),
                line: pair[1].1,
                problem,
            });
        }
        let Nodes {
            sprouts,
            lines,
            input,
        } = nodes;
        for (place, &taxid) in sprouts.taxids.iter().enumerate() {
            let Ok(at) = self.taxids.binary_search_by_key(&taxid, |name| name.0) else {
                let problem = format!(
                    "taxid {taxid} has no scientific name in {}; {MEND}",
                    self.input
                );
                return Err(TaxonomyError::Malformed {
                    input: input.clone(),
                    line: lines[place],
                    problem,
                });
            };
            sprouts.names.push(self.names.get(self.taxids[at].2));
        }
        Ok(())
    }
}

impl Nodes {
    /// The flaw with its line.
    fn explain(&self, flaw: Flaw) -> TaxonomyError {
        let place = match &flaw {
            Flaw::Twice { second: place, .. }
            | Flaw::NoParent { place, .. }
            | Flaw::Cycle { place, .. }
            | Flaw::Zero { place } => Some(*place),
            Flaw::NoRoot | Flaw::TooMany | Flaw::TooManyRanks => None,
        };
        let first = match flaw {
            Flaw::Twice { first, .. } => format!(", first on line {}", self.lines[first]),
            _ => String::new(),
        };
        let (input, problem) = (self.input.clone(), format!("{flaw}{first}; {MEND}"));
        match place {
            Some(place) => TaxonomyError::Malformed {
                input,
                line: self.lines[place],
                problem,
            },
            None => TaxonomyError::Unfit { input, problem },
        }
    }
}

/// What merged taxids lead to, and deleted taxids, as `Parts` has them. A part of NCBI's tree often
/// comes with its whole merged.dmp, so what leads to no node is left out; what is a node is no old
/// taxid.
fn old_taxids(
    taxonomy: &Taxonomy,
    mut merged: Vec<(u32, u32)>,
    mut deleted: Vec<u32>,
) -> (Vec<(u32, Taxon)>, Vec<u32>) {
    merged.retain(|&(old, _)| old != 0 && taxonomy.taxon_of(old).is_none());
    merged.sort_unstable();
    merged.dedup_by_key(|entry| entry.0);
    let follow = |mut taxid: u32| {
        for _ in 0..MOST_MERGERS {
            match merged.binary_search_by_key(&taxid, |entry| entry.0) {
                Ok(at) => taxid = merged[at].1,
                Err(_) => return taxonomy.taxon_of(taxid),
            }
        }
        None
    };
    let found: Vec<(u32, Taxon)> = merged
        .iter()
        .filter_map(|&(old, new)| Some((old, follow(new)?)))
        .collect();
    deleted.retain(|&taxid| taxid != 0 && taxonomy.taxon_of(taxid).is_none());
    deleted.retain(|taxid| found.binary_search_by_key(taxid, |entry| entry.0).is_err());
    deleted.sort_unstable();
    deleted.dedup();
    (found, deleted)
}

#[cfg(test)]
mod tests;
