//! The tree against naive walks.

use super::*;
use proptest::prelude::*;

/// A few nodes of NCBI's taxonomy as of 2025, out of order.
pub(crate) const NCBI_2025: [(u32, u32, &str, &str); 14] = [
    (1, 1, "no rank", "root"),
    (131567, 1, "cellular root", "cellular organisms"),
    (562, 561, "species", "Escherichia coli"),
    (
        511145,
        83333,
        "no rank",
        "Escherichia coli str. K-12 substr. MG1655",
    ),
    (83333, 562, "strain", "Escherichia coli K-12"),
    (561, 543, "genus", "Escherichia"),
    (543, 1224, "family", "Enterobacteriaceae"),
    (1224, 3379134, "phylum", "Pseudomonadota"),
    (3379134, 2, "kingdom", "Pseudomonadati"),
    (2, 131567, "domain", "Bacteria"),
    (564, 561, "species", "Escherichia fergusonii"),
    (10239, 1, "acellular root", "Viruses"),
    (2559587, 10239, "realm", "Riboviria"),
    (2732396, 2559587, "kingdom", "Orthornavirae"),
];

fn tree(nodes: &[(u32, u32, &str, &str)]) -> Result<Taxonomy, TaxonomyError> {
    Taxonomy::new(nodes.iter().map(|&(taxid, parent, rank, name)| Node {
        taxid,
        parent,
        rank,
        name,
    }))
}

pub(crate) fn small() -> Taxonomy {
    let mut taxonomy = tree(&NCBI_2025).expect("a tree");
    taxonomy.parts.merged = vec![(9, Taxon(3)), (600, Taxon(2))];
    taxonomy.parts.deleted = vec![3, 4_000_000];
    taxonomy
}

/// Any tree of up to so many nodes: deep, broad, with any names, ranks and order of taxids.
pub(crate) fn arbitrary(most: usize) -> impl Strategy<Value = Taxonomy> {
    let node = (
        any::<prop::sample::Index>(),
        2..5000u32,
        0..12usize,
        ".{0,6}",
        0..4u8,
    );
    proptest::collection::vec(node, 0..most).prop_map(|nodes| {
        let mut taxids = vec![1u32];
        let ranks = [
            "species", "genus", "phylum", "domain", "clade", "", "no rank", "strain",
        ];
        let mut all = vec![(1, 1, "no rank".to_owned(), "root".to_owned())];
        for (parent, taxid, rank, name, far) in nodes {
            if !taxids.contains(&taxid) {
                // A chain grows where the parent is the node before.
                let parent = if far == 0 {
                    taxids[parent.index(taxids.len())]
                } else {
                    taxids[taxids.len() - 1]
                };
                all.push((taxid, parent, ranks[rank % ranks.len()].to_owned(), name));
                taxids.push(taxid);
            }
        }
        all.reverse();
        let nodes = all.iter().map(|(taxid, parent, rank, name)| Node {
            taxid: *taxid,
            parent: *parent,
            rank,
            name,
        });
        Taxonomy::new(nodes).expect("every parent came before its child")
    })
}

fn naive_lca(taxonomy: &Taxonomy, a: Taxon, b: Taxon) -> Taxon {
    let above: Vec<Taxon> = taxonomy.path(a).collect();
    taxonomy
        .path(b)
        .find(|taxon| above.contains(taxon))
        .expect("the root is above both")
}

fn code(taxonomy: &Taxonomy, taxid: u32, style: RankStyle) -> String {
    taxonomy
        .rank_code_in(taxonomy.taxon_of(taxid).expect("a node"), style)
        .to_string()
}

#[test]
fn ranks_become_krakens_letters() {
    let taxonomy = small();
    let expected = [
        (1, "R", "R"),
        (131567, "R1", "R1"),
        (2, "D", "R2"),
        (3379134, "K", "K"),
        (1224, "P", "P"),
        (562, "S", "S"),
    ];
    let more = [
        (83333, "S1", "S1"),
        (511145, "S2", "S2"),
        (10239, "D", "R1"),
        (2559587, "D1", "R2"),
        (2732396, "K", "K"),
    ];
    for (taxid, kraken, raw) in expected.into_iter().chain(more) {
        assert_eq!(code(&taxonomy, taxid, RankStyle::Kraken), kraken, "{taxid}");
        assert_eq!(code(&taxonomy, taxid, RankStyle::Ncbi2025), raw, "{taxid}");
    }
}

/// Before and after 2025 the codes are equal, whatever the rank of the four is called.
#[test]
fn domains_are_known_by_taxid() {
    for rank in ["superkingdom", "domain", "acellular root", ""] {
        let taxonomy = tree(&[
            (1, 1, "", "root"),
            (10239, 1, rank, "Viruses"),
            (5, 10239, "clade", "x"),
        ])
        .expect("a tree");
        assert_eq!(code(&taxonomy, 10239, RankStyle::Kraken), "D", "{rank}");
        assert_eq!(code(&taxonomy, 5, RankStyle::Kraken), "D1", "{rank}");
        let raw = if rank == "superkingdom" { "D" } else { "R1" };
        assert_eq!(code(&taxonomy, 10239, RankStyle::Ncbi2025), raw, "{rank}");
    }
}

#[test]
fn nodes_are_found_and_described() {
    let taxonomy = small();
    let coli = taxonomy.taxon_of(562).expect("a node");
    assert_eq!(
        (taxonomy.taxid(coli), taxonomy.name(coli)),
        (562, "Escherichia coli")
    );
    assert_eq!(
        (taxonomy.rank(coli), taxonomy.rank_name(coli)),
        (Some(Rank::Species), "species")
    );
    let children: Vec<u32> = taxonomy
        .children(taxonomy.parent(coli))
        .map(|child| taxonomy.taxid(child))
        .collect();
    assert_eq!(children, [562, 564]);
    let domain = taxonomy.ancestor_at(coli, Rank::Domain).expect("Bacteria");
    assert_eq!(
        (taxonomy.name(domain), taxonomy.rank_name(domain)),
        ("Bacteria", "domain")
    );
    assert_eq!(taxonomy.ancestor_at(coli, Rank::Class), None);
    assert_eq!(taxonomy.ancestor_at(domain, Rank::Species), None);
    assert_eq!(taxonomy.resolve(562), Resolved::Here(coli));
    assert_eq!(taxonomy.resolve(600), Resolved::Merged(Taxon(2)));
    assert_eq!(taxonomy.resolve(4_000_000), Resolved::Deleted);
    assert_eq!(taxonomy.resolve(5), Resolved::Unknown);
    assert_eq!(taxonomy.taxon_of(0), None);
}

#[test]
fn a_subset_has_what_is_above_and_no_more() {
    let taxonomy = small();
    let taxa = [562, 10239].map(|taxid| taxonomy.taxon_of(taxid).expect("a node"));
    let subset = taxonomy.subset(taxa);
    let taxids: Vec<u32> = subset.taxa().map(|taxon| subset.taxid(taxon)).collect();
    assert_eq!(taxids, [1, 10239, 131567, 2, 3379134, 1224, 543, 561, 562]);
    assert_eq!(
        subset.taxon_of(9),
        None,
        "merged into a node that was left out"
    );
    assert_eq!(subset.resolve(4_000_000), Resolved::Unknown);
    assert_eq!(subset, taxonomy.subset(taxa.into_iter().rev()));
    assert_eq!(taxonomy.subset([]).len(), 1);
}

#[test]
fn flaws_are_named() {
    let flaw = |nodes: &[(u32, u32, &str, &str)]| match tree(nodes) {
        Err(TaxonomyError::Flaw(flaw)) => flaw,
        other => panic!("{other:?}"),
    };
    let root = (1, 1, "", "root");
    assert_eq!(flaw(&[]), Flaw::NoRoot);
    assert_eq!(flaw(&[(2, 2, "", "a")]), Flaw::NoRoot);
    assert_eq!(flaw(&[(1, 2, "", "a"), (2, 1, "", "b")]), Flaw::NoRoot);
    assert_eq!(
        flaw(&[root, (7, 1, "", "a"), (7, 1, "", "b")]),
        Flaw::Twice {
            taxid: 7,
            first: 1,
            second: 2
        }
    );
    assert_eq!(
        flaw(&[root, (7, 6, "", "a")]),
        Flaw::NoParent {
            taxid: 7,
            parent: 6,
            place: 1
        }
    );
    assert_eq!(flaw(&[root, (0, 1, "", "a")]), Flaw::Zero { place: 1 });
    assert_eq!(
        flaw(&[root, (5, 5, "", "a")]),
        Flaw::Cycle { taxid: 5, place: 1 }
    );
    let circle = [(3, 8, "", "below"), root, (9, 8, "", "a"), (8, 9, "", "b")];
    assert_eq!(flaw(&circle), Flaw::Cycle { taxid: 8, place: 3 });
}

#[test]
fn a_chain_is_no_deeper_than_memory() {
    let nodes = (1..=300_000u32).map(|taxid| Node {
        taxid,
        parent: (taxid - 1).max(1),
        rank: "",
        name: "",
    });
    let taxonomy = Taxonomy::new(nodes).expect("a chain");
    assert_eq!(taxonomy.lca(Taxon(299_999), Taxon(12)), Taxon(12));
    assert_eq!(taxonomy.depth(Taxon(299_999)), 299_999);
}

proptest! {
    #[test]
    fn common_ancestors_are_those_of_a_walk(taxonomy in arbitrary(80)) {
        for a in taxonomy.taxa() {
            for b in taxonomy.taxa() {
                prop_assert_eq!(taxonomy.lca(a, b), naive_lca(&taxonomy, a, b), "{:?} {:?}", a, b);
                prop_assert_eq!(taxonomy.is_above(a, b), taxonomy.path(b).any(|above| above == a));
            }
        }
    }

    #[test]
    fn places_follow_from_parents(taxonomy in arbitrary(80)) {
        for taxon in taxonomy.taxa() {
            let children: Vec<Taxon> = taxonomy
                .taxa()
                .filter(|&t| t != ROOT && taxonomy.parent(t) == taxon)
                .collect();
            prop_assert_eq!(taxonomy.children(taxon).collect::<Vec<_>>(), children);
            prop_assert_eq!(taxonomy.depth(taxon) as usize + 1, taxonomy.path(taxon).count());
            prop_assert_eq!(taxonomy.taxon_of(taxonomy.taxid(taxon)), Some(taxon));
            for rank in Rank::ALL {
                let nearest = taxonomy
                    .path(taxon)
                    .find(|&above| taxonomy.rank(above) == Some(rank));
                prop_assert_eq!(taxonomy.ancestor_at(taxon, rank), nearest);
            }
        }
    }

    #[test]
    fn a_subset_keeps_every_relation(
        taxonomy in arbitrary(60),
        chosen in proptest::collection::vec(any::<prop::sample::Index>(), 0..9),
    ) {
        let chosen: Vec<Taxon> = chosen
            .iter()
            .map(|index| Taxon(index.index(taxonomy.len()) as u32))
            .collect();
        let subset = taxonomy.subset(chosen.iter().copied());
        let wanted = taxonomy
            .taxa()
            .filter(|&t| t == ROOT || chosen.iter().any(|&c| taxonomy.is_above(t, c)));
        let wanted: Vec<u32> = wanted.map(|taxon| taxonomy.taxid(taxon)).collect();
        prop_assert_eq!(subset.taxa().map(|taxon| subset.taxid(taxon)).collect::<Vec<_>>(), wanted);
        for taxon in subset.taxa() {
            let old = taxonomy.taxon_of(subset.taxid(taxon)).expect("it is a subset");
            prop_assert_eq!(
                subset.taxid(subset.parent(taxon)),
                taxonomy.taxid(taxonomy.parent(old))
            );
            prop_assert_eq!(
                (subset.name(taxon), subset.rank_name(taxon)),
                (taxonomy.name(old), taxonomy.rank_name(old))
            );
        }
    }
}
