//! What a taxonomy is read from says: the tree, and which sequences have which taxid.

use crate::map::TaxonMap;
use crate::taxonomy::Taxonomy;

/// A taxonomy, and the sequences or files that its source says the taxids of.
#[derive(Clone, Debug)]
pub struct TaxonomySource {
    /// The tree.
    pub taxonomy: Taxonomy,
    /// What a table has in its first column; empty for dumps.
    pub map: TaxonMap,
}
