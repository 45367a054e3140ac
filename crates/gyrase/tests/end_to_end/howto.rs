//! The pages of `docs/howto`: their commands do what they say, as they stand there.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::classify::{NAMES, NODES};
use crate::fetch::{base, summary};
use crate::place::{Place, gzip};

/// Downloaders that copy from the folder `mirror`: nothing is fetched here.
const ARIA2C: &str = r#"#!/usr/bin/env bash
# Copies what a list names: aria2c -i LIST -d FOLDER
set -euo pipefail
while [ $# -gt 0 ]; do
    case $1 in -i) list=$2 ;; -d) folder=$2 ;; esac
    shift
done
mkdir -p "$folder"
sed -n 's/^  out=//p' "$list" | while read -r name; do cp "$MIRROR/$name" "$folder/$name"; done
"#;
const CURL: &str = r#"#!/usr/bin/env bash
# Copies the file of an address: curl -O ADDRESS
set -euo pipefail
cp "$MIRROR/${2##*/}" .
"#;

/// Assemblies of the tests, by their accessions, with the seeds of their genomes.
const GENOMES: [(&str, &str); 3] = [
    ("GCF_000000001.1", "1"),
    ("GCF_000000003.2", "3"),
    ("GCF_000000004.1", "4"),
];

/// Files that can be run, in the folder `bin`.
pub fn script(place: &Place, name: &str, text: &str) {
    let _ = std::fs::create_dir(place.path("bin"));
    place.write(&format!("bin/{name}"), text);
    let path = place.path(&format!("bin/{name}"));
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

/// Runs lines of the shell with `gyrase` first on the path, and behind it what is in `bin`.
pub fn shell(place: &Place, folder: &str, lines: &str) -> (bool, String) {
    let gyrase = Path::new(env!("CARGO_BIN_EXE_gyrase")).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let (gyrase, bin) = (gyrase.display(), place.path("bin"));
    let ran = Command::new("bash")
        .args(["-euo", "pipefail", "-c", lines])
        .current_dir(place.path(folder))
        .env("PATH", format!("{gyrase}:{}:{path}", bin.display()))
        .env("MIRROR", place.path("mirror"))
        .env("HOME", place.path(folder))
        .env("TMPDIR", place.path("tmp"))
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let said = [&ran.stdout[..], &ran.stderr[..]].concat();
    (
        ran.status.success(),
        String::from_utf8_lossy(&said).into_owned(),
    )
}

/// A genome that is compressed, and its seed.
fn genome(place: &Place, name: &str, seed: &str) {
    let args = [
        "-q", "simulate", "genome", "--length", "20000", "--seed", seed, "-o",
    ];
    place.ok(&[&args[..], &["plain.fa"]].concat());
    let plain = place.read("plain.fa");
    match name.ends_with(".gz") {
        true => place.write(name, gzip(&plain)),
        false => place.write(name, plain),
    }
}

/// What can be downloaded: tables, taxonomies, genomes with their checksums.
fn mirror(place: &Place) {
    std::fs::create_dir(place.path("mirror")).unwrap();
    for name in [
        "assembly_summary.txt",
        "assembly_summary_refseq.txt",
        "assembly_summary_genbank.txt",
    ] {
        place.write(&format!("mirror/{name}"), summary());
    }
    place.write("nodes.dmp", NODES);
    place.write("names.dmp", NAMES);
    let (packed, said) = shell(
        place,
        "",
        "tar czf mirror/taxdump.tar.gz nodes.dmp names.dmp",
    );
    assert!(packed, "{said}");
    let (mut lineages, mut clusters) =
        (String::new(), "Representative genome\tSpecies\n".to_owned());
    for (accession, seed) in GENOMES {
        let name = format!("{}_genomic.fna.gz", base(accession));
        genome(place, &format!("mirror/{name}"), seed);
        let sum = md5::compute(place.read(&format!("mirror/{name}")));
        let sums = format!("mirror/{}_md5checksums.txt", base(accession));
        place.write(&sums, format!("{sum:x}  ./{name}\n"));
        lineages += &format!(
            "RS_{accession}\td__Bacteria;p__P;c__C;o__O;f__F;g__Escherichia;s__Escherichia s{seed}\n"
        );
        clusters += &format!("RS_{accession}\ts__Escherichia s{seed}\n");
    }
    place.write("mirror/bac120_taxonomy.tsv.gz", gzip(lineages.as_bytes()));
    place.write("mirror/sp_clusters.tsv", clusters);
}

/// Pairs of reads of the genome of a seed.
fn reads(place: &Place, seed: &str, coverage: &str) {
    genome(place, "sample.fa", seed);
    let made = [
        "-o",
        "reads_1.fq.gz",
        "--out2",
        "reads_2.fq.gz",
        "--coverage",
        coverage,
    ];
    place.ok(&[&["-q", "simulate", "reads", "sample.fa"], &made[..]].concat());
}

/// The commands of a page.
fn commands(page: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs/howto")
        .join(page);
    let text = std::fs::read_to_string(path).unwrap();
    let mut blocks = text.split("```sh\n").skip(1).peekable();
    assert!(blocks.peek().is_some(), "{page} has no commands");
    blocks
        .map(|block| block.split("```").next().unwrap())
        .collect()
}

/// Runs a page; what it said.
fn run(place: &Place, page: &str) -> String {
    script(place, "aria2c", ARIA2C);
    script(place, "curl", CURL);
    let (done, said) = shell(place, "", &commands(page));
    assert!(done, "{page}: {said}");
    said
}

#[test]
fn bacteria_of_refseq() {
    let place = Place::new();
    mirror(&place);
    reads(&place, "4", "5");
    let mut table = summary();
    // Two of the three complete genomes of a species are to be chosen, and there is none of others.
    table = table.replace("\tScaffold\t", "\tComplete Genome\t");
    place.write("mirror/assembly_summary.txt", table);
    let said = run(&place, "refseq-bacteria.md");
    assert!(
        said.contains("\tEscherichia fergusonii") || said.contains("Escherichia fergusonii\n"),
        "{said}"
    );
    assert_eq!(place.read("again.txt"), b"");
    assert!(place.read("sample.html").starts_with(b"<!"));
}

#[test]
fn species_of_gtdb() {
    let place = Place::new();
    mirror(&place);
    reads(&place, "3", "5");
    let said = run(&place, "gtdb.md");
    assert!(
        said.contains("Escherichia s3\n") && !said.contains("Escherichia s4\n"),
        "{said}"
    );
}

#[test]
fn isolates_alone_and_beside_references() {
    let place = Place::new();
    mirror(&place);
    reads(&place, "12", "5");
    std::fs::create_dir(place.path("isolates")).unwrap();
    genome(&place, "isolates/isolate_1.fna", "11");
    genome(&place, "isolates/isolate_2.fna", "12");
    let mirrored = [
        "mirror/taxdump.tar.gz",
        "mirror/GCF_000000001.1_ASM000000001v1_genomic.fna.gz",
    ];
    for (from, to) in mirrored
        .iter()
        .zip(["taxdump.tar.gz", "GCF_000000001.1.fna.gz"])
    {
        std::fs::copy(place.path(from), place.path(to)).unwrap();
    }
    place.write("map", "GCF_000000001.1\t562\n");
    place.ok(&[
        "-q",
        "db",
        "build",
        "GCF_000000001.1.fna.gz",
        "--taxonomy",
        "taxdump.tar.gz",
        "--map",
        "map",
        "-o",
        "bacteria.gydb",
    ]);
    let said = run(&place, "own-isolates.md");
    assert!(
        said.contains("333\tS\t1823345975\t    Escherichia fergusonii\n")
            && said.contains("564\tEscherichia fergusonii\tspecies\t333"),
        "{said}"
    );
}

#[test]
fn reads_without_their_host() {
    let place = Place::new();
    genome(&place, "host.fna.gz", "5");
    reads(&place, "5", "3");
    let host = [place.read("reads_1.fq.gz"), place.read("reads_2.fq.gz")];
    reads(&place, "6", "4");
    for (file, host) in ["reads_1.fq.gz", "reads_2.fq.gz"].into_iter().zip(host) {
        place.write(file, [host, place.read(file)].concat());
    }
    let said = run(&place, "host-removal.md");
    assert!(said.contains("267 of 467 pairs kept"), "{said}");
    place.ok(&[
        "-q",
        "count",
        "rest_1.fq.gz",
        "rest_2.fq.gz",
        "-o",
        "rest.gyk",
        "--report",
        "r.json",
    ]);
    assert_eq!(place.json("r.json")["counts"]["reads"], 534);
}

#[test]
fn size_of_a_genome() {
    let place = Place::new();
    reads(&place, "7", "40");
    let said = run(&place, "genome-size.md");
    assert!(said.contains("genome"), "{said}");
    assert!(
        place.read("spectrum.svg").starts_with(b"<svg") && !place.read("sample.hist").is_empty()
    );
}

#[test]
fn processors_of_a_search() {
    let place = Place::new();
    let said = run(&place, "scheduling.md");
    assert!(said.contains("RMAP-PLARD\t0.9\t"), "{said}");
    assert!(said.contains("FIX-M-PLARD\t5\tnt\t41.000\t"), "{said}");
}
