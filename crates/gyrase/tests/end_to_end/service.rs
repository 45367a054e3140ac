//! A service that runs, and requests to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::place::Place;

/// How long anything may take on a busy machine.
const SOON: Duration = Duration::from_secs(60);

/// A service that runs.
pub struct Service {
    pub child: Child,
    pub address: String,
    pub log: BufReader<ChildStderr>,
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a service answers.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }
}

impl Service {
    pub fn start(place: &Place, args: &[&str]) -> Service {
        Service::start_behind("true", place, args)
    }

    /// One behind `shell` text such as `ulimit -f 8`.
    pub fn start_behind(shell: &str, place: &Place, args: &[&str]) -> Service {
        let mut command = place.behind(shell, &["serve", "--listen", "127.0.0.1:0"]);
        let mut child = command.args(args).stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        log.read_line(&mut line).unwrap();
        let address = line.trim().rsplit("http://").next().unwrap().to_string();
        assert!(address.starts_with("127.0.0.1:"), "{line}");
        Service {
            child,
            address,
            log,
        }
    }

    pub fn ask(&self, request: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(request).unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        let end = all.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&all)));
        let head = String::from_utf8(all[..end].to_vec())
            .unwrap()
            .to_ascii_lowercase();
        let body = all[end + 4..].to_vec();
        Answer {
            status: head[9..12].parse().unwrap(),
            body: match head.contains("transfer-encoding: chunked") {
                true => joined(&body),
                false => body,
            },
            head,
        }
    }

    pub fn get(&self, path: &str) -> Answer {
        let host = &self.address;
        let head = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        self.ask(head.as_bytes())
    }

    pub fn send(&self, method: &str, path: &str, kind: &str, body: &[u8]) -> Answer {
        let (host, length) = (&self.address, body.len());
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\
             Content-Type: {kind}\r\nContent-Length: {length}\r\n\r\n"
        );
        self.ask(&[head.as_bytes(), body].concat())
    }

    /// Asks for a search; gives its identifier.
    pub fn submit(&self, options: &str, queries: &[u8]) -> String {
        let path = format!("/api/v1/jobs?{options}");
        let answer = self.send("POST", &path, "application/octet-stream", queries);
        assert_eq!(answer.status, 202, "{answer:?}");
        answer.json()["id"].as_str().unwrap().to_string()
    }

    /// The result, once there is one.
    pub fn result(&self, id: &str, options: &str) -> Answer {
        let end = Instant::now() + SOON;
        loop {
            let answer = self.get(&format!("/api/v1/jobs/{id}/result?{options}"));
            if answer.status != 202 {
                return answer;
            }
            assert!(answer.head.contains("retry-after: "), "{answer:?}");
            assert!(Instant::now() < end, "{answer:?}");
            sleep(Duration::from_millis(20));
        }
    }
}

/// The text of chunks.
fn joined(mut chunks: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    loop {
        let end = chunks.windows(2).position(|two| two == b"\r\n").unwrap();
        let length = std::str::from_utf8(&chunks[..end]).unwrap();
        let length = usize::from_str_radix(length, 16).unwrap();
        if length == 0 {
            return text;
        }
        text.extend_from_slice(&chunks[end + 2..end + 2 + length]);
        chunks = &chunks[end + 4 + length..];
    }
}
