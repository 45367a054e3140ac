//! Subjects of hits as reports tell them: all of a database in memory, or what some hits need.

use std::borrow::Cow;
use std::io;
use std::ops::Range;

use crate::Sequences;
use crate::database::Database;
use crate::sequences::first_word;

/// Subjects by their numbers in the database: those of the hits of a query, at least.
pub trait Subjects: Sync {
    /// The whole line that names one.
    fn title(&self, number: usize) -> &[u8];

    /// The taxids of one; none where they are not known.
    fn taxids(&self, number: usize) -> Vec<u32>;

    /// Letters of one.
    fn length(&self, number: usize) -> usize;

    /// The codes at some of its positions, which are those of an alignment.
    fn codes(&self, number: usize, range: Range<usize>) -> Cow<'_, [u8]>;

    /// Gives the name and the length of each of the database to `each`.
    ///
    /// # Errors
    /// Those of `each`; the database cannot be read.
    fn each(&self, each: &mut dyn FnMut(&[u8], usize) -> io::Result<()>) -> io::Result<()>;

    /// Its name: its title up to the first space.
    fn name(&self, number: usize) -> &[u8] {
        first_word(self.title(number))
    }
}

impl Subjects for Sequences {
    fn title(&self, number: usize) -> &[u8] {
        self.title(number)
    }

    fn taxids(&self, number: usize) -> Vec<u32> {
        self.taxids(number).collect()
    }

    fn length(&self, number: usize) -> usize {
        self.range(number).len()
    }

    fn codes(&self, number: usize, range: Range<usize>) -> Cow<'_, [u8]> {
        self.shown_codes(number, range)
    }

    fn each(&self, each: &mut dyn FnMut(&[u8], usize) -> io::Result<()>) -> io::Result<()> {
        (0..self.len()).try_for_each(|number| each(self.name(number), self.range(number).len()))
    }
}

/// What reports need of a subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gathered {
    /// Its number in the database.
    pub number: usize,
    pub title: Vec<u8>,
    pub taxids: Vec<u32>,
    pub length: usize,
    /// Codes of its alignments, with where they begin.
    pub stretches: Vec<(usize, Vec<u8>)>,
}

/// What reports need of the subjects of some hits.
pub(crate) struct GatheredSubjects<'d> {
    pub database: &'d Database,
    /// By their numbers.
    pub all: Vec<Gathered>,
}

impl GatheredSubjects<'_> {
    fn of(&self, number: usize) -> &Gathered {
        let place = self.all.binary_search_by_key(&number, |one| one.number);
        &self.all[place.expect("the subject of a hit was gathered")]
    }
}

impl Subjects for GatheredSubjects<'_> {
    fn title(&self, number: usize) -> &[u8] {
        &self.of(number).title
    }

    fn taxids(&self, number: usize) -> Vec<u32> {
        self.of(number).taxids.clone()
    }

    fn length(&self, number: usize) -> usize {
        self.of(number).length
    }

    fn codes(&self, number: usize, range: Range<usize>) -> Cow<'_, [u8]> {
        let stretches = self.of(number).stretches.iter();
        let own = |(start, codes): &&(usize, Vec<u8>)| {
            *start <= range.start && range.end <= start + codes.len()
        };
        let (start, codes) = { stretches }.find(own).expect("alignments were gathered");
        codes[range.start - start..range.end - start].into()
    }

    fn each(&self, each: &mut dyn FnMut(&[u8], usize) -> io::Result<()>) -> io::Result<()> {
        each_of(self.database, each)
    }
}

/// Gives the name and the length of each sequence of a database to `each`.
pub(crate) fn each_of(
    database: &Database,
    each: &mut dyn FnMut(&[u8], usize) -> io::Result<()>,
) -> io::Result<()> {
    let told = |title: &[u8], letters| Ok(each(first_word(title), letters)?);
    database
        .each_title::<Failed>(told)
        .map_err(|Failed(error)| error)
}

/// An error while all of a database is told.
struct Failed(io::Error);

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Failed {
        Failed(error)
    }
}

impl From<gyrase_seqdb::SeqDbError> for Failed {
    fn from(error: gyrase_seqdb::SeqDbError) -> Failed {
        Failed(io::Error::other(error))
    }
}
