//! The answers of one sample: the one place where the library is asked.

use gyrase_classify::{
    Collection, Config, Covered, Dropped, Genomes, Hits, Outlets, QueryError, Rule, Summary, Wanted, classify, covered,
};
use gyrase_tabulate::Source;

use super::lane::Lane;
use super::outputs::Outputs;
use crate::failure::{Failure, Result};
use crate::session::Session;
use crate::words::{grouped, things};

/// Letters that a pair may span on its reference.
const INSERT: usize = 400;

/// Answers for the reads of all lanes of a sample, one lane after the other; none of them by what was `dropped`.
pub fn answer(
    collection: &Collection,
    lanes: impl IntoIterator<Item = Result<Source>>,
    dropped: &Dropped,
    outputs: &mut Outputs,
    session: &Session,
) -> Result<Summary> {
    let config = Config { rule: Rule::default(), insert: INSERT, threads: session.threads, wanted: outputs.wanted };
    let hits = Hits::of(collection);
    let mut all = Summary::default();
    session.shown(|progress| {
        progress.start("classify", 0);
        for lane in lanes {
            let mut outlets = Outlets { lines: &mut outputs.answers, extracts: &mut outputs.extracts };
            let answered = classify(&hits, lane?, &config, dropped, &mut outlets, progress);
            let summary = answered.map_err(|error| match error {
                QueryError::Sink(source) => outputs.answers.error(source).into(),
                error => Failure::from(error),
            })?;
            all.merge(&summary);
        }
        Ok(all)
    })
}

/// The genomes of which the reads of a sample cover least, up to `share` of the sum of all coverages: a pass over all reads.
/// None where no share is given.
pub fn least_covered(
    collection: &Collection,
    lanes: &[Lane],
    share: Option<f64>,
    session: &Session,
) -> Result<Dropped> {
    let Some(share) = share else { return Ok(Dropped::default()) };
    let config = Config { rule: Rule::default(), insert: INSERT, threads: session.threads, wanted: Wanted::default() };
    let all = session.shown(|progress| -> Result<Covered> {
        progress.start("cover", 0);
        let mut all = Covered::default();
        for lane in lanes {
            all.merge(&covered(&Hits::of(collection), lane.open()?, &config, progress)?);
        }
        Ok(all)
    })?;
    let targets = &collection.catalogue.targets;
    let dropped = Dropped::least_covered(&all, targets, &Genomes::new(targets), share);
    let genomes = things(dropped.hit as u64, "genome");
    tracing::info!("{} of {genomes} with reads dropped, the least covered", grouped(dropped.genomes as u64));
    Ok(dropped)
}
