//! A file that several processes share is read whole, or one of them has an error.

use std::path::Path;

use gyrase_fastx::{Error, Options, PairedReader, SharedFile};
use gyrase_seq::Batch;

use crate::harness::rest_of;
use crate::oracle::{self, Record};

/// The numbers of processes.
const PROCESSES: [usize; 5] = [1, 2, 3, 7, 40];

fn options(batch_bytes: usize) -> Options {
    Options {
        batch_bytes,
        whole_records: true,
        ..Options::default()
    }
}

/// Where shares begin, and where the last one ends.
fn starts(file: &SharedFile, of: usize) -> Result<Vec<u64>, Error> {
    let mut starts = vec![file.bytes().end];
    for number in (0..of).rev() {
        let next = starts[starts.len() - 1];
        starts.push(file.start(number, of)?.unwrap_or(next));
    }
    starts.reverse();
    Ok(starts)
}

/// The records of all shares; nothing of a file that cannot be shared.
pub fn read_in_shares(
    path: &Path,
    batch_bytes: usize,
    of: usize,
) -> Result<Option<Vec<Record>>, Error> {
    let Some(file) = SharedFile::open(path, &options(batch_bytes))? else {
        return Ok(None);
    };
    let mut records = Vec::new();
    for share in starts(&file, of)?.windows(2) {
        records.extend(rest_of(&mut file.reader(share[0]..share[1])?)?);
    }
    Ok(Some(records))
}

/// That shares give these records, or one of them has an error; whether they gave them.
pub fn check_shares(path: &Path, batch_bytes: usize, want: Option<&[Record]>) -> bool {
    let all = PROCESSES.map(|of| match read_in_shares(path, batch_bytes, of) {
        Ok(Some(found)) => {
            assert_eq!(Some(&found[..]), want, "{of} shares of {}", path.display());
            true
        }
        Ok(None) | Err(_) => false,
    });
    all == [true; PROCESSES.len()]
}

/// Reads of a few to many bases, whose qualities begin as headers do.
fn reads(count: usize) -> String {
    let read = |number: usize| {
        let bases = "GATTACA".repeat(1 + number % 40);
        format!("@r{number}\n{bases}\n+\n@{}\n", "I".repeat(bases.len() - 1))
    };
    (0..count).map(read).collect()
}

#[test]
fn reads_in_lines_of_four_are_shared() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("reads.fq");
    for text in [reads(300), reads(1), reads(7).replace('\n', "\r\n")] {
        std::fs::write(&path, &text).expect("a file");
        let want = oracle::parse(text.as_bytes());
        assert!(check_shares(&path, 300, want.as_deref()));
    }
    std::fs::write(&path, ">a\nACGT\n").expect("a file");
    let fasta = SharedFile::open(&path, &options(300)).expect("it is FASTA");
    assert!(fasta.is_none());
}

#[test]
fn mates_are_found_in_other_shares() {
    let folder = tempfile::tempdir().expect("a folder");
    let [one, two] = ["one.fq", "two.fq"].map(|name| folder.path().join(name));
    let mate = |number: usize| {
        let [bases, qualities] = ["C", "I"].map(|letter| letter.repeat(1 + number / 20));
        format!("@r{number}\n{bases}\n+\n{qualities}\n")
    };
    let mates: String = (0..300).map(mate).collect();
    std::fs::write(&one, reads(300)).expect("a file");
    std::fs::write(&two, mates).expect("a file");
    let open = |path: &Path| {
        let file = SharedFile::open(path, &options(200)).expect("a file of records");
        file.expect("it is plain FASTQ")
    };
    let (one, two) = (open(&one), open(&two));
    let (mut first, mut second) = (Batch::default(), Batch::default());
    for from in [0, 1, 150, 299, 300] {
        for pairs in [0, 1, 17, 300 - from] {
            let pairs = pairs.min(300 - from);
            let start = reads(from as usize).len() as u64;
            let own = one.reader(start..one.bytes().end).expect("records");
            let all = two.reader(two.bytes()).expect("records");
            let mut both = PairedReader::of_share(own, all, from, pairs);
            let mut numbers = Vec::<u64>::new();
            while both
                .next_batches(&mut first, &mut second)
                .expect("mates in step")
            {
                assert_eq!(first.records.len(), second.records.len());
                for record in &second.records {
                    let name = String::from_utf8_lossy(second.bytes(record.name)).into_owned();
                    numbers.push(name[1..].parse().expect("a number"));
                }
            }
            assert!(
                numbers.into_iter().eq(from..from + pairs),
                "{pairs} from {from}"
            );
        }
    }
}
