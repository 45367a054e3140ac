//! The jobs of a service in an SQLite file. Each change of a job is one transaction, and what was
//! said to be accepted, or done, is on the disk.

mod schema;
mod webhooks;

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use tokio::sync::{broadcast, watch};

use crate::ServeError;
use crate::config::ServiceLimits;
use crate::job::{Job, JobKind, State, Submission, now};
use schema::{VERSION, prepare};
use webhooks::webhook;

pub use webhooks::{DueWebhook, SentWebhook};

const COLUMNS: &str = "id, number, state, database, options, title, queries, letters, submitted, \
                       started, finished, attempts, hits, with_hits, problem, kind, \
                       webhook IS NOT NULL, webhook_next, webhook_attempts, webhook_problem";

/// How often the service may end while a job runs: once in company, then alone. A job that ends the
/// service each time would end it for ever.
const ATTEMPTS: u64 = 4;

/// Statements of SQL that a connection keeps: all that there are.
const STATEMENTS: usize = 64;

/// Ends that those who wait for one may be behind; who missed some looks at the job again.
const ENDS: usize = 16;

/// Jobs, and where changes of them are heard of.
pub struct Store {
    path: PathBuf,
    connection: Mutex<Connection>,
    /// Reads while the other waits for the disk.
    reader: Mutex<Connection>,
    changes: watch::Sender<u64>,
    ends: broadcast::Sender<Arc<[String]>>,
    /// Keeps other services from the folder.
    _lock: File,
}

/// What is done at a time.
#[derive(Clone, Copy, Debug)]
pub struct BatchLimits {
    /// Letters of the first job.
    pub first: u64,
    /// Letters of all.
    pub letters: u64,
    /// Jobs.
    pub jobs: usize,
    /// Whether searches are done by others.
    pub no_searches: bool,
}

/// Why a job is not accepted.
#[derive(Debug)]
pub enum NotAccepted {
    /// Too many jobs wait.
    Full,
    /// Too many jobs of this client wait.
    FullForClient,
    /// It cannot be kept.
    Store(ServeError),
}

impl From<ServeError> for NotAccepted {
    fn from(error: ServeError) -> NotAccepted {
        NotAccepted::Store(error)
    }
}

/// How a job ended.
#[derive(Debug)]
pub enum Outcome {
    /// With a result.
    Done {
        /// Metadata of a search.
        metadata: Vec<u8>,
        /// Reads or sequences, where they were not counted before.
        queries: Option<u64>,
        /// As [`Job`] has it.
        hits: u64,
        /// As [`Job`] has it.
        with_hits: u64,
    },
    /// Without.
    Failed {
        /// Why, for people.
        problem: String,
    },
    /// It did not: it waits again, as if it had not begun.
    Interrupted,
}

impl Store {
    /// Opens the jobs of a folder, made where it is missing. Those that ran wait again, but for
    /// those that began three times.
    ///
    /// # Errors
    /// The folder cannot be used, another service uses it, or the store is of another version.
    pub fn open(folder: &Path) -> Result<Store, ServeError> {
        let in_folder = |path: &Path, source| ServeError::Folder {
            path: path.to_path_buf(),
            source,
        };
        fs::create_dir_all(folder).map_err(|source| in_folder(folder, source))?;
        let lock = folder.join("lock");
        let lock = File::create(&lock).map_err(|source| in_folder(&lock, source))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let path = folder.to_path_buf();
                return Err(ServeError::Locked { path });
            }
            Err(TryLockError::Error(source)) => return Err(in_folder(folder, source)),
        }
        let path = folder.join("jobs.sqlite");
        let failed = |source| ServeError::Store {
            path: path.clone(),
            source,
        };
        let connection = Connection::open(&path).map_err(failed)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        let found = prepare(&connection).map_err(failed)?;
        if found != VERSION {
            let known = VERSION;
            return Err(ServeError::Version { path, found, known });
        }
        let reader = reader(&path).map_err(failed)?;
        let store = Store {
            path,
            connection: Mutex::new(connection),
            reader: Mutex::new(reader),
            changes: watch::Sender::new(0),
            ends: broadcast::Sender::new(ENDS),
            _lock: lock,
        };
        store.begin_again()?;
        Ok(store)
    }

    /// Says each time that something changed.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Says which jobs run no more, each time that some do not: they ended, wait again, or were
    /// deleted.
    pub fn ends(&self) -> broadcast::Receiver<Arc<[String]>> {
        self.ends.subscribe()
    }

    /// Accepts a job.
    ///
    /// # Errors
    /// Too many wait, or it cannot be kept.
    pub fn submit(&self, asked: &Submission, limits: &ServiceLimits) -> Result<(), NotAccepted> {
        let counted = self.transact(|change| {
            let sql = "SELECT count(*), count(*) FILTER (WHERE client = ?1) FROM job \
                       WHERE state = 'queued'";
            let mut waiting = change.prepare_cached(sql)?;
            let counts = |row: &Row| Ok::<(u64, u64), _>((row.get(0)?, row.get(1)?));
            let (all, own) = waiting.query_row([&asked.client], counts)?;
            if all >= limits.waiting {
                return Ok(Err(NotAccepted::Full));
            }
            if own >= limits.waiting_of_client {
                return Ok(Err(NotAccepted::FullForClient));
            }
            let options = serde_json::to_string(&asked.options).expect("texts are JSON");
            let job = "INSERT INTO job (id, state, database, options, title, client, queries, letters, \
                       submitted, kind, webhook, webhook_next) \
                       VALUES (?1, 'queued', ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
            change.prepare_cached(job)?.execute(params![
                asked.id,
                asked.database,
                options,
                asked.title,
                asked.client,
                asked.queries,
                asked.letters,
                now(),
                asked.kind.name(),
                asked.webhook,
                asked.webhook.as_ref().map(|_| 0)
            ])?;
            let content = "INSERT INTO content (id, fasta) VALUES (?1, ?2)";
            let mut content = change.prepare_cached(content)?;
            content.execute(params![asked.id, asked.fasta])?;
            Ok(Ok(()))
        })?;
        counted?;
        self.tell();
        Ok(())
    }

    /// A job.
    ///
    /// # Errors
    /// The store fails.
    pub fn job(&self, id: &str) -> Result<Option<Job>, ServeError> {
        self.look(|connection| {
            let sql = format!("SELECT {COLUMNS} FROM job WHERE id = ?1");
            let mut statement = connection.prepare_cached(&sql)?;
            statement.query_row([id], job).optional()
        })
    }

    /// How many jobs wait before one.
    ///
    /// # Errors
    /// The store fails.
    pub fn before(&self, number: i64) -> Result<u64, ServeError> {
        self.look(|connection| {
            let sql = "SELECT count(*) FROM job WHERE state = 'queued' AND number < ?1";
            let mut statement = connection.prepare_cached(sql)?;
            statement.query_row([number], |row| row.get(0))
        })
    }

    /// Jobs in each state.
    ///
    /// # Errors
    /// The store fails.
    pub fn counts(&self) -> Result<[(State, u64); 4], ServeError> {
        self.look(|connection| {
            let mut counts = State::ALL.map(|state| (state, 0));
            for (state, count) in &mut counts {
                let sql = "SELECT count(*) FROM job WHERE state = ?1";
                let mut statement = connection.prepare_cached(sql)?;
                *count = statement.query_row([state.name()], |row| row.get(0))?;
            }
            Ok(counts)
        })
    }

    /// The queries of a job, as FASTA.
    ///
    /// # Errors
    /// The store fails; the job is gone.
    pub fn fasta(&self, id: &str) -> Result<Vec<u8>, ServeError> {
        self.look(|connection| {
            let sql = "SELECT fasta FROM content WHERE id = ?1";
            let mut statement = connection.prepare_cached(sql)?;
            statement.query_row([id], |row| row.get(0))
        })
    }

    /// The metadata of a job that is done.
    ///
    /// # Errors
    /// The store fails; the job is gone.
    pub fn metadata(&self, id: &str) -> Result<Vec<u8>, ServeError> {
        self.look(|connection| {
            let sql = "SELECT metadata FROM content WHERE id = ?1";
            let mut statement = connection.prepare_cached(sql)?;
            statement.query_row([id], |row| row.get(0))
        })
    }

    /// Takes the next job, and with it others of the same question: from now on they run. Who has
    /// few jobs that run comes first; what may have ended the service comes last, and alone.
    /// Nothing if nothing waits.
    ///
    /// # Errors
    /// The store fails.
    pub fn take(&self, limits: BatchLimits) -> Result<Vec<Job>, ServeError> {
        let limit = i64::try_from(limits.first).unwrap_or(i64::MAX);
        let kinds = match limits.no_searches {
            true => "kind <> 'search' AND",
            false => "",
        };
        let which = format!(
            "{kinds} letters <= ?1 ORDER BY \
             (SELECT count(*) FROM job AS other WHERE other.state = 'running' AND \
             other.client = job.client), attempts > 1, number LIMIT 1"
        );
        self.take_first(&which, limit, limits)
    }

    /// Takes a job, and with it others of the same question, as [`take`](Store::take) does. Nothing
    /// if it does not wait any more.
    ///
    /// # Errors
    /// The store fails.
    pub fn take_with(&self, number: i64, limits: BatchLimits) -> Result<Vec<Job>, ServeError> {
        self.take_first("number = ?1", number, limits)
    }

    /// Takes the first of the jobs that wait, of those that SQL means with a value.
    fn take_first(
        &self,
        which: &str,
        value: i64,
        limits: BatchLimits,
    ) -> Result<Vec<Job>, ServeError> {
        let batch = self.transact(|change| {
            let sql = format!("SELECT {COLUMNS} FROM job WHERE state = 'queued' AND {which}");
            let mut first = change.prepare_cached(&sql)?;
            match first.query_row([value], job).optional()? {
                Some(first) => begin(change, first, limits),
                None => Ok(Vec::new()),
            }
        })?;
        if !batch.is_empty() {
            self.tell();
        }
        Ok(batch)
    }

    /// The searches that wait and were accepted after one, in their order.
    ///
    /// # Errors
    /// The store fails.
    pub fn waiting_behind(&self, number: i64) -> Result<Vec<Job>, ServeError> {
        self.look(|connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM job WHERE state = 'queued' AND kind = 'search' \
                 AND number > ?1 ORDER BY number"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            statement.query_map([number], job)?.collect()
        })
    }

    /// Notes how jobs ended. Those that were deleted meanwhile stay so.
    ///
    /// # Errors
    /// The store fails: then nothing is noted of any.
    pub fn finish(&self, ended: &[(String, Outcome)]) -> Result<(), ServeError> {
        self.transact(|change| {
            ended
                .iter()
                .try_for_each(|(id, outcome)| note(change, id, outcome))
        })?;
        self.tell_end(ended.iter().map(|(id, _)| id.clone()).collect());
        Ok(())
    }

    /// Deletes a job; false where there is none.
    ///
    /// # Errors
    /// The store fails.
    pub fn delete(&self, id: &str) -> Result<bool, ServeError> {
        let deleted =
            self.transact(|change| Ok(change.execute("DELETE FROM job WHERE id = ?1", [id])? > 0))?;
        self.tell_end(Arc::new([id.to_owned()]));
        Ok(deleted)
    }

    /// Deletes jobs that ended so long ago; gives their identifiers.
    ///
    /// # Errors
    /// The store fails.
    pub fn expire(&self, keep: Duration) -> Result<Vec<String>, ServeError> {
        let before = now() - i64::try_from(keep.as_secs()).unwrap_or(i64::MAX);
        self.transact(|change| {
            let sql = "DELETE FROM job WHERE finished <= ?1 RETURNING id";
            let mut statement = change.prepare_cached(sql)?;
            statement.query_map([before], |row| row.get(0))?.collect()
        })
    }

    /// The webhooks of jobs that ended which are to be sent by now, so many at most.
    ///
    /// # Errors
    /// The store fails.
    pub fn due_webhooks(&self, most: usize) -> Result<Vec<DueWebhook>, ServeError> {
        self.look(|connection| webhooks::due(connection, most))
    }

    /// Notes what became of webhooks. Those of jobs that were deleted meanwhile are forgotten.
    ///
    /// # Errors
    /// The store fails: then nothing is noted of any.
    pub fn note_webhooks(&self, sent: &[SentWebhook]) -> Result<(), ServeError> {
        self.transact(|change| webhooks::note(change, sent))
    }

    /// Lets jobs wait again that ran when the service ended.
    fn begin_again(&self) -> Result<(), ServeError> {
        let problem = format!("the service ended {ATTEMPTS} times while this job ran");
        self.transact(|change| {
            change.execute(
                "UPDATE job SET state = 'failed', finished = ?1, problem = ?2 \
                 WHERE state = 'running' AND attempts >= ?3",
                params![now(), problem, ATTEMPTS],
            )?;
            let again = "UPDATE job SET state = 'queued' WHERE state = 'running'";
            change.execute(again, [])?;
            Ok(())
        })
    }

    fn look<T>(
        &self,
        with: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, ServeError> {
        with(&locked(&self.reader)).map_err(|source| self.error(source))
    }

    /// All that `with` does, or nothing of it.
    fn transact<T>(
        &self,
        with: impl FnOnce(&Transaction) -> rusqlite::Result<T>,
    ) -> Result<T, ServeError> {
        let done = (|| {
            let mut connection = locked(&self.connection);
            let change = connection.transaction()?;
            let done = with(&change)?;
            change.commit()?;
            Ok(done)
        })();
        done.map_err(|source| self.error(source))
    }

    /// Tells those who listen, and those who wait for one of these jobs.
    fn tell_end(&self, jobs: Arc<[String]>) {
        self.tell();
        // Mostly nobody waits.
        let _ = self.ends.send(jobs);
    }

    /// Tells those who listen.
    fn tell(&self) {
        self.changes.send_modify(|number| *number += 1);
    }

    fn error(&self, source: rusqlite::Error) -> ServeError {
        ServeError::Store {
            path: self.path.clone(),
            source,
        }
    }
}

fn locked(connection: &Mutex<Connection>) -> MutexGuard<'_, Connection> {
    // A transaction that a panic cut short was rolled back.
    connection.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A connection that sees what was committed, and changes nothing.
fn reader(path: &Path) -> rusqlite::Result<Connection> {
    let reader = Connection::open(path)?;
    reader.busy_timeout(Duration::from_secs(10))?;
    reader.pragma_update(None, "query_only", true)?;
    Ok(reader)
}

/// Begins a job, and others with it: from now on they run.
fn begin(change: &Transaction, first: Job, limits: BatchLimits) -> rusqlite::Result<Vec<Job>> {
    let mut batch = vec![first];
    // What ended the service may be one of those that ran: each of them runs alone now.
    if batch[0].attempts == 0 && batch[0].kind == JobKind::Search {
        others(change, limits, &mut batch)?;
    }
    let sql = "UPDATE job SET state = 'running', started = ?1, attempts = attempts + 1 \
               WHERE number = ?2";
    let mut begin = change.prepare_cached(sql)?;
    for job in &mut batch {
        begin.execute(params![now(), job.number])?;
        job.state = State::Running;
    }
    Ok(batch)
}

/// Adds jobs that ask the same of the same database.
fn others(change: &Transaction, limits: BatchLimits, batch: &mut Vec<Job>) -> rusqlite::Result<()> {
    let first = &batch[0];
    let sql = format!(
        "SELECT {COLUMNS} FROM job WHERE state = 'queued' AND attempts = 0 \
         AND kind = 'search' AND number > ?1 AND database = ?2 AND options = ?3 ORDER BY number LIMIT ?4"
    );
    let mut statement = change.prepare_cached(&sql)?;
    let options = serde_json::to_string(&first.options).expect("texts are JSON");
    let same = params![first.number, first.database, options, limits.jobs - 1];
    let mut letters = first.letters;
    let same: Vec<Job> = statement.query_map(same, job)?.collect::<Result<_, _>>()?;
    for job in same {
        letters += job.letters;
        if letters > limits.letters {
            break;
        }
        batch.push(job);
    }
    Ok(())
}

fn note(change: &Transaction, id: &str, outcome: &Outcome) -> rusqlite::Result<()> {
    match outcome {
        Outcome::Done {
            metadata,
            queries,
            hits,
            with_hits,
        } => {
            let content = "UPDATE content SET metadata = ?1 WHERE id = ?2";
            let mut content = change.prepare_cached(content)?;
            content.execute(params![metadata, id])?;
            let done = "UPDATE job SET state = 'done', finished = ?1, hits = ?2, with_hits = ?3, \
                        queries = coalesce(?4, queries) WHERE id = ?5";
            let mut done = change.prepare_cached(done)?;
            done.execute(params![now(), hits, with_hits, queries, id])?;
        }
        Outcome::Failed { problem } => {
            let failed =
                "UPDATE job SET state = 'failed', finished = ?1, problem = ?2 WHERE id = ?3";
            change.execute(failed, params![now(), problem, id])?;
        }
        Outcome::Interrupted => {
            let again = "UPDATE job SET state = 'queued', attempts = attempts - 1 WHERE id = ?1";
            change.execute(again, [id])?;
        }
    }
    Ok(())
}

fn job(row: &Row) -> rusqlite::Result<Job> {
    let (state, options): (String, String) = (row.get(2)?, row.get(4)?);
    let kind: String = row.get(15)?;
    Ok(Job {
        id: row.get(0)?,
        number: row.get(1)?,
        kind: JobKind::named(&kind).unwrap_or(JobKind::Search),
        state: State::named(&state).unwrap_or(State::Failed),
        database: row.get(3)?,
        options: serde_json::from_str(&options).unwrap_or_default(),
        title: row.get(5)?,
        queries: row.get(6)?,
        letters: row.get(7)?,
        submitted: row.get(8)?,
        started: row.get(9)?,
        finished: row.get(10)?,
        attempts: row.get(11)?,
        hits: row.get(12)?,
        with_hits: row.get(13)?,
        problem: row.get(14)?,
        webhook: match row.get(16)? {
            true => Some(webhook(row)?),
            false => None,
        },
    })
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::job::{WebhookState, new_id};

    pub fn submit(store: &Store, asked: &Submission) -> Result<String, NotAccepted> {
        store.submit(asked, &ServiceLimits::default())?;
        Ok(asked.id.clone())
    }

    pub fn asked(client: &str, options: &[&str]) -> Submission {
        Submission {
            id: new_id().unwrap(),
            kind: JobKind::Search,
            database: "nt".into(),
            options: options.iter().map(ToString::to_string).collect(),
            title: String::new(),
            client: client.into(),
            fasta: b">q\nACGT\n".to_vec(),
            queries: 1,
            letters: 4,
            webhook: None,
        }
    }

    const ALL: BatchLimits = BatchLimits {
        first: u64::MAX,
        letters: 100,
        jobs: 3,
        no_searches: false,
    };

    pub fn ids(batch: &[Job]) -> Vec<&str> {
        batch.iter().map(|job| job.id.as_str()).collect()
    }

    #[test]
    fn jobs_of_one_question_run_together_and_wait_again_alone() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let submit = |options: &[&str]| submit(&store, &asked("a", options)).unwrap();
        let one = submit(&["--top", "5"]);
        let other = submit(&["--top", "6"]);
        let same = submit(&["--top", "5"]);
        assert_eq!(store.before(3).unwrap(), 2);
        assert_eq!(ids(&store.take(ALL).unwrap()), [&one, &same]);
        assert!(matches!(
            Store::open(folder.path()),
            Err(ServeError::Locked { .. })
        ));
        drop(store);

        let store = Store::open(folder.path()).unwrap();
        let alone = store.take(ALL).unwrap();
        assert_eq!(ids(&alone), [&one]);
        assert_eq!(alone[0].attempts, 1);
        let done = Outcome::Done {
            metadata: vec![7],
            queries: None,
            hits: 3,
            with_hits: 1,
        };
        store.finish(&[(one.clone(), done)]).unwrap();
        assert_eq!(store.metadata(&one).unwrap(), [7]);
        let job = store.job(&one).unwrap().unwrap();
        assert_eq!((job.state, job.hits, job.with_hits), (State::Done, 3, 1));
        assert_eq!(ids(&store.take(ALL).unwrap()), [&other]);
        assert!(store.delete(&same).unwrap() && !store.delete(&same).unwrap());
        assert!(store.take(ALL).unwrap().is_empty());
        assert!(store.expire(Duration::from_secs(60)).unwrap().is_empty());
        assert_eq!(store.expire(Duration::ZERO).unwrap(), [one.as_str()]);
        assert_eq!(store.job(&one).unwrap(), None);
        assert!(
            store.fasta(&one).is_err(),
            "what was sent goes with its job"
        );
    }

    #[test]
    fn a_job_that_ends_the_service_three_times_fails() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let id = submit(&store, &asked("a", &[])).unwrap();
        store.take(ALL).unwrap();
        store.finish(&[(id.clone(), Outcome::Interrupted)]).unwrap();
        drop(store);
        for _ in 0..ATTEMPTS {
            let store = Store::open(folder.path()).unwrap();
            assert_eq!(ids(&store.take(ALL).unwrap()), [&id]);
        }
        let store = Store::open(folder.path()).unwrap();
        let job = store.job(&id).unwrap().unwrap();
        assert_eq!(job.state, State::Failed);
        assert!(
            job.problem
                .unwrap()
                .starts_with("the service ended 4 times")
        );
    }

    #[test]
    fn a_client_with_many_jobs_waits_for_others() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let limits = ServiceLimits {
            waiting: 4,
            waiting_of_client: 3,
            ..ServiceLimits::default()
        };
        let submit = |client, options: &[&str]| {
            let asked = asked(client, options);
            store.submit(&asked, &limits).map(|()| asked.id)
        };
        for number in ["1", "2", "3"] {
            submit("a", &["--top", number]).unwrap();
        }
        let refused = submit("a", &[]);
        assert!(matches!(refused, Err(NotAccepted::FullForClient)));
        let other = submit("b", &[]).unwrap();
        assert!(matches!(submit("c", &[]), Err(NotAccepted::Full)));
        store.take(ALL).unwrap();
        assert_eq!(ids(&store.take(ALL).unwrap()), [&other]);
        let long = BatchLimits { first: 3, ..ALL };
        assert!(store.take(long).unwrap().is_empty());
    }

    #[test]
    fn jobs_of_reads_run_alone_and_are_not_for_workers() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let of_reads = |kind| Submission {
            kind,
            ..asked("a", &[])
        };
        let [one, other] = [JobKind::Classify; 2].map(of_reads);
        let search = asked("a", &[]);
        for asked in [&one, &search, &other] {
            submit(&store, asked).unwrap();
        }
        let searches = store.waiting_behind(0).unwrap();
        assert_eq!(ids(&searches), [&search.id]);
        assert_eq!(ids(&store.take(ALL).unwrap()), [&one.id]);
        let of_reads = BatchLimits {
            no_searches: true,
            ..ALL
        };
        assert_eq!(ids(&store.take(of_reads).unwrap()), [&other.id]);
        assert!(store.take(of_reads).unwrap().is_empty());
        let done = Outcome::Done {
            metadata: Vec::new(),
            queries: Some(5),
            hits: 2,
            with_hits: 3,
        };
        store.finish(&[(one.id.clone(), done)]).unwrap();
        let job = store.job(&one.id).unwrap().unwrap();
        assert_eq!((job.kind, job.queries), (JobKind::Classify, 5));
    }

    #[test]
    fn a_webhook_is_due_once_its_job_ended_until_it_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let asked = Submission {
            webhook: Some("http://hooks/a".into()),
            ..asked("a", &[])
        };
        let id = submit(&store, &asked).unwrap();
        let state = || store.job(&id).unwrap().unwrap().webhook.unwrap().state;
        assert!(store.due_webhooks(9).unwrap().is_empty());
        store.take(ALL).unwrap();
        let problem = "why".to_string();
        store
            .finish(&[(id.clone(), Outcome::Failed { problem })])
            .unwrap();
        let due = store.due_webhooks(9).unwrap();
        assert!(due.len() == 1 && due[0].url == "http://hooks/a" && due[0].attempts == 0);
        assert_eq!(state(), WebhookState::Waiting);
        let sent = |next, problem: Option<&str>| {
            let (id, problem) = (id.clone(), problem.map(Into::into));
            store.note_webhooks(&[SentWebhook { id, next, problem }])
        };
        sent(Some(now() + 60), Some("HTTP 500")).unwrap();
        assert!(store.due_webhooks(9).unwrap().is_empty());
        assert_eq!(state(), WebhookState::Waiting);
        sent(None, Some("HTTP 410")).unwrap();
        assert_eq!(state(), WebhookState::Failed);
        sent(None, None).unwrap();
        let webhook = store.job(&id).unwrap().unwrap().webhook.unwrap();
        assert_eq!(
            (webhook.state, webhook.attempts),
            (WebhookState::Delivered, 3)
        );
    }
}
