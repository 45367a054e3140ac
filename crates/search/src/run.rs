//! A search from its files to its answers.

use gyrase_work::Progress;

use crate::batches::{Each, Over};
use crate::open::OpenDatabase;
use crate::prepared::{Prepared, Source};
use crate::{Config, QueryHits, SearchError, Sequences, Summary, parts};

/// Searches, and gives the answer of each query in the order of the queries to `each`.
///
/// # Errors
/// See [`SearchError`]; the first error of `each`.
pub fn run<E: From<SearchError>>(
    config: &Config,
    progress: &Progress,
    mut each: impl FnMut(&QueryHits) -> Result<(), E>,
) -> Result<Summary, E> {
    let prepared = Prepared::new(config, Source::ALL, false, &Ok, progress)?;
    let Some(subjects) = &prepared.whole else {
        let summary = parts::run(&prepared, &config.waiting, progress, &mut each)?;
        return Ok(prepared.naming_hopeless(summary)?);
    };
    search_whole(&prepared, subjects, progress, &mut each)
}

impl OpenDatabase {
    /// Searches in it, as [`run`] does in the subjects of `config`, whose names are not
    /// looked at here: gives the answer of each query in their order to `each`. The memory of
    /// `config` is that beside the database.
    ///
    /// # Errors
    /// See [`SearchError`]; the first error of `each`.
    pub fn search<E: From<SearchError>>(
        &self,
        config: &Config,
        progress: &Progress,
        mut each: impl FnMut(&QueryHits) -> Result<(), E>,
    ) -> Result<Summary, E> {
        let prepared = Prepared::new(config, Source::Open(self), false, &Ok, progress)?;
        search_whole(&prepared, prepared.whole()?, progress, &mut each)
    }
}

/// Searches in all subjects at once.
fn search_whole<E: From<SearchError>>(
    prepared: &Prepared,
    subjects: &Sequences,
    progress: &Progress,
    each: Each<E>,
) -> Result<Summary, E> {
    let engine = prepared.engine(subjects, None);
    let over = Over {
        prepared,
        subjects,
        engine: &*engine,
        progress,
    };
    let summary = over.search(0..prepared.queries.len(), each)?;
    Ok(prepared.naming_hopeless(summary)?)
}
