//! Files between two ends in one process, through a way that cuts, changes and listens.

#![allow(clippy::unwrap_used, reason = "a helper of a test is a test")]

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

use gyrase_transfer::{
    Arrived, CHUNK_BYTES, Event, Receiver, Receiving, SecretKey, Sending, Sent, TransferError,
    probe, send,
};
use gyrase_work::Progress;
use tempfile::TempDir;

/// Two ends, a folder each.
struct Ends {
    here: TempDir,
    there: TempDir,
    sender: SecretKey,
    receiver: SecretKey,
    replace: bool,
}

/// What becomes of the bytes on their way to the receiver.
#[derive(Clone, Copy)]
enum Way {
    Whole,
    /// So many pass, and no more.
    Cut(usize),
    /// A bit of that one is turned.
    Turned(usize),
}

impl Ends {
    fn new() -> Ends {
        let folder = || tempfile::tempdir().unwrap();
        Ends {
            here: folder(),
            there: folder(),
            sender: SecretKey::generate(),
            receiver: SecretKey::generate(),
            replace: false,
        }
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.here.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn arrived(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.there.path().join(name)).unwrap()
    }

    fn listen(&self, folder: &Path) -> Receiver {
        let receiving = Receiving {
            listen: "127.0.0.1:0".into(),
            folder: folder.into(),
            key: self.receiver.clone(),
            senders: vec![self.sender.public()],
            replace: self.replace,
        };
        Receiver::bind(receiving).unwrap()
    }

    fn sending(&self, to: SocketAddr) -> Sending {
        Sending {
            key: self.sender.clone(),
            receiver: self.receiver.public(),
            to: to.to_string(),
            retries: 0,
        }
    }

    /// Sends files over each way in turn, until the last; what each try came to at both ends.
    fn send(&self, files: &[PathBuf], ways: &[Way]) -> Vec<(Result<Sent, String>, Ended)> {
        let listening = self.listen(self.there.path());
        let mut tries = Vec::new();
        for way in ways {
            let (to, passed) = through(listening.address(), *way);
            let ended = thread::scope(|threads| {
                let heard = threads.spawn(|| one_event(&listening));
                let sent = send(&self.sending(to), files, &Progress::default());
                (
                    sent.map_err(|error| error.to_string()),
                    heard.join().unwrap(),
                )
            });
            drop(passed);
            tries.push(ended);
        }
        tries
    }
}

type Ended = Result<Arrived, String>;

fn one_event(listening: &Receiver) -> Ended {
    let mut heard = None;
    let run = listening.run::<TransferError>(&Progress::default(), |event| {
        heard = Some(match event {
            Event::Arrived(arrived) => Ok(arrived),
            Event::Failed(error) | Event::NotLetIn(error) => Err(error.to_string()),
        });
        Ok(false)
    });
    run.unwrap();
    heard.unwrap()
}

/// An address from which bytes find their way to another, and those that came.
fn through(to: SocketAddr, way: Way) -> (SocketAddr, Arc<Mutex<Vec<u8>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let passed = Arc::<Mutex<Vec<u8>>>::default();
    let log = Arc::clone(&passed);
    thread::spawn(move || {
        let (from, _) = listener.accept().unwrap();
        let to = TcpStream::connect(to).unwrap();
        from.set_nodelay(true).unwrap();
        to.set_nodelay(true).unwrap();
        let back = (to.try_clone().unwrap(), from.try_clone().unwrap());
        let backward = thread::spawn(move || pass(back, Way::Whole, &Mutex::default()));
        pass((from, to), way, &log);
        backward.join().unwrap();
    });
    (address, passed)
}

fn pass((mut from, mut to): (TcpStream, TcpStream), way: Way, log: &Mutex<Vec<u8>>) {
    let (mut bytes, mut before) = (vec![0; 1 << 14], 0);
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        let mut own = bytes[..read].to_vec();
        match way {
            Way::Cut(at) if before + read > at => {
                let _ = to.write_all(&own[..at - before]);
                let _ = from.shutdown(Shutdown::Both);
                break;
            }
            Way::Turned(at) if (before..before + read).contains(&at) => own[at - before] ^= 4,
            _ => {}
        }
        before += read;
        log.lock().unwrap().extend(&own);
        // Where nobody takes it any more it is read all the same: a socket that is closed before
        // takes back what it sent.
        let _ = to.write_all(&own);
    }
    let _ = to.shutdown(Shutdown::Write);
}

/// Bytes that are like no others.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 42_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..length).map(|_| next()).collect()
}

const CHUNK: usize = CHUNK_BYTES as usize;

#[test]
fn files_arrive_as_they_are_and_once() {
    let ends = Ends::new();
    let contents = [noise(2 * CHUNK + 77), Vec::new(), noise(CHUNK)];
    let files: Vec<PathBuf> = ["a.gym", "empty", "c.faa"]
        .iter()
        .zip(&contents)
        .map(|(name, bytes)| ends.file(name, bytes))
        .collect();
    let bytes = 3 * CHUNK as u64 + 77;
    let tries = ends.send(&files, &[Way::Whole, Way::Whole]);
    let [(first, arrived), (again, _)] = &tries[..] else {
        unreachable!()
    };
    let arrived = arrived.as_ref().unwrap();
    assert_eq!((arrived.bytes, arrived.received), (bytes, bytes));
    assert_eq!(first.as_ref().unwrap().sent, bytes);
    assert_eq!(again.as_ref().unwrap().sent, 0, "all of it was there");
    for (name, content) in ["a.gym", "empty", "c.faa"].iter().zip(&contents) {
        assert!(ends.arrived(name) == *content, "{name}");
    }
    assert_eq!(std::fs::read_dir(ends.there.path()).unwrap().count(), 3);
}

#[test]
fn what_is_cut_at_a_hundred_points_goes_on() {
    let mut ends = Ends::new();
    let contents = [noise(5 * CHUNK / 2), noise(CHUNK / 3)];
    let files = [ends.file("a", &contents[0]), ends.file("b", &contents[1])];
    let whole = contents.concat().len();
    for cut in 0..100 {
        let at = whole * cut / 100;
        let tries = ends.send(&files, &[Way::Cut(at)]);
        assert!(tries[0].0.is_err() && tries[0].1.is_err(), "cut at {at}");
        let there = ends.there.path();
        let has = |name: &str| std::fs::read(there.join(name)).unwrap_or_default();
        assert!(has("a").is_empty() && has("b").is_empty());
        let kept = has("a.partial");
        let chunks = kept.len().div_ceil(CHUNK);
        assert!(kept == contents[0][..kept.len()] && (chunks + 1) * CHUNK + CHUNK / 8 > at);
        // Every tenth goes on to its end, with a cut behind the next chunk.
        if cut % 10 == 5 {
            let tries = ends.send(&files, &[Way::Cut(3 * CHUNK / 2), Way::Whole]);
            let sent = tries[1].0.as_ref().unwrap().sent as usize;
            assert!(sent + kept.len() <= whole, "cut at {at}: sent {sent}");
            assert!(ends.arrived("a") == contents[0] && ends.arrived("b") == contents[1]);
        }
        ends.there = tempfile::tempdir().unwrap();
    }
}

#[test]
fn a_turned_bit_is_refused_on_the_way_and_on_the_disk() {
    let ends = Ends::new();
    let content = noise(3 * CHUNK);
    let file = [ends.file("hits.gym", &content)];
    let at = 2 * CHUNK + CHUNK / 2;
    let tries = ends.send(&file, &[Way::Turned(at)]);
    let error = tries[0].1.as_ref().unwrap_err();
    assert!(error.contains("at chunk 3 of 3 of hits.gym"), "{error}");
    let said = tries[0].0.as_ref().unwrap_err();
    for error in [error, said] {
        assert!(
            error.contains("something was changed on the way"),
            "{error}"
        );
    }
    // What came before the third chunk is there, and is damaged on the disk now.
    let partial = ends.there.path().join("hits.gym.partial");
    let mut there = std::fs::read(&partial).unwrap();
    assert_eq!(there.len(), 2 * CHUNK);
    there[CHUNK + 5] ^= 1;
    std::fs::write(&partial, there).unwrap();
    let tries = ends.send(&file, &[Way::Whole]);
    let sent = tries[0].0.as_ref().unwrap().sent;
    assert_eq!(sent, 2 * CHUNK_BYTES, "the second and the third");
    assert!(ends.arrived("hits.gym") == content);
}

#[test]
fn nobody_else_sends_or_receives_or_reads() {
    let ends = Ends::new();
    let secret = b">query7 of a patient\nMKVLAAGIVGLLLAQPSFA\n";
    let file = [ends.file("q.faa", secret)];
    let listening = ends.listen(ends.there.path());
    let address = listening.address();
    for of_sender in [true, false] {
        let mut sending = ends.sending(address);
        let other = SecretKey::generate();
        match of_sender {
            true => sending.key = other.clone(),
            false => sending.receiver = other.public(),
        }
        thread::scope(|threads| {
            let heard = threads.spawn(|| one_event(&listening));
            let error = send(&sending, &file, &Progress::default()).unwrap_err();
            let (said, heard) = (error.to_string(), heard.join().unwrap().unwrap_err());
            let other = other.public().to_string();
            match of_sender {
                true => assert!(
                    said.contains(&other) && heard.contains(&other),
                    "{said} {heard}"
                ),
                false => assert!(said.contains(&ends.receiver.public().to_string()), "{said}"),
            }
        });
    }
    assert_eq!(std::fs::read_dir(ends.there.path()).unwrap().count(), 0);
    let (to, passed) = through(address, Way::Whole);
    thread::scope(|threads| {
        threads.spawn(|| one_event(&listening).unwrap());
        send(&ends.sending(to), &file, &Progress::default()).unwrap();
    });
    let passed = passed.lock().unwrap();
    assert!(passed.len() > secret.len());
    for part in [&b"query7"[..], b"q.faa", b"MKVLAAGIVGLL"] {
        assert!(!passed.windows(part.len()).any(|seen| seen == part));
    }
}

#[test]
fn a_file_that_is_there_gives_way_only_where_it_may() {
    let mut ends = Ends::new();
    let content = noise(CHUNK + 5);
    let file = [ends.file("a", &content)];
    for other in [vec![7; CHUNK + 5], vec![7; 9]] {
        std::fs::write(ends.there.path().join("a"), &other).unwrap();
        ends.replace = false;
        let refused = ends.send(&file, &[Way::Whole]);
        let error = refused[0].0.as_ref().unwrap_err();
        assert!(
            error.contains("another file is there with the name a"),
            "{error}"
        );
        assert!(ends.arrived("a") == other);
        ends.replace = true;
        assert!(ends.send(&file, &[Way::Whole])[0].0.is_ok());
        assert!(ends.arrived("a") == content);
    }
    let missing = ends.listen(&ends.there.path().join("none"));
    thread::scope(|threads| {
        let heard = threads.spawn(|| one_event(&missing));
        let sent = send(
            &ends.sending(missing.address()),
            &file,
            &Progress::default(),
        );
        let (said, heard) = (sent.unwrap_err().to_string(), heard.join().unwrap());
        assert!(said.contains("cannot be written"), "{said}");
        assert!(heard.unwrap_err().contains("none"));
    });
}

#[test]
fn a_sender_that_comes_back_takes_its_place() {
    let ends = Ends::new();
    let content = noise(2 * CHUNK);
    let file = [ends.file("a", &content)];
    let listening = ends.listen(ends.there.path());
    // A way that takes a part and then nothing, and does not say that it broke.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (stuck, to) = (listener.local_addr().unwrap(), listening.address());
    thread::scope(|threads| {
        threads.spawn(|| {
            let (mut from, _) = listener.accept().unwrap();
            let mut to = TcpStream::connect(to).unwrap();
            let (mut back, mut there) = (to.try_clone().unwrap(), from.try_clone().unwrap());
            threads.spawn(move || std::io::copy(&mut back, &mut there));
            let mut part = Read::by_ref(&mut from).take(3 * CHUNK_BYTES / 2);
            std::io::copy(&mut part, &mut to).unwrap();
            let partial = ends.there.path().join("a.partial");
            while partial.metadata().map_or(0, |there| there.len()) < CHUNK_BYTES {
                thread::yield_now();
            }
            let good = send(
                &ends.sending(listening.address()),
                &file,
                &Progress::default(),
            );
            assert!(good.unwrap().sent < 2 * CHUNK_BYTES);
        });
        threads.spawn(|| {
            let wanted = |event| Ok(!matches!(event, Event::Arrived(_)));
            listening
                .run::<TransferError>(&Progress::default(), wanted)
                .unwrap();
        });
        send(&ends.sending(stuck), &file, &Progress::default()).unwrap_err();
    });
    assert!(ends.arrived("a") == content);
}

#[test]
fn a_probe_tells_how_fast_it_is() {
    let ends = Ends::new();
    let listening = ends.listen(ends.there.path());
    let file = [ends.file("a", b"x")];
    thread::scope(|threads| {
        threads.spawn(|| one_event(&listening).unwrap());
        let sending = ends.sending(listening.address());
        let link = probe(&sending, &Progress::default()).unwrap();
        assert!(link.bandwidth > 0.0 && link.round_trip > 0.0, "{link:?}");
        // It is no transfer.
        send(&sending, &file, &Progress::default()).unwrap();
    });
}
