//! `gyrase plan classify`.

use std::path::PathBuf;

use gyrase_classify::{Lane, Prediction, predict, samples};
use gyrase_fastx::Inputs;
use gyrase_picture::words::{bytes, grouped};
use gyrase_tabulate::{Estimate, Source};
use serde_json::json;

use super::Classify;
use super::answer::passes;
use super::gpu;
use crate::cmd::rows::{Table, bounds, shown};
use crate::failure::{Failure, Result};
use crate::session::Session;

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
        let mut collection = self.against.index(Vec::new(), &self.gpu, session)?;
        let gpu = gpu::planned(&self.gpu, &mut collection, &lanes, session)?;
        let prediction = predict(
            &collection,
            inputs.inputs(),
            lanes.iter().any(Lane::is_paired),
            session.memory,
            session.threads,
        );
        session.note(
            "counts",
            json!({
                "letters": bounds(prediction.letters),
                "passes": prediction.plan.map(|plan| plan.passes),
            }),
        );
        session.note(
            "bytes",
            json!({
                "databases": collection.bytes(),
                "memory": prediction.memory,
                "least_memory": prediction.least_memory,
                "output": bounds(prediction.answers),
            }),
        );
        session.note("predicted_seconds", prediction.seconds);
        let mut rows = table(&prediction, collection.bytes(), session);
        if let Some(gpu) = gpu {
            rows.row("GPU", gpu);
        }
        rows.print()?;
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

fn table(prediction: &Prediction, databases: u64, session: &Session) -> Table {
    let mut table = Table::default();
    let unknown = prediction.letters.most.is_none();
    table.row("letters", shown(prediction.letters, grouped));
    table.row("databases", format!("{} of features", bytes(databases)));
    if let Some(memory) = prediction.memory {
        table.memory(Estimate::exactly(memory), session.memory, unknown);
    }
    table.row("least --memory", bytes(prediction.least_memory));
    if let Some(plan) = prediction.plan {
        table.row("passes", format!("{} over the reads", plan.passes));
        table.row(
            "temporary disk",
            match plan.passes {
                1 => "none".into(),
                _ => format!("the hits of the reads, in {}", session.tmp.display()),
            },
        );
    }
    table.row("answers", shown(prediction.answers, bytes));
    if prediction.plan.is_some() {
        let more = ", and that of reading the databases from disk";
        table.time(prediction.seconds, more);
    }
    table
}
