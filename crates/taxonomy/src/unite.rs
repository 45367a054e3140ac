//! Uniting taxonomies that tell of one tree, each of another part of it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::error::Flaw;
use crate::rank::Rank;
use crate::taxon::{Node, Taxon};
use crate::taxonomy::Taxonomy;
use crate::tree::Sprouts;

/// Why taxonomies are not parts of one tree. They are told apart by their places in the order in
/// which they were given, from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Disunity {
    /// Two of them say different things of one taxid, or have one domain under different taxids.
    #[error("{of} is {here} in one taxonomy and {there} in another")]
    Contradiction {
        /// The taxid or the domain.
        of: String,
        /// The place of the taxonomy that knew of it first.
        first: usize,
        /// What that one says of it.
        here: String,
        /// The place of the one that contradicts.
        second: usize,
        /// What that one says of it.
        there: String,
    },
    /// Together they are no tree that can be numbered.
    #[error(transparent)]
    Flaw(#[from] Flaw),
}

/// The domains that every tree of life has under these names.
const DOMAINS: [&str; 4] = ["Bacteria", "Archaea", "Eukaryota", "Viruses"];

/// What a taxonomy says of a taxid.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Saying<'a> {
    Node(Node<'a>),
    MergedInto(u32),
}

impl Saying<'_> {
    fn in_words(self) -> String {
        match self {
            Saying::Node(Node {
                parent, rank, name, ..
            }) => format!("{name:?} ({rank}, below {parent})"),
            Saying::MergedInto(taxid) => format!("merged into {taxid}"),
        }
    }
}

impl Taxonomy {
    /// The tree that all of these are parts of. The order changes nothing but which contradiction
    /// is found first; deleted taxids are left out, as [`Taxonomy::subset`] does. Parts of one
    /// taxonomy give its subset of all their taxa.
    ///
    /// # Errors
    /// When two of them have another parent, rank or name for one taxid, another taxid that it was
    /// merged into, or another taxid for a domain: these are trees of other makers, in which
    /// nothing would be found to be the same.
    pub fn unite<'a>(parts: impl IntoIterator<Item = &'a Taxonomy>) -> Result<Taxonomy, Disunity> {
        let (mut known, mut domains) = (BTreeMap::new(), BTreeMap::new());
        for (place, part) in parts.into_iter().enumerate() {
            part.sayings()
                .try_for_each(|(taxid, saying)| note(&mut known, taxid, place, saying))?;
            part.domains()
                .try_for_each(|(name, taxid)| note_domain(&mut domains, name, place, taxid))?;
        }
        let mut sprouts = Sprouts::default();
        let mut merged = Vec::new();
        for (&taxid, &(_, saying)) in &known {
            match saying {
                Saying::Node(node) => sprouts.push(&node),
                Saying::MergedInto(into) => merged.push((taxid, into)),
            }
        }
        let mut whole = Taxonomy::from_parts(sprouts.grow()?);
        let node_of = |&(taxid, into): &(u32, u32)| Some((taxid, whole.taxon_of(into)?));
        whole.parts.merged = merged.iter().filter_map(node_of).collect();
        Ok(whole)
    }

    fn domains(&self) -> impl Iterator<Item = (&str, u32)> {
        let domains = self
            .taxa()
            .filter(|&taxon| self.rank(taxon) == Some(Rank::Domain));
        let named = domains.map(|taxon| (self.name(taxon), self.taxid(taxon)));
        named.filter(|(name, _)| DOMAINS.contains(name))
    }

    fn sayings(&self) -> impl Iterator<Item = (u32, Saying<'_>)> {
        let node = |taxon: Taxon| Node {
            taxid: self.taxid(taxon),
            parent: self.taxid(self.parent(taxon)),
            rank: self.rank_name(taxon),
            name: self.name(taxon),
        };
        let nodes = self
            .taxa()
            .map(move |taxon| (self.taxid(taxon), Saying::Node(node(taxon))));
        let merged = self
            .parts
            .merged
            .iter()
            .map(|&(taxid, into)| (taxid, Saying::MergedInto(self.taxid(into))));
        nodes.chain(merged)
    }
}

/// Notes the taxid that the taxonomy at `place` has for a domain, with the place of the first that
/// has it.
fn note_domain<'a>(
    known: &mut BTreeMap<&'a str, (usize, u32)>,
    name: &'a str,
    place: usize,
    taxid: u32,
) -> Result<(), Disunity> {
    let &mut (first, before) = known.entry(name).or_insert((place, taxid));
    if before == taxid || first == place {
        return Ok(());
    }
    let [here, there] = [before, taxid].map(|taxid| format!("taxid {taxid}"));
    Err(Disunity::Contradiction {
        of: format!("the domain {name:?}"),
        first,
        here,
        second: place,
        there,
    })
}

/// Notes what the taxonomy at `place` says of a taxid, with the place of the first that says so.
fn note<'a>(
    known: &mut BTreeMap<u32, (usize, Saying<'a>)>,
    taxid: u32,
    place: usize,
    saying: Saying<'a>,
) -> Result<(), Disunity> {
    match known.entry(taxid) {
        Entry::Vacant(free) => {
            free.insert((place, saying));
        }
        Entry::Occupied(taken) if taken.get().1 != saying => {
            let (first, before) = *taken.get();
            let (here, there) = (before.in_words(), saying.in_words());
            let of = format!("taxid {taxid}");
            return Err(Disunity::Contradiction {
                of,
                first,
                here,
                second: place,
                there,
            });
        }
        Entry::Occupied(_) => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::taxon::ROOT;
    use crate::tests::{arbitrary, small};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_in_any_order_give_the_subset_of_all_their_taxa(
            whole in arbitrary(60),
            picks in proptest::collection::vec((0..4usize, any::<prop::sample::Index>()), 0..20),
        ) {
            let taxa = |wanted: Option<usize>| {
                let all = whole.len();
                let picked = picks
                    .iter()
                    .filter(move |pick| wanted.is_none_or(|part| part == pick.0));
                picked.map(move |pick| Taxon(pick.1.index(all) as u32))
            };
            let parts: Vec<Taxonomy> = (0..4).map(|part| whole.subset(taxa(Some(part)))).collect();
            let expected = whole.subset(taxa(None));
            prop_assert_eq!(Taxonomy::unite(&parts).unwrap().to_bytes(), expected.to_bytes());
            prop_assert_eq!(
                Taxonomy::unite(parts.iter().rev()).unwrap().to_bytes(),
                expected.to_bytes()
            );
        }
    }

    #[test]
    fn merged_taxids_stay() {
        let whole = small();
        let coli = whole.taxon_of(562).unwrap();
        let virus = whole.taxon_of(2_732_396).unwrap();
        let united = Taxonomy::unite([&whole.subset([coli]), &whole.subset([virus])]).unwrap();
        assert_eq!(united.to_bytes(), whole.subset([coli, virus]).to_bytes());
        assert!(
            united.taxon_of(9).is_some()
                && united.taxon_of(9) == united.taxon_of(whole.taxid(Taxon(3)))
        );
        assert_eq!(Taxonomy::unite([]), Err(Disunity::Flaw(Flaw::NoRoot)));
    }

    #[test]
    fn contradictions_are_named() {
        let root = Node {
            taxid: 1,
            parent: 1,
            rank: "no rank",
            name: "root",
        };
        let genus = Node {
            taxid: 561,
            parent: 1,
            rank: "genus",
            name: "Escherichia",
        };
        let first = Taxonomy::new([root, genus]).unwrap();
        for (other, words) in [
            (
                Node {
                    name: "Shigella",
                    ..genus
                },
                r#""Shigella" (genus, below 1)"#,
            ),
            (
                Node {
                    rank: "species",
                    ..genus
                },
                r#""Escherichia" (species, below 1)"#,
            ),
            (
                Node { parent: 2, ..genus },
                r#""Escherichia" (genus, below 2)"#,
            ),
        ] {
            let second = Taxonomy::new([
                root,
                other,
                Node {
                    taxid: 2,
                    parent: 1,
                    ..genus
                },
            ])
            .unwrap();
            let said = Taxonomy::unite([&first, &first, &second]).unwrap_err();
            assert!(
                matches!(&said, Disunity::Contradiction { of, first: 0, second: 2, .. } if of == "taxid 561"),
                "{said:?}"
            );
            let here = r#"taxid 561 is "Escherichia" (genus, below 1) in one taxonomy and "#;
            assert_eq!(said.to_string(), format!("{here}{words} in another"));
        }
        let mut merged = Taxonomy::new([root]).unwrap();
        merged.parts.merged = vec![(561, ROOT)];
        let said = Taxonomy::unite([&first, &merged]).unwrap_err().to_string();
        assert!(said.ends_with("and merged into 1 in another"), "{said}");
    }

    #[test]
    fn trees_of_other_makers_are_told_apart_by_their_domains() {
        let root = Node {
            taxid: 1,
            parent: 1,
            rank: "no rank",
            name: "root",
        };
        let domain = |taxid, name| Node {
            taxid,
            parent: 1,
            rank: "domain",
            name,
        };
        let tree = |taxid, name| Taxonomy::new([root, domain(taxid, name)]).unwrap();
        let (ours, theirs) = (tree(2, "Bacteria"), tree(900, "Bacteria"));
        let said = Taxonomy::unite([&tree(3, "Archaea"), &ours, &theirs]).unwrap_err();
        assert_eq!(
            said.to_string(),
            "the domain \"Bacteria\" is taxid 2 in one taxonomy and taxid 900 in another"
        );
        assert!(Taxonomy::unite([&ours, &tree(3, "Archaea"), &ours]).is_ok());
    }
}
