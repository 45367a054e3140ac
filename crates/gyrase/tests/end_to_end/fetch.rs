//! Lists of what is to be downloaded, and what arrived of it.

use std::fmt::Write;

use crate::classify::{NAMES, NODES};
use crate::place::{Place, gzip};

/// Assemblies: accession, taxid, species, organism, category, level, release.
const ASSEMBLIES: [[&str; 7]; 6] = [
    [
        "GCF_000000001.1",
        "562",
        "562",
        "Escherichia coli A",
        "reference genome",
        "Complete Genome",
        "2013/09/26",
    ],
    [
        "GCF_000000002.1",
        "5620",
        "562",
        "Escherichia coli B",
        "na",
        "Complete Genome",
        "2014/01/01",
    ],
    [
        "GCF_000000003.2",
        "562",
        "562",
        "Escherichia coli C",
        "na",
        "Complete Genome",
        "2015/01/01",
    ],
    [
        "GCF_000000004.1",
        "564",
        "564",
        "Escherichia fergusonii",
        "representative genome",
        "Scaffold",
        "2010/01/01",
    ],
    [
        "GCF_000000005.1",
        "9606",
        "9606",
        "Homo sapiens",
        "na",
        "Contig",
        "2020/01/01",
    ],
    [
        "GCF_000000006.1",
        "562",
        "562",
        "Escherichia coli D",
        "na",
        "Chromosome",
        "2021/01/01",
    ],
];

/// What NCBI calls the files of an assembly.
pub fn base(accession: &str) -> String {
    format!("{accession}_ASM{}v1", &accession[4..13])
}

/// NCBI's table of the assemblies, the last of which was replaced, and of one without files.
pub fn summary() -> String {
    let mut table = String::from(
        "##  See ftp://ftp.ncbi.nlm.nih.gov/genomes/README_assembly_summary.txt\n#assembly_accession\t\
         bioproject\trefseq_category\ttaxid\tspecies_taxid\torganism_name\tversion_status\t\
         assembly_level\tseq_rel_date\tftp_path\n",
    );
    for [
        accession,
        taxid,
        species,
        organism,
        category,
        level,
        released,
    ] in ASSEMBLIES
    {
        let status = if accession.ends_with("6.1") {
            "replaced"
        } else {
            "latest"
        };
        let folder = base(accession);
        let _ = writeln!(
            table,
            "{accession}\tPRJ1\t{category}\t{taxid}\t{species}\t{organism}\t{status}\t{level}\t\
             {released}\tftp://ftp.ncbi.nlm.nih.gov/genomes/all/GCF/{folder}"
        );
    }
    table
        + "GCF_000000007.1\tPRJ1\tna\t562\t562\tEscherichia coli E\tlatest\tContig\t2001/01/01\tna\n"
}

fn place() -> Place {
    let place = Place::new();
    place.write("assembly_summary.txt", summary());
    std::fs::create_dir(place.path("tax")).unwrap();
    place.write("tax/nodes.dmp", NODES);
    place.write("tax/names.dmp", NAMES);
    place
}

/// The accessions that are listed with these arguments, by their last digit but one.
fn chosen(place: &Place, more: &[&str]) -> String {
    let args = [
        &["-q", "db", "fetch", "assembly_summary.txt", "--for", "wget"],
        more,
    ]
    .concat();
    let list = place.ok(&args);
    let digit = |line: &str| {
        let name = line.rsplit('/').next().unwrap();
        assert!(
            line.starts_with("https://ftp.ncbi.nlm.nih.gov/") && name.ends_with("_genomic.fna.gz")
        );
        name.as_bytes()[12] as char
    };
    list.lines().map(digit).collect()
}

#[test]
fn assemblies_are_chosen() {
    let place = place();
    place.write(
        "list",
        "accession\tlineage\nRS_GCF_000000002.1\tx\nGCF_000000004.1\nGB_GCA_1\n",
    );
    for (more, expected) in [
        (&[][..], "12345"),
        (&["--all"], "123456"),
        (&["--level", "complete"], "123"),
        (&["--level", "scaffold,contig"], "45"),
        (&["--category", "reference,representative"], "14"),
        (&["--organism", "COLI"], "123"),
        (&["--taxid", "562"], "123"),
        (&["--taxid", "5620,9606"], "25"),
        (&["--taxid", "561"], ""),
        (&["--taxid", "561", "--taxonomy", "tax"], "1234"),
        (&["--per-species", "1"], "145"),
        (&["--per-species", "2"], "1345"),
        (
            &[
                "--per-species",
                "2",
                "--all",
                "--level",
                "chromosome,complete",
            ],
            "13",
        ),
        (&["--among", "list"], "24"),
        (&["--among", "list", "--level", "complete"], "2"),
    ] {
        assert_eq!(chosen(&place, more), expected, "{more:?}");
    }
    let said = place.run(&[
        "db",
        "fetch",
        "assembly_summary.txt",
        "--level",
        "complete",
        "-o",
        "l",
        "--map-out",
        "map",
    ]);
    for words in [
        "3 of 7 assemblies chosen",
        "l: 6 files; download with: aria2c -i l -d refs/",
    ] {
        assert!(said.stderr.contains(words), "{words}: {}", said.stderr);
    }
    let map =
        "accession\ttaxid\nGCF_000000001.1\t562\nGCF_000000002.1\t5620\nGCF_000000003.2\t562\n";
    assert_eq!(String::from_utf8(place.read("map")).unwrap(), map);
    let said = place.run(&[
        "db",
        "fetch",
        "assembly_summary.txt",
        "--organism",
        "no such",
    ]);
    assert!(said.code == 0 && said.stdout.is_empty());
    assert!(said.stderr.contains("nothing is listed"), "{}", said.stderr);
    let said = place.run(&[
        "db",
        "fetch",
        "assembly_summary.txt",
        "--level",
        "contig",
        "-o",
        "l",
    ]);
    assert!(
        said.stderr.contains("have no files at NCBI"),
        "{}",
        said.stderr
    );
}

#[test]
fn lists_have_the_forms_of_their_programs() {
    let place = place();
    let list = |of: &str| {
        let args = [
            "-q",
            "db",
            "fetch",
            "assembly_summary.txt",
            "--per-species",
            "1",
        ];
        place.ok(&[&args[..], &["--taxid", "564", "--for", of]].concat())
    };
    let base = base("GCF_000000004.1");
    let folder = format!("https://ftp.ncbi.nlm.nih.gov/genomes/all/GCF/{base}");
    let (genome, sums) = (
        format!("{base}_genomic.fna.gz"),
        format!("{base}_md5checksums.txt"),
    );
    assert_eq!(
        list("aria2c"),
        format!("{folder}/{genome}\n  out={genome}\n{folder}/md5checksums.txt\n  out={sums}\n")
    );
    assert_eq!(list("wget"), format!("{folder}/{genome}\n"));
    assert_eq!(
        list("curl"),
        format!(
            "fail\nlocation\nretry = 5\ncreate-dirs\nurl = \"{folder}/{genome}\"\noutput = \
             \"{genome}\"\nurl = \"{folder}/md5checksums.txt\"\noutput = \"{sums}\"\n"
        )
    );
    place.write(
        "urls",
        "# mine\nhttps://x.org/a/one.fna.gz?raw=1\n\nftp://x.org/two.fa\n",
    );
    assert_eq!(
        place.ok(&["db", "fetch", "urls"]),
        "https://x.org/a/one.fna.gz?raw=1\n  out=one.fna.gz\nftp://x.org/two.fa\n  out=two.fa\n"
    );
    place.write("twice", "https://x.org/a/one.fa\nhttps://x.org/b/one.fa\n");
    place.fails(
        &["db", "fetch", "twice"],
        7,
        &["two addresses end with one.fa"],
    );
    place.write("broken", "https://x.org/a\nx.org/b\n");
    place.fails(
        &["db", "fetch", "broken"],
        7,
        &["broken, line 2", "expected the address"],
    );
    place.fails(
        &["db", "fetch", "urls", "--level", "contig"],
        1,
        &["tell nothing to choose"],
    );
    place.fails(&["db", "fetch", "no-such"], 1, &["no-such"]);
    place.fails(
        &[
            "db",
            "fetch",
            "assembly_summary.txt",
            "--taxid",
            "7",
            "--taxonomy",
            "tax",
        ],
        1,
        &["has no taxid 7"],
    );
}

#[test]
fn what_is_missing_or_damaged_is_named() {
    let place = place();
    std::fs::create_dir(place.path("refs")).unwrap();
    place.ok(&[
        "-q",
        "db",
        "fetch",
        "assembly_summary.txt",
        "--level",
        "complete",
        "-o",
        "list",
    ]);
    let file = |digit: &str, what: &str| {
        let version = if digit == "3" { 2 } else { 1 };
        format!(
            "refs/{}_{what}",
            base(&format!("GCF_00000000{digit}.{version}"))
        )
    };
    let genome = gzip(b">a\nACGT\n");
    let sum = format!("{:x}", md5::compute(&genome));
    for digit in ["1", "2", "3"] {
        let name = file(digit, "genomic.fna.gz");
        place.write(&name, &genome);
        let name = name.strip_prefix("refs/").unwrap();
        let sums = format!("{sum}  ./{name}\n{}  ./other.gz\n", "0".repeat(32));
        place.write(&file(digit, "md5checksums.txt"), sums);
    }
    let check = ["db", "fetch", "--check", "refs", "list"];
    let said = place.run(&check);
    assert_eq!(
        (said.code, said.stdout.as_str()),
        (0, ""),
        "{}",
        said.stderr
    );
    assert!(
        said.stderr.contains("6 files checked, 3 by their MD5 sum"),
        "{}",
        said.stderr
    );
    let fails = |code: i32, expected: &[(&str, &str, &str)]| {
        let said = place.run(&[&check[..], &["-o", "again"]].concat());
        assert_eq!(said.code, code, "{}", said.stderr);
        let lines: Vec<&str> = said.stdout.lines().collect();
        assert_eq!(lines.len(), expected.len(), "{}", said.stdout);
        for (line, (file, state, why)) in lines.iter().zip(expected) {
            let fields: Vec<&str> = line.split('\t').collect();
            assert!(
                format!("refs/{}", fields[0]) == *file && fields[1] == *state,
                "{line}"
            );
            assert!(fields[2].contains(why), "{line}");
        }
        let again = String::from_utf8(place.read("again")).unwrap();
        assert_eq!(again.matches("  out=").count(), expected.len(), "{again}");
        // What it lists can be checked in turn.
        assert_eq!(
            place
                .run(&["-q", "db", "fetch", "--check", "refs", "again"])
                .code,
            code
        );
    };
    let [one, two, three] = ["1", "2", "3"].map(|digit| file(digit, "genomic.fna.gz"));
    std::fs::remove_file(place.path(&two)).unwrap();
    fails(5, &[(&two, "missing", "not there")]);
    place.write(&two, &genome);
    place.write(&format!("{two}.aria2"), "notes");
    fails(5, &[(&two, "missing", "did not end")]);
    std::fs::remove_file(place.path(&format!("{two}.aria2"))).unwrap();
    place.write(&one, gzip(b">a\nACGA\n"));
    std::fs::remove_file(place.path(&two)).unwrap();
    fails(7, &[(&one, "damaged", "MD5 sum is"), (&two, "missing", "")]);
    // Without a sum the file itself must tell.
    let sums = ["1", "2", "3"].map(|digit| file(digit, "md5checksums.txt"));
    sums.iter()
        .for_each(|sums| std::fs::remove_file(place.path(sums)).unwrap());
    place.write(&one, &genome[..genome.len() - 3]);
    place.write(&two, "<html>busy</html>");
    place.write(&three, "");
    let missing: Vec<_> = sums
        .iter()
        .map(|sums| (sums.as_str(), "missing", ""))
        .collect();
    fails(
        7,
        &[
            (&one, "damaged", "cut off"),
            missing[0],
            (&two, "damaged", "not gzip"),
            missing[1],
            (&three, "damaged", "empty"),
            missing[2],
        ],
    );
    place.fails(
        &["db", "fetch", "--check", "nowhere", "list"],
        1,
        &["nowhere is no folder"],
    );
    place.fails(
        &["db", "fetch", "--check", "refs", "tax/nodes.dmp"],
        7,
        &["no address in it"],
    );
}
