//! The answers of one sample: the one place where the library is asked.

use gyrase_classify::{Collection, Config, Dropped, Hits, Outlets, QueryError, Rule, Summary, Wanted, classify};
use gyrase_tabulate::Source;

use super::outputs::Outputs;
use crate::failure::{Failure, Result};
use crate::session::Session;

/// Letters that a pair may span on its reference.
const INSERT: usize = 400;

/// Answers for the reads of all lanes of a sample, one lane after the other.
pub fn answer(
    collection: &Collection,
    lanes: impl IntoIterator<Item = Result<Source>>,
    outputs: &mut Outputs,
    session: &Session,
) -> Result<Summary> {
    let config = Config { rule: Rule::default(), insert: INSERT, threads: session.threads, wanted: Wanted::default() };
    let (dropped, hits) = (Dropped::default(), Hits::of(collection));
    let mut all = Summary::default();
    session.shown(|progress| {
        progress.start("classify", 0);
        for lane in lanes {
            let mut outlets = Outlets { lines: &mut outputs.answers, extracts: &mut [] };
            let answered = classify(&hits, lane?, &config, &dropped, &mut outlets, progress);
            let summary = answered.map_err(|error| match error {
                QueryError::Sink(source) => outputs.answers.error(source).into(),
                error => Failure::from(error),
            })?;
            all.merge(&summary);
        }
        Ok(all)
    })
}
