//! The answers of one sample: the one place where the library is asked.

use gyrase_classify::{
    Candidates, Catalogue, Collection, Config, Covered, Dropped, Genomes, Hits, Outlets, Plan,
    QueryError, Rule, Scratch, Summary, Wanted, classify, classify_candidates, covered,
    covered_candidates,
};
use gyrase_picture::words::{bytes, grouped, things};
use gyrase_tabulate::Source;
use gyrase_work::Progress;

use super::lane::Lane;
use super::outputs::Outputs;
use crate::failure::{Code, Failure, Result};
use crate::session::Session;

/// Letters that a pair may span on its reference.
const INSERT: usize = 400;

/// Dropped genomes that are named.
const NAMED: usize = 5;

/// The reads of a sample and what their hits come from.
pub struct Reads<'a> {
    session: &'a Session,
    from: From<'a>,
}

enum From<'a> {
    /// Files and databases, which are asked within the memory of the run.
    Lanes {
        collection: &'a Collection,
        plan: Plan,
        lanes: &'a [Lane],
        hits: Vec<Hits<'a>>,
    },
    /// Files of stored candidates.
    Stored(&'a Candidates),
}

impl<'a> Reads<'a> {
    /// The reads of lanes. Where the databases are larger than the memory, all passes over the
    /// reads but the last are made here.
    pub fn of_lanes(
        collection: &'a Collection,
        lanes: &'a [Lane],
        session: &'a Session,
    ) -> Result<Reads<'a>> {
        let plan = plan(collection, lanes, session)?;
        let hits = session.shown(|progress| -> Result<Vec<Hits<'a>>> {
            let mut room = session.max_tmp;
            let one = |lane: &Lane| -> Result<Hits<'a>> {
                let hits = hits(collection, plan, lane, (session, room), progress)?;
                room = room.map(|room| room.saturating_sub(hits.stored_bytes()));
                Ok(hits)
            };
            lanes.iter().map(one).collect()
        })?;
        Ok(Reads {
            session,
            from: From::Lanes {
                collection,
                plan,
                lanes,
                hits,
            },
        })
    }

    /// The reads of stored candidates.
    pub fn stored(candidates: &'a Candidates, session: &'a Session) -> Reads<'a> {
        Reads {
            session,
            from: From::Stored(candidates),
        }
    }

    /// What they are compared with.
    pub fn catalogue(&self) -> &'a Catalogue {
        match self.from {
            From::Lanes { collection, .. } => &collection.catalogue,
            From::Stored(candidates) => candidates.catalogue(),
        }
    }

    fn config(&self, wanted: Wanted) -> Config {
        Config {
            rule: Rule::default(),
            insert: INSERT,
            threads: self.session.threads,
            wanted,
        }
    }

    /// Answers for all reads, one lane after the other; none of them by what was `dropped`.
    pub fn answer(&self, dropped: &Dropped, outputs: &mut Outputs) -> Result<Summary> {
        let config = self.config(outputs.wanted);
        let mut all = Summary::default();
        self.session.shown(|progress| {
            progress.start("classify", 0);
            let mut outlets = Outlets {
                lines: &mut outputs.answers,
                extracts: &mut outputs.extracts,
            };
            match &self.from {
                From::Lanes {
                    plan, lanes, hits, ..
                } => {
                    for (lane, hits) in lanes.iter().zip(hits) {
                        let answered = classify(
                            hits,
                            lane.open(plan.batch)?,
                            &config,
                            dropped,
                            &mut outlets,
                            progress,
                        );
                        all.merge(&answered.map_err(|error| failure(outputs, error))?);
                        outlets = Outlets {
                            lines: &mut outputs.answers,
                            extracts: &mut outputs.extracts,
                        };
                    }
                }
                From::Stored(candidates) => {
                    let answered =
                        classify_candidates(candidates, &config, dropped, &mut outlets, progress);
                    all = answered.map_err(|error| failure(outputs, error))?;
                }
            }
            Ok(all)
        })
    }

    /// The genomes of which the reads cover least, up to `share` of the sum of all coverages: a
    /// pass over all reads. None where no share is given.
    pub fn least_covered(&self, share: Option<f64>) -> Result<Dropped> {
        let Some(share) = share else {
            return Ok(Dropped::default());
        };
        let all = self.session.shown(|progress| self.covered(progress))?;
        let Catalogue {
            targets, taxonomy, ..
        } = self.catalogue();
        let genomes = Genomes::new(targets);
        let dropped = Dropped::least_covered(&all, targets, &genomes, share);
        let of_dropped = genomes
            .iter()
            .filter(|genome| dropped.has(genome.targets[0]));
        let names: Vec<&str> = of_dropped
            .take(NAMED)
            .map(|genome| taxonomy.name(genome.taxon))
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
        Ok(dropped)
    }

    fn covered(&self, progress: &Progress) -> Result<Covered> {
        let config = self.config(Wanted::default());
        progress.start("cover", 0);
        match &self.from {
            From::Lanes {
                plan, lanes, hits, ..
            } => {
                let mut all = Covered::default();
                for (lane, hits) in lanes.iter().zip(hits) {
                    all.merge(&covered(hits, lane.open(plan.batch)?, &config, progress)?);
                }
                Ok(all)
            }
            From::Stored(candidates) => Ok(covered_candidates(candidates, &config, progress)?),
        }
    }
}

/// How often the reads of `lanes` are read.
pub fn plan(collection: &Collection, lanes: &[Lane], session: &Session) -> Result<Plan> {
    let memory = bytes(session.memory);
    let plan = collection.plan(session.memory, session.threads).map_err(|least| {
        let least = bytes(least);
        let message =
            format!("classifying takes at least {least} of memory with these databases; --memory allows {memory}");
        Failure::new(Code::Memory, message)
    })?;
    if plan.passes > 1 {
        let at_once = bytes(collection.memory_at_once(session.threads));
        let why = format!("asking the databases at once takes {at_once} and --memory is {memory}");
        lanes
            .iter()
            .try_for_each(|lane| lane.keep_rereadable(&why))?;
        tracing::info!(
            "the reads are read {}, since {why}",
            things(plan.passes as u64, "time")
        );
    }
    Ok(plan)
}

/// Where the hits of the reads of a lane come from, after all passes but the last, which may store
/// so many bytes.
pub fn hits<'a>(
    collection: &'a Collection,
    plan: Plan,
    lane: &Lane,
    (session, room): (&Session, Option<u64>),
    progress: &Progress,
) -> Result<Hits<'a>> {
    if plan.passes == 1 {
        return Ok(Hits::of(collection));
    }
    progress.start("look up", 0);
    let scratch = Scratch {
        folder: session.tmp_folder()?,
        limit: room,
    };
    let open = || -> Result<Source> { lane.open(plan.batch) };
    Hits::in_passes(
        collection,
        plan.most,
        scratch,
        session.threads,
        open,
        progress,
    )
}

/// Names the file where answers cannot be written.
fn failure(outputs: &Outputs, error: QueryError) -> Failure {
    match error {
        QueryError::Sink(source) => outputs.answers.error(source).into(),
        error => error.into(),
    }
}
