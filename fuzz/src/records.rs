//! Readers of FASTA and FASTQ.

use std::collections::BTreeMap;
use std::io::{Cursor, Write};
use std::path::PathBuf;

use gyrase_fastx::{Alphabet, Error, Inputs, Options, Reader};
use gyrase_seq::Batch;

/// Length of the words by which readings are compared.
const K: usize = 4;

/// Name, letters, qualities.
type Whole = (Vec<u8>, Vec<u8>, Vec<u8>);

fn whole_records(bytes: &[u8], batch_bytes: usize) -> Result<Vec<Whole>, Error> {
    let options = Options {
        batch_bytes,
        whole_records: true,
        ..Options::default()
    };
    let mut reader = Reader::from_read("input", Cursor::new(bytes.to_vec()), &options)?;
    let (mut batch, mut found) = (Batch::default(), Vec::new());
    while reader.next_batch(&mut batch)? {
        for record in &batch.records {
            let [name, letters, qualities] = [record.name, record.letters, record.qualities]
                .map(|span| batch.bytes(span).to_vec());
            assert!(
                qualities.is_empty() || qualities.len() == letters.len(),
                "lengths differ in an accepted record"
            );
            assert!(
                !letters.iter().any(|letter| b"\r\n".contains(letter)),
                "a line end among the letters"
            );
            found.push((name, letters, qualities));
        }
    }
    Ok(found)
}

/// Records do not depend on the size of the batches that they come in; what is accepted is well
/// formed.
pub fn fastx(data: &[u8]) {
    let Some((&choice, text)) = data.split_first() else {
        return;
    };
    let small = whole_records(text, 64 + usize::from(choice));
    let large = whole_records(text, 1 << 20);
    match (small, large) {
        (Ok(small), Ok(large)) => assert!(small == large, "records depend on the size of batches"),
        (Err(_), Err(_)) => {}
        (small, large) => panic!(
            "accepted with one size of batches only: {:?} {:?}",
            small.err(),
            large.err()
        ),
    }
}

/// Adds the words of all records. A part of a record repeats the end of the part before.
fn add_words(batch: &Batch, found: &mut Vec<Vec<u8>>) {
    for record in &batch.records {
        found.extend(batch.bytes(record.letters).windows(K).map(<[u8]>::to_vec));
    }
}

/// Words of all batches, sorted.
fn words(next: &mut dyn FnMut(&mut Batch) -> Result<bool, Error>) -> Result<Vec<Vec<u8>>, Error> {
    let (mut batch, mut found) = (Batch::default(), Vec::new());
    while next(&mut batch)? {
        add_words(&batch, &mut found);
    }
    found.sort_unstable();
    Ok(found)
}

/// Each chunk by itself, so that every border is mended.
fn words_of_chunks(inputs: &Inputs, bytes: u64) -> Result<Vec<Vec<u8>>, Error> {
    let chunks = inputs.chunks(bytes, 1);
    let (mut batch, mut found) = (Batch::default(), Vec::new());
    let (mut sent_back, mut borders) = (BTreeMap::new(), Vec::new());
    for number in 0..chunks.count() {
        let mut chunk = chunks.read(number);
        while chunk.next_batch(&mut batch)? {
            add_words(&batch, &mut found);
            sent_back.extend(chunk.send_back());
        }
        sent_back.extend(chunk.send_back());
        borders.extend(chunk.into_border()?);
    }
    while let Some(border) = borders.pop() {
        let bytes = sent_back
            .remove(&border.chunk())
            .expect("the next chunk sends back what is not its own");
        sent_back.extend(chunks.join(border, &bytes, &mut batch)?);
        add_words(&batch, &mut found);
    }
    found.sort_unstable();
    Ok(found)
}

/// In chunks of so many bytes, or in ranges that any thread takes.
fn words_in_parts(
    path: PathBuf,
    options: &Options,
    chunk: Option<u64>,
) -> Result<Vec<Vec<u8>>, Error> {
    let attempt = |serial| {
        let inputs = Inputs::open(
            std::slice::from_ref(&path),
            Options {
                serial,
                ..options.clone()
            },
        )?;
        match chunk {
            Some(bytes) => words_of_chunks(&inputs, bytes),
            None => words(&mut |batch| inputs.next_batch(batch)),
        }
    };
    match attempt(false) {
        Err(error) if error.needs_serial() => attempt(true),
        done => done,
    }
}

/// A plain file read in byte ranges or in chunks gives the same words as the same file read from
/// front to end, or all refuse it.
pub fn ranges(data: &[u8]) {
    let Some((&choice, text)) = data.split_first() else {
        return;
    };
    // Whether letters look like a protein is judged on what is there of a record, so it may differ
    // between parts and wholes.
    let alphabet = Alphabet::Any;
    let options = Options {
        batch_bytes: 64 + usize::from(choice),
        alphabet,
        ..Options::for_kmers(K)
    };
    let mut file = tempfile::NamedTempFile::new().expect("the system has room for a small file");
    file.write_all(text)
        .expect("the system has room for a small file");
    let front_to_end = Reader::from_read("input", Cursor::new(text.to_vec()), &options)
        .and_then(|mut reader| words(&mut |batch| reader.next_batch(batch)));
    for chunk in [None, Some(1 + u64::from(choice))] {
        match (
            words_in_parts(file.path().to_path_buf(), &options, chunk),
            &front_to_end,
        ) {
            (Ok(parts), Ok(whole)) => assert!(
                parts == *whole,
                "words depend on where a file is cut ({chunk:?})"
            ),
            (Err(_), Err(_)) => {}
            (parts, whole) => {
                panic!(
                    "accepted in one way only ({chunk:?}): {:?} {:?}",
                    parts.err(),
                    whole.as_ref().err()
                )
            }
        }
    }
}
