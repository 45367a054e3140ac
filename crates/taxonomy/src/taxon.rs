//! A node of the tree: by its number in it, and as it is given.

/// A node by its place in a [`Taxonomy`](crate::Taxonomy), from 0, the root. It means nothing in
/// another taxonomy, and is no taxid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Taxon(pub u32);

/// The root of every taxonomy.
pub const ROOT: Taxon = Taxon(0);

/// No taxon: what is unclassified.
pub const NONE: Taxon = Taxon(u32::MAX);

impl Taxon {
    /// Where it stands in a list of all taxa.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The number that says in a file or a message which taxon it is, if any: [`NONE`] has one too.
    pub fn to_number(taxon: Option<Taxon>) -> u32 {
        taxon.unwrap_or(NONE).0
    }

    /// The taxon of such a number.
    pub fn from_number(number: u32) -> Option<Taxon> {
        Some(Taxon(number)).filter(|&taxon| taxon != NONE)
    }
}

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
