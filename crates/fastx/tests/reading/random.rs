//! Random texts: well-formed ones in every shape, and heaps of the bytes that formats are made of.

use proptest::prelude::*;

use crate::chunks::read_in_chunks;
use crate::harness::{Summary, block, read_in_order, read_parallel};
use crate::oracle;
use crate::shares::check_shares;

fn letters(alphabet: &'static [u8]) -> impl Strategy<Value = Vec<u8>> {
    let length = prop_oneof![4 => 0..60usize, 1 => 60..400usize];
    length.prop_flat_map(move |length| {
        proptest::collection::vec(proptest::sample::select(alphabet), length)
    })
}

/// Name, letters, as many qualities.
type Parts = (String, Vec<u8>, Vec<u8>);

fn record() -> impl Strategy<Value = Parts> {
    ("[a-z@>+ ]{0,12}", letters(b"ACGTacgtNnRYU-"), any::<u64>()).prop_map(
        |(name, letters, seed)| {
            let mut state = seed | 1;
            let quality = |_: &u8| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                // Half of them the letters that make trouble at the start of a line.
                if state >> 63 == 0 {
                    b"@+>I"[(state >> 60 & 3) as usize]
                } else {
                    b'!' + (state >> 57) as u8 % 94
                }
            };
            let qualities = letters.iter().map(quality).collect();
            (name.trim().to_owned(), letters, qualities)
        },
    )
}

fn wrapped(letters: &[u8], width: usize, end: &str, text: &mut Vec<u8>) {
    for line in letters.chunks(width) {
        text.extend_from_slice(line);
        text.extend_from_slice(end.as_bytes());
    }
}

fn shape() -> impl Strategy<Value = (Vec<Parts>, usize, &'static str, bool)> {
    let width = prop_oneof![1..10usize, 10..80usize, Just(1 << 20)];
    let end = prop_oneof![3 => Just("\n"), 1 => Just("\r\n")];
    (
        proptest::collection::vec(record(), 0..20),
        width,
        end,
        any::<bool>(),
    )
}

prop_compose! {
    fn fasta()((records, width, end, final_end) in shape()) -> Vec<u8> {
        let mut text = Vec::new();
        for (name, letters, _) in &records {
            text.extend(format!(">{name}{end}").bytes());
            wrapped(letters, width, end, &mut text);
        }
        finish(text, final_end)
    }
}

prop_compose! {
    fn fastq()((records, width, end, final_end) in shape()) -> Vec<u8> {
        let mut text = Vec::new();
        for (name, letters, qualities) in &records {
            text.extend(format!("@{name}{end}").bytes());
            wrapped(letters, width, end, &mut text);
            text.extend(format!("+{end}").bytes());
            wrapped(qualities, width, end, &mut text);
        }
        finish(text, final_end)
    }
}

fn finish(mut text: Vec<u8>, final_end: bool) -> Vec<u8> {
    if !final_end && text.last() == Some(&b'\n') {
        text.pop();
    }
    text
}

/// Bytes of which some heaps are FASTA or FASTQ by chance.
fn heap() -> impl Strategy<Value = Vec<u8>> {
    let piece = proptest::sample::select(vec![
        "@",
        ">",
        "+",
        ";",
        "\n",
        "\n",
        "\n",
        "\r\n",
        "A",
        "ACGT",
        "I",
        "IIII",
        " ",
        "@\nA\n+\nI\n",
        ">a\nAC\n",
        "\n@a\n",
        "E",
        "1",
        "\n+\n",
    ]);
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat().into_bytes())
}

/// All ways of reading agree with the oracle: on the records, or that there is something wrong.
fn check(text: &[u8], batch_bytes: usize, k: usize) -> Result<(), TestCaseError> {
    let want = oracle::parse(text);
    let summary = want.as_ref().map(|records| Summary::of(records, k));
    let file = tempfile::NamedTempFile::new().unwrap();
    let blocks: Vec<u8> = text.chunks(37).flat_map(block).collect();
    for bytes in [text, &blocks] {
        std::fs::write(file.path(), bytes).unwrap();
        let records = read_in_order(file.path(), batch_bytes);
        prop_assert_eq!(
            records.as_ref().ok(),
            want.as_ref(),
            "in order: {:?}",
            records.as_ref().err()
        );
        check_shares(file.path(), batch_bytes, want.as_deref());
        for threads in [1, 2] {
            let found = read_parallel(file.path(), k, batch_bytes, threads);
            prop_assert_eq!(
                found.as_ref().ok(),
                summary.as_ref(),
                "{} threads: {:?}",
                threads,
                found.as_ref().err()
            );
        }
        for chunk in [1, k as u64, batch_bytes as u64 / 3, batch_bytes as u64 * 2] {
            let found = read_in_chunks(
                &[file.path().to_path_buf()],
                k,
                batch_bytes,
                chunk,
                text.len() as u64,
            );
            prop_assert_eq!(
                found.as_ref().ok(),
                summary.as_ref(),
                "chunks of {}: {:?}",
                chunk,
                found.as_ref().err()
            );
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn fasta_of_any_shape(text in fasta(), batch_bytes in 64..400usize, k in 1..40usize) {
        prop_assert!(oracle::parse(&text).is_some());
        check(&text, batch_bytes, k)?;
    }

    #[test]
    fn fastq_of_any_shape(text in fastq(), batch_bytes in 64..400usize, k in 1..40usize) {
        check(&text, batch_bytes, k)?;
    }

    #[test]
    fn heaps_of_pieces(text in heap(), batch_bytes in 64..128usize) {
        check(&text, batch_bytes, 3)?;
    }
}
