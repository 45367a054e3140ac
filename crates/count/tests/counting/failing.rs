//! Bad inputs, in memory and out of core: an error with a name, and nothing left behind.

use std::io::Write;
use std::path::Path;

use gyrase_count::{Config, Error, run};
use gyrase_tabulate::TabulateError;
use gyrase_work::Progress;

use crate::runs::{Place, done, least};
use crate::spilling::genome;

fn refused(place: &Place, config: &Config, words: &str) {
    let error = run(config, &Progress::default()).unwrap_err();
    let message = error.to_string();
    assert!(
        matches!(error, Error::Tabulate(TabulateError::Input(_))),
        "{message}"
    );
    assert!(message.contains(words), "{message}");
    assert_eq!(place.left(), [""; 0], "{message}");
}

#[test]
fn bad_files_leave_nothing() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fastx/tests/corpus");
    let index = std::fs::read_to_string(folder.join("index.tsv")).unwrap();
    for line in index.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        if fields.get(1) != Some(&"invalid") {
            continue;
        }
        for threads in [1, 3] {
            let place = Place::new();
            let good = place.input("good.fa", b">r\nACGTACGTACGATCGATCGATCGATCGACT\n");
            let mut config = place.config(&[good, folder.join(fields[0])], 7, false);
            (config.threads, config.resume) = (threads, threads == 3);
            refused(&place, &config, fields[2]);
        }
    }
}

#[test]
fn an_output_that_was_there_stays_when_the_run_fails() {
    let place = Place::new();
    let good = place.input("good.fa", b">r\nACGTACGTACGATCGATCGATCGATCGACT\n");
    let bad = place.input("bad.fa", b">r\nACGT4CGT\n");
    done(&place.config(&[good], 7, false));
    let before = std::fs::read(place.output()).unwrap();
    run(&place.config(&[bad], 7, false), &Progress::default()).unwrap_err();
    assert!(place.take() == before);
}

#[test]
fn input_that_fails_after_a_spill_leaves_nothing() {
    let place = Place::new();
    let good = genome(&place, 20, 41);
    let text = std::fs::read(&good).unwrap();
    let bad = place.input("bad.fa", &[&text[..], b">bad\nACGT!ACGT\n"].concat());
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&text).unwrap();
    let bytes = encoder.finish().unwrap();
    let cut = place.input("cut.fa.gz", &bytes[..bytes.len() - 1000]);
    for resume in [false, true] {
        for threads in [1, 2] {
            for (inputs, words) in [
                (vec![good.clone(), bad.clone()], "bad"),
                (vec![good.clone(), cut.clone()], "trunc"),
            ] {
                let config = least(Config {
                    resume,
                    threads,
                    ..place.config(&inputs, 31, false)
                });
                refused(&place, &config, words);
            }
        }
    }
}
