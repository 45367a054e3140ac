//! Requests that are not done, and why.

use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::response::{IntoResponse, Response};

use crate::ServeError;
use crate::error::ReportError;
use crate::store::NotAccepted;

/// A request that is not done.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// Of the answer.
    pub status: StatusCode,
    /// For a person.
    pub message: String,
    /// Seconds after which it may be asked for again.
    pub retry: Option<u64>,
}

impl Refusal {
    /// What was asked is wrong.
    pub fn bad(message: impl Into<String>) -> Refusal {
        Refusal::new(StatusCode::BAD_REQUEST, message)
    }

    /// A refusal of any kind.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Refusal {
        Refusal {
            status,
            message: message.into(),
            retry: None,
        }
    }

    /// There is no such job.
    pub fn unknown() -> Refusal {
        let message = "there is no job of this identifier: it may have been deleted, or was kept \
                       long enough";
        Refusal::new(StatusCode::NOT_FOUND, message)
    }

    /// What was sent takes too long to arrive.
    pub fn slow() -> Refusal {
        Refusal::new(StatusCode::REQUEST_TIMEOUT, "the request came too slowly")
    }

    /// The job has not ended, or failed.
    pub fn without_result() -> Refusal {
        Refusal::new(StatusCode::CONFLICT, "the job has no result")
    }

    /// The service ends, or has too much to do.
    pub fn busy(status: StatusCode, message: impl Into<String>) -> Refusal {
        Refusal {
            retry: Some(30),
            ..Refusal::new(status, message)
        }
    }

    /// An answer to what is refused, with when to ask again.
    pub fn answer(&self, answer: impl IntoResponse) -> Response {
        let mut answer = (self.status, answer).into_response();
        if let Some(seconds) = self.retry {
            answer.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        answer
    }

    /// The service failed; the log says why, not the answer.
    pub fn internal(error: &dyn std::fmt::Display) -> Refusal {
        tracing::error!("{error}");
        let message = "the service could not do this; its log says why";
        Refusal::busy(StatusCode::SERVICE_UNAVAILABLE, message)
    }
}

impl From<ServeError> for Refusal {
    fn from(error: ServeError) -> Refusal {
        Refusal::internal(&error)
    }
}

impl From<NotAccepted> for Refusal {
    fn from(error: NotAccepted) -> Refusal {
        match error {
            NotAccepted::Full => Refusal::busy(
                StatusCode::SERVICE_UNAVAILABLE,
                "too many jobs wait: try again later",
            ),
            NotAccepted::FullForClient => Refusal::busy(
                StatusCode::TOO_MANY_REQUESTS,
                "too many of your jobs wait: try again once some are done",
            ),
            NotAccepted::Store(error) => {
                tracing::error!("{error}");
                Refusal::busy(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "the service cannot keep a job now: try again later",
                )
            }
        }
    }
}

impl From<ReportError> for Refusal {
    fn from(error: ReportError) -> Refusal {
        match error {
            ReportError::Database(_) => Refusal::new(StatusCode::GONE, error.to_string()),
            ReportError::Options(_) | ReportError::Format(_) => Refusal::bad(error.to_string()),
            other => Refusal::internal(&other),
        }
    }
}
