//! How far a job is, as it changes.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::{Stream, stream};
use serde::Serialize;

use super::app::App;
use super::refusal::Refusal;
use crate::engine::Engine;
use crate::job::{Job, JobKind, State, Webhook};

/// How often the progress of a search is looked at.
const TICK: Duration = Duration::from_millis(300);

/// A job, as programs are told of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Status {
    pub id: String,
    pub kind: JobKind,
    pub state: State,
    pub title: String,
    pub database: String,
    pub options: Vec<String>,
    pub queries: u64,
    pub letters: u64,
    pub submitted: i64,
    pub started: Option<i64>,
    pub finished: Option<i64>,
    /// Jobs that wait before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
    /// What the search does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<&'static str>,
    /// How much of that is done, from 0 to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<u64>,
    pub hits: u64,
    pub with_hits: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhook: Option<Webhook>,
}

impl Status {
    /// That of a job that was just read.
    ///
    /// # Errors
    /// The store fails.
    pub fn of(job: Job, engine: &Engine) -> Result<Status, Refusal> {
        let running = engine
            .running(&job.id)
            .filter(|_| job.state == State::Running);
        let now = running.map(|running| running.progress.now());
        let before = match job.state {
            State::Queued => Some(engine.store().before(job.number)?),
            _ => None,
        };
        Ok(Status {
            id: job.id,
            kind: job.kind,
            state: job.state,
            title: job.title,
            database: job.database,
            options: job.options,
            queries: job.queries,
            letters: job.letters,
            submitted: job.submitted,
            started: job.started,
            finished: job.finished,
            before,
            stage: now.map(|(stage, ..)| stage),
            percent: now.and_then(|(_, done, all)| (100 * done.min(all)).checked_div(all)),
            hits: job.hits,
            with_hits: job.with_hits,
            problem: job.problem,
            webhook: job.webhook,
        })
    }

    /// That of a job by its identifier.
    ///
    /// # Errors
    /// There is none, or the store fails.
    pub fn read(app: &App, id: &str) -> Result<Status, Refusal> {
        Status::of(super::result::job(app, id)?, &app.engine)
    }
}

/// The status of a job each time that it changes, until the job has ended.
pub fn events(app: Arc<App>, id: String) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let begin = (app, id, None::<Status>);
    let statuses = stream::unfold(begin, |(app, id, last)| async move {
        if last.as_ref().is_some_and(|last| last.state.has_ended()) {
            return None;
        }
        let mut changes = app.engine.store().changes();
        loop {
            changes.mark_unchanged();
            let status = Status::read(&app, &id).ok()?;
            if last.as_ref() != Some(&status) {
                let text = serde_json::to_string(&status).ok()?;
                let event = Event::default().event("status").data(text);
                return Some((Ok(event), (app, id, Some(status))));
            }
            let _ = tokio::time::timeout(TICK, changes.changed()).await;
        }
    });
    Sse::new(statuses).keep_alive(KeepAlive::default())
}
