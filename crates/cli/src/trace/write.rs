//! Writing a trace: the spans of all processes of a job in one file.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use gyrase_fabric::World;
use gyrase_files::OutputFile;
use gyrase_picture::words::{self, things};

use super::Tracer;
use super::json::{self, Place, STAGES};
use super::lane::{Kept, Lane};
use crate::failure::Result;

/// What comes before the first stage.
pub const START: &str = "start";
/// Bytes of lines that the first process holds at a time.
const AT_ONCE: usize = 32 << 20;

/// Collective. Writes the spans of all processes to `path`, which the first one makes. This
/// process's monotonic clock is `ahead` nanoseconds of the first one's. No process holds more than
/// 32 MiB of lines at a time.
///
/// # Errors
/// The file cannot be written; another process failed.
pub fn write(tracer: &Tracer, path: &Path, world: &impl World, ahead: i64) -> Result<()> {
    let start = (tracer.0.clock - ahead).max(0) as u64;
    let zero = !world.max(&[!start])?[0];
    let mut lines = Lines::new(tracer, world.rank(), start - zero);
    let mut file = (world.rank() == 0)
        .then(|| File::create(path, world.ranks()))
        .transpose()?;
    let portion = AT_ONCE / world.ranks();
    loop {
        let portion = lines.next(portion);
        if world.max(&[u64::from(portion.is_some())])?[0] == 0 {
            break;
        }
        let portions = world.gather(portion.unwrap_or_default().into_bytes())?;
        if let Some(file) = &mut file {
            portions.iter().try_for_each(|portion| file.add(portion))?;
        }
    }
    let all = world.sum(&[lines.kept, lines.folded])?;
    match file {
        Some(file) => file.finish(all[0], all[1]),
        None => Ok(()),
    }
}

/// The file under construction.
struct File(OutputFile);

impl File {
    fn create(path: &Path, ranks: usize) -> Result<File> {
        let mut file = File(OutputFile::create(path)?);
        let command: Vec<_> = std::env::args().collect();
        file.add(json::head(ranks, &command.join(" ")).as_bytes())?;
        Ok(file)
    }

    fn add(&mut self, bytes: &[u8]) -> Result<()> {
        self.0
            .write_all(bytes)
            .map_err(|source| self.0.error(source))?;
        Ok(())
    }

    fn finish(mut self, kept: u64, folded: u64) -> Result<()> {
        self.add(json::TAIL.as_bytes())?;
        let path = self.0.target().display().to_string();
        // A run is easily traced again: it need not wait for the disk.
        self.0.commit_unsynced()?;
        tracing::info!(
            "{path}: {}{}",
            things(kept, "span"),
            folded_as_words(folded)
        );
        Ok(())
    }
}

fn folded_as_words(folded: u64) -> String {
    match folded {
        0 => String::new(),
        folded => format!(
            "; of {} shorter ones there are only sums",
            words::grouped(folded)
        ),
    }
}

/// The lines of one process, given out in portions.
struct Lines {
    place: Place,
    lanes: std::vec::IntoIter<(usize, Arc<Lane>)>,
    stages: Vec<(String, u64)>,
    /// When the last stage ended.
    end: u64,
    /// The lane whose events are being given out, and how many were.
    now: Option<(usize, Kept, usize)>,
    started: bool,
    kept: u64,
    folded: u64,
}

impl Lines {
    fn new(tracer: &Tracer, rank: usize, shift: u64) -> Lines {
        let lanes = tracer
            .0
            .lanes
            .lock()
            .expect("no thread panics while it holds the lanes")
            .clone();
        let mut lanes: Vec<_> = lanes
            .into_iter()
            .map(|lane| (place_of(&lane.name), lane))
            .collect();
        lanes.sort_by_key(|lane| lane.0);
        let lanes: Vec<_> = lanes
            .into_iter()
            .enumerate()
            .map(|(n, (_, lane))| (STAGES + 1 + n, lane))
            .collect();
        let mut stages = vec![(START.to_string(), 0)];
        stages.extend(
            tracer
                .0
                .stages
                .lock()
                .expect("no thread panics while it holds the stages")
                .clone(),
        );
        let (place, lanes) = (Place { rank, shift }, lanes.into_iter());
        Lines {
            place,
            lanes,
            stages,
            end: tracer.now(),
            now: None,
            started: false,
            kept: 0,
            folded: 0,
        }
    }

    /// Lines of about so many bytes, whole ones and at least one; nothing when there are no more.
    fn next(&mut self, bytes: usize) -> Option<String> {
        let mut out = String::new();
        if !self.started {
            self.started = true;
            self.begin(&mut out);
        }
        while out.is_empty() || out.len() < bytes {
            if !self.go_on(&mut out) {
                return (!out.is_empty()).then_some(out);
            }
        }
        Some(out)
    }

    fn begin(&mut self, out: &mut String) {
        let node = rustix::system::uname()
            .nodename()
            .to_string_lossy()
            .into_owned();
        self.place
            .process(out, &format!("rank {}", self.place.rank), &node);
        self.place.thread(out, STAGES, "stages");
        let ends = self
            .stages
            .iter()
            .skip(1)
            .map(|stage| stage.1)
            .chain([self.end]);
        for ((name, from), to) in self.stages.iter().zip(ends) {
            self.place.stage(out, name, *from, to);
        }
    }

    /// Adds some lines; false when there are none.
    fn go_on(&mut self, out: &mut String) -> bool {
        let Some((track, kept, given)) = &mut self.now else {
            let Some((track, lane)) = self.lanes.next() else {
                return false;
            };
            self.place.thread(out, track, &lane.name);
            let kept = lane.kept();
            self.kept += kept.events.len() as u64;
            for (kind, folded) in &kept.folded {
                self.folded += folded.spans;
                let stage = self
                    .stages
                    .get(usize::from(kind.stage))
                    .map_or("", |stage| &stage.0);
                self.place.folded(out, track, kind, folded, stage, &kept);
            }
            self.now = Some((track, kept, 0));
            return true;
        };
        match kept.events.get(*given) {
            Some(event) => {
                self.place.span(out, *track, event, kept);
                *given += 1;
            }
            None => self.now = None,
        }
        true
    }
}

/// Where a thread stands among the tracks: the main one, the workers, the rest.
fn place_of(name: &str) -> usize {
    match name.strip_prefix("worker ") {
        _ if name == "main" => 0,
        Some(number) => 1 + number.parse().unwrap_or(0),
        None => usize::MAX,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::AtomicUsize;
    use std::time::Instant;

    use gyrase_fabric::{Steal, threads};
    use serde_json::Value;

    use super::super::lane::Event;
    use super::super::{ROOM, Shared};
    use super::*;

    /// A tracer that was made when its machine's clock showed `clock`, with so many spans of its
    /// main thread, a microsecond each.
    fn tracer(clock: i64, spans: u64) -> Tracer {
        let lane = Lane::new("main".into());
        for start in 0..spans {
            let (start, time, own, bytes, instance) =
                (start * 1000, 1000, 400, Some(7), Some(start));
            let event = Event {
                name: "wait",
                start,
                time,
                own,
                bytes,
                instance,
                at: 0,
                call: 0,
                stage: 0,
                beside: false,
            };
            lane.add(event, "collective", "sum", ROOM);
        }
        Tracer(Arc::new(Shared {
            start: Instant::now(),
            clock,
            lanes: Mutex::new(vec![Arc::new(lane)]),
            stages: Mutex::new(vec![("read".into(), 10)]),
            stage: AtomicUsize::new(1),
            room: AtomicUsize::new(ROOM),
        }))
    }

    #[test]
    fn the_processes_of_a_job_write_one_file_on_one_clock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.json");
        let ahead = [0, 5_000, -3_000];
        let done = threads::run(3, Steal::On, |process| {
            // Each began a millisecond after the one before, by the clock of the first.
            let rank = process.rank();
            let clock = 50_000_000 + 1_000_000 * rank as i64 + ahead[rank];
            write(&tracer(clock, 3), &path, process, ahead[rank])
        });
        assert!(done.iter().all(Result::is_ok), "{done:?}");
        let trace: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(trace["otherData"]["ranks"], 3);
        let events = trace["traceEvents"].as_array().unwrap();
        for rank in 0..3 {
            let spans: Vec<&Value> = events
                .iter()
                .filter(|event| event["pid"] == rank && event["cat"] == "gyrase")
                .collect();
            let starts: Vec<f64> = spans
                .iter()
                .filter_map(|span| span["ts"].as_f64())
                .collect();
            let first = 1000.0 * rank as f64;
            assert_eq!(starts, [first, first + 1.0, first + 2.0]);
            let args = serde_json::json!({"at": "collective", "call": "sum", "instance": 2, "bytes": 7, "own": 0.4});
            assert_eq!(
                (&spans[2]["args"], &spans[2]["dur"]),
                (&args, &Value::from(1.0))
            );
            let stages: Vec<&Value> = events
                .iter()
                .filter(|event| event["pid"] == rank && event["cat"] == "stage")
                .collect();
            assert_eq!(
                (&stages[0]["name"], stages[0]["dur"].as_f64()),
                (&"start".into(), Some(0.01))
            );
            assert_eq!(
                (&stages[1]["name"], stages[1]["ts"].as_f64()),
                (&"read".into(), Some(first + 0.01))
            );
        }
    }

    #[test]
    fn lines_are_the_same_in_any_portions() {
        let tracer = tracer(0, 200);
        let all = |portion| {
            let mut lines = Lines::new(&tracer, 4, 9);
            // Time goes on between two of these.
            lines.end = 1000;
            std::iter::from_fn(|| lines.next(portion)).collect::<Vec<_>>()
        };
        let (whole, small) = (all(1 << 20), all(100));
        assert_eq!(whole.concat(), small.concat());
        assert!(whole.len() == 1 && small.len() > 100);
        assert!(
            small
                .iter()
                .all(|lines| lines.starts_with(",\n{") && lines.ends_with('}'))
        );
    }

    #[test]
    fn a_file_that_cannot_be_written_fails_all_processes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nowhere/t.json");
        let done = threads::run(2, Steal::On, |process| {
            write(&tracer(0, 1), &path, process, 0)
        });
        assert!(done.iter().all(Result::is_err), "{done:?}");
        assert!(
            done[0]
                .as_ref()
                .is_err_and(|failure| failure.message.contains("nowhere")),
            "{done:?}"
        );
    }
}
