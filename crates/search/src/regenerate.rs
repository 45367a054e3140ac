//! Reports that are made again from metadata, by whoever has a replica of the database.
//!
//! No threshold of a search depends on other subjects than the one at hand, and E-values are those
//! of the whole database. So a query that is searched for in the subjects of its answer alone has
//! the same answer. Queries are searched for in batches, in what the queries of a batch need.

use std::borrow::Cow;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::OnceLock;

use gyrase_work::Progress;

use crate::batches::{Each, Over};
use crate::database::Database;
use crate::metadata::{Answer, SearchMetadata, subjects_of};
use crate::open::OpenDatabase;
use crate::prepared::{Prepared, Source};
use crate::share::small_batches;
use crate::subjects::{Subjects, each_of};
use crate::{
    Config, DatabaseSize, DividedDatabase, Hit, Hsp, QueryHits, SearchError, Sequences, Summary,
    parts,
};

/// Gives the answer of each query, in their order, to `each`: those that the search gave of which
/// `metadata` are, with the parameters of that search in `config`.
///
/// # Errors
/// See [`SearchError`]; [`SearchError::OtherQueries`], [`SearchError::OtherDatabase`] and
/// [`SearchError::OtherAnswer`] where these are not those of the search; the first error of `each`.
pub fn regenerate<E: From<SearchError>>(
    config: &Config,
    metadata: &SearchMetadata,
    progress: &Progress,
    mut each: impl FnMut(&QueryHits) -> Result<(), E>,
) -> Result<Summary, E> {
    let numbers = subjects_of(metadata.answers());
    let source = Source::Files(Some(&numbers));
    let prepared = Prepared::new(config, source, false, &Ok, progress)?;
    metadata.check_subjects(numbers.len() as u64, prepared.database.searched())?;
    let mut again = Again::new(&prepared, metadata, &numbers, &mut each)?;
    let summary = match prepared.whole.as_deref() {
        Some(whole) => again.answers(whole, 0..prepared.queries.len(), progress)?,
        None => parts::run(&prepared, &config.waiting, progress, &mut |answer| {
            again.give(answer, answer.subjects, |number| number)
        })?,
    };
    Ok(prepared.naming_hopeless(summary)?)
}

impl OpenDatabase {
    /// Gives the answers of some queries of a search again, of which `metadata` has the alignments:
    /// without a search.
    ///
    /// # Errors
    /// See [`regenerate`].
    pub fn answers_again<E: From<SearchError>>(
        &self,
        config: &Config,
        (metadata, queries): (&SearchMetadata, Range<usize>),
        progress: &Progress,
        mut each: impl FnMut(&QueryHits) -> Result<(), E>,
    ) -> Result<(), E> {
        if !config.taxids.is_empty() {
            return again_from_files(
                &self.paths,
                config,
                (metadata, queries),
                progress,
                &mut each,
            );
        }
        let prepared = Prepared::new(config, Source::Open(self), false, &Ok, progress)?;
        let whole = prepared.whole()?;
        let has = |number: usize| number < whole.len();
        give_again(&prepared, (whole, &has), (metadata, queries), &mut each)
    }
}

impl DividedDatabase {
    /// Gives the answers of some queries of a search again, of which `metadata` has the alignments:
    /// without a search. Of the database what they need is read.
    ///
    /// # Errors
    /// See [`regenerate`](crate::regenerate()).
    pub fn answers_again<E: From<SearchError>>(
        &self,
        config: &Config,
        (metadata, queries): (&SearchMetadata, Range<usize>),
        progress: &Progress,
        mut each: impl FnMut(&QueryHits) -> Result<(), E>,
    ) -> Result<(), E> {
        again_from_files(
            &self.paths,
            config,
            (metadata, queries),
            progress,
            &mut each,
        )
    }
}

/// Gives the answers of some queries again, with what they need of the subjects of files.
fn again_from_files<E: From<SearchError>>(
    paths: &[PathBuf],
    config: &Config,
    (metadata, queries): (&SearchMetadata, Range<usize>),
    progress: &Progress,
    each: Each<E>,
) -> Result<(), E> {
    let numbers = subjects_of(&metadata.answers()[queries.clone()]);
    let config = Config {
        subjects: paths.to_vec(),
        ..config.clone()
    };
    let source = Source::Files(Some(&numbers));
    let prepared = Prepared::new(&config, source, false, &Ok, progress)?;
    let read = (prepared.whole()?, &numbers[..]);
    give_read(&prepared, read, (metadata, queries), each)
}

/// Gives the answers of some queries again, with subjects that were read, by their numbers.
fn give_read<E: From<SearchError>>(
    prepared: &Prepared,
    (read, numbers): (&Sequences, &[usize]),
    of: (&SearchMetadata, Range<usize>),
    each: Each<E>,
) -> Result<(), E> {
    let subjects = Renumbered {
        read,
        numbers,
        database: &prepared.database,
    };
    let has = |number: usize| numbers.binary_search(&number).is_ok();
    give_again(prepared, (&subjects, &has), of, each)
}

/// Gives answers again by the alignments that metadata have, with subjects, and whether there is
/// one of a number.
fn give_again<E: From<SearchError>>(
    prepared: &Prepared,
    (subjects, has): (&dyn Subjects, &dyn Fn(usize) -> bool),
    (metadata, queries): (&SearchMetadata, Range<usize>),
    each: Each<E>,
) -> Result<(), E> {
    metadata.check(&prepared.queries, prepared.scoring.system().size())?;
    // Whether there is what a hit is said to be similar to.
    let is_within = |hit: &Hit| {
        has(hit.subject) && {
            let (letters, frames) = (subjects.length(hit.subject), prepared.frames[1]);
            let is_within = |hsp: &Hsp| hsp.subject.end <= frames.length(letters, hsp.frames[1]);
            hit.hsps.iter().all(is_within)
        }
    };
    for query in queries {
        let kept = metadata.answers()[query].alignments.as_deref();
        let hits = kept.unwrap_or_default();
        if !hits.iter().all(is_within) {
            return Err(metadata.other_answer(prepared.queries.name(query)).into());
        }
        let answer = prepared.answer(query, subjects, hits, None);
        metadata.confirm(&answer)?;
        each(&answer)?;
    }
    Ok(())
}

impl SearchMetadata {
    /// Refuses queries, or a database, that are not those of the search, as far as that shows
    /// before any of them is searched for.
    fn check(&self, queries: &Sequences, size: DatabaseSize) -> Result<(), SearchError> {
        let (asked, here) = (&self.asked, queries.digest());
        let path = self.path.display().to_string();
        if asked.queries != here[0] || asked.queries > 0 && asked.queries_checksum != here {
            let [expected, found] = [asked.queries_checksum, here].map(of_queries);
            return Err(SearchError::OtherQueries {
                path,
                expected,
                found,
            });
        }
        let there = DatabaseSize {
            letters: asked.letters,
            sequences: asked.sequences,
        };
        if asked.queries > 0 && there != size {
            let [expected, found] = [there, size].map(of_database);
            return Err(SearchError::OtherDatabase {
                path,
                expected,
                found,
            });
        }
        Ok(())
    }

    /// Refuses a database that lacks sequences that answers need, though it is said to be as large:
    /// of other taxids, or a part whose size was given.
    fn check_subjects(&self, needed: u64, there: u64) -> Result<(), SearchError> {
        if needed == there {
            return Ok(());
        }
        Err(SearchError::OtherDatabase {
            path: self.path.display().to_string(),
            expected: format!("which {needed} sequences are needed"),
            found: format!("{there} of them"),
        })
    }

    /// Refuses an answer that is not the one of the search.
    fn confirm(&self, answer: &QueryHits) -> Result<(), SearchError> {
        match answer.digest() == self.answers()[answer.query].digest {
            true => Ok(()),
            false => Err(self.other_answer(answer.queries.name(answer.query))),
        }
    }

    /// The error of a query whose answer is another one here.
    fn other_answer(&self, query: &[u8]) -> SearchError {
        SearchError::OtherAnswer {
            path: self.path.display().to_string(),
            query: String::from_utf8_lossy(query).into_owned(),
            version: self.asked.gyrase.clone(),
        }
    }
}

fn of_queries([sequences, letters, residues, titles]: [u64; 4]) -> String {
    format!("{sequences} sequences, {letters} letters, checksums {residues:08x} and {titles:08x}")
}

fn of_database(size: DatabaseSize) -> String {
    format!("{} sequences, {} letters", size.sequences, size.letters)
}

/// Makes answers again.
pub(crate) struct Again<'r, E> {
    prepared: &'r Prepared,
    metadata: &'r SearchMetadata,
    /// Numbers in the database of the subjects that were read; they ascend.
    numbers: &'r [usize],
    each: Each<'r, E>,
}

impl<'r, E: From<SearchError>> Again<'r, E> {
    pub fn new(
        prepared: &'r Prepared,
        metadata: &'r SearchMetadata,
        numbers: &'r [usize],
        each: Each<'r, E>,
    ) -> Result<Again<'r, E>, SearchError> {
        metadata.check(&prepared.queries, prepared.scoring.system().size())?;
        Ok(Again {
            prepared,
            metadata,
            numbers,
            each,
        })
    }

    /// Gives the answers of some queries with what was read: by their alignments, where these are
    /// known.
    pub fn answers(
        &mut self,
        whole: &Sequences,
        queries: Range<usize>,
        progress: &Progress,
    ) -> Result<Summary, E> {
        match self.metadata.asked.alignments {
            true => self.align(whole, queries, progress),
            false => self.search(whole, queries, progress),
        }
    }

    /// Gives the answers of some queries by their alignments.
    fn align(
        &mut self,
        whole: &Sequences,
        queries: Range<usize>,
        progress: &Progress,
    ) -> Result<Summary, E> {
        let mut summary = self.prepared.summary(queries.len());
        progress.start_counting("align", summary.queries, "queries");
        let of = (self.metadata, queries);
        give_read(self.prepared, (whole, self.numbers), of, &mut |answer| {
            progress.go_on().map_err(SearchError::from)?;
            progress.advance(1);
            summary.with_hits += u64::from(!answer.hits.is_empty());
            summary.hits += answer.hits.len() as u64;
            (self.each)(answer)
        })?;
        Ok(summary)
    }

    /// Searches for each batch of some queries in what it needs of all that was read.
    fn search(
        &mut self,
        whole: &Sequences,
        queries: Range<usize>,
        progress: &Progress,
    ) -> Result<Summary, E> {
        let prepared = self.prepared;
        let mut summary = prepared.summary(queries.len());
        progress.start_counting("search", summary.queries, "queries");
        let wanted =
            |batch: Range<usize>| batch.start.max(queries.start)..batch.end.min(queries.end);
        let batches = small_batches(prepared).into_iter().map(wanted);
        for batch in batches.filter(|batch| !batch.is_empty()) {
            let own = self.needed(&self.metadata.answers()[batch.clone()]);
            let subjects = whole.slices(own.chunk_by(|one, next| one + 1 == *next).map(run));
            let engine = prepared.engine(&subjects, None);
            let quiet = progress.of_part();
            let over = Over {
                prepared,
                subjects: &subjects,
                engine: &*engine,
                progress: &quiet,
            };
            let found = over.search(batch.clone(), &mut |answer| {
                self.give(answer, whole, |number| own[number])
            })?;
            summary.with_hits += found.with_hits;
            summary.hits += found.hits;
            progress.advance(batch.len() as u64);
        }
        Ok(summary)
    }

    /// Which of those that were read some answers need.
    fn needed(&self, answers: &[Answer]) -> Vec<usize> {
        let needed = subjects_of(answers).into_iter();
        needed.map(|number| place(self.numbers, number)).collect()
    }

    /// Gives the answer of a query whose subjects have places among those that were read.
    fn give(
        &mut self,
        answer: &QueryHits,
        read: &dyn Subjects,
        place: impl Fn(usize) -> usize,
    ) -> Result<(), E> {
        let numbers = self.numbers;
        let renumbered = |hit: &Hit| Hit {
            subject: numbers[place(hit.subject)],
            ..hit.clone()
        };
        let hits: Vec<Hit> = answer.hits.iter().map(renumbered).collect();
        let subjects = Renumbered {
            read,
            numbers,
            database: &self.prepared.database,
        };
        let whole = QueryHits {
            masked: OnceLock::new(),
            subjects: &subjects,
            hits: &hits,
            ..*answer
        };
        self.metadata.confirm(&whole)?;
        (self.each)(&whole)
    }
}

/// The place of a subject among those that were read.
fn place(numbers: &[usize], number: usize) -> usize {
    let place = numbers.binary_search(&number);
    place.expect("what an answer needs was read")
}

/// The range of numbers that follow each other.
fn run(numbers: &[usize]) -> Range<usize> {
    numbers[0]..numbers[numbers.len() - 1] + 1
}

/// Some subjects by their numbers in the database.
struct Renumbered<'s> {
    read: &'s dyn Subjects,
    /// They ascend.
    numbers: &'s [usize],
    database: &'s Database,
}

impl Subjects for Renumbered<'_> {
    fn title(&self, number: usize) -> &[u8] {
        self.read.title(place(self.numbers, number))
    }

    fn taxids(&self, number: usize) -> Vec<u32> {
        self.read.taxids(place(self.numbers, number))
    }

    fn length(&self, number: usize) -> usize {
        self.read.length(place(self.numbers, number))
    }

    fn codes(&self, number: usize, range: Range<usize>) -> Cow<'_, [u8]> {
        self.read.codes(place(self.numbers, number), range)
    }

    fn each(&self, each: &mut dyn FnMut(&[u8], usize) -> io::Result<()>) -> io::Result<()> {
        each_of(self.database, each)
    }
}
