//! The answers of one sample: the one place where the library is asked.

use gyrase_classify::tally::Tally;
use gyrase_classify::{Config, Index, QueryError, Rule, Summary, classify};
use gyrase_tabulate::Source;

use super::outputs::Outputs;
use crate::failure::{Failure, Result};
use crate::session::Session;

/// Letters that a pair may span on its reference.
const INSERT: usize = 400;

/// Answers for the reads of all lanes of a sample, one lane after the other.
pub fn answer(
    index: &Index,
    lanes: impl IntoIterator<Item = Result<Source>>,
    outputs: &mut Outputs,
    session: &Session,
) -> Result<Summary> {
    let config = Config { rule: Rule::default(), insert: INSERT, threads: session.threads };
    let mut all = Summary { tally: Tally::new(), letters: 0 };
    session.shown(|progress| {
        progress.start("classify", 0);
        for lane in lanes {
            let answered = classify(index, lane?, &config, &mut outputs.answers, progress);
            let summary = answered.map_err(|error| match error {
                QueryError::Sink(source) => outputs.answers.error(source).into(),
                error => Failure::from(error),
            })?;
            all.tally.merge(&summary.tally);
            all.letters += summary.letters;
        }
        Ok(all)
    })
}
