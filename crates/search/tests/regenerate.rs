//! Reports from metadata: those of the search, byte for byte, or none.

#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

use std::path::PathBuf;

use gyrase_search::{
    About, BestHit, Config, DatabaseMemory, MetadataError, Molecule, OpenDatabase, Program, Report,
    ReportFormat, SearchError, SearchMetadata, Sensitivity, regenerate, run,
};
use gyrase_work::Progress;

use crate::families::{Place, Random, codon, families, report, usual};

/// What reports of these tests say of the search.
fn about(config: &Config) -> About {
    About {
        program: "2.12.0+".into(),
        database: "proteins.faa".into(),
        evalue: config.limits.evalue,
    }
}

/// The metadata of a search, with alignments or without.
fn metadata(place: &Place, config: &Config, alignments: bool) -> PathBuf {
    let format = ReportFormat::metadata(vec!["--top=3".into()], alignments);
    let path = place.0.path().join("hits.gym");
    std::fs::write(&path, written(config, format)).unwrap();
    path
}

/// What a search gives in a format.
fn written(config: &Config, format: ReportFormat) -> Vec<u8> {
    let (report, mut out) = (Report::new(format, about(config)), Vec::new());
    let found = run::<SearchError>(config, &Progress::default(), |answer| {
        report.answer(&mut out, answer).unwrap();
        Ok(())
    });
    report
        .finish(&mut out, found.unwrap().queries as usize)
        .unwrap();
    out
}

/// The report that metadata with alignments make in an open database, of all queries but the first.
fn told(config: &Config, format: &str) -> String {
    let metadata = ReportFormat::metadata(Vec::new(), true);
    let metadata = written(config, metadata);
    let metadata = SearchMetadata::of_bytes(&config.queries[0], &metadata).unwrap();
    let (files, progress) = (config.subjects.clone(), Progress::default());
    let open =
        OpenDatabase::open(files, &DatabaseMemory::new(config.memory, 0), 1, &progress).unwrap();
    let report = Report::new(format.parse().unwrap(), about(config));
    let (mut out, mut own) = (Vec::new(), None);
    let asked = (&metadata, 1..metadata.queries());
    open.answers_again::<SearchError>(config, asked, &progress, |answer| {
        let own = own.get_or_insert_with(|| answer.queries.excerpt(1..answer.queries.len()));
        report.answer(&mut out, &answer.of_part(own, 1)).unwrap();
        Ok(())
    })
    .unwrap();
    report.finish(&mut out, metadata.queries() - 1).unwrap();
    String::from_utf8(out).unwrap()
}

/// The same search without the first query.
fn without_first(place: &Place, config: &Config) -> Config {
    let queries = std::fs::read_to_string(&config.queries[0]).unwrap();
    let second = 1 + queries[1..].find('>').unwrap();
    Config {
        queries: vec![place.write("rest.fa", &queries[second..])],
        ..config.clone()
    }
}

/// The report that metadata make.
fn again(config: &Config, metadata: &SearchMetadata, format: &str) -> Result<String, SearchError> {
    let report = Report::new(format.parse().unwrap(), about(config));
    let mut out = Vec::new();
    let found = regenerate::<SearchError>(config, metadata, &Progress::default(), |answer| {
        report.answer(&mut out, answer).unwrap();
        Ok(())
    })?;
    report.finish(&mut out, found.queries as usize).unwrap();
    Ok(String::from_utf8(out).unwrap())
}

/// A search of families of proteins with ties and strangers, or of what codes for them.
fn made(place: &Place, program: Program) -> Config {
    let mut random = Random::new();
    let (queries, mut subjects) = families(&mut random);
    subjects.extend(subjects.clone());
    let mut queries: Vec<String> = queries
        .split('>')
        .skip(1)
        .map(|one| format!(">{one}"))
        .collect();
    queries.push(">alone\nWWWWWHHHHHCCCCCMMMMMWWWW\n".into());
    let coded = |text: &mut String| {
        let (title, protein) = text.trim_end().split_once('\n').unwrap();
        *text = format!(
            "{title}\n{}\n",
            protein.chars().map(codon).collect::<String>()
        );
    };
    for (molecule, texts) in program
        .molecules()
        .iter()
        .zip([&mut queries, &mut subjects])
    {
        if *molecule == Molecule::Nucleotide {
            texts.iter_mut().for_each(coded);
        }
    }
    let mut config = place.config(&queries.concat(), &subjects);
    config.program = Some(program);
    config.limits.evalue = 10.0;
    config
}

#[test]
fn any_report_is_made_again() {
    for (program, round, formats) in [
        (Program::Blastp, 1, ["0", "5"]),
        (Program::Blastp, 2, ["6 std qcovs stitle", "html"]),
        (Program::Blastn, 3, ["17", "6"]),
        (Program::Tblastn, 0, ["7", "16"]),
        (Program::Blastx, 0, ["paf", "jsonl"]),
    ] {
        let place = Place::new();
        let mut config = made(&place, program);
        config.limits.top = [500, 3, 5, 500][round];
        config.limits.culling.limit = (round == 2).then_some(1);
        config.limits.culling.best_hit = (round == 3).then_some(BestHit {
            overhang: 0.1,
            score_edge: 0.1,
        });
        let read = |alignments| SearchMetadata::read(&metadata(&place, &config, alignments));
        let both = [false, true].map(|alignments| read(alignments).expect("metadata"));
        for found in &both {
            assert_eq!(found.parameters(), ["--top=3"]);
            assert_eq!(found.program(), Some(program));
        }
        for format in formats {
            let expected = report(&config, format).unwrap();
            for found in &both {
                let made = again(&config, found, format).expect("a report");
                assert!(
                    made == expected,
                    "{program:?}, round {round}, format {format}"
                );
            }
        }
        let rest = without_first(&place, &config);
        let told = told(&config, formats[0]);
        assert!(told == report(&rest, formats[0]).unwrap(), "{program:?}");
    }
}

#[test]
fn files_of_version_1_are_read() {
    let golden = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden"));
    let [queries, subjects] =
        ["queries", "subjects"].map(|name| golden.join(format!("nucleotide-{name}.fna")));
    let config = Config {
        program: Some(Program::Blastn),
        ..usual(queries, subjects)
    };
    let found = SearchMetadata::read(&golden.join("nucleotide.gym")).unwrap();
    assert_eq!(found.parameters(), ["--program=blastn", "--evalue=1e-3"]);
    assert_eq!(found.database(), "nucleotide-subjects.fna");
    let (expected, made) = (report(&config, "6").unwrap(), again(&config, &found, "6"));
    assert_eq!(made.unwrap(), expected);
}

#[test]
fn a_database_that_the_memory_does_not_take_is_searched_in_parts() {
    let place = Place::new();
    let mut config = made(&place, Program::Blastp);
    let expected = report(&config, "5").expect("a report");
    let read = |alignments| SearchMetadata::read(&metadata(&place, &config, alignments));
    let both = [false, true].map(|alignments| read(alignments).expect("metadata"));
    let [found, with_alignments] = both;
    config.threads = 1;
    config.memory = (16 << 20) + (420 << 10);
    for found in [&found, &with_alignments] {
        assert!(again(&config, found, "5").expect("a report") == expected);
    }
    config.sensitivity = Sensitivity::Exhaustive;
    assert!(matches!(
        again(&config, &found, "5"),
        Err(SearchError::OtherAnswer { .. })
    ));
}

#[test]
fn other_inputs_and_damaged_files_are_refused() {
    let place = Place::new();
    let config = made(&place, Program::Blastp);
    let with_alignments = metadata(&place, &config, true);
    let with_alignments = SearchMetadata::read(&with_alignments).expect("metadata");
    let path = metadata(&place, &config, false);
    let found = SearchMetadata::read(&path).unwrap();
    let other = |queries: bool, from: &str, to: &str| {
        let mut config = config.clone();
        let path = if queries {
            &mut config.queries[0]
        } else {
            &mut config.subjects[0]
        };
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from));
        *path = place.write("other.faa", &text.replacen(from, to, 1));
        let [told, same] = [&found, &with_alignments]
            .map(|found| again(&config, found, "6").unwrap_err().to_string());
        assert_eq!(told, same);
        told
    };
    let told = other(true, ">alone\n", ">alone\nA");
    assert!(
        told.contains("is of other queries: 13 sequences, "),
        "{told}"
    );
    let told = other(true, ">alone\n", ">alone 2\n");
    assert!(
        told.contains("is of other queries: 13 sequences, "),
        "{told}"
    );
    let told = other(false, ">s0-0\n", ">more\nMKV\n>s0-0\n");
    assert!(
        told.contains("is of another database, of 216 sequences, "),
        "{told}"
    );
    // What tells nothing beforehand.
    let told = other(false, ">s0-0\n", ">s0-1\n");
    assert!(
        told.contains("of query q0 this database gives another answer"),
        "{told}"
    );
    // A part of the database, which is said to be the whole.
    let whole = std::fs::read_to_string(&config.subjects[0]).unwrap();
    let part = Config {
        subjects: vec![place.write("part.faa", &whole[..whole.len() / 2])],
        db_length: Some(61_662),
        db_sequences: Some(216),
        ..config.clone()
    };
    let told = again(&part, &found, "6").unwrap_err().to_string();
    assert!(told.contains("is of another database, of which "), "{told}");
    let bytes = std::fs::read(&path).unwrap();
    let read = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        SearchMetadata::read(&path)
    };
    for length in 0..bytes.len() {
        assert!(read(&bytes[..length]).is_err(), "{length}");
        let mut damaged = bytes.clone();
        damaged[length] ^= 1 << (length % 8);
        assert!(read(&damaged).is_err(), "byte {length}");
    }
    assert!(matches!(
        read(b">q\nMKV\n"),
        Err(MetadataError::Foreign { .. })
    ));
}

#[test]
fn an_open_database_gives_back_what_sequences_of_some_taxa_took() {
    let place = Place::new();
    let protein = "MKVLAWYGDERTIPLMNVCQHSAAKLEDGIVWRRNPQTSYFHHKE";
    let subjects = [7, 8].map(|taxid| format!(">s{taxid} OX={taxid}\n{protein}\n"));
    let config = place.config(&format!(">q\n{protein}\n"), &subjects);
    let progress = Progress::default();
    let memory = DatabaseMemory::new(64 << 20, 0);
    let open = OpenDatabase::open(config.subjects.clone(), &memory, 1, &progress).unwrap();
    let before = memory.taken();
    let taken = [7, 8, 7].map(|taxid| {
        let mut config = config.clone();
        config.taxids.only = vec![taxid];
        open.check(&config.taxids).unwrap();
        let mut subjects = Vec::new();
        open.search::<SearchError>(&config, &progress, |answer| {
            subjects.extend(
                answer
                    .hits
                    .iter()
                    .map(|hit| answer.subjects.taxids(hit.subject)),
            );
            Ok(())
        })
        .unwrap();
        assert_eq!(subjects, [[taxid]]);
        memory.taken() - before
    });
    assert!(taken[0] > 0 && taken == [taken[0]; 3], "{taken:?}");
}
