//! What is counted: the odd files that reading is tested on, and simulated reads in every dress.

use std::path::Path;

use crate::place::{Place, gzip};

/// Inputs that are counted together, and the chunks in which small ones have many borders.
#[derive(Clone, Debug)]
pub struct Input {
    pub name: &'static str,
    pub files: Vec<String>,
}

/// Every valid file of the corpus of odd inputs.
fn corpus() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fastx/tests/corpus");
    let index = std::fs::read_to_string(folder.join("index.tsv")).unwrap();
    let names = index
        .lines()
        .filter(|line| line.split('\t').nth(1) == Some("valid"));
    let names = names.map(|line| line.split('\t').next().unwrap());
    names
        .map(|name| folder.join(name).to_str().unwrap().to_owned())
        .collect()
}

/// Makes all inputs in a place.
pub fn inputs(place: &Place) -> Vec<Input> {
    place.simulate("40000", "20");
    let reads = String::from_utf8(place.read("r_1.fq")).unwrap();
    place.write("crlf.fq", reads.replace('\n', "\r\n"));
    place.write("open.fq", reads.trim_end());
    place.write("wrapped.fq", wrapped(&reads));
    place.write("a.fa", wrapped_fasta(&reads));
    place.write(
        "one.fa",
        one_line(&String::from_utf8(place.read("g.fa")).unwrap()),
    );
    place.write("gz.fq.gz", gzip(reads.as_bytes()));
    place.ok(&["count", "a.fa", "-k", "5", "-o", "any.gyk"]);
    place.ok(&[
        "kmers",
        "filter",
        "any.gyk",
        "r_2.fq",
        "--min-kmers",
        "0",
        "-o",
        "zst.fq.zst",
    ]);
    unequal(place, &reads);
    let files = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    vec![
        Input {
            name: "corpus",
            files: corpus(),
        },
        Input {
            name: "reads",
            files: files(&["r_1.fq", "r_2.fq"]),
        },
        Input {
            name: "line ends",
            files: files(&["crlf.fq", "open.fq"]),
        },
        Input {
            name: "wrapped",
            files: files(&["r_2.fq", "wrapped.fq"]),
        },
        Input {
            name: "FASTA",
            files: files(&["a.fa", "one.fa", "g.fa"]),
        },
        Input {
            name: "compressed",
            files: files(&["gz.fq.gz", "r_1.fq", "zst.fq.zst"]),
        },
        Input {
            name: "unequal",
            files: files(&["s0.fq", "s1.fq", "s2.fq", "empty.fq", "r_1.fq", "s3.fq"]),
        },
    ]
}

/// Four small parts of the reads and a file of nothing.
fn unequal(place: &Place, reads: &str) {
    let lines: Vec<&str> = reads.lines().collect();
    for (number, records) in lines.chunks(4 * 3).take(4).enumerate() {
        place.write(
            &format!("s{number}.fq"),
            format!("{}\n", records.join("\n")),
        );
    }
    place.write("empty.fq", "");
}

/// FASTQ whose sequences and qualities are on several lines, from the middle on: it starts like a
/// plain file.
fn wrapped(reads: &str) -> String {
    let lines: Vec<&str> = reads.lines().collect();
    let records = lines.chunks(4).enumerate();
    let wrap = |text: &str, middle: bool| {
        if middle {
            text.to_owned()
        } else {
            lines_of(text, 61)
        }
    };
    let half = lines.len() / 8;
    records
        .map(|(number, r)| {
            format!(
                "{}\n{}\n{}\n{}\n",
                r[0],
                wrap(r[1], number < half),
                r[2],
                wrap(r[3], number < half)
            )
        })
        .collect()
}

fn wrapped_fasta(reads: &str) -> String {
    let lines: Vec<&str> = reads.lines().collect();
    lines
        .chunks(4)
        .map(|record| format!(">{}\n{}\n", &record[0][1..], lines_of(record[1], 37)))
        .collect()
}

/// A text in lines of so many letters.
fn lines_of(text: &str, length: usize) -> String {
    let lines: Vec<&str> = (0..text.len())
        .step_by(length)
        .map(|at| &text[at..text.len().min(at + length)])
        .collect();
    lines.join("\n")
}

/// FASTA with each sequence on one line: nothing shows where it began.
fn one_line(text: &str) -> String {
    let records = text.split('>').skip(1);
    records
        .map(|record| {
            let (header, letters) = record.split_once('\n').unwrap();
            format!(">{header}\n{}\n", letters.replace('\n', ""))
        })
        .collect()
}
