//! Which sequences of a database are meant, by their taxids.

use std::ops::Range;

use gyrase_taxonomy::{Taxon, Taxonomy};

use crate::{SeqDbError, SequenceSource};

/// Taxids that sequences are to have, or not. With a taxonomy a taxid stands for all below it too.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaxidFilter {
    /// Only sequences with one of these; all where none is named.
    pub only: Vec<u32>,
    /// No sequences of which all taxids are among these.
    pub without: Vec<u32>,
    /// Who is below whom; where none is given, that of the databases.
    pub taxonomy: Option<Taxonomy>,
}

/// A filter that knows who is below whom.
#[derive(Debug)]
pub struct KeptTaxa {
    only: Option<Clades>,
    without: Option<Clades>,
    taxonomy: Option<Taxonomy>,
}

/// Taxids, and the clades below them.
#[derive(Debug)]
struct Clades {
    taxids: Vec<u32>,
    clades: Vec<Range<Taxon>>,
}

impl TaxidFilter {
    /// True where it leaves every sequence.
    pub fn is_empty(&self) -> bool {
        self.only.is_empty() && self.without.is_empty()
    }

    /// The filter for some sources.
    ///
    /// # Errors
    /// Their taxonomies cannot be read or do not fit each other; a taxid that their taxonomy does
    /// not have.
    pub fn among(&self, sources: &[SequenceSource]) -> Result<KeptTaxa, SeqDbError> {
        let taxonomy = match (&self.taxonomy, self.is_empty()) {
            (_, true) => None,
            (Some(taxonomy), _) => Some(taxonomy.clone()),
            (None, _) => TaxidFilter::taxonomy_of(sources)?,
        };
        let clades = |taxids: &Vec<u32>| {
            if taxids.is_empty() {
                return Ok(None);
            }
            Clades::new(taxids, taxonomy.as_ref()).map(Some)
        };
        Ok(KeptTaxa {
            only: clades(&self.only)?,
            without: clades(&self.without)?,
            taxonomy,
        })
    }

    /// The taxa of all databases that carry some.
    ///
    /// # Errors
    /// They cannot be read or do not fit each other.
    pub fn taxonomy_of(sources: &[SequenceSource]) -> Result<Option<Taxonomy>, SeqDbError> {
        let mut all = Vec::new();
        for source in sources {
            if let SequenceSource::Gysd(database) = source {
                all.extend(database.taxonomy()?);
            }
        }
        Ok(match all.len() {
            0 => None,
            _ => Some(Taxonomy::unite(&all)?),
        })
    }
}

impl Clades {
    fn new(taxids: &[u32], taxonomy: Option<&Taxonomy>) -> Result<Clades, SeqDbError> {
        let mut clades = Vec::new();
        for &taxid in taxids {
            let Some(taxonomy) = taxonomy else { break };
            let taxon = taxonomy.taxon_of(taxid);
            let taxon = taxon.ok_or(SeqDbError::UnknownTaxid { taxid })?;
            clades.push(taxonomy.clade(taxon));
        }
        Ok(Clades {
            taxids: taxids.to_vec(),
            clades,
        })
    }

    fn has(&self, taxid: u32, taxonomy: Option<&Taxonomy>) -> bool {
        let taxon = taxonomy.and_then(|taxonomy| taxonomy.taxon_of(taxid));
        let below = |taxon| self.clades.iter().any(|clade| clade.contains(&taxon));
        self.taxids.contains(&taxid) || taxon.is_some_and(below)
    }
}

impl KeptTaxa {
    /// Whether a sequence of these taxids is kept.
    pub fn has(&self, taxids: &[u32]) -> bool {
        let is = |clades: &Clades, taxid: u32| clades.has(taxid, self.taxonomy.as_ref());
        let wanted = self
            .only
            .as_ref()
            .is_none_or(|only| taxids.iter().any(|&taxid| is(only, taxid)));
        let unwanted = self.without.as_ref().is_some_and(|without| {
            !taxids.is_empty() && taxids.iter().all(|&taxid| is(without, taxid))
        });
        wanted && !unwanted
    }

    /// True where a taxid stands for itself alone, as nothing says what is below it.
    pub fn is_literal(&self) -> bool {
        self.taxonomy.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gyrase_taxonomy::Node;

    fn taxonomy() -> Taxonomy {
        let node = |taxid, parent, rank, name| Node {
            taxid,
            parent,
            rank,
            name,
        };
        Taxonomy::new([
            node(1, 1, "no rank", "root"),
            node(2, 1, "domain", "Bacteria"),
            node(561, 2, "genus", "Escherichia"),
            node(562, 561, "species", "Escherichia coli"),
            node(9606, 1, "species", "Homo sapiens"),
        ])
        .unwrap()
    }

    fn kept(only: &[u32], without: &[u32], taxonomy: Option<Taxonomy>) -> KeptTaxa {
        let filter = TaxidFilter {
            only: only.to_vec(),
            without: without.to_vec(),
            taxonomy,
        };
        filter.among(&[]).unwrap()
    }

    #[test]
    fn a_taxid_stands_for_all_below_it() {
        let bacteria = kept(&[2], &[], Some(taxonomy()));
        assert!(bacteria.has(&[562]) && bacteria.has(&[2]) && bacteria.has(&[9606, 561]));
        assert!(!bacteria.has(&[9606]) && !bacteria.has(&[]) && !bacteria.has(&[77]));
        let others = kept(&[], &[2, 9606], Some(taxonomy()));
        assert!(!others.has(&[562]) && !others.has(&[562, 9606]));
        assert!(others.has(&[]) && others.has(&[562, 77]));
        let both = kept(&[2], &[562], Some(taxonomy()));
        assert!(both.has(&[561]) && !both.has(&[562]) && !both.has(&[9606]));
        assert!(kept(&[], &[], None).has(&[]));
    }

    #[test]
    fn without_a_taxonomy_it_stands_for_itself() {
        let bacteria = kept(&[2], &[], None);
        assert!(bacteria.is_literal() && bacteria.has(&[2]) && !bacteria.has(&[562]));
        let filter = TaxidFilter {
            only: vec![77],
            taxonomy: Some(taxonomy()),
            ..TaxidFilter::default()
        };
        let error = filter.among(&[]).unwrap_err().to_string();
        assert!(error.contains("taxid 77"), "{error}");
    }
}
