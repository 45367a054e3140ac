//! Searches of proteins with other scores than those of every day, against BLAST+ 2.12.

#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

use gyrase_search::{
    BestHit, CompositionMode, Config, Culling, Matrix, Program, ProteinOptions, SearchError,
    Sensitivity,
};

use crate::families::{Place, table};

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

/// `blastp -task blastp-short -comp_based_stats 0 -query peptides.faa -subject proteins.faa -evalue
/// 1e-4 -outfmt 6`.
#[test]
fn peptides_are_found_as_by_blastp_short() {
    let place = Place::new();
    let mut config = Config {
        program: Some(Program::BlastpShort),
        ..place.config(include_str!("golden/peptides.faa"), &[PROTEINS.into()])
    };
    config.limits.evalue = 1e-4;
    let expected = include_str!("golden/blastp-short.tsv");
    assert_eq!(table(&config).unwrap(), expected);
    config.limits.evalue = 1e4;
    let all = table(&config).unwrap();
    for (top, threads) in [(1, 2), (3, 1), (5, 7)] {
        let mut few = Config {
            threads,
            ..config.clone()
        };
        few.limits.top = top;
        let few = table(&few).unwrap();
        assert!(few.lines().count() < all.lines().count());
        // Each subject of the few is among the first of all.
        for query in 0..5 {
            let name = format!("p{query}\t");
            let subjects = |text: &str| {
                let rows = text.lines().filter(|row| row.starts_with(&name));
                let mut subjects: Vec<String> = rows
                    .map(|row| row.split('\t').nth(1).unwrap().to_owned())
                    .collect();
                subjects.dedup();
                subjects
            };
            let (few, all) = (subjects(&few), subjects(&all));
            assert_eq!(few, all[..top.min(all.len())], "{name}");
        }
    }
    config.sensitivity = Sensitivity::Fast;
    let refused = table(&config).unwrap_err();
    assert!(
        matches!(refused, SearchError::NeverFast { .. }),
        "{refused}"
    );
}

/// As many lines as `blastp -evalue 1e-3` writes with `-culling_limit 1` and 2, with
/// `-best_hit_overhang 0.1 -best_hit_score_edge 0.1`, and with `-subject_besthit`.
#[test]
fn culling_leaves_as_many_lines_as_blastp_does() {
    let best_hit = BestHit {
        overhang: 0.1,
        score_edge: 0.1,
    };
    for (limit, best_hit, subject_best, expected) in [
        (Some(1), None, false, 13),
        (Some(2), None, false, 25),
        (None, Some(best_hit), false, 13),
        (None, None, true, 39),
    ] {
        let place = Place::new();
        let mut config = place.config(PROTEINS, &[PROTEINS.into()]);
        config.limits.culling = Culling {
            limit,
            best_hit,
            subject_best,
        };
        let lines = table(&config).unwrap().lines().count();
        assert_eq!(lines, expected, "{limit:?} {best_hit:?} {subject_best}");
    }
}

/// What is simple counts where both are nearly the same: `blastp -query q -subject s` of BLAST+
/// 2.12, whose scores these are. Of 105 residues so many differ.
#[test]
fn what_is_simple_counts_where_both_are_nearly_the_same() {
    const BEHIND: &str = "QRSGNEGHHHGGHGPGPPHPPGHHEYNDWSWMEL";
    let query = format!(
        ">q\nQFFISESTQTTGAAKYFNCGGRFFVPRLWSDKACNDAPQWLMSC{BEHIND}CWFIKPTMLSMHANQSASNWVTGYVLW\n"
    );
    for (differ, before, behind, score) in [
        (
            4,
            "QFFISESTQTTGAAKYPNCGGRFFKPRLWSDKACEDAPQWLMNC",
            "CWFIKPTMLSMHANQSASNWVTGYVLW",
            543,
        ),
        (
            5,
            "QFFISESVQTTGAAKYFNCGGRFQVPRLWSDKAMNDAPQWLMSC",
            "CWFITPTMLSMHANQSASAWVTGYVLW",
            424,
        ),
        (
            6,
            "QFFISESTQTTRAAKYFNCGGRFIVPRLWSDKACTDAPQWLMSC",
            "PWFIKPTMLSMHANQSSSNWVRGYVLW",
            420,
        ),
    ] {
        let place = Place::new();
        let subject = format!(">s\n{before}{BEHIND}{behind}\n");
        let config = place.config(&query, &[subject]);
        let found = crate::families::report(&config, "6 mismatch score").unwrap();
        assert_eq!(found, format!("{differ}\t{score}\n"));
    }
}
