//! Memory and disk are limits that hold.

use crate::place::Place;

#[test]
fn too_little_memory_is_refused_before_the_first_byte() {
    let place = Place::new();
    place.simulate("2000", "2");
    place.fails(&["count", "r_1.fq", "-o", "o.gyk", "--memory", "1M"], 4, &["--memory", "needs at least"]);
    place.fails(&["count", "nowhere.fq", "-o", "o.gyk", "--memory", "1M"], 1, &["nowhere.fq"]);
}

#[test]
fn what_one_record_or_window_takes_is_part_of_the_promise() {
    let place = Place::new();
    place.write("r_1.fq", "@short\nACGTTGCA\n+\nIIIIIIII\n");
    let least = place.least_memory(1);
    let count = |name| ["count", name, "-o", "o.gyk", "--threads", "1", "--memory", &least];
    let long = 20 << 20;
    place.write("long.fq", format!("@endless\n{}\n+\n{}\n", "ACGT".repeat(long / 4), "I".repeat(long)));
    place.fails(&count("long.fq"), 4, &["long.fq", "record 1", "endless", "--memory"]);
    place.ok(&["count", "long.fq", "-o", "o.gyk", "--memory", "3G"]);

    // A frame with one stored block and a window of 2 GiB, as `zstd --long=31` makes it.
    let text = place.read("r_1.fq");
    let block = ((text.len() as u32) << 3 | 1).to_le_bytes();
    place.write("long.zst", [&b"\x28\xb5\x2f\xfd\x00\xa8"[..], &block[..3], &text].concat());
    place.fails(&count("long.zst"), 4, &["2040 MiB of them", "--long", "--memory"]);
    place.fails(&["plan", "count", "long.zst", "--threads", "1", "--memory", "1G"], 4, &["2040 MiB of them"]);
    place.ok(&["count", "long.zst", "-o", "o.gyk", "--threads", "1", "--memory", "3G"]);
}

#[test]
fn a_limit_on_address_space_is_heeded() {
    let place = Place::new();
    place.simulate("20000", "10");
    let args = ["count", "r_1.fq", "r_2.fq", "-o", "o.gyk"];
    let ran = place.limited("ulimit -v 1200000", &args);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let before = place.files();
    let ran = place.limited("ulimit -v 800000", &[&args[..], &["--memory", "6G"]].concat());
    if ran.code != 0 {
        place.check_failure(ran, 4, &["memory"], &before);
    }
}

#[test]
fn memory_stays_within_its_limit() {
    let place = Place::new();
    place.simulate_much();
    let least = place.least_memory(2);
    place.ok(&["count", "r_1.fq", "r_2.fq", "-o", "o.gyk", "--memory", &least, "--report", "r.json"]);
    let report = place.json("r.json");
    assert!(report["bytes"]["temporary"].as_u64().unwrap() > 0, "{report}");
    assert!(report["peak_memory_bytes"].as_u64().unwrap() <= least.parse().unwrap(), "{report}");
    assert_eq!(place.files(), ["g.fa", "o.gyk", "r.json", "r_1.fq", "r_2.fq"]);
}

#[test]
fn a_full_disk_is_named_and_leaves_nothing() {
    let place = Place::new();
    place.simulate_much();
    let before = place.files();
    let least = place.least_memory(2);
    // In bash the unit of `ulimit -f` is 1,024 bytes.
    for memory in [&least, "2G"] {
        let args = ["count", "r_1.fq", "r_2.fq", "-o", "o.gyk", "--memory", memory];
        place.check_failure(place.limited("ulimit -f 500", &args), 6, &["File too large"], &before);
    }
    let args = ["count", "r_1.fq", "r_2.fq", "-o", "o.gyk", "--memory", &least];
    place.fails(&[&args[..], &["--max-tmp", "100K"]].concat(), 6, &["--max-tmp"]);
    place.fails(&[&args[..], &["--tmp", "g.fa"]].concat(), 6, &["g.fa", "--tmp"]);
}

#[test]
fn few_open_files_are_enough() {
    let place = Place::new();
    place.simulate_much();
    let args = ["count", "r_1.fq", "r_2.fq", "-o", "o.gyk", "--memory", &place.least_memory(2)];
    let ran = place.limited("ulimit -n 40", &args);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}
