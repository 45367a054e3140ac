//! Jobs of files that were sent: their reads are classified, or their k-mers looked up.
//!
//! ```text
//!  jobs/reads/ID/reads, mates    as they came, until the job is done
//!  jobs/reads/ID/results/        whole or not there: the files that the command line writes
//! ```

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use gyrase_classify::report::{NamedTally, Origin};
use gyrase_classify::{
    AnswerConfig, Collection, Columns, Config as ClassifyConfig, INSERT, Index, Lane, Outlets,
    Reads, Scratch, Summary, TaxonReport, Wanted, run as classify,
};
use gyrase_count::query;
use gyrase_fastx::Output;
use gyrase_files::OutputFolder;
use gyrase_table::gyk::Database as Counts;
use gyrase_work::Progress;

use crate::config::{ClassifyOptions, NamedDatabase, ReadOptions};
use crate::job::{Job, JobKind};
use crate::store::Outcome;

/// The file of a line for each read or sequence, of either kind of job.
pub const LINES: &str = "lines.tsv.gz";

/// Bytes of lines that are shown.
const FIRST_BYTES: u64 = 1 << 20;

/// A database that reads are compared with, or whose k-mers are looked up.
pub struct ReadDatabase {
    /// As people know it.
    pub named: NamedDatabase,
    opened: Opened,
    bytes: u64,
}

enum Opened {
    /// References of taxa; one run after the other may ask them.
    Taxa(Box<(Collection, Mutex<()>)>),
    /// Counted k-mers.
    Counts(Box<Counts>),
}

impl ReadDatabase {
    /// Opens the files of a name, which are not for searches, for `threads` threads.
    ///
    /// # Errors
    /// In words: one cannot be opened, or they do not fit together.
    pub fn open(named: &NamedDatabase, threads: usize) -> Result<ReadDatabase, String> {
        let opened = match (named.kind(), &named.files[..]) {
            (JobKind::Kmers, [file]) => {
                let counts = Counts::open(file).map_err(|error| error.to_string())?;
                Opened::Counts(Box::new(counts))
            }
            (JobKind::Kmers, _) => return Err("k-mers are looked up in one .gyk".into()),
            _ => {
                let open = |path: &PathBuf| Index::open(path).map_err(|error| error.to_string());
                let indexes = named.files.iter().map(open).collect::<Result<_, _>>()?;
                let collection = Collection::new(indexes).map_err(|error| error.to_string())?;
                Opened::Taxa(Box::new((collection, Mutex::new(()))))
            }
        };
        // Whoever makes a report asks for it, and it takes a look at every target to know.
        let bytes = match &opened {
            Opened::Taxa(taxa) => taxa.0.memory_at_once(threads),
            Opened::Counts(counts) => counts.path().metadata().map_or(0, |size| size.len()),
        };
        let named = named.clone();
        Ok(ReadDatabase {
            named,
            opened,
            bytes,
        })
    }

    /// What is done with reads.
    pub fn kind(&self) -> JobKind {
        match self.opened {
            Opened::Taxa(_) => JobKind::Classify,
            Opened::Counts(_) => JobKind::Kmers,
        }
    }

    /// Bytes that it takes in memory while all threads ask it.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many references, or k-mers, it has, and what they are.
    pub fn size(&self) -> (u64, &'static str) {
        match &self.opened {
            Opened::Taxa(taxa) => (taxa.0.catalogue.targets.len() as u64, "reference"),
            Opened::Counts(counts) => (counts.header().distinct, "k-mer"),
        }
    }

    /// The count of a k-mer.
    ///
    /// # Errors
    /// In words: it is no k-mer of the database, or this is no database of k-mers.
    pub fn look_up(&self, kmer: &str) -> Result<u32, String> {
        match &self.opened {
            Opened::Counts(counts) => {
                query::look_up(counts, kmer).map_err(|error| self.named.without_paths(error))
            }
            Opened::Taxa(_) => Err(format!("{} has no counts of k-mers", self.named.name)),
        }
    }

    /// What pages say of it.
    fn origin(&self, collection: &Collection) -> Origin {
        let name = |path: &PathBuf| {
            let name = path.file_name().unwrap_or(path.as_os_str());
            name.to_string_lossy().into_owned()
        };
        Origin {
            sources: collection.sources(self.named.files.iter().map(name)),
            date: None,
        }
    }
}

/// The files of a job.
#[derive(Clone, Debug)]
pub struct ReadFolder {
    path: PathBuf,
}

impl ReadFolder {
    /// Where all are, in the folder of jobs.
    pub fn all(jobs: &Path) -> PathBuf {
        jobs.join("reads")
    }

    /// Those of a job.
    pub fn of(jobs: &Path, id: &str) -> ReadFolder {
        let path = ReadFolder::all(jobs).join(id);
        ReadFolder { path }
    }

    /// Makes it.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn create(&self) -> io::Result<()> {
        fs::create_dir_all(&self.path)
    }

    /// A file as it came: `reads` or `mates`.
    pub fn sent(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// A file of the result.
    pub fn result(&self, name: &str) -> PathBuf {
        self.results().join(name)
    }

    fn results(&self) -> PathBuf {
        self.path.join("results")
    }

    /// Removes those of which no job is known.
    pub fn remove_unknown(jobs: &Path, is_known: impl Fn(&str) -> bool) {
        let all = fs::read_dir(ReadFolder::all(jobs)).into_iter().flatten();
        let names = all.flatten().map(|entry| entry.file_name());
        let unknown = names.filter(|name| !name.to_str().is_some_and(&is_known));
        unknown.for_each(|name| drop(fs::remove_dir_all(ReadFolder::all(jobs).join(name))));
    }

    /// Removes all of it.
    pub fn remove(&self) {
        let _ = fs::remove_dir_all(&self.path);
    }

    /// Removes what was sent: the result is there.
    pub fn forget_sent(&self) {
        for name in ["reads", "mates"] {
            let _ = fs::remove_file(self.sent(name));
        }
    }

    /// The reads.
    pub fn lane(&self, interleaved: bool) -> Lane {
        let mates = self.sent("mates");
        Lane {
            reads: self.sent("reads"),
            mates: mates.exists().then_some(mates),
            interleaved,
        }
    }

    /// The first lines of those of all sequences; fewer where there are no more, or the disk fails.
    pub fn first_lines(&self, most: usize) -> Vec<String> {
        let lines = File::open(self.result(LINES)).and_then(gyrase_fastx::decompress);
        let lines = lines.map(|lines| BufReader::new(lines.take(FIRST_BYTES)).lines());
        let lines = lines.into_iter().flatten().map_while(Result::ok);
        lines.take(most).collect()
    }

    /// A text without the place of the folder, for whoever sent the files.
    pub fn without_place(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.path.display()), "")
    }
}

/// What a job may take.
#[derive(Clone, Copy, Debug)]
pub struct ReadShare<'a> {
    /// Bytes of memory beside the database.
    pub memory: u64,
    /// Threads.
    pub threads: usize,
    /// Where what does not fit the memory waits.
    pub scratch: &'a Path,
}

impl ReadDatabase {
    /// Does a job, whose result is whole in its folder then.
    ///
    /// # Errors
    /// In words: what was sent is damaged, or the result cannot be written.
    pub fn run(
        &self,
        job: &Job,
        options: &ClassifyOptions,
        folder: &ReadFolder,
        share: ReadShare,
        progress: &Progress,
    ) -> Result<Outcome, String> {
        let files: Vec<&str> = std::iter::once(LINES)
            .chain(TaxonReport::ALL.map(TaxonReport::name))
            .collect();
        let results = OutputFolder::create(&folder.results(), &files);
        let results = results.map_err(|error| folder.without_place(&error.to_string()))?;
        let done = match &self.opened {
            Opened::Taxa(taxa) => {
                let _turn = taxa.1.lock().unwrap_or_else(PoisonError::into_inner);
                self.classify(
                    &taxa.0,
                    (job, &options(&job.options)?),
                    folder,
                    share,
                    &results,
                    progress,
                )
            }
            Opened::Counts(counts) => {
                look_up(counts, job, folder.sent("reads"), share, &results, progress)
            }
        };
        let done = done.and_then(|done| {
            results.commit().map_err(|error| error.to_string())?;
            Ok(done)
        });
        done.map_err(|text| self.named.without_paths(folder.without_place(&text)))
    }

    /// Classifies the reads of a job, and writes everything that is told of them.
    fn classify(
        &self,
        collection: &Collection,
        (job, options): (&Job, &ReadOptions),
        folder: &ReadFolder,
        share: ReadShare,
        results: &OutputFolder,
        progress: &Progress,
    ) -> Result<Outcome, String> {
        let lanes = [folder.lane(options.interleaved)];
        let wanted = Wanted {
            evidence: true,
            ..Wanted::default()
        };
        let config = ClassifyConfig {
            reads: Reads::Lanes {
                collection,
                lanes: &lanes,
            },
            answer: AnswerConfig {
                rule: options.rule,
                insert: INSERT,
                threads: share.threads,
                wanted,
            },
            memory: share.memory + self.bytes,
            scratch: Scratch {
                folder: share.scratch,
                limit: None,
            },
            drop_least_covered: None,
        };
        let summary = answer(&config, options.columns, results, progress)?;
        let sample = NamedTally {
            name: &job.title,
            tally: &summary.tally,
        };
        let origin = self.origin(collection);
        let from = (&collection.catalogue, &origin);
        for report in TaxonReport::ALL {
            let mut out = created(results, report.name())?;
            let written = report.write(options.rank, from, &sample, &mut out);
            written.map_err(|source| out.error(source).to_string())?;
            finished(out)?;
        }
        Ok(Outcome::Done {
            metadata: Vec::new(),
            queries: Some(summary.tally.total()),
            hits: summary.tally.taxa().count() as u64,
            with_hits: summary.tally.classified(),
        })
    }
}

/// Writes a line for each read.
fn answer(
    config: &ClassifyConfig,
    columns: Columns,
    results: &OutputFolder,
    progress: &Progress,
) -> Result<Summary, String> {
    let mut lines = created(results, LINES)?;
    let mut outlets = Outlets {
        columns,
        lines: &mut lines,
        extracts: &mut [],
    };
    let summary = classify(config, progress, &mut outlets);
    let summary = summary.map_err(|error| error.to_string())?;
    finished(lines)?;
    Ok(summary)
}

/// Writes a line for each sequence.
fn look_up(
    counts: &Counts,
    job: &Job,
    sequences: PathBuf,
    share: ReadShare,
    results: &OutputFolder,
    progress: &Progress,
) -> Result<Outcome, String> {
    let config = query::Config {
        database: counts.path().to_path_buf(),
        inputs: vec![sequences],
        all_counts: job.has_flag("all"),
        threads: share.threads,
    };
    let mut lines = created(results, LINES)?;
    let summary = query::run(&config, &mut lines, progress);
    let summary = summary.map_err(|error| error.to_string())?;
    finished(lines)?;
    Ok(Outcome::Done {
        metadata: Vec::new(),
        queries: Some(summary.sequences),
        hits: summary.present,
        with_hits: summary.kmers,
    })
}

fn created(results: &OutputFolder, name: &str) -> Result<Output, String> {
    Output::create(&results.file(name), None).map_err(|error| error.to_string())
}

fn finished(out: Output) -> Result<(), String> {
    out.finish().map_err(|error| error.to_string())
}
