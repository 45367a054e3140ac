//! A search from its files to its answers.

use gyrase_work::Progress;

use crate::batches::Over;
use crate::prepared::Prepared;
use crate::{Config, QueryHits, SearchError, Summary, parts};

/// Searches, and gives the answer of each query in the order of the queries to `each`.
///
/// # Errors
/// See [`SearchError`]; the first error of `each`.
pub fn run<E: From<SearchError>>(
    config: &Config,
    progress: &Progress,
    mut each: impl FnMut(&QueryHits) -> Result<(), E>,
) -> Result<Summary, E> {
    let prepared = Prepared::new(config, None, false, &Ok, progress)?;
    let Some(subjects) = &prepared.whole else {
        let summary = parts::run(&prepared, &config.waiting, progress, &mut each)?;
        return Ok(prepared.naming_hopeless(summary)?);
    };
    let engine = prepared.engine(subjects, None);
    let over = Over {
        prepared: &prepared,
        subjects,
        engine: &*engine,
        progress,
    };
    let summary = over.search(0..prepared.queries.len(), &mut each)?;
    Ok(prepared.naming_hopeless(summary)?)
}
