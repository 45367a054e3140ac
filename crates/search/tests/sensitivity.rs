//! What a fast and an exhaustive search find.

use std::collections::BTreeMap;
use std::error::Error;

use gyrase_align::local;
use gyrase_align::matrix::Matrix;
use gyrase_align::residue::code;
use gyrase_align::statistics::{Costs, protein::Protein};
use gyrase_search::{Config, SearchError, Sensitivity, run};
use gyrase_work::Progress;

use crate::families::usual;

const PROTEINS: &str = include_str!("golden/proteins.faa");

/// Numbers of a query and a subject.
type Pair = (usize, usize);

/// The pairs that are found, with their best scores.
fn found(sensitivity: Sensitivity, threads: usize) -> Result<BTreeMap<Pair, i32>, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let proteins = folder.path().join("proteins.faa");
    std::fs::write(&proteins, PROTEINS)?;
    let config = Config {
        sensitivity,
        threads,
        ..usual(proteins.clone(), proteins)
    };
    let mut pairs = BTreeMap::new();
    run::<SearchError>(&config, &Progress::default(), |answer| {
        let hits = answer.hits.iter();
        pairs.extend(hits.map(|hit| ((answer.query, hit.subject), hit.hsps[0].score)));
        Ok(())
    })?;
    Ok(pairs)
}

/// Pairs whose best local alignment has an E-value of 1e-6 or less.
fn local_pairs() -> Result<Vec<Pair>, Box<dyn Error>> {
    let record = |record: &str| -> Vec<u8> {
        let lines = record.lines().skip(1);
        lines.flat_map(|line| line.bytes().map(code)).collect()
    };
    let proteins: Vec<Vec<u8>> = PROTEINS.split('>').skip(1).map(record).collect();
    let matrix = Matrix::named("BLOSUM62").ok_or("no such matrix")?;
    let costs = Costs::new(11, 1);
    let statistics = Protein::new(matrix, costs)?;
    let letters = proteins.iter().map(|protein| protein.len() as u64).sum();
    let mut pairs = Vec::new();
    for (number, query) in proteins.iter().enumerate() {
        for (other, subject) in proteins.iter().enumerate() {
            let score = local::end(matrix.rows(), costs, query, subject).score;
            let evalue = statistics.evalue(score.into(), query.len(), subject.len(), letters);
            pairs.extend((evalue <= 1e-6).then_some((number, other)));
        }
    }
    Ok(pairs)
}

#[test]
fn an_exhaustive_search_finds_what_local_alignment_finds() -> Result<(), Box<dyn Error>> {
    let all = found(Sensitivity::Exhaustive, 2)?;
    for pair in local_pairs()? {
        assert!(all.contains_key(&pair), "{pair:?}");
    }
    let (most, some) = (found(Sensitivity::Blast, 2)?, found(Sensitivity::Fast, 2)?);
    for (less, more) in [(&some, &most), (&most, &all)] {
        assert!(less.keys().all(|pair| more.contains_key(pair)));
    }
    assert!(most.iter().all(|(pair, score)| all[pair] >= *score));
    assert!(2 * some.len() > most.len(), "{} {}", some.len(), most.len());
    assert_eq!(found(Sensitivity::Exhaustive, 7)?, all);
    Ok(())
}
