//! Progress for people: a bar on a terminal, a plain line now and then elsewhere.

use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use gyrase_picture::words;
use gyrase_work::Progress;
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
        let draw = if std::io::stderr().is_terminal() {
            draw_bar
        } else {
            say_lines
        };
        let thread = thread::Builder::new()
            .name("progress".into())
            .spawn(move || draw(&progress, &stopped))
            .ok();
        Show {
            stop: Some(stop),
            thread,
        }
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
    let mut rest = Rest::default();
    let bar = ProgressBar::no_length().with_style(style("{spinner} {msg} {elapsed}"));
    while goes_on(stopped, FRAME) {
        let (stage, done, total) = progress.now();
        if stage.is_empty() {
            continue;
        }
        if total > 0 {
            bar.set_style(style(
                "{msg:8} [{bar:40}] {percent:>3} %  {elapsed}{prefix}",
            ));
            bar.set_length(total);
            bar.set_position(done.min(total));
        } else {
            bar.set_style(style("{spinner} {msg} {elapsed}{prefix}"));
        }
        let (pace, counted) = (pace(progress), counted(progress));
        bar.set_prefix(format!("{counted}{pace}{}", rest.of(stage, done, total)));
        bar.set_message(named(progress, stage));
        bar.tick();
    }
    bar.finish_and_clear();
}

fn style(template: &str) -> ProgressStyle {
    let style =
        ProgressStyle::with_template(template).expect("the template is a constant of this file");
    style.progress_chars("=> ")
}

fn say_lines(progress: &Progress, stopped: &Receiver<()>) {
    let (start, mut rest) = (Instant::now(), Rest::default());
    while goes_on(stopped, LINE) {
        let (stage, done, total) = progress.now();
        let (time, rest) = (words::time(start.elapsed()), rest.of(stage, done, total));
        let (name, pace) = (named(progress, stage), pace(progress));
        let counted = counted(progress);
        match total {
            _ if stage.is_empty() => {}
            0 => tracing::info!(stage, "{name}, {time} so far{pace}"),
            _ => tracing::info!(
                stage,
                done,
                total,
                "{name} {} % done{counted}, {time} so far{pace}{rest}",
                done.min(total) * 100 / total
            ),
        }
    }
}

/// The stage, behind the sample that it is of where there are several.
fn named(progress: &Progress, stage: &str) -> String {
    match progress.sample() {
        sample if sample.is_empty() => stage.to_string(),
        sample => format!("{sample}: {stage}"),
    }
}

/// `, 120 of 3,000 queries` where the stage counts what people know.
fn counted(progress: &Progress) -> String {
    let (_, done, total) = progress.now();
    match progress.things() {
        "" => String::new(),
        things => {
            let [done, total] = [done.min(total), total].map(words::grouped);
            format!(", {done} of {total} {things}")
        }
    }
}

/// `, 3,000,000 reads a minute` where the stage counts them.
fn pace(progress: &Progress) -> String {
    let (reads, stages) = (progress.reads(), progress.stages());
    let seconds = stages.last().map_or(0.0, |stage| stage.time.as_secs_f64());
    if reads == 0 || seconds == 0.0 {
        return String::new();
    }
    let a_minute = reads as f64 * 60.0 / seconds;
    format!(", {} reads a minute", words::grouped(a_minute as u64))
}

/// Judges what is left of a stage by what was done of it since it was first seen.
#[derive(Default)]
struct Rest {
    /// The stage, when it was first seen, and what was done of it then.
    seen: Option<(&'static str, Instant, u64)>,
}

/// So much of a stage, as one in so many, must be done before the rest is judged by it.
const TELLING: u64 = 50;

impl Rest {
    /// `, about 5 s left`, once enough of the stage is done to tell; nothing before.
    fn of(&mut self, stage: &'static str, done: u64, total: u64) -> String {
        if self.seen.is_none_or(|seen| seen.0 != stage) {
            self.seen = Some((stage, Instant::now(), done));
        }
        let (time, before) = self.seen.map_or((Duration::ZERO, 0), |(_, since, before)| {
            (since.elapsed(), before)
        });
        match left(
            time,
            done.saturating_sub(before),
            total.saturating_sub(done),
        ) {
            Some(left) if done < total && done > total / TELLING => {
                format!(", about {} left", words::time(left))
            }
            _ => String::new(),
        }
    }
}

/// The time for `rest` units where `done` took `time`.
fn left(time: Duration, done: u64, rest: u64) -> Option<Duration> {
    (done > 0).then(|| time.mul_f64(rest as f64 / done as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_named_with_their_sample_and_their_pace() {
        let progress = Progress::default();
        progress.start("classify", 100);
        assert_eq!(
            (
                named(&progress, "classify").as_str(),
                pace(&progress).as_str()
            ),
            ("classify", "")
        );
        progress.begin_sample("gut", 3, 7);
        progress.add_reads(1000);
        assert_eq!(counted(&progress), "");
        assert_eq!(named(&progress, "classify"), "gut (3 of 7): classify");
        let pace = pace(&progress);
        assert!(
            pace.starts_with(", ") && pace.ends_with(" reads a minute"),
            "{pace}"
        );
    }

    #[test]
    fn queries_are_counted() {
        let progress = Progress::default();
        progress.start_counting("search", 3000, "queries");
        progress.advance(120);
        assert_eq!(counted(&progress), ", 120 of 3,000 queries");
        progress.start("write", 10);
        assert_eq!(counted(&progress), "");
    }

    #[test]
    fn what_is_left_goes_by_what_is_done() {
        assert_eq!(
            left(Duration::from_secs(6), 30, 70),
            Some(Duration::from_secs(14))
        );
        assert_eq!(left(Duration::from_secs(6), 0, 70), None);
        let mut rest = Rest::default();
        assert_eq!(rest.of("read", 0, 100), "");
        assert!(rest.of("read", 50, 100).starts_with(", about "));
        assert_eq!(rest.of("read", 100, 100), "");
        assert_eq!(
            rest.of("sort", 50, 100),
            "",
            "nothing is known of a new stage"
        );
        assert_eq!(rest.of("write", 0, 0), "");
    }
}
