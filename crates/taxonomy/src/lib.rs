//! The tree of life as a database needs it: who is above whom, at what rank, under what name.
//!
//! # The idea
//!
//! A node is a [`Taxon`]: its place in the tree when that is walked from the root, parents before
//! children and siblings by ascending taxid. This one numbering gives most of what is asked. The
//! root is 0, a parent is always smaller than its children, a clade is a range of numbers
//! ([`Taxonomy::clade`]), and the same nodes get the same numbers whatever the order of lines in
//! the files that they come from. A *taxid* is the node's number in the world: NCBI's, or made up.
//!
//! ```text
//!                 root                      taxon   0    1     2     3     4     5
//!               /      \                    name   root  Bact. Prot. Esch. Firm. Vir.
//!         Bacteria    Viruses               parent  0    0     1     2     1     0
//!         /      \                          clade  0..6  1..5  2..4  3..4  4..5  5..6
//!   Proteob.   Firmicutes
//!      |
//!  Escherichia
//! ```
//!
//! The lowest common ancestor takes constant time (the module `ancestors`), an ancestor at a rank
//! is stored with each node. Ranks are NCBI's names, kept as they are; eight of them are a
//! [`Rank`].
//!
//! [`read`] takes a taxonomy from dumps and tables and names what is wrong with them; [`TaxonMap`]
//! says which taxid a reference has. A database carries the taxa that lead to its references
//! ([`Taxonomy::subset`], [`Taxonomy::to_bytes`]).
//!
//! # Example
//!
//! ```
//! use gyrase_taxonomy::{Node, Rank, Taxonomy};
//!
//! let node = |taxid, parent, rank, name| Node { taxid, parent, rank, name };
//! let taxonomy = Taxonomy::new([
//!     node(1, 1, "no rank", "root"),
//!     node(2, 1, "domain", "Bacteria"),
//!     node(562, 561, "species", "Escherichia coli"),
//!     node(561, 2, "genus", "Escherichia"),
//!     node(564, 561, "species", "Escherichia fergusonii"),
//! ])?;
//! let coli = taxonomy.taxon_of(562).expect("given above");
//! let fergusonii = taxonomy.taxon_of(564).expect("given above");
//! let genus = taxonomy.lca(coli, fergusonii);
//! assert_eq!(taxonomy.name(genus), "Escherichia");
//! assert_eq!(taxonomy.ancestor_at(coli, Rank::Genus), Some(genus));
//! assert_eq!(taxonomy.rank_code(genus).to_string(), "G");
//! # Ok::<(), gyrase_taxonomy::TaxonomyError>(())
//! ```

mod ancestors;
mod assemblies;
mod bytes;
mod dump;
mod error;
mod lines;
mod map;
mod rank;
mod read;
mod source;
mod table;
mod taxon;
mod taxonomy;
mod tree;
mod unite;

pub use assemblies::{Assembly, AssemblyLevel, RefseqCategory, read_assemblies};
pub use error::{Flaw, TaxonomyError};
pub use map::{Assigned, ShortLines, TaxonMap, taxid_in};
pub use rank::{Rank, RankCode, RankStyle};
pub use read::{files, read};
pub use source::TaxonomySource;
pub use taxon::{NONE, Node, ROOT, Taxon};
pub use taxonomy::{Resolved, Taxonomy};
pub use unite::Disunity;

#[cfg(test)]
mod tests;
