//! BLAST's databases against what BLAST+ says of them; and damaged ones.

#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

use std::path::{Path, PathBuf};

use gyrase_seqdb::{Molecule, SeqDbError, SequenceSource};

fn golden(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/blast");
    folder.join(name)
}

/// Titles and letters as FASTA of one line each, and the taxids of each.
fn read(path: &Path) -> Result<(String, Vec<Vec<u32>>), SeqDbError> {
    let (mut fasta, mut taxids) = (Vec::new(), Vec::new());
    SequenceSource::open(path)?.each(|entry, _| {
        fasta.extend([b">", entry.title, b"\n", entry.letters, b"\n"].concat());
        taxids.push(entry.taxids.to_vec());
        Ok::<_, SeqDbError>(())
    })?;
    Ok((String::from_utf8_lossy(&fasta).into_owned(), taxids))
}

fn text(name: &str) -> String {
    String::from_utf8_lossy(&std::fs::read(golden(name)).unwrap()).into_owned()
}

#[test]
fn databases_say_what_blastdbcmd_says() {
    for (name, expected) in [
        ("v5", "v5.txt"),
        ("v4", "v5.txt"),
        ("v5.pin", "v5.txt"),
        ("v5.phr", "v5.txt"),
        ("both", "both.txt"),
        ("both.pal", "both.txt"),
        ("bases", "bases.txt"),
        ("bases4", "bases.txt"),
        ("bases.nsq", "bases.txt"),
        // In lower case where they are masked.
        ("masked-bases", "masked-bases.txt"),
        ("masked-proteins", "masked-proteins.txt"),
    ] {
        let (found, _) = read(&golden(name)).unwrap();
        assert_eq!(found, text(expected), "{name}");
    }
    let (found, _) = read(&golden("plain")).unwrap();
    let upper = |line: &str| match line.starts_with('>') {
        true => line.to_owned(),
        false => line.to_uppercase(),
    };
    // Without -parse_seqids, makeblastdb writes a space for a byte 1.
    let fasta = text("proteins.faa").replace('\u{1}', " ");
    let expected: Vec<String> = fasta.lines().map(upper).collect();
    assert_eq!(found.lines().collect::<Vec<_>>(), expected);
    let molecule = |name| SequenceSource::open(&golden(name)).unwrap().molecule();
    assert_eq!(molecule("both"), Some(Molecule::Protein));
    assert_eq!(molecule("bases"), Some(Molecule::Nucleotide));
    // Without BLAST's ending it is the FASTA file beside.
    assert_eq!(molecule("proteins.faa"), None);
}

#[test]
fn masks_are_counted_without_letters() {
    for (name, expected) in [
        ("masked-bases", &[2, 0, 1][..]),
        ("masked-proteins", &[0, 1]),
        ("plain", &[0, 0]),
    ] {
        let source = SequenceSource::open(&golden(name)).unwrap();
        let mut reader = source.reader().unwrap();
        for &masks in expected {
            assert_eq!(reader.next_size().unwrap().unwrap().masks, masks, "{name}");
        }
        let all: u64 = expected.iter().sum();
        assert_eq!(source.may_have_masks(), all > 0, "{name}");
        assert!(source.masks() >= all, "{name}");
    }
}

#[test]
fn taxids_are_those_of_every_title() {
    let (_, taxids) = read(&golden("v5")).unwrap();
    let mut expected = vec![Vec::new(); taxids.len()];
    for line in text("v5.taxids").lines() {
        let (number, taxid) = line.split_once(' ').unwrap();
        let taxid: u32 = taxid.parse().unwrap();
        expected[number.parse::<usize>().unwrap()].extend((taxid > 0).then_some(taxid));
    }
    assert_eq!(expected[2], [561, 1224]);
    assert_eq!(taxids, expected);
}

/// Copies of the files of a database, of which one is changed.
fn changed(of: &str, ending: &str, change: impl Fn(&mut Vec<u8>)) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for other in ["in", "hr", "sq", "aa", "ab"] {
        let name = format!("{of}.{}{other}", &ending[..1]);
        let Ok(mut bytes) = std::fs::read(golden(&name)) else {
            continue;
        };
        if ending.ends_with(other) {
            change(&mut bytes);
        }
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

/// Every change of a byte and every cut gives sequences or an error that names a file.
#[test]
fn damage_is_an_error_and_no_panic() {
    for (of, ending) in [
        ("v5", "pin"),
        ("v5", "phr"),
        ("v5", "psq"),
        ("bases", "nin"),
        ("bases", "nhr"),
        ("bases", "nsq"),
        ("masked-bases", "naa"),
        ("masked-bases", "nab"),
    ] {
        let name = format!("{of}.{ending}");
        let folder = changed(of, ending, |_| {});
        let (database, file) = (folder.path().join(of), folder.path().join(&name));
        let whole = std::fs::read(&file).unwrap();
        for at in (0..whole.len()).step_by(3) {
            let mut bytes = whole.clone();
            bytes[at] = [0, 0x7f, 0x80, 0xff][at % 4];
            std::fs::write(&file, bytes).unwrap();
            if let Err(error) = read(&database) {
                assert!(error.to_string().contains(of), "{name} {at}: {error}");
            }
        }
        for length in (0..whole.len()).step_by(7) {
            std::fs::write(&file, &whole[..length]).unwrap();
            let error = read(&database).unwrap_err().to_string();
            assert!(error.contains(&name), "{name} {length}: {error}");
        }
    }
}

#[test]
fn what_is_missing_or_unknown_is_named() {
    let folder = changed("v5", "pin", |bytes| bytes[3] = 6);
    let error = read(&folder.path().join("v5")).unwrap_err().to_string();
    assert!(
        error.contains("v5.pin") && error.contains("version 6"),
        "{error}"
    );
    let folder = changed("v5", "pin", |_| {});
    std::fs::write(folder.path().join("some.pal"), "DBLIST v5 gone\n").unwrap();
    let error = read(&folder.path().join("some")).unwrap_err().to_string();
    assert!(error.contains("gone.pin"), "{error}");
    std::fs::remove_file(folder.path().join("v5.psq")).unwrap();
    let error = read(&folder.path().join("v5")).unwrap_err().to_string();
    assert!(error.contains("v5.psq"), "{error}");
    std::fs::write(folder.path().join("v5.nin"), "").unwrap();
    let error = read(&folder.path().join("v5")).unwrap_err().to_string();
    assert!(
        error.contains("of proteins and one of nucleotides"),
        "{error}"
    );
}

#[test]
fn databases_of_others_are_refused_with_what_helps() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let refused = |path: &Path, told: &str| {
        let error = SequenceSource::open(path).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    };
    let diamond = b"\x6d\x18\xee\x15\xa4\xf8\x4a\x02\x8a\x00\x00\x00";
    std::fs::write(place("x.dmnd"), diamond).unwrap();
    refused(&place("x.dmnd"), "diamond getseq");
    for name in ["mm", "mm.index", "mm.dbtype"] {
        std::fs::write(place(name), "MKV\n").unwrap();
    }
    refused(&place("mm"), "mmseqs convert2fasta");
    std::fs::write(place("x.gydb"), b"GYRASED\n1234").unwrap();
    refused(&place("x.gydb"), "gyrase classify");
}
