//! `gyrase plan db`.

use std::path::PathBuf;

use clap::Subcommand;
use gyrase_classify::edit::ChangePlan;
use gyrase_classify::{BuildOnGpu, BuildPlan, Index, Parameters};
use gyrase_picture::words::{bytes, grouped};
use gyrase_table::gydb::Summary;
use gyrase_tabulate::Estimate;
use serde_json::json;

use super::add::Add;
use super::build::Build;
use super::merge::{Merge, admit};
use super::remove::Remove;
use crate::cmd::folders::{self, Wanted};
use crate::cmd::references::{self, Taxa};
use crate::cmd::rows::{Table, bounds, shown};
use crate::failure::Result;
use crate::gpu::{Found, GpuArgs};
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  gyrase plan db build refs/ --taxonomy taxdump/ --map acc2taxid.gz
  gyrase plan db build @files.txt --taxonomy gtdb_taxonomy.tsv --memory 16G
  gyrase plan db add refs.gydb new.fna.gz --taxonomy taxdump/
  gyrase plan db merge bacteria.gydb viruses.gydb

The taxonomy is read, since it takes memory too; the references are looked at.";

/// The verbs of `gyrase db` that can be planned.
#[derive(Debug, Subcommand)]
pub enum PlanDb {
    /// Say what `gyrase db build` with these arguments will take
    #[command(after_help = EXAMPLES)]
    #[command(mut_arg("output", |output| output.required(false).hide(true)))]
    #[command(mut_arg("resume", |resume| resume.hide(true)))]
    Build(Build),
    /// Say what `gyrase db add` with these arguments will take
    #[command(after_help = EXAMPLES)]
    #[command(mut_arg("output", |output| output.hide(true)))]
    Add(Add),
    /// Say what `gyrase db merge` with these arguments will take
    #[command(after_help = EXAMPLES)]
    #[command(mut_arg("output", |output| output.required(false).hide(true)))]
    Merge(Merge),
    /// Say what `gyrase db remove` with these arguments will take
    #[command(after_help = EXAMPLES)]
    #[command(mut_arg("output", |output| output.hide(true)))]
    Remove(Remove),
}

impl PlanDb {
    /// Prints the prediction; a run that would be refused is refused here too.
    pub fn plan(self, session: &Session) -> Result<()> {
        match self {
            PlanDb::Build(verb) => {
                let files = folders::files(&verb.references, Wanted::References, session)?;
                let taxa = Taxa::read_small(&verb.taxonomy, &verb.map, session)?;
                let parameters = verb.sketching.parameters()?;
                let found = verb.gpu.find_named(session)?;
                let gpu = found.as_ref().map(|found| (&verb.gpu, found));
                tell(files, parameters, (None, 0), (&taxa, gpu), session)
            }
            PlanDb::Merge(verb) => tell_change(verb.plan(session)?, session),
            PlanDb::Remove(verb) => tell_change(verb.plan(session)?, session),
            PlanDb::Add(verb) => {
                let files = folders::files(&verb.references, Wanted::References, session)?;
                let base = Index::open(&verb.database)?;
                let least = admit(session, std::slice::from_ref(&base), references::SHARES)?;
                let taxa = match &verb.taxonomy {
                    Some(taxonomy) => Taxa::read_small(taxonomy, &verb.map, session)?,
                    None => Taxa::of_database(&base, &[], &[], session)?,
                };
                let before = base.features.summary();
                let admitted = (Some(before), least);
                tell(files, base.parameters, admitted, (&taxa, None), session)
            }
        }
    }
}

fn tell(
    files: Vec<PathBuf>,
    parameters: Parameters,
    // The database that is added to, and the bytes without which that is refused.
    (before, changed): (Option<Summary>, u64),
    // What the taxa take is counted while they are there.
    (taxa, gpu): (&Taxa, Option<(&GpuArgs, &Found)>),
    session: &Session,
) -> Result<()> {
    let gpu = match gpu {
        Some((args, found)) => match found.share().sketches(parameters.sketch) {
            Ok(()) => Some(found),
            Err(why) => args.without(why).map(|()| None)?,
        },
        None => None,
    };
    let (plan, taken, least) = taxa.plan(files, parameters, before, session)?;
    let BuildPlan {
        letters,
        memory,
        tmp,
        output,
        seconds,
    } = plan;
    let for_gpu = gpu.map_or(0, |_| BuildOnGpu::host_memory(session.threads));
    let memory = (taken + memory + for_gpu).min(session.memory);
    let least = least.max(changed);
    session.note("counts", json!({"letters": bounds(letters)}));
    session.note(
        "bytes",
        json!({
            "memory": memory, "least_memory": least, "temporary": bounds(tmp),
            "output": bounds(output),
        }),
    );
    session.note("predicted_seconds", seconds);
    let mut table = Table::default();
    table.row("letters", shown(letters, grouped));
    table.memory(
        Estimate::exactly(memory),
        session.memory,
        letters.most.is_none(),
    );
    table.row("least --memory", bytes(least));
    table.temporary(tmp, &session.tmp);
    table.output(output);
    table.time(seconds, "");
    if let Some(found) = gpu {
        table.row("GPU", found.planned());
    }
    table.print()
}

fn tell_change((plan, least): (ChangePlan, u64), session: &Session) -> Result<()> {
    let ChangePlan {
        memory,
        targets,
        output,
    } = plan;
    session.note("counts", json!({"targets": targets}));
    session.note(
        "bytes",
        json!({"memory": memory, "least_memory": least, "output": bounds(output)}),
    );
    let mut table = Table::default();
    table.row("references", grouped(targets as u64));
    table.memory(Estimate::exactly(memory), session.memory, false);
    table.row("least --memory", bytes(least));
    table.output(output);
    table.print()
}
