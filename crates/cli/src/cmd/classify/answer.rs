//! A sample as the library takes it: what it is asked with, and what is said of it.

use gyrase_classify::{
    AnswerConfig, Candidates, Catalogue, ClassifyError, Collection, Config, Dropped, Genomes,
    INSERT, Lane, Outlet, Outlets, Plan, QueryError, Reads, Rule, Scratch, Summary, Wanted, run,
    run_in,
};
use gyrase_picture::words::{bytes, grouped, things};

use gyrase_fabric::World;

use super::gpu;
use super::outputs::Outputs;
use crate::failure::{Failure, Result};
use crate::session::Session;

/// Dropped genomes that are named.
const NAMED: usize = 5;

/// The reads of lanes, compared with databases.
pub fn of_lanes<'a>(
    collection: &'a Collection,
    lanes: &'a [Lane],
    rule: Rule,
    session: &'a Session,
) -> Config<'a> {
    config(Reads::Lanes { collection, lanes }, rule, session)
}

/// The reads of stored candidates.
pub fn of_stored<'a>(candidates: &'a Candidates, rule: Rule, session: &'a Session) -> Config<'a> {
    config(Reads::Stored(candidates), rule, session)
}

fn config<'a>(reads: Reads<'a>, rule: Rule, session: &'a Session) -> Config<'a> {
    Config {
        reads,
        answer: AnswerConfig {
            rule,
            insert: INSERT,
            threads: session.threads,
            wanted: Wanted::default(),
        },
        memory: session.memory,
        scratch: Scratch {
            folder: &session.tmp,
            limit: session.max_tmp,
        },
        drop_least_covered: None,
    }
}

/// Classifies the reads of a sample into `outputs`, which are yet to be finished.
pub fn answer(mut config: Config, outputs: &mut Outputs, session: &Session) -> Result<Summary> {
    settle(&config, session)?;
    config.answer.wanted = outputs.wanted;
    let (columns, records) = (outputs.columns, outputs.extracted);
    let done = session.shown(|progress| {
        let mut outlets = Outlets {
            columns,
            lines: &mut outputs.answers,
            extracts: &mut outputs.extracts,
        };
        let Some(job) = session.job() else {
            return run(&config, progress, &mut outlets);
        };
        let outlet = match job.rank() {
            0 => Outlet::Here(&mut outlets),
            _ => Outlet::Away(columns),
        };
        Ok(run_in(&config, job, outlet, records, progress)?.unwrap_or_default())
    });
    let summary = done.map_err(|error| failure(outputs, error))?;
    if let Reads::Lanes { collection, .. } = config.reads {
        gpu::tell(collection, session);
    }
    if config.drop_least_covered.is_some() && session.is_first() {
        say_dropped(config.catalogue(), &summary.dropped);
    }
    Ok(summary)
}

/// Finds out that a run has the memory and the folder that its passes take, and says how often it
/// reads the reads.
pub fn settle(config: &Config, session: &Session) -> Result<()> {
    let Reads::Lanes { collection, lanes } = config.reads else {
        return Ok(());
    };
    if passes(collection, lanes, session)?.passes > 1 {
        session.tmp_folder()?;
    }
    Ok(())
}

/// How often the reads of `lanes` are read.
pub fn passes(collection: &Collection, lanes: &[Lane], session: &Session) -> Result<Plan> {
    let (memory, threads) = (session.memory, session.threads);
    let too_little = |least| ClassifyError::Memory { least, memory };
    let plan = collection.plan(memory, threads).map_err(too_little)?;
    if plan.passes > 1 {
        let why = why_again(collection, plan, session);
        lanes
            .iter()
            .try_for_each(|lane| keep_rereadable(lane, &why))?;
        match session.job() {
            Some(job) => tracing::info!(
                "each of {} processes asks a part of the databases, since {why}",
                job.ranks()
            ),
            None => tracing::info!(
                "the reads are read {}, since {why}",
                things(plan.passes as u64, "time")
            ),
        }
    }
    Ok(plan)
}

/// Why the databases are not asked at once.
fn why_again(collection: &Collection, plan: Plan, session: &Session) -> String {
    match collection.on_gpu() {
        Some(on_gpu) if plan.most == on_gpu.most() => {
            let (name, [part, all]) = (
                &on_gpu.gpu().name,
                [plan.most, collection.bytes()].map(bytes),
            );
            format!("the {name} takes {part} of {all} of features at a time")
        }
        _ => {
            let at_once = collection.memory_at_once(session.threads);
            let [at_once, memory] = [at_once, session.memory].map(bytes);
            format!("asking the databases at once takes {at_once} and --memory is {memory}")
        }
    }
}

/// Refuses reads that can be read only once; `why` says why they are read again.
pub fn keep_rereadable(lane: &Lane, why: &str) -> Result<()> {
    let Some(pipe) = lane.read_once() else {
        return Ok(());
    };
    let name = pipe.display();
    Err(Failure::usage(format!(
        "the reads are read again, since {why}, and {name} is no file; write them to a file first"
    )))
}

/// Refuses to share reads that can be read only once.
pub fn keep_shareable<'l>(
    mut lanes: impl Iterator<Item = &'l Lane>,
    session: &Session,
) -> Result<()> {
    match lanes.find_map(Lane::read_once) {
        Some(pipe) if session.job().is_some() => Err(Failure::usage(format!(
            "several processes cannot share {}, which can be read only once; give files",
            pipe.display()
        ))),
        _ => Ok(()),
    }
}

/// Says which genomes no read was assigned to.
fn say_dropped(catalogue: &Catalogue, dropped: &Dropped) {
    let genomes = Genomes::new(&catalogue.targets);
    let of_dropped = genomes
        .iter()
        .filter(|genome| dropped.has(genome.targets[0]));
    let names: Vec<&str> = of_dropped
        .take(NAMED)
        .map(|genome| catalogue.taxonomy.name(genome.taxon))
        .collect();
    let more = if dropped.genomes > NAMED { ", .." } else { "" };
    let names = if names.is_empty() {
        String::new()
    } else {
        format!(": {}{more}", names.join(", "))
    };
    let (count, hit) = (
        grouped(dropped.genomes as u64),
        things(dropped.hit as u64, "genome"),
    );
    tracing::info!("{count} of {hit} with reads dropped, the least covered{names}");
}

/// Names the file where answers cannot be written.
fn failure(outputs: &Outputs, error: ClassifyError) -> Failure {
    match error {
        ClassifyError::Query(QueryError::Sink(source)) => outputs.answers.error(source).into(),
        error => error.into(),
    }
}
