//! Abundances: by hand on a small tree, and against the rule written as a recursion on random ones.
#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

use crate::sample::{READS, text};
use gyrase_classify::abundance::{self, Abundance, TaxonEstimate};
use gyrase_classify::tally::Tally;
use gyrase_taxonomy::{Node, ROOT, Rank, Taxon, Taxonomy};
use proptest::prelude::*;

fn taxids(taxonomy: &Taxonomy, estimates: &[TaxonEstimate]) -> Vec<(u32, u64, u64)> {
    let row = |estimate: &TaxonEstimate| {
        (
            taxonomy.taxid(estimate.taxon),
            estimate.assigned,
            estimate.reads,
        )
    };
    estimates.iter().map(row).collect()
}

#[test]
fn reads_are_handed_down_by_the_weights_of_sub_trees() {
    let taxonomy = crate::sample::taxonomy();
    let tally = crate::sample::tally(&taxonomy, &READS);
    let species = Abundance::new(&taxonomy, &tally, Rank::Species);
    assert_eq!(
        taxids(&taxonomy, &species.taxa),
        [(562, 14, 18), (564, 5, 6), (1313, 4, 6), (11000, 2, 2)]
    );
    assert!(species.above.is_empty());
    // The root's read goes 29 : 2, the 2 + 29/31 of Bacteria 22 : 5, the 5.39 of Escherichia 14 :
    // 5.
    let shares = [17.972961, 6.418915, 5.543608, 2.064516];
    for (estimate, share) in species.taxa.iter().zip(shares) {
        assert!((estimate.share - share).abs() < 1e-6, "{estimate:?}");
        assert!(
            (estimate.fraction - share / 32.0).abs() < 1e-7,
            "{estimate:?}"
        );
    }
    assert_eq!((species.classified, species.unclassified), (32, 8));
}

#[test]
fn a_lineage_without_the_rank_keeps_a_stand_in() {
    let taxonomy = crate::sample::taxonomy();
    let tally = crate::sample::tally(&taxonomy, &READS);
    let genera = Abundance::new(&taxonomy, &tally, Rank::Genus);
    assert_eq!(
        taxids(&taxonomy, &genera.taxa),
        [(561, 22, 24), (1301, 4, 6), (11000, 2, 2)]
    );
    let domains = Abundance::new(&taxonomy, &tally, Rank::Domain);
    assert_eq!(
        taxids(&taxonomy, &domains.taxa),
        [(2, 29, 30), (10239, 2, 2)]
    );
}

#[test]
fn reads_with_nothing_below_stay() {
    let taxonomy = crate::sample::taxonomy();
    let tally = crate::sample::tally(&taxonomy, &[(2, 6), (1239, 1), (562, 2), (0, 1)]);
    let species = Abundance::new(&taxonomy, &tally, Rank::Species);
    assert_eq!(taxids(&taxonomy, &species.taxa), [(562, 2, 6)]);
    assert_eq!(taxids(&taxonomy, &species.above), [(1239, 1, 3)]);
}

#[test]
fn the_table_has_every_read() {
    let taxonomy = crate::sample::taxonomy();
    let tally = crate::sample::tally(&taxonomy, &[(2, 6), (1239, 1), (562, 2), (0, 1)]);
    let mut species = Abundance::new(&taxonomy, &tally, Rank::Species);
    let header = "taxonomy_id\tname\trank\tassigned_reads\testimated_reads\tfraction_classified\tfraction_total\tgenome_length\tfraction_genomes\n";
    let expected = [
        "562\tEscherichia coli\tspecies\t2\t6\t0.666667\t0.600000\t\t\n",
        "1239\tBacillota\tphylum\t1\t3\t0.333333\t0.300000\t\t\n",
        "0\tunclassified\tno rank\t1\t1\t\t0.100000\t\t\n",
    ];
    assert_eq!(
        text(|out| abundance::table(&taxonomy, &species, out)),
        header.to_owned() + &expected.concat()
    );
    species.normalise(
        &taxonomy,
        &[
            (taxonomy.taxon_of(83333).unwrap(), 4000),
            (taxonomy.taxon_of(1313).unwrap(), 1000),
        ],
    );
    let table = text(|out| abundance::table(&taxonomy, &species, out));
    assert!(
        table.contains("0.666667\t0.600000\t4000\t0.333333\n"),
        "{table}"
    );
    assert!(
        table.contains("0.333333\t0.300000\t1000\t0.666667\n"),
        "{table}"
    );
}

#[test]
fn a_genome_is_the_mean_of_the_closest_that_are_known() {
    let taxonomy = crate::sample::taxonomy();
    let tally = crate::sample::tally(&taxonomy, &READS);
    let mut species = Abundance::new(&taxonomy, &tally, Rank::Species);
    species.normalise(&taxonomy, &[]);
    assert!(
        species
            .taxa
            .iter()
            .all(|estimate| estimate.genome.is_none() && estimate.genomes.is_none())
    );
    let lengths = [
        (562, 5_000_000),
        (83333, 4_000_000),
        (11000, 30_000),
        (1313, 0),
    ];
    species.normalise(
        &taxonomy,
        &lengths.map(|(taxid, letters)| (taxonomy.taxon_of(taxid).unwrap(), letters)),
    );
    let genomes: Vec<_> = species
        .taxa
        .iter()
        .map(|estimate| estimate.genome)
        .collect();
    // E. fergusonii takes that of its genus, S. pneumoniae that of Bacteria.
    assert_eq!(
        genomes,
        [
            Some(4_500_000.0),
            Some(4_500_000.0),
            Some(4_500_000.0),
            Some(30_000.0)
        ]
    );
    let sum: f64 = species
        .taxa
        .iter()
        .filter_map(|estimate| estimate.genomes)
        .sum();
    assert!((sum - 1.0).abs() < 1e-12);
    let copies = [
        17.972961 / 150.0,
        6.418915 / 150.0,
        5.543608 / 150.0,
        2.064516,
    ];
    for (estimate, copy) in species.taxa.iter().zip(copies) {
        assert!(
            (estimate.genomes.unwrap() - copy / copies.iter().sum::<f64>()).abs() < 1e-6,
            "{estimate:?}"
        );
    }
}

#[test]
fn samples_without_hits_are_valid() {
    let taxonomy = crate::sample::taxonomy();
    for reads in [&[][..], &[(0, 7)]] {
        let mut none = Abundance::new(
            &taxonomy,
            &crate::sample::tally(&taxonomy, reads),
            Rank::Species,
        );
        none.normalise(&taxonomy, &[(taxonomy.taxon_of(562).unwrap(), 100)]);
        assert!(none.taxa.is_empty() && none.above.is_empty());
        let table = text(|out| abundance::table(&taxonomy, &none, out));
        assert_eq!(table.lines().count(), 2);
        assert!(!table.contains("NaN") && !table.contains("inf"), "{table}");
    }
}

/// A tree of random shape, ranks and numbers, and reads at random nodes.
fn trees() -> impl Strategy<Value = (Taxonomy, Tally, Rank)> {
    let node = (
        any::<prop::sample::Index>(),
        0..12usize,
        prop_oneof![Just(0u64), 0..50u64],
    );
    (
        prop::collection::vec(node, 1..60),
        0..8usize,
        0..20u64,
        any::<u32>(),
    )
        .prop_map(|(nodes, rank, unclassified, salt)| {
            // Taxids in another order than that of the nodes.
            let taxid = |place: usize| {
                if place == 0 {
                    1
                } else {
                    2 + ((place as u32 * 7919) ^ (salt & 0xff))
                }
            };
            let rank_name =
                |number: usize| Rank::ALL.get(number).map_or("no rank", |rank| rank.name());
            let mut list = vec![Node {
                taxid: 1,
                parent: 1,
                rank: "no rank",
                name: "root",
            }];
            for (i, (parent, rank, _)) in nodes.iter().enumerate() {
                let parent = taxid(parent.index(i + 1));
                list.push(Node {
                    taxid: taxid(i + 1),
                    parent,
                    rank: rank_name(*rank),
                    name: "some",
                });
            }
            let taxonomy = Taxonomy::new(list).unwrap();
            let mut tally = Tally::new();
            tally.leave(unclassified);
            for (i, (_, _, reads)) in nodes.iter().enumerate() {
                tally.assign(taxonomy.taxon_of(taxid(i + 1)).unwrap(), *reads);
            }
            (taxonomy, tally, Rank::ALL[rank])
        })
}

/// Reads of a clade, by looking at every node.
fn clade(taxonomy: &Taxonomy, tally: &Tally, taxon: Taxon) -> u64 {
    tally
        .taxa()
        .filter(|&(other, _)| taxonomy.path(other).any(|above| above == taxon))
        .map(|entry| entry.1)
        .sum()
}

/// The rule of the method, literally.
fn hand_down(
    taxonomy: &Taxonomy,
    tally: &Tally,
    rank: Rank,
    taxon: Taxon,
    handed: f64,
    shares: &mut Vec<(Taxon, f64)>,
) {
    let pruned = taxonomy.rank(taxon).is_some_and(|own| own >= rank);
    let children: Vec<_> = taxonomy
        .children(taxon)
        .filter(|&child| clade(taxonomy, tally, child) > 0)
        .collect();
    if pruned || children.is_empty() {
        let own = if pruned {
            clade(taxonomy, tally, taxon)
        } else {
            tally.reads(taxon)
        };
        shares.push((taxon, handed + own as f64));
        return;
    }
    let all = handed + tally.reads(taxon) as f64;
    let weight: u64 = children
        .iter()
        .map(|&child| clade(taxonomy, tally, child))
        .sum();
    for child in children {
        let share = all * clade(taxonomy, tally, child) as f64 / weight as f64;
        hand_down(taxonomy, tally, rank, child, share, shares);
    }
}

proptest! {
    #[test]
    fn random_trees_follow_the_rule((taxonomy, tally, rank) in trees()) {
        let found = Abundance::new(&taxonomy, &tally, rank);
        let mut expected = Vec::new();
        hand_down(&taxonomy, &tally, rank, ROOT, 0.0, &mut expected);
        expected.retain(|entry| entry.1 > 0.0);
        let all: Vec<_> = found.taxa.iter().chain(&found.above).collect();
        prop_assert_eq!(all.len(), expected.len());
        for estimate in &all {
            let share = expected.iter().find(|entry| entry.0 == estimate.taxon).unwrap().1;
            prop_assert!((estimate.share - share).abs() < 1e-6);
            prop_assert!((estimate.reads as f64 - share).abs() < 1.0 + 1e-6);
            prop_assert!(estimate.reads >= estimate.assigned);
        }
        prop_assert_eq!(all.iter().map(|estimate| estimate.reads).sum::<u64>(), tally.classified());
        for estimates in [&found.taxa, &found.above] {
            let order: Vec<_> = estimates
                .iter()
                .map(|e| (std::cmp::Reverse(e.reads), taxonomy.taxid(e.taxon)))
                .collect();
            prop_assert!(order.is_sorted());
        }
        prop_assert!(
            found
                .taxa
                .iter()
                .all(|e| taxonomy.rank(e.taxon).is_some_and(|own| own >= rank))
        );
    }
}
