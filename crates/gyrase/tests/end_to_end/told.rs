//! What a run tells other programs: messages and reports in JSON.

use crate::place::Place;

/// Arguments that make no sense are told as any other error: one object in one line.
#[test]
fn usage_errors_are_objects_where_messages_are() {
    let place = Place::new();
    for (arguments, told) in [
        (
            "--log json count r.fq --bogus -o o.gyk",
            "unexpected argument '--bogus' found",
        ),
        ("count --log=json", "were not provided"),
        ("count --log=json r.fq", "--output <FILE.gyk>"),
        ("cuont --log json", "similar subcommand exists: 'count'"),
        ("count r.fq -o x --log json -t 0", "at least one thread"),
        ("--log json histo x.gyk", "gyrase kmers histo"),
        ("--log json", "requires a subcommand"),
        ("--log json kmers", "arguments are missing"),
    ] {
        let words: Vec<&str> = arguments.split(' ').collect();
        let run = place.run(&words);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{arguments}");
        let line: serde_json::Value = serde_json::from_str(&run.stderr).unwrap();
        let (level, fields) = (&line["level"], &line["fields"]);
        assert_eq!((level, &fields["exit_code"]), (&"ERROR".into(), &1.into()));
        let message = fields["message"].as_str().unwrap();
        assert!(message.contains(told), "{arguments}: {message}");
        let no = ["Usage", "error:", "For more", "\n", "\u{1b}"];
        assert!(no.iter().all(|no| !message.contains(no)), "{message}");
    }
    let help = place.run(&["--log", "json", "count", "--help"]);
    assert!(help.code == 0 && help.stdout.contains("Usage"));
}

/// What a run read is named by what is in it: another name changes nothing, another byte does.
#[test]
fn reports_name_databases_by_their_checksums() {
    let place = Place::new();
    place.write("a.fa", ">a\nACGTTGCATTAG\n");
    place.write("b.fa", ">b\nACGTTGCAGGCC\n");
    for (name, database) in [("a", "a"), ("a", "same"), ("b", "b")] {
        let (reads, database) = (format!("{name}.fa"), format!("{database}.gyk"));
        place.ok(&["count", &reads, "-k", "5", "-o", &database]);
    }
    let sums = |verb: &str| {
        let words: Vec<&str> = verb.split(' ').collect();
        place.ok(&[&words[..], &["--report", "r.json"]].concat());
        let databases = place.json("r.json")["databases"].take();
        let sum = |one: &serde_json::Value| one["checksum"].as_str().unwrap().to_owned();
        databases
            .as_array()
            .unwrap()
            .iter()
            .map(sum)
            .collect::<Vec<_>>()
    };
    let union = sums("kmers union a.gyk same.gyk b.gyk -o u.gyk");
    assert!(union[0] == union[1] && union[1] != union[2] && union[0].len() == 16);
    for verb in [
        "kmers histo same.gyk",
        "kmers dump same.gyk",
        "kmers info same.gyk",
        "kmers query same.gyk ACGTT",
        "kmers query same.gyk --reads a.fa",
        "kmers verify same.gyk",
        "kmers filter same.gyk a.fa -o f.fa",
        "kmers export same.gyk --to text -o x.txt",
    ] {
        assert_eq!(sums(verb), union[..1], "{verb}");
    }
    let info: serde_json::Value =
        serde_json::from_str(&place.ok(&["kmers", "info", "b.gyk", "--json"])).unwrap();
    assert_eq!(info["checksum"], union[2]);
}

#[test]
fn what_is_written_last_is_refused_first_where_its_folder_is_missing() {
    let place = Place::new();
    place.write("r.fa", ">r\nGATTACAGATTACA\n");
    for (option, name) in [
        ("--report", "nowhere/r.json"),
        ("--histo", "nowhere/r.tsv"),
        ("--multiqc", "nowhere/r_mqc.tsv"),
    ] {
        place.fails(
            &["count", "r.fa", "-k", "5", "-o", "r.gyk", option, name],
            6,
            &[name, "there is no folder nowhere; make it first"],
        );
        assert!(!place.path("r.gyk").exists());
    }
    let assemble = ["assemble", "r.fa", "-o", "nowhere/asm"];
    place.fails(&assemble, 6, &["there is no folder nowhere; make it first"]);
    for words in [
        "search r.fa --db r.fa -o r.out",
        "unitigs r.fa -k 5 -o r.out",
        "repeats r.fa -l 5 -o r.out",
        "assemble r.fa -o asm",
        "plan count r.fa -k 5",
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        let words = [&words[..], &["--report", "nowhere/r.json"]].concat();
        place.fails(&words, 6, &["there is no folder nowhere; make it first"]);
    }
    // A folder that the run makes is there once the report is written.
    place.ok(&[
        "-q",
        "assemble",
        "r.fa",
        "-o",
        "asm",
        "--report",
        "./asm/r.json",
    ]);
    assert!(place.path("asm/r.json").exists());
}
