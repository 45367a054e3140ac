//! Reports, letter by letter on a small tree and by their sums on random samples.
#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

use crate::sample::{READS, text};
use gyrase_classify::abundance::Abundance;
use gyrase_classify::report::{self, CamiProfile, Kreport, Matrix};
use gyrase_classify::tally::Tally;
use gyrase_table::gydb::Location;
use gyrase_taxonomy::{Node, Rank, RankStyle, Taxonomy};
use proptest::prelude::*;

fn kreport(taxonomy: &Taxonomy, tally: &Tally, shown: Kreport) -> String {
    text(|out| report::kreport(taxonomy, tally, shown, out))
}

#[test]
fn a_kreport_is_that_of_kraken2() {
    let taxonomy = crate::sample::taxonomy();
    let tally = crate::sample::tally(&taxonomy, &READS);
    let expected = [
        " 20.00\t8\t8\tU\t0\tunclassified\n",
        " 80.00\t32\t1\tR\t1\troot\n",
        " 72.50\t29\t0\tR1\t131567\t  cellular organisms\n",
        " 72.50\t29\t2\tD\t2\t    Bacteria\n",
        " 55.00\t22\t0\tP\t1224\t      Pseudomonadota\n",
        " 55.00\t22\t3\tG\t561\t        Escherichia\n",
        " 35.00\t14\t10\tS\t562\t          Escherichia coli\n",
        " 10.00\t4\t4\tS1\t83333\t            Escherichia coli K-12\n",
        " 12.50\t5\t5\tS\t564\t          Escherichia fergusonii\n",
        " 12.50\t5\t1\tP\t1239\t      Bacillota\n",
        " 10.00\t4\t0\tG\t1301\t        Streptococcus\n",
        " 10.00\t4\t4\tS\t1313\t          Streptococcus pneumoniae\n",
        "  5.00\t2\t0\tD\t10239\t  Viruses\n",
        "  5.00\t2\t2\tS\t11000\t    Some virus\n",
    ];
    assert_eq!(
        kreport(&taxonomy, &tally, Kreport::default()),
        expected.concat()
    );
}

#[test]
fn ranks_can_have_the_letters_of_2025() {
    let taxonomy = crate::sample::taxonomy();
    let tally = crate::sample::tally(&taxonomy, &[(562, 1), (11000, 1)]);
    let found = kreport(
        &taxonomy,
        &tally,
        Kreport {
            style: RankStyle::Ncbi2025,
            ..Kreport::default()
        },
    );
    let codes: Vec<_> = found
        .lines()
        .map(|line| line.split('\t').nth(3).unwrap())
        .collect();
    assert_eq!(codes, ["R", "R1", "S", "R1", "R2", "P", "G", "S"]);
}

#[test]
fn a_kreport_can_be_made_of_estimates() {
    let taxonomy = crate::sample::taxonomy();
    let species = Abundance::new(
        &taxonomy,
        &crate::sample::tally(&taxonomy, &READS),
        Rank::Species,
    );
    let found = kreport(&taxonomy, &species.tally(), Kreport::default());
    assert!(
        found.starts_with(" 20.00\t8\t8\tU\t0\tunclassified\n 80.00\t32\t0\tR\t1\troot\n"),
        "{found}"
    );
    assert!(
        found.contains(" 60.00\t24\t0\tG\t561\t        Escherichia\n 45.00\t18\t18\tS\t562\t"),
        "{found}"
    );
}

#[test]
fn equal_clades_go_by_taxid_and_full_percent_has_six_letters() {
    let taxonomy = crate::sample::taxonomy();
    let tally = crate::sample::tally(&taxonomy, &[(564, 3), (562, 3)]);
    let found = kreport(&taxonomy, &tally, Kreport::default());
    assert!(
        found.starts_with(
            "100.00\t6\t0\tR\t1\troot\n100.00\t6\t0\tR1\t131567\t  cellular organisms\n"
        ),
        "{found}"
    );
    assert!(found.ends_with(
        "S\t562\t          Escherichia coli\n 50.00\t3\t3\tS\t564\t          \
                         Escherichia fergusonii\n"
    ));
}

#[test]
fn two_columns_more_have_the_evidence_of_clades() {
    let taxonomy = crate::sample::taxonomy();
    let mut tally = crate::sample::tally(&taxonomy, &[(562, 2), (561, 1), (0, 1)]);
    tally
        .evidence_mut(taxonomy.taxon_of(562).unwrap())
        .hit(&[1, 2, 3, 3]);
    tally
        .evidence_mut(taxonomy.taxon_of(561).unwrap())
        .hit(&[3, 4]);
    let found = kreport(
        &taxonomy,
        &tally,
        Kreport {
            evidence: true,
            ..Kreport::default()
        },
    );
    assert!(
        found.starts_with(
            " 25.00\t1\t1\t0\t0\tU\t0\tunclassified\n 75.00\t3\t0\t6\t4\tR\t1\troot\n"
        ),
        "{found}"
    );
    assert!(found.ends_with(
        " 75.00\t3\t1\t6\t4\tG\t561\t        Escherichia\n 50.00\t2\t2\t4\t3\tS\t562\t          \
         Escherichia coli\n"
    ));
}

#[test]
fn a_kreport_of_nothing_is_one() {
    let taxonomy = crate::sample::taxonomy();
    let empty = kreport(&taxonomy, &Tally::new(), Kreport::default());
    assert_eq!(
        empty,
        "  0.00\t0\t0\tU\t0\tunclassified\n  0.00\t0\t0\tR\t1\troot\n"
    );
    let none = kreport(
        &taxonomy,
        &crate::sample::tally(&taxonomy, &[(0, 3)]),
        Kreport::default(),
    );
    assert_eq!(
        none,
        "100.00\t3\t3\tU\t0\tunclassified\n  0.00\t0\t0\tR\t1\troot\n"
    );
    let zeros = kreport(
        &taxonomy,
        &crate::sample::tally(&taxonomy, &[(1313, 3)]),
        Kreport {
            zeros: true,
            ..Kreport::default()
        },
    );
    assert_eq!(zeros.lines().count(), taxonomy.len() + 1);
    assert!(zeros.starts_with("  0.00\t0\t0\tU\t0\tunclassified\n100.00\t3\t0\tR\t1\troot\n"));
    assert!(
        zeros.ends_with("  0.00\t0\t0\tS\t11000\t    Some virus\n"),
        "{zeros}"
    );
}

#[test]
fn names_cannot_break_lines_columns_or_levels() {
    let node = |taxid, name| Node {
        taxid,
        parent: 1,
        rank: "species",
        name,
    };
    let names = [node(1, "root"), node(5, "  a\tb\nc|d;e"), node(6, " ")];
    let taxonomy = Taxonomy::new(names).unwrap();
    let tally = crate::sample::tally(&taxonomy, &[(5, 2), (6, 1)]);
    let found = kreport(&taxonomy, &tally, Kreport::default());
    assert!(
        found.ends_with("S\t5\t  a b c|d;e\n 33.33\t1\t1\tS\t6\t  taxid 6\n"),
        "{found}"
    );
    assert!(text(|out| report::mpa(&taxonomy, &tally, out)).contains("s__a b c_d;e\t2\n"));
}

#[test]
fn lineages_have_the_eight_ranks() {
    let taxonomy = crate::sample::taxonomy();
    let tally = crate::sample::tally(&taxonomy, &READS);
    let expected = [
        "d__Bacteria\t29\n",
        "d__Bacteria|p__Pseudomonadota\t22\n",
        "d__Bacteria|p__Pseudomonadota|g__Escherichia\t22\n",
        "d__Bacteria|p__Pseudomonadota|g__Escherichia|s__Escherichia coli\t14\n",
        "d__Bacteria|p__Pseudomonadota|g__Escherichia|s__Escherichia fergusonii\t5\n",
        "d__Bacteria|p__Bacillota\t5\n",
        "d__Bacteria|p__Bacillota|g__Streptococcus\t4\n",
        "d__Bacteria|p__Bacillota|g__Streptococcus|s__Streptococcus pneumoniae\t4\n",
        "d__Viruses\t2\n",
        "d__Viruses|s__Some virus\t2\n",
    ];
    assert_eq!(
        text(|out| report::mpa(&taxonomy, &tally, out)),
        expected.concat()
    );
    assert_eq!(text(|out| report::mpa(&taxonomy, &Tally::new(), out)), "");
}

#[test]
fn cami_profiles_have_paths_with_gaps() {
    let taxonomy = crate::sample::taxonomy();
    let tally = crate::sample::tally(&taxonomy, &[(0, 4), (83333, 2), (561, 1), (11000, 1)]);
    let expected = [
        "@SampleID:my_sample.1\n@Version:0.9.1\n",
        "@Ranks:superkingdom|phylum|class|order|family|genus|species|strain\n",
        "@@TAXID\tRANK\tTAXPATH\tTAXPATHSN\tPERCENTAGE\n",
        "2\tsuperkingdom\t2\tBacteria\t37.500000\n",
        "10239\tsuperkingdom\t10239\tViruses\t12.500000\n",
        "1224\tphylum\t2|1224\tBacteria|Pseudomonadota\t37.500000\n",
        "561\tgenus\t2|1224||||561\tBacteria|Pseudomonadota||||Escherichia\t37.500000\n",
        "562\tspecies\t2|1224||||561|562\tBacteria|Pseudomonadota||||Escherichia|Escherichia \
         coli\t25.000000\n",
        "11000\tspecies\t10239||||||11000\tViruses||||||Some virus\t12.500000\n",
        "83333\tstrain\t2|1224||||561|562|83333\tBacteria|Pseudomonadota||||Escherichia|Escherichia coli|",
        "Escherichia coli K-12\t25.000000\n",
    ];
    let found = text(|out| {
        report::cami(
            &taxonomy,
            "my sample.1",
            &CamiProfile::of_reads(&tally),
            out,
        )
    });
    assert_eq!(found, expected.concat());
}

#[test]
fn cami_profiles_of_estimates_sum_to_a_hundred() {
    let taxonomy = crate::sample::taxonomy();
    let tally = crate::sample::tally(&taxonomy, &READS);
    let mut species = Abundance::new(&taxonomy, &tally, Rank::Species);
    let of_species = |abundance: &Abundance| -> Vec<f64> {
        let found =
            text(|out| report::cami(&taxonomy, "", &CamiProfile::estimated(abundance), out));
        let rows = found.lines().filter(|line| line.contains("\tspecies\t"));
        rows.map(|line| line.rsplit('\t').next().unwrap().parse().unwrap())
            .collect()
    };
    assert!((of_species(&species).iter().sum::<f64>() - 100.0).abs() < 1e-4);
    species.normalise(
        &taxonomy,
        &[
            (taxonomy.taxon_of(11000).unwrap(), 10),
            (taxonomy.taxon_of(2).unwrap(), 1_000_000),
        ],
    );
    let genomes = of_species(&species);
    assert!(genomes[0] > 99.9 && (genomes.iter().sum::<f64>() - 100.0).abs() < 1e-4);
    let nothing =
        text(|out| report::cami(&taxonomy, "", &CamiProfile::of_reads(&Tally::new()), out));
    assert!(nothing.starts_with("@SampleID:sample\n") && nothing.lines().count() == 4);
}

#[test]
fn bracken_tables_have_what_was_added() {
    let taxonomy = crate::sample::taxonomy();
    let species = Abundance::new(
        &taxonomy,
        &crate::sample::tally(&taxonomy, &READS),
        Rank::Species,
    );
    let header = "name\ttaxonomy_id\ttaxonomy_lvl\tkraken_assigned_reads\tadded_reads\tnew_est_reads\tfraction_total_reads\n";
    let expected = [
        "Escherichia coli\t562\tS\t14\t4\t18\t0.56250\n",
        "Escherichia fergusonii\t564\tS\t5\t1\t6\t0.18750\n",
        "Streptococcus pneumoniae\t1313\tS\t4\t2\t6\t0.18750\n",
        "Some virus\t11000\tS\t2\t0\t2\t0.06250\n",
    ];
    assert_eq!(
        text(|out| report::bracken(&taxonomy, &species, out)),
        header.to_owned() + &expected.concat()
    );
    let none = Abundance::new(&taxonomy, &Tally::new(), Rank::Species);
    let root = "root\t1\tR\t0\t0\t0\t0.00000\n";
    assert_eq!(
        text(|out| report::bracken(&taxonomy, &none, out)),
        header.to_owned() + root
    );
}

#[test]
fn taxpasta_tables_have_every_read() {
    let taxonomy = crate::sample::taxonomy();
    let found = text(|out| {
        report::taxpasta(
            &taxonomy,
            &crate::sample::tally(&taxonomy, &[(562, 2), (2, 1), (0, 7)]),
            out,
        )
    });
    assert_eq!(found, "taxonomy_id\tcount\n0\t7\n2\t1\n562\t2\n");
    assert_eq!(
        text(|out| report::taxpasta(&taxonomy, &Tally::new(), out)),
        "taxonomy_id\tcount\n0\t0\n"
    );
}

#[test]
fn matrices_keep_the_unclassified() {
    let taxonomy = crate::sample::taxonomy();
    let mut matrix = Matrix::new(&taxonomy);
    matrix.push("a", &crate::sample::tally(&taxonomy, &[(562, 2), (0, 7)]));
    matrix.push(
        "b\t\"2\"",
        &crate::sample::tally(&taxonomy, &[(1, 1), (562, 9)]),
    );
    let lineage = "k__Bacteria;p__Pseudomonadota;c__;o__;f__;g__Escherichia;s__Escherichia coli";
    let expected = [
        "taxonomy_id\tname\trank\tlineage\ta\tb \"2\"\n",
        "0\tunclassified\tno rank\tk__unclassified;p__;c__;o__;f__;g__;s__\t7\t0\n",
        "1\troot\tno rank\tk__;p__;c__;o__;f__;g__;s__\t0\t1\n",
        &format!("562\tEscherichia coli\tspecies\t{lineage}\t2\t9\n"),
    ];
    assert_eq!(text(|out| matrix.tsv(out)), expected.concat());
    let biom: serde_json::Value = serde_json::from_str(&text(|out| matrix.biom(out))).unwrap();
    assert_eq!(biom["shape"], serde_json::json!([3, 2]));
    assert_eq!(
        biom["data"],
        serde_json::json!([[0, 0, 7], [1, 1, 1], [2, 0, 2], [2, 1, 9]])
    );
    assert_eq!(
        biom["columns"][1],
        serde_json::json!({"id": "b \"2\"", "metadata": null})
    );
    assert_eq!(biom["rows"][2]["id"], "562");
    assert_eq!(
        biom["rows"][2]["metadata"]["taxonomy"],
        serde_json::json!(lineage.split(';').collect::<Vec<_>>())
    );
    for key in [
        "format",
        "format_url",
        "generated_by",
        "date",
        "type",
        "matrix_type",
        "matrix_element_type",
    ] {
        assert!(biom[key].is_string(), "{key}");
    }
}

#[test]
fn matrices_without_samples_and_of_estimates() {
    let taxonomy = crate::sample::taxonomy();
    let mut matrix = Matrix::new(&taxonomy);
    assert_eq!(text(|out| matrix.tsv(out)).lines().count(), 2);
    let biom: serde_json::Value = serde_json::from_str(&text(|out| matrix.biom(out))).unwrap();
    assert_eq!(
        (&biom["shape"], &biom["data"]),
        (&serde_json::json!([1, 0]), &serde_json::json!([]))
    );
    let tally = crate::sample::tally(&taxonomy, &READS);
    matrix.push(
        "x",
        &Abundance::new(&taxonomy, &tally, Rank::Species).tally(),
    );
    let found = text(|out| matrix.tsv(out));
    let last = |line: &str| line.rsplit('\t').next().unwrap().parse::<u64>().unwrap();
    assert_eq!(
        found.lines().skip(1).map(last).collect::<Vec<_>>(),
        [8, 18, 6, 6, 2]
    );
}

#[test]
fn the_evidence_is_empty_where_unknown() {
    let taxonomy = crate::sample::taxonomy();
    let mut tally = crate::sample::tally(&taxonomy, &[(562, 2), (1313, 1), (0, 1)]);
    let evidence = tally.evidence_mut(taxonomy.taxon_of(562).unwrap());
    evidence.hit(&[1, 2, 2]);
    evidence.all_features = Some(100);
    evidence.all_windows = Some(8);
    evidence.windows.insert(Location(70));
    let found = text(|out| report::evidence(&taxonomy, &tally, out));
    let mut lines = found.lines();
    assert!(
        lines
            .next()
            .unwrap()
            .ends_with("\texpected_features\tcovered_windows\twindows\tcoverage")
    );
    assert_eq!(
        lines.next(),
        Some("1\troot\tno rank\t3\t0\t3\t2\t3\t1\t8\t0.1250")
    );
    assert_eq!(
        lines.next_back(),
        Some("1313\tStreptococcus pneumoniae\tspecies\t1\t1\t\t\t\t\t\t")
    );
    assert!(
        found.contains("\n562\tEscherichia coli\tspecies\t2\t2\t3\t2\t3\t1\t8\t0.1250\n"),
        "{found}"
    );
    assert_eq!(
        text(|out| report::evidence(&taxonomy, &Tally::new(), out))
            .lines()
            .count(),
        1
    );
}

/// A line of a kreport: clade, direct, level, taxid.
fn parse(line: &str) -> (u64, u64, usize, u32) {
    let cells: Vec<_> = line.split('\t').collect();
    assert_eq!(cells.len(), 6, "{line}");
    let spaces = cells[5].len() - cells[5].trim_start().len();
    assert_eq!((cells[0].len(), spaces % 2), (6, 0), "{line}");
    (
        cells[1].parse().unwrap(),
        cells[2].parse().unwrap(),
        spaces / 2,
        cells[4].parse().unwrap(),
    )
}

proptest! {
    #[test]
    fn clades_are_the_sums_of_what_is_below(
        reads in prop::collection::vec((0..13usize, 0..9u64), 0..20),
    ) {
        let taxonomy = crate::sample::taxonomy();
        let taxids = [0, 1, 131567, 2, 1224, 561, 562, 83333, 564, 1239, 1301, 1313, 10239];
        let reads: Vec<_> = reads
            .into_iter()
            .map(|(place, reads)| (taxids[place], reads))
            .collect();
        let tally = crate::sample::tally(&taxonomy, &reads);
        let found = kreport(&taxonomy, &tally, Kreport::default());
        let rows: Vec<_> = found.lines().map(parse).filter(|row| row.3 != 0).collect();
        prop_assert_eq!(rows[0].0 + tally.unclassified(), tally.total());
        for (i, row) in rows.iter().enumerate() {
            let clade = rows[i + 1..].iter().take_while(|below| below.2 > row.2);
            let children: Vec<_> = clade.filter(|below| below.2 == row.2 + 1).collect();
            prop_assert_eq!(row.0, row.1 + children.iter().map(|child| child.0).sum::<u64>());
            prop_assert!(children.is_sorted_by_key(|child| (std::cmp::Reverse(child.0), child.3)));
            prop_assert!(row.0 > 0 || row.3 == 1);
        }
    }
}
