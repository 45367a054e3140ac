//! Tables of lineages, and what they cannot say.

use std::collections::HashSet;
use std::path::Path;

use super::*;
use crate::{Rank, Taxon};

fn read_text(text: &str) -> Result<TaxonomySource, TaxonomyError> {
    read(&mut Lines::new(text.as_bytes(), Path::new("table"), None))
}

fn problem(text: &str) -> String {
    read_text(text).expect_err("no taxonomy").to_string()
}

/// Names from the root to the taxon of an id.
fn lineage(source: &TaxonomySource, id: &str) -> Vec<String> {
    let taxid = source
        .map
        .taxid_of(id, Path::new(""))
        .expect("an id of the table");
    let taxon = source.taxonomy.taxon_of(taxid).expect("a node");
    let mut names: Vec<String> = source
        .taxonomy
        .path(taxon)
        .map(|above| source.taxonomy.name(above).to_owned())
        .collect();
    names.reverse();
    names
}

const GTDB: &str = "\
RS_GCF_000005845.2\td__Bacteria;p__Pseudomonadota;c__Gammaproteobacteria;o__Enterobacterales;f__Enterobacteriaceae;g__Escherichia;s__Escherichia coli
GB_GCA_000008085.1\td__Archaea;p__Nanoarchaeota;c__Nanoarchaeia;o__Nanoarchaeales;f__Nanoarchaeaceae;g__Nanoarchaeum;s__Nanoarchaeum equitans
RS_GCF_000026225.1\td__Bacteria;p__Pseudomonadota;c__Gammaproteobacteria;o__Enterobacterales;f__Enterobacteriaceae;g__Escherichia;s__
";

#[test]
fn gtdb_is_read() {
    let source = read_text(GTDB).expect("GTDB");
    assert_eq!(source.taxonomy.len(), 15);
    let coli = lineage(&source, "GCF_000005845.2");
    assert_eq!(
        coli.join(";"),
        "root;Bacteria;Pseudomonadota;Gammaproteobacteria;Enterobacterales;Enterobacteriaceae;Escherichia;Escherichia coli"
    );
    assert_eq!(
        lineage(&source, "GCF_000026225.1")
            .last()
            .map(String::as_str),
        Some("Escherichia")
    );
    let taxonomy = &source.taxonomy;
    let file = Path::new("refs/GCA_000008085.1_ASM808v1_genomic.fna.gz");
    let taxon = taxonomy
        .taxon_of(
            source
                .map
                .taxid_of("NC_005213.1", file)
                .expect("by its file"),
        )
        .expect("a node");
    assert_eq!(
        taxonomy.name(taxonomy.ancestor_at(taxon, Rank::Domain).expect("a domain")),
        "Archaea"
    );
    let codes: Vec<String> = taxonomy
        .path(taxon)
        .map(|above| taxonomy.rank_code(above).to_string())
        .collect();
    assert_eq!(codes.concat(), "SGFOCPDR");
}

/// The numbers are part of databases and reports: they never change.
#[test]
fn made_up_taxids_are_stable() {
    let source = read_text(GTDB).expect("GTDB");
    assert_eq!(
        source.map.taxid_of("GCF_000005845.2", Path::new("")),
        Some(made_up(coli_hash(), 0))
    );
    assert_eq!(
        (made_up(coli_hash(), 0), made_up(coli_hash(), 1)),
        (COLI, COLI_NEXT)
    );
    let reversed: String = GTDB.lines().rev().map(|line| format!("{line}\n")).collect();
    assert_eq!(
        read_text(&reversed).expect("GTDB").taxonomy.to_bytes(),
        source.taxonomy.to_bytes()
    );
    let alone = GTDB.lines().next().expect("a line");
    let coli = read_text(alone)
        .expect("a lineage")
        .map
        .taxid_of("GCF_000005845.2", Path::new(""));
    assert_eq!(coli, source.map.taxid_of("GCF_000005845.2", Path::new("")));
}

/// By another program, from the description in `docs/formats.md`.
const COLI: u32 = 1750959965;
const COLI_NEXT: u32 = 778087296;

fn coli_hash() -> u64 {
    let names = [
        "Bacteria",
        "Pseudomonadota",
        "Gammaproteobacteria",
        "Enterobacterales",
        "Enterobacteriaceae",
        "Escherichia",
        "Escherichia coli",
    ];
    let ranks = [
        "domain", "phylum", "class", "order", "family", "genus", "species",
    ];
    ranks
        .iter()
        .zip(names)
        .fold(FNV_START, |hash, (rank, name)| {
            lineage_hash(hash, rank, name)
        })
}

/// 31 bits are not enough for this many names without collisions; the taxids are different all the
/// same.
#[test]
fn collisions_are_resolved() {
    let count = 60_000;
    let rows: String = (0..count)
        .map(|i| format!("a{i}\td__Bacteria;s__number {i}\n"))
        .collect();
    let hashes = (0..count).map(|i| {
        lineage_hash(
            lineage_hash(FNV_START, "domain", "Bacteria"),
            "species",
            &format!("number {i}"),
        )
    });
    let first: HashSet<u32> = hashes
        .map(|hash| made_up(hash, 0))
        .filter(|&taxid| taxid >= FIRST_MADE_UP)
        .collect();
    assert!(first.len() < count, "{}", first.len());
    let taxonomy = read_text(&rows).expect("a table").taxonomy;
    assert_eq!(taxonomy.len(), count + 2);
    assert!(
        taxonomy
            .taxa()
            .skip(1)
            .all(|taxon| taxonomy.taxid(taxon) >= FIRST_MADE_UP && taxonomy.taxid(taxon) < 1 << 31)
    );
}

#[test]
fn named_columns_are_ranks() {
    let text = "id\tsuperkingdom\tphylum\tgenus\tspecies\nG1\tBacteria\tP\tG\tG \
                a\nG2\tBacteria\tP\tG\tG b\r\nG3\tBacteria\t\tH\tNA\n";
    let source = read_text(text).expect("a table");
    assert_eq!(lineage(&source, "G2").join(";"), "root;Bacteria;P;G;G b");
    assert_eq!(lineage(&source, "G3").join(";"), "root;Bacteria;H");
    assert_eq!(source.taxonomy.len(), 7);
    assert_eq!(source.taxonomy.rank_code(Taxon(1)).to_string(), "D");
}

#[test]
fn taxids_and_strains_are_taken_from_their_columns() {
    let text = "\
accession\ttaxid\tname\trank\tsuperkindom\tgenus\tspecies
GCF_1\t99287\tSalmonella enterica LT2\tno rank\tBacteria\tSalmonella\tSalmonella enterica
GCF_2\t28901\tSalmonella enterica\tspecies\tBacteria\tSalmonella\tSalmonella enterica
";
    let source = read_text(text).expect("a table");
    let strain = source.taxonomy.taxon_of(99287).expect("the strain");
    assert_eq!(source.taxonomy.rank_code(strain).to_string(), "S1");
    assert_eq!(source.taxonomy.taxid(source.taxonomy.parent(strain)), 28901);
    assert_eq!(source.map.taxid_of("GCF_1", Path::new("")), Some(99287));
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let header = "id\ttaxid\tgenus\tspecies\n";
    let cases = [
        (
            "a\td__B;p__P\nb\tp__P;d__B\n",
            "table, line 2: expected ranks from high to low such as g__Escherichia, found \"d__B\"",
        ),
        ("a\td__B;P\n", "table, line 1: expected ranks"),
        ("a\td__B\nb\n", "table, line 2: expected \"id<TAB>"),
        (
            "a\td__B\na\td__C\n",
            "table, line 2: \"a\" has another lineage than on line 1",
        ),
        (
            "a\td__B\nb\td__;p__\n",
            "table, line 2: \"b\" has no lineage",
        ),
        ("reads\tbases\n", "table, line 1: expected \"id<TAB>"),
        ("", "table: there is no lineage in it"),
        (header, "table: there is no lineage in it"),
        (
            &format!("{header}a\t5\tG\tG a\nb\t5\tH\tH b\n"),
            "table, line 3: taxid 5 is that of \"H b\" here and of \"G a\" on line 2",
        ),
        (
            &format!("{header}a\t5\tG\tG a\nb\t6\tG\tG a\n"),
            "table, line 3: \"G a\" has the taxid 6 here and 5 before",
        ),
        (
            &format!("{header}a\tx\tG\tG a\n"),
            "table, line 2: expected a taxid, found \"x\"",
        ),
        (
            &format!("{header}a\t5\tG\n"),
            "table, line 2: expected 4 columns, as the first line names, found 3",
        ),
    ];
    for (text, expected) in cases {
        let found = problem(text);
        assert!(found.starts_with(expected), "{text:?}: {found}");
    }
}
