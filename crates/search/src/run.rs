//! A search from its files to its answers.

use gyrase_work::Progress;

use crate::batches::{Each, Over};
use crate::divided::Fragment;
use crate::open::OpenDatabase;
use crate::prepared::{Prepared, Source};
use crate::{
    Config, DividedDatabase, FoundFragments, FragmentCache, FragmentShare, QueryHits, SearchError,
    Sequences, Summary, parts,
};

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

impl DividedDatabase {
    /// Searches in the fragments of a share, which are read if `cache` does not hold them, and
    /// gives what was found in each to `found`, for [`merge`](DividedDatabase::merge). The memory
    /// of `config` is that beside the cache.
    ///
    /// # Errors
    /// See [`SearchError`]; the first error of `found`.
    pub fn search_share<E: From<SearchError>>(
        &self,
        config: &Config,
        share: FragmentShare,
        cache: &mut FragmentCache,
        progress: &Progress,
        mut found: impl FnMut(Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let prepared = Prepared::new(config, Source::Divided(self), false, &Ok, progress)?;
        let own = share.of(prepared.database.parts());
        progress.start_counting("search", own.len() as u64, "fragments");
        for part in own {
            progress.go_on().map_err(SearchError::from)?;
            let quiet = progress.of_part();
            let fragment = cache.get(&prepared.database, part, prepared.wants_words(), &quiet)?;
            let Fragment { subjects, indexes } = &*fragment;
            let all = 0..prepared.queries.len();
            let of_part = parts::find(&prepared, (subjects, Some(indexes)), all, &quiet)?;
            found(of_part.text)?;
            progress.advance(1);
        }
        Ok(())
    }

    /// Gives the answer of each query in their order to `each`, by what was found in every fragment
    /// once, in any order.
    ///
    /// # Errors
    /// See [`SearchError`]; something found is damaged; the first error of `each`.
    pub fn merge<E: From<SearchError>>(
        &self,
        config: &Config,
        found: FoundFragments,
        progress: &Progress,
        mut each: impl FnMut(&QueryHits) -> Result<(), E>,
    ) -> Result<Summary, E> {
        let prepared = Prepared::new(config, Source::Divided(self), false, &Ok, progress)?;
        let FoundFragments {
            mut aside,
            count,
            waiting,
        } = found;
        let mut merging = parts::Merging {
            prepared: &prepared,
            waiting: &waiting,
            readers: (0..count).map(|fragment| aside.take(fragment)).collect(),
            summary: prepared.summary(prepared.queries.len()),
        };
        for query in 0..prepared.queries.len() {
            merging.give(query, &mut each)?;
        }
        Ok(prepared.naming_hopeless(merging.summary)?)
    }
}

/// Searches in all subjects at once.
fn search_whole<E: From<SearchError>>(
    prepared: &Prepared,
    subjects: &Sequences,
    progress: &Progress,
    each: Each<E>,
) -> Result<Summary, E> {
    let engine = prepared.engine(subjects, prepared.indexes.as_deref());
    let over = Over {
        prepared,
        subjects,
        engine: &*engine,
        progress,
    };
    let summary = over.search(0..prepared.queries.len(), each)?;
    Ok(prepared.naming_hopeless(summary)?)
}
