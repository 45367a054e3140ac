//! Readers of databases. The first byte chooses: even, the rest are edits of a valid file; odd, the
//! rest is the file; two above a multiple of four, edits whose checksums are right.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use gyrase_count::dump::Style;
use gyrase_count::exchange::{ExportConfig, Format, KmerSource, export, kmc};
use gyrase_count::{Config, run};
use gyrase_kmer::Shape;
use gyrase_table::gyk::{Cutoffs, Database};

use crate::seals;

/// A valid database and the same as a KMC pair.
struct Valid {
    gyk: Vec<u8>,
    prefixes: Vec<u8>,
    suffixes: Vec<u8>,
}

fn valid() -> &'static Valid {
    static VALID: OnceLock<Valid> = OnceLock::new();
    VALID.get_or_init(|| {
        let folder = tempfile::tempdir().expect("the system has room for a small folder");
        make(folder.path()).expect("a small database can be made")
    })
}

fn make(folder: &Path) -> Result<Valid, Box<dyn std::error::Error>> {
    let path = |name: &str| folder.join(name);
    std::fs::write(
        path("g.fa"),
        b">g\nACGTTGCATTAGACCATGACCAGTAGGACTTACCAGGATTTAAACCAGAGCCATTGACA\n",
    )?;
    let config = Config {
        inputs: vec![path("g.fa")],
        output: path("g.gyk"),
        shape: Shape::new(21, false)?,
        min_count: 1,
        max_count: u32::MAX,
        min_base_quality: None,
        paired: false,
        threads: 1,
        memory: 1 << 30,
        tmp: folder.to_path_buf(),
        max_tmp: None,
        resume: false,
        chunk: None,
    };
    run(&config, &Default::default())?;
    export(&exporting(folder, Format::Kmc), &Default::default())?;
    let read = |name: &str| std::fs::read(path(name));
    Ok(Valid {
        gyk: read("g.gyk")?,
        prefixes: read("g.kmc_pre")?,
        suffixes: read("g.kmc_suf")?,
    })
}

/// How `g.gyk` in a folder is exported.
fn exporting(folder: &Path, format: Format) -> ExportConfig {
    ExportConfig {
        input: folder.join("g.gyk"),
        output: folder.join("g"),
        format,
        cutoffs: Cutoffs::default(),
        memory: 1 << 30,
        tmp: folder.to_path_buf(),
        max_tmp: None,
        threads: 1,
    }
}

/// Edits of five bytes: a place of four bytes, counted round the file, and what to xor there; an
/// odd rest cuts the end off.
pub(crate) fn edit(bytes: &mut Vec<u8>, edits: &[u8]) {
    let steps = edits.chunks_exact(5);
    let cut = steps.remainder().len();
    for step in steps {
        let place = u32::from_le_bytes([step[0], step[1], step[2], step[3]]) as usize % bytes.len();
        bytes[place] ^= step[4];
    }
    bytes.truncate(bytes.len() - cut);
}

fn check_gyk(bytes: &[u8]) -> bool {
    let folder = tempfile::tempdir().expect("the system has room for a small folder");
    let path: PathBuf = folder.path().join("x.gyk");
    std::fs::write(&path, bytes).expect("the system has room for a small file");
    Database::open(&path).is_ok_and(|database| database.verify().is_ok())
}

/// Uses all of a database whose checksums say that it is whole, though it may not be.
fn use_sealed(edits: &[u8]) {
    let mut bytes = valid().gyk.clone();
    // Header, bins, and some of the directory: edits anywhere would hardly meet a bin.
    let rest = bytes.split_off(1 << 13);
    edit(&mut bytes, edits);
    bytes.resize(1 << 13, 0);
    bytes.extend(rest);
    seals::gyk(&mut bytes);
    check_gyk(&bytes);
    let folder = tempfile::tempdir().expect("the system has room for a small folder");
    std::fs::write(folder.path().join("g.gyk"), &bytes).expect("a small file can be written");
    for format in [Format::Kmc, Format::Kff, Format::Text(Style::Tab)] {
        // It may be refused.
        let _ = export(&exporting(folder.path(), format), &Default::default());
    }
}

/// No bytes make the reader of databases or an export panic, and no change of a database goes
/// unseen where its checksums were not changed with it.
pub fn gyk(data: &[u8]) {
    let Some((&choice, rest)) = data.split_first() else {
        return;
    };
    if choice % 4 == 2 {
        return use_sealed(rest);
    }
    if choice % 2 == 1 {
        check_gyk(rest);
        return;
    }
    let mut bytes = valid().gyk.clone();
    edit(&mut bytes, rest);
    assert_eq!(
        check_gyk(&bytes),
        bytes == valid().gyk,
        "a changed database was accepted, or a whole one refused"
    );
}

/// No bytes make the reader of KMC's databases panic or run on beyond what the files hold.
pub fn kmc(data: &[u8]) {
    let Some((&choice, rest)) = data.split_first() else {
        return;
    };
    let (mut prefixes, mut suffixes) = (valid().prefixes.clone(), valid().suffixes.clone());
    match choice % 4 {
        0 => edit(&mut prefixes, rest),
        2 => edit(&mut suffixes, rest),
        1 => prefixes = rest.to_vec(),
        _ => suffixes = rest.to_vec(),
    }
    let most = suffixes.len();
    let name = Path::new("x");
    let Ok(mut reader) = kmc::Reader::new(Cursor::new(prefixes), Cursor::new(suffixes), name, name)
    else {
        return;
    };
    let k = reader.k().unwrap_or(0);
    let mut read = 0;
    while let Ok(Some((kmer, _))) = reader.next() {
        assert_eq!(kmer, kmer.masked(k), "a k-mer is longer than k");
        read += 1;
        assert!(read <= most.max(1) * 4, "more k-mers than bytes");
    }
}
