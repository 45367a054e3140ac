//! Tables against calculation, bounds against values, and what the errors say.

use proptest::prelude::*;

use super::nucleotide::Nucleotide;
use super::protein::Protein;
use super::ungapped::{BACKGROUND, NotLocal, ScoreFrequencies};
use super::*;
use crate::matrix::Matrix;

fn blosum62() -> Protein {
    Protein::new(Matrix::named("BLOSUM62").unwrap(), Costs::new(11, 1)).unwrap()
}

/// Equal as far as a table tells: to its last digit.
fn same(computed: f64, told: f64, unit: f64) -> bool {
    (computed - told).abs() <= 0.6 * unit
}

#[test]
fn parameters_without_gaps_are_those_of_the_tables() {
    for matrix in Matrix::all() {
        let frequencies = ScoreFrequencies::of_proteins(matrix, &BACKGROUND, &BACKGROUND);
        let computed = frequencies.unwrap().karlin();
        let known = Protein::new(matrix, Protein::usual(matrix)).unwrap();
        let known = known.ungapped();
        let name = matrix.name();
        assert!(same(computed.lambda, known.lambda, 1e-4), "{name}");
        assert!(same(computed.k, known.k, 1e-3), "{name} {computed:?}");
        assert!(same(computed.h, known.h, 1e-3), "{name} {computed:?}");
    }
}

#[test]
fn closed_forms_agree_with_the_definition() {
    let one = ScoreFrequencies::new([(1, 0.25), (-1, 0.75)])
        .unwrap()
        .karlin();
    assert!(same(one.lambda, 3f64.ln(), 1e-9));
    assert!(same(one.k, 1.0 / 3.0, 1e-9));
    let scaled = ScoreFrequencies::new([(7, 1.0), (-7, 3.0)])
        .unwrap()
        .karlin();
    assert!(same(scaled.lambda * 7.0, one.lambda, 1e-9));
    assert!(same(scaled.k, one.k, 1e-9));
    let example = ScoreFrequencies::new([(-2, 0.7), (0, 0.1), (3, 0.2)]).unwrap();
    let example = example.karlin();
    assert!(same(example.lambda, 0.330, 1e-3) && same(example.k, 0.154, 1e-3));
}

#[test]
fn a_score_of_one_and_one_of_many_steps_follow_the_same_series() {
    let bases = |reward, penalty| *Nucleotide::without_gaps(reward, penalty).unwrap().gapped();
    for (penalty, k) in [
        (-1, 0.333),
        (-2, 0.621),
        (-3, 0.711),
        (-4, 0.738),
        (-5, 0.747),
    ] {
        assert!(same(bases(1, penalty).k, k, 1e-3), "{penalty}");
    }
    assert!(same(bases(2, -3).k, 0.408, 1e-3));
    assert!(same(bases(2, -4).k, bases(1, -2).k, 1e-9));
}

#[test]
fn scores_without_local_alignments_are_refused() {
    let of = |scores: &[(i32, f64)]| ScoreFrequencies::new(scores.iter().copied()).err();
    assert_eq!(of(&[]), Some(NotLocal));
    assert_eq!(of(&[(1, 0.5), (-1, 0.5)]), Some(NotLocal));
    assert_eq!(of(&[(-1, 0.5), (-2, 0.5)]), Some(NotLocal));
    assert_eq!(of(&[(2000, 0.1), (-1, 0.9)]), Some(NotLocal));
    assert_eq!(Nucleotide::without_gaps(3, -1), Err(NotLocal));
    assert_eq!(Nucleotide::without_gaps(0, 0), Err(NotLocal));
    let empty = [0.0; 20];
    let matrix = Matrix::named("BLOSUM62").unwrap();
    assert!(ScoreFrequencies::of_proteins(matrix, &empty, &BACKGROUND).is_err());
}

#[test]
fn unknown_costs_are_told_with_those_that_are_known() {
    let matrix = Matrix::named("PAM30").unwrap();
    let error = Protein::new(matrix, Costs::new(11, 1)).unwrap_err();
    assert_eq!(error.known().len(), 10);
    assert_eq!(
        error.to_string(),
        "gaps of 11/1 (open/extend) have no statistics with PAM30; \
         known are 7/2, 6/2, 5/2, 10/1, 9/1, 8/1, 15/3, 14/2, 14/1, 13/3"
    );
    let error = Nucleotide::new(2, -4, Costs::new(3, 3)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "gaps of 3/3 (open/extend) have no statistics with 2/-4; \
         known are 0/0, 4/4, 2/4, 0/4, 6/2, 4/2, 2/2, and all of at least 4/4"
    );
    let error = Nucleotide::new(7, -9, Costs::new(5, 2)).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("those scores are known without gaps only")
    );
    for (reward, penalty) in [(0, 0), (-2, 3), (i32::MIN, i32::MIN), (i32::MAX, i32::MIN)] {
        assert!(Nucleotide::new(reward, penalty, Costs::new(0, 0)).is_err());
    }
}

#[test]
fn dear_gaps_count_as_none() {
    let dear = Nucleotide::new(1, -2, Costs::new(40, 40)).unwrap();
    assert_eq!(dear.gapped(), dear.ungapped());
    let twice = Nucleotide::new(2, -4, Costs::new(4, 4)).unwrap();
    assert_eq!(twice.gapped().lambda, 1.33 / 2.0);
    assert_eq!(twice.gapped().alpha, 1.2 / 2.0);
}

#[test]
fn only_even_scores_count_where_the_table_says_so() {
    let statistics = Nucleotide::new(2, -3, Costs::new(5, 2)).unwrap();
    assert_eq!(statistics.evalue(41.0, 1e9), statistics.evalue(40.0, 1e9));
    assert!(statistics.bits(41.0) > statistics.bits(40.0));
    let other = Nucleotide::new(1, -2, Costs::new(2, 1)).unwrap();
    assert!(other.evalue(41.0, 1e9) < other.evalue(40.0, 1e9));
}

#[test]
fn nothing_is_found_in_nothing() {
    let statistics = blosum62();
    assert_eq!(statistics.evalue(50.0, 0, 100, 1000), 0.0);
    assert_eq!(statistics.evalue(50.0, 100, 0, 1000), 0.0);
    let space = SearchSpace {
        query: 0,
        letters: 0,
        sequences: 0,
    };
    assert_eq!(space.adjustment(statistics.gapped()), 0);
    assert_eq!(space.effective(statistics.gapped()), 0.0);
}

#[test]
fn small_evalues_are_nothing() {
    let statistics = blosum62();
    assert!(statistics.evalue(1000.0, 300, 300, 1000) > 0.0);
    assert_eq!(statistics.evalue(1600.0, 300, 300, 1000), 0.0);
    assert!(
        statistics
            .evalue(60.0, 10_000, 40_000, u64::MAX)
            .is_finite()
    );
}

#[test]
fn length_adjustments_are_those_of_blast() {
    let blastn = *Nucleotide::new(2, -3, Costs::new(5, 2)).unwrap().gapped();
    let protein = *blosum62().gapped();
    for (karlin, query, letters, sequences, adjustment) in [
        (blastn, 1000, 5_840_303, 754, 25),
        (blastn, 30, 5_840_303, 754, 19),
        (blastn, 8, 40, 1, 3),
        (protein, 300, 12_300_000, 40_013, 98),
        (protein, 30, 1_095_664, 3604, 5),
    ] {
        let space = SearchSpace {
            query,
            letters,
            sequences,
        };
        assert_eq!(space.adjustment(&karlin), adjustment, "{space:?}");
    }
}

fn any_protein() -> impl Strategy<Value = Protein> {
    (0..Matrix::all().len(), any::<prop::sample::Index>()).prop_map(|(matrix, costs)| {
        let matrix = &Matrix::all()[matrix];
        let known = Protein::known(matrix);
        Protein::new(matrix, known[costs.index(known.len())]).unwrap()
    })
}

proptest! {
    #[test]
    fn evalues_fall_as_scores_grow(
        statistics in any_protein(),
        score in 1..2000i32,
        query in 1..5000usize,
        subject in 1..40_000usize,
    ) {
        let of = |score: i32| statistics.evalue(f64::from(score), query, subject, 1 << 40);
        prop_assert!(of(score + 1) <= of(score));
        prop_assert!(of(score) >= 0.0 && of(score).is_finite());
    }

    #[test]
    fn a_cutoff_is_the_least_score_that_reaches(
        statistics in any_protein(),
        evalue in prop::sample::select(vec![1e-100, 1e-5, 1e-3, 1.0, 10.0, 1e6]),
        query in 1..5000usize,
        subject in 1..40_000usize,
        letters in 1..1u64 << 50,
    ) {
        let of = |score: i32| statistics.evalue(f64::from(score), query, subject, letters);
        let cutoff = statistics.cutoff(evalue, query, subject, letters);
        prop_assert!(of(cutoff) <= evalue);
        prop_assert!(cutoff == 1 || of(cutoff - 1) > evalue);
    }

    #[test]
    fn an_adjustment_leaves_room(
        query in 0..1u64 << 32,
        mean in 0..1u64 << 20,
        sequences in 0..1u64 << 30,
    ) {
        let space = SearchSpace { query, letters: mean * sequences, sequences };
        for karlin in [*blosum62().gapped(), *Nucleotide::without_gaps(1, -1).unwrap().gapped()] {
            let adjustment = space.adjustment(&karlin);
            prop_assert!(adjustment <= query);
            prop_assert!(adjustment * sequences <= space.letters);
            prop_assert!(space.effective(&karlin) >= 0.0);
        }
    }

    #[test]
    fn bits_and_scores_are_the_same_thing(statistics in any_protein(), score in 1..10_000i32) {
        let karlin = statistics.gapped();
        let back = karlin.score(karlin.bits(f64::from(score)));
        prop_assert!((back - f64::from(score)).abs() < 1e-6);
    }
}
