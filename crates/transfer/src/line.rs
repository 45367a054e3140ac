//! A connection of two that know each other, and how far it is.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use crate::cause::broken;
use crate::error::TransferError;
use crate::key::PublicKey;

/// How often a wait for an answer may be as long as the other end may be silent: it syncs files.
const WAITS: usize = 10;
/// How long what still comes is thrown away, so that the other end hears why nobody wants it.
const DRAIN: Duration = Duration::from_secs(3);

/// What carries bytes both ways.
pub(crate) trait Carrier: Read + Write + Send {}

impl<T: Read + Write + Send> Carrier for T {}

/// A connection.
pub(crate) struct Line {
    stream: Box<dyn Carrier>,
    /// The socket below.
    socket: TcpStream,
    /// Where the other end is.
    pub peer: String,
    /// The key of the other end.
    pub key: PublicKey,
    own: PublicKey,
    /// How far it is, for messages.
    pub place: String,
}

impl Line {
    pub fn new(
        stream: Box<dyn Carrier>,
        socket: TcpStream,
        peer: String,
        key: PublicKey,
        own: PublicKey,
    ) -> Line {
        Line {
            stream,
            socket,
            peer,
            key,
            own,
            place: "at its beginning".into(),
        }
    }

    pub fn read(&mut self, bytes: &mut [u8]) -> Result<(), TransferError> {
        let read = self.stream.read_exact(bytes);
        read.map_err(|source| self.broken(source))
    }

    pub fn read_array<const N: usize>(&mut self) -> Result<[u8; N], TransferError> {
        let mut bytes = [0; N];
        self.read(&mut bytes)?;
        Ok(bytes)
    }

    /// The next byte, which may take its time; `None` at the end.
    pub fn read_start(&mut self) -> Result<Option<u8>, TransferError> {
        let mut byte = [0];
        for wait in 1.. {
            match self.stream.read(&mut byte) {
                Ok(0) => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
                Ok(_) => return Ok(Some(byte[0])),
                Err(error) if error.kind() == io::ErrorKind::TimedOut && wait < WAITS => {}
                Err(error) => return Err(self.broken(error)),
            }
        }
        unreachable!("some wait is the last")
    }

    pub fn write(&mut self, bytes: &[u8]) -> Result<(), TransferError> {
        let written = self.stream.write_all(bytes);
        written.map_err(|source| self.broken(source))
    }

    pub fn flush(&mut self) -> Result<(), TransferError> {
        let flushed = self.stream.flush();
        flushed.map_err(|source| self.broken(source))
    }

    /// True where the other end has said something, or is gone.
    pub fn has_news(&self) -> bool {
        let peeked = self.socket.set_nonblocking(true).and_then(|()| {
            let peeked = self.socket.peek(&mut [0]);
            self.socket.set_nonblocking(false)?;
            peeked
        });
        !matches!(peeked, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }

    /// Another name for the socket, by which somebody else can end the connection.
    pub fn handle(&self) -> io::Result<TcpStream> {
        self.socket.try_clone()
    }

    /// Says no more, and lets what comes go by for a while: an end that is closed while something
    /// comes takes back what it said last.
    pub fn end(mut self) {
        let _ = self.socket.shutdown(Shutdown::Write);
        let _ = self.socket.set_read_timeout(Some(DRAIN));
        let (end, mut thrown) = (Instant::now() + DRAIN, vec![0; 1 << 16]);
        while Instant::now() < end && matches!(self.socket.read(&mut thrown), Ok(1..)) {}
    }

    pub fn garbled(&self, what: &'static str) -> TransferError {
        TransferError::Garbled {
            peer: self.peer.clone(),
            place: self.place.clone(),
            what,
        }
    }

    /// The error of an end that is too early.
    pub fn ended(&self) -> TransferError {
        self.broken(io::ErrorKind::UnexpectedEof.into())
    }

    fn broken(&self, source: io::Error) -> TransferError {
        broken(self.peer.clone(), self.place.clone(), source, self.own)
    }
}
