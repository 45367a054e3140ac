//! A worker as the service sees it: a process, and threads that hear what it says.

use std::ffi::OsString;
use std::io::{self, BufReader, BufWriter};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::event::Event;
use super::wire::{Order, hear, say};

/// How long a process may take to end once nothing more is said to it.
const END: Duration = Duration::from_secs(2);
/// How often the service looks whether it has.
const LOOK: Duration = Duration::from_millis(10);

/// A process that searches, or is about to.
pub struct WorkerProcess {
    child: Child,
    /// What is to be said; nothing more once this is gone.
    orders: Option<Sender<(Order, Vec<u8>)>>,
}

impl WorkerProcess {
    /// Starts a command. What it says is sent to `events` with the number of the worker, and how
    /// often that was started.
    ///
    /// # Errors
    /// The command cannot be started.
    pub fn start(
        command: &[OsString],
        (worker, life): (u32, u64),
        events: &Sender<Event>,
    ) -> io::Result<WorkerProcess> {
        let (program, args) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut child = Command::new(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take();
        let output = child.stdout.take();
        let (Some(input), Some(output)) = (input, output) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let events = events.clone();
        let named = |name: &str| thread::Builder::new().name(name.into());
        named("worker-says").spawn(move || {
            let mut output = BufReader::new(output);
            loop {
                let heard = match hear(&mut output) {
                    Ok(Some((word, body))) => Event::Said(worker, life, word, body),
                    Ok(None) => Event::Lost(worker, life, None),
                    Err(error) => Event::Lost(worker, life, Some(error)),
                };
                let is_lost = matches!(heard, Event::Lost(..));
                if events.send(heard).is_err() || is_lost {
                    return;
                }
            }
        })?;
        let (orders, to_say) = channel();
        named("worker-hears").spawn(move || pass_on(&to_say, input))?;
        let orders = Some(orders);
        Ok(WorkerProcess { child, orders })
    }

    /// Says something. One that is gone does not hear it; that it is gone is an event.
    pub fn say(&self, order: Order, body: Vec<u8>) {
        if let Some(orders) = &self.orders {
            let _ = orders.send((order, body));
        }
    }

    /// Says no more, by which it ends.
    pub fn end(&mut self) {
        self.orders = None;
    }

    /// Ends it at once.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
    }
}

fn pass_on(orders: &std::sync::mpsc::Receiver<(Order, Vec<u8>)>, input: ChildStdin) {
    let mut input = BufWriter::new(input);
    for (order, body) in orders {
        if say(&mut input, &order, &body).is_err() {
            return;
        }
    }
}

impl Drop for WorkerProcess {
    /// Lets it end by itself for a while.
    fn drop(&mut self) {
        self.end();
        let end = Instant::now() + END;
        while Instant::now() < end && matches!(self.child.try_wait(), Ok(None)) {
            thread::sleep(LOOK);
        }
        self.kill();
        let _ = self.child.wait();
    }
}
