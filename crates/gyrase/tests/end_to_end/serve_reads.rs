//! `gyrase serve` with databases for reads: classification and counts of k-mers over HTTP.

use std::thread::sleep;
use std::time::Duration;

use crate::classify;
use crate::place::{Place, gzip};
use crate::service::{Answer, Service};

/// The reports, and the options that write them.
const REPORTS: [(&str, &str); 10] = [
    ("lines", "--output"),
    ("kreport", "--kreport"),
    ("kreport-evidence", "--kreport-evidence"),
    ("evidence", "--evidence"),
    ("mpa", "--mpa"),
    ("cami", "--cami"),
    ("taxpasta", "--taxpasta"),
    ("html", "--html"),
    ("bracken", "--bracken"),
    ("abundance", "--abundance-out"),
];

/// A place with pairs and their database `r.gydb`.
fn place() -> Place {
    let place = classify::place();
    place.ok(&[&["-q"], &classify::BUILD[..]].concat());
    place
}

/// A form with fields, some of which are files by their names.
fn form(fields: &[(&str, Option<&str>, &[u8])]) -> Vec<u8> {
    let mut text = Vec::new();
    for (name, file, value) in fields {
        let file = file.map_or(String::new(), |file| format!("; filename=\"{file}\""));
        let head =
            format!("--edge\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n");
        text.extend([head.as_bytes(), value, b"\r\n"].concat());
    }
    text.extend(b"--edge--\r\n");
    text
}

fn send(service: &Service, fields: &[(&str, Option<&str>, &[u8])]) -> Answer {
    let kind = "multipart/form-data; boundary=edge";
    service.send("POST", "/api/v1/reads", kind, &form(fields))
}

fn id_of(answer: &Answer) -> String {
    assert_eq!(answer.status, 202, "{answer:?}");
    answer.json()["id"].as_str().unwrap().to_string()
}

#[test]
fn reads_are_classified_with_the_bytes_of_the_command_line() {
    let place = place();
    let mut args = vec![
        "-q",
        "classify",
        "--db",
        "r.gydb",
        "r_1.fq",
        "r_2.fq",
        "--min-hits",
        "3",
    ];
    let files = REPORTS.map(|(name, _)| match name {
        "lines" => "lines.tsv.gz",
        name => name,
    });
    for ((_, option), file) in REPORTS.iter().zip(files) {
        args.extend([option, file]);
    }
    place.ok(&args);
    let mut service = Service::start(&place, &["--db", "taxa=r.gydb"]);
    let [reads, mates] = ["r_1.fq", "r_2.fq"].map(|name| place.read(name));
    let pairs = |service: &Service| {
        let fields = [
            ("reads", Some("r_1.fq.gz"), &gzip(&reads)[..]),
            ("mates", Some("r_2.fq"), &mates),
            ("min-hits", None, b"3"),
            ("database", None, b"taxa"),
        ];
        id_of(&send(service, &fields))
    };
    let check = |service: &Service, id: &str| {
        for ((name, _), file) in REPORTS.iter().zip(files) {
            let found = service.result(id, &format!("format={name}"));
            assert!(
                found.status == 200 && found.body == place.read(file),
                "{name}: {found:?}"
            );
        }
    };
    let id = pairs(&service);
    check(&service, &id);
    let job = service.get(&format!("/api/v1/jobs/{id}")).json();
    assert_eq!(
        (&job["kind"], &job["title"]),
        (&"classify".into(), &"r".into())
    );
    assert!(
        job["queries"].as_u64() >= job["with_hits"].as_u64() && job["hits"] == 3,
        "{job}"
    );
    let page = service.get(&format!("/jobs/{id}"));
    assert!(
        page.text().contains("are classified, in 3 taxa"),
        "{page:?}"
    );
    let report = service.get(&format!("/jobs/{id}/report"));
    assert!(
        report.status == 200 && report.head.contains("script-src 'sha256-"),
        "{report:?}"
    );

    let mut ids = Vec::new();
    for wait in [0, 5, 20, 60] {
        ids.extend((0..2).map(|_| pairs(&service)));
        sleep(Duration::from_millis(wait));
        service.child.kill().unwrap();
        service.child.wait().unwrap();
        service = Service::start(&place, &["--db", "taxa=r.gydb"]);
    }
    ids.iter().for_each(|id| check(&service, id));
    let folder = place.path("gyrase-jobs/reads").join(&id);
    assert!(folder.join("results").exists() && !folder.join("reads").exists());
    service.send("DELETE", &format!("/api/v1/jobs/{id}"), "", b"");
    assert!(!folder.exists());
}

#[test]
fn reads_that_are_none_are_refused_and_damaged_ones_fail() {
    let place = place();
    let args = ["--db", "taxa=r.gydb", "--max-reads", "1M"];
    let service = Service::start(&place, &args);
    let reads = place.read("r_1.fq");
    let of = |more: &[(&str, Option<&str>, &[u8])]| {
        send(
            &service,
            &[&[("database", None, &b"taxa"[..])], more].concat(),
        )
    };
    let file = ("reads", Some("x.fq"), &reads[..]);
    for (answer, status, wrong) in [
        (of(&[]), 400, "there are no reads"),
        (
            of(&[("reads", Some("x.fq"), b"what is this?")]),
            400,
            "reads: ",
        ),
        (
            of(&[
                file,
                ("mates", Some("y"), &reads),
                ("interleaved", None, b"true"),
            ]),
            400,
            "not both",
        ),
        (of(&[file, file]), 400, "reads is there twice"),
        (of(&[file, ("confidence", None, b"2")]), 400, "--confidence"),
        (
            of(&[file, ("output", None, b"/tmp/x")]),
            400,
            "no field \"output\"",
        ),
        (
            of(&[("reads", Some("x"), &[b'A'; 2 << 20])]),
            413,
            "more reads than",
        ),
        (
            send(&service, &[file, ("database", None, b"../x")]),
            400,
            "choose taxa",
        ),
    ] {
        let told = answer.json()["error"]
            .as_str()
            .unwrap_or_default()
            .to_string();
        assert!(
            answer.status == status && told.contains(wrong),
            "{wrong}: {answer:?}"
        );
        assert!(!told.contains("gyrase-jobs"), "{told}");
    }
    let left = std::fs::read_dir(place.path("gyrase-jobs/reads")).unwrap();
    assert_eq!(left.count(), 0, "what is refused leaves nothing");

    let cut = &reads[..reads.len() - 200];
    let id = id_of(&of(&[("text", None, &[cut, b"\n@x\nAC"].concat())]));
    let failed = service.result(&id, "");
    let told = failed.json()["error"].as_str().unwrap().to_string();
    assert!(
        failed.status == 409 && told.contains("record"),
        "{failed:?}"
    );
    assert!(!told.contains("gyrase-jobs"), "{told}");
    for id in ["..", "%2e%2e", "..%2f..%2fr_1.fq", "."] {
        let gone = service.send("DELETE", &format!("/api/v1/jobs/{id}"), "", b"");
        assert_eq!(gone.status, 404, "{id}");
        let gone = service.get(&format!("/Blast.cgi?CMD=Delete&RID={id}"));
        assert_eq!(gone.status, 404, "{id}");
    }
    assert!(place.path("gyrase-jobs/jobs.sqlite").exists() && place.path("r_1.fq").exists());
    let start = service.get("/");
    assert!(
        start.status == 303 && start.head.contains("location: /classify"),
        "{start:?}"
    );
    assert!(service.get("/classify").text().contains("<b>taxa</b>"));
}

#[test]
fn counts_of_kmers_are_looked_up() {
    let place = classify::place();
    place.ok(&["-q", "count", "r_1.fq", "-k", "21", "-o", "s.gyk"]);
    place.ok(&[
        "-q",
        "kmers",
        "query",
        "s.gyk",
        "--reads",
        "r_2.fq",
        "--all",
        "-o",
        "all.tsv.gz",
    ]);
    let service = Service::start(&place, &["--db", "counts=s.gyk"]);
    let reads = place.read("r_2.fq");
    let path = "/api/v1/reads?database=counts&all=true&title=%3Cb%3E";
    let id = id_of(&service.send("POST", path, "application/octet-stream", &reads));
    assert_eq!(service.result(&id, "").body, place.read("all.tsv.gz"));
    let page = service.get(&format!("/jobs/{id}"));
    assert!(
        page.text().contains("<th>k-mers</th>") && !page.text().contains("<b></"),
        "{page:?}"
    );
    let kmer = String::from_utf8(reads.split(|&byte| byte == b'\n').nth(1).unwrap()[..21].into());
    let kmer = kmer.unwrap();
    let count = place.ok(&["-q", "kmers", "query", "s.gyk", &kmer]);
    let found = service.get(&format!("/api/v1/databases/counts/kmers/{kmer}"));
    let expected = format!("{kmer}\t{}\n", found.json()["count"]);
    assert_eq!(expected, count);
    let wrong = service.get("/api/v1/databases/counts/kmers/ACGT");
    assert!(
        wrong.status == 400 && wrong.text().contains("counts"),
        "{wrong:?}"
    );
    assert!(!wrong.text().contains("s.gyk"), "{wrong:?}");
    let path = "/api/v1/jobs?database=counts";
    let wrong = service.send("POST", path, "application/octet-stream", b">a\nACGT\n");
    assert!(
        wrong.status == 400 && wrong.text().contains("/api/v1/reads"),
        "{wrong:?}"
    );
}
