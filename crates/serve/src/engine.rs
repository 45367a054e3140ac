//! What does the jobs: lanes that take them from the store, and search in databases that are open.
//!
//! ```text
//!  store ── take ──▶ jobs of one question ── one search ──▶ metadata of each ── finish ──▶ store
//!                                                                 │
//!  request for a result ────────────────── regenerate ◀───────────┘
//! ```
//!
//! Jobs that ask the same of the same database are one search: what one query takes is mostly a
//! look at the whole database. What is kept of a job are its queries and metadata with alignments;
//! reports are made of them when somebody asks, in any format.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gyrase_search::{
    About, Config as SearchConfig, DocumentFiles, FoundFragments, QueryHits, Report, ReportFormat,
    SearchError, SearchMetadata, WaitingText,
};
use gyrase_work::Progress;
use rustix::io::Errno;
use tokio::runtime::Handle;

use crate::ServeError;
use crate::answers::{Answers, about};
use crate::config::Config;
use crate::databases::{Databases, Searched, Served};
use crate::error::{ReportError, Unsearched};
use crate::job::{Job, JobKind};
use crate::reads::{ReadFolder, ReadShare};
use crate::store::{BatchLimits, Outcome, Store};

/// Letters of jobs that are short: one lane is for them alone.
const SHORT: u64 = 50_000;
/// Letters and jobs of one search.
pub const BATCH: (u64, usize) = (200_000, 64);
/// How often a lane looks whether it should stop, where nothing wakes it.
const IDLE: Duration = Duration::from_millis(500);
/// How long a lane waits where the store fails.
const PAUSE: Duration = Duration::from_secs(2);
/// Parts of the memory beside databases: one for each lane, one for reports, one for what is sent.
const SHARES: u64 = 4;
/// Turns of reports: each is as much of their share of the memory.
pub const REPORT_TURNS: u32 = 8;
/// About what a report takes in bytes: for each letter of the queries, and for each hit.
const REPORT_BYTES: [u64; 2] = [4, 1 << 10];

/// Does jobs, and makes reports.
pub struct Engine {
    config: Config,
    databases: Databases,
    store: Arc<Store>,
    running: Mutex<HashMap<String, Arc<Running>>>,
    draining: AtomicBool,
    scratch: AtomicU64,
    /// Jobs that found the disk full, and since when they wait for room.
    without_room: Mutex<HashMap<String, Instant>>,
    /// Jobs that ended, and seconds that they ran, in thousandths.
    pub totals: [AtomicU64; 2],
    /// Workers that are ready.
    pub workers: AtomicU64,
    /// Bytes of fragments that workers read.
    pub fragment_bytes: AtomicU64,
}

/// Which jobs are done, one search after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Any.
    Any,
    /// Short ones.
    Short,
    /// Those of reads: workers search.
    Reads,
}

/// A search that runs.
pub struct Running {
    /// How far it is.
    pub progress: Progress,
    since: Instant,
    jobs: usize,
    is_late: AtomicBool,
}

impl Engine {
    /// An engine without lanes yet.
    pub fn new(config: Config, databases: Databases, store: Arc<Store>) -> Engine {
        Engine {
            config,
            databases,
            store,
            running: Mutex::default(),
            draining: AtomicBool::new(false),
            scratch: AtomicU64::new(0),
            without_room: Mutex::default(),
            totals: Default::default(),
            workers: AtomicU64::new(0),
            fragment_bytes: AtomicU64::new(0),
        }
    }

    /// What is served.
    pub fn databases(&self) -> &Databases {
        &self.databases
    }

    /// What was asked of the service.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The jobs.
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// The search in which a job runs.
    pub fn running(&self, id: &str) -> Option<Arc<Running>> {
        self.all_running().get(id).cloned()
    }

    /// Whether no more jobs are taken.
    pub fn is_draining(&self) -> bool {
        self.draining.load(Relaxed)
    }

    /// Does jobs of a lane until the service drains. It waits for them by `runtime`.
    pub fn lane(&self, lane: Lane, runtime: &Handle) {
        let limits = BatchLimits {
            first: match lane {
                Lane::Short => SHORT,
                Lane::Any | Lane::Reads => u64::MAX,
            },
            letters: BATCH.0,
            jobs: BATCH.1,
            no_searches: lane == Lane::Reads,
        };
        let mut changes = self.store.changes();
        while !self.is_draining() {
            changes.mark_unchanged();
            match self.store.take(limits) {
                Ok(batch) if batch.is_empty() => {
                    let change = async { tokio::time::timeout(IDLE, changes.changed()).await };
                    let _ = runtime.block_on(change);
                }
                Ok(batch) => self.run(&batch),
                Err(error) => {
                    tracing::error!("{error}");
                    std::thread::sleep(PAUSE);
                }
            }
        }
    }

    /// Stops what runs too long, and deletes what is kept long enough.
    pub fn watch(&self) {
        let mut last = Instant::now();
        while !self.is_draining() {
            std::thread::sleep(IDLE);
            for running in self.all_running().values() {
                if running.since.elapsed() > self.config.limits.time {
                    running.is_late.store(true, Relaxed);
                    running.progress.cancel();
                }
            }
            if last.elapsed() > Duration::from_secs(60) {
                last = Instant::now();
                match self.store.expire(self.config.limits.keep) {
                    Ok(jobs) if jobs.is_empty() => {}
                    Ok(jobs) => {
                        jobs.iter().for_each(|id| self.read_folder(id).remove());
                        let jobs = jobs.len();
                        tracing::info!(jobs, "deleted jobs that were kept long enough");
                    }
                    Err(error) => tracing::error!("{error}"),
                }
            }
        }
    }

    /// Takes no more jobs; what runs may go on for a while, and waits again then.
    pub fn drain(&self) {
        self.draining.store(true, Relaxed);
        let end = Instant::now() + self.config.drain;
        while Instant::now() < end && !self.all_running().is_empty() {
            std::thread::sleep(Duration::from_millis(20));
        }
        let running = self.all_running();
        running
            .values()
            .for_each(|running| running.progress.cancel());
    }

    /// Deletes a job; false where there is none.
    ///
    /// # Errors
    /// The store fails.
    pub fn delete(&self, id: &str) -> Result<bool, ServeError> {
        let deleted = self.store.delete(id)?;
        if !deleted {
            return Ok(false);
        }
        // Others that run in the same search have done nothing wrong.
        if let Some(running) = self.running(id).filter(|running| running.jobs == 1) {
            running.progress.cancel();
        }
        self.read_folder(id).remove();
        Ok(true)
    }

    /// The files of a job of reads.
    pub fn read_folder(&self, id: &str) -> ReadFolder {
        ReadFolder::of(&self.config.jobs, id)
    }

    /// Takes a job, and up to so many in all that ask the same, with their queries.
    ///
    /// # Errors
    /// The store fails.
    pub fn take_with(
        &self,
        number: i64,
        jobs: usize,
    ) -> Result<(Vec<Job>, Vec<Vec<u8>>), ServeError> {
        let limits = BatchLimits {
            first: u64::MAX,
            letters: BATCH.0,
            jobs,
            no_searches: false,
        };
        let batch = self.store.take_with(number, limits)?;
        let queries = batch.iter().map(|job| self.store.fasta(&job.id));
        match queries.collect() {
            Ok(queries) => Ok((batch, queries)),
            Err(error) => {
                let again = batch
                    .iter()
                    .map(|job| (job.id.clone(), Outcome::Interrupted));
                self.store.finish(&again.collect::<Vec<_>>())?;
                Err(error)
            }
        }
    }

    /// Shows that jobs run, in one search.
    pub fn begin(&self, batch: &[Job]) -> Arc<Running> {
        let running = Arc::new(Running {
            progress: Progress::default(),
            since: Instant::now(),
            jobs: batch.len(),
            is_late: AtomicBool::new(false),
        });
        let ids = batch.iter().map(|job| job.id.clone());
        self.all_running()
            .extend(ids.map(|id| (id, Arc::clone(&running))));
        running
    }

    fn run(&self, batch: &[Job]) {
        let running = self.begin(batch);
        let found = caught(|| match &batch[0] {
            job if job.kind == JobKind::Search => self.search(batch, &running.progress),
            job => self.read(job, &running.progress),
        });
        match self.ended(batch, &running, found) {
            Some(ended) => self.end(batch, &running, &ended),
            None => batch
                .iter()
                .for_each(|job| self.run(std::slice::from_ref(job))),
        }
    }

    /// How jobs ended that were one search. Nothing where each has to be searched for by itself:
    /// one that fails takes no others with it.
    pub fn ended(
        &self,
        batch: &[Job],
        running: &Running,
        found: Result<Vec<(String, Outcome)>, Unsearched>,
    ) -> Option<Vec<(String, Outcome)>> {
        let ids = || batch.iter().map(|job| job.id.clone());
        match found {
            Ok(outcomes) => Some(outcomes),
            Err(Unsearched::Cancelled) if running.is_late.load(Relaxed) => {
                let limit = self.config.limits.time.as_secs();
                let problem = format!("it took longer than {limit} seconds");
                Some(self.failed(batch, &problem))
            }
            Err(Unsearched::Cancelled) => {
                Some(ids().map(|id| (id, Outcome::Interrupted)).collect())
            }
            Err(Unsearched::Failed(_)) if batch.len() > 1 => None,
            Err(Unsearched::Failed(problem)) => Some(self.failed(batch, &problem)),
        }
    }

    /// Notes how jobs ended, which run no more.
    pub fn end(&self, batch: &[Job], running: &Running, ended: &[(String, Outcome)]) {
        self.note(ended);
        let [jobs, time] = &self.totals;
        jobs.fetch_add(ended.len() as u64, Relaxed);
        time.fetch_add(running.since.elapsed().as_millis() as u64, Relaxed);
        let mut all = self.all_running();
        batch.iter().for_each(|job| drop(all.remove(&job.id)));
        drop(all);
        let of_reads = batch.iter().filter(|job| job.kind != JobKind::Search);
        for job in of_reads {
            let noted = self.store.job(&job.id).ok().flatten();
            if noted.is_some_and(|job| job.state.has_ended()) {
                self.read_folder(&job.id).forget_sent();
            }
        }
    }

    /// Notes how jobs ended, as soon as the disk takes it: what was searched for is not lost, and
    /// not searched for twice.
    pub fn note(&self, ended: &[(String, Outcome)]) {
        loop {
            match self.store.finish(ended) {
                Ok(()) => return,
                Err(error) => tracing::error!("{error}; trying again"),
            }
            if self.is_draining() {
                return;
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn failed(&self, batch: &[Job], problem: &str) -> Vec<(String, Outcome)> {
        let of = |job: &Job| {
            let problem = problem.to_string();
            (job.id.clone(), Outcome::Failed { problem })
        };
        batch.iter().map(of).collect()
    }

    /// Searches for the queries of jobs that ask the same.
    fn search(
        &self,
        batch: &[Job],
        progress: &Progress,
    ) -> Result<Vec<(String, Outcome)>, Unsearched> {
        let config = self.search_config(batch)?;
        let served = self.served(&batch[0])?;
        let mut answers = Answers::new(batch, &config, served);
        let Searched::Open(open) = &served.searched else {
            return Err("workers search in this database".to_string().into());
        };
        open.search(&config, progress, |answer| answers.add(answer))?;
        answers.finish()
    }

    /// Compares the reads of a job with its database.
    fn read(&self, job: &Job, progress: &Progress) -> Result<Vec<(String, Outcome)>, Unsearched> {
        let database = self.databases.of_reads_named(&job.database);
        let database = database.ok_or_else(|| ReportError::Database(job.database.clone()))?;
        let scratch = self.scratch()?;
        let share = ReadShare {
            memory: self.share(),
            threads: self.config.threads,
            scratch: &scratch.path,
        };
        let folder = self.read_folder(&job.id);
        let options = &self.config.classify_options;
        match database.run(job, options, &folder, share, progress) {
            Ok(outcome) => Ok(vec![(job.id.clone(), outcome)]),
            Err(_) if progress.is_cancelled() => Err(Unsearched::Cancelled),
            Err(problem) if is_of_full_disk(&problem) && self.may_wait_for_room(&job.id) => {
                tracing::error!("{problem}; trying again");
                std::thread::sleep(PAUSE);
                Err(Unsearched::Cancelled)
            }
            Err(problem) => Err(problem.into()),
        }
    }

    /// Whether a job may wait for room on the disk: as long as a job may run, since it may be what
    /// fills the disk.
    fn may_wait_for_room(&self, id: &str) -> bool {
        let waiting = self.without_room.lock();
        let mut waiting = waiting.unwrap_or_else(PoisonError::into_inner);
        let since = waiting.entry(id.into()).or_insert_with(Instant::now);
        since.elapsed() <= self.config.limits.time
    }

    /// Nothing found yet by workers, of which so many may be at work for others.
    pub fn none_found(&self, workers: usize) -> FoundFragments {
        let waiting = WaitingText::new(self.scratch_path());
        FoundFragments::new(waiting, self.share() / workers as u64)
    }

    /// Merges what workers found for jobs that ask the same.
    ///
    /// # Errors
    /// Something is missing.
    pub fn merge(
        &self,
        batch: &[Job],
        found: FoundFragments,
        progress: &Progress,
    ) -> Result<Vec<(String, Outcome)>, Unsearched> {
        caught(|| {
            let config = self.search_config(batch)?;
            let served = self.served(&batch[0])?;
            let mut answers = Answers::new(batch, &config, served);
            let Searched::Divided(divided) = &served.searched else {
                return Err("no worker searches in this database".to_string().into());
            };
            divided.merge(&config, found, progress, |answer| answers.add(answer))?;
            answers.finish()
        })
    }

    /// Writes a report of a job: of all queries, or of some.
    ///
    /// # Errors
    /// See [`ReportError`].
    pub fn report(
        &self,
        job: &Job,
        format: ReportFormat,
        queries: Option<Range<usize>>,
        progress: &Progress,
        out: &mut dyn Write,
    ) -> Result<(), ReportError> {
        self.each_answer(job, queries, progress, |answers| {
            if let Some(program) = answers.metadata.program() {
                format.suits(program)?;
            }
            let report = Report::new(format, answers.about.clone());
            answers.write(&report, out)
        })
    }

    /// Writes a document for each query, and a list of them, into a folder that is gone behind
    /// `with`.
    ///
    /// # Errors
    /// See [`ReportError`].
    pub fn documents<T>(
        &self,
        job: &Job,
        format: ReportFormat,
        list: &str,
        progress: &Progress,
        with: impl FnOnce(&Path) -> io::Result<T>,
    ) -> Result<T, ReportError> {
        let scratch = self.scratch()?;
        let syntax = format
            .documents()
            .ok_or_else(|| io::Error::other("no documents"))?;
        let mut files =
            DocumentFiles::create(syntax, &scratch.path.join(list)).map_err(io::Error::other)?;
        self.each_answer(job, None, progress, |answers| {
            let report = Report::new(format, answers.about.clone());
            answers.write(&report, &mut files)
        })?;
        files.finish().map_err(io::Error::other)?;
        Ok(with(&scratch.path)?)
    }

    fn each_answer(
        &self,
        job: &Job,
        queries: Option<Range<usize>>,
        progress: &Progress,
        write: impl FnOnce(Regenerated) -> Result<(), ReportError>,
    ) -> Result<(), ReportError> {
        let config = self.search_config(std::slice::from_ref(job))?;
        let metadata = self.store.metadata(&job.id)?;
        let metadata = SearchMetadata::of_bytes(Path::new(&job.id), &metadata);
        let metadata = metadata.map_err(SearchError::from)?;
        let served = self.served(job)?;
        let all = 0..metadata.queries();
        write(Regenerated {
            about: about(served, &config),
            queries: queries.unwrap_or(all),
            served,
            config: &config,
            metadata: &metadata,
            progress,
        })
    }

    fn served(&self, job: &Job) -> Result<&Served, ReportError> {
        let served = self.databases.named(&job.database);
        served.ok_or_else(|| ReportError::Database(job.database.clone()))
    }

    /// How many turns a report of a job takes.
    pub fn report_turns(&self, job: &Job) -> u32 {
        let [of_letter, of_hit] = REPORT_BYTES;
        let bytes = of_letter * job.letters + of_hit * job.hits;
        let turn = (self.share() / u64::from(REPORT_TURNS)).max(1);
        bytes.div_ceil(turn).clamp(1, REPORT_TURNS.into()) as u32
    }

    /// The memory of a lane, of all reports together, or of all that is sent.
    pub fn share(&self) -> u64 {
        self.config.memory.saturating_sub(self.databases.bytes()) / SHARES
    }

    /// The search of jobs that ask the same.
    fn search_config(&self, batch: &[Job]) -> Result<SearchConfig, ReportError> {
        let config = (self.config.search_options)(&batch[0].options);
        let config = config.map_err(ReportError::Options)?;
        let text = |job: &Job| Ok((job.id.clone(), self.store.fasta(&job.id)?.into()));
        let texts = batch.iter().map(text).collect::<Result<_, ServeError>>();
        Ok(SearchConfig {
            queries: Vec::new(),
            query_texts: texts?,
            subjects: Vec::new(),
            waiting: WaitingText::new(scratch_folder(&self.config.jobs)),
            memory: self.share(),
            threads: self.config.threads,
            ..config
        })
    }

    /// A place for the files of one search, where nothing is yet.
    fn scratch_path(&self) -> PathBuf {
        let number = self.scratch.fetch_add(1, Relaxed);
        scratch_folder(&self.config.jobs).join(number.to_string())
    }

    /// A folder for the files of one search.
    fn scratch(&self) -> io::Result<Scratch> {
        let path = self.scratch_path();
        fs::create_dir_all(&path)?;
        Ok(Scratch { path })
    }

    fn all_running(&self) -> MutexGuard<'_, HashMap<String, Arc<Running>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is found, or that an internal error ended the search.
fn caught<T>(search: impl FnOnce() -> Result<T, Unsearched>) -> Result<T, Unsearched> {
    let found = catch_unwind(AssertUnwindSafe(search));
    found.unwrap_or_else(|_| Err("an internal error ended the search".to_string().into()))
}

/// Whether a disk is full, or has no more room for this user, or for so large a file: errors of all
/// crates end with the words of the system.
fn is_of_full_disk(problem: &str) -> bool {
    let errors = [Errno::NOSPC, Errno::DQUOT, Errno::FBIG];
    let told = errors.map(|error| io::Error::from(error).to_string());
    told.iter().any(|told| problem.contains(told))
}

/// Where files are that are of no use once the service ended.
pub fn scratch_folder(jobs: &Path) -> PathBuf {
    jobs.join("scratch")
}

/// A folder that goes with this value.
struct Scratch {
    path: PathBuf,
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// The answers of some queries of a job, made again.
struct Regenerated<'r> {
    about: About,
    queries: Range<usize>,
    served: &'r Served,
    config: &'r SearchConfig,
    metadata: &'r SearchMetadata,
    progress: &'r Progress,
}

impl Regenerated<'_> {
    fn write(&self, report: &Report, out: &mut dyn Write) -> Result<(), ReportError> {
        let queries = self.queries.clone();
        let is_all = queries == (0..self.metadata.queries());
        let mut own = None;
        let asked = (self.metadata, queries.clone());
        let mut each = |answer: &QueryHits| {
            if is_all {
                return Ok::<_, ReportError>(report.answer(out, answer)?);
            }
            let own = own.get_or_insert_with(|| answer.queries.excerpt(queries.clone()));
            Ok(report.answer(out, &answer.of_part(own, queries.start))?)
        };
        let (config, progress) = (self.config, self.progress);
        match &self.served.searched {
            Searched::Open(open) => open.answers_again(config, asked, progress, &mut each)?,
            Searched::Divided(divided) => {
                divided.answers_again(config, asked, progress, &mut each)?;
            }
        }
        Ok(report.finish(out, queries.len())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_disks_are_known_by_their_words() {
        let full = io::Error::from_raw_os_error(28);
        assert!(is_of_full_disk(&format!("results/html: {full}")));
        let gone = io::Error::from(io::ErrorKind::NotFound);
        assert!(!is_of_full_disk(&format!("results/html: {gone}")));
        assert!(!is_of_full_disk("reads: record 28: no letters"));
    }
}
