//! Generated genomes: what was asked is there, where the truth says, and the bytes never change.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use std::fs;

use gyrase_simulate::SimulateError;
use gyrase_simulate::genome::{
    Blueprint, Config, Gaps, Kind, Repeats, SimulatedGenome, generate, run,
};
use gyrase_work::Progress;

fn rich() -> Blueprint {
    Blueprint {
        seed: 42,
        name: "chr".to_owned(),
        length: 100_003,
        contigs: 3,
        gc: 0.35,
        repeats: Repeats {
            families: 3,
            copies: 5,
            length: 700,
            divergence: 0.05,
        },
        gaps: Gaps {
            runs: 4,
            length: 90,
        },
        heterozygosity: 0.01,
        ploidy: 2,
    }
}

fn kinds(
    genome: &SimulatedGenome,
    wanted: fn(&Kind) -> bool,
) -> Vec<&gyrase_simulate::genome::Feature> {
    genome
        .features
        .iter()
        .filter(|feature| wanted(&feature.kind))
        .collect()
}

#[test]
fn lengths_gc_and_names_are_as_asked() {
    let plain = Blueprint {
        repeats: Repeats::default(),
        gaps: Gaps::default(),
        heterozygosity: 0.0,
        ..rich()
    };
    let genome = generate(&plain).unwrap();
    let names: Vec<&str> = genome
        .sequences
        .iter()
        .map(|sequence| sequence.name.as_str())
        .collect();
    assert_eq!(names, ["chr_1", "chr_2", "chr_3"]);
    let letters: Vec<u8> = genome
        .sequences
        .iter()
        .flat_map(|sequence| sequence.letters.clone())
        .collect();
    assert_eq!(letters.len(), 100_003);
    let gc = letters
        .iter()
        .filter(|letter| b"GC".contains(letter))
        .count() as f64
        / letters.len() as f64;
    assert!((gc - 0.35).abs() < 0.01, "{gc}");
    assert!(genome.features.is_empty());
}

#[test]
fn the_haplotypes_differ_exactly_at_the_variants() {
    let genome = generate(&rich()).unwrap();
    assert_eq!(genome.sequences.len(), 6);
    assert_eq!(
        (
            genome.sequences[0].name.as_str(),
            genome.sequences[3].name.as_str()
        ),
        ("chr_1_a", "chr_1_b")
    );
    let mut second: Vec<_> = genome.sequences[..3].to_vec();
    let variants = kinds(&genome, |kind| matches!(kind, Kind::Variant { .. }));
    assert!((900..1100).contains(&variants.len()), "{}", variants.len());
    for variant in variants {
        let Kind::Variant { first, others } = &variant.kind else {
            unreachable!()
        };
        let letter = &mut second[variant.contig].letters[variant.bases.start as usize];
        assert_eq!((*letter, others.len()), (*first, 1));
        *letter = others[0];
    }
    (0..3).for_each(|i| assert_eq!(second[i].letters, genome.sequences[3 + i].letters));
}

#[test]
fn each_further_haplotype_has_variants_of_its_own() {
    let two = generate(&rich()).unwrap();
    let four = generate(&Blueprint {
        ploidy: 4,
        ..rich()
    })
    .unwrap();
    assert_eq!(four.sequences.len(), 12);
    assert_eq!(
        four.sequences[..6],
        two.sequences,
        "the first two are the same"
    );
    assert_eq!(four.sequences[11].name, "chr_3_d");
    let mut differing = [0; 3];
    for variant in kinds(&four, |kind| matches!(kind, Kind::Variant { .. })) {
        let Kind::Variant { first, others } = &variant.kind else {
            unreachable!()
        };
        let place = variant.bases.start as usize;
        assert_eq!(four.sequences[variant.contig].letters[place], *first);
        for (haplotype, other) in others.iter().enumerate() {
            let contig = &four.sequences[3 * (haplotype + 1) + variant.contig];
            assert_eq!(contig.letters[place], *other);
            differing[haplotype] += usize::from(other != first);
        }
    }
    for (haplotype, known) in differing.into_iter().enumerate() {
        let differ = |(first, other): (&u8, &u8)| first != other;
        let contigs = four.sequences[3 * (haplotype + 1)..]
            .iter()
            .zip(&four.sequences[..3]);
        let found = contigs.map(|(one, first)| {
            let letters = first.letters.iter().zip(&one.letters);
            letters.filter(|&pair| differ(pair)).count()
        });
        assert_eq!(found.sum::<usize>(), known, "every difference is a variant");
        assert!((900..1100).contains(&known), "{known}");
    }
}

#[test]
fn copies_of_a_family_are_alike_and_gaps_are_n() {
    let genome = generate(&rich()).unwrap();
    let repeats = kinds(&genome, |kind| matches!(kind, Kind::Repeat { .. }));
    assert_eq!(repeats.len(), 15);
    let mut copies: Vec<(u32, Vec<u8>)> = Vec::new();
    for repeat in repeats {
        let Kind::Repeat { family, reverse } = repeat.kind else {
            unreachable!()
        };
        let letters = &genome.sequences[repeat.contig].letters
            [repeat.bases.start as usize..repeat.bases.end as usize];
        copies.push((
            family,
            if reverse {
                gyrase_seq::reverse_complement(letters)
            } else {
                letters.to_vec()
            },
        ));
    }
    for (i, (family, letters)) in copies.iter().enumerate() {
        for (other_family, other) in &copies[..i] {
            let differ = letters.iter().zip(other).filter(|(a, b)| a != b).count();
            assert_eq!(differ < 150, family == other_family, "{differ} of 700");
        }
    }
    let gaps = kinds(&genome, |kind| matches!(kind, Kind::Gap));
    let n = genome.sequences[..3]
        .iter()
        .flat_map(|sequence| &sequence.letters)
        .filter(|&&letter| letter == b'N');
    assert_eq!((gaps.len(), n.count()), (4, 360));
}

#[test]
fn the_files_are_the_same_on_every_machine() {
    let folder = tempfile::tempdir().unwrap();
    let (output, truth) = (folder.path().join("g.fa"), folder.path().join("g.tsv"));
    let config = Config {
        blueprint: rich(),
        output: output.clone(),
        truth: Some(truth.clone()),
    };
    let summary = run(&config, &Progress::default()).unwrap();
    assert_eq!(
        (
            summary.sequences,
            summary.letters,
            summary.repeats,
            summary.gaps
        ),
        (6, 200_006, 15, 4)
    );
    let fasta = fs::read(&output).unwrap();
    assert!(
        fasta
            .split(|&byte| byte == b'\n')
            .all(|line| line.len() <= 80)
    );
    let table = fs::read_to_string(&truth).unwrap();
    assert_eq!(table.lines().count() as u64, 1 + 15 + 4 + summary.variants);
    assert_eq!(
        (crc32fast::hash(&fasta), crc32fast::hash(table.as_bytes())),
        (2_411_910_266, 256_335_126)
    );
}

#[test]
fn settings_out_of_range_name_their_flag() {
    let flag = |blueprint: Blueprint| match generate(&blueprint) {
        Err(SimulateError::Setting { setting, .. }) => setting,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        flag(Blueprint {
            contigs: 0,
            ..rich()
        }),
        "contigs"
    );
    assert_eq!(
        flag(Blueprint {
            length: 20,
            ..rich()
        }),
        "length"
    );
    assert_eq!(
        flag(Blueprint {
            gc: f64::NAN,
            ..rich()
        }),
        "gc"
    );
    assert_eq!(
        flag(Blueprint {
            heterozygosity: 0.9,
            ..rich()
        }),
        "heterozygosity"
    );
    assert_eq!(
        flag(Blueprint {
            length: 15_000,
            ..rich()
        }),
        "repeat-families"
    );
}
