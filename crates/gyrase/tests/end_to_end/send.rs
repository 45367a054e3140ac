//! Files on their way to another end, and reports that are made there.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, Stdio};

use crate::place::Place;
use crate::search::PROTEINS;
use crate::stops::signal;

/// Somebody who receives.
struct Waiting {
    process: Child,
    said: BufReader<ChildStderr>,
    address: String,
}

impl Waiting {
    fn start(place: &Place, more: &[&str]) -> Waiting {
        let args = [
            "receive",
            "-o",
            "in",
            "--listen",
            "127.0.0.1:0",
            "--secret",
            "b.key",
        ];
        let mut command = place.command(&[&args[..], more].concat());
        let mut process = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(process.stderr.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let (_, address) = line.split_once("waiting at ").expect(&line);
        let address = address.split(';').next().unwrap().to_owned();
        Waiting {
            process,
            said,
            address,
        }
    }

    /// Its exit code, and what it said.
    fn end(mut self) -> (Option<i32>, String) {
        let mut said = String::new();
        std::io::Read::read_to_string(&mut self.said, &mut said).unwrap();
        (self.process.wait().unwrap().code(), said)
    }
}

/// A place with a search, its metadata, and the keys of two ends.
fn place() -> (Place, [String; 2]) {
    let place = Place::new();
    place.write("refs.faa", PROTEINS);
    place.write("q.faa", &PROTEINS[..74]);
    std::fs::create_dir(place.path("in")).unwrap();
    let search = ["-q", "search", "q.faa", "--db", "refs.faa", "--format", "5"];
    place.ok(&[&search[..], &["--metadata", "hits.gym", "-o", "hits.xml"]].concat());
    let key = |name| place.ok(&["key", "--secret", name]).trim().to_owned();
    let keys = [key("a.key"), key("b.key")];
    (place, keys)
}

#[test]
fn what_was_found_travels_and_the_report_is_made_where_it_arrives() {
    let (place, [a, b]) = place();
    assert_eq!(
        (a.len(), place.ok(&["key", "--secret", "a.key"]).trim()),
        (64, &a[..])
    );
    let again = ["--db", "refs.faa", "--regenerate", "again.xml"];
    let waiting = Waiting::start(&place, &[&["--from", &a][..], &again].concat());
    let send = |key, secret| {
        let args = [
            "send",
            "hits.gym",
            "q.faa",
            &waiting.address,
            "--secret",
            secret,
        ];
        place.run(&[&args[..], &["--retries", "0", "--key", key]].concat())
    };
    let wrong = send(&a, "a.key");
    assert_eq!(wrong.code, 5, "{wrong:?}");
    assert!(
        wrong.stderr.contains(&format!("name it: --key {b}")),
        "{wrong:?}"
    );
    let stranger = send(&b, "b.key");
    assert_eq!(stranger.code, 5, "{stranger:?}");
    assert!(
        stranger.stderr.contains(&format!("receive --from {b}")),
        "{stranger:?}"
    );
    let plan = [
        "plan",
        "regenerate",
        "hits.gym",
        "q.faa",
        "--db",
        "refs.faa",
    ];
    let way = ["--to", &waiting.address, "--key", &b, "--secret", "a.key"];
    let said = place.ok(&[&plan[..], &way, &["--report", "plan.json"]].concat());
    assert!(
        said.contains("sooner") && said.contains("turns at"),
        "{said}"
    );
    let report = place.json("plan.json")["bytes"]["report"].as_u64();
    assert_eq!(report, Some(place.read("hits.xml").len() as u64));
    let sent = send(&b, "a.key");
    assert_eq!(sent.code, 0, "{sent:?}");
    let (code, said) = waiting.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains(&format!("--from {b} lets in")), "{said}");
    for name in ["hits.gym", "q.faa"] {
        assert_eq!(place.read(&format!("in/{name}")), place.read(name));
    }
    assert_eq!(place.read("again.xml"), place.read("hits.xml"));
}

#[test]
fn who_cannot_send_or_receive_says_why() {
    let (place, [a, b]) = place();
    let key = ["--secret", "a.key", "--retries", "0", "--key", &b];
    let send = |args: &[&str]| place.run(&[&["send"], args, &key[..]].concat());
    let nobody = send(&["hits.gym", "127.0.0.1:1"]);
    assert_eq!(nobody.code, 5, "{nobody:?}");
    assert!(
        nobody.stderr.contains("cannot reach 127.0.0.1:1"),
        "{nobody:?}"
    );
    assert_eq!(send(&["none.gym", "127.0.0.1:1"]).code, 1);
    assert_eq!(send(&["in", "127.0.0.1:1"]).code, 1);
    let short = place.run(&["send", "hits.gym", "127.0.0.1:1", "--key", &b[1..]]);
    assert!(
        short.code == 1 && short.stderr.contains("64 hexadecimal digits"),
        "{short:?}"
    );
    place.write("in/hits.gym", "another");
    let waiting = Waiting::start(&place, &["--from", &a, "--stay"]);
    let taken = send(&["hits.gym", &waiting.address]);
    assert_eq!(taken.code, 5, "{taken:?}");
    assert!(taken.stderr.contains("another file is there"), "{taken:?}");
    signal(&waiting.process, "TERM");
    let (code, said) = waiting.end();
    assert_eq!(code, Some(143), "{said}");
    assert!(
        said.contains("another file is there with the name hits.gym; --replace"),
        "{said}"
    );
    assert_eq!(place.read("in/hits.gym"), b"another");
}
