//! `gyrase plan classify`.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

use gyrase_classify::{Lane, Prediction, predict, samples};
use gyrase_fastx::Inputs;
use gyrase_picture::words::{self, bytes, grouped};
use gyrase_tabulate::Source;
use serde_json::json;

use super::Classify;
use super::answer::passes;
use crate::failure::{Failure, Result};
use crate::session::Session;
use crate::sink;

impl Classify {
    /// Prints the prediction; a run that would be refused is refused here too.
    pub fn plan(self, session: &Session) -> Result<()> {
        if !self.against.is_of_databases() {
            return Err(Failure::usage(
                "only what asks a database can be planned; make one with `gyrase db build` and \
                 name it with --db",
            ));
        }
        let lanes = self.lanes()?;
        let files: Vec<PathBuf> = lanes.iter().flat_map(Lane::files).cloned().collect();
        let inputs = Inputs::open(&files, Source::options())?;
        let collection = self.against.index(Vec::new(), session)?;
        let prediction = predict(
            &collection,
            inputs.inputs(),
            session.memory,
            session.threads,
        );
        session.note(
            "counts",
            json!({
                "letters": prediction.letters, "passes": prediction.plan.map(|plan| plan.passes),
            }),
        );
        session.note(
            "bytes",
            json!({
                "databases": collection.bytes(),
                "memory": prediction.plan.map(|plan| plan.memory),
                "least_memory": prediction.least_memory,
            }),
        );
        session.note("predicted_seconds", prediction.seconds);
        sink::write_all(
            None,
            table(&prediction, collection.bytes(), session).as_bytes(),
        )?;
        passes(&collection, &lanes, session).map(|_| ())
    }

    /// All reads.
    fn lanes(&self) -> Result<Vec<Lane>> {
        if let Some((sheet, _)) = self.many.wanted() {
            return Ok(samples::read(sheet, self.interleaved)?
                .into_iter()
                .flat_map(|sample| sample.lanes)
                .collect());
        }
        Ok(self.lane().into_iter().collect())
    }
}

fn table(prediction: &Prediction, databases: u64, session: &Session) -> String {
    let &Prediction {
        letters,
        plan,
        least_memory,
        seconds,
    } = prediction;
    let mut text = String::new();
    let mut row = |name: &str, value: String| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:<16}{value}");
    };
    row(
        "letters",
        letters.map_or(UNKNOWN.into(), |letters| {
            format!("about {}", grouped(letters))
        }),
    );
    row("databases", format!("{} of features", bytes(databases)));
    if let Some(plan) = plan {
        row(
            "memory",
            format!(
                "up to {} of the {} allowed",
                bytes(plan.memory),
                bytes(session.memory)
            ),
        );
    }
    row("least memory", bytes(least_memory));
    if let Some(plan) = plan {
        let hits = || format!("the hits of the reads, in {}", session.tmp.display());
        row("passes", format!("{} over the reads", plan.passes));
        row(
            "temporary disk",
            if plan.passes == 1 {
                "none".into()
            } else {
                hits()
            },
        );
        let time = |seconds: f64| words::time(Duration::from_secs_f64(seconds.max(0.01)));
        let known = |seconds| {
            format!(
                "about {}, and that of reading the databases from disk",
                time(seconds)
            )
        };
        row("time", seconds.map_or(UNKNOWN.into(), known));
    }
    text
}

const UNKNOWN: &str = "unknown: an input is a pipe, or its first record is long";
