//! What BLAST+ 2.12 printed for some proteins and some DNA.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use std::ops::Range;

use gyrase_align::mask::{dust::Dust, seg::Seg};
use gyrase_align::matrix::Matrix;
use gyrase_align::residue;
use gyrase_align::statistics::nucleotide::Nucleotide;
use gyrase_align::statistics::protein::Protein;
use gyrase_align::statistics::{Costs, SearchSpace, text};

fn rows(table: &str) -> impl Iterator<Item = Vec<&str>> {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split(' ').collect())
}

fn number<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().unwrap()
}

fn ranges(text: &str) -> Vec<Range<usize>> {
    let all = text.split(',').filter(|range| *range != "none");
    all.map(|range| {
        let (from, to) = range.split_once('-').unwrap();
        number(from)..number(to)
    })
    .collect()
}

#[test]
fn proteins_have_the_evalues_and_bits_of_blastp() {
    let mut seen = 0;
    for row in rows(include_str!("golden/protein.txt")) {
        let matrix = Matrix::named(row[0]).unwrap();
        let costs = Costs::new(number(row[1]), number(row[2]));
        let statistics = Protein::new(matrix, costs).unwrap();
        let score = number(row[4]);
        let evalue = statistics.evalue(score, number(row[5]), number(row[6]), number(row[3]));
        assert_eq!(text::evalue(evalue), row[7], "{row:?}");
        assert_eq!(text::bits(statistics.bits(score)), row[8], "{row:?}");
        seen += 1;
    }
    assert_eq!(seen, 49);
}

#[test]
fn dna_has_the_evalues_and_bits_of_blastn() {
    let mut seen = 0;
    for row in rows(include_str!("golden/nucleotide.txt")) {
        let costs = Costs::new(number(row[2]), number(row[3]));
        let statistics = Nucleotide::new(number(row[0]), number(row[1]), costs).unwrap();
        let space = SearchSpace {
            query: number(row[5]),
            letters: 5_840_303,
            sequences: 754,
        };
        let score = number(row[4]);
        let evalue = statistics.evalue(score, statistics.effective(&space));
        assert_eq!(text::evalue(evalue), row[6], "{row:?}");
        assert_eq!(text::bits(statistics.bits(score)), row[7], "{row:?}");
        seen += 1;
    }
    assert_eq!(seen, 38);
}

#[test]
fn proteins_are_masked_as_by_segmasker() {
    let (mut of_subjects, mut of_queries) = (Seg::of_subjects(), Seg::of_queries());
    let mut seen = 0;
    for row in rows(include_str!("golden/seg.txt")) {
        let codes: Vec<u8> = row[0].bytes().map(residue::code).collect();
        assert_eq!(of_subjects.mask(&codes), ranges(row[1]), "{row:?}");
        assert_eq!(of_queries.mask(&codes), ranges(row[2]), "{row:?}");
        seen += 1;
    }
    assert_eq!(seen, 21);
}

#[test]
fn dna_is_masked_as_by_dustmasker() {
    let mut dust = Dust::default();
    let mut seen = 0;
    for row in rows(include_str!("golden/dust.txt")) {
        let code = |base| b"ACGT".iter().position(|&one| one == base).unwrap_or(4) as u8;
        let codes: Vec<u8> = row[0].bytes().map(code).collect();
        assert_eq!(dust.mask(&codes), ranges(row[1]), "{row:?}");
        seen += 1;
    }
    assert_eq!(seen, 23);
}
