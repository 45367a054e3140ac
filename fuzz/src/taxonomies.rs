//! Readers of taxonomies. The first byte chooses: stored bytes, dumps, tables, or maps of taxids.

use std::path::Path;

use gyrase_taxonomy::{Taxon, TaxonMap, Taxonomy, read};

use crate::databases::edit;

const NODES: &str = "1\t|\t1\t|\tno \
                     rank\t|\n2\t|\t1\t|\tdomain\t|\n7\t|\t2\t|\tgenus\t|\n9\t|\t7\t|\tspecies\t|\n8\t|\t2\t|\t\t|\n";
const NAMES: &str = "1\t|\troot\t|\t\t|\tscientific name\t|\n2\t|\tB\t|\t\t|\tscientific \
                     name\t|\n7\t|\tG\t|\t\t|\tscientific name\t|\n9\t|\tG s\t|\t\t|\tscientific \
                     name\t|\n8\t|\tx\t|\t\t|\tscientific name\t|\n";
const MERGED: &str = "5\t|\t9\t|\n6\t|\t5\t|\n";
const TABLE: &str =
    "RS_GCF_000005845.2\td__Bacteria;p__P;g__G;s__G s\nGB_GCA_000008085.1\td__Archaea;s__\n";
const COLUMNS: &str =
    "id\ttaxid\tname\tgenus\tspecies\na\t77\tG s K12\tG\tG s\nb\t78\tG t\tG\tG t\n";
const MAP: &str = "accession\taccession.version\ttaxid\tgi\nNC_000913\tNC_000913.3\t9\t1\n";

/// Each kind of input, whole.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let stored = [vec![1], stored(MERGED.as_bytes()).to_bytes()].concat();
    let texts = [(2, NODES), (3, TABLE), (3, COLUMNS), (4, MAP)]
        .map(|(choice, text)| [&[choice], text.as_bytes()].concat());
    [vec![0, 48, 0, 0, 0, 1], stored]
        .into_iter()
        .chain(texts)
        .collect()
}

/// No bytes make a reader panic; what is accepted is a tree, and is written as it was read.
pub fn taxonomy(data: &[u8]) {
    let Some((&choice, rest)) = data.split_first() else {
        return;
    };
    match choice % 5 {
        0 => {
            let valid = stored(MERGED.as_bytes()).to_bytes();
            let mut bytes = valid.clone();
            edit(&mut bytes, rest);
            assert_eq!(
                Taxonomy::from_bytes(&bytes).is_ok(),
                bytes == valid,
                "a change was accepted, or a whole one refused"
            );
        }
        1 => check(Taxonomy::from_bytes(&sealed(rest)).ok()),
        2 => check(from_dump(rest, MERGED.as_bytes())),
        3 => check(from_file(rest)),
        _ => map(rest),
    }
}

/// The bytes with the checksum that belongs to them.
fn sealed(bytes: &[u8]) -> Vec<u8> {
    let body = &bytes[..bytes.len().saturating_sub(4)];
    [body, &crc32fast::hash(body).to_le_bytes()].concat()
}

fn stored(merged: &[u8]) -> Taxonomy {
    from_dump(NODES.as_bytes(), merged).expect("a dump")
}

fn from_dump(nodes: &[u8], merged: &[u8]) -> Option<Taxonomy> {
    let folder = tempfile::tempdir().expect("the system has room for a small folder");
    for (name, text) in [
        ("nodes.dmp", nodes),
        ("names.dmp", NAMES.as_bytes()),
        ("merged.dmp", merged),
    ] {
        std::fs::write(folder.path().join(name), text)
            .expect("the system has room for a small file");
    }
    read(folder.path()).ok().map(|source| source.taxonomy)
}

fn from_file(text: &[u8]) -> Option<Taxonomy> {
    let file = tempfile::NamedTempFile::new().expect("the system has room for a small file");
    std::fs::write(file.path(), text).expect("the system has room for a small file");
    read(file.path()).ok().map(|source| source.taxonomy)
}

fn map(text: &[u8]) {
    let file = tempfile::NamedTempFile::new().expect("the system has room for a small file");
    std::fs::write(file.path(), text).expect("the system has room for a small file");
    let (id, elsewhere) = ("NC_000913.3", Path::new("x.fa"));
    let (mut wanted, mut all) = (TaxonMap::default(), TaxonMap::keeping_all());
    wanted.want(id, elsewhere);
    // Lines that nobody wants are not looked into, so that fewer of them are at fault.
    if all.read(file.path()).is_ok() {
        wanted.read(file.path()).expect("all of it was read");
        assert_eq!(
            wanted.taxid_of(id, elsewhere),
            all.taxid_of(id, elsewhere),
            "what is wanted is not enough"
        );
    }
}

fn check(taxonomy: Option<Taxonomy>) {
    let Some(taxonomy) = taxonomy else { return };
    assert_eq!(
        Taxonomy::from_bytes(&taxonomy.to_bytes()).expect("just written"),
        taxonomy
    );
    let far = taxonomy.len() as u32 - 1;
    for a in taxonomy.taxa().take(20) {
        for b in [a.0 / 2, far - a.0].map(Taxon) {
            let naive = taxonomy
                .path(a)
                .find(|above| taxonomy.path(b).any(|other| other == *above));
            assert_eq!(Some(taxonomy.lca(a, b)), naive, "{a:?} {b:?}");
        }
    }
}
