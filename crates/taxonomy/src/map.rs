//! Which taxid a reference sequence has: from accession2taxid files, headers, names of files.

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use foldhash::fast::FixedState;
use memchr::memchr;

use crate::error::TaxonomyError;
use crate::lines::{Lines, TAXIDS, number, shown};
use crate::taxon::Taxon;
use crate::taxonomy::{Resolved, Taxonomy};

/// Endings that the name of a file of references may have after the name of what is in it.
const COMPRESSIONS: [&str; 5] = [".gz", ".bgz", ".zst", ".bz2", ".xz"];
const FORMATS: [&str; 6] = [".fna", ".fasta", ".fa", ".fas", ".ffn", ".fsa"];

/// Columns that name a sequence, an assembly or a file.
const KEYS: [&str; 8] = [
    "accession",
    "accession.version",
    "assembly_accession",
    "id",
    "seqid",
    "file",
    "filename",
    "path",
];

/// What stands for a taxid that nobody knows.
const UNKNOWN: [&[u8]; 5] = [b"", b"-", b"na", b"NA", b"N/A"];

/// Most fields of a line that are looked at.
const MOST_FIELDS: usize = 64;

/// What became of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assigned {
    /// It is of this taxon.
    To(Taxon),
    /// Its taxid `from` was merged into this taxon.
    Merged {
        /// The taxon.
        taxon: Taxon,
        /// The taxid that the reference came with.
        from: u32,
    },
    /// Its taxid was deleted from the taxonomy, without a successor.
    Deleted(u32),
    /// Its taxid is not in the taxonomy.
    Unknown(u32),
    /// Nothing says what its taxid is.
    Unmapped,
}

impl Assigned {
    /// The taxon, if there is one.
    pub fn taxon(self) -> Option<Taxon> {
        match self {
            Assigned::To(taxon) | Assigned::Merged { taxon, .. } => Some(taxon),
            Assigned::Deleted(_) | Assigned::Unknown(_) | Assigned::Unmapped => None,
        }
    }
}

/// The predicate of a sentence about a reference.
impl fmt::Display for Assigned {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Assigned::To(_) => write!(out, "has a taxon"),
            Assigned::Merged { from, .. } => {
                write!(out, "has taxid {from}, which was merged into another")
            }
            Assigned::Deleted(taxid) => write!(
                out,
                "has taxid {taxid}, which was deleted from the taxonomy"
            ),
            Assigned::Unknown(taxid) => {
                write!(
                    out,
                    "has taxid {taxid}, which the taxonomy does not know; is it older than the \
                     references?"
                )
            }
            Assigned::Unmapped => {
                write!(out, "has no taxid")
            }
        }
    }
}

/// Lines of a table of taxids that end before the column of the taxid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShortLines {
    /// The file.
    input: String,
    /// Number of the first of them, from 1.
    first: u64,
    /// What was expected there, and what was found.
    problem: String,
    /// How many there are.
    lines: u64,
}

/// A sentence that names the first, tells how many follow, and what to do.
impl fmt::Display for ShortLines {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let ShortLines {
            input,
            first,
            problem,
            lines,
        } = self;
        write!(
            out,
            "{input}, line {first}: {problem}; the line was left out"
        )?;
        if *lines > 1 {
            write!(out, ", and {} more like it", lines - 1)?;
        }
        write!(out, "; give its taxid there, or `na` where it has none")
    }
}

/// The taxids of sequences, assemblies and files.
///
/// NCBI's tables have hundreds of millions of lines, so only what is wanted is kept:
/// [`want`](TaxonMap::want) first, then [`read`](TaxonMap::read), then
/// [`assign`](TaxonMap::assign). Accessions are found with and without their version; the right
/// version wins over another, and what was read first over what came later.
#[derive(Clone, Debug, Default)]
pub struct TaxonMap {
    /// Names as they are; 0 as long as the taxid is not known.
    names: Keys,
    /// Accessions without version.
    accessions: Keys,
    keep_all: bool,
}

type Keys = HashMap<Box<[u8]>, u32, FixedState>;

impl TaxonMap {
    /// A map that keeps everything that it reads: for small tables only.
    pub fn keeping_all() -> TaxonMap {
        TaxonMap {
            keep_all: true,
            ..TaxonMap::default()
        }
    }

    /// Asks for the taxid of a sequence by its header, of which the first word counts, in that
    /// file.
    pub fn want(&mut self, header: &str, file: &Path) {
        candidates(header, file, |key| {
            slot(&mut self.names, key.as_bytes());
            if let Some(accession) = accession(key.as_bytes()) {
                slot(&mut self.accessions, accession);
            }
            None::<()>
        });
    }

    /// Says the taxid of a sequence, an assembly or a file.
    pub fn insert(&mut self, key: &str, taxid: u32) {
        fill(slot(&mut self.names, key.as_bytes()), taxid);
        if let Some(accession) = accession(key.as_bytes()) {
            fill(slot(&mut self.accessions, accession), taxid);
        }
    }

    /// Reads a table, compressed or not, and returns the lines that it left out because they end
    /// before the column of the taxid:
    ///
    /// * NCBI's four columns `accession accession.version taxid gi`, with their header or without;
    /// * any table whose first line names a column `taxid` and others that name sequences,
    ///   assemblies or files (NCBI's assembly_summary.txt, its two-column
    ///   prot.accession2taxid.FULL);
    /// * two columns, a name and a taxid, without a header.
    ///
    /// # Errors
    /// What cannot be read, a line that is none of these, with file and line, or a table that has
    /// only lines that end too early.
    pub fn read(&mut self, path: &Path) -> Result<Option<ShortLines>, TaxonomyError> {
        let mut lines = Lines::open(path, TAXIDS)?;
        let mut layout: Option<Layout> = None;
        let (mut whole, mut short) = (0_u64, None);
        lines.each(|at, line| {
            if line.starts_with(b"##") {
                return Ok(());
            }
            if layout.is_none() && line.trim_ascii().contains(&separator(line)) {
                let (found, is_header) = Layout::of(line)?;
                layout = Some(found);
                if is_header {
                    return Ok(());
                }
            }
            let reaches = match &layout {
                Some(layout) => self.line(layout, line)?,
                None => false,
            };
            if reaches {
                whole += 1;
            } else {
                let missing = || expected(layout.as_ref().map_or(1, |layout| layout.taxid), line);
                let short = short.get_or_insert_with(|| ShortLines {
                    input: path.display().to_string(),
                    first: at,
                    problem: missing(),
                    lines: 0,
                });
                short.lines += 1;
            }
            Ok(())
        })?;
        match short {
            Some(short) if whole == 0 => Err(TaxonomyError::Malformed {
                input: short.input,
                line: short.first,
                problem: no_table(&short.problem),
            }),
            short => Ok(short),
        }
    }

    /// False where the line ends before the column of the taxid.
    #[inline]
    fn line(&mut self, layout: &Layout, line: &[u8]) -> Result<bool, String> {
        let Some(end) = memchr(layout.separator, line) else {
            return Ok(false);
        };
        if layout.starts_with_accession && !self.keep_all && self.is_unwanted(line, end) {
            return Ok(true);
        }
        self.fields(layout, line)
    }

    /// True for nearly every line of NCBI's: an accession that nobody asked for, and the same with
    /// its version.
    #[inline]
    fn is_unwanted(&self, line: &[u8], end: usize) -> bool {
        let (accession, versioned) = (&line[..end], &line[end + 1..]);
        let is_version = versioned
            .strip_prefix(accession)
            .is_some_and(|version| version.first() == Some(&b'.'));
        is_version && ends_with_digits(accession) && !self.accessions.contains_key(accession)
    }

    /// False where the line ends before the column of the taxid.
    fn fields(&mut self, layout: &Layout, line: &[u8]) -> Result<bool, String> {
        let mut fields = [&line[..0]; MOST_FIELDS];
        let mut count = 0;
        for (slot, field) in fields
            .iter_mut()
            .zip(line.split(|&byte| byte == layout.separator))
        {
            *slot = field.trim_ascii();
            count += 1;
        }
        let Some(field) = fields[..count].get(layout.taxid) else {
            return Ok(false);
        };
        if UNKNOWN.contains(field) {
            return Ok(true);
        }
        let taxid = number(field).ok_or_else(|| layout.no_taxid(field))?;
        for &key in layout
            .keys
            .iter()
            .filter(|&&key| taxid > 0 && key < count && !fields[key].is_empty())
        {
            self.found(fields[key], taxid);
        }
        Ok(true)
    }

    fn found(&mut self, key: &[u8], taxid: u32) {
        if self.keep_all {
            return self.insert(&String::from_utf8_lossy(key), taxid);
        }
        if let Some(slot) = self.names.get_mut(key) {
            fill(slot, taxid);
        }
        if let Some(slot) = accession(key).and_then(|accession| self.accessions.get_mut(accession))
        {
            fill(slot, taxid);
        }
    }

    /// The taxid of a sequence, by its header if that says one, else by what was read of the
    /// sequence, else of its file.
    pub fn taxid_of(&self, header: &str, file: &Path) -> Option<u32> {
        let known = |keys: &Keys, key: &[u8]| keys.get(key).copied().filter(|&taxid| taxid > 0);
        taxid_in(header).or_else(|| {
            candidates(header, file, |key| {
                let key = key.as_bytes();
                known(&self.names, key).or_else(|| known(&self.accessions, accession(key)?))
            })
        })
    }

    /// What becomes of a sequence of that file in the taxonomy.
    pub fn assign(&self, taxonomy: &Taxonomy, header: &str, file: &Path) -> Assigned {
        let Some(taxid) = self.taxid_of(header, file) else {
            return Assigned::Unmapped;
        };
        match taxonomy.resolve(taxid) {
            Resolved::Here(taxon) => Assigned::To(taxon),
            Resolved::Merged(taxon) => Assigned::Merged { taxon, from: taxid },
            Resolved::Deleted => Assigned::Deleted(taxid),
            Resolved::Unknown => Assigned::Unknown(taxid),
        }
    }
}

/// The place of a key, which is made if there is none.
fn slot<'a>(keys: &'a mut Keys, key: &[u8]) -> &'a mut u32 {
    if !keys.contains_key(key) {
        keys.insert(key.into(), 0);
    }
    keys.get_mut(key).expect("it is there")
}

/// What was known first stays.
fn fill(slot: &mut u32, taxid: u32) {
    if *slot == 0 {
        *slot = taxid;
    }
}

/// The taxid in a header's first word, such as `kraken:taxid|562|NC_000913.3` or
/// `NC_000913.3|kraken:taxid|562`.
pub fn taxid_in(header: &str) -> Option<u32> {
    let mut parts = first_word(header).split('|');
    parts.find(|part| *part == "kraken:taxid")?;
    number(parts.next()?.as_bytes()).filter(|&taxid| taxid > 0)
}

/// The accession of `NC_000913.3` or `NC_000913`: `NC_000913`. Names that are no accessions have
/// none.
fn accession(key: &[u8]) -> Option<&[u8]> {
    let end = key.iter().rposition(|&byte| byte == b'.');
    let (base, version) = end.map_or((key, &b"1"[..]), |end| (&key[..end], &key[end + 1..]));
    let letters = |&byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    let is_accession = base.first().is_some_and(u8::is_ascii_uppercase)
        && base.iter().all(letters)
        && base
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_digit())
            .count()
            >= 4;
    (is_accession && number(version).is_some()).then_some(base)
}

/// True for accessions, quickly; what is none and passes has no lower-case letters at NCBI.
#[inline]
fn ends_with_digits(name: &[u8]) -> bool {
    let tail = name
        .last_chunk::<4>()
        .is_some_and(|tail| tail.iter().all(u8::is_ascii_digit));
    tail && name[0].is_ascii_uppercase()
}

fn first_word(header: &str) -> &str {
    header.split_ascii_whitespace().next().unwrap_or_default()
}

/// Tells `ask` what a table may call the sequence or its file, the most telling first, until it has
/// an answer. A table that lies elsewhere may name only the end of the file's path.
fn candidates<T>(header: &str, file: &Path, mut ask: impl FnMut(&str) -> Option<T>) -> Option<T> {
    let id = first_word(header);
    let parts = || {
        id.split('|')
            .filter(|part| id.contains('|') && accession(part.as_bytes()).is_some())
    };
    if let Some(found) = std::iter::once(id).chain(parts()).find_map(&mut ask) {
        return Some(found);
    }
    let path = file.to_string_lossy();
    let ends = path.match_indices('/').map(|(at, _)| &path[at + 1..]);
    let name = path.rsplit('/').next().unwrap_or_default();
    let names = std::iter::once(&*path)
        .chain(ends)
        .chain([stem(name)])
        .filter(|name| !name.is_empty());
    names.chain(accessions_in(name)).find_map(ask)
}

/// `GCF_000005845.2_ASM584v2_genomic` of `GCF_000005845.2_ASM584v2_genomic.fna.gz`.
fn stem(name: &str) -> &str {
    let strip = |name, endings: &[&str]| {
        endings
            .iter()
            .find_map(|end| str::strip_suffix(name, end))
            .unwrap_or(name)
    };
    strip(strip(name, &COMPRESSIONS), &FORMATS)
}

/// The accessions in the name of a file, those of assemblies first: `GCF_000005845.2`,
/// `NC_000913.3`.
fn accessions_in(name: &str) -> impl Iterator<Item = &str> {
    let assemblies = name.match_indices("GC").filter_map(|(at, _)| {
        let length = assembly(&name[at..])?;
        Some(&name[at..at + length])
    });
    let begins = |at: usize| at == 0 || !name.as_bytes()[at - 1].is_ascii_alphanumeric();
    let sequences = (0..name.len()).filter_map(move |at| {
        let length = begins(at).then(|| sequence(&name.as_bytes()[at..]))??;
        Some(&name[at..at + length])
    });
    assemblies.chain(sequences)
}

/// The length of the accession of an assembly that a text begins with, as `GCF_000005845.2`.
fn assembly(text: &str) -> Option<usize> {
    let digits = text.strip_prefix("GCF_").or(text.strip_prefix("GCA_"))?;
    (leading(digits.as_bytes(), u8::is_ascii_digit) > 0).then(|| with_version(text.as_bytes(), 4))
}

/// The length of the accession of a sequence that a text begins with: `NC_000913.3` of RefSeq,
/// `U00096.3` and `CP009273.1` of GenBank, which have five digits at least.
fn sequence(text: &[u8]) -> Option<usize> {
    const LEAST_DIGITS: usize = 5;
    let is_upper = u8::is_ascii_uppercase;
    let refseq = match leading(text, is_upper) {
        2 if text.get(2) == Some(&b'_') => 3,
        _ => 0,
    };
    let letters = leading(&text[refseq..], is_upper);
    let start = refseq + letters;
    let is_one =
        leading(&text[start..], u8::is_ascii_digit) >= LEAST_DIGITS && letters <= 6 && start > 0;
    let length = is_one.then(|| with_version(text, start))?;
    let ends = text
        .get(length)
        .is_none_or(|next| !next.is_ascii_alphanumeric());
    ends.then_some(length)
}

/// Where the digits from `start` end, and a version behind them.
fn with_version(text: &[u8], start: usize) -> usize {
    let end = start + leading(&text[start..], u8::is_ascii_digit);
    let version = text[end..]
        .strip_prefix(b".")
        .map_or(0, |rest| leading(rest, u8::is_ascii_digit));
    if version == 0 { end } else { end + 1 + version }
}

fn leading(text: &[u8], is: impl Fn(&u8) -> bool) -> usize {
    text.iter().take_while(|byte| is(byte)).count()
}

/// Where in a line there is what.
#[derive(Debug, PartialEq, Eq)]
struct Layout {
    separator: u8,
    keys: Vec<usize>,
    taxid: usize,
    /// The first column is an accession without version, and the second that with its version.
    starts_with_accession: bool,
}

impl Layout {
    /// The layout that the first line shows, and whether that is a header.
    fn of(line: &[u8]) -> Result<(Layout, bool), String> {
        let separator = separator(line);
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let fields: Vec<&[u8]> = line
            .split(|&byte| byte == separator)
            .map(<[u8]>::trim_ascii)
            .collect();
        if let Some(layout) = Layout::named(&fields, separator) {
            return Ok((layout, true));
        }
        let is_number = |at: usize| fields.get(at).is_some_and(|field| number(field).is_some());
        let layout = |taxid, keys, starts_with_accession| Layout {
            separator,
            keys,
            taxid,
            starts_with_accession,
        };
        match fields.len() {
            4 if is_number(2) && accession(fields[1]) == Some(fields[0]) => {
                Ok((layout(2, vec![0, 1], true), false))
            }
            2 if is_number(1) => Ok((layout(1, vec![0], false), false)),
            _ => Err(no_table(&expected(1, line))),
        }
    }

    fn named(fields: &[&[u8]], separator: u8) -> Option<Layout> {
        let names: Vec<String> = fields
            .iter()
            .map(|field| String::from_utf8_lossy(field).to_ascii_lowercase())
            .collect();
        let names: Vec<&str> = names
            .iter()
            .map(|name| name.trim_start_matches('#').trim_start())
            .take(MOST_FIELDS)
            .collect();
        let taxid = names
            .iter()
            .position(|name| ["taxid", "tax_id"].contains(name))?;
        let mut keys: Vec<usize> = (0..names.len())
            .filter(|&at| KEYS.contains(&names[at]))
            .collect();
        if keys.is_empty() {
            keys.push(usize::from(taxid == 0));
        }
        let starts_with_accession =
            names.starts_with(&["accession", "accession.version"]) && keys.len() == 2;
        Some(Layout {
            separator,
            keys,
            taxid,
            starts_with_accession,
        })
    }

    fn no_taxid(&self, field: &[u8]) -> String {
        format!(
            "expected a taxid in column {}, found {}; what has none may say so by `na`, or by \
             nothing",
            self.taxid + 1,
            shown(field)
        )
    }
}

/// What is between the columns of a table that has this line.
fn separator(line: &[u8]) -> u8 {
    if line.contains(&b'\t') { b'\t' } else { b' ' }
}

/// What a line lacks that ends before the column of the taxid.
fn expected(taxid: usize, line: &[u8]) -> String {
    let form = match taxid {
        1 => "a name, a tab and a taxid, or a first line that names a column \"taxid\"".to_owned(),
        taxid => format!("a taxid in column {}", taxid + 1),
    };
    format!("expected {form}, found {}", shown(line))
}

fn no_table(problem: &str) -> String {
    format!("{problem}; the line is cut off, or this is no table of taxids")
}

#[cfg(test)]
mod tests;
