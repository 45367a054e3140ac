//! A database that processes search together: each holds some fragments of it in memory, and keeps
//! them from one search to the next.
//!
//! ```text
//!  fragments        0   1   2   3   4   5   6   7      about as large as each other
//!  share 0 of 4     x               x                  dealt round-robin, as mpiBLAST has it
//!  share 1 of 4         x               x
//!  share 0 of 2     x       x       x       x          who had a share of four has half of this
//! ```
//!
//! What is found in each fragment is merged query by query, as if one process had searched all.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use gyrase_seqdb::TaxidFilter;
use gyrase_work::Progress;

use crate::aside::Aside;
use crate::database::{Database, Filter};
use crate::indexes::Indexes;
use crate::open::check_taxids;
use crate::sequences::{Form, LetterCase};
use crate::{DatabaseSize, Molecule, SearchError, Sequences, WaitingText};

/// Files of subjects in fragments, of which none is in memory here.
pub struct DividedDatabase {
    pub(crate) paths: Vec<PathBuf>,
    fragments: u64,
    threads: usize,
    first: Arc<Database>,
    /// In the forms that programs asked for, with all sequences; of those with some taxa alone, the
    /// last.
    forms: Mutex<Vec<DividedForm>>,
}

/// A divided database in a form.
struct DividedForm {
    taxids: TaxidFilter,
    how: (bool, LetterCase),
    database: Arc<Database>,
}

/// Fragments of a database: those of which the remainder by `of` is `number`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FragmentShare {
    /// Which share, from 0.
    pub number: usize,
    /// Shares that there are.
    pub of: usize,
}

impl FragmentShare {
    /// Those of so many fragments.
    pub(crate) fn of(self, fragments: usize) -> impl ExactSizeIterator<Item = usize> {
        (self.number..fragments).step_by(self.of)
    }
}

impl DividedDatabase {
    /// Looks at files and databases, and divides them into about so many fragments. Processes that
    /// call it alike have the same ones, and [`digest`](DividedDatabase::digest) tells so.
    ///
    /// # Errors
    /// A file cannot be read; there are proteins and nucleotides.
    pub fn open(
        paths: Vec<PathBuf>,
        fragments: usize,
        threads: usize,
        progress: &Progress,
    ) -> Result<DividedDatabase, SearchError> {
        let (fragments, case) = (fragments as u64, LetterCase::Ignored);
        let taxids = TaxidFilter::default();
        let with = (threads, progress);
        let first = Arc::new(divide(&paths, &taxids, (true, case), fragments, with)?);
        let forms = vec![DividedForm {
            taxids,
            how: (first.molecule() == Molecule::Nucleotide, case),
            database: Arc::clone(&first),
        }];
        let forms = Mutex::new(forms);
        Ok(DividedDatabase {
            paths,
            fragments,
            threads,
            first,
            forms,
        })
    }

    /// What its sequences are.
    pub fn molecule(&self) -> Molecule {
        self.first.molecule()
    }

    /// Its sequences and their letters.
    pub fn size(&self) -> DatabaseSize {
        self.first.size()
    }

    /// Fragments that there are, in the form in which they are compared as they are: about as many
    /// in others.
    pub fn fragments(&self) -> usize {
        self.first.parts()
    }

    /// Bytes that the fragments of a share take in memory, in the form in which they are compared
    /// as they are: without the indexes of words that are kept of nucleotides once these are
    /// searched often, and with them.
    pub fn bytes_of_share(&self, share: FragmentShare) -> [u64; 2] {
        let own = share.of(self.first.parts());
        own.map(|part| bytes_of(&self.first, part))
            .fold([0; 2], |sums, bytes| {
                [sums[0] + bytes[0], sums[1] + bytes[1]]
            })
    }

    /// The same of all fragments.
    pub fn bytes(&self) -> [u64; 2] {
        self.bytes_of_share(FragmentShare { number: 0, of: 1 })
    }

    /// Bytes of all fragments without indexes, which a process keeps where it has room for them.
    pub fn least_bytes(&self) -> u64 {
        self.first.bytes()
    }

    /// Bytes in one process that keeps all indexes.
    pub fn bytes_with_indexes(&self) -> u64 {
        let letters = (0..self.first.parts()).map(|part| self.first.of_part(part)[1]);
        self.least_bytes() + Indexes::bytes(self.first.molecule(), letters.sum())
    }

    /// What its sequences and fragments are known by.
    pub fn digest(&self) -> [u64; 4] {
        self.first.digest()
    }

    /// Refuses taxa that it does not know.
    ///
    /// # Errors
    /// See [`OpenDatabase::check`](crate::OpenDatabase::check).
    pub fn check(&self, taxids: &TaxidFilter) -> Result<(), SearchError> {
        check_taxids(&self.paths, self.first.has_taxids(), taxids)
    }

    /// The sequences of some taxa in a form, which is divided if this is the first search that
    /// needs it.
    pub(crate) fn form(
        &self,
        taxids: &TaxidFilter,
        (is_packed, case): (bool, LetterCase),
        progress: &Progress,
    ) -> Result<Arc<Database>, SearchError> {
        let how = (is_packed && self.molecule() == Molecule::Nucleotide, case);
        let mut forms = self.forms.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |form: &&DividedForm| form.how == how && form.taxids == *taxids;
        if let Some(form) = forms.iter().find(is_it) {
            return Ok(Arc::clone(&form.database));
        }
        let with = (self.threads, progress);
        let database = Arc::new(divide(&self.paths, taxids, how, self.fragments, with)?);
        if !taxids.is_empty() {
            forms.retain(|form| form.taxids.is_empty());
        }
        forms.push(DividedForm {
            taxids: taxids.clone(),
            how,
            database: Arc::clone(&database),
        });
        Ok(database)
    }
}

/// A database in a form, in about so many parts.
fn divide(
    paths: &[PathBuf],
    taxids: &TaxidFilter,
    (is_packed, case): (bool, LetterCase),
    fragments: u64,
    with: (usize, &Progress),
) -> Result<Database, SearchError> {
    let filter = Filter { taxids, only: None };
    let form = Form::PackedIf(&|_| is_packed, case);
    // How large it is shows once all of it was looked at: until then each sequence is a part.
    let (database, _) = Database::open(paths, filter, 1, form, with)?;
    let all = database.bytes();
    Ok(database.in_parts_of(all.div_ceil(fragments).max(1)))
}

/// Bytes of a fragment in memory with the indexes that are kept of it: without that of the words of
/// nucleotides, and with it.
fn bytes_of(database: &Database, part: usize) -> [u64; 2] {
    let [bytes, letters] = database.of_part(part);
    let with_all = bytes + Indexes::bytes(database.molecule(), letters);
    match database.molecule() {
        Molecule::Protein => [with_all; 2],
        Molecule::Nucleotide => [bytes, with_all],
    }
}

/// What was found in fragments, until all of them are merged: in memory as far as that goes.
pub struct FoundFragments {
    pub(crate) aside: Aside,
    pub(crate) count: usize,
    pub(crate) waiting: WaitingText,
}

impl FoundFragments {
    /// Nothing yet; it will take so many bytes of memory, and then wait in files.
    pub fn new(waiting: WaitingText, memory: u64) -> FoundFragments {
        FoundFragments {
            aside: Aside::new(waiting.spill_folder(0), memory),
            count: 0,
            waiting,
        }
    }

    /// Adds what [`search_share`](DividedDatabase::search_share) gave for a fragment.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn push(&mut self, found: Vec<u8>) -> Result<(), SearchError> {
        self.aside.append(self.count, found)?;
        self.count += 1;
        Ok(())
    }
}

/// A fragment in memory.
pub(crate) struct Fragment {
    pub subjects: Sequences,
    pub indexes: Indexes,
}

/// Searches of words in a fragment that take as long as making their index does.
const OFTEN: u32 = 20;

/// A fragment of a database in a form.
struct Held {
    database: Arc<Database>,
    part: usize,
    fragment: Arc<Fragment>,
    /// Searches for which an index of its words is of use.
    word_searches: u32,
    /// The index of its words is made, or being made.
    is_indexed: bool,
}

impl Held {
    fn is(&self, database: &Arc<Database>, part: usize) -> bool {
        Arc::ptr_eq(&self.database, database) && self.part == part
    }

    fn bytes(&self) -> u64 {
        bytes_of(&self.database, self.part)[usize::from(self.is_indexed)]
    }

    /// Bytes that the index of its words takes, if there is one, and making it beside.
    fn bytes_of_words(&self) -> [u64; 2] {
        let [without, with] = bytes_of(&self.database, self.part);
        let [_, letters] = self.database.of_part(self.part);
        let beside = Indexes::bytes_beside(self.database.molecule(), letters);
        [with - without, beside]
    }
}

/// Fragments of any databases in memory: those that were used last.
pub struct FragmentCache {
    most: u64,
    /// The last used is the last.
    held: Vec<Held>,
    read: u64,
    making: Option<Making>,
}

/// An index of words that is being made, beside searches.
struct Making {
    thread: JoinHandle<()>,
    /// Bytes that it takes until it is there.
    beside: u64,
}

impl FragmentCache {
    /// Nothing yet; it will take so many bytes.
    pub fn new(most: u64) -> FragmentCache {
        FragmentCache {
            most,
            held: Vec::new(),
            read: 0,
            making: None,
        }
    }

    /// Bytes of fragments that were not held when they were wanted, so far.
    pub fn read(&self) -> u64 {
        self.read
    }

    /// Bytes that are free.
    fn room(&self) -> u64 {
        let held: u64 = self.held.iter().map(Held::bytes).sum();
        let beside = self.making.as_ref().map_or(0, |making| making.beside);
        self.most.saturating_sub(held + beside)
    }

    /// Begins to make the index of the words of one fragment, if none is being made, there is one
    /// that was searched so often without that making it takes no longer, and room for it; whether
    /// it did. Searches give the same with it, and sooner.
    pub fn index_words(&mut self, threads: usize) -> bool {
        self.making.take_if(|making| making.thread.is_finished());
        if self.making.is_some() {
            return false;
        }
        let room = self.room();
        let is_due = |held: &&mut Held| {
            let making = held.bytes_of_words().iter().sum();
            let is_wanted = held.word_searches >= OFTEN && !held.is_indexed;
            is_wanted && (1..=room).contains(&making)
        };
        let Some(held) = self.held.iter_mut().find(is_due) else {
            return false;
        };
        held.is_indexed = true;
        let (fragment, [_, beside]) = (Arc::clone(&held.fragment), held.bytes_of_words());
        let thread = thread::spawn(move || {
            fragment.indexes.index_words(&fragment.subjects, threads);
        });
        self.making = Some(Making { thread, beside });
        true
    }

    /// Waits until no index is being made.
    pub fn finish_indexing(&mut self) {
        if let Some(making) = self.making.take() {
            // Nothing is lost with an index that could not be made.
            let _ = making.thread.join();
        }
    }

    /// A fragment, which is read if it is not held, for a search that may want an index of its
    /// words.
    pub(crate) fn get(
        &mut self,
        database: &Arc<Database>,
        part: usize,
        wants_words: bool,
        progress: &Progress,
    ) -> Result<Arc<Fragment>, SearchError> {
        if let Some(place) = self.held.iter().position(|held| held.is(database, part)) {
            let mut held = self.held.remove(place);
            let fragment = Arc::clone(&held.fragment);
            held.word_searches = held.word_searches.saturating_add(wants_words.into());
            self.held.push(held);
            return Ok(fragment);
        }
        let [bytes, _] = bytes_of(database, part);
        if bytes > self.most {
            return Err(SearchError::Memory { least: bytes });
        }
        if self.room() < bytes {
            // What is taken out is to be free.
            self.finish_indexing();
        }
        while self.room() < bytes {
            self.held.remove(0);
        }
        let fragment = Arc::new(Fragment {
            subjects: database.cursor().read(part, progress)?,
            indexes: Indexes::default(),
        });
        self.read += bytes;
        self.held.push(Held {
            database: Arc::clone(database),
            part,
            fragment: Arc::clone(&fragment),
            word_searches: u32::from(wants_words),
            is_indexed: false,
        });
        Ok(fragment)
    }
}
