//! The end that sends.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

use blake3::Hash;
use gyrase_work::Progress;

use crate::error::TransferError;
use crate::key::{PublicKey, SecretKey};
use crate::line::Line;
use crate::patient::Until;
use crate::tls::Ends;
use crate::wire::{CHUNK_BYTES, MOST_FILES, Offer, hash_of, is_fit};

/// How long an address may be silent before it counts as one that nobody is at.
const CONNECT: Duration = Duration::from_secs(10);
/// How long it takes to try again after a cut, and how often that is looked at.
const PAUSE: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(100);

/// Who sends to whom.
#[derive(Clone, Debug)]
pub struct Sending {
    /// The key of this end.
    pub key: SecretKey,
    /// The key of the other end; no other takes part.
    pub receiver: PublicKey,
    /// Where the other end listens: `host:port`.
    pub to: String,
    /// How often a transfer goes on after a cut.
    pub retries: u32,
}

/// What was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Bytes of all files.
    pub bytes: u64,
    /// Those of chunks that were not there yet.
    pub sent: u64,
    /// How often the connection broke.
    pub cuts: u32,
}

/// Sends files. Each has its name at the other end when all of it is there.
///
/// # Errors
/// See [`TransferError`].
pub fn send(
    config: &Sending,
    files: &[PathBuf],
    progress: &Progress,
) -> Result<Sent, TransferError> {
    let mut items = open(files)?;
    let mut done = Sent {
        bytes: items.iter().map(|item| item.offer.bytes).sum(),
        ..Sent::default()
    };
    loop {
        progress.start("send", done.bytes);
        let sent = connect(config, progress)
            .and_then(|mut line| send_over(&mut line, &mut items, progress, &mut done.sent));
        match sent {
            Err(error) if error.is_of_the_line() && done.cuts < config.retries => {
                done.cuts += 1;
                pause(PAUSE * done.cuts, progress)?;
            }
            sent => return sent.map(|()| done),
        }
    }
}

/// A file that is sent.
struct Item {
    path: PathBuf,
    file: File,
    offer: Offer,
}

fn open(files: &[PathBuf]) -> Result<Vec<Item>, TransferError> {
    let mut items: Vec<Item> = Vec::new();
    for path in files {
        let item = Item::open(path)?;
        if items
            .iter()
            .any(|other| other.offer.name == item.offer.name)
        {
            return Err(unfit(path, "two files would have one name"));
        }
        items.push(item);
    }
    match items.get(MOST_FILES) {
        Some(item) => Err(unfit(&item.path, "1,000 files go at once, and no more")),
        None => Ok(items),
    }
}

fn unfit(path: &Path, why: &'static str) -> TransferError {
    let path = path.to_path_buf();
    TransferError::Unfit { path, why }
}

impl Item {
    fn open(path: &Path) -> Result<Item, TransferError> {
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(name) = name.filter(|name| is_fit(name)) else {
            let why = "its name is too long, hidden, that of an unfinished file, or no UTF-8";
            return Err(unfit(path, why));
        };
        let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
        let (there, file) = opened.map_err(|source| TransferError::Read {
            path: path.to_path_buf(),
            source,
        })?;
        if !there.is_file() {
            return Err(unfit(path, "it is no ordinary file"));
        }
        Ok(Item {
            path: path.to_path_buf(),
            file,
            offer: Offer {
                name: name.into(),
                bytes: there.len(),
            },
        })
    }

    /// A chunk, by its number from 0.
    fn read(&mut self, chunk: u64) -> Result<Vec<u8>, TransferError> {
        let mut bytes = vec![0; self.offer.bytes_of(chunk)];
        let found = self.file.seek(SeekFrom::Start(chunk * CHUNK_BYTES));
        let read = found.and_then(|_| self.file.read_exact(&mut bytes));
        read.map_err(|source| self.unread(source))?;
        Ok(bytes)
    }

    fn unread(&self, source: io::Error) -> TransferError {
        let path = self.path.clone();
        match source.kind() {
            io::ErrorKind::UnexpectedEof => TransferError::Changed { path },
            _ => TransferError::Read { path, source },
        }
    }

    /// Refuses a file that has become longer.
    fn check(&self) -> Result<(), TransferError> {
        let now = self.file.metadata().map_err(|source| self.unread(source))?;
        match now.len() == self.offer.bytes {
            true => Ok(()),
            false => Err(self.unread(io::ErrorKind::UnexpectedEof.into())),
        }
    }
}

/// Connects with the other end.
pub(crate) fn connect(config: &Sending, progress: &Progress) -> Result<Line, TransferError> {
    let unreachable = |source| TransferError::Unreachable {
        address: config.to.clone(),
        source,
    };
    let addresses = config.to.to_socket_addrs().map_err(unreachable)?;
    let mut error = io::Error::other("the name has no address");
    for address in addresses {
        progress.go_on().map_err(|_| TransferError::Cancelled)?;
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(socket) => {
                let ends = Ends::new(&config.key, &[config.receiver]);
                return ends.connect(socket, &config.to, &Until::end_of(progress));
            }
            Err(found) => error = found,
        }
    }
    Err(unreachable(error))
}

fn pause(time: Duration, progress: &Progress) -> Result<(), TransferError> {
    for _ in 0..time.as_millis() / LOOK.as_millis() {
        progress.go_on().map_err(|_| TransferError::Cancelled)?;
        std::thread::sleep(LOOK);
    }
    Ok(())
}

/// Sends what the other end does not have.
fn send_over(
    line: &mut Line,
    items: &mut [Item],
    progress: &Progress,
    sent: &mut u64,
) -> Result<(), TransferError> {
    let offers: Vec<Offer> = items.iter().map(|item| item.offer.clone()).collect();
    line.write_offers(&offers)?;
    line.read_word()?;
    let mut there = Vec::new();
    for item in &mut *items {
        there.push(read_there(line, item, progress)?);
    }
    let chunks = items.iter_mut().zip(there);
    let done = chunks.into_iter().try_for_each(|(item, mut hashes)| {
        send_chunks(line, item, &mut hashes, (progress, sent))?;
        item.check()?;
        let hashes: Vec<Hash> = hashes.into_iter().flatten().collect();
        line.write_number_and_hash(0, &hash_of(&hashes))
    });
    if let Err(error) = done.and_then(|()| line.flush()) {
        // What broke the line may be that the other end refused, and said why.
        let why = error
            .is_of_the_line()
            .then(|| line.read_word().err())
            .flatten();
        return Err(why.filter(|why| !why.is_of_the_line()).unwrap_or(error));
    }
    line.place = "behind the last chunk".into();
    line.read_word()
}

/// The hashes of the chunks that are there as they are here.
fn read_there(
    line: &mut Line,
    item: &mut Item,
    progress: &Progress,
) -> Result<Vec<Option<Hash>>, TransferError> {
    let first = line.read_number()?;
    if first > item.offer.chunks() {
        return Err(line.garbled("more chunks are there than the file has"));
    }
    let mut hashes = Vec::new();
    for chunk in 0..item.offer.chunks() {
        let mut same = None;
        if chunk < first {
            line.place = format!("before {}", item.offer.name_of(chunk));
            let hash = line.read_hash()?;
            same = (hash == blake3::hash(&item.read(chunk)?)).then_some(hash);
        }
        if same.is_some() {
            progress.advance(item.offer.bytes_of(chunk) as u64);
        }
        hashes.push(same);
    }
    Ok(hashes)
}

/// Sends the chunks that have no hash yet, and leaves it.
fn send_chunks(
    line: &mut Line,
    item: &mut Item,
    hashes: &mut [Option<Hash>],
    (progress, sent): (&Progress, &mut u64),
) -> Result<(), TransferError> {
    for (chunk, known) in (0..).zip(hashes) {
        if known.is_some() {
            continue;
        }
        progress.go_on().map_err(|_| TransferError::Cancelled)?;
        line.place = format!("at {}", item.offer.name_of(chunk));
        if line.has_news() {
            line.read_word()?;
            return Err(line.garbled("it is content before it has all"));
        }
        let bytes = item.read(chunk)?;
        let hash = *known.insert(blake3::hash(&bytes));
        line.write_number_and_hash(chunk + 1, &hash)?;
        line.write(&bytes)?;
        *sent += bytes.len() as u64;
        progress.advance(bytes.len() as u64);
    }
    Ok(())
}
