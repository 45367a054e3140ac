//! `.gysd` databases: what is written comes back; golden files; damaged ones.

#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

use std::path::{Path, PathBuf};

use gyrase_files::container::ContainerError;
use gyrase_seqdb::gysd::{SeqDb, Strand, Writer};
use gyrase_seqdb::{Molecule, SeqDbError, SequenceSource, name_of};
use gyrase_taxonomy::{Node, Taxonomy};
use proptest::prelude::*;

type Sequence = (Vec<u8>, Vec<u8>, Vec<u32>);

fn owned(title: &[u8], letters: &[u8], taxids: &[u32]) -> Sequence {
    (title.to_vec(), letters.to_vec(), taxids.to_vec())
}

fn proteins() -> Vec<Sequence> {
    vec![
        owned(b"p1 the first", b"MKVLAWYGDERTIPLMNVCQHSAAKL", &[562]),
        owned(b"empty", b"", &[]),
        owned(b"", b"W*XBZJUO", &[561, 1224]),
        owned(b"a one\x01sp|P12345|B_X two", b"MKVMKV", &[9606]),
        owned(b"p1 again", b"G", &[]),
    ]
}

fn bases() -> Vec<Sequence> {
    vec![
        owned(b"n1 x y", b"ACGTNNNNACGRYKMSWBDHVNACGTNNACG", &[]),
        owned(b"n2", b"NN", &[]),
        owned(b"n3", b"NAC", &[]),
        owned(b"n4", b"", &[]),
        owned(b"n5\ttab", b"ACGTT", &[]),
    ]
}

fn taxonomy() -> Taxonomy {
    let node = |taxid, parent, rank, name| Node {
        taxid,
        parent,
        rank,
        name,
    };
    let nodes = [
        node(1, 1, "no rank", "root"),
        node(1224, 1, "phylum", "Proteobacteria"),
        node(561, 1224, "genus", "Escherichia"),
        node(562, 561, "species", "Escherichia coli"),
    ];
    Taxonomy::new(nodes).unwrap()
}

fn write(path: &Path, molecule: Molecule, sequences: &[Sequence], taxonomy: Option<&Taxonomy>) {
    let mut writer = Writer::create(path, molecule).unwrap();
    for (title, letters, taxids) in sequences {
        writer.push(title, letters, taxids).unwrap();
    }
    writer.finish(taxonomy).unwrap();
}

/// With masks where letters are in lower case.
fn write_masked(path: &Path, molecule: Molecule, sequences: &[Sequence]) {
    let mut writer = Writer::create(path, molecule).unwrap();
    writer = writer.keeping_masks().unwrap();
    for (title, letters, taxids) in sequences {
        writer.push(title, letters, taxids).unwrap();
    }
    writer.finish(None).unwrap();
}

fn masked() -> Vec<Sequence> {
    vec![
        owned(b"m1 x y", b"acGTNNnnACGtACGa", &[]),
        owned(b"m2", b"aNC", &[7]),
        owned(b"m3", b"", &[]),
        owned(b"m4", b"ACG", &[]),
        owned(b"m5", b"acg", &[]),
    ]
}

fn read(path: &Path) -> Result<Vec<Sequence>, SeqDbError> {
    let mut found = Vec::new();
    SequenceSource::open(path)?.each(|entry, _| {
        found.push(owned(entry.title, entry.letters, entry.taxids));
        Ok::<_, SeqDbError>(())
    })?;
    Ok(found)
}

fn golden(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1");
    folder.join(name)
}

/// These files were written once, and are never written again.
#[test]
fn golden_files_are_read_and_written_to_the_byte() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gysd");
    let tree = taxonomy();
    for (name, molecule, sequences, taxonomy) in [
        ("proteins.gysd", Molecule::Protein, proteins(), Some(&tree)),
        ("bases.gysd", Molecule::Nucleotide, bases(), None),
        ("empty.gysd", Molecule::Protein, Vec::new(), None),
    ] {
        assert_eq!(read(&golden(name)).unwrap(), sequences, "{name}");
        let database = SeqDb::open(&golden(name)).unwrap();
        database.verify().unwrap();
        assert_eq!(database.taxonomy().unwrap().as_ref(), taxonomy);
        write(&path, molecule, &sequences, taxonomy);
        let (found, expected) = (std::fs::read(&path), std::fs::read(golden(name)));
        assert!(found.unwrap() == expected.unwrap(), "{name}");
    }
}

/// This file, too, was written once.
#[test]
fn masks_come_back_as_lower_case() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gysd");
    let file = golden("masked.gysd");
    assert_eq!(read(&file).unwrap(), masked());
    write_masked(&path, Molecule::Nucleotide, &masked());
    assert!(std::fs::read(&path).unwrap() == std::fs::read(&file).unwrap());
    let database = SeqDb::open(&file).unwrap();
    database.verify().unwrap();
    assert!(database.has_masks());
    assert_eq!(database.masked_letters().unwrap(), 10);
    let all = &masked()[0].1;
    let mut minus = Vec::new();
    for from in 0..all.len() {
        for to in from..=all.len() {
            let mut found = Vec::new();
            let range = from as u64..to as u64;
            database.read(0, range, Strand::Plus, &mut found).unwrap();
            assert_eq!(found, all[from..to]);
        }
    }
    database.read(0, 2..12, Strand::Minus, &mut minus).unwrap();
    assert_eq!(minus, b"aCGTnnNNAC");
    let plain = SeqDb::open(&golden("bases.gysd")).unwrap();
    assert!(!plain.has_masks() && plain.masked_letters().unwrap() == 0);
    let proteins = [owned(b"a", b"mkVLa", &[]), owned(b"b", b"AvxX", &[])];
    write_masked(&path, Molecule::Protein, &proteins);
    assert_eq!(read(&path).unwrap(), proteins);
    SeqDb::open(&path).unwrap().verify().unwrap();
}

#[test]
fn masks_that_contradict_themselves_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gysd");
    let whole = std::fs::read(golden("masked.gysd")).unwrap();
    let first: Vec<u8> = [0_u64, 2, 6, 2]
        .into_iter()
        .flat_map(u64::to_le_bytes)
        .collect();
    let at = whole.windows(32).position(|bytes| bytes == first).unwrap();
    for (place, value) in [(0, 7), (8, 0), (8, 7), (24, 99)] {
        let mut bytes = whole.clone();
        bytes[at + place] = value;
        seal(&mut bytes);
        std::fs::write(&path, &bytes).unwrap();
        let error = SeqDb::open(&path).unwrap().verify().unwrap_err();
        assert!(
            error.to_string().contains("are no mask"),
            "{place}: {error}"
        );
    }
}

#[test]
fn sequences_are_found_by_name_and_range() {
    let database = SeqDb::open(&golden("proteins.gysd")).unwrap();
    for (name, numbers) in [
        ("p1", &[0, 4][..]),
        ("empty", &[1]),
        ("", &[2]),
        ("a", &[3]),
        ("sp|P12345|B_X", &[3]),
        ("P12345", &[3]),
        ("sp", &[]),
        ("one", &[]),
        ("p1 again", &[]),
    ] {
        assert_eq!(database.find(name.as_bytes()).unwrap(), numbers, "{name}");
    }
    let database = SeqDb::open(&golden("bases.gysd")).unwrap();
    let all = &bases()[0].1;
    for from in 0..all.len() {
        for to in from..=all.len() {
            let mut found = Vec::new();
            let range = from as u64..to as u64;
            database.read(0, range, Strand::Plus, &mut found).unwrap();
            assert_eq!(found, all[from..to]);
        }
    }
    let mut minus = Vec::new();
    database.read(0, 0..13, Strand::Minus, &mut minus).unwrap();
    assert_eq!(minus, b"RYCGTNNNNACGT");
    assert!(database.read(0, 0..32, Strand::Plus, &mut minus).is_err());
    assert!(database.title(5).is_err() && database.letters(9).is_err());
}

#[test]
fn letters_of_files_become_those_of_databases() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gysd");
    let given = [owned(b"a", b"mk-v.u1", &[]), owned(b"b", b"acgun", &[])];
    write(&path, Molecule::Protein, &given[..1], None);
    assert_eq!(read(&path).unwrap(), [owned(b"a", b"MKVUX", &[])]);
    write(&path, Molecule::Nucleotide, &given[1..], None);
    assert_eq!(read(&path).unwrap(), [owned(b"b", b"ACGTN", &[])]);
    let summary = SeqDb::open(&path).unwrap().summary();
    assert_eq!(
        (summary.sequences, summary.letters, summary.longest),
        (1, 5, 5)
    );
}

/// Looks at all of a database; whatever is wrong with it is an error.
fn look(path: &Path) -> Result<(), SeqDbError> {
    let database = SeqDb::open(path)?;
    for name in ["p1", "n1", "nobody"] {
        database.find(name.as_bytes())?;
    }
    database.taxonomy()?;
    read(path).map(drop)
}

#[test]
fn every_damage_is_found_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gysd");
    for name in ["proteins.gysd", "bases.gysd", "masked.gysd"] {
        let whole = std::fs::read(golden(name)).unwrap();
        for at in (0..whole.len()).filter(|at| *at < 80 || *at > 4080 && at % 3 == 0) {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            std::fs::write(&path, &bytes).unwrap();
            let looked = look(&path).and_then(|()| SeqDb::open(&path)?.verify());
            if let Err(error) = looked {
                let told = error.to_string();
                assert!(told.contains("x.gysd"), "{name} {at}: {told}");
            } else {
                // What stands between sections means nothing.
                assert_eq!(whole[at], 0, "{name} {at}");
            }
        }
        for length in (0..whole.len()).step_by(61) {
            std::fs::write(&path, &whole[..length]).unwrap();
            let found = SeqDb::open(&path).unwrap_err();
            let expected = match length {
                0..8 => matches!(found, SeqDbError::Container(ContainerError::Foreign { .. })),
                _ => matches!(found, SeqDbError::Container(ContainerError::Length { .. })),
            };
            assert!(expected, "{name} {length}: {found}");
        }
    }
}

/// Writes checksums that fit, so that what contradicts itself is found by its values.
fn seal(bytes: &mut [u8]) {
    let u64_at = |bytes: &[u8], at: usize| {
        u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
    };
    let table = u64_at(bytes, 48);
    for entry in (table..bytes.len()).step_by(64) {
        let (offset, length) = (u64_at(bytes, entry + 40), u64_at(bytes, entry + 48));
        let list = (offset + length).next_multiple_of(64);
        if length > 0 {
            let crc = crc32fast::hash(&bytes[offset..offset + length]).to_le_bytes();
            bytes[list..list + 4].copy_from_slice(&crc);
            let crc = crc32fast::hash(&crc).to_le_bytes();
            bytes[entry + 56..entry + 60].copy_from_slice(&crc);
        }
    }
    let crc = crc32fast::hash(&bytes[table..]).to_le_bytes();
    bytes[64..68].copy_from_slice(&crc);
    let crc = crc32fast::hash(&bytes[..4092]).to_le_bytes();
    bytes[4092..4096].copy_from_slice(&crc);
}

proptest! {
    #[test]
    fn values_that_contradict_each_other_never_panic(
        name in prop::sample::select(vec!["proteins.gysd", "bases.gysd", "masked.gysd"]),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.gysd");
        let mut bytes = std::fs::read(golden(name)).unwrap();
        let table = u64::from_le_bytes(bytes[48..56].try_into().unwrap());
        let (header, end) = (80, table as usize);
        for (place, byte) in edits {
            let place = place.index(header + end - 4096);
            bytes[if place < header { place } else { place - header + 4096 }] = byte;
        }
        if bytes[48..56] == std::fs::read(golden(name)).unwrap()[48..56] {
            seal(&mut bytes);
        }
        std::fs::write(&path, &bytes).unwrap();
        let _ = look(&path);
        let _ = SeqDb::open(&path).and_then(|database| database.verify());
    }

    #[test]
    fn what_is_written_comes_back(
        nucleotides in any::<bool>(),
        sequences in prop::collection::vec(
            (
                "[ -~\x01]{0,9}",
                prop::collection::vec(0_usize..27, 0..99),
                prop::collection::vec(1..9_u32, 0..3),
            ),
            0..9,
        ),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.gysd");
        let (molecule, alphabet): (_, &[u8]) = match nucleotides {
            true => (Molecule::Nucleotide, b"ACGTACGTACGTACGTNNNNRYKMSWB"),
            false => (Molecule::Protein, b"ARNDCQEGHILKMFPSTWYVBZJX*UO"),
        };
        let sequences: Vec<Sequence> = sequences
            .into_iter()
            .map(|(title, letters, taxids)| {
                let letters = letters.into_iter().map(|at| alphabet[at]).collect();
                (title.into_bytes(), letters, taxids)
            })
            .collect();
        write(&path, molecule, &sequences, None);
        prop_assert_eq!(&read(&path).unwrap(), &sequences);
        let database = SeqDb::open(&path).unwrap();
        database.verify().unwrap();
        for (number, (title, _, _)) in sequences.iter().enumerate() {
            let found = database.find(name_of(title)).unwrap();
            prop_assert!(found.contains(&number) && found.is_sorted());
        }
    }
}
