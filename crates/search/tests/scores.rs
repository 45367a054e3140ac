//! Searches of proteins with other scores than those of every day, against BLAST+ 2.12.

#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

mod families;

use gyrase_search::{CompositionMode, Config, Matrix, ProteinOptions};

use families::{Place, table};

const PROTEINS: &str = include_str!("golden/proteins.faa");

/// Parts of a golden file, each behind a line of a `#` and what was asked for.
fn parts(text: &str) -> impl Iterator<Item = (Vec<&str>, &str)> {
    text.split("# ").skip(1).map(|part| {
        let (asked, rows) = part.split_once('\n').unwrap();
        (asked.split(' ').collect(), rows)
    })
}

fn found(protein: ProteinOptions, evalue: f64) -> String {
    let place = Place::new();
    let mut config = place.config(PROTEINS, &[PROTEINS.into()]);
    config.limits.evalue = evalue;
    table(&Config { protein, ..config }).unwrap()
}

fn options(asked: &[&str]) -> ProteinOptions {
    ProteinOptions {
        matrix: Matrix::named(asked[0]),
        gap_open: asked.get(1).map(|open| open.parse().unwrap()),
        gap_extend: asked.get(2).map(|extend| extend.parse().unwrap()),
        composition: None,
    }
}

/// `blastp -query proteins.faa -subject proteins.faa -evalue 1e-20 -outfmt 6 -matrix NAME`, and
/// with `-gapopen N -gapextend N`. It misses a pair of E-value 1e-19 both ways, by some matrices.
#[test]
fn every_matrix_gives_the_table_of_blastp() {
    for (asked, rows) in parts(include_str!("golden/matrices.tsv")) {
        let found = found(options(&asked), 1e-20);
        let known: Vec<&str> = rows.lines().collect();
        let (common, others): (Vec<&str>, Vec<&str>) =
            found.lines().partition(|row| known.contains(row));
        assert_eq!(common, known, "{asked:?}");
        assert!(others.len() <= 2, "{others:?}");
    }
}

/// The same with `-evalue 1e-3 -comp_based_stats N`.
#[test]
fn every_composition_mode_gives_the_table_of_blastp() {
    for (asked, rows) in parts(include_str!("golden/composition.tsv")) {
        let mode = CompositionMode::ALL[asked[0].parse::<usize>().unwrap()];
        let protein = ProteinOptions {
            composition: Some(mode),
            ..ProteinOptions::default()
        };
        assert_eq!(found(protein, 1e-3), rows, "{asked:?}");
    }
}

#[test]
fn gap_costs_without_statistics_are_refused_with_those_that_there_are() {
    let place = Place::new();
    let config = place.config(PROTEINS, &[PROTEINS.into()]);
    let protein = options(&["PAM70", "10", "2"]);
    let refused = table(&Config { protein, ..config }).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "gaps of 10/2 (open/extend) have no statistics with PAM70; known are 8/2, 7/2, 6/2, 11/1, \
         10/1, 9/1, 11/2, 12/3"
    );
}
