//! `--report`: what a run was asked, what it did, what it took, as JSON.

use std::path::Path;
use std::time::Duration;

use gyrase_work::machine;
use gyrase_work::{Progress, Stage};
use serde_json::{Map, Value, json};

use crate::failure::Result;
use crate::sink;

/// The facts that a verb adds: `parameters`, `inputs`, `counts`, `output`, `bytes`.
pub type Facts = Map<String, Value>;

/// Writes the report to `path`.
pub fn write(path: &Path, facts: &Facts, progress: &Progress, elapsed: Duration) -> Result<()> {
    let report = whole(facts, progress, elapsed);
    sink::write_all(Some(path), format!("{report:#}\n").as_bytes())
}

/// The report: what every run says, and its own facts.
pub fn whole(facts: &Facts, progress: &Progress, elapsed: Duration) -> Value {
    let mut report = Map::new();
    report.insert("gyrase".into(), env!("CARGO_PKG_VERSION").into());
    report.insert(
        "command".into(),
        std::env::args().collect::<Vec<_>>().into(),
    );
    report.extend(facts.clone());
    report.insert("stages".into(), stages(progress));
    report.insert("seconds".into(), seconds(elapsed).into());
    report.insert("peak_memory_bytes".into(), machine::peak_memory().into());
    report.into()
}

/// Files by what is in them, wherever they lie: each with its checksum.
pub fn identified<'p>(files: impl IntoIterator<Item = (&'p Path, u64)>) -> Value {
    let identified = |(path, checksum): (&Path, u64)| {
        let (path, checksum) = (path.display().to_string(), format!("{checksum:016x}"));
        json!({"path": path, "checksum": checksum})
    };
    files.into_iter().map(identified).collect()
}

/// The stages so far and what they took.
fn stages(progress: &Progress) -> Value {
    progress.stages().iter().map(of_stage).collect()
}

/// The same for one of many processes: stages of one name in one.
pub fn stages_by_name(progress: &Progress) -> Value {
    let mut all: Vec<Stage> = Vec::new();
    for stage in progress.stages() {
        match all.iter_mut().find(|one| one.name == stage.name) {
            Some(one) => {
                one.time += stage.time;
                one.peak_memory = one.peak_memory.max(stage.peak_memory);
            }
            None => all.push(stage),
        }
    }
    all.iter().map(of_stage).collect()
}

fn of_stage(stage: &Stage) -> Value {
    json!({
        "stage": stage.name, "seconds": seconds(stage.time),
        "peak_memory_bytes": stage.peak_memory,
    })
}

/// Milliseconds are all that a wall time is worth.
fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_process_each_stage_is_told_once() {
        let progress = Progress::default();
        for stage in ["read", "count", "read"] {
            progress.start(stage, 0);
        }
        let names = |told: &Value| -> Vec<Value> {
            let stages = told.as_array().expect("a list of stages").iter();
            stages.map(|stage| stage["stage"].clone()).collect()
        };
        assert_eq!(names(&stages(&progress)), ["read", "count", "read"]);
        assert_eq!(names(&stages_by_name(&progress)), ["read", "count"]);
    }
}
