//! `gyrase plan kmers`.

use std::slice;

use clap::Subcommand;
use gyrase_count::exchange::ExchangePlan;
use gyrase_count::ops::{DatabasesPlan, plan_reading};
use gyrase_picture::words::grouped;
use gyrase_tabulate::Estimate;
use serde_json::json;

use super::combine::{Intersect, Subtract, Union};
use super::dump::Dump;
use super::exchange::{Export, Import};
use super::filter::Filter;
use super::histo::Histo;
use crate::cmd::rows::{Table, bounds, shown};
use crate::failure::Result;
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  gyrase plan kmers union a.gyk b.gyk
  gyrase plan kmers filter host.gyk reads.fq
  gyrase plan kmers export s.gyk --to kmc

Most of the memory is that of the databases, which are mapped: where the system
is short of it, it takes back what was read.";

/// The verbs of `gyrase kmers` that can be planned.
#[derive(Debug, Subcommand)]
pub enum PlanKmers {
    /// Say what `gyrase kmers union` with these arguments will take
    #[command(after_help = EXAMPLES)]
    #[command(mut_arg("output", |output| output.required(false).hide(true)))]
    Union(Union),
    /// Say what `gyrase kmers intersect` with these arguments will take
    #[command(after_help = EXAMPLES)]
    #[command(mut_arg("output", |output| output.required(false).hide(true)))]
    Intersect(Intersect),
    /// Say what `gyrase kmers subtract` with these arguments will take
    #[command(after_help = EXAMPLES)]
    #[command(mut_arg("output", |output| output.required(false).hide(true)))]
    Subtract(Subtract),
    /// Say what `gyrase kmers filter` with these arguments will take
    #[command(after_help = EXAMPLES)]
    #[command(mut_arg("output", |output| output.required(false).hide(true)))]
    Filter(Box<Filter>),
    /// Say what `gyrase kmers histo` with these arguments will take
    #[command(after_help = EXAMPLES)]
    Histo(Histo),
    /// Say what `gyrase kmers dump` with these arguments will take
    #[command(after_help = EXAMPLES)]
    Dump(Dump),
    /// Say what `gyrase kmers import` with these arguments will take
    #[command(after_help = EXAMPLES)]
    #[command(mut_arg("output", |output| output.required(false).hide(true)))]
    Import(Import),
    /// Say what `gyrase kmers export` with these arguments will take
    #[command(after_help = EXAMPLES)]
    #[command(mut_arg("output", |output| output.required(false).hide(true)))]
    Export(Export),
}

impl PlanKmers {
    /// Prints the prediction.
    pub fn plan(self, session: &Session) -> Result<()> {
        let (plan, output) = match self {
            PlanKmers::Union(verb) => verb.plan(session)?,
            PlanKmers::Intersect(verb) => verb.plan(session)?,
            PlanKmers::Subtract(verb) => verb.plan(session)?,
            PlanKmers::Filter(verb) => verb.plan(session)?,
            // Lines of counts: however large the database, a small text.
            PlanKmers::Histo(verb) => {
                let plan = plan_reading(slice::from_ref(&verb.database))?;
                return tell(plan, None, session);
            }
            PlanKmers::Dump(verb) => verb.plan(session)?,
            PlanKmers::Import(verb) => return tell_exchange(verb.plan(session)?, session),
            PlanKmers::Export(verb) => return tell_exchange(verb.plan(session)?, session),
        };
        tell(plan, Some(output), session)
    }
}

fn tell(plan: DatabasesPlan, output: Option<Estimate>, session: &Session) -> Result<()> {
    session.note("counts", json!({"kmers": plan.kmers}));
    session.note(
        "bytes",
        json!({"memory": plan.memory, "output": output.map(bounds)}),
    );
    let mut table = Table::default();
    table.row("k-mers", grouped(plan.kmers));
    table.memory(Estimate::exactly(plan.memory), session.memory, false);
    output.into_iter().for_each(|output| table.output(output));
    table.print()
}

fn tell_exchange(plan: ExchangePlan, session: &Session) -> Result<()> {
    let ExchangePlan {
        kmers,
        memory,
        tmp,
        output,
    } = plan;
    session.note("counts", json!({"kmers": bounds(kmers)}));
    session.note(
        "bytes",
        json!({"memory": memory, "temporary": bounds(tmp), "output": bounds(output)}),
    );
    let mut table = Table::default();
    table.row("k-mers", shown(kmers, grouped));
    let is_pipe = kmers.most.is_none();
    table.memory(Estimate::exactly(memory), session.memory, is_pipe);
    table.temporary(tmp, &session.tmp);
    table.output(output);
    table.print()
}
