//! The end that receives.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{self, Sender};
use std::thread::{self, Scope};
use std::time::Duration;

use gyrase_work::Progress;

use crate::arrival::Arrival;
use crate::claims::Claims;
use crate::error::TransferError;
use crate::key::{PublicKey, SecretKey};
use crate::line::Line;
use crate::patient::Until;
use crate::tls::Ends;
use crate::wire::{FILES, Offer, PROBE};

/// Connections at once; who comes then is turned away.
const MOST: usize = 32;
/// How often it is looked whether somebody asked to stop.
const LOOK: Duration = Duration::from_millis(200);
/// Bytes of hashes that are told at once.
const TOLD: usize = 1 << 12;
/// Bytes of a probe that are read at once.
const PROBED: usize = 1 << 16;

/// Who receives what, where.
#[derive(Clone, Debug)]
pub struct Receiving {
    /// Where to listen: `host:port`; port 0 is any that is free.
    pub listen: String,
    /// Where files get their names.
    pub folder: PathBuf,
    /// The key of this end.
    pub key: SecretKey,
    /// The keys of those who may send.
    pub senders: Vec<PublicKey>,
    /// Files that are there give way to others of their name.
    pub replace: bool,
}

/// Files that have arrived, and have their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// Who sent them.
    pub sender: PublicKey,
    /// Where they are, in the order in which they were named.
    pub files: Vec<PathBuf>,
    /// Bytes of all.
    pub bytes: u64,
    /// Those of chunks that came now, not in an earlier try.
    pub received: u64,
}

/// What happens while somebody listens.
#[derive(Debug)]
pub enum Event {
    /// All files of a sender are there.
    Arrived(Arrived),
    /// Those of a sender are not, for now.
    Failed(TransferError),
    /// Somebody called who was not let in, or left before.
    NotLetIn(TransferError),
}

/// Listens for senders.
pub struct Receiver {
    config: Receiving,
    listener: TcpListener,
    address: SocketAddr,
}

impl Receiver {
    /// Begins to listen.
    ///
    /// # Errors
    /// Nobody can listen there.
    pub fn bind(config: Receiving) -> Result<Receiver, TransferError> {
        let bound = TcpListener::bind(&config.listen)
            .and_then(|listener| Ok((listener.local_addr()?, listener)));
        match bound {
            Ok((address, listener)) => Ok(Receiver {
                config,
                listener,
                address,
            }),
            Err(source) => Err(TransferError::Listen {
                address: config.listen,
                source,
            }),
        }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes files until `each` event was heard that gives false.
    ///
    /// # Errors
    /// The first of `each`; [`TransferError::Cancelled`].
    pub fn run<E: From<TransferError>>(
        &self,
        progress: &Progress,
        mut each: impl FnMut(Event) -> Result<bool, E>,
    ) -> Result<(), E> {
        progress.start("wait", 0);
        let desk = Desk {
            config: &self.config,
            claims: Claims::default(),
            open: AtomicUsize::new(0),
            until: Until::end_of(progress),
            progress,
        };
        let (events, heard) = mpsc::channel();
        thread::scope(|threads| {
            let desk = &desk;
            threads.spawn(move || desk.listen(&self.listener, threads, &events));
            let done = loop {
                match heard.recv_timeout(LOOK) {
                    Ok(event) => match each(event) {
                        Ok(true) => {}
                        done => break done.map(drop),
                    },
                    Err(_) if desk.until.is_over() => {
                        break Err(TransferError::Cancelled.into());
                    }
                    Err(_) => {}
                }
            };
            desk.until.end();
            // Whoever waits for the next one gets it.
            let _ = TcpStream::connect_timeout(&self.own(), LOOK);
            done
        })
    }

    /// The address at which this process reaches itself.
    fn own(&self) -> SocketAddr {
        let mut own = self.address;
        if own.ip().is_unspecified() {
            own.set_ip(match own {
                SocketAddr::V4(_) => [127, 0, 0, 1].into(),
                SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
            });
        }
        own
    }
}

/// What all connections share.
struct Desk<'r> {
    config: &'r Receiving,
    claims: Claims,
    open: AtomicUsize,
    until: Until,
    progress: &'r Progress,
}

impl<'r> Desk<'r> {
    /// Takes connections, each in a thread.
    fn listen<'s>(
        &'s self,
        listener: &TcpListener,
        threads: &'s Scope<'s, '_>,
        events: &Sender<Event>,
    ) {
        loop {
            let accepted = listener.accept();
            if self.until.is_over() {
                return;
            }
            let Ok((socket, _)) = accepted else {
                // No file can be opened now, or who called is gone.
                thread::sleep(LOOK);
                continue;
            };
            if self.open.load(SeqCst) >= MOST {
                continue;
            }
            self.open.fetch_add(1, SeqCst);
            let events = events.clone();
            threads.spawn(move || {
                let served = self.serve(socket);
                self.open.fetch_sub(1, SeqCst);
                if let Some(event) = served {
                    // Who has heard enough hears no more.
                    let _ = events.send(event);
                }
            });
        }
    }

    /// Does what one sender asks for, up to one transfer; nothing happened where it only probed.
    fn serve(&self, socket: TcpStream) -> Option<Event> {
        let ends = Ends::new(&self.config.key, &self.config.senders);
        let mut line = match ends.accept(socket, &self.until) {
            Ok(line) => line,
            Err(error) => return Some(Event::NotLetIn(error)),
        };
        match self.answer(&mut line) {
            Ok(arrived) => arrived.map(Event::Arrived),
            Err(error) => {
                let told = line.write_word(Err(&reason(&error)));
                if told.is_ok() {
                    line.end();
                }
                Some(Event::Failed(error))
            }
        }
    }

    fn answer(&self, line: &mut Line) -> Result<Option<Arrived>, TransferError> {
        loop {
            match line.read_start()? {
                None => return Ok(None),
                Some(PROBE) => take_probe(line)?,
                Some(FILES) => return self.receive(line).map(Some),
                Some(_) => return Err(line.garbled("nobody asks for that")),
            }
        }
    }

    fn receive(&self, line: &mut Line) -> Result<Arrived, TransferError> {
        let offers = line.read_offers()?;
        let socket = line.handle().map_err(|source| TransferError::Listen {
            address: line.peer.clone(),
            source,
        })?;
        let names = offers.iter().map(|offer| offer.name.clone()).collect();
        let Some(_claim) = self.claims.take(names, line.key, &socket) else {
            return Err(TransferError::Taken {
                name: format!("{}, from somebody else who sends now", offers[0].name),
            });
        };
        let bytes = offers.iter().map(|offer| offer.bytes).sum();
        self.progress.start("receive", bytes);
        let mut arrivals = begin(&self.config.folder, offers, self.config.replace)?;
        line.write_word(Ok(()))?;
        for arrival in &mut arrivals {
            write_there(line, arrival)?;
        }
        line.flush()?;
        let mut received = 0;
        for arrival in &mut arrivals {
            received += take_chunks(line, arrival, self.progress)?;
        }
        let finished = arrivals.into_iter().map(Arrival::finish);
        let files = finished.collect::<Result<Vec<_>, _>>()?;
        // They are there, whether or not the sender hears it: it would ask again.
        let _ = line.write_word(Ok(()));
        Ok(Arrived {
            sender: line.key,
            files,
            bytes,
            received,
        })
    }
}

/// What a sender is told of an error: names, and nothing of the folders here.
fn reason(error: &TransferError) -> String {
    match error {
        TransferError::Output(error) => format!("it cannot be written: {}", error.source),
        TransferError::Cancelled => "it was asked to stop".into(),
        error => error.to_string(),
    }
}

fn begin(folder: &Path, offers: Vec<Offer>, replace: bool) -> Result<Vec<Arrival>, TransferError> {
    let begun = offers
        .into_iter()
        .map(|offer| Arrival::begin(folder, offer, replace));
    begun.collect()
}

/// Says what is there of a file.
fn write_there(line: &mut Line, arrival: &mut Arrival) -> Result<(), TransferError> {
    let first = arrival.first();
    let mut text = first.to_le_bytes().to_vec();
    for chunk in 0..first {
        line.place = format!("before {}", arrival.offer.name_of(chunk));
        text.extend(arrival.hash_next()?.as_bytes());
        if text.len() > TOLD {
            line.write(&text)?;
            text.clear();
        }
    }
    line.write(&text)
}

/// Takes what is missing of a file; its bytes.
fn take_chunks(
    line: &mut Line,
    arrival: &mut Arrival,
    progress: &Progress,
) -> Result<u64, TransferError> {
    let (mut received, mut expected) = (0, arrival.next_missing(0));
    let mut bytes = Vec::new();
    loop {
        line.place = match expected {
            Some(chunk) => format!("at {}", arrival.offer.name_of(chunk)),
            None => format!("behind {}", arrival.offer.name),
        };
        let number = line.wait_for_number()?;
        let hash = line.read_hash()?;
        let Some(chunk) = number.checked_sub(1) else {
            arrival.check(hash)?;
            return Ok(received);
        };
        if chunk >= arrival.offer.chunks() {
            return Err(line.garbled("no chunk has that number"));
        }
        line.place = format!("at {}", arrival.offer.name_of(chunk));
        bytes.resize(arrival.offer.bytes_of(chunk), 0);
        line.read(&mut bytes)?;
        arrival.put(chunk, hash, &bytes)?;
        received += bytes.len() as u64;
        progress.advance(bytes.len() as u64);
        expected = arrival.next_missing(chunk + 1);
    }
}

/// Takes bytes that mean nothing.
fn take_probe(line: &mut Line) -> Result<(), TransferError> {
    line.place = "in a probe".into();
    let mut rest = u32::from_le_bytes(line.read_array()?) as usize;
    let mut bytes = vec![0; PROBED];
    while rest > 0 {
        let part = rest.min(PROBED);
        line.read(&mut bytes[..part])?;
        rest -= part;
    }
    line.write_word(Ok(()))
}
