//! Progress for people: a bar on a terminal, a plain line now and then elsewhere.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use gyrase_fabric::Progress;
use indicatif::{ProgressBar, ProgressStyle};

const FRAME: Duration = Duration::from_millis(100);
const LINE: Duration = Duration::from_secs(30);

/// The thread that shows; it ends when this is dropped.
pub struct Show {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Show {
    /// Starts to show `progress`.
    pub fn start(progress: Arc<Progress>) -> Show {
        let (stop, stopped) = mpsc::channel();
        let draw = if std::io::stderr().is_terminal() { draw_bar } else { say_lines };
        let thread = thread::Builder::new().name("progress".into()).spawn(move || draw(&progress, &stopped)).ok();
        Show { stop: Some(stop), thread }
    }
}

impl Drop for Show {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A bar that died is no reason to fail the run.
            let _ = thread.join();
        }
    }
}

fn goes_on(stopped: &Receiver<()>, pause: Duration) -> bool {
    stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout)
}

fn draw_bar(progress: &Progress, stopped: &Receiver<()>) {
    let bar = ProgressBar::no_length().with_style(style("{spinner} {msg} {elapsed}"));
    while goes_on(stopped, FRAME) {
        let (stage, done, total) = progress.now();
        if stage.is_empty() {
            continue;
        }
        if total > 0 {
            bar.set_style(style("{msg:8} [{bar:40}] {percent:>3} %  {elapsed}"));
            bar.set_length(total);
            bar.set_position(done.min(total));
        } else {
            bar.set_style(style("{spinner} {msg} {elapsed}"));
        }
        bar.set_message(stage);
        bar.tick();
    }
    bar.finish_and_clear();
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).expect("the template is a constant of this file");
    style.progress_chars("=> ")
}

fn say_lines(progress: &Progress, stopped: &Receiver<()>) {
    let start = Instant::now();
    while goes_on(stopped, LINE) {
        let (stage, done, total) = progress.now();
        let time = crate::words::time(start.elapsed());
        match total {
            _ if stage.is_empty() => {}
            0 => tracing::info!("{stage}, {time} so far"),
            _ => tracing::info!("{stage} {} % done, {time} so far", done.min(total) * 100 / total),
        }
    }
}
