//! Webhooks of jobs, and what became of them.

use rusqlite::{Connection, Row, Transaction, params};

use crate::job::{Webhook, WebhookState, now};

/// A webhook that is to be sent.
#[derive(Debug, PartialEq, Eq)]
pub struct DueWebhook {
    /// The identifier of its job.
    pub id: String,
    /// Where to.
    pub url: String,
    /// How often it was tried.
    pub attempts: u32,
    /// When its job ended, in seconds since 1970.
    pub finished: i64,
}

/// A webhook that was sent, or was not taken.
#[derive(Debug)]
pub struct SentWebhook {
    /// The identifier of its job.
    pub id: String,
    /// When it is tried again, in seconds since 1970; never if none.
    pub next: Option<i64>,
    /// Why it was not taken.
    pub problem: Option<String>,
}

/// The webhooks of jobs that ended which are to be sent by now, so many at most.
///
/// # Errors
/// The store fails.
pub fn due(connection: &Connection, most: usize) -> rusqlite::Result<Vec<DueWebhook>> {
    let sql = "SELECT id, webhook, webhook_attempts, finished FROM job \
               WHERE webhook_next <= ?1 AND finished IS NOT NULL \
               ORDER BY webhook_next LIMIT ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let due = |row: &Row| {
        Ok(DueWebhook {
            id: row.get(0)?,
            url: row.get(1)?,
            attempts: row.get(2)?,
            finished: row.get(3)?,
        })
    };
    statement.query_map(params![now(), most], due)?.collect()
}

/// Notes what became of webhooks. Those of jobs that were deleted meanwhile are forgotten.
///
/// # Errors
/// The store fails.
pub fn note(change: &Transaction, sent: &[SentWebhook]) -> rusqlite::Result<()> {
    let sql = "UPDATE job SET webhook_next = ?1, webhook_problem = ?2, \
               webhook_attempts = webhook_attempts + 1 WHERE id = ?3";
    let mut note = change.prepare_cached(sql)?;
    let mut note = |sent: &SentWebhook| note.execute(params![sent.next, sent.problem, sent.id]);
    sent.iter().try_for_each(|sent| note(sent).map(drop))
}

/// What has become of the webhook of a job.
///
/// # Errors
/// The row is none of a job.
pub fn webhook(row: &Row) -> rusqlite::Result<Webhook> {
    let (next, problem): (Option<i64>, Option<String>) = (row.get(17)?, row.get(19)?);
    Ok(Webhook {
        state: match (next, &problem) {
            (Some(_), _) => WebhookState::Waiting,
            (None, None) => WebhookState::Delivered,
            (None, Some(_)) => WebhookState::Failed,
        },
        attempts: row.get(18)?,
        problem,
    })
}
