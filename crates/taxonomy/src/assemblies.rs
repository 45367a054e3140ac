//! NCBI's tables of assemblies: `assembly_summary.txt`.

use std::path::Path;

use crate::error::TaxonomyError;
use crate::lines::{ASSEMBLIES, Lines, number, shown};

/// How far an assembly is assembled, the farthest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AssemblyLevel {
    /// "Complete Genome".
    Complete,
    /// "Chromosome".
    Chromosome,
    /// "Scaffold".
    Scaffold,
    /// "Contig", or anything else.
    Contig,
}

/// What RefSeq chose an assembly for, the most telling first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RefseqCategory {
    /// "reference genome".
    Reference,
    /// "representative genome".
    Representative,
    /// Nothing.
    Other,
}

/// A line of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembly {
    /// `GCF_000005845.2`.
    pub accession: String,
    /// Of the strain, if it has one.
    pub taxid: u32,
    /// Of the species.
    pub species: u32,
    /// Name of the organism.
    pub organism: String,
    /// What RefSeq chose it for.
    pub category: RefseqCategory,
    /// How far it is assembled.
    pub level: AssemblyLevel,
    /// Not replaced by a later version, and not suppressed.
    pub latest: bool,
    /// Day of its release, as `2013/09/26`.
    pub released: String,
    /// The address of the folder of its files, without a slash at its end; nothing where there are
    /// none.
    pub folder: Option<String>,
}

/// The columns that are looked at, in the order of [`Columns`].
const NAMES: [&str; 9] = [
    "assembly_accession",
    "taxid",
    "species_taxid",
    "organism_name",
    "refseq_category",
    "assembly_level",
    "version_status",
    "seq_rel_date",
    "ftp_path",
];

type Columns = [usize; NAMES.len()];

/// Reads a table, compressed or not, and tells every assembly to `each`.
///
/// # Errors
/// What cannot be read, a table without one of the columns, or a line without a taxid, with file
/// and line.
pub fn read_assemblies(path: &Path, mut each: impl FnMut(Assembly)) -> Result<(), TaxonomyError> {
    let mut lines = Lines::open(path, ASSEMBLIES)?;
    let mut columns: Option<Columns> = None;
    lines.each(|_, line| {
        let line = String::from_utf8_lossy(line);
        match &columns {
            _ if line.starts_with("##") => {}
            Some(columns) => each(assembly(columns, &line)?),
            // A line of words, before that of the names.
            None if line.starts_with('#') && !line.contains('\t') => {}
            None => columns = Some(columns_of(&line)?),
        }
        Ok(())
    })?;
    match columns {
        Some(_) => Ok(()),
        None => Err(TaxonomyError::Unfit {
            input: lines.name(),
            problem: format!("there is no line of names in it; expected {ASSEMBLIES}"),
        }),
    }
}

fn columns_of(line: &str) -> Result<Columns, String> {
    let names: Vec<&str> = line
        .split('\t')
        .map(|name| name.trim_start_matches('#').trim())
        .collect();
    let mut columns = [0; NAMES.len()];
    for (column, wanted) in columns.iter_mut().zip(NAMES) {
        *column = names.iter().position(|name| *name == wanted).ok_or_else(|| {
            format!(
                "expected the names of the columns of {ASSEMBLIES}, {wanted} among them, found {}",
                shown(line.as_bytes())
            )
        })?;
    }
    Ok(columns)
}

fn assembly(columns: &Columns, line: &str) -> Result<Assembly, String> {
    let fields: Vec<&str> = line.split('\t').map(str::trim).collect();
    let field = |at: usize| fields.get(columns[at]).copied().unwrap_or_default();
    let taxid = |at: usize| {
        number(field(at).as_bytes()).ok_or_else(|| {
            format!(
                "expected a taxid in column {}, found {}; the line is cut off, or this is not \
                 {ASSEMBLIES}",
                columns[at] + 1,
                shown(field(at).as_bytes())
            )
        })
    };
    let folder = field(8).trim_end_matches('/');
    // FTP is no longer served; the same paths are.
    let folder = folder
        .strip_prefix("ftp://")
        .map_or_else(|| folder.to_owned(), |rest| format!("https://{rest}"));
    Ok(Assembly {
        accession: field(0).to_owned(),
        taxid: taxid(1)?,
        species: taxid(2)?,
        organism: field(3).to_owned(),
        category: match field(4) {
            "reference genome" => RefseqCategory::Reference,
            "representative genome" => RefseqCategory::Representative,
            _ => RefseqCategory::Other,
        },
        level: match field(5) {
            "Complete Genome" => AssemblyLevel::Complete,
            "Chromosome" => AssemblyLevel::Chromosome,
            "Scaffold" => AssemblyLevel::Scaffold,
            _ => AssemblyLevel::Contig,
        },
        latest: field(6) == "latest",
        released: field(7).to_owned(),
        folder: (folder.contains("://")).then_some(folder),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "assembly_accession\tbioproject\trefseq_category\ttaxid\tspecies_taxid\t\
        organism_name\tversion_status\tassembly_level\tseq_rel_date\tftp_path\n";

    fn read(text: &str) -> Result<Vec<Assembly>, TaxonomyError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("assembly_summary.txt");
        std::fs::write(&path, text).unwrap();
        let mut all = Vec::new();
        read_assemblies(&path, |assembly| all.push(assembly)).map(|()| all)
    }

    #[test]
    fn lines_are_assemblies() {
        let line = "GCF_000005845.2\tPRJNA57779\treference genome\t511145\t562\tEscherichia coli\t\
            latest\tComplete Genome\t2013/09/26\tftp://ftp.ncbi.nlm.nih.gov/a/GCF_000005845.2_A\n";
        let none = "GCA_1.1\t\tna\t7\t7\tx\treplaced\tContig\t2001/01/01\tna\n";
        for first in [
            "##  See ftp://x\n#",
            "#   See ftp://x for a description\n# ",
            "",
        ] {
            let found = read(&format!("{first}{HEADER}{line}{none}")).unwrap();
            let expected = Assembly {
                accession: "GCF_000005845.2".into(),
                taxid: 511145,
                species: 562,
                organism: "Escherichia coli".into(),
                category: RefseqCategory::Reference,
                level: AssemblyLevel::Complete,
                latest: true,
                released: "2013/09/26".into(),
                folder: Some("https://ftp.ncbi.nlm.nih.gov/a/GCF_000005845.2_A".into()),
            };
            assert_eq!(found[0], expected);
            assert_eq!((found.len(), found[1].latest), (2, false));
            assert_eq!(
                (&found[1].folder, found[1].level),
                (&None, AssemblyLevel::Contig)
            );
        }
    }

    #[test]
    fn what_is_no_such_table_is_named() {
        for (text, words) in [
            ("", "there is no line of names in it"),
            ("a\tb\n", "line 1: expected the names of the columns"),
            (
                &format!("#{HEADER}GCF_1.1\tx\tna\n"),
                "line 2: expected a taxid in column 4",
            ),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(words), "{words}: {error}");
        }
    }
}
