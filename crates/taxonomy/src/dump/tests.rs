//! Dumps of before and after 2025, and dumps that are none.

use std::fs;
use std::io::Write;
use std::path::Path;

use crate::taxon::Taxon;
use crate::tests::NCBI_2025;
use crate::{RankStyle, Resolved, Taxonomy, TaxonomyError, read};
use proptest::prelude::*;

/// The lines of nodes.dmp and names.dmp as NCBI writes them, with names that are not scientific.
fn dump_of(nodes: &[(u32, u32, &str, &str)]) -> [(&'static str, String); 2] {
    let tail = "\t|\tXX\t|\t0\t|\t1\t|\t11\t|\t1\t|\t0\t|\t1\t|\t1\t|\t0\t|\t\t|\n";
    let line =
        |node: &(u32, u32, &str, &str)| format!("{}\t|\t{}\t|\t{}{tail}", node.0, node.1, node.2);
    let name = |node: &(u32, u32, &str, &str)| {
        let (taxid, name) = (node.0, node.3);
        format!(
            "{taxid}\t|\tthe \
             \"{name}\"\t|\t\t|\tsynonym\t|\n{taxid}\t|\t{name}\t|\t\t|\tscientific name\t|\n"
        )
    };
    [
        ("nodes.dmp", nodes.iter().map(line).collect()),
        ("names.dmp", nodes.iter().map(name).collect()),
    ]
}

fn folder_of(files: &[(&str, String)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn taxonomy_of(files: &[(&str, String)]) -> Result<Taxonomy, TaxonomyError> {
    read(folder_of(files).path()).map(|source| source.taxonomy)
}

/// The ranks of the same nodes as they were before 2025, without the kingdom of bacteria.
fn before_2025() -> Vec<(u32, u32, &'static str, &'static str)> {
    let old = |(taxid, parent, rank, name)| match taxid {
        2 | 10239 => (taxid, parent, "superkingdom", name),
        131567 => (taxid, parent, "no rank", name),
        2559587 => (taxid, parent, "clade", name),
        1224 => (taxid, 2, rank, name),
        _ => (taxid, parent, rank, name),
    };
    NCBI_2025
        .into_iter()
        .filter(|node| node.0 != 3379134)
        .map(old)
        .collect()
}

#[test]
fn the_codes_of_2025_are_those_of_before() {
    let [before, after] =
        [&before_2025()[..], &NCBI_2025].map(|nodes| taxonomy_of(&dump_of(nodes)).expect("a dump"));
    for &(taxid, ..) in &before_2025() {
        let codes = [&before, &after].map(|taxonomy| {
            taxonomy
                .rank_code(taxonomy.taxon_of(taxid).unwrap())
                .to_string()
        });
        assert_eq!(codes[0], codes[1], "{taxid}");
    }
    let raw = |taxonomy: &Taxonomy| {
        taxonomy
            .rank_code_in(taxonomy.taxon_of(2).unwrap(), RankStyle::Ncbi2025)
            .to_string()
    };
    assert_eq!((raw(&before), raw(&after)), ("D".into(), "R2".into()));
}

#[test]
fn a_dump_is_its_nodes_and_names() {
    let taxonomy = taxonomy_of(&dump_of(&NCBI_2025)).expect("a dump");
    assert_eq!(taxonomy.len(), NCBI_2025.len());
    for (taxid, parent, rank, name) in NCBI_2025 {
        let taxon = taxonomy.taxon_of(taxid).expect("a node");
        assert_eq!(
            (taxonomy.rank_name(taxon), taxonomy.name(taxon)),
            (rank, name)
        );
        assert_eq!(taxonomy.taxid(taxonomy.parent(taxon)), parent);
    }
}

#[test]
fn old_taxids_lead_on() {
    let merged = "9\t|\t562\t|\n8\t|\t9\t|\n7\t|\t77\t|\n564\t|\t562\t|\n5\t|\t6\t|\n6\t|\t5\t|\n"
        .to_owned();
    let deleted = "99\t|\n9\t|\n2\t|\n98\t|\n".to_owned();
    let [nodes, names] = dump_of(&NCBI_2025);
    let taxonomy = taxonomy_of(&[
        nodes,
        names,
        ("merged.dmp", merged),
        ("delnodes.dmp", deleted),
    ])
    .expect("a dump");
    let coli = taxonomy.taxon_of(562).unwrap();
    let resolved = [9, 8, 7, 5, 99, 98].map(|taxid| taxonomy.resolve(taxid));
    let [here, gone] = [Resolved::Merged(coli), Resolved::Deleted];
    assert_eq!(
        resolved,
        [here, here, Resolved::Unknown, Resolved::Unknown, gone, gone]
    );
    assert!(matches!(taxonomy.resolve(564), Resolved::Here(_)));
    assert!(matches!(taxonomy.resolve(2), Resolved::Here(_)));
    assert_eq!(
        Taxonomy::from_bytes(&taxonomy.to_bytes()).expect("just written"),
        taxonomy
    );
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// As NCBI packs it: names before nodes, and other files.
fn archive_of(files: &[(&str, String)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    let readme = ("readme.txt", "What | is | this?".to_owned());
    for (name, text) in [&readme].into_iter().chain(files.iter().rev()) {
        let mut header = tar::Header::new_ustar();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        archive
            .append_data(&mut header, name, text.as_bytes())
            .unwrap();
    }
    archive.into_inner().unwrap()
}

#[test]
fn archives_and_compressed_files_are_read_alike() {
    let files = dump_of(&NCBI_2025);
    let plain = taxonomy_of(&files).expect("a dump");
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in &files {
        fs::write(
            folder.path().join(format!("{name}.gz")),
            gzip(text.as_bytes()),
        )
        .unwrap();
    }
    assert_eq!(read(folder.path()).expect("a dump").taxonomy, plain);
    let folder = tempfile::tempdir().unwrap();
    let archive = archive_of(&files);
    for (name, bytes) in [
        ("taxdump.tar.gz", gzip(&archive)),
        ("dataset_1.dat", archive),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        assert_eq!(read(&path).expect("an archive").taxonomy, plain, "{name}");
    }
    assert_eq!(
        read(folder.path())
            .expect("a folder with the archive")
            .taxonomy,
        plain
    );
}

#[test]
fn truncated_archives_are_refused() {
    let archive = archive_of(&dump_of(&NCBI_2025));
    let packed = gzip(&archive);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("taxdump.tar.gz");
    for end in (1..packed.len()).step_by(7) {
        fs::write(&path, &packed[..end]).unwrap();
        assert!(read(&path).is_err(), "{end} of {}", packed.len());
    }
    // Behind the last part there are only zeros.
    let last = archive.iter().rposition(|&byte| byte != 0).unwrap();
    for end in (1..=last).step_by(11) {
        fs::write(&path, &archive[..end]).unwrap();
        assert!(read(&path).is_err(), "{end} of {last}");
    }
}

/// Dumps made by hand have other marks around the `|`.
#[test]
fn dumps_by_hand_are_read() {
    let nodes = "1|1|no rank|\r\n\n2 | 1 | superkingdom | -\n7\t|\t2\t|\t\t|\t-".to_owned();
    let names = "1|root||scientific name|\n2 | Bac | - | scientific name \
                 |\n7\t|\ta|b\t|\t-\t|\tscientific name\t|\t-"
        .to_owned();
    let taxonomy = taxonomy_of(&[("nodes.dmp", nodes), ("names.dmp", names)]).expect("a dump");
    let names: Vec<&str> = taxonomy.taxa().map(|taxon| taxonomy.name(taxon)).collect();
    assert_eq!(names, ["root", "Bac", "a|b"]);
    assert_eq!(taxonomy.rank_name(Taxon(2)), "no rank");
}

fn message(nodes: &str, names: &str) -> String {
    let files = [
        ("nodes.dmp", nodes.to_owned()),
        ("names.dmp", names.to_owned()),
    ];
    let folder = folder_of(&files);
    let error = read(folder.path()).expect_err("no tree").to_string();
    error.replace(&format!("{}/", folder.path().display()), "")
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let nodes = "1\t|\t1\t|\tno rank\t|\n2\t|\t1\t|\tdomain\t|\n";
    let names = "1\t|\troot\t|\t\t|\tscientific name\t|\n2\t|\tB\t|\t\t|\tscientific name\t|\n";
    let more = "7\t|\tb\t|\t\t|\tscientific name\t|\n8\t|\tc\t|\t\t|\tscientific name\t|\n";
    let names = &format!("{names}{more}");
    let cases = [
        (
            "7\t|\t6\t|\tgenus\t|\n",
            "nodes.dmp, line 3: the parent of taxid 7 is 6, which does not exist",
        ),
        (
            "7\t|\t8\t|\tx\t|\n8\t|\t7\t|\tx\t|\n",
            "nodes.dmp, line 3: taxid 7 is above itself",
        ),
        (
            "\n2\t|\t1\t|\tx\t|\n",
            "nodes.dmp, line 4: taxid 2 is there twice, first on line 2",
        ),
        (
            "7\t|\t1\t|\tge",
            "nodes.dmp, line 3: expected a line \"taxid | parent | rank |\", found \
             \"7\\t|\\t1\\t|\\tge\"",
        ),
        ("x\t|\t1\t|\tgenus\t|\n", "nodes.dmp, line 3: expected"),
        (
            "9\t|\t1\t|\tgenus\t|\n",
            "nodes.dmp, line 3: taxid 9 has no scientific name in names.dmp",
        ),
        ("0\t|\t1\t|\tgenus\t|\n", "nodes.dmp, line 3: taxid 0 "),
    ];
    for (lines, expected) in cases {
        let names = if expected.contains("taxid 0") {
            format!("{names}0|z||scientific name|\n")
        } else {
            names.clone()
        };
        let names = names.replace(
            "0|z||scientific name|",
            "0\t|\tz\t|\t\t|\tscientific name\t|",
        );
        let found = message(&format!("{nodes}{lines}"), &names);
        assert!(found.starts_with(expected), "{found}");
    }
    let found = message(&nodes.replace("1\t|\t1", "3\t|\t3"), names);
    assert!(
        found.starts_with("nodes.dmp, line 1: taxid 3 has no scientific name"),
        "{found}"
    );
    assert!(message("", names).starts_with("nodes.dmp: there is no root"));
    let found = message(
        nodes,
        &format!("{names}2\t|\tC\t|\t\t|\tscientific name\t|\n"),
    );
    assert!(
        found.starts_with(
            "names.dmp, line 5: taxid 2 has a second scientific name, the first is on line 2"
        ),
        "{found}"
    );
    let found = message(nodes, &format!("{names}9\t|\tcut of"));
    assert!(
        found.starts_with("names.dmp, line 5: expected a line"),
        "{found}"
    );
}

#[test]
fn what_is_missing_is_named() {
    let folder = folder_of(&dump_of(&NCBI_2025));
    fs::remove_file(folder.path().join("names.dmp")).unwrap();
    assert!(matches!(
        read(folder.path()),
        Err(TaxonomyError::Missing {
            file: "names.dmp",
            ..
        })
    ));
    fs::remove_file(folder.path().join("nodes.dmp")).unwrap();
    assert!(matches!(
        read(folder.path()),
        Err(TaxonomyError::Missing {
            file: "nodes.dmp",
            ..
        })
    ));
    let error = read(Path::new("/nowhere")).expect_err("no such folder");
    assert!(matches!(error, TaxonomyError::NotFound { .. }) && error.is_usage());
    let [nodes, (_, names)] = dump_of(&NCBI_2025);
    let folder = folder_of(&[nodes]);
    let latin = names
        .replace("Bacteria", "B\u{1}")
        .into_bytes()
        .iter()
        .map(|&byte| if byte == 1 { 0xe4 } else { byte })
        .collect::<Vec<_>>();
    fs::write(folder.path().join("names.dmp"), latin).unwrap();
    let error = read(folder.path()).expect_err("Latin-1").to_string();
    assert!(
        error.contains("names.dmp, line 20: the name of taxid 2, ") && error.contains("UTF-8"),
        "{error}"
    );
}

#[test]
fn a_cut_merged_dmp_is_named() {
    let [nodes, names] = dump_of(&NCBI_2025);
    for (file, text) in [
        ("merged.dmp", "9\t|\t562\t|\n8\t|\t56"),
        ("delnodes.dmp", "9\t|\n8"),
    ] {
        let error = taxonomy_of(&[nodes.clone(), names.clone(), (file, text.into())])
            .expect_err("cut")
            .to_string();
        assert!(
            error.contains(&format!("{file}, line 2: expected a line")),
            "{error}"
        );
    }
}

proptest! {
    /// The order of lines is of no consequence.
    #[test]
    fn lines_may_come_in_any_order(shuffled in Just(NCBI_2025.to_vec()).prop_shuffle()) {
        let [expected, found] =
            [&NCBI_2025[..], &shuffled].map(|nodes| taxonomy_of(&dump_of(nodes)).expect("a dump"));
        prop_assert_eq!(expected.to_bytes(), found.to_bytes());
    }

    /// Whatever the bytes of a dump are, it is read or refused.
    #[test]
    fn noise_is_read_or_refused(
        at in 0..400usize,
        noise in proptest::collection::vec(any::<u8>(), 1..9),
    ) {
        let [(_, nodes), names] = dump_of(&NCBI_2025);
        let mut nodes = nodes.into_bytes();
        nodes.splice(at..at + 1, noise);
        let folder = folder_of(&[names]);
        fs::write(folder.path().join("nodes.dmp"), nodes).unwrap();
        if let Ok(source) = read(folder.path()) {
            prop_assert_eq!(
                Taxonomy::from_bytes(&source.taxonomy.to_bytes()).expect("a tree"),
                source.taxonomy
            );
        }
    }
}
