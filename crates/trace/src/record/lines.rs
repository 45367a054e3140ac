//! The spans of a process as lines, and the file that takes in the lines of all processes.

use std::io::{self, Write};
use std::sync::Arc;

use super::clock::Alignment;
use super::json::{self, Process, STAGES};
use super::lane::{Kept, Lane};
use super::machine::{self, Usage};
use super::tracer::Tracer;

/// What comes before the first stage.
pub const START: &str = "start";

/// A trace under construction, in the process that writes it.
pub struct TraceFile<W>(W);

impl<W: Write> TraceFile<W> {
    /// Begins the trace of a run of so many ranks that this command line started.
    ///
    /// # Errors
    /// `out` fails.
    pub fn begin(out: W, ranks: usize, command: &str) -> io::Result<TraceFile<W>> {
        let mut file = TraceFile(out);
        file.add(json::head(ranks, command).as_bytes())?;
        Ok(file)
    }

    /// Adds lines of any process, as [`TraceLines::next`] gave them.
    ///
    /// # Errors
    /// The writer fails.
    pub fn add(&mut self, lines: &[u8]) -> io::Result<()> {
        self.0.write_all(lines)
    }

    /// Ends the trace, and gives the writer back.
    ///
    /// # Errors
    /// The writer fails.
    pub fn finish(mut self) -> io::Result<W> {
        self.add(json::TAIL.as_bytes())?;
        Ok(self.0)
    }
}

/// The lines of one process, given out in portions.
pub struct TraceLines {
    place: Process,
    lanes: std::vec::IntoIter<(usize, Arc<Lane>)>,
    stages: Vec<(String, u64)>,
    /// When the last stage ended.
    end: u64,
    used: Usage,
    cores: Vec<usize>,
    /// The lane whose events are being given out, and how many were.
    now: Option<(usize, Kept, usize)>,
    started: bool,
    /// Spans that were given out.
    kept: u64,
    /// Spans of which only sums were.
    folded: u64,
}

impl TraceLines {
    /// The lines of the process `rank`, whose clock is aligned so.
    pub fn new(tracer: &Tracer, rank: usize, clock: Alignment) -> TraceLines {
        let lanes = tracer.lock_lanes().clone();
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
        let (place, lanes) = (Process { rank, clock }, lanes.into_iter());
        TraceLines {
            place,
            lanes,
            stages,
            end: tracer.now(),
            used: Usage::now(&tracer.0.cores, &tracer.0.throttling).since(tracer.0.before),
            cores: tracer.0.cores.clone(),
            now: None,
            started: false,
            kept: 0,
            folded: 0,
        }
    }

    /// Spans that were given out so far, and spans of which only sums were.
    pub fn spans(&self) -> (u64, u64) {
        (self.kept, self.folded)
    }

    /// Lines of about so many bytes, whole ones and at least one; nothing when there are no more.
    pub fn portion(&mut self, bytes: usize) -> Option<String> {
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
        self.place
            .used(out, self.used, machine::nice(), &self.cores);
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
    use serde_json::Value;

    use super::super::lane::Event;
    use super::super::tracer::ROOM;
    use super::*;

    /// A tracer with so many spans of its main thread, a microsecond each.
    fn tracer(spans: u64) -> Tracer {
        let tracer = Tracer::new(0);
        let lane = Lane::new("main".into());
        for start in 0..spans {
            let event = Event {
                name: "wait",
                start: start * 1000,
                time: 1000,
                own: 400,
                cpu: 100,
                bytes: Some(7),
                instance: Some(start),
                ..tracer.0.event()
            };
            lane.add(event, "collective", "sum", ROOM);
        }
        tracer.lock_lanes().push(Arc::new(lane));
        tracer.0.stages.lock().unwrap().push(("read".into(), 10));
        tracer
    }

    #[test]
    fn the_lines_of_all_processes_make_one_file() {
        let mut file = TraceFile::begin(Vec::new(), 3, "gyrase count").unwrap();
        for rank in 0..3 {
            // Each began a millisecond after the one before.
            let mut lines =
                TraceLines::new(&tracer(3), rank, Alignment::steady(1_000_000 * rank as u64));
            while let Some(portion) = lines.portion(100) {
                file.add(portion.as_bytes()).unwrap();
            }
            assert_eq!(lines.spans(), (3, 0));
        }
        let trace: Value = serde_json::from_slice(&file.finish().unwrap()).unwrap();
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
            let args = serde_json::json!({
                "at": "collective", "call": "sum", "instance": 2, "bytes": 7, "own": 0.4,
                "cpu": 0.1,
            });
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
        let tracer = tracer(200);
        let all = |portion| {
            let mut lines = TraceLines::new(&tracer, 4, Alignment::steady(9));
            // Time goes on between two of these.
            lines.end = 1000;
            lines.used = Usage::default();
            std::iter::from_fn(|| lines.portion(portion)).collect::<Vec<_>>()
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
}
