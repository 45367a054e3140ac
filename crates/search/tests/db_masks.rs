//! Masks of databases: what is in lower case in FASTA files, and what `.gysd` files keep of it.

#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

use std::path::PathBuf;

use gyrase_fabric::{Steal, testing};
use gyrase_search::{
    About, Config, DatabaseMask, Explained, LeftOut, Program, Report, ReportTarget, SearchError,
    Sensitivity, explain, run, run_in,
};
use gyrase_seqdb::gysd::Writer;
use gyrase_seqdb::{Molecule, SeqDbError, SequenceSource};
use gyrase_work::Progress;

use crate::families::{Place, Random, families, report, table};

const BOTH: [DatabaseMask; 2] = [DatabaseMask::Soft, DatabaseMask::Hard];

/// A gene that codes for a protein, and one that has nothing of it.
const GENE: &str = "ATGAAAGTTCTGGCATGGTATGGTGACGAACGTACCATTCCGCTGATGAACGTGTGCCAGCATAGCGCT\
                    GCAAAACTGGAAGACGGTATTGTTTGGCGTTTTAACCCGACCCAGTACGAA";
const PROTEIN: &str = "MKVLAWYGDERTIPLMNVCQHSAAKLEDGIVWRFNPTQYE";

/// In lower case from one letter to another.
fn lower(text: &str, from: usize, to: usize) -> String {
    let (before, rest) = text.split_at(from);
    let (masked, behind) = rest.split_at(to - from);
    format!("{before}{}{behind}", masked.to_lowercase())
}

/// Stretches of the letters of sequences in lower case, some of them long, some at the ends.
fn masked(random: &mut Random, subjects: &[String]) -> Vec<String> {
    let mut mask = |text: &String| {
        let (title, letters) = text.trim_end().split_once('\n').unwrap();
        let (mut own, mut at) = (letters.to_owned(), random.below(60));
        while at < letters.len() {
            let end = (at + 1 + random.below(90)).min(letters.len());
            own.replace_range(at..end, &letters[at..end].to_lowercase());
            at = end + random.below(150);
        }
        format!("{title}\n{own}\n")
    };
    subjects.iter().map(&mut mask).collect()
}

/// A search of a program in which much is masked, in one thread.
fn made(place: &Place, program: Program) -> Config {
    let mut random = Random::new();
    let (queries, subjects) = match program {
        Program::Blastp => families(&mut random),
        _ => genes(&mut random),
    };
    let subjects = masked(&mut random, &subjects);
    Config {
        program: Some(program),
        threads: 1,
        ..place.config(&queries, &subjects)
    }
}

/// Genes, and relatives of them in genomes that have N and what stands for several bases.
fn genes(random: &mut Random) -> (String, Vec<String>) {
    let mut bases = |length: usize| -> String {
        let base = |_| char::from(b"ACGT"[random.below(4)]);
        (0..length).map(base).collect()
    };
    let genes: Vec<String> = (0..12).map(|number| bases(80 + 50 * number)).collect();
    let mut subjects = Vec::new();
    for number in 0..30 {
        let mut text = bases(300 + 40 * number);
        for place in 0..4 {
            let gene = &genes[(number * 7 + place * 5) % genes.len()];
            text += &gene
                .replacen("GAT", "GRT", place % 3)
                .replacen("CCA", "CTA", place);
            text += &bases(200);
            text += if place == 2 { "NNNNNN" } else { "" };
        }
        subjects.push(format!(">g{number} of a genome\n{text}\n"));
    }
    let queries = genes.iter().enumerate();
    let queries = queries.map(|(number, gene)| format!(">q{number}\n{gene}\n"));
    (queries.collect(), subjects)
}

/// A database of the subjects of a search, with their masks.
fn gysd(place: &Place, config: &Config) -> PathBuf {
    let path = place.0.path().join("s.gysd");
    let molecule = match config.program {
        Some(Program::Blastp) => Molecule::Protein,
        _ => Molecule::Nucleotide,
    };
    let mut writer = Writer::create(&path, molecule)
        .unwrap()
        .keeping_masks()
        .unwrap();
    let source = SequenceSource::open(&config.subjects[0]).unwrap();
    let each =
        |entry: &gyrase_seqdb::Entry, _| writer.push(entry.title, entry.letters, entry.taxids);
    source.each::<SeqDbError>(each).unwrap();
    writer.finish(None).unwrap();
    path
}

#[test]
fn no_alignment_begins_in_a_soft_mask_and_none_goes_through_a_hard_one() {
    let other = "CCTAGGATTCAAGCTTCCTTAGGCAACCTTGGAACTCGAGTTCCATTGAACCTAG";
    let (half, whole) = (lower(GENE, 30, GENE.len()), GENE.to_lowercase());
    let genes = [("plain", GENE), ("half", &half), ("whole", &whole)];
    let genomes = genes.map(|(name, gene)| format!(">{name}\n{other}{gene}{other}\n"));
    let (half, whole) = (lower(PROTEIN, 25, PROTEIN.len()), PROTEIN.to_lowercase());
    let proteins = [("plain", PROTEIN), ("half", &half), ("whole", &whole)];
    let proteins = proteins.map(|(name, protein)| format!(">{name}\n{protein}\n"));
    let [gene, protein] = [GENE, PROTEIN].map(|letters| format!(">q\n{letters}\n"));
    for (program, query, subjects) in [
        (Program::Blastn, &gene, &genomes),
        (Program::Megablast, &gene, &genomes),
        (Program::DcMegablast, &gene, &genomes),
        (Program::Tblastn, &protein, &genomes),
        (Program::Tblastx, &gene, &genomes),
        (Program::Blastp, &protein, &proteins),
        (Program::Blastx, &gene, &proteins),
    ] {
        let place = Place::new();
        let mut config = place.config(query, subjects);
        config.program = Some(program);
        config.limits.max_hsps = 1;
        let mut found = |db_mask| -> Vec<(String, u32, u32)> {
            config.db_mask = db_mask;
            let table = table(&config).unwrap();
            let rows = table.lines().map(|row| {
                let row: Vec<&str> = row.split('\t').collect();
                let [from, to] = [6, 7].map(|at| row[at].parse::<u32>().unwrap());
                (row[1].to_owned(), from.min(to), from.max(to))
            });
            let mut rows: Vec<_> = rows.collect();
            rows.sort();
            rows
        };
        let names = |rows: &[(String, u32, u32)]| -> Vec<String> {
            rows.iter().map(|(name, ..)| name.clone()).collect()
        };
        let all = found(DatabaseMask::Ignored);
        assert_eq!(names(&all), ["half", "plain", "whole"], "{program:?}");
        let soft = found(DatabaseMask::Soft);
        assert_eq!(soft, all[..2], "{program:?}");
        let hard = found(DatabaseMask::Hard);
        assert_eq!(hard.last(), all.get(1), "{program:?}");
        assert!(hard.iter().all(|row| row.0 != "whole"), "{program:?}");
        if let [half, _] = &hard[..] {
            assert!(half.2 - half.1 < all[0].2 - all[0].1, "{program:?}");
        }
    }
}

#[test]
fn every_way_gives_the_same_bytes() {
    for program in [
        Program::Blastp,
        Program::Blastn,
        Program::Megablast,
        Program::Tblastx,
    ] {
        let place = Place::new();
        let config = made(&place, program);
        let plain = report(&config, "0").unwrap();
        let [soft, hard] = BOTH.map(|db_mask| {
            let whole = Config {
                db_mask,
                ..config.clone()
            };
            let expected = report(&whole, "0").unwrap();
            assert!(expected.len() > 5_000, "{program:?}: {}", expected.len());
            let kept = gysd(&place, &whole);
            for subjects in [whole.subjects.clone(), vec![kept]] {
                let mut own = Config {
                    subjects,
                    threads: 3,
                    ..whole.clone()
                };
                assert!(
                    report(&own, "0").unwrap() == expected,
                    "{program:?} {db_mask:?}"
                );
                own.threads = 1;
                if db_mask == DatabaseMask::Hard {
                    assert!(in_parts(&mut own) == expected, "{program:?} in parts");
                }
                let ranks = on_ranks(&place, &own);
                assert!(ranks == expected, "{program:?} {db_mask:?} on ranks");
            }
            expected
        });
        assert!(
            plain != soft && plain != hard && soft != hard,
            "{program:?}"
        );
    }
}

/// The report with the least memory that is enough, in which there are parts.
fn in_parts(config: &mut Config) -> String {
    let whole = config.memory;
    let least = |memory| {
        let own = Config {
            memory,
            ..config.clone()
        };
        match report(&own, "0") {
            Ok(_) => None,
            Err(SearchError::Memory { least }) => Some(least),
            Err(SearchError::Matches { .. }) => Some(memory),
            Err(error) => panic!("{error}"),
        }
    };
    let mut memory = (16 << 20) + (64 << 10);
    while let Some(more) = least(memory) {
        memory = more.max(memory + (memory - (16 << 20)) / 8);
    }
    assert!(memory < whole);
    config.memory = memory;
    let progress = Progress::default();
    let found = crate::families::report_with(config, "0", &progress).unwrap();
    let stages = progress.stages();
    assert!(stages.iter().any(|stage| stage.name == "merge"), "{memory}");
    found
}

/// The report of three processes.
fn on_ranks(place: &Place, config: &Config) -> String {
    let target = place.0.path().join("ranks.txt");
    let done = testing::run(3, Steal::Off, |world| {
        let mut own = config.clone();
        // A sixteenth is for text that waits.
        own.memory = own.memory / 15 * 16 + 16;
        let about = About {
            program: "2.12.0+".into(),
            database: "proteins.faa".into(),
            evalue: own.limits.evalue,
        };
        let report = Report::new("0".parse().unwrap(), about);
        let to = ReportTarget::File(&target);
        run_in(&own, &report, world, to, &Progress::default())
    });
    done.into_iter().for_each(|done| drop(done.unwrap()));
    std::fs::read_to_string(&target).unwrap()
}

#[test]
fn a_database_without_masks_is_told() {
    let place = Place::new();
    let query = format!(">q\n{PROTEIN}\n");
    for (subject, expected) in [(PROTEIN.to_owned(), true), (lower(PROTEIN, 3, 5), false)] {
        let mut config = place.config(&query, &[format!(">s\n{subject}\n")]);
        let lacks = |config: &Config| {
            let done = run::<SearchError>(config, &Progress::default(), |_| Ok(()));
            done.unwrap().lacks_masks
        };
        assert!(!lacks(&config));
        for db_mask in BOTH {
            config.db_mask = db_mask;
            assert_eq!(lacks(&config), expected, "{db_mask:?}");
        }
    }
}

#[test]
fn what_is_masked_in_the_subject_is_explained() {
    let other = "CCTAGGATTCAAGCTTCCTTAGGCAACCTTGGAACTCGAGTTCCATTGAACCTAG";
    let genome = format!("{other}{}{other}", GENE.to_lowercase());
    let [gene, protein] = [GENE, PROTEIN].map(|letters| format!(">q\n{letters}\n"));
    let proteins = PROTEIN.to_lowercase();
    for (program, query, subject) in [
        (Program::Blastn, &gene, &genome),
        (Program::Tblastn, &protein, &genome),
        (Program::Blastp, &protein, &proteins),
        (Program::Blastx, &gene, &proteins),
    ] {
        let place = Place::new();
        let mut config = place.config(query, &[format!(">s\n{subject}\n")]);
        config.program = Some(program);
        let left_out =
            |config: &Config| match explain(config, ["q", "s"], &Progress::default()).unwrap() {
                Explained::Steps(steps) => steps.left_out(),
                Explained::Brief(brief) => brief.left_out(),
            };
        assert_eq!(left_out(&config), None, "{program:?}");
        for db_mask in BOTH {
            config.db_mask = db_mask;
            let expected = Some(LeftOut::MaskedInSubject);
            assert_eq!(left_out(&config), expected, "{program:?} {db_mask:?}");
        }
    }
}

/// Where no seeds are looked for there are none that a soft mask could forbid.
#[test]
fn an_exhaustive_search_knows_hard_masks_alone() {
    let place = Place::new();
    let mut config = made(&place, Program::Blastp);
    config.sensitivity = Sensitivity::Exhaustive;
    let plain = table(&config).unwrap();
    let [soft, hard] = BOTH.map(|db_mask| {
        table(&Config {
            db_mask,
            ..config.clone()
        })
        .unwrap()
    });
    assert!(soft == plain && hard != plain);
}

/// `blastn -dust no -db_hard_mask` of BLAST+ 2.12, whose masks are B and not N.
#[test]
fn hidden_bases_cost_what_they_cost_in_blast() {
    let place = Place::new();
    // Of CGT each costs 3 with blastn, of A 5: 2 for what does not match, and 1 or 3 more.
    let own = |from: usize| lower(GENE, from, from + 1);
    let at = |base: char| GENE[40..].find(base).unwrap() + 40;
    let subjects = ['A', 'C', 'G', 'T'].map(|base| format!(">{base}\n{}\n", own(at(base))));
    let mut config = place.config(&format!(">q\n{GENE}\n"), &subjects);
    (config.program, config.db_mask) = (Some(Program::Blastn), DatabaseMask::Hard);
    let rows = report(&config, "6 sseqid score").unwrap();
    let all = 2 * GENE.len();
    for (base, cost) in [('A', 5), ('C', 3), ('G', 3), ('T', 3)] {
        let expected = format!("{base}\t{}", all - cost);
        assert!(
            rows.lines().any(|row| row == expected),
            "{expected} of\n{rows}"
        );
    }
}
