//! `gyrase serve`: jobs over HTTP, with the bytes of the command line, also behind `kill -9`.

use std::io::{BufRead, Read, Write};
use std::net::TcpListener;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::place::{Place, gzip};
use crate::search::PROTEINS;
use crate::service::Service;

#[test]
fn results_have_the_bytes_of_the_command_line() {
    let place = Place::new();
    place.write("refs", PROTEINS);
    place.write("q.faa", PROTEINS);
    let service = Service::start(&place, &["--db", "refs=refs"]);
    // They wait together, and so are one search.
    let records: Vec<String> = PROTEINS
        .split('>')
        .skip(1)
        .map(|one| format!(">{one}"))
        .collect();
    let ids: Vec<String> = records
        .iter()
        .map(|record| service.submit("database=refs&evalue=1e-3", &gzip(record.as_bytes())))
        .collect();
    for (record, id) in records.iter().zip(&ids) {
        place.write("one.faa", record);
        let args = [
            "-q", "search", "one.faa", "--db", "refs", "--evalue", "1e-3", "--format",
        ];
        for (name, number) in [
            ("tsv", "6"),
            ("text", "0"),
            ("xml", "5"),
            ("jsonl", "jsonl"),
        ] {
            let found = service.result(id, &format!("format={name}"));
            let expected = place.ok(&[&args[..], &[number]].concat());
            assert!(found.status == 200 && found.text() == expected, "{found:?}");
        }
    }
    let all = service.submit("database=refs&top=1&title=all", PROTEINS.as_bytes());
    let some = service.result(&all, "format=xml&from=2&to=3");
    place.write("two.faa", records[1..3].concat());
    let args = [
        "-q", "search", "two.faa", "--db", "refs", "--top", "1", "--format", "5",
    ];
    assert_eq!(some.text(), place.ok(&args));
    let page = service.get(&format!("/jobs/{all}/report"));
    assert!(page.text().contains("the first"), "{page:?}");
    assert!(page.head.contains("script-src 'sha256-"), "{page:?}");
    assert_eq!(service.result(&all, "format=sam").status, 400);
    assert_eq!(
        service
            .send("DELETE", &format!("/api/v1/jobs/{all}"), "", b"")
            .status,
        204
    );
    assert_eq!(service.result(&all, "").status, 404);
}

#[test]
fn searches_of_some_taxa_have_the_bytes_of_the_command_line() {
    let place = Place::new();
    place.write("refs.faa", PROTEINS);
    let names = PROTEINS.lines().filter_map(|line| line.strip_prefix('>'));
    let names = names.map(|name| name.split(' ').next().unwrap());
    let taxids = names
        .zip([7u32, 8, 7, 9])
        .map(|(name, taxid)| format!("{name}\t{taxid}\n"));
    place.write("map", taxids.collect::<String>());
    place.write("q.faa", PROTEINS);
    place.ok(&["-q", "index", "refs.faa", "-o", "refs.gysd", "--map", "map"]);
    let choices = [
        ("taxid=7", &["--taxid", "7"][..]),
        ("taxid=7,9", &["--taxid", "7,9"]),
        ("not-taxid=7", &["--not-taxid", "7"]),
    ];
    for workers in [&[][..], &["--workers", "2", "--worker-memory", "100M"]] {
        let databases = [
            "--db",
            "refs=refs.gysd",
            "--db",
            "plain=refs.faa",
            "--memory",
            "2G",
        ];
        let service = Service::start(&place, &[&databases[..], workers].concat());
        for (options, words) in choices {
            let id = service.submit(&format!("database=refs&{options}"), PROTEINS.as_bytes());
            for format in ["6", "0"] {
                let name = if format == "6" { "tsv" } else { "text" };
                let found = service.result(&id, &format!("format={name}"));
                let args = [
                    "-q",
                    "search",
                    "q.faa",
                    "--db",
                    "refs.gysd",
                    "--format",
                    format,
                ];
                let expected = place.ok(&[&args[..], words].concat());
                let expected = expected.replace("refs.gysd", "refs");
                assert_eq!(found.text(), expected, "{options}");
            }
        }
        let ask = |options: &str| {
            let path = format!("/api/v1/jobs?{options}");
            service.send("POST", &path, "text/plain", PROTEINS.as_bytes())
        };
        let refused = ask("database=plain&taxid=7");
        assert!(
            refused.status == 400 && refused.text().contains("plain: no sequence has a taxid"),
            "{refused:?}"
        );
        assert_eq!(ask("database=refs&taxid=x").status, 400);
    }
}

#[test]
fn accepted_jobs_are_answered_behind_kill() {
    let place = Place::new();
    place.write("refs", PROTEINS);
    place.write("q.faa", PROTEINS);
    let expected = place.ok(&["-q", "search", "q.faa", "--db", "refs"]);
    let mut ids = Vec::new();
    // Behind a fourth kill a job that ran each time would be given up.
    for wait in [0, 3, 27] {
        let mut service = Service::start(&place, &["--db", "refs=refs"]);
        ids.extend((0..3).map(|_| service.submit("database=refs", PROTEINS.as_bytes())));
        sleep(Duration::from_millis(wait));
        service.child.kill().unwrap();
        service.child.wait().unwrap();
    }
    let service = Service::start(&place, &["--db", "refs=refs"]);
    for id in &ids {
        let found = service.result(id, "");
        assert!(found.status == 200 && found.text() == expected, "{found:?}");
    }
}

#[test]
fn a_full_disk_refuses_and_loses_nothing() {
    let place = Place::new();
    place.write("refs", PROTEINS);
    place.write("q.faa", PROTEINS);
    let expected = place.ok(&["-q", "search", "q.faa", "--db", "refs"]);
    let (mut ids, mut refused) = (Vec::new(), 0);
    let mut service = Service::start_behind("ulimit -f 400", &place, &["--db", "refs=refs"]);
    while refused < 5 {
        let path = "/api/v1/jobs?database=refs";
        let answer = service.send("POST", path, "text/plain", PROTEINS.as_bytes());
        match answer.status {
            202 => ids.push(answer.json()["id"].as_str().unwrap().to_string()),
            _ => {
                assert!(
                    answer.status == 503 && answer.head.contains("retry-after: "),
                    "{answer:?}"
                );
                refused += 1;
            }
        }
    }
    service.child.kill().unwrap();
    service.child.wait().unwrap();
    assert!(ids.len() > 5, "{}", ids.len());
    let service = Service::start(&place, &["--db", "refs=refs"]);
    for id in &ids {
        let found = service.result(id, "");
        assert!(found.status == 200 && found.text() == expected, "{found:?}");
    }
}

#[test]
fn clients_of_ncbi_find_what_they_look_for() {
    let place = Place::new();
    place.write("refs", PROTEINS);
    place.write("q.faa", PROTEINS);
    let service = Service::start(&place, &["--db", "refs=refs"]);
    let put = |fields: &str| {
        let form = format!("CMD=Put&{fields}&QUERY={}", PROTEINS.replace('\n', "%0A"));
        let form = form.replace('>', "%3E").replace(' ', "+");
        service.send(
            "POST",
            "/Blast.cgi",
            "application/x-www-form-urlencoded",
            form.as_bytes(),
        )
    };
    let page = put("PROGRAM=blastp&DATABASE=refs&ENTREZ_QUERY=(none)&EXPECT=1e-3&HITLIST_SIZE=2");
    let id = page
        .text()
        .lines()
        .find_map(|line| line.strip_prefix("    RID = "))
        .unwrap();
    let get = |more: &str| service.get(&format!("/Blast.cgi?CMD=Get&RID={id}&{more}"));
    let info = get("FORMAT_OBJECT=SearchInfo");
    let lines = "\nQBlastInfoBegin\n\tStatus=READY\nQBlastInfoEnd\n";
    assert!(info.text().contains(lines) && info.text().contains("\n    ThereAreHits=yes\n"));
    let args = [
        "-q", "search", "q.faa", "--db", "refs", "--evalue", "1e-3", "--top", "2", "--format",
    ];
    let xml = place.ok(&[&args[..], &["5"]].concat());
    assert_eq!(get("FORMAT_TYPE=XML").text(), xml);
    assert!(get("FORMAT_TYPE=JSON2").body.starts_with(b"PK\x03\x04"));
    let table = get("FORMAT_TYPE=Tabular");
    assert!(
        table
            .text()
            .starts_with("<p><!--\nQBlastInfoBegin\n\tStatus=READY\n")
    );
    for (fields, wrong) in [
        (
            "PROGRAM=blastp&DATABASE=nr",
            "no database of the name &quot;nr&quot;: choose refs",
        ),
        (
            "PROGRAM=blastn&DATABASE=refs",
            "blastn searches in nucleotides",
        ),
        ("PROGRAM=blastp&DATABASE=refs&EXPECT=x", "--evalue"),
        (
            "PROGRAM=blastp&DATABASE=refs&DATABASE=refs",
            "DATABASE is there twice",
        ),
    ] {
        let page = put(fields);
        assert!(
            page.status == 400 && page.text().contains("\n    RID = \n"),
            "{page:?}"
        );
        assert!(
            page.text().contains("<p class=\"error\">Message ID#"),
            "{page:?}"
        );
        assert!(page.text().contains(wrong), "{page:?}");
    }
    let gone = service.get(&format!("/Blast.cgi?CMD=Get&RID={}", "A".repeat(27)));
    assert!(gone.status == 404 && gone.text().contains("\tStatus=UNKNOWN\n"));
}

#[test]
fn what_is_hostile_is_refused_or_stays_text() {
    let place = Place::new();
    place.write("refs", PROTEINS);
    let service = Service::start(&place, &["--db", "refs=refs", "--max-letters", "1000"]);
    let markup = "<script>alert(1)</script>\"]]>&";
    let sent = format!(">{markup}\n{}", &PROTEINS[14..75]);
    let id = service.submit("database=refs", sent.as_bytes());
    assert_eq!(service.result(&id, "format=xml").status, 200);
    for page in ["", "/report"] {
        let page = service.get(&format!("/jobs/{id}{page}"));
        assert!(
            page.status == 200 && !page.text().contains("<script>alert"),
            "{page:?}"
        );
        assert!(page.head.contains("x-content-type-options: nosniff"));
    }
    let submit = |options: &str, body: &[u8]| {
        service
            .send(
                "POST",
                &format!("/api/v1/jobs?{options}"),
                "text/plain",
                body,
            )
            .status
    };
    let bomb = gzip(&vec![b'A'; 20 << 20]);
    assert_eq!(submit("database=refs", &bomb), 400);
    assert_eq!(submit("database=refs&output=/tmp/x", b"MKVLAWYG"), 400);
    assert_eq!(submit("database=../refs", b"MKVLAWYG"), 400);
    assert_eq!(submit("database=refs&evalue=--output", b"MKVLAWYG"), 400);
    assert_eq!(submit("database=refs", &[0xff; 100]), 400);
    for path in [
        "/jobs/../jobs.sqlite",
        "/jobs/%2e%2e%2fjobs.sqlite",
        "/%00",
        "/api/v1/jobs/x",
    ] {
        assert_eq!(service.get(path).status, 404, "{path}");
    }
    assert_eq!(
        service.ask(b"GET / HTTP/1.1\r\nX: \x00\r\n\r\n").status,
        400
    );
    assert_eq!(
        service
            .send("POST", "/jobs", "multipart/form-data", b"x")
            .status,
        400
    );
    assert_eq!(service.get("/").status, 200);
}

#[test]
fn whoever_has_a_token_may_ask() {
    let place = Place::new();
    place.write("refs", PROTEINS);
    place.write_secret("tokens", "ada 0123456789abcdefghij\n");
    let args = [
        "--db",
        "refs=refs",
        "--tokens",
        "tokens",
        "--allow-origin",
        "https://b.org",
    ];
    let service = Service::start(&place, &args);
    let ask = |more: &str| {
        let head = "GET / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n";
        service.ask(format!("{head}{more}\r\n").as_bytes())
    };
    let refused = ask("Authorization: Bearer 0123456789abcdefghik\r\n");
    assert!(refused.status == 401 && refused.head.contains("www-authenticate: basic"));
    assert_eq!(ask("").status, 401);
    // The token as the password of a user without a name.
    let basic = ask("Authorization: Basic OjAxMjM0NTY3ODlhYmNkZWZnaGlq\r\n");
    assert_eq!(basic.status, 200, "{basic:?}");
    assert_eq!(
        ask("Authorization: Bearer 0123456789abcdefghij\r\n").status,
        200
    );
    let foreign = "POST /jobs HTTP/1.1\r\nHost: here\r\nConnection: close\r\nContent-Length: 0\r\n\
                   Authorization: Bearer 0123456789abcdefghij\r\nSec-Fetch-Site: cross-site\r\n\r\n";
    assert_eq!(service.ask(foreign.as_bytes()).status, 403);
    let told = "GET /Blast.cgi?CMD=Put HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\
                Authorization: Bearer 0123456789abcdefghij\r\nSec-Fetch-Site: same-site\r\n\r\n";
    assert_eq!(service.ask(told.as_bytes()).status, 403);
    let known = told.replace("Host", "Origin: https://b.org\r\nHost");
    let known = service.ask(known.as_bytes());
    let header = "access-control-allow-origin: https://b.org\r\n";
    assert!(
        known.status == 400 && known.head.contains(header),
        "{known:?}"
    );
    let asked =
        "OPTIONS /api/v1/jobs HTTP/1.1\r\nOrigin: https://b.org\r\nConnection: close\r\n\r\n";
    assert_eq!(service.ask(asked.as_bytes()).status, 204);
    let other = asked.replace("b.org", "b.org.evil");
    let other = service.ask(other.as_bytes());
    assert!(
        other.status == 401 && !other.head.contains("access-control"),
        "{other:?}"
    );
    let args = [
        "serve",
        "--db",
        "refs=refs",
        "--tokens",
        "refs",
        "--jobs",
        "more",
    ];
    place.fails(&args, 1, &["refs: ", "chmod 600"]);
}

#[test]
fn answers_say_what_they_are() {
    let place = Place::new();
    place.write("refs", PROTEINS);
    let service = Service::start(&place, &["--db", "refs=refs"]);
    let id = service.submit("database=refs&title=a%22%0D%0Ab", PROTEINS.as_bytes());
    let result = service.result(&id, "");
    let named = format!(
        "content-disposition: attachment; filename=\"{}.tsv\"",
        id.to_lowercase()
    );
    assert!(result.head.contains(&named), "{result:?}");
    let places = [
        "/",
        "/about",
        "/style.css",
        "/none",
        "/api/v1/databases",
        "/api/v1/jobs/x",
    ];
    let own = [format!("/jobs/{id}"), format!("/jobs/{id}/report")];
    for path in places.into_iter().chain(own.iter().map(String::as_str)) {
        let answer = service.get(path);
        for header in [
            "content-type: ",
            "content-security-policy: default-src 'none'; ",
            "frame-ancestors ",
            "base-uri 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cache-control: ",
        ] {
            assert!(
                answer.head.contains(header),
                "{path}: {header} in {}",
                answer.head
            );
        }
        assert!(
            !answer.head.contains("access-control-allow-origin"),
            "{path}"
        );
        let is_page = answer.head.contains("content-type: text/html");
        assert!(!is_page || answer.head.contains("charset=utf-8"), "{path}");
    }
    let traced = service.send("TRACE", "/", "", b"");
    assert_eq!(traced.status, 405, "{traced:?}");
    let two = b"POST /api/v1/jobs HTTP/1.1\r\nHost: here\r\nContent-Length: 5\r\n\
                Content-Length: 6\r\nConnection: close\r\n\r\nabcdef";
    assert_eq!(service.ask(two).status, 400);
}

#[test]
fn the_log_has_no_sequences() {
    let place = Place::new();
    place.write("refs", PROTEINS);
    let token = "0123456789abcdefghij";
    place.write_secret("tokens", format!("ada {token}\n"));
    let args = ["--db", "refs=refs", "--tokens", "tokens", "--drain", "0"];
    let mut service = Service::start(&place, &args);
    let ask = |token: &str, more: &str, body: &str| {
        let head = format!(
            "POST /api/v1/jobs?database=refs&title=%0Aforged HTTP/1.1\r\nHost: here\r\n{more}\
             Connection: close\r\nAuthorization: Bearer {token}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        service.ask(format!("{head}{body}").as_bytes()).status
    };
    assert_eq!(ask("wrong-token", "", ""), 401);
    assert_eq!(ask(token, "Sec-Fetch-Site: cross-site\r\n", ""), 403);
    assert_eq!(ask(token, "", PROTEINS), 202);
    let process = service.child.id().to_string();
    let ended = std::process::Command::new("kill").arg(&process).status();
    assert!(ended.unwrap().success());
    let mut log = String::new();
    service.log.read_to_string(&mut log).unwrap();
    assert!(
        log.contains("an unknown one") && log.contains("another site"),
        "{log}"
    );
    for secret in [token, "wrong-token", "forged", &PROTEINS[14..30]] {
        assert!(!log.contains(secret), "{secret} in {log}");
    }
}

#[test]
fn a_request_may_wait_for_the_end_of_a_job() {
    let place = Place::new();
    place.write("refs", PROTEINS);
    place.write("q.faa", PROTEINS);
    let workers = ["--workers", "1", "--worker-memory", "100M"];
    let args = [&["--db", "refs=refs", "--drain", "0"], &workers[..]].concat();
    let service = Service::start(&place, &args);
    let waits = |path: &str, seconds: u64| {
        service.ask(
            format!(
                "GET {path} HTTP/1.1\r\nHost: here\r\nPrefer: wait={seconds}\r\n\
                 Connection: close\r\n\r\n"
            )
            .as_bytes(),
        )
    };
    let job = |id: &str| format!("/api/v1/jobs/{id}");
    let result = |id: &str| job(id) + "/result";
    let id = service.submit("database=refs", PROTEINS.as_bytes());
    let found = waits(&result(&id), 50);
    let expected = place.ok(&["-q", "search", "q.faa", "--db", "refs"]);
    assert!(found.status == 200 && found.text() == expected, "{found:?}");
    assert_eq!(waits(&job(&id), 50).json()["state"], "done");
    assert_eq!(waits(&result("none"), 50).status, 404);

    let signal = |signal: &str, process: u32| {
        let mut kill = std::process::Command::new("kill");
        let sent = kill.args([signal, &process.to_string()]).status();
        assert!(sent.expect("there is kill").success());
    };
    let worker = workers_of(&service)[0];
    signal("-STOP", worker);
    let id = service.submit("database=refs", PROTEINS.as_bytes());
    let late = waits(&result(&id), 1);
    assert!(
        late.status == 202 && late.head.contains("retry-after: "),
        "{late:?}"
    );
    let at_the_end = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| waits(&job(&id), 50));
        sleep(Duration::from_millis(300));
        signal("-TERM", service.child.id());
        waiting.join().expect("a request that is answered")
    });
    signal("-CONT", worker);
    assert_eq!(at_the_end.json()["state"], "running");
}

#[test]
fn a_service_that_is_full_says_when_to_come_back() {
    let place = Place::new();
    place.write("refs", PROTEINS);
    for (limit, status) in [("--max-waiting", 503), ("--max-waiting-of-client", 429)] {
        let service = Service::start(&place, &["--db", "refs=refs", limit, "0"]);
        let path = "/api/v1/jobs?database=refs";
        let answer = service.send("POST", path, "text/plain", PROTEINS.as_bytes());
        assert!(
            answer.status == status && answer.head.contains("retry-after: "),
            "{answer:?}"
        );
    }
    let service = Service::start(&place, &["--db", "refs=refs"]);
    let taken = [
        "serve",
        "--db",
        "refs=refs",
        "--jobs",
        "more",
        "--listen",
        &service.address,
    ];
    place.fails(&taken, 5, &["cannot listen at"]);
    assert!(!place.path("more").exists());
    place.fails(&["serve", "--db", "refs"], 1, &["write NAME=..."]);
    std::fs::remove_dir_all(place.path("gyrase-jobs")).unwrap();
    let args = ["serve", "--db", "refs=refs", "--memory", "1M"];
    place.fails(&args, 4, &["the databases take"]);
}

/// The next request, answered with a status.
fn hooked(listener: &TcpListener, status: &str) -> String {
    let (mut stream, _) = listener.accept().unwrap();
    let mut request = Vec::new();
    while !request.ends_with(b"}}") {
        let mut more = [0; 4096];
        let length = stream.read(&mut more).unwrap();
        assert_ne!(length, 0, "{}", String::from_utf8_lossy(&request));
        request.extend_from_slice(&more[..length]);
    }
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").unwrap();
    String::from_utf8(request).unwrap()
}

#[test]
fn the_end_of_a_job_is_told_until_somebody_takes_it() {
    let place = Place::new();
    place.write("refs", PROTEINS);
    place.write_secret("secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n");
    let listener = TcpListener::bind("localhost:0").unwrap();
    let origin = format!("http://localhost:{}", listener.local_addr().unwrap().port());
    let args = [
        "--db",
        "refs=refs",
        "--webhook-origin",
        &origin,
        "--webhook-secret",
        "secret",
    ];
    let mut service = Service::start(&place, &args);
    let refused = service.send(
        "POST",
        "/api/v1/jobs?database=refs&webhook=http://localhost:1/",
        "text/plain",
        PROTEINS.as_bytes(),
    );
    assert!(
        refused.status == 400 && refused.text().contains("sends nothing to localhost"),
        "{refused:?}"
    );
    let options = format!("database=refs&webhook={origin}/hook?key=1");
    let id = service.submit(&options, PROTEINS.as_bytes());
    let first = hooked(&listener, "503 Busy");
    service.child.kill().unwrap();
    service.child.wait().unwrap();
    let service = Service::start(&place, &args);
    let second = hooked(&listener, "204 Taken");
    for request in [&first, &second] {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("POST /hook?key=1 HTTP/1.1\r\n"), "{head}");
        assert!(head.contains(&format!("webhook-id: {id}\r\n")), "{head}");
        assert!(head.contains("webhook-signature: v1,"), "{head}");
        let told: Value = serde_json::from_str(body).unwrap();
        assert!(
            told["type"] == "job.done" && told["data"]["id"] == id[..],
            "{told}"
        );
    }
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let status = service.get(&format!("/api/v1/jobs/{id}"));
        assert!(!status.text().contains("key=1"), "{status:?}");
        match status.json()["webhook"]["state"].as_str() {
            Some("delivered") => break,
            _ => assert!(Instant::now() < end, "{status:?}"),
        }
        sleep(Duration::from_millis(20));
    }
}

/// Processes that a service started.
fn workers_of(service: &Service) -> Vec<u32> {
    let id = service.child.id();
    let tasks = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
    let other = std::fs::read_dir(format!("/proc/{id}/task")).unwrap();
    let mut all: Vec<u32> = tasks
        .split_whitespace()
        .map(|id| id.parse().unwrap())
        .collect();
    for thread in other {
        let children = thread.unwrap().path().join("children");
        let children = std::fs::read_to_string(children).unwrap_or_default();
        all.extend(
            children
                .split_whitespace()
                .map(|id| id.parse::<u32>().unwrap()),
        );
    }
    all.sort_unstable();
    all.dedup();
    all
}

#[test]
fn workers_find_what_one_process_finds_and_may_be_killed() {
    let place = Place::new();
    place.write("refs", PROTEINS);
    place.write("q.faa", PROTEINS);
    let search = ["-q", "search", "q.faa", "--db", "refs", "--format"];
    let expected = ["6", "0", "5"].map(|format| place.ok(&[&search[..], &[format]].concat()));
    let args = [
        "--db",
        "refs=refs",
        "--db",
        "same=refs",
        "--workers",
        "3",
        "--worker-memory",
        "100M",
    ];
    let service = Service::start(&place, &args);
    let check = |id: &str| {
        for (format, expected) in ["tsv", "text", "xml"].into_iter().zip(&expected) {
            let found = service.result(id, &format!("format={format}"));
            let expected = expected.replace("refs", "DATABASE");
            let text = found
                .text()
                .replace("refs", "DATABASE")
                .replace("same", "DATABASE");
            assert!(found.status == 200 && text == expected, "{found:?}");
        }
    };
    check(&service.submit("database=refs", PROTEINS.as_bytes()));
    // A job fails with its third worker: two are killed before all jobs are waited for.
    for _ in 0..2 {
        let mut ids = Vec::new();
        for worker in 0..2 {
            for database in ["refs", "same", "refs"] {
                ids.push(service.submit(&format!("database={database}"), PROTEINS.as_bytes()));
            }
            if let Some(worker) = workers_of(&service).get(worker) {
                let killed = std::process::Command::new("kill")
                    .args(["-9", &worker.to_string()])
                    .status();
                assert!(killed.unwrap().success());
            }
            sleep(Duration::from_millis(150));
        }
        ids.iter().for_each(|id| check(id));
    }
    let args = [
        "serve",
        "--db",
        "refs=refs",
        "--jobs",
        "more",
        "--workers",
        "1",
        "--worker-memory",
        "1K",
    ];
    place.fails(&args, 4, &["the database refs takes", "--worker-memory"]);
}

#[test]
fn a_plan_of_a_service_holds() {
    let place = Place::new();
    place.write("refs", PROTEINS);
    place.write(
        "genome",
        format!(">g\n{}\n", "GATTACACCAGTTGCATGCA".repeat(100)),
    );
    let args = ["plan", "serve", "--db", "refs=refs"];
    let genome = ["--db", "genome=genome"];
    let report = ["--report", "plan.json", "-q"];
    let shown = place.ok(&[&args[..], &genome, &report].concat());
    assert!(shown.contains("database        refs\n"), "{shown}");
    let plan: Value = serde_json::from_slice(&place.read("plan.json")).unwrap();
    let args_of_run = ["--db", "refs=refs", "--metrics", "127.0.0.1:0"];
    let args_of_run = [&args_of_run[..], &genome].concat();
    let mut service = Service::start(&place, &args_of_run);
    let mut line = String::new();
    service.log.read_line(&mut line).unwrap();
    service.address = line.trim().rsplit("http://").next().unwrap().to_string();
    let metrics = service.get("/metrics");
    let databases = plan["databases"].as_array().unwrap();
    let bytes = databases
        .iter()
        .map(|one| one["bytes_with_indexes"].as_u64().unwrap());
    let taken = format!("\ngyrase_database_bytes {}\n", bytes.sum::<u64>());
    assert!(metrics.text().contains(&taken), "{taken} {metrics:?}");
    let little = [&args[..], &["--workers", "1", "--worker-memory", "64M"]].concat();
    place.fails(&little, 4, &["the database refs takes", "--worker-memory"]);
    let enough = [&args[..], &["--workers", "4", "--worker-memory", "66M"]].concat();
    let shown = place.ok(&enough);
    assert!(shown.contains("2 to 4 share a job"), "{shown}");
    // Two workers hold either of two databases, four hold both.
    let two = ["--db", "same=refs", "--worker-memory", "66M", "--workers"];
    for (workers, policy, share) in [
        (&["2"][..], "rmap-plard", "1 to 2 share a job"),
        (&["2", "--policy", "rmap"], "rmap", "1 to 2 share a job"),
        (&["4"], "rmap", "4 to 4 share a job"),
        (&["4", "--policy", "rmap"], "rmap", "4 to 4 share a job"),
        (&["4", "--policy", "fix-s"], "fix-s", "2 to 4 share a job"),
    ] {
        let shown = place.ok(&[&args[..], &two, workers, &report].concat());
        let row = format!("\npolicy          {policy}\n");
        assert!(shown.contains(&row) && shown.contains(share), "{shown}");
        let told: Value = serde_json::from_slice(&place.read("plan.json")).unwrap();
        assert_eq!(told["policy"], policy);
    }
}
