//! `gyrase plan search`.

use gyrase_picture::words::{bytes, grouped};
use gyrase_search::plan;
use serde_json::json;

use super::Search;
use crate::cmd::rows::{Table, bounds, shown};
use crate::errors::too_little_memory;
use crate::failure::Result;
use crate::session::Session;

impl Search {
    /// Prints the prediction; a run that would be refused is refused here too.
    pub fn plan(&self, session: &Session) -> Result<()> {
        self.check_inputs(session)?;
        let plan = plan(&self.config(session)?)?;
        session.note(
            "counts",
            json!({"query_letters": bounds(plan.queries), "letters": bounds(plan.subjects)}),
        );
        session.note(
            "bytes",
            json!({
                "memory": bounds(plan.memory),
                "least_memory": plan.least_memory,
                "output": bounds(plan.output),
                "temporary": bounds(plan.temporary),
            }),
        );
        session.note("predicted_seconds", plan.seconds);
        let mut table = Table::default();
        table.row(
            "queries",
            format!("{} letters", shown(plan.queries, grouped)),
        );
        table.row(
            "database",
            format!("{} letters", shown(plan.subjects, grouped)),
        );
        table.memory(plan.memory, session.memory, plan.memory.most.is_none());
        if let Some(least) = plan.least_memory {
            table.row("least --memory", bytes(least));
        }
        table.temporary(plan.temporary, &session.tmp);
        table.output(plan.output);
        table.time(plan.seconds, "");
        table.print()?;
        match plan.least_memory {
            Some(least) if least > session.memory => Err(too_little_memory(least)),
            _ => Ok(()),
        }
    }
}
