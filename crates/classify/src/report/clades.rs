//! The part of the taxonomy that a sample reaches, with the reads of every clade.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::tally::{Evidence, EvidenceNumbers, Tally};
use gyrase_taxonomy::{ROOT, Taxon, Taxonomy};

/// A taxon with everything below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clade {
    /// The taxon at the top of the clade.
    pub taxon: Taxon,
    /// Steps from the root, which has 0.
    pub depth: usize,
    /// Reads of the taxon and of all taxa below it.
    pub reads: u64,
    /// Reads of the taxon itself.
    pub direct: u64,
}

/// All clades with reads, or all of a taxonomy: parents before children, siblings by reads
/// descending, then by taxid.
#[derive(Clone, Debug)]
pub struct Clades(Vec<Clade>);

impl Clades {
    /// The clades of `tally` that have reads; with `zeros` every clade of the taxonomy. The root is
    /// always there.
    pub fn new(taxonomy: &Taxonomy, tally: &Tally, zeros: bool) -> Clades {
        let mut reads = sums(taxonomy, tally);
        reads.entry(ROOT).or_default();
        if zeros {
            taxonomy
                .taxa()
                .for_each(|taxon| *reads.entry(taxon).or_default() += 0);
        }
        let mut below: BTreeMap<Taxon, Vec<Taxon>> = BTreeMap::new();
        for &taxon in reads.keys().filter(|&&taxon| taxon != ROOT) {
            below.entry(taxonomy.parent(taxon)).or_default().push(taxon);
        }
        for children in below.values_mut() {
            // The first is taken last from the stack of `walk`.
            children.sort_by_key(|child| (reads[child], Reverse(taxonomy.taxid(*child))));
        }
        Clades(walk(tally, &reads, &below))
    }

    /// The clades in order.
    pub fn iter(&self) -> impl Iterator<Item = Clade> + '_ {
        self.0.iter().copied()
    }

    /// The evidence of every clade: that of its taxon and of all taxa below, also of those without
    /// reads of their own.
    pub(super) fn evidence(&self, taxonomy: &Taxonomy, tally: &Tally) -> Vec<EvidenceNumbers> {
        let places: BTreeMap<Taxon, usize> = self
            .iter()
            .enumerate()
            .map(|(place, clade)| (clade.taxon, place))
            .collect();
        let mut evidence = vec![Evidence::default(); self.0.len()];
        for (taxon, of_taxon) in tally.witnessed() {
            let listed = taxonomy.path(taxon).find_map(|above| places.get(&above));
            evidence[*listed.expect("the root is listed")].add_below(of_taxon);
        }
        let mut numbers = vec![EvidenceNumbers::default(); self.0.len()];
        for (child, parent) in self.parents().into_iter().enumerate().rev() {
            // Nobody needs it any more: only those that are open are held, however deep a lineage.
            let whole = std::mem::take(&mut evidence[child]);
            numbers[child] = whole.numbers();
            if let Some(parent) = parent {
                evidence[parent].add_below(&whole);
            }
        }
        numbers
    }

    /// For every clade the place of the one that it hangs from; nothing for the root.
    pub(super) fn parents(&self) -> Vec<Option<usize>> {
        let mut path = Vec::new();
        let parents = self.0.iter().enumerate().map(|(place, clade)| {
            path.truncate(clade.depth);
            let parent = path.last().copied();
            path.push(place);
            parent
        });
        parents.collect()
    }
}

/// Reads of every clade with reads.
fn sums(taxonomy: &Taxonomy, tally: &Tally) -> BTreeMap<Taxon, u64> {
    let mut sums = BTreeMap::new();
    for (taxon, reads) in tally.taxa() {
        taxonomy
            .path(taxon)
            .for_each(|above| *sums.entry(above).or_default() += reads);
    }
    sums
}

/// Everything from the root down, the last child of each taxon first.
fn walk(
    tally: &Tally,
    reads: &BTreeMap<Taxon, u64>,
    below: &BTreeMap<Taxon, Vec<Taxon>>,
) -> Vec<Clade> {
    let mut clades = Vec::with_capacity(reads.len());
    let mut stack = vec![(ROOT, 0)];
    while let Some((taxon, depth)) = stack.pop() {
        clades.push(Clade {
            taxon,
            depth,
            reads: reads[&taxon],
            direct: tally.reads(taxon),
        });
        let children = below.get(&taxon).into_iter().flatten();
        stack.extend(children.map(|&child| (child, depth + 1)));
    }
    clades
}
