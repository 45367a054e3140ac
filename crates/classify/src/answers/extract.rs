//! Reads of a taxon, and those without one, into files of their own.

use std::ops::Range;

use gyrase_fastx::PairWriter;
use gyrase_files::OutputError;
use gyrase_seq::Batch;

use gyrase_taxonomy::{Taxon, Taxonomy};

/// Which reads a file takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// Those of a taxon and of all below it.
    Clade(Range<Taxon>),
    /// Those with a taxon.
    Classified,
    /// Those without.
    Unclassified,
}

impl Which {
    /// The reads of a taxon and of all below it.
    pub fn clade(taxonomy: &Taxonomy, taxon: Taxon) -> Which {
        Which::Clade(taxonomy.clade(taxon))
    }

    fn takes(&self, taxon: Option<Taxon>) -> bool {
        match (self, taxon) {
            (Which::Clade(clade), Some(taxon)) => clade.contains(&taxon),
            (Which::Classified, Some(_)) | (Which::Unclassified, None) => true,
            _ => false,
        }
    }
}

/// A file, or two for mates, and which reads go there.
#[derive(Debug)]
pub struct Extract {
    /// Which reads.
    pub which: Which,
    /// Where they go.
    pub to: PairWriter,
}

impl Extract {
    /// Writes those reads of a batch that belong here; `taxa` has the answer for each.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(crate) fn take(
        &mut self,
        batches: &[Batch; 2],
        taxa: &[Option<Taxon>],
    ) -> Result<(), OutputError> {
        let here = taxa
            .iter()
            .enumerate()
            .filter(|answer| self.which.takes(*answer.1));
        here.map(|answer| answer.0)
            .try_for_each(|read| self.to.write(batches, read))
    }
}
