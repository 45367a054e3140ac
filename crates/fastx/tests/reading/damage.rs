//! Compressed files that are cut off or changed: an error each, in words that say which.

use std::path::Path;

use gyrase_fastx::{Compression, Error, Format, Inputs, Options, Writer};
use gyrase_seq::Batch;

use crate::harness::{compressed, read_in_order, read_parallel};

/// A text that does not compress to next to nothing.
fn text() -> Vec<u8> {
    let mut state = 9u64;
    let mut text = Vec::new();
    for number in 0..200 {
        text.extend(format!("@read/{number}\n").bytes());
        let mut letters = Vec::new();
        for _ in 0..100 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            letters.push(b"ACGT"[(state >> 62) as usize]);
        }
        text.extend([&letters[..], b"\n+\n", &[b'I'; 100], b"\n"].concat());
    }
    text
}

fn written(path: &Path, text: &[u8], compression: Compression) -> Vec<u8> {
    let mut reader = gyrase_fastx::Reader::from_read(
        "text",
        std::io::Cursor::new(text.to_vec()),
        &Options::default(),
    )
    .unwrap();
    let mut writer = Writer::create(path, Format::Fastq, Some(compression)).unwrap();
    let mut batch = Batch::default();
    while reader.next_batch(&mut batch).unwrap() {
        for index in 0..batch.records.len() {
            writer.write_record(&batch, index).unwrap();
        }
    }
    assert!(!path.exists());
    writer.finish().unwrap();
    std::fs::read(path).unwrap()
}

#[test]
fn what_is_written_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let text = text();
    for compression in Compression::ALL {
        let path = folder.path().join(format!("{compression}"));
        let bytes = written(&path, &text, compression);
        if compression == Compression::Plain {
            assert!(bytes == text);
        }
        let inputs = Inputs::open(std::slice::from_ref(&path), Options::default()).unwrap();
        let input = &inputs.inputs()[0];
        let want = if compression == Compression::Gzip {
            Compression::Bgzf
        } else {
            compression
        };
        assert_eq!(
            (input.compression, input.format),
            (want, Some(Format::Fastq))
        );
        assert_eq!(inputs.total_bytes(), Some(bytes.len() as u64));
        assert_eq!(read_in_order(&path, 1000).unwrap().len(), 200);
        let mut batch = Batch::default();
        while inputs.next_batch(&mut batch).unwrap() {}
        assert_eq!(inputs.read_bytes(), bytes.len() as u64, "{compression}");
    }
}

#[test]
fn any_text_is_decompressed_and_damage_is_told() {
    let text = text();
    for (name, bytes) in compressed(&text) {
        let read = |bytes: &[u8]| {
            let mut found = Vec::new();
            let mut reader =
                gyrase_fastx::decompress(std::io::Cursor::new(bytes.to_vec())).unwrap();
            std::io::Read::read_to_end(&mut reader, &mut found).map(|_| found)
        };
        assert!(read(&bytes).unwrap() == text, "{name}");
        // Multi-member files may end behind a member.
        if matches!(name, "gz" | "zst" | "bz2" | "xz") {
            assert_eq!(
                read(&bytes[..bytes.len() - 9]).unwrap_err().kind(),
                std::io::ErrorKind::UnexpectedEof,
                "{name}"
            );
        }
    }
    assert_eq!(
        std::io::copy(
            &mut gyrase_fastx::decompress(&b""[..]).unwrap(),
            &mut std::io::sink()
        )
        .unwrap(),
        0
    );
}

#[test]
fn cut_files_are_called_truncated() {
    let folder = tempfile::tempdir().unwrap();
    let text = text();
    for compression in &Compression::ALL[2..] {
        let path = folder.path().join(format!("cut.{compression}"));
        let bytes = written(&path, &text, *compression);
        for part in 1..20 {
            let length = bytes.len() * part / 20;
            std::fs::write(&path, &bytes[..length]).unwrap();
            for batch_bytes in [300, 1 << 20] {
                let error = read_in_order(&path, batch_bytes).unwrap_err();
                check_truncated(&error, length, *compression);
                check_truncated(
                    &read_parallel(&path, 5, batch_bytes, 2).unwrap_err(),
                    length,
                    *compression,
                );
            }
        }
    }
}

fn check_truncated(error: &Error, length: usize, compression: Compression) {
    let message = error.to_string();
    assert!(
        matches!(error, Error::Truncated { .. }),
        "{compression} cut to {length}: {message}"
    );
    assert!(
        message.contains(&format!("after {length} bytes")),
        "{message}"
    );
    assert!(message.contains("truncated"), "{message}");
}

#[test]
fn changed_files_are_never_read_to_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let text = text();
    for (name, bytes) in compressed(&text)
        .into_iter()
        .filter(|(name, _)| *name != "plain")
    {
        let path = folder.path().join(name);
        for place in (30..bytes.len() - 200).step_by(bytes.len() / 40) {
            let mut changed = bytes.clone();
            changed[place] ^= 0x55;
            std::fs::write(&path, changed).unwrap();
            // A change that hurts nothing (a time stamp in a header) leaves the text as it was.
            if let Ok(records) = read_in_order(&path, 1 << 20) {
                assert!(
                    records == crate::oracle::parse(&text).unwrap(),
                    "{name}: byte {place}"
                );
            }
            let _ = read_parallel(&path, 5, 500, 3);
        }
    }
}

#[test]
fn a_record_without_room_is_named_in_every_way_of_reading() {
    let folder = tempfile::tempdir().unwrap();
    let record = |name: &str, length: usize| {
        format!(
            "@{name}\n{}\n+\n{}\n",
            "A".repeat(length),
            "I".repeat(length)
        )
    };
    let text = record("short", 100).repeat(50) + &record("long", 30_000) + &record("short", 100);
    for (name, bytes) in compressed(text.as_bytes()) {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        for batch_bytes in [500, 5000, 1 << 20] {
            let read = |longest_record, threads| {
                let options = Options {
                    batch_bytes,
                    longest_record,
                    ..Options::for_kmers(5)
                };
                crate::harness::read_with(&path, 5, &options, threads)
            };
            for threads in [1, 3] {
                assert_eq!(read(61_000, threads).unwrap().records, 52);
                // With all of the file in one batch there is nothing to gather.
                let Err(error) = read(10_000, threads) else {
                    assert!(batch_bytes > text.len());
                    continue;
                };
                assert!(error.is_memory(), "{name}: {error}");
                let message = error.to_string();
                for word in ["record 51 (\"long\"), line 201", "10000 bytes", "room for"] {
                    assert!(message.contains(word), "{name}, {batch_bytes}: {message}");
                }
            }
        }
    }
}

#[test]
fn a_later_window_above_the_limit_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("windows.zst");
    let frame = |log: u32| {
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(log).unwrap();
        std::io::Write::write_all(&mut encoder, &text()).unwrap();
        encoder.finish().unwrap()
    };
    std::fs::write(&path, [frame(20), frame(25)].concat()).unwrap();
    let read = |most_window| {
        let options = Options {
            most_window,
            ..Options::for_kmers(5)
        };
        crate::harness::read_with(&path, 5, &options, 2)
    };
    assert_eq!(read(1 << 25).unwrap().records, 400);
    let error = read(1 << 24).unwrap_err();
    assert!(
        error.is_memory()
            && error.to_string().contains("windows.zst")
            && error
                .to_string()
                .contains("within the memory that is given")
    );
    // What the first bytes ask for was granted by whoever opened the input.
    std::fs::write(&path, frame(25)).unwrap();
    assert_eq!(read(1 << 24).unwrap().records, 200);
}

#[test]
fn rubbish_behind_a_gzip_member_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rubbish.gz");
    for name in ["gz", "bgzf.gz"] {
        let all = compressed(&text());
        let bytes = &all.iter().find(|(found, _)| *found == name).unwrap().1;
        std::fs::write(&path, [&bytes[..], b"rubbish"].concat()).unwrap();
        let error = read_in_order(&path, 1 << 20).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{error}");
    }
}

#[test]
fn zeros_in_the_place_of_blocks_are_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("zeros.gz");
    let all = compressed(&text());
    let bytes = &all.iter().find(|(found, _)| *found == "bgzf.gz").unwrap().1;
    let marker = bytes.len() - 28;
    std::fs::write(&path, [&bytes[..marker], &[0; 5000]].concat()).unwrap();
    for threads in [1, 3] {
        let error = read_parallel(&path, 5, 1000, threads).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{error}");
        assert!(error.to_string().contains("zeros"), "{error}");
    }
    // Behind a file that is whole they are the padding of tapes and blocks.
    std::fs::write(&path, [&bytes[..], &[0; 5000]].concat()).unwrap();
    assert_eq!(read_in_order(&path, 1 << 20).unwrap().len(), 200);
}
