//! Text that many threads write and that leaves in the order of the tasks.

use std::io::Write;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use gyrase_work::Progress;
use gyrase_work::Turn;

use crate::bins::share_out;
use crate::ops::OperationError;

/// Bytes that a thread collects before it passes them on.
const PIECE: usize = 1 << 20;
/// Pieces on their way to the sink.
const ON_THE_WAY: usize = 4;

/// Where a task writes its text. Memory is bounded by about a piece a thread.
pub(crate) struct Out<'a> {
    /// The text so far; call [`Out::pass`] now and then.
    pub(crate) text: Vec<u8>,
    task: usize,
    turn: &'a Turn,
    pieces: SyncSender<Vec<u8>>,
    spare: &'a Mutex<Vec<Vec<u8>>>,
}

impl Out<'_> {
    /// Passes the text on once there is much of it.
    #[inline]
    pub(crate) fn pass(&mut self) -> Result<(), OperationError> {
        if self.text.len() < PIECE {
            Ok(())
        } else {
            self.send()
        }
    }

    fn send(&mut self) -> Result<(), OperationError> {
        if !self.turn.wait(self.task) {
            return Err(OperationError::Stopped);
        }
        let spare = self
            .spare
            .lock()
            .expect("no thread panics while it holds the buffers")
            .pop();
        let empty = spare.unwrap_or_else(|| Vec::with_capacity(PIECE + PIECE / 8));
        let full = std::mem::replace(&mut self.text, empty);
        // The receiver is gone only when it could not write, and it has the better error.
        self.pieces.send(full).map_err(|_| OperationError::Stopped)
    }
}

/// Runs `work` on every task by `threads` threads and writes their texts to `sink`, from the
/// calling thread, in the order of the tasks. Returns the sum of what `work` returns.
pub(crate) fn write_ordered(
    threads: usize,
    tasks: usize,
    progress: &Progress,
    sink: &mut dyn Write,
    work: impl Fn(usize, &mut Out) -> Result<u64, OperationError> + Sync,
) -> Result<u64, OperationError> {
    let turn = Turn::default();
    let spare = Mutex::default();
    let (pieces, received) = sync_channel(ON_THE_WAY);
    let fail = || turn.fail();
    std::thread::scope(|scope| {
        let (turn, spare, fail, work) = (&turn, &spare, &fail, &work);
        let lanes = scope.spawn(move || {
            let start = || {
                (
                    Out {
                        text: Vec::new(),
                        task: 0,
                        turn,
                        pieces: pieces.clone(),
                        spare,
                    },
                    0,
                )
            };
            let work = |(out, sum): &mut (Out, u64), task| {
                out.task = task;
                *sum += work(task, out)?;
                out.send()?;
                turn.pass();
                Ok::<_, OperationError>(())
            };
            let lanes = share_out(threads, tasks, progress, start, work, fail)?;
            Ok(lanes.iter().map(|lane| lane.1).sum())
        });
        let written = drain(received, spare, sink);
        if written.is_err() {
            fail();
        }
        let done = lanes
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        written.and(done)
    })
}

/// Writes pieces as they arrive. Takes the receiver, so that senders hear of a failure.
fn drain(
    received: Receiver<Vec<u8>>,
    spare: &Mutex<Vec<Vec<u8>>>,
    sink: &mut dyn Write,
) -> Result<(), OperationError> {
    for mut piece in received {
        sink.write_all(&piece).map_err(OperationError::Sink)?;
        piece.clear();
        spare
            .lock()
            .expect("no thread panics while it holds the buffers")
            .push(piece);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(threads: usize, sink: &mut dyn Write) -> Result<u64, OperationError> {
        write_ordered(threads, 200, &Progress::default(), sink, |task, out| {
            let lines = if task % 40 == 7 { 60_000 } else { 30 };
            for line in 0..lines {
                writeln!(out.text, "text of task {task} line {line}")
                    .expect("memory takes all text");
                out.pass()?;
            }
            Ok(lines)
        })
    }

    #[test]
    fn keeps_the_order_of_the_tasks() {
        let (mut one, mut four) = (Vec::new(), Vec::new());
        assert_eq!(text(1, &mut one).unwrap(), text(4, &mut four).unwrap());
        assert!(one == four);
        assert!(
            one.starts_with(b"text of task 0 line 0\n")
                && one.ends_with(b"text of task 199 line 29\n")
        );
    }

    #[test]
    fn a_full_disk_is_an_error_and_no_deadlock() {
        struct Full(usize);
        impl Write for Full {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                self.0 = self
                    .0
                    .checked_sub(bytes.len())
                    .ok_or(std::io::ErrorKind::StorageFull)?;
                Ok(bytes.len())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        for room in [0, 100, 2 << 20, 4 << 20] {
            assert!(matches!(
                text(4, &mut Full(room)),
                Err(OperationError::Sink(_))
            ));
        }
    }
}
