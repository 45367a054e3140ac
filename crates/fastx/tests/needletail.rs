//! Names, letters and qualities, compared with needletail.
//!
//! It knows neither wrapped FASTQ nor comments, blank lines before the first record, byte order
//! marks and empty files: what it refuses is left out.

#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

use std::io::Cursor;
use std::path::{Path, PathBuf};

use gyrase_fastx::{Options, Reader};
use gyrase_seq::Batch;
use proptest::prelude::*;

/// Name, letters, qualities.
type Record = (Vec<u8>, Vec<u8>, Vec<u8>);

/// Files that needletail accepts and reads otherwise than we do, on purpose: it keeps spaces as
/// letters of FASTA.
const DIFFERENT: [&str; 1] = ["spaces_in_sequence.fa"];

/// Fewest files of the corpus that needletail must accept for the comparison to mean something.
const ACCEPTED: usize = 40;

fn theirs(text: &[u8]) -> Option<Vec<Record>> {
    let mut reader = needletail::parse_fastx_reader(text).ok()?;
    let mut records = Vec::new();
    while let Some(record) = reader.next() {
        let record = record.ok()?;
        records.push((
            record.id().to_vec(),
            record.seq().into_owned(),
            record.qual().unwrap_or_default().to_vec(),
        ));
    }
    Some(records)
}

fn ours(text: &[u8], batch_bytes: usize) -> Vec<Record> {
    let options = Options {
        batch_bytes,
        whole_records: true,
        ..Options::default()
    };
    let mut reader = Reader::from_read("text", Cursor::new(text.to_vec()), &options).unwrap();
    let (mut batch, mut records) = (Batch::default(), Vec::new());
    while reader.next_batch(&mut batch).unwrap() {
        let part = |span| batch.bytes(span).to_vec();
        records.extend(
            batch
                .records
                .iter()
                .map(|r| (part(r.name), part(r.letters), part(r.qualities))),
        );
    }
    records
}

fn valid_files() -> Vec<(String, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let index = std::fs::read_to_string(folder.join("index.tsv")).unwrap();
    let rows = index
        .lines()
        .map(|line| line.split('\t').collect::<Vec<_>>());
    let valid = rows.filter(|row| row[1] == "valid");
    valid
        .map(|row| (row[0].to_owned(), folder.join(row[0])))
        .collect()
}

#[test]
fn files_that_both_accept_are_read_alike() {
    let mut accepted = 0;
    let mut different = Vec::new();
    for (name, path) in valid_files() {
        let text = std::fs::read(path).unwrap();
        let Some(want) = theirs(&text) else { continue };
        accepted += 1;
        if [64, 1 << 20]
            .iter()
            .any(|&batch_bytes| ours(&text, batch_bytes) != want)
        {
            different.push(name);
        }
    }
    assert_eq!(different, DIFFERENT);
    assert!(
        accepted >= ACCEPTED,
        "needletail accepts {accepted} files only"
    );
}

fn records() -> impl Strategy<Value = Vec<Record>> {
    let base = proptest::sample::select(b"ACGTacgtNnRYU".as_slice());
    let quality = prop_oneof![1 => proptest::sample::select(b"@+>".as_slice()), 3 => b'!'..=b'~'];
    let letters = proptest::collection::vec((base, quality), 1..300);
    let record = ("[a-z@>+]([a-z@>+ \t=]{0,20}[a-z0-9])?", letters);
    let record = record.prop_map(|(name, letters)| {
        let (letters, qualities) = letters.into_iter().unzip();
        (name.into_bytes(), letters, qualities)
    });
    proptest::collection::vec(record, 1..12)
}

fn fasta(records: &[Record], width: usize, end: &str) -> Vec<u8> {
    let mut text = Vec::new();
    for (name, letters, _) in records {
        text.extend([b">", &name[..], end.as_bytes()].concat());
        for line in letters.chunks(width) {
            text.extend([line, end.as_bytes()].concat());
        }
    }
    text
}

fn fastq(records: &[Record], end: &str) -> Vec<u8> {
    let record = |(name, letters, qualities): &Record| {
        [
            b"@",
            &name[..],
            end.as_bytes(),
            letters,
            end.as_bytes(),
            b"+",
            end.as_bytes(),
            qualities,
            end.as_bytes(),
        ]
        .concat()
    };
    records.iter().flat_map(record).collect()
}

fn check(
    mut text: Vec<u8>,
    end: Option<&str>,
    batch_bytes: usize,
    want: &[Record],
) -> Result<(), TestCaseError> {
    if let Some(end) = end {
        text.truncate(text.len() - end.len());
    }
    let read = theirs(&text);
    prop_assert_eq!(read.as_deref(), Some(want), "needletail");
    prop_assert_eq!(ours(&text, batch_bytes), want);
    Ok(())
}

proptest! {
    #[test]
    fn random_records_are_read_alike(
        mut records in records(),
        width in prop_oneof![1..20usize, Just(80), Just(1 << 20)],
        end in prop_oneof![Just("\n"), Just("\r\n")],
        cut in any::<bool>(),
        batch_bytes in 64..400usize,
    ) {
        let cut = cut.then_some(end);
        check(fastq(&records, end), cut, batch_bytes, &records)?;
        let text = fasta(&records, width, end);
        records.iter_mut().for_each(|record| record.2.clear());
        check(text, cut, batch_bytes, &records)?;
    }
}
