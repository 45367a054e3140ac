//! The tree itself, and what is asked of it.

use std::ops::Range;

use crate::ancestors::Ancestors;
use crate::bytes;
use crate::error::TaxonomyError;
use crate::rank::{self, Rank, RankCode, RankStyle};
use crate::taxon::{NONE, Node, ROOT, Taxon};
use crate::tree::{self, Parts, Sprouts};

/// What became of a taxid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolved {
    /// It is a node.
    Here(Taxon),
    /// It was merged into another, which is this node.
    Merged(Taxon),
    /// It was deleted without a successor.
    Deleted,
    /// The taxonomy never heard of it.
    Unknown,
}

impl Resolved {
    /// The node, if the taxid leads to one.
    pub fn taxon(self) -> Option<Taxon> {
        match self {
            Resolved::Here(taxon) | Resolved::Merged(taxon) => Some(taxon),
            Resolved::Deleted | Resolved::Unknown => None,
        }
    }
}

/// A tree of taxa. Memory: about 80 bytes for each node, and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taxonomy {
    pub(crate) parts: Parts,
    /// The first taxon after each one's clade.
    ends: Vec<Taxon>,
    /// Edges to the root.
    depths: Vec<u32>,
    /// Taxa in ascending order of taxid.
    by_taxid: Vec<Taxon>,
    /// For each taxon the nearest at each rank, itself or above it; [`NONE`] where there is none.
    lineages: Vec<[Taxon; Rank::ALL.len()]>,
    ancestors: Ancestors,
}

impl Taxonomy {
    /// The tree of these nodes, which may come in any order.
    ///
    /// # Errors
    /// The nodes are no tree: [`Flaw`] says why, with the place of the node in the order in which
    /// they came.
    pub fn new<'a>(nodes: impl IntoIterator<Item = Node<'a>>) -> Result<Taxonomy, TaxonomyError> {
        let mut sprouts = Sprouts::default();
        for node in nodes {
            sprouts.push(&node);
        }
        Ok(Taxonomy::from_parts(sprouts.grow()?))
    }

    /// Everything that follows from the nodes. The parts are a tree, in order.
    pub(crate) fn from_parts(parts: Parts) -> Taxonomy {
        let ends = tree::ends(&parts.parents);
        let mut depths = vec![0u32; parts.len()];
        let mut lineages = vec![[NONE; Rank::ALL.len()]; parts.len()];
        for (taxon, at) in parts.taxa().zip(0..) {
            let parent = parts.parents[at].index();
            depths[at] = if taxon == ROOT { 0 } else { depths[parent] + 1 };
            lineages[at] = lineages[parent];
            if let Some(rank) = Rank::of_node(parts.rank(taxon), parts.taxids[at]) {
                lineages[at][rank as usize] = taxon;
            }
        }
        let by_taxid = tree::by_taxid(&parts.taxids);
        let by_taxid = by_taxid.into_iter().map(Taxon).collect();
        let ancestors = Ancestors::new(&parts.parents, &ends);
        Taxonomy {
            parts,
            ends,
            depths,
            by_taxid,
            lineages,
            ancestors,
        }
    }

    /// How many nodes there are, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "there is always a root")]
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// All nodes, parents before children.
    pub fn taxa(&self) -> impl ExactSizeIterator<Item = Taxon> + Clone + use<> {
        self.parts.taxa()
    }

    /// True when the taxon is a node of this taxonomy, as [`NONE`] is not.
    pub fn has(&self, taxon: Taxon) -> bool {
        taxon.index() < self.len()
    }

    /// The node of a taxid, also of one that was merged into it.
    pub fn taxon_of(&self, taxid: u32) -> Option<Taxon> {
        self.resolve(taxid).taxon()
    }

    /// What became of a taxid.
    pub fn resolve(&self, taxid: u32) -> Resolved {
        let parts = &self.parts;
        if let Ok(at) = self
            .by_taxid
            .binary_search_by_key(&taxid, |&taxon| parts.taxids[taxon.index()])
        {
            return Resolved::Here(self.by_taxid[at]);
        }
        if let Ok(at) = parts.merged.binary_search_by_key(&taxid, |merged| merged.0) {
            return Resolved::Merged(parts.merged[at].1);
        }
        match parts.deleted.binary_search(&taxid) {
            Ok(_) => Resolved::Deleted,
            Err(_) => Resolved::Unknown,
        }
    }

    /// The number of a node in the world.
    ///
    /// # Panics
    /// Here and below when the taxonomy does not have the taxon.
    #[inline]
    pub fn taxid(&self, taxon: Taxon) -> u32 {
        self.parts.taxids[taxon.index()]
    }

    /// The scientific name.
    #[inline]
    pub fn name(&self, taxon: Taxon) -> &str {
        self.parts.names.get(taxon.0)
    }

    /// The node above; the root's is the root.
    #[inline]
    pub fn parent(&self, taxon: Taxon) -> Taxon {
        self.parts.parents[taxon.index()]
    }

    /// Edges to the root, which has 0.
    #[inline]
    pub fn depth(&self, taxon: Taxon) -> u32 {
        self.depths[taxon.index()]
    }

    /// The node and everything below it.
    #[inline]
    pub fn clade(&self, taxon: Taxon) -> Range<Taxon> {
        taxon..self.ends[taxon.index()]
    }

    /// The nodes right below, by ascending taxid.
    pub fn children(&self, taxon: Taxon) -> impl Iterator<Item = Taxon> + '_ {
        let clade = self.clade(taxon);
        let within = move |child: Taxon| (child < clade.end).then_some(child);
        std::iter::successors(within(Taxon(taxon.0 + 1)), move |&child| {
            within(self.ends[child.index()])
        })
    }

    /// The node, its parent and so on; the root comes last.
    pub fn path(&self, taxon: Taxon) -> impl Iterator<Item = Taxon> + '_ {
        std::iter::successors(Some(taxon), |&below| {
            (below != ROOT).then(|| self.parent(below))
        })
    }

    /// True when `upper` is `lower` or above it.
    #[inline]
    pub fn is_above(&self, upper: Taxon, lower: Taxon) -> bool {
        self.clade(upper).contains(&lower)
    }

    /// The lowest node that is both `a` or above it, and `b` or above it. Constant time.
    #[inline]
    pub fn lca(&self, a: Taxon, b: Taxon) -> Taxon {
        self.ancestors.lca(a, b)
    }

    /// The rank of the node, if it is one of the eight.
    #[inline]
    pub fn rank(&self, taxon: Taxon) -> Option<Rank> {
        let lineage = &self.lineages[taxon.index()];
        Rank::ALL
            .into_iter()
            .find(|&rank| lineage[rank as usize] == taxon)
    }

    /// The rank of the node as its source has it, such as "subspecies" or "no rank".
    pub fn rank_name(&self, taxon: Taxon) -> &str {
        self.parts.rank(taxon)
    }

    /// The nearest node of that rank, the taxon itself or above it. Constant time.
    #[inline]
    pub fn ancestor_at(&self, taxon: Taxon, rank: Rank) -> Option<Taxon> {
        let found = self.lineages[taxon.index()][rank as usize];
        (found != NONE).then_some(found)
    }

    /// The rank in Kraken's letters, in the style that the tools that read reports expect:
    /// [`RankStyle::Kraken`].
    pub fn rank_code(&self, taxon: Taxon) -> RankCode {
        self.rank_code_in(taxon, RankStyle::Kraken)
    }

    /// The rank in Kraken's letters: that of the nearest node with a letter, and how far below it
    /// the taxon is.
    pub fn rank_code_in(&self, taxon: Taxon, style: RankStyle) -> RankCode {
        let letters = self.path(taxon).map(|above| self.letter(above, style));
        let found = letters.zip(0..).find_map(|(letter, number)| {
            Some(RankCode {
                letter: letter?,
                number,
            })
        });
        found.expect("the path ends at the root, which has a letter")
    }

    fn letter(&self, taxon: Taxon, style: RankStyle) -> Option<char> {
        match style {
            _ if taxon == ROOT => Some('R'),
            RankStyle::Kraken => self.rank(taxon).map(Rank::letter),
            RankStyle::Ncbi2025 => rank::letter_by_name(self.rank_name(taxon)),
        }
    }

    /// Only the given taxa and what is above them, numbered anew in the same order, with the taxids
    /// that were merged into them. Deleted taxids are left out. Taxa of the result are found by
    /// [`Taxonomy::taxon_of`].
    pub fn subset(&self, taxa: impl IntoIterator<Item = Taxon>) -> Taxonomy {
        let mut kept = vec![false; self.len()];
        kept[ROOT.index()] = true;
        for taxon in taxa {
            let new = self
                .path(taxon)
                .take_while(|&above| !kept[above.index()])
                .collect::<Vec<_>>();
            new.into_iter().for_each(|above| kept[above.index()] = true);
        }
        Taxonomy::from_parts(self.parts.keep(&kept))
    }

    /// The taxonomy in bytes, as `docs/formats.md` describes them. Equal taxonomies give equal
    /// bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        bytes::encode(&self.parts)
    }

    /// Reads what [`Taxonomy::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`TaxonomyError::Version`] or [`TaxonomyError::Corrupt`] for any other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Taxonomy, TaxonomyError> {
        Ok(Taxonomy::from_parts(bytes::decode(bytes)?))
    }
}
