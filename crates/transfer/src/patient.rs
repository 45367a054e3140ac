//! A socket that waits for as long as is reasonable, and hears when it is asked to stop.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

use gyrase_work::{Cancelled, Progress};

/// How often a wait looks whether it should stop.
const LOOK: Duration = Duration::from_millis(200);
/// How long the other end may be silent.
const SILENCE: Duration = Duration::from_secs(60);

/// When waits end though nothing came.
#[derive(Clone)]
pub(crate) struct Until {
    progress: Arc<Progress>,
    ended: Arc<AtomicBool>,
}

impl Until {
    /// With a run, or before it.
    pub fn end_of(progress: &Progress) -> Until {
        Until {
            progress: Arc::new(progress.of_part()),
            ended: Arc::default(),
        }
    }

    /// From now on nobody waits.
    pub fn end(&self) {
        self.ended.store(true, SeqCst);
    }

    /// True once nobody waits any more.
    pub fn is_over(&self) -> bool {
        self.ended.load(SeqCst) || self.progress.is_cancelled()
    }
}

/// A socket whose waits end.
pub(crate) struct Patient {
    socket: TcpStream,
    until: Until,
    /// When what is done now must be done, however often the other end says something.
    pub deadline: Option<Instant>,
}

impl Patient {
    /// # Errors
    /// The socket is gone.
    pub fn new(socket: TcpStream, until: &Until) -> io::Result<Patient> {
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(LOOK))?;
        socket.set_write_timeout(Some(LOOK))?;
        Ok(Patient {
            socket,
            until: until.clone(),
            deadline: None,
        })
    }

    /// Does something again until it is done or has taken too long.
    fn patiently(
        &mut self,
        mut once: impl FnMut(&mut TcpStream) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let silence = Instant::now() + SILENCE;
        let end = self
            .deadline
            .map_or(silence, |deadline| deadline.min(silence));
        loop {
            match once(&mut self.socket) {
                Err(error) if is_wait(&error) => {}
                done => return done,
            }
            // Not as `Interrupted`, which is tried again.
            if self.until.is_over() {
                return Err(io::Error::other(Cancelled));
            }
            if Instant::now() >= end {
                let what = "the other end is silent";
                return Err(io::Error::new(io::ErrorKind::TimedOut, what));
            }
        }
    }
}

fn is_wait(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut | Interrupted)
}

impl Read for Patient {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.patiently(|socket| socket.read(bytes))
    }
}

impl Write for Patient {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.patiently(|socket| socket.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}
