//! Requests that wait for the end of a job: `Prefer: wait=SECONDS` (RFC 7240, section 4.3).

use std::time::Duration;

use axum::http::HeaderMap;
use tokio::time::{Instant, timeout_at};

use super::app::App;
use super::refusal::Refusal;
use super::result;
use crate::job::Job;

/// How long a request waits at most: many proxies give up after 60 seconds.
const MOST: Duration = Duration::from_secs(50);
/// How often a request that waits looks at the job, and whether the service is about to end.
const LOOK: Duration = Duration::from_millis(500);

/// A job: once it has ended, or a client has waited for that as long as it wants to.
///
/// # Errors
/// There is no such job, or the store fails.
pub async fn job(app: &App, id: &str, headers: &HeaderMap) -> Result<Job, Refusal> {
    let end = Instant::now() + wait(headers);
    let mut ends = app.engine.store().ends();
    let mut job = result::job(app, id)?;
    let mut look = Instant::now() + LOOK;
    while !job.state.has_ended() && Instant::now() < end && !app.engine.is_draining() {
        match timeout_at(end.min(look), ends.recv()).await {
            Ok(Ok(others)) if !others.iter().any(|other| other == id) => {}
            // It ended, or what ended was told too fast, or it is time to look.
            _ => {
                job = result::job(app, id)?;
                look = Instant::now() + LOOK;
            }
        }
    }
    Ok(job)
}

/// How long a client wants to wait.
fn wait(headers: &HeaderMap) -> Duration {
    let preferences = headers.get_all("prefer").iter();
    preferences
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|preference| preference.split(';').next()?.split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("wait"))
        .and_then(|(_, seconds)| seconds.trim().parse().ok())
        .map_or(Duration::ZERO, |seconds| {
            Duration::from_secs(seconds).min(MOST)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_say_how_long_they_wait() {
        let of = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append("prefer", value.parse().expect("letters"));
            }
            wait(&headers).as_secs()
        };
        assert_eq!(of(&[]), 0);
        assert_eq!(of(&["wait=7"]), 7);
        assert_eq!(of(&["respond-async", "return=minimal, Wait = 7; a=b"]), 7);
        assert_eq!(of(&["wait=7, wait=8"]), 7, "the first counts");
        assert_eq!(of(&["wait=18446744073709551615"]), MOST.as_secs());
        for wrong in ["wait", "wait=", "wait=-1", "wait=7s", "waiting=7"] {
            assert_eq!(of(&[wrong]), 0, "{wrong}");
        }
    }
}
