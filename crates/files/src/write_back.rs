//! Starts to write a file back to the disk while it is still being made.

use std::fs::File;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use tracing::info_span;

/// A thread that starts write-back while the rest is still being made, so that the last sync finds
/// little left to do.
#[derive(Debug)]
pub struct WriteBack {
    /// A request and the thread that serves it; `None` once joined.
    running: Option<(SyncSender<()>, JoinHandle<io::Result<()>>)>,
}

impl WriteBack {
    /// Starts the thread that will sync `file`.
    ///
    /// # Panics
    /// When the system has no more threads to give.
    pub fn start(file: File) -> WriteBack {
        let (requests, received) = sync_channel(1);
        let thread = std::thread::Builder::new().name("write-back".into());
        let thread = thread
            .spawn(move || WriteBack::run(&file, &received))
            .expect("the system has threads to give");
        WriteBack {
            running: Some((requests, thread)),
        }
    }

    fn run(file: &File, received: &Receiver<()>) -> io::Result<()> {
        // The system reports a failed write-back to the first sync only, so it must not be lost
        // here.
        received.iter().try_for_each(|()| {
            let _sync = info_span!(target: "gyrase::trace", "sync").entered();
            file.sync_data()
        })
    }

    /// Asks for another sync before long.
    pub fn request(&self) {
        if let Some((requests, _)) = &self.running {
            // A full channel means that a sync is about to start anyway; a closed one, that join
            // will tell why.
            let _ = requests.try_send(());
        }
    }

    /// Ends the thread.
    ///
    /// # Errors
    /// That of any of its syncs.
    pub fn join(&mut self) -> io::Result<()> {
        let Some((requests, thread)) = self.running.take() else {
            return Ok(());
        };
        drop(requests);
        let _sync = info_span!(target: "gyrase::trace", "sync").entered();
        thread.join().expect("the write-back thread does not panic")
    }
}

impl Drop for WriteBack {
    fn drop(&mut self) {
        // Whoever drops a writer without `finish` has given the file up.
        let _ = self.join();
    }
}
