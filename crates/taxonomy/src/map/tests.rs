//! Taxids of references, from all that may say them.

use std::fs;

use super::*;
use crate::tests::small;
use proptest::prelude::*;

const NO_FILE: &str = "refs.fa";

fn of(map: &TaxonMap, id: &str) -> Option<u32> {
    map.taxid_of(id, Path::new(NO_FILE))
}

fn reading(text: &str, ids: &[&str]) -> Result<TaxonMap, TaxonomyError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("map");
    fs::write(&path, text).unwrap();
    let mut map = TaxonMap::default();
    ids.iter().for_each(|id| map.want(id, Path::new(NO_FILE)));
    map.read(&path).map(|_| map)
}

const NCBI: &str = "\
accession\taccession.version\ttaxid\tgi
A00001\tA00001.1\t10641\t58418
NC_000913\tNC_000913.2\t5\t1
NC_000913\tNC_000913.3\t511145\t556503834
NZ_CP007557\tNZ_CP007557.1\t0\t3
4V4Q_AA\t4V4Q_AA\t83333\t0
";

#[test]
fn accessions_are_found_with_and_without_version() {
    let ids = [
        "NC_000913.3",
        "NC_000913",
        "A00001.9",
        "gi|1|gb|A00001.1|",
        "NZ_CP007557.1",
        "NC_1",
        "4V4Q_AA",
    ];
    for text in [NCBI.to_owned(), NCBI.split_once('\n').unwrap().1.to_owned()] {
        let map = reading(&text, &ids).expect("a table");
        let expected = [
            Some(511145),
            Some(5),
            Some(10641),
            Some(10641),
            None,
            None,
            Some(83333),
        ];
        assert_eq!(ids.map(|id| of(&map, id)), expected);
        assert_eq!(of(&map, "NC_000913.2"), Some(5), "by the accession");
    }
}

#[test]
fn unwanted_lines_take_no_memory() {
    let text: String = (0..5000)
        .map(|i| format!("AB{i:06}\tAB{i:06}.1\t{}\t0\n", i + 1))
        .collect();
    let map = reading(&text, &["AB000007.1", "AB004999"]).expect("a table");
    assert_eq!(
        (of(&map, "AB000007.1"), of(&map, "AB004999")),
        (Some(8), Some(5000))
    );
    assert_eq!(map.accessions.len(), 2);
    assert_eq!(
        map.names.len(),
        4,
        "two sequences, a file and its stem: {:?}",
        map.names.keys()
    );
}

#[test]
fn headers_say_it_themselves() {
    let map = reading("x\t7\nkraken:taxid|562|x\t8\n", &["x"]).expect("a table");
    assert_eq!(of(&map, "kraken:taxid|562|NC_000913.3"), Some(562));
    assert_eq!(of(&map, "x|kraken:taxid|9"), Some(9));
    assert_eq!(of(&map, "x"), Some(7));
    assert_eq!(
        of(&map, "x kraken:taxid|9"),
        Some(7),
        "the first word counts"
    );
    for none in [
        "kraken:taxid|",
        "kraken:taxid|x|y",
        "kraken:taxid",
        "notkraken:taxid|5",
        "kraken:taxid|0",
    ] {
        assert_eq!(taxid_in(none), None, "{none}");
    }
}

#[test]
fn files_say_it_for_their_sequences() {
    let file = Path::new("refs/GCF_000005845.2_ASM584v2_genomic.fna.gz");
    let keys = [
        "refs/GCF_000005845.2_ASM584v2_genomic.fna.gz",
        "GCF_000005845.2_ASM584v2_genomic.fna.gz",
    ];
    let more = [
        "GCF_000005845.2_ASM584v2_genomic",
        "GCF_000005845.2",
        "GCF_000005845",
        "GCF_000005845.1",
    ];
    for key in keys.into_iter().chain(more) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("map");
        fs::write(&path, format!("other\t3\n{key}\t562\n")).unwrap();
        let mut map = TaxonMap::default();
        map.want("NC_000913.3", file);
        assert_eq!(map.read(&path).expect("a table"), None);
        assert_eq!(map.taxid_of("NC_000913.3", file), Some(562), "{key}");
        assert_eq!(map.taxid_of("NC_000913.3", Path::new("other.fa")), None);
    }
    let mut map = TaxonMap::default();
    map.insert("a/x.fa", 1);
    map.insert("b/x.fa", 2);
    assert_eq!(map.taxid_of("chr1", Path::new("/data/b/x.fa")), Some(2));
    assert_eq!(map.taxid_of("chr1", Path::new("x.fa")), None);
    assert_eq!(stem("a.b.fasta.zst"), "a.b");
}

#[test]
fn accessions_are_found_anywhere_in_the_name_of_a_file() {
    let found = |name| accessions_in(name).collect::<Vec<_>>();
    for (name, accessions) in [
        ("x_GCA_12.fa", &["GCA_12"][..]),
        ("GCA_12.3.fa", &["GCA_12.3"]),
        (
            "Escherichia_coli_str._K-12_GCF_000005845.2.fna.gz",
            &["GCF_000005845.2"],
        ),
        (
            "GCF_000005845.2_ASM584v2_genomic.fna.gz",
            &["GCF_000005845.2"],
        ),
        (
            "Escherichia_coli_IAI39_NC_011750.1.fna.gz",
            &["NC_011750.1"],
        ),
        ("a-NZ_CP007592.1-b.fa", &["NZ_CP007592.1", "CP007592.1"]),
        ("Erwinia_phage_MT939486.1.fna", &["MT939486.1"]),
        ("U00096.3.fasta", &["U00096.3"]),
        ("AAAA02000001_x.fa", &["AAAA02000001"]),
        (
            "GCA_000027305_and_GCF_000027305.1.fna",
            &["GCA_000027305", "GCF_000027305.1"],
        ),
        ("Klebsiella_MGH_78578.fna", &[]),
        ("run_20260101.fa", &[]),
        ("NC_0117x.fa", &[]),
        ("aNC_011750.fa", &[]),
        ("GCF_.fa", &[]),
        ("", &[]),
    ] {
        assert_eq!(found(name), accessions, "{name}");
    }
    let mut map = TaxonMap::default();
    map.insert("NC_011750.1", 585057);
    let file = Path::new("refs/Escherichia_coli_IAI39_NC_011750.1.fna.gz");
    assert_eq!(map.taxid_of("contig_1", file), Some(585057));
    let other = Path::new("refs/x_NC_011750.2.fna.gz");
    assert_eq!(map.taxid_of("contig_1", other), Some(585057));
}

#[test]
fn tables_with_named_columns_are_read() {
    let summary = "##  See the \
                   README\n#assembly_accession\tbioproject\ttaxid\tspecies_taxid\nGCF_000005845.2\tPRJNA1\t511145\t562\n";
    assert_eq!(
        of(
            &reading(summary, &["GCF_000005845.2"]).expect("a table"),
            "GCF_000005845.2"
        ),
        Some(511145)
    );
    let full = "accession.version\ttaxid\nWP_000001.1\t7\n";
    assert_eq!(
        of(
            &reading(full, &["WP_000001.1"]).expect("a table"),
            "WP_000001.1"
        ),
        Some(7)
    );
    let swapped = "taxid\tsequence\n7\tchr1\n";
    assert_eq!(
        of(&reading(swapped, &["chr1"]).expect("a table"), "chr1"),
        Some(7)
    );
    let spaced = "chr1 7\r\nchr2 8";
    assert_eq!(
        of(&reading(spaced, &["chr2"]).expect("a table"), "chr2"),
        Some(8)
    );
}

#[test]
fn a_line_may_say_that_there_is_no_taxid() {
    for unknown in ["", "na", "NA", "N/A", "-", "0"] {
        let text = format!("id\ttaxid\nchr1\t{unknown}\nchr2\t8\n");
        let map = reading(&text, &["chr1", "chr2"]).expect("a table");
        assert_eq!(of(&map, "chr1"), None, "{unknown:?}");
        assert_eq!(of(&map, "chr2"), Some(8), "{unknown:?}");
    }
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let cases = [
        ("chr1\n", "line 1: expected a name, a tab and a taxid"),
        ("chr1\tx\n", "line 1: expected a name"),
        (
            "chr1\t7\nchr1\tx\n",
            "line 2: expected a taxid in column 2, found \"x\";",
        ),
        (
            "accession\taccession.version\ttaxid\tgi\nAB000001\tAB000001.1",
            "line 2: expected a taxid in column 3",
        ),
        (
            "accession\taccession.version\ttaxid\tgi\nAB0",
            "line 2: expected a taxid in column 3",
        ),
    ];
    for (text, expected) in cases {
        let error = reading(text, &["chr1", "AB000001.1"])
            .expect_err("no table")
            .to_string();
        assert!(error.contains(expected), "{text:?}: {error}");
    }
    let error = TaxonMap::default()
        .read(Path::new("/nowhere"))
        .expect_err("no such file")
        .to_string();
    assert!(
        error.starts_with("/nowhere: there is no such file")
            && error.contains("table of sequences"),
        "{error}"
    );
}

#[test]
fn lines_that_end_before_the_taxid_are_left_out_and_told() {
    let cases = [
        (
            "chr1\t7\nchr2\n",
            2,
            "expected a name, a tab and a taxid",
            0,
        ),
        (
            "chr2\nchr1\t7\n",
            1,
            "expected a name, a tab and a taxid",
            0,
        ),
        (
            "id\tx\ttaxid\nchr2\tx\nchr1\tx\t7\nchr2\nchr2\tx",
            2,
            "in column 3, found \"chr2",
            2,
        ),
    ];
    for (text, line, expected, more) in cases {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("map");
        fs::write(&path, text).unwrap();
        let mut map = TaxonMap::keeping_all();
        let short = map.read(&path).expect("a table").expect("a short line");
        assert_eq!((of(&map, "chr1"), of(&map, "chr2")), (Some(7), None));
        let told = short.to_string();
        assert!(told.contains(&format!("map, line {line}: ")), "{told}");
        assert!(told.contains(expected) && told.contains("`na`"), "{told}");
        assert_eq!(
            told.contains(&format!(", and {more} more like it")),
            more > 0,
            "{told}"
        );
    }
}

#[test]
fn references_without_a_taxon_say_why() {
    let taxonomy = small();
    let mut map = TaxonMap::default();
    for (id, taxid) in [
        ("here", 562),
        ("merged", 600),
        ("deleted", 4_000_000),
        ("unknown", 77),
    ] {
        map.insert(id, taxid);
    }
    let assigned = |id: &str| map.assign(&taxonomy, id, Path::new(NO_FILE));
    assert_eq!(
        assigned("here"),
        Assigned::To(taxonomy.taxon_of(562).unwrap())
    );
    assert_eq!(
        assigned("merged"),
        Assigned::Merged {
            taxon: Taxon(2),
            from: 600
        }
    );
    assert_eq!(assigned("deleted"), Assigned::Deleted(4_000_000));
    assert_eq!(assigned("unknown"), Assigned::Unknown(77));
    assert_eq!(assigned("x"), Assigned::Unmapped);
    assert_eq!(assigned("x|kraken:taxid|562"), assigned("here"));
    assert_eq!(assigned("deleted").taxon(), None);
    assert!(assigned("merged").to_string().contains("600"));
}

#[test]
fn the_first_table_and_line_win() {
    let mut map = reading("a\t1\na\t2\n", &["a", "b"]).expect("a table");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("second.gz");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, b"a\t3\nb\t4\n").unwrap();
    fs::write(&path, encoder.finish().unwrap()).unwrap();
    map.read(&path).expect("a table");
    assert_eq!((of(&map, "a"), of(&map, "b")), (Some(1), Some(4)));
    let mut all = TaxonMap::keeping_all();
    all.read(&path).expect("a table");
    assert_eq!(of(&all, "b"), Some(4));
}

proptest! {
    /// A map that keeps everything and one that keeps what is wanted say the same.
    #[test]
    fn what_is_wanted_is_enough(
        rows in proptest::collection::vec((0..30u32, 1..4u32, 1..99u32), 1..60),
        asked in 0..30u32,
        version in 0..4u32,
    ) {
        let text: String = rows
            .iter()
            .map(|(a, v, taxid)| format!("NC_{a:06}\tNC_{a:06}.{v}\t{taxid}\t0\n"))
            .collect();
        let id = if version == 0 {
            format!("NC_{asked:06}")
        } else {
            format!("NC_{asked:06}.{version}")
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("map");
        fs::write(&path, text).unwrap();
        let mut all = TaxonMap::keeping_all();
        all.read(&path).expect("a table");
        let mut wanted = TaxonMap::default();
        wanted.want(&id, Path::new(NO_FILE));
        wanted.read(&path).expect("a table");
        let same = |row: &&(u32, u32, u32)| row.0 == asked;
        let exact = rows.iter().filter(same).find(|row| row.1 == version);
        let expected = exact.or_else(|| rows.iter().find(same)).map(|row| row.2);
        prop_assert_eq!(of(&wanted, &id), expected);
        prop_assert_eq!(of(&all, &id), expected);
    }
}
