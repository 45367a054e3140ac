//! The sequences that verbs on suffixes read: FASTA, or a `.gysa` file.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use gyrase_picture::words::things;
use gyrase_suffix::gysa::GysaFile;
use gyrase_suffix::{Letters, SuffixArray, Texts};

use crate::cmd::folders::{self, Wanted};
use crate::failure::{Failure, Result};
use crate::session::Session;

/// Which letters equal which.
#[derive(Clone, Copy, Debug, Args)]
pub struct LettersArg {
    /// Which letters match: `bases` A, C, G and T (or U) alone, so that an N matches nothing; `any`
    /// letter itself. Case never counts [default: bases for nucleotides, else any]
    #[arg(long, value_name = "KIND", value_enum)]
    letters: Option<Kind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    Bases,
    Any,
}

impl LettersArg {
    fn kind(self) -> Option<Letters> {
        self.letters.map(|kind| match kind {
            Kind::Bases => Letters::Bases,
            Kind::Any => Letters::Any,
        })
    }
}

/// Where sequences are.
pub struct Sequences {
    /// The files; one of them, if it is a `.gysa` file.
    pub files: Vec<PathBuf>,
    /// Which letters equal which, if that was said.
    pub letters: Option<Letters>,
    sorted: Option<GysaFile>,
}

impl Sequences {
    /// The files that are meant.
    pub fn find(named: &[PathBuf], letters: LettersArg, session: &Session) -> Result<Sequences> {
        let files = folders::files(named, Wanted::Sequences, session)?;
        let sorted = files.iter().find(|path| GysaFile::is_one(path));
        let sorted = sorted.map(|path| GysaFile::open(path)).transpose()?;
        if sorted.is_some() && files.len() > 1 {
            let what = "a .gysa file is given alone: sort all sequences together with `gyrase \
                        suffix build`";
            return Err(Failure::usage(what));
        }
        let letters = letters.kind();
        if let Some((found, asked)) = sorted.as_ref().zip(letters)
            && found.facts().kind != asked
        {
            let found = kind_name(found.facts().kind);
            let what = format!("the .gysa file was built with --letters {found}; leave it out");
            return Err(Failure::usage(what));
        }
        Ok(Sequences {
            files,
            letters,
            sorted,
        })
    }

    /// The `.gysa` file, if it is one.
    pub fn sorted(&self) -> Option<&GysaFile> {
        self.sorted.as_ref()
    }

    /// Reads the sequences.
    pub fn texts(&self, session: &Session) -> Result<Texts> {
        let texts = match &self.sorted {
            Some(file) => file.texts()?,
            None => session.shown(|progress| {
                let sizes = self.files.iter().filter_map(|path| path.metadata().ok());
                progress.start("read", sizes.map(|there| there.len()).sum());
                Texts::read(&self.files, self.letters, session.memory, progress)
            })?,
        };
        warn_of_none(texts.texts.len() as u64);
        Ok(texts)
    }

    /// Their suffixes, where a file has them.
    pub fn suffixes(&self) -> Result<Option<SuffixArray>> {
        Ok(self
            .sorted
            .as_ref()
            .map(GysaFile::suffix_array)
            .transpose()?)
    }

    /// Notes what was read for the report.
    pub fn note(&self, session: &Session) {
        self.note_with(session, &[]);
    }

    /// The same, with other files.
    pub fn note_with(&self, session: &Session, others: &[PathBuf]) {
        let files = self.files.iter().chain(others);
        let names = files.map(|path| path.display().to_string());
        session.note("inputs", names.collect::<Vec<_>>());
    }
}

/// The name of a kind of letters, as it is typed.
pub fn kind_name(kind: Letters) -> &'static str {
    match kind {
        Letters::Bases => "bases",
        Letters::Any => "any",
    }
}

/// Warns where there is no sequence.
pub fn warn_of_none(texts: u64) {
    if texts == 0 {
        tracing::warn!("there is no sequence to look at");
    }
}

/// Says how much was looked at.
pub fn say_texts(texts: u64, letters: u64) {
    tracing::info!(
        sequences = texts,
        letters,
        "{}, {}",
        things(texts, "sequence"),
        things(letters, "letter")
    );
}
