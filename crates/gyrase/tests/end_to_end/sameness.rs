//! The same bytes for any threads, memory, order of files and way of reading.

use crate::place::{Place, gzip};

/// Bytes of a database of these arguments, in memory and out of core, with one thread and two.
fn each_way(place: &Place, args: &[&str], inputs: &[&[&str]]) -> Vec<u8> {
    let mut first: Option<Vec<u8>> = None;
    for files in inputs {
        for threads in ["1", "2"] {
            let least = place.least_memory(threads.parse().unwrap());
            for memory in [&least, "2G"] {
                let means = ["--threads", threads, "--memory", memory, "-q"];
                place.ok(&[&["count", "-o", "o.gyk"], args, files, &means].concat());
                let bytes = place.read("o.gyk");
                let same = first.as_ref().is_none_or(|first| *first == bytes);
                assert!(same, "{args:?} {files:?} {means:?}");
                first.get_or_insert(bytes);
            }
        }
    }
    first.unwrap()
}

#[test]
fn threads_memory_and_order_leave_no_trace() {
    let place = Place::new();
    place.simulate_much();
    let orders: [&[&str]; 2] = [&["r_1.fq", "r_2.fq"], &["r_2.fq", "r_1.fq"]];
    let all = each_way(&place, &[], &orders);
    place.ok(&["kmers", "verify", "o.gyk"]);
    let solid = each_way(&place, &["--min-count", "2"], &orders[..1]);
    place.write("all.gyk", all);
    place.ok(&[
        "kmers",
        "union",
        "all.gyk",
        "--min-count",
        "2",
        "-o",
        "cut.gyk",
    ]);
    place.write("solid.gyk", solid);
    let dump = |name: &str| place.ok(&["kmers", "dump", name]);
    assert!(
        dump("cut.gyk") == dump("solid.gyk"),
        "--min-count changes counts"
    );
}

#[test]
fn every_length_of_word_agrees() {
    let place = Place::new();
    place.simulate("20000", "10");
    for k in ["1", "9", "21", "32", "33", "64", "65", "96", "127"] {
        each_way(&place, &["-k", k], &[&["r_1.fq", "r_2.fq"]]);
    }
    each_way(
        &place,
        &["--stranded"],
        &[&["r_1.fq", "r_2.fq"], &["r_2.fq", "r_1.fq"]],
    );
}

#[test]
fn compression_and_wrapping_leave_no_trace() {
    let place = Place::new();
    place.simulate("30000", "10");
    let plain = place.read("r_1.fq");
    let count = |bytes: &[u8]| {
        place.write("r.fq", bytes);
        place.ok(&["count", "r.fq", "-o", "o.gyk"]);
        place.ok(&["kmers", "dump", "o.gyk"])
    };
    let expected = count(&plain);
    let (left, right) = plain.split_at(plain.len() / 3);
    assert!(count(&gzip(&plain)) == expected, "gzip");
    assert!(
        count(&[gzip(left), gzip(right)].concat()) == expected,
        "two gzip members"
    );
    let text = String::from_utf8(plain.clone()).unwrap();
    assert!(
        count(text.replace('\n', "\r\n").as_bytes()) == expected,
        "CR LF"
    );
    assert!(
        count(text.trim_end().as_bytes()) == expected,
        "no final newline"
    );
    let fasta: String = text
        .lines()
        .collect::<Vec<_>>()
        .chunks(4)
        .map(|r| format!(">{}\n{}\n", r[0], r[1]))
        .collect();
    assert!(count(fasta.as_bytes()) == expected, "FASTA");
    assert!(
        count(fasta.replace("ACG", "AC\nG").as_bytes()) == expected,
        "wrapped FASTA"
    );
    for ending in ["gz", "zst", "bz2", "xz"] {
        let name = format!("z.fq.{ending}");
        place.write("any.fa", ">a\nACGT\n");
        place.ok(&["count", "any.fa", "-k", "3", "-o", "any.gyk"]);
        place.ok(&[
            "kmers",
            "filter",
            "any.gyk",
            "r_1.fq",
            "--min-kmers",
            "0",
            "-o",
            &name,
        ]);
        assert!(count(&place.read(&name)) == expected, "{ending}");
    }
}
