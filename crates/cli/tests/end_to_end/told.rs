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
