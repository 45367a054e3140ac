//! Writing a trace: the spans of all processes of a job in one file.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use gyrase_fabric::{OutputFile, World};

use super::Tracer;
use super::json::{self, Place, STAGES};
use super::lane::{Kept, Lane};
use crate::failure::Result;
use crate::words::{self, things};

/// Bytes of lines that the first process holds at a time.
const AT_ONCE: usize = 32 << 20;

/// Collective. Writes the spans of all processes to `path`, which the first one makes. This process's monotonic clock is `ahead`
/// nanoseconds of the first one's. No process holds more than 32 MiB of lines at a time.
///
/// # Errors
/// The file cannot be written; another process failed.
pub fn write(tracer: &Tracer, path: &Path, world: &impl World, ahead: i64) -> Result<()> {
    let start = (tracer.0.clock - ahead).max(0) as u64;
    let zero = !world.max(&[!start])?[0];
    let mut lines = Lines::new(tracer, world.rank(), start - zero);
    let mut file = (world.rank() == 0).then(|| File::create(path, world.ranks())).transpose()?;
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
        self.0.write_all(bytes).map_err(|source| self.0.error(source))?;
        Ok(())
    }

    fn finish(mut self, kept: u64, folded: u64) -> Result<()> {
        self.add(json::TAIL.as_bytes())?;
        let path = self.0.target().display().to_string();
        self.0.commit()?;
        tracing::info!("{path}: {}{}", things(kept, "span"), folded_as_words(folded));
        Ok(())
    }
}

fn folded_as_words(folded: u64) -> String {
    match folded {
        0 => String::new(),
        folded => format!("; of {} shorter ones there are only sums", words::grouped(folded)),
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
        let lanes = tracer.0.lanes.lock().expect("no thread panics while it holds the lanes").clone();
        let mut lanes: Vec<_> = lanes.into_iter().map(|lane| (place_of(&lane.name), lane)).collect();
        lanes.sort_by_key(|lane| lane.0);
        let lanes: Vec<_> = lanes.into_iter().enumerate().map(|(n, (_, lane))| (STAGES + 1 + n, lane)).collect();
        let mut stages = vec![("start".to_string(), 0)];
        stages.extend(tracer.0.stages.lock().expect("no thread panics while it holds the stages").clone());
        let (place, lanes) = (Place { rank, shift }, lanes.into_iter());
        Lines { place, lanes, stages, end: tracer.now(), now: None, started: false, kept: 0, folded: 0 }
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
        let node = rustix::system::uname().nodename().to_string_lossy().into_owned();
        self.place.process(out, &format!("rank {}", self.place.rank), &node);
        self.place.thread(out, STAGES, "stages");
        let ends = self.stages.iter().skip(1).map(|stage| stage.1).chain([self.end]);
        for ((name, from), to) in self.stages.iter().zip(ends) {
            self.place.stage(out, name, *from, to);
        }
    }

    /// Adds some lines; false when there are none.
    fn go_on(&mut self, out: &mut String) -> bool {
        let Some((track, kept, given)) = &mut self.now else {
            let Some((track, lane)) = self.lanes.next() else { return false };
            self.place.thread(out, track, &lane.name);
            let kept = lane.kept();
            self.kept += kept.events.len() as u64;
            for (kind, folded) in &kept.folded {
                self.folded += folded.spans;
                let stage = self.stages.get(usize::from(kind.stage)).map_or("", |stage| &stage.0);
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
