//! A node of the tree: by its number in it, and as it is given.

/// A node by its place in a [`Taxonomy`](crate::Taxonomy), from 0, the root.
pub type Taxon = u32;

/// The root of every taxonomy.
pub const ROOT: Taxon = 0;

/// No taxon: what is unclassified.
pub const NONE: Taxon = u32::MAX;

/// A node as [`Taxonomy::new`](crate::Taxonomy::new) takes it. The root is the node 1, which is
/// its own parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node<'a> {
    /// Its number in the world, at least 1.
    pub taxid: u32,
    /// The taxid of its parent.
    pub parent: u32,
    /// Its rank as NCBI writes it; an empty one is "no rank".
    pub rank: &'a str,
    /// Its scientific name.
    pub name: &'a str,
}
