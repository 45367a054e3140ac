//! A database that many searches share: it is in memory once.
//!
//! Programs want it in different forms: packed, where nucleotides are compared as they are, or as
//! codes of a byte, where they are translated; with masks, or without. A form is read when the
//! first search needs it, and stays. So do the seeds of proteins, where there is memory for them.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use gyrase_seqdb::TaxidFilter;
use gyrase_work::Progress;

use crate::database::{Database, Filter};
use crate::seeds::{Indexes, bytes_of_indexes};
use crate::sequences::{Form, LetterCase};
use crate::{DatabaseSize, Molecule, SearchError, Sequences};

/// Files of subjects in memory, for any number of searches at a time.
pub struct OpenDatabase {
    paths: Vec<PathBuf>,
    molecule: Molecule,
    size: DatabaseSize,
    /// Bytes that all forms may take together, and those that they take.
    memory: u64,
    taken: AtomicU64,
    threads: usize,
    forms: Mutex<Vec<OpenForm>>,
}

/// A database in one form.
#[derive(Clone)]
pub(crate) struct OpenForm {
    pub database: Arc<Database>,
    pub whole: Arc<Sequences>,
    /// Indexes of its seeds, each made by the first search that wants it; none where proteins are
    /// not looked for, or the memory does not take them.
    pub indexes: Option<Arc<Indexes>>,
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
        let form = read(
            &paths,
            (true, LetterCase::Ignored),
            [0, memory],
            (threads, progress),
        )?;
        Ok(OpenDatabase {
            molecule: form.database.molecule(),
            size: form.database.size(),
            paths,
            memory,
            taken: AtomicU64::new(form.bytes()),
            threads,
            forms: Mutex::new(vec![form]),
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

    /// The database in a form, which is read if this is the first search that needs it.
    pub(crate) fn form(
        &self,
        is_packed: bool,
        case: LetterCase,
        progress: &Progress,
    ) -> Result<OpenForm, SearchError> {
        let is_packed = is_packed && self.molecule == Molecule::Nucleotide;
        // Two that need it at the same time read it once.
        let mut forms = self.forms.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |form: &&OpenForm| form.whole.are_packed() == is_packed && form.case == case;
        if let Some(form) = forms.iter().find(is_it) {
            return Ok(form.clone());
        }
        let memory = [self.bytes(), self.memory];
        let form = read(
            &self.paths,
            (is_packed, case),
            memory,
            (self.threads, progress),
        )?;
        self.taken.fetch_add(form.bytes(), Relaxed);
        forms.push(form.clone());
        Ok(form)
    }
}

/// Reads a database; of the memory so many bytes are taken already.
fn read(
    paths: &[PathBuf],
    (is_packed, case): (bool, LetterCase),
    [taken, memory]: [u64; 2],
    with: (usize, &Progress),
) -> Result<OpenForm, SearchError> {
    let filter = Filter {
        taxids: &TaxidFilter::default(),
        only: None,
    };
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
        case,
    })
}

impl OpenForm {
    /// Bytes that it takes, with all indexes that it keeps.
    fn bytes(&self) -> u64 {
        let indexes = bytes_of_indexes(self.database.part_letters());
        let indexes = if self.indexes.is_some() { indexes } else { 0 };
        self.database.bytes() + indexes
    }
}
