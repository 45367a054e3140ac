//! A database that many searches share: it is in memory once.
//!
//! Programs want it in different forms: packed, where nucleotides are compared as they are, or as
//! codes of a byte, where they are translated; with masks, or without. A form is read when the
//! first search needs it, and stays. So do the seeds of proteins, where there is memory for them.
//! Of sequences of some taxa alone the last ones stay until others are asked for.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use gyrase_seqdb::{TaxidFilter, open_all};
use gyrase_work::Progress;

use crate::database::{Database, Filter};
use crate::seeds::{Indexes, bytes_of_indexes};
use crate::sequences::{Form, LetterCase, names};
use crate::{DatabaseSize, Molecule, SearchError, Sequences};

/// Files of subjects in memory, for any number of searches at a time.
pub struct OpenDatabase {
    pub(crate) paths: Vec<PathBuf>,
    molecule: Molecule,
    size: DatabaseSize,
    has_taxids: bool,
    /// Bytes that all forms may take together, and those that they take.
    memory: u64,
    taken: Arc<AtomicU64>,
    threads: usize,
    forms: Mutex<Vec<OpenForm>>,
    /// The sequences of some taxa alone, as they were last asked for.
    of_taxa: Mutex<Option<Box<(TaxidFilter, OpenForm)>>>,
}

/// Bytes that somebody has of the memory of a database.
pub(crate) struct Room {
    bytes: u64,
    taken: Arc<AtomicU64>,
}

impl Drop for Room {
    fn drop(&mut self) {
        self.taken.fetch_sub(self.bytes, Relaxed);
    }
}

/// A database in one form.
#[derive(Clone)]
pub(crate) struct OpenForm {
    pub database: Arc<Database>,
    pub whole: Arc<Sequences>,
    /// Indexes of its seeds, each made by the first search that wants it; none where proteins are
    /// not looked for, or the memory does not take them.
    pub indexes: Option<Arc<Indexes>>,
    /// What it takes, where it does not stay.
    pub room: Option<Arc<Room>>,
    case: LetterCase,
}

impl OpenDatabase {
    /// Reads files and databases, in the form in which sequences are compared as they are. All that
    /// is read of them at any time may take so many bytes of `memory`.
    ///
    /// # Errors
    /// A file cannot be read; there are proteins and nucleotides; the memory is not enough.
    pub fn open(
        paths: Vec<PathBuf>,
        memory: u64,
        threads: usize,
        progress: &Progress,
    ) -> Result<OpenDatabase, SearchError> {
        let all = TaxidFilter::default();
        let how = (true, LetterCase::Ignored);
        let form = read(&paths, &all, how, [0, memory], (threads, progress))?;
        Ok(OpenDatabase {
            molecule: form.database.molecule(),
            size: form.database.size(),
            has_taxids: form.database.has_taxids(),
            paths,
            memory,
            taken: Arc::new(AtomicU64::new(form.bytes())),
            threads,
            forms: Mutex::new(vec![form]),
            of_taxa: Mutex::default(),
        })
    }

    /// What its sequences are.
    pub fn molecule(&self) -> Molecule {
        self.molecule
    }

    /// Its sequences and their letters.
    pub fn size(&self) -> DatabaseSize {
        self.size
    }

    /// Bytes that it takes now.
    pub fn bytes(&self) -> u64 {
        self.taken.load(Relaxed)
    }

    /// Refuses taxa that it does not know.
    ///
    /// # Errors
    /// It has no taxids, its taxonomy lacks one, or its files cannot be read.
    pub fn check(&self, taxids: &TaxidFilter) -> Result<(), SearchError> {
        check_taxids(&self.paths, self.has_taxids, taxids)
    }

    /// The sequences of some taxa in a form, which is read if this is the first search that needs
    /// it.
    pub(crate) fn form(
        &self,
        taxids: &TaxidFilter,
        (is_packed, case): (bool, LetterCase),
        progress: &Progress,
    ) -> Result<OpenForm, SearchError> {
        let how = (is_packed && self.molecule == Molecule::Nucleotide, case);
        // Two that need it at the same time read it once.
        if !taxids.is_empty() {
            return self.form_of_taxa(taxids, how, progress);
        }
        let mut forms = self.forms.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(form) = forms.iter().find(|form| form.is(how)) {
            return Ok(form.clone());
        }
        let form = self.read(taxids, how, progress)?;
        forms.push(form.clone());
        Ok(form)
    }

    fn form_of_taxa(
        &self,
        taxids: &TaxidFilter,
        how: (bool, LetterCase),
        progress: &Progress,
    ) -> Result<OpenForm, SearchError> {
        let mut last = self.of_taxa.lock().unwrap_or_else(PoisonError::into_inner);
        match last.as_deref() {
            Some((own, form)) if own == taxids && form.is(how) => return Ok(form.clone()),
            // Its memory is free once nobody searches in it.
            _ => *last = None,
        }
        let mut form = self.read(taxids, how, progress)?;
        let (bytes, taken) = (form.bytes(), Arc::clone(&self.taken));
        form.room = Some(Arc::new(Room { bytes, taken }));
        *last = Some(Box::new((taxids.clone(), form.clone())));
        Ok(form)
    }

    /// Reads a form, and notes what it takes.
    fn read(
        &self,
        taxids: &TaxidFilter,
        how: (bool, LetterCase),
        progress: &Progress,
    ) -> Result<OpenForm, SearchError> {
        let (memory, with) = ([self.bytes(), self.memory], (self.threads, progress));
        let form = read(&self.paths, taxids, how, memory, with)?;
        self.taken.fetch_add(form.bytes(), Relaxed);
        Ok(form)
    }
}

/// Refuses taxa that files and databases do not know.
pub(crate) fn check_taxids(
    paths: &[PathBuf],
    has_taxids: bool,
    taxids: &TaxidFilter,
) -> Result<(), SearchError> {
    if taxids.is_empty() {
        return Ok(());
    }
    if !has_taxids {
        let input = names(paths);
        return Err(SearchError::NoTaxids { input });
    }
    taxids.among(&open_all(paths)?)?;
    Ok(())
}

/// Reads a database; of the memory so many bytes are taken already.
fn read(
    paths: &[PathBuf],
    taxids: &TaxidFilter,
    (is_packed, case): (bool, LetterCase),
    [taken, memory]: [u64; 2],
    with: (usize, &Progress),
) -> Result<OpenForm, SearchError> {
    let filter = Filter { taxids, only: None };
    let form = Form::PackedIf(&|_| is_packed, case);
    let (database, whole) = Database::open(paths, filter, memory - taken, form, with)?;
    let Some(mut whole) = whole else {
        let least = taken + database.bytes();
        return Err(SearchError::Memory { least });
    };
    if is_packed && database.molecule() == Molecule::Nucleotide {
        whole.pack();
    }
    whole.mask(case);
    let bytes = bytes_of_indexes(database.part_letters());
    let keeps_indexes =
        database.molecule() == Molecule::Protein && taken + database.bytes() + bytes <= memory;
    Ok(OpenForm {
        database: Arc::new(database),
        whole: Arc::new(whole),
        indexes: keeps_indexes.then(Arc::default),
        room: None,
        case,
    })
}

impl OpenForm {
    fn is(&self, (is_packed, case): (bool, LetterCase)) -> bool {
        self.whole.are_packed() == is_packed && self.case == case
    }

    /// Bytes that it takes, with all indexes that it keeps.
    fn bytes(&self) -> u64 {
        let indexes = bytes_of_indexes(self.database.part_letters());
        let indexes = if self.indexes.is_some() { indexes } else { 0 };
        self.database.bytes() + indexes
    }
}
