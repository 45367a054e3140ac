//! Webhooks: the end of a job is told to the URL that its sender named, again and again until that
//! takes it.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use axum::http::StatusCode;
use futures_util::future::join_all;
use serde::Serialize;

use super::app::App;
use super::events::Status;
use super::webhooks::Webhooks;
use crate::job::now;
use crate::store::{DueWebhook, SentWebhook};

/// Webhooks that are sent at a time.
const AT_A_TIME: usize = 32;
/// How often the service looks for those that are due, where no job changes.
const LOOK: Duration = Duration::from_secs(1);
/// How long it waits where the store fails.
const PAUSE: Duration = Duration::from_secs(2);
/// Seconds between the first two attempts, which double, and the most of them.
const BETWEEN: [i64; 2] = [5, 3600];
/// Seconds after the end of a job after which it is told no more.
const LAST: i64 = 24 * 3600;

/// What is told.
#[derive(Serialize)]
struct Message {
    #[serde(rename = "type")]
    kind: String,
    data: Status,
}

/// Sends webhooks that are due, for as long as the service runs. One that was sent and not noted is
/// sent again.
pub async fn tell_ends(app: Arc<App>) {
    let Some(webhooks) = &app.webhooks else {
        return;
    };
    let store = app.engine.store();
    let mut changes = store.changes();
    loop {
        changes.mark_unchanged();
        let due = store.due_webhooks(AT_A_TIME).unwrap_or_else(|error| {
            tracing::error!("{error}");
            Vec::new()
        });
        if due.is_empty() {
            let _ = tokio::time::timeout(LOOK, changes.changed()).await;
            continue;
        }
        let sent = due.into_iter().map(|due| tell(&app, webhooks, due));
        let sent = Arc::new(join_all(sent).await);
        loop {
            let (engine, sent) = (Arc::clone(&app.engine), Arc::clone(&sent));
            let note = move || Ok(engine.store().note_webhooks(&sent)?);
            match app.blocking(note).await {
                Ok(()) => break,
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }
}

async fn tell(app: &App, webhooks: &Webhooks, due: DueWebhook) -> SentWebhook {
    let problem = match post(app, webhooks, &due).await {
        Ok(status) if status.is_success() => None,
        Ok(status) => Some(format!("HTTP {}", status.as_u16())),
        Err(problem) => Some(problem),
    };
    let [taken, refused] = &webhooks.sent;
    let counter = if problem.is_none() { taken } else { refused };
    counter.fetch_add(1, Relaxed);
    let is_gone = problem.as_deref() == Some("HTTP 410");
    let next = now() + after(due.attempts);
    let is_last = is_gone || next > due.finished + LAST;
    if let Some(problem) = &problem {
        tracing::warn!("the webhook of job {}: {problem}", due.id);
    }
    SentWebhook {
        next: (problem.is_some() && !is_last).then_some(next),
        id: due.id,
        problem,
    }
}

async fn post(app: &App, webhooks: &Webhooks, due: &DueWebhook) -> Result<StatusCode, String> {
    let target = webhooks.client.target(&due.url)?;
    let data = Status::read(app, &due.id).map_err(|refusal| refusal.message)?;
    let message = Message {
        kind: format!("job.{}", data.state.name()),
        data: Status {
            webhook: None,
            ..data
        },
    };
    let body = serde_json::to_string(&message).map_err(|error| error.to_string())?;
    let headers = webhooks.headers(&due.id, now(), &body);
    webhooks.client.post(&target, &headers, body).await
}

/// Seconds after so many attempts and one more.
fn after(attempts: u32) -> i64 {
    let [first, most] = BETWEEN;
    first.saturating_mul(1 << attempts.min(32)).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_further_apart_each_time() {
        assert_eq!(
            [0, 1, 2, 9, 10, 99].map(after),
            [5, 10, 20, 2560, 3600, 3600]
        );
    }
}
