//! A database that many searches share: it is in memory once.
//!
//! Programs want it in different forms: packed, where nucleotides are compared as they are, or as
//! codes of a byte, where they are translated; with masks, or without. A form is read when the
//! first search needs it, and stays. So do indexes of seeds and words, where there is memory for
//! them. Of sequences of some taxa alone the last ones stay until others are asked for.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use gyrase_seqdb::{TaxidFilter, open_all};
use gyrase_work::Progress;

use crate::database::{Database, Filter};
use crate::indexes::Indexes;
use crate::sequences::{Form, LetterCase, names};
use crate::{DatabaseSize, Molecule, SearchError, Sequences};

/// The memory that all databases take which are open together.
pub struct DatabaseMemory {
    most: u64,
    taken: AtomicU64,
    /// Those who read know what the others take.
    reading: Mutex<()>,
}

impl DatabaseMemory {
    /// So many bytes at most, of which others take some already.
    pub fn new(most: u64, taken: u64) -> Arc<DatabaseMemory> {
        Arc::new(DatabaseMemory {
            most,
            taken: taken.into(),
            reading: Mutex::default(),
        })
    }

    /// Bytes that are taken now.
    pub fn taken(&self) -> u64 {
        self.taken.load(Relaxed)
    }

    /// Bytes that are left.
    fn left(&self) -> u64 {
        self.most.saturating_sub(self.taken())
    }

    fn take(self: &Arc<Self>, bytes: u64) -> Room {
        self.taken.fetch_add(bytes, Relaxed);
        let memory = Arc::clone(self);
        Room { bytes, memory }
    }
}

/// Bytes that somebody has of the memory of databases.
pub(crate) struct Room {
    bytes: u64,
    memory: Arc<DatabaseMemory>,
}

impl Drop for Room {
    fn drop(&mut self) {
        self.memory.taken.fetch_sub(self.bytes, Relaxed);
    }
}

/// Files of subjects in memory, for any number of searches at a time.
pub struct OpenDatabase {
    pub(crate) paths: Vec<PathBuf>,
    molecule: Molecule,
    size: DatabaseSize,
    has_taxids: bool,
    memory: Arc<DatabaseMemory>,
    threads: usize,
    forms: Mutex<Vec<OpenForm>>,
    /// The sequences of some taxa alone, as they were last asked for.
    of_taxa: Mutex<Option<Box<(TaxidFilter, OpenForm)>>>,
}

/// A database in one form.
#[derive(Clone)]
pub(crate) struct OpenForm {
    pub database: Arc<Database>,
    pub whole: Arc<Sequences>,
    /// Indexes that are kept of it; none where the memory does not take them.
    pub indexes: Option<Arc<Indexes>>,
    /// What it takes for as long as somebody has it.
    pub room: Arc<Room>,
    case: LetterCase,
}

impl OpenDatabase {
    /// Reads files and databases, in the form in which sequences are compared as they are.
    ///
    /// # Errors
    /// A file cannot be read; there are proteins and nucleotides; the memory is not enough.
    pub fn open(
        paths: Vec<PathBuf>,
        memory: &Arc<DatabaseMemory>,
        threads: usize,
        progress: &Progress,
    ) -> Result<OpenDatabase, SearchError> {
        let all = TaxidFilter::default();
        let how = (true, LetterCase::Ignored);
        let form = read(&paths, &all, how, memory, (threads, progress))?;
        Ok(OpenDatabase {
            molecule: form.database.molecule(),
            size: form.database.size(),
            has_taxids: form.database.has_taxids(),
            paths,
            memory: Arc::clone(memory),
            threads,
            forms: Mutex::new(vec![form]),
            of_taxa: Mutex::default(),
        })
    }

    /// Keeps indexes from now on, if beside them so many bytes of the memory are left, and says
    /// whether it does. Words of nucleotides are indexed at once, seeds of proteins by the first
    /// search that wants them.
    pub fn keep_indexes(&mut self, beside: u64) -> bool {
        let forms = self.forms.get_mut().unwrap_or_else(PoisonError::into_inner);
        // Others are of codes, or masked.
        let Some(first) = forms.first_mut() else {
            return false;
        };
        first.keep_indexes(&self.memory, beside, self.threads);
        first.indexes.is_some()
    }

    /// Bytes that its other forms take, about: one of codes, and others packed.
    pub fn bytes_of_forms(&self) -> u64 {
        match self.molecule {
            Molecule::Protein => 0,
            Molecule::Nucleotide => 2 * self.size.letters,
        }
    }

    /// What its sequences are.
    pub fn molecule(&self) -> Molecule {
        self.molecule
    }

    /// Its sequences and their letters.
    pub fn size(&self) -> DatabaseSize {
        self.size
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
        let form = self.read(taxids, how, progress)?;
        *last = Some(Box::new((taxids.clone(), form.clone())));
        Ok(form)
    }

    fn read(
        &self,
        taxids: &TaxidFilter,
        how: (bool, LetterCase),
        progress: &Progress,
    ) -> Result<OpenForm, SearchError> {
        let with = (self.threads, progress);
        let mut form = read(&self.paths, taxids, how, &self.memory, with)?;
        if self.molecule == Molecule::Protein {
            form.keep_indexes(&self.memory, 0, self.threads);
        }
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

/// Reads a database.
fn read(
    paths: &[PathBuf],
    taxids: &TaxidFilter,
    (is_packed, case): (bool, LetterCase),
    memory: &Arc<DatabaseMemory>,
    with: (usize, &Progress),
) -> Result<OpenForm, SearchError> {
    let _alone = memory.reading.lock();
    let filter = Filter { taxids, only: None };
    let form = Form::PackedIf(&|_| is_packed, case);
    let (database, whole) = Database::open(paths, filter, memory.left(), form, with)?;
    let Some(mut whole) = whole else {
        let least = memory.taken() + database.bytes();
        return Err(SearchError::Memory { least });
    };
    if is_packed && database.molecule() == Molecule::Nucleotide {
        whole.pack();
    }
    whole.mask(case);
    Ok(OpenForm {
        room: Arc::new(memory.take(database.bytes())),
        database: Arc::new(database),
        whole: Arc::new(whole),
        indexes: None,
        case,
    })
}

impl OpenForm {
    fn is(&self, (is_packed, case): (bool, LetterCase)) -> bool {
        self.whole.are_packed() == is_packed && self.case == case
    }

    fn keep_indexes(&mut self, memory: &Arc<DatabaseMemory>, beside: u64, threads: usize) {
        let _alone = memory.reading.lock();
        let molecule = self.database.molecule();
        let letters = self.database.part_letters();
        let bytes = Indexes::bytes(molecule, letters);
        let making = Indexes::bytes_beside(molecule, letters);
        if bytes + beside.max(making) > memory.left() {
            return;
        }
        let Some(indexes) = Indexes::new(molecule, &self.whole, threads) else {
            return;
        };
        self.room = Arc::new(memory.take(self.room.bytes + bytes));
        self.indexes = Some(Arc::new(indexes));
    }
}
