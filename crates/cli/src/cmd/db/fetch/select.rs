//! Which assemblies are wanted.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use gyrase_taxonomy::{Assembly, AssemblyLevel, RefseqCategory, Taxon, Taxonomy, read_assemblies};

use crate::failure::{Code, Failure, Result};

/// What is chosen of NCBI's table.
#[derive(Debug, Args)]
#[command(next_help_heading = "Choose")]
#[group(id = "filters", multiple = true)]
pub struct Filters {
    /// Of these taxids, of a strain or a species; with --taxonomy of all below them too
    #[arg(long, value_name = "TAXID", value_delimiter = ',')]
    taxid: Vec<u32>,

    /// The taxonomy, as for `gyrase db build`: what is below a taxid
    #[arg(long, value_name = "PATH", requires = "taxid")]
    taxonomy: Option<PathBuf>,

    /// Of these levels
    #[arg(long, value_enum, value_name = "LEVEL", value_delimiter = ',')]
    level: Vec<Level>,

    /// Chosen by RefSeq
    #[arg(long, value_enum, value_name = "CATEGORY", value_delimiter = ',')]
    category: Vec<Category>,

    /// Of organisms with this in their name, in letters of either case
    #[arg(long, value_name = "TEXT")]
    organism: Option<String>,

    /// Only those whose accession is the first word of a line of this file: a table of GTDB, a list
    #[arg(long, value_name = "FILE")]
    among: Option<PathBuf>,

    /// At most so many of each species: by category, then level, then the latest
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    per_species: Option<u32>,

    /// Also what was replaced or suppressed
    #[arg(long)]
    all: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Level {
    Complete,
    Chromosome,
    Scaffold,
    Contig,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Category {
    Reference,
    Representative,
}

impl Level {
    fn is(self, level: AssemblyLevel) -> bool {
        level
            == match self {
                Level::Complete => AssemblyLevel::Complete,
                Level::Chromosome => AssemblyLevel::Chromosome,
                Level::Scaffold => AssemblyLevel::Scaffold,
                Level::Contig => AssemblyLevel::Contig,
            }
    }
}

impl Category {
    fn is(self, category: RefseqCategory) -> bool {
        category
            == match self {
                Category::Reference => RefseqCategory::Reference,
                Category::Representative => RefseqCategory::Representative,
            }
    }
}

/// Filters with what their files say.
pub struct Opened<'f> {
    filters: &'f Filters,
    clades: Option<(Taxonomy, Vec<Range<Taxon>>)>,
    among: Option<HashSet<String>>,
}

impl Filters {
    /// The files that they name.
    pub fn inputs(&self) -> impl Iterator<Item = &PathBuf> {
        self.taxonomy.iter().chain(&self.among)
    }

    /// True where anything is chosen.
    pub fn any(&self) -> bool {
        let lists = [
            self.taxid.is_empty(),
            self.level.is_empty(),
            self.category.is_empty(),
        ];
        lists.contains(&false)
            || self.organism.is_some()
            || self.among.is_some()
            || self.per_species.is_some()
            || self.all
    }

    /// Reads the files.
    pub fn opened(&self) -> Result<Opened<'_>> {
        let clades = |path: &PathBuf| {
            let taxonomy = gyrase_taxonomy::read(path)?.taxonomy;
            let clade = |&taxid: &u32| {
                let taxon = taxonomy.taxon_of(taxid).ok_or_else(|| {
                    Failure::usage(format!("{} has no taxid {taxid}", path.display()))
                })?;
                Ok(taxonomy.clade(taxon))
            };
            let clades = self.taxid.iter().map(clade).collect::<Result<_>>()?;
            Ok::<_, Failure>((taxonomy, clades))
        };
        Ok(Opened {
            filters: self,
            clades: self.taxonomy.as_ref().map(clades).transpose()?,
            among: self.among.as_deref().map(accessions).transpose()?,
        })
    }
}

/// The first words of the lines of a file, without GTDB's marks of where a genome comes from.
fn accessions(path: &Path) -> Result<HashSet<String>> {
    let failure = |error: std::io::Error| {
        let code = match error.kind() {
            std::io::ErrorKind::NotFound => Code::Usage,
            _ => Code::Input,
        };
        Failure::new(code, format!("{}: cannot be read: {error}", path.display()))
    };
    let file = std::fs::File::open(path).map_err(failure)?;
    let text = gyrase_fastx::decompress(file).map_err(failure)?;
    let mut words = HashSet::new();
    for line in BufReader::new(text).lines() {
        let line = line.map_err(failure)?;
        let word = line.split_whitespace().next().unwrap_or_default();
        let word = ["RS_", "GB_"]
            .iter()
            .find_map(|mark| word.strip_prefix(mark))
            .unwrap_or(word);
        words.insert(word.to_owned());
    }
    Ok(words)
}

impl Opened<'_> {
    fn wants(&self, assembly: &Assembly) -> bool {
        let Filters {
            level,
            category,
            organism,
            all,
            ..
        } = self.filters;
        let named = |part: &String| {
            let name = assembly.organism.to_lowercase();
            name.contains(&part.to_lowercase())
        };
        let listed = |words: &HashSet<String>| words.contains(&assembly.accession);
        (*all || assembly.latest)
            && (level.is_empty() || level.iter().any(|level| level.is(assembly.level)))
            && (category.is_empty() || category.iter().any(|one| one.is(assembly.category)))
            && organism.as_ref().is_none_or(named)
            && self.among.as_ref().is_none_or(listed)
            && self.is_of_taxids(assembly)
    }

    fn is_of_taxids(&self, assembly: &Assembly) -> bool {
        let wanted = &self.filters.taxid;
        let taxids = [assembly.taxid, assembly.species];
        if wanted.is_empty() || taxids.iter().any(|taxid| wanted.contains(taxid)) {
            return true;
        }
        self.clades.as_ref().is_some_and(|(taxonomy, clades)| {
            taxids
                .iter()
                .filter_map(|&taxid| taxonomy.taxon_of(taxid))
                .any(|taxon| clades.iter().any(|clade| clade.contains(&taxon)))
        })
    }
}

/// What was chosen so far.
#[derive(Default)]
pub struct Chosen {
    assemblies: Vec<Assembly>,
    known: HashSet<String>,
    /// Assemblies that were read.
    pub read: u64,
    /// Of those that were asked for.
    pub without_files: u64,
}

impl Chosen {
    /// Reads a table.
    pub fn read(&mut self, path: &Path, filters: &Opened) -> Result<()> {
        read_assemblies(path, |assembly| {
            self.read += 1;
            if !filters.wants(&assembly) || self.known.contains(&assembly.accession) {
                return;
            }
            if assembly.folder.is_none() {
                self.without_files += 1;
                return;
            }
            self.known.insert(assembly.accession.clone());
            self.assemblies.push(assembly);
        })?;
        Ok(())
    }

    /// All, in the order of the tables, but for those that are too many of their species.
    pub fn finish(&mut self, filters: &Opened) -> Vec<Assembly> {
        let mut all = std::mem::take(&mut self.assemblies);
        let Some(most) = filters.filters.per_species else {
            return all;
        };
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by(|&a, &b| {
            let key = |at: usize| (all[at].category, all[at].level);
            let released = |at: usize| &all[at].released;
            key(a)
                .cmp(&key(b))
                .then_with(|| released(b).cmp(released(a)))
                .then_with(|| all[a].accession.cmp(&all[b].accession))
        });
        let (mut taken, mut keep) = (HashMap::new(), vec![false; all.len()]);
        for at in order {
            let count = taken.entry(all[at].species).or_insert(0);
            keep[at] = *count < most;
            *count += 1;
        }
        let mut keep = keep.into_iter();
        all.retain(|_| keep.next().unwrap_or(false));
        all
    }
}
