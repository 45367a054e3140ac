//! Many files, pipes, pairs, long records, low qualities, and arguments that cannot work.

use std::io::Cursor;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use gyrase_fastx::{Alphabet, Error, Format, Inputs, Options, PairedReader, Reader};
use gyrase_seq::Batch;

use crate::harness::{Summary, block, compressed, read_all, read_parallel, read_with};
use crate::oracle;

fn reader(text: &str, options: &Options) -> Result<Vec<Batch>, Error> {
    let mut reader = Reader::from_read("text", Cursor::new(text.as_bytes().to_vec()), options)?;
    let mut batches = vec![Batch::default()];
    while reader.next_batch(batches.last_mut().unwrap())? {
        batches.push(Batch::default());
    }
    batches.pop();
    Ok(batches)
}

#[test]
fn many_files_of_every_kind_are_read_together() {
    let folder = tempfile::tempdir().unwrap();
    let (mut paths, mut want) = (Vec::new(), Vec::new());
    for (number, text) in [
        ">a\nACGTACGTAA\n>b\nGGGTTTCC\n",
        "@a\nACGTACG\n+\nIIIIIII\n",
        "",
    ]
    .iter()
    .enumerate()
    {
        for (name, bytes) in compressed(text.as_bytes()) {
            let path = folder.path().join(format!("{number}.{name}"));
            std::fs::write(&path, bytes).unwrap();
            paths.push(path);
            want.extend(oracle::parse(text.as_bytes()).unwrap());
        }
    }
    let list = folder.path().join("list");
    let names: Vec<String> = paths
        .iter()
        .map(|path| path.file_name().unwrap().display().to_string())
        .collect();
    std::fs::write(&list, names.join("\n")).unwrap();
    let list = PathBuf::from(format!("@{}", list.display()));
    for threads in [1, 4] {
        let found = read_with(&list, 5, &Options::for_kmers(5), threads).unwrap();
        assert!(found == Summary::of(&want, 5));
    }
    let inputs = Inputs::open(&[list], Options::default()).unwrap();
    assert_eq!(inputs.names().count(), paths.len());
    assert_eq!(inputs.inputs()[0].format, Some(Format::Fasta));
    let seen = Mutex::new(vec![0; paths.len()]);
    let mut batch = Batch::default();
    while inputs.next_batch(&mut batch).unwrap() {
        seen.lock().unwrap()[batch.input] += batch.records.len();
    }
    let seen = seen.into_inner().unwrap();
    let want: Vec<usize> = [2, 1, 0]
        .iter()
        .flat_map(|&count| vec![count; paths.len() / 3])
        .collect();
    assert_eq!(seen, want);
}

#[test]
fn a_pipe_is_read_once_and_in_any_compression() {
    let text = "@a\nACGTACG\n+\nIIIIIII\n".repeat(500);
    for (name, bytes) in compressed(text.as_bytes()) {
        let mut reader =
            Reader::from_read("standard input", Cursor::new(bytes), &Options::default()).unwrap();
        assert_eq!(
            (reader.input().size, reader.input().format),
            (None, Some(Format::Fastq)),
            "{name}"
        );
        let (mut batch, mut count) = (Batch::default(), 0);
        while reader.next_batch(&mut batch).unwrap() {
            count += batch.records.len();
        }
        assert_eq!(count, 500, "{name}");
    }
}

#[test]
fn a_named_pipe_among_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&path)
            .status()
            .unwrap()
            .success()
    );
    let writer = std::thread::spawn({
        let path = path.clone();
        move || std::fs::write(path, ">a\nACGTACGT\n".repeat(100_000)).unwrap()
    });
    let found = read_with(&path, 5, &Options::for_kmers(5), 2).unwrap();
    writer.join().unwrap();
    assert_eq!(
        (found.records, found.kmers[&b"ACGTA"[..]]),
        (100_000, 100_000)
    );
}

#[test]
fn a_chromosome_takes_no_more_memory_than_a_few_batches() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chromosome.fa");
    let line = "ACGTTGCA".repeat(1 << 17);
    std::fs::write(
        &path,
        format!(">long\n{line}\n{}", "ACGTTGCAAC\n".repeat(100_000)),
    )
    .unwrap();
    for serial in [false, true] {
        let options = Options {
            batch_bytes: 10_000,
            serial,
            ..Options::for_kmers(31)
        };
        let inputs = Inputs::open(std::slice::from_ref(&path), options).unwrap();
        let (mut batch, mut letters, mut ends) = (Batch::default(), 0, 0);
        while inputs.next_batch(&mut batch).unwrap() {
            assert!(batch.text.capacity() < 60_000, "{}", batch.text.capacity());
            letters += batch
                .records
                .iter()
                .map(|record| record.letters.len() - record.overlap as usize)
                .sum::<usize>();
            ends += batch
                .records
                .iter()
                .filter(|record| !record.continues)
                .count();
        }
        assert_eq!((letters, ends), ((1 << 20) + 1_000_000, 1));
    }
}

#[test]
fn a_file_that_is_wrapped_later_asks_for_a_serial_reading() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("late.fq");
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let wrapped = std::fs::read_to_string(corpus.join("wrapped_like_records.fq")).unwrap();
    std::fs::write(&path, "@a\nACGT\n+\nIIII\n".repeat(6000) + &wrapped).unwrap();
    let options = Options {
        batch_bytes: 64,
        ..Options::default()
    };
    let error = read_with(&path, 5, &options, 1).unwrap_err();
    assert!(error.needs_serial() && !error.is_usage(), "{error}");
    let found = read_with(
        &path,
        5,
        &Options {
            serial: true,
            ..options.clone()
        },
        3,
    )
    .unwrap();
    assert_eq!(found.records, 6020);
    let pipe = folder.path().join("pipe");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let list = folder.path().join("list");
    std::fs::write(&list, "late.fq\npipe\n").unwrap();
    let writer = std::thread::spawn(move || std::fs::write(pipe, ">a\nACGTACGT\n"));
    let list = PathBuf::from(format!("@{}", list.display()));
    let found = read_with(&list, 5, &options, 2)
        .expect("what stands beside a pipe is read serially at once");
    writer.join().unwrap().unwrap();
    assert_eq!(found.records, 6021);
    let options = Options {
        batch_bytes: 200,
        ..options
    };
    let found = read_with(&corpus.join("wrapped_like_records.fq"), 5, &options, 2);
    assert_eq!(found.expect("wrapping is seen at the start").records, 20);
}

#[test]
fn records_of_four_lines_are_cut_wherever_they_are() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let names = [
        "reads",
        "crlf",
        "plus_name",
        "at_starts_quality",
        "plus_starts_quality",
        "at_alone_quality",
    ];
    for name in names.iter().chain(&[
        "plus_alone_quality",
        "headers_like_quality",
        "long_read",
        "long_header",
    ]) {
        let path = corpus.join(format!("{name}.fq"));
        for batch_bytes in 64..300 {
            let options = Options {
                batch_bytes,
                ..Options::default()
            };
            let found =
                read_with(&path, 5, &options, 1).unwrap_or_else(|error| panic!("{name}: {error}"));
            let want = oracle::parse(&std::fs::read(&path).unwrap()).unwrap();
            assert!(
                found == Summary::of(&want, 5),
                "{name} in ranges of {batch_bytes}"
            );
        }
    }
}

#[test]
fn bases_of_low_quality_become_n() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("reads.fq");
    let text = "@a\nACGTAC\n+\n!4567I\n";
    std::fs::write(&path, text).unwrap();
    let options = Options {
        min_base_quality: Some(20),
        ..Options::default()
    };
    let batch = &reader(text, &options).unwrap()[0];
    assert_eq!(batch.bytes(batch.records[0].letters), b"NNGTAC");
    let inputs = Inputs::open(&[path], options).unwrap();
    let mut batch = Batch::default();
    assert!(inputs.next_batch(&mut batch).unwrap());
    assert_eq!(batch.bytes(batch.records[0].letters), b"NNGTAC");
}

#[test]
fn any_alphabet_takes_protein() {
    let text = ">p\nMEFILPQZKRW*\n";
    assert!(reader(text, &Options::default()).is_err());
    let batches = reader(
        text,
        &Options {
            alphabet: Alphabet::Any,
            ..Options::default()
        },
    )
    .unwrap();
    assert_eq!(batches[0].letters().next().unwrap(), b"MEFILPQZKRW*");
}

#[test]
fn a_record_is_judged_as_a_whole_however_it_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.fa");
    for (odd, refused) in [(990, false), (1010, true)] {
        // All odd letters together, so that some parts are full of them.
        let text = format!(
            ">a\n{}{}\n>b\nACGT\n",
            "E".repeat(odd),
            "ACGT\n".repeat((10_000 - odd) / 4)
        );
        std::fs::write(&path, &text).unwrap();
        for batch_bytes in [64, 1000, 1 << 20] {
            let ranges = read_parallel(&path, 5, batch_bytes, 2).map(|found| found.records);
            let stream = reader(
                &text,
                &Options {
                    batch_bytes,
                    ..Options::default()
                },
            );
            let stream = stream.map(|batches| {
                batches
                    .iter()
                    .flat_map(|batch| &batch.records)
                    .filter(|record| !record.continues)
                    .count()
            });
            for found in [ranges, stream] {
                match found {
                    Ok(records) => assert!(
                        records == 2 && !refused,
                        "{odd} in batches of {batch_bytes}"
                    ),
                    Err(error) => {
                        let (error, letters) = (error.to_string(), odd + (10_000 - odd) / 4 * 4);
                        assert!(
                            refused && error.contains(&format!("{odd} of {letters} letters")),
                            "{error}"
                        );
                        assert!(error.contains("record 1 (\"a\"), line 2:"), "{error}");
                    }
                }
            }
        }
    }
}

#[test]
fn arguments_that_cannot_work_are_usage_errors() {
    let folder = tempfile::tempdir().unwrap();
    let open = |path: &Path| Inputs::open(&[path.to_path_buf()], Options::default()).unwrap_err();
    let missing = open(&folder.path().join("missing.fq"));
    assert!(
        matches!(missing, Error::NotFound { .. }) && missing.to_string().contains("missing.fq")
    );
    assert!(matches!(open(folder.path()), Error::IsDirectory { .. }));
    assert!(
        Inputs::open(&[], Options::default())
            .unwrap_err()
            .is_usage()
    );
    let secret = folder.path().join("secret.fq");
    std::fs::write(&secret, "@a\n").unwrap();
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o000)).unwrap();
    // Who may read everything (root) is not refused.
    assert!(std::fs::File::open(&secret).is_ok() || matches!(open(&secret), Error::Open { .. }));
}

fn pairs(mut reader: PairedReader) -> Result<Vec<(String, String)>, Error> {
    let (mut first, mut second, mut pairs) = (Batch::default(), Batch::default(), Vec::new());
    while reader.next_batches(&mut first, &mut second)? {
        assert_eq!(first.records.len(), second.records.len());
        assert_eq!(
            (first.first_record, second.first_record),
            (Some(pairs.len() as u64), Some(pairs.len() as u64))
        );
        for (one, two) in first.records.iter().zip(&second.records) {
            let text = |batch: &Batch, span| String::from_utf8(batch.bytes(span).to_vec()).unwrap();
            pairs.push((text(&first, one.letters), text(&second, two.letters)));
        }
    }
    Ok(pairs)
}

/// Reads whose letters tell their number; the second mates are longer, so that batches end at
/// different records.
fn mates(count: usize, mate: usize) -> Vec<String> {
    let letters =
        |number: usize| format!("{}{}", "ACGT".repeat(mate * 3), "A".repeat(number % 7 + 1));
    let read = |number: usize| format!("@r{number}/{mate} x\n{0}\n+\n{0}\n", letters(number));
    (0..count).map(read).collect()
}

#[test]
fn mates_stay_together() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two, both] = ["1.fq", "2.fq", "both.fq"].map(|name| folder.path().join(name));
    for count in [0, 1, 2, 99, 100] {
        let (first, second) = (mates(count, 1), mates(count, 2));
        std::fs::write(&one, first.concat()).unwrap();
        std::fs::write(&two, second.concat()).unwrap();
        let mixed: String = first
            .iter()
            .zip(&second)
            .flat_map(|(a, b)| [a.as_str(), b.as_str()])
            .collect();
        std::fs::write(&both, mixed).unwrap();
        for batch_bytes in [64, 300, 1001, 1 << 20] {
            let options = Options {
                batch_bytes,
                ..Options::default()
            };
            let found = pairs(PairedReader::open(&one, &two, &options).unwrap()).unwrap();
            assert_eq!(found.len(), count);
            for (number, (a, b)) in found.iter().enumerate() {
                assert_eq!((a.len(), b.len()), (13 + number % 7, 25 + number % 7));
            }
            assert_eq!(
                pairs(PairedReader::open_interleaved(&both, &options).unwrap()).unwrap(),
                found
            );
        }
    }
}

#[test]
fn few_mates_that_wait_are_given_with_others() {
    let folder = tempfile::tempdir().unwrap();
    let paths = [1, 2].map(|mate| folder.path().join(format!("{mate}.fq")));
    for (mate, path) in (1..).zip(&paths) {
        let read = |number| format!("@{number}/{mate}\n{0}\n+\n{0}\n", "A".repeat(99 + mate));
        std::fs::write(path, (0..4000).map(read).collect::<String>()).unwrap();
    }
    let options = Options {
        batch_bytes: 20_000,
        ..Options::default()
    };
    let mut reader = PairedReader::open(&paths[0], &paths[1], &options).unwrap();
    let fetching = reader.fetching();
    let (mut first, mut second, mut counts) = (Batch::default(), Batch::default(), Vec::new());
    std::thread::scope(|scope| {
        scope.spawn(|| (0..50).for_each(|_| fetching()));
        while reader.next_batches(&mut first, &mut second).unwrap() {
            counts.push(first.records.len());
        }
    });
    assert_eq!(counts.iter().sum::<usize>(), 4000);
    counts.pop();
    assert!(counts.iter().all(|&count| count > 40), "{counts:?}");
}

#[test]
fn mates_out_of_step_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two] = ["1.fq", "2.fq"].map(|name| folder.path().join(name));
    let options = Options {
        batch_bytes: 500,
        ..Options::default()
    };
    std::fs::write(&one, mates(50, 1).concat()).unwrap();
    let mut second = mates(50, 2);
    second.remove(30);
    std::fs::write(&two, second.concat()).unwrap();
    let error = pairs(PairedReader::open(&one, &two, &options).unwrap())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("record 31 is \"r30/1\"") && error.contains("\"r31/2\""),
        "{error}"
    );
    std::fs::write(&two, mates(40, 2).concat()).unwrap();
    for (a, b) in [(&one, &two), (&two, &one)] {
        let error = pairs(PairedReader::open(a, b, &options).unwrap())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("record 41 (\"r40/1\") has no mate") && error.contains("2.fq ends"),
            "{error}"
        );
    }
    let same = mates(20, 1)
        .iter()
        .flat_map(|read| [read.clone(), read.clone()])
        .collect::<String>();
    std::fs::write(&one, same + &mates(21, 1)[20]).unwrap();
    let error = pairs(PairedReader::open_interleaved(&one, &options).unwrap())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("record 41 (\"r20/1\") has no mate: the file ends"),
        "{error}"
    );
    std::fs::write(&one, mates(4, 1).concat().replacen("@r1", "@r0", 1)).unwrap();
    let error = pairs(PairedReader::open_interleaved(&one, &options).unwrap())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("record 3 is \"r2/1\" but record 4") && error.contains("\"r3/1\""),
        "{error}"
    );
}

#[test]
fn many_threads_read_mates_in_step() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["1.fq", "2.fq", "3.fq", "4.fq"].map(|name| folder.path().join(name));
    for (number, path) in paths.iter().enumerate() {
        std::fs::write(path, mates(500, number % 2 + 1).concat()).unwrap();
    }
    let together = Options {
        batch_bytes: 700,
        ..Options::for_kmers(5)
    };
    let expected = read_all(&paths, 5, &together, 2).unwrap();
    assert_eq!(expected.records, 2000);
    let paired = Options {
        paired: true,
        ..together
    };
    for threads in [1, 3] {
        assert_eq!(
            read_all(&paths, 5, &paired, threads).unwrap(),
            expected,
            "{threads} threads"
        );
    }
    let mut second = mates(500, 2);
    second.remove(400);
    std::fs::write(&paths[3], second.concat()).unwrap();
    for threads in [1, 3] {
        let error = read_all(&paths, 5, &paired, threads)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("record 401") && error.contains("4.fq"),
            "{error}"
        );
    }
    assert!(Inputs::open(&paths[..3], paired).unwrap_err().is_usage());
}

#[test]
fn a_byte_order_mark_may_be_cut_by_the_members_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("marked.gz");
    let gzip = sirocco::deflate::Level::DEFAULT;
    for text in [
        "\u{feff}>a\nACGTACGT\n",
        "\u{feff}@a\nACGTACGT\n+\nIIIIIIII\n",
    ] {
        for cut in 0..text.len() {
            let (block, rest) = (block(&text.as_bytes()[..cut]), &text.as_bytes()[cut..]);
            let rest = sirocco::compress(sirocco::Format::Gzip, gzip, rest);
            std::fs::write(&path, [block, rest].concat()).unwrap();
            let read = read_parallel(&path, 5, 1 << 20, 1).unwrap();
            assert_eq!(
                (read.records, read.letters),
                (1, 8),
                "{text:?} cut at {cut}"
            );
        }
    }
}
