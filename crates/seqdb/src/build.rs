//! Makes one `.gysd` database of sources.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gyrase_taxonomy::{Resolved, TaxonMap, Taxonomy};
use gyrase_work::Progress;

use crate::gysd::{Summary, Writer, name_of};
use crate::{Entry, Molecule, SeqDbError, SequenceSource, TaxidFilter, shared_molecule};

/// Letters that are looked at before it is decided what they stand for.
const ENOUGH: usize = 1 << 20;

/// How a database is made.
pub struct IndexConfig<'c> {
    /// What it is made of, in order.
    pub sources: &'c [SequenceSource],
    /// The file to make.
    pub output: &'c Path,
    /// Letters of files that are in lower case are masked; the masks of databases stay.
    pub lower_case_masking: bool,
    /// What the letters stand for; none where the sources or their letters decide.
    pub molecule: Option<Molecule>,
    /// The taxids of sequences that do not tell theirs.
    pub map: &'c TaxonMap,
    /// The taxonomy of the taxids; none where the sources have theirs.
    pub taxonomy: Option<Taxonomy>,
}

/// What was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Indexed {
    /// What the database holds.
    pub summary: Summary,
    /// Sequences without a taxid.
    pub without_taxid: u64,
    /// Taxids that the taxonomy does not have.
    pub unknown: BTreeSet<u32>,
}

/// Makes a database.
///
/// # Errors
/// A source cannot be read; there are proteins and nucleotides; the file cannot be written.
pub fn build(config: &IndexConfig, progress: &Progress) -> Result<Indexed, SeqDbError> {
    let known = shared_molecule(config.sources)?;
    let taxonomy = match &config.taxonomy {
        Some(taxonomy) => Some(taxonomy.clone()),
        None => TaxidFilter::taxonomy_of(config.sources)?,
    };
    let has_masks = |source: &SequenceSource| match source {
        SequenceSource::Fasta(_) | SequenceSource::Text(..) => config.lower_case_masking,
        source => source.may_have_masks(),
    };
    let mut builder = Builder {
        config,
        keeps_masks: config.lower_case_masking || config.sources.iter().any(has_masks),
        case_counts: false,
        taxonomy,
        molecule: config.molecule.or(known),
        counts: [0; 256],
        waiting: Vec::new(),
        writer: None,
        used: BTreeSet::new(),
        unknown: BTreeSet::new(),
        without_taxid: 0,
    };
    progress.start(
        "index",
        config.sources.iter().map(SequenceSource::bytes).sum(),
    );
    for source in config.sources {
        builder.counts = [0; 256];
        builder.case_counts = has_masks(source);
        let path = PathBuf::from(source.name());
        source.each(|entry, read| {
            progress.go_on()?;
            progress.advance(read);
            builder.add(entry, &path)
        })?;
        builder.end_source(source)?;
    }
    builder.finish()
}

/// Asks a map for the taxids of all sequences that do not tell theirs.
///
/// # Errors
/// A source cannot be read.
pub fn want(
    sources: &[SequenceSource],
    map: &mut TaxonMap,
    progress: &Progress,
) -> Result<(), SeqDbError> {
    progress.start("names", sources.iter().map(SequenceSource::bytes).sum());
    for source in sources {
        let path = PathBuf::from(source.name());
        source.each(|entry, read| {
            progress.go_on()?;
            progress.advance(read);
            if entry.taxids.is_empty() {
                names(entry.title).for_each(|name| map.want(&name, &path));
            }
            Ok::<_, SeqDbError>(())
        })?;
    }
    Ok(())
}

/// The first word of each title of a sequence.
fn names(title: &[u8]) -> impl Iterator<Item = String> + '_ {
    let titles = title.split(|&byte| byte == 1);
    titles.map(|title| String::from_utf8_lossy(name_of(title)).into_owned())
}

/// A sequence that waits until it is known what letters stand for.
struct Waiting {
    title: Vec<u8>,
    letters: Vec<u8>,
    taxids: Vec<u32>,
}

struct Builder<'c> {
    config: &'c IndexConfig<'c>,
    keeps_masks: bool,
    /// Letters of the source that is read are masked where they are in lower case.
    case_counts: bool,
    taxonomy: Option<Taxonomy>,
    molecule: Option<Molecule>,
    /// Letters of the source that is read, of each kind, up to [`ENOUGH`].
    counts: [u64; 256],
    waiting: Vec<Waiting>,
    writer: Option<Writer>,
    used: BTreeSet<u32>,
    unknown: BTreeSet<u32>,
    without_taxid: u64,
}

impl Builder<'_> {
    fn add(&mut self, entry: &Entry, path: &Path) -> Result<(), SeqDbError> {
        let taxids = self.taxids(entry, path);
        self.without_taxid += u64::from(taxids.is_empty());
        let counted: u64 = self.counts.iter().sum();
        if counted < ENOUGH as u64 {
            let letters = entry.letters.iter().take(ENOUGH - counted as usize);
            letters.for_each(|letter| self.counts[usize::from(letter.to_ascii_uppercase())] += 1);
        }
        let letters = match self.keeps_masks && !self.case_counts {
            true => Cow::Owned(entry.letters.to_ascii_uppercase()),
            false => Cow::Borrowed(entry.letters),
        };
        if self.molecule.is_some() {
            return self.write(entry.title, &letters, &taxids);
        }
        self.waiting.push(Waiting {
            title: entry.title.to_vec(),
            letters: letters.into_owned(),
            taxids,
        });
        if self.counts.iter().sum::<u64>() >= ENOUGH as u64 {
            self.decide()?;
        }
        Ok(())
    }

    /// The taxids of a sequence, as its title, its database or the map tells them; those of the
    /// taxonomy for ones that were merged.
    fn taxids(&mut self, entry: &Entry, path: &Path) -> Vec<u32> {
        let mut taxids = entry.taxids.to_vec();
        if taxids.is_empty() {
            let found = names(entry.title).filter_map(|name| self.config.map.taxid_of(&name, path));
            taxids.extend(found);
        }
        let mut own = Vec::new();
        for taxid in taxids {
            let taxid = match &self.taxonomy {
                Some(taxonomy) => match taxonomy.resolve(taxid) {
                    Resolved::Here(taxon) | Resolved::Merged(taxon) => taxonomy.taxid(taxon),
                    Resolved::Deleted | Resolved::Unknown => {
                        self.unknown.insert(taxid);
                        taxid
                    }
                },
                None => taxid,
            };
            if !own.contains(&taxid) {
                own.push(taxid);
            }
        }
        self.used.extend(&own);
        own
    }

    fn write(&mut self, title: &[u8], letters: &[u8], taxids: &[u32]) -> Result<(), SeqDbError> {
        let molecule = self.molecule.unwrap_or(Molecule::Protein);
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none => none.insert(writer(self.config.output, molecule, self.keeps_masks)?),
        };
        writer.push(title, letters, taxids)
    }

    /// Takes the letters that were read for what they look like.
    fn decide(&mut self) -> Result<(), SeqDbError> {
        self.molecule = Some(Molecule::of_counts(&self.counts));
        for one in std::mem::take(&mut self.waiting) {
            self.write(&one.title, &one.letters, &one.taxids)?;
        }
        Ok(())
    }

    /// Refuses a file whose letters are clearly not what those before it are.
    fn end_source(&mut self, source: &SequenceSource) -> Result<(), SeqDbError> {
        let found = Molecule::of_counts(&self.counts);
        let few = !Molecule::are_enough(&self.counts);
        match self.molecule {
            _ if few || source.molecule().is_some() || self.config.molecule.is_some() => Ok(()),
            Some(molecule) if molecule != found => Err(SeqDbError::Mixed {
                first: "the database".into(),
                of_first: molecule,
                second: source.name(),
                of_second: found,
            }),
            Some(_) => Ok(()),
            None => self.decide(),
        }
    }

    fn finish(mut self) -> Result<Indexed, SeqDbError> {
        if self.molecule.is_none() {
            self.decide()?;
        }
        let molecule = self.molecule.unwrap_or(Molecule::Protein);
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None => writer(self.config.output, molecule, self.keeps_masks)?,
        };
        let own = self.taxonomy.as_ref().map(|taxonomy| {
            let taxa = self
                .used
                .iter()
                .filter_map(|&taxid| taxonomy.taxon_of(taxid));
            taxonomy.subset(taxa)
        });
        Ok(Indexed {
            summary: writer.finish(own.as_ref())?,
            without_taxid: self.without_taxid,
            unknown: self.unknown,
        })
    }
}

fn writer(output: &Path, molecule: Molecule, keeps_masks: bool) -> Result<Writer, SeqDbError> {
    let writer = Writer::create(output, molecule)?;
    match keeps_masks {
        true => writer.keeping_masks(),
        false => Ok(writer),
    }
}
